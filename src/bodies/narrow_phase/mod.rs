//! Contact points of two shapes, as pure functions of their poses.
//!
//! `contact_points` chooses features (a vertex, an edge on an edge, a corner of two faces) and
//! evaluates each; `contact_point` evaluates one feature again at other poses, without a choice, so
//! that a gap is a smooth function of the poses.
//!
//! * `manifold`: the points; `placed_box`, `segment`: boxes and capsules at their poses.
//! * `over_plane`: shapes over a half-space; `ball`: a ball and another shape; `capsule_capsule`,
//!   `capsule_box`: closest points of cores.
//! * `box_box`: separating axes; `face_clip`: a face of one box over a face of the other;
//!   `reduction`: four points of many.
//! * `parry_manifolds`: shapes of parry (feature `parry`); `hull_faces`: whole faces of its hulls;
//!   `patches`: few of its points.

mod ball;
mod box_box;
mod capsule_box;
mod capsule_capsule;
mod face_clip;
#[cfg(feature = "parry")]
mod hull_faces;
mod manifold;
mod over_plane;
#[cfg(feature = "parry")]
mod parry_manifolds;
#[cfg(feature = "parry")]
mod patches;
mod placed_box;
mod reduction;
mod segment;
#[cfg(test)]
mod tests;

pub use manifold::{CAPACITY, Manifold, ManifoldPoint};
use placed_box::PlacedBox;
use segment::PlacedCapsule;

use super::broad_phase::Ball;
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
    let (a, b) = (PlacedShape::new(a.0, a.1), PlacedShape::new(b.0, b.1));
    manifold.clear();
    #[cfg(feature = "parry")]
    if a.shape.kind().is_parry() || b.shape.kind().is_parry() {
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
    let (a, b) = (PlacedShape::new(a.0, a.1), PlacedShape::new(b.0, b.1));
    if a.shape.kind().is_parry() || b.shape.kind().is_parry() {
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

/// A shape at its pose.
#[derive(Clone, Copy)]
struct PlacedShape<'a> {
    shape: &'a Shape,
    pose: &'a Pose,
}

impl<'a> PlacedShape<'a> {
    fn new(shape: &'a Shape, pose: &'a Pose) -> Self {
        Self { shape, pose }
    }

    /// The ball of a sphere of this radius.
    fn ball(&self, radius: f64) -> Ball {
        let centre = self.pose.position();
        Ball { centre, radius }
    }
}

/// Number of features of a shape with a plane, and of two spheres.
pub(super) fn feature_count(a: &Shape, b: &Shape) -> usize {
    match (a.kind(), b.kind()) {
        (ShapeKind::Box { .. }, ShapeKind::Plane) => over_plane::VERTICES,
        (ShapeKind::Capsule { .. }, ShapeKind::Plane) => over_plane::ENDS,
        _ => 1,
    }
}

/// Adds the points; false for a pair that is written in the other order.
fn add_points(a: PlacedShape<'_>, b: PlacedShape<'_>, margin: f64, out: &mut Manifold) -> bool {
    use ShapeKind::{Box, Capsule, Plane, Sphere};
    match (a.shape.kind(), b.shape.kind()) {
        (Sphere { radius }, Plane) => {
            out.push_within(margin, over_plane::ball_point(0, a.ball(radius), b.pose));
        }
        (Sphere { radius: r }, Sphere { radius: s }) => {
            out.push_within(margin, ball::on_ball(a.ball(r), b.ball(s)));
        }
        (Sphere { radius }, Box { half }) => {
            let point = ball::on_box(
                0,
                a.ball(radius),
                &PlacedBox {
                    half: &half,
                    pose: b.pose,
                },
            );
            out.push_within(margin, point);
        }
        (Box { half }, Plane) => {
            let a = PlacedBox {
                half: &half,
                pose: a.pose,
            };
            over_plane::add_vertices(&a, b.pose, margin, out);
        }
        (Box { half: h }, Box { half: k }) => {
            let a = PlacedBox {
                half: &h,
                pose: a.pose,
            };
            let b = PlacedBox {
                half: &k,
                pose: b.pose,
            };
            box_box::add(&a, &b, margin, out);
        }
        (
            Capsule {
                half_length,
                radius,
            },
            _,
        ) => {
            let a = PlacedCapsule::new(a.pose, half_length, radius);
            add_capsule(&a, b, margin, out);
        }
        (Plane, Plane) => {}
        _ => return false,
    }
    true
}

/// Adds the points of a capsule and another shape.
fn add_capsule(a: &PlacedCapsule<'_>, b: PlacedShape<'_>, margin: f64, out: &mut Manifold) {
    use ShapeKind::{Box, Capsule, Plane, Sphere};
    match b.shape.kind() {
        Plane => over_plane::add_ends(a, b.pose, margin, out),
        Sphere { radius } => {
            out.push_within(margin, ball::on_capsule(a, b.ball(radius)));
        }
        Capsule {
            half_length,
            radius,
        } => {
            let b = PlacedCapsule::new(b.pose, half_length, radius);
            capsule_capsule::add(a, &b, margin, out);
        }
        Box { half } => {
            let b = PlacedBox {
                half: &half,
                pose: b.pose,
            };
            capsule_box::add(a, &b, margin, out);
        }
        #[cfg(feature = "parry")]
        ShapeKind::Parry => {}
    }
}

/// The result of the search for the point of a feature.
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

fn point_of(a: PlacedShape<'_>, b: PlacedShape<'_>, feature: usize) -> Found {
    use ShapeKind::{Box, Capsule, Plane, Sphere};
    let below = |count: usize| (feature < count).then_some(());
    let point = match (a.shape.kind(), b.shape.kind()) {
        (Sphere { radius }, Plane) => {
            below(1).map(|()| over_plane::ball_point(0, a.ball(radius), b.pose))
        }
        (Sphere { radius: r }, Sphere { radius: s }) => {
            below(1).map(|()| ball::on_ball(a.ball(r), b.ball(s)))
        }
        (Sphere { radius }, Box { half }) => {
            let b = PlacedBox {
                half: &half,
                pose: b.pose,
            };
            below(1).map(|()| ball::on_box(0, a.ball(radius), &b))
        }
        (Box { half }, Plane) => {
            let a = PlacedBox {
                half: &half,
                pose: a.pose,
            };
            below(over_plane::VERTICES).map(|()| over_plane::vertex_point(&a, b.pose, feature))
        }
        (Box { half: h }, Box { half: k }) => {
            let a = PlacedBox {
                half: &h,
                pose: a.pose,
            };
            let b = PlacedBox {
                half: &k,
                pose: b.pose,
            };
            box_box::point(&a, &b, feature)
        }
        (
            Capsule {
                half_length,
                radius,
            },
            other,
        ) => {
            let a = &PlacedCapsule::new(a.pose, half_length, radius);
            match other {
                Plane => {
                    below(over_plane::ENDS).map(|()| over_plane::end_point(a, b.pose, feature))
                }
                Sphere { radius } => below(1).map(|()| ball::on_capsule(a, b.ball(radius))),
                Capsule {
                    half_length,
                    radius,
                } => {
                    let b = PlacedCapsule::new(b.pose, half_length, radius);
                    capsule_capsule::point(a, &b, feature)
                }
                Box { half } => {
                    let b = PlacedBox {
                        half: &half,
                        pose: b.pose,
                    };
                    capsule_box::point(a, &b, feature)
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
