//! Error norm, PI step control and the automatic first step (Hairer, Nørsett, Wanner, II.4 and
//! IV.2).

use std::f64::consts::{LN_2, LOG2_E};

use super::{Buffer, greater, lesser};

/// Relative and absolute tolerance of each state variable.
#[derive(Clone, Debug)]
pub(crate) struct Tolerance<B> {
    pub(crate) relative: B,
    pub(crate) absolute: B,
}

impl<B: Buffer> Tolerance<B> {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            relative: B::zeros(dim),
            absolute: B::zeros(dim),
        }
    }

    /// The error of component `i` that is just allowed between the values `a` and `b`.
    #[inline]
    pub(crate) fn scale(&self, i: usize, a: f64, b: f64) -> f64 {
        self.absolute.get()[i] + self.relative.get()[i] * a.abs().max(b.abs())
    }

    /// `Σ |row_i| scale_i`: how much a function with this gradient changes when all variables are
    /// off by what is allowed at `x`.
    #[inline]
    pub(crate) fn along(&self, row: &[f64], x: &[f64]) -> f64 {
        let n = x.len();
        let (row, absolute, relative) = (
            &row[..n],
            &self.absolute.get()[..n],
            &self.relative.get()[..n],
        );
        (0..n)
            .map(|i| row[i].abs() * (absolute[i] + relative[i] * x[i].abs()))
            .sum()
    }

    /// Root mean square of `v` in units of the tolerance at `x`.
    pub(crate) fn norm(&self, v: &[f64], x: &[f64]) -> f64 {
        let [norm] = self.norms([v], x);
        norm
    }

    /// Root mean squares of several vectors; see [`norm`](Self::norm).
    #[inline]
    pub(crate) fn norms<const N: usize>(&self, vectors: [&[f64]; N], x: &[f64]) -> [f64; N] {
        let mut sums = [0.0; N];
        for (i, x) in x.iter().enumerate() {
            let scale = self.scale(i, *x, *x);
            for (sum, v) in sums.iter_mut().zip(vectors) {
                *sum += (v[i] / scale).powi(2);
            }
        }
        sums.map(|sum| (sum / x.len() as f64).sqrt())
    }
}

const SAFETY: f64 = 0.9;
const LEAST: f64 = 0.2;
/// Least factor after a rejection: behind an event the motion may be that much faster.
const LEAST_REJECTED: f64 = 0.01;
const MOST: f64 = 10.0;
/// Weight of the previous error; 0 would be the elementary controller.
const BETA: f64 = 0.04;
/// Errors below 1e-4 count as that: its binary logarithm.
const LEAST_ERROR: f64 = -13.287712379549449;
const EXPONENT: f64 = 0.2 - 0.75 * BETA;

/// PI control of the step size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepControl {
    /// Binary logarithm of the last error, at least that of 1e-4.
    previous: f64,
    rejected: bool,
}

impl StepControl {
    pub(crate) const fn new() -> Self {
        Self {
            previous: LEAST_ERROR,
            rejected: false,
        }
    }

    /// Factor for the next step after one with `error ≤ 1`; no growth right after a rejection.
    #[inline]
    pub(crate) fn accepted(&mut self, error: f64) -> f64 {
        // One logarithm and one power of two in place of two powers.
        let size = log2(error);
        let divisor = exp2(EXPONENT * size - BETA * self.previous) * (1.0 / SAFETY);
        let factor = 1.0 / lesser(greater(divisor, 1.0 / MOST), 1.0 / LEAST);
        let factor = if self.rejected {
            lesser(factor, 1.0)
        } else {
            factor
        };
        self.previous = greater(size, LEAST_ERROR);
        self.rejected = false;
        factor
    }

    /// True when the last step was rejected.
    #[inline]
    pub(crate) fn was_rejected(&self) -> bool {
        self.rejected
    }

    /// Factor for another try after one with `error > 1` or not a number.
    #[inline]
    pub(crate) fn rejected(&mut self, error: f64) -> f64 {
        self.rejected = true;
        if error.is_finite() {
            // By the order of the error alone: what it was before says nothing here.
            1.0 / (exp2(0.2 * log2(error)) / SAFETY).min(1.0 / LEAST_REJECTED)
        } else {
            0.1
        }
    }
}

/// A motion is another one behind an event where its curvature is so many times larger or smaller.
const OTHER: f64 = 2.0;
/// A step is tried as it is where it is off from what its series asks by no more than this.
const OFF: f64 = 3.0;

/// Measures of a motion by a look at the field: its size, and how it changes in a time, in units of
/// the tolerance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Look {
    /// `|f|`.
    pub(crate) speed: f64,
    /// `|df/dt|`.
    pub(crate) curvature: f64,
    /// `|df/dt|` in the last step.
    pub(crate) curvature_before: f64,
}

impl Look {
    /// The step to try behind an event in place of one of length `step`, which was right before it;
    /// none where the motion is much the same, or that step about right.
    ///
    /// Each derivative of the field is taken to be the one before over the same time,
    /// `T = speed/curvature`. The error allowed is that of the term of sixth order in the series of
    /// the state, `speed h (h/T)⁵/6!`.
    pub(crate) fn other_step(self, step: f64) -> Option<f64> {
        let Self {
            speed,
            curvature,
            curvature_before,
        } = self;
        let is_other = curvature > OTHER * curvature_before || OTHER * curvature < curvature_before;
        if !is_other {
            return None;
        }
        let power = log2(SIX_FACTORIAL) + 4.0 * log2(speed) - 5.0 * log2(curvature);
        let wanted = exp2(((1.0 / 6.0) * power).clamp(-1000.0, 1000.0));
        let is_off = wanted > OFF * step || OFF * wanted < step;
        // Neither a field that is zero at the start nor one that is straight says more than this.
        is_off.then(|| lesser(greater(wanted, LEAST_REJECTED * step), MOST * step))
    }
}

/// `6!`, of the term of sixth order.
const SIX_FACTORIAL: f64 = 720.0;

/// `2⁵²`: a number in its last bits is that number as a float, once it is taken off.
const WHOLE: f64 = (1u64 << 52) as f64;

/// Binary logarithm of a number that is not negative, to 6e-4; −1023 of zero. A step length needs
/// no more digits, and these are the same on every machine.
#[inline]
fn log2(size: f64) -> f64 {
    // size = 2^e m with m from 1 to 2, and ln m = 2 (y + y³/3 + y⁵/5 + …), y = (m − 1)/(m + 1).
    let bits = size.to_bits();
    let exponent = f64::from_bits(WHOLE.to_bits() | bits >> 52) - (WHOLE + 1023.0);
    let mantissa = f64::from_bits(bits << 12 >> 12 | 1.0f64.to_bits());
    let y = (mantissa - 1.0) / (mantissa + 1.0);
    let y2 = y * y;
    exponent + 2.0 * LOG2_E * y * (1.0 + y2 * (1.0 / 3.0 + y2 * 0.2))
}

/// `2^power` for powers from −1000 to 1000, to 6e-4 of it.
#[inline]
fn exp2(power: f64) -> f64 {
    // Added up, the power is rounded to a whole number in the last bits.
    let shifted = power + 1.5 * WHOLE;
    let rest = LN_2 * (power - (shifted - 1.5 * WHOLE));
    let whole = f64::from_bits(1.0f64.to_bits().wrapping_add(shifted.to_bits() << 52));
    whole * (1.0 + rest * (1.0 + rest * (0.5 + rest * (1.0 / 6.0))))
}

/// A state and the field there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldAt<'a> {
    pub(crate) t: f64,
    pub(crate) x: &'a [f64],
    /// `f(t, x)`.
    pub(crate) slope: &'a [f64],
}

/// First step size from one Euler step: the step whose 5th order error would be about the
/// tolerance.
///
/// `euler` and `slope_there` are overwritten. One evaluation of `f`.
pub(crate) fn first_step<B: Buffer>(
    mut f: impl FnMut(f64, &[f64], &mut [f64]),
    FieldAt { t, x, slope }: FieldAt<'_>,
    tolerance: &Tolerance<B>,
    most: f64,
    euler: &mut [f64],
    slope_there: &mut [f64],
) -> f64 {
    let size = tolerance.norm(x, x);
    let speed = tolerance.norm(slope, x);
    let guess = if size < 1e-5 || speed < 1e-5 {
        1e-6
    } else {
        0.01 * size / speed
    };
    let guess = guess.min(most);
    for i in 0..x.len() {
        euler[i] = x[i] + guess * slope[i];
    }
    f(t + guess, euler, slope_there);
    for i in 0..x.len() {
        euler[i] = slope_there[i] - slope[i];
    }
    let curvature = tolerance.norm(euler, x) / guess;
    let strongest = speed.max(curvature);
    let step = if strongest > 1e-15 {
        (0.01 / strongest).powf(0.2)
    } else {
        (guess * 1e-3).max(1e-6)
    };
    let step = if strongest.is_finite() { step } else { guess };
    step.min(100.0 * guess).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behind_an_event_only_another_motion_asks_for_another_step() {
        let look = |speed, curvature, curvature_before| Look {
            speed,
            curvature,
            curvature_before,
        };
        // Equal curvature: whatever the step, it was right before.
        assert_eq!(look(1e4, 1e3, 1e3).other_step(1e3), None);
        assert_eq!(look(1e4, 1.9e3, 1e3).other_step(1e-9), None);
        // f = v cos(ωt) with ω = 30/s, and a tolerance of a thousandth: T = 1/30 s, and the step is
        // (6!/(v T))^(1/6) T.
        let (speed, curvature) = (1e4_f64, 30.0 * 1e4);
        let right = (720.0 * speed.powi(4) / f64::powi(curvature, 5)).powf(1.0 / 6.0);
        for step in [20.0 * right, right / 9.0] {
            let other = look(speed, curvature, 1.0).other_step(step);
            assert!(other.is_some_and(|other| (other / right - 1.0).abs() < 2e-3));
        }
        for step in [2.9 * right, right / 2.9] {
            assert_eq!(look(speed, curvature, 1.0).other_step(step), None);
        }
        // In units of another time: all the same.
        let other = look(1e-3 * speed, 1e-6 * curvature, 0.0).other_step(2e4 * right);
        assert!(other.is_some_and(|other| (other / (1e3 * right) - 1.0).abs() < 2e-3));
        // No farther than step control would go.
        assert_eq!(look(0.0, 1.0, 0.0).other_step(1.0), Some(LEAST_REJECTED));
        assert_eq!(look(1.0, 0.0, 1.0).other_step(1.0), Some(MOST));
        for huge in [f64::MAX, f64::INFINITY] {
            assert_eq!(look(1.0, huge, 1.0).other_step(1.0), Some(LEAST_REJECTED));
            assert_eq!(look(huge, 0.0, 1.0).other_step(1.0), Some(MOST));
            assert_eq!(look(0.0, huge, 0.0).other_step(1.0), Some(LEAST_REJECTED));
        }
        assert_eq!(look(1.0, f64::NAN, 1.0).other_step(1.0), None);
    }

    #[test]
    fn rough_powers_are_close_to_the_exact_ones() {
        for i in -2000..2000 {
            let power = 0.1 * f64::from(i) + 0.037;
            let exact = power.exp2();
            assert!((exp2(power) / exact - 1.0).abs() < 6e-4, "{power}");
            assert!((log2(exact) - power).abs() < 6e-4, "{power}");
        }
        assert!(log2(0.0) < -1000.0 && exp2(EXPONENT * log2(0.0)) > 0.0);
        assert!(exp2(EXPONENT * log2(f64::MAX)).is_finite());
    }
}
