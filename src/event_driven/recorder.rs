//! The observer that keeps the path of a run, the log of its contacts, and the times of their
//! impacts.

use super::SettledStart;
use super::impact::Event;
use super::zeno::{Accumulation, Detector};
use crate::event_driven::Model;
use crate::hybrid::path::Path;
use crate::mechanics::log::{ContactEvent, ContactEventKind};
use crate::{Doubt, GuardCrossing, Mode, Observer, Segment, Transition};

/// The path, the log and the accumulations of a run.
pub(crate) struct ContactRecorder {
    pub(crate) path: Path,
    events: Vec<ContactEvent>,
    pub(crate) detector: Detector,
    pub(crate) accumulation: Option<Accumulation>,
    /// The next stretch goes on from what the driver did; its start is not a new start.
    goes_on: bool,
    /// Transitions so far.
    pub(crate) transitions: usize,
}

impl ContactRecorder {
    pub(crate) fn new(detector: Detector, path: Path) -> Self {
        Self {
            path,
            events: Vec::new(),
            detector,
            accumulation: None,
            goes_on: false,
            transitions: 0,
        }
    }

    /// Notes the impact with which a run starts, if there is one.
    pub(crate) fn begin(
        &mut self,
        model: &Model<'_>,
        t: f64,
        before: &[f64],
        start: &SettledStart,
        impact: &Event,
        kind: ContactEventKind,
    ) {
        if start.activated.is_empty() {
            return;
        }
        for &j in &start.activated {
            self.detector.activation(j, t);
        }
        let mut event = ContactEvent {
            activated: start.activated.clone(),
            mode_after: model.closed(&start.mode),
            state_before: before.to_vec(),
            state_after: start.state.clone(),
            ..ContactEvent::new(t, kind)
        };
        impact.tell(&mut event);
        self.push(event);
    }

    /// Notes what the driver did between two runs, and that the next one goes on from there.
    pub(crate) fn between(&mut self, event: ContactEvent, mode: &Mode) {
        self.path.jump(event.t, &event.state_after, mode);
        self.push(event);
        self.goes_on = true;
    }

    /// Enters the touches since the last call into the log, in order of time.
    pub(crate) fn touched(&mut self, touches: Vec<ContactEvent>) {
        for touch in touches {
            self.path.keep(touch.bytes());
            let after = |event: &ContactEvent| event.t > touch.t;
            let place = self.events.iter().position(after);
            self.events
                .insert(place.unwrap_or(self.events.len()), touch);
        }
    }

    /// Events count as memory of the path.
    fn push(&mut self, event: ContactEvent) {
        self.path.keep(event.bytes());
        self.events.push(event);
    }

    /// The path, and the events with clusters.
    pub(crate) fn finish(self, cluster_time: f64) -> (Path, Vec<ContactEvent>) {
        let Self {
            path, mut events, ..
        } = self;
        let (mut cluster, mut last) = (0, f64::NEG_INFINITY);
        for (i, event) in events.iter_mut().enumerate() {
            if i > 0 && event.t - last > cluster_time {
                cluster += 1;
            }
            last = event.t;
            event.cluster = cluster;
        }
        (path, events)
    }
}

impl Observer for ContactRecorder {
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        if !std::mem::take(&mut self.goes_on) {
            self.path.start(t, state, mode);
        }
    }

    fn segment(&mut self, segment: &Segment<'_>) {
        self.path.segment(segment);
    }

    fn transition(&mut self, set: &Transition<'_>) {
        self.path.transition(set);
        self.transitions = set.index + 1;
        let (mut activated, mut released) = (Vec::new(), Vec::new());
        for c in set.guards {
            let (j, falls) = (c.guard.event, !c.guard.side_after());
            if !falls {
                continue;
            }
            if set.mode_before.flag(j) {
                released.push(j);
            } else {
                activated.push(j);
            }
        }
        if activated.is_empty() && released.is_empty() {
            return;
        }
        for &j in &activated {
            let found = self.detector.activation(j, set.t);
            self.accumulation = self.accumulation.take().or(found);
        }
        let [before, after] = [set.mode_before, set.mode].map(|mode| mode.flags().collect());
        let mut event = ContactEvent {
            activated,
            released,
            mode_before: before,
            mode_after: after,
            state_before: set.state_before.to_vec(),
            state_after: set.state.to_vec(),
            ..ContactEvent::new(set.t, ContactEventKind::Contact)
        };
        if let Some(done) = set.record.get::<Event>() {
            done.tell(&mut event);
        }
        self.push(event);
    }

    fn crossing(&mut self, crossing: &GuardCrossing) {
        self.path.crossing(crossing);
    }

    fn settled(&mut self, t: f64, state: &[f64], mode: &Mode) {
        self.path.settled(t, state, mode);
    }

    fn doubt(&mut self, doubt: &Doubt) {
        self.path.doubt(doubt);
    }

    fn is_done(&self) -> bool {
        self.accumulation.is_some() || self.path.is_done()
    }
}
