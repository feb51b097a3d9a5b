//! Finite differences along a direction, for derivatives that the user did not write.

use crate::linalg::largest;

/// Cube root of the rounding unit: the step of a central difference that balances rounding and
/// truncation.
pub(crate) const CENTRAL: f64 = 6.055454452393343e-6;

/// What moves no faster stands still; steps along it stay finite.
const STILL: f64 = 1e-250;
/// A step in time is at least this many roundings of the time: the clock shows no less.
const TICKS: f64 = 4.0;

/// A step of length `s` that a clock at time `t` shows as it is: of `t`, `t + s` and `t - s` the
/// differences are exact. Steps of a length that is rounded on the clock would, one after another, let the state
/// drift from its time.
#[inline]
pub(crate) fn on_clock(t: f64, s: f64) -> f64 {
    let t = t.abs();
    (t + s) - t
}

/// Step of a central difference by a coordinate, which follows its size.
pub(crate) fn coordinate_step(here: f64) -> f64 {
    CENTRAL * here.abs().max(1.0)
}

/// Step of a central difference by a coordinate of a function that may bend on a length of one, as that of an angle
/// which counts turns, or on that of the coordinate. A step for the first is too short for the rounding of the second,
/// and one for that is too long for the first: of `s³ = s_0² s_1` both errors are alike. The coordinate is moved by
/// it exactly, so that no rounding grows with the turns.
pub(crate) fn turned_step(here: f64) -> f64 {
    on_clock(here, CENTRAL * here.abs().max(1.0).cbrt())
}

/// The parameter step along `dx` from `x` of such a function, by the largest coordinate.
pub(crate) fn turned_step_along(x: &[f64], dx: &[f64]) -> f64 {
    CENTRAL * largest(x).max(1.0).cbrt() / largest(dx).max(STILL)
}

/// Step of a central difference by the time, on the clock (s). Time has no origin: the step does not
/// grow with the time, but for what its rounding asks.
pub(crate) fn time_step(t: f64) -> f64 {
    on_clock(t, CENTRAL.max(least_time_step(t)))
}

/// The shortest step in time that the clock shows (s).
pub(crate) fn least_time_step(t: f64) -> f64 {
    TICKS * f64::EPSILON * t.abs()
}

/// Parameter step for a central difference along `dx` from `x`: moves the state by about `CENTRAL` of
/// its size (or of 1, when it is smaller). Where components differ in size, what suits the largest is
/// `s_1`, too far for the others by truncation, and what suits each is `s_0`, too short for the
/// largest by rounding: of `s³ = s_0² s_1` both errors are alike.
pub(crate) fn state_step(x: &[f64], dx: &[f64]) -> f64 {
    let widest = widest_step(x, dx);
    let each = x
        .iter()
        .zip(dx)
        .map(|(x, dx)| CENTRAL * x.abs().max(1.0) / dx.abs().max(STILL));
    let shortest = each.fold(widest, f64::min);
    if shortest < widest {
        shortest * (widest / shortest).cbrt()
    } else {
        widest
    }
}

/// The longest parameter step of which a difference along `dx` from `x` may be better for rounding: what suits the
/// largest component.
pub(crate) fn widest_step(x: &[f64], dx: &[f64]) -> f64 {
    CENTRAL * largest(x).max(1.0) / largest(dx).max(STILL)
}

/// Parameter step for a central difference along `(dt, dx)` from `(t, x)`: that of the state, but the
/// time moves by [`time_step`] at most, and so far that the clock shows it.
pub(crate) fn step_along(t: f64, x: &[f64], dt: f64, dx: &[f64]) -> f64 {
    let state = state_step(x, dx);
    if dt == 0.0 {
        return state;
    }
    shown(t, state.min(CENTRAL / dt.abs()), dt)
}

/// The step `s` along a line whose time moves by `dt`, so that the clock shows it.
fn shown(t: f64, s: f64, dt: f64) -> f64 {
    let dt = dt.abs();
    on_clock(t, (s * dt).max(least_time_step(t))) / dt
}

/// A straight line through `(t, x)`, along `(dt, dx)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    pub(crate) t: f64,
    pub(crate) x: &'a [f64],
    pub(crate) dt: f64,
    pub(crate) dx: &'a [f64],
}

impl<'a> Line<'a> {
    /// A line along which time stands still.
    pub(crate) fn at_time(t: f64, x: &'a [f64], dx: &'a [f64]) -> Self {
        Self { t, x, dt: 0.0, dx }
    }
}

/// Derivative of the scalar `g` along a line; two evaluations. `point` is overwritten.
pub(crate) fn scalar_along(
    mut g: impl FnMut(f64, &[f64]) -> f64,
    Line { t, x, dt, dx }: Line<'_>,
    point: &mut [f64],
) -> f64 {
    let s = step_along(t, x, dt, dx);
    let mut at = |s: f64| {
        for i in 0..x.len() {
            point[i] = x[i] + s * dx[i];
        }
        g(t + s * dt, point)
    };
    (at(s) - at(-s)) / (2.0 * s)
}

/// Derivative of the map `g(t, x, out)` along a line with a `part` of the step; two evaluations.
/// `point` and `behind` are overwritten.
pub(crate) fn vector_within<E>(
    part: f64,
    mut g: impl FnMut(f64, &[f64], &mut [f64]) -> Result<(), E>,
    Line { t, x, dt, dx }: Line<'_>,
    out: &mut [f64],
    point: &mut [f64],
    behind: &mut [f64],
) -> Result<(), E> {
    let s = part * step_along(t, x, dt, dx);
    let s = if dt == 0.0 { s } else { shown(t, s, dt) };
    for (s, value) in [(s, &mut *out), (-s, &mut *behind)] {
        for i in 0..x.len() {
            point[i] = x[i] + s * dx[i];
        }
        g(t + s * dt, point, value)?;
    }
    for i in 0..out.len() {
        out[i] = (out[i] - behind[i]) / (2.0 * s);
    }
    Ok(())
}

/// The gradient of the scalar `g` at `(t, x)` into `row`; returns its derivative in time. `point`
/// is overwritten. The step of each coordinate follows that coordinate alone; the others may have
/// another unit and size. Four evaluations a coordinate: what is found is off by rounding, and not
/// by truncation.
pub(crate) fn gradient(
    mut g: impl FnMut(f64, &[f64]) -> f64,
    t: f64,
    x: &[f64],
    row: &mut [f64],
    point: &mut [f64],
) -> f64 {
    point.copy_from_slice(x);
    for i in 0..x.len() {
        row[i] = slope(x[i], coordinate_step(x[i]), |value| {
            point[i] = value;
            g(t, point)
        });
        point[i] = x[i];
    }
    slope(t, time_step(t), |t| g(t, point))
}

/// The derivative of `g` at `x` from the central differences of two steps. Their errors by
/// truncation, one four times the other, cancel: quantities that cancel, such as the coupling of
/// two contacts, have no part of them that all evaluations share. The steps are twice and four
/// times the `usual` one, so that rounding is no more than that of a single difference.
fn slope(x: f64, usual: f64, mut g: impl FnMut(f64) -> f64) -> f64 {
    let step = 2.0 * usual;
    let mut over = |step: f64| {
        // The distance of the two coordinates is exact, the step is not.
        let (behind, ahead) = (x - step, x + step);
        (g(ahead) - g(behind)) / (ahead - behind)
    };
    let (near, far) = (over(step), over(2.0 * step));
    near + (near - far) / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scalar_difference_sees_state_and_time() {
        let g = |t: f64, x: &[f64]| t.sin() * x[0] * x[1];
        let line = Line {
            t: 0.4,
            x: &[2.0, 3.0],
            dt: 1.0,
            dx: &[0.5, -1.0],
        };
        let d = scalar_along(g, line, &mut [0.0; 2]);
        let exact = 0.4f64.cos() * 6.0 + 0.4f64.sin() * (0.5 * 3.0 - 2.0);
        assert!((d - exact).abs() < 1e-9, "{d} {exact}");
    }

    #[test]
    fn gradients_are_off_by_rounding_alone() {
        let sizes = [1.0, 7.0, 30.0];
        let g = |t: f64, x: &[f64]| {
            t * (x.iter().zip(sizes))
                .map(|(x, s)| (s * x).sin())
                .sum::<f64>()
        };
        let mut row = [0.0; 3];
        // Values are small here, and their rounding with them: truncation of one difference would
        // be 6e-12, 3e-10 and 6e-9 of them.
        let in_time = gradient(g, 2.0, &[0.0; 3], &mut row, &mut [0.0; 3]);
        for (found, size) in row.iter().zip(sizes) {
            assert!((found / (2.0 * size) - 1.0).abs() < 1e-14, "{found} {size}");
        }
        assert!(in_time.abs() < 1e-300, "{in_time}");
    }

    #[test]
    fn components_of_other_sizes_do_not_spoil_each_other() {
        // A length in millimetres and an angle, along a direction that moves both.
        let g = |_: f64, x: &[f64]| 1e-3 * x[0] + x[1].sin();
        for size in [1e2, 1e3, 1e4] {
            let x = [size, 0.4];
            let line = Line::at_time(0.0, &x, &[1.0, 1.0]);
            let d = scalar_along(g, line, &mut [0.0; 2]);
            let exact = 1e-3 + 0.4f64.cos();
            assert!(
                (d - exact).abs() < 1e-8 * (1e-2 * size).powf(2.0 / 3.0),
                "{size} {d} {exact}"
            );
        }
    }
}
