//! Derivatives of a system at a point, on three levels, and what a check of them finds.
//!
//! * `jacobian`: `D_x f` and the rows of `D_x h`, from whichever level the user wrote.
//! * `smooth`: a model written once for any scalar; `dual`: its exact derivatives.
//! * `written`: what the user wrote against differences; `report`: what that found.

#[cfg(feature = "dual")]
mod dual;
pub(crate) mod jacobian;
pub(crate) mod report;
#[cfg(feature = "dual")]
mod smooth;
mod written;

#[cfg(feature = "dual")]
pub use dual::Dual;
#[cfg(feature = "dual")]
pub(crate) use dual::on_scratch;
pub use jacobian::{flow_jacobian, gradient_row};
pub use report::{DerivativeReport, Entry, Partial};
#[cfg(feature = "dual")]
pub use smooth::{GuardSet, SmoothEvents, SmoothFlow};
pub use written::{check_derivatives, check_derivatives_until};
