//! Inelastic impacts with friction, all outcomes: Halm & Posa, "Set-valued rigid-body dynamics for
//! simultaneous, inelastic, frictional impacts" (arXiv 2103.15714).
//!
//! * `exact_planar`: the set of outcomes in the plane, as a union of polytopes; `generators`:
//!   convex sets by points and rays; `polytope`: what a user reads of a piece.

mod exact_planar;
mod generators;
mod polytope;

pub use exact_planar::{ExactPlanar, OutcomeSet};
pub use polytope::Polytope;
