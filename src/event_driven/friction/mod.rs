//! Contacts with friction that stay closed, and time as a state (Halm & Posa, section 4).
//!
//! Contacts in the plane, with Coulomb friction. While contacts are closed,
//!
//! ```text
//!     M v̇ = f + c v + Σ_j (N_jᵀ λ_nj + T_jᵀ λ_tj)
//!     stick: N v̇ + κ_n = 0, T v̇ + κ_t = 0          slip of sign σ: N v̇ + κ_n = 0, λ_t = −μ σ λ_n
//! ```
//!
//! * `following`: the mode that follows an event; `mode_problem`: which modes are consistent.
//! * `impulses`: the motion with the impulses of contacts, which a timeline integrates.
//! * `accumulation`: the limit of impacts that accumulate.
//! * `options`, `checks`: what a run reads, and what it refuses; `stretches`: what it returns.
//! * `course`: a run under way; `rest`: the end of an accumulation; `events`: from event to event;
//!   `timeline`: the driver.

mod accumulation;
mod checks;
mod course;
mod events;
mod following;
mod impulses;
pub(crate) mod mode_problem;
mod options;
mod rest;
mod stretches;
mod timeline;

pub use stretches::{Stretch, StretchKind, TimelineRun};
pub use timeline::Timeline;
