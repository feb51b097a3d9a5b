//! The step of a finite difference, found by halves: the usual one where the derivative over half of it is the same,
//! and else that with the least error.

use super::difference::{CENTRAL, Line, least_time_step, step_along};
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
pub(super) const LEAST: f64 = 1_048_576.0 * f64::EPSILON;
/// Steps shorter by this part, and by twice that, see almost the same of a function, and another
/// rounding.
const BESIDE: f64 = 1.0 / 64.0;

/// The size of a derivative to which a difference over `step` of values of a `size` is held, so that their rounding is
/// no doubt.
pub(crate) fn rounding_over(size: f64, step: f64) -> f64 {
    4.0 * f64::EPSILON / ENOUGH * size / step
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
