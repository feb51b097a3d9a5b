//! Joints, limits and motors.

mod axes;
mod bodies;
mod campaign;
mod derivatives;
mod forces_of_inertia;
mod frozen;
mod heavy_on_light;
mod input;
mod joints;
mod kinematic;
mod motors;
mod random_joints;
mod systems;
