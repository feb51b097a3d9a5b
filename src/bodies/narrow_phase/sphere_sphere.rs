//! Two spheres. Where the centres coincide, the normal is the z axis of the world.

use super::ManifoldPoint;
use crate::bodies::Pose;
use nalgebra::Vector3;

/// The only point.
pub(super) fn point((a, radius_a): (&Pose, f64), (b, radius_b): (&Pose, f64)) -> ManifoldPoint {
    let (a, b) = ((a.position(), radius_a), (b.position(), radius_b));
    ManifoldPoint::of_balls(0, a, b, Vector3::z)
}
