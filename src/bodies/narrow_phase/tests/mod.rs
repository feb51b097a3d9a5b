//! Pairs against references that know nothing of features: alternating projections for shapes that
//! are apart, support functions for shapes that overlap.

mod aligned;
mod closest;
mod convex;
mod extremes;
mod round;

use nalgebra::{Rotation3, UnitQuaternion, Vector3};

use super::{Manifold, ManifoldPoint, contact_point, contact_points};
use crate::bodies::{Pose, Shape, ShapeKind};
use crate::random::{symmetric, word};

pub(super) type Vec3 = Vector3<f64>;

/// A shape at a pose.
pub(super) struct Solid {
    shape: Shape,
    pose: Pose,
}

impl Solid {
    pub(super) fn new(shape: Shape, pose: Pose) -> Self {
        Self { shape, pose }
    }
}

/// Draws in a fixed order.
struct Draw {
    seed: u64,
    index: u64,
}

impl Draw {
    fn symmetric(&mut self) -> f64 {
        self.index += 1;
        symmetric(word(self.seed, self.index))
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        0.5 * (low + high) + 0.5 * (high - low) * self.symmetric()
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::from_fn(|_, _| self.symmetric())
    }

    fn direction(&mut self) -> Vec3 {
        loop {
            let v = self.vector();
            if (0.1..1.0).contains(&v.norm()) {
                return v.normalize();
            }
        }
    }

    fn pose(&mut self, position: Vec3) -> Pose {
        let mut q = [0.0; 4];
        while !(0.1..1.0).contains(&q.iter().map(|q| q * q).sum::<f64>()) {
            q = q.map(|_| self.symmetric());
        }
        Pose::new(position.into(), q).unwrap()
    }

    fn shape(&mut self, kind: usize) -> Shape {
        match kind {
            0 => Shape::sphere(self.between(0.2, 1.0)).unwrap(),
            1 => Shape::cuboid([(); 3].map(|()| self.between(0.2, 1.0))).unwrap(),
            2 => Shape::capsule(self.between(0.2, 1.0), self.between(0.1, 0.5)).unwrap(),
            3 => Shape::plane(),
            4 => Shape::cylinder(self.between(0.2, 1.0), self.between(0.2, 1.0)).unwrap(),
            _ => Shape::cone(self.between(0.3, 1.5), self.between(0.2, 1.0)).unwrap(),
        }
    }

    /// Two shapes and their poses; their centres are at least `nearest` of the sum of their radii
    /// apart.
    fn pair(&mut self, kinds: [usize; 2], nearest: f64) -> [Solid; 2] {
        let shapes = [self.shape(kinds[0]), self.shape(kinds[1])];
        let at = self.vector();
        let b = self.pose(at);
        let (away, mut distance) = if kinds[1] == 3 {
            (b.axis(2), 0.0)
        } else {
            (self.direction(), shapes[1].bounding_radius())
        };
        distance += shapes[0].bounding_radius();
        distance *= self.between(nearest, 1.1);
        let a = self.pose(at + away * distance);
        [
            Solid::new(shapes[0].clone(), a),
            Solid::new(shapes[1].clone(), b),
        ]
    }
}

/// The pairs of kinds, in both orders.
const PAIRS: [[usize; 2]; 16] = [
    [0, 3],
    [1, 3],
    [2, 3],
    [0, 0],
    [0, 1],
    [1, 0],
    [1, 1],
    [2, 0],
    [0, 2],
    [2, 2],
    [2, 1],
    [1, 2],
    [4, 3],
    [5, 3],
    [0, 4],
    [5, 0],
];

/// The point of a shape that is furthest along a direction.
fn support(Solid { shape, pose }: &Solid, along: Vec3) -> Vec3 {
    let local = pose.rotation().tr_mul(&along);
    let point = match shape.kind() {
        ShapeKind::Sphere { radius } => local * radius,
        ShapeKind::Box { half } => Vec3::from_fn(|k, _| half[k].copysign(local[k])),
        ShapeKind::Capsule {
            half_length,
            radius,
        } => local * radius + Vec3::z() * half_length.copysign(local.z),
        kind => round::support(kind, local),
    };
    pose.to_world(point)
}

/// The point of a shape that is closest to a point.
fn project(Solid { shape, pose }: &Solid, point: Vec3) -> Vec3 {
    let p = pose.to_body(point);
    let inwards =
        |core: Vec3, radius: f64| core + (p - core) * (radius / (p - core).norm()).min(1.0);
    let closest = match shape.kind() {
        ShapeKind::Sphere { radius } => inwards(Vec3::zeros(), radius),
        ShapeKind::Box { half } => Vec3::from_fn(|k, _| p[k].clamp(-half[k], half[k])),
        ShapeKind::Capsule {
            half_length,
            radius,
        } => inwards(Vec3::z() * p.z.clamp(-half_length, half_length), radius),
        ShapeKind::Plane => Vec3::new(p.x, p.y, p.z.min(0.0)),
        kind => round::project(kind, p),
    };
    pose.to_world(closest)
}

/// The distance of shapes by alternating projections, and how much it changed at last.
fn distance(a: &Solid, b: &Solid) -> (f64, f64) {
    let mut on_a = a.pose.position();
    let (mut last, mut before) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..3000 {
        let on_b = project(b, on_a);
        on_a = project(a, on_b);
        before = last;
        last = (on_a - on_b).norm();
        if before - last < 1e-15 || last < 1e-9 {
            break;
        }
    }
    (last, before - last)
}

/// Separation along a direction, negative in overlap.
fn separation(a: &Solid, b: &Solid, normal: Vec3) -> f64 {
    let lowest = normal.dot(&support(a, -normal));
    match b.shape.kind() {
        ShapeKind::Plane => lowest - normal.dot(&b.pose.position()),
        _ => lowest - normal.dot(&support(b, normal)),
    }
}

/// The best separation of many directions, improved by a search around the best.
fn best_separation(a: &Solid, b: &Solid, draw: &mut Draw) -> f64 {
    if b.shape.kind() == ShapeKind::Plane {
        return separation(a, b, b.pose.axis(2));
    }
    let mut best = (f64::NEG_INFINITY, Vec3::zeros());
    for _ in 0..150 {
        let normal = draw.direction();
        let by = separation(a, b, normal);
        if by > best.0 {
            best = (by, normal);
        }
    }
    let mut width = 0.2;
    for _ in 0..150 {
        let normal = (best.1 + draw.vector() * width).normalize();
        let by = separation(a, b, normal);
        if by > best.0 {
            best = (by, normal);
        } else {
            width *= 0.93;
        }
    }
    best.0
}

/// The best separation of two boxes: along a normal of a face or across two edges.
fn best_axis(a: &Solid, b: &Solid) -> f64 {
    let axes = |of: &Solid| [0, 1, 2].map(|k| of.pose.axis(k));
    let (of_a, of_b) = (axes(a), axes(b));
    let edges = of_a.iter().flat_map(|i| of_b.iter().map(|j| i.cross(j)));
    let all = edges.filter(|axis| axis.norm() > 1e-6);
    let all = all.map(|axis| axis.normalize()).chain(of_a).chain(of_b);
    let both = all.map(|axis| separation(a, b, axis).max(separation(a, b, -axis)));
    both.fold(f64::NEG_INFINITY, f64::max)
}

pub(super) fn found(a: &Solid, b: &Solid, margin: f64) -> Vec<ManifoldPoint> {
    let mut manifold = Manifold::new();
    contact_points(
        (&a.shape, &a.pose),
        (&b.shape, &b.pose),
        margin,
        &mut manifold,
    )
    .unwrap();
    manifold.points().to_vec()
}

fn deepest(points: &[ManifoldPoint]) -> Option<ManifoldPoint> {
    points
        .iter()
        .copied()
        .min_by(|p, q| p.gap.total_cmp(&q.gap))
}

/// Gap, witnesses and normal belong together.
pub(super) fn check_consistent(point: &ManifoldPoint) {
    assert!((point.normal.norm() - 1.0).abs() < 1e-12, "{point:?}");
    let gap = point.normal.dot(&(point.on_a - point.on_b));
    assert!((gap - point.gap).abs() < 1e-12, "{point:?}");
}

/// The deepest point and the distance by alternating projections of shapes that are apart; their
/// points lie on both, and none is nearer than they are. None where shapes touch, where projections
/// have not settled, and beyond the margin.
fn apart_as_projected(a: &Solid, b: &Solid, name: &str) -> Option<(ManifoldPoint, f64)> {
    let margin = 0.25;
    let (expected, change) = distance(a, b);
    if expected < 1e-3 || change > 1e-13 {
        return None;
    }
    let points = found(a, b, margin);
    let Some(lowest) = deepest(&points) else {
        assert!(expected > margin - 1e-9, "{name}: {expected}");
        return None;
    };
    for point in &points {
        check_consistent(point);
        assert!(point.gap <= margin);
        assert!(point.gap > expected - 1e-9, "{name}: {point:?} {expected}");
        for (on, shape) in [(point.on_a, a), (point.on_b, b)] {
            let off = (project(shape, on) - on).norm();
            assert!(off < 1e-5, "{name}: {off:e} {point:?}");
        }
    }
    Some((lowest, expected))
}

#[test]
fn distances_are_those_of_alternating_projections() {
    let mut draw = Draw { seed: 1, index: 0 };
    for kinds in PAIRS {
        let (mut apart, mut exact) = (0, 0);
        for case in 0..100 {
            let [a, b] = draw.pair(kinds, 0.6);
            let Some((lowest, expected)) = apart_as_projected(&a, &b, &format!("{kinds:?} {case}"))
            else {
                continue;
            };
            apart += 1;
            exact += i32::from((lowest.gap - expected).abs() < 1e-7);
            // Faces of boxes that hardly overlap have their points over the face, which may be
            // further away than a vertex beside it; nothing else differs.
            if kinds != [1, 1] && kinds != [2, 1] && kinds != [1, 2] {
                assert!(
                    (lowest.gap - expected).abs() < 1e-7,
                    "{kinds:?} {case}: {lowest:?} {expected}"
                );
            }
        }
        assert!(
            apart > 9 && 10 * exact > 8 * apart,
            "{kinds:?}: {exact} of {apart}"
        );
    }
}

#[test]
fn overlaps_are_the_shortest_way_out() {
    let mut draw = Draw { seed: 2, index: 0 };
    for kinds in PAIRS {
        let mut overlaps = 0;
        for case in 0..60 {
            let [a, b] = draw.pair(kinds, 0.3);
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
            // A core is taken to lie on a face up to some angle.
            let by = separation(&a, &b, lowest.normal);
            let preferred = if kinds[0] > 0 && kinds[1] > 0 {
                1.2e-2
            } else {
                1e-9
            };
            assert!(
                by > expected - preferred,
                "{kinds:?} {case}: {by} {expected} {lowest:?}"
            );
            assert!(lowest.gap > by - 1e-9, "{kinds:?} {case}: {by} {lowest:?}");
            if kinds == [1, 1] {
                // The gap is that of the shortest way out, the normal nearly its direction.
                let expected = best_axis(&a, &b);
                let error = 1e-4 - 2e-3 * expected;
                assert!(
                    (lowest.gap - expected).abs() < error,
                    "{case}: {expected} {lowest:?}"
                );
            }
            let one = kinds != [1, 1] && kinds[1] != 3 && kinds != [2, 1] && kinds != [1, 2];
            if one || kinds[1] == 3 {
                assert!(
                    (lowest.gap - by).abs() < 1e-9,
                    "{kinds:?} {case}: {by} {lowest:?}"
                );
            } else {
                assert!(
                    lowest.gap < 0.5 * by + 1e-9,
                    "{kinds:?} {case}: {by} {lowest:?}"
                );
            }
        }
        assert!(overlaps > 9, "{kinds:?}: {overlaps}");
    }
}

/// A small motion of a pose: a turn and a shift.
fn moved(pose: &Pose, turn: Vec3, shift: Vec3) -> Pose {
    let turn = UnitQuaternion::from_scaled_axis(turn);
    let by = Pose::new([0.0; 3], [turn.w, turn.i, turn.j, turn.k]).unwrap();
    let turned = Rotation3::from_matrix_unchecked(by.rotation() * pose.rotation());
    let q = UnitQuaternion::from_rotation_matrix(&turned);
    Pose::new((pose.position() + shift).into(), [q.w, q.i, q.j, q.k]).unwrap()
}

/// Points that slide on a tilted face or along a rim as bodies move: their gap changes by that too.
fn slides(kinds: [usize; 2], feature: usize) -> bool {
    let quarter_of_rim = kinds[0] > 3 && kinds[1] == 3 && !feature.is_multiple_of(4);
    quarter_of_rim || (kinds[1] != 3 && feature >= 160 && (feature - 160) % 24 >= 4)
}

#[test]
fn features_are_found_again_and_normals_are_gradients() {
    let mut draw = Draw { seed: 3, index: 0 };
    for kinds in PAIRS {
        let mut checked = 0;
        for case in 0..100 {
            let [a, b] = draw.pair(kinds, 0.3);
            for point in found(&a, &b, 0.3) {
                let again =
                    contact_point((&a.shape, &a.pose), (&b.shape, &b.pose), point.feature).unwrap();
                assert_eq!(again, point, "{kinds:?} {case}");
                if slides(kinds, point.feature) || (point.on_a - point.on_b).norm() < 1e-3 {
                    continue;
                }
                checked += 1;
                let step = 1e-6;
                let [turn_a, shift_a, turn_b, shift_b] = [(); 4].map(|()| draw.vector());
                let gaps = [step, -step].map(|h| {
                    let pose_a = moved(&a.pose, turn_a * h, shift_a * h);
                    let pose_b = moved(&b.pose, turn_b * h, shift_b * h);
                    let near =
                        contact_point((&a.shape, &pose_a), (&b.shape, &pose_b), point.feature);
                    near.unwrap().gap
                });
                let rate_a = shift_a + turn_a.cross(&(point.on_a - a.pose.position()));
                let rate_b = shift_b + turn_b.cross(&(point.on_b - b.pose.position()));
                let expected = point.normal.dot(&(rate_a - rate_b));
                let rate = (gaps[0] - gaps[1]) / (2.0 * step);
                assert!(
                    (rate - expected).abs() < 1e-6,
                    "{kinds:?} {case}: {rate} {expected} {point:?}"
                );
            }
        }
        assert!(checked > 20, "{kinds:?}: {checked}");
    }
}

#[test]
fn points_move_with_the_world_and_change_sign_with_the_order() {
    let mut draw = Draw { seed: 4, index: 0 };
    for kinds in PAIRS {
        let (mut seen, mut same) = (0, 0);
        for case in 0..100 {
            let [a, b] = draw.pair(kinds, 0.3);
            let points = found(&a, &b, 0.2);
            let shift = draw.vector() * 3.0;
            let frame = draw.pose(shift);
            let turned = found(
                &Solid::new(a.shape.clone(), a.pose.moved_by(&frame)),
                &Solid::new(b.shape.clone(), b.pose.moved_by(&frame)),
                0.2,
            );
            assert_eq!(points.len(), turned.len(), "{kinds:?} {case}");
            for (p, q) in points.iter().zip(&turned) {
                assert_eq!(p.feature, q.feature, "{kinds:?} {case}");
                assert!((p.gap - q.gap).abs() < 1e-12);
                assert!((frame.rotation() * p.normal - q.normal).norm() < 1e-10);
                assert!(
                    (frame.to_world(p.on_a) - q.on_a).norm() < 1e-9,
                    "{kinds:?} {case}"
                );
            }
            let exchanged = found(&b, &a, 0.2);
            assert_eq!(points.is_empty(), exchanged.is_empty(), "{kinds:?} {case}");
            if let (Some(p), Some(q)) = (deepest(&points), deepest(&exchanged)) {
                seen += 1;
                let equal = (p.gap - q.gap).abs() < 1e-12 && (p.normal + q.normal).norm() < 1e-9;
                same += i32::from(equal);
                // Which box has the reference face may depend on the order.
                assert!(equal || kinds == [1, 1], "{kinds:?} {case}: {p:?} {q:?}");
            }
        }
        assert!(
            seen > 20 && 10 * same >= 9 * seen,
            "{kinds:?}: {same} of {seen}"
        );
    }
}

/// Boxes that overlap little near the borders of their faces, as in a heap.
fn shallow_pair(draw: &mut Draw) -> Option<[Solid; 2]> {
    let cube = Shape::cuboid([0.5; 3]).unwrap();
    let at = draw.vector();
    let b = Solid::new(cube.clone(), draw.pose(at));
    // Nearly a face on a face, shifted over a border.
    let tilt = draw.vector() * 0.02;
    let turn = b.pose.axis(2) * 0.5 * draw.symmetric();
    let across = b.pose.axis(0) * draw.between(0.4, 0.9) + b.pose.axis(1) * draw.symmetric();
    let mut height = 1.02;
    while height > 0.9 {
        let turned = moved(&b.pose, tilt + turn, across + b.pose.axis(2) * height);
        let a = Solid::new(cube.clone(), turned);
        if best_separation(&a, &b, draw) < -1e-4 {
            return Some([a, b]);
        }
        height -= 5e-4;
    }
    None
}

#[test]
fn the_gap_of_boxes_that_move_is_continuous() {
    let mut draw = Draw { seed: 6, index: 0 };
    let mut seen = 0;
    for case in 0..60 {
        let Some([a, b]) = shallow_pair(&mut draw) else {
            continue;
        };
        seen += 1;
        let (turn, shift) = (draw.vector() * 1e-2, draw.vector() * 1e-3);
        let steps = 200;
        let mut before: Option<f64> = None;
        for k in 0..steps {
            let part = f64::from(k) / f64::from(steps);
            let pose = moved(&a.pose, turn * part, shift * part);
            let now = deepest(&found(&Solid::new(a.shape.clone(), pose), &b, 0.05))
                .unwrap()
                .gap;
            // No point of the box moves further in a step.
            let motion = (turn.norm() * 0.9 + shift.norm()) / f64::from(steps);
            if let Some(before) = before {
                assert!(
                    (now - before).abs() < 2.0 * motion + 1e-4 * 0.5,
                    "{case} {k}: {before} {now}"
                );
            }
            before = Some(now);
        }
    }
    assert!(seen > 20, "{seen}");
}
