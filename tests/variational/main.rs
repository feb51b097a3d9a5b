//! The variational driver.
#![allow(missing_docs, reason = "tests")]
#![allow(
    clippy::float_cmp,
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "small whole numbers, exactly"
)]

#[allow(dead_code, reason = "each of those who share it takes what it needs")]
#[path = "../impact/fixtures/reference.rs"]
mod reference;

#[path = "../common/random.rs"]
mod random;

mod against_event_driven;
mod closed_contacts;
mod derivative_of_runs;
mod friction_in_space;
mod impacts;
mod interrupts;
mod midpoint;
mod newton;
mod orthogonal_contacts;
mod parts_of_steps;
mod redundant_feet;
mod rest_in_space;
mod shared_loads;
mod sticking_corner;
mod trex;
mod whole_steps;
