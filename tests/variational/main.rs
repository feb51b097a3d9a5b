//! The variational driver.

#[allow(dead_code, reason = "each of those who share it takes what it needs")]
#[path = "../impact/fixtures/reference.rs"]
mod reference;

mod campaign;
mod closed;
mod derivative;
mod impacts;
mod midpoint;
mod newton;
mod orthogonal;
mod parts;
mod standing;
mod trex;
