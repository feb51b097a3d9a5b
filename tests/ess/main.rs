//! Event-selected systems: what the core promises, one phenomenon a module, in one binary because each links nalgebra anew.

mod affine_order;
mod bad_input;
mod grazing;
mod hopper_exact;
mod observers;
mod plate_reference;
mod properties;
mod random_corners;
mod rearm;
mod resets;
mod support;
