//! The log of the contacts of a run: events as sets of contacts, and the sequence of contact modes.

use crate::impact::{Order, Remark};

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ContactEventKind {
    /// Gaps closed, or contacts were released, or both at once.
    Contact,
    /// A gap was touched, or its contact approached too slowly for an impact. Or the force of a
    /// contact fell to zero too slowly for a release, and the contact was opened.
    Touch,
    /// An accumulation of impacts was absorbed: the contacts were closed by a plastic impact, which
    /// may pull.
    ZenoAbsorbed,
}

/// An event of a run: all that happens to contacts at one instant.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContactEvent {
    /// Time (s).
    pub t: f64,
    /// The kind of the event.
    pub kind: ContactEventKind,
    /// Contacts that became active: their gaps reached zero.
    pub activated: Vec<usize>,
    /// Contacts that were closed and whose force reached zero.
    pub released: Vec<usize>,
    /// Closed contacts before: the contact mode `J`.
    pub mode_before: Vec<usize>,
    /// Closed contacts after.
    pub mode_after: Vec<usize>,
    /// `(q, v)` just before.
    pub state_before: Vec<f64>,
    /// `(q, v)` just after.
    pub state_after: Vec<f64>,
    /// Contacts that took part in the impact: the activated ones and those that were closed.
    pub contacts: Vec<usize>,
    /// Impulses of `contacts` (N s for gaps in metres): the normal ones, then, where the law takes
    /// friction into account, those along the tangents, contact by contact. Empty when there was no
    /// impact.
    pub impulses: Vec<f64>,
    /// `Da v⁻` of `contacts` (m/s); negative where they approach.
    pub approach: Vec<f64>,
    /// Remarks of the impact law, such as that the energy rose.
    pub remarks: Vec<Remark>,
    /// The order in which contacts acted, by their places in `contacts`; none when there was no
    /// impact by the law.
    pub order: Option<Order>,
    /// How many outcomes the law of impact gave, of which this is one; 0 without it.
    pub outcomes: usize,
    /// Number of the cluster. Successive events closer in time than
    /// [`cluster_time`](crate::EventDriven::cluster_time) share one.
    pub cluster: usize,
}

impl ContactEvent {
    /// Memory that it takes (bytes).
    pub(crate) fn bytes(&self) -> usize {
        let changed = self.activated.len() + self.released.len();
        let modes = self.mode_before.len() + self.mode_after.len();
        let taking_part = self.contacts.len() + self.impulses.len() + self.approach.len();
        let states = self.state_before.len() + self.state_after.len();
        size_of::<Self>()
            + (changed + modes + taking_part + states) * size_of::<f64>()
            + self.remarks.len() * size_of::<Remark>()
    }

    /// An event at which nothing has happened yet.
    pub(crate) fn new(t: f64, kind: ContactEventKind) -> Self {
        Self {
            t,
            kind,
            activated: Vec::new(),
            released: Vec::new(),
            mode_before: Vec::new(),
            mode_after: Vec::new(),
            state_before: Vec::new(),
            state_after: Vec::new(),
            contacts: Vec::new(),
            impulses: Vec::new(),
            approach: Vec::new(),
            remarks: Vec::new(),
            order: None,
            outcomes: 0,
            cluster: 0,
        }
    }
}

/// A contact mode and the time from which it holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Phase {
    /// From when (s).
    pub t: f64,
    /// The closed contacts `J`.
    pub closed: Vec<usize>,
}

/// The contact mode sequence `ω` of the paper (definition 4): the modes in which positive time is
/// spent, with the events that begin them.
pub(crate) fn sequence(
    start: f64,
    end: f64,
    initial: &[usize],
    events: &[ContactEvent],
) -> Vec<Phase> {
    let mut modes = vec![Phase {
        t: start,
        closed: initial.to_vec(),
    }];
    for event in events {
        let mode = Phase {
            t: event.t,
            closed: event.mode_after.clone(),
        };
        match modes.last_mut() {
            // No time was spent in the last one.
            Some(last) if event.t <= last.t => *last = mode,
            _ => modes.push(mode),
        }
    }
    if modes.len() > 1 && modes.last().is_some_and(|last| last.t >= end) {
        modes.pop();
    }
    modes
}
