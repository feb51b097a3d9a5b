//! Newton's method with a line search for one island (Castro et al., algorithm 2).

use super::block_cholesky::BlockCholesky;
use super::hessian::factorise;
use super::island::Island;
use super::iterate::{Direction, Iterate};
use super::line_search::search;
use crate::compliant::settings::{Guess, SolverSettings};
use crate::compliant::solution::{Convergence, IslandReport};
use crate::interrupt::Interrupted;

/// Velocities of terms are added up for so many iterations, then computed again.
const REFRESH: usize = 20;

/// Greatest momentum error with which an iteration that stands still has converged. Stiff terms turn
/// the rounding of velocities into such errors of impulses, with velocities that are right; where
/// impulses and momenta are far from balance, the velocities are not known to be.
const BALANCED: f64 = 1e-2;

/// An island with the memory of its solution. It keeps what it has allocated, and the symbolic
/// factorisation while trees and edges stay the same.
#[derive(Clone, Debug, Default)]
pub(in crate::compliant) struct IslandSolver {
    pub(in crate::compliant) island: Island,
    pub(in crate::compliant) iterate: Iterate,
    direction: Direction,
    pub(in crate::compliant) factor: BlockCholesky,
    /// `A v*`, for the scale of momenta.
    free_momentum: Vec<f64>,
    candidate: Iterate,
    pub(in crate::compliant) scratch: Vec<f64>,
    pub(in crate::compliant) report: IslandReport,
}

impl IslandSolver {
    /// Solves the island that was gathered, from the velocities `v0` of the whole problem.
    pub(in crate::compliant) fn solve(
        &mut self,
        settings: &SolverSettings,
        v0: &[f64],
    ) -> Result<(), Interrupted> {
        let island = &self.island;
        self.iterate.resize(island);
        self.direction.resize(island);
        self.free_momentum.clear();
        self.free_momentum.resize(island.dof(), 0.0);
        island.inertia_times(&island.free, &mut self.free_momentum);
        let sizes = (island.contacts.len(), island.rows.len());
        self.report.restart(island.trees.len(), sizes.0, sizes.1);
        self.choose_guess(settings.guess, v0);
        self.iterate_newton(settings)
    }

    /// Starts at the cheapest candidate.
    fn choose_guess(&mut self, guess: Guess, v0: &[f64]) {
        let island = &self.island;
        for tree in &island.trees {
            let given = &v0[tree.origin..tree.origin + tree.width];
            self.iterate.v[tree.start..tree.start + tree.width].copy_from_slice(given);
        }
        self.iterate.evaluate_at_v(island);
        if guess == Guess::Given {
            return;
        }
        self.candidate.resize(island);
        for rest in [false, true] {
            self.candidate.v.copy_from_slice(&island.free);
            if rest {
                for (tree, _) in island
                    .trees
                    .iter()
                    .zip(&island.touched)
                    .filter(|(_, t)| **t)
                {
                    self.candidate.v[tree.start..tree.start + tree.width].fill(0.0);
                }
            }
            self.candidate.evaluate_at_v(island);
            // Also where the cost of the guess overflows.
            let is_cheaper = self.candidate.cost < self.iterate.cost;
            if is_cheaper || !self.iterate.cost.is_finite() {
                std::mem::swap(&mut self.candidate, &mut self.iterate);
            }
        }
    }

    fn iterate_newton(&mut self, settings: &SolverSettings) -> Result<(), Interrupted> {
        let island = &self.island;
        let mut analysed = false;
        let mut since_refresh = 0;
        loop {
            // Line 2: the test of convergence (26).
            self.iterate.evaluate_gradient(island);
            let (mut residual, mut scale) = self.residual();
            if since_refresh > 0 && settings.accepts(residual, scale) {
                // Stiff terms turn what steps have added up in rounding into impulses: the residual
                // that counts is that of the velocities themselves.
                self.iterate.evaluate_at_v(island);
                self.iterate.evaluate_gradient(island);
                since_refresh = 0;
                (residual, scale) = self.residual();
            }
            self.report.state(self.iterate.cost, residual, scale);
            if settings.history {
                self.report.costs.push(self.iterate.cost);
            }
            if !(self.iterate.cost + residual + scale).is_finite() {
                // Numbers whose squares overflow: nothing can be compared, and the solver refuses it.
                self.end(Convergence::Stalled);
                return Ok(());
            }
            if settings.accepts(residual, scale) {
                self.end(Convergence::Gradient);
                return Ok(());
            }
            if self.report.iterations >= settings.max_iterations {
                self.end(Convergence::MaxIterations);
                return Ok(());
            }
            settings.interrupt.check()?;
            // Algorithm 2, line 3: H dv = −∇ℓ, with the pattern of H analysed once.
            if !analysed {
                self.factor.analyse(&island.widths, &island.edges);
                analysed = true;
            }
            if !factorise(&mut self.factor, island, &self.iterate, &mut self.scratch) {
                self.end(Convergence::Stalled);
                return Ok(());
            }
            let negative = self.iterate.gradient.iter().map(|g| -g);
            for (dv, g) in self.direction.dv.iter_mut().zip(negative) {
                *dv = g;
            }
            self.factor.solve(&mut self.direction.dv);
            self.direction.evaluate(island, &self.iterate);
            // Line 4: the length, by an exact or an approximate minimum of ℓ along dv.
            let (length, evaluations) = search(settings, island, &self.iterate, &self.direction);
            self.report.evaluations += evaluations;
            let Some(length) = length else {
                self.end(Convergence::Stalled);
                return Ok(());
            };
            // Line 5. Velocities of terms and momenta are updated along with v.
            let before = self.iterate.cost;
            self.iterate.advance(&self.direction, length);
            since_refresh += 1;
            if since_refresh == REFRESH {
                self.iterate.refresh(island);
                since_refresh = 0;
            }
            self.iterate.evaluate_terms(island);
            self.report.iterations += 1;
            if self.stands_still(settings, before, length) {
                if settings.history {
                    self.report.costs.push(self.iterate.cost);
                }
                self.end(Convergence::Cost);
                let error = self.report.momentum_error;
                if error > BALANCED.max(settings.rtol) {
                    self.report.convergence = Convergence::Stalled;
                }
                return Ok(());
            }
        }
    }

    /// `‖D ∇ℓ‖`, and the greater of `‖D A v‖` and `‖D Jᵀγ‖` (26).
    fn residual(&self) -> (f64, f64) {
        let (island, iterate) = (&self.island, &self.iterate);
        let mut momentum = 0.0;
        let parts = iterate.momentum.iter().zip(&self.free_momentum);
        for ((a, b), d) in parts.zip(&island.scale) {
            momentum += ((a + b) * d).powi(2);
        }
        let impulse = island.scaled_norm(&iterate.generalised);
        (
            island.scaled_norm(&iterate.gradient),
            momentum.sqrt().max(impulse),
        )
    }

    /// True when the last step changed neither the cost nor the velocities beyond rounding.
    fn stands_still(&self, settings: &SolverSettings, before: f64, length: f64) -> bool {
        let (absolute, relative) = settings.cost_tolerance;
        let cost = self.iterate.cost;
        if !(cost - before).is_finite() {
            return false;
        }
        let limit = absolute + 0.5 * relative * (before.abs() + cost.abs());
        if (cost - before).abs() <= limit && length > 0.5 {
            return true;
        }
        let norm = |x: &[f64]| {
            let parts = x.iter().zip(&self.island.scale);
            parts.map(|(x, d)| (x / d) * (x / d)).sum::<f64>().sqrt()
        };
        length * norm(&self.direction.dv) <= 1e-14 * norm(&self.iterate.v)
    }

    fn end(&mut self, convergence: Convergence) {
        self.report.convergence = convergence;
        // The sums of steps are brought in line with the velocities that are returned, and so is
        // what is said of them.
        if self.report.iterations > 0 {
            self.iterate.evaluate_at_v(&self.island);
            self.iterate.evaluate_gradient(&self.island);
            let (residual, scale) = self.residual();
            self.report.state(self.iterate.cost, residual, scale);
        }
    }

    /// Solves `H x = b` with the Hessian at the solution, for its derivatives.
    pub(in crate::compliant) fn factorise_at_solution(&mut self) -> bool {
        let island = &self.island;
        self.factor.analyse(&island.widths, &island.edges);
        factorise(&mut self.factor, island, &self.iterate, &mut self.scratch)
    }

    /// The complementarity error of the island: `Σ |g · γ|`, `g = J v − v̂ + R γ` (33).
    pub(in crate::compliant) fn complementarity(&self) -> f64 {
        let (velocities, impulses) = (&self.iterate.contact_velocities, &self.iterate.impulses);
        let terms = self.island.contacts.iter().zip(velocities).zip(impulses);
        let terms = terms.map(|((contact, v), gamma)| contact.law.complementarity(v, gamma).abs());
        terms.sum()
    }
}
