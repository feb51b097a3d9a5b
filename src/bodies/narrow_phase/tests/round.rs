//! Cylinders and cones against references that know of no normal: alternating projections for shapes that
//! are apart, support functions for shapes that overlap; their points over planes and on faces.

use super::{
    Draw, Solid, Vec3, apart_as_projected, best_separation, check_consistent, deepest, distance,
    found, moved, separation,
};
use crate::bodies::{CAPACITY, ManifoldPoint, Pose, Shape, ShapeKind};

/// The outline in the half plane `(distance from the axis, z)`: low disc, high disc.
fn discs(kind: ShapeKind) -> [[f64; 2]; 2] {
    match kind {
        ShapeKind::Cylinder {
            half_length,
            radius,
        } => [[radius, -half_length], [radius, half_length]],
        ShapeKind::Cone { height, radius } => [[radius, -0.25 * height], [0.0, 0.75 * height]],
        _ => unreachable!(),
    }
}

pub(super) fn support(kind: ShapeKind, local: Vec3) -> Vec3 {
    let across = Vec3::new(local.x, local.y, 0.0);
    let across = across.try_normalize(0.0).unwrap_or_else(Vec3::x);
    let [low, high] = discs(kind).map(|[r, z]| across * r + Vec3::z() * z);
    if local.dot(&high) > local.dot(&low) {
        high
    } else {
        low
    }
}

/// The nearest point of the convex outline: the point itself, or the nearest of its sides.
pub(super) fn project(kind: ShapeKind, p: Vec3) -> Vec3 {
    let (from_axis, across) = (p.x.hypot(p.y), Vec3::new(p.x, p.y, 0.0));
    let across = across.try_normalize(0.0).unwrap_or_else(Vec3::x);
    let [[r, low], [s, high]] = discs(kind);
    let sides = [
        [[0.0, low], [r, low]],
        [[r, low], [s, high]],
        [[s, high], [0.0, high]],
    ];
    let width = r + (s - r) * (p.z - low) / (high - low);
    if p.z >= low && p.z <= high && from_axis <= width {
        return p;
    }
    let mut best = (f64::INFINITY, Vec3::zeros());
    for [[a, b], [c, d]] in sides {
        let (u, z) = (c - a, d - b);
        let length = (u * u + z * z).max(1e-300);
        let part = (((from_axis - a) * u + (p.z - b) * z) / length).clamp(0.0, 1.0);
        let (x, y) = (a + part * u, b + part * z);
        let by = (from_axis - x).hypot(p.z - y);
        if by < best.0 {
            best = (by, across * x + Vec3::z() * y);
        }
    }
    best.1
}

/// Pairs with a cylinder (4) or a cone (5); those with planes and spheres are among all others.
const PAIRS: [[usize; 2]; 9] = [
    [2, 4],
    [4, 2],
    [5, 2],
    [1, 4],
    [4, 1],
    [5, 1],
    [4, 4],
    [4, 5],
    [5, 5],
];

#[test]
fn distances_of_round_bodies_are_those_of_alternating_projections() {
    let mut draw = Draw { seed: 21, index: 0 };
    for kinds in PAIRS {
        let (mut apart, mut exact) = (0, 0);
        for case in 0..100 {
            let [a, b] = draw.pair(kinds, 0.6);
            let Some((lowest, expected)) = apart_as_projected(&a, &b, &format!("{kinds:?} {case}"))
            else {
                continue;
            };
            apart += 1;
            let by = separation(&a, &b, lowest.normal);
            assert!(
                (by - expected).abs() < 1e-9,
                "{kinds:?} {case} {by} {expected}"
            );
            exact += i32::from((lowest.gap - expected).abs() < 1e-7);
        }
        assert!(
            apart > 9 && 10 * exact > 9 * apart,
            "{kinds:?}: {exact} of {apart}"
        );
    }
}

#[test]
fn overlaps_of_round_bodies_are_the_shortest_way_out() {
    let mut draw = Draw { seed: 22, index: 0 };
    for kinds in PAIRS {
        let (mut overlaps, mut best) = (0, 0);
        for case in 0..60 {
            let [a, b] = draw.pair(kinds, 0.5);
            if distance(&a, &b).0 > 1e-9 {
                continue;
            }
            let expected = best_separation(&a, &b, &mut draw);
            if expected > -1e-3 {
                continue;
            }
            overlaps += 1;
            let points = found(&a, &b, 0.0);
            let lowest = deepest(&points).unwrap_or_else(|| panic!("{kinds:?} {case} {expected}"));
            points.iter().for_each(check_consistent);
            let by = separation(&a, &b, lowest.normal);
            best += i32::from(by > expected - 1e-9);
            assert!(lowest.gap > by - 1e-9, "{kinds:?} {case}: {by} {lowest:?}");
        }
        assert!(
            overlaps > 9 && 10 * best >= 9 * overlaps,
            "{kinds:?}: {best} of {overlaps}"
        );
    }
}

/// The order of the bodies and where the world lies do not matter.
#[test]
fn points_of_round_bodies_move_with_the_world_and_change_sign_with_the_order() {
    let mut draw = Draw { seed: 23, index: 0 };
    for kinds in PAIRS {
        let mut seen = 0;
        for case in 0..100 {
            let [a, b] = draw.pair(kinds, 0.6);
            let lowest = deepest(&found(&a, &b, 0.2));
            let exchanged = deepest(&found(&b, &a, 0.2));
            let shift = draw.vector() * 3.0;
            let frame = draw.pose(shift);
            let turned = found(
                &Solid::new(a.shape.clone(), a.pose.moved_by(&frame)),
                &Solid::new(b.shape.clone(), b.pose.moved_by(&frame)),
                0.2,
            );
            let Some(p) = lowest else {
                assert!(exchanged.is_none() && turned.is_empty(), "{kinds:?} {case}");
                continue;
            };
            // Of deep overlaps the search may end in another maximum.
            if p.gap < -0.05 {
                continue;
            }
            seen += 1;
            let (q, t) = (exchanged.unwrap(), deepest(&turned).unwrap());
            assert!(
                (p.gap - q.gap).abs() < 1e-7,
                "{kinds:?} {case}: {p:?} {q:?}"
            );
            assert!(
                (p.normal + q.normal).norm() < 1e-4,
                "{kinds:?} {case}: {p:?} {q:?}"
            );
            assert!(
                (p.gap - t.gap).abs() < 1e-7,
                "{kinds:?} {case}: {p:?} {t:?}"
            );
        }
        assert!(seen > 10, "{kinds:?}: {seen}");
    }
}

fn upright(z: f64) -> Pose {
    Pose::new([0.0, 0.0, z], [1.0, 0.0, 0.0, 0.0]).unwrap()
}

/// All points have this gap and normal, and hold the body on all sides: the furthest along each direction
/// is at least `reach` from the middle.
fn check_stance(points: &[ManifoldPoint], gap: f64, normal: Vec3, reach: f64) {
    assert!(points.len() >= 3, "{points:?}");
    for point in points {
        check_consistent(point);
        assert!((point.gap - gap).abs() < 1e-12, "{points:?}");
        assert!((point.normal - normal).norm() < 1e-12, "{points:?}");
    }
    for k in 0..36 {
        let (sin, cos) = (f64::from(k) * 0.1745).sin_cos();
        let along = points.iter().map(|p| cos * p.on_a.x + sin * p.on_a.y);
        let furthest = along.fold(f64::MIN, f64::max);
        assert!(furthest > reach, "{furthest} {points:?}");
    }
}

#[test]
fn a_cylinder_and_a_cone_stand_on_their_rim() {
    let (up, gap) = (Vec3::z(), -1e-4);
    let floors = [
        (Shape::plane(), 0.0),
        (Shape::cuboid([1.0, 0.8, 0.3]).unwrap(), -0.3),
        (Shape::cylinder(0.2, 0.7).unwrap(), -0.2),
    ];
    let bodies = [
        (Shape::cylinder(0.4, 0.5).unwrap(), 0.4),
        (Shape::cone(0.8, 0.5).unwrap(), 0.2),
    ];
    for (floor, z) in &floors {
        let floor = Solid::new(floor.clone(), upright(*z));
        // Quarters of the rim on a plane, elsewhere as many as remain of a polygon.
        let is_plane = matches!(floor.shape.kind(), ShapeKind::Plane);
        let on_rim = if is_plane { 4 } else { CAPACITY };
        for (body, height) in &bodies {
            let at = |turn: f64| {
                let stands = upright(height + gap);
                let turned = moved(&stands, up * turn, Vec3::zeros());
                Solid::new(body.clone(), turned)
            };
            for turn in [0.0, 0.3, 1.0] {
                let points = found(&at(turn), &floor, 1e-3);
                assert_eq!(points.len(), on_rim);
                check_stance(&points, gap, up, 0.35);
                let points = found(&floor, &at(turn), 1e-3);
                check_stance(&points, gap, -up, 0.35);
            }
            // A part of the foot hangs over the edge of the box.
            if matches!(floor.shape.kind(), ShapeKind::Box { .. }) {
                let aside = moved(&upright(height + gap), Vec3::zeros(), Vec3::x() * 0.8);
                let points = found(&Solid::new(body.clone(), aside), &floor, 1e-3);
                let most = points.iter().map(|p| p.on_a.x).fold(f64::MIN, f64::max);
                assert!(
                    (most - 1.0).abs() < 1e-9 && points.len() == on_rim,
                    "{points:?}"
                );
            }
            // Tilted about y, the lowest point of the rim is deepest, by its closed form. With less tilt than a
            // body at rest has, the lowest of eight points all around, none further from it than a
            // quarter of a right angle.
            for tilt in [1e-5, 1e-3, 0.03, 0.3] {
                let turned = moved(&upright(height + gap), Vec3::y() * tilt, Vec3::zeros());
                let points = found(&Solid::new(body.clone(), turned), &floor, 0.05);
                let expected = height + gap - height * f64::cos(tilt) - 0.5 * f64::sin(tilt);
                let lowest = deepest(&points).unwrap();
                if !is_plane && tilt < 2e-3 {
                    let most = 0.5 * tilt * (1.0 - std::f64::consts::FRAC_PI_8.cos());
                    let over = lowest.gap - expected;
                    assert!((-1e-12..=most).contains(&over), "{tilt} {over}");
                    continue;
                }
                assert!(
                    (lowest.gap - expected).abs() < 1e-12,
                    "{tilt} {lowest:?} {expected}"
                );
                assert!(
                    lowest.on_a.y.abs() < 1e-9 && lowest.on_a.x > 0.3,
                    "{lowest:?}"
                );
            }
        }
    }
}

/// A lying cylinder touches at the ends of its lowest line, a lying cone at its apex and its rim.
#[test]
fn round_bodies_lie_on_a_line() {
    let quarter = Vec3::x() * std::f64::consts::FRAC_PI_2;
    let floors = [
        (Shape::plane(), 0.0),
        (Shape::cuboid([1.0, 0.8, 0.3]).unwrap(), -0.3),
    ];
    let (half, radius) = (0.4_f64, 0.5_f64);
    for (floor, z) in &floors {
        let floor = Solid::new(floor.clone(), upright(*z));
        for gap in [1e-4, -1e-4] {
            for spin in [0.0, 0.4, 2.0] {
                let lies = moved(&upright(radius + gap), quarter, Vec3::zeros());
                let rolled = moved(&lies, Vec3::y() * spin, Vec3::zeros());
                let body = Solid::new(Shape::cylinder(half, radius).unwrap(), rolled);
                let points = found(&body, &floor, 1e-3);
                assert_eq!(points.len(), 2, "{points:?}");
                for point in &points {
                    assert!((point.gap - gap).abs() < 1e-12 && point.normal.z > 1.0 - 1e-12);
                    assert!(point.on_a.x.abs() < 1e-9 && (point.on_a.y.abs() - half).abs() < 1e-9);
                }
            }
            // The axis of the cone rises by half the angle at the apex, which lies at the origin.
            let (height, foot) = (0.8_f64, 0.3_f64);
            let slope = (foot / height).atan();
            let axis = Vec3::new(-slope.cos(), 0.0, -slope.sin());
            let centre = axis * -0.75 * height + Vec3::z() * gap;
            let turn = std::f64::consts::FRAC_PI_2 + slope;
            let lies = moved(&upright(0.0), Vec3::y() * -turn, centre);
            let body = Solid::new(Shape::cone(height, foot).unwrap(), lies);
            let points = found(&body, &floor, 1e-3);
            assert_eq!(points.len(), 2, "{points:?}");
            let line = height.hypot(foot);
            for point in &points {
                assert!((point.gap - gap).abs() < 1e-12, "{points:?}");
                let along = point.on_a.x.hypot(point.on_a.y);
                assert!(along < 1e-9 || (along - line).abs() < 1e-9, "{points:?}");
            }
        }
    }
}

/// Side by side with the same height, crossed, and a capsule on a cylinder along it.
#[test]
fn sides_of_cylinders_meet() {
    let cylinder = Shape::cylinder(0.4, 0.5).unwrap();
    let b = Solid::new(cylinder.clone(), upright(0.0));
    for gap in [1e-3, -1e-3] {
        let beside = moved(&upright(0.0), Vec3::zeros(), Vec3::x() * (1.0 + gap));
        let points = found(&Solid::new(cylinder.clone(), beside), &b, 0.01);
        assert_eq!(points.len(), 2, "{points:?}");
        for point in &points {
            assert!((point.gap - gap).abs() < 1e-12 && point.normal.x > 1.0 - 1e-12);
            assert!((point.on_a.z.abs() - 0.4).abs() < 1e-9);
        }
        let across = moved(
            &upright(0.0),
            Vec3::x() * std::f64::consts::FRAC_PI_2,
            Vec3::x() * (1.0 + gap),
        );
        let points = found(&Solid::new(cylinder.clone(), across), &b, 0.01);
        assert_eq!(points.len(), 1, "{points:?}");
        assert!((points[0].gap - gap).abs() < 1e-12 && points[0].normal.x > 1.0 - 1e-9);
        assert!(
            (points[0].on_a - Vec3::x() * 0.5).norm() < 2e-3,
            "{points:?}"
        );
        let capsule = Shape::capsule(0.3, 0.1).unwrap();
        let beside = moved(&upright(0.0), Vec3::zeros(), Vec3::x() * (0.6 + gap));
        let points = found(&Solid::new(capsule, beside), &b, 0.01);
        assert_eq!(points.len(), 2, "{points:?}");
        for point in &points {
            assert!((point.gap - gap).abs() < 1e-12 && (point.on_a.z.abs() - 0.3).abs() < 1e-9);
        }
    }
}
