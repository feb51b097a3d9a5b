//! The compliant driver: contact law, solver, time stepping.

mod campaign;
mod clutter;
mod door;
mod driver;
mod drop;
mod extremes;
mod gliding;
mod gradient;
mod guide;
mod incline;
mod input;
mod lagged;
mod lagged_steps;
#[path = "../common/listed.rs"]
mod listed;
mod metrics;
mod patches;
mod problems;
mod properties;
#[path = "../common/random.rs"]
mod random;
mod reference;
mod rolling;
mod rows;
mod sample;
mod scenes;
mod sensitivities;
mod slip;
mod spring_cylinder;
mod stack;
mod terms;
#[cfg(feature = "parallel")]
mod threads;
mod tumbling;
