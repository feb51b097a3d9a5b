//! The variational driver: mechanical systems in steps of the midpoint rule, with impacts inside
//! the steps.
//!
//! Serves Seghete & Murphey, "A propagative model of simultaneous impact: existence, uniqueness,
//! and design consequences" (arXiv 1709.02296), with its errors mended.
//!
//! * `discrete_lagrangian`: the derivatives of the discrete Lagrangian; `newton`: the equations of
//!   a step; `midpoint`: a step without contacts, [`Midpoint`], and its derivative.
//! * `failure`: why a step cannot be made.

mod discrete_lagrangian;
mod failure;
mod midpoint;
mod newton;

pub use failure::Failure;
pub use midpoint::Midpoint;
