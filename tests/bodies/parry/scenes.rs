//! Scenes with shapes of parry: rest, motion, refusals.

use saltation::bodies::parry::glamx::DVec3;
use saltation::bodies::parry::shape::SharedShape;
use saltation::bodies::parry::utils::Array2;
use saltation::bodies::{Body, ManifoldPoint, Pose, QueryMemory, Ray, Scene, Shape};
use saltation::compliant::CompliantFailure;
use saltation::mechanics::{ContactSet, ContactSource, Contacts, Wanted};
use saltation::nalgebra::{DMatrix, UnitQuaternion, Vector3};
use saltation::{Compliant, InputError, Start};

use super::{box_mesh, check_all, corners, parry, points};
use crate::random::SplitMix64;

/// A frustum with many sides, as a hull: on its foot.
fn frustum(sides: usize, rounded: f64) -> Shape {
    let ring = |radius: f64, z: f64| {
        (0..sides).map(move |k| {
            let angle = std::f64::consts::TAU * k as f64 / sides as f64;
            DVec3::new(radius * angle.cos(), radius * angle.sin(), z)
        })
    };
    let points: Vec<DVec3> = ring(0.1, 0.0).chain(ring(0.07, 0.15)).collect();
    parry(if rounded > 0.0 {
        SharedShape::round_convex_hull(&points, rounded).unwrap()
    } else {
        SharedShape::convex_hull(&points).unwrap()
    })
}

/// Rounded faces lie further out.
#[test]
fn rounded_hulls_have_whole_faces_too() {
    let up = |z: f64| Pose::new([0.0, 0.0, z], [1.0, 0.0, 0.0, 0.0]).unwrap();
    let shape = frustum(8, 0.01);
    let floor = (Shape::cuboid([0.5, 0.5, 0.1]).unwrap(), up(-0.1));
    for (floor, at) in [&(Shape::plane(), up(0.0)), &floor] {
        for gap in [1e-3, -1e-3] {
            let found = points((&shape, &up(0.01 + gap)), (floor, at), 2e-3);
            assert!(found.len() >= 4);
            check_all(&found, 2e-3);
            for side in [-1.0, 1.0] {
                for k in 0..2 {
                    let furthest = found
                        .iter()
                        .map(|p| side * p.on_a[k])
                        .fold(f64::MIN, f64::max);
                    assert!(furthest > 0.06, "{gap} {furthest}");
                }
            }
            assert!(
                found.iter().all(|p| (p.gap - gap).abs() < 1e-9),
                "{found:?}"
            );
        }
    }
}

/// parry cuts a face to four vertices in a row.
#[test]
fn hulls_with_many_sides_stand() {
    let up = |z: f64| Pose::new([0.0, 0.0, z], [1.0, 0.0, 0.0, 0.0]).unwrap();
    let floors = [
        (Shape::plane(), 0.0),
        (Shape::cuboid([0.5, 0.5, 0.1]).unwrap(), -0.1),
        (parry(SharedShape::new(box_mesh([0.5, 0.5, 0.1]))), -0.1),
        (parry(SharedShape::cuboid(0.5, 0.5, 0.1)), -0.1),
        (frustum(7, 0.0), -0.15),
    ];
    for sides in [3, 5, 6, 7, 8, 12, 16] {
        for (k, (floor, z)) in floors.iter().enumerate() {
            let shape = frustum(sides, 0.0);
            let own = shape.frame().inverse().moved_by(&up(0.0));
            let ground = floor.frame().inverse().moved_by(&up(*z));
            for (margin, turned) in [(1e-3, false), (0.05, false), (1e-3, true)] {
                let (a, b) = ((&shape, &own), (floor, &ground));
                let found = if turned {
                    points(b, a, margin)
                } else {
                    points(a, b, margin)
                };
                assert!(found.len() >= 3, "{sides} {k}: {found:?}");
                check_all(&found, margin);
                assert!(found.iter().all(|point| point.normal.z.abs() > 0.999));
                // The middle lies inside the points, far from their border.
                let at = |p: &ManifoldPoint| p.on_a.xy();
                for i in 0..36 {
                    let (sin, cos) = (f64::from(i) * 0.1745).sin_cos();
                    let along = |p: &ManifoldPoint| cos * at(p).x + sin * at(p).y;
                    let furthest = found.iter().map(along).fold(f64::MIN, f64::max);
                    assert!(furthest > 0.03, "{sides} {k} {furthest}");
                }
            }
            let mut scene = Scene::new();
            scene
                .add(Body::fixed(floor.clone()).placed(&up(*z)))
                .unwrap();
            let body = scene.add(Body::new(shape).placed(&up(1e-3))).unwrap();
            let (q, v) = scene.start();
            let mut stepper = Compliant::new(scene).unwrap().time_step(0.01);
            let run = stepper
                .integrate(&Start::at(0.0).q(&q).v(&v), 0.5)
                .unwrap()
                .completed()
                .unwrap();
            let end = stepper
                .system()
                .frame(body, &run.state().as_slice()[..7])
                .unwrap();
            assert!(
                (end.position().norm() < 1e-3) && end.rotation()[(2, 2)] > 1.0 - 1e-6,
                "{sides} {k}"
            );
        }
    }
}

#[test]
fn two_surfaces_are_refused_by_the_numbers_of_their_bodies() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    let mesh = || parry(SharedShape::new(box_mesh([0.1; 3])));
    scene
        .add(Body::new(mesh()).position([0.0, 0.0, 0.1]))
        .unwrap();
    scene
        .add(Body::new(mesh()).position([0.0, 0.0, 0.31]))
        .unwrap();
    let (q, _) = scene.start();
    let mut contacts = Contacts::new();
    let refused = scene.fill(
        &q,
        ContactSet::Within(0.02),
        Wanted::default(),
        &mut contacts,
    );
    let Err(InputError::BadSetting { entry, value, .. }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!((entry, value.to_bits()), (1, 2.0_f64.to_bits()));
    scene
        .fill(
            &q,
            ContactSet::Within(1e-3),
            Wanted::default(),
            &mut contacts,
        )
        .unwrap();
    assert_eq!(contacts.len(), 4);
}

/// A hull of a cube falls as the cube does; a ball rolls and a box slides on a mesh as on a plane.
/// A box that lies across an edge of the mesh has other points of contact: its friction has other
/// arms.
#[test]
fn scenes_with_shapes_of_parry_move_as_those_with_ours() {
    let run = |floor: Shape, z: f64, body: Body| {
        let mut scene = Scene::new();
        scene
            .add(Body::fixed(floor).position([0.0, 0.0, z]))
            .unwrap();
        scene.add(body).unwrap();
        let (q, v) = scene.start();
        let mut stepper = Compliant::new(scene).unwrap().time_step(0.005);
        let run = stepper
            .integrate(&Start::at(0.0).q(&q).v(&v), 0.8)
            .unwrap()
            .completed()
            .unwrap();
        run.state().clone()
    };
    let cube = Shape::cuboid([0.05; 3]).unwrap();
    let hull = parry(SharedShape::convex_hull(&corners([0.05; 3])).unwrap());
    let ball = Shape::sphere(0.05).unwrap();
    let mesh = || parry(SharedShape::new(box_mesh([2.0, 2.0, 0.5])));
    let fall = |shape: &Shape| Body::new(shape.clone()).position([0.0, 0.0, 0.1]);
    let slide = |shape: &Shape| {
        fall(shape)
            .position([-0.3, 0.2, 0.05])
            .velocity([1.5, -0.7, 0.0])
    };
    let cases = [
        (
            run(Shape::plane(), 0.0, fall(&hull)),
            run(Shape::plane(), 0.0, fall(&cube)),
        ),
        (
            run(mesh(), -0.5, slide(&cube)),
            run(Shape::plane(), 0.0, slide(&cube)),
        ),
        (
            run(mesh(), -0.5, slide(&hull)),
            run(Shape::plane(), 0.0, slide(&cube)),
        ),
        (
            run(mesh(), -0.5, slide(&ball)),
            run(Shape::plane(), 0.0, slide(&ball)),
        ),
    ];
    for (k, (found, expected)) in cases.iter().enumerate() {
        let tolerance = if matches!(k, 1 | 2) { 1e-4 } else { 1e-9 };
        for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
            assert!(
                (found - expected).abs() < tolerance,
                "case {k}, state {i}: {found} {expected}"
            );
        }
    }
}

#[test]
fn contacts_without_a_feature_are_not_found_again() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    let hull = parry(SharedShape::convex_hull(&corners([0.05; 3])).unwrap());
    scene
        .add(Body::new(hull).position([0.0, 0.0, 0.05]))
        .unwrap();
    assert!(scene.fixed_contacts().is_err());
    let (q, v) = scene.start();
    let mut contacts = Contacts::new();
    scene
        .fill(
            &q,
            ContactSet::Within(0.01),
            Wanted::default(),
            &mut contacts,
        )
        .unwrap();
    assert_eq!(contacts.len(), 4);
    let listed = [contacts.all_parameters()[0].contact];
    let refused = scene.fill(
        &q,
        ContactSet::Listed(&listed),
        Wanted::default(),
        &mut contacts,
    );
    assert!(matches!(refused, Err(InputError::NoSuch { .. })));
    let mut stepper = Compliant::new(scene).unwrap().time_step(0.01);
    stepper.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
    let (mut columns, efforts) = (DMatrix::identity(13, 13), DMatrix::zeros(6, 13));
    let refused = stepper.step_along(&[0.0; 6], &mut columns, &efforts);
    assert!(
        matches!(refused, Err(CompliantFailure::NoDerivative { .. })),
        "{refused:?}"
    );
}

/// A ball on a hilly height field comes to rest at the bottom of a dip.
#[test]
fn a_ball_lies_in_the_dip_of_a_height_field() {
    let n = 21;
    let at = |k: usize| 2.0 * k as f64 / (n - 1) as f64 - 1.0;
    let heights: Vec<f64> = (0..n * n)
        .map(|i| 0.5 * (at(i % n).powi(2) + at(i / n).powi(2)))
        .collect();
    let field = SharedShape::heightfield(Array2::new(n, n, heights), DVec3::new(2.0, 1.0, 2.0));
    let mut scene = Scene::new();
    // Its heights are along y.
    let half = 0.5_f64.sqrt();
    let floor = Body::fixed(parry(field))
        .friction(1.0)
        .orientation([half, half, 0.0, 0.0]);
    scene.add(floor).unwrap();
    let ball = Body::new(parry(SharedShape::ball(0.15))).friction(1.0);
    scene.add(ball.position([0.3, -0.2, 0.4])).unwrap();
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene).unwrap().time_step(0.01);
    let run = stepper
        .integrate(&Start::at(0.0).q(&q).v(&v), 3.0)
        .unwrap()
        .completed()
        .unwrap();
    let end = run.state();
    assert!(
        end[0].abs() < 0.4 && end[1].abs() < 0.4 && (end[2] - 0.15).abs() < 0.1,
        "{end:?}"
    );
}

/// Cylinders and cones of ours lie where those of parry do, and roll on a mesh.
#[test]
fn round_bodies_touch_shapes_of_parry() {
    let half = 0.5_f64.sqrt();
    let block = parry(SharedShape::cuboid(1.0, 1.0, 0.1));
    let ours = [
        (Shape::cylinder(0.2, 0.1).unwrap(), 0.2),
        (Shape::cone(0.4, 0.1).unwrap(), 0.1),
    ];
    for (shape, height) in &ours {
        for gap in [1e-3, -1e-3] {
            let at = Pose::new([0.1, 0.2, 0.1 + height + gap], [0.9, 0.0, 0.0, 0.3]).unwrap();
            let found = points((shape, &at), (&block, &Pose::identity()), 0.01);
            assert!(found.len() >= 3, "{found:?}");
            check_all(&found, 0.01);
            let lowest = super::deepest(&found).unwrap();
            assert!((lowest.gap - gap).abs() < 1e-6, "{lowest:?}");
        }
    }
    let mut scene = Scene::new();
    let slope = 0.2_f64;
    scene
        .gravity([9.81 * slope.sin(), 0.0, -9.81 * slope.cos()])
        .unwrap();
    let ground = parry(SharedShape::new(box_mesh([3.0, 3.0, 0.1])));
    let ground = Body::fixed(ground).position([0.0, 0.0, -0.1]);
    scene.add(ground.friction(0.9)).unwrap();
    let cylinder = Body::new(Shape::cylinder(0.1, 0.05).unwrap()).friction(0.9);
    let lying = cylinder.orientation([half, half, 0.0, 0.0]);
    scene.add(lying.position([0.03, 0.02, 0.05])).unwrap();
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene).unwrap().time_step(0.005);
    let run = stepper
        .integrate(&Start::at(0.0).q(&q).v(&v), 1.0)
        .unwrap()
        .completed()
        .unwrap();
    let expected = 2.0 / 3.0 * 9.81 * slope.sin();
    assert!((run.state()[10] - expected).abs() < 1e-2, "{}", run.state());
}

/// Distances and rays of a hull, a mesh and a height field, beside a box of ours and over a plane.
#[test]
fn queries_see_shapes_of_parry() {
    let up = |x: f64, z: f64| [x, 0.0, z];
    let mut scene = Scene::new();
    let half = 0.5_f64.sqrt();
    let field =
        SharedShape::heightfield(Array2::new(3, 3, vec![0.0; 9]), DVec3::new(20.0, 1.0, 20.0));
    let field = Body::fixed(parry(field)).orientation([half, half, 0.0, 0.0]);
    scene.add(field).unwrap();
    let hull = parry(SharedShape::convex_hull(&corners([0.1; 3])).unwrap());
    scene.add(Body::new(hull).position(up(0.0, 1.0))).unwrap();
    let mesh = parry(SharedShape::new(box_mesh([0.1; 3])));
    scene.add(Body::new(mesh).position(up(1.0, 1.0))).unwrap();
    let ours = Shape::cuboid([0.1; 3]).unwrap();
    scene.add(Body::new(ours).position(up(2.0, 1.0))).unwrap();
    scene
        .add(Body::fixed(Shape::plane()).position(up(0.0, -1.0)))
        .unwrap();
    let (q, _) = scene.start();
    let mut memory = QueryMemory::new();
    let query = scene.query(&q, &mut memory).unwrap();
    for (a, b, gap) in [
        (1, 3, 1.8),
        (3, 2, 0.8),
        (1, 0, 0.9),
        (1, 4, 1.9),
        (4, 1, 1.9),
    ] {
        let found = query.distance(a, b).unwrap();
        check_all(&[found], f64::INFINITY);
        assert!((found.gap - gap).abs() < 1e-6, "{a} {b} {found:?}");
    }
    let down = |x: f64| Ray::new([x, 0.01, 3.0], [0.0, 0.0, -1.0]);
    let mut hits = Vec::new();
    query
        .cast(&[0.0, 1.0, 2.0, 3.0, 30.0].map(down), &mut hits)
        .unwrap();
    for (hit, (body, distance)) in
        hits.iter()
            .zip([(1, 1.9), (2, 1.9), (3, 1.9), (0, 3.0), (4, 4.0)])
    {
        let hit = hit.unwrap();
        assert_eq!(hit.body, body, "{hit:?}");
        assert!((hit.distance - distance).abs() < 1e-9 && hit.normal.z > 1.0 - 1e-9);
    }
    let mut bodies = Vec::new();
    query.overlaps(1, &mut bodies).unwrap();
    assert!(bodies.is_empty());
    let mut q = q;
    q[2] = 0.05;
    q[0] = 1.9;
    q[16] = 0.2;
    let query = scene.query(&q, &mut memory).unwrap();
    query.overlaps(1, &mut bodies).unwrap();
    assert_eq!(bodies, [0, 3]);
}

/// The first of these triangles on a line, by the volumes of three tetrahedra.
fn first_met(triangles: &[[Vector3<f64>; 3]], origin: Vector3<f64>, along: Vector3<f64>) -> f64 {
    let met = |corners: &[Vector3<f64>; 3]| {
        let from = corners.map(|corner| corner - origin);
        let volume = |i: usize, j: usize| along.dot(&from[i].cross(&from[j]));
        let parts = [volume(1, 2), volume(2, 0), volume(0, 1)];
        let sum: f64 = parts.iter().sum();
        let is_inside = sum != 0.0 && parts.iter().all(|part| part * sum >= 0.0);
        let weighted = from.iter().zip(parts).map(|(x, part)| x * (part / sum));
        let at = weighted.sum::<Vector3<f64>>().dot(&along);
        if is_inside && at >= 0.0 {
            at
        } else {
            f64::INFINITY
        }
    };
    triangles.iter().map(met).fold(f64::INFINITY, f64::min)
}

/// Rays from all sides meet a height field of any extents where they meet the first of its triangles.
#[test]
fn no_ray_passes_through_a_height_field() {
    let mut draw = SplitMix64(3);
    for case in 0..40 {
        let [rows, columns] = [3 + case % 9, 3 + case / 4 % 9];
        let mut between = |least, most| draw.between(least, most);
        let heights = (0..rows * columns).map(|_| between(-0.1, 0.1)).collect();
        let extents = DVec3::new(between(0.5, 3.0), 1.0, between(0.5, 3.0));
        let field = SharedShape::heightfield(Array2::new(rows, columns, heights), extents);
        let of = |corner: DVec3| Vector3::from(corner.to_array());
        let triangles = field.as_heightfield().unwrap().triangles();
        let triangles: Vec<_> = triangles.map(|t| [of(t.a), of(t.b), of(t.c)]).collect();
        let turn = UnitQuaternion::from_euler_angles(between(-3.0, 3.0), between(-1.0, 1.0), 0.4);
        let place = Vector3::new(0.3, -0.2, 0.5);
        let mut scene = Scene::new();
        let [x, y, z, w] = turn.coords.into();
        let ground = Body::fixed(parry(field)).orientation([w, x, y, z]);
        scene.add(ground.position(place.into())).unwrap();
        let (q, _) = scene.start();
        let mut memory = QueryMemory::new();
        let (mut rays, mut expected) = (Vec::new(), Vec::new());
        for _ in 0..50 {
            let mut within = |part: f64, height: f64| {
                let half = [0.5 * extents.x * part, height, 0.5 * extents.z * part];
                Vector3::from(half.map(|most| between(-most, most)))
            };
            let (origin, towards) = (within(4.0, 0.3), within(0.9, 0.0));
            let along = (towards - origin).normalize();
            let [from, to] = [turn * origin + place, turn * along];
            rays.push(Ray::new(from.into(), to.into()));
            expected.push(first_met(&triangles, origin, along));
        }
        let mut hits = Vec::new();
        scene
            .query(&q, &mut memory)
            .unwrap()
            .cast(&rays, &mut hits)
            .unwrap();
        for (hit, expected) in hits.iter().zip(expected) {
            let distance = hit.as_ref().map_or(f64::INFINITY, |hit| hit.distance);
            assert!(
                distance.total_cmp(&expected).is_eq() || (distance - expected).abs() < 1e-9,
                "{hit:?} {expected}"
            );
        }
    }
}
