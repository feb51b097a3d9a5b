//! Division of a run into steps.

use crate::InputError;
use crate::record::{Limits, slack, step_count};

/// The steps from `t0` to `tf`: all of one length, but for the last two, which share what is left
/// where the length does not divide the time. So no step is shorter than half the length, except
/// the step of a run that takes a single one: contacts without dissipation throw a body that rests
/// at the depth of long steps out of the surface in a short one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Division {
    t0: f64,
    tf: f64,
    step: f64,
    pub(super) count: usize,
    /// The last step has the full length.
    full: bool,
}

impl Division {
    /// Refuses more steps than the limit.
    pub(super) fn new(t0: f64, tf: f64, step: f64, limits: &Limits) -> Result<Self, InputError> {
        let (slack, count) = (slack(t0, tf, step), step_count(t0, tf, step));
        let full = (t0 + count * step - tf).abs() <= slack;
        let count = limits.check_steps("time_step", step, count)?;
        Ok(Self {
            t0,
            tf,
            step,
            count,
            full,
        })
    }

    /// Length and end of step `k`, counted from one. Steps of one length have one length in all
    /// digits, and times do not drift.
    pub(super) fn step(&self, k: usize) -> (f64, f64) {
        let end_of = |k: usize| self.t0 + k as f64 * self.step;
        let from_last = self.count - k.min(self.count);
        if self.full || from_last > 1 {
            let end = if from_last == 0 { self.tf } else { end_of(k) };
            return (self.step, end);
        }
        let shared = self.count.min(2);
        let length = (self.tf - end_of(self.count - shared)) / shared as f64;
        let end = if from_last == 0 {
            self.tf
        } else {
            self.tf - length
        };
        (length, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(t0: f64, tf: f64, step: f64) -> Vec<f64> {
        let division = Division::new(t0, tf, step, &Limits::default()).expect("few steps");
        let steps: Vec<_> = (1..=division.count).map(|k| division.step(k)).collect();
        let mut t = t0;
        for (length, end) in &steps {
            let rounding = 1e-8 * step + 1e-15 * tf.abs();
            assert!((t + length - end).abs() <= rounding, "{t0} {tf} {step}");
            t = *end;
        }
        assert!(steps.is_empty() || t.to_bits() == tf.to_bits());
        steps.into_iter().map(|(length, _)| length).collect()
    }

    #[test]
    fn steps_have_one_length_where_it_divides_the_time() {
        for (t0, tf, count) in [(0.0, 0.3, 3), (0.1, 0.7, 6), (1e6, 1e6 + 0.3, 3)] {
            assert_eq!(lengths(t0, tf, 0.1), vec![0.1; count]);
        }
        assert_eq!(lengths(0.0, 10.0, 1e-3).len(), 10_000);
        assert!(lengths(0.3, 0.3, 0.1).is_empty());
    }

    #[test]
    fn the_last_two_share_what_is_left() {
        for left in [1e-12, 1e-7, 1e-3, 0.04, 0.0999] {
            let steps = lengths(0.0, 0.2 + left, 0.1);
            let (count, half) = (steps.len(), 0.5 * (0.1 + left));
            if left < 1e-9 {
                assert_eq!(steps, [0.1; 2]);
                continue;
            }
            assert_eq!((count, steps[0].to_bits()), (3, 0.1_f64.to_bits()));
            assert!(steps[1..].iter().all(|step| (step - half).abs() < 1e-15));
        }
        assert_eq!(lengths(0.0, 0.03, 0.1), [0.03]);
    }

    #[test]
    fn too_many_steps_are_refused() {
        assert!(Division::new(0.0, 1.0, 1e-10, &Limits::default()).is_err());
        assert!(Division::new(0.0, 1.0, 1e-320, &Limits::default()).is_err());
    }
}
