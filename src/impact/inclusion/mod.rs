//! The impact inclusion: inelastic impacts with friction at several contacts, every outcome by
//! samples.
//!
//! Serves Halm & Posa, "Set-valued rigid-body dynamics for simultaneous, inelastic, frictional
//! impacts" (IJRR 2024). Everything runs in contact space; impulses add up, and the velocity is
//! formed once at the end.
//!
//! * `settings`: what a user sets; `bounds`: how the bounds of steps are drawn, `sobol` by Sobol's
//!   sequence; `simulation`: one sample, step by step, or all its branches.
//! * The rates of a step: `lcp_step`, by the complementarity problem that `blocks` makes, `proximal`
//!   with a round cone, `shares` for dependent contacts that slide; `energetic`, with restitution;
//!   `exact`, from event to event.
//! * `sampler`: many samples by number; `samples`: their list, how far they reach and what they
//!   cover.

pub(crate) mod blocks;
mod bounds;
mod energetic;
mod exact;
mod lcp_step;
pub(crate) mod proximal;
mod sampler;
mod samples;
mod settings;
mod shares;
mod simulation;
#[cfg(feature = "sobol")]
mod sobol;

pub use bounds::BoundLaw;
pub use lcp_step::SolutionRule;
pub use sampler::{OutcomeSimulation, Sampler};
pub use samples::{SampleEnd, SampleStatistics, Samples};
pub use settings::{EventExact, Finish, LcpSteps};
pub use simulation::{Branch, Ended, InclusionSimulation};
