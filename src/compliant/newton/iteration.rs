//! Newton's method with a line search for one island (Castro et al., algorithm 2).

use super::coupling::Outcome;
use super::hessian::factorise;
use super::line_search::search;
use super::memory::IslandSolver;
use crate::compliant::settings::{Guess, SolverSettings};
use crate::compliant::solution::Convergence;
use crate::interrupt::Interrupted;

/// Velocities of terms are added up for so many iterations, then computed again.
const REFRESH: usize = 20;

/// Greatest momentum error with which an iteration that stands still has converged. Stiff terms turn
/// the rounding of velocities into such errors of impulses, with velocities that are right; where
/// impulses and momenta are far from balance, the velocities are not known to be.
const BALANCED: f64 = 1e-2;

/// The stand of the iteration.
#[derive(Clone, Copy, Debug)]
struct Stand {
    /// The pattern of the Hessian has been analysed.
    is_analysed: bool,
    since_refresh: usize,
    /// The problem with held loads has been solved as far as it can be.
    is_settled: bool,
    /// The residual when loads were taken last.
    last: f64,
}

/// The loads of Coulomb's friction in a step of the iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loads {
    /// There are none, or none that move.
    Fixed,
    /// The loads of the iterate.
    Own,
    /// The loads of an iterate before: the problem that they make is solved first.
    Held,
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
        let sizes = (island.points, island.rows.len());
        self.report.restart(island.trees.len(), sizes.0, sizes.1);
        self.is_fixed = false;
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
        if island.has_loads {
            self.iterate.take_loads(island);
        }
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
            if island.has_loads {
                self.candidate.take_loads(island);
            }
            // Also where the cost of the guess overflows.
            let is_cheaper = self.candidate.cost < self.iterate.cost;
            if is_cheaper || !self.iterate.cost.is_finite() {
                std::mem::swap(&mut self.candidate, &mut self.iterate);
            }
        }
    }

    fn iterate_newton(&mut self, settings: &SolverSettings) -> Result<(), Interrupted> {
        let mut stand = Stand {
            is_analysed: false,
            since_refresh: 0,
            is_settled: true,
            last: f64::INFINITY,
        };
        loop {
            if self.moves_loads() && self.sweep_if_due(settings)? {
                stand.since_refresh = 0;
                stand.is_settled = false;
            }
            // Line 2: the test of convergence (26).
            let (loads, residual, scale) = self.balance(settings, &mut stand);
            self.report.state(self.iterate.cost, residual, scale);
            if settings.history {
                self.report.costs.push(self.iterate.cost);
            }
            let is_solved = loads != Loads::Held
                && settings.accepts(residual, scale)
                && settings.accepts_changes(
                    residual,
                    [scale, self.changes()],
                    self.report.iterations == 0,
                );
            let ended = if !(self.iterate.cost + residual + scale).is_finite() {
                // Numbers whose squares overflow: nothing can be compared, and the solver refuses it.
                Some(Convergence::Stalled)
            } else if is_solved {
                Some(Convergence::Gradient)
            } else if loads == Loads::Own && self.is_rounding(residual, stand.last) {
                Some(Convergence::Cost)
            } else if self.report.iterations >= settings.max_iterations {
                Some(Convergence::MaxIterations)
            } else {
                None
            };
            if let Some(ended) = ended {
                self.end(settings, ended);
                return Ok(());
            }
            if loads == Loads::Own {
                stand.last = residual;
            }
            settings.interrupt.check()?;
            // Algorithm 2, line 3: the Hessian, with its pattern analysed once.
            if !std::mem::replace(&mut stand.is_analysed, true) {
                let island = &self.island;
                self.factor.analyse(&island.widths, &island.edges);
            }
            let (factor, scratch) = (&mut self.factor, &mut self.scratch);
            if !factorise(factor, &self.island, &self.iterate, scratch) {
                self.end(settings, Convergence::Stalled);
                return Ok(());
            }
            let before = self.iterate.cost;
            let coupled = if loads == Loads::Own {
                self.step_coupled(residual)
            } else {
                Outcome::NotThere
            };
            let (length, loads) = match coupled {
                Outcome::Taken => (Some(1.0), loads),
                Outcome::AtRest => {
                    self.end(settings, Convergence::Cost);
                    return Ok(());
                }
                Outcome::NotThere => (self.step_convex(settings), loads),
                // Where loads in the middle change nothing, those of the iterate still may.
                Outcome::LeadsUp => (self.step_convex(settings), Loads::Held),
            };
            if length.is_none() && loads != Loads::Held {
                self.end(settings, Convergence::Cost);
                return Ok(());
            }
            self.refresh_if_due(&mut stand);
            self.report.iterations += 1;
            let stays = length.is_none_or(|length| self.stands_still(settings, before, length));
            if stays && loads != Loads::Held {
                if settings.history {
                    self.report.costs.push(self.iterate.cost);
                }
                self.end(settings, Convergence::Cost);
                return Ok(());
            }
            stand.is_settled = stays;
        }
    }

    /// Sums of many steps are formed anew from the velocities.
    fn refresh_if_due(&mut self, stand: &mut Stand) {
        stand.since_refresh += 1;
        if stand.since_refresh == REFRESH {
            self.iterate.refresh(&self.island);
            self.iterate.evaluate_terms(&self.island);
            stand.since_refresh = 0;
        }
    }

    /// The gradient at the iterate: whose loads it is of, its norm, and the scale of momenta.
    fn balance(&mut self, settings: &SolverSettings, stand: &mut Stand) -> (Loads, f64, f64) {
        self.iterate.evaluate_gradient(&self.island);
        let (mut residual, mut scale) = self.residual();
        if stand.since_refresh > 0 && settings.accepts(residual, scale) {
            // Stiff terms turn what steps have added up in rounding into impulses: the residual that
            // counts is that of the velocities themselves.
            self.iterate.evaluate_at_v(&self.island);
            self.iterate.evaluate_gradient(&self.island);
            stand.since_refresh = 0;
            (residual, scale) = self.residual();
        }
        if !self.moves_loads() {
            return (Loads::Fixed, residual, scale);
        }
        if self.follow(settings, residual, stand.is_settled) {
            (residual, scale) = self.residual();
            return (Loads::Own, residual, scale);
        }
        (Loads::Held, residual, scale)
    }

    /// Lines 4 and 5: a step along `−H⁻¹ ∇ℓ` to an exact or an approximate minimum of ℓ; its length,
    /// none where the cost does not fall.
    fn step_convex(&mut self, settings: &SolverSettings) -> Option<f64> {
        let island = &self.island;
        for (dv, g) in self.direction.dv.iter_mut().zip(&self.iterate.gradient) {
            *dv = -g;
        }
        self.factor.solve(&mut self.direction.dv);
        self.direction.evaluate(island, &self.iterate);
        let made = self.report.iterations;
        let (length, evaluations) = search(settings, made, island, &self.iterate, &self.direction);
        self.report.evaluations += evaluations;
        // Velocities of terms and momenta are updated along with v.
        self.iterate.advance(&self.direction, length?);
        self.iterate.evaluate_terms(island);
        length
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

    /// True where momenta and impulses of this size, and what they are short of balance, are rounding of the
    /// places of the trees.
    fn is_at_rest(&self, settings: &SolverSettings, residual: f64, scale: f64) -> bool {
        let inertia = self.island.scale.iter().map(|d| 1.0 / (d * d));
        let rounding = settings.rest_speed * inertia.sum::<f64>().sqrt();
        residual <= rounding && scale <= rounding
    }

    fn end(&mut self, settings: &SolverSettings, convergence: Convergence) {
        // The sums of steps are brought in line with the velocities that are returned, and so is
        // what is said of them.
        if self.report.iterations > 0 {
            self.iterate.evaluate_at_v(&self.island);
            self.iterate.evaluate_gradient(&self.island);
            let (residual, scale) = self.residual();
            self.report.state(self.iterate.cost, residual, scale);
        }
        self.report.friction_error = self.friction_error(settings);
        let (residual, scale) = self.residual();
        self.report.convergence = match convergence {
            // Loads that were fixed may have proved right by less than the tolerance.
            Convergence::Gradient if settings.accepts(residual, scale) => convergence,
            Convergence::Gradient | Convergence::Cost
                if self.report.momentum_error <= BALANCED.max(settings.rtol)
                    || settings.accepts(residual, scale) =>
            {
                Convergence::Cost
            }
            _ if self.is_at_rest(settings, residual, scale) => Convergence::Cost,
            // Rounding leaves nothing to do, but momenta are not in balance.
            Convergence::Gradient | Convergence::Cost => Convergence::Stalled,
            other => other,
        };
    }
}
