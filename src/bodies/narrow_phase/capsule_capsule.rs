//! Two capsules: the closest points of the cores. Nearly parallel ones touch at the ends of their
//! common length too.

use nalgebra::Vector3;

use super::segment::Segment;
use super::{Manifold, ManifoldPoint};
use crate::bodies::Pose;

/// Number of features: the closest points; ends 0 and 1 of A; ends 0 and 1 of B.
pub(super) const FEATURES: usize = 5;

/// Sine of the angle below which capsules touch along their length.
const PARALLEL: f64 = 0.05;
/// Sine of the angle below which the closest points are not determined.
const ALIGNED: f64 = 1e-6;

/// A capsule: its core and its radius.
pub(super) type Capsule<'a> = (&'a Segment, f64);

/// Adds the points within the margin.
pub(super) fn add(pose: &Pose, a: Capsule<'_>, b: Capsule<'_>, margin: f64, out: &mut Manifold) {
    let apart = 1e-3 * a.0.half.min(b.0.half);
    let sine = a.0.axis.cross(&b.0.axis).norm();
    let closest = closest(pose, a, b);
    if sine >= ALIGNED {
        out.push_within(margin, closest);
    }
    if sine < PARALLEL {
        for feature in 1..FEATURES {
            let (end, other) = end_of(feature, a.0, b.0);
            if other.foot(end).abs() <= other.half + 1e-9 * other.half {
                out.push_apart(margin, apart, at_end(pose, feature, a, b));
            }
        }
    }
    if out.points().is_empty() {
        out.push_within(margin, closest);
    }
}

/// The point of a feature.
pub(super) fn point(
    pose: &Pose,
    a: Capsule<'_>,
    b: Capsule<'_>,
    feature: usize,
) -> Option<ManifoldPoint> {
    match feature {
        0 => Some(closest(pose, a, b)),
        1..FEATURES => Some(at_end(pose, feature, a, b)),
        _ => None,
    }
}

fn closest(pose: &Pose, a: Capsule<'_>, b: Capsule<'_>) -> ManifoldPoint {
    let (on_a, on_b) = a.0.closest_points(b.0);
    ManifoldPoint::of_balls(0, (on_a, a.1), (on_b, b.1), || across(pose, a.0, b.0))
}

/// The end that a feature names, and the core of the other capsule.
fn end_of<'a>(feature: usize, a: &'a Segment, b: &'a Segment) -> (Vector3<f64>, &'a Segment) {
    if feature <= 2 {
        (a.end(feature - 1), b)
    } else {
        (b.end(feature - 3), a)
    }
}

fn at_end(pose: &Pose, feature: usize, a: Capsule<'_>, b: Capsule<'_>) -> ManifoldPoint {
    let (end, other) = end_of(feature, a.0, b.0);
    let foot = other.closest(end);
    let (on_a, on_b) = if feature <= 2 {
        (end, foot)
    } else {
        (foot, end)
    };
    ManifoldPoint::of_balls(feature, (on_a, a.1), (on_b, b.1), || across(pose, a.0, b.0))
}

/// A normal for cores that meet: across both, towards A; for parallel ones the x axis of A.
fn across(pose: &Pose, a: &Segment, b: &Segment) -> Vector3<f64> {
    let across = a.axis.cross(&b.axis);
    let length = across.norm();
    if length < ALIGNED {
        return pose.axis(0);
    }
    let sign = 1f64.copysign(across.dot(&(a.middle - b.middle)));
    across * (sign / length)
}
