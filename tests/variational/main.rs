//! The variational driver.

#[path = "../impact/fixtures/reference.rs"]
mod reference;

mod closed;
mod derivative;
mod impacts;
mod midpoint;
mod orthogonal;
mod trex;
