//! Mechanical systems subject to unilateral constraints: bodies that touch.
//!
//! Serves Pace & Burden, "Decoupled limbs yield differentiable trajectory outcomes" (arXiv
//! 1609.04056), with its errors mended.
//!
//! * `system`, `constraints`: what the user writes, [`MechanicalSystem`] and
//!   [`UnilateralConstraints`]; `mechanism`: both, as drivers see them; `dual`: the same, once for
//!   any scalar; `forward`: references and smart pointers; `measured`: a system with its sizes read
//!   once.
//! * `contacts`: the contacts of one configuration as values, [`Contacts`]; `contact_source`: what
//!   fills them; `contacts_at`: what of them depends on the configuration alone, evaluated once; `contact_frames`: their normals and tangents as seen in space; `delassus`: these in
//!   contact space, the impact problem.
//! * `gaps`: rows and curvatures, written or by differences.
//! * `acceleration`: the equations of closed contacts at a configuration (eq. 1 and 2); `motion`:
//!   accelerations and multipliers at a state; `redundant`: what to do with contacts that depend on
//!   each other; `rates`: velocities with given rates of gaps.
//! * `state`: a time, a configuration and velocities, [`State`]; `configuration`: `q̇ = N(q) v`.
//! * `kinetic`: the Coriolis force, and the derivative of the kinetic energy on its own; `trees`:
//!   blocks of the mass matrix.
//! * `linearised`: the derivative of the motion with closed contacts.
//! * `mode_problem`: which contacts stay closed; `mode_choice`: as one complementarity problem.
//! * `contact_model`: the model that drivers run; `energy_balance`: where the energy of a run went.
//! * `check`: what the user wrote against differences.
//!
//! Who runs it: [`event_driven`](crate::event_driven), [`variational`](crate::variational) and
//! [`compliant`](crate::compliant).

pub(crate) mod acceleration;
mod check;
pub(crate) mod configuration;
mod constant_contacts;
mod constraints;
pub(crate) mod contact_frames;
pub(crate) mod contact_model;
pub(crate) mod contact_source;
pub(crate) mod contacts;
pub(crate) mod contacts_at;
pub(crate) mod delassus;
#[cfg(feature = "dual")]
mod dual;
mod energy_balance;
pub(crate) mod forward;
pub(crate) mod gaps;
pub(crate) mod kinetic;
mod linearised;
pub(crate) mod measured;
mod mechanism;
pub(crate) mod mode_choice;
pub(crate) mod mode_problem;
pub(crate) mod motion;
pub(crate) mod rates;
mod redundant;
mod state;
mod system;
pub(crate) mod trees;

pub use check::{check_mechanics, check_mechanics_until};
pub use constraints::UnilateralConstraints;
pub use contact_model::ContactModel;
pub use contact_source::{ContactSet, ContactSource, Wanted};
pub use contacts::{ContactParameters, Contacts, RowBlock};
#[cfg(feature = "dual")]
pub use dual::{SmoothConstraints, SmoothMechanics};
pub use energy_balance::EnergyBalance;
pub(crate) use measured::Measured;
pub(crate) use mechanism::Mechanism;
pub use redundant::Redundant;
pub use state::State;
pub use system::MechanicalSystem;
