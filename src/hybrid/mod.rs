//! The core: event-selected hybrid systems, `x' = f(t, x; mode)`, carried through many guards at once.
//!
//! Serves Anderson & Revzen, "Rapid integrator for a class of multi-contact systems" (arXiv 2402.00279).
//! What the user writes: [`Flow`] (`flow`), [`EventFunction`] (`event`); what they speak of: [`Mode`] (`mode`),
//! [`Watch`], [`Crossed`] (`watch`), [`Rearm`] (`rearm`), [`Projection`] (`settings`); closures and references: `adapters`.
//! Inside: `probe` (the user's functions, checked), `run` (the moving state of one integration), `start` (sides at the
//! beginning), `smooth` and `crossing` (the two phases), `detect`, `stop` and `locate` (which guard a smooth step passes, and where), from
//! `window`, `examine` and `cubic` (what samples of event functions say of what lies between them),
//! `survey` and `ranking` (who is near, who comes first), `project` (one step in the event variable), `fire` and `live` (what
//! a crossing does, and what it must fulfil).
//!
//! Every search is bounded:
//!
//! | search | bound | beyond it |
//! |---|---|---|
//! | smooth steps of a run, rejected ones too ([`Integrator::max_steps`]) | 10,000,000 | `TooManySteps` |
//! | crossings of a run ([`Integrator::max_events`]) | 100,000 | `TooManyEvents` |
//! | bytes of a kept trajectory, and of its derivative ([`Integrator::max_memory`]) | 2³⁰ each | `TrajectoryTooLarge` |
//! | halvings of the step of a difference that stands in for a derivative | 50 | `DifferencesDisagree` |
//! | states of a derivative | 8,192, and as `max_memory` allows | `DerivativeTooLarge` |
//! | doubts of a kept trajectory, all of them are counted | 1,000 | counted |
//! | doubts of one step that are told, all of them are counted | 16 | counted |
//! | windows of a step | 64 | a shorter step |
//! | windows of a step of fixed length | 4,096 | unresolved |
//! | narrowings of a window at one place | 8 | unresolved |
//! | evaluations for one root within a window | 199 | the better end of the bracket |
//! | evaluations for one maximum within a window | 61 | the best so far |
//! | halvings after a start on a guard | 60 | not passed |
//! | guards tried as the first one passed, and projections redone, at one place | number of guards | the last one tried |
//! | shortest step | 8 units in the last place of `t` | `StepTooSmall`, `NotFinite` |
//! | crossings of one guard at one instant | 1 (1,000 with [`Integrator::corner_order`]) | `NoProgress` |
//! | states, event functions | 1,000,000 each | `BadSetting` |
//!
//! The loop: `integrator`. What comes out: `observer`, `trajectory`, `corner`.

mod accuracy;
mod adapters;
mod corner;
mod crossing;
mod cubic;
mod detect;
mod event;
mod examine;
mod fire;
mod flow;
mod integrator;
mod live;
mod locate;
mod mode;
mod observer;
pub(crate) mod probe;
mod project;
mod ranking;
mod rearm;
mod run;
pub(crate) mod settings;
mod smooth;
mod start;
mod stop;
mod survey;
pub(crate) mod trajectory;
mod turned;
mod watch;
mod window;

pub use accuracy::Doubt;
pub use adapters::{FlowFn, GuardedFn, flow_fn};
pub use corner::{Corner, Crossing};
pub use event::EventFunction;
pub use flow::Flow;
pub use integrator::{Integrator, Summary};
pub use mode::{Mode, Ones};
pub use observer::{Arrival, CrossedSet, CrossingEvent, Observer, Segment};
pub use rearm::{Rearm, RearmMatrix, RowConflict};
pub use settings::{PerEntry, Projection, Resolution};
pub use trajectory::{ModeChange, Statistics, Status, Trajectory};
pub use watch::{Crossed, CrossedGuard, Watch};
