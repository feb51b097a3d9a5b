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
use parry3d_f64::shape::{
    Ball as ParryBall, Capsule, Cuboid, HalfSpace, Shape as ParryShape, ShapeType,
};

use super::hull_faces::{Part, better_normal, corners};
use super::patches::{Found, Side, reduce};
use super::{FEATURES, Manifold, ManifoldPoint, PlacedShape};
use crate::bodies::broad_phase::Ball;
use crate::bodies::{Shape, ShapeKind};
use crate::{InputError, validate};

/// A shape, and the axes in which it is given, in those of the world.
#[derive(Clone, Copy)]
struct InOwnAxes<'a> {
    shape: &'a Shape,
    axes: ParryPose,
}

impl<'a> InOwnAxes<'a> {
    fn new(placed: PlacedShape<'a>) -> Self {
        let shape = placed.shape;
        let pose = shape.frame().moved_by(placed.pose);
        let rotation = Rotation3::from_matrix_unchecked(pose.rotation());
        let turn = UnitQuaternion::from_rotation_matrix(&rotation);
        let axes = ParryPose::from_parts(
            DVec3::from_array(pose.position().into()),
            DQuat::from_xyzw(turn.i, turn.j, turn.k, turn.w),
        );
        Self { shape, axes }
    }
}

/// Adds the contact points of two shapes, one at least of parry, with a gap up to `margin`.
///
/// # Errors
/// [`InputError::BadSetting`] for two surfaces, and where parry panics or gives a normal that is no
/// unit vector; [`InputError::NotFinite`] for points that are not finite.
pub(super) fn add(
    a: PlacedShape<'_>,
    b: PlacedShape<'_>,
    margin: f64,
    out: &mut Manifold,
) -> Result<(), InputError> {
    let (a, b) = (InOwnAxes::new(a), InOwnAxes::new(b));
    // parry panics at a negative margin.
    let reach = margin.max(0.0);
    if is_surface(a.shape) && is_surface(b.shape) {
        let boxes_meet = of_parry(a.shape, b.shape, |of_a, of_b| {
            let around = of_a.compute_aabb(&a.axes).loosened(reach);
            around.intersects(&of_b.compute_aabb(&b.axes))
        })?;
        let rule = "two surfaces have no inside: make one of them of convex parts";
        return validate::unless(!boxes_meet, "shapes", 0.0, rule);
    }
    let mut points = Vec::new();
    for manifold in &manifolds(a, b, reach)? {
        add_manifold(a, b, manifold, &mut points)?;
    }
    // parry returns points beyond the margin too.
    points.retain(|found| found.point.gap <= margin);
    if points.is_empty()
        && let Some(closest) = ball_on_surface(a, b)?
        && closest.point.gap <= margin
    {
        points.push(closest);
    }
    let size = a.shape.bounding_radius().min(b.shape.bounding_radius());
    reduce(&mut points, size, FEATURES, &mut out.many);
    Ok(())
}

/// Adds the points of a manifold, and those of whole faces where a part is a hull.
fn add_manifold(
    a: InOwnAxes<'_>,
    b: InOwnAxes<'_>,
    manifold: &ContactManifold<(), ()>,
    points: &mut Vec<Found>,
) -> Result<(), InputError> {
    if manifold.points.is_empty() && manifold.local_n1 == DVec3::ZERO {
        return Ok(());
    }
    let (part_a, part_b) = (manifold.subshape_pos1(), manifold.subshape_pos2());
    let pose_a = part_a.map_or(a.axes, |part| a.axes * *part);
    let pose_b = part_b.map_or(b.axes, |part| b.axes * *part);
    let normal = unit(-vector(pose_a.rotation * manifold.local_n1))?;
    let sides = [
        side_of(a.shape, manifold.subshape1),
        side_of(b.shape, manifold.subshape2),
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
    let convex = !is_surface(a.shape) && !is_surface(b.shape);
    let mut replaced = false;
    with_part(a.shape, manifold.subshape1, |shape_a| {
        with_part(b.shape, manifold.subshape2, |shape_b| {
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
                .then(|| better_normal(&a, &b, normal, lowest))
                .flatten();
            let normal = better.unwrap_or(normal);
            // First: of points that are as deep, the first are kept, and parry has points inside
            // the area.
            corners(&a, &b, normal, |gap, on_a, on_b| {
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
    a: InOwnAxes<'_>,
    b: InOwnAxes<'_>,
    margin: f64,
) -> Result<Vec<ContactManifold<(), ()>>, InputError> {
    let between = a.axes.inv_mul(&b.axes);
    let mut manifolds = Vec::new();
    let found = of_parry(a.shape, b.shape, |a, b| {
        let (found, workspace) = (&mut manifolds, &mut None);
        DefaultQueryDispatcher.contact_manifolds(&between, a, b, margin, found, workspace)
    })?;
    let rule = "parry has no contact points of these two shapes";
    validate::unless(found.is_ok(), "shapes", 0.0, rule)?;
    Ok(manifolds)
}

/// The point of a surface that is closest to a ball, seen from the ball as A or from the surface.
fn ball_on_surface(a: InOwnAxes<'_>, b: InOwnAxes<'_>) -> Result<Option<Found>, InputError> {
    if let Some(radius) = radius_of_ball(a.shape)
        && is_surface(b.shape)
    {
        let point = closest(placed_ball(a, radius), b)?;
        return Ok(point.map(Found::whole));
    }
    if let Some(radius) = radius_of_ball(b.shape)
        && is_surface(a.shape)
    {
        let point = closest(placed_ball(b, radius), a)?;
        return Ok(point.map(|point| Found::whole(point.exchanged())));
    }
    Ok(None)
}

fn placed_ball(sphere: InOwnAxes<'_>, radius: f64) -> Ball {
    let centre = vector(sphere.axes.translation);
    Ball { centre, radius }
}

/// The point of a surface that is closest to a ball A.
fn closest(ball: Ball, surface: InOwnAxes<'_>) -> Result<Option<ManifoldPoint>, InputError> {
    let Ball { centre, radius } = ball;
    let point = DVec3::from_array(centre.into());
    let found = of_parry(surface.shape, surface.shape, |shape, _| {
        shape.project_point(&surface.axes, point, false).point
    })?;
    let on_b = vector(found);
    let between = centre - on_b;
    let distance = between.norm();
    check(distance, &between, &on_b)?;
    Ok((distance > 0.0).then(|| {
        let normal = between / distance;
        ManifoldPoint {
            feature: 0,
            gap: distance - radius,
            normal,
            on_a: centre - normal * radius,
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
        ShapeKind::Sphere { radius } => then(&ParryBall::new(radius)),
        ShapeKind::Box { half } => then(&Cuboid::new(DVec3::from_array(half))),
        ShapeKind::Capsule {
            half_length,
            radius,
        } => then(&Capsule::new_z(half_length, radius)),
        ShapeKind::Plane | ShapeKind::Parry => then(&HalfSpace::new(DVec3::Z)),
    }
}
