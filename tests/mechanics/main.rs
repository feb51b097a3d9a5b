//! Mechanical systems with contacts: the trotting models against their reference, impacts, resting
//! contact.
#![allow(missing_docs, reason = "tests")]

mod accumulations_by_differences;
mod admissible;
mod ball;
mod box_in_a_corner;
#[cfg(feature = "dual")]
mod by_differences;
mod check_mechanics;
mod constant_contacts;
mod contact_frames;
mod contacts;
mod continued_runs;
mod continuity;
mod coupled_efforts;
mod decoupled;
mod decoupling;
#[cfg(feature = "dual")]
mod duals;
mod fixtures;
mod forwarding;
mod impact_derivative;
mod impacts_with_friction;
mod late_starts;
mod level_rod;
mod lifting_corner;
mod linearised_motion;
mod nothing_written;
mod options;
mod orders_of_activations;
mod orders_of_contacts;
mod pendulum;
mod piles_of_discs;
#[path = "../common/polygon.rs"]
mod polygon;
#[cfg(feature = "dual")]
mod quaternions;
#[path = "../common/random.rs"]
mod random;
mod rocking;
mod shaking_tables;
mod short_runs;
mod side_by_side;
mod stacks;
mod table_on_four_legs;
mod thrown_to_and_fro;
mod throws;
mod trees;
mod trot;
mod trot_derivative;
mod used_or_refused;
mod wedges;
