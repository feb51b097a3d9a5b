//! Impacts: velocities before and after, when several contacts close at one instant.
//!
//! * [`ImpactLaw`]: a rule from an [`ImpactProblem`] to [`Outcomes`]; the laws are in the first table
//!   below. A run takes one by [`ContactModel::with_law`](crate::ContactModel::with_law).
//! * [`ImpactProblem`]: masses and speeds in contact space, of your model
//!   ([`ContactModel::impact_at`](crate::ContactModel::impact_at), `impact_of` an event of a run) or
//!   of matrices ([`ImpactProblem::new`]).
//! * [`Outcome`]: speeds after, impulses, order, energy; [`Selection`]: which one a run takes.
//! * [`ExactPlanar`], [`Sampler`]: every outcome of an inelastic impact with friction.
//!
//! ```
//! use saltation::impact::{AllOutcomes, ImpactLaw, ImpactProblem, Unilateral};
//! use saltation::nalgebra::{DMatrix, DVector};
//! // Two contacts that approach at 1 m/s each; the mass matrix couples them.
//! let delassus = DMatrix::from_row_slice(2, 2, &[1.0, -0.6, -0.6, 1.0]);
//! let problem = ImpactProblem::new(delassus, DVector::from_element(2, -1.0))?;
//! assert_eq!(Unilateral.resolve(&problem)?.list.len(), 1);
//! for outcome in AllOutcomes::new().resolve(&problem)?.list {
//!     println!("{outcome}"); // 0-1: speeds …, impulses …, energy …
//! }
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! Sources: Seghete & Murphey, "A propagative model of simultaneous impact" (arXiv 1709.02296); Pace
//! & Burden (arXiv 1609.04056, eq. 3); with friction Halm & Posa, "Set-valued rigid-body dynamics for
//! simultaneous, inelastic, frictional impacts" (IJRR 2024).
#![doc = ""]
#![doc = include_str!("guide.md")]

// Inside: `problem` (in contact space) and `normal_space` (its normal block with unit normals); `law`,
// `outcome`, `selection`, `rule` (law and selection of a run, and the check of what they give), `failure`,
// `velocity` (from contact speeds back to velocities); `laws`;
// `inclusion` (outcomes of an inelastic impact with friction, by samples); `planar` (all of them in
// the plane), `space` (one by one, with round cones), `multipliers` (those of one mode: impulses or
// forces); `orders` (all outcomes of a propagative
// impact, the minimal ones, bounds of their number).

pub(crate) mod coupled_parts;
mod failure;
pub(crate) mod inclusion;
mod law;
mod laws;
pub(crate) mod multipliers;
mod normal_space;
mod orders;
mod outcome;
pub(crate) mod planar;
mod problem;
pub(crate) mod rule;
mod selection;
pub(crate) mod space;
mod velocity;

pub use crate::record::{Contacting, Order, Remark};
pub use failure::ImpactFailure;
pub use inclusion::{
    BoundLaw, Branch, Ended, EventExact, Finish, InclusionSimulation, LcpSteps, OutcomeSimulation,
    SampleEnd, SampleStatistics, Sampler, Samples, SolutionRule,
};
pub use law::{ImpactLaw, Outcomes};
pub use laws::{
    AnitescuPotra, InOrder, Moreau, Plastic, Projective, Propagative, Routh, RouthInclusion,
    Sequential, Unilateral,
};
#[doc(hidden)]
pub use orders::Reflections;
pub use orders::{
    AllOutcomes, MinimalOutcomes, ReflectionOrder, Uniqueness, indeterminacy, uniqueness,
};
pub use outcome::Outcome;
pub use planar::{
    ContactCone, ExactPlanar, ExtremeOutcome, Facet, OutcomeSet, Polytope, Unclosed, VelocitySet,
};
pub use problem::ImpactProblem;
pub use selection::{Occasion, Selection, SelectionFn};
