//! The variational driver.

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
