//! Mechanical systems with unilateral constraints: bodies that touch.
//!
//! Write [`MechanicalSystem`] (masses, forces) and [`UnilateralConstraints`] (gaps, restitution,
//! friction, stiffness) for one type. [`ContactModel`] joins it with an impact law, for
//! [`EventDriven`](crate::EventDriven) and [`Variational`](crate::Variational);
//! [`Compliant`](crate::Compliant) takes it too, and reads no law. Bodies with shapes are ready made in
//! [`bodies`](crate::bodies).
//!
//! ```
//! use saltation::mechanics::{MechanicalSystem, UnilateralConstraints, check_mechanics};
//!
//! struct Pendulum; // 1 kg on a rod of 1 m, against a wall; q: the angle from the vertical
//! impl MechanicalSystem for Pendulum {
//!     fn dof(&self) -> usize { 1 }
//!     fn mass(&self, _q: &[f64], mass: &mut [f64]) { mass[0] = 1.0 }
//!     fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
//!         effort[0] = -9.81 * q[0].sin();
//!     }
//! }
//! impl UnilateralConstraints for Pendulum {
//!     fn contacts(&self) -> usize { 1 }
//!     fn gap(&self, _j: usize, q: &[f64]) -> f64 { 0.2 + q[0].sin() }
//!     fn gap_row(&self, _j: usize, q: &[f64], row: &mut [f64]) -> bool {
//!         row[0] = q[0].cos();
//!         true
//!     }
//! }
//! // What is written is compared with differences; what is not written is taken by differences.
//! assert!(check_mechanics(&Pendulum, 0.0, &[0.3], &[1.0])?.agrees(1e-6));
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! * [`State`]: time, configuration and velocities as the traits see them.
//! * [`ContactSource`]: contacts found at each configuration in place of a fixed list, as those of a
//!   [`Scene`](crate::bodies::Scene); it fills [`Contacts`] ([`ContactSet`], [`Reach`], [`Wanted`]).
//! * [`Redundant`]: the policy for closed contacts that depend on each other; [`Painleve`]: for one
//!   that presses itself down while it slides.
//! * [`EnergyBalance`]: where the energy of a run went.
//!
//! Equations 1 and 2 of Pace & Burden, "Decoupled limbs yield differentiable trajectory outcomes"
//! (arXiv 1609.04056), with its errors mended:
//!
//! ```text
//!     M(q) q̈ = f(t, q, q̇) + c(q, q̇) q̇ + Da_J(q)ᵀ λ_J        Da_J q̈ + κ_J = 0   for the closed contacts J
//! ```

// Inside. The system: `system` and `constraints` (what the user writes), `state`, `forward`
// (references and smart pointers), `measured` (sizes read once), `configuration` (`q̇ = N(q) v`),
// `trees` (blocks of the mass matrix), `dual` (written once for any scalar), `check`. `contact`:
// contacts of one configuration; `motion`: accelerations, multipliers, and which contacts stay
// closed. `contact_model`: the model that drivers run. `friction`: closed contacts that stick and
// slip. `energy_balance`: of a run.

mod check;
pub(crate) mod configuration;
mod constraints;
pub(crate) mod contact;
pub(crate) mod contact_model;
#[cfg(feature = "dual")]
mod dual;
pub(crate) mod energy_balance;
pub(crate) mod forward;
pub(crate) mod friction;
pub(crate) mod measured;
pub(crate) mod motion;
mod state;
mod system;
pub(crate) mod trees;

pub use check::{check_mechanics, check_mechanics_until};
pub use constraints::UnilateralConstraints;
pub use contact::{
    ContactParameters, ContactSet, ContactSource, Contacts, Passage, Reach, RowBlock, TreeBody,
    Wanted,
};
pub use contact_model::ContactModel;
#[cfg(feature = "dual")]
pub use dual::{SmoothConstraints, SmoothMechanics};
pub use energy_balance::EnergyBalance;
pub use friction::Friction;
pub(crate) use measured::Measured;
pub(crate) use motion::mechanism::Mechanism;
pub use motion::{Painleve, Redundant};
pub use state::State;
pub use system::MechanicalSystem;
