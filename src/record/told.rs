//! The last node that a driver in steps of one length reported, and the limits that end its run.

use super::{ContactEvent, Doubt, Limits, Now, Observer, Segment, Status};
use crate::model::{At, Guard, Mode, Stop};

/// The last node that was reported; a run in steps of one length goes on from it.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    t: f64,
    /// State `(q, v)`, the way to the next one, the next one, and zeros.
    states: [Vec<f64>; 4],
    /// Flags are on for closed contacts.
    mode: Mode,
    /// The impact that led to the start, until it is reported.
    first: Option<ContactEvent>,
    /// Steps and doubts since the start.
    pub(crate) steps: usize,
    pub(crate) doubts: usize,
    /// Steps and events of this part of the run, and a contact of the last event.
    part: Tally,
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    steps: usize,
    events: usize,
    contact: usize,
}

impl Told {
    /// Of states of so many entries and so many contacts.
    pub(crate) fn new(size: usize, contacts: usize) -> Self {
        Self {
            t: 0.0,
            states: std::array::from_fn(|_| vec![0.0; size]),
            mode: Mode::of_contacts(contacts, &[]),
            first: None,
            steps: 0,
            doubts: 0,
            part: Tally::default(),
        }
    }

    /// The last node.
    pub(crate) fn now(&self) -> Now<'_> {
        Now {
            t: self.t,
            state: &self.states[0],
            mode: &self.mode,
        }
    }

    /// Takes a start as the last node.
    pub(crate) fn stand_at(&mut self, t: f64, q: &[f64], v: &[f64]) {
        let (first, last) = self.states[0].split_at_mut(q.len());
        first.copy_from_slice(q);
        last.copy_from_slice(v);
        self.t = t;
        self.first = None;
        self.mode.set_contacts(&[]);
    }

    /// Takes the contacts that are closed at the start, and the impact that led to it.
    pub(crate) fn begin_with(&mut self, closed: &[usize], event: Option<ContactEvent>) {
        self.mode.set_contacts(closed);
        if let Some(event) = &event {
            self.states[0].copy_from_slice(&event.state_after);
        }
        self.first = event;
    }

    /// Reports the last node as a start, and the impact that led there.
    pub(crate) fn start(&mut self, observer: &mut dyn Observer) {
        self.part = Tally::default();
        observer.start(self.t, &self.states[0], &self.mode);
        if let Some(event) = self.first.take() {
            self.count(&event);
            observer.contacts(&event);
        }
    }

    /// Reports the motion to a node at `t`, whose state `write` gives.
    pub(crate) fn segment(
        &mut self,
        t: f64,
        observer: &mut dyn Observer,
        write: impl FnOnce(&mut [f64]),
    ) {
        let [before, way, state, zeros] = &mut self.states;
        write(state);
        for (way, (state, before)) in way.iter_mut().zip(state.iter().zip(&*before)) {
            *way = state - before;
        }
        let states = [&before[..], way, state, zeros];
        observer.segment(&Segment::straight([self.t, t], states, &self.mode));
        self.t = t;
        self.states.swap(0, 2);
    }

    /// Reports an event at the last node, and the state and the mode after it.
    pub(crate) fn event(&mut self, event: &ContactEvent, observer: &mut dyn Observer) {
        self.count(event);
        observer.contacts(event);
        self.states[0].copy_from_slice(&event.state_after);
        self.mode.set_contacts(&event.mode_after);
        observer.settled(self.t, &self.states[0], &self.mode);
    }

    fn count(&mut self, event: &ContactEvent) {
        let first = event.activated.first().or(event.released.first());
        self.part.events += 1;
        self.part.contact = first.copied().unwrap_or(self.part.contact);
    }

    /// Reports a doubt, and counts it.
    pub(crate) fn doubt(&mut self, doubt: &Doubt, observer: &mut dyn Observer) {
        self.doubts += 1;
        observer.doubt(doubt);
    }

    /// Counts a step that was made.
    pub(crate) fn count_step(&mut self) {
        self.steps += 1;
        self.part.steps += 1;
    }

    /// The reason for which no further step is made: the observer or a limit ends the run.
    pub(crate) fn ends(&self, limits: &Limits, observer: &dyn Observer) -> Option<Status> {
        if observer.is_done() {
            return Some(Status::Ended);
        }
        let Tally {
            steps,
            events,
            contact,
        } = self.part;
        let at = || At::new(self.t, &self.states[0], &self.mode).into();
        let stop = if events > limits.max_events {
            Stop::TooManyEvents {
                limit: limits.max_events,
                guard: Guard::falling(contact),
                at: at(),
            }
        } else if steps >= limits.max_steps {
            Stop::TooManySteps {
                limit: limits.max_steps,
                at: at(),
            }
        } else {
            return None;
        };
        Some(Status::Refused(stop))
    }
}
