//! Rows and curvatures of gaps, as the user wrote them or by differences:
//!
//! ```text
//!     ȧ_j = Da_j v        ä_j = Da_j v̇ + κ_j        q̇ = N(q) v
//! ```
//!
//! Entry `i` of `Da_j` is the derivative of the gap along `N(q) e_i`, and `κ_j` that of `Da_j v`
//! along `N(q) v` with `v` held.

use crate::linalg::dot;
use crate::linalg::scratch::Cut;
use crate::mechanics::configuration::{is_identity, rate};
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::ode::difference::{self, Line};

/// Rounding of a difference of gaps or of their rates, relative to its terms.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// Size of the scratch space of a row or a curvature.
pub(crate) fn work_size(coordinates: usize, dof: usize) -> usize {
    3 * coordinates + dof
}

/// The row `Da_j(q)`, written (true) or by differences; `work` has [`work_size`] entries.
pub(crate) fn gap_row<S: MechanicalSystem + UnilateralConstraints + ?Sized>(
    system: &S,
    j: usize,
    q: &[f64],
    row: &mut [f64],
    work: &mut [f64],
) -> bool {
    let written = system.gap_row(j, q, row);
    if !written {
        row_by_differences(system, j, q, row, work);
    }
    written
}

fn row_by_differences<S: MechanicalSystem + UnilateralConstraints + ?Sized>(
    system: &S,
    j: usize,
    q: &[f64],
    row: &mut [f64],
    work: &mut [f64],
) {
    let mut cut = Cut(work);
    let (gradient, rate, axis) = (cut.take(q.len()), cut.take(q.len()), cut.take(row.len()));
    axis.fill(0.0);
    if !system.configuration_rate(q, axis, rate) {
        if row.len() == q.len() {
            gap_gradient(system, j, q, row, rate);
        } else {
            row.fill(f64::NAN);
        }
        return;
    }
    gap_gradient(system, j, q, gradient, rate);
    for i in 0..row.len() {
        axis[i] = 1.0;
        system.configuration_rate(q, axis, rate);
        axis[i] = 0.0;
        // Entry i: the derivative of the gap along N(q) e_i.
        row[i] = dot(gradient, rate);
    }
}

/// The derivative of a gap by the coordinates, by differences; `point` has as many entries as `q`.
pub(crate) fn gap_gradient<S: UnilateralConstraints + ?Sized>(
    system: &S,
    j: usize,
    q: &[f64],
    gradient: &mut [f64],
    point: &mut [f64],
) {
    difference::gradient(|_, q| system.gap(j, q), 0.0, q, gradient, point);
}

/// `κ_j`, written, or the difference of `Da_j v` along `N(q) v`; and its rounding. `work` has
/// [`work_size`] entries.
pub(crate) fn curvature<S: MechanicalSystem + UnilateralConstraints + ?Sized>(
    system: &S,
    j: usize,
    q: &[f64],
    v: &[f64],
    work: &mut [f64],
) -> (f64, f64) {
    if system.constant_row(j) {
        return (0.0, 0.0);
    }
    if let Some(written) = system.curvature(j, q, v) {
        return (written, 0.0);
    }
    if v.iter().all(|&v| v == 0.0) {
        return (0.0, 0.0);
    }
    let mut cut = Cut(work);
    let (along, row) = (cut.take(q.len()), cut.take(v.len()));
    let (point, moved) = (cut.take(q.len()), cut.take(q.len()));
    rate(system, q, v, along);
    if system.gap_row(j, q, row) {
        let rate = |_: f64, q: &[f64]| {
            system.gap_row(j, q, row);
            dot(row, v)
        };
        let line = Line::at_time(0.0, q, along);
        // κ = d/ds Da(q + s N v) v, one first difference where the row is written.
        let bent = difference::scalar_along(rate, line, moved);
        let terms: f64 = row.iter().zip(v).map(|(r, v)| (r * v).abs()).sum();
        let rounding = ROUNDING * terms / difference::step_along(0.0, q, 0.0, along);
        return (bent, rounding);
    }
    // A second difference along the motion with v held: the step is the fourth root of rounding.
    let s = difference::step_along(0.0, q, 0.0, along).powf(0.75);
    let straight = is_identity(system, q, v.len());
    let mut at = |s: f64| {
        let step = if straight { s } else { 0.5 * s };
        for i in 0..q.len() {
            point[i] = q[i] + step * along[i];
        }
        if !straight {
            // The midpoint rule is off by s³ with a sign, which cancels.
            rate(system, point, v, moved);
            for i in 0..q.len() {
                point[i] = q[i] + s * moved[i];
            }
        }
        system.gap(j, point)
    };
    let (ahead, here, behind) = (at(s), at(0.0), at(-s));
    // κ = (a(s) − 2 a(0) + a(−s))/s².
    let bent = ahead - 2.0 * here + behind;
    // A gap that is linear has no curvature; rounding of values and coordinates is not one.
    let largest = q.iter().fold(here.abs(), |most, q| q.abs().max(most));
    let rounding = ROUNDING * largest;
    if bent.abs() <= rounding {
        return (0.0, rounding / (s * s));
    }
    (bent / (s * s), rounding / (s * s))
}
