//! Capsule and sphere: the point of the core that is closest to the centre. Where the centre lies on
//! the core, the normal is the x axis of the capsule.

use super::ManifoldPoint;
use super::segment::Segment;
use crate::bodies::Pose;

/// The only point.
pub(super) fn point(
    capsule: &Pose,
    (core, radius): (&Segment, f64),
    (sphere, radius_b): (&Pose, f64),
) -> ManifoldPoint {
    let centre = sphere.position();
    let a = (core.closest(centre), radius);
    ManifoldPoint::of_balls(0, a, (centre, radius_b), || capsule.axis(0))
}
