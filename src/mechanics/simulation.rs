//! The event-driven driver of mechanical systems: the core integrator on [`EventDriven`], with what only the history of a run
//! can tell: accumulations, touches, modes that do not fit, and a log of contacts.

use super::admissible::{Grazing, Watcher};
use super::event_driven::EventDriven;
use super::log::{ContactEvent, ContactEventKind, ContactMode, closed, sequence};
use super::zeno::{Accumulation, Detector, Zeno};
use super::{MechanicalSystem, UnilateralConstraints};
use crate::hybrid::trajectory::Path;
use crate::impact::ImpactLaw;
use crate::{Error, Flow, Integrator, Mode, Observer, Segment, Statistics, Status, Trajectory};

/// Runs a mechanical system with contacts.
///
/// ```
/// use saltation::mechanics::{EventDriven, Simulation};
/// use saltation::models::SoftTrot;
/// let trot = SoftTrot::default();
/// let (q, v) = trot.start(0.01); // pitched: the rear foot lands first
/// let run = Simulation::new(EventDriven::new(trot))?.rtol(1e-9).run(0.0, &q, &v, 0.65)?;
/// let closed: Vec<_> = run.modes().into_iter().map(|mode| mode.closed).collect();
/// assert_eq!(closed, [vec![], vec![0], vec![0, 1]]);
/// assert!(run.events()[0].approach[0] < -3.0 && run.events()[0].impulses[0] > 0.3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Debug)]
pub struct Simulation<S, L> {
    integrator: Integrator<EventDriven<S, L>>,
    zeno: Zeno,
    zeno_time: Option<f64>,
    grazing: Grazing,
    cluster: f64,
}

/// Everything a mechanical run computed: complete up to the time at which it ended, whatever the reason.
#[derive(Clone, Debug)]
pub struct MechanicalRun {
    trajectory: Trajectory,
    events: Vec<ContactEvent>,
    initial: Vec<usize>,
    guaranteed: bool,
}

impl MechanicalRun {
    /// States `(q, v)` over time, crossings, status.
    pub fn trajectory(&self) -> &Trajectory {
        &self.trajectory
    }

    /// The events, in order of time; several contacts at one instant are one event.
    pub fn events(&self) -> &[ContactEvent] {
        &self.events
    }

    /// The contact mode sequence `ω`: modes in which positive time is spent.
    pub fn modes(&self) -> Vec<ContactMode> {
        let times = self.trajectory.times();
        let start = times.first().copied().unwrap_or(f64::NAN);
        sequence((start, self.trajectory.time()), &self.initial, &self.events)
    }

    /// False when an accumulation was absorbed: no theory speaks of derivatives beyond it.
    pub fn is_guaranteed(&self) -> bool {
        self.guaranteed
    }
}

impl<S, L> Simulation<S, L>
where
    S: MechanicalSystem + UnilateralConstraints,
    L: ImpactLaw,
{
    /// A simulation of `model`.
    ///
    /// # Errors
    /// [`Error::EmptySystem`] for a system without coordinates.
    pub fn new(model: EventDriven<S, L>) -> Result<Self, Error> {
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
        change: impl FnOnce(Integrator<EventDriven<S, L>>) -> Integrator<EventDriven<S, L>>,
    ) -> Self {
        self.integrator = change(self.integrator);
        self
    }

    /// Relative tolerance, and a tenth of it absolute.
    #[must_use]
    pub fn rtol(self, rtol: f64) -> Self {
        self.configure(|integrator| integrator.rtol(rtol).atol(0.1 * rtol))
    }

    /// What to do when impacts accumulate. Default [`Zeno::Error`].
    #[must_use]
    pub fn zeno(mut self, policy: Zeno) -> Self {
        self.zeno = policy;
        self
    }

    /// How close to an accumulation it counts as reached (s); default a millionth of the run.
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
    pub fn model(&self) -> &EventDriven<S, L> {
        self.integrator.system()
    }

    /// Runs from `(q, v)` at `t0` to `tf`.
    ///
    /// # Errors
    /// Bad input only. What the run meets on its way is in the [`status`](Trajectory::status) of its trajectory.
    pub fn run(&mut self, t0: f64, q: &[f64], v: &[f64], tf: f64) -> Result<MechanicalRun, Error> {
        let start = self.model().start(t0, q, v)?;
        let n = self.model().system().contacts();
        let near = self.zeno_time.unwrap_or(1e-6 * (tf - t0).abs());
        let mut log = Log {
            n,
            path: Path::default(),
            events: Vec::new(),
            detector: Detector::new(n, near, tf),
            accumulation: None,
            goes_on: false,
        };
        let (mut t, mut state, mut mode) = (t0, start.state, start.mode);
        let initial = closed(&mode, n);
        let (mut statistics, mut guaranteed) = (Statistics::default(), true);
        let tolerance = self.integrator.corner_tolerance_set();
        // A touch met again without time going on is no touch.
        let mut last_touch = None;
        let status = loop {
            self.integrator.set_start_mode(mode.clone());
            let grazing = self.grazing;
            let (summary, (_, watcher)) =
                self.integrator
                    .observe_with(t, &state, tf, |model, _, settings| {
                        (&mut log, Watcher::new(model, settings, grazing))
                    })?;
            let Watcher {
                trouble, touches, ..
            } = watcher;
            guaranteed &= touches.is_empty();
            log.touched(touches);
            statistics = add(statistics, summary.statistics);
            t = summary.time;
            state = self.integrator.state().to_vec();
            mode = self.integrator.mode().clone();
            if let Some(trouble) = trouble {
                break Status::Refused(trouble);
            }
            let Some(found) = log.accumulation.take() else {
                let Status::Refused(reason) = summary.status else {
                    break summary.status;
                };
                let reason = super::admissible::explain(self.model(), &mode, reason);
                match (&reason, self.grazing) {
                    (&Error::Grazing { contact, .. }, Grazing::Contact)
                        if last_touch != Some((contact, t)) =>
                    {
                        last_touch = Some((contact, t));
                        guaranteed = false;
                        let at = (t, &mut state, &mut mode);
                        if let Err(error) =
                            self.close(&[contact], ContactEventKind::Touch, &mut log, at)
                        {
                            break Status::Refused(error);
                        }
                        log.goes_on = true;
                        continue;
                    }
                    _ => break Status::Refused(reason),
                }
            };
            match self.zeno {
                Zeno::Error => {
                    break Status::Refused(Error::Zeno {
                        time: found.time,
                        contacts: found.contacts,
                        ratio: found.ratio,
                        t,
                    });
                }
                Zeno::StopAt => break Status::Ended,
                Zeno::Absorb => {
                    guaranteed = false;
                    if let Err(error) =
                        self.absorb(&found, &mut log, (&mut t, &mut state, &mut mode), tf)
                    {
                        break Status::Refused(error);
                    }
                    log.detector.forget(&found.contacts);
                    log.goes_on = true;
                }
            }
            if t >= tf {
                break Status::ReachedEnd;
            }
        };
        let Log { path, events, .. } = log;
        Ok(MechanicalRun {
            trajectory: Trajectory::new(path, status, statistics, tolerance),
            events: self.finish(events),
            initial,
            guaranteed,
        })
    }

    /// Goes to the accumulation time without its contacts and closes them there.
    fn absorb(
        &self,
        found: &Accumulation,
        log: &mut Log,
        (t, state, mode): (&mut f64, &mut Vec<f64>, &mut Mode),
        tf: f64,
    ) -> Result<(), Error> {
        let model = self.model();
        let free = crate::flow_fn(model.dim(), |t, x, _: &Mode, dx: &mut [f64]| {
            model.flow(t, x, mode, dx);
        });
        let end = found.time.clamp(*t, tf);
        let run = Integrator::new(free)?
            .rtol(1e-9)
            .atol(1e-12)
            .integrate(*t, state, end)?;
        *t = end;
        state.copy_from_slice(run.completed()?.state().as_slice());
        let kind = ContactEventKind::ZenoAbsorbed;
        self.close(&found.contacts, kind, log, (end, state, mode))
    }

    /// Closes contacts by a plastic impact, and says so in the log.
    fn close(
        &self,
        contacts: &[usize],
        kind: ContactEventKind,
        log: &mut Log,
        (t, state, mode): (f64, &mut Vec<f64>, &mut Mode),
    ) -> Result<(), Error> {
        let (state_before, mode_before) = (state.clone(), closed(mode, log.n));
        self.model().close(t, state, contacts, mode)?;
        log.path.jump(t, state, mode);
        log.events.push(ContactEvent {
            activated: contacts.to_vec(),
            mode_before,
            mode_after: closed(mode, log.n),
            state_before,
            state_after: state.clone(),
            contacts: contacts.to_vec(),
            ..ContactEvent::new(t, kind)
        });
        Ok(())
    }

    /// Impulses and approach velocities of the events, by repeating their impacts; clusters.
    fn finish(&self, mut events: Vec<ContactEvent>) -> Vec<ContactEvent> {
        let model = self.model();
        let (mut cluster, mut last) = (0, f64::NEG_INFINITY);
        for (i, event) in events.iter_mut().enumerate() {
            if i > 0 && event.time - last > self.cluster {
                cluster += 1;
            }
            last = event.time;
            event.cluster = cluster;
            let takes_part = |j: &usize| {
                event.mode_before.contains(j)
                    || event.activated.contains(j)
                    || model.rests(*j, &event.state_before)
            };
            let all = 0..model.system().contacts();
            let taking_part: Vec<usize> = all.filter(takes_part).collect();
            let mut state = event.state_before.clone();
            if event.kind == ContactEventKind::Contact {
                super::drift::land(model, &mut state, &event.mode_before, &taking_part);
            }
            event.approach = model.approach(&state, &taking_part);
            if event.kind == ContactEventKind::Contact && !event.activated.is_empty() {
                let new: Vec<bool> = taking_part
                    .iter()
                    .map(|j| event.activated.contains(j))
                    .collect();
                if let Ok(outcome) = model.hit(event.time, &mut state, &taking_part, &new) {
                    event.impulses = outcome.impulses.iter().copied().collect();
                }
            }
            event.contacts = taking_part;
        }
        events
    }
}

/// The observer that keeps the path and the contacts.
struct Log {
    n: usize,
    path: Path,
    events: Vec<ContactEvent>,
    detector: Detector,
    accumulation: Option<Accumulation>,
    /// The next start is no start but goes on from an absorbed accumulation.
    goes_on: bool,
}

impl Log {
    /// Takes in what was touched since the last call, each at its place in time.
    fn touched(&mut self, touches: Vec<ContactEvent>) {
        for touch in touches {
            let after = |event: &ContactEvent| event.time > touch.time;
            let place = self.events.iter().position(after);
            self.events
                .insert(place.unwrap_or(self.events.len()), touch);
        }
    }
}

impl Observer for Log {
    fn start(&mut self, time: f64, state: &[f64], mode: &Mode) {
        if !std::mem::take(&mut self.goes_on) {
            self.path.start(time, state, mode);
        }
    }

    fn segment(&mut self, segment: &Segment<'_>) {
        self.path.segment(segment);
    }

    fn together(&mut self, set: &crate::CrossedSet<'_>) {
        let n = self.n;
        let (mut activated, mut released) = (Vec::new(), Vec::new());
        for c in set.guards {
            let (j, falls) = (c.guard.event, !c.guard.side_after());
            if j >= n || !falls {
                continue;
            }
            if set.mode_before.contains(n + j) {
                released.push(j);
            } else {
                activated.push(j);
            }
        }
        if activated.is_empty() && released.is_empty() {
            return;
        }
        for &j in &activated {
            let found = self.detector.activation(j, set.time);
            self.accumulation = self.accumulation.take().or(found);
        }
        let (before, after) = (closed(set.mode_before, n), closed(set.mode, n));
        self.events.push(ContactEvent {
            activated,
            released,
            mode_before: before,
            mode_after: after,
            state_before: set.state_before.to_vec(),
            state_after: set.state.to_vec(),
            ..ContactEvent::new(set.time, ContactEventKind::Contact)
        });
    }

    fn crossing(&mut self, crossing: &crate::CrossingEvent<'_>) {
        self.path.crossing(crossing);
    }

    fn settled(&mut self, time: f64, state: &[f64], mode: &Mode) {
        self.path.settled(time, state, mode);
    }

    fn is_done(&self) -> bool {
        self.accumulation.is_some()
    }
}

fn add(a: Statistics, b: Statistics) -> Statistics {
    Statistics {
        flow: a.flow + b.flow,
        flip: a.flip + b.flip,
        events: a.events + b.events,
        event: a.event + b.event,
        gradient: a.gradient + b.gradient,
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
