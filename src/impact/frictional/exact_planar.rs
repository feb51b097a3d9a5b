//! The exact set of velocities after a planar impact: a union of polytopes.

use super::outcome_set::{OutcomeSet, Unclosed};
use super::planar_inclusion::PlanarInclusion;
use super::polytope::Polytope;
use super::work_list::{Caps, Search};
use crate::impact::{ImpactFailure, ImpactProblem};

/// Limit of the polytopes that are pushed through a location, unless another cap is set.
const CAP: usize = 1_000;

/// Limit of the vertices of a polytope on the way, unless another number is set.
const VERTICES: usize = 200;

/// Limit of the vertices and rays that are looked at, unless another number is set.
const WORK: u64 = 100_000_000;

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
/// than 1e-11 of the greatest scaled speed count as equal, and features of the set below 1e-12 of
/// it are lost.
///
/// Where a contact is closed (`u_n = 0`) and none approaches, the inclusion may end the impact or
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
