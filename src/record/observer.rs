//! Callbacks of a run: segments and crossings as they come. All data is borrowed: an observer that
//! keeps nothing allocates nothing.

use nalgebra::DVector;

use super::{ContactEvent, Doubt};
use crate::model::rearm::Arming;
use crate::model::{CrossedGuard, Guard, Mode, Record};
use crate::ode::Interpolant;

/// A piece of the run without events: a smooth step, the part of one before a located event, or a
/// projection.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Segment<'a> {
    /// Time at the beginning (s).
    pub start: f64,
    /// Time at the end (s).
    pub t: f64,
    /// State at the end.
    pub state: &'a [f64],
    /// The mode, frozen during the segment.
    pub mode: &'a Mode,
    /// True for a projection, false for a smooth step.
    pub projected: bool,
    /// Dense output, valid from `start` to `t`.
    pub interpolant: Interpolant<'a>,
}

impl<'a> Segment<'a> {
    /// A step of a driver whose states between nodes are those on a straight line: from `start`
    /// on, over `way`, to `state`; `zeros` are as many.
    pub(crate) fn straight(
        [start, t]: [f64; 2],
        [before, way, state, zeros]: [&'a [f64]; 4],
        mode: &'a Mode,
    ) -> Self {
        Self {
            start,
            t,
            state,
            mode,
            projected: false,
            interpolant: Interpolant {
                start,
                length: t - start,
                coefficients: [before, way, zeros, zeros, zeros],
            },
        }
    }
}

/// The guards that cross together at one instant, in a watched direction or not, as one step of the
/// hybrid system: all that is needed to repeat it.
#[derive(Clone, Copy, Debug)]
pub struct Transition<'a> {
    /// Time (s).
    pub t: f64,
    /// The guards in rising order of their event functions, with their rates just before.
    pub guards: &'a [CrossedGuard],
    /// The liveness bounds `c_k` of all event functions, as they are now (`u_k`/s).
    pub min_rates: &'a [f64],
    /// The way in which the state came there.
    pub arrival: Arrival,
    pub(crate) arming_before: &'a [Arming],
    /// The number of transitions that the run made before this one.
    pub index: usize,
    /// Record of it that the model left.
    pub record: &'a Record,
    /// State on the guards, before any reset.
    pub state_before: &'a [f64],
    /// Mode before.
    pub mode_before: &'a Mode,
    /// State after the reset, if there was one.
    pub state: &'a [f64],
    /// Mode after.
    pub mode: &'a Mode,
    /// Error of the time by the errors of the steps before (s), the largest of all guards:
    /// an estimate, that of [`GuardCrossing::time_error`].
    pub time_error: f64,
}

/// The way in which the state came to lie on a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Arrival {
    /// The root was located on the interpolant of a smooth step.
    Located,
    /// A projection, one step in the event variable, ended there.
    Projected,
    /// The state was already on the guard: it crosses at the same instant as another one.
    AlreadyThere,
    /// A reset carried the state across, or the guard's event function reads the mode and is
    /// another one now.
    Jumped,
}

/// One guard crossed, with the state there: what a trajectory keeps, and observers see as it
/// happens. Guards that cross at the same instant follow each other.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GuardCrossing {
    /// Time (s).
    pub t: f64,
    /// The guard, with its direction.
    pub guard: Guard,
    /// State on the guard, before any reset.
    pub state: DVector<f64>,
    /// `dh_k/dt` just before, in the mode before (`u_k`/s); after a projection of order 1 that at
    /// its start.
    pub rate_before: f64,
    /// `dh_k/dt` just after, in the mode and state after (`u_k`/s).
    pub rate_after: f64,
    /// The liveness bound `c_k` (`u_k`/s).
    pub min_rate: f64,
    /// The way in which the state came to lie on the guard.
    pub arrival: Arrival,
    /// Error of the time by the errors of the steps before (s): an estimate, not a bound.
    ///
    /// The estimated errors of all steps, times 3, are added up in units of the tolerance at the
    /// largest size of each variable along the run, and carried over by the gradient and the rate
    /// of the guard. Twice the time by which a projection misses its guard is added. What is left
    /// of an error in speeds shifts each flight to come: those of earlier crossings of the same
    /// event function are added once more for each of them. Neither flows that spread neighbours
    /// more than that are in it, nor rounding that adds up.
    ///
    /// It may be some hundred times too large: what is allowed of a height at the top of a flight
    /// is far more than what a step near the floor leaves.
    pub time_error: f64,
}

impl GuardCrossing {
    /// One to be filled in.
    pub(crate) fn blank(dim: usize) -> Self {
        Self {
            t: 0.0,
            guard: Guard::rising(0),
            state: DVector::zeros(dim),
            rate_before: 0.0,
            rate_after: 0.0,
            min_rate: 0.0,
            arrival: Arrival::Located,
            time_error: 0.0,
        }
    }

    /// The smaller of the two rates in the direction of crossing, in units of the least rate.
    pub fn margin(&self) -> f64 {
        let sign = self.guard.sign();
        (sign * self.rate_before).min(sign * self.rate_after) / self.min_rate
    }
}

/// Follows a run. All methods are provided; `()` keeps nothing, a pair of observers both follow.
pub trait Observer {
    /// The start of the run.
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        let _ = (t, state, mode);
    }

    /// A segment was accepted. Segments come in order of time, without gaps.
    fn segment(&mut self, segment: &Segment<'_>) {
        let _ = segment;
    }

    /// A set of guards crossed together, those included whose direction is not watched; comes
    /// before the [`crossing`](Self::crossing) of each that is.
    fn transition(&mut self, set: &Transition<'_>) {
        let _ = set;
    }

    /// A guard was crossed in a watched direction.
    fn crossing(&mut self, crossing: &GuardCrossing) {
        let _ = crossing;
    }

    /// Something happened to contacts of a mechanical system: gaps closed, contacts were released.
    /// Comes after the transition or the step by which it happened, a touch with the first event
    /// behind it.
    fn contacts(&mut self, event: &ContactEvent) {
        let _ = event;
    }

    /// The run decided something that its error might reverse. Reported before the segment or the crossing
    /// in which the doubtful time lies; what concerns the whole run follows [`start`](Self::start),
    /// what concerns its end comes last.
    fn doubt(&mut self, doubt: &Doubt) {
        let _ = doubt;
    }

    /// After the crossings of one instant: the mode that follows, and the state (changed if there
    /// was a reset).
    fn settled(&mut self, t: f64, state: &[f64], mode: &Mode) {
        let _ = (t, state, mode);
    }

    /// True when the run is to end here, with [`Status::Ended`](crate::Status::Ended); asked after
    /// each step, of drivers in steps of one length each whole one, and after each set of crossings.
    fn is_done(&self) -> bool {
        false
    }

    /// False when segments are not looked at, so that a system without guards need not form dense
    /// output.
    fn wants_segments(&self) -> bool {
        true
    }
}

impl Observer for () {
    fn wants_segments(&self) -> bool {
        false
    }
}

impl<O: Observer + ?Sized> Observer for &mut O {
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        (**self).start(t, state, mode);
    }
    fn segment(&mut self, segment: &Segment<'_>) {
        (**self).segment(segment);
    }
    fn transition(&mut self, set: &Transition<'_>) {
        (**self).transition(set);
    }
    fn crossing(&mut self, crossing: &GuardCrossing) {
        (**self).crossing(crossing);
    }
    fn contacts(&mut self, event: &ContactEvent) {
        (**self).contacts(event);
    }
    fn doubt(&mut self, doubt: &Doubt) {
        (**self).doubt(doubt);
    }
    fn settled(&mut self, t: f64, state: &[f64], mode: &Mode) {
        (**self).settled(t, state, mode);
    }
    fn is_done(&self) -> bool {
        (**self).is_done()
    }
    fn wants_segments(&self) -> bool {
        (**self).wants_segments()
    }
}

impl<A: Observer, B: Observer> Observer for (A, B) {
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        self.0.start(t, state, mode);
        self.1.start(t, state, mode);
    }
    fn segment(&mut self, segment: &Segment<'_>) {
        self.0.segment(segment);
        self.1.segment(segment);
    }
    fn transition(&mut self, set: &Transition<'_>) {
        self.0.transition(set);
        self.1.transition(set);
    }
    fn crossing(&mut self, crossing: &GuardCrossing) {
        self.0.crossing(crossing);
        self.1.crossing(crossing);
    }
    fn contacts(&mut self, event: &ContactEvent) {
        self.0.contacts(event);
        self.1.contacts(event);
    }
    fn doubt(&mut self, doubt: &Doubt) {
        self.0.doubt(doubt);
        self.1.doubt(doubt);
    }
    fn settled(&mut self, t: f64, state: &[f64], mode: &Mode) {
        self.0.settled(t, state, mode);
        self.1.settled(t, state, mode);
    }
    fn is_done(&self) -> bool {
        self.0.is_done() || self.1.is_done()
    }
    fn wants_segments(&self) -> bool {
        self.0.wants_segments() || self.1.wants_segments()
    }
}
