//! The reports that the event-driven driver adds to those of the core: the log of contacts, and the
//! times of their impacts.

use super::SettledStart;
use super::impact::Event;
use super::recovery::Place;
use super::time::accumulation::{Accumulation, Detector};
use super::watching::grazing::Watcher;
use crate::event_driven::Model;
use crate::mechanics::friction::contact_function::{ContactFunction, ContactFunctions};
use crate::record::path::Path;
use crate::record::{ContactEvent, ContactEventKind};
use crate::{Doubt, GuardCrossing, Mode, Observer, Segment, Transition};

/// The memory of the events of a run.
#[derive(Clone, Debug)]
pub(crate) struct Memory {
    /// The impact with which the run starts; reported after the start.
    pub(crate) first: Option<ContactEvent>,
    /// The entry of the log of the last transition; its memory is reused.
    event: ContactEvent,
    pub(crate) detector: Detector,
    pub(crate) accumulation: Option<Accumulation>,
    /// The start was reported; that of a later stretch is not a new one.
    pub(crate) is_told: bool,
    /// Transitions so far.
    pub(crate) transitions: usize,
    functions: ContactFunctions,
}

impl Memory {
    /// For a run of `model` that begins at `start`.
    pub(crate) fn new(model: &Model<'_>, start: f64) -> Self {
        let (functions, coordinates) = (model.functions(), model.layout().coordinates);
        Self {
            functions,
            first: None,
            event: ContactEvent::new(0.0, ContactEventKind::Contact),
            detector: Detector::new(functions.contacts, coordinates, start),
            accumulation: None,
            is_told: false,
            transitions: 0,
        }
    }

    /// Notes the impact with which a run starts, if there is one.
    pub(crate) fn begin(
        &mut self,
        model: &Model<'_>,
        before: &[f64],
        start: &SettledStart,
        impact: &Event,
        mut event: ContactEvent,
    ) {
        if start.activated.is_empty() && impact.aside.pushes.is_empty() {
            return;
        }
        event.activated.clone_from(&start.activated);
        event.mode_after = model.closed(&start.mode);
        event.state_before = before.to_vec();
        event.state_after.clone_from(&start.state);
        impact.tell(&mut event);
        self.detector.take(&start.activated, &event);
        self.first = Some(event);
    }
}

/// Hands the reports of the core on, with the events of contacts, and looks for accumulations.
pub(crate) struct ContactRecorder<'a> {
    pub(crate) observer: &'a mut dyn Observer,
    pub(crate) memory: &'a mut Memory,
}

impl ContactRecorder<'_> {
    /// Reports what the driver did between two stretches, from one place to another.
    pub(crate) fn between(&mut self, from: &Place, to: &Place, event: &ContactEvent) {
        self.jump(from, to);
        self.observer.contacts(event);
    }

    /// Reports a motion that the driver made itself: a segment of its own, so that the dense
    /// output has no hole.
    pub(crate) fn jump(&mut self, from: &Place, to: &Place) {
        let way = to.state.iter().zip(&from.state);
        let way: Vec<f64> = way.map(|(to, from)| to - from).collect();
        let zeros = vec![0.0; way.len()];
        let states = [&from.state[..], &way, &to.state, &zeros];
        let segment = Segment::straight([from.t, to.t], states, &from.mode);
        self.observer.segment(&segment);
        self.observer.settled(to.t, &to.state, &to.mode);
    }
}

impl Observer for ContactRecorder<'_> {
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        if std::mem::replace(&mut self.memory.is_told, true) {
            return;
        }
        self.observer.start(t, state, mode);
        if let Some(event) = self.memory.first.take() {
            self.observer.contacts(&event);
        }
    }

    fn segment(&mut self, segment: &Segment<'_>) {
        self.observer.segment(segment);
    }

    fn transition(&mut self, set: &Transition<'_>) {
        let functions = self.memory.functions;
        self.observer.transition(set);
        self.memory.transitions = set.index + 1;
        let event = &mut self.memory.event;
        event.activated.clear();
        event.released.clear();
        for c in set.guards.iter().filter(|c| !c.guard.side_after()) {
            match functions.function(c.guard.event, set.mode_before) {
                ContactFunction::Gap(j) => event.activated.push(j),
                ContactFunction::Force(j) => event.released.push(j),
                _ => {}
            }
        }
        functions.note_changes(event, set.mode_before, set.mode);
        let is_friction = event.activated.is_empty() && event.released.is_empty();
        event.kind = match is_friction {
            true if event.stuck.is_empty() && event.slipped.is_empty() => return,
            true => ContactEventKind::Friction,
            false => ContactEventKind::Contact,
        };
        event.t = set.t;
        for (closed, mode) in [
            (&mut event.mode_before, set.mode_before),
            (&mut event.mode_after, set.mode),
        ] {
            closed.clear();
            closed.extend(mode.flags().take_while(|&j| j < functions.contacts));
        }
        for (state, from) in [
            (&mut event.state_before, set.state_before),
            (&mut event.state_after, set.state),
        ] {
            state.clear();
            state.extend_from_slice(from);
        }
        match set.record.get::<Event>() {
            Some(done) => done.tell(event),
            None => Event::default().tell(event),
        }
        let found = self.memory.detector.take(&event.activated, event);
        self.memory.accumulation = self.memory.accumulation.take().or(found);
        self.observer.contacts(event);
    }

    fn crossing(&mut self, crossing: &GuardCrossing) {
        self.observer.crossing(crossing);
    }

    fn settled(&mut self, t: f64, state: &[f64], mode: &Mode) {
        self.observer.settled(t, state, mode);
    }

    fn doubt(&mut self, doubt: &Doubt) {
        self.observer.doubt(doubt);
    }

    fn is_done(&self) -> bool {
        self.memory.accumulation.is_some() || self.observer.is_done()
    }
}

/// A path with the log of contacts, for a run of the core without the policies of the driver. What no policy goes
/// on from ends it: an open contact with a negative gap, a closed one off its surface.
pub(crate) struct LoggedPath<'a> {
    pub(crate) path: Path,
    pub(crate) memory: Memory,
    pub(crate) watcher: Watcher<'a>,
    pub(crate) lasting: Lasting,
}

/// Low bounces one after the other that came no sooner than those before: their number, and the time of the last one.
#[derive(Debug, Default)]
pub(crate) struct Lasting {
    count: usize,
    until: f64,
}

/// Bounces that are so many intervals apart are not one after the other.
const EPISODE: f64 = 10.0;

/// More of these end a run.
const MOST_LASTING: usize = 100;

impl LoggedPath<'_> {
    fn recorder(&mut self) -> ContactRecorder<'_> {
        ContactRecorder {
            observer: &mut self.path,
            memory: &mut self.memory,
        }
    }
}

impl Observer for LoggedPath<'_> {
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        self.recorder().start(t, state, mode);
    }
    fn segment(&mut self, segment: &Segment<'_>) {
        self.path.segment(segment);
        self.watcher.segment(segment);
    }
    fn transition(&mut self, set: &Transition<'_>) {
        self.recorder().transition(set);
        self.watcher.seen.note_event();
        // Bounces lower than gaps resolve may get no lower for a while, or for ever.
        let detector = &self.memory.detector;
        let mut struck = set.guards.iter().map(|crossed| crossed.guard.event);
        if let Some(interval) = struck.find_map(|j| detector.lasting(j))
            && let Some(found) = self.watcher.low_bounces(set)
            && found
                .contacts
                .iter()
                .any(|&j| detector.lasting(j).is_some())
        {
            let goes_on = set.t - self.lasting.until <= EPISODE * interval;
            self.lasting.count = if goes_on { self.lasting.count + 1 } else { 0 };
            self.lasting.until = set.t;
            if self.lasting.count > MOST_LASTING {
                self.watcher.trouble = Some(found.breakdown(set.t));
            }
        }
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
        self.path.is_done() || self.watcher.trouble.is_some()
    }
}
