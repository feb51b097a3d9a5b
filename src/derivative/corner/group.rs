//! The corner that a run is in, as far as it is known.

use super::point::CornerPoint;
use crate::hybrid::System;
use crate::hybrid::grouping::{Grouping, Joins};
use crate::hybrid::model::rearm::Arming;
use crate::{Mode, NoDerivative, Transition};

/// Crossings within the corner tolerance of the first of them, collected as the run meets them.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) point: CornerPoint,
    pub(crate) rule: Grouping,
}

impl Group {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        let count = mode.len();
        Self {
            point: CornerPoint {
                t: f64::NAN,
                x: vec![0.0; dim],
                mode: mode.clone(),
                index: 0,
                arming: vec![Arming::Off; count],
                guards: Vec::with_capacity(count),
                x_after: vec![0.0; dim],
                mode_after: mode.clone(),
                span: 0.0,
                min_rates: vec![0.0; count],
                rounding: Vec::new(),
            },
            rule: Grouping::new(count),
        }
    }

    /// Adds a set, as the first of a new group or to this one.
    pub(crate) fn take(&mut self, set: &Transition<'_>, joins: Joins) {
        self.rule.take(set, joins);
        let point = &mut self.point;
        point.rounding.clear();
        if joins == Joins::Opens {
            point.t = set.t;
            point.x.copy_from_slice(set.state_before);
            point.mode.copy_from(set.mode_before);
            point.index = set.index;
            point.arming.copy_from_slice(set.arming_before);
            point.x_after.copy_from_slice(set.state_before);
        }
        point.guards.clone_from(&self.rule.guards);
        point.span = set.t - point.t;
        // The motion between crossings that count as one instant is neglected.
        for i in 0..point.x_after.len() {
            point.x_after[i] += set.state[i] - set.state_before[i];
        }
        point.mode_after.copy_from(set.mode);
        point.min_rates.copy_from_slice(set.min_rates);
    }
}

/// Refuses a change of mode without a crossing, which the rule `WhenEmpty` makes at the end of a
/// step, if the field changes.
pub(crate) fn check_sides(
    system: &dyn System,
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
