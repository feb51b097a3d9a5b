//! What the user of the core writes: the right-hand side `f(t, x; mode)`, event functions
//! `h_k(t, x; mode)` and resets.
//!
//! Write a [`Flow`] and an [`EventFunction`] for one type, or make both of closures with
//! [`flow_fn`]; [`Integrator`](crate::Integrator) runs it. Bodies that touch are written as in
//! [`mechanics`](crate::mechanics) instead.
//!
//! ```
//! use saltation::{Crossing, EventFunction, Flow, Integrator, Mode, Start, Stop, Watch};
//!
//! struct Ball; // height (m) and velocity (m/s); loses a tenth of its speed at each bounce
//! impl Flow for Ball {
//!     fn dim(&self) -> usize { 2 }
//!     fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
//!         dx.copy_from_slice(&[x[1], -9.81]);
//!     }
//! }
//! impl EventFunction for Ball {
//!     fn count(&self) -> usize { 1 }
//!     fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 { x[0] }
//!     fn watch(&self, _k: usize) -> Watch { Watch::FALLING } // the reset is not for the way up
//!     fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
//!         crossing.x[1] *= -0.9;
//!         Ok(())
//!     }
//! }
//! let run = Integrator::new(Ball)?.integrate(&Start::at(0.0).x(&[1.0, 0.0]), 1.5)?.completed()?;
//! assert_eq!(run.crossings().len(), 2);
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! * [`Mode`]: on which side of each surface the state is, and flags of the model; [`Guard`]: an
//!   event function with a direction; [`Watch`]: which directions count, and which end the run.
//! * [`Crossing`]: the guards that cross together, and the state to reset; [`Record`]: notes of a
//!   reset for observers; [`Displacement`]: along what a reset is differentiated.
//! * [`Stop`]: why a run ends early, also by a reset's own choice ([`ModelError`]).
//! * [`Rearm`], [`RearmMatrix`]: which guards a crossing arms again.
//!
//! Derivatives need not be written; `check_derivatives` compares written ones with differences
//! ([`derivative`](crate::derivative)).

// Inside: `flow` and `events` (what the user writes), `crossing`; `mode`, with `bits` (rows of bits);
// `guard`, `watch`; `rearm` (the guard reset matrix); `stop`; `closures` (systems from closures),
// `forward` (traits for references and smart pointers).

mod bits;
mod closures;
mod crossing;
mod events;
mod flow;
pub(crate) mod forward;
mod guard;
mod mode;
pub(crate) mod rearm;
mod stop;
mod watch;

pub use bits::Ones;
// The type that [`FlowFn::with_events`] returns has no use of its own.
#[doc(hidden)]
pub use closures::GuardedFn;
pub use closures::{FlowFn, flow_fn};
pub use crossing::{Crossing, Displacement, Record};
pub use events::EventFunction;
pub use flow::Flow;
pub use guard::{Direction, Guard};
pub use mode::Mode;
pub use rearm::{Rearm, RearmMatrix, RowConflict};
pub use stop::{At, ModelError, Stop};
pub use watch::{Crossed, CrossedGuard, Watch};
