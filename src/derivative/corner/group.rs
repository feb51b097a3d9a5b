//! The corner that a run is in, with the crossings so far, and its common point: a state close to the
//! one at which the run met its first guard, at which all of them are zero.
//!
//! A run meets the guards of a corner one after the other, within the corner tolerance. At the first
//! crossing the others are still ahead, each by a time of its own, and resets behave otherwise there
//! than at the corner. With the lag `σ_k = −h_k / (dh_k/dt)` of guard `k` and its row
//! `a_k = D_x h_k / (dh_k/dt)`, Newton's method takes the displacement `δ` of least norm with
//! `a_k δ = σ_k` for all `k`, in units of what the state may be off: the tolerances of the run and
//! the motion during the corner. A component that stands still and is smaller than its tolerance keeps its value: it
//! may be a parameter, whose size is the only scale that it shows.

use super::explorer::Explorer;
use super::graph::{CornerGraph, CornerPoint};
use crate::derivative::context::Context;
use crate::derivative::repeat::FAR;
use crate::hybrid::System;
use crate::hybrid::evaluate::{self, Point};
use crate::linalg::dot;
use crate::linalg::least_norm::{least_norm, least_norm_size};
use crate::model::rearm::Arming;
use crate::record::corner::{Grouping, Joins};
use crate::{Arrival, CrossedGuard, Guard, Mode, NoDerivative, Transition};

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
                reach: None,
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
    /// state across. Guards that resets carry the state across, and that were about to be met by
    /// themselves, are guards of the corner: neighbours meet them first.
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
        let opens = |c: &CrossedGuard| self.rule.guards.iter().all(|g| g.event != c.guard.event);
        let are_new = self.rule.is_open && set.guards.iter().all(opens);
        if are_new && taken.arrival == Arrival::Jumped && self.are_ahead(context, set) {
            taken.arrival = Arrival::AlreadyThere;
        }
        taken
    }

    /// True when the motion before the corner meets a guard of a set within the tolerance of one instant.
    #[cold]
    fn are_ahead(&mut self, context: Context<'_>, set: &Transition<'_>) -> bool {
        let (system, point) = (context.system, &self.point);
        let (field, row) = (&mut self.field, &mut self.row);
        let (t, x, mode) = (point.t, &point.x[..], &point.mode);
        system.flow(t, x, mode, field);
        set.guards.iter().any(|c| {
            let (k, sign) = (c.guard.event, c.guard.sign());
            let is_ahead = Guard::ahead(k, mode.contains(k)) == c.guard;
            let rate = evaluate::rate(system, k, Point { t, x, mode }, field, row);
            let least = set.min_rates.get(k).copied().unwrap_or(0.0);
            let value = system.event(k, t, x, mode);
            let reach = context.tolerance * sign * rate.value;
            let is_near = value.abs() <= reach.max(context.zero(k, t, rate));
            let is_looked_for = is_ahead && point.arming_of(system, k).is_armed();
            is_looked_for && sign * rate.value >= least && is_near
        })
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

/// Steps of Newton's method at most: it begins within the corner tolerance of the solution.
const MOST_STEPS: usize = 5;
/// A guard that lags behind by more than this many corner tolerances is not zero at the corner: a
/// reset brings it there.
const MOST_LAG: f64 = 100.0;
/// Guards that are zero farther off than this, in the units of the displacement, are not one corner
/// that errors spread out.
const FARTHEST: f64 = 1e3;

/// Workspace to find common points.
#[derive(Clone, Debug)]
pub(crate) struct CommonPoint {
    /// The unit of each component of the displacement.
    units: Vec<f64>,
    /// The state at the first crossing.
    first: Vec<f64>,
    /// The rows `a_k` of its guards in these units, one after the other.
    rows: Vec<f64>,
    /// Their lags (s), then the multipliers of their rows.
    lags: Vec<f64>,
    gram: Vec<f64>,
    scratch: Vec<f64>,
}

impl CommonPoint {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            units: vec![0.0; dim],
            first: vec![0.0; dim],
            rows: Vec::new(),
            lags: Vec::new(),
            gram: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Moves the state of `point` to the common point of its guards. Where there is none, the state
    /// is the one closest to it from which all guards are still ahead, or the one that it was, and
    /// the values that are left of the guards count as zero.
    ///
    /// # Errors
    /// [`Stop::Interrupted`](crate::Stop::Interrupted) only.
    pub(crate) fn find(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
        point: &mut CornerPoint,
    ) -> Result<(), NoDerivative> {
        point.residuals.clear();
        self.first.copy_from_slice(&point.x);
        let found = self.search(context, explorer, point);
        if !matches!(found, Ok(true)) {
            point.x.copy_from_slice(&self.first);
            context.interrupt.check()?;
            if explorer.begin(context, point).is_err() {
                // It is refused again when the corner is examined.
                return Ok(());
            }
        }
        Self::note_residuals(context, explorer, point);
        Ok(())
    }

    /// Newton's method; false when it leaves the neighbourhood.
    fn search(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
        point: &mut CornerPoint,
    ) -> Result<bool, NoDerivative> {
        for step in 0..=MOST_STEPS {
            context.interrupt.check()?;
            explorer.begin(context, point)?;
            let graph = explorer.graph();
            let field = graph.field(0);
            if step == 0 {
                for (i, unit) in self.units.iter_mut().enumerate() {
                    let is_kept =
                        field[i] == 0.0 && point.x[i].abs() <= context.error_scale(i, 0.0);
                    *unit = if is_kept {
                        0.0
                    } else {
                        context.error_scale(i, point.x[i]) + point.span * field[i].abs()
                    };
                }
            }
            if self.all_zero(context, graph) {
                return Ok(true);
            }
            if step == MOST_STEPS {
                // Guards that depend on each other and have no zero in common: back to where none
                // of them is passed.
                let passed = self.lags.iter().fold(0.0, |most: f64, lag| most.max(-lag));
                for (x, f) in point.x.iter_mut().zip(field) {
                    *x -= passed * f;
                }
                return Ok(true);
            }
            self.step(&mut point.x);
            let off = (0..point.x.len()).map(|i| (point.x[i] - self.first[i]) / self.units[i]);
            let farthest = off
                .filter(|off| !off.is_nan())
                .fold(0.0, |most: f64, off| most.max(off.abs()));
            if farthest > FARTHEST {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Finds lags and rows of the guards at node 0. True when all are zero to within rounding.
    fn all_zero(&mut self, context: Context<'_>, graph: &CornerGraph) -> bool {
        let (root, t) = (graph.node(0), graph.t());
        let most = MOST_LAG * context.tolerance;
        self.lags.clear();
        self.rows.clear();
        let mut all_zero = true;
        for (m, member) in root.members.iter().enumerate() {
            let (row, k) = (graph.row(0, m), member.guard.event);
            let value = context.system.event(k, t, root.x, root.mode);
            let lag = -value / member.rate;
            if lag.is_nan() || lag.abs() > most {
                continue;
            }
            let terms: f64 = row.iter().zip(root.x).map(|(a, x)| (a * x).abs()).sum();
            let in_time = t.abs() * member.rate.abs();
            all_zero &= value.abs() <= 8.0 * f64::EPSILON * (terms + in_time);
            self.lags.push(lag);
            let row = row.iter().zip(&self.units);
            self.rows
                .extend(row.map(|(a, unit)| a * unit / member.rate));
        }
        all_zero
    }

    /// One step of Newton's method.
    fn step(&mut self, x: &mut [f64]) {
        let (n, dim) = (self.lags.len(), x.len());
        let row = |k: usize| &self.rows[k * dim..(k + 1) * dim];
        self.gram.clear();
        for i in 0..n {
            self.gram.extend((0..n).map(|k| dot(row(i), row(k))));
        }
        self.scratch.clear();
        self.scratch.resize(least_norm_size(n), 0.0);
        least_norm(&self.gram, n, &mut self.lags, &mut self.scratch);
        for (i, x) in x.iter_mut().enumerate() {
            let along: f64 = (0..n).map(|k| self.lags[k] * row(k)[i]).sum();
            *x += self.units[i] * along;
        }
    }

    /// Keeps what is left of the values of the guards of `point`, as far as they are zero there.
    fn note_residuals(context: Context<'_>, explorer: &Explorer, point: &mut CornerPoint) {
        let root = explorer.graph().node(0);
        let most = MOST_LAG * context.tolerance;
        for member in root.members {
            let k = member.guard.event;
            let value = context.system.event(k, point.t, &point.x, &point.mode);
            let is_zero = (value / member.rate).abs() <= most;
            point.residuals.push(if is_zero { value } else { 0.0 });
        }
    }
}
