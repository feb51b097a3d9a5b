//! Differences by a parameter. Its size is the only scale that it shows: steps are parts of that, so that no parameter
//! changes its sign. Where the usual one is lost in rounding, the longer one is taken that agrees best with its
//! neighbours, or, where rounding may hide all, the longest that does; of a parameter that is zero steps are shortened
//! until the function is straight along them.

use crate::linalg::largest;
use crate::ode::difference::coordinate_step;
use crate::ode::halved_step::{KNOWN, Parts, SMALL, resolve, rounding_over};

/// A difference is lost in rounding where this may be more than this part of it.
const ROUNDED: f64 = 1e-6;
/// Rounding shows between steps of which one is shorter by this part.
const BESIDE: f64 = 1.0 / 64.0;
/// A slope by which a value changes by this part of itself where the parameter doubles is none: differences agree
/// where they differ by [`KNOWN`] of that.
const FLAT: f64 = 1e-5;
/// Of values that are smaller than others by this factor only this part of those counts.
const PART: f64 = 0.1;
/// Smaller parts of the largest value are rests of what cancels.
const REST: f64 = 1e-14;
/// Steps that are too short grow by this factor.
const LONGER: f64 = 8.0;
/// The longest step, in parts of a parameter; of one that is zero the longest is one.
const LONGEST: f64 = 0.5;
/// Terms of this size may cancel in any value.
const HIDDEN: f64 = 1.0;
/// Smaller parameters do nothing to values of order one, whatever these make of them.
const LOST: f64 = 1e-15;
/// Smaller ones have no steps, and count as zero.
const TINY: f64 = 1e-290;

/// The model refuses a value of the parameter.
struct Refused;

/// The derivative of `g(p, out)` by the parameter `p` at `here` into `out`; false where `g` refuses a value, which it
/// says by false, or where no steps tell. Four evaluations where the usual step does, and some fifty where it is lost
/// in rounding, as that of a model which takes differences itself. `terms` is the size of what is known to cancel in
/// `g`.
///
/// A parameter that changes nothing over the usual step counts as one on which nothing depends; where rounding may hide
/// more than a millionth over that, nor over the longest one. It may be so small that this says nothing.
pub(super) fn by_parameter(
    here: f64,
    terms: f64,
    out: &mut [f64],
    g: impl FnMut(f64, &mut [f64]) -> bool,
) -> bool {
    let is_zero = here.abs() < TINY;
    let (step, longest) = if is_zero {
        (coordinate_step(0.0), 1.0)
    } else {
        (coordinate_step(0.0) * here.abs(), LONGEST * here.abs())
    };
    let mut differences = Differences {
        here,
        g,
        terms,
        size: vec![0.0; out.len()],
        behind: vec![0.0; out.len()],
    };
    if differences.over(step, out).is_err() {
        return false;
    }
    // Values that are no numbers show by themselves.
    if !out.iter().all(|d| d.is_finite()) {
        return true;
    }
    let mut rounding: Vec<f64> = (differences.size.iter())
        .map(|size| f64::EPSILON * size.max(terms) / step)
        .collect();
    let mut beside = vec![0.0; out.len()];
    if largest(&*out) == 0.0 {
        if is_zero {
            if !differences.best(step, longest, &rounding, out) {
                out.fill(0.0);
            }
            return true;
        }
        let is_hidden = rounding_of(differences.largest(), step) > ROUNDED;
        return (!is_hidden || differences.emerges(step, longest, out)) && here.abs() > LOST;
    }
    let shorter = differences.over((1.0 - BESIDE) * step, &mut beside);
    // A rest of what cancels says nothing, and has no slope that matters.
    let least = REST * differences.largest();
    let seen = |i: usize, off: f64| {
        if differences.size(i) > least {
            off
        } else {
            0.0
        }
    };
    let mut is_lost = is_off(out, |i| seen(i, rounding[i]));
    is_lost |= shorter.is_ok() && is_off(out, |i| seen(i, (out[i] - beside[i]).abs()));
    if !is_zero {
        if !is_lost {
            return true;
        }
        if rounding_of(differences.largest(), step) > KNOWN * largest(&*out).max(1.0) {
            return differences.emerges(step, longest, out);
        }
        differences.raise(step, out, &mut rounding);
        return differences.best(step, longest, &rounding, out);
    }
    // A function that bends on the step differs beside it too; one that is rounded does so over all shorter ones.
    let parts = Parts {
        start: 1.0,
        user: 1.0,
        least: 0.0,
        hidden: f64::EPSILON * HIDDEN / step,
    };
    let (first, mut half) = (out.to_vec(), vec![0.0; out.len()]);
    let size: Vec<f64> = rounding
        .iter()
        .map(|part| part * step / f64::EPSILON)
        .collect();
    let floor = |i: usize, part: f64| rounding_over(size[i], part * step);
    let along = |part: f64, out: &mut [f64]| differences.over(part * step, out);
    let found = resolve(parts, along, floor, [&mut *out, &mut half, &mut beside]);
    if found.is_ok_and(|found| found.unknown.is_none() && (!is_lost || found.part < 1.0)) {
        return true;
    }
    out.copy_from_slice(&first);
    differences.best(step, longest, &rounding, out)
}

/// Central differences of a function of a parameter.
struct Differences<G> {
    here: f64,
    g: G,
    /// Of what is known to cancel in them.
    terms: f64,
    /// Of the values that the last difference is of.
    size: Vec<f64>,
    behind: Vec<f64>,
}

impl<G: FnMut(f64, &mut [f64]) -> bool> Differences<G> {
    fn over(&mut self, step: f64, out: &mut [f64]) -> Result<(), Refused> {
        // The distance of the two values is exact, the step is not.
        let (low, high) = (self.here - step, self.here + step);
        if !((self.g)(high, out) && (self.g)(low, &mut self.behind)) {
            return Err(Refused);
        }
        for (i, (out, behind)) in out.iter_mut().zip(&self.behind).enumerate() {
            self.size[i] = out.abs().max(behind.abs());
            *out = (*out - behind) / (high - low);
        }
        Ok(())
    }

    /// The difference over the longest step that agrees with that over a shorter one and is known, where over `usual`,
    /// the first of all, nothing shows; false where none is. Nothing over the longest is nothing.
    #[cold]
    fn emerges(&mut self, usual: f64, longest: f64, out: &mut [f64]) -> bool {
        let (mut step, mut shorter) = (longest, out.to_vec());
        let mut is_made = self.over(step, out).is_ok();
        let shows: Vec<bool> = out.iter().map(|d| !is_made || *d != 0.0).collect();
        while step > usual {
            step /= LONGER;
            let is_shorter_made = self.over(step, &mut shorter).is_ok();
            let agrees = |i: usize, a: f64, b: f64| {
                let rounding = rounding_of(self.size(i), step);
                let is_known = !shows[i] || rounding <= KNOWN * b.abs().max(1.0);
                is_known && (a - b).abs() <= rounding + KNOWN * b.abs()
            };
            let mut each = shorter.iter().zip(&*out).enumerate();
            if is_made && is_shorter_made && each.all(|(i, (a, b))| agrees(i, *a, *b)) {
                return true;
            }
            out.copy_from_slice(&shorter);
            is_made = is_shorter_made;
        }
        false
    }

    /// Raises the rounding of the difference over a step to how far those over steps beside it are off: the values hide
    /// it, and two differences may agree by chance.
    #[cold]
    fn raise(&mut self, step: f64, out: &[f64], rounding: &mut [f64]) {
        let mut beside = out.to_vec();
        for k in 1..=4 {
            let part = 1.0 - f64::from(k) * BESIDE;
            if self.over(part * step, &mut beside).is_ok() {
                for ((rounding, d), beside) in rounding.iter_mut().zip(out).zip(&beside) {
                    *rounding = rounding.max((d - beside).abs());
                }
            }
        }
    }

    fn size(&self, i: usize) -> f64 {
        self.size[i].max(self.terms)
    }

    fn largest(&self) -> f64 {
        largest(&self.size).max(self.terms)
    }

    /// Of steps from one on to the longest the difference that is closest to those over the steps beside it, by its
    /// size; false where none is close to them, or none agrees with that over the first step, which is in `out` with
    /// its `rounding`.
    #[cold]
    fn best(&mut self, mut step: f64, longest: f64, rounding: &[f64], out: &mut [f64]) -> bool {
        let (first, [mut here, mut next]) = (out.to_vec(), [(); 2].map(|()| out.to_vec()));
        let (mut least, mut off_before) = (f64::INFINITY, f64::INFINITY);
        // A motion that begins far from here is none of it.
        let agrees = |found: &[f64]| {
            let mut each = found.iter().zip(&first).zip(rounding);
            each.all(|((d, first), rounding)| (d - first).abs() <= 4.0 * rounding + KNOWN * d.abs())
        };
        while step < longest {
            step = (LONGER * step).min(longest);
            if self.over(step, &mut next).is_err() {
                break;
            }
            let flat = |i: usize| match self.here.abs() {
                here if here < TINY => 0.0,
                here => FLAT * self.size(i).max(PART * self.largest()) / here,
            };
            let off = part_between(&here, &next, flat);
            let error = off_before.max(off);
            // Zero is found by a step that changes nothing.
            if error < least && largest(&here) > 0.0 && agrees(&here) {
                least = error;
                out.copy_from_slice(&here);
            }
            off_before = off;
            std::mem::swap(&mut here, &mut next);
        }
        // Beside the longest step there is one on one side. Nothing over both is nothing.
        if off_before < least && agrees(&here) {
            least = off_before;
            out.copy_from_slice(&here);
        }
        least <= KNOWN
    }
}

/// The rounding of a difference over a step of values of a `size`, and of terms that cancel in them.
fn rounding_of(size: f64, step: f64) -> f64 {
    f64::EPSILON * size.max(HIDDEN) / step
}

/// True where entries are off by a part that matters.
fn is_off(out: &[f64], off: impl Fn(usize) -> f64) -> bool {
    let small = SMALL * largest(out);
    let mut each = out.iter().enumerate();
    each.any(|(i, d)| *d != 0.0 && off(i) > ROUNDED * d.abs().max(small))
}

/// By which part of their size two differences differ at most, of those that are more than `flat`.
fn part_between(a: &[f64], b: &[f64], flat: impl Fn(usize) -> f64) -> f64 {
    let small = SMALL * largest(a).max(largest(b));
    let each = a.iter().zip(b).enumerate();
    let each = each.map(|(i, (a, b))| match (a - b).abs() {
        0.0 => 0.0,
        apart if apart.is_finite() => apart / a.abs().max(b.abs()).max(small).max(flat(i)),
        // No number: it agrees with nothing.
        _ => f64::INFINITY,
    });
    each.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tanh(a + p/s)` in one component, beside one that does not depend on it; of order one, and as a rest of what
    /// cancels, as guards are where they are crossed.
    #[test]
    fn parameters_of_any_size_have_their_derivatives() {
        for s in [1e-12, 1e-9, 1e-5, 1.0, 1e6, 1e9] {
            for p in [0.0, 1e-12, 1e-10, 1e-8, 1e-3, 1.0, 30.0].map(|part| part * s) {
                for rest in [0.0, f64::tanh(0.4 + p / s)] {
                    let mut out = [0.0; 2];
                    let found = by_parameter(p, rest, &mut out, |p, out| {
                        out.copy_from_slice(&[(0.4 + p / s).tanh() - rest, 0.3]);
                        true
                    });
                    let exact = (1.0 - (0.4 + p / s).tanh().powi(2)) / s;
                    let off = (out[0] - exact).abs();
                    // The longest step leaves so much rounding.
                    let allowed = 1e-5 * exact + f64::EPSILON / if p == 0.0 { 1.0 } else { p };
                    let what = format!("{s:e} {p:e} {rest} {out:?} {exact:e}");
                    assert!(found && off < allowed && out[1] == 0.0, "{what}");
                }
            }
        }
    }

    #[test]
    fn a_parameter_that_is_too_small_to_tell_is_not_told() {
        for p in [1e-20, 1e-17] {
            let tanh = |p: f64, out: &mut [f64]| {
                out[0] = (0.4 + p).tanh();
                true
            };
            assert!(!by_parameter(p, 0.0, &mut [0.0], tanh), "{p:e}");
        }
        // Numbers without a normal form have no steps.
        let mut out = [0.0];
        let line = |p: f64, out: &mut [f64]| {
            out[0] = 3.0 * p;
            true
        };
        assert!(by_parameter(5e-324, 0.0, &mut out, line) && (out[0] - 3.0).abs() < 1e-9);
    }

    /// A sum that rounds the parameter away over the usual step, as it is and as a rest of what cancels, beside a value
    /// that does not depend on it.
    #[test]
    fn a_slope_that_is_lost_in_a_sum_shows_over_half_of_the_parameter() {
        for power in 3..170 {
            let p = 10f64.powf(-0.1 * f64::from(power));
            for rest in [0.0, 1.0] {
                let mut out = [0.0; 2];
                let found = by_parameter(p, 0.0, &mut out, |q, out| {
                    out.copy_from_slice(&[(1.0 + q) - rest, 1e6 * (1.0 - rest)]);
                    true
                });
                let is_right = (out[0] - 1.0).abs() < KNOWN && out[1] == 0.0;
                let what = format!("{p:e} {rest} {out:?}");
                assert!(found == (p > 3.6e-13) && (is_right || !found), "{what}");
            }
        }
    }

    /// A model that refuses half of it more allows a shorter step, of which less is known.
    #[test]
    fn a_slope_that_is_lost_in_a_sum_shows_as_far_as_the_model_allows() {
        for power in 95..150 {
            let p = 10f64.powf(-0.1 * f64::from(power));
            let mut out = [0.0];
            let found = by_parameter(p, 0.0, &mut out, |q, out| {
                out[0] = 1.0 + q;
                q < 1.3 * p
            });
            let is_right = (out[0] - 1.0).abs() < KNOWN;
            assert!(
                found == (p > 2.9e-12) && (is_right || !found),
                "{p:e} {out:?}"
            );
        }
    }

    #[test]
    fn a_kink_within_half_of_a_small_parameter_is_none_of_it() {
        for power in 50..150 {
            let p = 10f64.powf(-0.1 * f64::from(power));
            for part in [0.02, 0.1, 0.3, 0.45] {
                let mut out = [f64::NAN];
                let found = by_parameter(p, 0.0, &mut out, |q, out| {
                    out[0] = 1.0 + (q - p * (1.0 + part)).max(0.0);
                    true
                });
                // One that begins near its end is seen as a slope of this size at most.
                let is_right = out[0].abs() < KNOWN;
                assert!(
                    if found { is_right } else { p < 1e-10 },
                    "{p:e} {part} {out:?}"
                );
            }
        }
    }

    /// A contact, a valve, a clamp: nothing depends on the parameter here, and much elsewhere.
    #[test]
    fn a_kink_that_is_far_from_here_is_none_of_it() {
        for (p, kink) in [
            (1e-3, 2e-3),
            (1e-4, 1e-3),
            (1.0, 1.0001),
            (0.01, 0.0101),
            (0.0, 0.5),
        ] {
            for size in [0.0, 1.0, 1e3] {
                let mut out = [0.0];
                let found = by_parameter(p, 0.0, &mut out, |p, out| {
                    out[0] = size + 1e3 * (p - kink).max(0.0);
                    true
                });
                assert!(found && out == [0.0], "{p} {kink} {size} {out:?}");
            }
        }
    }

    /// `g` at `p`: what is found is off by at most `allowed`, or nothing is.
    fn is_right_or_refused(p: f64, exact: f64, allowed: f64, g: impl Fn(f64) -> f64) {
        let mut out = [0.0];
        let found = by_parameter(p, 0.0, &mut out, |p, out| {
            out[0] = g(p);
            true
        });
        assert!(!found || (out[0] - exact).abs() <= allowed, "{p:e} {out:?}");
    }

    /// Terms that cancel within the function do not show in its values.
    #[test]
    fn rounding_that_the_values_hide_shows_between_steps() {
        for p in [1e-5, 1e-4] {
            let hidden = |p: f64| (1e6 + p) - 1e6;
            // The longest step leaves half a unit in the last place of 1e6 at each end.
            is_right_or_refused(p, 1.0, 1.2e-10 / p, hidden);
        }
    }

    /// A number in [−1, 1) that depends on the last bits of `p`.
    fn noise(p: f64) -> f64 {
        let mixed = p.to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed >> 12) as f64 * 2f64.powi(-51) - 1.0
    }

    /// A model that takes differences itself is rounded by more than its values show.
    #[test]
    fn rounding_of_what_the_model_differences_is_no_slope() {
        for p in [0.3, 0.7, 1.3, 4.0] {
            for (slope, size) in [(0.0, 1e-9), (0.0, 1e-8), (1.0, 1e-9), (0.01, 1e-10)] {
                let mut out = [0.0];
                let found = by_parameter(p, 0.0, &mut out, |q, out| {
                    out[0] = 1.0 + slope * q + size * noise(q);
                    true
                });
                let off = (out[0] - slope).abs();
                assert!(found && off < 1e-6, "{p} {slope} {size:e} {out:?}");
            }
        }
    }

    /// As the speed of a contact behind a plastic impact, by the mass.
    #[test]
    fn a_rest_of_what_cancels_has_no_slope() {
        let mut state = 7u64;
        for k in 0..500 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            let p = 0.1 + (state >> 40) as f64 * 1e-6;
            let v = 1.0 + f64::from(k) * 0.013;
            for rest in [0.0, 1e-9] {
                let mut out = [0.0; 3];
                let found = by_parameter(p, 0.0, &mut out, |p, out| {
                    let left = v - (1.0 / p) * (p * v);
                    out.copy_from_slice(&[0.0, 1.0, left + rest * noise(p)]);
                    true
                });
                assert!(found && out[2].abs() < 1e-7 / p, "{p} {v} {rest} {out:?}");
            }
        }
        // A guard is a rest of its terms.
        for p in [0.3, 0.7, 4.0] {
            let mut out = [0.0];
            let found = by_parameter(p, 1.0, &mut out, |p, out| {
                out[0] = 1e-9 * noise(p);
                true
            });
            assert!(found && out[0].abs() < 1e-7 / p, "{p} {out:?}");
        }
    }

    #[test]
    fn a_slope_that_agrees_with_its_neighbours_alone_is_not_taken() {
        for (p, after) in [(1e-3, 1e-7), (1e-3, 1e-6), (1.0, 1e-4)] {
            let line = |q: f64| 1e3 + 0.1 * q + 1e3 * (q - p - after).max(0.0);
            is_right_or_refused(p, 0.1, 1e-3, line);
        }
    }

    #[test]
    fn values_that_are_no_numbers_agree_with_nothing() {
        let whole = |p: f64| 1e3 + p;
        for from in [1e-6, 1e-5, 1e-4] {
            let cut = |q: f64| if q > 1e-3 + from { f64::NAN } else { whole(q) };
            is_right_or_refused(1e-3, 1.0, 1e-3, cut);
        }
        for (a, b) in [(f64::NAN, 0.0), (f64::NAN, f64::NAN), (1.0, f64::INFINITY)] {
            assert!(part_between(&[a, 1.0], &[b, 1.0], |_| 0.0) > 1e300);
        }
    }

    #[test]
    fn a_parameter_that_must_not_change_its_sign_does_not() {
        for p in [1e-9, 1e-3, 0.7, 40.0] {
            let mut out = [0.0; 2];
            let found = by_parameter(p, 0.0, &mut out, |p, out| {
                assert!(p > 0.0);
                out.copy_from_slice(&[1e6 + p.sqrt(), 2.0]);
                true
            });
            let (exact, rounding) = (0.5 / p.sqrt(), 1e6 * f64::EPSILON / p);
            let off = (out[0] - exact).abs();
            assert!(
                !found || off <= 0.01 * exact + 4.0 * rounding,
                "{p:e} {out:?}"
            );
        }
    }

    /// Steps from zero may be as short as numbers are, and what terms of order one leave looks straight over some.
    #[test]
    fn what_rounding_leaves_is_no_slope_of_a_parameter_that_is_zero() {
        let mut out = [0.0; 2];
        let cancels = |p: f64, out: &mut [f64]| {
            out.copy_from_slice(&[((10.0 + 0.3 * p) - 10.0) - 0.3 * p, 0.0]);
            true
        };
        assert!(!by_parameter(0.0, 0.0, &mut out, cancels) || out[0].abs() < 1e-8);
    }
}
