//! Volumes, moments and axes of shapes of parry; what is refused.

use saltation::InputError;
use saltation::bodies::parry::glamx::{DVec3, I64Vec3};
use saltation::bodies::parry::math::Pose as ParryPose;
use saltation::bodies::parry::shape::{HalfSpace, SharedShape, TriMesh};
use saltation::bodies::parry::utils::Array2;
use saltation::bodies::{Body, Pose, Scene, Shape};
use saltation::nalgebra::{Matrix3, Vector3};

use super::{box_mesh, corners, parry};

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
    for size in [1.0, 0.1, 0.01] {
        let parts = [
            ([0.0, 0.0, 0.0], [0.4, 0.1, 0.1]),
            ([0.3, 0.3, 0.0], [0.1, 0.2, 0.1]),
        ];
        let parts = parts.map(|(at, half)| (at.map(|x| size * x), half.map(|x| size * x)));
        let part = |(at, half): ([f64; 3], [f64; 3])| {
            (
                ParryPose::translation(at[0], at[1], at[2]),
                SharedShape::cuboid(half[0], half[1], half[2]),
            )
        };
        let shape = parry(SharedShape::compound(parts.map(part).to_vec()));
        let boxes = parts.map(|(at, half)| (Vector3::from(at), Shape::cuboid(half).unwrap()));
        let volume: f64 = boxes.iter().map(|(_, part)| part.volume()).sum();
        let moment = |(at, part): &(Vector3<f64>, Shape)| at * part.volume();
        let centre: Vector3<f64> = boxes.iter().map(moment).sum::<Vector3<f64>>() / volume;
        let mut inertia = Matrix3::zeros();
        for (at, part) in &boxes {
            let arm = at - centre;
            inertia += Matrix3::from_diagonal(&part.inertia().into());
            let outer = arm * arm.transpose();
            inertia += (Matrix3::from_diagonal_element(arm.norm_squared()) - outer) * part.volume();
        }
        assert!((shape.volume() / volume - 1.0).abs() < 1e-13);
        assert!(shape.frame().to_world(centre).norm() < 1e-14);
        let axes = shape.frame().inverse().rotation();
        assert!((axes.determinant() - 1.0).abs() < 1e-12);
        let found = axes * Matrix3::from_diagonal(&shape.inertia().into()) * axes.transpose();
        assert!(
            (found - inertia).amax() < 1e-12 * inertia.amax(),
            "{found} {inertia}"
        );
    }
}

#[test]
fn what_is_no_body_is_refused() {
    let refused = [
        SharedShape::new(HalfSpace::new(DVec3::Z)),
        SharedShape::segment(DVec3::X, DVec3::Y),
        SharedShape::voxels(DVec3::splat(0.1), &[I64Vec3::ZERO]),
        SharedShape::ball(f64::NAN),
        SharedShape::cuboid(0.1, 0.0, 0.1),
        SharedShape::cuboid(0.1, f64::INFINITY, 0.1),
        SharedShape::compound(vec![(
            ParryPose::translation(f64::NAN, 0.0, 0.0),
            SharedShape::ball(0.1),
        )]),
    ];
    for shape in refused {
        let kind = shape.shape_type();
        assert!(Shape::parry(shape).is_err(), "{kind:?}");
    }
    let mut corners = corners([0.1; 3]);
    corners[3].y = f64::NAN;
    let mesh = TriMesh::new(corners, vec![[0, 1, 2], [1, 2, 3]]).unwrap();
    let refused = Shape::parry(SharedShape::new(mesh));
    assert!(matches!(refused, Err(InputError::NotFinite { .. })));
    let heights = Array2::new(2, 2, vec![0.0, 0.0, f64::NAN, 0.0]);
    let refused = Shape::parry(SharedShape::heightfield(heights, DVec3::ONE));
    assert!(matches!(refused, Err(InputError::NotFinite { .. })));
}

/// A floor of two triangles, a box that looks inwards, a rounded box: fixed, or of a given mass.
#[test]
fn shapes_without_a_volume_need_a_mass() {
    let floor = [
        [-1.0, -1.0, 1.0],
        [1.0, -1.0, 1.0],
        [1.0, 1.0, 1.0],
        [-1.0, 1.0, 1.0],
    ];
    let floor = floor.map(DVec3::from_array).to_vec();
    let floor = TriMesh::new(floor, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    let outwards = box_mesh([0.1; 3]);
    let turned = |[a, b, c]: &[u32; 3]| [*b, *a, *c];
    let inwards = outwards.indices().iter().map(turned).collect();
    let inwards = TriMesh::new(outwards.vertices().to_vec(), inwards).unwrap();
    let mut one_turned = outwards.indices().to_vec();
    one_turned[0] = turned(&one_turned[0]);
    let one_turned = TriMesh::new(outwards.vertices().to_vec(), one_turned).unwrap();
    let twice = [outwards.indices(), outwards.indices()].concat();
    let twice = TriMesh::new(outwards.vertices().to_vec(), twice).unwrap();
    let shapes = [
        SharedShape::new(floor),
        SharedShape::new(twice),
        SharedShape::new(inwards),
        SharedShape::new(one_turned),
        SharedShape::round_cuboid(0.1, 0.1, 0.1, 0.05),
    ];
    for shape in shapes.map(parry) {
        assert_eq!((shape.frame(), shape.volume()), (Pose::identity(), 0.0));
        let mut scene = Scene::new();
        let refused = scene.add(Body::new(shape.clone()));
        assert!(
            matches!(refused, Err(InputError::BadSetting { name: "volume", .. })),
            "{refused:?}"
        );
        scene
            .add(Body::new(shape.clone()).mass(1.0, [1.0; 3]))
            .unwrap();
        scene.add(Body::fixed(shape)).unwrap();
    }
}

/// Moments of inertia are right at all sizes.
#[test]
fn small_and_large_shapes_have_their_moments() {
    for size in [1e-3, 0.05, 0.3, 20.0] {
        let part = |x: f64, half: [f64; 3]| {
            let half = half.map(|h| h * size);
            let part = SharedShape::cuboid(half[0], half[1], half[2]);
            (ParryPose::translation(x * size, 0.0, 0.0), part)
        };
        // As one box of half lengths 1.5, 0.5, 0.2.
        let two = vec![part(-0.5, [1.0, 0.5, 0.2]), part(1.0, [0.5, 0.5, 0.2])];
        let whole = Shape::cuboid([1.5 * size, 0.5 * size, 0.2 * size]).unwrap();
        let shape = parry(SharedShape::compound(two));
        for (found, expected) in shape.inertia().iter().zip(whole.inertia()) {
            assert!((found / expected - 1.0).abs() < 1e-12, "{size}");
        }
        let hull = corners([1.5 * size, 0.5 * size, 0.2 * size]);
        let turned: Vec<DVec3> = hull
            .iter()
            .map(|p| DVec3::new(0.6 * p.x - 0.8 * p.z, p.y, 0.8 * p.x + 0.6 * p.z))
            .collect();
        let mut found = parry(SharedShape::convex_hull(&turned).unwrap()).inertia();
        let mut expected = whole.inertia();
        found.sort_by(f64::total_cmp);
        expected.sort_by(f64::total_cmp);
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found / expected - 1.0).abs() < 1e-9,
                "{size} {found} {expected}"
            );
        }
    }
}
