//! Shapes of parry (feature `parry`), and ours as parry's beside them.
//!
//! `manifolds`: contact points; `hull_faces`: whole faces of hulls; `on_surface`: what holds on meshes and
//! height fields; `patches`: few of many points; `queries`: distances and rays.

use std::panic::{AssertUnwindSafe, catch_unwind};

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};
use parry3d_f64::glamx::{DQuat, DVec3};
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::shape::{
    Ball as ParryBall, Capsule, Cone, Cuboid, Cylinder, HalfSpace, Shape as ParryShape, ShapeType,
    TriMeshFlags, TypedShape,
};

use super::PlacedShape;
use crate::InputError;
use crate::bodies::pose::frame;
use crate::bodies::{Pose, Shape, ShapeKind};

mod hull_faces;
mod manifolds;
mod on_surface;
mod patches;
mod queries;

pub(super) use manifolds::add;
pub(super) use queries::{cast, distance};

/// A shape, and the axes in which it is given, in those of the world.
#[derive(Clone, Copy)]
struct InOwnAxes<'a> {
    shape: &'a Shape,
    axes: ParryPose,
}

impl<'a> InOwnAxes<'a> {
    fn new(placed: PlacedShape<'a>) -> Self {
        let shape = placed.shape;
        let pose = frame_of(shape).moved_by(placed.pose);
        let rotation = Rotation3::from_matrix_unchecked(pose.rotation());
        let turn = UnitQuaternion::from_rotation_matrix(&rotation);
        let axes = ParryPose::from_parts(
            DVec3::from_array(pose.position().into()),
            DQuat::from_xyzw(turn.i, turn.j, turn.k, turn.w),
        );
        Self { shape, axes }
    }
}

/// The axes in which parry has a shape, in those of the body. Cylinders and cones of parry lie along y,
/// and a cone about the middle of its height.
fn frame_of(shape: &Shape) -> Pose {
    let middle = match shape.kind() {
        ShapeKind::Cylinder { .. } => 0.0,
        ShapeKind::Cone { height, .. } => 0.25 * height,
        _ => return shape.frame(),
    };
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    Pose::from_parts(z * middle, Matrix3::from_columns(&[x, z, -y]))
}

/// A ball, box, capsule, cylinder or cone of parry as ours, at its pose; our shapes as they are.
pub(super) fn as_ours(placed: PlacedShape<'_>) -> Option<(Shape, Pose)> {
    let Some(foreign) = &placed.shape.foreign else {
        return Some((placed.shape.clone(), *placed.pose));
    };
    let (x, y, z) = (Vector3::x(), Vector3::y(), Vector3::z());
    let along_y = |at: f64| Pose::from_parts(y * at, Matrix3::from_columns(&[x, -z, y]));
    let (shape, pose) = match foreign.shape.as_typed_shape() {
        TypedShape::Ball(ball) => (Shape::sphere(ball.radius), Pose::identity()),
        TypedShape::Cuboid(cuboid) => {
            let half = cuboid.half_extents.to_array();
            (Shape::cuboid(half), Pose::identity())
        }
        TypedShape::Capsule(capsule) => {
            let [from, to] = [capsule.segment.a, capsule.segment.b].map(vector);
            let [axis, across, last] = frame((to - from).try_normalize(0.0).unwrap_or(z));
            let axes = Matrix3::from_columns(&[across, last, axis]);
            let shape = Shape::capsule(0.5 * (to - from).norm(), capsule.radius);
            (shape, Pose::from_parts(from.lerp(&to, 0.5), axes))
        }
        TypedShape::Cylinder(cylinder) => {
            let shape = Shape::cylinder(cylinder.half_height, cylinder.radius);
            (shape, along_y(0.0))
        }
        TypedShape::Cone(cone) => {
            let shape = Shape::cone(2.0 * cone.half_height, cone.radius);
            (shape, along_y(-0.5 * cone.half_height))
        }
        _ => return None,
    };
    let own_axes = placed.shape.frame().moved_by(placed.pose);
    // Lengths below zero stay parry's.
    Some((shape.ok()?, pose.moved_by(&own_axes)))
}

/// Asks parry, which panics at some shapes and poses of extreme size.
fn of_parry<T>(
    a: &Shape,
    b: &Shape,
    mut ask: impl FnMut(&dyn ParryShape, &dyn ParryShape) -> T,
) -> Result<T, InputError> {
    let answer = catch_unwind(AssertUnwindSafe(|| {
        with_parry(a, |a| with_parry(b, |b| ask(a, b)))
    }));
    answer.map_err(|_| InputError::BadSetting {
        name: "shapes",
        entry: 0,
        value: 0.0,
        rule: "parry panicked at these two shapes",
    })
}

/// True for a mesh and a height field.
fn is_surface(shape: &Shape) -> bool {
    let kind = shape.foreign.as_ref().map(|of| of.shape.shape_type());
    matches!(kind, Some(ShapeType::TriMesh | ShapeType::HeightField))
}

/// True for a mesh whose triangles hold on both sides.
fn has_two_sides(shape: &Shape) -> bool {
    let mesh = shape.foreign.as_ref().and_then(|of| of.shape.as_trimesh());
    mesh.is_some_and(|mesh| (mesh.flags()).contains(TriMeshFlags::FIX_INTERNAL_EDGES_TWO_SIDED))
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
        ShapeKind::Sphere { radius } => then(&ParryBall::new(radius)),
        ShapeKind::Box { half } => then(&Cuboid::new(DVec3::from_array(half))),
        ShapeKind::Capsule {
            half_length,
            radius,
        } => then(&Capsule::new_z(half_length, radius)),
        ShapeKind::Cylinder {
            half_length,
            radius,
        } => then(&Cylinder::new(half_length, radius)),
        ShapeKind::Cone { height, radius } => then(&Cone::new(0.5 * height, radius)),
        ShapeKind::Plane | ShapeKind::Parry => then(&HalfSpace::new(DVec3::Z)),
    }
}
