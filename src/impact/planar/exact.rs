//! The exact set of velocities after a planar impact, a union of polytopes, and its work list: what
//! is reached in a location enters others, until nothing new is reached or a cap is.

use std::collections::VecDeque;

use super::generators::{Generators, Scratch, Sign, Uncut};
use super::known::KNOWN;
use super::locations::{Location, PlanarInclusion};
use super::outcome_set::{OutcomeSet, Unclosed};
use super::polytope::Polytope;
use crate::impact::{ImpactFailure, ImpactProblem};

/// Limit of the polytopes that are pushed through a location, unless another cap is set.
const CAP: usize = 1_000;

/// Limit of the vertices of a polytope on the way, unless another number is set.
const VERTICES: usize = 200;

/// Limit of the vertices and rays that are looked at, unless another number is set.
const WORK: u64 = 100_000_000;

/// Outcomes that a threshold adds no farther than so many times it from others are those.
const ENOUGH: f64 = 100.0;

/// Computes all velocities that a planar inelastic impact with friction can end with.
///
/// ```
/// use saltation::impact::{EventExact, ExactPlanar, ImpactProblem, Sampler};
/// use saltation::nalgebra::{DMatrix, DVector};
/// // A block that lands on two corners: normals first, then tangents.
/// let delassus = DMatrix::from_row_slice(4, 4, &[
///     1.6, 0.4, -1.2, -1.2, //
///     0.4, 1.6, 1.2, 1.2, //
///     -1.2, 1.2, 3.4, 3.4, //
///     -1.2, 1.2, 3.4, 3.4,
/// ]);
/// let speeds = DVector::from_vec(vec![-0.45, -0.45, 0.0, 0.0]);
/// let problem = ImpactProblem::with_tangents(delassus, speeds, &[1.0, 1.0])?;
/// let set = ExactPlanar::new().resolve(&problem)?;
/// assert!(set.is_closed());
/// let samples = Sampler::new(EventExact::new(0.2).start(&problem)?).sample(0..500)?;
/// assert!(samples.finished().all(|speeds| set.contains(speeds, 1e-9)));
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// The set is that of the impact inclusion of Halm & Posa, without a step error: every split of the
/// impulse between the contacts, changing at will. Restitution is not read. The speeds are divided
/// by `√G_ii`, so the result does not depend on the scale of a row; polytopes that differ by less
/// than 1e-11 of the greatest scaled speed count as equal. A contact that approaches by no more than
/// the [threshold](ImpactProblem::threshold) may end the impact or go on, so outcomes of
/// other laws, which end there, are outcomes of the set. Speeds below 1e-14 of the greatest are zero.
///
/// If a contact is closed (`u_n = 0`) and none approaches, the inclusion may end the impact or
/// go on: pushing contacts can stop each other's slip. This set holds both, as the definition of
/// the inclusion does; samplers end there.
///
/// Three contacts take ten to many thousand times as long as two; where a cap ends the search, time
/// is in proportion to the cap on [`work`](Self::work). Some sets have vertices without end: two contacts
/// alternate, and each round moves the velocity by a little less than the one before (one in a
/// hundred random problems with two contacts, one in twenty with three). There, and with four or
/// five contacts, the search reaches a cap. Then the result is a part of the exact set:
/// [`is_closed`](OutcomeSet::is_closed) is false, and [`unclosed`](OutcomeSet::unclosed) says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExactPlanar {
    caps: Caps,
    is_forced: bool,
}

impl ExactPlanar {
    /// With the default caps.
    pub const fn new() -> Self {
        Self {
            caps: Caps {
                polytopes: CAP,
                vertices: VERTICES,
                work: WORK,
            },
            is_forced: false,
        }
    }

    /// Limit of the polytopes that are pushed through a location; default 1000. Where more are
    /// needed, the set is not closed ([`OutcomeSet::unclosed`]).
    #[must_use]
    pub const fn cap(mut self, polytopes: usize) -> Self {
        self.caps.polytopes = polytopes;
        self
    }

    /// Limit of the vertices and rays of a polytope on the way, once those in the hull of others
    /// are dropped; default 200. A polytope with more is left out, and the set is not closed
    /// ([`OutcomeSet::unclosed`]). Time and memory grow with the square of this number.
    #[must_use]
    pub const fn vertices(mut self, most: usize) -> Self {
        self.caps.vertices = most;
        self
    }

    /// Limit of the vertices and rays that are looked at; default 100 000 000. What the time goes
    /// to is whether points lie in the hull of others: each is compared with the others once, and
    /// each round of a search looks at all of the hull once. This is the cap on time, the same on
    /// every machine; one look takes a time in proportion to the number of contacts. Where more are
    /// needed, the set is not closed ([`OutcomeSet::unclosed`]).
    #[must_use]
    pub const fn work(mut self, generators: u64) -> Self {
        self.caps.work = generators;
        self
    }

    /// Starts the impact also where no contact approaches, at contacts whose normal speed is zero:
    /// an impact without collision. Without it the velocity is returned unchanged there.
    #[must_use]
    pub const fn forced(mut self) -> Self {
        self.is_forced = true;
        self
    }

    /// The set. Where no contact approaches it is the velocity before, bit by bit.
    ///
    /// # Errors
    /// [`InputError::Tangents`](crate::InputError::Tangents) unless the problem has one tangent a
    /// contact, [`InputError::BadSetting`](crate::InputError::BadSetting) for more than five
    /// contacts, [`InputError::InconsistentSpeeds`](crate::InputError::InconsistentSpeeds) when rows
    /// are dependent and no motion has these speeds, [`ImpactFailure::Overflow`],
    /// [`ImpactFailure::Interrupted`].
    pub fn resolve(&self, problem: &ImpactProblem) -> Result<OutcomeSet, ImpactFailure> {
        let inclusion = PlanarInclusion::new(problem)?;
        if problem.is_feasible() && !self.is_forced {
            let speeds = problem.speeds().as_slice().to_vec();
            let pieces = vec![Polytope::of_vertices(inclusion.rows(), speeds)];
            return Ok(OutcomeSet::new(pieces, 0, Unclosed::default(), problem));
        }
        Search::new(&inclusion, self.caps, problem).run()
    }
}

impl Default for ExactPlanar {
    fn default() -> Self {
        Self::new()
    }
}

/// Limits that end a search that does not close.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Caps {
    /// Limit of the polytopes that are pushed through a location.
    polytopes: usize,
    /// Limit of the vertices and rays of one on the way.
    vertices: usize,
    /// Limit of the vertices and rays that are looked at.
    work: u64,
}

/// The work list.
struct Search<'a> {
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
    fn new(inclusion: &'a PlanarInclusion, caps: Caps, problem: &'a ImpactProblem) -> Self {
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
    fn run(mut self) -> Result<OutcomeSet, ImpactFailure> {
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
        if !reached.is_known_by(set, KNOWN, &mut self.scratch) {
            self.add_end(&reached)?;
            self.enter_others(&reached, Some(at))?;
        }
        let (known, scratch) = (&mut self.locations[at].known, &mut self.scratch);
        known.retain(|old| !old.is_known_by(&reached, 0.0, scratch));
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
            if !open.any(|open| part.is_known_by(&open.1, KNOWN, scratch)) {
                self.open
                    .retain(|open| open.0 != at || !open.1.is_known_by(&part, 0.0, scratch));
                self.open.push_back((at, part));
            }
            self.scratch.check()?;
        }
        Ok(())
    }

    /// Keeps the part of a set where no contact approaches by more than the threshold. Almost
    /// always that is the part where none approaches, and what the threshold adds is as thin as the
    /// threshold. Where contacts nearly coincide it can be all: one stops when the other does, but for
    /// less than the threshold.
    fn add_end(&mut self, reached: &Generators) -> Result<(), Uncut> {
        let most = self.caps.vertices;
        let Some(end) = self.end_of(reached, 0.0, most)? else {
            return Ok(());
        };
        let threshold = self.inclusion.threshold;
        // a layer has twice the vertices of a face
        let all = match self.end_of(reached, threshold, most.saturating_mul(2)) {
            Ok(all) => all,
            Err(uncut) => {
                self.keep_end(end)?;
                return Err(uncut);
            }
        };
        let is_layer = |all: &Generators, scratch: &mut Scratch| {
            all.is_within(&end, ENOUGH * threshold, scratch)
        };
        match all {
            Some(all) if !is_layer(&all, &mut self.scratch) => {
                if all.len() <= most {
                    return self.keep_end(all);
                }
                self.unclosed.left_out += 1;
            }
            _ => {}
        }
        self.keep_end(end)
    }

    /// The part of a set where normal speeds are no less than minus a threshold; none where it has more
    /// than `most` generators.
    fn end_of(
        &mut self,
        set: &Generators,
        threshold: f64,
        most: usize,
    ) -> Result<Option<Generators>, Uncut> {
        let mut end = set.clone();
        for contact in 0..self.inclusion.contacts {
            end.shift(contact, threshold);
            let cut = end.cut(contact, Sign::Positive, most, &mut self.scratch);
            if self.unless_too_many(cut)?.is_none() {
                return Ok(None);
            }
            end.shift(contact, -threshold);
        }
        Ok(Some(end))
    }

    /// Lists an end unless others hold it.
    fn keep_end(&mut self, mut end: Generators) -> Result<(), Uncut> {
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
