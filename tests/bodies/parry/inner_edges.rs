//! Edges between the triangles of height fields and meshes: bodies do not trip on them, and real
//! edges hold.

use saltation::bodies::parry::glamx::DVec3;
use saltation::bodies::parry::shape::{SharedShape, TriMesh, TriMeshFlags};
use saltation::bodies::parry::utils::Array2;
use saltation::bodies::{Body, Pose, Scene, Shape};
use saltation::nalgebra::{DVector, UnitQuaternion, Vector3};
use saltation::{Compliant, Start};

use super::{box_mesh, check_all, corners, deepest, parry, points};
use crate::random::SplitMix64;

/// A height field `2 half` wide with `cells` cells a side, and its pose with heights along z.
pub(crate) fn field(half: f64, cells: usize, height: impl Fn(f64, f64) -> f64) -> (Shape, Pose) {
    let at = |k: usize| half * (2.0 * k as f64 / cells as f64 - 1.0);
    // Row i lies at z, column j at x of the field; a quarter turn takes its z to −y.
    let n = cells + 1;
    let heights = (0..n * n).map(|k| height(at(k / n), -at(k % n))).collect();
    let scale = DVec3::new(2.0 * half, 1.0, 2.0 * half);
    let shape = SharedShape::heightfield(Array2::new(n, n, heights), scale);
    let half = 0.5_f64.sqrt();
    let pose = Pose::new([0.0; 3], [half, half, 0.0, 0.0]).unwrap();
    (parry(shape), pose)
}

/// The same surface as a mesh, without flags; each triangle has vertices of its own if it is a
/// `soup`.
fn mesh(half: f64, cells: usize, soup: bool, height: impl Fn(f64, f64) -> f64) -> Shape {
    let at = |k: usize| half * (2.0 * k as f64 / cells as f64 - 1.0);
    let n = cells + 1;
    let place = |k: usize| DVec3::new(at(k % n), at(k / n), height(at(k % n), at(k / n)));
    let vertices: Vec<DVec3> = (0..n * n).map(place).collect();
    let corner = |i: usize, j: usize| u32::try_from(j * n + i).unwrap();
    let cell = |k: usize| {
        let (i, j) = (k % cells, k / cells);
        let [a, b, c, d] = [(0, 0), (1, 0), (1, 1), (0, 1)].map(|(x, y)| corner(i + x, j + y));
        [[a, b, c], [a, c, d]]
    };
    let triangles: Vec<[u32; 3]> = (0..cells * cells).flat_map(cell).collect();
    let mesh = if soup {
        let all = triangles.iter().flatten().map(|&k| vertices[k as usize]);
        let triples = (0u32..)
            .step_by(3)
            .take(triangles.len())
            .map(|k| [k, k + 1, k + 2]);
        TriMesh::new(all.collect(), triples.collect())
    } else {
        TriMesh::new(vertices, triangles)
    };
    parry(SharedShape::new(mesh.unwrap()))
}

/// The state after one second on a ground that falls by 0.2 rad along x, and the greatest speed
/// along y.
fn roll(ground: (Shape, Pose), body: Body) -> (DVector<f64>, f64) {
    let mut scene = Scene::new();
    let (sin, cos) = 0.2_f64.sin_cos();
    scene.gravity([9.81 * sin, 0.0, -9.81 * cos]).unwrap();
    let ground = Body::fixed(ground.0).placed(&ground.1);
    scene.add(ground.friction(0.8)).unwrap();
    scene.add(body.friction(0.8)).unwrap();
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene).unwrap().time_step(0.005);
    let start = Start::at(0.0).q(&q).v(&v);
    let run = stepper.integrate(&start, 1.0).unwrap().completed().unwrap();
    let sideways = (0..run.times().len()).map(|k| run.v(k)[4].abs());
    (run.state().clone(), sideways.fold(0.0, f64::max))
}

fn grounds() -> [(&'static str, (Shape, Pose)); 3] {
    let flat = |_, _| 0.0;
    [
        ("height field", field(4.0, 40, flat)),
        ("mesh", (mesh(4.0, 40, false, flat), Pose::identity())),
        ("soup", (mesh(4.0, 40, true, flat), Pose::identity())),
    ]
}

/// A ball rolls on flat triangles as on a plane: 5/7 g sin 0.2 after one second, straight.
#[test]
fn a_ball_does_not_trip_on_the_edges_of_a_flat_surface() {
    for (name, ground) in grounds() {
        for x in [0.03, 0.1] {
            let ball = Body::new(Shape::sphere(0.05).unwrap()).position([x, 0.021, 0.05]);
            let (plane, _) = roll((Shape::plane(), Pose::identity()), ball.clone());
            let (end, sideways) = roll(ground.clone(), ball);
            // The slip in stiction is 3e-5 m/s here.
            let expected = 5.0 / 7.0 * 9.81 * 0.2_f64.sin();
            assert!((end[10] - expected).abs() < 1e-4, "{name} {}", end[10]);
            assert!(sideways < 1e-9, "{name} {sideways}");
            assert!((end - plane).amax() < 1e-9, "{name}");
        }
    }
}

/// A capsule that rolls on its side, at an angle to the edges, and one along them.
#[test]
fn a_capsule_does_not_trip_on_the_edges_of_a_flat_surface() {
    for (name, ground) in grounds() {
        for turn in [0.0, 0.1_f64] {
            let capsule = Body::new(Shape::capsule(0.12, 0.05).unwrap());
            // The axis along y, then turned about z.
            let (sin, cos) = (0.5 * turn).sin_cos();
            let h = 0.5_f64.sqrt();
            let orientation = [h * cos, -h * cos, -h * sin, h * sin];
            let capsule = capsule
                .position([0.03, 0.021, 0.05])
                .orientation(orientation);
            let (plane, _) = roll((Shape::plane(), Pose::identity()), capsule.clone());
            let (end, _) = roll(ground.clone(), capsule);
            assert!(
                (&end - &plane).amax() < 1e-8,
                "{name} {turn}: {end:?} {plane:?}"
            );
        }
    }
}

/// A box that slides over the edges.
#[test]
fn a_box_does_not_trip_on_the_edges_of_a_flat_surface() {
    for (name, ground) in grounds() {
        for turn in [0.0, 0.3_f64] {
            let (sin, cos) = (0.5 * turn).sin_cos();
            let slide = Body::new(Shape::cuboid([0.07, 0.05, 0.04]).unwrap())
                .position([0.03, 0.021, 0.04])
                .orientation([cos, 0.0, 0.0, sin])
                .velocity([3.0, 1.0, 0.0]);
            let (plane, _) = roll((Shape::plane(), Pose::identity()), slide.clone());
            let (end, _) = roll(ground.clone(), slide);
            // parry finds points to 1e-7 m or so.
            assert!(
                (&end - &plane).amax() < 1e-4,
                "{name} {turn}: {end:?} {plane:?}"
            );
        }
    }
}

const WAVE: f64 = 4.0;

fn bumpy(x: f64, y: f64) -> f64 {
    0.05 * (WAVE * x).sin() * (WAVE * y).sin()
}

/// A point of the bumpy surface, and its normal.
fn on_bumps(x: f64, y: f64) -> (Vector3<f64>, Vector3<f64>) {
    let slope = |x: f64, y: f64| 0.05 * WAVE * (WAVE * x).cos() * (WAVE * y).sin();
    let normal = Vector3::new(-slope(x, y), -slope(y, x), 1.0);
    (Vector3::new(x, y, bumpy(x, y)), normal.normalize())
}

/// Cells of 0.01 m on a surface of curvature 0.8 / m lie up to 2e-5 m below or above it, and their
/// normals are up to 0.012 rad off.
#[test]
fn on_a_smooth_surface_the_point_is_that_of_the_surface() {
    let mut draw = SplitMix64(11);
    let surfaces = [
        field(1.0, 200, bumpy),
        (mesh(1.0, 200, false, bumpy), Pose::identity()),
    ];
    let ball = Shape::sphere(0.1).unwrap();
    for _ in 0..200 {
        let mut number = |by: f64| draw.between(-by, by);
        let (point, normal) = on_bumps(number(0.8), number(0.8));
        let gap = number(0.01);
        let at = Pose::new((point + normal * (0.1 + gap)).into(), [1.0, 0.0, 0.0, 0.0]).unwrap();
        for (surface, pose) in &surfaces {
            let found = points((&ball, &at), (surface, pose), 0.02);
            check_all(&found, 0.02);
            let closest = deepest(&found).unwrap();
            assert!((closest.gap - gap).abs() < 3e-5, "{gap} {closest:?}");
            for point in &found {
                assert!((point.normal - normal).norm() < 0.03, "{normal} {found:?}");
            }
        }
    }
}

/// The deepest point of a capsule is that of the deepest ball on its core.
#[test]
fn a_capsule_on_bumps_is_as_deep_as_the_balls_on_its_core() {
    let mut draw = SplitMix64(12);
    let rough = |x: f64, y: f64| 0.1 * ((9.0 * x).sin() + (7.0 * y + x).cos());
    let surfaces = [
        field(1.0, 20, rough),
        (mesh(1.0, 20, false, rough), Pose::identity()),
    ];
    let (capsule, ball) = (
        Shape::capsule(0.15, 0.06).unwrap(),
        Shape::sphere(0.06).unwrap(),
    );
    let mut met = 0;
    let poses = if cfg!(debug_assertions) { 30 } else { 150 };
    for _ in 0..poses {
        let mut number = |by: f64| draw.between(-by, by);
        let (x, y, up) = (number(0.8), number(0.8), number(0.1));
        let turn = [number(1.0), number(1.0), number(1.0), number(1.0)];
        let at = Pose::new([x, y, rough(x, y) + 0.2 + up], turn).unwrap();
        for (surface, pose) in &surfaces {
            let found = points((&capsule, &at), (surface, pose), 0.05);
            check_all(&found, 0.05);
            let Some(closest) = deepest(&found) else {
                continue;
            };
            // Without a side the core may lie beyond the surface.
            if closest.gap < -0.05 {
                continue;
            }
            met += 1;
            let on_core = (0..=600).map(|k| {
                let along = 0.15 * (f64::from(k) / 300.0 - 1.0);
                let there = at.to_world(Vector3::new(0.0, 0.0, along));
                let there = Pose::new(there.into(), [1.0, 0.0, 0.0, 0.0]).unwrap();
                deepest(&points((&ball, &there), (surface, pose), 0.06)).map_or(1.0, |p| p.gap)
            });
            let expected = on_core.fold(f64::INFINITY, f64::min);
            // Balls lie 5e-4 m apart: half of that, squared, over twice the distance of the core.
            let by = closest.gap - expected;
            assert!((-4e-5..1e-9).contains(&by), "{closest:?} {expected}");
        }
    }
    assert!(3 * met > poses, "{met}");
}

/// On the ridge of a roof a ball has one point with the normal of the ridge, a box lies across it; a
/// ball beside the border of a floor touches the border.
#[test]
fn ridges_and_borders_hold() {
    let roof = |_: f64, y: f64| -0.5 * y.abs();
    let surfaces = [
        field(1.0, 20, roof),
        (mesh(1.0, 20, false, roof), Pose::identity()),
    ];
    let unturned = [1.0, 0.0, 0.0, 0.0];
    let ball = Shape::sphere(0.1).unwrap();
    let capsule = Shape::capsule(0.3, 0.1).unwrap();
    for (surface, pose) in &surfaces {
        for tilt in [-0.3_f64, 0.0, 0.2] {
            let (sin, cos) = tilt.sin_cos();
            let place = |gap: f64| [0.03, (0.1 + gap) * sin, (0.1 + gap) * cos];
            for gap in [1e-2, 0.0, -1e-2] {
                let at = Pose::new(place(gap), unturned).unwrap();
                let found = points((&ball, &at), (surface, pose), 0.02);
                assert_eq!(found.len(), 1, "{found:?}");
                assert!((found[0].gap - gap).abs() < 1e-12);
                assert!((found[0].normal - Vector3::new(0.0, sin, cos)).norm() < 1e-12);
                // A capsule along the ridge has both its ends, one across it the middle.
                let h = 0.5_f64.sqrt();
                let along = Pose::new(place(gap), [h, 0.0, h, 0.0]).unwrap();
                let found = points((&capsule, &along), (surface, pose), 0.02);
                assert!(found.len() >= 2);
                for point in &found {
                    assert!((point.gap - gap).abs() < 1e-12, "{found:?}");
                    assert!((point.normal - Vector3::new(0.0, sin, cos)).norm() < 1e-12);
                }
                let across = Pose::new(place(gap), [h, h, 0.0, 0.0]).unwrap();
                let found = points((&capsule, &across), (surface, pose), 0.02);
                let expected = (0.1 + gap) * cos - 0.1;
                let closest = deepest(&found);
                if expected < 0.02 {
                    let closest = closest.unwrap();
                    assert!((closest.gap - expected).abs() < 1e-12, "{found:?}");
                    assert!((closest.normal - Vector3::z()).norm() < 1e-12);
                }
            }
        }
        let lying = Pose::new([0.03, 0.0, 0.099], unturned).unwrap();
        let cube = Shape::cuboid([0.17, 0.15, 0.1]).unwrap();
        let found = points((&cube, &lying), (surface, pose), 0.01);
        assert!(!found.is_empty());
        // The ways out along the ridge's normal and along those of both sides, 1e-3 m deep over the
        // cosine of their slope.
        for point in &found {
            assert!((point.gap + 1.06e-3).abs() < 0.07e-3, "{found:?}");
            assert!(point.on_b.y.abs() < 1e-3 && point.normal.x.abs() < 1e-6);
        }
    }
    for (surface, pose) in grounds().map(|(_, ground)| ground) {
        for angle in [0.0_f64, 0.7, 1.4, 1.7] {
            let (sin, cos) = angle.sin_cos();
            let at = Pose::new([4.0 + 0.101 * sin, 0.03, 0.101 * cos], unturned).unwrap();
            let found = points((&ball, &at), (&surface, &pose), 0.01);
            assert_eq!(found.len(), 1, "{angle} {found:?}");
            assert!((found[0].gap - 1e-3).abs() < 1e-12);
            assert!((found[0].normal - Vector3::new(sin, 0.0, cos)).norm() < 1e-11);
        }
    }
}

/// A height field and a mesh with `FIX_INTERNAL_EDGES` have one side: a ball whose centre is behind
/// is pushed back through it.
#[test]
fn a_ball_that_has_sunk_in_is_pushed_back() {
    let flags = TriMeshFlags::FIX_INTERNAL_EDGES;
    let block = box_mesh([1.0, 1.0, 0.2]);
    let block = TriMesh::with_flags(block.vertices().to_vec(), block.indices().to_vec(), flags);
    let low = Pose::new([0.0, 0.0, -0.2], [1.0, 0.0, 0.0, 0.0]).unwrap();
    let surfaces = [
        field(1.0, 20, |_, _| 0.0),
        (parry(SharedShape::new(block.unwrap())), low),
    ];
    let ball = Shape::sphere(0.1).unwrap();
    let capsule = Shape::capsule(0.2, 0.1).unwrap();
    for (surface, pose) in &surfaces {
        for x in [0.0, 0.03, 0.1] {
            for depth in [0.01, 0.05, 0.09] {
                let at = Pose::new([x, 0.021, -depth], [1.0, 0.0, 0.0, 0.0]).unwrap();
                let found = points((&ball, &at), (surface, pose), 0.02);
                assert_eq!(found.len(), 1, "{found:?}");
                check_all(&found, 0.02);
                assert!((found[0].normal - Vector3::z()).norm() < 1e-12, "{found:?}");
                assert!((found[0].gap + 0.1 + depth).abs() < 1e-12);
                let at = Pose::new([x, 0.021, 0.2 - depth], [1.0, 0.0, 0.0, 0.0]).unwrap();
                let found = points((&capsule, &at), (surface, pose), 0.02);
                assert_eq!(found.len(), 1, "{found:?}");
                assert!((found[0].normal - Vector3::z()).norm() < 1e-12, "{found:?}");
                assert!((found[0].gap + 0.1 + depth).abs() < 1e-12);
            }
        }
    }
}

/// A ball that rolls over bumps: cells half as wide are four times nearer to the smooth surface, and
/// so are the paths.
#[test]
fn a_ball_rolls_over_bumps_as_on_finer_ones() {
    let end = |cells: usize| {
        let ball = Body::new(Shape::sphere(0.1).unwrap());
        let (point, normal) = on_bumps(-0.7, 0.3);
        let ball = ball.position((point + normal * 0.1).into());
        roll(field(1.0, cells, bumpy), ball).0
    };
    let finest = end(160);
    let by = [20, 40, 80].map(|cells| (end(cells) - &finest).rows(0, 3).norm());
    assert!(by[1] < by[0] / 3.0 && by[2] < by[1] / 3.0, "{by:?}");
    assert!(by[2] < 3e-3, "{by:?}");
}

/// A box as a hull lies on a flat mesh of two triangles, without flags, a corner within rounding of the edge between
/// them: no point of it lies deeper than it does.
#[test]
fn a_corner_beside_an_edge_of_a_flat_mesh_is_above_it() {
    let ends = [[-3.0, -3.0], [3.0, -3.0], [3.0, 3.0], [-3.0, 3.0]];
    let vertices = ends.map(|[x, y]| DVec3::new(x, y, 0.0)).to_vec();
    let flat = TriMesh::new(vertices, vec![[0, 1, 2], [0, 2, 3]]).unwrap();
    let flat = parry(SharedShape::new(flat));
    let half = [0.3, 0.2, 0.1];
    let hull = parry(SharedShape::convex_hull(&corners(half)).unwrap());
    let mut random = SplitMix64(0xED6E);
    for case in 0..2000 {
        let [x, y] = [(); 2].map(|()| random.between(-1e-6, 1e-6));
        let tilt = UnitQuaternion::from_scaled_axis(Vector3::new(x, y, 0.0));
        let turn = Vector3::z() * random.between(0.0, std::f64::consts::TAU);
        let turn = tilt * UnitQuaternion::from_scaled_axis(turn);
        let corner = turn * Vector3::new(half[0], half[1], 0.0);
        let (along, beside) = (random.between(-1.0, 1.0), random.between(-3e-6, 3e-6));
        let place = [along - corner.x + beside, along - corner.y, half[2] - 4e-7];
        let pose = Pose::new(place, [turn.w, turn.i, turn.j, turn.k]).unwrap();
        let found = points((&hull, &pose), (&flat, &Pose::identity()), 1e-3);
        let gap = deepest(&found).unwrap().gap;
        assert!((-1e-5..0.0).contains(&gap), "{case}: {gap:e}");
    }
}
