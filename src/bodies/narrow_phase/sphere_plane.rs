//! Sphere and half-space.

use nalgebra::Vector3;

use super::ManifoldPoint;
use crate::bodies::Pose;

/// The only point of a ball about `centre`.
pub(super) fn point(
    feature: usize,
    (centre, radius): (Vector3<f64>, f64),
    plane: &Pose,
) -> ManifoldPoint {
    let normal = plane.axis(2);
    let gap = normal.dot(&(centre - plane.position())) - radius;
    ManifoldPoint::from_a(feature, gap, normal, centre - normal * radius)
}
