//! The solver of one step: islands, each by Newton's method, one after the other or on several
//! threads.

use super::failure::CompliantFailure;
use super::gradient::Gradient;
use super::law::Region;
use super::newton::IslandSolver;
use super::newton::graph::{ALONE, Islands};
use super::problem::Problem;
use super::settings::{Guess, LineSearch, SolverSettings};
use super::solution::{IslandReport, StepSolution};
use crate::interrupt::Interrupted;
use crate::{Interrupt, validate};

/// Solves [`Problem`]s by Newton's method on the velocities, island by island.
///
/// The cost is strongly convex and its gradient continuous; with the line search the method
/// converges from any guess. (For Coulomb's friction see [`Problem::coulomb`].) Where rounding ends it first, the solution says so
/// ([`Convergence`](super::Convergence)) and is the best that was found.
///
/// Work: at most [`max_iterations`](Self::max_iterations) Newton steps an island, each with one
/// factorisation (up to four where rounding makes it fail) and at most 145 evaluations of all its
/// terms. Coulomb's friction adds at most 30 solutions with the factor to each of the first 100 steps,
/// and 3000 sweeps over the terms of an island. Memory is that of the block factors, with 31 vectors
/// of velocities where contacts slide. A solver keeps its memory: solving problems of the same sizes
/// again allocates nothing. Results do not depend on the number of threads.
#[derive(Clone, Debug, Default)]
pub struct Solver {
    pub(crate) settings: SolverSettings,
    pub(super) islands: Islands,
    pub(super) solvers: Vec<IslandSolver>,
    pub(super) solution: StepSolution,
    pub(super) gradient: Gradient,
    #[cfg(feature = "parallel")]
    pool: super::newton::parallel::Pool,
}

impl Solver {
    /// With the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Tolerance of the gradient relative to momenta and impulses; default 1e-6. Steps that change momenta by far less
    /// have a tolerance of a hundred times `rtol` of these changes, and guesses one of `rtol` of them: weak friction at
    /// a high speed would be missed step after step otherwise. A millionth of `rtol` of the momenta is taken for
    /// rounding.
    #[must_use]
    pub fn rtol(mut self, rtol: f64) -> Self {
        self.settings.rtol = rtol;
        self
    }

    /// Absolute tolerance of the gradient (`√(2 J)`); default 1e-14.
    #[must_use]
    pub fn atol(mut self, atol: f64) -> Self {
        self.settings.atol = atol;
        self
    }

    /// Limit of the Newton iterations of an island, up to a million; default 400. Most islands need
    /// fewer than ten, a few some hundreds.
    #[must_use]
    pub fn max_iterations(mut self, iterations: usize) -> Self {
        self.settings.max_iterations = iterations;
        self
    }

    /// Sets the line search; default [`LineSearch::Exact`].
    #[must_use]
    pub fn line_search(mut self, search: LineSearch) -> Self {
        self.settings.line_search = search;
        self
    }

    /// Sets the start of the iteration; default [`Guess::Best`].
    #[must_use]
    pub fn guess(mut self, guess: Guess) -> Self {
        self.settings.guess = guess;
        self
    }

    /// Sets whether islands are solved one by one; default true. False solves all trees with terms
    /// at once, for comparison.
    #[must_use]
    pub fn islands(mut self, islands: bool) -> Self {
        self.settings.islands = islands;
        self
    }

    /// Sets whether the cost of each iteration is kept; default false.
    #[must_use]
    pub fn history(mut self, history: bool) -> Self {
        self.settings.history = history;
        self
    }

    /// Number of threads that share the islands, up to 1024; default 1. They are started once. With
    /// the feature `parallel`.
    #[cfg(feature = "parallel")]
    #[must_use]
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.threads = threads;
        self
    }

    /// Stops a solution from outside; looked at before each iteration of an island.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.settings.interrupt = interrupt.clone();
        self
    }

    /// The velocities at the end of the step, from the guess `v0`: the velocities at its start.
    ///
    /// # Errors
    /// [`CompliantFailure::Input`] for another length, a guess that is not finite, settings that make no
    /// sense, spinning or rolling friction with another law than [`Problem::coulomb`], or a problem
    /// with numbers so large that its velocities, impulses or cost overflow;
    /// [`CompliantFailure::Interrupted`]. That an island did not converge is no error here: look at
    /// [`StepSolution::is_converged`].
    pub fn solve(
        &mut self,
        problem: &Problem,
        v0: &[f64],
    ) -> Result<&StepSolution, CompliantFailure> {
        self.settings.validate()?;
        validate::length("guess", problem.dof(), v0.len())?;
        validate::finite("guess", v0)?;
        problem.check_moments(None)?;
        self.gradient.forget();
        self.islands.find(problem, !self.settings.islands);
        let count = self.islands.len();
        if self.solvers.len() < count {
            self.solvers.resize_with(count, IslandSolver::default);
        }
        for (number, solver) in self.solvers[..count].iter_mut().enumerate() {
            solver.island.gather(problem, &self.islands, number);
        }
        self.solve_islands(count, v0)?;
        self.collect(problem);
        if let Err(overflow) = self.solution.check_finite() {
            self.solution.clear();
            return Err(CompliantFailure::Input(overflow));
        }
        self.gradient.solved();
        Ok(&self.solution)
    }

    #[cfg(not(feature = "parallel"))]
    fn solve_islands(&mut self, count: usize, v0: &[f64]) -> Result<(), Interrupted> {
        let settings = &self.settings;
        let mut solvers = self.solvers[..count].iter_mut();
        solvers.try_for_each(|solver| solver.solve(settings, v0))
    }

    #[cfg(feature = "parallel")]
    fn solve_islands(&mut self, count: usize, v0: &[f64]) -> Result<(), Interrupted> {
        let settings = &self.settings;
        let solvers = &mut self.solvers[..count];
        self.pool.for_each(settings.threads, solvers, |solver| {
            solver.solve(settings, v0)
        })
    }

    /// Copies the islands into the solution.
    fn collect(&mut self, problem: &Problem) {
        let (islands, solution) = (&self.islands, &mut self.solution);
        solution.v.clear();
        solution.v.extend_from_slice(&problem.free);
        solution.impulses.clear();
        solution.impulses.resize(problem.contacts(), [0.0; 3]);
        solution.moments.clear();
        solution.moments.resize(problem.moments(), [0.0; 3]);
        solution.regions.clear();
        solution
            .regions
            .resize(problem.contacts(), Region::NoContact);
        solution.row_impulses.clear();
        solution.row_impulses.resize(problem.rows(), 0.0);
        solution.complementarity = 0.0;
        debug_assert!(
            islands
                .of_tree
                .iter()
                .all(|&i| i == ALONE || i < islands.len())
        );
        let solvers = &self.solvers[..islands.len()];
        solution
            .islands
            .resize_with(solvers.len(), IslandReport::default);
        for (solver, report) in solvers.iter().zip(&mut solution.islands) {
            report.clone_from(&solver.report);
            for tree in &solver.island.trees {
                let found = &solver.iterate.v[tree.start..tree.start + tree.width];
                solution.v[tree.origin..tree.origin + tree.width].copy_from_slice(found);
            }
            let (points, moments) = solver.island.contacts.split_at(solver.island.points);
            for (i, contact) in points.iter().enumerate() {
                solution.impulses[contact.number] = solver.iterate.impulses[i];
                solution.regions[contact.number] = solver.iterate.regions[i];
            }
            let behind = &solver.iterate.impulses[points.len()..];
            for (moment, impulse) in moments.iter().zip(behind) {
                solution.moments[moment.number] = *impulse;
            }
            for (i, row) in solver.island.rows.iter().enumerate() {
                solution.row_impulses[row.number] = solver.iterate.row_impulses[i];
            }
            solution.complementarity += solver.complementarity();
        }
    }

    /// Forgets the last solution.
    pub(super) fn forget(&mut self) {
        self.gradient.forget();
        self.solution.clear();
    }

    /// The last solution; empty where it overflowed.
    pub fn solution(&self) -> &StepSolution {
        &self.solution
    }
}
