//! Contact points of shapes of parry: against ours, of aligned faces, of parts, at vertices.

use saltation::bodies::parry::glamx::{DQuat, DVec3};
use saltation::bodies::parry::math::Pose as ParryPose;
use saltation::bodies::parry::shape::{SharedShape, TriMesh, TriMeshFlags};
use saltation::bodies::{Body, ManifoldPoint, Pose, Scene, Shape};
use saltation::mechanics::{ContactSet, ContactSource, Contacts, Wanted};
use saltation::nalgebra::Vector3;

use crate::random::SplitMix64;

use super::{box_mesh, check, check_all, corners, deepest, parry, points, pose};

/// Pairs of a shape of parry and one of ours, against two of ours. Boxes differ: ours prefer a face
/// that is within 0.05 rad of the shortest way out, and are seen corner against corner too, which
/// those of parry are only when they touch.
#[test]
fn simple_shapes_have_the_distances_of_ours() {
    let mut draw = SplitMix64(5);
    let (half, r, margin) = ([0.3, 0.2, 0.4], 0.25, 0.05);
    let ours = [
        Shape::sphere(r).unwrap(),
        Shape::cuboid(half).unwrap(),
        Shape::capsule(0.2, 0.1).unwrap(),
        Shape::plane(),
    ];
    let theirs = [
        parry(SharedShape::ball(r)),
        parry(SharedShape::cuboid(half[0], half[1], half[2])),
        parry(SharedShape::capsule_z(0.2, 0.1)),
        parry(SharedShape::convex_hull(&corners(half)).unwrap()),
    ];
    let mut met = [0; 16];
    for _ in 0..1000 {
        let at = [pose(&mut draw, 0.5), pose(&mut draw, 0.5)];
        for (k, own) in theirs.iter().enumerate() {
            let i = if k == 3 { 1 } else { k };
            for (j, other) in ours.iter().enumerate() {
                let (one, two) = ((own, &at[0]), (other, &at[1]));
                let found = points(one, two, margin);
                check_all(&found, margin);
                let exchanged = points(two, one, margin);
                let expected = deepest(&points((&ours[i], &at[0]), two, margin));
                let boxes = (i, j) == (1, 1);
                assert!(
                    boxes
                        || (found.is_empty(), exchanged.is_empty())
                            == (expected.is_none(), expected.is_none())
                );
                let (Some(found), Some(exchanged)) = (deepest(&found), deepest(&exchanged)) else {
                    continue;
                };
                let Some(expected) = expected.filter(|point| point.gap > -0.02) else {
                    continue;
                };
                met[4 * k + j] += 1;
                let tolerance = match (i, j) {
                    (1, 1) => 1e-3,
                    (1, 2) | (2, 1) => 2e-5,
                    _ => 1e-12,
                };
                let by = (found.gap - expected.gap).abs();
                assert!(by < tolerance, "{k} {j}: {found:?} {expected:?}");
                if tolerance < 1e-9 && expected.gap.abs() > 1e-3 {
                    assert!((found.normal - expected.normal).norm() < 1e-9);
                    assert!((exchanged.normal + expected.normal).norm() < 1e-9);
                    assert!((exchanged.gap - expected.gap).abs() < 1e-12);
                }
            }
        }
    }
    assert!(met.iter().all(|&count| count > 20), "{met:?}");
}

#[test]
fn aligned_faces_have_each_corner_once() {
    let half = [0.3, 0.2, 0.1];
    let shapes = [
        parry(SharedShape::cuboid(half[0], half[1], half[2])),
        parry(SharedShape::convex_hull(&corners(half)).unwrap()),
        parry(SharedShape::new(box_mesh(half))),
    ];
    let floors = [
        (parry(SharedShape::cuboid(1.0, 1.0, 1.0)), -1.0),
        (parry(SharedShape::new(box_mesh([1.0; 3]))), -1.0),
        (Shape::cuboid([1.0; 3]).unwrap(), -1.0),
        (Shape::plane(), 0.0),
    ];
    let at = |z: f64, turn: f64| {
        let (sin, cos) = (0.5 * turn).sin_cos();
        Pose::new([0.013, 0.007, z], [cos, 0.0, 0.0, sin]).unwrap()
    };
    for (i, shape) in shapes.iter().enumerate() {
        for (j, (floor, z)) in floors.iter().enumerate() {
            if (i, j) == (2, 1) {
                continue; // two surfaces
            }
            for gap in [1e-3, 0.0, -1e-3] {
                let own = at(half[2] + gap, 0.3);
                let found = points((shape, &own), (floor, &at(*z, 0.0)), 0.01);
                assert_eq!(found.len(), 4, "{i} {j} {gap}: {found:?}");
                for point in &found {
                    check(point, 0.01);
                    assert!((point.gap - gap).abs() < 1e-9 && point.normal.z > 1.0 - 1e-12);
                    let corner = own.to_body(point.on_a);
                    for k in 0..3 {
                        assert!((corner[k].abs() - half[k]).abs() < 1e-9, "{i} {j} {corner}");
                    }
                }
            }
        }
    }
    // A square on an equal square, turned: eight corners.
    let square = parry(SharedShape::cuboid(0.2, 0.2, 0.2));
    let found = points((&square, &at(0.4, 0.785)), (&square, &at(0.0, 0.0)), 0.01);
    assert_eq!(found.len(), 8);
}

/// Each leg of a table stands on four corners.
#[test]
fn parts_of_a_compound_keep_their_points() {
    let leg = |x: f64, y: f64| {
        let leg = SharedShape::cuboid(0.05, 0.05, 0.4);
        (ParryPose::translation(x, y, -0.4), leg)
    };
    let mut parts = vec![
        leg(0.4, 0.3),
        leg(-0.4, 0.3),
        leg(-0.4, -0.3),
        leg(0.4, -0.3),
    ];
    let top = SharedShape::cuboid(0.5, 0.4, 0.02);
    parts.push((ParryPose::translation(0.0, 0.0, 0.02), top));
    let table = parry(SharedShape::compound(parts));
    let up = |z: f64| Pose::new([0.0, 0.0, z], [1.0, 0.0, 0.0, 0.0]).unwrap();
    let own = table.frame().inverse().moved_by(&up(0.8));
    let floor = (parry(SharedShape::cuboid(2.0, 2.0, 0.5)), up(-0.5));
    for (floor, at) in [&floor, &(Shape::plane(), up(0.0))] {
        let found = points((&table, &own), (floor, at), 0.01);
        assert_eq!(found.len(), 16);
        for corner in &found {
            check(corner, 0.01);
            let [x, y, _] = corner.on_a.into();
            assert!(corner.gap.abs() < 1e-12);
            for (value, of) in [(x, 0.4), (y, 0.3)] {
                assert!(((f64::abs(value) - of).abs() - 0.05).abs() < 1e-12);
            }
        }
    }
}

/// Turned compounds of two boxes against boxes of ours, part by part.
#[test]
fn parts_of_turned_compounds_touch_where_they_are() {
    let mut draw = SplitMix64(21);
    let halves = [[0.2, 0.1, 0.15], [0.1, 0.3, 0.1]];
    let (margin, mut met) = (0.02, 0);
    for _ in 0..2000 {
        let own = [pose(&mut draw, 0.3), pose(&mut draw, 0.3)];
        let parts = [0, 1].map(|k| {
            let (at, [w, x, y, z]) = (own[k].position(), own[k].quaternion());
            let turn = DQuat::from_xyzw(x, y, z, w);
            let [a, b, c] = halves[k];
            (
                ParryPose::from_parts(DVec3::from_array(at.into()), turn),
                SharedShape::cuboid(a, b, c),
            )
        });
        let compound = parry(SharedShape::compound(parts.to_vec()));
        let frame = pose(&mut draw, 0.3);
        let placed = compound.frame().inverse().moved_by(&frame);
        let ball = (Shape::sphere(0.1).unwrap(), pose(&mut draw, 0.6));
        let plane = (Shape::plane(), pose(&mut draw, 0.3));
        for (other, at) in [&ball, &plane] {
            let expected = [0, 1].map(|k| {
                let part = Shape::cuboid(halves[k]).unwrap();
                let found = points((&part, &own[k].moved_by(&frame)), (other, at), margin);
                deepest(&found)
            });
            let expected: Vec<ManifoldPoint> = expected.into_iter().flatten().collect();
            let exchanged = points((other, at), (&compound, &placed), margin);
            let found = points((&compound, &placed), (other, at), margin);
            assert_eq!(
                (found.is_empty(), found.len()),
                (expected.is_empty(), exchanged.len())
            );
            check_all(&found, margin);
            check_all(&exchanged, margin);
            let (Some(found), Some(expected)) = (deepest(&found), deepest(&expected)) else {
                continue;
            };
            if expected.gap > -0.05 {
                met += 1;
                assert!(
                    (found.gap - expected.gap).abs() < 1e-9,
                    "{found:?} {expected:?}"
                );
                assert!(
                    (found.normal - expected.normal).norm() < 1e-6 || expected.gap.abs() < 1e-3
                );
            }
        }
    }
    assert!(met > 200, "{met}");
}

/// Over the top of a roof that a mesh makes, where parry's manifolds are empty.
#[test]
fn a_ball_does_not_fall_through_a_vertex_of_a_mesh() {
    for height in [1e-3, 0.1, 0.5] {
        let rim = |k: usize| {
            let angle = std::f64::consts::TAU * k as f64 / 6.0;
            DVec3::new(angle.cos(), angle.sin(), 0.0)
        };
        let mut vertices: Vec<DVec3> = (0..6).map(rim).collect();
        vertices.push(DVec3::new(0.0, 0.0, height));
        let triangles = (0..6).map(|k| [k, (k + 1) % 6, 6]).collect();
        let flags = TriMeshFlags::FIX_INTERNAL_EDGES;
        let roof = TriMesh::with_flags(vertices, triangles, flags).unwrap();
        let roof = parry(SharedShape::new(roof));
        let ball = Shape::sphere(0.1).unwrap();
        for gap in [5e-3, 1e-4, -1e-4, -5e-3] {
            for off in [0.0, 1e-9, 2e-5] {
                let at = Pose::new([off, 0.0, height + 0.1 + gap], [1.0, 0.0, 0.0, 0.0]).unwrap();
                let found = points((&ball, &at), (&roof, &Pose::identity()), 0.01);
                let deepest = deepest(&found).unwrap();
                check(&deepest, 0.01);
                assert!(
                    (deepest.gap - gap).abs() < 2e-5,
                    "{height} {gap}: {deepest:?}"
                );
                assert!(deepest.normal.z > 0.99);
                let exchanged = points((&roof, &Pose::identity()), (&ball, &at), 0.01);
                let other = exchanged
                    .iter()
                    .min_by(|p, q| p.gap.total_cmp(&q.gap))
                    .unwrap();
                assert!((other.normal + deepest.normal).norm() < 1e-9);
                assert!((other.on_a - deepest.on_b).norm() < 1e-9);
            }
        }
    }
}

#[test]
fn contacts_are_a_function_of_the_poses_alone() {
    let mut draw = SplitMix64(9);
    let shapes = [
        parry(SharedShape::new(box_mesh([0.3, 0.2, 0.1]))),
        parry(SharedShape::convex_hull(&corners([0.2; 3])).unwrap()),
        parry(SharedShape::cylinder(0.2, 0.1)),
        parry(SharedShape::cone(0.2, 0.1)),
        parry(SharedShape::round_cuboid(0.1, 0.1, 0.1, 0.02)),
    ];
    for _ in 0..100 {
        let at = [pose(&mut draw, 0.2), pose(&mut draw, 0.2)];
        for (i, a) in shapes.iter().enumerate() {
            // but two surfaces
            for b in &shapes[usize::from(i == 0)..] {
                let found = points((a, &at[0]), (b, &at[1]), 0.02);
                let _ = points((a, &at[1]), (b, &at[0]), 0.02);
                assert_eq!(found, points((a, &at[0]), (b, &at[1]), 0.02));
                check_all(&found, 0.02);
            }
        }
    }
}

/// A compound far from its own origin is found by the broad phase, on all of its sides; a negative
/// margin leaves out what touches.
#[test]
fn a_body_reaches_as_far_as_its_shape() {
    let part = |x: f64| (ParryPose::translation(x, 0.0, 0.0), SharedShape::ball(0.1));
    let dumbbell = parry(SharedShape::compound(vec![part(5.0), part(6.0)]));
    assert!(dumbbell.bounding_radius() >= 0.6 && dumbbell.bounding_radius() < 1.2);
    // The centre of mass is not the middle.
    let ball = |x: f64, radius: f64| {
        (
            ParryPose::translation(x, 0.0, 0.0),
            SharedShape::ball(radius),
        )
    };
    let club = parry(SharedShape::compound(vec![ball(5.0, 0.2), ball(6.0, 0.1)]));
    let end = club.frame().to_world(Vector3::new(6.1, 0.0, 0.0));
    assert!(club.bounding_radius() >= end.norm());
    for (x, gap) in [(0.69, -0.01), (-0.69, -0.01), (0.705, 0.005)] {
        let mut scene = Scene::new();
        scene.add(Body::new(dumbbell.clone())).unwrap();
        let ball = Body::new(Shape::sphere(0.1).unwrap());
        scene.add(ball.position([x, 0.0, 0.0])).unwrap();
        let (q, _) = scene.start();
        let mut contacts = Contacts::new();
        for (margin, count) in [(0.01, 1), (0.0, usize::from(gap < 0.0)), (-0.02, 0)] {
            let set = ContactSet::Within(margin);
            scene
                .fill(&q, set, Wanted::default(), &mut contacts)
                .unwrap();
            assert_eq!(contacts.len(), count, "{x} {margin}");
        }
    }
}
