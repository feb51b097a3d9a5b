//! Time stepping: the theta method in two stages (Castro et al., section II-D).
//!
//! * `scheme`: the weights of the start and the end of a step; `motion`: the motion without contacts.
//! * `state`: the driver without the type of its system; `step`: one step; `driver`: [`Compliant`] and its
//!   settings; `runs`: its runs; `model`: what it asks of a system, and [`StepTerm`]: joints, limits and
//!   motors.
//! * `own_terms`: its terms; `start`: what is looked at when a run starts.
//! * `sleep`: islands that sleep and wake.
//! * `division`: how a run is divided into steps; `told`: its reports, `statistics`: its counts; `sensitivities`:
//!   derivatives of steps and runs, `columns` their memory.

mod columns;
mod division;
mod driver;
mod model;
mod motion;
mod own_terms;
mod runs;
mod scheme;
mod sensitivities;
mod sleep;
mod start;
mod state;
mod statistics;
mod step;
mod told;

pub use driver::Compliant;
pub use model::{StepState, StepTerm};
pub use scheme::Scheme;
#[cfg(feature = "serde")]
pub(super) use sleep::Sleeping;
pub use statistics::{StepStatistics, StepTimes};
