//! Differences by a parameter. Its size is the only scale that it shows: the step follows that alone, so that no
//! parameter changes its sign. Where such a step is lost in rounding the longer one is taken that agrees best with its
//! neighbours; of a parameter that is zero steps are shortened until the function is straight along them.

use crate::ode::difference::coordinate_step;
use crate::ode::resolved_difference::{KNOWN, Parts, SMALL, resolve, rounding_over};

/// A difference is lost in rounding where this may be more than this part of it.
const ROUNDED: f64 = 1e-6;
/// Rounding shows between steps of which one is shorter by this part.
const BESIDE: f64 = 1.0 / 64.0;
/// Over shorter steps values of order one are rounded by more than is to be lost.
const SHORT: f64 = 1e-9;
/// Steps that are too short grow by this factor.
const LONGER: f64 = 8.0;

/// The model refuses a value of the parameter.
struct Refused;

/// The derivative of `g(p, out)` by the parameter `p` at `here` into `out`; false where `g` refuses a value, which it
/// says by false, or where no differences agree. Two evaluations where the step by the size of the parameter does, two
/// more where it is short or nothing depends on the parameter, and some fifty where it is lost in rounding. Steps are
/// at most as long as the parameter is, or as one. `terms` is the size of what is known to cancel in `g`.
pub(super) fn by_parameter(
    here: f64,
    terms: f64,
    out: &mut [f64],
    g: impl FnMut(f64, &mut [f64]) -> bool,
) -> bool {
    let mut differences = Differences {
        here,
        g,
        size: vec![0.0; out.len()],
        behind: vec![0.0; out.len()],
    };
    let (step, longest) = (own_step(here), here.abs().max(1.0));
    if differences.over(step, out).is_err() {
        return false;
    }
    let (size, mut beside) = (differences.size.clone(), vec![0.0; out.len()]);
    if largest(out) == 0.0 {
        // It acts on nothing, or on a scale on which this step is too short.
        let acts = differences.over(longest, &mut beside).is_ok() && largest(&beside) > 0.0;
        if acts && !differences.best(step, longest, out) {
            // Far from here it acts, and not here.
            out.fill(0.0);
        }
        return true;
    }
    let rounding = |i: usize| f64::EPSILON * size[i].max(terms) / step;
    let mut is_lost = is_off(out, rounding);
    if !is_lost && (here == 0.0 || step < SHORT) {
        let shorter = differences.over((1.0 - BESIDE) * step, &mut beside);
        is_lost = shorter.is_ok() && is_off(out, |i| (out[i] - beside[i]).abs());
    }
    if here != 0.0 {
        return !is_lost || differences.best(step, longest, out);
    }
    // A function that bends on the step differs beside it too; one that is rounded does so over all shorter ones.
    let parts = Parts {
        start: 1.0,
        user: 1.0,
        least: 0.0,
    };
    let mut half = vec![0.0; out.len()];
    let floor = |i: usize, part: f64| rounding_over(size[i].max(terms), part * step);
    let along = |part: f64, out: &mut [f64]| differences.over(part * step, out);
    let found = resolve(parts, along, floor, [&mut *out, &mut half, &mut beside]);
    let is_found =
        found.is_ok_and(|found| found.unknown.is_none() && (!is_lost || found.part < 1.0));
    is_found || differences.best(step, longest, out)
}

/// Central differences of a function of a parameter.
struct Differences<G> {
    here: f64,
    g: G,
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

    /// Of steps from one on to the longest the difference that is closest to those over the steps beside it, by its
    /// size; false where none is close to them.
    #[cold]
    fn best(&mut self, step: f64, longest: f64, out: &mut [f64]) -> bool {
        let [mut here, mut next] = [(); 2].map(|()| vec![0.0; out.len()]);
        let (mut least, mut step) = (f64::INFINITY, step / LONGER);
        let mut off_before = f64::INFINITY;
        while step < longest {
            step = (LONGER * step).min(longest);
            if self.over(step, &mut next).is_err() {
                break;
            }
            let off = part_between(&here, &next);
            let error = off_before.max(off);
            // Zero is what a step finds that changes nothing.
            if error < least && largest(&here) > 0.0 {
                least = error;
                out.copy_from_slice(&here);
            }
            off_before = off;
            std::mem::swap(&mut here, &mut next);
        }
        least <= KNOWN
    }
}

/// True where entries are off by a part that matters.
fn is_off(out: &[f64], off: impl Fn(usize) -> f64) -> bool {
    let small = SMALL * largest(out);
    let mut each = out.iter().enumerate();
    each.any(|(i, d)| *d != 0.0 && off(i) > ROUNDED * d.abs().max(small))
}

/// By which part of their size two differences differ at most.
fn part_between(a: &[f64], b: &[f64]) -> f64 {
    let small = SMALL * largest(a).max(largest(b));
    let each = a.iter().zip(b).map(|(a, b)| {
        let size = a.abs().max(b.abs()).max(small);
        if size == 0.0 {
            0.0
        } else {
            (a - b).abs() / size
        }
    });
    each.fold(
        0.0,
        |most: f64, part| if part <= most { most } else { part },
    )
}

fn largest(v: &[f64]) -> f64 {
    v.iter().fold(0.0, |most: f64, d| most.max(d.abs()))
}

/// Step of a difference by a parameter: relative to its size, since a parameter has no other scale.
fn own_step(p: f64) -> f64 {
    let unit = coordinate_step(0.0);
    if p == 0.0 { unit } else { unit * p.abs() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `tanh(a + p/s)` in one component, beside one that does not depend on it; of order one, and as a rest of what
    /// cancels, as guards are where they are crossed.
    #[test]
    fn parameters_of_any_size_have_their_derivatives() {
        for s in [1e-12, 1e-9, 1e-5, 1.0, 1e6, 1e12] {
            for p in [0.0, 1e-20, 1e-12, 1e-10, 1e-8, 1e-3, 1.0, 30.0].map(|part| part * s) {
                for rest in [0.0, f64::tanh(0.4 + p / s)] {
                    let mut out = [0.0; 2];
                    let found = by_parameter(p, rest, &mut out, |p, out| {
                        out.copy_from_slice(&[(0.4 + p / s).tanh() - rest, 0.3]);
                        true
                    });
                    let exact = (1.0 - (0.4 + p / s).tanh().powi(2)) / s;
                    // Steps are no longer than one.
                    let off = (out[0] - exact).abs();
                    let what = format!("{s:e} {p:e} {rest} {out:?} {exact:e}");
                    assert!(
                        found && off < (1e-4 + 1e-15 * s) * exact + 1e-9 / s && out[1] == 0.0,
                        "{what}"
                    );
                }
            }
        }
    }

    #[test]
    fn a_parameter_that_must_not_change_its_sign_does_not() {
        for p in [1e-9, 1e-3, 0.7, 40.0] {
            let mut out = [0.0];
            let found = by_parameter(p, 0.0, &mut out, |p, out| {
                out[0] = 1e6 + p.sqrt();
                true
            });
            let exact = 0.5 / p.sqrt();
            // Rounding leaves so much of it.
            let rounding = 1e6 * f64::EPSILON / own_step(p);
            assert!(
                found && (out[0] - exact).abs() <= 1e-7 * exact + rounding,
                "{p:e} {out:?}"
            );
        }
    }
}
