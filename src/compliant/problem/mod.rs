//! The contact problem of one step (Castro et al., equation 24).
//!
//! * `trees_and_terms`: trees, contacts and further convex terms in flat storage.
//! * `laws_of_step`: the laws of friction that a step gives its contacts in the place of the cone.
//! * `responses`: what a unit of impulse makes of the velocity of a term.
//! * `rates`: velocities of terms, and products with `A`, at given velocities.

mod laws_of_step;
mod rates;
mod responses;
mod trees_and_terms;

pub(super) use laws_of_step::check_slip;
pub(crate) use responses::of_heavier;
pub(crate) use trees_and_terms::Deviation;
pub use trees_and_terms::Problem;
pub(super) use trees_and_terms::{Armed, ContactTerm, Link, Links, Tree, not_positive};
