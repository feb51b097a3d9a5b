//! Shapes of bodies: volume, inertia, bounding sphere.

use super::Pose;
#[cfg(feature = "parry")]
use super::parry_shape::{Foreign, Triangles};
use crate::{InputError, validate};

/// A shape with its centre of mass at the origin of the axes of the body.
///
/// ```
/// use saltation::bodies::Shape;
/// let cube = Shape::cuboid([0.05, 0.05, 0.05])?;
/// assert!((cube.volume() - 1e-3).abs() < 1e-15);
/// assert!(Shape::sphere(-1.0).is_err());
/// # Ok::<(), saltation::InputError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    kind: ShapeKind,
    #[cfg(feature = "parry")]
    pub(super) foreign: Option<Foreign>,
}

/// The kind of a [`Shape`] and its lengths (m), for readers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum ShapeKind {
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A box.
    Box {
        /// Half lengths of the edges along x, y and z.
        half: [f64; 3],
    },
    /// All points within `radius` of a segment on the z axis.
    Capsule {
        /// Half length of the segment.
        half_length: f64,
        /// Radius.
        radius: f64,
    },
    /// All points within `radius` of the z axis, up to `half_length` above and below the centre.
    Cylinder {
        /// Half length along the axis.
        half_length: f64,
        /// Radius.
        radius: f64,
    },
    /// A cone about the z axis, its foot a quarter of the height below the centre of mass, its apex
    /// on top.
    Cone {
        /// Height.
        height: f64,
        /// Radius of the foot.
        radius: f64,
    },
    /// The half-space `z ≤ 0`; its normal is the z axis.
    Plane,
    /// A shape of parry (feature `parry`).
    #[cfg(feature = "parry")]
    Parry,
}

impl ShapeKind {
    /// True for a shape of parry, whose contacts come from parry.
    pub(super) fn is_parry(self) -> bool {
        match self {
            #[cfg(feature = "parry")]
            Self::Parry => true,
            _ => false,
        }
    }
}

impl Shape {
    pub(super) fn of(kind: ShapeKind) -> Self {
        Self {
            kind,
            #[cfg(feature = "parry")]
            foreign: None,
        }
    }

    /// Refuses a shape whose volume or moments of inertia overflow, or vanish.
    fn measured(self) -> Result<Self, InputError> {
        validate::positive("volume of a shape", &[self.volume()])?;
        validate::positive("moment of inertia of a shape", &self.inertia())?;
        Ok(self)
    }

    /// A ball.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for a radius, volume or moment that is not finite and > 0.
    pub fn sphere(radius: f64) -> Result<Self, InputError> {
        validate::positive("radius", &[radius])?;
        Self::of(ShapeKind::Sphere { radius }).measured()
    }

    /// A box with these half lengths of its edges.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for a length, volume or moment that is not finite and > 0.
    pub fn cuboid(half: [f64; 3]) -> Result<Self, InputError> {
        validate::positive("half length of an edge", &half)?;
        Self::of(ShapeKind::Box { half }).measured()
    }

    /// A capsule along the z axis: all points within `radius` of a segment of length
    /// `2 half_length`.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for a length, volume or moment that is not finite and > 0.
    pub fn capsule(half_length: f64, radius: f64) -> Result<Self, InputError> {
        validate::positive("half length", &[half_length])?;
        validate::positive("radius", &[radius])?;
        Self::of(ShapeKind::Capsule {
            half_length,
            radius,
        })
        .measured()
    }

    /// A cylinder along the z axis, `2 half_length` long.
    ///
    /// On a plane it touches at the ends of its lowest line, or at four points of the rim on which it
    /// stands; see [`contact_points`](super::contact_points) for other shapes.
    ///
    /// ```
    /// use saltation::bodies::{Body, Scene, Shape};
    /// use saltation::{Compliant, Start};
    /// let mut scene = Scene::new();
    /// scene.gravity([9.81 * 0.2f64.sin(), 0.0, -9.81 * 0.2f64.cos()])?; // down a slope
    /// scene.add(Body::fixed(Shape::plane()))?;
    /// let half = 0.5_f64.sqrt();
    /// let lying = Body::new(Shape::cylinder(0.1, 0.05)?).orientation([half, half, 0.0, 0.0]);
    /// scene.add(lying.position([0.0, 0.0, 0.05]))?;
    /// let (q, v) = scene.start();
    /// let mut stepper = Compliant::new(scene)?.time_step(0.005);
    /// let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 1.0)?.completed()?;
    /// let rolling = 2.0 / 3.0 * 9.81 * 0.2_f64.sin();
    /// assert!((run.state()[10] - rolling).abs() < 1e-4); // m/s
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for a length, volume or moment that is not finite and > 0.
    pub fn cylinder(half_length: f64, radius: f64) -> Result<Self, InputError> {
        validate::positive("half length", &[half_length])?;
        validate::positive("radius", &[radius])?;
        let kind = ShapeKind::Cylinder {
            half_length,
            radius,
        };
        Self::of(kind).measured()
    }

    /// A cone about the z axis: its centre of mass is the origin, its foot lies at `−height / 4`, its
    /// apex at `3 height / 4`.
    ///
    /// ```
    /// use saltation::bodies::{Manifold, Pose, Shape, contact_points};
    /// let (cone, plane) = (Shape::cone(0.4, 0.1)?, Shape::plane());
    /// let standing = Pose::new([0.0, 0.0, 0.1], [1.0, 0.0, 0.0, 0.0])?;
    /// let mut manifold = Manifold::new();
    /// contact_points((&cone, &standing), (&plane, &Pose::identity()), 0.01, &mut manifold)?;
    /// assert_eq!(manifold.points().len(), 4); // of the rim
    /// # Ok::<(), saltation::InputError>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for a length, volume or moment that is not finite and > 0.
    pub fn cone(height: f64, radius: f64) -> Result<Self, InputError> {
        validate::positive("height", &[height])?;
        validate::positive("radius", &[radius])?;
        Self::of(ShapeKind::Cone { height, radius }).measured()
    }

    /// The half-space `z ≤ 0`, for fixed bodies only.
    pub fn plane() -> Self {
        Self::of(ShapeKind::Plane)
    }

    /// A shape of [parry](https://docs.rs/parry3d-f64): a convex hull, a cylinder, a cone, a triangle
    /// mesh, a height field, a compound of convex parts. It needs the feature `parry`;
    /// [`bodies::parry`](super::parry) is that crate.
    ///
    /// The centre of the body is the centre of mass of the shape at one density, and its axes are
    /// the principal axes; where both coincide with the axes of the shape, nothing is turned.
    /// [`frame`](Self::frame) says where the axes of the shape are, and
    /// [`Body::placed`](super::Body::placed) places a body by them. Parts of a compound that overlap
    /// count twice.
    ///
    /// Without a volume are meshes that are not closed (edges are compared by the numbers of their
    /// vertices) or do not look outwards, height fields, triangles and rounded shapes, of which parry
    /// measures the core alone. Such a shape keeps its axes, and needs a fixed body or one with a
    /// given [`mass`](super::Body::mass) about the origin of the shape.
    ///
    /// ```
    /// use saltation::bodies::parry::shape::SharedShape;
    /// use saltation::bodies::{Body, Pose, Scene, Shape};
    /// use saltation::{Compliant, Start};
    /// let mut scene = Scene::new();
    /// scene.add(Body::fixed(Shape::plane()))?;
    /// let cylinder = Shape::parry(SharedShape::cylinder(0.1, 0.05))?; // along y, 0.2 m long
    /// let upright = Pose::new([0.0, 0.0, 0.12], [0.5_f64.sqrt(), 0.5_f64.sqrt(), 0.0, 0.0])?;
    /// let body = scene.add(Body::new(cylinder).placed(&upright))?;
    /// let (q, v) = scene.start();
    /// let mut stepper = Compliant::new(scene.clone())?.time_step(0.01);
    /// let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 0.5)?.completed()?;
    /// let frame = scene.frame(body, &run.state().as_slice()[..7]).expect("a body");
    /// assert!((frame.position().z - 0.1).abs() < 1e-4);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # What is different
    ///
    /// * Contact points are those of parry's manifolds, found afresh at each call, so that they are
    ///   a function of the poses alone, and the corners of whole faces of hulls. Over a plane a hull has the
    ///   corners of its foot (the face that looks most into it, and faces that lean to this by less than 0.05)
    ///   and the lowest four others. Where convex shapes touch or overlap, and parry has a normal along which
    ///   they are deeper than along that of a face or an axis, or none, the least overlap of these counts;
    ///   normals of two edges are not tried. Where balls, boxes, capsules, cylinders and cones are deeper in each
    ///   other, by a hundredth of the smaller, than parry has it, the points are those of ours. Points beyond the
    ///   margin and points that coincide are left out. Corners that are not yet in touch may have no
    ///   point. Up to eight remain of those that have one normal and lie on one part of a compound
    ///   or one plane of a mesh, by the rule of [`contact_points`](super::contact_points). Fine
    ///   meshes give many. Each call allocates.
    /// * A contact has no feature to be found again by: its number counts the points of its pair.
    ///   A step with such a contact has no derivative, and
    ///   [`fixed_contacts`](super::Scene::fixed_contacts) refuses the body.
    /// * Round faces touch flat ones in few points: a cylinder stands on four of a plane, on eight of a box.
    /// * A mesh is a surface: what is behind it is not inside, and two surfaces (meshes, height
    ///   fields) whose upright bounding boxes come as near as the margin end a run with an error.
    ///   Make moving bodies of convex parts.
    /// * Nothing trips on edges between the triangles of a flat or hollow surface. Balls and capsules
    ///   have the points that are closest on the whole surface, with exact normals on ridges and
    ///   borders; for other shapes parry corrects normals, with the flag `FIX_INTERNAL_EDGES`. Height
    ///   fields and meshes that come without it are copied and get it, meshes for both sides: the centre of a
    ///   body says on which one it lies. Heights of a height field are along its y axis: a quarter turn about x
    ///   lays it down. A height field that gets the flag has one
    ///   side, as a mesh has that comes with it: a ball whose centre lies less than the radius behind
    ///   the surface is pushed back through it. The triangles of a mesh must look the same way.
    /// * Tolerances of parry are lengths: shapes below 1 mm have gaps wrong by up to their size. Give
    ///   them in millimetres, or take shapes of ours. Distances and rays of balls, boxes, capsules, cylinders
    ///   and cones are those of ours.
    /// * Where parry panics the pair is refused. Its message still goes to the standard error, and
    ///   where panics abort, the program ends.
    ///
    /// Two such shapes are equal (`==`) when they share their memory.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for other kinds (a half-space, which is [`plane`](Self::plane),
    /// segments, polylines, voxels, kinds of your own), for a size, volume or moment that is not
    /// finite and > 0, and where parry panics; [`InputError::NotFinite`] for vertices, heights and
    /// poses of parts.
    #[cfg(feature = "parry")]
    pub fn parry(shape: parry3d_f64::shape::SharedShape) -> Result<Self, InputError> {
        Ok(Self {
            kind: ShapeKind::Parry,
            foreign: Some(Foreign::new(shape)?),
        })
    }

    /// The kind and the lengths.
    pub fn kind(&self) -> ShapeKind {
        self.kind
    }

    /// Volume (m³); infinite for a plane, 0 for a shape of parry without one.
    pub fn volume(&self) -> f64 {
        match self.kind {
            ShapeKind::Sphere { radius } => ball(radius),
            ShapeKind::Box { half } => 8.0 * half[0] * half[1] * half[2],
            ShapeKind::Capsule {
                half_length,
                radius,
            } => cylinder(half_length, radius) + ball(radius),
            ShapeKind::Cylinder {
                half_length,
                radius,
            } => cylinder(half_length, radius),
            ShapeKind::Cone { height, radius } => cylinder(0.5 * height, radius) / 3.0,
            ShapeKind::Plane => f64::INFINITY,
            #[cfg(feature = "parry")]
            ShapeKind::Parry => self.foreign.as_ref().map_or(0.0, |shape| shape.volume),
        }
    }

    /// Moments of inertia about the shape's axes at density 1 kg/m³ (m⁵); infinite for a plane.
    pub fn inertia(&self) -> [f64; 3] {
        match self.kind {
            ShapeKind::Sphere { radius } => [0.4 * ball(radius) * radius * radius; 3],
            ShapeKind::Box { half: [x, y, z] } => {
                let third = self.volume() / 3.0;
                [y * y + z * z, x * x + z * z, x * x + y * y].map(|sum| third * sum)
            }
            ShapeKind::Capsule {
                half_length: l,
                radius: r,
            } => {
                // Two half balls at the ends of a cylinder; the centre of a half ball lies at 3/8 r.
                let (cylinder, ball) = (cylinder(l, r), ball(r));
                let axial = (0.5 * cylinder + 0.4 * ball) * r * r;
                let across = cylinder * (0.25 * r * r + l * l / 3.0)
                    + ball * (0.4 * r * r + l * l + 0.75 * l * r);
                [across, across, axial]
            }
            ShapeKind::Cylinder {
                half_length: l,
                radius: r,
            } => {
                let across = 0.25 * r * r + l * l / 3.0;
                [across, across, 0.5 * r * r].map(|moment| self.volume() * moment)
            }
            ShapeKind::Cone {
                height: h,
                radius: r,
            } => {
                let across = 0.15 * r * r + 0.0375 * h * h;
                [across, across, 0.3 * r * r].map(|moment| self.volume() * moment)
            }
            ShapeKind::Plane => [f64::INFINITY; 3],
            #[cfg(feature = "parry")]
            ShapeKind::Parry => self
                .foreign
                .as_ref()
                .map_or([0.0; 3], |shape| shape.inertia),
        }
    }

    /// Radius of a ball about the centre that holds the shape (m), the smallest but for shapes of
    /// parry; infinite for a plane.
    pub fn bounding_radius(&self) -> f64 {
        match self.kind {
            ShapeKind::Sphere { radius } => radius,
            ShapeKind::Box { half: [x, y, z] } => x.hypot(y).hypot(z),
            ShapeKind::Capsule {
                half_length,
                radius,
            } => half_length + radius,
            ShapeKind::Cylinder {
                half_length,
                radius,
            } => half_length.hypot(radius),
            ShapeKind::Cone { height, radius } => (0.75 * height).max(radius.hypot(0.25 * height)),
            ShapeKind::Plane => f64::INFINITY,
            #[cfg(feature = "parry")]
            ShapeKind::Parry => self.foreign.as_ref().map_or(0.0, |shape| shape.radius),
        }
    }

    /// The pose, in the axes of the body, of the axes in which the shape was given: the identity but
    /// for shapes of parry, whose centre of mass may lie elsewhere.
    pub fn frame(&self) -> Pose {
        #[cfg(feature = "parry")]
        if let Some(shape) = &self.foreign {
            return shape.frame;
        }
        Pose::identity()
    }
}

#[cfg(feature = "parry")]
impl Shape {
    /// Triangles of the surface of a shape of parry, in the axes of the body, to look at.
    pub(crate) fn triangles(&self) -> Triangles {
        let foreign = self.foreign.as_ref();
        foreign.map_or_else(Triangles::default, Foreign::triangles)
    }
}

fn ball(r: f64) -> f64 {
    4.0 / 3.0 * std::f64::consts::PI * r * r * r
}

fn cylinder(half_length: f64, r: f64) -> f64 {
    2.0 * half_length * std::f64::consts::PI * r * r
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Volume and inertia by the midpoint rule on a grid of the cube of half width `r`.
    fn sampled(r: f64, inside: impl Fn([f64; 3]) -> bool) -> (f64, [f64; 3]) {
        let cells = 120;
        let width = 2.0 * r / f64::from(cells);
        let at = |i: i32| -r + (f64::from(i) + 0.5) * width;
        let (mut volume, mut inertia) = (0.0, [0.0; 3]);
        for i in 0..cells {
            for j in 0..cells {
                for k in 0..cells {
                    let p = [at(i), at(j), at(k)];
                    if inside(p) {
                        let cell = width * width * width;
                        let [x, y, z] = p.map(|c| c * c * cell);
                        volume += cell;
                        inertia[0] += y + z;
                        inertia[1] += x + z;
                        inertia[2] += x + y;
                    }
                }
            }
        }
        (volume, inertia)
    }

    /// The faces of boxes must lie on the grid; a circle of 20 cells is right to about 0.5 %.
    fn compare(shape: &Shape, r: f64, inside: impl Fn([f64; 3]) -> bool) {
        let (volume, inertia) = sampled(r, inside);
        assert!((shape.volume() / volume - 1.0).abs() < 5e-3);
        for (found, expected) in shape.inertia().iter().zip(inertia) {
            assert!((found / expected - 1.0).abs() < 1e-2, "{found} {expected}");
        }
    }

    #[test]
    fn volumes_and_inertias_are_those_of_a_sum_over_cells() {
        compare(&Shape::sphere(0.3).unwrap(), 0.3, |[x, y, z]| {
            x * x + y * y + z * z < 0.09
        });
        compare(
            &Shape::cuboid([0.3, 0.2, 0.4]).unwrap(),
            0.4,
            |[x, y, z]| x.abs() < 0.3 && y.abs() < 0.2 && z.abs() < 0.4,
        );
        compare(&Shape::capsule(0.4, 0.2).unwrap(), 0.6, |[x, y, z]| {
            let beyond = (z.abs() - 0.4).max(0.0);
            x * x + y * y + beyond * beyond < 0.04
        });
        // cylinders and cones
        compare(&Shape::cylinder(0.4, 0.3).unwrap(), 0.4, |[x, y, z]| {
            x * x + y * y < 0.09 && z.abs() < 0.4
        });
        compare(&Shape::cone(0.4, 0.3).unwrap(), 0.3, |[x, y, z]| {
            x.hypot(y) < 0.3 * (0.75 - z / 0.4) && z > -0.1
        });
    }

    #[test]
    fn lengths_that_make_no_sense_are_refused() {
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Shape::sphere(wrong).is_err());
            assert!(Shape::capsule(wrong, 1.0).is_err() && Shape::capsule(1.0, wrong).is_err());
            assert!(Shape::cylinder(wrong, 1.0).is_err() && Shape::cylinder(1.0, wrong).is_err());
            assert!(Shape::cone(wrong, 1.0).is_err() && Shape::cone(1.0, wrong).is_err());
            assert!(matches!(
                Shape::cuboid([1.0, wrong, 1.0]),
                Err(InputError::BadSetting { entry: 1, .. })
            ));
        }
    }

    /// The volume of a ball of 1e150 m overflows, the moments of one of 1e-70 m vanish.
    #[test]
    fn sizes_without_volume_or_moments_are_refused() {
        for wrong in [1e-150, 1e-70, 1e70, 1e150] {
            for shape in [
                Shape::sphere(wrong),
                Shape::cuboid([wrong; 3]),
                Shape::capsule(wrong, wrong),
                Shape::cylinder(wrong, wrong),
                Shape::cone(wrong, wrong),
            ] {
                assert!(
                    matches!(shape, Err(InputError::BadSetting { .. })),
                    "{wrong}"
                );
            }
        }
        assert!(Shape::sphere(1e-50).is_ok() && Shape::sphere(1e50).is_ok());
    }

    #[test]
    fn a_plane_has_no_bounds() {
        let plane = Shape::plane();
        assert!(plane.bounding_radius().is_infinite() && plane.volume().is_infinite());
        assert_eq!(plane.kind(), ShapeKind::Plane);
    }
}
