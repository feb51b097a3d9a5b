//! Rules for the violated contact that is reflected next.

use crate::random::below;

/// Chooses among the contacts that approach: by scaled speed `s_i = u_i/√G_ii`, so that masses and
/// units do not matter.
///
/// Scaled speeds that differ by less than the problem's threshold are a tie; the lowest number
/// wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ReflectionOrder {
    /// The one that approaches fastest.
    #[default]
    ArgMin,
    /// The one that approaches slowest (the paper's "arg max", restricted to contacts that
    /// approach).
    ArgMax,
    /// The one with the lowest number.
    IndexOrder,
    /// This contact first, then [`ReflectionOrder::ArgMin`]; two contacts alternate.
    GivenFirst(usize),
    /// One of them at random, drawn by (seed, number of the stage). The same seed gives the same
    /// word.
    Random {
        /// The seed.
        seed: u64,
    },
}

impl ReflectionOrder {
    /// The contact to reflect at a stage, or none when no scaled speed lies below `−threshold`.
    #[inline]
    pub(crate) fn select(self, speeds: &[f64], threshold: f64, stage: usize) -> Option<usize> {
        match self {
            Self::GivenFirst(first) if stage == 0 => {
                let approaches = speeds.get(first).is_some_and(|&s| s < -threshold);
                approaches.then_some(first)
            }
            Self::ArgMin | Self::GivenFirst(_) => {
                let mut chosen = None;
                let mut bar = -threshold;
                for (i, &s) in speeds.iter().enumerate() {
                    if s < bar {
                        chosen = Some(i);
                        bar = s - threshold;
                    }
                }
                chosen
            }
            Self::ArgMax => {
                let mut chosen = None;
                let mut bar = f64::NEG_INFINITY;
                for (i, &s) in speeds.iter().enumerate() {
                    if s < -threshold && s > bar {
                        chosen = Some(i);
                        bar = s + threshold;
                    }
                }
                chosen
            }
            Self::IndexOrder => speeds.iter().position(|&s| s < -threshold),
            Self::Random { seed } => {
                let approaching = || speeds.iter().enumerate().filter(|(_, s)| **s < -threshold);
                let count = approaching().count();
                let chosen = approaching().nth(below(seed, stage as u64, count))?;
                Some(chosen.0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_chooses_among_the_violated() {
        let s = [0.5, -1.0, -3.0, -2.0, 1.0, -3.0];
        assert_eq!(ReflectionOrder::ArgMin.select(&s, 1e-12, 0), Some(2));
        assert_eq!(ReflectionOrder::ArgMax.select(&s, 1e-12, 0), Some(1));
        assert_eq!(ReflectionOrder::ArgMax.select(&s, 1.5, 0), Some(2));
        assert_eq!(ReflectionOrder::IndexOrder.select(&s, 1e-12, 0), Some(1));
        assert_eq!(ReflectionOrder::GivenFirst(3).select(&s, 1e-12, 0), Some(3));
        assert_eq!(ReflectionOrder::GivenFirst(3).select(&s, 1e-12, 1), Some(2));
        assert_eq!(ReflectionOrder::GivenFirst(0).select(&s, 1e-12, 0), None);
        assert_eq!(ReflectionOrder::GivenFirst(9).select(&s, 1e-12, 0), None);
        for rule in [
            ReflectionOrder::ArgMin,
            ReflectionOrder::ArgMax,
            ReflectionOrder::IndexOrder,
            ReflectionOrder::Random { seed: 1 },
        ] {
            assert_eq!(rule.select(&s, 3.0, 5), None);
        }
    }

    #[test]
    fn ties_go_to_the_lowest_number() {
        let s = [-1.0, -1.0 - 1e-15, -1.0 + 1e-15];
        assert_eq!(ReflectionOrder::ArgMin.select(&s, 1e-12, 0), Some(0));
        assert_eq!(ReflectionOrder::ArgMax.select(&s, 1e-12, 0), Some(0));
    }

    #[test]
    fn random_draws_reach_every_violated_contact_and_no_other() {
        let s = [-1.0, 1.0, -2.0, -1e-15, -3.0];
        let mut counts = [0; 5];
        for stage in 0..3000 {
            if let Some(i) = (ReflectionOrder::Random { seed: 7 }).select(&s, 1e-12, stage) {
                counts[i] += 1;
            }
        }
        assert_eq!((counts[1], counts[3]), (0, 0));
        for i in [0, 2, 4] {
            assert!((900..1100).contains(&counts[i]), "{counts:?}");
        }
    }
}
