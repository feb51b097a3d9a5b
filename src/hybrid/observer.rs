//! Reports of a run as it goes: segments and crossings, borrowed, so that who keeps nothing
//! allocates nothing.

use super::model::rearm::Arming;
use super::{Arrival, CrossedGuard, Doubt, GuardCrossing, Mode, Record};
use crate::ode::Interpolant;

/// A piece of the run without events: a smooth step, the part of one before a located event, or a
/// projection.
#[derive(Debug)]
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
    /// How the state came there.
    pub arrival: Arrival,
    pub(crate) arming_before: &'a [Arming],
    /// How many transitions the run made before this one.
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
    /// How far the time may be off by the errors of the steps before (s), the most of all guards:
    /// an estimate, that of [`GuardCrossing::time_error`].
    pub time_error: f64,
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

    /// The run decided something that its error might turn. Told before the segment or the crossing
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
    /// each step and each set of crossings.
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
