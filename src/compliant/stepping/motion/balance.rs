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

use super::balanced_trees::{Balance, Heard};
use super::efforts::{FreeMotion, StepStart};
use crate::compliant::stepping::model::SteppedSystem;
use crate::linalg::cholesky;

impl FreeMotion {
    /// True where `v*` of some tree depends on the velocities of the solution.
    pub(in crate::compliant::stepping) fn has_balance(&self) -> bool {
        self.balance.trees.iter().any(|tree| tree.follows)
    }

    /// Where contacts were listed with `v*`: that of stage 1.
    pub(in crate::compliant::stepping) fn v_alone(&self) -> &[f64] {
        if self.balance.is_taken {
            &self.balance.alone
        } else {
            &self.v
        }
    }

    /// `v*` is that of stage 1 again.
    pub(in crate::compliant::stepping) fn forget_balance(&mut self) {
        self.balance.is_taken = false;
        self.balance.meet_others();
    }

    /// Begins the balance with the contacts of a solution.
    pub(in crate::compliant::stepping) fn begin_balance(&mut self) {
        self.balance.meet_others();
    }

    /// Ends it where the velocities change still.
    pub(in crate::compliant::stepping) fn leave_balance(&mut self) {
        self.balance.is_left = true;
    }

    /// True where the velocities did not settle: they are not those at which their forces are.
    pub(in crate::compliant::stepping) fn left_balance(&self) -> bool {
        self.balance.is_left
    }

    /// Follows the trees that follow in the balance of another step from nearly the same start.
    pub(in crate::compliant::stepping) fn follow_as(&mut self, other: &Self) {
        self.balance.trees.clone_from(&other.balance.trees);
    }

    /// Takes `v*` from the velocities `v` of a solution, but of trees of which that changes less than the
    /// part `least` of their velocities. A tree of which it would change more than the last time, as of a
    /// body that turns by more than about 2 rad in a step, keeps that of stage 1. Returns the largest
    /// part that was taken: 0 where `v*` is as it was.
    pub(in crate::compliant::stepping) fn balance(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
        v: &[f64],
        least: f64,
    ) -> f64 {
        let mut of = std::mem::take(&mut self.balance);
        let mut most: f64 = 0.0;
        for i in 0..self.places.len() {
            let own = system.tree(i);
            // No contact is felt where both are the same.
            let is_felt = !start.sleeps(i) && v[own.clone()] != self.v[own];
            of.trees[i].follows |= is_felt && of.has(i);
        }
        if of.trees.iter().any(|tree| tree.follows) {
            if !of.is_taken {
                of.alone.clone_from(&self.v);
            }
            self.momentum_at(system, start, v, &mut of);
            for i in 0..self.places.len() {
                let Some(change) = self.correct(system, v, i, &mut of) else {
                    continue;
                };
                let (tree, own) = (&mut of.trees[i], system.tree(i));
                let next = match tree.hears(change, least) {
                    Heard::Nothing => continue,
                    Heard::Change => &of.residual[own.clone()],
                    Heard::TooMuch => &of.alone[own.clone()],
                };
                most = most.max(change);
                self.v[own.clone()].copy_from_slice(next);
                self.stiffness.renew(i, &start.v[own.clone()], &self.v[own]);
            }
            of.is_taken |= most > 0.0;
        }
        self.balance = of;
        most
    }

    /// `v*` of the trees that follow the velocities `v`, whatever it changes.
    pub(in crate::compliant::stepping) fn balance_at(
        &mut self,
        system: &dyn SteppedSystem,
        start: &StepStart<'_>,
        v: &[f64],
    ) {
        let mut of = std::mem::take(&mut self.balance);
        self.momentum_at(system, start, v, &mut of);
        for i in 0..self.places.len() {
            if self.correct(system, v, i, &mut of).is_some() {
                let own = system.tree(i);
                self.v[own.clone()].copy_from_slice(&of.residual[own]);
            }
        }
        self.balance = of;
    }

    /// Writes `v − A⁻¹ m(v)` of a tree that follows in the place of its residual; by what part of the velocities
    /// that differs from `v*`. None where it is not finite, too.
    fn correct(
        &self,
        system: &dyn SteppedSystem,
        v: &[f64],
        i: usize,
        of: &mut Balance,
    ) -> Option<f64> {
        if !of.trees[i].follows {
            return None;
        }
        let (own, place) = (system.tree(i), self.places[i]);
        let n = own.len();
        of.factor.clear();
        of.factor
            .extend_from_slice(&self.inertia[place..place + n * n]);
        cholesky::factor(&mut of.factor, n)?;
        let next = &mut of.residual[own.clone()];
        cholesky::solve(&of.factor, n, next);
        let (solved, free) = (&v[own.clone()], &self.v[own]);
        let (mut change, mut size): (f64, f64) = (0.0, 0.0);
        for k in 0..n {
            next[k] = solved[k] - next[k];
            change = change.max((next[k] - free[k]).abs());
            size = size.max(solved[k].abs()).max(free[k].abs());
        }
        let is_finite = next.iter().all(|v| v.is_finite());
        (is_finite && size > 0.0).then(|| change / size)
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
