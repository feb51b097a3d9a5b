//! Rows and curvatures of gaps, as the user wrote them or by differences:
//!
//! ```text
//!     ȧ_j = Da_j v        ä_j = Da_j v̇ + κ_j        q̇ = N(q) v
//! ```
//!
//! Entry `i` of `Da_j` is the derivative of the gap along `N(q) e_i`, and `κ_j` that of `Da_j v`
//! along `N(q) v` with `v` held.

use crate::linalg::dot;
use crate::linalg::scratch::{Cut, with_zeros};
use crate::mechanics::configuration::{is_identity, rate};
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::ode::difference::{coordinate_step, step_along, widest_step};
use crate::ode::straight::{Steps, extrapolated, is_straight, straight};

/// Rounding of a difference of gaps or of their rates, relative to its terms.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// The step of a second difference in steps of a first one, where it is extrapolated: from the cube root of rounding
/// to its fifth root.
const SECOND: f64 = 120.0;

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
    let (slopes, rate, axis) = (cut.take(q.len()), cut.take(q.len()), cut.take(row.len()));
    axis.fill(0.0);
    if !system.configuration_rate(q, axis, rate) {
        if row.len() == q.len() {
            gradient(|q| system.gap(j, q), q, row, rate);
        } else {
            row.fill(f64::NAN);
        }
        return;
    }
    gradient(|q| system.gap(j, q), q, slopes, rate);
    for i in 0..row.len() {
        axis[i] = 1.0;
        system.configuration_rate(q, axis, rate);
        axis[i] = 0.0;
        // Entry i: the derivative of the gap along N(q) e_i.
        row[i] = dot(slopes, rate);
    }
}

/// The derivative of a quantity of the configuration by the coordinates, by differences; `point` has as many
/// entries as `q`.
pub(crate) fn gradient(
    mut of: impl FnMut(&[f64]) -> f64,
    q: &[f64],
    gradient: &mut [f64],
    point: &mut [f64],
) {
    point.copy_from_slice(q);
    let reach = q.iter().fold(1.0f64, |most, q| most.max(q.abs()));
    let mut over = |i: usize, step: f64| {
        // The distance of the two coordinates is exact, the step is not.
        let (behind, ahead) = (q[i] - step, q[i] + step);
        let [ahead_of, behind_of] = [ahead, behind].map(|coordinate| {
            point[i] = coordinate;
            of(point)
        });
        point[i] = q[i];
        (ahead_of - behind_of) / (ahead - behind)
    };
    // The step of a coordinate follows it alone: the others may have another unit and size. It is twice the usual
    // one, so that rounding is no more than that of a single difference.
    let steps = |i: usize| Steps {
        usual: 2.0 * coordinate_step(q[i]),
        longest: 2.0 * coordinate_step(reach),
    };
    with_zeros(q.len(), |far| {
        // All coordinates first: of a term that cancels, as of an angle that a gap adds and subtracts,
        // the slopes by the others say what is rounding.
        let mut largest: f64 = 0.0;
        for (i, (near, far)) in gradient.iter_mut().zip(&mut *far).enumerate() {
            let step = steps(i).usual;
            (*near, *far) = (over(i, step), over(i, 2.0 * step));
            largest = largest.max(near.abs()).max(far.abs());
        }
        let rounding = |step: f64| ROUNDING * reach * largest / step;
        for (i, (slope, far)) in gradient.iter_mut().zip(&*far).enumerate() {
            *slope = if is_straight(steps(i), rounding, [*slope, *far]) {
                extrapolated(*slope, *far)
            } else {
                straight(steps(i), rounding, |step| over(i, step)).0
            };
        }
    });
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
        let terms: f64 = row.iter().zip(v).map(|(r, v)| (r * v).abs()).sum();
        let rate = |q: &[f64]| {
            system.gap_row(j, q, row);
            dot(row, v)
        };
        let line = [q, along];
        // κ = d/ds Da(q + s N v) v, one first difference where the row is written.
        return straight_along(rate, terms, line, moved);
    }
    // A second difference along the motion with v held: its step is longer than that of a first one.
    let steps = Steps {
        usual: SECOND * step_along(0.0, q, 0.0, along),
        longest: SECOND * widest_step(q, along),
    };
    let straight_coordinates = is_identity(system, q, v.len());
    let mut at = |s: f64| {
        let step = if straight_coordinates { s } else { 0.5 * s };
        for i in 0..q.len() {
            point[i] = q[i] + step * along[i];
        }
        if !straight_coordinates {
            // The midpoint rule is off by s³ with a sign, which cancels.
            rate(system, point, v, moved);
            for i in 0..q.len() {
                point[i] = q[i] + s * moved[i];
            }
        }
        system.gap(j, point)
    };
    let here = at(0.0);
    // A gap that is linear has no curvature; rounding of values and coordinates is not one.
    let largest = q.iter().fold(here.abs(), |most, q| q.abs().max(most));
    let rounding = |s: f64| ROUNDING * largest / (s * s);
    let (bent, s) = straight(steps, rounding, |s| {
        // κ = (a(s) − 2 a(0) + a(−s))/s².
        (at(s) - 2.0 * here + at(-s)) / (s * s)
    });
    let bent = if bent.abs() <= rounding(s) { 0.0 } else { bent };
    (bent, rounding(s))
}

/// The derivative of a quantity of the configuration along the line `q + s dq`, whose value is a sum of `terms`, and
/// its rounding. `point` has as many entries as `q`.
pub(crate) fn straight_along(
    mut of: impl FnMut(&[f64]) -> f64,
    terms: f64,
    [q, dq]: [&[f64]; 2],
    point: &mut [f64],
) -> (f64, f64) {
    let mut at = |s: f64| {
        for ((point, q), dq) in point.iter_mut().zip(q).zip(dq) {
            *point = q + s * dq;
        }
        of(point)
    };
    let rounding = |step: f64| ROUNDING * terms / step;
    let steps = Steps {
        usual: step_along(0.0, q, 0.0, dq),
        longest: widest_step(q, dq),
    };
    let (slope, step) = straight(steps, rounding, |step| {
        (at(step) - at(-step)) / (2.0 * step)
    });
    (slope, rounding(step))
}
