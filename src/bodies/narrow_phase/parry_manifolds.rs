//! Contact points of shapes of parry, from its manifolds.
//!
//! A manifold of parry may hold points beyond the margin, corners twice and up to eight points of
//! two faces. A mesh has a manifold for each triangle. Here points with one normal are one patch,
//! part by part of a compound: those that coincide count once, and up to four of a patch remain.

use std::panic::{AssertUnwindSafe, catch_unwind};

use nalgebra::{Rotation3, UnitQuaternion, Vector3};
use parry3d_f64::glamx::{DQuat, DVec3};
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::query::{
    ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher, TrackedContact,
};
use parry3d_f64::shape::{Ball, Capsule, Cuboid, HalfSpace, Shape as ParryShape};

use super::reduction::choose;
use super::{FEATURES, Manifold, ManifoldPoint};
use crate::bodies::contacts::frame;
use crate::bodies::{Pose, Shape, ShapeKind};
use crate::{InputError, validate};

/// Points closer than this part of the smaller shape are one, and less than its square is no area.
const APART: f64 = 1e-6;

/// Depths that differ by less than this part of the smaller shape are equal.
const LEVEL: f64 = 1e-4;

/// Normals whose cosine is less than this below 1 are one: 1e-4 rad.
const SAME_NORMAL: f64 = 5e-9;

/// Adds the contact points of two shapes, one at least of parry, with a gap up to `margin`.
///
/// # Errors
/// [`InputError::BadSetting`] for shapes of which parry has no contacts, where it panics, for a
/// normal that is no unit vector, for numbers that are not finite, and for more than [`FEATURES`]
/// points.
pub(super) fn add(
    (shape_a, a): (&Shape, &Pose),
    (shape_b, b): (&Shape, &Pose),
    margin: f64,
    out: &mut Manifold,
) -> Result<(), InputError> {
    let (a, b) = (own_axes(shape_a, a), own_axes(shape_b, b));
    let manifolds = manifolds((shape_a, &a), (shape_b, &b), margin)?;
    let mut points = Vec::new();
    for manifold in &manifolds {
        let (on_a, on_b) = (
            manifold.subshape_pos1().map_or(a, |part| a * *part),
            manifold.subshape_pos2().map_or(b, |part| b * *part),
        );
        let parts = (
            part_of(shape_a, manifold.subshape1),
            part_of(shape_b, manifold.subshape2),
        );
        let within = |point: &&TrackedContact<()>| point.dist <= margin || point.dist.is_nan();
        for point in manifold.points.iter().filter(within) {
            let normal = -vector(on_a.rotation * manifold.local_n1);
            let length = normal.norm();
            let rule = "a normal of parry is no unit vector";
            validate::unless((length - 1.0).abs() < 1e-6, "normal", length, rule)?;
            let on_a = vector(on_a.transform_point(point.local_p1));
            let on_b = vector(on_b.transform_point(point.local_p2));
            validate::finite("gap of parry", &[point.dist])?;
            validate::finite("contact point of parry", on_a.as_slice())?;
            validate::finite("contact point of parry", on_b.as_slice())?;
            let point = ManifoldPoint {
                feature: 0,
                gap: point.dist,
                normal: normal / length,
                on_a,
                on_b,
            };
            points.push((parts, point));
        }
    }
    let size = shape_a.bounding_radius().min(shape_b.bounding_radius());
    reduce(points, size, &mut out.many);
    let (count, rule) = (
        out.many.len(),
        "a pair of bodies has too many contact points",
    );
    validate::unless(count <= FEATURES, "contact points", count as f64, rule)
}

/// The manifolds of parry, in a list that is new each time: in one that is kept, they would depend
/// on what was there before.
fn manifolds(
    (shape_a, a): (&Shape, &ParryPose),
    (shape_b, b): (&Shape, &ParryPose),
    margin: f64,
) -> Result<Vec<ContactManifold<(), ()>>, InputError> {
    let between = a.inv_mul(b);
    let mut manifolds = Vec::new();
    let mut find = || {
        with_parry(shape_a, |a| {
            with_parry(shape_b, |b| {
                let (found, workspace) = (&mut manifolds, &mut None);
                DefaultQueryDispatcher.contact_manifolds(&between, a, b, margin, found, workspace)
            })
        })
    };
    // parry panics at some shapes and poses of extreme size.
    let found = catch_unwind(AssertUnwindSafe(&mut find));
    let rule = "parry panicked at these two shapes";
    validate::unless(found.is_ok(), "shapes", 0.0, rule)?;
    let rule = "parry has no contact points of these two shapes";
    validate::unless(matches!(found, Ok(Ok(()))), "shapes", 0.0, rule)?;
    Ok(manifolds)
}

/// The part of a compound. Triangles of a mesh are none: they make up one surface.
fn part_of(shape: &Shape, part: u32) -> u32 {
    let foreign = shape.foreign.as_ref();
    let compound = foreign.is_some_and(|foreign| foreign.shape.as_compound().is_some());
    if compound { part } else { 0 }
}

/// Takes points of the same parts with one normal together, and keeps up to four of each such
/// patch.
fn reduce(mut points: Vec<((u32, u32), ManifoldPoint)>, size: f64, out: &mut Vec<ManifoldPoint>) {
    let (mut patch, mut flat): (Vec<ManifoldPoint>, Vec<[f64; 3]>) = (Vec::new(), Vec::new());
    while let Some(&(parts, first)) = points.first() {
        patch.clear();
        points.retain(|(of, point)| {
            let same = *of == parts && point.normal.dot(&first.normal) > 1.0 - SAME_NORMAL;
            if same {
                let twin = |other: &ManifoldPoint| (other.on_a - point.on_a).norm() <= APART * size;
                match patch.iter_mut().find(|other| twin(other)) {
                    Some(other) if point.gap < other.gap => *other = *point,
                    Some(_) => {}
                    None => patch.push(*point),
                }
            }
            !same
        });
        let [_, u, w] = frame(first.normal);
        let in_plane = |p: &ManifoldPoint| [u.dot(&p.on_a), w.dot(&p.on_a), p.gap];
        flat.clear();
        flat.extend(patch.iter().map(in_plane));
        let (chosen, count) = choose(&flat, APART * size, LEVEL * size);
        for &k in &chosen[..count] {
            out.push(ManifoldPoint {
                feature: out.len(),
                ..patch[k]
            });
        }
    }
}

/// The axes in which a shape is given, in those of the world.
fn own_axes(shape: &Shape, pose: &Pose) -> ParryPose {
    let pose = shape.frame().moved_by(pose);
    let rotation = Rotation3::from_matrix_unchecked(pose.rotation());
    let turn = UnitQuaternion::from_rotation_matrix(&rotation);
    ParryPose::from_parts(
        DVec3::from_array(pose.position().into()),
        DQuat::from_xyzw(turn.i, turn.j, turn.k, turn.w),
    )
}

fn vector(v: DVec3) -> Vector3<f64> {
    v.to_array().into()
}

/// Calls a function with a shape as parry's.
fn with_parry<T>(shape: &Shape, then: impl FnOnce(&dyn ParryShape) -> T) -> T {
    if let Some(foreign) = &shape.foreign {
        return then(&*foreign.shape.0);
    }
    match shape.kind() {
        ShapeKind::Sphere { radius } => then(&Ball::new(radius)),
        ShapeKind::Box { half } => then(&Cuboid::new(DVec3::from_array(half))),
        ShapeKind::Capsule {
            half_length,
            radius,
        } => then(&Capsule::new_z(half_length, radius)),
        ShapeKind::Plane | ShapeKind::Parry => then(&HalfSpace::new(DVec3::Z)),
    }
}
