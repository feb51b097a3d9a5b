//! Finite differences along a direction, for derivatives that the user did not write.

/// Cube root of the rounding unit: the step of a central difference that balances rounding and
/// truncation.
const CENTRAL: f64 = 6.055454452393343e-6;

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |most, entry| entry.abs().max(most))
}

/// Parameter step for a central difference along `(dt, dx)` from `(t, x)`: moves the state by about
/// `CENTRAL` of its size (or of 1, when it is smaller) and the time likewise. Where components
/// differ in size, what suits the largest is `s_1`, too far for the others by truncation, and what
/// suits each is `s_0`, too short for the largest by rounding: of `s³ = s_0² s_1` both errors are
/// alike.
pub(crate) fn step_along(t: f64, x: &[f64], dt: f64, dx: &[f64]) -> f64 {
    let widest = largest(x).max(1.0) / largest(dx).max(f64::MIN_POSITIVE);
    let each = x
        .iter()
        .zip(dx)
        .map(|(x, dx)| x.abs().max(1.0) / dx.abs().max(f64::MIN_POSITIVE));
    let shortest = each.fold(widest, f64::min);
    let state = if shortest < widest {
        CENTRAL * (shortest * shortest * widest).cbrt()
    } else {
        CENTRAL * widest
    };
    let time = CENTRAL * t.abs().max(1.0) / dt.abs().max(f64::MIN_POSITIVE);
    state.min(time)
}

/// Derivative of the scalar `g` at `(t, x)` along `(dt, dx)`; two evaluations. `point` is
/// overwritten.
pub(crate) fn scalar_along(
    mut g: impl FnMut(f64, &[f64]) -> f64,
    (t, x): (f64, &[f64]),
    (dt, dx): (f64, &[f64]),
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

/// Derivative of the map `g(t, x, out)` at `(t, x)` along `(dt, dx)` with a `part` of the step; two
/// evaluations. `point` and `behind` are overwritten.
pub(crate) fn vector_within<E>(
    part: f64,
    mut g: impl FnMut(f64, &[f64], &mut [f64]) -> Result<(), E>,
    (t, x): (f64, &[f64]),
    (dt, dx): (f64, &[f64]),
    out: &mut [f64],
    (point, behind): (&mut [f64], &mut [f64]),
) -> Result<(), E> {
    let s = part * step_along(t, x, dt, dx);
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
    (t, x): (f64, &[f64]),
    row: &mut [f64],
    point: &mut [f64],
) -> f64 {
    point.copy_from_slice(x);
    for i in 0..x.len() {
        row[i] = slope(x[i], |value| {
            point[i] = value;
            g(t, point)
        });
        point[i] = x[i];
    }
    slope(t, |t| g(t, point))
}

/// The derivative of `g` at `x` from the central differences of two steps. Their errors by
/// truncation, one four times the other, cancel: quantities that cancel, such as the coupling of
/// two contacts, have no part of them that all evaluations share. The steps are twice and four
/// times the usual one, so that rounding is no more than that of a single difference.
fn slope(x: f64, mut g: impl FnMut(f64) -> f64) -> f64 {
    let step = 2.0 * step_along(x, &[], 1.0, &[]);
    let mut over = |step: f64| {
        // The distance of the two coordinates is exact, the step is not.
        let (behind, ahead) = (x - step, x + step);
        (g(ahead) - g(behind)) / (ahead - behind)
    };
    let (near, far) = (over(step), over(2.0 * step));
    near + (near - far) / 3.0
}

/// The same with steps that are shortened until `g` is straight along them; none where it is along
/// none. Six evaluations an entry where no step is shortened. `size(i)` is what is small in
/// coordinate `i`, one where nothing is known of it.
pub(crate) fn resolved_gradient(
    mut g: impl FnMut(f64, &[f64]) -> f64,
    (t, x): (f64, &[f64]),
    size: impl Fn(usize) -> f64,
    row: &mut [f64],
    point: &mut [f64],
) -> Option<f64> {
    let mut moving = gradient(&mut g, (t, x), row, point);
    // What cancels in g leaves its rounding in every entry.
    let terms = row.iter().zip(x).map(|(entry, x)| (entry * x).abs());
    let terms = terms.sum::<f64>() + (moving * t).abs() + g(t, x).abs();
    let terms = if terms.is_finite() { terms } else { 0.0 };
    for axis in (0..x.len()).map(Some).chain([None]) {
        let (entry, here, size) = match axis {
            Some(i) => (&mut row[i], x[i].abs(), size(i)),
            None => (&mut moving, t.abs(), 1.0),
        };
        let step = CENTRAL * here.max(1.0);
        let rounding = 4.0 * f64::EPSILON / ENOUGH * terms / step;
        let parts = Parts {
            start: 1.0,
            user: here.max(size) / here.max(1.0),
            least: LEAST * here / step,
        };
        let found = resolve(
            parts,
            |part, out| {
                out[0] = along_axis(&mut g, (t, x), axis, part, point);
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
fn along_axis(
    g: &mut impl FnMut(f64, &[f64]) -> f64,
    (t, x): (f64, &[f64]),
    axis: Option<usize>,
    part: f64,
    point: &mut [f64],
) -> f64 {
    let here = axis.map_or(t, |i| x[i]);
    let step = part * step_along(0.0, &[here], 0.0, &[1.0]);
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

/// A derivative whose differences over a step and over half of it differ by less than this part
/// needs no other step.
const ENOUGH: f64 = 1e-7;
/// Entries of a derivative smaller than this part of the largest are held to its size.
const SMALL: f64 = 1e-3;
/// A derivative that is known less well than this is not known.
const KNOWN: f64 = 1e-2;
/// A shorter step is taken where it brings the error below this part of what it was.
const BETTER: f64 = 0.125;
/// How often a step is halved.
const MOST_HALVINGS: usize = 50;
/// Shortest step, in parts of what is moved: rounding then is a millionth of the difference.
const LEAST: f64 = 1_048_576.0 * f64::EPSILON;
/// Steps shorter by this part, and by twice that, see almost the same of a function, and another
/// rounding.
const BESIDE: f64 = 1.0 / 64.0;

/// The step with which a derivative is known best.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Resolved {
    /// In parts of the usual step.
    pub(crate) part: f64,
    /// Where that is a shorter one: rounding of the derivative, relative to its size.
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
}

impl Parts {
    /// Those along `(dt, dx)` from `(t, x)`; `size(i)` is what is small in component `i`.
    pub(crate) fn along(
        start: f64,
        (t, x): (f64, &[f64]),
        (dt, dx): (f64, &[f64]),
        size: impl Fn(usize) -> f64,
    ) -> Self {
        let step = step_along(t, x, dt, dx);
        let moved = || (0..x.len()).filter(|&i| dx[i] != 0.0);
        let largest_moved = moved().fold(0.0, |most: f64, i| most.max(x[i].abs()));
        let state = largest_moved / largest(dx).max(f64::MIN_POSITIVE);
        let time = if dt == 0.0 { 0.0 } else { (t / dt).abs() };
        let own = moved().map(|i| x[i].abs().max(size(i)) / dx[i].abs());
        let least = LEAST * state.max(time) / step;
        Self {
            start,
            user: (CENTRAL * own.fold(f64::INFINITY, f64::min) / step).max(least),
            least,
        }
    }
}

/// Derivative of the map `g(t, x, out)`, from states to states, at `(t, x)` along `(dt, dx)`, with
/// a step that is shortened until `g` is straight along it, into the first of three vectors; an
/// entry of it that is known along no step, if there is one. Four evaluations where no step is
/// shortened.
pub(crate) fn resolved_along<E>(
    mut g: impl FnMut(f64, &[f64], &mut [f64]) -> Result<(), E>,
    (t, x): (f64, &[f64]),
    (dt, dx): (f64, &[f64]),
    [out, half, beside]: [&mut [f64]; 3],
    (point, behind): (&mut [f64], &mut [f64]),
) -> Result<Option<usize>, E> {
    let mut within = |part: f64, out: &mut [f64]| {
        vector_within(part, &mut g, (t, x), (dt, dx), out, (point, behind))
    };
    within(1.0, out)?;
    let step = step_along(t, x, dt, dx);
    // Values are rounded as the state is.
    let rounding = |i: usize, part: f64| 4.0 * f64::EPSILON / ENOUGH * x[i].abs() / (part * step);
    let parts = Parts::along(1.0, (t, x), (dt, dx), |_| 1.0);
    let found = resolve(parts, within, rounding, [out, half, beside])?;
    Ok(found.unknown)
}

/// How far differences over steps beside a `part` differ from the one over it: by its rounding, as
/// far as it shows.
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

/// Finds the step of a difference by halves: the usual one where the derivative over half of it is
/// the same, and else that with the least error. `along(part, out)` takes the difference with a
/// part of the usual step. The first of the three vectors holds the derivative with `start`, and at
/// the end that with the part found. `floor(i, part)` is a size to which entry `i` is held at
/// least.
///
/// The error of a difference over `s` is seen by those over `s/2` and `s/4`, its rounding by those
/// beside `s`. A function that oscillates faster than `s` looks as if it were rounded: steps go on
/// to be halved until a derivative is known. One that is flat over `s` and bends close by shows
/// where the user's own scale is given.
pub(crate) fn resolve<E>(
    Parts { start, user, least }: Parts,
    mut along: impl FnMut(f64, &mut [f64]) -> Result<(), E>,
    floor: impl Fn(usize, f64) -> f64,
    [found, half, beside]: [&mut [f64]; 3],
) -> Result<Resolved, E> {
    /// A step, how far the difference over its half is off, and what of that is rounding.
    #[derive(Clone, Copy)]
    struct Level {
        part: f64,
        off: f64,
        /// Where it is off so far.
        worst: usize,
        rounding: f64,
    }
    impl Level {
        fn is_rounding(&self) -> bool {
            self.off.is_finite() && self.off <= 4.0 * self.rounding
        }
    }
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
    let had_size = largest(found) > 0.0;
    let mut best: Option<(Level, f64)> = None;
    let mut before: Option<Level> = None;
    let (mut levels, mut rounded, mut is_lost) = (0, 0, false);
    for _ in 0..=MOST_HALVINGS {
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
        is_lost = had_size && largest(half) == 0.0;
        if is_lost || 0.5 * part < least {
            break;
        }
        before = Some(here);
        part *= 0.5;
        found.copy_from_slice(half);
    }
    let resolved = match best {
        // What is no better by much may be so by chance.
        Some((level, error)) if error <= KNOWN.min(BETTER * doubt) => Resolved {
            part: level.part,
            rounding: level.rounding,
            unknown: None,
        },
        // What is not finite shows by itself.
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
        let (g, at) = (|_: f64, x: &[f64]| g(x[0]), (0.0, &[x][..]));
        let found = resolved_gradient(g, at, |_| size, &mut row, &mut point);
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

    #[test]
    fn what_is_straight_keeps_the_usual_step() {
        let smooth = |x: f64| x.sin() + 0.3 * x * x;
        for x in [0.0, 1e-9, 0.4, 1.7, 1e2] {
            let mut row = [0.0];
            let _ = gradient(|_, x| smooth(x[0]), (0.0, &[x]), &mut row, &mut [0.0]);
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

    #[test]
    fn a_scalar_difference_sees_state_and_time() {
        let g = |t: f64, x: &[f64]| t.sin() * x[0] * x[1];
        let d = scalar_along(g, (0.4, &[2.0, 3.0]), (1.0, &[0.5, -1.0]), &mut [0.0; 2]);
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
        let in_time = gradient(g, (2.0, &[0.0; 3]), &mut row, &mut [0.0; 3]);
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
            let d = scalar_along(g, (0.0, &[size, 0.4]), (0.0, &[1.0, 1.0]), &mut [0.0; 2]);
            let exact = 1e-3 + 0.4f64.cos();
            assert!(
                (d - exact).abs() < 1e-8 * (1e-2 * size).powf(2.0 / 3.0),
                "{size} {d} {exact}"
            );
        }
    }
}
