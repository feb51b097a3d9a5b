//! The core driver: event-selected hybrid systems `x' = f(t, x; mode)`, carried through many guards
//! at once.
//!
//! [`Integrator`] runs a system of [`model`](crate::model) and returns a [`Run`](crate::Run).
//! [`Projection`] says how clusters of guards are crossed, [`Resolution`] how closely event
//! functions are sampled within a step; both have good defaults.
//!
//! ```
//! use saltation::{Guard, Integrator, Start, models::Hopper};
//! let mut integrator = Integrator::new(Hopper::default())?.rtol(1e-9).atol(1e-12);
//! let run = integrator.integrate(&Start::at(0.0).x(&[2.0, 0.0]), 2.0)?.completed()?;
//! let landings: Vec<f64> = run.crossings_of(Guard::rising(0)).map(|crossing| crossing.t).collect();
//! assert!((landings[0] - 0.451523640985731).abs() < 1e-9 && landings.len() == 2);
//! assert!(run.is_guaranteed());
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! Source: Anderson & Revzen, "Rapid integrator for a class of multi-contact systems" (arXiv
//! 2402.00279).
//!
//! # Limits
//!
//! Every search is bounded:
//!
//! | search | bound | beyond it |
//! |---|---|---|
//! | smooth steps of a run, rejected ones too ([`Integrator::max_steps`]) | 10,000,000 | `TooManySteps` |
//! | crossings of a run ([`Integrator::max_events`]) | 100,000 | `TooManyEvents` |
//! | bytes of a kept trajectory, and of its derivative ([`Integrator::max_memory`]) | 2³⁰ each | `RunTooLarge` |
//! | halvings of the step of a difference that stands in for a derivative | 50 | `DifferencesDisagree` |
//! | states of a derivative | 8,192, and as `max_memory` allows | `DerivativeTooLarge` |
//! | doubts of a kept trajectory, all of them are counted | 1,000 | counted |
//! | doubts of one step that are reported, all of them are counted | 16 | counted |
//! | windows of a step | 64 | a shorter step |
//! | windows of a step of fixed length | 4,096 | unresolved |
//! | narrowings of a window at one place | 8 | unresolved |
//! | evaluations for one root within a window | 199 | the better end of the bracket |
//! | evaluations for one maximum within a window | 122 | the best so far |
//! | halvings after a start on a guard | 60 | not passed |
//! | guards tried as the first one passed, and projections redone, at one place | number of guards | the last one tried |
//! | shortest step | 8 units in the last place of `t` | `StepTooSmall`, `NotFinite` |
//! | crossings of one guard at one instant | 1 (1,000 with [`Integrator::corner_order`]) | `NoProgress` |
//! | throws by less than rounding behind a surface, after a flight 1,000 times as long or less | 0 | `NoProgress` |
//! | states, event functions | 1,000,000 each | `BadSetting` |

// Inside: `run` (one integration: start, smooth steps, crossings by projection), on `search` (which
// guard a smooth step passes first), on `table` (rates and errors of each guard); `transition` (the
// effect of a crossing); `context`, `evaluate` (the user's functions, counted and checked);
// `integrator`, `options`, `driver`, `live` (how runs begin and go on).

pub(crate) mod context;
mod driver;
pub(crate) mod evaluate;
mod integrator;
mod live;
pub(crate) mod options;
mod run;
mod search;
mod table;
pub(crate) mod transition;

pub(crate) use context::System;
pub(crate) use driver::Driver;
pub use integrator::Integrator;
pub use options::{Projection, Resolution};
pub(crate) use run::{Integration, run_to_end};

/// Room that lists of guards which are near, or cross, at one instant have from the start, for this
/// many event functions: where more are than there is room for, they grow once.
pub(crate) fn room_for(count: usize) -> usize {
    count.min(128)
}
