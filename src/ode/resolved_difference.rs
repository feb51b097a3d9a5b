//! Finite differences whose step is found: shortened until the function is straight along it.

use super::difference::{
    CENTRAL, Line, coordinate_step, gradient, least_time_step, on_clock, state_step, step_along,
    time_step, vector_within,
};
use crate::linalg::largest;

/// A derivative whose differences over a step and over half of it differ by less than this part
/// needs no other step.
const ENOUGH: f64 = 1e-7;
/// Entries of a derivative smaller than this part of the largest are held to its size.
pub(crate) const SMALL: f64 = 1e-3;
/// A derivative with a relative error above this counts as unresolved.
pub(crate) const KNOWN: f64 = 1e-2;
/// Where terms of order one may cancel, a difference is lost whose rounding by them is more than this part of it:
/// models amplify it.
const CANCELLED: f64 = 1e-4;
/// A shorter step is taken where it brings the error below this part of what it was.
const BETTER: f64 = 0.125;
/// Limit of the halvings of a step.
const MOST_HALVINGS: usize = 50;
/// Shortest step, in parts of what is moved: rounding then is a millionth of the difference.
const LEAST: f64 = 1_048_576.0 * f64::EPSILON;
/// A state moves by its step in so many steps of the time where it is slow.
const SLOW: f64 = 100.0;
/// Steps shorter by this part, and by twice that, see almost the same of a function, and another
/// rounding.
const BESIDE: f64 = 1.0 / 64.0;

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

/// The size of a derivative to which a difference over `step` of values of a `size` is held, so that their rounding is
/// no doubt.
pub(crate) fn rounding_over(size: f64, step: f64) -> f64 {
    4.0 * f64::EPSILON / ENOUGH * size / step
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

/// The step with the least error of the derivative.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolved {
    /// In parts of the usual step.
    pub(crate) part: f64,
    /// Rounding of the derivative, relative to its size, if the step is shorter than the usual one.
    pub(crate) rounding: f64,
    /// An entry of which differences over all steps differ by more than their rounding: it has no
    /// derivative, or none to be seen.
    pub(crate) unknown: Option<usize>,
}

/// Parts of the usual step in which another is looked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Parts {
    /// The first that is tried.
    pub(crate) start: f64,
    /// That which follows what is small to the user.
    pub(crate) user: f64,
    /// The shortest that rounding allows.
    pub(crate) least: f64,
    /// The rounding over the usual step of a difference of terms of order one that may cancel in any value, where
    /// they are doubted: zero elsewhere.
    pub(crate) hidden: f64,
}

impl Parts {
    /// Parts along a line; `size(i)` is what is small in component `i`.
    pub(crate) fn along(
        start: f64,
        Line { t, x, dt, dx }: Line<'_>,
        size: impl Fn(usize) -> f64,
    ) -> Self {
        let step = step_along(t, x, dt, dx);
        let moved = || (0..x.len()).filter(|&i| dx[i] != 0.0);
        let largest_moved = moved().fold(0.0, |most: f64, i| most.max(x[i].abs()));
        let state = largest_moved / largest(dx).max(f64::MIN_POSITIVE);
        // The time has no size, and its step no rounding.
        let time = if dt == 0.0 {
            0.0
        } else {
            least_time_step(t) / dt.abs()
        };
        let own = moved().map(|i| x[i].abs().max(size(i)) / dx[i].abs());
        let least = (LEAST * state).max(time) / step;
        Self {
            start,
            user: (CENTRAL * own.fold(f64::INFINITY, f64::min) / step).max(least),
            least,
            hidden: 0.0,
        }
    }
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

/// Largest difference between differences over steps beside a `part` and the one over it: its
/// rounding, as far as it shows.
fn rounding_beside<E>(
    along: &mut impl FnMut(f64, &mut [f64]) -> Result<(), E>,
    part: f64,
    over: &[f64],
    floor: &impl Fn(usize, f64) -> f64,
    beside: &mut [f64],
) -> Result<f64, E> {
    let mut rounding: f64 = 0.0;
    for side in [1.0 - BESIDE, 1.0 - 2.0 * BESIDE] {
        along(side * part, beside)?;
        rounding = rounding.max(mismatch(over, beside, |i| floor(i, part)).1);
    }
    Ok(rounding)
}

/// A step, how far the difference over its half is off, and what of that is rounding.
#[derive(Clone, Copy)]
struct Level {
    part: f64,
    off: f64,
    /// The entry with this error.
    worst: usize,
    rounding: f64,
    /// The size to which this entry is held, by the derivative: shorter steps have larger ones, beside which all
    /// that is lost in rounding looks alike.
    held_to: f64,
}

impl Level {
    fn is_rounding(&self) -> bool {
        self.off.is_finite() && self.off <= 4.0 * self.rounding
    }

    /// An error by the derivative itself.
    fn own(&self, error: f64) -> f64 {
        error * self.held_to.max(1.0)
    }
}

/// Finds the step of a difference by halves: the usual one where the derivative over half of it is
/// the same, and else that with the least error. `along(part, out)` takes the difference with a
/// part of the usual step. The first of the three vectors holds the derivative with `start`, and at
/// the end that with the part found. `floor(i, part)` is a size to which entry `i` is held at
/// least.
///
/// The error of a difference over `s` is seen by those over `s/2` and `s/4`, its rounding by those
/// beside `s`. A function that oscillates faster than `s` looks as if it were rounded: steps go on
/// to be halved until a derivative is resolved. One that is flat over `s` and bends close by shows
/// where the user's own scale is given.
pub(crate) fn resolve<E>(
    Parts {
        start,
        user,
        least,
        hidden,
    }: Parts,
    mut along: impl FnMut(f64, &mut [f64]) -> Result<(), E>,
    floor: impl Fn(usize, f64) -> f64,
    [found, half, beside]: [&mut [f64]; 3],
) -> Result<Resolved, E> {
    let mut part = start;
    // By how much the derivative with the usual step is in doubt.
    let mut doubt = 0.0;
    if user < 0.5 * start {
        along(user, half)?;
        let (_, off) = mismatch(found, half, |i| floor(i, user));
        if off <= ENOUGH {
            return Ok(Resolved {
                part,
                rounding: 0.0,
                unknown: None,
            });
        }
        let rounding = rounding_beside(&mut along, user, half, &floor, beside)?;
        if off.is_finite() && off > 4.0 * rounding {
            (part, doubt) = (user, off);
            found.copy_from_slice(half);
        }
    }
    let had_size = largest(&*found) > 0.0;
    let mut best: Option<(Level, f64)> = None;
    let mut before: Option<Level> = None;
    let (mut levels, mut rounded, mut is_lost) = (0, 0, false);
    for _ in 0..=MOST_HALVINGS {
        // Where terms that cancel stop to move each other, what is left looks like a derivative.
        if hidden / part > CANCELLED * largest(&*found) {
            break;
        }
        along(0.5 * part, half)?;
        let (worst, off) = mismatch(found, half, |i| floor(i, part));
        if before.is_none() && off <= ENOUGH {
            return Ok(Resolved {
                part,
                rounding: 0.0,
                unknown: None,
            });
        }
        let rounding = rounding_beside(&mut along, part, found, &floor, beside)?;
        if before.is_none() && doubt == 0.0 {
            doubt = off;
        }
        let here = Level {
            part,
            off,
            worst,
            rounding,
            held_to: floor(worst, part) / largest(&*found),
        };
        levels += 1;
        rounded += usize::from(here.is_rounding());
        if let Some(level) = before {
            let error = level.off.max(level.rounding).max(off);
            if best.is_none_or(|(_, least)| error < least) {
                best = Some((level, error));
            }
            let is_rounding = level.is_rounding() && here.is_rounding();
            if error <= ENOUGH || (is_rounding && error <= KNOWN) {
                break;
            }
        }
        // A change that is gone over half the step was one of the last places.
        is_lost = had_size && largest(&*half) == 0.0;
        if is_lost || 0.5 * part < least {
            break;
        }
        before = Some(here);
        part *= 0.5;
        found.copy_from_slice(half);
    }
    let resolved = match best {
        // A level that is no better by much may be so by chance.
        Some((level, error))
            if error <= KNOWN.min(BETTER * doubt)
                && (hidden == 0.0 || level.own(error) <= KNOWN) =>
        {
            Resolved {
                part: level.part,
                rounding: level.rounding,
                unknown: None,
            }
        }
        // A value that is not finite shows by itself.
        _ => Resolved {
            part: start,
            rounding: 0.0,
            unknown: best
                .filter(|(_, error)| {
                    // Of noise some level looks by chance as if it were none.
                    !is_lost && 4 * rounded < levels && *error > KNOWN && error.is_finite()
                })
                .map(|(level, _)| level.worst),
        },
    };
    along(resolved.part, found)?;
    Ok(resolved)
}

/// The entry in which two vectors differ most relative to its size, and by what; infinite where one
/// is not finite.
fn mismatch(a: &[f64], b: &[f64], floor: impl Fn(usize) -> f64) -> (usize, f64) {
    let small = SMALL * largest(a).max(largest(b));
    let mut most = (0, 0.0);
    for (i, (a, b)) in a.iter().zip(b).enumerate() {
        let off = (a - b).abs();
        let part = off / (a.abs().max(b.abs()).max(small) + floor(i));
        let part = if off == 0.0 { 0.0 } else { part };
        let part = if part.is_nan() { f64::INFINITY } else { part };
        if part > most.1 {
            most = (i, part);
        }
    }
    most
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
