//! Shapes of parry in scenes: their contact points against ours, their masses, their motion.

mod extremes;
mod inner_edges;
mod points;
mod queries;
mod scenes;
mod shapes;
mod touching;

use saltation::bodies::parry::glamx::DVec3;
use saltation::bodies::parry::shape::{SharedShape, TriMesh, TriMeshFlags};
use saltation::bodies::{Manifold, ManifoldPoint, Pose, Shape, contact_points};

use crate::random::SplitMix64;

pub(crate) fn parry(shape: SharedShape) -> Shape {
    Shape::parry(shape).unwrap()
}

/// The eight corners of a box.
pub(crate) fn corners(half: [f64; 3]) -> Vec<DVec3> {
    let sign = |bits: usize, k: usize| if bits >> k & 1 == 0 { -1.0 } else { 1.0 };
    let corner = |bits: usize| [0, 1, 2].map(|k| sign(bits, k) * half[k]);
    (0..8).map(|bits| DVec3::from_array(corner(bits))).collect()
}

/// The surface of a box, two triangles a face, outwards.
pub(crate) fn box_mesh(half: [f64; 3]) -> TriMesh {
    let triangles = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];
    let flags = TriMeshFlags::ORIENTED | TriMeshFlags::FIX_INTERNAL_EDGES;
    TriMesh::with_flags(corners(half), triangles.to_vec(), flags).unwrap()
}

pub(crate) fn pose(draw: &mut SplitMix64, near: f64) -> Pose {
    let mut number = |by: f64| draw.between(-by, by);
    let at = [number(near), number(near), number(near)];
    Pose::new(at, [number(1.0), number(1.0), number(1.0), number(1.0)]).unwrap()
}

pub(crate) fn points(a: (&Shape, &Pose), b: (&Shape, &Pose), margin: f64) -> Vec<ManifoldPoint> {
    let mut manifold = Manifold::new();
    contact_points(a, b, margin, &mut manifold).unwrap();
    manifold.points().to_vec()
}

pub(crate) fn deepest(points: &[ManifoldPoint]) -> Option<ManifoldPoint> {
    points
        .iter()
        .copied()
        .min_by(|p, q| p.gap.total_cmp(&q.gap))
}

/// What the contract of a point says.
pub(crate) fn check(point: &ManifoldPoint, margin: f64) {
    assert!((point.normal.norm() - 1.0).abs() < 1e-9 && point.gap <= margin);
    let gap = point.normal.dot(&(point.on_a - point.on_b));
    assert!((gap - point.gap).abs() < 1e-9, "{gap} {point:?}");
}

pub(crate) fn check_all(points: &[ManifoldPoint], margin: f64) {
    for point in points {
        check(point, margin);
    }
}
