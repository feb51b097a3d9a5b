//! What an impact law is, and the set it returns.

use std::fmt;

use super::{ImpactProblem, Outcome};
use crate::Error;

/// A rule for what happens to velocities when contacts close: from a problem to a set of outcomes.
///
/// A law is a value; laws can be compared on the same problem. Single-valued ones return one outcome.
pub trait ImpactLaw {
    /// The name of the law, for messages; provided: the name of its type.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }

    /// True when the law takes coefficients of friction into account; provided: false. What ignores them must not be given any: a
    /// driver refuses to run, and the laws of this crate refuse to resolve, with [`Error::FrictionIgnored`].
    fn honours_friction(&self) -> bool {
        false
    }

    /// All outcomes the law allows, each with its impulses.
    ///
    /// # Errors
    /// The reasons for which a law has no answer are those of the law: see each. [`Error::FrictionIgnored`] for a problem with
    /// friction by a law that knows none.
    fn resolve(&self, problem: &ImpactProblem) -> Result<Outcomes, Error>;

    /// The only outcome.
    ///
    /// # Errors
    /// Those of [`resolve`](Self::resolve), and [`Error::NotSingle`].
    fn outcome(&self, problem: &ImpactProblem) -> Result<Outcome, Error> {
        self.resolve(problem)?.single()
    }
}

impl<L: ImpactLaw + ?Sized> ImpactLaw for &L {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn honours_friction(&self) -> bool {
        (**self).honours_friction()
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<Outcomes, Error> {
        (**self).resolve(problem)
    }
}

impl<L: ImpactLaw + ?Sized> ImpactLaw for Box<L> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn honours_friction(&self) -> bool {
        (**self).honours_friction()
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<Outcomes, Error> {
        (**self).resolve(problem)
    }
}

/// The outcomes of a law, no two alike.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Outcomes {
    /// The outcomes, in an order that depends on the problem only.
    pub list: Vec<Outcome>,
    /// False when the search stopped at a cap, or went round without an end from some momentum: there may be more.
    pub is_complete: bool,
    /// Work of a search: the distinct momenta it came through, start and ends included ([`AllOutcomes`](super::AllOutcomes)),
    /// or its reflections ([`MinimalOutcomes`](super::MinimalOutcomes)); 0 for laws that do not search.
    pub effort: usize,
}

impl Outcomes {
    /// A complete set of one.
    pub fn of_one(outcome: Outcome) -> Self {
        Self {
            list: vec![outcome],
            is_complete: true,
            effort: 0,
        }
    }

    /// The only outcome.
    ///
    /// # Errors
    /// [`Error::NotSingle`] when there are more or none, or when the search stopped at a cap.
    pub fn single(mut self) -> Result<Outcome, Error> {
        let count = self.list.len();
        match self.list.pop() {
            Some(outcome) if count == 1 && self.is_complete => Ok(outcome),
            _ => Err(Error::NotSingle { count }),
        }
    }

    /// The greatest distance between the momenta of two outcomes, in the metric of kinetic energy (`√J`); 0 for one. All pairs are
    /// compared: a second for 5000 outcomes.
    pub fn spread(&self) -> f64 {
        let pairs = self
            .list
            .iter()
            .enumerate()
            .flat_map(|(i, a)| self.list[..i].iter().map(move |b| a.distance(b)));
        pairs.fold(0.0, f64::max)
    }
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
