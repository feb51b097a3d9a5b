//! Which transitions of a run are one corner.

use super::{Arrival, CrossedGuard, Guard, Transition};

/// Which transitions of a run are one corner, for the trajectory and for the derivative: those
/// within a tolerance of the first of them.
///
/// A guard that a reset carries across belongs to the crossing that caused it. A second crossing of
/// an event function begins a new corner, unless a reset of this one changed the state.
#[derive(Clone, Debug)]
pub(crate) struct Grouping {
    /// Time of the first transition (s).
    t: f64,
    /// The guards that were crossed, each event function once; without those that a reset carried
    /// the state across.
    pub(crate) guards: Vec<Guard>,
    /// A reset changed the state.
    pub(crate) moved: bool,
    /// There are transitions in it.
    pub(crate) is_open: bool,
}

/// Whether a transition begins a corner or extends the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joins {
    /// It is the first of a new one.
    Opens,
    /// It belongs to it.
    Extends,
}

impl Grouping {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            t: f64::NAN,
            guards: Vec::with_capacity(count),
            moved: false,
            is_open: false,
        }
    }

    /// Whether a transition belongs to the corner as it is.
    pub(crate) fn joins(&self, set: &Transition<'_>, tolerance: f64) -> Joins {
        let new = |c: &CrossedGuard| self.is_new(c.guard);
        let near = self.is_open && set.t - self.t <= tolerance;
        let caused = self.moved || set.arrival == Arrival::Jumped;
        if near && (caused || set.guards.iter().all(new)) {
            Joins::Extends
        } else {
            Joins::Opens
        }
    }

    fn is_new(&self, guard: Guard) -> bool {
        self.guards.iter().all(|known| known.event != guard.event)
    }

    /// Takes a transition in, as the first of a new corner or as one more of this one.
    pub(crate) fn take(&mut self, set: &Transition<'_>, joins: Joins) {
        if joins == Joins::Opens {
            self.is_open = true;
            self.moved = false;
            self.t = set.t;
            self.guards.clear();
        }
        if joins == Joins::Opens || set.arrival != Arrival::Jumped {
            for c in set.guards {
                if self.is_new(c.guard) {
                    self.guards.push(c.guard);
                }
            }
        }
        self.moved |= set.state != set.state_before;
    }
}
