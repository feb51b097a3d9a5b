//! Knowledge of a run at the present instant (Anderson & Revzen, section 3).
//!
//! * `state`: what moves: time, state, mode, and the field in the stepper.
//! * `guard_table`: values of each event function, with its `rates` (differences `beside` the
//!   state stand in for rows), its `spread` by errors (`terms` of the state variables) and its `ranking` by the
//!   time to its surface.

mod beside;
mod guard_table;
mod ranking;
mod rates;
mod spread;
mod state;
mod terms;

pub(crate) use guard_table::{GuardTable, NOT_NEAR};
pub(crate) use ranking::{Ranking, Survey};
pub(crate) use state::{GROWTH, State};
