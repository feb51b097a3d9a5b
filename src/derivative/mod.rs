//! Derivatives: of a run with respect to its start, through any number of corners, with a verdict;
//! and of a system at a point.
//!
//! Every driver has a method `derivative`; [`RunDerivative`] is what all of them return. That of the
//! core and of the event-driven driver is a [`Derivative`].
//!
//! ```
//! use saltation::{Integrator, Start, Verdict, models::Hopper};
//! let mut integrator = Integrator::new(Hopper::default())?.rtol(1e-10);
//! let d = integrator.derivative(&Start::at(0.0).x(&[2.0, 0.0]), 2.0)?;
//! assert_eq!(*d.verdict(), Verdict::Classical); // one matrix for all displacements
//! let by_height = d.apply(&[1.0, 0.0])?; // d(final state)/d(height at the start)
//! assert!((by_height - d.matrix()?.column(0)).norm() < 1e-9);
//! let gradient = d.vjp(&[1.0, 0.0])?; // of the final height, by the start
//! assert!((gradient[0] - d.matrix()?[(0, 0)]).abs() < 1e-12);
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! * [`Verdict`]: the kind of the derivative; [`NoDerivative`]: why there is none.
//! * [`Derivative`]: [`apply`](Derivative::apply), [`matrix`](Derivative::matrix),
//!   [`pieces`](Derivative::pieces) ([`Piece`], [`Cone`]), [`vjp`](Derivative::vjp), shifts of event
//!   times, [`corners`](Derivative::corners).
//! * [`Sensitivities`]: a few directions carried along a run; [`WithParameters`]: parameters as
//!   states.
//! * [`check_derivatives`], [`flow_jacobian`], [`gradient_row`], [`saltation_matrix`]: a system at a
//!   point.
//!
//! Sources: Pace & Burden (arXiv 1609.04056), Council, Revzen & Burden (JCND 17 (2022) 091004),
//! Burden et al. (SIADS 15 (2016) 1227).
#![doc = ""]
#![doc = include_str!("guide.md")]

// Inside: `verdict`; `run_derivative` (of any driver), `of_run` (of the core), with its maps `along` directions,
// `event_times` and `pieces`; `chain_rule`
// (the links that they read, left by `recorder`), `sensitivities`; `variational` (smooth parts),
// `defect` (the error of the run); `context` (system and settings); `repeat`, `saltation` (one
// crossing with its reset), `corner` (several guards at one instant); `parameters`, with differences
// `by_parameter`; `check` (derivatives at a point).

mod along;
mod by_parameter;
mod chain_rule;
mod check;
mod context;
mod corner;
mod defect;
mod event_times;
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
pub(crate) use of_run::Followed;
pub use parameters::WithParameters;
pub use run_derivative::{RunDerivative, StepsDerivative};
pub use saltation::{Saltation, saltation_matrix, saltation_product};
pub use sensitivities::Sensitivities;
pub use verdict::{NoDerivative, Verdict};
