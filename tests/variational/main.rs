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

mod campaign;
mod closed;
mod derivative;
mod impacts;
mod interrupts;
mod midpoint;
mod newton;
mod orthogonal;
mod parts;
mod rest_in_space;
mod space;
mod standing;
mod trex;
mod whole_steps;
