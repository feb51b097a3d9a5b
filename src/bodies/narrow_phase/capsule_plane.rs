//! Capsule and half-space: the balls at both ends.

use super::segment::PlacedCapsule;
use super::{Manifold, ManifoldPoint, sphere_plane};
use crate::bodies::Pose;

/// Number of features: the ends.
pub(super) const FEATURES: usize = 2;

/// Adds the ends within the margin.
pub(super) fn add(capsule: &PlacedCapsule<'_>, plane: &Pose, margin: f64, manifold: &mut Manifold) {
    for end in 0..FEATURES {
        manifold.push_within(margin, point(capsule, plane, end));
    }
}

/// The point of an end.
pub(super) fn point(capsule: &PlacedCapsule<'_>, plane: &Pose, end: usize) -> ManifoldPoint {
    sphere_plane::point(end, capsule.ball_at(capsule.core.end(end)), plane)
}
