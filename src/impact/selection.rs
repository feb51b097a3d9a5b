//! The selection of one outcome where a law has several.

use std::fmt;
use std::sync::Arc;

use super::ImpactFailure;
use super::{Outcome, Outcomes};
use crate::random::below;

/// Takes one outcome of a set, for a run that needs one.
///
/// `Single` refuses an incomplete set ([`Outcomes::is_complete`]), whose search stopped at a cap;
/// the others choose among the known outcomes. The choice of `First` and `Keyed` depends on the set
/// and the number of the impact, not on its time. So a derivative chooses the outcome of the run,
/// and so does a run from a nearby start with the same transitions, as long as the set keeps its
/// order there.
///
/// ```
/// use saltation::impact::{AllOutcomes, ImpactLaw, ImpactProblem, Occasion, Selection};
/// use saltation::nalgebra::{DMatrix, DVector};
/// let delassus = DMatrix::from_row_slice(2, 2, &[1.0, -0.6, -0.6, 1.0]);
/// let problem = ImpactProblem::new(delassus, DVector::from_element(2, -1.0))?;
/// let outcomes = AllOutcomes::new().resolve(&problem)?;
/// assert_eq!(outcomes.list.len(), 2);
/// let first = Occasion { t: 0.3, number: 1 }; // the first impact of a run
/// assert!(Selection::Single.select(outcomes.clone(), first).is_err());
/// assert_eq!(Selection::First.select(outcomes.clone(), first)?, outcomes.list[0]);
/// // The one that spreads impulses most evenly.
/// let evenly = Selection::by(|outcomes, _| {
///     let largest = |i: &usize| outcomes.list[*i].impulses.amax();
///     (0..outcomes.list.len()).min_by(|a, b| largest(a).total_cmp(&largest(b)))
/// });
/// assert!(evenly.select(outcomes, first).is_ok());
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum Selection {
    /// The only one: more, none, or an incomplete set end the run with [`ImpactFailure::NotSingle`].
    #[default]
    Single,
    /// The first in the order of the set, complete or not.
    First,
    /// One of the known outcomes, drawn by this seed and the number of the impact. The same seed
    /// gives the same run.
    Keyed(u64),
    /// A function of the set and the occasion that returns the number of the outcome, from 0. None
    /// ends the run with [`ImpactFailure::NoSuchOutcome`]. The function decides what to do with
    /// incomplete sets ([`Outcomes::is_complete`]).
    By(SelectionFn),
}

/// A function that chooses: the number of an outcome, by the set and the occasion.
pub type SelectionFn = Arc<dyn Fn(&Outcomes, Occasion) -> Option<usize> + Send + Sync>;

/// Time and number of an impact in its run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occasion {
    /// Time (s).
    pub t: f64,
    /// 0 at the start of a run and for impacts by a policy; else one more than the number of
    /// transitions before ([`Crossed::transition`](crate::Crossed::transition)).
    pub number: usize,
}

impl Selection {
    /// By a function, as [`Selection::By`].
    pub fn by(
        choose: impl Fn(&Outcomes, Occasion) -> Option<usize> + Send + Sync + 'static,
    ) -> Self {
        Self::By(Arc::new(choose))
    }

    /// The outcome that it takes.
    ///
    /// # Errors
    /// [`ImpactFailure::NotSingle`] by `Single`, and by the others where there is none;
    /// [`ImpactFailure::NoSuchOutcome`] by a function that chooses none.
    pub fn select(
        &self,
        mut outcomes: Outcomes,
        occasion: Occasion,
    ) -> Result<Outcome, ImpactFailure> {
        let place = self.choose(&outcomes, occasion)?;
        Ok(outcomes.list.swap_remove(place))
    }

    /// The place of the outcome that it takes; see [`select`](Self::select).
    pub(crate) fn choose(
        &self,
        outcomes: &Outcomes,
        occasion: Occasion,
    ) -> Result<usize, ImpactFailure> {
        let count = outcomes.list.len();
        let chosen = match self {
            Self::Single => return outcomes.single_place(),
            _ if count == 0 => return Err(ImpactFailure::NotSingle { count }),
            Self::First => Some(0),
            Self::Keyed(seed) => Some(below(*seed, occasion.number as u64, count)),
            Self::By(choose) => choose(outcomes, occasion),
        };
        match chosen {
            Some(chosen) if chosen < count => Ok(chosen),
            _ => Err(ImpactFailure::NoSuchOutcome { chosen, count }),
        }
    }
}

impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => f.write_str("Single"),
            Self::First => f.write_str("First"),
            Self::Keyed(seed) => f.debug_tuple("Keyed").field(seed).finish(),
            Self::By(_) => f.write_str("By(..)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{dmatrix, dvector};

    use super::super::{AllOutcomes, ImpactLaw, ImpactProblem, Unilateral};
    use super::*;

    fn at(t: f64, number: usize) -> Occasion {
        Occasion { t, number }
    }

    fn two() -> Outcomes {
        let problem =
            ImpactProblem::new(dmatrix![1.0, -0.6; -0.6, 1.0], dvector![-1.0, -1.0]).unwrap();
        AllOutcomes::new().resolve(&problem).unwrap()
    }

    fn one() -> Outcomes {
        let problem = ImpactProblem::new(dmatrix![1.0], dvector![-1.0]).unwrap();
        Unilateral.resolve(&problem).unwrap()
    }

    #[test]
    fn single_takes_the_only_one_of_a_complete_set() {
        let single = Selection::default();
        assert_eq!(
            single.select(one(), at(1.0, 1)).as_ref(),
            Ok(&one().list[0])
        );
        let refused = |count| Err(ImpactFailure::NotSingle { count });
        assert_eq!(single.select(two(), at(1.0, 1)), refused(2));
        let mut incomplete = one();
        incomplete.is_complete = false;
        assert_eq!(single.select(incomplete.clone(), at(1.0, 1)), refused(1));
        assert!(Selection::First.select(incomplete, at(1.0, 1)).is_ok());
        let mut none = one();
        none.list.clear();
        for selection in [single, Selection::First, Selection::Keyed(1)] {
            assert_eq!(selection.select(none.clone(), at(1.0, 1)), refused(0));
        }
    }

    #[test]
    fn draws_depend_on_seed_and_number_alone_and_reach_all() {
        let drawn = |seed, occasion| Selection::Keyed(seed).select(two(), occasion).unwrap();
        let chosen = |seed, number| drawn(seed, at(0.0, number));
        let mut counts = [0; 2];
        for k in 0..200 {
            assert_eq!(chosen(3, k), drawn(3, at(0.1 * k as f64, k)));
            counts[usize::from(chosen(3, k) == two().list[0])] += 1;
        }
        assert!(counts.iter().all(|&c| c > 70), "{counts:?}");
        assert!((0..20).any(|k| chosen(3, k) != chosen(4, k)));
    }

    #[test]
    fn functions_choose_or_refuse() {
        let last = Selection::by(|outcomes, _| outcomes.list.len().checked_sub(1));
        assert_eq!(last.select(two(), at(0.0, 0)).as_ref(), Ok(&two().list[1]));
        let late = Selection::by(|_, at| (at.t > 1.0).then_some(0));
        assert!(late.select(two(), at(2.0, 1)).is_ok());
        let (chosen, count) = (None, 2);
        let refused = Err(ImpactFailure::NoSuchOutcome { chosen, count });
        assert_eq!(late.select(two(), at(0.5, 1)), refused);
        let beyond = Selection::by(|outcomes, _| Some(outcomes.list.len()));
        let chosen = Some(2);
        let refused = Err(ImpactFailure::NoSuchOutcome { chosen, count });
        assert_eq!(beyond.select(two(), at(0.5, 1)), refused);
        assert_eq!(
            format!("{beyond:?} {:?}", Selection::Keyed(5)),
            "By(..) Keyed(5)"
        );
    }
}
