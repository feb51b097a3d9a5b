//! The compliant driver: contact law, solver, time stepping.

mod campaign_of_problems;
mod coulomb;
mod coulomb_problems;
mod driver;
mod dropped_particle;
mod extremes;
mod gliding;
mod gradient;
mod heaps;
mod incline;
mod input;
mod lagged;
mod lagged_steps;
#[path = "../common/listed.rs"]
mod listed;
mod metrics;
mod moments_refused;
mod numbers_of_the_guide;
mod passing;
mod patches;
mod problems;
mod properties;
#[path = "../common/random.rs"]
mod random;
mod random_problems;
mod random_scenes;
mod reference;
mod reference_rows;
mod refused_at_the_start;
mod restitution;
mod restitution_of_scenes;
mod rolling;
mod rolling_friction;
mod sensitivities;
mod sleep;
mod slip_in_stiction;
mod spring_cylinder;
mod stacked_cubes;
mod terms;
#[cfg(feature = "parallel")]
mod threads;
mod told;
mod tumbling;
