//! Contact points of two shapes, as pure functions of their poses; one file a pair of kinds.
//!
//! `contact_points` chooses features (a vertex, an edge on an edge, a corner of two faces) and
//! evaluates each; `contact_point` evaluates one feature again at other poses, without a choice, so
//! that a gap is a smooth function of the poses.
//!
//! * `manifold`: the points; `placed_box`, `segment`: boxes and cores of capsules at their poses.
//! * `box_box`: separating axes; `face_clip`: a face of one box over a face of the other;
//!   `reduction`: four points of many.
//! * `parry_manifolds`: shapes of parry (feature `parry`); `hull_faces`: whole faces of its hulls;
//!   `patches`: few of its points.

#[cfg(test)]
mod aligned;
mod box_box;
mod box_plane;
mod capsule_box;
mod capsule_capsule;
mod capsule_plane;
mod capsule_sphere;
mod face_clip;
#[cfg(feature = "parry")]
mod hull_faces;
mod manifold;
#[cfg(feature = "parry")]
mod parry_manifolds;
#[cfg(feature = "parry")]
mod patches;
mod placed_box;
mod reduction;
mod segment;
mod sphere_box;
mod sphere_plane;
mod sphere_sphere;
#[cfg(test)]
mod tests;

pub use manifold::{CAPACITY, Manifold, ManifoldPoint};
use placed_box::PlacedBox;
use segment::Segment;

use super::{Pose, Shape, ShapeKind};
use crate::InputError;

/// A bound of the numbers of features of all pairs.
pub(super) const FEATURES: usize = 2048;

/// Finds the contact points of two shapes with a gap up to `margin` (m), at most four; of shapes of
/// parry up to four of each patch, and the deepest 2048 in all.
///
/// The points of flat faces are the corners of the common area, reduced to four by a fixed rule:
/// the deepest, then those that span the largest area. Two planes have none.
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
    manifold.clear();
    #[cfg(feature = "parry")]
    if a.0.kind().is_parry() || b.0.kind().is_parry() {
        return parry_manifolds::add(a, b, margin, manifold);
    }
    if !add_points(a, b, margin, manifold) && add_points(b, a, margin, manifold) {
        manifold.exchange();
    }
    Ok(())
}

/// The point of a feature that [`contact_points`] found, at other poses and whatever its gap. None
/// where the pair has no such feature, or the feature is not determined: an edge that is parallel
/// to the one it is to meet, and shapes of parry.
pub fn contact_point(
    a: (&Shape, &Pose),
    b: (&Shape, &Pose),
    feature: usize,
) -> Option<ManifoldPoint> {
    if a.0.kind().is_parry() || b.0.kind().is_parry() {
        return None;
    }
    match point_of(a, b, feature) {
        Found::Point(point) => Some(point),
        Found::NoPoint => None,
        Found::OtherOrder => match point_of(b, a, feature) {
            Found::Point(point) => Some(point.exchanged()),
            _ => None,
        },
    }
}

/// Number of features of a shape with a plane, and of two spheres.
pub(super) fn feature_count(a: &Shape, b: &Shape) -> usize {
    match (a.kind(), b.kind()) {
        (ShapeKind::Box { .. }, ShapeKind::Plane) => box_plane::FEATURES,
        (ShapeKind::Capsule { .. }, ShapeKind::Plane) => capsule_plane::FEATURES,
        _ => 1,
    }
}

/// Adds the points; false for a pair that is written in the other order.
fn add_points(
    (shape_a, a): (&Shape, &Pose),
    (shape_b, b): (&Shape, &Pose),
    margin: f64,
    out: &mut Manifold,
) -> bool {
    use ShapeKind::{Box, Capsule, Plane, Sphere};
    match (shape_a.kind(), shape_b.kind()) {
        (Sphere { radius }, Plane) => {
            out.push_within(margin, sphere_plane::point(0, (a.position(), radius), b));
        }
        (Sphere { radius: r }, Sphere { radius: s }) => {
            out.push_within(margin, sphere_sphere::point((a, r), (b, s)));
        }
        (Sphere { radius }, Box { half }) => {
            let half = &PlacedBox {
                half: &half,
                pose: b,
            };
            out.push_within(margin, sphere_box::point(0, (a.position(), radius), half));
        }
        (Box { half }, Plane) => {
            box_plane::add(
                &PlacedBox {
                    half: &half,
                    pose: a,
                },
                b,
                margin,
                out,
            );
        }
        (Box { half: h }, Box { half: k }) => {
            let a = PlacedBox { half: &h, pose: a };
            let b = PlacedBox { half: &k, pose: b };
            box_box::add(&a, &b, margin, out);
        }
        (
            Capsule {
                half_length,
                radius,
            },
            other,
        ) => {
            let core = (&Segment::core(a, half_length), radius);
            add_capsule((a, core), (other, b), margin, out);
        }
        (Plane, Plane) => {}
        _ => return false,
    }
    true
}

/// Adds the points of a capsule with its core and another shape.
fn add_capsule(
    (a, core): (&Pose, (&Segment, f64)),
    (other, b): (ShapeKind, &Pose),
    margin: f64,
    out: &mut Manifold,
) {
    use ShapeKind::{Box, Capsule, Plane, Sphere};
    match other {
        Plane => capsule_plane::add(core, b, margin, out),
        Sphere { radius } => {
            out.push_within(margin, capsule_sphere::point(a, core, (b, radius)));
        }
        Capsule {
            half_length,
            radius,
        } => {
            let other = (&Segment::core(b, half_length), radius);
            capsule_capsule::add(a, core, other, margin, out);
        }
        Box { half } => {
            capsule_box::add(
                core,
                &PlacedBox {
                    half: &half,
                    pose: b,
                },
                margin,
                out,
            );
        }
        #[cfg(feature = "parry")]
        ShapeKind::Parry => {}
    }
}

/// What became of a feature.
enum Found {
    Point(ManifoldPoint),
    NoPoint,
    /// The pair is written in the other order.
    OtherOrder,
}

impl From<Option<ManifoldPoint>> for Found {
    fn from(point: Option<ManifoldPoint>) -> Self {
        point.map_or(Self::NoPoint, Self::Point)
    }
}

fn point_of((shape_a, a): (&Shape, &Pose), (shape_b, b): (&Shape, &Pose), feature: usize) -> Found {
    use ShapeKind::{Box, Capsule, Plane, Sphere};
    let below = |count: usize| (feature < count).then_some(());
    let point = match (shape_a.kind(), shape_b.kind()) {
        (Sphere { radius }, Plane) => {
            below(1).map(|()| sphere_plane::point(0, (a.position(), radius), b))
        }
        (Sphere { radius: r }, Sphere { radius: s }) => {
            below(1).map(|()| sphere_sphere::point((a, r), (b, s)))
        }
        (Sphere { radius }, Box { half }) => {
            let half = &PlacedBox {
                half: &half,
                pose: b,
            };
            below(1).map(|()| sphere_box::point(0, (a.position(), radius), half))
        }
        (Box { half }, Plane) => {
            let cuboid = &PlacedBox {
                half: &half,
                pose: a,
            };
            below(box_plane::FEATURES).map(|()| box_plane::point(cuboid, b, feature))
        }
        (Box { half: h }, Box { half: k }) => {
            let a = PlacedBox { half: &h, pose: a };
            let b = PlacedBox { half: &k, pose: b };
            box_box::point(&a, &b, feature)
        }
        (
            Capsule {
                half_length,
                radius,
            },
            other,
        ) => {
            let core = (&Segment::core(a, half_length), radius);
            match other {
                Plane => {
                    below(capsule_plane::FEATURES).map(|()| capsule_plane::point(core, b, feature))
                }
                Sphere { radius } => below(1).map(|()| capsule_sphere::point(a, core, (b, radius))),
                Capsule {
                    half_length,
                    radius,
                } => {
                    let other = (&Segment::core(b, half_length), radius);
                    capsule_capsule::point(a, core, other, feature)
                }
                Box { half } => {
                    let half = &PlacedBox {
                        half: &half,
                        pose: b,
                    };
                    capsule_box::point(core, half, feature)
                }
                #[cfg(feature = "parry")]
                ShapeKind::Parry => None,
            }
        }
        (Plane, Plane) => None,
        _ => return Found::OtherOrder,
    };
    point.into()
}
