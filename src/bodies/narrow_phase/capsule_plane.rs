//! Capsule and half-space: the balls at both ends.

use super::segment::Segment;
use super::{Manifold, ManifoldPoint, sphere_plane};
use crate::bodies::Pose;

/// Number of features: the ends.
pub(super) const FEATURES: usize = 2;

/// Adds the ends within the margin.
pub(super) fn add(core: (&Segment, f64), plane: &Pose, margin: f64, manifold: &mut Manifold) {
    for end in 0..FEATURES {
        manifold.push_within(margin, point(core, plane, end));
    }
}

/// The point of an end.
pub(super) fn point((core, radius): (&Segment, f64), plane: &Pose, end: usize) -> ManifoldPoint {
    sphere_plane::point(end, (core.end(end), radius), plane)
}
