//! Impact laws, and the sets of outcomes that they return.

use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use nalgebra::DVector;

use super::ImpactFailure;

use super::laws::complementarity::Solvers;
use super::laws::plastic::Blend;
use super::planar::modes::Modes;
use super::{ImpactProblem, Outcome, Reflections};
use crate::model::forward::hand_on;

/// A rule for what happens to velocities when contacts close: from a problem to a set of outcomes.
///
/// A law is a value; laws can be compared on the same problem. Single-valued ones return one
/// outcome.
pub trait ImpactLaw {
    /// The name of the law, for messages; provided: the name of its type.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

    /// True when the law takes coefficients of friction into account; provided: false. A law that
    /// ignores friction must not be given any: drivers refuse to run, and the laws of this crate
    /// refuse to resolve, with [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored).
    fn honours_friction(&self) -> bool {
        false
    }

    /// True when the law takes coefficients of restitution into account; provided: true. Drivers
    /// refuse a coefficient that is not zero with a law that ignores it, with
    /// [`InputError::RestitutionIgnored`](crate::InputError::RestitutionIgnored).
    fn honours_restitution(&self) -> bool {
        true
    }

    /// All outcomes the law allows, each with its impulses, in place of those that are there: what an
    /// earlier problem left is to be replaced, and its memory may be. So most laws of this crate that
    /// give one outcome allocate nothing from the second problem of a size on (not
    /// [`InOrder`](super::InOrder), nor [`AnitescuPotra`](super::AnitescuPotra) in space or beyond five
    /// contacts). After an error the outcomes mean nothing. A law of one's own hands on to others, or
    /// assigns a new value: [`Outcomes::of_one`] of [`ImpactProblem::outcome`].
    ///
    /// Of the outcome that a run takes, its driver computes speeds, energy and the remarks on pulls,
    /// approach and energy from the impulses, whatever the law wrote. It refuses impulses of another
    /// number or not finite ([`ImpactFailure::OutcomeOfLaw`]), and those after which a contact
    /// approaches on faster than the tolerance of rates ([`ImpactFailure::LeftApproaching`]).
    ///
    /// # Errors
    /// The reasons for which the law has no outcome; each law documents its own.
    /// [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored) for a problem with
    /// friction, by a law that ignores it.
    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure>;

    /// All outcomes the law allows, each with its impulses.
    ///
    /// # Errors
    /// As [`resolve_into`](Self::resolve_into).
    fn resolve(&self, problem: &ImpactProblem) -> Result<Outcomes, ImpactFailure> {
        let mut outcomes = Outcomes::default();
        self.resolve_into(problem, &mut outcomes)?;
        Ok(outcomes)
    }

    /// The only outcome.
    ///
    /// # Errors
    /// As [`resolve`](Self::resolve), and [`ImpactFailure::NotSingle`].
    fn outcome(&self, problem: &ImpactProblem) -> Result<Outcome, ImpactFailure> {
        self.resolve(problem)?.single()
    }
}

macro_rules! pointers {
    ($($pointer:ty),+) => {$(
        impl<L: ImpactLaw + ?Sized> ImpactLaw for $pointer {
            hand_on! { self => (**self);
                name() -> &'static str;
                honours_friction() -> bool;
                honours_restitution() -> bool;
                resolve_into(problem: &ImpactProblem, outcomes: &mut Outcomes) -> Result<(), ImpactFailure>;
                resolve(problem: &ImpactProblem) -> Result<Outcomes, ImpactFailure>;
                outcome(problem: &ImpactProblem) -> Result<Outcome, ImpactFailure>;
            }
        }
    )+};
}

pointers!(&L, Box<L>, Rc<L>, Arc<L>);

/// Its name.
impl fmt::Debug for dyn ImpactLaw + Send + Sync + '_ {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The outcomes of a law, no two alike; by default a complete set of none.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcomes {
    /// The outcomes, in an order that depends on the problem only.
    pub list: Vec<Outcome>,
    /// False when there may be more outcomes: the search stopped at a cap, or found a momentum from
    /// which no word ends, or the law gives one of several that it does not look for
    /// ([`AnitescuPotra`](super::AnitescuPotra) in space, samples), or in the plane one mode holds a continuum of
    /// velocities, or impulses that are too large to be listed. [`Selection::Single`](super::Selection::Single)
    /// refuses such a set, even of one; [`Selection::First`](super::Selection::First) takes the first.
    ///
    /// In space true says that all modes of up to five contacts were tried, not that no outcome is missed: the
    /// directions of several slips that begin in one mode are those that Newton's method finds, which misses a few,
    /// mostly with coefficients of friction above one. Where an outcome has the remark
    /// [`SharedImpulses`](super::Remark::SharedImpulses) it stands for all its shares.
    pub is_complete: bool,
    /// Work of a search: the distinct momenta it came through, start and ends included
    /// ([`AllOutcomes`](super::AllOutcomes)), or its reflections
    /// ([`MinimalOutcomes`](super::MinimalOutcomes)); 0 for laws that do not search.
    pub effort: usize,
    /// The memory of laws, none before the first.
    space: Option<Box<Space>>,
}

impl Default for Outcomes {
    fn default() -> Self {
        Self::of(Vec::new(), true, 0)
    }
}

/// The memory in which laws solve their problems. It has no value: a copy begins without any.
#[derive(Default)]
pub(super) struct Space {
    pub(super) solvers: Solvers,
    pub(super) blend: Blend,
    pub(super) reflections: Reflections,
    pub(super) modes: Modes,
    /// Speeds and impulses of a law that goes by stages, and those of one stage.
    pub(super) speeds: DVector<f64>,
    pub(super) impulses: DVector<f64>,
    pub(super) pushes: DVector<f64>,
}

impl Clone for Space {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Space {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl Outcomes {
    /// A complete set of one.
    pub fn of_one(outcome: Outcome) -> Self {
        Self::of(vec![outcome], true, 0)
    }

    /// Outcomes of a search.
    pub(super) fn of(list: Vec<Outcome>, is_complete: bool, effort: usize) -> Self {
        Self {
            list,
            is_complete,
            effort,
            space: None,
        }
    }

    /// Marks the outcomes of an earlier problem, whose memory stays: their impulses are no numbers.
    pub(crate) fn forget(&mut self) {
        for outcome in &mut self.list {
            outcome.impulses.fill(f64::NAN);
        }
    }

    /// Keeps the memory of modes.
    pub(super) fn keep(&mut self, modes: Modes) {
        self.space.get_or_insert_default().modes = modes;
    }

    /// Makes this a complete set of one, to be written but for its remarks, with the memory of laws.
    pub(super) fn begin_one(&mut self) -> (&mut Outcome, &mut Space) {
        (self.is_complete, self.effort) = (true, 0);
        self.list.resize_with(1, Outcome::empty);
        let outcome = &mut self.list[0];
        outcome.remarks.clear();
        (outcome, self.space.get_or_insert_default())
    }

    /// The number of the only outcome.
    ///
    /// # Errors
    /// [`ImpactFailure::NotSingle`].
    pub(super) fn single_place(&self) -> Result<usize, ImpactFailure> {
        match self.list.len() {
            1 if self.is_complete => Ok(0),
            count => Err(ImpactFailure::NotSingle { count }),
        }
    }

    /// The only outcome.
    ///
    /// # Errors
    /// [`ImpactFailure::NotSingle`] when there are more or none, or when the search stopped at a cap.
    pub fn single(mut self) -> Result<Outcome, ImpactFailure> {
        let place = self.single_place()?;
        Ok(self.list.swap_remove(place))
    }

    /// The greatest distance between the momenta of two outcomes, in the metric of kinetic energy
    /// (`√J`); 0 for one.
    ///
    /// Exact up to 5000 outcomes. With more, at most 2²⁴ pairs are compared (about a second), those
    /// farthest from the first outcome first. The result is then at least half of the spread.
    pub fn spread(&self) -> f64 {
        let list = &self.list;
        farthest(list.len(), |i, j| list[i].distance(&list[j]))
    }
}

/// Limit of the pairs of outcomes that are compared.
const MOST_PAIRS: usize = 1 << 24;

/// The greatest `distance` of two of `n` points, from [`MOST_PAIRS`] pairs beside those with the
/// first point.
fn farthest(n: usize, distance: impl Fn(usize, usize) -> f64) -> f64 {
    let mut from_first: Vec<(f64, usize)> = (1..n).map(|i| (distance(0, i), i)).collect();
    from_first.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut most = from_first
        .iter()
        .fold(0.0, |most: f64, &(d, _)| most.max(d));
    let mut left = MOST_PAIRS;
    for (k, &(own, i)) in from_first.iter().enumerate() {
        for &(other, j) in &from_first[k + 1..] {
            // By the triangle inequality no pair from here on is farther apart.
            if own + other <= most {
                break;
            }
            if left == 0 {
                return most;
            }
            left -= 1;
            most = most.max(distance(i, j));
        }
    }
    most
}

impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, outcome) in self.list.iter().enumerate() {
            if i > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{outcome}")?;
        }
        if self.is_complete {
            Ok(())
        } else {
            f.write_str("\n… stopped at a cap")
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[test]
    fn few_pairs_of_many_points_are_compared() {
        let n = 10_000;
        let asked = Cell::new(0);
        // On a circle, where no pair is ruled out by its distances from the first point.
        let place = |i: usize| (std::f64::consts::TAU * i as f64 / n as f64).sin_cos();
        let distance = |i: usize, j: usize| {
            asked.set(asked.get() + 1);
            let (a, b) = (place(i), place(j));
            (a.0 - b.0).hypot(a.1 - b.1)
        };
        let found = farthest(n, distance);
        assert!((found - 2.0).abs() < 1e-12, "{found}");
        assert!(asked.get() <= (1 << 24) + n, "{}", asked.get());
    }

    /// A law that writes every method.
    struct Own;

    impl ImpactLaw for Own {
        fn name(&self) -> &'static str {
            "own"
        }
        fn honours_friction(&self) -> bool {
            true
        }
        fn honours_restitution(&self) -> bool {
            false
        }
        fn resolve_into(
            &self,
            _problem: &ImpactProblem,
            _outcomes: &mut Outcomes,
        ) -> Result<(), ImpactFailure> {
            Err(ImpactFailure::NotSingle { count: 6 })
        }
        fn resolve(&self, _problem: &ImpactProblem) -> Result<Outcomes, ImpactFailure> {
            Err(ImpactFailure::NotSingle { count: 7 })
        }
        fn outcome(&self, _problem: &ImpactProblem) -> Result<Outcome, ImpactFailure> {
            Err(ImpactFailure::NotSingle { count: 8 })
        }
    }

    #[test]
    fn pointers_hand_every_method_on() {
        fn asked(law: impl ImpactLaw) {
            let one = nalgebra::DMatrix::identity(1, 1);
            let problem = ImpactProblem::new(one, DVector::zeros(1)).unwrap();
            assert_eq!((law.name(), law.honours_friction()), ("own", true));
            assert!(!law.honours_restitution());
            let refused = |count| ImpactFailure::NotSingle { count };
            let mut outcomes = Outcomes::default();
            let resolved = law.resolve_into(&problem, &mut outcomes);
            assert_eq!(resolved.unwrap_err(), refused(6));
            assert_eq!(law.resolve(&problem).unwrap_err(), refused(7));
            assert_eq!(law.outcome(&problem).unwrap_err(), refused(8));
        }
        asked(Own);
        asked(&Own);
        asked(Box::new(Own));
        asked(Rc::new(Own));
        asked(Arc::new(Own));
        let any: &dyn ImpactLaw = &Own;
        asked(any);
    }

    #[test]
    fn the_farthest_pair_need_not_hold_the_first_point() {
        let places = [0.0, 3.0, -2.0, 0.5, -7.0, 6.5];
        let distance = |i: usize, j: usize| f64::abs(places[i] - places[j]);
        for n in 0..=places.len() {
            let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
            let expected = pairs.fold(0.0, |most: f64, (i, j)| most.max(distance(i, j)));
            assert!((farthest(n, distance) - expected).abs() < 1e-12);
        }
        // NaN is skipped.
        let lost = |i: usize, j: usize| {
            if i.max(j) == 2 {
                f64::NAN
            } else {
                distance(i, j)
            }
        };
        assert!((farthest(places.len(), lost) - 13.5).abs() < 1e-12);
    }
}
