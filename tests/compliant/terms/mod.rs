//! Joints, limits and motors.

mod axes;
mod bodies;
mod campaign;
mod derivatives;
mod input;
mod motors;
mod systems;
