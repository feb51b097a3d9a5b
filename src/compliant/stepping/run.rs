//! The results of a run of the compliant driver.

use std::time::Duration;

use crate::compliant::failure::CompliantFailure;

/// Counts of a run or of a part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StepStatistics {
    /// Steps, with the last one where its contact problem did not converge.
    pub steps: usize,
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
    /// The greatest [complementarity error](crate::compliant::StepSolution::complementarity_error) of a
    /// step.
    pub complementarity_error: f64,
    /// Deepest overlap of listed contacts at the starts of steps (m); 0 without overlap.
    pub overlap: f64,
}

/// Where the time of steps went.
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

/// The states of a run at the ends of its steps; complete up to the time at which it ended,
/// whatever the reason.
#[derive(Clone, Debug)]
pub struct StepRun {
    pub(super) coordinates: usize,
    pub(super) dof: usize,
    pub(super) times: Vec<f64>,
    /// `q` and `v` of each time.
    pub(super) states: Vec<f64>,
    pub(super) statistics: StepStatistics,
    pub(super) failure: Option<CompliantFailure>,
}

impl StepRun {
    /// Times (s), the start included.
    pub fn times(&self) -> &[f64] {
        &self.times
    }

    /// Time of the last state (s).
    pub fn t(&self) -> f64 {
        self.times.last().copied().unwrap_or(f64::NAN)
    }

    /// Coordinates at time number `k`; empty where there is none.
    pub fn q(&self, k: usize) -> &[f64] {
        let state = self.state_at(k);
        &state[..self.coordinates.min(state.len())]
    }

    /// Velocities at time number `k`; empty where there is none.
    pub fn v(&self, k: usize) -> &[f64] {
        let state = self.state_at(k);
        &state[self.coordinates.min(state.len())..]
    }

    /// The last state `(q, v)`.
    pub fn state(&self) -> &[f64] {
        self.state_at(self.times.len().wrapping_sub(1))
    }

    fn state_at(&self, k: usize) -> &[f64] {
        let size = self.coordinates + self.dof;
        let first = k.saturating_mul(size);
        let state = self.states.get(first..first.saturating_add(size));
        state.unwrap_or_default()
    }

    /// Counts of the run.
    pub fn statistics(&self) -> &StepStatistics {
        &self.statistics
    }

    /// Why the run ended early; none when it reached its end.
    pub fn failure(&self) -> Option<&CompliantFailure> {
        self.failure.as_ref()
    }

    /// This run, if it reached its end.
    ///
    /// # Errors
    /// The reason why it did not.
    pub fn completed(mut self) -> Result<Self, CompliantFailure> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(self),
        }
    }
}
