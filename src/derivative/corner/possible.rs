//! Which crossings the errors of a run do not resolve: guards that may have been met at the instant
//! of others, or before them.
//!
//! A true corner is met by a run with errors as crossings that follow each other closely. An error
//! `δ` of the state shifts the time of guard `k` by `τ_k δ`, `τ_k = −D_x h_k / (dh_k/dt)`, so the
//! error of the time between two guards is `(τ_k − τ_j) δ`. Guards that shift together keep their
//! order, however large the error is.

use super::point::CornerPoint;
use crate::derivative::context::Context;
use crate::hybrid::evaluate;
use crate::linalg::dot;
use crate::{Guard, Mode, NoDerivative};

/// Sums of sizes are bounds but for rounding.
const ROUNDING: f64 = 1.0 + 1e-9;

/// A guard that the run had still before it when it crossed others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Close {
    pub(crate) guard: Guard,
    /// How much later it is met, if nothing changes (s).
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

/// Why a guard is not met after others although it was met before them.
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
    /// Those found last.
    pub(crate) found: Vec<Close>,
    h: Vec<f64>,
    field: Vec<f64>,
    behind: Vec<f64>,
    row: Vec<f64>,
    shift: Vec<f64>,
    /// The shifts of the times of the guards crossed, as rows, one after the other.
    members: Vec<f64>,
    is_member: Vec<bool>,
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
        }
    }

    /// Finds guards close to those of `point`, which are crossed there by a state whose components
    /// may be off by `error`.
    ///
    /// # Errors
    /// [`NoDerivative::DifferencesDisagree`] where a row is not known; interrupts.
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
        let mut most_shifted: f64 = 0.0;
        let mut knows_behind = false;
        for k in 0..mode.len() {
            if self.is_member[k] || !point.arming_of(context.system, k).is_armed() {
                continue;
            }
            let guard = Guard::ahead(k, mode.contains(k));
            let gap = -guard.sign() * self.h[k];
            if self.members.is_empty() {
                most_shifted = self.shift_members(context, point, error)?;
            }
            if let Some(close) =
                self.look_at(context, point, (guard, gap), (error, most_shifted))?
            {
                if !std::mem::replace(&mut knows_behind, true) {
                    let (x, mode) = (&point.x_after, &point.mode_after);
                    context.system.flow(t, x, mode, &mut self.behind);
                }
                let rows = (&self.behind[..], &mut self.row[..]);
                let left_out = left_out(context, point, (guard, gap), rows);
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

    /// Looks at a guard that is `gap` before its surface; how it is left out is not known yet.
    fn look_at(
        &mut self,
        context: Context<'_>,
        point: &CornerPoint,
        (guard, gap): (Guard, f64),
        (error, most_shifted): (&[f64], f64),
    ) -> Result<Option<Close>, NoDerivative> {
        let (t, x, mode, k) = (point.t, &point.x[..], &point.mode, guard.event);
        let rate = evaluate::rate(context.system, k, (t, x), mode, &self.field, &mut self.row);
        let own = guard.sign() * rate.value;
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
            self.shift_row(context, point, k)?;
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

    /// Finds the shift of the time of event function `k` as a row on displacements at `point`.
    fn shift_row(
        &mut self,
        context: Context<'_>,
        point: &CornerPoint,
        k: usize,
    ) -> Result<(), NoDerivative> {
        // A row is two evaluations a state variable and more, each perhaps of all guards.
        context.interrupt.check()?;
        let at = (point.t, &point.x[..]);
        let rows = (&mut self.shift[..], &mut self.row[..]);
        let moving = context.row(k, at, &point.mode, rows)?;
        let rate = moving + dot(&self.shift, &self.field);
        for entry in &mut self.shift {
            *entry = -*entry / rate;
        }
        Ok(())
    }
}

/// How far a row leads along an error, whatever the signs.
fn along(row: &[f64], error: &[f64]) -> f64 {
    row.iter().zip(error).map(|(r, e)| (r * e).abs()).sum()
}

/// Whether a guard, by `gap` ahead of its surface before the crossings of `point`, is kept from
/// being crossed after them, where the field is `behind`; `row` is overwritten.
fn left_out(
    context: Context<'_>,
    point: &CornerPoint,
    (guard, gap): (Guard, f64),
    (behind, row): (&[f64], &mut [f64]),
) -> Option<LeftOut> {
    let (system, t, k) = (context.system, point.t, guard.event);
    let (x, mode) = (&point.x_after[..], &point.mode_after);
    let after = evaluate::rate(system, k, (t, x), mode, behind, row);
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
