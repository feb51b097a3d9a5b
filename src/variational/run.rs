//! The record of a variational run.

use super::failure::VariationalFailure;
use crate::mechanics::log::{ContactEvent, Phase, sequence};

/// The states of a run at the ends of its steps, and its events; complete up to the time at which
/// it ended, whatever the reason.
#[derive(Clone, Debug)]
pub struct VariationalRun {
    pub(super) dof: usize,
    pub(super) times: Vec<f64>,
    /// `q`, `v` and `p` of each time.
    pub(super) states: Vec<f64>,
    pub(super) events: Vec<ContactEvent>,
    pub(super) initial: Vec<usize>,
    pub(super) failure: Option<VariationalFailure>,
    pub(super) guaranteed: bool,
    /// Starts of parts that were made in two halves.
    pub(super) halved: Vec<f64>,
}

impl VariationalRun {
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
        self.part(k, 0)
    }

    /// Velocities at time number `k`; empty where there is none.
    pub fn v(&self, k: usize) -> &[f64] {
        self.part(k, 1)
    }

    /// Momenta `p = M v` at time number `k`; empty where there is none.
    pub fn p(&self, k: usize) -> &[f64] {
        self.part(k, 2)
    }

    /// The last state `(q, v)`.
    pub fn state(&self) -> &[f64] {
        let first = self.times.len().saturating_sub(1) * 3 * self.dof;
        self.states
            .get(first..first + 2 * self.dof)
            .unwrap_or_default()
    }

    fn part(&self, k: usize, which: usize) -> &[f64] {
        let first = k
            .saturating_mul(3)
            .saturating_add(which)
            .saturating_mul(self.dof);
        let part = self.states.get(first..first.saturating_add(self.dof));
        part.unwrap_or_default()
    }

    /// The events, in order of time; several contacts at one instant are one event. Impacts have
    /// the time of the impact; releases are found at the end of a step.
    pub fn events(&self) -> &[ContactEvent] {
        &self.events
    }

    /// The contact mode sequence: modes in which positive time is spent.
    pub fn modes(&self) -> Vec<Phase> {
        let start = self.times.first().copied().unwrap_or(f64::NAN);
        sequence(start, self.t(), &self.initial, &self.events)
    }

    /// Why the run ended early; none when it reached its end.
    pub fn failure(&self) -> Option<&VariationalFailure> {
        self.failure.as_ref()
    }

    /// This run, if it reached its end.
    ///
    /// # Errors
    /// The reason why it did not.
    pub fn completed(mut self) -> Result<Self, VariationalFailure> {
        match self.failure.take() {
            Some(failure) => Err(failure),
            None => Ok(self),
        }
    }

    /// Times (s) from which on a step, or the part of one before or after an impact, was made in
    /// two halves, because Newton's method did not solve it whole or met what is not finite. Such a
    /// step is of second order too, but a run with it is not that of a map, which alone keeps energies for any time. A half
    /// says that steps are several times too long for the motion there, whose energy may be off by
    /// orders from then on: take shorter steps, thirty a turn of the fastest rod.
    pub fn halved(&self) -> &[f64] {
        &self.halved
    }

    /// False when impacts that follow each other too closely were made plastic
    /// ([`Chatter`](super::Chatter)), a contact closed too slowly for an impact and stayed closed,
    /// or a step was made in two halves ([`halved`](Self::halved)). It says nothing of accuracy: look
    /// at the energy, or at a run of half the step.
    pub fn is_guaranteed(&self) -> bool {
        self.guaranteed
    }
}
