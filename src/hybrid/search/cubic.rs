//! The cubic through four samples of an event function within a window of a step: what the samples
//! say of the function between them.

use super::factors::SLOPE_DOUBT;
use crate::ode::root::Sample;

/// Fractions of a window at which event functions are sampled. Irregular, so that no oscillation is
/// met at equal phases.
pub(super) const FRACTIONS: [f64; 4] = [0.0, 0.309, 0.6803, 1.0];

/// The longest distance between two samples, as a part of the window.
pub(super) const WIDEST: f64 = FRACTIONS[2] - FRACTIONS[1];

/// Inverse distances of the samples, as divided differences want them: division is slow.
const PER_01: f64 = 1.0 / FRACTIONS[1];
const PER_12: f64 = 1.0 / (FRACTIONS[2] - FRACTIONS[1]);
const PER_23: f64 = 1.0 / (1.0 - FRACTIONS[2]);
const PER_02: f64 = 1.0 / FRACTIONS[2];
const PER_13: f64 = 1.0 / (1.0 - FRACTIONS[1]);

/// `c₀ + s (c₁ + s (c₂ + s c₃))` for `s` from 0 to 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cubic {
    coefficients: [f64; 4],
}

impl Cubic {
    /// Through `values` at [`FRACTIONS`].
    #[inline]
    pub(super) fn through(values: [f64; 4]) -> Self {
        let [_, f1, f2, _] = FRACTIONS;
        let [v0, v1, v2, v3] = values;
        let (d01, d12, d23) = ((v1 - v0) * PER_01, (v2 - v1) * PER_12, (v3 - v2) * PER_23);
        let (d012, d123) = ((d12 - d01) * PER_02, (d23 - d12) * PER_13);
        let c3 = d123 - d012;
        let c2 = d012 - (f1 + f2) * c3;
        let c1 = d01 - f1 * d012 + f1 * f2 * c3;
        Self {
            coefficients: [v0, c1, c2, c3],
        }
    }

    #[inline]
    pub(super) fn at(&self, s: f64) -> f64 {
        let [c0, c1, c2, c3] = self.coefficients;
        c0 + s * (c1 + s * (c2 + s * c3))
    }

    /// Derivative with respect to `s`.
    #[inline]
    pub(super) fn slope(&self, s: f64) -> f64 {
        let [_, c1, c2, c3] = self.coefficients;
        c1 + s * (2.0 * c2 + s * (3.0 * c3))
    }

    /// Second derivative with respect to `s`.
    #[inline]
    pub(super) fn bend(&self, s: f64) -> f64 {
        let [_, _, c2, c3] = self.coefficients;
        2.0 * c2 + 6.0 * c3 * s
    }

    /// Largest distance of a smooth function through the same samples from the cubic, by the
    /// coefficients alone: those of a function that varies by up to two radians within the window
    /// fall by a factor of two and more from one to the next.
    #[inline]
    pub(super) fn doubt(&self) -> f64 {
        let [_, _, c2, c3] = self.coefficients;
        0.05 * c2.abs() + 0.2 * c3.abs()
    }

    /// Doubt where the derivative at the beginning was evaluated; see [`doubt`](Self::doubt). For a
    /// function of fourth degree the derivatives there differ by ten times as much as the functions
    /// do anywhere.
    #[inline]
    pub(super) fn doubt_by_slope(&self, slope_at_start: f64) -> f64 {
        let [_, _, c2, c3] = self.coefficients;
        0.15 * (self.slope(0.0) - slope_at_start).abs() + 0.005 * (c2.abs() + c3.abs())
    }

    /// The coefficient of `s³`.
    #[inline]
    pub(super) fn leading(&self) -> f64 {
        self.coefficients[3]
    }

    /// True when every smooth function through the same samples is monotonic, by the doubt about
    /// it.
    #[inline]
    pub(super) fn is_monotonic(&self) -> bool {
        let [_, c1, c2, c3] = self.coefficients;
        let end = c1 + 2.0 * c2 + 3.0 * c3;
        // The slope is a line between those at the ends, and 3 c₃ s (1 − s) off it.
        let least = if c1.abs() < end.abs() {
            c1.abs()
        } else {
            end.abs()
        };
        c1 * end > 0.0 && least > 0.75 * c3.abs() + SLOPE_DOUBT * self.doubt()
    }

    /// A root between `low` and `high`, to about 1e-6 where the cubic is not flat, from `near` on by
    /// a few steps of Newton.
    #[inline]
    pub(super) fn root(&self, near: f64, low: f64, high: f64) -> f64 {
        let mut at = near;
        for _ in 0..3 {
            let slope = self.slope(at);
            let next = at - self.at(at) / slope;
            // Also where the slope is not positive.
            if !(slope > 0.0 && next >= low && next <= high) {
                return at;
            }
            at = next;
        }
        at
    }

    /// The local maximum between 0 and `limit`, ends excluded, if there is one.
    #[inline]
    pub(super) fn top(&self, limit: f64) -> Option<Sample> {
        let [_, c1, c2, c3] = self.coefficients;
        let discriminant = c2 * c2 - 3.0 * c3 * c1;
        if discriminant <= 0.0 {
            return None;
        }
        // Of the two roots of the derivative the one at which it falls, written without
        // cancellation.
        let root = discriminant.sqrt();
        let at = if c2 <= 0.0 {
            c1 / (root - c2)
        } else {
            (-c2 - root) / (3.0 * c3)
        };
        (at > 0.0 && at < limit).then(|| Sample {
            at,
            value: self.at(at),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampled(g: impl Fn(f64) -> f64) -> Cubic {
        Cubic::through(FRACTIONS.map(g))
    }

    #[test]
    fn a_cubic_is_reproduced() {
        let g = |s: f64| 1.0 - 2.0 * s + 3.0 * s * s - 2.5 * s * s * s;
        let cubic = sampled(g);
        for s in [0.0, 0.2, 0.5, 0.9, 1.0] {
            assert!((cubic.at(s) - g(s)).abs() < 1e-14);
            let slope = -2.0 + 6.0 * s - 7.5 * s * s;
            assert!((cubic.slope(s) - slope).abs() < 1e-13);
        }
        assert!((cubic.leading() + 2.5).abs() < 1e-12 && !cubic.is_monotonic());
    }

    #[test]
    fn the_local_maximum_is_found_where_there_is_one() {
        let near = |top: Option<Sample>, at: f64| (top.unwrap().at - at).abs() < 1e-12;
        assert!(near(sampled(|s| 1.0 - (s - 0.3).powi(2)).top(1.0), 0.3));
        // s (s − 1) (s − 2) rises to 1 − 1/√3 and falls to 1 + 1/√3.
        let both = sampled(|s| s * (s - 1.0) * (s - 2.0));
        assert!(near(both.top(1.0), 1.0 - 3f64.sqrt().recip()));
        // That function with the signs turned has its maximum outside.
        assert_eq!(sampled(|s| -s * (s - 1.0) * (s - 2.0)).top(1.0), None);
        assert_eq!(sampled(|s| (s - 0.3).powi(2)).top(1.0), None);
        assert_eq!(sampled(|s| 2.0 * s - 1.0).top(1.0), None);
        assert_eq!(sampled(|_| -1.0).top(1.0), None);
        assert_eq!(sampled(|s| 1.0 - (s - 0.8).powi(2)).top(0.7), None);
    }

    #[test]
    fn the_doubt_bounds_the_distance_of_functions_that_vary_by_two_radians() {
        for turn in [0.3, 1.0, 2.0] {
            for phase in 0..40 {
                let phase = 0.157 * f64::from(phase);
                let g = |s: f64| (turn * s + phase).sin();
                let cubic = sampled(g);
                let slope = turn * phase.cos();
                let slopes = (0..=100).map(|i| 0.01 * f64::from(i));
                let slopes = slopes.map(|s| turn * (turn * s + phase).cos());
                let rises = slopes.clone().all(|slope| slope > 0.0);
                let falls = slopes.clone().all(|slope| slope < 0.0);
                assert!(!cubic.is_monotonic() || rises || falls, "{turn} {phase}");
                let worst = (0..=100)
                    .map(|i| 0.01 * f64::from(i))
                    .map(|s| (cubic.at(s) - g(s)).abs())
                    .fold(0.0, f64::max);
                assert!(worst <= cubic.doubt(), "{turn} {phase}");
                assert!(worst <= cubic.doubt_by_slope(slope), "{turn} {phase}");
            }
        }
    }
}
