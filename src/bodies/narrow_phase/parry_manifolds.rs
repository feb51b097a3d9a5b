//! Contact points of shapes of parry, from its manifolds.
//!
//! A manifold of parry may hold points beyond the margin, corners twice and up to eight points of
//! two faces, and a mesh has a manifold for each triangle. Here points that coincide count once, and
//! up to four of each patch remain (`patches`). Faces of hulls are clipped whole (`hull_faces`).
//! Over a vertex of a mesh parry can lose a ball: there the closest point of the mesh serves.

use std::panic::{AssertUnwindSafe, catch_unwind};

use nalgebra::{Rotation3, UnitQuaternion, Vector3};
use parry3d_f64::bounding_volume::BoundingVolume;
use parry3d_f64::glamx::{DQuat, DVec3};
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d_f64::shape::{Ball, Capsule, Cuboid, HalfSpace, Shape as ParryShape, ShapeType};

use super::hull_faces::{Part, better_normal, corners};
use super::patches::{Found, Side, reduce};
use super::{FEATURES, Manifold, ManifoldPoint};
use crate::bodies::{Pose, Shape, ShapeKind};
use crate::{InputError, validate};

/// Adds the contact points of two shapes, one at least of parry, with a gap up to `margin`.
///
/// # Errors
/// [`InputError::BadSetting`] for two surfaces, and where parry panics or gives a normal that is no
/// unit vector; [`InputError::NotFinite`] for points that are not finite.
pub(super) fn add(
    (shape_a, a): (&Shape, &Pose),
    (shape_b, b): (&Shape, &Pose),
    margin: f64,
    out: &mut Manifold,
) -> Result<(), InputError> {
    let (a, b) = (own_axes(shape_a, a), own_axes(shape_b, b));
    // parry panics at a negative margin.
    let reach = margin.max(0.0);
    if is_surface(shape_a) && is_surface(shape_b) {
        let boxes_meet = of_parry((shape_a, shape_b), |of_a, of_b| {
            let around = of_a.compute_aabb(&a).loosened(reach);
            around.intersects(&of_b.compute_aabb(&b))
        })?;
        let rule = "two surfaces have no inside: make one of them of convex parts";
        return validate::unless(!boxes_meet, "shapes", 0.0, rule);
    }
    let mut points = Vec::new();
    for manifold in &manifolds((shape_a, &a), (shape_b, &b), reach)? {
        add_manifold((shape_a, a), (shape_b, b), manifold, &mut points)?;
    }
    // parry tells of points beyond the margin too.
    points.retain(|found| found.point.gap <= margin);
    if points.is_empty()
        && let Some(closest) = ball_on_surface((shape_a, &a), (shape_b, &b))?
        && closest.point.gap <= margin
    {
        points.push(closest);
    }
    let size = shape_a.bounding_radius().min(shape_b.bounding_radius());
    reduce(&mut points, size, FEATURES, &mut out.many);
    Ok(())
}

/// Adds the points of a manifold, and those of whole faces where a part is a hull.
fn add_manifold(
    (shape_a, a): (&Shape, ParryPose),
    (shape_b, b): (&Shape, ParryPose),
    manifold: &ContactManifold<(), ()>,
    points: &mut Vec<Found>,
) -> Result<(), InputError> {
    if manifold.points.is_empty() && manifold.local_n1 == DVec3::ZERO {
        return Ok(());
    }
    let pose_a = manifold.subshape_pos1().map_or(a, |part| a * *part);
    let pose_b = manifold.subshape_pos2().map_or(b, |part| b * *part);
    let normal = unit(-vector(pose_a.rotation * manifold.local_n1))?;
    let sides = [
        side_of(shape_a, manifold.subshape1),
        side_of(shape_b, manifold.subshape2),
    ];
    let mut add = |normal: Vector3<f64>, gap: f64, on_a: Vector3<f64>, on_b: Vector3<f64>| {
        let point = ManifoldPoint {
            feature: 0,
            gap,
            normal,
            on_a,
            on_b,
        };
        points.push(Found { sides, point });
    };
    let gaps = manifold.points.iter().map(|point| point.dist);
    let lowest = gaps.fold(f64::INFINITY, f64::min);
    // A triangle of a mesh has a gap along the normals that its neighbours allow.
    let convex = !is_surface(shape_a) && !is_surface(shape_b);
    let mut replaced = false;
    with_part(shape_a, manifold.subshape1, |shape_a| {
        with_part(shape_b, manifold.subshape2, |shape_b| {
            let (a, b) = (
                Part {
                    shape: shape_a,
                    pose: pose_a,
                },
                Part {
                    shape: shape_b,
                    pose: pose_b,
                },
            );
            let better = convex
                .then(|| better_normal((&a, &b), normal, lowest))
                .flatten();
            let normal = better.unwrap_or(normal);
            // First: of points that are as deep, the first are kept, and parry has points inside
            // the area.
            corners((&a, &b), normal, |gap, on_a, on_b| {
                replaced |= better.is_some();
                add(normal, gap, on_a, on_b);
            });
        });
    });
    for point in &manifold.points {
        let on_a = vector(pose_a.transform_point(point.local_p1));
        let on_b = vector(pose_b.transform_point(point.local_p2));
        check(point.dist, &on_a, &on_b)?;
        if !replaced {
            add(normal, point.dist, on_a, on_b);
        }
    }
    Ok(())
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
    let found = of_parry((shape_a, shape_b), |a, b| {
        let (found, workspace) = (&mut manifolds, &mut None);
        DefaultQueryDispatcher.contact_manifolds(&between, a, b, margin, found, workspace)
    })?;
    let rule = "parry has no contact points of these two shapes";
    validate::unless(found.is_ok(), "shapes", 0.0, rule)?;
    Ok(manifolds)
}

/// The point of a surface that is closest to a ball, seen from the ball as A or from the surface.
fn ball_on_surface(
    (shape_a, a): (&Shape, &ParryPose),
    (shape_b, b): (&Shape, &ParryPose),
) -> Result<Option<Found>, InputError> {
    if let Some(radius) = radius_of_ball(shape_a)
        && is_surface(shape_b)
    {
        let point = closest((a.translation, radius), (shape_b, b))?;
        return Ok(point.map(Found::whole));
    }
    if let Some(radius) = radius_of_ball(shape_b)
        && is_surface(shape_a)
    {
        let point = closest((b.translation, radius), (shape_a, a))?;
        return Ok(point.map(|point| Found::whole(point.exchanged())));
    }
    Ok(None)
}

/// The point of a surface that is closest to a ball A.
fn closest(
    (centre, radius): (DVec3, f64),
    (surface, pose): (&Shape, &ParryPose),
) -> Result<Option<ManifoldPoint>, InputError> {
    let found = of_parry((surface, surface), |surface, _| {
        surface.project_point(pose, centre, false).point
    })?;
    let on_b = vector(found);
    let between = vector(centre) - on_b;
    let distance = between.norm();
    check(distance, &between, &on_b)?;
    Ok((distance > 0.0).then(|| {
        let normal = between / distance;
        ManifoldPoint {
            feature: 0,
            gap: distance - radius,
            normal,
            on_a: vector(centre) - normal * radius,
            on_b,
        }
    }))
}

fn radius_of_ball(shape: &Shape) -> Option<f64> {
    if let ShapeKind::Sphere { radius } = shape.kind() {
        return Some(radius);
    }
    let foreign = shape.foreign.as_ref()?;
    foreign.shape.as_ball().map(|ball| ball.radius)
}

/// Asks parry, which panics at some shapes and poses of extreme size.
fn of_parry<T>(
    (a, b): (&Shape, &Shape),
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

fn check(gap: f64, on_a: &Vector3<f64>, on_b: &Vector3<f64>) -> Result<(), InputError> {
    validate::finite("gap of parry", &[gap])?;
    validate::finite("contact point of parry", on_a.as_slice())?;
    validate::finite("contact point of parry", on_b.as_slice())
}

/// A normal of parry, to the last bit.
fn unit(normal: Vector3<f64>) -> Result<Vector3<f64>, InputError> {
    let length = normal.norm();
    let rule = "a normal of parry is no unit vector";
    validate::unless((length - 1.0).abs() < 1e-6, "normal", length, rule)?;
    Ok(normal / length)
}

/// The part of a compound, or the plane of a triangle of a surface.
fn side_of(shape: &Shape, part: u32) -> Side {
    let foreign = shape.foreign.as_ref();
    if foreign.is_some_and(|foreign| foreign.shape.as_compound().is_some()) {
        return Side::Part(part);
    }
    let mut side = Side::Whole;
    if is_surface(shape) {
        with_part(shape, part, |part| {
            let normal = part.as_triangle().and_then(|of| Some((of.normal()?, of.a)));
            if let Some((normal, corner)) = normal {
                side = Side::Plane(vector(normal), normal.dot(corner));
            }
        });
    }
    side
}

/// True for a mesh and a height field.
fn is_surface(shape: &Shape) -> bool {
    let kind = shape.foreign.as_ref().map(|of| of.shape.shape_type());
    matches!(kind, Some(ShapeType::TriMesh | ShapeType::HeightField))
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

/// Calls a function with a part of a shape, or with the whole of one without parts.
fn with_part(shape: &Shape, part: u32, mut then: impl FnMut(&dyn ParryShape)) {
    with_parry(shape, |whole| match whole.as_composite_shape() {
        Some(parts) => parts.map_part_at(part, &mut |_, part, _| then(part)),
        None => match whole.as_heightfield() {
            Some(field) => {
                if let Some(triangle) = field.triangle_at_id(part) {
                    then(&triangle);
                }
            }
            None => then(whole),
        },
    });
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
