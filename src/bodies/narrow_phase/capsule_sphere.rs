//! Capsule and sphere: the point of the core that is closest to the centre. Where the centre lies on
//! the core, the normal is the x axis of the capsule.

use super::ManifoldPoint;
use super::segment::PlacedCapsule;
use crate::bodies::broad_phase::Ball;

/// The only point.
pub(super) fn point(capsule: &PlacedCapsule<'_>, sphere: Ball) -> ManifoldPoint {
    let nearest = capsule.ball_at(capsule.core.closest(sphere.centre));
    ManifoldPoint::of_balls(0, nearest, sphere, || capsule.pose.axis(0))
}
