//! Derivatives: of a run with respect to its start, through any number of corners, with a verdict;
//! and of a system at a point.
//!
//! Serves Pace & Burden (arXiv 1609.04056), Council, Revzen & Burden (JCND 17 (2022) 091004),
//! Burden et al. (SIADS 15 (2016) 1227).
//!
//! * `chain_rule`: the derivative of a run, on what `recorder` leaves; `sensitivities`: a few
//!   directions carried along a run.
//! * `variational`: smooth parts; `defect`: how far the run is off its solution.
//! * `repeat`, `saltation`: one crossing with its reset; `corner`: several guards at one instant.
//! * `verdict`: which kind of derivative it is; `no_derivative`: why there is none; `parameters`:
//!   parameters as states.
//! * `check`: derivatives at a point, written, by dual numbers or by differences, and their
//!   comparison.
//!
//! The page below is `guide.md`.
#![doc = ""]
#![doc = include_str!("guide.md")]

mod chain_rule;
mod check;
mod corner;
mod defect;
mod no_derivative;
mod parameters;
mod recorder;
mod repeat;
mod saltation;
mod sensitivities;
mod variational;
mod verdict;

pub use chain_rule::Derivative;
#[cfg(feature = "dual")]
pub(crate) use check::on_scratch;
pub use check::{DerivativeReport, Entry, Partial, check_derivatives, flow_jacobian, gradient_row};
#[cfg(feature = "dual")]
pub use check::{Dual, GuardSet, SmoothEvents, SmoothFlow};
pub use corner::{Compared, Cone, CornerDerivative, CornerKind, Piece, Region};
#[cfg(feature = "dual")]
pub use nalgebra::{RealField, convert};
pub use no_derivative::NoDerivative;
pub use parameters::WithParameters;
pub use saltation::{Saltation, saltation_matrix, saltation_product};
pub use sensitivities::Sensitivities;
pub use verdict::Verdict;
