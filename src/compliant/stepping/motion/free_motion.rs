//! The motion without contacts (stage 1), the inertia `A` that contacts meet, and the coordinates
//! at the end of a step (stage 3) (Castro et al., equations 11 to 17).

use nalgebra::{Matrix6, Vector6};

use super::balanced_trees::Balance;
use super::free_newton::{FreeNewton, Least, NotFound};
use super::geometric_stiffness::{GeometricStiffness, Unloaded};
use super::moves::{Move, blend};
use crate::compliant::problem::{Problem, not_positive};
use crate::compliant::stepping::model::SteppedSystem;
use crate::compliant::stepping::scheme::Scheme;
use crate::linalg::cholesky;
use crate::linalg::symmetric::square_fault;
use crate::mechanics::State;
use crate::mechanics::configuration::is_identity;
use crate::mechanics::motion::kinetic;
use crate::{InputError, validate};

/// To this part of the velocities the motion without contacts is found where the forces of inertia are written.
const WRITTEN: f64 = 1e-12;
/// Likewise, where they are differences of the mass. Corrections end where they no longer shrink, far below.
const ROUGH: f64 = 1e-8;

/// The start of a step.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant::stepping) struct StepStart<'a> {
    pub(in crate::compliant::stepping) t: f64,
    pub(in crate::compliant::stepping) q: &'a [f64],
    pub(in crate::compliant::stepping) v: &'a [f64],
    pub(in crate::compliant::stepping) dt: f64,
    pub(in crate::compliant::stepping) scheme: Scheme,
    /// Contacts that pressed in the step before.
    pub(in crate::compliant::stepping) closed: &'a [usize],
    /// A generalised effort beside that of the model; empty: none.
    pub(in crate::compliant::stepping) applied: &'a [f64],
    /// For each tree whether it sleeps, at the velocity zero and where it lay in the step before; empty: none.
    pub(in crate::compliant::stepping) asleep: &'a [bool],
}

impl StepStart<'_> {
    pub(super) fn sleeps(&self, tree: usize) -> bool {
        self.asleep.get(tree).copied().unwrap_or(false)
    }
}

/// Efforts on trees that sleep, and what explicit steps made of them.
#[derive(Clone, Debug, Default)]
struct Rested {
    /// For each tree whether it is known; its block of `A` is then that of the step before.
    is_known: Vec<bool>,
    efforts: Vec<f64>,
    /// `v*` by these efforts.
    v: Vec<f64>,
}

/// Memory of the stages, and the results of stage 1.
#[derive(Clone, Debug, Default)]
pub(in crate::compliant::stepping) struct FreeMotion {
    /// `v*`.
    pub(in crate::compliant::stepping) v: Vec<f64>,
    /// The blocks of `A`, tree after tree.
    pub(in crate::compliant::stepping) inertia: Vec<f64>,
    /// First entry of each block.
    pub(in crate::compliant::stepping) places: Vec<usize>,
    /// `N` is the identity.
    identity: bool,
    /// Part of the velocities to which a motion is found: Coriolis forces that are differences of the mass are
    /// known to less than their last digits.
    resolved: f64,
    mid_q: Vec<f64>,
    /// Where the rows of further terms are taken, if not at the start.
    pub(in crate::compliant::stepping) rows_q: Vec<f64>,
    /// Rates of the coordinates, and a point between.
    rates: Vec<f64>,
    mid_v: Vec<f64>,
    effort: Vec<f64>,
    force: Vec<f64>,
    /// Efforts without the forces of inertia.
    pub(super) held: Vec<f64>,
    /// Velocities of a step that is repeated.
    repeated: Vec<f64>,
    work: Vec<f64>,
    matrix: Vec<f64>,
    damping: Vec<f64>,
    /// Widths of the trees.
    widths: Vec<usize>,
    rested: Rested,
    newton: FreeNewton,
    pub(super) stiffness: GeometricStiffness,
    pub(super) balance: Balance,
}

fn zeros(values: &mut Vec<f64>, size: usize) {
    values.clear();
    values.resize(size, 0.0);
}

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

    /// The schemes with `θ = 0`: `v* = v₀ + dt M⁻¹ (f(q₀, v₀) + c(q₀, v̄) v̄)`, `v̄ = (v₀ + v*)/2`. The
    /// Coriolis force at the mean velocity does no work; at `v₀` it would speed up bodies that
    /// tumble, without bound.
    fn explicit(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
    ) -> Result<(), NotFound> {
        self.effort_at(system, start, start.q, start.v);
        let has_force = self.coriolis_at(system, start.q, start.v);
        self.balance.has_forces = has_force;
        // The forces without that of Coriolis are those of the start.
        let mut held = std::mem::take(&mut self.held);
        held.copy_from_slice(&self.effort);
        self.add_force();
        self.v_from_effort(system, start);
        let mut found = Ok(());
        if has_force && !self.keeps_when_repeated(system, start, &held) {
            let mut v = std::mem::take(&mut self.v);
            let mut newton = std::mem::take(&mut self.newton);
            found = newton.solve(
                &mut v,
                Least {
                    part: self.resolved,
                    size: 0.0,
                },
                |v, out| {
                    self.effort_at_mean(system, start, &held, v);
                    self.momentum_residual(system, start, v, out);
                },
            );
            (self.v, self.newton) = (v, newton);
        }
        self.held = held;
        found
    }

    /// Repeats the step with the Coriolis force at the mean velocity; true where this changes
    /// velocities by rounding only, as of spheres, cubes and slow bodies, or where they are not
    /// finite.
    fn keeps_when_repeated(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
        held: &[f64],
    ) -> bool {
        let before = std::mem::take(&mut self.v);
        self.effort_at_mean(system, start, held, &before);
        self.v = std::mem::take(&mut self.repeated);
        self.v.copy_from_slice(start.v);
        self.v_from_effort(system, start);
        let size = self.v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let level = 4.0 * f64::EPSILON * size;
        let mut pairs = before.iter().zip(&self.v);
        let keeps = !pairs.any(|(a, b)| (a - b).abs() > level);
        self.repeated = before;
        keeps
    }

    /// Writes the efforts with the Coriolis force at the mean of `v₀` and `v`.
    pub(super) fn effort_at_mean(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
        held: &[f64],
        v: &[f64],
    ) {
        let mut mean = std::mem::take(&mut self.mid_v);
        blend(start.v, v, 0.5, &mut mean);
        self.coriolis_at(system, start.q, &mean);
        self.mid_v = mean;
        for ((effort, held), force) in self.effort.iter_mut().zip(held).zip(&self.force) {
            *effort = held + force;
        }
    }

    /// `v* = v₀ + dt M⁻¹ k` by trees. Where a mass is not positive definite the result is NaN.
    fn v_from_effort(&mut self, system: &dyn SteppedSystem, start: &StepStart<'_>) {
        for (i, &place) in self.places.iter().enumerate() {
            let tree = system.tree(i);
            let n = tree.len();
            let (rested, effort) = (&mut self.rested, &mut self.effort[tree.clone()]);
            let before = &mut rested.efforts[tree.clone()];
            if rested.is_known[i] && before == effort {
                self.v[tree.clone()].copy_from_slice(&rested.v[tree]);
                continue;
            }
            before.copy_from_slice(effort);
            self.matrix.clear();
            self.matrix
                .extend_from_slice(&self.inertia[place..place + n * n]);
            if cholesky::factor(&mut self.matrix, n).is_some() {
                cholesky::solve(&self.matrix, n, effort);
            } else {
                effort.fill(f64::NAN);
            }
            for (k, v) in self.v[tree.clone()].iter_mut().enumerate() {
                *v += start.dt * effort[k];
            }
            if start.sleeps(i) {
                rested.v[tree.clone()].copy_from_slice(&self.v[tree]);
                rested.is_known[i] = true;
            }
        }
    }

    /// Writes the masses of the trees at the start, but for those that sleep and are known.
    fn masses_of_awake(&mut self, system: &dyn SteppedSystem, start: &StepStart<'_>) {
        for (i, &place) in self.places.iter().enumerate() {
            let is_known = &mut self.rested.is_known[i];
            *is_known &= start.sleeps(i);
            if !*is_known {
                let n = system.tree(i).len();
                system.tree_mass(i, start.q, &mut self.inertia[place..place + n * n]);
            }
        }
    }

    /// Writes the masses of all trees at `q`.
    fn masses(&mut self, system: &dyn SteppedSystem, q: &[f64]) {
        for (i, &place) in self.places.iter().enumerate() {
            let n = system.tree(i).len();
            system.tree_mass(i, q, &mut self.inertia[place..place + n * n]);
        }
    }

    /// Writes the efforts without the forces of inertia.
    fn effort_at(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
        q: &[f64],
        v: &[f64],
    ) {
        let t = start.t + start.scheme.effort_weight() * start.dt;
        let effort = &mut self.effort;
        system.effort(t, q, v, effort);
        system.contact_effort(State { t, q, v }, start.closed, effort);
        for (effort, applied) in effort.iter_mut().zip(start.applied) {
            *effort += applied;
        }
    }

    /// Writes the Coriolis force; false where it is zero at every state.
    fn coriolis_at(&mut self, system: &dyn SteppedSystem, q: &[f64], v: &[f64]) -> bool {
        if system.coriolis(q, v, &mut self.force) {
            return true;
        }
        if self.identity && system.constant_mass() {
            self.force.fill(0.0);
            return false;
        }
        let d = v.len();
        zeros(&mut self.work, d * d + d);
        kinetic::coriolis(system, q, v, &mut self.force, &mut self.work);
        true
    }

    fn add_force(&mut self) {
        for (effort, force) in self.effort.iter_mut().zip(&self.force) {
            *effort += force;
        }
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

    /// `M (v − v₀) − dt k` with the masses and efforts at hand.
    pub(super) fn momentum_residual(
        &self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
        v: &[f64],
        out: &mut [f64],
    ) {
        for (i, &place) in self.places.iter().enumerate() {
            let tree = system.tree(i);
            let n = tree.len();
            for (k, row) in self.inertia[place..place + n * n]
                .chunks_exact(n)
                .enumerate()
            {
                let at = tree.start + k;
                let momentum: f64 = (0..n)
                    .map(|c| row[c] * (v[tree.start + c] - start.v[tree.start + c]))
                    .sum();
                out[at] = momentum - start.dt * self.effort[at];
            }
        }
    }

    /// `m(v) = 0` by Newton's method.
    fn iterate(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
    ) -> Result<(), NotFound> {
        // Velocities below this leave the coordinates as they are.
        let reach = start.q.iter().fold(0.0, |most: f64, q| most.max(q.abs()));
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
