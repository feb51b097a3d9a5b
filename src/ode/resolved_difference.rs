//! Finite differences whose step is found: shortened until the function is straight along it.

use super::difference::{
    CENTRAL, Line, coordinate_step, gradient, least_time_step, on_clock, state_step, step_along,
    time_step, vector_within,
};
use super::halved_step::{LEAST, Parts, resolve, rounding_over};
use crate::linalg::largest;

/// A state moves by its step in so many steps of the time where it is slow.
const SLOW: f64 = 100.0;

/// The gradient of the scalar `g` at `(t, x)` into `row`, and its derivative in time, with steps
/// that are shortened until `g` is straight along them; none where it is along none. Six
/// evaluations an entry where no step is shortened. `size(i)` is what is small in coordinate `i`,
/// one where it is not given.
pub(crate) fn resolved_gradient(
    mut g: impl FnMut(f64, &[f64]) -> f64,
    t: f64,
    x: &[f64],
    size: impl Fn(usize) -> f64,
    row: &mut [f64],
    point: &mut [f64],
) -> Option<f64> {
    let mut moving = gradient(&mut g, t, x, row, point);
    // Terms that cancel in g leave their rounding in every entry.
    let terms = row.iter().zip(x).map(|(entry, x)| (entry * x).abs());
    let terms = terms.sum::<f64>() + (moving * t).abs() + g(t, x).abs();
    let terms = if terms.is_finite() { terms } else { 0.0 };
    for axis in (0..x.len()).map(Some).chain([None]) {
        let (entry, step, user, least) = if let Some(i) = axis {
            let (here, step) = (x[i].abs(), coordinate_step(x[i]));
            let user = here.max(size(i)) / here.max(1.0);
            (&mut row[i], step, user, LEAST * here / step)
        } else {
            // The time has no size, and its step no rounding.
            let step = time_step(t);
            (&mut moving, step, 1.0, least_time_step(t) / step)
        };
        let rounding = rounding_over(terms, step);
        let parts = Parts {
            start: 1.0,
            user,
            least,
            hidden: 0.0,
        };
        let found = resolve(
            parts,
            |part, out| {
                out[0] = along_axis(&mut g, t, x, axis, part, point);
                Ok::<(), std::convert::Infallible>(())
            },
            |_, part| rounding / part,
            [std::slice::from_mut(entry), &mut [0.0], &mut [0.0]],
        );
        let Ok(found) = found;
        if found.unknown.is_some() {
            return None;
        }
    }
    Some(moving)
}

/// The derivative of `g` by one coordinate, or by time where there is none, with a `part` of the
/// step. `point` is `x`, and is left so.
pub(super) fn along_axis(
    g: &mut impl FnMut(f64, &[f64]) -> f64,
    t: f64,
    x: &[f64],
    axis: Option<usize>,
    part: f64,
    point: &mut [f64],
) -> f64 {
    let (here, step) = match axis {
        Some(i) => (x[i], part * coordinate_step(x[i])),
        None => (t, on_clock(t, part * time_step(t))),
    };
    // The distance of the two coordinates is exact, the step is not.
    let (behind, ahead) = (here - step, here + step);
    let mut at = |coordinate: f64| match axis {
        Some(i) => {
            point[i] = coordinate;
            let value = g(t, point);
            point[i] = x[i];
            value
        }
        None => g(coordinate, point),
    };
    (at(ahead) - at(behind)) / (ahead - behind)
}

/// Derivative of the map `g(t, x, out)`, from states to states, along a line, with a step that is
/// shortened until `g` is straight along it, into the first of three vectors; returns an entry of
/// it that no step resolves, if there is one. Four evaluations where no step is shortened, and two more where
/// time and state move apart.
pub(crate) fn resolved_along<E>(
    mut g: impl FnMut(f64, &[f64], &mut [f64]) -> Result<(), E>,
    line: Line<'_>,
    [out, half, beside]: [&mut [f64]; 3],
    point: &mut [f64],
    behind: &mut [f64],
) -> Result<Option<usize>, E> {
    let Line { t, x, dt, dx } = line;
    // In one step where both move alike: by less than the clock shows, or so slowly that the state would move by
    // its rounding in the step of the time, the state is moved by itself.
    let time_moved = state_step(x, dx) * dt.abs();
    let is_apart = time_moved < least_time_step(t) || time_moved > SLOW * CENTRAL;
    let both_move = dt != 0.0 && largest(dx) > 0.0;
    let (line, in_time) = if both_move && is_apart {
        let in_time = by_time(&mut g, line, time_moved, point, behind)?;
        (Line { dt: 0.0, ..line }, in_time)
    } else {
        (line, InTime::default())
    };
    let mut within =
        |part: f64, out: &mut [f64]| vector_within(part, &mut g, line, out, point, behind);
    within(1.0, out)?;
    let step = step_along(t, x, line.dt, dx);
    // Values are rounded as the state is.
    let rounding = |i: usize, part: f64| rounding_over(x[i].abs(), part * step);
    let parts = Parts::along(1.0, line, |_| 1.0);
    let found = resolve(parts, within, rounding, [&mut *out, half, beside])?;
    for (out, in_time) in out.iter_mut().zip(in_time.out) {
        *out += dt * in_time;
    }
    Ok(found.unknown.or(in_time.unknown))
}

/// The derivative of `g` by the time alone, with a step of `longest` (s) that is shortened until `g` is straight along
/// it, and an entry that no step resolves.
#[cold]
fn by_time<E>(
    g: &mut impl FnMut(f64, &[f64], &mut [f64]) -> Result<(), E>,
    Line { t, x, .. }: Line<'_>,
    longest: f64,
    point: &mut [f64],
    behind: &mut [f64],
) -> Result<InTime, E> {
    let still = vec![0.0; x.len()];
    let line = Line {
        t,
        x,
        dt: 1.0,
        dx: &still,
    };
    let step = step_along(t, x, 1.0, &still);
    let mut within =
        |part: f64, out: &mut [f64]| vector_within(part, &mut *g, line, out, point, behind);
    let start = (longest / step).max(1.0);
    let [mut out, mut half, mut beside] = [(); 3].map(|()| still.clone());
    within(start, &mut out)?;
    let rounding = |i: usize, part: f64| rounding_over(x[i].abs(), part * step);
    let parts = Parts {
        start,
        user: start,
        least: least_time_step(t) / step,
        hidden: 0.0,
    };
    let found = resolve(parts, within, rounding, [&mut out, &mut half, &mut beside])?;
    Ok(InTime {
        out,
        unknown: found.unknown,
    })
}

/// A derivative by the time alone.
#[derive(Default)]
struct InTime {
    out: Vec<f64>,
    unknown: Option<usize>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(g: impl Fn(f64) -> f64, x: f64) -> Option<f64> {
        resolved_to(1.0, g, x)
    }

    fn resolved_to(size: f64, g: impl Fn(f64) -> f64, x: f64) -> Option<f64> {
        let (mut row, mut point) = ([0.0], [0.0]);
        let g = |_: f64, x: &[f64]| g(x[0]);
        let found = resolved_gradient(g, 0.0, &[x], |_| size, &mut row, &mut point);
        found.map(|_| row[0])
    }

    #[test]
    fn steps_follow_the_scale_on_which_a_function_bends() {
        for k in [1.0, 1e-3, 1e-6, 1e-9, 1e-12] {
            for at in [0.0, 0.3, 1.0, 30.0] {
                let x = at * k;
                let near = |found: Option<f64>, exact: f64| {
                    let off = found.map(|found| (found - exact).abs());
                    assert!(
                        off.is_some_and(|off| off < 1e-6 / k),
                        "{k:e} {at} {found:?} {exact:e}"
                    );
                };
                near(resolved(|x| x / (k + x.abs()), x), k / (k + x).powi(2));
                let hill = 2.0 * at / (1.0 + at * at).powi(2) / k;
                // Flat to the last bit over the usual step.
                near(resolved_to(k, |x| x * x / (k * k + x * x), x), hill);
                near(resolved(|x| (x / k).sin(), x), at.cos() / k);
            }
        }
    }

    /// Along with the state the time moves by less than its rounding.
    #[test]
    fn time_that_hardly_moves_has_its_part() {
        for (t, dt) in [(1e6, 1e-4), (1e9, 1e-2), (1e9, -0.1)] {
            let g = |at: f64, x: &[f64], out: &mut [f64]| {
                out[0] = x[0] + (3.0 * (at - t)).sin();
                Ok::<(), std::convert::Infallible>(())
            };
            let (x, dx) = ([0.5], [1.0]);
            let line = Line {
                t,
                x: &x,
                dt,
                dx: &dx,
            };
            let (mut out, mut half, mut beside) = ([0.0], [0.0], [0.0]);
            let all = [&mut out[..], &mut half[..], &mut beside[..]];
            let found = resolved_along(g, line, all, &mut [0.0], &mut [0.0]);
            assert_eq!(found, Ok(None));
            let off = (out[0] - 1.0 - 3.0 * dt).abs();
            assert!(off < 1e-9, "{t:e} {dt:e} {off:e}");
        }
    }

    #[test]
    fn what_is_straight_keeps_the_usual_step() {
        let smooth = |x: f64| x.sin() + 0.3 * x * x;
        for x in [0.0, 1e-9, 0.4, 1.7, 1e2] {
            let mut row = [0.0];
            let _ = gradient(|_, x| smooth(x[0]), 0.0, &[x], &mut row, &mut [0.0]);
            assert_eq!(resolved(smooth, x), Some(row[0]), "{x}");
        }
        assert_eq!(resolved(|_| 0.1, 0.2), Some(0.0));
    }

    #[test]
    fn noise_does_not_shorten_steps_by_much() {
        for noise in [1e-12, 1e-10, 1e-8] {
            for k in 0..1000 {
                let x = 2.0 + 1.37e-3 * f64::from(k);
                let size = noise / f64::EPSILON;
                let found = resolved(|x| (x.sin() + size) - size, x);
                let off = found.map(|found| (found - x.cos()).abs());
                // Once the rounding over the usual step, and once more that over the shortest that
                // is tried then.
                let allowed = 8.0 * noise / (CENTRAL * x);
                assert!(
                    off.is_some_and(|off| off < allowed),
                    "{noise:e} {x} {off:?} {allowed:e}"
                );
            }
        }
    }

    #[test]
    fn where_there_is_no_derivative_none_is_found() {
        assert_eq!(resolved(f64::cbrt, 0.0), None);
        assert_eq!(resolved(|x| if x > 0.2 { 1.0 } else { 0.0 }, 0.2), None);
        // Not finite close by, but here.
        let root = resolved(f64::sqrt, 1e-8);
        assert!(
            root.is_some_and(|root| (root - 5e3).abs() < 1e-3),
            "{root:?}"
        );
        assert!(resolved(|_| f64::NAN, 1.0).is_some_and(f64::is_nan));
    }
}
