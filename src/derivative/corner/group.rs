//! The corner that a run is in, as far as it is known.

use super::common_point::CommonPoint;
use super::explorer::Explorer;
use super::point::CornerPoint;
use crate::derivative::context::Context;
use crate::derivative::repeat::FAR;
use crate::hybrid::System;
use crate::hybrid::evaluate::{self, Point};
use crate::model::rearm::Arming;
use crate::record::corner::{Grouping, Joins};
use crate::{Arrival, CrossedGuard, Mode, NoDerivative, Transition};

/// Crossings within the corner tolerance of the first of them, collected as the run meets them.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) point: CornerPoint,
    pub(crate) rule: Grouping,
    /// The states at its first crossing and behind its last, less the motion between, as the run
    /// had them.
    of_run: [Vec<f64>; 2],
    /// The guards of its transitions, one transition after the other, and where each of these ends.
    crossed: Vec<CrossedGuard>,
    ends: Vec<usize>,
    field: Vec<f64>,
    row: Vec<f64>,
    pub(crate) common: CommonPoint,
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
                residuals: Vec::with_capacity(count),
            },
            rule: Grouping::new(count),
            of_run: [vec![0.0; dim], vec![0.0; dim]],
            crossed: Vec::with_capacity(2 * count),
            ends: Vec::with_capacity(2 * count),
            field: vec![0.0; dim],
            row: vec![0.0; dim],
            common: CommonPoint::new(dim),
        }
    }

    /// The set as the corner takes it. Guards that were off their surfaces before the corner, and
    /// on them after its resets, cross in consequence of these, like guards that resets carry the
    /// state across.
    pub(crate) fn as_consequence<'s>(
        &mut self,
        context: Context<'_>,
        set: &Transition<'s>,
    ) -> Transition<'s> {
        let mut taken = *set;
        let is_late = self.rule.is_open && self.rule.moved;
        if is_late && set.t - self.point.t <= context.tolerance && self.are_off(context, set) {
            taken.arrival = Arrival::Jumped;
        }
        taken
    }

    /// True when all guards of a set were off their surfaces before the corner; their surfaces are
    /// as thick as they are where the reset is repeated.
    #[cold]
    fn are_off(&mut self, context: Context<'_>, set: &Transition<'_>) -> bool {
        let (system, point) = (context.system, &self.point);
        let (field, row) = (&mut self.field, &mut self.row);
        let (t, x, mode) = (set.t, set.state_before, set.mode_before);
        system.flow(t, x, mode, field);
        set.guards.iter().all(|c| {
            let (k, sign) = (c.guard.event, c.guard.sign());
            let rate = evaluate::rate(system, k, Point { t, x, mode }, field, row);
            let before = sign * system.event(k, point.t, &point.x, &point.mode);
            before < -FAR * context.zero(k, t, rate)
        })
    }

    /// Adds a set, as the first of a new group or to this one.
    pub(crate) fn take(&mut self, set: &Transition<'_>, joins: Joins) {
        self.rule.take(set, joins);
        let point = &mut self.point;
        let [first, behind] = &mut self.of_run;
        point.rounding.clear();
        point.residuals.clear();
        if joins == Joins::Opens {
            point.t = set.t;
            first.copy_from_slice(set.state_before);
            point.mode.copy_from(set.mode_before);
            point.index = set.index;
            point.arming.copy_from_slice(set.arming_before);
            behind.copy_from_slice(set.state_before);
            self.crossed.clear();
            self.ends.clear();
        }
        self.crossed.extend_from_slice(set.guards);
        self.ends.push(self.crossed.len());
        point.guards.clone_from(&self.rule.guards);
        point.span = set.t - point.t;
        // The motion between crossings that count as one instant is neglected.
        for i in 0..behind.len() {
            behind[i] += set.state[i] - set.state_before[i];
        }
        point.x.copy_from_slice(first);
        point.x_after.copy_from_slice(behind);
        point.mode_after.copy_from(set.mode);
        point.min_rates.copy_from_slice(set.min_rates);
    }

    /// Moves a corner with resets to its common point, at which all its guards are zero, and to
    /// where the transitions of the run lead from there.
    ///
    /// Without resets nothing depends on the values of guards. With them, a guard that the run still
    /// had before it would seem to be moved off by the reset of another, in a mode in which it takes
    /// longer to reach.
    ///
    /// # Errors
    /// [`Stop::Interrupted`](crate::Stop::Interrupted) only.
    pub(crate) fn meet_at_once(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
    ) -> Result<(), NoDerivative> {
        let point = &mut self.point;
        if !self.rule.moved || point.guards.len() < 2 {
            return Ok(());
        }
        self.common.find(context, explorer, point)?;
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let sets = starts.zip(&self.ends).map(|(a, &b)| &self.crossed[a..b]);
        if !explorer.repeat_run(context, point, sets).unwrap_or(false) {
            // The model goes another way there: the way of the run, moved along.
            let [first, behind] = &self.of_run;
            for i in 0..point.x.len() {
                point.x_after[i] = behind[i] + (point.x[i] - first[i]);
            }
        }
        Ok(())
    }
}

/// Refuses a change of mode without a crossing, which the rule `WhenEmpty` makes at the end of a
/// step, if the field changes.
pub(crate) fn check_sides(
    system: &dyn System,
    t: f64,
    x: &[f64],
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
