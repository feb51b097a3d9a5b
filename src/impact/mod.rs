//! Impact: what happens to velocities when several contacts close at one instant.
//!
//! Serves Seghete & Murphey, "A propagative model of simultaneous impact" (arXiv 1709.02296), and
//! the impacts of Pace & Burden (arXiv 1609.04056, eq. 3). With friction: Halm & Posa, "Set-valued
//! rigid-body dynamics for simultaneous, inelastic, frictional impacts" (IJRR 2024).
//!
//! * `problem`: the problem in contact space, and `normal_space`, its normal block with unit
//!   normals.
//! * `law`: what a law is; `outcome`: what it returns; `selection`: which outcome a run takes;
//!   `failure`: why there is none; `velocity`: from contact speeds back to velocities.
//! * `laws`: unilateral, projective, plastic, sequential, propagative, and with friction
//!   `routh`, `anitescu_potra`, `in_order`,
//!   `inclusion`.
//! * `inclusion`: outcomes of an inelastic impact with friction, by samples; `planar`: all of them
//!   in the plane.
//! * `orders`: all outcomes of a propagative impact, the minimal ones, and what is known of their
//!   number.
//!
//! The page below is `guide.md`.
#![doc = ""]
#![doc = include_str!("guide.md")]

mod failure;
pub(crate) mod inclusion;
mod law;
mod laws;
mod normal_space;
mod orders;
mod outcome;
pub(crate) mod planar;
mod problem;
mod selection;
mod velocity;

pub use crate::record::{Contacting, Order, Remark};
pub use failure::ImpactFailure;
pub use inclusion::{
    BoundLaw, Branch, Ended, EventExact, Finish, InclusionSimulation, LcpSteps, OutcomeSimulation,
    SampleEnd, SampleStatistics, Sampler, Samples, SolutionRule,
};
pub use law::{ImpactLaw, Outcomes};
pub use laws::{
    AnitescuPotra, InOrder, Plastic, Projective, Propagative, Routh, RouthInclusion, Sequential,
    Unilateral,
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
