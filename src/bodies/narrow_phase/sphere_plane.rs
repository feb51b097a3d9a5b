//! Sphere and half-space.

use super::ManifoldPoint;
use crate::bodies::Pose;
use crate::bodies::broad_phase::Ball;

/// The only point of a ball.
pub(super) fn point(feature: usize, ball: Ball, plane: &Pose) -> ManifoldPoint {
    let Ball { centre, radius } = ball;
    let normal = plane.axis(2);
    let gap = normal.dot(&(centre - plane.position())) - radius;
    ManifoldPoint::from_a(feature, gap, normal, centre - normal * radius)
}
