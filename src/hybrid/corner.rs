//! The record of a crossing, and corners: guards crossed at one instant, within a stated tolerance,
//! as one object.

use nalgebra::DVector;

use crate::Guard;

/// How the state came to lie on a guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Arrival {
    /// The root was located on the interpolant of a smooth step.
    Located,
    /// A projection, one step in the event variable, ended there.
    Projected,
    /// The state was already on the guard: it crosses at the same instant as another one.
    AlreadyThere,
    /// A reset carried the state across, or the guard's event function reads the mode and is
    /// another one now.
    Jumped,
}

/// One guard crossed, with the state there: what a trajectory keeps, and observers see as it
/// happens. Guards that cross at the same instant follow each other.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct GuardCrossing {
    /// Time (s).
    pub t: f64,
    /// The guard, with its direction.
    pub guard: Guard,
    /// State on the guard, before any reset.
    pub state: DVector<f64>,
    /// `dh_k/dt` just before, in the mode before (`u_k`/s); after a projection of order 1 that at
    /// its start.
    pub rate_before: f64,
    /// `dh_k/dt` just after, in the mode and state after (`u_k`/s).
    pub rate_after: f64,
    /// The liveness bound `c_k` (`u_k`/s).
    pub min_rate: f64,
    /// How the state came to lie on the guard.
    pub arrival: Arrival,
    /// How far the time may be off by the errors of the steps before (s): an estimate, not a bound.
    ///
    /// The estimated errors of all steps, times 3, are added up in units of the tolerance at the
    /// largest size of each variable along the run, and carried over by the gradient and the rate
    /// of the guard. Twice the time by which a projection misses its guard is added. What is left
    /// of an error in speeds shifts each flight to come: those of earlier crossings of the same
    /// event function are added once more for each of them. Neither flows that spread neighbours
    /// more than that are in it, nor rounding that adds up.
    ///
    /// It may be some hundred times too large: what is allowed of a height at the top of a flight
    /// is far more than what a step near the floor leaves.
    pub time_error: f64,
}

impl GuardCrossing {
    /// One to be filled in.
    pub(crate) fn blank(dim: usize) -> Self {
        Self {
            t: 0.0,
            guard: Guard::rising(0),
            state: DVector::zeros(dim),
            rate_before: 0.0,
            rate_after: 0.0,
            min_rate: 0.0,
            arrival: Arrival::Located,
            time_error: 0.0,
        }
    }

    /// The smaller of the two rates in the direction of crossing, in units of the least rate.
    pub fn margin(&self) -> f64 {
        let sign = self.guard.sign();
        (sign * self.rate_before).min(sign * self.rate_after) / self.min_rate
    }
}

/// Two or more guards crossed at one instant, within a stated tolerance.
///
/// Near a corner the order of the crossings depends on the smallest change of the start; what a
/// corner reports is the order in which this run resolved them, and how far each guard was from
/// failing liveness. Of guards at exactly one instant each is checked in the modes in which it
/// comes first and last, not in all orders between.
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
