//! Smooth motion of any right-hand side `(t, x) → dx`; without guards and modes.
//!
//! * `tsitouras`: one explicit Runge–Kutta step of order 5(4), first-same-as-last; `tableau`: its
//!   numbers (Ch. Tsitouras, 2011).
//! * `dense`: the interpolant of a step, 4th order, at no further evaluation.
//! * `step_control`: error norm, PI step control, automatic first step; `adaptive`: the lengths of
//!   steps.
//! * `buffer`: state vectors of a size known at compile time (`[f64; N]`) or at run time
//!   (`Vec<f64>`).
//! * `root`: a root or a maximum within a bracket.
//! * `difference`: finite differences along a direction; `resolved_difference`: those whose step is
//!   shortened until the function is straight along it, whatever that takes, by `halved_step`; `straight`: those of hot
//!   loops; `extrapolated`: those that are extrapolated to a step of zero.

pub(crate) mod adaptive;
mod buffer;
mod dense;
pub(crate) mod difference;
pub(crate) mod extrapolated;
pub(crate) mod halved_step;
pub(crate) mod resolved_difference;
pub(crate) mod root;
mod step_control;
pub(crate) mod straight;
mod tableau;
mod tsitouras;

pub(crate) use adaptive::Adaptive;
pub use buffer::Buffer;
pub(crate) use dense::Dense;
pub use dense::Interpolant;
use step_control::StepControl;
pub(crate) use step_control::{FieldAt, Look, Tolerance, first_step};
pub(crate) use tableau::{ROUNDING, STAGES_APART};
pub use tsitouras::Tsitouras;

/// The lesser of two numbers, the second where one of them is none: one instruction, unlike
/// `f64::min`.
#[inline]
pub(crate) fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The greater of two numbers; see [`lesser`].
#[inline]
pub(crate) fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}
