//! States of a run: of the bodies, of contacts, the parts between impacts; and a step to be made.

/// A step from a time on, for so long.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Its start (s).
    pub(super) t: f64,
    /// Its length (s).
    pub(super) h: f64,
}

/// A state of the bodies: coordinates and momenta at a time.
#[derive(Clone, Debug, Default)]
pub(super) struct PhasePoint {
    pub(super) t: f64,
    pub(super) q: Vec<f64>,
    pub(super) p: Vec<f64>,
}

/// The record of a contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) closed: bool,
    /// Time of its last impact (s).
    pub(super) last: f64,
    /// Its impacts in this step.
    pub(super) impacts: usize,
}

/// The records of all contacts.
#[derive(Clone, Debug)]
pub(super) struct Touches {
    pub(super) each: Vec<Touch>,
    /// The closed ones, in rising order.
    pub(super) closed: Vec<usize>,
}

impl Touches {
    /// Of contacts that are open and never were closed.
    pub(super) fn open(contacts: usize) -> Self {
        let open = Touch {
            closed: false,
            last: f64::NEG_INFINITY,
            impacts: 0,
        };
        Self {
            each: vec![open; contacts],
            closed: Vec::new(),
        }
    }

    /// Closes or opens a contact.
    pub(super) fn set(&mut self, contact: usize, closed: bool) {
        if self.each[contact].closed == closed {
            return;
        }
        self.each[contact].closed = closed;
        let place = self.closed.partition_point(|&j| j < contact);
        if closed {
            self.closed.insert(place, contact);
        } else {
            self.closed.remove(place);
        }
    }
}

/// The impact of some contacts.
#[derive(Clone, Debug)]
pub(super) struct Blow {
    pub(super) touching: Vec<usize>,
    /// Places in `touching` of contacts that were open.
    pub(super) fresh: Vec<usize>,
    /// Contacts that do not rebound.
    pub(super) plastic: Vec<usize>,
    /// Impacts before.
    pub(super) number: usize,
}

/// A part of a run.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// From this state on for so long (s), without closed contacts. At its end a contact closes, or
    /// a step is complete.
    Free(PhasePoint, f64, Option<usize>),
    /// An impact at this state, of so many new contacts.
    Impact(PhasePoint, Blow, usize),
    /// A step with closed contacts.
    Held(PhasePoint),
}
