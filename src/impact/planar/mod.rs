//! Planar impacts with friction: the exact set of their outcomes (Halm & Posa, IJRR 2024), the modes
//! of their contacts, and the cone of contact forces.
//!
//! * `exact`: the set as a union of polytopes, and the search for it; `locations`: the inclusion in
//!   the plane; `generators`: convex sets by points and rays; `span`: rows that depend on others.
//! * `outcome_set`: what a user reads of the set; `polytope`: a piece of it.
//! * `modes`: all solutions of a step or of an acceleration by the modes of contacts.
//! * `routh`: impact at one contact, in space too; `cone`: how pointed the cone of contact forces
//!   is, and how soon impacts end.

mod cone;
mod exact;
mod generators;
mod known;
mod locations;
pub(crate) mod modes;
mod outcome_set;
mod polytope;
pub(crate) mod routh;
mod span;

pub use cone::ContactCone;
pub use exact::ExactPlanar;
pub use outcome_set::{ExtremeOutcome, OutcomeSet, Unclosed, VelocitySet};
pub use polytope::{Facet, Polytope};
