//! Which crossings of a run are one corner.

use super::graph::CornerPoint;
use crate::hybrid::model::rearm::Arming;
use crate::{Arrival, Flow, Mode, NoDerivative, Transition};

/// Crossings within the corner tolerance of the first of them, collected as the run meets them.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) point: CornerPoint,
    /// Crossings are in it.
    pub(crate) is_open: bool,
    /// A reset changed the state.
    pub(crate) moved: bool,
}

/// What a set of crossings is to the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Joins {
    /// It is the first of a new group.
    Opens,
    /// It belongs to the group.
    Extends,
}

impl Group {
    pub(crate) fn new(dim: usize, count: usize) -> Self {
        Self {
            point: CornerPoint {
                t: f64::NAN,
                x: vec![0.0; dim],
                mode: Mode::new(count),
                index: 0,
                arming: vec![Arming::Off; count],
                guards: Vec::with_capacity(count),
                x_after: vec![0.0; dim],
                mode_after: Mode::new(count),
                span: 0.0,
                min_rates: vec![0.0; count],
                rounding: Vec::new(),
            },
            is_open: false,
            moved: false,
        }
    }

    /// Whether a set belongs to the group as it is. What a reset carries across belongs to the
    /// crossing that caused it. An event function that comes a second time does so only after a
    /// reset, which may throw the state back at once.
    pub(crate) fn joins(&self, set: &Transition<'_>, tolerance: f64) -> Joins {
        let new = |event| self.point.guards.iter().all(|guard| guard.event != event);
        let near = self.is_open && set.time - self.point.t <= tolerance;
        let caused = self.moved || set.arrival == Arrival::Jumped;
        if near && (caused || set.guards.iter().all(|c| new(c.guard.event))) {
            Joins::Extends
        } else {
            Joins::Opens
        }
    }

    /// Takes a set in, as the first of a new group or as one more of this one.
    pub(crate) fn take(&mut self, set: &Transition<'_>, joins: Joins) {
        let point = &mut self.point;
        point.rounding.clear();
        if joins == Joins::Opens {
            self.is_open = true;
            self.moved = false;
            point.t = set.time;
            point.x.copy_from_slice(set.state_before);
            point.mode.copy_from(set.mode_before);
            point.index = set.index;
            point.arming.copy_from_slice(set.arming_before);
            point.guards.clear();
            point.x_after.copy_from_slice(set.state_before);
        }
        if joins == Joins::Opens || set.arrival != Arrival::Jumped {
            for c in set.guards {
                if point
                    .guards
                    .iter()
                    .all(|guard| guard.event != c.guard.event)
                {
                    point.guards.push(c.guard);
                }
            }
        }
        point.span = set.time - point.t;
        self.moved |= set.state != set.state_before;
        // The motion between crossings that count as one instant counts as none.
        for i in 0..point.x_after.len() {
            point.x_after[i] += set.state[i] - set.state_before[i];
        }
        point.mode_after.copy_from(set.mode);
        point.min_rates.copy_from_slice(set.min_rates);
    }
}

/// Refuses a change of mode without a crossing, which the rule `WhenEmpty` makes at the end of a
/// step, if the field changes.
pub(crate) fn check_sides<S: Flow>(
    system: &S,
    (t, x): (f64, &[f64]),
    [before, after]: [&Mode; 2],
) -> Result<(), NoDerivative> {
    if before.is(after) {
        return Ok(());
    }
    let fields = [before, after].map(|mode| {
        let mut field = vec![0.0; x.len()];
        system.flow(t, x, mode, &mut field);
        field
    });
    if fields[0] == fields[1] {
        Ok(())
    } else {
        Err(NoDerivative::ModeWithoutGuard { t })
    }
}
