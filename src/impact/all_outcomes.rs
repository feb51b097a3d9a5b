//! All outcomes of propagative impact: every order in which approaching contacts can be reflected.

use super::interior;
use super::momenta::Momenta;
use super::restitution::Blend;
use super::{ImpactLaw, ImpactProblem, Outcomes, Reflections};
use crate::Error;

/// Momenta that differ by less than this part of `√(2T)` are one.
pub(super) const EQUAL: f64 = 1e-9;

/// Every outcome of [`Propagative`](super::Propagative), whatever contact is chosen at each stage: the end momenta of all
/// admissible words (words that reflect, at each stage, a contact that approaches, and end when none does).
///
/// A breadth-first search over momenta, in which equal ones meet; the cost is the number of distinct momenta times the square
/// of the number of contacts. Each outcome carries a shortest word, the lexicographically first of these. Outcomes are in the
/// order in which the search finds them: by the length of their words, then lexicographically.
///
/// Beyond the cap of momenta the set is incomplete and says so; [`Error::NoFeasibleInterior`] when it need not end, other
/// errors as for [`Propagative`](super::Propagative).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllOutcomes {
    cap: usize,
}

/// Most momenta of a search, unless another cap is set.
const CAP: usize = 100_000;

impl AllOutcomes {
    /// With the default cap.
    pub const fn new() -> Self {
        Self { cap: CAP }
    }

    /// Most momenta of a search; default 100 000. A cradle of `n` equal balls has `n!`.
    #[must_use]
    pub const fn cap(mut self, momenta: usize) -> Self {
        self.cap = momenta;
        self
    }

    pub(super) const fn limit(self) -> usize {
        self.cap
    }
}

impl Default for AllOutcomes {
    fn default() -> Self {
        Self::new()
    }
}

impl ImpactLaw for AllOutcomes {
    fn resolve(&self, problem: &ImpactProblem) -> Result<Outcomes, Error> {
        let blend = Blend::of(problem)?;
        let search = Search::run(problem, self.cap);
        interior::check_search(problem.space(), self.cap, search.is_complete)?;
        let mut reflections = Reflections::new(problem);
        let mut list = Vec::with_capacity(search.ends.len());
        for word in search.words() {
            reflections.reset(problem.space().speeds.as_slice());
            for &contact in &word {
                reflections.reflect(contact);
            }
            list.push(blend.outcome(problem, reflections.scaled_impulses(), word)?);
        }
        Ok(Outcomes {
            list,
            is_complete: search.is_complete,
            effort: search.momenta,
        })
    }
}

/// The graph of momenta.
pub(super) struct Search {
    /// Where each momentum was first reached from, and by which contact; none for the start.
    parents: Vec<Option<(usize, usize)>>,
    /// The feasible ones.
    ends: Vec<usize>,
    pub(super) is_complete: bool,
    momenta: usize,
}

impl Search {
    /// Goes through all momenta, or as many as `cap`.
    pub(super) fn run(problem: &ImpactProblem, cap: usize) -> Self {
        let space = problem.space();
        let threshold = problem.threshold();
        // never zero: at rest all momenta are one
        let tolerance = (EQUAL * problem.momentum()).max(f64::MIN_POSITIVE);
        let mut momenta = Momenta::new(space.contacts(), tolerance);
        let mut search = Self {
            parents: vec![None],
            ends: Vec::new(),
            is_complete: true,
            momenta: 0,
        };
        momenta.add(space.speeds.as_slice());
        let mut next = vec![0.0; space.contacts()];
        let mut current = 0;
        while current < momenta.len() {
            let mut is_end = true;
            for contact in 0..space.contacts() {
                let speeds = momenta.get(current);
                let s = speeds[contact];
                if s >= -threshold {
                    continue;
                }
                is_end = false;
                let column = space.gram.column(contact);
                for i in 0..next.len() {
                    next[i] = speeds[i] - 2.0 * s * column[i];
                }
                if momenta.len() >= cap {
                    search.is_complete = false;
                } else if momenta.add(&next).is_some() {
                    search.parents.push(Some((current, contact)));
                }
            }
            if is_end {
                search.ends.push(current);
            }
            current += 1;
        }
        search.momenta = momenta.len();
        search
    }

    /// A shortest word for each end, the lexicographically first.
    fn words(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        self.ends.iter().map(|&end| {
            let steps = std::iter::successors(self.parents[end], |&(from, _)| self.parents[from]);
            let mut word: Vec<usize> = steps.map(|(_, contact)| contact).collect();
            word.reverse();
            word
        })
    }
}
