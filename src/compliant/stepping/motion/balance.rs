//! The balance of momentum at the velocities that contacts and joints leave.
//!
//! Stage 1 takes the forces at `v*`, of which contacts and joints know nothing. Forces of inertia at velocities
//! that they take away do work on those that remain: an unbalanced rotor would lose its spin at the relative rate
//! `ω² dt`. So the step is solved again with
//!
//! ```text
//!     v* = v − A⁻¹ m(v)        and then        m(v) = A (v − v*) = Jᵀ γ
//! ```
//!
//! where `v` are the velocities of the solution before. What the forces miss shrinks with each solution by about the
//! turn `ω dt` of a step.

use super::free_motion::{Balance, FreeMotion, StepStart};
use crate::compliant::stepping::model::SteppedSystem;
use crate::linalg::cholesky;

impl FreeMotion {
    /// True where `v*` depends on the velocities of the solution.
    pub(in crate::compliant::stepping) fn has_balance(&self) -> bool {
        self.balance.has_forces
    }

    /// Takes `v*` from the velocities `v` of a solution, but of trees of which that changes less than the part `least`
    /// of their velocities. Returns the largest part that was taken: 0 where `v*` is as it was.
    pub(in crate::compliant::stepping) fn balance(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
        v: &[f64],
        least: f64,
    ) -> f64 {
        if !self.balance.has_forces {
            return 0.0;
        }
        let mut of = std::mem::take(&mut self.balance);
        self.momentum_at(system, start, v, &mut of);
        if !of.is_taken {
            of.alone.clone_from(&self.v);
        }
        let mut most: f64 = 0.0;
        for (i, &place) in self.places.iter().enumerate() {
            let own = system.tree(i);
            let n = own.len();
            let (solved, free) = (&v[own.clone()], &mut self.v[own.clone()]);
            // No contact is felt where both are the same.
            if start.sleeps(i) || solved == free {
                continue;
            }
            of.factor.clear();
            of.factor
                .extend_from_slice(&self.inertia[place..place + n * n]);
            if cholesky::factor(&mut of.factor, n).is_none() {
                continue;
            }
            let correction = &mut of.residual[own.clone()];
            cholesky::solve(&of.factor, n, correction);
            let (mut change, mut size): (f64, f64) = (0.0, 0.0);
            for k in 0..n {
                change = change.max((solved[k] - correction[k] - free[k]).abs());
                size = size.max(solved[k].abs()).max(free[k].abs());
            }
            // False for what is not finite, too.
            if change > least * size && change < f64::INFINITY {
                most = most.max(change / size);
                for k in 0..n {
                    free[k] = solved[k] - correction[k];
                }
                self.stiffness.renew(i, &start.v[own], free);
            }
        }
        of.is_taken |= most > 0.0;
        self.balance = of;
        most
    }

    /// Takes back what stage 1 found.
    pub(in crate::compliant::stepping) fn unbalance(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
    ) {
        self.balance.has_forces = false;
        if std::mem::take(&mut self.balance.is_taken) {
            self.v.copy_from_slice(&self.balance.alone);
            for i in 0..self.places.len() {
                let own = system.tree(i);
                self.stiffness.renew(i, &start.v[own.clone()], &self.v[own]);
            }
        }
    }

    /// Writes `m(v)`.
    fn momentum_at(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
        v: &[f64],
        of: &mut Balance,
    ) {
        of.residual.resize(v.len(), 0.0);
        if start.scheme.effort_weight() == 0.0 {
            let held = std::mem::take(&mut self.held);
            self.effort_at_mean(system, start, &held, v);
            self.held = held;
            self.momentum_residual(system, start, v, &mut of.residual);
        } else {
            of.masses.clone_from(&self.inertia);
            std::mem::swap(&mut self.inertia, &mut of.masses);
            self.residual_at(system, start, v, &mut of.residual);
            std::mem::swap(&mut self.inertia, &mut of.masses);
        }
    }
}
