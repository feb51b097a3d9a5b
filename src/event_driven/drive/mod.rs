//! The loop of the event-driven driver: stretches of the core integrator, and what the policies do
//! between them. Compiled once, for a model of whatever system.
//!
//! * `progress`: the place of a run, and what it has used; `ruling`: the way on from an obstacle.

mod progress;
mod ruling;

pub(crate) use self::progress::Progress;
use self::ruling::{Policies, Reason, Ruling};
use super::impact::Event;
use super::recorder::ContactRecorder;
use super::recovery::Place;
use super::time::accumulation::Ahead;
use super::watching::grazing::{Watcher, explain};
use super::{Breakdown, ContactEvent, ContactEventKind, Grazing, Model, SettledStart, Zeno};
use crate::hybrid::{Driver, run_to_end};
use crate::linalg::scratch::with_zeros;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::record::{Limits, can_go_on};
use crate::{Doubt, Flow, InputError, Observer, Start, Status, Stop, Summary};

/// A model with its driver and its policies.
pub(crate) struct Drive<'a> {
    pub(crate) model: &'a Model<'a>,
    pub(crate) driver: &'a mut Driver<Vec<f64>>,
    pub(crate) zeno: Zeno,
    /// Bound of the error of its time with which an accumulation is known; 0 for none.
    pub(crate) zeno_tolerance: f64,
    pub(crate) grazing: Grazing,
}

impl Drive<'_> {
    /// Settles at a start. A run that cannot begin stands there with the reason.
    pub(crate) fn start(&self, start: State<'_>) -> Result<Progress, InputError> {
        let State { t, q, v } = start;
        let mut progress = Progress::at(self.model, start);
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

    /// Goes on to `tf`.
    pub(crate) fn advance(
        &mut self,
        progress: &mut Progress,
        tf: f64,
        observer: &mut dyn Observer,
    ) -> Result<Summary, InputError> {
        if !(progress.is_settled && progress.can_go_on()) {
            return Ok(progress.summary());
        }
        progress.parts = progress.statistics();
        let ahead = self.ahead(progress.near, tf);
        progress.memory.detector.look(ahead);
        let (n, first) = (self.model.system().contacts(), progress.tally.acted);
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
                    // A part that is cut goes on.
                    let is_over = matches!(status, Status::ReachedEnd | Status::Stopped { .. });
                    let at = State { t, q, v };
                    if is_over && seen.sharing.is_at_end(self.model, at, mode) {
                        progress.before.doubts += 1;
                        observer.doubt(&Doubt::SharedLoads { t });
                    }
                    break status;
                }
                End::Because(reason) => reason,
            };
            let t = progress.place.t;
            progress.count_here();
            let acted = progress.tally.acted - first;
            if progress.tally.repeats > 2 * n || acted >= self.driver.settings.limits.max_events {
                break Status::Refused(reason.error(t).into());
            }
            let tally = progress.act();
            let from = progress.place.clone();
            let done = self.policies().deal_with(&reason, progress, tf);
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
                    progress.take_back(tally);
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

    fn policies(&self) -> Policies<'_> {
        Policies {
            model: self.model,
            zeno: self.zeno,
            grazing: self.grazing,
            limits: &self.driver.settings.limits,
        }
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
        if !(progress.is_under_way && self.driver.runs_to(tf)) {
            progress.since = progress.place.t;
        }
        let span = tf - progress.since;
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
        progress.come_to(summary.t, self.driver);
        progress.note(summary.statistics);
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
                let reason = explain(model, &progress.place.mode, reason);
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
