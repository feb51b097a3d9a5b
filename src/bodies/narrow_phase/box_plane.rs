//! Box and half-space: the vertices of the face that looks most into the plane. The lowest vertex is
//! among them.

use super::placed_box::{face_corner_signs, vertex_number};
use super::{Manifold, ManifoldPoint, PlacedBox};
use crate::bodies::Pose;

/// Number of features: the vertices.
pub(super) const FEATURES: usize = 8;

/// Adds the vertices within the margin.
pub(super) fn add(cuboid: &PlacedBox<'_>, plane: &Pose, margin: f64, manifold: &mut Manifold) {
    let face = cuboid.face_against(plane.axis(2));
    for corner in 0..4 {
        let vertex = vertex_number(face_corner_signs(face, corner));
        manifold.push_within(margin, point(cuboid, plane, vertex));
    }
}

/// The point of a vertex.
pub(super) fn point(cuboid: &PlacedBox<'_>, plane: &Pose, vertex: usize) -> ManifoldPoint {
    let (on_box, normal) = (cuboid.vertex(vertex), plane.axis(2));
    let gap = normal.dot(&(on_box - plane.position()));
    ManifoldPoint::from_a(vertex, gap, normal, on_box)
}
