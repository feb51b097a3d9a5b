//! Derivatives: of a run with respect to its start, through any number of corners, with a verdict;
//! and of a system at a point.
//!
//! Serves Pace & Burden (arXiv 1609.04056), Council, Revzen & Burden (JCND 17 (2022) 091004),
//! Burden et al. (SIADS 15 (2016) 1227).
//!
//! * `run_derivative`: the derivative of a run of any driver; `of_run`: that of a run of the core;
//!   `pieces`: piece by piece; `chain_rule`: the links that they read, left by `recorder`;
//!   `sensitivities`: a few directions carried along a run.
//! * `variational`: smooth parts; `defect`: the error of the run.
//! * `context`: the system and settings that all of these use; `repeat`, `saltation`: one crossing
//!   with its reset; `corner`: several guards at one instant.
//! * `verdict`: which kind of derivative it is, or why there is none; `parameters`: parameters as
//!   states.
//! * `check`: derivatives at a point, written, by dual numbers or by differences, and their
//!   comparison.
//!
//! The page below is `guide.md`.
#![doc = ""]
#![doc = include_str!("guide.md")]

mod chain_rule;
mod check;
mod context;
mod corner;
mod defect;
mod of_run;
mod parameters;
mod pieces;
mod recorder;
mod repeat;
mod run_derivative;
mod saltation;
mod sensitivities;
mod variational;
mod verdict;

#[cfg(feature = "dual")]
pub(crate) use check::on_scratch;
pub use check::{
    DerivativeReport, Entry, Partial, check_derivatives, check_derivatives_until, flow_jacobian,
    gradient_row,
};
#[cfg(feature = "dual")]
pub use check::{Dual, GuardSet, SmoothEvents, SmoothFlow};
pub use corner::{Compared, Cone, CornerDerivative, CornerKind, Piece};
#[cfg(feature = "dual")]
pub use nalgebra::{RealField, convert};
pub use of_run::Derivative;
pub use parameters::WithParameters;
pub use run_derivative::{RunDerivative, StepsDerivative};
pub use saltation::{Saltation, saltation_matrix, saltation_product};
pub use sensitivities::Sensitivities;
pub use verdict::{NoDerivative, Verdict};
