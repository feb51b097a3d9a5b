//! The outcomes of propagative impact that a minimal word reaches.

use super::interior;
use super::momenta::{Momenta, meeting};
use crate::impact::ImpactFailure;
use crate::impact::laws::plastic::Blend;
use crate::impact::{ImpactLaw, ImpactProblem, Outcomes};

/// The outcomes of [`Propagative`](crate::impact::Propagative) that a minimal word reaches: an
/// admissible word of which no proper subsequence (letters dropped anywhere, admissible or not)
/// ends feasible (Seghete & Murphey, Definition 1 (2), read literally).
///
/// A subset of [`AllOutcomes`](crate::impact::AllOutcomes). For two contacts whose alternating
/// words differ in length only the shorter is minimal, since the longer contains it. Each outcome
/// carries a shortest minimal word, the lexicographically first of these; outcomes are ordered by
/// the length of their words, then lexicographically.
///
/// If contacts approach by little more than the problem's tolerance, dropping letters may end
/// within it: such words are not minimal, and the set can be empty.
///
/// A depth-first search over words that carries all momenta reached by subsequences; exponential in
/// the length of words. Beyond the cap, or with more momenta than there is room for, the set is
/// marked incomplete. Errors are those of [`AllOutcomes`](crate::impact::AllOutcomes).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimalOutcomes {
    cap: usize,
}

/// Limit of the reflections of a search, unless another cap is set.
const CAP: usize = 10_000_000;
/// Limit of any cap.
const MOST: usize = 1_000_000_000;
/// Limit of the speeds of all momenta that are carried along, and of the letters of the words
/// found.
const ROOM: usize = 2_000_000;

impl MinimalOutcomes {
    /// With the default cap.
    pub const fn new() -> Self {
        Self { cap: CAP }
    }

    /// Limit of the reflections of a search, those of subsequences included; default 10 000 000,
    /// about a second, and 1 000 000 000 at most. Whatever the cap, the search carries no more than
    /// 2 000 000 speeds of momenta along, about 60 MB with two contacts, and the words that it
    /// finds have no more than 2 000 000 letters together.
    #[must_use]
    pub const fn cap(mut self, reflections: usize) -> Self {
        self.cap = reflections;
        self
    }
}

impl Default for MinimalOutcomes {
    fn default() -> Self {
        Self::new()
    }
}

impl ImpactLaw for MinimalOutcomes {
    fn name(&self) -> &'static str {
        "MinimalOutcomes"
    }

    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        problem.refuse_friction(self.name())?;
        let blend = Blend::of(problem)?;
        let cap = self.cap.min(MOST);
        let mut search = WordSearch::new(problem, cap);
        let is_complete = search.run()?;
        interior::check_search(problem.space(), cap, is_complete)?;
        let mut words = search.words;
        words.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
        let list = blend.outcomes(problem, words.into_iter())?;
        *outcomes = Outcomes::of(list, is_complete, search.reflections);
        Ok(())
    }
}

/// The search over words.
struct WordSearch<'p> {
    problem: &'p ImpactProblem,
    cap: usize,
    reflections: usize,
    /// The momenta that proper subsequences of the word reach.
    subsequences: Momenta,
    /// The ends of minimal words, and the best word for each.
    ends: Momenta,
    words: Vec<Vec<usize>>,
    /// Letters of all words.
    letters: usize,
}

/// A word on the way, with its momentum and the letter to be tried next.
struct Prefix {
    speeds: Vec<f64>,
    next: usize,
    /// Length of the list of subsequences at this prefix.
    subsequences: usize,
}

impl<'p> WordSearch<'p> {
    fn new(problem: &'p ImpactProblem, cap: usize) -> Self {
        Self {
            problem,
            cap,
            reflections: 0,
            subsequences: Momenta::new(problem.contacts(), meeting(problem), problem.threshold()),
            ends: Momenta::of_ends(problem),
            words: Vec::new(),
            letters: 0,
        }
    }

    /// Goes through all words; false when the cap was reached.
    fn run(&mut self) -> Result<bool, ImpactFailure> {
        let mut word: Vec<usize> = Vec::new();
        let start = self.problem.space().speeds.as_slice().to_vec();
        if self.is_feasible(&start) {
            self.end(&start, &word);
            return Ok(true);
        }
        let mut path = vec![Prefix {
            speeds: start,
            next: 0,
            subsequences: 0,
        }];
        let threshold = self.problem.threshold();
        let room = ROOM / self.problem.contacts();
        while let Some(top) = path.last_mut() {
            self.problem.check_interrupt()?;
            self.subsequences.truncate(top.subsequences);
            let Some(letter) =
                (top.next..top.speeds.len()).find(|&contact| top.speeds[contact] < -threshold)
            else {
                path.pop();
                word.pop();
                continue;
            };
            top.next = letter + 1;
            let speeds = top.speeds.clone();
            // A subsequence that ends feasible is one of every longer word too: the search stops
            // here.
            if self.extend(&speeds, letter) {
                continue;
            }
            if self.reflections > self.cap || self.subsequences.len() > room || self.letters > ROOM
            {
                return Ok(false);
            }
            let mut after = speeds;
            self.reflect(&mut after, letter);
            word.push(letter);
            if self.is_feasible(&after) {
                self.end(&after, &word);
                word.pop();
            } else {
                path.push(Prefix {
                    speeds: after,
                    next: 0,
                    subsequences: self.subsequences.len(),
                });
            }
        }
        Ok(true)
    }

    /// Adds a letter to all proper subsequences of a word that reaches `full`, and the word without
    /// the letter; true when one of them ends feasible.
    fn extend(&mut self, full: &[f64], letter: usize) -> bool {
        let mut speeds = full.to_vec();
        for k in 0..self.subsequences.len() {
            if self.reflections > self.cap {
                break;
            }
            speeds.copy_from_slice(self.subsequences.get(k));
            self.reflect(&mut speeds, letter);
            if self.is_feasible(&speeds) {
                return true;
            }
            self.subsequences.add(&speeds);
        }
        self.subsequences.add(full);
        false
    }

    fn reflect(&mut self, speeds: &mut [f64], contact: usize) {
        self.reflections += 1;
        let twice = -2.0 * speeds[contact];
        let column = self.problem.space().gram.column(contact);
        for (s, c) in speeds.iter_mut().zip(column.iter()) {
            *s += twice * c;
        }
    }

    fn is_feasible(&self, speeds: &[f64]) -> bool {
        let threshold = self.problem.threshold();
        speeds.iter().all(|&s| s >= -threshold)
    }

    fn end(&mut self, speeds: &[f64], word: &[usize]) {
        if self.ends.add(speeds).is_some() {
            self.words.push(word.to_vec());
            self.letters += word.len();
        } else if let Some(k) = self.ends.find(speeds) {
            // words come in lexicographic order: among equal lengths the first is kept
            if word.len() < self.words[k].len() {
                self.letters -= self.words[k].len() - word.len();
                self.words[k] = word.to_vec();
            }
        }
    }
}
