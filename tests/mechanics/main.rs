//! Mechanical systems with contacts: the trotting models against their reference, impacts, resting
//! contact.
#![allow(missing_docs, reason = "tests")]

mod admissible;
mod ball;
#[cfg(feature = "dual")]
mod by_differences;
mod checked;
mod choices;
mod contacts;
mod continuity;
mod corner;
mod cuts;
mod decoupled;
mod decoupling;
mod discs;
#[cfg(feature = "dual")]
mod duals;
mod fixtures;
mod forwarding;
mod frames;
mod level;
mod lifting;
mod limbs;
mod linearised;
mod options;
mod orders;
mod pendulum;
#[path = "../common/polygon.rs"]
mod polygon;
#[cfg(feature = "dual")]
mod quaternions;
#[path = "../common/random.rs"]
mod random;
mod resets;
mod rocking;
mod rough;
mod shaking;
mod short_runs;
mod side_by_side;
mod spreads;
mod stacks;
mod table;
mod throws;
mod trees;
mod trot;
mod trot_derivative;
mod unwritten;
mod wedges;
