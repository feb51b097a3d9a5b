//! Crossings whose order the errors of a run do not resolve: guards that may have been met at the instant
//! of others, or before them.
//!
//! A true corner is met by a run with errors as crossings that follow each other closely. An error
//! `δ` of the state shifts the time of guard `k` by `τ_k δ`, `τ_k = −D_x h_k / (dh_k/dt)`, so the
//! error of the time between two guards is `(τ_k − τ_j) δ`. Guards that shift together keep their
//! order, however large the error is.

use super::graph::CornerPoint;
use crate::derivative::context::Context;
use crate::hybrid::evaluate::{self, Point};
use crate::linalg::dot;
use crate::{Guard, Mode, NoDerivative};

/// Sums of sizes are bounds but for rounding.
const ROUNDING: f64 = 1.0 + 1e-9;
/// Differences of all event functions are made where there are more than so many of these for each
/// of them: a row costs about as much as a few values.
const ROWS: usize = 2;
/// Differences are made over such a part of an error, so that they are those of rows.
const PARTS: f64 = 1024.0;
/// Errors below this part of the state are taken to be as large, so that the rounding of
/// differences, some 1e-16 of the state times [`PARTS`], is smaller.
const SMALLEST: f64 = 1e-12;
/// Differences are at least half of what rows say.
const CURVED: f64 = 2.0;

/// A guard that the run had still before it when it crossed others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Close {
    pub(crate) guard: Guard,
    /// The time until it is met, if nothing changes (s).
    pub(crate) apart: f64,
    /// The error of that (s).
    pub(crate) error: f64,
    /// True when it cannot be distinguished from zero.
    pub(crate) at_once: bool,
    /// After the others the motion does not lead across it at their instant.
    pub(crate) left_out: Option<LeftOut>,
    /// Its distance (`u_k`).
    pub(crate) gap: f64,
}

/// The reason for which a guard is not met after others although it was met before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LeftOut {
    /// The motion was turned away from it.
    TurnedAway,
    /// A reset carried the state across it, said that it is crossed, or threw the state back from
    /// it.
    ByReset,
}

/// The search for guards close to those that a run crosses: its workspace.
#[derive(Clone, Debug)]
pub(crate) struct CloseGuards {
    /// The guards found last.
    pub(crate) found: Vec<Close>,
    h: Vec<f64>,
    field: Vec<f64>,
    behind: Vec<f64>,
    row: Vec<f64>,
    shift: Vec<f64>,
    /// The shifts of the times of the guards crossed, as rows, one after the other.
    members: Vec<f64>,
    is_member: Vec<bool>,
    /// Changes of each event function along the error of the run and the motion meanwhile, by
    /// differences, and the values beside the point of which they are made (`u_k`); infinite where
    /// rows cost less, until one is not found.
    reach: Vec<f64>,
    beside: Vec<f64>,
    /// Components of the state that event functions depended on at the last group, as far as was
    /// seen.
    matters: Vec<bool>,
}

impl CloseGuards {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        let (count, state) = (mode.len(), || vec![0.0; dim]);
        Self {
            found: Vec::new(),
            h: vec![0.0; count],
            field: state(),
            behind: state(),
            row: state(),
            shift: state(),
            members: Vec::new(),
            is_member: vec![false; count],
            reach: vec![0.0; count],
            beside: vec![0.0; count],
            matters: vec![true; dim],
        }
    }

    /// Finds guards close to those of `point`, which are crossed there by a state whose components
    /// may be off by `error`.
    ///
    /// # Errors
    /// [`NoDerivative::DifferencesDisagree`] where the differences of a row disagree; interrupts.
    pub(crate) fn find(
        &mut self,
        context: Context<'_>,
        point: &CornerPoint,
        error: &[f64],
    ) -> Result<(), NoDerivative> {
        self.found.clear();
        let (t, x, mode) = (point.t, &point.x[..], &point.mode);
        context.system.events(t, x, mode, &mut self.h);
        context.system.flow(t, x, mode, &mut self.field);
        self.is_member.fill(false);
        for guard in &point.guards {
            self.is_member[guard.event] = true;
        }
        self.members.clear();
        self.reach.fill(f64::INFINITY);
        let mut most_shifted: f64 = 0.0;
        if mode.len() > ROWS * (x.len() + 1) {
            most_shifted = self.shift_members(context, point, error)?;
            self.reach_all(context, point, error, most_shifted, PARTS)?;
        }
        let mut knows_reach = false;
        let mut knows_behind = false;
        for k in 0..mode.len() {
            if self.h[k].abs() > CURVED * self.reach[k] {
                continue;
            }
            if self.is_member[k] || !point.arming_of(context.system, k).is_armed() {
                continue;
            }
            let guard = Guard::ahead(k, mode.contains(k));
            let gap = -guard.sign() * self.h[k];
            if self.members.is_empty() {
                most_shifted = self.shift_members(context, point, error)?;
            }
            let looked = match self.look_at(context, point, guard, gap, error, most_shifted) {
                // Where differences find no row, as of forces where a slip stops, it may still be far out of reach.
                Err(unknown @ NoDerivative::DifferencesDisagree { .. }) => {
                    if !std::mem::replace(&mut knows_reach, true) {
                        self.reach_all(context, point, error, most_shifted, 1.0)?;
                    }
                    // Its reach is the sum of both sides.
                    if self.h[k].abs() > self.reach[k] {
                        continue;
                    }
                    return Err(unknown);
                }
                looked => looked?,
            };
            if let Some(close) = looked {
                if !std::mem::replace(&mut knows_behind, true) {
                    let (x, mode) = (&point.x_after, &point.mode_after);
                    context.system.flow(t, x, mode, &mut self.behind);
                }
                let (behind, row) = (&self.behind[..], &mut self.row[..]);
                let left_out = left_out(context, point, guard, gap, behind, row);
                self.found.push(Close { left_out, ..close });
            }
        }
        Ok(())
    }

    /// Finds the shifts of the guards crossed; how far `error` shifts one of them at most (s).
    fn shift_members(
        &mut self,
        context: Context<'_>,
        point: &CornerPoint,
        error: &[f64],
    ) -> Result<f64, NoDerivative> {
        let mut most: f64 = 0.0;
        for guard in &point.guards {
            self.shift_row(context, point, guard.event)?;
            self.members.extend_from_slice(&self.shift);
            most = most.max(along(&self.shift, error));
        }
        Ok(most)
    }

    /// Finds how far `error` and the motion lead along all event functions at once, by differences over such a part
    /// of the error:
    /// two evaluations, and one for each component of the state that matters. By them most guards
    /// are seen to be out of reach.
    ///
    /// # Errors
    /// Interrupts.
    fn reach_all(
        &mut self,
        context: Context<'_>,
        point: &CornerPoint,
        error: &[f64],
        most_shifted: f64,
        parts: f64,
    ) -> Result<(), NoDerivative> {
        let Self {
            h,
            field,
            row: probe,
            reach,
            beside,
            matters,
            ..
        } = self;
        let (system, t, mode) = (context.system, point.t, &point.mode);
        for (k, reach) in reach.iter_mut().enumerate() {
            *reach = SMALLEST * h[k].abs() + system.event_tolerance(k);
        }
        // True when some value is another there.
        let mut add = |t: f64, probe: &[f64], part: f64| -> Result<bool, NoDerivative> {
            context.interrupt.check()?;
            system.events(t, probe, mode, beside);
            add_moved(reach, part, beside, h);
            let mut pairs = beside.iter().zip(&*h);
            Ok(pairs.any(|(a, b)| a.to_bits() != b.to_bits()))
        };
        let way = |i: usize| (error[i] + SMALLEST * point.x[i].abs()) / parts;
        let beside = |i: usize| point.x[i] + way(i);
        probe.copy_from_slice(&point.x);
        for (i, matters) in matters.iter_mut().enumerate().filter(|(_, m)| **m) {
            probe[i] = beside(i);
            *matters = add(t, probe, parts)?;
            // Whole errors may lead far to one side only.
            if parts <= 1.0 {
                probe[i] = point.x[i] - way(i);
                *matters |= add(t, probe, parts)?;
            }
            probe[i] = point.x[i];
        }
        // Components that changed nothing so far are tried together, and one by one if they do now.
        let without = || matters.iter().enumerate().filter(|(_, m)| !**m);
        for (i, _) in without() {
            probe[i] = beside(i);
        }
        let they_matter = without().next().is_some() && add(t, probe, parts)?;
        probe.copy_from_slice(&point.x);
        if they_matter {
            for (i, _) in without() {
                probe[i] = beside(i);
                add(t, probe, parts)?;
                probe[i] = point.x[i];
            }
            matters.fill(true);
        }
        // Until all guards crossed are met, and as long as guards count as met at once.
        let time = most_shifted.max(context.tolerance + 8.0 * f64::EPSILON * t.abs());
        for (probe, field) in probe.iter_mut().zip(field) {
            *probe += time * *field;
        }
        add(t + time, probe, 1.0)?;
        Ok(())
    }

    /// Looks at a guard that is `gap` before its surface; how it is left out is not known yet.
    fn look_at(
        &mut self,
        context: Context<'_>,
        point: &CornerPoint,
        guard: Guard,
        gap: f64,
        error: &[f64],
        most_shifted: f64,
    ) -> Result<Option<Close>, NoDerivative> {
        let (t, x, mode, k) = (point.t, &point.x[..], &point.mode, guard.event);
        let (at, field) = (Point { t, x, mode }, &self.field[..]);
        let rate = evaluate::rate(context.system, k, at, field, &mut self.row);
        let mut own = guard.sign() * rate.value;
        if own < point.min_rates[k] {
            return Ok(None);
        }
        let at_once = gap.abs() <= context.zero(k, t, rate);
        if !at_once && gap < 0.0 {
            return Ok(None);
        }
        // Two shifts differ by no more than the sum of their sizes.
        let reach = along(&self.row, error) + own * most_shifted;
        if rate.written && !at_once && gap > ROUNDING * reach {
            return Ok(None);
        }
        if rate.written {
            for (shift, entry) in self.shift.iter_mut().zip(&self.row) {
                *shift = -entry / rate.value;
            }
        } else {
            // The gap is held against errors by one rate: where it is nearly zero, two are another.
            own = guard.sign() * self.shift_row(context, point, k)?;
            if own < point.min_rates[k] {
                return Ok(None);
            }
        }
        let off = |member: &[f64]| -> f64 {
            let apart = |i: usize| (self.shift[i] - member[i]).abs() * error[i];
            (0..x.len()).map(apart).sum()
        };
        let error = self.members.chunks_exact(x.len().max(1)).map(off);
        let (apart, error) = (gap / own, error.fold(0.0, f64::max));
        let is_close = at_once || apart <= error;
        Ok(is_close.then_some(Close {
            guard,
            apart,
            error,
            at_once,
            left_out: None,
            gap,
        }))
    }

    /// Finds the shift of the time of event function `k` as a row on displacements at `point`; gives its rate.
    fn shift_row(
        &mut self,
        context: Context<'_>,
        point: &CornerPoint,
        k: usize,
    ) -> Result<f64, NoDerivative> {
        // A row is two evaluations a state variable and more, each perhaps of all guards.
        context.interrupt.check()?;
        let (before, field) = (point.before(), &self.field);
        let moving = context.crossed_row(k, before, field, &mut self.shift, &mut self.row)?;
        let rate = moving + dot(&self.shift, &self.field);
        for entry in &mut self.shift {
            *entry = -*entry / rate;
        }
        Ok(rate)
    }
}

/// Adds to `reach` how far values `beside` are from those `here`, `part` times.
fn add_moved(reach: &mut [f64], part: f64, beside: &[f64], here: &[f64]) {
    for ((reach, beside), here) in reach.iter_mut().zip(beside).zip(here) {
        *reach += part * (beside - here).abs();
    }
}

/// Largest change of an event function with this row by an error, whatever the signs.
fn along(row: &[f64], error: &[f64]) -> f64 {
    row.iter().zip(error).map(|(r, e)| (r * e).abs()).sum()
}

/// Tests whether a guard, by `gap` ahead of its surface before the crossings of `point`, is kept
/// from being crossed after them, where the field is `behind`; `row` is overwritten.
fn left_out(
    context: Context<'_>,
    point: &CornerPoint,
    guard: Guard,
    gap: f64,
    behind: &[f64],
    row: &mut [f64],
) -> Option<LeftOut> {
    let (system, t, k) = (context.system, point.t, guard.event);
    let (x, mode) = (&point.x_after[..], &point.mode_after);
    let after = evaluate::rate(system, k, Point { t, x, mode }, behind, row);
    let is_ahead = mode.contains(k) != guard.side_after();
    // Before its surface it was already, by the gap: only a reset that moved it there counts.
    let off = context.zero(k, t, after) + gap.max(0.0);
    let is_off = point.x_after != point.x && guard.sign() * system.event(k, t, x, mode) < -off;
    if !is_ahead || is_off {
        Some(LeftOut::ByReset)
    } else if guard.sign() * after.value < point.min_rates[k] {
        Some(LeftOut::TurnedAway)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rearm;
    use crate::hybrid::options::Settings;
    use crate::random::{symmetric, word};
    use crate::{EventFunction, Flow};

    const N: usize = 3;
    const COUNT: usize = 12;

    /// Curved event functions, of which the last depends on the last component only where the first
    /// is not zero, as others do in no place.
    struct Curved {
        seed: u64,
    }

    impl Curved {
        fn number(&self, k: usize, i: usize) -> f64 {
            symmetric(word(self.seed, (10 * k + i) as u64))
        }
    }

    impl Flow for Curved {
        fn dim(&self) -> usize {
            N
        }

        fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
            dx.copy_from_slice(&[1.0 + x[1], 0.5 - x[0], 0.2]);
        }
    }

    impl EventFunction for Curved {
        fn count(&self) -> usize {
            COUNT
        }

        fn event(&self, k: usize, t: f64, x: &[f64], _mode: &Mode) -> f64 {
            let a = |i: usize| self.number(k, i);
            let curved = (a(0) * x[0] + a(1) * x[1]).sin() + a(2) * x[0] * x[1] + a(3) * t + a(4);
            curved + if k + 1 == COUNT { x[0] * x[2] } else { 0.0 }
        }

        fn gradient(
            &self,
            k: usize,
            _t: f64,
            x: &[f64],
            _mode: &Mode,
            dh: &mut [f64],
        ) -> Option<f64> {
            let a = |i: usize| self.number(k, i);
            let wave = (a(0) * x[0] + a(1) * x[1]).cos();
            dh[0] = a(0) * wave + a(2) * x[1];
            dh[1] = a(1) * wave + a(2) * x[0];
            dh[2] = 0.0;
            if k + 1 == COUNT {
                dh[0] += x[2];
                dh[2] = x[0];
            }
            Some(a(3))
        }
    }

    /// No guard is passed over that rows would reach, also where a component begins to matter.
    #[test]
    fn differences_reach_as_far_as_rows() {
        let (rearm, settings) = (Rearm::default(), Settings::default());
        let mut bounds = [f64::INFINITY, 0.0_f64];
        for seed in 0..200 {
            let system = Curved { seed };
            let context = Context::of_run(&system, &rearm, &settings);
            let mode = Mode::new(COUNT);
            let mut close = CloseGuards::new(N, &mode);
            for group in 0..4 {
                let draw = |i: u64| symmetric(word(seed, 1000 + 20 * group + i));
                // The last component matters from the third group on.
                let first = if group < 2 { 0.0 } else { draw(0) };
                let point = CornerPoint {
                    t: draw(3).abs(),
                    x: vec![first, draw(1), draw(2)],
                    mode: mode.clone(),
                    ..CornerPoint::default()
                };
                let error: Vec<f64> = (4..7)
                    .map(|i| 10.0_f64.powf(-6.0 + 4.0 * draw(i)))
                    .collect();
                let shifted = 10.0_f64.powf(-6.0 + 4.0 * draw(8));
                let (t, x, mode) = (point.t, &point.x[..], &mode);
                system.events(t, x, mode, &mut close.h);
                system.flow(t, x, mode, &mut close.field);
                close
                    .reach_all(context, &point, &error, shifted, PARTS)
                    .unwrap();
                let mut row = [0.0; N];
                for k in 0..COUNT {
                    let at = Point { t, x, mode };
                    let rate = evaluate::rate(&system, k, at, &close.field, &mut row);
                    let needed = along(&row, &error) + rate.value.abs() * shifted;
                    let needed = needed.max(context.zero(k, t, rate));
                    let ratio = close.reach[k] / needed;
                    bounds = [bounds[0].min(ratio), bounds[1].max(ratio)];
                }
            }
        }
        // Twice as far is looked at; more than that costs rows.
        assert!(CURVED * bounds[0] > 1.0 && bounds[1] < 3.0, "{bounds:?}");
    }
}
