//! Faces on faces: corners that touch stay whatever the margin, and faces that touch exactly have their normal.

use std::f64::consts::TAU;

use saltation::bodies::parry::glamx::DVec3;
use saltation::bodies::parry::shape::SharedShape;
use saltation::bodies::parry::utils::Array2;
use saltation::bodies::{
    Body, Manifold, ManifoldPoint, Pose, QueryMemory, Scene, Shape, contact_points,
};
use saltation::nalgebra::{UnitQuaternion, Vector3};

use super::{box_mesh, check_all, corners, deepest, parry, points, pose};
use crate::random::SplitMix64;

/// Corners of a convex body with faces of up to eight corners: a box, a prism, a frustum that is wider above its
/// foot, or of a round shape at random.
fn vertices(kind: usize, draw: &mut SplitMix64) -> Vec<DVec3> {
    let [x, y, z] = [0; 3].map(|_| draw.between(0.05, 0.2));
    if kind == 0 {
        return corners([x, y, z]);
    }
    if kind == 3 {
        let mut number = || draw.between(-1.0, 1.0);
        let mut at = || DVec3::new(number(), number(), number()).normalize();
        return (0..14).map(|_| at() * DVec3::new(x, y, z)).collect();
    }
    let sides = draw.one_of(&[3, 4, 5, 6, 7, 8]);
    let ring = |radius: f64, z: f64| {
        let angle = move |k: usize| TAU * k as f64 / sides as f64;
        (0..sides).map(move |k| DVec3::new(radius * angle(k).cos(), radius * angle(k).sin(), z))
    };
    let top = if kind == 1 { x } else { 1.5 * x };
    ring(x, -z).chain(ring(top, z)).collect()
}

/// The vertices of a face, and the turn that brings it down, all about a random vertical axis.
fn lying(vertices: &[DVec3], draw: &mut SplitMix64) -> (Vec<Vector3<f64>>, UnitQuaternion<f64>) {
    let all: Vec<Vector3<f64>> = vertices.iter().map(|v| v.to_array().into()).collect();
    let mut pick = || draw.one_of(&all);
    let (outwards, face) = loop {
        let [a, b, c] = [pick(), pick(), pick()];
        let area = (b - a).cross(&(c - a));
        if area.norm() < 1e-6 {
            continue;
        }
        let outwards = area.normalize();
        let over = |v: &&Vector3<f64>| outwards.dot(&(*v - a));
        if all.iter().all(|v| over(&v) < 1e-9) {
            let face = all.iter().filter(|v| over(v) > -1e-9).copied().collect();
            break (outwards, face);
        }
    };
    let spin = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), draw.between(0.0, TAU));
    let down = UnitQuaternion::rotation_between(&outwards, &-Vector3::z());
    let half_turn = UnitQuaternion::from_axis_angle(&Vector3::x_axis(), 0.5 * TAU);
    (face, spin * down.unwrap_or(half_turn))
}

fn placed(at: Vector3<f64>, turn: &UnitQuaternion<f64>) -> Pose {
    Pose::new(at.into(), [turn.w, turn.i, turn.j, turn.k]).unwrap()
}

/// Floors with their upper face at height 0, and their poses.
fn floor(kind: usize) -> (Shape, Pose) {
    let low = Pose::new([0.0, 0.0, -1.0], [1.0, 0.0, 0.0, 0.0]).unwrap();
    let half = [3.0, 3.0, 1.0];
    let field =
        SharedShape::heightfield(Array2::new(2, 2, vec![0.0; 4]), DVec3::new(6.0, 1.0, 6.0));
    let s = 0.5f64.sqrt();
    match kind {
        0 => (Shape::plane(), Pose::identity()),
        1 => (Shape::cuboid(half).unwrap(), low),
        2 => (
            parry(SharedShape::convex_hull(&corners(half)).unwrap()),
            low,
        ),
        3 => (parry(SharedShape::new(box_mesh(half))), low),
        _ => (parry(field), Pose::new([0.0; 3], [s, s, 0.0, 0.0]).unwrap()),
    }
}

/// A body of each kind lies on any of its faces on each floor: the corners of the face are there, with margins
/// that reach other faces too. Of a hull on a plane the outline of all corners within the margin was kept,
/// which lacks the corners of the foot where the body is wider above. There the lowest four others count too, onto
/// which it may roll.
#[test]
fn corners_that_touch_stay_at_any_margin() {
    let mut draw = SplitMix64(0xF007);
    for case in 0..if cfg!(debug_assertions) { 150 } else { 600 } {
        let kind = case % 5;
        let of = vertices(if kind == 4 { 0 } else { kind }, &mut draw);
        let (face, turn) = lying(&of, &mut draw);
        let rounded = if case % 3 == 0 && kind < 4 { 0.02 } else { 0.0 };
        let shape = match (kind, rounded > 0.0) {
            (4, _) => SharedShape::new(box_mesh(of[7].to_array())),
            (_, true) => SharedShape::round_convex_hull(&of, rounded).unwrap(),
            _ => SharedShape::convex_hull(&of).unwrap(),
        };
        let shape = parry(shape);
        let foot = (turn * face[0]).z;
        let gap = [1e-4, -1e-4][case / 5 % 2];
        let at = Vector3::new(
            draw.between(-0.5, 0.5),
            draw.between(-0.5, 0.5),
            rounded - foot + gap,
        );
        let (body, ground) = (placed(at, &turn), pose(&mut draw, 1.0));
        for number in 0..5 {
            if kind == 4 && number > 1 {
                continue; // two surfaces, or triangles in a hull
            }
            let (floor, low) = floor(number);
            let low = floor.frame().inverse().moved_by(&low).moved_by(&ground);
            let own = shape.frame().inverse().moved_by(&body.moved_by(&ground));
            for margin in [1e-3, 0.05, 0.1, 0.3, 1.0] {
                let found = points((&shape, &own), (&floor, &low), margin);
                check_all(&found, margin);
                if number == 0 && kind < 4 {
                    let heights = of.iter().map(|v| (turn * Vector3::from(v.to_array())).z);
                    let over = heights.map(|z| z - foot + gap);
                    let above = over.filter(|z| *z > gap + 1e-9 && *z <= margin).count();
                    // Of the round shape other faces that hardly lean may be of the foot.
                    let least = face.len() + above.min(4);
                    let is_whole = found.len() == least || kind == 3 && found.len() > least;
                    assert!(is_whole, "{case} {margin}: {} of {least}", found.len());
                }
                for corner in &face {
                    let mut corner = at + turn * corner;
                    corner.z -= rounded;
                    let there = ground.to_world(corner);
                    let near = found.iter().filter(|p| (p.on_a - there).norm() < 1e-6);
                    let lowest = near.map(|p| p.gap).fold(f64::INFINITY, f64::min);
                    assert!(
                        (lowest - gap).abs() < 1e-9,
                        "{case} floor {number} margin {margin}: {lowest} of {} points, {face:?}",
                        found.len()
                    );
                }
            }
        }
    }
}

/// The sole of a hull is a little round, of triangles: it lies on its middle, and points all around it are there.
#[test]
fn a_sole_of_many_faces_has_points_all_around() {
    let mut draw = SplitMix64(0x501E);
    for case in 0..200 {
        let sides = draw.one_of(&[6, 8, 12, 32]);
        let dome = draw.between(1e-5, 2e-3);
        let ring = |radius: f64, z: f64| {
            let angle = move |k: usize| TAU * k as f64 / sides as f64;
            (0..sides).map(move |k| DVec3::new(radius * angle(k).cos(), radius * angle(k).sin(), z))
        };
        let middle = DVec3::new(0.0, 0.0, -0.05 - dome);
        let of: Vec<DVec3> = ring(0.1, -0.05)
            .chain(ring(0.12, 0.05))
            .chain([middle])
            .collect();
        let shape = parry(SharedShape::convex_hull(&of).unwrap());
        let spin = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), draw.between(0.0, TAU));
        let body = placed(Vector3::new(0.0, 0.0, 0.05 + dome), &spin);
        let ground = pose(&mut draw, 1.0);
        let (floor, low) = floor(0);
        let low = floor.frame().inverse().moved_by(&low).moved_by(&ground);
        let own = shape.frame().inverse().moved_by(&body.moved_by(&ground));
        for margin in [3e-3, 0.05, 0.3] {
            let found = points((&shape, &own), (&floor, &low), margin);
            let lowest = deepest(&found).map_or(f64::NAN, |point| point.gap);
            assert!(lowest.abs() < 1e-12, "{case} {margin}: {lowest}");
            let edge = |p: &&ManifoldPoint| (p.gap - dome).abs() < 1e-9;
            let at = |p: &ManifoldPoint| ground.to_body(p.on_a);
            let angles = found.iter().filter(edge).map(|p| at(p).y.atan2(at(p).x));
            let mut angles: Vec<f64> = angles.collect();
            angles.sort_by(f64::total_cmp);
            let next = angles
                .iter()
                .skip(1)
                .copied()
                .chain(angles.first().map(|a| a + TAU));
            let widest = angles
                .iter()
                .zip(next)
                .map(|(a, b)| b - a)
                .fold(0.0, f64::max);
            assert!(
                angles.len() > 3 && widest < 0.5 * TAU,
                "{case} {margin}: {angles:?}"
            );
        }
    }
}

/// Solids that stand on the middle of a face, upright along z, and the height of their middles.
fn standing(kind: usize, size: [f64; 3]) -> (Shape, Pose, f64) {
    let upright = Pose::identity();
    let s = 0.5f64.sqrt();
    // Cylinders and cones of parry lie along y.
    let lain = Pose::new([0.0; 3], [s, s, 0.0, 0.0]).unwrap();
    let [x, y, z] = size;
    let hull = |of: &[DVec3]| parry(SharedShape::convex_hull(of).unwrap());
    let around = (0..7).map(|k| TAU * f64::from(k) / 7.0);
    let prism: Vec<DVec3> = around
        .flat_map(|angle| [-z, z].map(|z| DVec3::new(x * angle.cos(), x * angle.sin(), z)))
        .collect();
    match kind {
        0 => (hull(&corners(size)), upright, z),
        1 => (parry(SharedShape::cylinder(z, x)), lain, z),
        2 => (Shape::cuboid([x, y, z]).unwrap(), upright, z),
        3 => (hull(&prism), upright, z),
        4 => (Shape::cylinder(z, x).unwrap(), upright, z),
        5 => (parry(SharedShape::cone(z, x)), lain, z),
        6 => (Shape::cone(2.0 * z, x).unwrap(), upright, 0.5 * z),
        _ => (parry(SharedShape::cuboid(x, y, z)), upright, z),
    }
}

/// Solids that stand on each other's faces, exactly or a rounding apart: gap and normal of contact points, and the
/// distance. parry then may take the normal of any face, as deep as the whole body, or none at all.
#[test]
fn faces_that_touch_have_their_normal() {
    let mut draw = SplitMix64(0x70C4);
    let gaps = [0.0, 1e-16, -1e-16, 1e-12, -1e-9, 1e-6, -1e-5];
    let cases = if cfg!(debug_assertions) { 2000 } else { 60_000 };
    let mut wrong = Vec::new();
    for case in 0..cases {
        let (kind, under) = (case % 8, [0, 1, 2, 4, 7][case / 8 % 5]);
        if [kind, under].iter().all(|k| [2, 4, 6].contains(k)) {
            continue; // none of parry
        }
        let mut length = |low: f64, high: f64| draw.between(low, high);
        let gap = gaps[case / 40 % gaps.len()];
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), length(0.0, TAU));
        let size = [length(0.05, 0.2), length(0.05, 0.2), length(0.03, 0.12)];
        let (upper, own, height) = standing(kind, size);
        let base = [length(0.3, 3.0), length(0.3, 3.0), length(0.1, 1.0)];
        // Above the middle, or with the centre within the common area; of discs too far out for the squares that
        // they are to parry.
        let aside = match (case % 3, under) {
            (0, _) => 0.0,
            (1, 1 | 4) => 0.85 * base[0],
            _ => 0.28,
        };
        let (sin, cos) = length(0.0, TAU).sin_cos();
        let at = placed(Vector3::new(aside * cos, aside * sin, height + gap), &turn);
        let (lower, low, depth) = standing(under, base);
        let below = Pose::new([0.0, 0.0, -depth], [1.0, 0.0, 0.0, 0.0]).unwrap();
        let ground = match case / 3 % 2 {
            0 => pose(&mut draw, 0.1),
            _ => Pose::identity(),
        };
        let upper_at = own.moved_by(&at).moved_by(&ground);
        let lower_at = low.moved_by(&below).moved_by(&ground);
        let normal = ground.rotation() * Vector3::z();
        let mut scene = Scene::new();
        let mut add = |shape: &Shape, at: &Pose| {
            let body = scene.add(Body::fixed(shape.clone()).placed(at)).unwrap();
            (body, shape.frame().inverse().moved_by(at))
        };
        let ((a, at_a), (b, at_b)) = (add(&upper, &upper_at), add(&lower, &lower_at));
        let mut manifold = Manifold::new();
        let asked = contact_points((&upper, &at_a), (&lower, &at_b), 1e-3, &mut manifold);
        let found = manifold.points();
        let lowest = deepest(found).map_or(f64::NAN, |point| point.gap);
        let turned = found.iter().map(|point| (point.normal - normal).norm());
        let turned = turned.fold(0.0, f64::max);
        check_all(found, 1e-3);
        let (q, _) = scene.start();
        let mut memory = QueryMemory::new();
        let distance = scene.query(&q, &mut memory).unwrap().distance(a, b);
        let far = distance.as_ref().map_or(f64::NAN, |point| point.gap);
        let is_near = |found: f64| (found - gap).abs() < 1e-6;
        if asked.is_err() || !is_near(lowest) || turned > 1e-3 || !is_near(far) {
            wrong.push(format!(
                "{case}: {kind} on {under}, gap {gap:e}: {lowest:e}, {far:e}, {turned}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {cases}: {wrong:#?}", wrong.len());
}

/// A cylinder of ours lies on a hull. The search of parry fails now and then where they touch exactly: there are
/// points all the same.
#[test]
fn what_lies_on_a_face_exactly_has_points() {
    let mut draw = SplitMix64(0x11E5);
    let s = 0.5f64.sqrt();
    let lain = Pose::new([0.0; 3], [s, s, 0.0, 0.0]).unwrap();
    for case in 0..if cfg!(debug_assertions) { 1500 } else { 40_000 } {
        let gap = [0.0, 1e-16, -1e-16][case % 3];
        let [radius, length] = [0; 2].map(|_| draw.between(0.05, 0.3));
        let half = [0; 3].map(|_| draw.between(0.05, 1.0));
        let upper = Shape::cylinder(length, radius).unwrap();
        let lower = parry(SharedShape::convex_hull(&corners(half)).unwrap());
        let yaw = draw.between(0.0, TAU) * f64::from(u8::from(case / 12 % 2 == 0));
        let turn = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw);
        let [x, y] = [0, 1].map(|k| (0.5 * half[k]) * draw.between(-1.0, 1.0));
        let [x, y] = if case / 6 % 2 == 0 { [0.0; 2] } else { [x, y] };
        let at = placed(Vector3::new(x, y, radius + gap), &turn);
        let below = Pose::new([0.0, 0.0, -half[2]], [1.0, 0.0, 0.0, 0.0]).unwrap();
        let ground = match case / 3 % 2 {
            0 => pose(&mut draw, 0.1),
            _ => Pose::identity(),
        };
        let (upper_at, lower_at) = (
            lain.moved_by(&at).moved_by(&ground),
            below.moved_by(&ground),
        );
        let found = points((&upper, &upper_at), (&lower, &lower_at), 1e-3);
        let lowest = deepest(&found).map_or(f64::NAN, |point| point.gap);
        assert!(
            (lowest - gap).abs() < 1e-6,
            "{case}: {lowest} of {}",
            found.len()
        );
        let up = ground.rotation() * Vector3::z();
        let leans = found
            .iter()
            .map(|p| (p.normal - up).norm())
            .fold(0.0, f64::max);
        assert!(leans < 1e-3, "{case}: {leans}");
    }
}

/// A triangle of a mesh and a hull that it dips into: parry may have another normal, and no points.
#[test]
fn a_mesh_that_dips_into_a_floor_has_points_no_deeper() {
    let mut draw = SplitMix64(0x3E5B);
    for case in 0..if cfg!(debug_assertions) { 2000 } else { 40_000 } {
        let half = [0; 3].map(|_| draw.between(0.05, 0.4));
        let is_mesh = case % 2 == 0;
        let body = if is_mesh {
            parry(SharedShape::new(box_mesh(half)))
        } else {
            parry(SharedShape::convex_hull(&corners(half)).unwrap())
        };
        // No mesh on a mesh.
        let kind = if is_mesh { case / 2 % 3 } else { case / 2 % 4 };
        let (ground, low) = floor(kind);
        let yaw = UnitQuaternion::from_axis_angle(&Vector3::z_axis(), draw.between(0.0, TAU));
        let tilt = [0.0, 0.3][case / 24 % 2] * draw.between(-1.0, 1.0);
        let turn = yaw * UnitQuaternion::from_axis_angle(&Vector3::x_axis(), tilt);
        let overlap = 10f64.powf(draw.between(-6.0, -2.5));
        let [x, y] = [0; 2].map(|_| draw.between(-2.2, 2.2));
        let lowest = corners(half)
            .iter()
            .map(|v| (turn * Vector3::from(v.to_array())).z)
            .fold(0.0, f64::min);
        let at = placed(Vector3::new(x, y, -lowest - overlap), &turn);
        let found = points((&body, &at), (&ground, &low), 1e-3);
        let deep = deepest(&found).map_or(f64::NAN, |point| point.gap);
        let what = format!("{case} kind {kind} mesh {is_mesh} tilt {tilt}: {deep:e}");
        assert!((deep + overlap).abs() < 1e-6, "{what} of {overlap:e}");
        let inside = found.iter().filter(|point| point.gap < 0.0);
        for point in inside {
            assert!(
                (point.normal - Vector3::z()).norm() < 1e-3,
                "{what} {point:?}"
            );
        }
    }
}
