//! The event-driven driver of mechanical systems: the core integrator on [`EventDriven`], with
//! policies for accumulations and touches, and a log of contacts.

use super::Start;
use super::breakdown::Breakdown;
use super::grazing::{Grazing, Watcher};
use super::impact::Event;
use super::log::{ContactEvent, ContactEventKind};
use super::mechanical_run::MechanicalRun;
use super::recorder::ContactRecorder;
use super::recovery::{Bounds, Place};
use super::system::EventDriven;
use super::zeno::{Accumulation, Detector, Zeno};
use crate::derivative::Derivative;
use crate::hybrid::trajectory::Path;
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::{InputError, Integrator, PerEntry, Statistics, Status, Stop, Trajectory, validate};

/// Runs a mechanical system with contacts.
///
/// Steps are as long as the smooth motion allows. Gaps are sampled within them as closely as
/// [`Resolution`](crate::Resolution) says. A contact that closes and opens again in less than a
/// hundredth of the run, over a thin obstacle, can be missed. The
/// [`time_scale`](MechanicalSystem::time_scale) of the model states the duration of the shortest
/// contact.
///
/// ```
/// use saltation::event_driven::{EventDriven, Simulation};
/// use saltation::models::SoftTrot;
/// let trot = SoftTrot::default();
/// let (q, v) = trot.start(0.01); // pitched: the rear foot lands first
/// let run = Simulation::new(EventDriven::new(trot))?.rtol(1e-9).integrate(0.0, &q, &v, 0.65)?;
/// let closed: Vec<_> = run.modes().into_iter().map(|mode| mode.closed).collect();
/// assert_eq!(closed, [vec![], vec![0], vec![0, 1]]);
/// assert!(run.events()[0].approach[0] < -3.0 && run.events()[0].impulses[0] > 0.3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Debug)]
pub struct Simulation<S> {
    integrator: Integrator<EventDriven<S>>,
    zeno: Zeno,
    zeno_time: Option<f64>,
    grazing: Grazing,
    cluster: f64,
}

impl<S> Simulation<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// A simulation of `model`.
    ///
    /// # Errors
    /// [`InputError::EmptySystem`] for a system without coordinates.
    pub fn new(model: EventDriven<S>) -> Result<Self, InputError> {
        Ok(Self {
            integrator: Integrator::new(model)?,
            zeno: Zeno::default(),
            zeno_time: None,
            grazing: Grazing::default(),
            cluster: 0.0,
        })
    }

    /// Changes the settings of the integrator: tolerances, steps, projections.
    #[must_use]
    pub fn configure(
        mut self,
        change: impl FnOnce(Integrator<EventDriven<S>>) -> Integrator<EventDriven<S>>,
    ) -> Self {
        self.integrator = change(self.integrator);
        self
    }

    /// Relative tolerance of the smooth phase, as [`Integrator::rtol`]; default 1e-6.
    #[must_use]
    pub fn rtol(self, rtol: impl Into<PerEntry>) -> Self {
        self.configure(|integrator| integrator.rtol(rtol))
    }

    /// Absolute tolerance, as [`Integrator::atol`]: in the unit of each entry of `(q, v)`; default
    /// 1e-9.
    #[must_use]
    pub fn atol(self, atol: impl Into<PerEntry>) -> Self {
        self.configure(|integrator| integrator.atol(atol))
    }

    /// What to do when impacts accumulate. Default [`Zeno::Error`].
    #[must_use]
    pub fn zeno(mut self, policy: Zeno) -> Self {
        self.zeno = policy;
        self
    }

    /// How close to an accumulation it counts as reached (s); default a millionth of the run, so
    /// that a longer run takes in an accumulation a little earlier.
    #[must_use]
    pub fn zeno_time(mut self, time: f64) -> Self {
        self.zeno_time = Some(time);
        self
    }

    /// What to do when a gap is touched. Default [`Grazing::Error`].
    #[must_use]
    pub fn grazing(mut self, policy: Grazing) -> Self {
        self.grazing = policy;
        self
    }

    /// Events closer in time than this get one cluster number in the log (s); default 0.
    #[must_use]
    pub fn cluster_time(mut self, time: f64) -> Self {
        self.cluster = time;
        self
    }

    /// The model.
    pub fn model(&self) -> &EventDriven<S> {
        self.integrator.system()
    }

    /// Integrates from `(q, v)` at `t0` to `tf`.
    ///
    /// To go on from an earlier run, give `q`, `v` and the time of its end ([`Trajectory::state`]).
    /// Contacts within the gap tolerance are decided anew, and are closed where the motion presses
    /// on them; the contact mode is not needed. Limits, logs and [`MechanicalRun::is_guaranteed`]
    /// hold for each run.
    ///
    /// # Errors
    /// Those of [`EventDriven::start`], and [`InputError::NotFinite`] and
    /// [`InputError::BadSetting`] for `tf` and settings. What the run meets on its way is in the
    /// [`status`](Trajectory::status) of its trajectory; [`MechanicalRun::breakdown`] gives it
    /// where the motion of the bodies could not go on.
    pub fn integrate(
        &mut self,
        t0: f64,
        q: &[f64],
        v: &[f64],
        tf: f64,
    ) -> Result<MechanicalRun, Breakdown> {
        validate::finite("tf", &[tf])?;
        let near = self.check_options(t0, tf)?;
        let ((start, impact), kind) = self.begin(t0, q, v)?;
        let n = self.model().system().contacts();
        let tolerance = self.integrator.corner_tolerance_set();
        let path = Path::new(self.integrator.max_memory_set(), tolerance);
        let mut recorder = ContactRecorder::new(Detector::new(n, near, tf), n, path);
        let before = [q, v].concat();
        recorder.begin(self.model(), (t0, &before), (&start, &impact), kind);
        let initial = self.model().closed(&start.mode);
        let mut place = Place {
            t: t0,
            state: start.state,
            mode: start.mode,
        };
        let mut statistics = Statistics::default();
        let mut guaranteed = kind == ContactEventKind::Contact;
        // When a policy acted last, how often at that time, and how many events are left.
        let (mut last, mut repeats) = (f64::NEG_INFINITY, 0);
        let mut left = self.integrator.max_events_set();
        let status = loop {
            let stop = self.stretch(&mut place, tf, &mut recorder, &mut statistics)?;
            guaranteed &= stop.touches.is_empty();
            recorder.touched(stop.touches);
            let reason = match stop.end {
                End::Status(status) => break status,
                End::Because(reason) => reason,
            };
            repeats = if place.t > last { 0 } else { repeats + 1 };
            if repeats > 2 * n || left == 0 {
                break Status::Refused(reason.error(place.t).into());
            }
            last = place.t;
            left -= 1;
            match self.deal_with(&reason, repeats > 0, tf, &mut place, &mut statistics) {
                Ok(Some(event)) => {
                    guaranteed = false;
                    recorder.between(event, &place.mode);
                }
                Ok(None) => {
                    recorder.path.jump(place.t, &place.state, &place.mode);
                    break Status::Ended;
                }
                Err(error) => break Status::Refused(error.into()),
            }
            if let Reason::Zeno(found) = &reason {
                recorder.detector.forget(&found.contacts);
            }
            if place.t >= tf {
                break Status::ReachedEnd;
            }
        };
        let (path, events) = recorder.finish(self.cluster);
        let status = path.status(status);
        Ok(MechanicalRun {
            trajectory: Trajectory::new(path, status, statistics),
            events,
            initial,
            guaranteed,
        })
    }

    /// The derivative of the state at `tf` with respect to `(q, v)` at `t0`, by the core integrator
    /// with the settings of this simulation: [`Integrator::derivative`]. Directions are `(dq, dv)`;
    /// with an impact at the start, they are displacements of the state after it.
    ///
    /// The policies do not apply. An accumulation is followed impact by impact, as far as gaps and
    /// rates resolve it. Where the run is refused the derivative ends, and its verdict says why.
    ///
    /// ```
    /// use saltation::derivative::Verdict;
    /// use saltation::event_driven::{EventDriven, Simulation};
    /// use saltation::models::SoftTrot;
    /// let (q, v) = SoftTrot::default().start(0.0); // level: both feet land at one instant
    /// let mut simulation = Simulation::new(EventDriven::new(SoftTrot::default()))?.rtol(1e-9);
    /// let derivative = simulation.derivative(0.0, &q, &v, 0.65)?;
    /// assert_eq!(*derivative.verdict(), Verdict::Classical);
    /// let by_pitch = derivative.apply(&[0.0, 1.0, -0.5, 0.5, 0.0, 0.0, 0.0, 0.0])?; // feet move with the body
    /// assert!((by_pitch[5] + 3.525506).abs() < 1e-5); // the pitch rate at the end
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`EventDriven::start`] and of [`Integrator::derivative`].
    pub fn derivative(
        &mut self,
        t0: f64,
        q: &[f64],
        v: &[f64],
        tf: f64,
    ) -> Result<Derivative<EventDriven<S>>, Breakdown> {
        self.check_options(t0, tf)?;
        let start = self.model().start(t0, q, v)?;
        self.integrator.set_start_mode(start.mode);
        Ok(self.integrator.derivative(t0, &start.state, tf)?)
    }

    /// Refuses settings that make no sense, before the start is looked at; gives how close to an
    /// accumulation it counts as reached (s).
    fn check_options(&self, t0: f64, tf: f64) -> Result<f64, InputError> {
        let near = self.zeno_time.unwrap_or(1e-6 * (tf - t0).abs());
        for (name, value) in [("zeno_time", near), ("cluster_time", self.cluster)] {
            validate::not_negative(name, &[value])?;
        }
        self.integrator.check_options()?;
        Ok(near)
    }

    /// The start, what its impact did, and the kind of that event.
    fn begin(
        &self,
        t0: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<((Start, Event), ContactEventKind), Breakdown> {
        let model = self.model();
        match model.recorded_start(t0, q, v) {
            Err(error) if self.zeno == Zeno::Absorb && model.is_endless(&error) => {
                let start = model.plastic_start(t0, q, v)?;
                Ok((start, ContactEventKind::ZenoAbsorbed))
            }
            start => Ok((start?, ContactEventKind::Contact)),
        }
    }

    /// One run of the core, from a place to wherever it ends.
    fn stretch(
        &mut self,
        place: &mut Place,
        tf: f64,
        recorder: &mut ContactRecorder,
        statistics: &mut Statistics,
    ) -> Result<Stretch, Breakdown> {
        self.integrator.set_start_mode(place.mode.clone());
        let grazing = self.grazing;
        let (t, state) = (place.t, std::mem::take(&mut place.state));
        // The limits are those of the whole run.
        let limits = self.integrator.limits_set();
        let steps = statistics.steps + statistics.rejections;
        let left = |limit: usize, used: usize| limit.saturating_sub(used);
        self.integrator
            .set_limits((left(limits.0, steps), left(limits.1, statistics.crossings)));
        let memory = self.integrator.max_memory_set();
        self.integrator.set_first_transition(recorder.transitions);
        let observed = self
            .integrator
            .observe_with(t, &state, tf, |model, _, settings| {
                let watcher = Watcher::new(model, settings, (grazing, memory));
                (&mut *recorder, watcher)
            });
        let observed = observed.map(|(mut summary, (_, watcher))| {
            match &mut summary.status {
                Status::Refused(Stop::TooManySteps { limit, .. }) => *limit = limits.0,
                Status::Refused(Stop::TooManyEvents { limit, .. }) => *limit = limits.1,
                _ => {}
            }
            (summary, watcher.trouble, watcher.low, watcher.touches)
        });
        self.integrator.set_limits(limits);
        self.integrator.set_first_transition(0);
        let (summary, trouble, low, touches) = observed?;
        *statistics = add(*statistics, summary.statistics);
        place.t = summary.t;
        place.state = self.integrator.state().to_vec();
        place.mode = self.integrator.mode().clone();
        let end = match (
            trouble,
            recorder.accumulation.take().or(low),
            summary.status,
        ) {
            (Some(trouble), _, _) => End::Because(Reason::Error(trouble)),
            (None, Some(found), _) => End::Because(Reason::Zeno(found)),
            (None, None, Status::Refused(reason)) => {
                let reason = super::grazing::explain(self.model(), &place.mode, reason);
                End::Because(Reason::Error(reason))
            }
            (None, None, status) => End::Status(status),
        };
        Ok(Stretch { end, touches })
    }

    /// Goes on from where the core ended, as the policies say. Returns the event for the log; none
    /// when the run is to end.
    fn deal_with(
        &self,
        reason: &Reason,
        again: bool,
        tf: f64,
        place: &mut Place,
        statistics: &mut Statistics,
    ) -> Result<Option<ContactEvent>, Breakdown> {
        let model = self.model();
        let used = statistics.steps + statistics.rejections;
        let bounds = Bounds {
            steps: self.integrator.limits_set().0.saturating_sub(used),
            memory: self.integrator.max_memory_set(),
            interrupt: self.integrator.interrupt_set().clone(),
        };
        let contact = match (reason, self.zeno, self.grazing) {
            (Reason::Zeno(found), Zeno::StopAt, _) => {
                let cost = model.fly_to(found, tf, place, &bounds)?;
                *statistics = add(*statistics, cost);
                return Ok(None);
            }
            (Reason::Zeno(found), Zeno::Absorb, _) => {
                let cost = model.fly_to(found, tf, place, &bounds)?;
                *statistics = add(*statistics, cost);
                let kind = ContactEventKind::ZenoAbsorbed;
                return model.close(&found.contacts, kind, place).map(Some);
            }
            // Impacts within the resolution of time are taken as one. If contacts approach even
            // then, this is an accumulation at one instant.
            (Reason::Error(Breakdown::Stop(Stop::NoProgress { .. })), zeno, _) => {
                let together = if again && zeno == Zeno::Absorb {
                    Ok(None)
                } else {
                    model.strike_together(place)
                };
                let error = match together {
                    Ok(Some(event)) => return Ok(Some(event)),
                    Ok(None) => reason.error(place.t),
                    Err(error) if model.is_endless(&error) => error,
                    Err(error) => return Err(error),
                };
                let contacts = model.touching_and_not_parting(place);
                return match zeno {
                    Zeno::Absorb if !contacts.is_empty() => {
                        let kind = ContactEventKind::ZenoAbsorbed;
                        model.close(&contacts, kind, place).map(Some)
                    }
                    Zeno::StopAt => Ok(None),
                    _ => Err(error),
                };
            }
            // An impact that does not end is one too.
            (Reason::Error(error), Zeno::StopAt, _) if model.is_endless(error) => return Ok(None),
            (Reason::Error(error), Zeno::Absorb, _) if model.is_endless(error) => {
                let contacts = model.touching_and_not_parting(place);
                let kind = ContactEventKind::ZenoAbsorbed;
                return model.close(&contacts, kind, place).map(Some);
            }
            (Reason::Error(Breakdown::GrazingRelease { contact, .. }), _, Grazing::Contact) => {
                return model.open(*contact, place).map(Some);
            }
            (
                Reason::Error(
                    Breakdown::Grazing { contact, .. }
                    | Breakdown::InconsistentMode { contact, .. },
                ),
                _,
                Grazing::Contact,
            ) => *contact,
            _ => return Err(reason.error(place.t)),
        };
        model
            .close(&[contact], ContactEventKind::Touch, place)
            .map(Some)
    }
}

/// How a stretch of a run ended.
struct Stretch {
    end: End,
    /// Touches on the way.
    touches: Vec<ContactEvent>,
}

enum End {
    Status(Status),
    Because(Reason),
}

/// What stands in the way of going on.
#[derive(Debug)]
enum Reason {
    Zeno(Accumulation),
    Error(Breakdown),
}

impl Reason {
    fn error(&self, t: f64) -> Breakdown {
        match self {
            Self::Zeno(found) => Breakdown::Zeno {
                accumulation: found.t,
                contacts: found.contacts.clone(),
                ratio: found.ratio,
                t,
            },
            Self::Error(error) => error.clone(),
        }
    }
}

fn add(a: Statistics, b: Statistics) -> Statistics {
    Statistics {
        flow: a.flow + b.flow,
        flip: a.flip + b.flip,
        events: a.events + b.events,
        event: a.event + b.event,
        gradient: a.gradient + b.gradient,
        windows: a.windows + b.windows,
        narrowed: a.narrowed + b.narrowed,
        unresolved: a.unresolved + b.unresolved,
        doubts: a.doubts + b.doubts,
        steps: a.steps + b.steps,
        rejections: a.rejections + b.rejections,
        projections: a.projections + b.projections,
        projections_failed: a.projections_failed + b.projections_failed,
        repairs: a.repairs + b.repairs,
        locations: a.locations + b.locations,
        crossings: a.crossings + b.crossings,
        resets: a.resets + b.resets,
    }
}
