//! Derivatives of a system at a point: where they come from, and whether they are right.
//!
//! Three levels serve `D_x f · v`, the rows `D_x h_k` and the times `∂h_k/∂t`; the drivers take whichever the user wrote.
//!
//! 1. Nothing written: central differences in the frozen mode. Relative error about 1e-10, two evaluations a direction.
//! 2. The model written once for any scalar (`SmoothFlow`, `SmoothEvents`) and wrapped in `Dual`: exact, by dual numbers.
//!    Behind the feature `dual`.
//! 3. [`Flow::jacobian_times`](crate::Flow::jacobian_times) and
//!    [`EventFunction::gradient`](crate::EventFunction::gradient) written by hand: exact when they are right.
//!
//! [`check_derivatives`] (`check`) compares levels 2 and 3 with level 1, and its [`DerivativeReport`] (`report`) names the
//! worst entry; [`flow_jacobian`] and [`gradient_row`] (`jacobian`) return matrices from whichever level is there; the
//! wrapper is `dual`.
//!
//! All derivatives are taken with the mode frozen: the side bits do not change however the state is moved. How a
//! trajectory depends on its start when it passes guards is another question.

mod bouligand;
mod check;
mod cone;
#[cfg(feature = "dual")]
mod dual;
mod group;
mod jacobian;
mod parameters;
mod pass;
mod record;
mod region;
mod repeat;
mod report;
mod run;
mod saltation;
mod tangents;
mod touch;
mod variational;
mod verdict;
mod walk;

pub use bouligand::{CornerDerivative, CornerKind};
pub use check::check_derivatives;
#[cfg(feature = "dual")]
pub use dual::{Dual, GuardSet, SmoothEvents, SmoothFlow};
pub use jacobian::{flow_jacobian, gradient_row};
#[cfg(feature = "dual")]
pub use nalgebra::{RealField, convert};
pub use parameters::WithParameters;
pub use region::Region;
pub use report::{DerivativeReport, Entry, Partial};
pub use run::{Cone, Derivative, Piece};
pub use saltation::{Saltation, saltation_matrix};
pub use tangents::Tangents;
pub use verdict::Verdict;
