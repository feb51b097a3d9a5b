//! Corners: guards crossed at one instant, within a stated tolerance, as one object.

use super::{Arrival, GuardCrossing, Transition};
use crate::model::{CrossedGuard, Guard};

/// Two or more guards crossed at one instant, within a stated tolerance.
///
/// Near a corner the order of the crossings depends on the smallest change of the start; what a
/// corner reports is the order in which this run resolved them, and how far each guard was from
/// failing liveness. Of guards at exactly one instant each is checked before all others and
/// behind all of them, not in the orders between: the verdict of a derivative does that.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Corner {
    /// The common time: that of the first crossing (s).
    pub t: f64,
    /// Time from the first to the last crossing (s), at most `tolerance`.
    pub spread: f64,
    /// The tolerance that made them simultaneous (s).
    pub tolerance: f64,
    /// The guards in the order in which they were resolved, each event function once; those at
    /// exactly the same time in rising order.
    pub order: Vec<Guard>,
    /// For each guard of `order` the liveness margin: the smaller of its rates before and after, in
    /// the direction of crossing, divided by its least rate `c_k`. At least 1 for an event-selected
    /// system; below 0 when a reset threw the state back.
    pub margins: Vec<f64>,
    /// Index of the first crossing among the trajectory's crossings; the others follow it. There
    /// are more of them than guards where a reset threw the state back over a guard at once.
    pub first: usize,
}

impl Corner {
    /// True when event function `event` takes part.
    pub fn contains(&self, event: usize) -> bool {
        self.order.iter().any(|guard| guard.event == event)
    }
}

/// The corners among crossings, of which `groups` says which belong together. Groups with one event
/// function are no corners.
pub(crate) fn corners(
    crossings: &[GuardCrossing],
    groups: &[usize],
    tolerance: f64,
) -> Vec<Corner> {
    let mut corners = Vec::new();
    let mut first = 0;
    for group in groups.chunk_by(|a, b| a == b) {
        let Some(members) = crossings.get(first..first + group.len()) else {
            break;
        };
        let mut order: Vec<&GuardCrossing> = Vec::new();
        for c in members {
            if order.iter().all(|known| known.guard.event != c.guard.event) {
                order.push(c);
            }
        }
        if let ([start, .., last], true) = (members, order.len() > 1) {
            corners.push(Corner {
                t: start.t,
                spread: last.t - start.t,
                tolerance,
                order: order.iter().map(|c| c.guard).collect(),
                margins: order.iter().map(|c| c.margin()).collect(),
                first,
            });
        }
        first += group.len();
    }
    corners
}

/// The rule that makes transitions of a run one corner, for the trajectory and for the derivative:
/// those within a tolerance of the first of them.
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

/// Relation of a transition to the last corner: it begins a new one or extends it.
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

    /// Decides whether a transition belongs to the corner as it is.
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
