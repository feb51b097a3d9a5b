//! The motion without contacts of explicit schemes, and of trees that sleep as it was.

use super::efforts::{FreeMotion, StepStart};
use super::free_newton::{Least, NotFound};
use super::moves::blend;
use crate::compliant::stepping::model::SteppedSystem;
use crate::linalg::{cholesky, largest};

impl FreeMotion {
    /// The schemes with `θ = 0`: `v* = v₀ + dt M⁻¹ (f(q₀, v₀) + c(q₀, v̄) v̄)`, `v̄ = (v₀ + v*)/2`. The
    /// Coriolis force at the mean velocity does no work; at `v₀` it would speed up bodies that
    /// tumble, without bound.
    pub(super) fn explicit(
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
        let size = largest(&self.v);
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
    pub(super) fn masses_of_awake(&mut self, system: &dyn SteppedSystem, start: &StepStart<'_>) {
        for (i, &place) in self.places.iter().enumerate() {
            let is_known = &mut self.rested.is_known[i];
            *is_known &= start.sleeps(i);
            if !*is_known {
                let n = system.tree(i).len();
                system.tree_mass(i, start.q, &mut self.inertia[place..place + n * n]);
            }
        }
    }
}
