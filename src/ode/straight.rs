//! Central differences over steps that are shortened until what is differenced is straight along them: coordinates
//! have no size of their own that a step could follow.

/// Two differences, over a step and over twice of it, may be off each other by this part: the error that is left of
/// them is about its square.
const STRAIGHT: f64 = 1e-4;
/// By how much the next step is shorter.
const SHORTER: f64 = 8.0;
/// Steps after the usual one: the shortest is 6e-8 of it.
const MOST_SHORTER: usize = 8;
/// Part of a difference up to which longer steps are not asked for what is rounding of it.
const RESOLVED: f64 = 1e-9;
/// A shorter step is taken where it brings what they are off below this part: truncation falls by 64.
const BETTER: f64 = 0.125;

/// Calls `over` with the `usual` step, and with shorter ones until that says that differences over the step and over
/// twice of it are off each other by less than 1e-4; last with the step of those at which they were least, where all
/// are off by more. Ten calls at most. What is not finite counts as off.
pub(crate) fn shorten_until_straight(usual: f64, mut over: impl FnMut(f64) -> f64) {
    let mut best = (f64::MAX, usual);
    let mut step = usual;
    for _ in 0..=MOST_SHORTER {
        let off = over(step);
        if off <= STRAIGHT {
            return;
        }
        // A shorter step that is no better by much may be so by chance.
        if off < BETTER * best.0 {
            best = (off, step);
        }
        step /= SHORTER;
    }
    over(best.1);
}

/// The limit of a difference for short steps, from those over a step and over twice of it. Their errors by truncation,
/// one four times the other, cancel.
pub(crate) fn extrapolated(near: f64, far: f64) -> f64 {
    near + (near - far) / 3.0
}

/// The steps of a difference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steps {
    /// The step that is tried first.
    pub(crate) usual: f64,
    /// Up to this longer ones are tried where more than [`RESOLVED`] of the difference may be rounding.
    pub(crate) longest: f64,
}

/// True where [`straight`] takes the differences over the usual step and twice of it.
pub(crate) fn is_straight(
    Steps { usual, longest }: Steps,
    rounding: impl Fn(f64) -> f64,
    [near, far]: [f64; 2],
) -> bool {
    let is_known = rounding(usual) <= RESOLVED * extrapolated(near, far).abs();
    off(near, far, rounding(usual)) <= STRAIGHT
        && (is_known || longest.min(SHORTER * usual) <= 1.5 * usual)
}

/// By how much two differences are off each other, as a part of them, and beside what may be `rounding` of them.
fn off(near: f64, far: f64, rounding: f64) -> f64 {
    let off = (near - far).abs();
    if off == 0.0 {
        return 0.0;
    }
    off / (near.abs().max(far.abs()) + rounding / STRAIGHT)
}

/// The limit of the difference `over(step)`, with an error of second order, from the usual step and twice of it; from
/// shorter ones where these do not agree, and from longer ones for rounding. `rounding(step)` is how much of it may be
/// rounding. Gives the step too.
pub(crate) fn straight(
    Steps { usual, longest }: Steps,
    rounding: impl Fn(f64) -> f64,
    mut over: impl FnMut(f64) -> f64,
) -> (f64, f64) {
    let mut found = (f64::NAN, usual);
    shorten_until_straight(usual, |step| {
        let (near, far) = (over(step), over(2.0 * step));
        found = (extrapolated(near, far), step);
        off(near, far, rounding(step))
    });
    loop {
        let step = longest.min(SHORTER * found.1);
        if rounding(found.1) <= RESOLVED * found.0.abs() || step <= 1.5 * found.1 {
            return found;
        }
        let (near, far) = (over(step), over(2.0 * step));
        let is_straight =
            (near - far).abs() <= STRAIGHT * near.abs().max(far.abs()) + rounding(step);
        if !is_straight {
            return found;
        }
        found = (extrapolated(near, far), step);
    }
}

/// By how much two vectors are off each other, as a part of the largest entry, and beside what may be `rounding` of
/// them; `unit(i)` is that of entry `i`.
pub(crate) fn off_of_largest(
    near: &[f64],
    far: &[f64],
    rounding: f64,
    unit: impl Fn(usize) -> f64,
) -> f64 {
    let (mut off, mut largest) = (0.0f64, 0.0f64);
    for (i, (near, far)) in near.iter().zip(far).enumerate() {
        let here = (near - far).abs() / unit(i);
        off = if here.is_nan() {
            f64::INFINITY
        } else {
            off.max(here)
        };
        largest = largest.max(near.abs() / unit(i));
    }
    if off == 0.0 {
        0.0
    } else {
        off / (largest + rounding / STRAIGHT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The slope of `sin(x/l)` at `x = 0.4 l`, with steps that suit lengths of one.
    fn slope(length: f64) -> f64 {
        let at = |s: f64| (0.4 + s / length).sin();
        let over = |step: f64| (at(step) - at(-step)) / (2.0 * step);
        let steps = Steps {
            usual: 1e-5,
            longest: 1e-5,
        };
        length * straight(steps, |step| f64::EPSILON / step, over).0
    }

    #[test]
    fn steps_follow_the_length_on_which_a_function_bends() {
        for length in [1e3, 1.0, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8] {
            let off = slope(length) - 0.4f64.cos();
            assert!(off.abs() < 1e-7, "{length:e}: {off:e}");
        }
    }

    #[test]
    fn what_is_nowhere_straight_ends_with_the_least_error() {
        let (mut calls, mut last) = (0, 0.0);
        shorten_until_straight(1.0, |step| {
            (calls, last) = (calls + 1, step);
            if calls == 3 { 0.1 } else { f64::NAN }
        });
        assert_eq!((calls, last), (10, 1.0 / 64.0));
    }
}
