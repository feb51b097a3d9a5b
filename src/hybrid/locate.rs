//! Root and maximum of a scalar function on an interval: where a guard is passed on the interpolant of a step.

/// A point and the value there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) at: f64,
    pub(crate) value: f64,
}

/// Root of `g` between `low`, where it is negative, and `high`, where it is not, by regula falsi with the Illinois
/// weights and a bisection whenever the bracket shrinks too slowly.
///
/// Ends when the bracket is no wider than `width`, or at a value that is not finite, and returns that or the end with the smaller value. (A small value alone proves
/// nothing: where the function starts flat, its root may be far.)
pub(crate) fn root(
    mut g: impl FnMut(f64) -> f64,
    mut low: Sample,
    mut high: Sample,
    width: f64,
) -> Sample {
    // Weights of the two end values: halved while the other end moves again and again, so that neither gets stuck.
    let (mut low_weight, mut high_weight) = (1.0, 1.0);
    let mut moved_low = None;
    let mut wide = high.at - low.at;
    for round in 1..200 {
        if high.value <= 0.0 || high.at - low.at <= width {
            break;
        }
        let (a, b) = (low.value * low_weight, high.value * high_weight);
        let mut at = low.at + (high.at - low.at) * (a / (a - b));
        if round % 4 == 0 {
            if high.at - low.at > 0.25 * wide {
                at = 0.5 * (low.at + high.at);
            }
            wide = high.at - low.at;
        }
        // Keep the trial off the ends by half the wanted width, so that the bracket can close from both sides.
        let margin = (0.5 * width).min(0.25 * (high.at - low.at));
        at = at.clamp(low.at + margin, high.at - margin);
        if at <= low.at || at >= high.at {
            break;
        }
        let trial = Sample { at, value: g(at) };
        if !trial.value.is_finite() {
            return trial;
        }
        if trial.value < 0.0 {
            low = trial;
            low_weight = 1.0;
            high_weight *= if moved_low == Some(true) { 0.5 } else { 1.0 };
            moved_low = Some(true);
        } else {
            high = trial;
            high_weight = 1.0;
            low_weight *= if moved_low == Some(false) { 0.5 } else { 1.0 };
            moved_low = Some(false);
        }
    }
    if -low.value < high.value { low } else { high }
}

/// Largest value of `g` on `[low, high]` by golden section, assuming one maximum there; ends as soon as the value exceeds
/// `enough` or is not finite.
pub(crate) fn maximum(mut g: impl FnMut(f64) -> f64, low: f64, high: f64, enough: f64) -> Sample {
    const GOLDEN: f64 = 0.618033988749895;
    let (mut a, mut b) = (low, high);
    let mut sample = |at: f64| Sample { at, value: g(at) };
    let mut left = sample(b - GOLDEN * (b - a));
    let mut right = sample(a + GOLDEN * (b - a));
    for _ in 0..60 {
        let best = if left.value > right.value {
            left
        } else {
            right
        };
        if !left.value.is_finite() {
            return left;
        }
        if !right.value.is_finite() {
            return right;
        }
        if best.value > enough || b - a < 1e-10 {
            return best;
        }
        if left.value > right.value {
            b = right.at;
            right = left;
            left = sample(b - GOLDEN * (b - a));
        } else {
            a = left.at;
            left = right;
            right = sample(a + GOLDEN * (b - a));
        }
    }
    if left.value > right.value {
        left
    } else {
        right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(g: impl Fn(f64) -> f64, low: f64, high: f64) -> (Sample, usize) {
        let mut calls = 0;
        let at = |at: f64| Sample { at, value: g(at) };
        let mut counted = |x: f64| {
            calls += 1;
            g(x)
        };
        let found = root(&mut counted, at(low), at(high), 1e-15);
        (found, calls)
    }

    #[test]
    fn roots_of_smooth_functions_take_few_calls() {
        let (found, calls) = find(|x| x * x - 0.3, 0.0, 1.0);
        assert!((found.at - 0.3f64.sqrt()).abs() < 2e-15);
        assert!(calls <= 14, "{calls}");
        let (found, calls) = find(|x| (x - 0.2).sinh() * 40.0, 0.0, 1.0);
        assert!((found.at - 0.2).abs() < 2e-15);
        assert!(calls <= 14, "{calls}");
    }

    #[test]
    fn nasty_functions_still_end() {
        let (found, calls) = find(|x| (x - 0.37).powi(9), 0.0, 1.0);
        assert!((found.at - 0.37).abs() < 1e-12 || found.value == 0.0);
        assert!(calls < 199, "{calls}");
        let (found, calls) = find(|x| if x < 0.123456 { -1.0 } else { 1e9 }, 0.0, 1.0);
        assert!((found.at - 0.123456).abs() < 1e-14);
        assert!(calls < 199, "{calls}");
    }

    #[test]
    fn values_that_are_not_finite_end_the_search() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let hole = |x: f64| if (x - 0.5).abs() < 0.1 { bad } else { x - 0.5 };
            let (found, _) = find(hole, 0.0, 1.0);
            assert!(!found.value.is_finite());
            assert!(!maximum(hole, 0.0, 0.8, 1.0).value.is_finite());
        }
    }

    #[test]
    fn the_maximum_of_a_parabola_is_found() {
        let best = maximum(|x| 1.0 - (x - 0.7).powi(2), 0.0, 1.0, f64::INFINITY);
        assert!((best.at - 0.7).abs() < 1e-7);
        let early = maximum(|x| 1.0 - (x - 0.7).powi(2), 0.0, 1.0, 0.5);
        assert!(early.value > 0.5);
    }
}
