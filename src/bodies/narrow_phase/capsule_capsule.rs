//! Two capsules: the closest points of the cores. Nearly parallel ones touch at the ends of their
//! common length too.

use nalgebra::Vector3;

use super::segment::{PlacedCapsule, Segment};
use super::{Manifold, ManifoldPoint};

/// Number of features: the closest points; ends 0 and 1 of A; ends 0 and 1 of B.
pub(super) const FEATURES: usize = 5;

/// Sine of the angle below which capsules touch along their length.
const PARALLEL: f64 = 0.05;
/// Sine of the angle below which the closest points are not determined.
const ALIGNED: f64 = 1e-6;

/// Adds the points within the margin.
pub(super) fn add(a: &PlacedCapsule<'_>, b: &PlacedCapsule<'_>, margin: f64, out: &mut Manifold) {
    let apart = 1e-3 * a.core.half.min(b.core.half);
    let sine = a.core.axis.cross(&b.core.axis).norm();
    let closest = closest(a, b);
    if sine >= ALIGNED {
        out.push_within(margin, closest);
    }
    if sine < PARALLEL {
        for feature in 1..FEATURES {
            let (end, other) = end_of(feature, &a.core, &b.core);
            if other.foot(end).abs() <= other.half + 1e-9 * other.half {
                out.push_apart(margin, apart, at_end(feature, a, b));
            }
        }
    }
    if out.points().is_empty() {
        out.push_within(margin, closest);
    }
}

/// The point of a feature.
pub(super) fn point(
    a: &PlacedCapsule<'_>,
    b: &PlacedCapsule<'_>,
    feature: usize,
) -> Option<ManifoldPoint> {
    match feature {
        0 => Some(closest(a, b)),
        1..FEATURES => Some(at_end(feature, a, b)),
        _ => None,
    }
}

fn closest(a: &PlacedCapsule<'_>, b: &PlacedCapsule<'_>) -> ManifoldPoint {
    let (on_a, on_b) = a.core.closest_points(&b.core);
    ManifoldPoint::of_balls(0, a.ball_at(on_a), b.ball_at(on_b), || across(a, b))
}

/// The end that a feature names, and the core of the other capsule.
fn end_of<'a>(feature: usize, a: &'a Segment, b: &'a Segment) -> (Vector3<f64>, &'a Segment) {
    if feature <= 2 {
        (a.end(feature - 1), b)
    } else {
        (b.end(feature - 3), a)
    }
}

fn at_end(feature: usize, a: &PlacedCapsule<'_>, b: &PlacedCapsule<'_>) -> ManifoldPoint {
    let (end, other) = end_of(feature, &a.core, &b.core);
    let foot = other.closest(end);
    let (on_a, on_b) = if feature <= 2 {
        (end, foot)
    } else {
        (foot, end)
    };
    ManifoldPoint::of_balls(feature, a.ball_at(on_a), b.ball_at(on_b), || across(a, b))
}

/// A normal for cores that meet: across both, towards A; for parallel ones the x axis of A.
fn across(a: &PlacedCapsule<'_>, b: &PlacedCapsule<'_>) -> Vector3<f64> {
    let across = a.core.axis.cross(&b.core.axis);
    let length = across.norm();
    if length < ALIGNED {
        return a.pose.axis(0);
    }
    let sign = 1f64.copysign(across.dot(&(a.core.middle - b.core.middle)));
    across * (sign / length)
}
