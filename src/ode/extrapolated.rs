//! Gradients by differences that are extrapolated to a step of zero (Richardson; Ridders, "Accurate computation of
//! F'(x) and F'(x)F''(x)", 1982): of long steps, so that their rounding is small.

use super::difference::{coordinate_step, time_step};
use super::resolved_difference::along_axis;

/// A rate below this part of its terms: the error of the usual differences, some 1e-10 of these, is one of more than
/// 1e-7 of what is divided by the rate.
pub(crate) const SLOW: f64 = 1e-3;
/// The longest step, in parts of that of a central difference: a fortieth of a coordinate, or of one.
const LONGEST: f64 = 4096.0;
/// Halvings of it, as what is measured may bend on a length far below one: the last step is a hundredth of that of a
/// central difference.
const LEVELS: usize = 19;
/// Of a smooth function the difference over the usual step is off by less than this part of the gradient; where the
/// extrapolated one is farther from it, it has seen something else.
const ALIKE: f64 = 1e-6;

/// Replaces the gradient of `g` at `(t, x)` by one that is known better, where there is one, and writes how far each
/// entry may be off; gives the derivative in time and its error. 40 evaluations an entry.
pub(crate) fn refined_gradient(
    mut g: impl FnMut(f64, &[f64]) -> f64,
    t: f64,
    x: &[f64],
    row: &mut [f64],
    errors: &mut [f64],
    moving: f64,
) -> [f64; 2] {
    let size = row.iter().fold(moving.abs(), |most, a| most.max(a.abs()));
    let mut point = x.to_vec();
    let terms = row.iter().zip(x).map(|(entry, x)| (entry * x).abs());
    let terms = terms.sum::<f64>() + (moving * t).abs() + g(t, x).abs();
    let mut refine = |axis: Option<usize>, usual: f64| {
        let along = |part: f64| along_axis(&mut g, t, x, axis, part, &mut point);
        let step = axis.map_or(time_step(t), |i: usize| coordinate_step(x[i]));
        let [value, error] = extrapolated(along, f64::EPSILON * terms / step);
        let away = (value - usual).abs();
        if away <= ALIKE * size && error < away {
            [value, error]
        } else {
            // The usual one is known no better than this one is.
            let off = if away.is_nan() { size } else { away.max(error) };
            [usual, off]
        }
    };
    for (i, (entry, error)) in row.iter_mut().zip(errors).enumerate() {
        [*entry, *error] = refine(Some(i), *entry);
    }
    refine(None, moving)
}

/// The limit of differences over shorter and shorter steps, given by their parts of the usual one, and how far it may
/// be off: of all extrapolations that which differs least from those it is made of. `rounding` is that over the usual
/// step.
fn extrapolated(mut along: impl FnMut(f64) -> f64, rounding: f64) -> [f64; 2] {
    let (mut best, mut part) = ([f64::NAN, f64::INFINITY], LONGEST);
    let mut before: Vec<f64> = Vec::with_capacity(LEVELS + 1);
    for _ in 0..=LEVELS {
        let mut here = Vec::with_capacity(before.len() + 1);
        here.push(along(part));
        // Differences are even in the step: each column has an order of two more.
        let mut power = 1.0;
        for (j, coarse) in before.iter().enumerate() {
            power *= 4.0;
            let fine = here[j];
            let value = fine + (fine - coarse) / (power - 1.0);
            let error = (value - fine).abs().max((value - coarse).abs());
            // Values over the shortest steps agree by chance.
            let error = error.max(rounding / part);
            if error < best[1] {
                best = [value, error];
            }
            here.push(value);
        }
        part *= 0.5;
        // Beyond where a function is known nothing is extrapolated.
        before = if here[0].is_finite() {
            here
        } else {
            Vec::new()
        };
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gradient of the distance from the origin, which differences know to 1e-11.
    #[test]
    fn gradients_are_known_to_a_few_roundings() {
        for x in [[0.3f64, 0.9], [1e-3, 40.0], [-3.0, 2.0]] {
            let g = |t: f64, x: &[f64]| x[0].hypot(x[1]) + 0.1 * (3.0 * t).sin();
            let r = x[0].hypot(x[1]);
            let (mut row, mut errors) = ([x[0] / r + 1e-9, x[1] / r - 1e-9], [0.0; 2]);
            let moving = 0.3 * (3.0f64 * 0.2).cos();
            let found = refined_gradient(g, 0.2, &x, &mut row, &mut errors, moving + 1e-9);
            for (found, exact, error) in [
                (row[0], x[0] / r, errors[0]),
                (row[1], x[1] / r, errors[1]),
                (found[0], moving, found[1]),
            ] {
                let off = (found - exact).abs();
                assert!(off < 5e-12 && error < 1e-11, "{x:?} {off:e} {error:e}");
            }
        }
    }

    /// Where it has an edge close by, shorter steps are taken; where it is not smooth at all, none.
    #[test]
    fn edges_are_seen() {
        let edge = |at: f64| move |_: f64, x: &[f64]| x[0].sin() + (x[0] - at).max(0.0);
        let (mut row, mut errors) = ([0.5f64.cos() + 1e-10], [0.0]);
        refined_gradient(edge(0.501), 0.0, &[0.5], &mut row, &mut errors, 0.0);
        assert!((row[0] - 0.5f64.cos()).abs() < 1e-11, "{row:?}");
        let (mut row, mut errors) = ([0.5f64.cos() + 1e-10], [0.0]);
        refined_gradient(edge(0.5), 0.0, &[0.5], &mut row, &mut errors, 0.0);
        assert!(errors[0] > 1e-7, "{errors:?}");
    }
}
