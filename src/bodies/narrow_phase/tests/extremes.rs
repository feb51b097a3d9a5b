//! Sizes from 1e-6 m to 1e6 m, and ratios of them as far apart: capsules and spheres against the
//! minimum over both segments; all against the definition: nothing separates them by more, the points
//! lie on their surfaces.

use super::super::{PlacedShape, distance as closest};
use super::{Draw, ManifoldPoint, Pose, Shape, Solid, Vec3, found, project};

fn placed(of: &Solid) -> PlacedShape<'_> {
    PlacedShape::new(&of.shape, &of.pose)
}

fn power(draw: &mut Draw, low: f64, high: f64) -> f64 {
    10f64.powf(draw.between(low, high))
}

/// A shape whose lengths lie between 1e-6 and 1e6 m.
fn shape(draw: &mut Draw, kind: usize) -> Shape {
    let mut length = || power(draw, -6.0, 6.0);
    match kind {
        0 => Shape::sphere(length()),
        1 => Shape::cuboid([length(), length(), length()]),
        2 => Shape::capsule(length(), length()),
        4 => Shape::cylinder(length(), length()),
        _ => Shape::cone(length(), length()),
    }
    .unwrap()
}

/// Two shapes near each other by the size of the smaller: a point of each is `gap` of it apart.
fn pair(draw: &mut Draw, kinds: [usize; 2]) -> [Solid; 2] {
    let shapes = kinds.map(|kind| shape(draw, kind));
    let b = draw.pose(Vec3::zeros());
    let b = Solid::new(shapes[1].clone(), b);
    let turned = draw.pose(Vec3::zeros());
    let direction = draw.direction();
    let small = shapes[0].bounding_radius().min(shapes[1].bounding_radius());
    // The point of B furthest along a direction, and that of A against it.
    let a = Solid::new(shapes[0].clone(), turned);
    let on_b = super::support(&b, direction);
    let on_a = super::support(&a, -direction);
    let apart = small * draw.between(-0.1, 0.5);
    let position = on_b + direction * apart - on_a;
    let q = a.pose.quaternion();
    [
        Solid::new(a.shape, Pose::new(position.into(), q).unwrap()),
        b,
    ]
}

/// The contract of a point, up to the rounding of the coordinates of the larger body.
fn check(point: &ManifoldPoint, [a, b]: [&Solid; 2], label: &str) {
    let size = a.shape.bounding_radius().max(b.shape.bounding_radius());
    let rounding = 1e-13 * (size + a.pose.position().amax());
    assert!(point.gap.is_finite(), "{label}");
    assert!((point.normal.norm() - 1.0).abs() < 1e-12, "{label}");
    let gap = point.normal.dot(&(point.on_a - point.on_b));
    assert!(
        (gap - point.gap).abs() < rounding,
        "{gap} {rounding:e} {label}"
    );
    let aside = point.on_a - point.on_b - point.normal * gap;
    assert!(aside.norm() < rounding, "{:e} {label}", aside.norm());
}

/// The distance of two cores by exact minimisation: over segments in closed form.
fn between_segments(a: &Solid, b: &Solid) -> f64 {
    let core = |of: &Solid| match of.shape.kind() {
        crate::bodies::ShapeKind::Capsule {
            half_length,
            radius,
        } => (of.pose.axis(2) * half_length, radius),
        crate::bodies::ShapeKind::Sphere { radius } => (Vec3::zeros(), radius),
        _ => unreachable!(),
    };
    let ((u, r), (w, s)) = (core(a), core(b));
    let between = a.pose.position() - b.pose.position();
    // |between + x u − y w| over x, y in [−1, 1]: at fixed y the best x is known, and the
    // function of y is convex: golden section.
    let at = |y: f64| {
        let point = between - w * y;
        let x = (-point.dot(&u) / u.norm_squared().max(1e-300)).clamp(-1.0, 1.0);
        (point + u * x).norm()
    };
    let golden = 0.5 * (5f64.sqrt() - 1.0);
    let (mut low, mut high) = (-1.0, 1.0);
    for _ in 0..90 {
        let (p, q) = (high - golden * (high - low), low + golden * (high - low));
        if at(p) < at(q) {
            high = q;
        } else {
            low = p;
        }
    }
    at(0.5 * (low + high)).min(at(-1.0)).min(at(1.0)) - r - s
}

#[test]
fn capsules_of_extreme_sizes_have_their_distance() {
    let mut draw = Draw { seed: 41, index: 0 };
    let cases = if cfg!(debug_assertions) { 3000 } else { 50_000 };
    for kinds in [[2, 2], [2, 0], [0, 2], [0, 0]] {
        for case in 0..cases {
            let [a, b] = pair(&mut draw, kinds);
            let size = a.shape.bounding_radius().max(b.shape.bounding_radius());
            let expected = between_segments(&a, &b);
            let label = format!("{kinds:?} {case} {:?} {:?} {expected}", a.shape, b.shape);
            let point = closest(placed(&a), placed(&b)).unwrap();
            check(&point, [&a, &b], &label);
            assert!(
                (point.gap - expected).abs() < 1e-12 * size,
                "{} {label}",
                point.gap
            );
            let exchanged = closest(placed(&b), placed(&a)).unwrap();
            assert!((point.gap - exchanged.gap).abs() < 1e-13 * size, "{label}");
            let margin = expected.abs() + 1e-9 * size;
            let points = found(&a, &b, margin);
            let lowest = points.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
            assert!((lowest - expected).abs() < 1e-12 * size, "{lowest} {label}");
            for point in &points {
                check(point, [&a, &b], &label);
            }
        }
    }
}

#[test]
fn solids_of_extreme_sizes_have_unit_normals_and_points_on_their_surfaces() {
    let mut draw = Draw { seed: 42, index: 0 };
    let cases = if cfg!(debug_assertions) { 50 } else { 5000 };
    let mut worst = [0.0_f64; 5];
    for i in 0..6 {
        for j in 0..6 {
            if i == 3 || j == 3 {
                continue;
            }
            for case in 0..cases {
                let [a, b] = pair(&mut draw, [i, j]);
                let size = a.shape.bounding_radius().max(b.shape.bounding_radius());
                let small = a.shape.bounding_radius().min(b.shape.bounding_radius());
                let point = closest(placed(&a), placed(&b)).unwrap();
                let label = format!("{i} {j} {case} {:?} {:?} {point:?}", a.shape, b.shape);
                check(&point, [&a, &b], &label);
                // The separation along the normal is the gap, and no other direction has more.
                let by = super::separation(&a, &b, point.normal);
                // Points whose distance is right to 1e-12 of the places turn the normal so far.
                let angle = (8e-12 * size / point.gap.abs()).sqrt() + 1e-9;
                worst[0] = worst[0].max((by - point.gap).abs() / size / angle);
                let exchanged = closest(placed(&b), placed(&a)).unwrap();
                if point.gap > 0.0 {
                    worst[1] = worst[1].max((point.gap - exchanged.gap).abs() / size);
                    for (on, of) in [(point.on_a, &a), (point.on_b, &b)] {
                        let off = (project(of, on) - on).norm();
                        worst[2] = worst[2].max(off / size);
                        let beyond = (off - 1e-12 * size) / small;
                        let far = usize::from(small < 1e-4 * size);
                        worst[3 + far] = worst[3 + far].max(beyond);
                    }
                }
                for point in found(&a, &b, 0.1 * small) {
                    check(&point, [&a, &b], &label);
                }
            }
        }
    }
    // Beside much longer bodies curved
    // sides are searched up to that alone: points lie up to a quarter of the body beside the closest,
    // at ratios beyond 1e4.
    let [turned, exchanged, of_larger, of_smaller, of_much_smaller] = worst;
    assert!(
        turned < 1.0 && exchanged < 1e-11 && of_larger < 1e-6,
        "{worst:?}"
    );
    assert!(of_smaller < 1e-3 && of_much_smaller < 0.25, "{worst:?}");
}
