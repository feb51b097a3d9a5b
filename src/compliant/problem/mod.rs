//! The contact problem of one step (Castro et al., equation 24).
//!
//! * `terms`: trees, contacts and further convex terms in flat storage; `trees_and_terms` adds them.
//! * `laws_of_step`: the laws of friction that a step gives its contacts in the place of the cone.
//! * `responses`: rows in the velocities of trees, and what a unit of impulse makes of the velocity of a term.
//! * `rates`: velocities of terms, and products with `A`, at given velocities.

mod laws_of_step;
mod rates;
mod responses;
mod terms;
mod trees_and_terms;

pub(super) use laws_of_step::check_slip;
pub(super) use responses::not_positive;
pub(crate) use responses::of_heavier;
pub(crate) use terms::Deviation;
pub use terms::Problem;
pub(super) use terms::{Armed, ContactTerm, Link, Links, Tree};
