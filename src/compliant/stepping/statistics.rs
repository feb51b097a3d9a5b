//! Counts and times of the steps of the compliant driver.

use std::time::Duration;

use crate::compliant::StepSolution;

/// Counts of a run or of a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StepStatistics {
    /// Steps, with the last one where its contact problem did not converge.
    pub steps: usize,
    /// Trees that slept, summed over steps ([`Compliant::sleep`](crate::Compliant::sleep)).
    pub sleeping: usize,
    /// Contacts listed, summed over steps.
    pub contacts: usize,
    /// Islands, summed over steps.
    pub islands: usize,
    /// Newton iterations, summed over islands and steps.
    pub iterations: usize,
    /// The greatest number of Newton iterations of an island.
    pub most_iterations: usize,
    /// Evaluations of line searches, summed over islands and steps.
    pub evaluations: usize,
    /// The greatest [momentum error](crate::compliant::IslandReport::momentum_error) of an island.
    pub momentum_error: f64,
    /// The greatest [error of friction](crate::compliant::IslandReport::friction_error) of an island.
    pub friction_error: f64,
    /// The greatest [complementarity error](crate::compliant::StepSolution::complementarity_error) of a
    /// step.
    pub complementarity_error: f64,
    /// Deepest overlap of listed contacts at the starts of steps (m); 0 without overlap.
    pub overlap: f64,
}

impl StepStatistics {
    /// Counts what a solution took.
    pub(super) fn add_iterations(&mut self, solution: &StepSolution) {
        for island in solution.islands() {
            self.iterations += island.iterations;
            self.most_iterations = self.most_iterations.max(island.iterations);
            self.evaluations += island.evaluations;
        }
    }
}

/// The time that steps took, by their parts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepTimes {
    /// The motion without contacts, and coordinates.
    pub motion: Duration,
    /// Finding contacts.
    pub geometry: Duration,
    /// Building the contact problem.
    pub build: Duration,
    /// Solving it.
    pub solve: Duration,
}
