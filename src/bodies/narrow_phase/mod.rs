//! Contact points of two shapes, as pure functions of their poses.
//!
//! `contact_points` chooses features (a vertex, an edge on an edge, a corner of two faces) and
//! evaluates each; `contact_point` evaluates one feature again at other poses, without a choice, so
//! that a gap is a smooth function of the poses.
//!
//! * `manifold`: the points; `convex`: a core with faces, edges and vertices, and a radius: spheres,
//!   capsules and boxes at their poses; `segment`: edges.
//! * `feature`: one feature of two convex shapes; `meet`: which of them meet, `segment_box` of a
//!   capsule and a box; `clip`: what lies over a face, and up to eight corners.
//! * `round`: cylinders and cones; `separation`: the normal between one and another shape, `outline`:
//!   the points along it.
//! * `distance`: the closest points at any distance; `ray`: where a ray enters a shape.
//! * `foreign`: shapes of parry (feature `parry`).

mod choice;
mod clip;
mod convex;
mod distance;
mod feature;
#[cfg(feature = "parry")]
mod foreign;
mod manifold;
mod meet;
mod outline;
mod ray;
mod round;
mod segment;
mod segment_box;
mod separation;
#[cfg(test)]
mod tests;

use convex::{Convex, QUARTERS};
pub(super) use distance::{bounds, distance};
use feature::Two;
pub use manifold::{CAPACITY, Manifold, ManifoldPoint};
#[cfg(feature = "parry")]
pub(super) use ray::Hit;
pub(super) use ray::{RayLine, cast};
#[cfg(feature = "parry")]
use separation::gap_along;

use super::{Pose, Shape, ShapeKind};
use crate::InputError;

/// Gaps of parry that are off by this part of the smaller body are false.
#[cfg(feature = "parry")]
const FALSE: f64 = 0.01;

/// A bound of the numbers of features of all pairs.
pub(super) const FEATURES: usize = 2048;

/// Finds the contact points of two shapes with a gap up to `margin` (m), at most eight; of shapes of
/// parry up to eight of each patch, and the deepest 2048 in all. A hull of parry over a plane has the corners of its
/// foot, and the lowest four others.
///
/// The points of flat faces are the corners of the common area, of boxes all. Of more than eight, as
/// discs and polygons have them, those remain that span the largest area; and the deepest, but of a body that
/// stands, whose corners differ in depth by less than a hundredth of the smaller body: which remain does
/// not depend on its depths, so that it does not rock from one to the other. Two planes have none.
///
/// A cylinder or a cone over a plane has the lowest points of its rims, and quarters of the rim on
/// which it stands; with a sphere the closest point. With others the normal is that of the distance, or
/// the shortest way out of the overlap, found by iteration to about 1e-7 rad, and the points are the
/// corners of the faces and edges that meet along it; a disc counts as a polygon with 32 corners.
///
/// Points that coincide, parallel axes and aligned faces have a fixed finite answer.
///
/// # Errors
/// None but for shapes of parry: [`InputError::BadSetting`] for two surfaces, and where parry panics
/// or gives a normal that is no unit vector; [`InputError::NotFinite`] for points that are not
/// finite.
///
/// ```
/// use saltation::bodies::{Manifold, Pose, Shape, contact_points};
/// let (cube, plane) = (Shape::cuboid([0.5; 3])?, Shape::plane());
/// let pose = Pose::new([0.0, 0.0, 0.6], [1.0, 0.0, 0.0, 0.0])?;
/// let mut manifold = Manifold::new();
/// contact_points((&cube, &pose), (&plane, &Pose::identity()), 0.2, &mut manifold)?;
/// assert_eq!(manifold.points().len(), 4);
/// assert!((manifold.points()[0].gap - 0.1).abs() < 1e-15);
/// # Ok::<(), saltation::InputError>(())
/// ```
pub fn contact_points(
    a: (&Shape, &Pose),
    b: (&Shape, &Pose),
    margin: f64,
    manifold: &mut Manifold,
) -> Result<(), InputError> {
    let (a, b) = (PlacedShape::new(a.0, a.1), PlacedShape::new(b.0, b.1));
    manifold.clear();
    #[cfg(feature = "parry")]
    if a.shape.kind().is_parry() || b.shape.kind().is_parry() {
        foreign::add(a, b, margin, manifold)?;
        if let Some((own_a, own_b)) = foreign::as_ours(a).zip(foreign::as_ours(b)) {
            let own_a = PlacedShape::new(&own_a.0, &own_a.1);
            replace_false(
                own_a,
                PlacedShape::new(&own_b.0, &own_b.1),
                margin,
                manifold,
            );
        }
        return Ok(());
    }
    add_own(a, b, margin, manifold);
    Ok(())
}

/// Takes the points of ours in place of parry's, where the deepest of these is not as deep as it lies along its normal:
/// of round bodies in the middle of each other parry may take the overlap for a touch.
#[cfg(feature = "parry")]
fn replace_false(a: PlacedShape<'_>, b: PlacedShape<'_>, margin: f64, out: &mut Manifold) {
    let deepest = out.points().iter().min_by(|p, q| p.gap.total_cmp(&q.gap));
    let (Some(of_a), Some(of_b), Some(point)) = (a.convex(), b.convex(), deepest) else {
        return;
    };
    let size = a.shape.bounding_radius().min(b.shape.bounding_radius());
    let gap = gap_along(&of_a, &of_b, point.normal) - of_a.radius - of_b.radius;
    if gap < point.gap - FALSE * size {
        let mut own = Manifold::new();
        add_own(a, b, margin, &mut own);
        let points = own.points().iter().enumerate();
        out.many = points
            .map(|(feature, &point)| ManifoldPoint { feature, ..point })
            .collect();
    }
}

/// Adds the points of two of our shapes, in any order.
fn add_own(a: PlacedShape<'_>, b: PlacedShape<'_>, margin: f64, out: &mut Manifold) {
    if rank(a) <= rank(b) {
        add_points(a, b, margin, out);
    } else {
        add_points(b, a, margin, out);
        out.exchange();
    }
}

/// The point of a feature that [`contact_points`] found, at other poses and whatever its gap. None
/// where the pair has no such feature, or the feature is not determined: an edge that is parallel
/// to the one it is to meet, shapes of parry, and cylinders and cones but with a plane or a sphere.
pub fn contact_point(
    a: (&Shape, &Pose),
    b: (&Shape, &Pose),
    feature: usize,
) -> Option<ManifoldPoint> {
    let (a, b) = (PlacedShape::new(a.0, a.1), PlacedShape::new(b.0, b.1));
    if a.shape.kind().is_parry() || b.shape.kind().is_parry() {
        return None;
    }
    if rank(a) <= rank(b) {
        point_of(a, b, feature)
    } else {
        point_of(b, a, feature).map(ManifoldPoint::exchanged)
    }
}

/// A shape at its pose.
#[derive(Clone, Copy)]
pub(super) struct PlacedShape<'a> {
    shape: &'a Shape,
    pose: &'a Pose,
}

impl<'a> PlacedShape<'a> {
    pub(super) fn new(shape: &'a Shape, pose: &'a Pose) -> Self {
        Self { shape, pose }
    }

    fn convex(self) -> Option<Convex<'a>> {
        Convex::of(self.shape.kind(), self.pose)
    }
}

/// The order in which the shapes of a pair are written.
fn rank(placed: PlacedShape<'_>) -> usize {
    match placed.shape.kind() {
        ShapeKind::Capsule { .. } => 0,
        ShapeKind::Sphere { .. } => 1,
        ShapeKind::Box { .. } => 2,
        ShapeKind::Cylinder { .. } | ShapeKind::Cone { .. } => 3,
        _ => 4,
    }
}

/// Number of features of a shape with a plane, and of two spheres.
pub(super) fn feature_count(a: &Shape, b: &Shape) -> usize {
    let vertices = Convex::of(a.kind(), &Pose::identity()).map_or(0, |a| a.vertices());
    if b.kind() == ShapeKind::Plane {
        vertices
    } else {
        1
    }
}

/// Adds the points.
fn add_points(a: PlacedShape<'_>, b: PlacedShape<'_>, margin: f64, out: &mut Manifold) {
    let Some(a) = a.convex() else {
        return;
    };
    if let Some(b) = b.convex() {
        return meet::add(Two { a: &a, b: &b }, margin, out);
    }
    if a.is_round() {
        return add_rims(&a, b.pose, margin, out);
    }
    // The vertices of the face that looks most into the plane, of which the lowest is one.
    let face = a.face_against(b.pose.axis(2));
    for vertex in (0..4).filter_map(|corner| a.vertex_against(face, corner)) {
        out.push_within(margin, over_plane(&a, b.pose, vertex));
    }
}

/// Adds the points of a cylinder or a cone over a plane: the lowest, and of the lowest of the other
/// disc and the quarters of this rim the lowest three.
fn add_rims(a: &Convex<'_>, plane: &Pose, margin: f64, out: &mut Manifold) {
    let point = |vertex| over_plane(a, plane, vertex);
    let (low, high) = if point(0).gap <= point(QUARTERS).gap {
        (0, QUARTERS)
    } else {
        (QUARTERS, 0)
    };
    let other = point(high);
    out.push_within(margin, point(low));
    // The apex of a cone has no rim.
    if low + 3 >= a.vertices() {
        return out.push_within(margin, other);
    }
    // Both points beside the lowest are as high as the middle of the disc.
    let [one, last, two] = [low + 1, low + 2, low + 3].map(point);
    let is_lower = other.gap < one.gap;
    let nearer = is_lower || other.gap < last.gap;
    let fourth = if nearer { other } else { last };
    let order = if is_lower {
        [other, one, two]
    } else {
        [one, two, fourth]
    };
    for point in order {
        out.push_within(margin, point);
    }
}

/// The point of a feature.
fn point_of(a: PlacedShape<'_>, b: PlacedShape<'_>, feature: usize) -> Option<ManifoldPoint> {
    let a = a.convex()?;
    match b.convex() {
        Some(b) => Two { a: &a, b: &b }.point(feature),
        None => (feature < a.vertices()).then(|| over_plane(&a, b.pose, feature)),
    }
}

/// The point of a vertex over a half-space; its number is that of the feature.
fn over_plane(a: &Convex<'_>, plane: &Pose, vertex: usize) -> ManifoldPoint {
    let normal = plane.axis(2);
    let point = if a.is_round() {
        a.rim_point(vertex, normal)
    } else {
        a.vertex(vertex)
    };
    let gap = normal.dot(&(point - plane.position())) - a.radius;
    ManifoldPoint::from_a(vertex, gap, normal, point - normal * a.radius)
}
