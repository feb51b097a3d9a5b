//! A live run: in parts, for control loops, and to be cut and resumed.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use super::path::{Keep, Path};
use super::table::BodyLayout;
use super::{
    ContactEvent, Doubt, GuardCrossing, Observer, Run, Segment, Statistics, Status, Summary,
    Transition,
};
use crate::model::{Mode, Stop};
use crate::{InputError, Interrupt};

/// The place of a run: time, state and mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now<'a> {
    /// Time (s).
    pub(crate) t: f64,
    /// State; `(q, v)` of bodies.
    pub(crate) state: &'a [f64],
    /// Mode; of bodies, flags are on for closed contacts.
    pub(crate) mode: &'a Mode,
}

/// A driver's part of a [`Live`].
pub(crate) trait Advance {
    /// Goes on to `t`, with a generalised effort beside that of the model (empty: none), and reports
    /// to `observer` from its start on. Time and effort are finite, and `t` is not in the past.
    fn advance(
        &mut self,
        t: f64,
        effort: &[f64],
        observer: &mut dyn Observer,
    ) -> Result<Summary, InputError>;

    /// Its place.
    fn now(&self) -> Now<'_>;

    /// How bodies are read, and what a record is to keep.
    fn record(&self) -> (Option<BodyLayout>, Keep);

    /// All that it goes on with.
    fn save(&self) -> Arc<dyn Any + Send + Sync>;
}

/// A run in parts: each goes on to a chosen time with a chosen effort, and the run waits there for
/// the next. Every driver has one: [`Integrator::live`](crate::Integrator::live),
/// [`EventDriven::live`](crate::EventDriven::live), [`Variational::live`](crate::Variational::live),
/// [`Compliant::live`](crate::Compliant::live).
///
/// Drivers with adaptive steps end a step at the chosen time. Those in steps of one length
/// make whole steps only, as many as end by then, up to rounding: [`t`](Self::t) says how far they
/// came. A step is made with one effort, that of the call in which it ends: calls closer than a step
/// are to repeat their effort until one is made. What a system does may change between two calls too, as with an
/// input in a [`Cell`](std::cell::Cell): a part begins with the field that the system has by then, its mass and its
/// friction among it. Where the mass changes [`Variational`](crate::Variational) goes on with its momentum, the others
/// with their velocities. A guard that such a change puts behind the state is crossed at once where the motion takes
/// the state on across it; where it takes it back the part ends as not live. Limits of steps and events hold for each
/// call; statistics are those since the start, doubts those of the part.
///
/// ```
/// use saltation::models::SlidingBlock;
/// use saltation::{Compliant, Start};
/// // A block on a table, pushed so that it keeps to 1 m/s.
/// let mut driver = Compliant::new(SlidingBlock::default())?.time_step(1e-3);
/// let mut live = driver.live(&Start::at(0.0).q(&[0.0, 0.0]).v(&[0.0, 0.0]))?;
/// for k in 1..=100 {
///     let push = 20.0 * (1.0 - live.state()[2]);
///     live.advance(0.01 * f64::from(k), &[push, 0.0])?;
/// }
/// assert!((live.state()[2] - 0.85).abs() < 0.05);
/// # Ok::<(), saltation::Error>(())
/// ```
pub struct Live<'a> {
    going: Box<dyn Advance + 'a>,
    status: Status,
    kept: Option<Kept>,
    unused: Unused,
}

/// The effort of a time in which no step ended; empty where there is none.
#[derive(Clone, Default)]
struct Unused {
    effort: Vec<f64>,
    /// The end of that time (s).
    until: f64,
}

impl fmt::Debug for Live<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut form = f.debug_struct("Live");
        form.field("now", &self.going.now());
        form.field("status", &self.status).finish_non_exhaustive()
    }
}

impl<'a> Live<'a> {
    pub(crate) fn new(going: impl Advance + 'a, status: Status) -> Self {
        Self {
            going: Box::new(going),
            status,
            kept: None,
            unused: Unused::default(),
        }
    }

    /// This run, taken up where a snapshot was taken.
    pub(crate) fn resumed(mut self, from: &Snapshot) -> Self {
        self.unused.clone_from(&from.unused);
        self
    }

    /// Keeps the run from here on, all its parts as one, up to the memory of the driver.
    ///
    /// ```
    /// use saltation::models::BouncingBall;
    /// use saltation::{ContactModel, Start, Variational};
    /// let mut driver = Variational::new(ContactModel::new(BouncingBall::default()))?;
    /// let mut live = driver.live(&Start::at(0.0).q(&[1.0]).v(&[0.0]))?.keep();
    /// for k in 1..=100 {
    ///     let damping = -0.5 * live.state()[1];
    ///     live.advance(0.01 * f64::from(k), &[damping])?;
    /// }
    /// let run = live.run().expect("it was kept");
    /// assert_eq!((run.times()[0], run.t(), run.events().len()), (0.0, live.t(), 1));
    /// # Ok::<(), saltation::Error>(())
    /// ```
    #[must_use]
    pub fn keep(mut self) -> Self {
        let (_, keep) = self.going.record();
        let mut path = Path::new(keep);
        let now = self.going.now();
        path.start(now.t, now.state, now.mode);
        self.kept = Some(Kept {
            path,
            summary: Summary {
                status: self.status.clone(),
                t: now.t,
                statistics: Statistics::default(),
            },
        });
        self
    }

    /// The run so far, from where it was [kept](Self::keep) on; none where it was not.
    pub fn run(&self) -> Option<Run> {
        let (bodies, _) = self.going.record();
        let Kept { path, summary } = self.kept.as_ref()?;
        Some(Run::new(path.clone(), summary.clone(), bodies))
    }

    /// Goes on to `t`. `effort` is held until then: a generalised effort beside that of the model,
    /// as long as the velocities; empty for none, as of systems that are not bodies.
    ///
    /// # Errors
    /// [`Stop::Input`] for a time in the past, an effort of another length, or not finite, and
    /// another effort than that of the call before, where that one was not used
    /// ([`InputError::EffortUnused`]): drivers in steps of one length. What the run meets on its way;
    /// it then stands at the last state before. After an interrupt or a limit the next call goes on
    /// from there; after other reasons, and where the run could not begin, it does not. Where an
    /// interrupt ended a step of one length, the search of an impact law or what a policy does, that is begun again.
    /// If the next call has the same `t`, the run has the bits of one that was never interrupted, but where that ended
    /// a policy.
    ///
    /// A call to another `t` is another part: what is a share of a part where nobody states it, such as
    /// [`zeno_time`](crate::EventDriven::zeno_time) and time scales, is that of its length.
    pub fn advance(&mut self, t: f64, effort: &[f64]) -> Result<(), Stop> {
        self.observe(t, effort, &mut ())
    }

    /// Goes on to `t`, as [`advance`](Self::advance), and reports to `observer` as it goes.
    ///
    /// # Errors
    /// As [`advance`](Self::advance).
    pub fn observe(
        &mut self,
        t: f64,
        effort: &[f64],
        observer: &mut dyn Observer,
    ) -> Result<(), Stop> {
        self.go(t, effort, observer)?;
        self.status.stop().map_or(Ok(()), |stop| Err(stop.clone()))
    }

    /// Goes on to `t`, as [`advance`](Self::advance), and keeps that part of the run.
    ///
    /// # Errors
    /// A time in the past, and efforts as in [`advance`](Self::advance). What the run meets on its
    /// way is in its [`status`](Run::status).
    pub fn integrate(&mut self, t: f64, effort: &[f64]) -> Result<Run, InputError> {
        let (bodies, keep) = self.going.record();
        let mut path = Path::new(keep);
        let summary = self.go(t, effort, &mut path)?;
        Ok(Run::new(path, summary, bodies))
    }

    fn go(
        &mut self,
        t: f64,
        effort: &[f64],
        observer: &mut dyn Observer,
    ) -> Result<Summary, InputError> {
        let now = self.going.now();
        crate::validate::finite("t", &[t])?;
        crate::validate::finite("effort", effort)?;
        // Rounding of times may end a step a little later than asked.
        let rounding = 4.0 * f64::EPSILON * t.abs().max(now.t.abs());
        if t < now.t - rounding {
            return Err(InputError::TimeReversed { t0: now.t, tf: t });
        }
        let (t0, t) = (now.t, t.max(now.t));
        let unused = &mut self.unused;
        if !unused.effort.is_empty() && unused.effort != effort {
            let t = unused.until;
            return Err(InputError::EffortUnused { t0, t });
        }
        let mut summary = match &mut self.kept {
            None => self.going.advance(t, effort, observer)?,
            Some(kept) => self.going.advance(t, effort, &mut (&mut *kept, observer))?,
        };
        if let Some(kept) = &mut self.kept {
            summary.status = kept.path.status(summary.status);
            kept.summary.clone_from(&summary);
        }
        self.status.clone_from(&summary.status);
        self.unused.effort.clear();
        if summary.t <= t0 && t > t0 + rounding && summary.status == Status::ReachedEnd {
            self.unused.effort.extend_from_slice(effort);
            self.unused.until = t;
        }
        Ok(summary)
    }

    /// The time up to which it came (s).
    pub fn t(&self) -> f64 {
        self.going.now().t
    }

    /// The state there; `(q, v)` of bodies.
    pub fn state(&self) -> &[f64] {
        self.going.now().state
    }

    /// The mode there; of bodies, flags are on for closed contacts. At a start without a mode that
    /// of an [`Integrator`](crate::Integrator) is found when it first goes on, and blank before.
    pub fn mode(&self) -> &Mode {
        self.going.now().mode
    }

    /// The closed contacts of bodies, where the model numbers them.
    pub fn contacts(&self) -> impl Iterator<Item = usize> {
        let contacts = self.going.record().0.map_or(usize::MAX, |of| of.contacts);
        self.mode().flags().take_while(move |&flag| flag < contacts)
    }

    /// The end of the last part; before the first, of the attempt to begin.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// All that the run goes on with, in memory: what a state and a mode cannot carry too (lengths of
    /// steps, arming, contacts that pressed, momenta, counts). A driver of the same kind with the same
    /// system and settings takes it up by its `resume`, now or later and as often as one likes, to
    /// the same bits. Another kind, and a system of other sizes, are refused; other settings are
    /// taken from there on. A live run borrows its driver: to go on from a snapshot with the same
    /// driver, drop the live run first.
    ///
    /// ```
    /// use saltation::{Integrator, Start, models::Hopper};
    /// let mut driver = Integrator::new(Hopper::default())?;
    /// let mut live = driver.live(&Start::at(0.0).x(&[2.0, 0.0]))?;
    /// live.advance(0.7, &[])?;
    /// let saved = live.snapshot();
    /// live.advance(2.0, &[])?;
    /// let uncut = live.state().to_vec();
    /// drop(live);
    /// let mut resumed = driver.resume(&saved)?;
    /// resumed.advance(2.0, &[])?;
    /// assert_eq!(resumed.state(), uncut);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    pub fn snapshot(&self) -> Snapshot {
        Snapshot {
            t: self.t(),
            saved: self.going.save(),
            unused: self.unused.clone(),
        }
    }
}

/// All that a run goes on with ([`Live::snapshot`]), in memory. Clones share it.
#[derive(Clone)]
pub struct Snapshot {
    t: f64,
    saved: Arc<dyn Any + Send + Sync>,
    unused: Unused,
}

impl fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("t", &self.t)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// The time at which it was taken (s).
    pub fn t(&self) -> f64 {
        self.t
    }

    /// The data saved by a driver of this kind.
    pub(crate) fn saved<T: Any>(&self) -> Result<&T, InputError> {
        let found = self.saved.downcast_ref();
        found.ok_or(InputError::Snapshot { of: "driver" })
    }
}

/// The parts of a run that are kept as one.
#[derive(Clone, Debug)]
struct Kept {
    path: Path,
    /// End of the last part.
    summary: Summary,
}

/// Follows all parts as one: a start is one only where nothing has come before.
impl Observer for Kept {
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        if self.path.is_at_start() {
            self.path.start(t, state, mode);
        }
    }
    fn segment(&mut self, segment: &Segment<'_>) {
        self.path.segment(segment);
    }
    fn transition(&mut self, set: &Transition<'_>) {
        self.path.transition(set);
    }
    fn crossing(&mut self, crossing: &GuardCrossing) {
        self.path.crossing(crossing);
    }
    fn contacts(&mut self, event: &ContactEvent) {
        self.path.contacts(event);
    }
    fn doubt(&mut self, doubt: &Doubt) {
        self.path.doubt(doubt);
    }
    fn settled(&mut self, t: f64, state: &[f64], mode: &Mode) {
        self.path.settled(t, state, mode);
    }
    fn is_done(&self) -> bool {
        self.path.is_done()
    }
}

/// An observer that ends a run of the core between steps, and between the crossings of one instant
/// and the next, when an interrupt is set. One that is looked at within steps would leave them to be
/// made again, with other lengths.
pub(crate) struct Interruptible<'a> {
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) interrupt: &'a Interrupt,
}

impl Interruptible<'_> {
    /// The status of a run that this observer followed.
    pub(crate) fn status(&self, status: Status) -> Status {
        if status == Status::Ended && !self.observer.is_done() && self.interrupt.is_set() {
            return Status::Refused(Stop::Interrupted);
        }
        status
    }
}

impl Observer for Interruptible<'_> {
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        self.observer.start(t, state, mode);
    }
    fn segment(&mut self, segment: &Segment<'_>) {
        self.observer.segment(segment);
    }
    fn transition(&mut self, set: &Transition<'_>) {
        self.observer.transition(set);
    }
    fn crossing(&mut self, crossing: &GuardCrossing) {
        self.observer.crossing(crossing);
    }
    fn contacts(&mut self, event: &ContactEvent) {
        self.observer.contacts(event);
    }
    fn doubt(&mut self, doubt: &Doubt) {
        self.observer.doubt(doubt);
    }
    fn settled(&mut self, t: f64, state: &[f64], mode: &Mode) {
        self.observer.settled(t, state, mode);
    }
    fn is_done(&self) -> bool {
        self.observer.is_done() || self.interrupt.is_set()
    }
    fn wants_segments(&self) -> bool {
        self.observer.wants_segments()
    }
}

/// True where a run that ended so can go on.
pub(crate) fn can_go_on(status: &Status) -> bool {
    match status {
        Status::ReachedEnd | Status::Stopped { .. } | Status::Ended => true,
        Status::Refused(stop) => matches!(
            stop,
            Stop::Interrupted
                | Stop::TooManySteps { .. }
                | Stop::TooManyEvents { .. }
                | Stop::RunTooLarge { .. }
        ),
    }
}
