//! Traits of a model, which the user writes, and the types that they speak of.
//!
//! * `flow`: the right-hand side `f(t, x; mode)`; `events`: the event functions `h_k(t, x; mode)`
//!   and resets.
//! * `crossing`: what a crossing gives the model, along what it is derived, and what it leaves in
//!   its record.
//! * `guard`: an event function with a direction; `mode`: on which side of each guard the state is,
//!   and flags of the model (`bits`); `watch`: which directions count;
//!   `stop`: why a run ends early.
//! * `rearm`: which guards a crossing arms; `closures`: systems from closures; `forward`: from
//!   references and smart pointers.

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
