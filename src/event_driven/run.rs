//! The record of a run of the event-driven driver.

use super::breakdown::Breakdown;
use crate::mechanics::log::{ContactEvent, Phase, sequence};
use crate::{Status, Trajectory};

/// Everything a mechanical run computed: complete up to the time at which it ended, whatever the
/// reason.
#[derive(Clone, Debug)]
pub struct MechanicalRun {
    pub(super) trajectory: Trajectory,
    pub(super) events: Vec<ContactEvent>,
    /// The contacts that are closed at the start.
    pub(super) initial: Vec<usize>,
    pub(super) guaranteed: bool,
}

impl MechanicalRun {
    /// States `(q, v)` over time, crossings, status, doubts: guard `k` of these is contact `k`, its
    /// gap while it is open and its force while it is closed.
    pub fn trajectory(&self) -> &Trajectory {
        &self.trajectory
    }

    /// The time of the last state (s).
    pub fn t(&self) -> f64 {
        self.trajectory.t()
    }

    /// The last state `(q, v)`, as the runs of the other drivers have it.
    ///
    /// ```
    /// use saltation::Start;
    /// use saltation::compliant::Compliant;
    /// use saltation::{ContactModel, EventDriven};
    /// use saltation::models::DoublePendulum;
    /// let free = DoublePendulum { wall: -9.0, ..Default::default() };
    /// let start = Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0; 2]);
    /// let exact = EventDriven::new(ContactModel::new(free))?.integrate(&start, 0.5)?;
    /// // the compliant driver knows no coefficient of restitution, and the wall is far away
    /// let mut stepper = Compliant::new(free)?.time_step(1e-4).inelastic();
    /// let run = stepper.integrate(&start, 0.5)?.completed()?;
    /// assert!((run.state()[0] - exact.state()[0]).abs() < 1e-3);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    pub fn state(&self) -> &[f64] {
        self.trajectory.state().as_slice()
    }

    /// The events, in order of time; several contacts at one instant are one event.
    pub fn events(&self) -> &[ContactEvent] {
        &self.events
    }

    /// Why the motion of the bodies could not go on, where that ended the run. None where the run
    /// came to its end or the core refused it: see [`status`](Trajectory::status).
    pub fn breakdown(&self) -> Option<&Breakdown> {
        Breakdown::of(self.trajectory.status())
    }

    /// This run, if it came to its end: reached the final time, or was stopped where the policy
    /// says so.
    ///
    /// # Errors
    /// The reason why it was refused.
    pub fn completed(self) -> Result<Self, Breakdown> {
        match self.trajectory.status() {
            Status::Refused(reason) => Err(reason.clone().into()),
            _ => Ok(self),
        }
    }

    /// The contact mode sequence `ω`: modes in which positive time is spent. A rebound begins a new
    /// mode, even with the same contacts.
    pub fn modes(&self) -> Vec<Phase> {
        let times = self.trajectory.times();
        let start = times.first().copied().unwrap_or(f64::NAN);
        sequence(start, self.trajectory.t(), &self.initial, &self.events)
    }

    /// False when [`Trajectory::is_guaranteed`] is, or when the run went on where it has no
    /// derivative: an accumulation was absorbed, a touch was taken as a contact, or impacts within
    /// the resolution of time were taken as one. A choice among several outcomes does not make it
    /// false: see [`ContactEvent::outcomes`].
    pub fn is_guaranteed(&self) -> bool {
        self.guaranteed && self.trajectory.is_guaranteed()
    }
}
