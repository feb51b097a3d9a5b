//! A ball and another shape: the point of that shape that is closest to the centre.
//!
//! Where the centres of two balls coincide, the normal is the z axis of the world; where a centre
//! lies on the core of a capsule, it is the x axis of the capsule; a centre inside a box is pushed
//! out through the nearest face.

use nalgebra::Vector3;

use super::segment::PlacedCapsule;
use super::{ManifoldPoint, PlacedBox};
use crate::bodies::broad_phase::Ball;

/// The only point of two balls.
pub(super) fn on_ball(a: Ball, b: Ball) -> ManifoldPoint {
    ManifoldPoint::of_balls(0, a, b, Vector3::z)
}

/// The only point of a capsule and a ball.
pub(super) fn on_capsule(capsule: &PlacedCapsule<'_>, ball: Ball) -> ManifoldPoint {
    let nearest = capsule.ball_at(capsule.core.closest(ball.centre));
    ManifoldPoint::of_balls(0, nearest, ball, || capsule.pose.axis(0))
}

/// The closest point on the surface of a box with these half lengths, the outward normal there and
/// the signed distance, all in the axes of the box. A point inside belongs to the nearest face, the
/// first of several.
pub(super) fn closest(half: &[f64; 3], point: Vector3<f64>) -> (Vector3<f64>, Vector3<f64>, f64) {
    let clamped = Vector3::from_fn(|k, _| point[k].clamp(-half[k], half[k]));
    let beyond = point - clamped;
    let distance = beyond.norm();
    if distance > 0.0 {
        return (clamped, beyond / distance, distance);
    }
    let mut face = 0;
    for k in 1..3 {
        if point[k].abs() - half[k] > point[face].abs() - half[face] {
            face = k;
        }
    }
    let sign = 1f64.copysign(point[face]);
    let (mut on, mut normal) = (point, Vector3::zeros());
    on[face] = sign * half[face];
    normal[face] = sign;
    (on, normal, point[face].abs() - half[face])
}

/// The only point of a ball and a box.
pub(super) fn on_box(feature: usize, ball: Ball, cuboid: &PlacedBox<'_>) -> ManifoldPoint {
    let Ball { centre, radius } = ball;
    let (on, normal, distance) = closest(cuboid.half, cuboid.pose.to_body(centre));
    let normal = cuboid.pose.rotation() * normal;
    ManifoldPoint {
        feature,
        gap: distance - radius,
        normal,
        on_a: centre - normal * radius,
        on_b: cuboid.pose.to_world(on),
    }
}
