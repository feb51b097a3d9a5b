//! The loop of the event-driven driver: stretches of the core integrator, and what the policies do
//! between them. Compiled once, for a model of whatever system.

use super::Model;
use super::friction::stopping::LastSlips;
use super::impact::Event;
use super::recorder::{ContactRecorder, Memory};
use super::recovery::{Bounds, Place, add};
use super::time::accumulation::{Accumulation, Ahead};
use super::watching::grazing::{Seen, Watcher, explain};
use super::{Breakdown, ContactEvent, ContactEventKind, Grazing, SettledStart, Zeno};
use crate::hybrid::{Driver, run_to_end};
use crate::linalg::scratch::with_zeros;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::record::{Limits, can_go_on};
use crate::{Doubt, Flow, InputError, Observer, Start, Statistics, Status, Stop, Summary};

/// A model with its driver and its policies.
pub(crate) struct Drive<'a> {
    pub(crate) model: &'a Model<'a>,
    pub(crate) driver: &'a mut Driver<Vec<f64>>,
    pub(crate) zeno: Zeno,
    /// Bound of the error of its time with which an accumulation is known; 0 for none.
    pub(crate) zeno_tolerance: f64,
    pub(crate) grazing: Grazing,
}

/// The place of a run, beside the core's own state: all that a later part of it goes on with.
#[derive(Clone, Debug)]
pub(crate) struct Progress {
    pub(crate) place: Place,
    pub(crate) memory: Memory,
    /// The record of gaps and forces in this stretch of the core.
    seen: Seen,
    /// The stretch is under way; else the next one begins at the place.
    is_under_way: bool,
    /// Counts of the stretches before the one that is under way, and of that one.
    before: Statistics,
    during: Statistics,
    /// Counts of the parts of a live run before this one.
    parts: Statistics,
    /// Time at which a policy acted last, and the number of times that it acted then.
    last: f64,
    repeats: usize,
    /// The number of times that a policy acted.
    acted: usize,
    /// The end of the last part.
    pub(crate) status: Status,
    /// It was settled which contacts are closed at the start, or after the efforts changed.
    pub(crate) is_settled: bool,
    /// The effort of the model itself where it was settled which contacts are closed, or the last part ended.
    effort: Vec<f64>,
}

impl Progress {
    /// True where the run can go on: it ended for no reason that stays.
    pub(crate) fn can_go_on(&self) -> bool {
        can_go_on(&self.status)
    }

    /// Tries and crossings of this part, in stretches that are over.
    fn used(&self) -> [usize; 2] {
        let tries = |counts: &Statistics| counts.steps + counts.rejections;
        [
            tries(&self.before).saturating_sub(tries(&self.parts)),
            self.before.crossings.saturating_sub(self.parts.crossings),
        ]
    }

    /// Counts so far.
    pub(crate) fn statistics(&self) -> Statistics {
        add(self.before, self.during)
    }

    pub(crate) fn summary(&self) -> Summary {
        Summary {
            status: self.status.clone(),
            t: self.place.t,
            statistics: self.statistics(),
        }
    }
}

impl Drive<'_> {
    /// Settles at a start. A run that cannot begin stands there with the reason.
    pub(crate) fn start(&self, start: State<'_>) -> Result<Progress, InputError> {
        let State { t, q, v } = start;
        let mut progress = Progress {
            place: Place {
                t,
                state: [q, v].concat(),
                mode: self.model.mode(&[]),
            },
            memory: Memory::new(self.model, t),
            seen: Seen::default(),
            is_under_way: false,
            before: Statistics::default(),
            during: Statistics::default(),
            parts: Statistics::default(),
            last: f64::NEG_INFINITY,
            repeats: 0,
            acted: 0,
            status: Status::ReachedEnd,
            is_settled: false,
            effort: Vec::new(),
        };
        let ((start, impact), kind) = match self.begin(t, q, v) {
            Ok(begun) => begun,
            Err(reason) => {
                progress.status = refused(reason)?;
                return Ok(progress);
            }
        };
        progress.is_settled = true;
        let (memory, place) = (&mut progress.memory, &mut progress.place);
        let event = ContactEvent::new(t, kind);
        memory.begin(self.model, &place.state, &start, &impact, event);
        progress.seen.sharing.note_impact(t, impact.remarks());
        place.state = start.state;
        place.mode = start.mode;
        progress.before.rulings += usize::from(kind != ContactEventKind::Contact);
        self.keep_effort(&mut progress);
        Ok(progress)
    }

    /// Goes on to `tf`. Accumulations less than `near` seconds ahead are handed to the policy.
    pub(crate) fn advance(
        &mut self,
        progress: &mut Progress,
        tf: f64,
        near: f64,
        observer: &mut dyn Observer,
    ) -> Result<Summary, InputError> {
        if !(progress.is_settled && progress.can_go_on()) {
            return Ok(progress.summary());
        }
        progress.parts = progress.statistics();
        progress.memory.detector.look(self.ahead(near, tf));
        let (n, first) = (self.model.system().contacts(), progress.acted);
        progress.status = loop {
            let has_begun = progress.memory.is_told;
            let stop = match self.stretch(progress, tf, observer) {
                Ok(stop) => stop,
                Err(error) if has_begun => break Status::Refused(error.into()),
                Err(error) => return Err(error),
            };
            progress.during.rulings += stop.touches.len();
            progress.before.doubts += stop.doubts.len();
            stop.doubts.iter().for_each(|doubt| observer.doubt(doubt));
            for touch in &stop.touches {
                observer.contacts(touch);
            }
            let reason = match stop.end {
                End::Status(status) => {
                    let Place { t, state, mode } = &progress.place;
                    let (t, (q, v)) = (*t, self.model.parts(state));
                    let seen = &mut progress.seen;
                    if seen.sharing.is_at_end(self.model, State { t, q, v }, mode) {
                        progress.before.doubts += 1;
                        observer.doubt(&Doubt::SharedLoads { t });
                    }
                    break status;
                }
                End::Because(reason) => reason,
            };
            let t = progress.place.t;
            progress.repeats = if t > progress.last {
                0
            } else {
                progress.repeats + 1
            };
            let acted = progress.acted - first;
            if progress.repeats > 2 * n || acted >= self.driver.settings.limits.max_events {
                break Status::Refused(reason.error(t).into());
            }
            progress.last = t;
            progress.acted += 1;
            progress.end_stretch();
            progress.seen.forget();
            let from = progress.place.clone();
            let done = self.deal_with(&reason, progress, tf);
            let mut recorder = ContactRecorder {
                observer: &mut *observer,
                memory: &mut progress.memory,
            };
            match done {
                Ok(Ruling::Event(event)) => {
                    progress.before.rulings += 1;
                    recorder.between(&from, &progress.place, &event);
                    progress.seen.sharing.note_impact(event.t, &event.remarks);
                }
                Ok(Ruling::Nothing) => continue,
                Ok(Ruling::End) => {
                    recorder.jump(&from, &progress.place);
                    break Status::Ended;
                }
                Err(error) => {
                    progress.place = from;
                    break Status::Refused(error.into());
                }
            }
            if let Reason::Zeno(found) = &reason {
                progress.memory.detector.forget(&found.contacts);
            }
            if progress.place.t >= tf {
                break Status::ReachedEnd;
            }
        };
        Ok(progress.summary())
    }

    /// Keeps the effort of the model itself at the place of a run, and the coefficients of friction.
    pub(crate) fn keep_effort(&self, progress: &mut Progress) {
        let mut kept = std::mem::take(&mut progress.effort);
        kept.resize(
            self.model.bodies.fixed.d + self.model.system().contacts(),
            0.0,
        );
        self.push(progress, &mut kept);
        progress.effort = kept;
    }

    /// Writes what [`keep_effort`](Self::keep_effort) keeps.
    fn push(&self, progress: &Progress, out: &mut [f64]) {
        let Place { t, state, .. } = &progress.place;
        let (q, v) = self.model.parts(state);
        let (effort, friction) = out.split_at_mut(v.len());
        effort.fill(0.0);
        self.model.system().effort(*t, q, v, effort);
        for (j, friction) in friction.iter_mut().enumerate() {
            *friction = self.model.friction(j);
        }
    }

    /// True where the model itself pushes or rubs otherwise by now than when its effort was kept.
    pub(crate) fn pushes_otherwise(&self, progress: &Progress) -> bool {
        with_zeros(progress.effort.len(), |now| {
            if now.is_empty() {
                return false;
            }
            self.push(progress, now);
            let mut pairs = now.iter().zip(&progress.effort);
            pairs.any(|(now, before)| now.to_bits() != before.to_bits())
        })
    }

    /// The accumulations up to `end` that are announced.
    fn ahead(&self, near: f64, end: f64) -> Ahead {
        let (rtol, tolerance) = (&self.driver.settings.rtol, self.zeno_tolerance);
        let rtol = (0..self.model.dim())
            .map(|i| rtol.get(i))
            .fold(0.0, f64::max);
        Ahead {
            near,
            tolerance,
            end,
            rtol,
        }
    }

    /// Decides anew which contacts are closed at the place, after the efforts have changed, or where
    /// that was interrupted before. Where it cannot be decided the status says why.
    pub(crate) fn settle(&self, progress: &mut Progress, observer: &mut dyn Observer) {
        progress.end_stretch();
        progress.is_settled = false;
        let (model, place) = (self.model, &mut progress.place);
        let (q, v) = model.parts(&place.state);
        let ((start, impact), kind) = match self.begin(place.t, q, v) {
            Ok(begun) => begun,
            Err(reason) => {
                progress.status = Status::Refused(reason.into());
                return;
            }
        };
        self.keep_effort(progress);
        let place = &mut progress.place;
        progress.is_settled = true;
        progress.status = Status::ReachedEnd;
        if start.mode == place.mode && start.activated.is_empty() {
            return;
        }
        let mut event = ContactEvent::new(place.t, kind);
        event.mode_before = model.closed(&place.mode);
        event.mode_after = model.closed(&start.mode);
        let is_new = |j: &usize| !event.mode_before.contains(j) || start.activated.contains(j);
        let touched = start.activated.iter().chain(&event.mode_after).copied();
        let mut activated: Vec<usize> = touched.filter(is_new).collect();
        activated.sort_unstable();
        activated.dedup();
        let has_left = |j: &usize| !event.mode_after.contains(j) && !activated.contains(j);
        let released = event.mode_before.iter().copied().filter(has_left).collect();
        (event.activated, event.released) = (activated, released);
        event.state_before.clone_from(&place.state);
        event.state_after.clone_from(&start.state);
        impact.tell(&mut event);
        progress.seen.sharing.note_impact(place.t, impact.remarks());
        let detector = &mut progress.memory.detector;
        detector.take(&start.activated, &event);
        progress.before.rulings += usize::from(kind != ContactEventKind::Contact);
        progress.seen.note_event();
        place.state = start.state;
        place.mode = start.mode;
        observer.contacts(&event);
        observer.settled(place.t, &place.state, &place.mode);
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

    /// One run of the core, from a place or from where it stands to wherever it ends.
    fn stretch(
        &mut self,
        progress: &mut Progress,
        tf: f64,
        observer: &mut dyn Observer,
    ) -> Result<Stretch, InputError> {
        let (model, grazing) = (self.model, self.grazing);
        // The limits are those of the whole run.
        let Limits {
            max_steps,
            max_events,
            ..
        } = self.driver.settings.limits;
        let [tries, crossings] = progress.used();
        let settings = &mut self.driver.settings;
        settings.limits.max_steps = max_steps.saturating_sub(tries);
        settings.limits.max_events = max_events.saturating_sub(crossings);
        settings.first_transition = progress.memory.transitions;
        let recorder = ContactRecorder {
            observer,
            memory: &mut progress.memory,
        };
        let span = tf - progress.place.t;
        let watcher = |settings, seen| Watcher::new(model, settings, grazing, seen, span);
        let seen = std::mem::take(&mut progress.seen);
        let observed = if progress.is_under_way {
            let make = |_, settings| (recorder, watcher(settings, seen));
            let during = &progress.during;
            self.driver.go_on_with(model, run_to_end, during, tf, make)
        } else {
            let Place { t, state, mode } = &progress.place;
            let start = Start::at(*t).x(state).mode(mode);
            let make = |_, settings| (recorder, watcher(settings, seen));
            self.driver
                .observe_with(model, run_to_end, &start, tf, make)
        };
        let observed = observed.map(|(mut summary, (_, watcher))| {
            match &mut summary.status {
                Status::Refused(Stop::TooManySteps { limit, .. }) => *limit = max_steps,
                Status::Refused(Stop::TooManyEvents { limit, .. }) => *limit = max_events,
                _ => {}
            }
            let Watcher {
                trouble,
                low,
                touches,
                seen,
                doubts,
                ..
            } = watcher;
            (summary, trouble, low, (touches, doubts), seen)
        });
        let settings = &mut self.driver.settings;
        (settings.limits.max_steps, settings.limits.max_events) = (max_steps, max_events);
        settings.first_transition = 0;
        let (summary, trouble, low, (touches, doubts), seen) = observed?;
        progress.seen = seen;
        progress.is_under_way = true;
        let rulings = progress.during.rulings;
        progress.during = summary.statistics;
        progress.during.rulings = rulings;
        let place = &mut progress.place;
        place.t = summary.t;
        place.state.copy_from_slice(self.driver.state());
        place.mode.clone_from(self.driver.mode());
        let memory = &mut progress.memory;
        let found = memory.accumulation.take().or(low);
        let found = found.map(|found| memory.detector.with_smooth_errors(found));
        // A fault began somewhere in the last step, which is kept to its end.
        progress.before.unresolved += usize::from(trouble.is_some());
        let end = match (trouble, found, summary.status) {
            (Some(trouble), _, _) => End::Because(Reason::Error(trouble)),
            (None, Some(found), _) => End::Because(Reason::Zeno(found)),
            (None, None, status) if can_go_on(&status) => End::Status(status),
            (None, None, Status::Refused(reason)) => {
                let reason = explain(model, &place.mode, reason);
                End::Because(Reason::Error(reason))
            }
            (None, None, status) => End::Status(status),
        };
        Ok(Stretch {
            end,
            touches,
            doubts,
        })
    }

    /// Goes on from where the core ended, as the policies say.
    fn deal_with(
        &self,
        reason: &Reason,
        progress: &mut Progress,
        tf: f64,
    ) -> Result<Ruling, Breakdown> {
        let (model, again) = (self.model, progress.repeats > 0);
        let [used, _] = progress.used();
        let (place, statistics) = (&mut progress.place, &mut progress.before);
        let bounds = Bounds {
            steps: self.driver.settings.limits.max_steps.saturating_sub(used),
            memory: self.driver.settings.limits.max_memory,
            interrupt: self.driver.settings.limits.interrupt.clone(),
        };
        let contact = match (reason, self.zeno, self.grazing) {
            (Reason::Zeno(found), Zeno::StopAt, _) => {
                let cost = model.fly_to(found, tf, place, &bounds)?;
                *statistics = add(*statistics, cost);
                return Ok(Ruling::End);
            }
            (Reason::Zeno(found), Zeno::Absorb, _) => {
                let (event, cost) = model.absorb(found, tf, place, &bounds)?;
                *statistics = add(*statistics, cost);
                return Ok(event.map_or(Ruling::Nothing, Ruling::of));
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
                    Ok(Some(event)) => return Ok(Ruling::of(event)),
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
            (Reason::Error(Breakdown::Stop(Stop::NotLive { guard, .. })), _, _) => {
                let held = model.hold_idle_slip(guard.event, place);
                return held.map(Ruling::of).ok_or_else(|| reason.error(place.t));
            }
            (Reason::Error(Breakdown::GrazingRelease { contact, .. }), _, Grazing::Contact) => {
                return model.open(*contact, place).map(Ruling::of);
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
            .close(
                &[contact],
                ContactEventKind::Touch,
                LastSlips::UNKNOWN,
                place,
            )
            .map(Ruling::of)
    }

    /// Goes on from an accumulation at one instant, as the policy says; else `error`.
    fn absorb_at_once(&self, error: Breakdown, place: &mut Place) -> Result<Ruling, Breakdown> {
        let contacts = self.model.touching_and_not_parting(place);
        match self.zeno {
            Zeno::Absorb if !contacts.is_empty() => {
                let (kind, before) = (ContactEventKind::ZenoAbsorbed, place.mode.clone());
                let last = LastSlips::UNKNOWN;
                let event = self.model.close(&contacts, kind, last, place)?;
                // Where no contact approached, and the mode is what it was, there are no impacts to absorb: cones of
                // friction that were left would be left behind.
                let approaches = |rate: &f64| *rate < -self.model.rate_tolerance;
                let stays = place.mode.has_flags_of(&before);
                if stays
                    && self.model.any_friction(&contacts)
                    && !event.approach.iter().any(approaches)
                {
                    Err(error)
                } else {
                    Ok(Ruling::of(event))
                }
            }
            Zeno::StopAt => Ok(Ruling::End),
            _ => Err(error),
        }
    }
}

impl Progress {
    /// The stretch of the core that is under way is over: the next one begins at the place.
    fn end_stretch(&mut self) {
        self.before = self.statistics();
        self.during = Statistics::default();
        self.is_under_way = false;
    }
}

/// The status of a run that could not begin; bad input is none.
fn refused(reason: Breakdown) -> Result<Status, InputError> {
    match Stop::from(reason) {
        Stop::Input(error) => Err(error),
        stop => Ok(Status::Refused(stop)),
    }
}

/// The end of a stretch of a run.
struct Stretch {
    end: End,
    /// Touches on the way.
    touches: Vec<ContactEvent>,
    /// Doubts beside those of the core.
    doubts: Vec<Doubt>,
}

enum End {
    Status(Status),
    Because(Reason),
}

/// The way on from an obstacle, by a policy.
enum Ruling {
    /// The run goes on with this event in its log.
    Event(Box<ContactEvent>),
    /// It goes on as if nothing had been.
    Nothing,
    /// It ends there.
    End,
}

impl Ruling {
    fn of(event: ContactEvent) -> Self {
        Self::Event(Box::new(event))
    }
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
            Self::Zeno(found) => found.breakdown(t),
            Self::Error(error) => error.clone(),
        }
    }
}
