//! The lengths of adaptive steps: which to try, and what success and failure say of the next.
//! Used by the run, by the columns of derivatives and by impacts with friction.

use super::difference::on_clock;
use super::{StepControl, greater, lesser};

/// A last step up to this much longer than proposed spares one of almost no length.
pub(crate) const LAST: f64 = 1.01;

/// The lengths of the steps of one run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Adaptive {
    control: StepControl,
    /// Step to try next (s).
    pub(crate) next: f64,
}

/// A step to try.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proposal {
    /// Length that was proposed (s).
    proposed: f64,
    /// Its length (s).
    pub(crate) step: f64,
}

impl Proposal {
    /// The proposed step from a time `t`, as the clock shows it. If the end is no farther than `most`, the
    /// step goes exactly to the end, `remaining` seconds away.
    #[inline]
    pub(crate) fn new(t: f64, proposed: f64, most: f64, remaining: f64) -> Self {
        let proposed = on_clock(t, proposed);
        let step = if most >= remaining {
            remaining
        } else {
            lesser(proposed, remaining)
        };
        Self { proposed, step }
    }
}

impl Adaptive {
    /// Without experience, to begin with a step of this length.
    pub(crate) const fn new(next: f64) -> Self {
        Self {
            control: StepControl::new(),
            next,
        }
    }

    /// Records an accepted step (error of at most one) and proposes the next.
    #[inline]
    pub(crate) fn accept(&mut self, proposal: Proposal, error: f64) {
        let Proposal { proposed, step } = proposal;
        let factor = self.control.accepted(error);
        // A step cut short by the end says nothing against a longer one.
        self.next = greater(step * factor, if step < proposed { proposed } else { 0.0 });
    }

    /// Records a rejected step (error above one, or not a number) and proposes a shorter one.
    #[inline]
    pub(crate) fn reject(&mut self, step: f64, error: f64) {
        self.next = step * self.control.rejected(error);
    }

    /// True when the last step was rejected.
    #[inline]
    pub(crate) fn was_rejected(&self) -> bool {
        self.control.was_rejected()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_last_step_ends_at_the_end_and_says_nothing_against_longer_ones() {
        let mut steps = Adaptive::new(0.5);
        let proposal = Proposal::new(0.0, steps.next, LAST * steps.next, 0.504);
        assert_eq!(proposal.step.to_bits(), 0.504f64.to_bits());
        let proposal = Proposal::new(0.0, steps.next, LAST * steps.next, 0.1);
        steps.accept(proposal, 1.0);
        assert_eq!(steps.next.to_bits(), 0.5f64.to_bits());
        // A whole step with this error is followed by a shorter one.
        let proposal = Proposal::new(0.0, steps.next, LAST * steps.next, 10.0);
        assert_eq!(proposal.step.to_bits(), 0.5f64.to_bits());
        steps.accept(proposal, 1.0);
        assert!(steps.next < 0.5, "{steps:?}");
    }

    #[test]
    fn rejected_steps_are_followed_by_shorter_ones_and_then_no_longer_ones() {
        let mut steps = Adaptive::new(1.0);
        assert!(!steps.was_rejected());
        steps.reject(1.0, 50.0);
        let shorter = steps.next;
        assert!(shorter < 0.6 && steps.was_rejected());
        steps.accept(Proposal::new(0.0, shorter, shorter, 10.0), 1e-9);
        assert!(steps.next <= shorter && !steps.was_rejected());
        steps.reject(1.0, f64::NAN);
        assert!((steps.next - 0.1).abs() < 1e-15);
    }
}
