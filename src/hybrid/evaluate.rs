//! The user's functions as the loop asks for them: rates of guards with their numerical zeros, and
//! finiteness.

use crate::ode::difference::{self, Line};
use crate::{At, EventFunction, Flow, Mode, Quantity, Stop};

/// A point at which the model is asked: a time, a state and a mode.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point<'a> {
    pub(crate) t: f64,
    pub(crate) x: &'a [f64],
    pub(crate) mode: &'a Mode,
}

/// `dh_k/dt` along the flow, and how well `h_k` can be distinguished from zero at this state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    /// `D_x h_k · f + ∂h_k/∂t` (`u_k`/s).
    pub(crate) value: f64,
    /// `Σ |∂h_k/∂x_i · x_i|` (`u_k`): rounding of the state shows in `h_k` as a few units in the
    /// last place of this. Zero when the row is not written.
    pub(crate) magnitude: f64,
    /// The row is written, and in the buffer that was passed.
    pub(crate) written: bool,
    /// The largest value of `h_k` that a difference in its stead used (`u_k`).
    pub(crate) beside: f64,
    /// Size of the rate on the side of the state where it is least, as far as that is known: a jump
    /// of `h_k` close by, as that of a force, is in the difference across it (`u_k`/s).
    pub(crate) least: f64,
}

/// Rate of guard `k` at a point along `field`; by the user's row or by a central difference along
/// the flow. `row` is overwritten.
#[inline]
pub(crate) fn rate<S: Flow + EventFunction + ?Sized>(
    system: &S,
    k: usize,
    point: Point<'_>,
    field: &[f64],
    row: &mut [f64],
) -> Rate {
    if let Some(rate) = rate_by_row(system, k, point, field, row) {
        return rate;
    }
    let Point { t, x, mode } = point;
    let mut beside: f64 = 0.0;
    let h = |t: f64, x: &[f64]| {
        let value = system.event(k, t, x, mode);
        beside = beside.max(value.abs());
        value
    };
    let along = Line {
        t,
        x,
        dt: 1.0,
        dx: field,
    };
    let value = difference::scalar_along(h, along, row);
    Rate {
        value,
        magnitude: 0.0,
        written: false,
        beside,
        least: value.abs(),
    }
}

/// Rate of guard `k` where its row is written, into `row`.
#[inline]
pub(crate) fn rate_by_row<S: EventFunction + ?Sized>(
    system: &S,
    k: usize,
    Point { t, x, mode }: Point<'_>,
    field: &[f64],
    row: &mut [f64],
) -> Option<Rate> {
    let moving = system.gradient(k, t, x, mode, row)?;
    let (mut value, mut magnitude) = (moving, 0.0);
    let n = x.len();
    let (row, field) = (&row[..n], &field[..n]);
    for i in 0..n {
        value += row[i] * field[i];
        magnitude += (row[i] * x[i]).abs();
    }
    Some(Rate {
        value,
        magnitude,
        written: true,
        beside: 0.0,
        least: value.abs(),
    })
}

/// The least rate of a guard, where the user states none, as a part of the largest rate that was
/// seen of it.
pub(crate) const PART_OF_RATE: f64 = 1e-6;

/// The third derivative, of which the error of a difference is made, is taken to be at most so many
/// times the second one.
const THIRD: f64 = 1e-3;

/// Bound of the error of the rate of guard `k` at a point along `field`, by the rounding of its
/// evaluation, or by that of the difference in its stead (`u_k`/s). `magnitude` is that of the
/// terms of `h_k` where its row is not written.
#[cold]
pub(crate) fn rate_error<S: EventFunction + ?Sized>(
    system: &S,
    k: usize,
    Point { t, x, mode }: Point<'_>,
    field: &[f64],
    row: &mut [f64],
    magnitude: f64,
) -> f64 {
    if let Some(moving) = system.gradient(k, t, x, mode, row) {
        let terms = row.iter().zip(field).map(|(r, f)| (r * f).abs());
        return 16.0 * f64::EPSILON * (moving.abs() + terms.sum::<f64>());
    }
    let s = difference::step_along(t, x, 1.0, field);
    let mut at = |s: f64| {
        for i in 0..x.len() {
            row[i] = x[i] + s * field[i];
        }
        system.event(k, t + s, row, mode)
    };
    let (behind, here, ahead) = (at(-s), at(0.0), at(s));
    let terms = magnitude + behind.abs() + ahead.abs();
    (THIRD * (ahead - 2.0 * here + behind).abs() + 16.0 * f64::EPSILON * terms) / (2.0 * s)
}

/// False when some number is not finite, and perhaps when large ones overflow: a closer look is
/// needed then. In four sums, so that they do not wait for each other.
#[inline]
fn are_finite(values: &[f64]) -> bool {
    let mut sums = [0.0; 4];
    let fours = values.chunks_exact(4);
    let rest: f64 = fours.remainder().iter().sum();
    for four in fours {
        for (sum, value) in sums.iter_mut().zip(four) {
            *sum += value;
        }
    }
    (sums.iter().sum::<f64>() + rest).is_finite()
}

/// Refuses a right-hand side that is not finite.
#[inline]
pub(crate) fn check_flow(dx: &[f64], t: f64, x: &[f64], mode: &Mode) -> Result<(), Stop> {
    if are_finite(dx) {
        return Ok(());
    }
    match dx.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(component) => Err(not_finite(Quantity::Flow { component }, t, x, mode)),
    }
}

/// Refuses event functions that are not finite.
#[inline]
pub(crate) fn check_events(h: &[f64], t: f64, x: &[f64], mode: &Mode) -> Result<(), Stop> {
    if are_finite(h) {
        return Ok(());
    }
    match h.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(event) => Err(not_finite(Quantity::Event { event }, t, x, mode)),
    }
}

/// The error for a value that is not finite.
#[cold]
pub(crate) fn not_finite(quantity: Quantity, t: f64, x: &[f64], mode: &Mode) -> Stop {
    Stop::NotFinite {
        quantity,
        at: At::new(t, x, mode).into(),
    }
}
