//! Inelastic impacts with friction at several contacts: every outcome, not one.
//!
//! Serves Halm & Posa, "Set-valued rigid-body dynamics for simultaneous, inelastic, frictional
//! impacts" (IJRR 2024). Everything runs in contact space; impulses add up, and the velocity is
//! formed once at the end.
//!
//! * `one_contact`: Routh's impact in the plane; `keller`: the same in space.
//! * `blocks`: the complementarity problem of a step, with and without bounds; `modes`: all its
//!   solutions in the plane.
//! * `cone`: how pointed the cone of contact forces is, and how soon impacts end; `least_norm`: the
//!   convex problem behind it.
//! * `settings`, `simulation`, `branches`: samples of outcomes by steps of bounded impulses;
//!   `bounds`: how the bounds are drawn, `sobol` by Sobol's sequence; `lcp_step`: one step;
//!   `proximal`: the same with a round cone; `energetic`: samples with restitution.
//! * `exact_planar`: the set of outcomes in the plane, as a union of polytopes;
//!   `planar_inclusion`: locations and rates; `work_list`: the search; `generators`: convex sets by
//!   points and rays; `span`: rows that depend on others; `outcome_set`: what a user reads of the
//!   set, `velocity_set` in velocities of the bodies, `polytope` of a piece.
//! * `event_exact`: samples without the error of a step.
//! * `sampler`: many samples by number; `samples`: their list; `statistics`: how far they reach and
//!   what they cover.

pub(crate) mod blocks;
pub(crate) mod bounds;
mod branches;
mod cone;
mod energetic;
mod event_exact;
mod exact_planar;
mod generators;
pub(crate) mod keller;
mod lcp_step;
mod least_norm;
pub(crate) mod modes;
pub(crate) mod one_contact;
mod outcome_set;
mod planar_inclusion;
mod polytope;
pub(crate) mod proximal;
mod sampler;
mod samples;
mod settings;
mod simulation;
#[cfg(feature = "sobol")]
mod sobol;
mod span;
mod statistics;
mod velocity_set;
mod work_list;

pub use bounds::BoundLaw;
pub use branches::Branch;
pub use cone::ContactCone;
pub use energetic::EnergeticSimulation;
pub use event_exact::{EventExact, EventExactSimulation};
pub use exact_planar::ExactPlanar;
pub use outcome_set::{OutcomeSet, Unclosed};
pub use polytope::{Facet, Polytope};
pub use sampler::{OutcomeSimulation, Sampler};
pub use samples::{SampleEnd, Samples};
pub use settings::{Finish, LcpSteps, SolutionRule};
pub use simulation::{Ended, LcpSimulation};
pub use statistics::SampleStatistics;
pub use velocity_set::{ExtremeOutcome, VelocitySet};
