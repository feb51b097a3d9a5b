//! The loop of the event-driven driver: stretches of the core integrator, and what the policies do
//! between them. Compiled once, for a model of whatever system.

use super::Model;
use super::grazing::Watcher;
use super::impact::Event;
use super::recorder::ContactRecorder;
use super::recovery::{Bounds, Place};
use super::zeno::{Accumulation, Detector};
use super::{
    Breakdown, ContactEvent, ContactEventKind, Grazing, MechanicalRun, SettledStart, Zeno,
};
use crate::hybrid::Driver;
use crate::hybrid::options::Settings;
use crate::hybrid::path::Path;
use crate::hybrid::run_to_end;
use crate::mechanics::{State, UnilateralConstraints};
use crate::{Start, Statistics, Status, Stop, Trajectory};

/// A model with its driver and its policies.
pub(crate) struct Drive<'a> {
    pub(crate) model: &'a Model<'a>,
    pub(crate) driver: &'a mut Driver<Vec<f64>>,
    pub(crate) zeno: Zeno,
    pub(crate) grazing: Grazing,
}

impl Drive<'_> {
    /// See [`EventDriven::integrate`](super::EventDriven::integrate). Accumulations less than `near`
    /// seconds ahead are handed to the policy. Events less than `cluster` seconds after the one
    /// before share its cluster number.
    pub(crate) fn integrate(
        &mut self,
        State { t: t0, q, v }: State<'_>,
        tf: f64,
        near: f64,
        cluster: f64,
    ) -> Result<MechanicalRun, Breakdown> {
        let ((start, impact), kind) = self.begin(t0, q, v)?;
        let n = self.model.system().contacts();
        let path = Path::new(&self.driver.settings);
        let mut recorder = ContactRecorder::new(Detector::new(n, near, tf), path);
        let before = [q, v].concat();
        recorder.begin(self.model, t0, &before, &start, &impact, kind);
        let initial = self.model.closed(&start.mode);
        let mut place = Place {
            t: t0,
            state: start.state,
            mode: start.mode,
        };
        let mut statistics = Statistics::default();
        let mut guaranteed = kind == ContactEventKind::Contact;
        // When a policy acted last, how often at that time, and how many events are left.
        let (mut last, mut repeats) = (f64::NEG_INFINITY, 0);
        let mut left = self.driver.settings.max_events;
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
        let (path, events) = recorder.finish(cluster);
        let status = path.status(status);
        Ok(MechanicalRun {
            trajectory: Trajectory::new(path, status, statistics),
            events,
            initial,
            guaranteed,
        })
    }

    /// The start, what its impact did, and the kind of that event.
    fn begin(
        &self,
        t0: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<((SettledStart, Event), ContactEventKind), Breakdown> {
        let model = self.model;
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
        let grazing = self.grazing;
        let (t, state) = (place.t, std::mem::take(&mut place.state));
        // The limits are those of the whole run.
        let Settings {
            max_steps,
            max_events,
            max_memory,
            ..
        } = self.driver.settings;
        let steps = statistics.steps + statistics.rejections;
        let left = |limit: usize, used: usize| limit.saturating_sub(used);
        let settings = &mut self.driver.settings;
        settings.max_steps = left(max_steps, steps);
        settings.max_events = left(max_events, statistics.crossings);
        settings.first_transition = recorder.transitions;
        let model = self.model;
        let start = Start::at(t).x(&state).mode(&place.mode);
        let observed = self
            .driver
            .observe_with(model, run_to_end, &start, tf, |_, settings| {
                let watcher = Watcher::new(model, settings, grazing, max_memory);
                (&mut *recorder, watcher)
            });
        let observed = observed.map(|(mut summary, (_, watcher))| {
            match &mut summary.status {
                Status::Refused(Stop::TooManySteps { limit, .. }) => *limit = max_steps,
                Status::Refused(Stop::TooManyEvents { limit, .. }) => *limit = max_events,
                _ => {}
            }
            (summary, watcher.trouble, watcher.low, watcher.touches)
        });
        let settings = &mut self.driver.settings;
        (settings.max_steps, settings.max_events) = (max_steps, max_events);
        settings.first_transition = 0;
        let (summary, trouble, low, touches) = observed?;
        *statistics = add(*statistics, summary.statistics);
        place.t = summary.t;
        place.state = self.driver.state().to_vec();
        place.mode = self.driver.mode().clone();
        let end = match (
            trouble,
            recorder.accumulation.take().or(low),
            summary.status,
        ) {
            (Some(trouble), _, _) => End::Because(Reason::Error(trouble)),
            (None, Some(found), _) => End::Because(Reason::Zeno(found)),
            (None, None, Status::Refused(reason)) => {
                let reason = super::grazing::explain(self.model, &place.mode, reason);
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
        let model = self.model;
        let used = statistics.steps + statistics.rejections;
        let bounds = Bounds {
            steps: self.driver.settings.max_steps.saturating_sub(used),
            memory: self.driver.settings.max_memory,
            interrupt: self.driver.settings.interrupt.clone(),
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
                return self.absorb_at_once(error, place);
            }
            // An impact that does not end is one too.
            (Reason::Error(error), Zeno::StopAt | Zeno::Absorb, _) if model.is_endless(error) => {
                return self.absorb_at_once(error.clone(), place);
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

    /// Goes on from an accumulation at one instant, as the policy says; `error` where it says
    /// nothing or no contact touches.
    fn absorb_at_once(
        &self,
        error: Breakdown,
        place: &mut Place,
    ) -> Result<Option<ContactEvent>, Breakdown> {
        let contacts = self.model.touching_and_not_parting(place);
        match self.zeno {
            Zeno::Absorb if !contacts.is_empty() => {
                let kind = ContactEventKind::ZenoAbsorbed;
                self.model.close(&contacts, kind, place).map(Some)
            }
            Zeno::StopAt => Ok(None),
            _ => Err(error),
        }
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

/// An obstacle to going on.
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
