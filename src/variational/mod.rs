//! The variational driver: mechanical systems in steps of the midpoint rule, with impacts inside
//! the steps.
//!
//! Serves Seghete & Murphey, "A propagative model of simultaneous impact: existence, uniqueness,
//! and design consequences" (arXiv 1709.02296), with its errors mended.
//!
//! * `discrete_lagrangian`: the derivatives of the discrete Lagrangian; `newton`: the equations of
//!   a step; `midpoint`: a step without contacts, [`Midpoint`], and its derivative.
//! * `driver`: [`Variational`], its settings and its loop; `advance`: a step with the impacts inside
//!   it; `impact`: an impact; `held`: a step with closed contacts.
//! * `derivative`: the derivative of a run.
//! * `orthogonality`: postures and designs whose landings have one outcome.
//! * `run`: what a run computed; `failure`: why it ended early.

mod advance;
mod derivative;
mod discrete_lagrangian;
mod driver;
mod failure;
mod held;
mod impact;
mod midpoint;
mod newton;
mod orthogonality;
mod run;

pub use driver::{Chatter, Variational};
pub use failure::Failure;
pub use midpoint::Midpoint;
pub use orthogonality::{Meeting, OrthogonalDesign, Orthogonality};
pub use run::VariationalRun;
