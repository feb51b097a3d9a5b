//! The motion of a step without contacts (Castro et al., section II-D).
//!
//! * `free_motion`: the velocities `v*`, the inertia that contacts meet, the coordinates at the end;
//!   `explicit`: the velocities of explicit schemes; `efforts`: its memory, the masses and efforts.
//! * `balance`: `v*` by forces at the velocities that contacts and joints leave; `balanced_trees`: its memory.
//! * `geometric_stiffness`: what loads of joints add to the inertia where bodies are light.
//! * `free_newton`: its equations; `moves`: how velocities move coordinates.

mod balance;
mod balanced_trees;
mod efforts;
mod explicit;
mod free_motion;
mod free_newton;
mod geometric_stiffness;
mod moves;

pub(super) use efforts::{FreeMotion, StepStart};
