//! Queries of scenes: closed forms, and random scenes against brute force.

use saltation::InputError;
use saltation::bodies::{Body, Pose, Query, QueryMemory, Ray, RayHit, Scene, Shape, ShapeKind};
use saltation::nalgebra::Vector3;

use crate::random::SplitMix64;

type Vec3 = Vector3<f64>;

fn cast(query: &Query<'_>, rays: &[Ray]) -> Vec<Option<RayHit>> {
    let mut hits = Vec::new();
    query.cast(rays, &mut hits).unwrap();
    hits
}

/// A body of each kind in a row along x, 1 m apart, on a plane; the axis of all is z.
fn row() -> Scene {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    let shapes = [
        Shape::sphere(0.2),
        Shape::cuboid([0.1, 0.2, 0.3]),
        Shape::capsule(0.3, 0.1),
        Shape::cylinder(0.3, 0.1),
        Shape::cone(0.4, 0.2),
    ];
    for (k, shape) in shapes.into_iter().enumerate() {
        let at = [k as f64 + 1.0, 0.0, 1.0];
        scene.add(Body::new(shape.unwrap()).position(at)).unwrap();
    }
    scene
}

#[test]
fn rays_meet_each_shape_where_its_equation_says() {
    let scene = row();
    let (q, _) = scene.start();
    let mut memory = QueryMemory::new();
    let query = scene.query(&q, &mut memory).unwrap();
    let down = |x: f64| Ray::new([x, 0.0, 5.0], [0.0, 0.0, -2.0]);
    let along_y = |x: f64, z: f64| Ray::new([x, -3.0, z], [0.0, 0.5, 0.0]);
    let half = 0.5_f64.sqrt();
    // On the side of the cone, at half its height: radius 0.1, slope 1 : 2.
    let (steep, flat) = (0.4 / 0.2_f64.hypot(0.4), 0.2 / 0.2_f64.hypot(0.4));
    let cases = [
        (down(1.0), 1, 3.8, [0.0, 0.0, 1.0]),
        (down(2.05), 2, 3.7, [0.0, 0.0, 1.0]),
        (down(3.0), 3, 3.6, [0.0, 0.0, 1.0]),
        (down(4.05), 4, 3.7, [0.0, 0.0, 1.0]),
        (down(5.0), 5, 3.7, [0.0, 0.0, 1.0]),
        (down(5.1), 5, 3.9, [steep, 0.0, flat]),
        (down(6.0), 0, 5.0, [0.0, 0.0, 1.0]),
        (along_y(1.0, 1.0), 1, 2.8, [0.0, -1.0, 0.0]),
        (along_y(2.0, 1.1), 2, 2.8, [0.0, -1.0, 0.0]),
        (along_y(3.0, 1.1), 3, 2.9, [0.0, -1.0, 0.0]),
        (along_y(4.0, 1.1), 4, 2.9, [0.0, -1.0, 0.0]),
        (along_y(5.0, 1.1), 5, 2.9, [0.0, -steep, flat]),
        // from below, and aslant at the edge of the cap of the capsule
        (
            Ray::new([5.0, 0.1, 0.5], [0.0, 0.0, 1.0]),
            5,
            0.4,
            [0.0, 0.0, -1.0],
        ),
        (
            Ray::new([3.0, -1.0, 2.3], [0.0, 1.0, -1.0]),
            3,
            2.0_f64.sqrt() - 0.1,
            [0.0, -half, half],
        ),
    ];
    let rays = cases.map(|(ray, ..)| ray);
    for (hit, (ray, body, distance, normal)) in cast(&query, &rays).iter().zip(cases) {
        let hit = hit.unwrap();
        assert_eq!(hit.body, body, "{ray:?}");
        assert!((hit.distance - distance).abs() < 1e-14, "{ray:?} {hit:?}");
        assert!((hit.normal - Vec3::from(normal)).norm() < 1e-14, "{hit:?}");
        let way = Vec3::from(ray.direction).normalize() * distance;
        assert!((hit.point - Vec3::from(ray.origin) - way).norm() < 1e-14);
    }
    // Beside, too short, upwards, through an ignored body.
    let through = down(1.0).ignoring(1);
    let rays = [
        along_y(1.0, 1.201),
        down(1.0).length(3.79),
        Ray::new([1.0, 0.0, 5.0], [0.0, 0.0, 1.0]),
        through,
        down(1.0).length(3.81),
    ];
    let bodies = cast(&query, &rays);
    let bodies = bodies.iter().map(|hit| hit.map(|hit| hit.body));
    let expected = [None, None, None, Some(0), Some(1)];
    assert!(bodies.eq(expected));
    // One that starts inside.
    for x in 1..=5 {
        let inside = Ray::new([f64::from(x), 0.01, 1.01], [1.0, 0.0, 0.0]);
        let hit = cast(&query, &[inside])[0].unwrap();
        assert!(hit.distance == 0.0 && hit.normal == -Vec3::x(), "{hit:?}");
    }
}

#[test]
fn distances_and_overlaps_are_those_of_geometry() {
    let scene = row();
    let (q, _) = scene.start();
    let mut memory = QueryMemory::new();
    let query = scene.query(&q, &mut memory).unwrap();
    let gaps = [0.8, 0.7, 0.6, 0.7, 0.9];
    let pairs = [
        [1, 0],
        [2, 0],
        [3, 0],
        [4, 0],
        [5, 0],
        [1, 2],
        [4, 3],
        [4, 5],
        [0, 4],
    ];
    let mut found = Vec::new();
    query.distances(&pairs, &mut found).unwrap();
    for (point, gap) in found.iter().zip(gaps) {
        assert!((point.gap - gap).abs() < 1e-15 && point.normal == Vec3::z());
        assert!(point.on_b.z.abs() < 1e-15 && (point.on_a.z - gap).abs() < 1e-15);
    }
    assert!((found[5].gap - 0.7).abs() < 1e-15 && (found[5].normal + Vec3::x()).norm() < 1e-15);
    assert!((found[6].gap - 0.8).abs() < 1e-12 && (found[6].normal - Vec3::x()).norm() < 1e-9);
    assert!((found[7].gap - 0.7).abs() < 1e-12 && (found[7].normal + Vec3::x()).norm() < 1e-9);
    assert!((found[8].gap - 0.7).abs() < 1e-15 && found[8].normal == -Vec3::z());
    // Moved into each other and into the plane.
    let mut q = q;
    q[0] = 1.95;
    q[2] = 0.15;
    q[9] = 0.25;
    q[14] = 2.25;
    let query = scene.query(&q, &mut memory).unwrap();
    let mut bodies = vec![7];
    for (body, expected) in [
        (0, vec![1, 2]),
        (1, vec![0, 2]),
        (2, vec![0, 1]),
        (3, vec![]),
    ] {
        query.overlaps(body, &mut bodies).unwrap();
        assert_eq!(bodies, expected, "{body}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let mut scene = row();
    scene
        .add(Body::fixed(Shape::plane()).position([0.0, 0.0, -1.0]))
        .unwrap();
    let (mut q, _) = scene.start();
    let mut memory = QueryMemory::new();
    let short = scene.query(&q[1..], &mut memory);
    assert!(matches!(short, Err(InputError::WrongLength { .. })));
    q[8] = f64::NAN;
    let wrong = scene.query(&q, &mut memory);
    assert!(matches!(wrong, Err(InputError::NotFinite { entry: 8, .. })));
    q[8] = 0.0;
    q[10..14].fill(0.0);
    let wrong = scene.query(&q, &mut memory);
    assert!(matches!(
        wrong,
        Err(InputError::BadSetting { entry: 1, .. })
    ));
    q[10] = 1.0;
    let query = scene.query(&q, &mut memory).unwrap();
    let good = Ray::new([0.0; 3], [1.0, 0.0, 0.0]);
    let wrong = [
        Ray::new([0.0; 3], [0.0; 3]),
        Ray::new([0.0; 3], [f64::NAN, 0.0, 0.0]),
        Ray::new([0.0; 3], [f64::INFINITY, 0.0, 0.0]),
        Ray::new([0.0, f64::NAN, 0.0], [1.0, 0.0, 0.0]),
        good.length(0.0),
        good.length(-1.0),
        good.length(f64::NAN),
    ];
    for ray in wrong {
        let mut hits = vec![None];
        let refused = query.cast(&[good, ray], &mut hits);
        let (Err(InputError::NotFinite { entry, .. } | InputError::BadSetting { entry, .. }),) =
            (refused,)
        else {
            panic!("{ray:?}");
        };
        assert!(entry == 1 && hits.is_empty(), "{ray:?}");
    }
    let hits = cast(&query, &[Ray::new([0.0, 0.0, 3.0], [0.0, 1e-200, -1e-200])]);
    assert!((hits[0].unwrap().distance - 3.0 * 2.0_f64.sqrt()).abs() < 1e-12);
    assert!(matches!(
        query.distance(1, 9),
        Err(InputError::NoSuch { index: 9, .. })
    ));
    for [a, b] in [[2, 2], [0, 6]] {
        let Err(InputError::BadSetting { entry, value, .. }) = query.distance(a, b) else {
            panic!("{a} {b}");
        };
        assert!(entry == a && (value - b as f64).abs() < 0.5);
    }
}

/// Distance of a point from a shape, 0 inside, written once more for this test.
fn distance_of(shape: &Shape, pose: &Pose, point: Vec3) -> f64 {
    let p = pose.to_body(point);
    let from_axis = p.x.hypot(p.y);
    let beyond = |size: f64, half: f64| (size.abs() - half).max(0.0);
    match shape.kind() {
        ShapeKind::Plane => p.z.max(0.0),
        ShapeKind::Sphere { radius } => (p.norm() - radius).max(0.0),
        ShapeKind::Box { half } => Vec3::from_fn(|k, _| beyond(p[k], half[k])).norm(),
        ShapeKind::Capsule {
            half_length,
            radius,
        } => (from_axis.hypot(beyond(p.z, half_length)) - radius).max(0.0),
        ShapeKind::Cylinder {
            half_length,
            radius,
        } => beyond(from_axis, radius).hypot(beyond(p.z, half_length)),
        ShapeKind::Cone { height, radius } => {
            // The triangle with its foot, its side and the axis.
            let z = p.z + 0.25 * height;
            let on_foot = beyond(from_axis, radius).hypot(z);
            let along = (radius - from_axis) * radius + z * height;
            let part = (along / (radius * radius + height * height)).clamp(0.0, 1.0);
            let on_side = (from_axis - radius * (1.0 - part)).hypot(z - height * part);
            let inside = z >= 0.0 && from_axis <= radius * (1.0 - z / height);
            if inside { 0.0 } else { on_foot.min(on_side) }
        }
        _ => f64::INFINITY,
    }
}

fn heap(count: usize, width: f64, draw: &mut SplitMix64) -> Scene {
    let mut scene = Scene::new();
    for k in 0..count {
        let mut size = || draw.between(0.05, 0.3);
        let shape = match k % 5 {
            0 => Shape::sphere(size()),
            1 => Shape::cuboid([size(), size(), size()]),
            2 => Shape::capsule(size(), size()),
            3 => Shape::cylinder(size(), size()),
            _ => Shape::cone(size(), size()),
        };
        let mut number = |by: f64| draw.between(-by, by);
        let at = [number(width), number(width), number(width)];
        let turn = [number(1.0), number(1.0), number(1.0), number(1.0)];
        let body = Body::new(shape.unwrap()).position(at).orientation(turn);
        scene.add(body).unwrap();
    }
    let ground = Body::fixed(Shape::plane()).position([0.0, 0.0, -width]);
    scene.add(ground).unwrap();
    scene
}

/// A ray goes on by its distance from the nearest body until it is there.
fn march(scene: &Scene, q: &[f64], ray: &Ray) -> Option<f64> {
    let (origin, direction) = (
        Vec3::from(ray.origin),
        Vec3::from(ray.direction).normalize(),
    );
    let bodies =
        (0..scene.len()).map(|k| (scene.body(k).unwrap().shape(), scene.pose(k, q).unwrap()));
    let bodies: Vec<_> = bodies.collect();
    let mut way = 0.0;
    for _ in 0..20_000 {
        let there = origin + direction * way;
        let distances = bodies
            .iter()
            .map(|(shape, pose)| distance_of(shape, pose, there));
        let least = distances.fold(f64::INFINITY, f64::min);
        if least < 1e-11 {
            return Some(way);
        }
        way += least;
        if way > ray.length {
            return None;
        }
    }
    // A ray that grazes a body comes closer for ever.
    Some(f64::NAN)
}

#[test]
fn rays_in_random_scenes_are_those_that_march() {
    let mut draw = SplitMix64(71);
    let (mut met, mut missed) = (0, 0);
    let (mut memory, mut hits) = (QueryMemory::new(), Vec::new());
    for count in [1, 2, 7, 40, 120] {
        let scene = heap(count, 1.5, &mut draw);
        let (q, _) = scene.start();
        let ray = |draw: &mut SplitMix64| {
            let mut number = |by: f64| draw.between(-by, by);
            let origin = [number(3.0), number(3.0), number(1.4)];
            let direction = [number(1.0), number(1.0), number(1.0)];
            Ray::new(origin, direction).length(6.0)
        };
        let rays: Vec<Ray> = (0..60).map(|_| ray(&mut draw)).collect();
        let query = scene.query(&q, &mut memory).unwrap();
        query.cast(&rays, &mut hits).unwrap();
        for (ray, hit) in rays.iter().zip(&hits) {
            let expected = march(&scene, &q, ray);
            if expected.is_some_and(f64::is_nan) {
                continue;
            }
            let label = format!("{count} {ray:?} {hit:?} {expected:?}");
            let Some(expected) = expected else {
                assert!(hit.is_none(), "{label}");
                missed += 1;
                continue;
            };
            let hit = hit.expect(&label);
            met += 1;
            let direction = Vec3::from(ray.direction).normalize();
            // The march stops before the surface, further before it at a flat angle.
            let slope = -direction.dot(&hit.normal);
            assert!(slope >= 0.0 && (hit.normal.norm() - 1.0).abs() < 1e-12);
            let by = hit.distance - expected;
            assert!(by > -1e-9 && by * slope < 1e-9, "{by} {label}");
            let (shape, pose) = (
                scene.body(hit.body).unwrap(),
                scene.pose(hit.body, &q).unwrap(),
            );
            assert!(
                distance_of(shape.shape(), &pose, hit.point) < 1e-12,
                "{label}"
            );
            // The normal: a little out along it, the distance rises as fast.
            if hit.distance > 0.0 {
                let out = distance_of(shape.shape(), &pose, hit.point + hit.normal * 1e-6);
                assert!((out - 1e-6).abs() < 1e-11, "{out} {label}");
            }
        }
    }
    assert!(met > 100 && missed > 20, "{met} {missed}");
}

#[test]
fn overlaps_in_random_scenes_are_those_of_all_pairs() {
    let mut draw = SplitMix64(72);
    let (mut memory, mut found) = (QueryMemory::new(), Vec::new());
    let mut some = 0;
    for count in [5, 30, 50] {
        let scene = heap(count, 0.8, &mut draw);
        let (q, _) = scene.start();
        let query = scene.query(&q, &mut memory).unwrap();
        for body in 0..scene.len() {
            query.overlaps(body, &mut found).unwrap();
            let overlaps =
                |&other: &usize| other != body && query.distance(body, other).unwrap().gap < 0.0;
            let expected: Vec<usize> = (0..scene.len()).filter(overlaps).collect();
            assert_eq!(found, expected, "{count} {body}");
            some += found.len();
        }
    }
    assert!(some > 50, "{some}");
}

/// Long ways and small bodies: a ball of 1 mm seen from 1000 km.
#[test]
fn a_far_ray_meets_a_small_body() {
    let mut scene = Scene::new();
    scene.add(Body::new(Shape::sphere(1e-3).unwrap())).unwrap();
    scene
        .add(Body::new(Shape::cone(4e-3, 1e-3).unwrap()).position([0.0, 1.0, 0.0]))
        .unwrap();
    let (q, _) = scene.start();
    let mut memory = QueryMemory::new();
    let query = scene.query(&q, &mut memory).unwrap();
    for y in [0.0, 5e-4, 1.0] {
        let hit = cast(&query, &[Ray::new([1e6, y, 0.0], [-1.0, 0.0, 0.0])])[0].unwrap();
        let radius = if y > 0.5 {
            7.5e-4
        } else {
            (1e-6 - y * y).sqrt()
        };
        assert!((hit.distance - (1e6 - radius)).abs() < 1e-9, "{hit:?}");
        assert!((hit.normal.norm() - 1.0).abs() < 1e-12);
    }
}

/// Bodies that touch to rounding have the normal of their gap, and not that of the rounding: off along it they part by
/// as much.
#[test]
fn bodies_that_touch_part_along_their_normal() {
    let (mut memory, mut touched) = (QueryMemory::new(), 0);
    let cases = if cfg!(debug_assertions) { 60 } else { 3000 };
    for seed in 0..cases {
        let mut draw = SplitMix64(seed);
        let mut shape = |size: f64| {
            let [a, b] = [draw.between(0.3, 1.0), draw.between(0.3, 1.0)].map(|part| part * size);
            let shape = match seed % 3 {
                0 => Shape::cone(a, b),
                1 => Shape::cylinder(a, b),
                _ => Shape::cuboid([a, b, 0.5 * size]),
            };
            let turn = [(); 4].map(|()| draw.between(-1.0, 1.0));
            Body::new(shape.unwrap()).orientation(turn)
        };
        let small = [1.0, 1e-1, 1e-2, 1e-3, 1e-4][usize::try_from(seed / 3 % 5).unwrap()];
        let mut scene = Scene::new();
        let [a, b] = [shape(1.0), shape(small)];
        scene.add(a).unwrap();
        let away = Vec3::from_fn(|_, _| draw.between(-1.0, 1.0)).normalize() * 3.0;
        scene.add(b.position(away.into())).unwrap();
        let (mut q, _) = scene.start();
        let apart = scene.query(&q, &mut memory).unwrap().distance(0, 1);
        let apart = apart.unwrap();
        let mut shift = |by: Vec3| {
            for (q, by) in q[7..10].iter_mut().zip(by.iter()) {
                *q += by;
            }
            let query = scene.query(&q, &mut memory).unwrap();
            [query.distance(0, 1).unwrap(), query.distance(1, 0).unwrap()]
        };
        let closer = shift(apart.normal * apart.gap)[0];
        let [touching, exchanged] = shift(closer.normal * closer.gap);
        if touching.gap.abs() > 1e-9 * small {
            continue;
        }
        touched += 1;
        // At a vertex there are several.
        let by = 1e-3 * small;
        for normal in [touching.normal, -exchanged.normal] {
            let [parted, _] = shift(-normal * by);
            let gap = parted.gap - touching.gap;
            assert!(gap > by * (1.0 - 1e-4), "{seed} {small}: {gap:e} of {by:e}");
            shift(normal * by);
        }
    }
    assert!(10 * touched > 9 * cases, "{touched} of {cases}");
}

/// Capsules on one axis, or whose axes cross, to rounding: the direction from one to the other is that of the rounding,
/// and no way out.
#[test]
fn capsules_whose_axes_meet_part_along_their_normal() {
    let mut draw = SplitMix64(17);
    for case in 0..2000 {
        let mut pose = || {
            let turn = [(); 4].map(|()| draw.between(-1.0, 1.0));
            Pose::new([0.0; 3], turn).unwrap()
        };
        let (a, other) = (pose(), pose());
        let turn = if case % 2 == 0 { a } else { other };
        let halves = [draw.between(0.1, 0.5), draw.between(0.1, 0.5)];
        // Within both.
        let on_a = draw.between(-0.1, 0.1) * [0.0, 1.0][(case / 10 % 4).min(1)];
        let on_b = draw.between(-0.1, 0.1);
        let [axis_a, axis_b] = [a, turn].map(|of| of.rotation() * Vec3::z());
        let beside = a.rotation() * Vec3::x() * [0.0, 1e-17, 1e-15, 1e-14, 1e-13][case / 2 % 5];
        let far = Vec3::repeat([0.0, 1e6][case % 3 / 2]);
        let at = far + axis_a * on_a - axis_b * on_b + beside;
        let mut scene = Scene::new();
        for (half, place, turn) in [(halves[0], far, a), (halves[1], at, turn)] {
            let body = Body::new(Shape::capsule(half, 0.2).unwrap());
            let body = body.position(place.into());
            scene.add(body.orientation(turn.quaternion())).unwrap();
        }
        let (q, _) = scene.start();
        let mut memory = QueryMemory::new();
        let query = scene.query(&q, &mut memory).unwrap();
        let rounding = 1e-9 + 1e-14 * far.x;
        for (pair, sign) in [([0, 1], 1.0), ([1, 0], -1.0)] {
            let found = query.distance(pair[0], pair[1]).unwrap();
            let normal = found.normal * sign;
            let reach = |half: f64, axis: Vec3| half * axis.dot(&normal).abs() + 0.2;
            let out = reach(halves[0], axis_a) + reach(halves[1], axis_b) + normal.dot(&(at - far));
            assert!(
                (out + found.gap).abs() < rounding,
                "{case}: {out} {found:?}"
            );
            assert!((found.gap + 0.4).abs() < rounding, "{case}: {found:?}");
        }
    }
}
