//! The closest points of two shapes at any distance, or the shortest way out of their overlap.

use nalgebra::Vector3;

use super::convex::{Convex, Core};
use super::feature::{Side, TOUCHING, Two};
#[cfg(feature = "parry")]
use super::foreign::as_ours;
use super::separation::{Closest, best_normal, gap_along};
use super::{ManifoldPoint, PlacedShape, rank};
use crate::InputError;
use crate::bodies::{Pose, ShapeKind};

/// Points of the bodies that are closest are right to this part of the shortest half length.
const EXACT: f64 = 1e-9;
/// Rounding of places, by the largest.
const ROUNDING: f64 = 1e-12;
/// Turns in which these are made better.
const TURNS: usize = 64;

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
        let Some((own_a, own_b)) = as_ours(a).zip(as_ours(b)) else {
            return super::foreign::distance(a, b);
        };
        return distance(
            PlacedShape::new(&own_a.0, &own_a.1),
            PlacedShape::new(&own_b.0, &own_b.1),
        );
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

/// The normal, the distance of the cores and the point of A, where its point of B along the normal does
/// not lie in B: closest points of one to the other in turn. That happens where the distance is much
/// longer than a body, so that the normal is not known well enough.
fn polished(
    two: Two<'_>,
    normal: Vector3<f64>,
    distance: f64,
    on_a: Vector3<f64>,
) -> (Vector3<f64>, f64, Vector3<f64>) {
    let (mut one, mut other) = (on_a, two.b.nearest(on_a).on);
    let off = (on_a - normal * distance - other).norm();
    if distance <= 0.0 || off <= EXACT * two.least_half() {
        return (normal, distance, on_a);
    }
    for _ in 0..TURNS {
        one = two.a.nearest(other).on;
        other = two.b.nearest(one).on;
    }
    let between = one - other;
    let length = between.norm();
    let furthest = one.amax() + two.a.pose.position().amax() + two.b.pose.position().amax();
    // Where bodies touch, the direction from one point to the other is rounding.
    let Some(direction) = between.try_normalize(TOUCHING * furthest) else {
        return (normal, distance, on_a);
    };
    // No two points are closer than the gap along a normal: these are the closest, but for the
    // rounding of the places of the bodies.
    if length - distance <= EXACT * distance + ROUNDING * furthest {
        return (direction, length, one);
    }
    // Else the gap along the normal is known better than these points.
    let is_better = (one - normal * distance - other).norm() < off;
    (normal, distance, if is_better { one } else { on_a })
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
        let (normal, distance, on_a) = polished(two, normal, distance, on_a);
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
