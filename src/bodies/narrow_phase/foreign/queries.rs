//! Distances and rays of shapes of parry.

use nalgebra::Vector3;
use parry3d_f64::bounding_volume::{Aabb, BoundingVolume};
use parry3d_f64::glamx::DVec3;
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::query::{Ray as ParryRay, RayCast, RayIntersection, contact};
use parry3d_f64::shape::{HeightField, Shape as ParryShape, TypedShape};

use super::super::{FALSE, Hit, ManifoldPoint, PlacedShape, RayLine};
use super::hull_faces::{Part, better_normal, corners, separation};
use super::{InOwnAxes, is_surface, of_parry, vector};
use crate::bodies::{Pose, Shape, ShapeKind};
use crate::{InputError, validate};

/// How far one of two overlapping shapes is moved, beside the smaller, to see whether the answer stands.
const ASIDE: f64 = 1e-6;

/// Rounding of places, in units of a shape's size.
const ROUNDING: f64 = 1e-12;

/// No axis or edge of a body is likely to lie along this.
const SKEW: [f64; 3] = [0.5377, 0.6971, 0.4742];

/// The closest points of two shapes, one at least of parry, or the deepest of their overlap.
pub(in crate::bodies::narrow_phase) fn distance(
    a: PlacedShape<'_>,
    b: PlacedShape<'_>,
) -> Result<ManifoldPoint, InputError> {
    let is_plane = |of: PlacedShape<'_>| of.shape.kind() == ShapeKind::Plane;
    if is_plane(a) {
        return over_plane(b, a.pose).map(ManifoldPoint::exchanged);
    }
    if is_plane(b) {
        return over_plane(a, b.pose);
    }
    let (a, b) = (InOwnAxes::new(a), InOwnAxes::new(b));
    let found = asked(a, b);
    let radii = [a.shape, b.shape].map(Shape::bounding_radius);
    let aside = ASIDE * radii[0].min(radii[1]);
    if found.as_ref().is_ok_and(|found| found.gap > aside) {
        return found;
    }
    let found = found.map(|found| deeper(a, b, found, aside));
    let own = found.as_ref().ok();
    let better = of_parry(a.shape, b.shape, |of_a, of_b| {
        let a = Part {
            shape: of_a,
            pose: a.axes,
        };
        let b = Part {
            shape: of_b,
            pose: b.axes,
        };
        let gap = own.map_or(0.0, |point| point.gap);
        let better = better_normal(&a, &b, own.map(|point| point.normal), gap).or_else(|| {
            let normal = own?.normal;
            let along = separation(&a, &b, normal)?;
            (along < gap - FALSE * radii[0].min(radii[1])).then_some((normal, along))
        });
        let (normal, gap) = better?;
        let mut lowest = None::<ManifoldPoint>;
        corners(&a, &b, normal, |point, _| {
            if lowest.is_none_or(|other| point.gap < other.gap) {
                lowest = Some(point);
            }
        });
        lowest.or_else(|| {
            let down = DVec3::from_array((-normal).into());
            let on_a = vector(furthest(a.shape, &a.pose, down));
            Some(ManifoldPoint::from_a(0, gap, normal, on_a))
        })
    })?;
    better.map_or(found, Ok)
}

/// The answer of parry for a shape that is moved aside a little, where that is deeper by more than it is moved.
fn deeper(a: InOwnAxes<'_>, b: InOwnAxes<'_>, found: ManifoldPoint, aside: f64) -> ManifoldPoint {
    // Of bodies whose centres coincide, or one of which lies in a plane of symmetry of the other, parry may
    // miss the overlap. A depth changes by no more than a shape is moved: where it grows by more, the deeper
    // one counts.
    let shift = DVec3::from_array(SKEW) * aside;
    let mut moved = a;
    moved.axes.translation += shift;
    let Ok(beside) = asked(moved, b) else {
        return found;
    };
    if beside.gap >= found.gap - 2.0 * aside {
        return found;
    }
    let (shift, normal) = (vector(shift), beside.normal);
    let on_a = beside.on_a - shift;
    ManifoldPoint {
        gap: normal.dot(&(on_a - beside.on_b)),
        on_a,
        ..beside
    }
}

/// The answer of parry.
fn asked(a: InOwnAxes<'_>, b: InOwnAxes<'_>) -> Result<ManifoldPoint, InputError> {
    // No pair is further apart than this; parry takes squares of it.
    let far = (a.axes.translation - b.axes.translation).length();
    let within = [a.shape, b.shape].map(Shape::bounding_radius);
    let most = 2.0 * (far + within.iter().sum::<f64>()) + 1.0;
    let found = of_parry(a.shape, b.shape, |of_a, of_b| {
        contact(&a.axes, of_a, &b.axes, of_b, most)
    })?;
    let found = found.ok().flatten();
    let rule = "parry has no distance of these two shapes";
    let Some(found) = found else {
        return Err(InputError::BadSetting {
            name: "shapes",
            entry: 0,
            value: 0.0,
            rule,
        });
    };
    let (on_a, on_b) = (vector(found.point1), vector(found.point2));
    validate::finite("point of parry", on_a.as_slice())?;
    validate::finite("point of parry", on_b.as_slice())?;
    let normal = -vector(found.normal1);
    let length = normal.norm();
    let rule = "a normal of parry is no unit vector";
    validate::unless((length - 1.0).abs() < 1e-6, "normal", length, rule)?;
    let normal = normal / length;
    Ok(ManifoldPoint {
        feature: 0,
        gap: normal.dot(&(on_a - on_b)),
        normal,
        on_a,
        on_b,
    })
}

/// The lowest point of a shape over a half-space. (What parry says of the two is wrong for most poses, but of the
/// half-space and a convex shape, in this order.)
fn over_plane(placed: PlacedShape<'_>, plane: &Pose) -> Result<ManifoldPoint, InputError> {
    let normal = plane.axis(2);
    let of = InOwnAxes::new(placed);
    let down = DVec3::from_array((-normal).into());
    let lowest = of_parry(of.shape, of.shape, |shape, _| {
        furthest(shape, &of.axes, down)
    })?;
    let on_a = vector(lowest);
    validate::finite("point of parry", on_a.as_slice())?;
    let gap = normal.dot(&(on_a - plane.position()));
    Ok(ManifoldPoint::from_a(0, gap, normal, on_a))
}

/// The point of a shape that lies furthest in a direction; not a number for shapes that are refused.
fn furthest(shape: &dyn ParryShape, axes: &ParryPose, towards: DVec3) -> DVec3 {
    if let Some(convex) = shape.as_support_map() {
        return convex.support_point_toward(axes, towards);
    }
    let further = |one: DVec3, other: DVec3| {
        let is_further = towards.dot(other) > towards.dot(one);
        if is_further { other } else { one }
    };
    let all: Option<DVec3> = match shape.as_typed_shape() {
        TypedShape::Compound(parts) => (parts.shapes().iter())
            .map(|(place, part)| furthest(&*part.0, &(*axes * *place), towards))
            .reduce(further),
        TypedShape::TriMesh(mesh) => (mesh.vertices().iter())
            .map(|vertex| *axes * *vertex)
            .reduce(further),
        TypedShape::HeightField(field) => (field.triangles())
            .flat_map(|of| [of.a, of.b, of.c])
            .map(|vertex| *axes * vertex)
            .reduce(further),
        _ => None,
    };
    all.unwrap_or(DVec3::splat(f64::NAN))
}

/// Where a ray enters a shape of parry; its normal is zero for a ray that starts inside.
pub(in crate::bodies::narrow_phase) fn cast(
    placed: PlacedShape<'_>,
    line: RayLine,
    most: f64,
) -> Result<Option<Hit>, InputError> {
    let of = InOwnAxes::new(placed);
    let array = |v: Vector3<f64>| DVec3::from_array(v.into());
    let ray = ParryRay::new(array(line.origin), array(line.direction));
    let most = most.min(f64::MAX);
    let found = of_parry(of.shape, of.shape, |shape, _| {
        match shape.as_heightfield() {
            Some(field) => cast_at_field(field, &of.axes, &ray, most),
            None => shape.cast_ray_and_get_normal(&of.axes, &ray, most, true),
        }
    })?;
    let Some(found) = found else {
        return Ok(None);
    };
    let normal = vector(found.normal);
    validate::finite("distance of parry", &[found.time_of_impact])?;
    validate::finite("normal of parry", normal.as_slice())?;
    let distance = found.time_of_impact;
    // Of a ball in a compound parry's is that of its surface.
    let starts_inside = distance == 0.0 && !is_surface(placed.shape);
    let normal = if starts_inside {
        Vector3::zeros()
    } else {
        normal
    };
    Ok(Some(Hit { distance, normal }))
}

/// Where a ray meets a height field: piece by piece of about a cell, at the triangles around each. (Parry's own
/// walk over the cells misses some.)
fn cast_at_field(
    field: &HeightField,
    axes: &ParryPose,
    ray: &ParryRay,
    most: f64,
) -> Option<RayIntersection> {
    let ray = ray.inverse_transform_by(axes);
    let all = field.local_aabb();
    let margin = ROUNDING * (all.half_extents().length() + ray.origin.length());
    let (first, last) = all.loosened(margin).clip_ray_parameters(&ray)?;
    let (first, last) = (first.max(0.0), last.min(most));
    let pieces = field.nrows() + field.ncols();
    let place = |piece: usize| first + (last - first) * piece as f64 / pieces as f64;
    let mut found: Option<RayIntersection> = None;
    for piece in 0..pieces {
        let ends = [place(piece), place(piece + 1)].map(|along| ray.point_at(along));
        let around = Aabb::new(ends[0].min(ends[1]), ends[0].max(ends[1])).loosened(margin);
        field.map_elements_in_local_aabb(&around, &mut |_, triangle| {
            let nearest = found.map_or(most, |hit| hit.time_of_impact);
            if let Some(hit) = triangle.cast_local_ray_and_get_normal(&ray, nearest, true) {
                found = Some(hit);
            }
        });
        if found.is_some_and(|hit| hit.time_of_impact <= place(piece + 1)) {
            break;
        }
    }
    let turned = |hit: RayIntersection| RayIntersection {
        normal: axes.rotation * hit.normal,
        ..hit
    };
    found.map(turned)
}
