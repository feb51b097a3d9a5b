//! The motion without contacts (stage 1), the inertia `A` that contacts meet, and the coordinates
//! at the end of a step (stage 3) (Castro et al., equations 11 to 17).

use nalgebra::{Matrix6, Vector6};

use super::efforts::{FreeMotion, StepStart, zeros};
use super::free_newton::{Least, NotFound};
use super::geometric_stiffness::Unloaded;
use super::moves::{Move, blend};
use crate::compliant::problem::{Problem, not_positive};
use crate::compliant::stepping::model::SteppedSystem;
use crate::linalg::cholesky;
use crate::linalg::largest;
use crate::linalg::symmetric::square_fault;
use crate::mechanics::State;
use crate::mechanics::configuration::is_identity;
use crate::{InputError, validate};

/// To this part of the velocities the motion without contacts is found where the forces of inertia are written.
const WRITTEN: f64 = 1e-12;
/// Likewise, where they are differences of the mass. Corrections end where they no longer shrink, far below.
const ROUGH: f64 = 1e-8;

impl FreeMotion {
    /// Takes the sizes of a system.
    pub(in crate::compliant::stepping) fn prepare(
        &mut self,
        system: &dyn SteppedSystem,
        q: &[f64],
    ) {
        let (d, nq) = (system.dof(), system.coordinates());
        self.identity = is_identity(system, q, system.dof());
        self.places.clear();
        let mut size = 0;
        for i in 0..system.trees() {
            self.places.push(size);
            size += system.tree(i).len().pow(2);
        }
        zeros(&mut self.inertia, size);
        self.widths.clear();
        self.widths
            .extend((0..system.trees()).map(|i| system.tree(i).len()));
        self.newton.prepare(system);
        self.rested.is_known.clear();
        self.rested.is_known.resize(system.trees(), false);
        for values in [
            &mut self.v,
            &mut self.mid_v,
            &mut self.effort,
            &mut self.force,
            &mut self.held,
            &mut self.repeated,
            &mut self.rested.efforts,
            &mut self.rested.v,
        ] {
            zeros(values, d);
        }
        let is_written = system.coriolis(q, &self.mid_v, &mut self.force)
            || self.identity && system.constant_mass();
        self.resolved = if is_written { WRITTEN } else { ROUGH };
        zeros(&mut self.mid_q, nq);
        zeros(&mut self.rows_q, nq);
        zeros(&mut self.rates, 2 * nq);
    }

    /// Stage 1: `v*`, and `A` at `v*`.
    pub(in crate::compliant::stepping) fn solve(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
    ) -> Result<(), NotFound> {
        self.v.copy_from_slice(start.v);
        self.stiffness.clear();
        self.balance.begin(self.places.len());
        if start.scheme.effort_weight() == 0.0 {
            self.masses_of_awake(system, start);
            return self.explicit(system, start);
        }
        self.iterate(system, start)?;
        self.linearise(system, start);
        self.place_rows(system, start);
        Ok(())
    }

    /// Takes the geometric stiffness of the loads of a problem into the inertia, where a step from the velocities `start` is
    /// too long without it; true where it is another one than before.
    pub(in crate::compliant::stepping) fn stiffen(
        &mut self,
        system: &dyn SteppedSystem,
        problem: &Problem,
        impulses: &[f64],
        start: &[f64],
    ) -> bool {
        let (places, inertia, v) = (&self.places, &self.inertia, &self.v);
        let loads = problem.armed(impulses);
        self.stiffness.stiffen(loads, problem.dt(), |tree| {
            let (own, place) = (system.tree(tree), *places.get(tree)?);
            let block = inertia.get(place..place + own.len().pow(2))?;
            let six = |v: &[f64]| (v.len() == 6).then(|| Vector6::from_column_slice(v));
            Some(Unloaded {
                start: six(start.get(own.clone())?)?,
                free: six(v.get(own)?)?,
                inertia: Matrix6::from_column_slice(block),
            })
        })
    }

    /// True where the inertia is not that of the bodies alone.
    pub(in crate::compliant::stepping) fn is_stiff(&self) -> bool {
        self.stiffness.is_some()
    }

    /// The block of `A` of a tree, and its velocities `v*`.
    pub(in crate::compliant::stepping) fn block(
        &self,
        system: &dyn SteppedSystem,
        tree: usize,
    ) -> (&[f64], &[f64]) {
        if let Some(stiff) = self.stiffness.block(tree) {
            return (stiff.inertia.as_slice(), stiff.free.as_slice());
        }
        let own = system.tree(tree);
        let (place, n) = (self.places[tree], own.len());
        (&self.inertia[place..place + n * n], &self.v[own])
    }

    /// Writes where the rows of further terms are taken.
    fn place_rows(&mut self, system: &dyn SteppedSystem, start: &StepStart<'_>) {
        let ahead = start.scheme.rows_ahead();
        if ahead == 0.0 {
            return;
        }
        let to_rows = Move {
            q0: start.q,
            v: start.v,
            s: ahead * start.dt,
            part: 1.0,
        };
        to_rows.write(system, self.identity, &mut self.rows_q, &mut self.rates);
        system.project_configuration(&mut self.rows_q);
    }

    /// `q_θ` and `v_θ` for the velocities `v` at the end of the step.
    fn middle(&mut self, system: &dyn SteppedSystem, start: &StepStart<'_>, v: &[f64]) {
        let (theta, weight) = (start.scheme.effort_weight(), start.scheme.velocity_weight());
        blend(start.v, v, weight, &mut self.mid_v);
        let to_middle = Move {
            q0: start.q,
            v: &self.mid_v,
            s: theta * start.dt,
            part: 1.0,
        };
        to_middle.write(system, self.identity, &mut self.mid_q, &mut self.rates);
        blend(start.v, v, theta, &mut self.mid_v);
    }

    /// `m(v) = M(q_θ) (v − v₀) − dt k(q_θ, v_θ)` into `out`.
    pub(super) fn residual_at(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
        v: &[f64],
        out: &mut [f64],
    ) {
        self.middle(system, start, v);
        let (mid_q, mid_v) = (
            std::mem::take(&mut self.mid_q),
            std::mem::take(&mut self.mid_v),
        );
        self.masses(system, &mid_q);
        self.effort_at(system, start, &mid_q, &mid_v);
        self.coriolis_at(system, &mid_q, &mid_v);
        self.add_force();
        (self.mid_q, self.mid_v) = (mid_q, mid_v);
        self.momentum_residual(system, start, v, out);
    }

    /// `m(v) = 0` by Newton's method.
    fn iterate(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
    ) -> Result<(), NotFound> {
        // Velocities below this leave the coordinates as they are.
        let reach = largest(start.q);
        let unseen = 16.0 * f64::EPSILON * reach / start.dt;
        // Taken out, since residuals change what is between.
        let (mut v, mut newton) = (
            std::mem::take(&mut self.v),
            std::mem::take(&mut self.newton),
        );
        let least = Least {
            part: self.resolved,
            size: unseen,
        };
        let found = newton.solve(&mut v, least, |v, out| {
            self.residual_at(system, start, v, out);
        });
        (self.v, self.newton) = (v, newton);
        found
    }

    /// `A = M + dt² θ θ_vq K + dt θ D` at `v*` (15).
    fn linearise(&mut self, system: &dyn SteppedSystem, start: &StepStart<'_>) {
        let v = std::mem::take(&mut self.v);
        self.middle(system, start, &v);
        self.v = v;
        let mid_q = std::mem::take(&mut self.mid_q);
        self.masses(system, &mid_q);
        let (d, dt) = (system.dof(), start.dt);
        let (theta, weight) = (start.scheme.effort_weight(), start.scheme.velocity_weight());
        zeros(&mut self.matrix, d * d);
        zeros(&mut self.damping, d * d);
        let (t, q, v) = (start.t + theta * dt, &mid_q[..], &self.mid_v[..]);
        if system.springs_and_dampers(State { t, q, v }, &mut self.matrix, &mut self.damping) {
            for (i, &place) in self.places.iter().enumerate() {
                let tree = system.tree(i);
                let n = tree.len();
                for (k, entry) in self.inertia[place..place + n * n].iter_mut().enumerate() {
                    let from = (tree.start + k / n) * d + tree.start + k % n;
                    *entry += dt * theta * (dt * weight * self.matrix[from] + self.damping[from]);
                }
            }
        }
        self.mid_q = mid_q;
    }

    /// Stage 3: the coordinates at the end of the step for the velocities `v`.
    pub(in crate::compliant::stepping) fn advance(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
        v: &[f64],
        q: &mut [f64],
    ) {
        let (theta, weight) = (start.scheme.effort_weight(), start.scheme.velocity_weight());
        blend(start.v, v, weight, &mut self.mid_v);
        let to_end = Move {
            q0: start.q,
            v: &self.mid_v,
            s: start.dt,
            part: theta,
        };
        to_end.write(system, self.identity, q, &mut self.rates);
        system.project_configuration(q);
    }

    /// Refuses velocities that are not finite.
    pub(in crate::compliant::stepping) fn check(&self) -> Result<(), InputError> {
        validate::finite("velocity without contacts", &self.v)
    }

    /// The fault of the masses and efforts at the start of a step for which there are no
    /// velocities.
    pub(in crate::compliant::stepping) fn model_fault(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
    ) -> Result<(), InputError> {
        self.masses(system, start.q);
        for (tree, (&place, &n)) in self.places.iter().zip(&self.widths).enumerate() {
            let block = &self.inertia[place..place + n * n];
            self.matrix.clear();
            self.matrix.extend_from_slice(block);
            let fault = square_fault(block, n).or_else(|| {
                let positive = cholesky::factor(&mut self.matrix, n).is_some();
                (!positive).then(|| not_positive(block, n))
            });
            if let Some(fault) = fault {
                return Err(InputError::BadTree { tree, fault });
            }
        }
        self.effort_at(system, start, start.q, start.v);
        validate::finite("effort", &self.effort)
    }
}
