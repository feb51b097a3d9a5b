//! Contacts with friction while they are closed: forces, accelerations, and what ends their modes
//! (Pfeiffer & Glocker, "Multibody Dynamics with Unilateral Contacts", 1996).
//!
//! ```text
//!     M v̇ = f + c v + Σ_j (N_jᵀ λ_nj + T_jᵀ λ_tj)
//!     stick: N v̇ + κ_n = 0, T v̇ + κ_t = 0          slip of sign σ: N v̇ + κ_n = 0, λ_t = −μ σ λ_n
//!     in space: slip of direction d = u/|u|: λ_t = −μ λ_n d; one that begins: d ∥ T v̇ + κ_t
//! ```
//!
//! * `frame`: rows, Delassus matrix and free accelerations of some contacts.
//! * `coefficients`: laws of friction beside Coulomb's.
//! * `forces`: accelerations and forces in a mode; `constant_forces`: as matrices, where rows and
//!   masses are constant.
//! * `contact_function`: how event functions and flags are numbered; `functions`: their values;
//!   `slow_slip`: slips in space that are too slow to have a direction.
//! * `linearised`: the derivative of the motion in a mode that is `held`; `changing_friction`: its part by laws and
//!   turns of slips.

mod changing_friction;
mod coefficients;
mod constant_forces;
pub(crate) mod contact_function;
pub(crate) mod forces;
pub(crate) mod frame;
mod functions;
mod held;
mod linearised;
pub(crate) mod slow_slip;

pub use coefficients::Friction;
pub(crate) use constant_forces::ConstantForces;
