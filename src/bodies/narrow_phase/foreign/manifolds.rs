//! Contact points of shapes of parry, from its manifolds.
//!
//! A manifold of parry may hold points beyond the margin, corners twice and up to eight points of
//! two faces, and a mesh has a manifold for each triangle. Here points that coincide count once, and
//! up to eight of each patch remain (`patches`). Faces of hulls are clipped whole (`hull_faces`).
//! Of balls and capsules on meshes and height fields the points are not parry's, which can lose a
//! ball over a vertex (`on_surface`).

use nalgebra::Vector3;
use parry3d_f64::bounding_volume::BoundingVolume;
use parry3d_f64::glamx::DVec3;
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d_f64::shape::Shape as ParryShape;

use super::super::segment::Segment;
use super::super::{FEATURES, Manifold, ManifoldPoint, PlacedShape};
use super::hull_faces::{Part, better_normal, corners, separation};
use super::on_surface::{Lean, Round, rises, touches};
use super::patches::{Found, Side, is_same_normal, reduce};
use super::{InOwnAxes, has_two_sides, is_surface, of_parry, vector, with_parry};
use crate::bodies::Shape;
use crate::{InputError, validate};

/// Part of the size of a body to which it lies in a surface without doubt about its side.
const SHALLOW: f64 = 0.01;

/// Bodies that are apart by this part of the smaller have a normal of parry.
const LIFT: f64 = 1e-3;

/// Rounding of gaps beyond the reach.
const APART: f64 = 1e-6;

/// Adds the contact points of two shapes, one at least of parry, with a gap up to `margin`.
///
/// # Errors
/// [`InputError::BadSetting`] for two surfaces, and where parry panics or gives a normal that is no
/// unit vector; [`InputError::NotFinite`] for points that are not finite.
pub(in crate::bodies::narrow_phase) fn add(
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
    let size = a.shape.bounding_radius().min(b.shape.bounding_radius());
    if !add_round(a, b, reach, &mut points)? {
        for manifold in &manifolds(a, b, reach)? {
            add_manifold(a, b, manifold, reach, size, &mut points)?;
        }
        for found in &points {
            check(&found.point)?;
        }
        drop_turned(a, b, size, &mut points)?;
        drop_leaning(a, b, size, &mut points)?;
    }
    // parry returns points beyond the margin too.
    points.retain(|found| found.point.gap <= margin);
    reduce(&mut points, size, FEATURES, &mut out.many);
    Ok(())
}

/// Adds the points of a manifold, and those of whole faces where a part is a hull or parry's normal is wrong. `size`
/// is that of the smaller shape.
fn add_manifold(
    a: InOwnAxes<'_>,
    b: InOwnAxes<'_>,
    manifold: &ContactManifold<(), ()>,
    reach: f64,
    size: f64,
    points: &mut Vec<Found>,
) -> Result<(), InputError> {
    if manifold.points.is_empty() && manifold.local_n1 == DVec3::ZERO {
        return Ok(());
    }
    let own = unit(normal_of(a, manifold)).ok();
    let sides = [
        side_of(a.shape, manifold.subshape1),
        side_of(b.shape, manifold.subshape2),
    ];
    let gaps = manifold.points.iter().map(|point| point.dist);
    let lowest = gaps.fold(f64::INFINITY, f64::min);
    // A triangle of a mesh has a gap along the normals that its neighbours allow. Of one that dips into a larger body
    // parry has no points where its normal is another.
    let convex = !is_surface(a.shape) && !is_surface(b.shape);
    let (surface, other) = if is_surface(a.shape) { (a, b) } else { (b, a) };
    let tells = convex || surface.shape.bounding_radius() < other.shape.bounding_radius();
    let (mut whole, mut lift) = (false, None);
    with_part(a.shape, manifold.subshape1, |shape_a| {
        with_part(b.shape, manifold.subshape2, |shape_b| {
            let [pose_a, pose_b] = poses(a, b, manifold);
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
            let has_hull = a.hull().is_some() || b.hull().is_some();
            // Without points parry has a normal along which they are apart; or none, and that of an axis, where its
            // search failed.
            let alone = own.filter(|_| tells && manifold.points.is_empty());
            let apart = alone.and_then(|normal| separation(&a, &b, normal));
            if apart.is_some_and(|gap| gap > reach * (1.0 - APART)) {
                whole = true;
                return;
            }
            let (own, gap) = match apart {
                Some(_) => (None, reach),
                None => (own, lowest),
            };
            let better = tells.then(|| better_normal(&a, &b, own, gap)).flatten();
            if better.is_some_and(|(_, gap)| gap > reach) {
                whole = true;
                return;
            }
            let normal = better.map(|(normal, _)| normal);
            let Some(normal) = normal.or(own.filter(|_| has_hull)) else {
                return;
            };
            // First: of points that are as deep, the first are kept, and parry has points inside
            // the area.
            let before = points.len();
            let is_all = corners(&a, &b, normal, |point, is_beside| {
                let sides = sides.map(|side| match side {
                    Side::Whole if is_beside => Side::Beside,
                    side => side,
                });
                points.push(Found { sides, point });
            });
            whole |= is_all || (better.is_some() && points.len() > before);
            lift = better.map(|(normal, gap)| Lift {
                normal,
                by: LIFT * size - gap,
            });
        });
    });
    if whole {
        return Ok(());
    }
    if let Some(lift) = lift
        && add_lifted(a, b, manifold, &lift, reach, sides, points)?
    {
        return Ok(());
    }
    add_own(a, b, manifold, sides, points)
}

/// How far A is lifted off B, along the normal from B into A.
struct Lift {
    normal: Vector3<f64>,
    by: f64,
}

/// Adds the points that parry has where the parts of a manifold are apart, brought back; false where there are none.
/// Discs are squares to parry, which need not have an area in common where they touch.
fn add_lifted(
    a: InOwnAxes<'_>,
    b: InOwnAxes<'_>,
    manifold: &ContactManifold<(), ()>,
    Lift { normal, by }: &Lift,
    reach: f64,
    sides: [Side; 2],
    points: &mut Vec<Found>,
) -> Result<bool, InputError> {
    let (mut above, before) = (a, points.len());
    above.axes.translation += DVec3::from_array((normal * *by).into());
    for lifted in &manifolds(above, b, reach + by)? {
        let is_same = (lifted.subshape1, lifted.subshape2)
            == (manifold.subshape1, manifold.subshape2)
            && is_same_normal(&normal_of(above, lifted), normal);
        if is_same {
            add_own(above, b, lifted, sides, points)?;
        }
    }
    for found in &mut points[before..] {
        found.point.on_a -= normal * *by;
        found.point.gap -= by * normal.dot(&found.point.normal);
    }
    Ok(points.len() > before)
}

/// Adds the points that parry has.
fn add_own(
    a: InOwnAxes<'_>,
    b: InOwnAxes<'_>,
    manifold: &ContactManifold<(), ()>,
    sides: [Side; 2],
    points: &mut Vec<Found>,
) -> Result<(), InputError> {
    if manifold.points.is_empty() {
        return Ok(());
    }
    let normal = unit(normal_of(a, manifold))?;
    let [pose_a, pose_b] = poses(a, b, manifold);
    for point in &manifold.points {
        let point = ManifoldPoint {
            feature: 0,
            gap: point.dist,
            normal,
            on_a: vector(pose_a.transform_point(point.local_p1)),
            on_b: vector(pose_b.transform_point(point.local_p2)),
        };
        points.push(Found { sides, point });
    }
    Ok(())
}

/// The poses of the parts of a manifold.
fn poses(a: InOwnAxes<'_>, b: InOwnAxes<'_>, manifold: &ContactManifold<(), ()>) -> [ParryPose; 2] {
    let (part_a, part_b) = (manifold.subshape_pos1(), manifold.subshape_pos2());
    [
        part_a.map_or(a.axes, |part| a.axes * *part),
        part_b.map_or(b.axes, |part| b.axes * *part),
    ]
}

/// From B into A, as parry has it.
fn normal_of(a: InOwnAxes<'_>, manifold: &ContactManifold<(), ()>) -> Vector3<f64> {
    let part = manifold.subshape_pos1();
    let pose = part.map_or(a.axes, |part| a.axes * *part);
    -vector(pose.rotation * manifold.local_n1)
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

/// Adds the points of a ball or a capsule and a surface; false for other shapes, and where parry has
/// to find them.
fn add_round(
    a: InOwnAxes<'_>,
    b: InOwnAxes<'_>,
    reach: f64,
    points: &mut Vec<Found>,
) -> Result<bool, InputError> {
    let (surface, other) = if is_surface(b.shape) { (b, a) } else { (a, b) };
    let Some(round) = round(other).filter(|_| is_surface(surface.shape)) else {
        return Ok(false);
    };
    let inside = |point: Vector3<f64>| {
        let point = DVec3::from_array(point.into());
        vector(surface.axes.inverse_transform_point(point))
    };
    let outside = |point: Vector3<f64>| {
        let point = DVec3::from_array(point.into());
        vector(surface.axes.transform_point(point))
    };
    let core = round.core;
    let along = inside(core.middle + core.axis) - inside(core.middle);
    let local = Segment {
        middle: inside(core.middle),
        axis: along.normalize(),
        half: core.half,
    };
    let core = local;
    let found = of_parry(surface.shape, surface.shape, |shape, _| {
        touches(Round { core, ..round }, shape, reach)
    })?;
    let Some(found) = found else {
        return Ok(false);
    };
    let round_is_a = is_surface(b.shape);
    for touch in found {
        let on_b = outside(touch.on_surface);
        let on_core = outside(touch.on_core);
        let tip = outside(touch.on_surface + touch.normal);
        let normal = unit(tip - on_b)?;
        let distance = touch.normal.dot(&(touch.on_core - touch.on_surface));
        let point = ManifoldPoint {
            feature: 0,
            gap: distance - round.radius,
            normal,
            on_a: on_core - normal * round.radius,
            on_b,
        };
        check(&point)?;
        let side = side_of(surface.shape, touch.triangle);
        points.push(if round_is_a {
            let sides = [Side::Whole, side];
            Found { sides, point }
        } else {
            let (sides, point) = ([side, Side::Whole], point.exchanged());
            Found { sides, point }
        });
    }
    Ok(true)
}

/// Drops the points on a surface with two sides whose normals lead away from the centre of the other shape, which
/// says on which side it lies: parry takes a corner within rounding of an edge for one from below, as deep
/// as the whole shape. None is dropped where the others lie deep too: then the sides are not told.
fn drop_turned(
    a: InOwnAxes<'_>,
    b: InOwnAxes<'_>,
    size: f64,
    points: &mut Vec<Found>,
) -> Result<(), InputError> {
    let (surface, other, sign) = if is_surface(b.shape) {
        (b, a, 1.0)
    } else {
        (a, b, -1.0)
    };
    if points.len() < 2 || !has_two_sides(surface.shape) {
        return Ok(());
    }
    let centre = of_parry(other.shape, other.shape, |of, _| {
        let is_one = of.as_composite_shape().is_none();
        is_one.then(|| vector(of.compute_bounding_sphere(&other.axes).center()))
    })?;
    let Some(centre) = centre else {
        return Ok(());
    };
    let faces = |found: &Found| {
        let on_surface = if sign > 0.0 {
            found.point.on_b
        } else {
            found.point.on_a
        };
        sign * found.point.normal.dot(&(centre - on_surface)) > 0.0
    };
    let mut facing = points.iter().filter(|found| faces(found)).peekable();
    let is_there = facing.peek().is_some();
    if is_there && facing.all(|found| found.point.gap > -SHALLOW * size) {
        points.retain(faces);
    }
    Ok(())
}

/// Drops the points on a surface that it has no contact with along their normal: those whose normal
/// is not that of their triangle, where the surface rises along it. None is dropped where all would
/// be.
fn drop_leaning(
    a: InOwnAxes<'_>,
    b: InOwnAxes<'_>,
    size: f64,
    points: &mut Vec<Found>,
) -> Result<(), InputError> {
    let (surface, number) = if is_surface(b.shape) { (b, 1) } else { (a, 0) };
    if !is_surface(surface.shape) {
        return Ok(());
    }
    let inverse = surface.axes.inverse();
    let place = |found: &Found| {
        let (on, sign) = match number {
            0 => (found.point.on_a, -1.0),
            _ => (found.point.on_b, 1.0),
        };
        let normal = DVec3::from_array((found.point.normal * sign).into());
        Lean {
            point: vector(inverse.transform_point(DVec3::from_array(on.into()))),
            normal: vector(inverse.rotation * normal),
        }
    };
    let places: Vec<Lean> = points.iter().map(place).collect();
    let rising = of_parry(surface.shape, surface.shape, |shape, _| {
        rises(&places, shape, size)
    })?;
    let holds = points.iter().zip(&places).zip(&rising);
    let holds = holds.map(|((found, place), rises)| match found.sides[number] {
        Side::Plane(normal, _) => !rises || is_same_normal(&normal, &place.normal),
        _ => true,
    });
    let holds: Vec<bool> = holds.collect();
    if holds.contains(&true) {
        let mut holds = holds.into_iter();
        points.retain(|_| holds.next().unwrap_or(true));
    }
    Ok(())
}

/// A ball or a capsule, ours or parry's, in the world.
fn round(shape: InOwnAxes<'_>) -> Option<Round> {
    with_parry(shape.shape, |of_parry| {
        let (ends, radius) = if let Some(ball) = of_parry.as_ball() {
            ([DVec3::ZERO; 2], ball.radius)
        } else {
            let capsule = of_parry.as_capsule()?;
            ([capsule.segment.a, capsule.segment.b], capsule.radius)
        };
        let [from, to] = ends.map(|end| vector(shape.axes.transform_point(end)));
        let along = to - from;
        let core = Segment {
            middle: (from + to) * 0.5,
            axis: along.try_normalize(0.0).unwrap_or_else(Vector3::z),
            half: 0.5 * along.norm(),
        };
        Some(Round { core, radius })
    })
}

fn check(point: &ManifoldPoint) -> Result<(), InputError> {
    validate::finite("gap of parry", &[point.gap])?;
    validate::finite("contact point of parry", point.on_a.as_slice())?;
    validate::finite("contact point of parry", point.on_b.as_slice())
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
