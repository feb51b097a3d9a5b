//! Settings of the solver.

use crate::{InputError, Interrupt, validate};

/// The line search: the way in which the length of a Newton step is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineSearch {
    /// At the minimum along the step, to 1e-8 of the slope at its start; at most 100 evaluations.
    #[default]
    Exact,
    /// By Armijo's rule, at most 40 evaluations; where none of them decreases the cost, and after ten
    /// iterations, by the exact search.
    Armijo,
}

/// The friction of contacts in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum StepFriction {
    /// Coulomb's law: at most `μ` times the normal impulse of the same step. A contact presses where it
    /// would close within the step, and bodies that pass each other do not touch
    /// ([`Problem::coulomb`](super::Problem::coulomb)).
    #[default]
    Coulomb,
    /// The convex cone (Castro et al.), one convex problem a step: a contact that slides rides on a
    /// cushion `(dt + τ) μ |v_t|`, and bodies that pass each other this near push each other.
    Cone,
    /// At most `μ` times the normal impulse of the law at the start of the step
    /// ([`Problem::lag_friction`](super::Problem::lag_friction)): the bound is one step old.
    Lagged {
        /// The slip below which friction is proportional to it (m/s); 1e-4 is usual.
        slip: f64,
    },
}

/// The start of Newton's method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Guess {
    /// At the cheapest of three: the given velocities, those without contacts `v*`, and rest (zero
    /// for trees with a contact, `v*` for others); island by island.
    #[default]
    Best,
    /// At the given velocities.
    Given,
}

/// Loads that come to rest do so in fewer iterations.
const FOLLOWING: usize = 100;

/// Settings of [`Solver`](super::Solver).
#[derive(Clone, Debug)]
pub(crate) struct SolverSettings {
    pub(crate) rtol: f64,
    pub(crate) atol: f64,
    /// Absolute (J) and relative change of the cost that ends the iteration.
    pub(crate) cost_tolerance: (f64, f64),
    pub(crate) max_iterations: usize,
    pub(crate) line_search: LineSearch,
    pub(crate) guess: Guess,
    pub(crate) islands: bool,
    pub(crate) history: bool,
    pub(crate) threads: usize,
    pub(crate) interrupt: Interrupt,
}

impl Default for SolverSettings {
    fn default() -> Self {
        Self {
            rtol: 1e-6,
            atol: 1e-14,
            cost_tolerance: (1e-30, 1e-15),
            max_iterations: 400,
            line_search: LineSearch::Exact,
            guess: Guess::Best,
            islands: true,
            history: false,
            threads: 1,
            interrupt: Interrupt::new(),
        }
    }
}

impl SolverSettings {
    /// True when a gradient of this norm is small beside momenta and impulses (26).
    pub(crate) fn accepts(&self, residual: f64, scale: f64) -> bool {
        residual <= self.atol + self.rtol * scale
    }

    /// Iterations in which the loads of Coulomb's friction follow the velocities; then they are fixed.
    pub(crate) fn following(&self) -> usize {
        (self.max_iterations / 4).min(FOLLOWING)
    }

    pub(crate) fn validate(&self) -> Result<(), InputError> {
        validate::not_negative("rtol", &[self.rtol])?;
        validate::not_negative("atol", &[self.atol])?;
        let rule = "must lie between 1 and 1000000";
        let most = self.max_iterations;
        let allowed = (1..=1_000_000).contains(&most);
        validate::unless(allowed, "max_iterations", most as f64, rule)?;
        let rule = "must lie between 1 and 1024";
        let allowed = (1..=1024).contains(&self.threads);
        validate::unless(allowed, "threads", self.threads as f64, rule)
    }
}
