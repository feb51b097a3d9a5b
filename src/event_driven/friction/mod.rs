//! Contacts with friction that stay closed, in the plane and in space.
//!
//! ```text
//!     M v̇ = f + c v + Σ_j (N_jᵀ λ_nj + T_jᵀ λ_tj)
//!     stick: N v̇ + κ_n = 0, T v̇ + κ_t = 0          slip of sign σ: N v̇ + κ_n = 0, λ_t = −μ σ λ_n
//! ```
//!
//! * `beginning`: slips that begin; `following`: the mode that follows an event; `meeting`: which contacts
//!   stay at one; `candidates`: what is known of them; `stopping`: impulses that bring contacts to rest;
//!   `sharing`: whether the motion depends on how contacts share their load.
//! * `next_mode`: the mode of all contacts; `static_friction`: of those coupled, where static friction is above
//!   kinetic; `mode_problem`: which modes are consistent with given coefficients; `many_contacts`: one mode in
//!   the plane, where too many contacts touch to try all.

mod beginning;
pub(crate) mod candidates;
mod following;
mod many_contacts;
pub(super) mod meeting;
mod mode_problem;
mod next_mode;
mod sharing;
mod static_friction;
pub(super) mod stopping;
