//! Distances of shapes of parry.

use saltation::bodies::parry::glamx::DVec3;
use saltation::bodies::parry::shape::{HeightField, SharedShape};
use saltation::bodies::parry::utils::Array2;
use saltation::bodies::{Body, ManifoldPoint, Pose, QueryMemory, Scene, Shape};
use saltation::nalgebra::Vector3;

use super::{box_mesh, corners, parry, pose};
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
