//! Root and maximum of a scalar function on an interval: where a guard is passed on the interpolant
//! of a step.

/// A point and the value there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sample {
    pub(crate) at: f64,
    pub(crate) value: f64,
}

/// The guess of a root, and the slope there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guess {
    pub(crate) at: f64,
    pub(crate) slope: f64,
}

/// A root that was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Root {
    pub(crate) sample: Sample,
    /// By how much the function jumps across zero there.
    pub(crate) jump: f64,
}

/// Limit of the evaluations for a root, and rounds in which the bracket is to shrink to a quarter.
const MOST_ROUNDS: u32 = 199;
const ROUNDS: u32 = 4;
/// A function jumps that rises so many times more steeply about its root than between the first ends; or
/// in the last bracket by half of the whole, where the first was not so much wider.
const JUMP: f64 = 1e2;

/// Root of `g` between `low`, where it is negative, and `high`, where it is not: from the guess on,
/// or from the chord, by secants of the last two trials, with a bisection whenever the bracket
/// shrinks too slowly.
///
/// Ends when the bracket is no wider than `width` and the precision of the root together, or at a
/// value that is not finite, and returns that or the end with the smaller value; the upper end where
/// the function jumps. (A small value alone proves nothing: where the function starts flat, its root
/// may be far.)
pub(crate) fn root(
    mut g: impl FnMut(f64) -> f64,
    mut low: Sample,
    mut high: Sample,
    width: f64,
    guess: Option<Guess>,
) -> Root {
    let chord = |low: Sample, high: Sample| (high.value - low.value) / (high.at - low.at);
    let (mean, wide_at_first) = (chord(low, high), high.at - low.at);
    let (mut at, mut slope) = guess.map_or((f64::NAN, f64::NAN), |g| (g.at, g.slope));
    let mut last = None::<Sample>;
    let mut wide = high.at - low.at;
    for round in 1..=MOST_ROUNDS {
        let width = width + f64::EPSILON * high.at.abs();
        if high.value <= 0.0 || high.at - low.at <= width {
            break;
        }
        if round % ROUNDS == 0 {
            if high.at - low.at > 0.25 * wide {
                at = 0.5 * (low.at + high.at);
            }
            wide = high.at - low.at;
        }
        // Keep the trial off the ends by half the wanted width, so that the bracket can close from
        // both sides.
        let margin = (0.5 * width).min(0.25 * (high.at - low.at));
        let is_inside = |at: f64| at >= low.at && at <= high.at;
        if !is_inside(at) {
            // The secant leads out of the bracket, or there is none yet.
            at = low.at - low.value / chord(low, high);
        }
        if !is_inside(at) {
            at = 0.5 * (low.at + high.at);
        }
        at = at.clamp(low.at + margin, high.at - margin);
        if at <= low.at || at >= high.at {
            break;
        }
        let trial = Sample { at, value: g(at) };
        if !trial.value.is_finite() {
            return Root {
                sample: trial,
                jump: 0.0,
            };
        }
        if let Some(last) = last {
            slope = (trial.value - last.value) / (trial.at - last.at);
        }
        last = Some(trial);
        if trial.value < 0.0 {
            low = trial;
        } else {
            high = trial;
        }
        at = if slope > 0.0 {
            trial.at - trial.value / slope
        } else {
            f64::NAN
        };
    }
    // A function that jumps is behind the jump: before it nothing has happened yet.
    let narrowing = wide_at_first / (high.at - low.at);
    let jumps = chord(low, high) > mean * (0.5 * narrowing).min(JUMP);
    let sample = if -low.value < high.value && !jumps {
        low
    } else {
        high
    };
    // A value of zero ends the search in a bracket that says nothing of a jump.
    let jump = if jumps && high.value > 0.0 {
        high.value - low.value
    } else {
        0.0
    };
    Root { sample, jump }
}

/// Largest value of `g` between the samples `low` and `high`, where it has one maximum, guessed to
/// be at `guess`, by parabolas and golden sections (Brent).
///
/// Ends as soon as a value exceeds `enough` or is not finite, and when the parabola leaves no doubt
/// that none will.
pub(crate) fn peak(
    mut g: impl FnMut(f64) -> f64,
    low: Sample,
    guess: f64,
    high: Sample,
    enough: f64,
) -> Sample {
    let (left, right) = (low.at, high.at);
    let margin = 0.01 * (right - left);
    let at = guess.clamp(left + margin, right - margin);
    let (second, third) = if low.value > high.value {
        (low, high)
    } else {
        (high, low)
    };
    let mut search = PeakSearch {
        left,
        right,
        best: Sample { at, value: g(at) },
        second,
        third,
        hopeless: false,
        step: right - left,
        before: right - left,
    };
    for _ in 0..60 {
        let best = search.best;
        if !best.value.is_finite() || best.value > enough {
            break;
        }
        let resolution = 1e-8 * best.at.abs().max(1e-3);
        if search.right - search.left <= 4.0 * resolution {
            break;
        }
        let Some(at) = search.next(resolution, enough) else {
            break;
        };
        let trial = Sample { at, value: g(at) };
        if !trial.value.is_finite() {
            return trial;
        }
        search.enter(trial);
    }
    search.best
}

/// The search for a maximum.
struct PeakSearch {
    /// The maximum lies between these.
    left: f64,
    right: f64,
    /// The three best samples.
    best: Sample,
    second: Sample,
    third: Sample,
    /// The parabola before left no hope.
    hopeless: bool,
    /// The last step and the one before.
    step: f64,
    before: f64,
}

impl PeakSearch {
    /// The place to look at next: the top of the parabola through the three best samples, or else by
    /// golden section; none where two parabolas in turn say that `enough` is not reached (one may
    /// be a poor one).
    fn next(&mut self, resolution: f64, enough: f64) -> Option<f64> {
        const GOLDEN: f64 = 0.381966011250105;
        let (best, left, right) = (self.best, self.left, self.right);
        // best + m d + b d², through the three best samples.
        let slope = |other: Sample| (other.value - best.value) / (other.at - best.at);
        let (s2, s3) = (slope(self.second), slope(self.third));
        let bend = (s2 - s3) / (self.second.at - self.third.at);
        let tangent = s2 - bend * (self.second.at - best.at);
        let to_top = -tangent / (2.0 * bend);
        let is_inside = best.at + to_top > left && best.at + to_top < right;
        if bend < 0.0 && is_inside && to_top.abs() < 0.5 * self.before.abs() {
            let gain = -bend * to_top * to_top;
            let is_hopeless = best.value + 10.0 * gain < enough;
            if is_hopeless && self.hopeless {
                return None;
            }
            self.hopeless = is_hopeless;
            (self.before, self.step) = (self.step, to_top);
        } else {
            let wider = if best.at - left > right - best.at {
                left - best.at
            } else {
                right - best.at
            };
            (self.before, self.step) = (wider, GOLDEN * wider);
        }
        if self.step.abs() < resolution {
            self.step = resolution.copysign(self.step);
        }
        Some((best.at + self.step).clamp(left, right))
    }

    /// Takes in a sample: the interval ends at the worse of it and the best.
    fn enter(&mut self, trial: Sample) {
        let (better, worse) = if trial.value > self.best.value {
            (trial, self.best)
        } else {
            (self.best, trial)
        };
        if worse.at < better.at {
            self.left = worse.at;
        } else {
            self.right = worse.at;
        }
        if better.at.total_cmp(&trial.at).is_eq() {
            (self.best, self.second, self.third) = (trial, self.best, self.second);
        } else if trial.value > self.second.value {
            (self.second, self.third) = (trial, self.second);
        } else if trial.value > self.third.value {
            self.third = trial;
        }
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
        let found = root(&mut counted, at(low), at(high), 1e-15, None);
        (found.sample, calls)
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
    fn a_root_near_the_start_of_a_long_bracket_is_as_exact_as_any() {
        for size in [1.0, 1e-4, 1e-9, 1e-15] {
            let at = |at: f64| Sample {
                at,
                value: at / size - 0.7,
            };
            let found = root(|x| at(x).value, at(0.0), at(1.0), 0.0, None).sample;
            assert!((found.at / size - 0.7).abs() < 1e-15, "{size}: {found:?}");
        }
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

    /// Of a force that a clock switches on nothing is there before its time, however far it falls short.
    #[test]
    fn a_root_at_a_jump_lies_behind_it() {
        for (before, behind) in [(-1.0, 1e9), (-1e9, 1.0), (-1.0, 1.1), (-1e-3, 1.0)] {
            let jump = |x: f64| if x > 0.123_456 { behind } else { before };
            let (found, _) = find(jump, 0.0, 1.0);
            assert!(found.at > 0.123_456 && found.at < 0.123_456 + 1e-14);
            // Also where it moves before.
            let moving = |x: f64| jump(x) + 0.1 * before.abs() * x;
            assert!(find(moving, 0.0, 1.0).0.at > 0.123_456);
        }
    }

    #[test]
    fn values_that_are_not_finite_end_the_search() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let hole = |x: f64| if (x - 0.5).abs() < 0.1 { bad } else { x - 0.5 };
            let (found, _) = find(hole, 0.0, 1.0);
            assert!(!found.value.is_finite());
            let ends = [0.0, 0.8].map(|at| Sample {
                at,
                value: hole(at),
            });
            assert!(!peak(hole, ends[0], 0.3, ends[1], 1.0).value.is_finite());
        }
    }

    fn highest(g: impl Fn(f64) -> f64, guess: f64, enough: f64) -> (Sample, usize) {
        let mut calls = 0;
        let ends = [0.0, 1.0].map(|at| Sample { at, value: g(at) });
        let counted = |x: f64| {
            calls += 1;
            g(x)
        };
        let best = peak(counted, ends[0], guess, ends[1], enough);
        (best, calls)
    }

    #[test]
    fn the_maximum_is_found() {
        // Never more than `enough`, and never hopeless before the top is reached.
        for guess in [0.1, 0.5, 0.7, 0.95] {
            let found = |g: fn(f64) -> f64, at: f64, most: usize| {
                let (best, calls) = highest(g, guess, g(at));
                assert!(
                    (best.at - at).abs() < 1e-5 && best.value > g(at) - 1e-9,
                    "{guess}: {best:?}"
                );
                assert!(calls <= most, "{guess}: {calls}");
            };
            found(|x| 1.0 - (x - 0.7).powi(2), 0.7, 30);
            found(|x| (4.0 * x).sin() - x, 0.25f64.acos() / 4.0, 30);
            found(|x| -(x - 0.3).abs().powi(3), 0.3, 61);
        }
    }

    #[test]
    fn the_search_for_a_maximum_ends_as_soon_as_it_is_high_enough_or_hopeless() {
        let (early, calls) = highest(|x| 1.0 - (x - 0.7).powi(2), 0.3, 0.5);
        assert!(early.value > 0.5 && calls <= 2);
        let (hopeless, calls) = highest(|x| -1.0 - (x - 0.7).powi(2), 0.6, 0.0);
        assert!(hopeless.value <= -1.0 && calls <= 4, "{calls}");
        let (close, _) = highest(|x| -1e-9 - (x - 0.7).powi(2), 0.6, 0.0);
        assert!(close.value < 0.0 && close.value > -1.1e-9);
        let (through, _) = highest(|x| 1e-9 - (x - 0.7).powi(2), 0.6, 0.0);
        assert!(through.value > 0.0);
    }
}
