//! Spheres, capsules and boxes over a half-space: the ball, the balls at both ends, and the vertices
//! of the face that looks most into the plane, of which the lowest vertex is one.

use super::placed_box::{face_corner_signs, vertex_number};
use super::segment::PlacedCapsule;
use super::{Manifold, ManifoldPoint, PlacedBox};
use crate::bodies::Pose;
use crate::bodies::broad_phase::Ball;

/// Number of features of a capsule: the ends.
pub(super) const ENDS: usize = 2;

/// Number of features of a box: the vertices.
pub(super) const VERTICES: usize = 8;

/// The only point of a ball.
pub(super) fn ball_point(feature: usize, ball: Ball, plane: &Pose) -> ManifoldPoint {
    let Ball { centre, radius } = ball;
    let normal = plane.axis(2);
    let gap = normal.dot(&(centre - plane.position())) - radius;
    ManifoldPoint::from_a(feature, gap, normal, centre - normal * radius)
}

/// Adds the ends of a capsule within the margin.
pub(super) fn add_ends(
    capsule: &PlacedCapsule<'_>,
    plane: &Pose,
    margin: f64,
    manifold: &mut Manifold,
) {
    for end in 0..ENDS {
        manifold.push_within(margin, end_point(capsule, plane, end));
    }
}

/// The point of an end of a capsule.
pub(super) fn end_point(capsule: &PlacedCapsule<'_>, plane: &Pose, end: usize) -> ManifoldPoint {
    ball_point(end, capsule.ball_at(capsule.core.end(end)), plane)
}

/// Adds the vertices of a box within the margin.
pub(super) fn add_vertices(
    cuboid: &PlacedBox<'_>,
    plane: &Pose,
    margin: f64,
    manifold: &mut Manifold,
) {
    let face = cuboid.face_against(plane.axis(2));
    for corner in 0..4 {
        let vertex = vertex_number(face_corner_signs(face, corner));
        manifold.push_within(margin, vertex_point(cuboid, plane, vertex));
    }
}

/// The point of a vertex of a box.
pub(super) fn vertex_point(cuboid: &PlacedBox<'_>, plane: &Pose, vertex: usize) -> ManifoldPoint {
    let (on_box, normal) = (cuboid.vertex(vertex), plane.axis(2));
    let gap = normal.dot(&(on_box - plane.position()));
    ManifoldPoint::from_a(vertex, gap, normal, on_box)
}
