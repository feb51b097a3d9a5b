//! The core: event-selected hybrid systems, `x' = f(t, x; mode)`, carried through many guards at once.
//!
//! Serves Anderson & Revzen, "Rapid integrator for a class of multi-contact systems" (arXiv 2402.00279).
//! What the user writes: [`Flow`] (`flow`), [`EventFunction`] (`event`); what they speak of: [`Mode`] (`mode`), [`Guard`],
//! [`Watch`], [`Crossed`] (`guard`), [`Rearm`] (`rearm`), [`Projection`] (`settings`); closures and references: `adapters`.
//! Inside: `probe` (the user's functions, counted and checked), `run` (the moving state of one integration), `project` (one
//! step in the event variable), `locate` (bracketing on the interpolant), `scan` (which guard a smooth step passes),
//! `smooth` and `crossing` (the two phases), `fire` (what a crossing does), `live` (what it must fulfil), `start` (sides at the beginning).
//! The loop: `integrator`. What comes out: `observer`, `trajectory`, `corner`.

mod adapters;
mod corner;
mod crossing;
mod event;
mod fire;
mod flow;
mod guard;
mod integrator;
mod live;
mod locate;
mod mode;
mod observer;
mod probe;
mod project;
mod rearm;
mod run;
mod scan;
mod settings;
mod smooth;
mod start;
mod trajectory;

pub use adapters::{FlowFn, GuardedFn, flow_fn};
pub use corner::Corner;
pub use event::EventFunction;
pub use flow::Flow;
pub use guard::{Crossed, CrossedGuard, Direction, Guard, Watch};
pub use integrator::{Integrator, Summary};
pub use mode::{Mode, Ones};
pub use observer::{Arrival, CrossingEvent, Observer, Segment};
pub use rearm::{Rearm, RearmMatrix, RowConflict};
pub use settings::{PerEntry, Projection};
pub use trajectory::{Crossing, ModeChange, Statistics, Status, Trajectory};
