//! Shapes of parry in scenes: their contact points against ours, their masses, their motion.

use saltation::InputError;
use saltation::bodies::parry::glamx::DVec3;
use saltation::bodies::parry::math::Pose as ParryPose;
use saltation::bodies::parry::shape::{HalfSpace, SharedShape, TriMesh, TriMeshFlags};
use saltation::bodies::{Body, Manifold, ManifoldPoint, Pose, Scene, Shape, contact_points};
use saltation::compliant::{Failure, TimeStepper};
use saltation::mechanics::{ContactSet, ContactSource, Contacts, Wanted};
use saltation::nalgebra::{DMatrix, Matrix3, Vector3};

use crate::random::SplitMix64;

fn parry(shape: SharedShape) -> Shape {
    Shape::parry(shape).unwrap()
}

/// The eight corners of a box.
fn corners(half: [f64; 3]) -> Vec<DVec3> {
    let sign = |bits: usize, k: usize| if bits >> k & 1 == 0 { -1.0 } else { 1.0 };
    let corner = |bits: usize| [0, 1, 2].map(|k| sign(bits, k) * half[k]);
    (0..8).map(|bits| DVec3::from_array(corner(bits))).collect()
}

/// The surface of a box, two triangles a face, outwards.
fn box_mesh(half: [f64; 3]) -> TriMesh {
    let triangles = [
        [0, 2, 1],
        [1, 2, 3],
        [4, 5, 6],
        [5, 7, 6],
        [0, 1, 4],
        [1, 5, 4],
        [2, 6, 3],
        [3, 6, 7],
        [0, 4, 2],
        [2, 4, 6],
        [1, 3, 5],
        [3, 7, 5],
    ];
    let flags = TriMeshFlags::ORIENTED | TriMeshFlags::FIX_INTERNAL_EDGES;
    TriMesh::with_flags(corners(half), triangles.to_vec(), flags).unwrap()
}

fn pose(draw: &mut SplitMix64, near: f64) -> Pose {
    let mut number = |by: f64| draw.between(-by, by);
    let at = [number(near), number(near), number(near)];
    Pose::new(at, [number(1.0), number(1.0), number(1.0), number(1.0)]).unwrap()
}

fn points(a: (&Shape, &Pose), b: (&Shape, &Pose), margin: f64) -> Vec<ManifoldPoint> {
    let mut manifold = Manifold::new();
    contact_points(a, b, margin, &mut manifold).unwrap();
    manifold.points().to_vec()
}

fn deepest(points: &[ManifoldPoint]) -> Option<ManifoldPoint> {
    points
        .iter()
        .copied()
        .min_by(|p, q| p.gap.total_cmp(&q.gap))
}

/// What the contract of a point says.
fn check(point: &ManifoldPoint, margin: f64) {
    assert!((point.normal.norm() - 1.0).abs() < 1e-9 && point.gap <= margin);
    let gap = point.normal.dot(&(point.on_a - point.on_b));
    assert!((gap - point.gap).abs() < 1e-9, "{gap} {point:?}");
}

fn check_all(points: &[ManifoldPoint], margin: f64) {
    for point in points {
        check(point, margin);
    }
}

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
    ];
    let mut met = [0; 12];
    for _ in 0..1000 {
        let at = [pose(&mut draw, 0.5), pose(&mut draw, 0.5)];
        for (i, own) in theirs.iter().enumerate() {
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
                met[4 * i + j] += 1;
                let tolerance = match (i, j) {
                    (1, 1) => 1e-3,
                    (1, 2) | (2, 1) => 2e-5,
                    _ => 1e-12,
                };
                let by = (found.gap - expected.gap).abs();
                assert!(by < tolerance, "{i} {j}: {found:?} {expected:?}");
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
    // A square on an equal square, turned: eight corners, of which four remain.
    let square = parry(SharedShape::cuboid(0.2, 0.2, 0.2));
    let found = points((&square, &at(0.4, 0.785)), (&square, &at(0.0, 0.0)), 0.01);
    assert_eq!(found.len(), 4);
}

#[test]
fn a_body_has_its_centre_of_mass_and_its_principal_axes() {
    let half = [0.3, 0.2, 0.1];
    let expected = Shape::cuboid(half).unwrap();
    let moved = |turn: f64| {
        let (sin, cos) = turn.sin_cos();
        let place = |p: DVec3| {
            DVec3::new(
                cos * p.x - sin * p.y + 1.0,
                sin * p.x + cos * p.y,
                p.z - 2.0,
            )
        };
        let points: Vec<DVec3> = corners(half).into_iter().map(place).collect();
        let mesh = box_mesh(half);
        let vertices = mesh.vertices().iter().map(|&p| place(p)).collect();
        let mesh = TriMesh::new(vertices, mesh.indices().to_vec()).unwrap();
        let hull = SharedShape::convex_hull(&points).unwrap();
        let part = (
            ParryPose::translation(1.0, 0.0, -2.0),
            SharedShape::cuboid(half[0], half[1], half[2]),
        );
        let mut shapes = vec![parry(hull), parry(SharedShape::new(mesh))];
        if turn == 0.0 {
            shapes.push(parry(SharedShape::compound(vec![part])));
        }
        shapes
    };
    for turn in [0.0, 0.4, 2.0] {
        for shape in moved(turn) {
            assert!((shape.volume() - expected.volume()).abs() < 1e-12);
            // Where the own axes are: the centre of the box is at the origin of the body.
            let centre = shape.frame().to_world(Vector3::new(1.0, 0.0, -2.0));
            assert!(centre.norm() < 1e-12, "{centre}");
            let radius = expected.bounding_radius();
            assert!(
                shape.bounding_radius() >= radius - 1e-12 && shape.bounding_radius() < 1.5 * radius
            );
            let axes = shape.frame().inverse().rotation();
            let own = axes * Matrix3::from_diagonal(&shape.inertia().into()) * axes.transpose();
            let box_axes = Pose::new([0.0; 3], [(0.5 * turn).cos(), 0.0, 0.0, (0.5 * turn).sin()])
                .unwrap()
                .rotation();
            let theirs = box_axes
                * Matrix3::from_diagonal(&expected.inertia().into())
                * box_axes.transpose();
            assert!((own - theirs).amax() < 1e-12);
            if turn == 0.0 {
                assert_eq!(shape.frame().rotation(), Matrix3::identity());
            }
            // Placed by its own axes, the box is where it was given.
            let frame = Pose::new([0.1, 0.2, 0.3], [1.0, 0.2, -0.3, 0.4]).unwrap();
            let mut scene = Scene::new();
            let body = scene.add(Body::new(shape.clone()).placed(&frame)).unwrap();
            let (q, _) = scene.start();
            let there = scene.position(body, &q).unwrap();
            assert!((there - frame.to_world(Vector3::new(1.0, 0.0, -2.0))).norm() < 1e-12);
            let again = shape.frame().moved_by(&scene.pose(body, &q).unwrap());
            assert!((again.rotation() - frame.rotation()).amax() < 1e-12);
            assert!((scene.mass_of(body).unwrap() - 1000.0 * expected.volume()).abs() < 1e-9);
        }
    }
}

/// Two boxes that make an L: its centre and moments by the theorem of parallel axes.
#[test]
fn a_compound_has_the_moments_of_its_parts() {
    let parts = [
        ([0.0, 0.0, 0.0], [0.4, 0.1, 0.1]),
        ([0.3, 0.3, 0.0], [0.1, 0.2, 0.1]),
    ];
    let part = |(at, half): ([f64; 3], [f64; 3])| {
        (
            ParryPose::translation(at[0], at[1], at[2]),
            SharedShape::cuboid(half[0], half[1], half[2]),
        )
    };
    let shape = parry(SharedShape::compound(parts.map(part).to_vec()));
    let boxes = parts.map(|(at, half)| (Vector3::from(at), Shape::cuboid(half).unwrap()));
    let volume: f64 = boxes.iter().map(|(_, part)| part.volume()).sum();
    let centre: Vector3<f64> = boxes
        .iter()
        .map(|(at, part)| at * part.volume())
        .sum::<Vector3<f64>>()
        / volume;
    let mut inertia = Matrix3::zeros();
    for (at, part) in &boxes {
        let arm = at - centre;
        inertia += Matrix3::from_diagonal(&part.inertia().into());
        inertia += (Matrix3::from_diagonal_element(arm.norm_squared()) - arm * arm.transpose())
            * part.volume();
    }
    assert!((shape.volume() - volume).abs() < 1e-14);
    assert!(shape.frame().to_world(centre).norm() < 1e-14);
    let axes = shape.frame().inverse().rotation();
    assert!((axes.determinant() - 1.0).abs() < 1e-12);
    let found = axes * Matrix3::from_diagonal(&shape.inertia().into()) * axes.transpose();
    assert!((found - inertia).amax() < 1e-14, "{found} {inertia}");
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

#[test]
fn what_is_no_body_is_refused() {
    assert!(Shape::parry(SharedShape::new(HalfSpace::new(DVec3::Z))).is_err());
    assert!(Shape::parry(SharedShape::ball(f64::NAN)).is_err());
    // A floor of two triangles has no volume: it is fixed, or has a mass.
    let floor = TriMesh::new(
        [
            [-1.0, -1.0, 1.0],
            [1.0, -1.0, 1.0],
            [1.0, 1.0, 1.0],
            [-1.0, 1.0, 1.0],
        ]
        .map(DVec3::from_array)
        .to_vec(),
        vec![[0, 1, 2], [0, 2, 3]],
    );
    let floor = parry(SharedShape::new(floor.unwrap()));
    assert_eq!(floor.frame(), Pose::identity());
    let mut scene = Scene::new();
    let refused = scene.add(Body::new(floor.clone()));
    assert!(
        matches!(refused, Err(InputError::BadSetting { name: "mass", .. })),
        "{refused:?}"
    );
    scene
        .add(Body::new(floor.clone()).mass(1.0, [1.0; 3]))
        .unwrap();
    scene.add(Body::fixed(floor)).unwrap();
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
        let mut stepper = TimeStepper::new(scene).unwrap().time_step(0.005);
        let run = stepper
            .integrate(0.0, &q, &v, 0.8)
            .unwrap()
            .completed()
            .unwrap();
        run.state().to_vec()
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
        for a in &shapes {
            for b in &shapes {
                let found = points((a, &at[0]), (b, &at[1]), 0.02);
                let _ = points((a, &at[1]), (b, &at[0]), 0.02);
                assert_eq!(found, points((a, &at[0]), (b, &at[1]), 0.02));
                check_all(&found, 0.02);
            }
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
    let mut stepper = TimeStepper::new(scene).unwrap().time_step(0.01);
    stepper.start(0.0, &q, &v).unwrap();
    let (mut columns, efforts) = (DMatrix::identity(13, 13), DMatrix::zeros(6, 13));
    let refused = stepper.step_along(&[0.0; 6], &mut columns, &efforts);
    assert!(
        matches!(refused, Err(Failure::NoDerivative { .. })),
        "{refused:?}"
    );
}

/// A ball on a hilly height field comes to rest at the bottom of a dip.
#[test]
fn a_ball_lies_in_the_dip_of_a_height_field() {
    use saltation::bodies::parry::utils::Array2;
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
    let mut stepper = TimeStepper::new(scene).unwrap().time_step(0.01);
    let run = stepper
        .integrate(0.0, &q, &v, 3.0)
        .unwrap()
        .completed()
        .unwrap();
    let end = run.state();
    assert!(
        end[0].abs() < 0.4 && end[1].abs() < 0.4 && (end[2] - 0.15).abs() < 0.1,
        "{end:?}"
    );
}
