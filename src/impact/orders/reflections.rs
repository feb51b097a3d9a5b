//! Reflections in contact space, the workspace of propagative impact, and which contact is next.

use crate::impact::{ImpactFailure, ImpactProblem};
use crate::random::below;
use crate::{InputError, Interrupt, validate};

/// Reflects contacts one after another; made once for a Delassus matrix, then reused without
/// allocation.
///
/// Reflecting contact `i` in momentum space is `p Γ(u_i) = p − 2⟨p, u_i⟩ u_i` (Seghete & Murphey,
/// eq. (7)); seen from the contacts it is `s ← s − 2 s_i C_{·i}` and `μ_i ← μ_i − 2 s_i` with the
/// scaled speeds `s` and impulses `μ`. The cost of a reflection is the number of contacts; the
/// number of coordinates does not enter. Kinetic energy and the momentum across all normals stay as
/// they are.
///
/// ```
/// use saltation::impact::{ImpactProblem, Reflections, ReflectionOrder};
/// use saltation::nalgebra::{DMatrix, DVector};
/// let delassus = DMatrix::from_row_slice(2, 2, &[2.0, -1.0, -1.0, 2.0]);
/// let cradle = ImpactProblem::new(delassus, DVector::from_element(2, -1.0))?;
/// let mut reflections = Reflections::new(&cradle);
/// reflections.run(ReflectionOrder::IndexOrder, 100)?;
/// assert_eq!(reflections.word(), [0, 1, 0]);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Reflections {
    /// `C` by columns, which are its rows.
    gram: Vec<f64>,
    roots: Vec<f64>,
    speeds: Vec<f64>,
    impulses: Vec<f64>,
    word: Vec<usize>,
    threshold: f64,
    interrupt: Option<Interrupt>,
}

/// Limit of the reflections of one run, whatever its cap.
pub(crate) const MOST: usize = 10_000_000;
/// The interrupt is checked once in so many reflections.
const OFTEN: usize = 256;

impl Reflections {
    /// At the start of a problem.
    pub fn new(problem: &ImpactProblem) -> Self {
        let mut reflections = Self::default();
        reflections.word.reserve(64);
        reflections.fill(problem);
        reflections
    }

    /// Likewise, in memory that is there.
    pub(crate) fn fill(&mut self, problem: &ImpactProblem) {
        let space = problem.space();
        for (to, from) in [
            (&mut self.gram, space.gram.as_slice()),
            (&mut self.roots, &space.roots),
            (&mut self.speeds, space.speeds.as_slice()),
        ] {
            to.clear();
            to.extend_from_slice(from);
        }
        self.impulses.clear();
        self.impulses.resize(space.contacts(), 0.0);
        self.word.clear();
        self.threshold = problem.threshold();
        self.interrupt = problem.interrupt().cloned();
    }

    /// Starts again with other contact speeds `u` (m/s, normals only), keeping the Delassus matrix;
    /// `threshold` as in [`ImpactProblem::threshold`].
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::NotFinite`].
    pub fn restart(&mut self, speeds: &[f64], threshold: f64) -> Result<(), ImpactFailure> {
        validate::length("contact speeds", self.speeds.len(), speeds.len())?;
        validate::finite("contact speeds", speeds)?;
        validate::finite("threshold", &[threshold])?;
        for i in 0..speeds.len() {
            self.speeds[i] = speeds[i] / self.roots[i];
        }
        self.impulses.fill(0.0);
        self.word.clear();
        self.threshold = threshold.max(0.0);
        Ok(())
    }

    /// Goes back to scaled speeds, with no impulses.
    pub(crate) fn reset(&mut self, scaled_speeds: &[f64]) {
        self.speeds.copy_from_slice(scaled_speeds);
        self.impulses.fill(0.0);
        self.word.clear();
    }

    /// Reflects one contact, whether it approaches or not; false when there is no such contact.
    #[inline]
    pub fn reflect(&mut self, contact: usize) -> bool {
        let n = self.speeds.len();
        let Some(&s) = self.speeds.get(contact) else {
            return false;
        };
        let column = &self.gram[contact * n..(contact + 1) * n];
        let twice = -2.0 * s;
        for (s, c) in self.speeds.iter_mut().zip(column) {
            *s += twice * c;
        }
        self.impulses[contact] += twice;
        self.word.push(contact);
        true
    }

    /// The contact that a rule reflects next; none when no contact approaches, or when
    /// [`ReflectionOrder::GivenFirst`] names one that does not.
    #[inline]
    pub fn next(&self, rule: ReflectionOrder) -> Option<usize> {
        rule.select(&self.speeds, self.threshold, self.word.len())
    }

    /// Reflects until no contact approaches; returns the number of reflections. A `cap` above 10
    /// 000 000 is lowered to it; the word takes eight bytes a reflection.
    ///
    /// # Errors
    /// [`ImpactFailure::NotApproaching`] when the rule asks for a first contact that does not approach
    /// while another does, [`InputError::NoSuch`] when that contact does not exist,
    /// [`ImpactFailure::ReflectionCap`] after `cap` reflections, [`ImpactFailure::Overflow`] when speeds
    /// overflow, [`ImpactFailure::Interrupted`] ([`ImpactProblem::with_interrupt`]).
    pub fn run(&mut self, rule: ReflectionOrder, cap: usize) -> Result<usize, ImpactFailure> {
        if let ReflectionOrder::GivenFirst(contact) = rule
            && self.word.is_empty()
        {
            self.check_first(contact)?;
        }
        let (start, cap) = (self.word.len(), cap.min(MOST));
        while let Some(contact) = self.next(rule) {
            if self.word.len() - start >= cap {
                return Err(self.stuck(cap));
            }
            if self.word.len().is_multiple_of(OFTEN)
                && let Some(interrupt) = &self.interrupt
            {
                interrupt.check()?;
            }
            self.reflect(contact);
        }
        match self.speeds.iter().position(|s| !s.is_finite()) {
            None => Ok(self.word.len() - start),
            Some(contact) => Err(ImpactFailure::Overflow {
                quantity: "scaled speed",
                contact,
                value: self.speeds[contact],
            }),
        }
    }

    fn check_first(&self, contact: usize) -> Result<(), ImpactFailure> {
        let (Some(s), Some(root)) = (self.speeds.get(contact), self.roots.get(contact)) else {
            return Err(ImpactFailure::Input(InputError::NoSuch {
                what: "contact",
                index: contact,
                count: self.speeds.len(),
            }));
        };
        if *s < -self.threshold || self.is_feasible() {
            return Ok(());
        }
        Err(ImpactFailure::NotApproaching {
            contact,
            speed: s * root,
        })
    }

    fn stuck(&self, limit: usize) -> ImpactFailure {
        let worst = ReflectionOrder::ArgMin.select(&self.speeds, self.threshold, 0);
        let contact = worst.unwrap_or(0);
        let scaled = self.speeds.get(contact).zip(self.roots.get(contact));
        ImpactFailure::ReflectionCap {
            limit,
            contact,
            speed: scaled.map_or(f64::NAN, |(s, root)| s * root),
        }
    }

    /// True when no contact approaches.
    #[inline]
    pub fn is_feasible(&self) -> bool {
        self.speeds.iter().all(|&s| s >= -self.threshold)
    }

    /// The scaled speeds `s_i = u_i/√G_ii` now.
    pub fn scaled_speeds(&self) -> &[f64] {
        &self.speeds
    }

    /// The scaled impulses `μ_i = √G_ii p_i` so far.
    pub fn scaled_impulses(&self) -> &[f64] {
        &self.impulses
    }

    /// The contacts reflected so far.
    pub fn word(&self) -> &[usize] {
        &self.word
    }
}

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
#[expect(clippy::float_cmp, reason = "exact equality is what is promised")]
mod tests {
    use super::*;
    use nalgebra::{dmatrix, dvector};

    #[test]
    fn a_reflection_is_its_own_inverse_and_keeps_the_energy() {
        let g = dmatrix![2.0, 0.3, -0.7; 0.3, 1.0, 0.2; -0.7, 0.2, 3.0];
        let problem = ImpactProblem::new(g, dvector![-1.0, 2.0, -0.5]).unwrap();
        let mut reflections = Reflections::new(&problem);
        let before = reflections.scaled_speeds().to_vec();
        assert!(reflections.reflect(2));
        let after = dvector![
            reflections.scaled_speeds()[0],
            reflections.scaled_speeds()[1],
            reflections.scaled_speeds()[2]
        ];
        let inverse = problem.cosines().clone().try_inverse().unwrap();
        let energy = after.dot(&(inverse * &after)).sqrt();
        assert!((energy - problem.kinetic_norm()).abs() < 1e-14);
        assert_eq!(after[2], -before[2]);
        assert!(reflections.reflect(2) && !reflections.reflect(3));
        assert_eq!(reflections.word(), [2, 2]);
        for (s, b) in reflections.scaled_speeds().iter().zip(before) {
            assert!((s - b).abs() < 1e-15);
        }
        assert_eq!(reflections.scaled_impulses(), [0.0; 3]);
    }

    #[test]
    fn a_first_contact_must_approach() {
        let g = dmatrix![1.0, 0.0; 0.0, 1.0];
        let problem = ImpactProblem::new(g, dvector![-1.0, 2.0]).unwrap();
        let run = |rule| Reflections::new(&problem).run(rule, 10);
        assert!(matches!(
            run(ReflectionOrder::GivenFirst(1)),
            Err(ImpactFailure::NotApproaching {
                contact: 1,
                speed: 2.0
            })
        ));
        assert!(matches!(
            run(ReflectionOrder::GivenFirst(2)),
            Err(ImpactFailure::Input(InputError::NoSuch {
                what: "contact",
                index: 2,
                count: 2
            }))
        ));
        assert_eq!(run(ReflectionOrder::GivenFirst(0)), Ok(1));
        assert!(matches!(
            Reflections::new(&problem).run(ReflectionOrder::ArgMin, 0),
            Err(ImpactFailure::ReflectionCap { limit: 0, .. })
        ));
    }

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
