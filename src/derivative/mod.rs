//! Derivatives: of a run with respect to its start, through any number of corners, with a verdict; and of a system at a point.
//!
//! Serves Pace & Burden (arXiv 1609.04056), Council, Revzen & Burden (JCND 17 (2022) 091004), Burden et al. (SIADS 15 (2016)
//! 1227). The chain rule along a run: `run` on what `record` leaves, `tangents` for a few directions; smooth parts:
//! `variational`; which crossings are one corner: `group`; ways through it: `walk`, `pass`; one crossing with its reset:
//! `repeat`, `saltation`; kinds of corners, pieces and their cones: `bouligand`, `region`, `piece`, `cone`; whether orders have one
//! map: `compare`, up to `scale` and `rounding`; `verdict`, `touch`; parameters as states: `parameters`. At a point: `jacobian`,
//! `check`, `report`, `dual`. The page below is `guide.md`.
#![doc = ""]
#![doc = include_str!("guide.md")]

mod bouligand;
mod check;
mod compare;
mod cone;
#[cfg(feature = "dual")]
mod dual;
mod group;
mod jacobian;
mod parameters;
mod pass;
mod piece;
mod record;
mod region;
mod repeat;
mod report;
mod rounding;
mod run;
mod saltation;
mod scale;
mod tangents;
mod touch;
mod variational;
mod verdict;
mod walk;

pub use bouligand::{Compared, CornerDerivative, CornerKind};
pub use check::check_derivatives;
#[cfg(feature = "dual")]
pub(crate) use dual::on_scratch;
#[cfg(feature = "dual")]
pub use dual::{Dual, GuardSet, SmoothEvents, SmoothFlow};
pub use jacobian::{flow_jacobian, gradient_row};
#[cfg(feature = "dual")]
pub use nalgebra::{RealField, convert};
pub use parameters::WithParameters;
pub use piece::{Cone, Piece};
pub use region::Region;
pub use report::{DerivativeReport, Entry, Partial};
pub use run::Derivative;
pub use saltation::{Saltation, saltation_matrix, saltation_product};
pub use tangents::Tangents;
pub use verdict::Verdict;
