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
use crate::{Guard, NoDerivative};

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

/// Guards close to those of `point`, which are crossed there by a state whose components may be off
/// by `error`.
///
/// # Errors
/// [`NoDerivative::DifferencesDisagree`] where a row is not known; interrupts.
pub(crate) fn close_guards(
    context: Context<'_>,
    point: &CornerPoint,
    error: &[f64],
) -> Result<Vec<Close>, NoDerivative> {
    let system = context.system;
    let (t, x, mode) = (point.t, &point.x[..], &point.mode);
    let dim = x.len();
    let [mut field, mut behind, mut row, mut shift] = [0, 1, 2, 3].map(|_| vec![0.0; dim]);
    system.flow(t, x, mode, &mut field);
    system.flow(t, &point.x_after, &point.mode_after, &mut behind);
    let mut h = vec![0.0; mode.len()];
    system.events(t, x, mode, &mut h);
    // Rows of the members, once a guard ahead is found, and how far errors shift one of them (s).
    let mut members: Vec<Vec<f64>> = Vec::new();
    let mut most_shifted: f64 = 0.0;
    let along = |row: &[f64]| -> f64 { row.iter().zip(error).map(|(r, e)| (r * e).abs()).sum() };
    let mut found = Vec::new();
    for k in 0..mode.len() {
        let guard = Guard::ahead(k, mode.contains(k));
        let is_member = point.guards.iter().any(|g| g.event == k);
        if is_member || !point.arming_of(system, k).is_armed() {
            continue;
        }
        let rate = evaluate::rate(system, k, (t, x), mode, &field, &mut row);
        let own = guard.sign() * rate.value;
        let gap = -guard.sign() * h[k];
        if own < point.min_rates[k] {
            continue;
        }
        let at_once = gap.abs() <= context.zero(k, t, rate);
        if !at_once && gap < 0.0 {
            continue;
        }
        if members.is_empty() {
            let of_member = |guard: &Guard| shift_row(context, point, &field, guard.event);
            members = point
                .guards
                .iter()
                .map(of_member)
                .collect::<Result<_, _>>()?;
            most_shifted = members.iter().map(|row| along(row)).fold(0.0, f64::max);
        }
        // Two shifts differ by no more than the sum of their sizes: most guards are farther.
        if rate.written && !at_once && gap > ROUNDING * (along(&row) + own * most_shifted) {
            continue;
        }
        if rate.written {
            for (shift, entry) in shift.iter_mut().zip(&row) {
                *shift = -entry / rate.value;
            }
        } else {
            shift = shift_row(context, point, &field, k)?;
        }
        let off = |member: &Vec<f64>| -> f64 {
            let apart = |i: usize| (shift[i] - member[i]).abs() * error[i];
            (0..dim).map(apart).sum()
        };
        let error = members.iter().map(off).fold(0.0, f64::max);
        let apart = gap / own;
        if !at_once && apart > error {
            continue;
        }
        let left_out = left_out(context, point, (guard, gap), (&behind, &mut row));
        found.push(Close {
            guard,
            apart,
            error,
            at_once,
            left_out,
            gap,
        });
    }
    Ok(found)
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

/// The shift of the time of event function `k` as a row on displacements at `point`.
fn shift_row(
    context: Context<'_>,
    point: &CornerPoint,
    field: &[f64],
    k: usize,
) -> Result<Vec<f64>, NoDerivative> {
    // A row is two evaluations a state variable and more, each perhaps of all guards.
    context.interrupt.check()?;
    let (t, x, mode) = (point.t, &point.x[..], &point.mode);
    let mut row = vec![0.0; x.len()];
    let rows = (&mut row[..], &mut vec![0.0; x.len()][..]);
    let moving = context.row(k, (t, x), mode, rows)?;
    let rate = moving + crate::linalg::dot(&row, field);
    Ok(row.iter().map(|entry| -entry / rate).collect())
}
