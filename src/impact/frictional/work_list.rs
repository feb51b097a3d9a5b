//! The work list of the exact planar set: what is reached in a location enters others, until
//! nothing new is reached or a cap is.

use std::collections::VecDeque;

use super::generators::{Generators, Scratch, Sign, Uncut};
use super::outcome_set::{OutcomeSet, Unclosed};
use super::planar_inclusion::{Location, PlanarInclusion};
use super::span::KNOWN;
use crate::impact::{ImpactFailure, ImpactProblem};

/// Limits that end a search that does not close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caps {
    /// Limit of the polytopes that are pushed through a location.
    pub(super) polytopes: usize,
    /// Limit of the vertices and rays of one on the way.
    pub(super) vertices: usize,
    /// Limit of the vertices and rays that are looked at.
    pub(super) work: u64,
}

/// The work list.
pub(super) struct Search<'a> {
    problem: &'a ImpactProblem,
    inclusion: &'a PlanarInclusion,
    locations: Vec<Location>,
    open: VecDeque<(usize, Generators)>,
    ends: Vec<Generators>,
    caps: Caps,
    /// Polytopes pushed so far.
    effort: usize,
    unclosed: Unclosed,
    scratch: Scratch,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        inclusion: &'a PlanarInclusion,
        caps: Caps,
        problem: &'a ImpactProblem,
    ) -> Self {
        Self {
            problem,
            inclusion,
            locations: inclusion.locations(),
            open: VecDeque::new(),
            ends: Vec::new(),
            caps,
            effort: 0,
            unclosed: Unclosed::default(),
            scratch: Scratch::new(caps.work, problem.interrupt()),
        }
    }

    /// The set, or a part of it where a cap ends the search.
    pub(super) fn run(mut self) -> Result<OutcomeSet, ImpactFailure> {
        match self.search() {
            // one with too many vertices is counted where it comes
            Ok(()) | Err(Uncut::TooMany) => {}
            Err(Uncut::Interrupted) => return Err(ImpactFailure::Interrupted),
            Err(Uncut::OutOfWork) => {
                self.unclosed.open = 1 + self.open.len();
                self.unclosed.is_out_of_work = true;
            }
        }
        // Impulses dissipate until no contact approaches: an impact without an outcome is none.
        self.unclosed.is_lost = self.ends.is_empty();
        let pieces = self.ends.iter().map(|end| self.inclusion.in_speeds(end));
        let pieces = pieces.collect::<Result<_, _>>()?;
        Ok(OutcomeSet::new(
            pieces,
            self.effort,
            self.unclosed,
            self.problem,
        ))
    }

    /// Goes through locations until nothing new is reached, or a cap is.
    fn search(&mut self) -> Result<(), Uncut> {
        let mut start = Generators::new(self.inclusion.rows());
        start.push_point(&self.inclusion.start);
        self.add_end(&start)?;
        self.enter_others(&start, None)?;
        while let Some((at, set)) = self.open.pop_front() {
            if self.locations[at].knows(&set, &mut self.scratch) {
                continue;
            }
            self.scratch.check()?;
            if self.effort == self.caps.polytopes {
                self.unclosed.open = 1 + self.open.len();
                break;
            }
            self.effort += 1;
            self.push_through(at, &set)?;
        }
        Ok(())
    }

    /// The part that a cut leaves; none where it has too many generators, which is counted.
    fn unless_too_many<T>(&mut self, cut: Result<T, Uncut>) -> Result<Option<T>, Uncut> {
        match cut {
            Ok(part) => Ok(Some(part)),
            Err(Uncut::TooMany) => {
                self.unclosed.left_out += 1;
                Ok(None)
            }
            Err(ended) => Err(ended),
        }
    }

    /// Adds what is reached in a location from a part of it.
    fn push_through(&mut self, at: usize, set: &Generators) -> Result<(), Uncut> {
        let mut pushed = set.clone();
        pushed.push_rays_of(&self.locations[at].rays);
        // points that lie behind others along the rays: cuts ask for none such
        pushed.prune(&mut self.scratch);
        let reached = self.locations[at].part_of(&pushed, self.caps.vertices, &mut self.scratch);
        let Some(mut reached) = self.unless_too_many(reached)? else {
            return Ok(());
        };
        reached.prune(&mut self.scratch);
        // where nothing is added, the other parts were listed with the set it came from
        if !reached.is_within(set, KNOWN, &mut self.scratch) {
            self.add_end(&reached)?;
            self.enter_others(&reached, Some(at))?;
        }
        let (known, scratch) = (&mut self.locations[at].known, &mut self.scratch);
        known.retain(|old| !old.is_within(&reached, 0.0, scratch));
        known.push(reached);
        Ok(())
    }

    /// Lists the parts of a set that lie in other locations.
    fn enter_others(&mut self, set: &Generators, from: Option<usize>) -> Result<(), Uncut> {
        for at in (0..self.locations.len()).filter(|&at| Some(at) != from) {
            let part = self.locations[at].part_of(set, self.caps.vertices, &mut self.scratch);
            let Some(part) = self.unless_too_many(part)? else {
                continue;
            };
            let scratch = &mut self.scratch;
            if part.is_empty() || self.locations[at].knows(&part, scratch) {
                continue;
            }
            let mut open = self.open.iter().filter(|open| open.0 == at);
            if !open.any(|open| part.is_within(&open.1, KNOWN, scratch)) {
                self.open
                    .retain(|open| open.0 != at || !open.1.is_within(&part, 0.0, scratch));
                self.open.push_back((at, part));
            }
            self.scratch.check()?;
        }
        Ok(())
    }

    /// Keeps the part of a set where no contact approaches.
    fn add_end(&mut self, reached: &Generators) -> Result<(), Uncut> {
        let mut end = reached.clone();
        for contact in 0..self.inclusion.contacts {
            let cut = end.cut(
                contact,
                Sign::Positive,
                self.caps.vertices,
                &mut self.scratch,
            );
            if self.unless_too_many(cut)?.is_none() {
                return Ok(());
            }
        }
        end.prune(&mut self.scratch);
        let scratch = &mut self.scratch;
        let mut ends = self.ends.iter();
        if end.is_empty() || ends.any(|old| end.is_within(old, KNOWN, scratch)) {
            return Ok(());
        }
        let others = self.ends.iter();
        let others: Vec<_> = others
            .filter(|old| !old.is_within(&end, KNOWN, scratch))
            .cloned()
            .collect();
        // a search that was ended found nothing within others
        scratch.check()?;
        self.ends = others;
        self.ends.push(end);
        Ok(())
    }
}
