//! Distances of shapes of parry.

use saltation::bodies::parry::glamx::DVec3;
use saltation::bodies::parry::shape::{HeightField, SharedShape};
use saltation::bodies::parry::utils::Array2;
use saltation::bodies::{Body, ManifoldPoint, Pose, QueryMemory, Ray, Scene, Shape};
use saltation::nalgebra::Vector3;

use super::{box_mesh, corners, deepest, parry, points, pose};
use crate::random::SplitMix64;

/// Both orders of a pair, and whether they overlap.
fn asked(a: (Shape, Pose), b: (Shape, Pose)) -> ([ManifoldPoint; 2], bool) {
    let mut scene = Scene::new();
    let mut add = |(shape, at): (Shape, Pose)| scene.add(Body::fixed(shape).placed(&at)).unwrap();
    let (a, b) = (add(a), add(b));
    let (q, _) = scene.start();
    let mut memory = QueryMemory::new();
    let query = scene.query(&q, &mut memory).unwrap();
    let both = [query.distance(a, b), query.distance(b, a)].map(Result::unwrap);
    let mut found = Vec::new();
    query.overlaps(a, &mut found).unwrap();
    (both, found == [b])
}

/// A shape of random size, and how far it reaches from its middle in a direction of its own axes.
type Reach = Box<dyn Fn(Vector3<f64>) -> f64>;

fn shape(kind: usize, draw: &mut SplitMix64) -> (Shape, Reach) {
    let [x, y, z] = [0; 3].map(|_| draw.between(0.05, 0.5));
    let half = [x, y, z];
    let of_corners = move |n: Vector3<f64>| (0..3).map(|k| half[k] * n[k].abs()).sum();
    let rounded = 0.03;
    // Cylinders of parry lie along y.
    let of_cylinder = move |n: Vector3<f64>| y * n.y.abs() + x * n.x.hypot(n.z);
    let half_box = |side: f64| {
        let mut place = saltation::bodies::parry::math::Pose::default();
        place.translation.x = side * x / 2.0;
        (place, SharedShape::cuboid(x / 2.0, y, z))
    };
    match kind {
        0 => (parry(SharedShape::cuboid(x, y, z)), Box::new(of_corners)),
        1 => (parry(SharedShape::ball(x)), Box::new(move |_| x)),
        2 => (parry(SharedShape::cylinder(y, x)), Box::new(of_cylinder)),
        3 => {
            let hull = SharedShape::convex_hull(&corners(half)).unwrap();
            (parry(hull), Box::new(of_corners))
        }
        4 => (
            parry(SharedShape::new(box_mesh(half))),
            Box::new(of_corners),
        ),
        5 => {
            let two = SharedShape::compound(vec![half_box(-1.0), half_box(1.0)]);
            (parry(two), Box::new(of_corners))
        }
        6 => {
            let round = SharedShape::round_cuboid(x, y, z, rounded);
            (parry(round), Box::new(move |n| of_corners(n) + rounded))
        }
        _ => {
            let heights = Array2::new(2, 2, vec![0.0; 4]);
            let field = HeightField::new(heights, DVec3::new(2.0 * x, 1.0, 2.0 * z));
            let flat = move |n: Vector3<f64>| x * n.x.abs() + z * n.z.abs();
            (parry(SharedShape::new(field)), Box::new(flat))
        }
    }
}

/// The lowest point of a shape over a plane, in both orders. parry's own answer was off by metres in most poses.
#[test]
fn shapes_over_planes() {
    let draw = &mut SplitMix64(5);
    for case in 0..400 {
        let (shape, reach) = shape(case % 8, draw);
        let (at, ground) = (pose(draw, 1.0), pose(draw, 0.3));
        let normal = ground.rotation() * Vector3::z();
        // The shapes are symmetric about their middles, so that their own axes can be any with the same planes.
        let own = at.rotation().tr_mul(&normal);
        let expected = normal.dot(&(at.position() - ground.position())) - reach(own);
        let ([one, other], overlap) = asked((shape, at), (Shape::plane(), ground));
        for (found, normal) in [(one, normal), (other, -normal)] {
            let off = (found.gap - expected).abs();
            assert!(off < 1e-12, "{case}: {} {expected}", found.gap);
            assert!((found.normal - normal).norm() < 1e-12, "{case}");
            let between = found.normal.dot(&(found.on_a - found.on_b));
            assert!((between - expected).abs() < 1e-12, "{case}");
        }
        assert_eq!(overlap, expected < 0.0, "{case}: {expected}");
    }
}

/// Bodies in the middle of each other overlap, as deep as those beside.
#[test]
fn shapes_in_the_middle_of_each_other() {
    let draw = &mut SplitMix64(7);
    for case in 0..200 {
        let (hull, reach) = shape(3, draw);
        let radius = draw.between(0.05, 0.5);
        let others = [
            Shape::sphere(radius).unwrap(),
            Shape::cuboid([radius, 0.2, 0.3]).unwrap(),
            Shape::capsule(0.2, radius).unwrap(),
            parry(SharedShape::cuboid(radius, 0.2, 0.3)),
        ];
        let other = others[case % 4].clone();
        let at = if case % 3 == 0 {
            Pose::identity()
        } else {
            pose(draw, 1e-300)
        };
        let ([one, back], overlap) = asked((hull, at), (other, Pose::identity()));
        assert!(overlap, "{case}: {}", one.gap);
        let least = [Vector3::x(), Vector3::y(), Vector3::z()].map(&reach);
        let least = least.into_iter().fold(f64::MAX, f64::min);
        for found in [one, back] {
            // At least as far as to bring the middle of one out of the other.
            let in_half = radius.min(0.2);
            assert!(
                found.gap < -0.99 * least.max(in_half),
                "{case}: {}",
                found.gap
            );
        }
    }
}

/// A cylinder, capsule or cone of parry along y, and of ours turned to it, with half lengths `along` and `radius`, and
/// how far its core reaches in a direction of these axes.
fn along_y(kind: usize, along: f64, radius: f64) -> (Shape, Pose, Reach) {
    let half = 0.5_f64.sqrt();
    let turned = Pose::new([0.0, -0.5 * along, 0.0], [half, -half, 0.0, 0.0]).unwrap();
    let upright = Pose::new([0.0; 3], [half, -half, 0.0, 0.0]).unwrap();
    let (shape, own) = match kind {
        0 => (parry(SharedShape::cylinder(along, radius)), None),
        1 => {
            // Along x, beside the origin.
            let ends = [-0.9, 1.1].map(|x| DVec3::new(x * along, 0.0, 0.0));
            let own = Pose::new([0.0, -0.1 * along, 0.0], [half, 0.0, 0.0, half]).unwrap();
            (
                parry(SharedShape::capsule(ends[0], ends[1], radius)),
                Some(own),
            )
        }
        2 => (parry(SharedShape::cone(along, radius)), None),
        3 => (Shape::cylinder(along, radius).unwrap(), Some(upright)),
        4 => (Shape::capsule(along, radius).unwrap(), Some(upright)),
        _ => (Shape::cone(2.0 * along, radius).unwrap(), Some(turned)),
    };
    let reach: Reach = match kind % 3 {
        0 => Box::new(move |n| along * n.y.abs() + radius * n.x.hypot(n.z)),
        1 => Box::new(move |n| along * n.y.abs() + radius),
        _ => Box::new(move |n| (along * n.y).max(radius * n.x.hypot(n.z) - along * n.y)),
    };
    (shape, own.unwrap_or(Pose::identity()), reach)
}

/// Round bodies in each other on one axis: parry found no overlap, or none of its depth. Each normal is a way out
/// as long as the gap says, by support functions, and that of the distance no longer than two fifths more than the
/// best of many directions.
#[test]
fn round_bodies_on_one_axis_part_along_their_normal() {
    let draw = &mut SplitMix64(11);
    let directions: Vec<Vector3<f64>> = (0..1500)
        .map(|k| {
            let (height, angle) = (
                1.0 - (2.0 * f64::from(k) + 1.0) / 1500.0,
                2.4 * f64::from(k),
            );
            let across = (1.0 - height * height).sqrt();
            Vector3::new(across * angle.cos(), height, across * angle.sin())
        })
        .collect();
    for case in 0..720 {
        let size = [1.0, 0.1, 100.0][case / 36 % 3];
        let mut length = || size * draw.between(0.2, 1.0);
        let (a, own_a, reach_a) = along_y(case % 6, length(), length());
        let (b, own_b, reach_b) = along_y(case / 6 % 6, length(), length());
        let offset = match case / 108 % 4 {
            0 => [0.0, 0.05 * size, 0.0],
            1 => [0.0; 3],
            _ => [0.0, draw.between(-0.15, 0.15) * size, 0.0],
        };
        let turn = if case % 5 < 2 {
            Pose::identity()
        } else {
            pose(draw, 1.0)
        };
        let at_b = Pose::new(offset, [1.0, 0.0, 0.0, 0.0])
            .unwrap()
            .moved_by(&turn);
        let placed = [(a, own_a.moved_by(&turn)), (b, own_b.moved_by(&at_b))];
        let shift = Vector3::from(offset);
        // How far A is to be moved along a unit normal.
        let out = |n: Vector3<f64>| reach_a(-n) + reach_b(n) + shift.dot(&n);
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        let axes = axes.into_iter().flat_map(|axis| [axis, -axis]);
        let least = directions
            .iter()
            .copied()
            .chain(axes)
            .map(out)
            .fold(f64::MAX, f64::min);
        let [one, other] = placed.clone();
        let ([found, back], overlap) = asked(one, other);
        assert!(overlap, "{case}: {found:?}");
        let [a, b] = placed.map(|(shape, frame)| {
            let at = shape.frame().inverse().moved_by(&frame);
            (shape, at)
        });
        let point = deepest(&points((&a.0, &a.1), (&b.0, &b.1), 0.01 * size)).unwrap();
        for (normal, gap, off, most) in [
            (found.normal, found.gap, 1e-9, 1.4),
            (-back.normal, back.gap, 1e-9, 1.4),
            (point.normal, point.gap, 0.02, 2.0),
        ] {
            let along = out(turn.rotation().tr_mul(&normal));
            assert!((along + gap).abs() < off * size, "{case}: {along} {gap}");
            assert!(-gap < most * least, "{case}: {gap} {least}");
        }
    }
}

/// Of shapes that only parry has, the depth is that along the normal too.
#[test]
fn rounded_cylinders_on_one_axis_part_along_their_normal() {
    let draw = &mut SplitMix64(19);
    for case in 0..300 {
        let mut lengths = || [(); 3].map(|()| draw.between(0.05, 0.3));
        let halves = [lengths(), lengths()];
        let [a, b] =
            halves.map(|[y, x, rounded]| parry(SharedShape::round_cylinder(y, x, rounded)));
        let reach = |k: usize, n: Vector3<f64>| {
            let [y, x, rounded] = halves[k];
            y * n.y.abs() + x * n.x.hypot(n.z) + rounded
        };
        let shift = Vector3::y() * draw.between(-0.05, 0.05);
        let at_b = Pose::new(shift.into(), [1.0, 0.0, 0.0, 0.0]).unwrap();
        let (both, overlap) = asked((a, Pose::identity()), (b, at_b));
        assert!(overlap, "{case}: {both:?}");
        for (found, sign) in both.into_iter().zip([1.0, -1.0]) {
            let normal = found.normal * sign;
            let along = reach(0, -normal) + reach(1, normal) + shift.dot(&normal);
            assert!(
                (along + found.gap).abs() < 0.02,
                "{case}: {along} {found:?}"
            );
            let between = found.normal.dot(&(found.on_a - found.on_b));
            assert!((between - found.gap).abs() < 1e-9, "{case}: {found:?}");
        }
    }
}

/// A ray from inside of a shape of any size hits it at once, against itself: of balls the normal was that of the
/// surface, and large cylinders and cones were missed.
#[test]
fn rays_from_inside_hit_at_once() {
    let draw = &mut SplitMix64(13);
    for case in 0..6000 {
        let size = 10_f64.powi(case / 18 % 8 - 3);
        let mut length = || size * draw.between(0.2, 1.0);
        let (along, radius) = (length(), length());
        let ball = SharedShape::ball(along.min(radius));
        let at_origin = saltation::bodies::parry::math::Pose::default();
        let shape = match case % 6 {
            0 => ball,
            5 => SharedShape::compound(vec![(at_origin, ball)]),
            1 => SharedShape::cuboid(radius, along, radius),
            2 => SharedShape::capsule_y(along, radius),
            3 => SharedShape::cylinder(along, radius),
            _ => SharedShape::cone(along, radius),
        };
        let mut number = || draw.between(-1.0, 1.0);
        // Within all of them: at half its height a cone is half as wide.
        let within = along.min(radius);
        let [x, y, z] = [0.3 * number(), 0.4 * (number() - 1.0), 0.3 * number()];
        let start = Vector3::new(x, y, z) * within;
        let direction = match case / 6 % 3 {
            0 => Vector3::y() * number().signum(),
            _ => Vector3::new(number(), number(), number()).normalize(),
        };
        let frame = pose(draw, size);
        let mut scene = Scene::new();
        scene.add(Body::fixed(parry(shape)).placed(&frame)).unwrap();
        let (q, _) = scene.start();
        let mut memory = QueryMemory::new();
        let query = scene.query(&q, &mut memory).unwrap();
        let mut hits = Vec::new();
        let towards = frame.rotation() * direction;
        let ray = Ray::new(frame.to_world(start).into(), towards.into());
        query.cast(&[ray], &mut hits).unwrap();
        let hit = hits[0].unwrap_or_else(|| panic!("{case}: missed"));
        assert!(hit.distance == 0.0, "{case}: {hit:?}");
        assert!((hit.normal + towards).norm() < 1e-12, "{case}: {hit:?}");
        // From outside the normal is that of the surface.
        if case % 6 == 5 {
            let start = frame.to_world(start) - towards * (3.0 * size);
            query
                .cast(&[Ray::new(start.into(), towards.into())], &mut hits)
                .unwrap();
            let hit = hits[0].unwrap();
            let outward = (hit.point - frame.position()).normalize();
            assert!((hit.normal - outward).norm() < 1e-6, "{case}: {hit:?}");
        }
    }
}
