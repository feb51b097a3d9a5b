//! Time stepping: the theta method in two stages (Castro et al., section III).
//!
//! * `scheme`: the weights of the start and the end of a step; `free_motion`: the motion without
//!   contacts, the inertia that contacts meet, and coordinates; `free_newton`: its equations.
//! * `step`: one step; `driver`: [`Compliant`], its settings and its runs; `model`: what it asks
//!   of a system; `terms`: [`StepTerm`], joints, limits and motors.
//! * `division`: how a run is divided into steps; `run`: what it computed; `sensitivities`:
//!   derivatives of steps and runs, `columns` their memory.

mod columns;
mod division;
mod driver;
mod free_motion;
mod free_newton;
mod model;
mod run;
mod scheme;
mod sensitivities;
mod step;
mod terms;

pub use driver::Compliant;
pub use run::{StepRun, StepStatistics, StepTimes};
pub use scheme::Scheme;
pub use terms::{StepState, StepTerm};
