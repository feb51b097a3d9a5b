//! All outcomes of propagative impact: every order in which approaching contacts can be reflected.

use super::interior;
use super::momenta::{Momenta, meeting, rounding};
use crate::impact::ImpactFailure;
use crate::impact::laws::plastic::Blend;
use crate::impact::{ImpactLaw, ImpactProblem, Outcomes};

/// Every outcome of [`Propagative`](crate::impact::Propagative), whatever contact is chosen at each
/// stage: the end momenta of all admissible words (words that reflect, at each stage, a contact
/// that approaches, and end when none does).
///
/// A breadth-first search over momenta that visits equal ones once. Its cost is the number of
/// distinct momenta times the square of the number of contacts. Outcomes that differ by less than
/// 1e-9 of the momentum count as one. Each has its shortest word, the lexicographically first among
/// equals. Outcomes are in the order in which the search finds them: by the length of their words,
/// then lexicographically.
///
/// Momenta are equal when their scaled speeds differ by less than the problem's tolerance and the
/// same contacts approach. A reflection changes its contact's speed by more than twice that, so no
/// reflection is lost. The outcome of every word is close to one in the set: within 1e-9 of the
/// momentum and a few tolerances for each reflection (more in narrow cones). The reason is that
/// reflections keep distances in the metric of kinetic energy, and bring no momentum further from
/// one in which their contact does not approach.
///
/// A complete set is never empty. The set is marked incomplete beyond the cap of momenta, and when
/// no word ends from some momentum. When words need not end the error is
/// [`ImpactFailure::NoFeasibleInterior`]; other errors are those of
/// [`Propagative`](crate::impact::Propagative).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AllOutcomes {
    cap: usize,
}

/// Limit of the momenta of a search, unless another cap is set.
const CAP: usize = 100_000;
/// Limit of the speeds of all momenta of a search, and of the letters of its words.
const MOST: usize = 10_000_000;

impl AllOutcomes {
    /// With the default cap.
    pub const fn new() -> Self {
        Self { cap: CAP }
    }

    /// Limit of the momenta of a search; default 100 000. A cradle of `n` equal balls has `n!`.
    /// Whatever the cap, there are no more than 10 000 000 divided by the number of contacts, which
    /// takes up to half a gigabyte, and the words of the outcomes have no more than 10 000 000
    /// letters together.
    #[must_use]
    pub const fn cap(mut self, momenta: usize) -> Self {
        self.cap = momenta;
        self
    }

    pub(crate) const fn limit(self) -> usize {
        self.cap
    }
}

impl Default for AllOutcomes {
    fn default() -> Self {
        Self::new()
    }
}

impl ImpactLaw for AllOutcomes {
    fn name(&self) -> &'static str {
        "AllOutcomes"
    }

    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        problem.refuse_friction(self.name())?;
        let blend = Blend::of(problem)?;
        let cap = self.cap.min(MOST / problem.contacts());
        let search = Search::run(problem, cap)?;
        interior::check_search(problem.space(), cap, search.is_complete)?;
        let mut letters = 0;
        let words = search.words().take_while(|word| {
            letters += word.len();
            letters <= MOST
        });
        let list = blend.outcomes(problem, words)?;
        let is_complete = search.is_complete && letters <= MOST;
        *outcomes = Outcomes::of(list, is_complete, search.parents.len());
        Ok(())
    }
}

/// The graph of momenta.
struct Search {
    /// The momentum from which each was first reached, and the contact; none for the start.
    parents: Vec<Option<(usize, usize)>>,
    /// All reflections, from which momentum to which.
    edges: Vec<(usize, usize)>,
    /// The feasible momenta.
    feasible: Vec<usize>,
    /// The feasible momenta that equal no earlier one.
    ends: Vec<usize>,
    is_complete: bool,
}

impl Search {
    /// Visits all momenta, or as many as `cap`.
    fn run(problem: &ImpactProblem, cap: usize) -> Result<Self, ImpactFailure> {
        let mut search = Self::with(problem, cap, meeting(problem))?;
        if search.is_complete && !search.reaches_ends() {
            // In a narrow cone the speeds of slow contacts alternate in sign, by little more than
            // the threshold.
            search = Self::with(problem, cap, rounding(problem))?;
            search.is_complete = search.is_complete && search.reaches_ends();
        }
        Ok(search)
    }

    /// The graph after one visit; momenta are equal within a tolerance.
    fn with(problem: &ImpactProblem, cap: usize, tolerance: f64) -> Result<Self, ImpactFailure> {
        let space = problem.space();
        let threshold = problem.threshold();
        let mut momenta = Momenta::new(space.contacts(), tolerance, threshold);
        let mut ends = Momenta::of_ends(problem);
        let mut search = Self {
            parents: vec![None],
            edges: Vec::new(),
            feasible: Vec::new(),
            ends: Vec::new(),
            is_complete: true,
        };
        momenta.push(space.speeds.as_slice());
        let mut next = vec![0.0; space.contacts()];
        let mut current = 0;
        while current < momenta.len() {
            problem.check_interrupt()?;
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
                let reached = match momenta.find(&next) {
                    Some(known) => known,
                    None if momenta.len() >= cap => {
                        search.is_complete = false;
                        continue;
                    }
                    None => {
                        search.parents.push(Some((current, contact)));
                        momenta.push(&next)
                    }
                };
                search.edges.push((current, reached));
            }
            if is_end {
                search.feasible.push(current);
                if ends.add(momenta.get(current)).is_some() {
                    search.ends.push(current);
                }
            }
            current += 1;
        }
        Ok(search)
    }

    /// True when an end can be reached from each momentum. Reflections need not end where no motion
    /// opens all contacts, and momenta that meet although they differ may close a circle.
    fn reaches_ends(&mut self) -> bool {
        self.edges.sort_unstable_by_key(|&(_, to)| to);
        let mut reaching = vec![false; self.parents.len()];
        let mut left = self.parents.len() - self.feasible.len();
        for &end in &self.feasible {
            reaching[end] = true;
        }
        let mut open = self.feasible.clone();
        while let Some(to) = open.pop() {
            let first = self.edges.partition_point(|edge| edge.1 < to);
            let into = self.edges[first..].iter().take_while(|edge| edge.1 == to);
            for &(from, _) in into {
                if !reaching[from] {
                    reaching[from] = true;
                    left -= 1;
                    open.push(from);
                }
            }
        }
        left == 0
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
