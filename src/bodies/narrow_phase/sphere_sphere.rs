//! Two spheres. Where the centres coincide, the normal is the z axis of the world.

use super::ManifoldPoint;
use crate::bodies::broad_phase::Ball;
use nalgebra::Vector3;

/// The only point.
pub(super) fn point(a: Ball, b: Ball) -> ManifoldPoint {
    ManifoldPoint::of_balls(0, a, b, Vector3::z)
}
