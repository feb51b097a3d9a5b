//! The closest points of two shapes at any distance, or the shortest way out of their overlap.

use nalgebra::Vector3;

use super::convex::{Convex, Core};
use super::feature::{Side, Two};
use super::separation::{Closest, best_normal, gap_along};
use super::{ManifoldPoint, PlacedShape, rank};
use crate::InputError;
use crate::bodies::{Pose, ShapeKind};

/// The gap of two shapes, with the normal from B into A and the witness points; of overlaps the
/// shortest way out.
///
/// # Errors
/// [`InputError::BadSetting`] for two planes, and where parry has no answer.
pub(in crate::bodies) fn distance(
    a: PlacedShape<'_>,
    b: PlacedShape<'_>,
) -> Result<ManifoldPoint, InputError> {
    #[cfg(feature = "parry")]
    if a.shape.kind().is_parry() || b.shape.kind().is_parry() {
        return super::foreign::distance(a, b);
    }
    if rank(a) > rank(b) {
        return distance(b, a).map(ManifoldPoint::exchanged);
    }
    let found = match (a.convex(), b.convex()) {
        (Some(a), Some(b)) => Some(of_convex(Two { a: &a, b: &b })),
        (Some(a), None) if b.shape.kind() == ShapeKind::Plane => Some(over_plane(&a, b.pose)),
        _ => None,
    };
    found.ok_or(InputError::BadSetting {
        name: "bodies",
        entry: 0,
        value: 0.0,
        rule: "two planes have no distance",
    })
}

/// The corners of the box along the axes of the world that holds a shape; none for a plane.
pub(in crate::bodies) fn bounds(placed: PlacedShape<'_>) -> Option<[Vector3<f64>; 2]> {
    let centre = placed.pose.position();
    let (low, high) = if let Some(convex) = placed.convex() {
        let reach = |towards: Vector3<f64>| towards.dot(&(convex.furthest(towards) - centre));
        let axis = |k: usize| Vector3::from_fn(|i, _| f64::from(u8::from(i == k)));
        let along = |sign: f64| Vector3::from_fn(|k, _| reach(axis(k) * sign) + convex.radius);
        (along(-1.0), along(1.0))
    } else {
        let radius = placed.shape.bounding_radius();
        if !radius.is_finite() {
            return None;
        }
        (Vector3::repeat(radius), Vector3::repeat(radius))
    };
    // More than the rounding of what is computed from the pose.
    let slack = 1e-12 * (centre.amax() + low.amax() + high.amax());
    Some([
        centre - low.add_scalar(slack),
        centre + high.add_scalar(slack),
    ])
}

fn over_plane(a: &Convex<'_>, plane: &Pose) -> ManifoldPoint {
    let normal = plane.axis(2);
    let on_a = a.furthest(-normal) - normal * a.radius;
    let gap = normal.dot(&(on_a - plane.position()));
    ManifoldPoint::from_a(0, gap, normal, on_a)
}

fn of_convex(two: Two<'_>) -> ManifoldPoint {
    let found = match (two.a.core, two.b.core) {
        (Core::Point, _) => Some(two.at_vertex(Side::A, 0)),
        (_, Core::Point) => Some(two.at_vertex(Side::B, 0)),
        (Core::Segment, Core::Segment) => two.at_edges(0, 0),
        _ => None,
    };
    let point = found.unwrap_or_else(|| {
        let best = best_normal(two.a, two.b, f64::INFINITY);
        let Closest { normal, on_a } = best.unwrap_or(Closest {
            normal: Vector3::z(),
            on_a: two.a.pose.position(),
        });
        let distance = gap_along(two.a, two.b, normal);
        ManifoldPoint {
            feature: 0,
            gap: distance - two.radii(),
            normal,
            on_a: on_a - normal * two.a.radius,
            on_b: on_a + normal * (two.b.radius - distance),
        }
    });
    ManifoldPoint {
        feature: 0,
        ..point
    }
}
