//! Memory of the motion without contacts, and the masses and efforts that move it.

use super::balanced_trees::Balance;
use super::free_newton::FreeNewton;
use super::geometric_stiffness::GeometricStiffness;
use crate::compliant::stepping::model::SteppedSystem;
use crate::compliant::stepping::scheme::Scheme;
use crate::mechanics::State;
use crate::mechanics::motion::kinetic;

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
pub(super) struct Rested {
    /// For each tree whether it is known; its block of `A` is then that of the step before.
    pub(super) is_known: Vec<bool>,
    pub(super) efforts: Vec<f64>,
    /// `v*` by these efforts.
    pub(super) v: Vec<f64>,
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
    pub(super) identity: bool,
    /// Part of the velocities to which a motion is found: Coriolis forces that are differences of the mass are
    /// known to less than their last digits.
    pub(super) resolved: f64,
    pub(super) mid_q: Vec<f64>,
    /// Where the rows of further terms are taken, if not at the start.
    pub(in crate::compliant::stepping) rows_q: Vec<f64>,
    /// Rates of the coordinates, and a point between.
    pub(super) rates: Vec<f64>,
    pub(super) mid_v: Vec<f64>,
    pub(super) effort: Vec<f64>,
    pub(super) force: Vec<f64>,
    /// Efforts without the forces of inertia.
    pub(super) held: Vec<f64>,
    /// Velocities of a step that is repeated.
    pub(super) repeated: Vec<f64>,
    pub(super) work: Vec<f64>,
    pub(super) matrix: Vec<f64>,
    pub(super) damping: Vec<f64>,
    /// Widths of the trees.
    pub(super) widths: Vec<usize>,
    pub(super) rested: Rested,
    pub(super) newton: FreeNewton,
    pub(super) stiffness: GeometricStiffness,
    pub(super) balance: Balance,
}

pub(super) fn zeros(values: &mut Vec<f64>, size: usize) {
    values.clear();
    values.resize(size, 0.0);
}

impl FreeMotion {
    /// Writes the masses of all trees at `q`.
    pub(super) fn masses(&mut self, system: &dyn SteppedSystem, q: &[f64]) {
        for (i, &place) in self.places.iter().enumerate() {
            let n = system.tree(i).len();
            system.tree_mass(i, q, &mut self.inertia[place..place + n * n]);
        }
    }

    /// Writes the efforts without the forces of inertia.
    pub(super) fn effort_at(
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
    pub(super) fn coriolis_at(&mut self, system: &dyn SteppedSystem, q: &[f64], v: &[f64]) -> bool {
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

    pub(super) fn add_force(&mut self) {
        for (effort, force) in self.effort.iter_mut().zip(&self.force) {
            *effort += force;
        }
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
}
