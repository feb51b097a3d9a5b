//! Convex shapes at their poses: a core with vertices, edges and faces by number, and a radius about
//! it. A sphere is a point with a radius, a capsule a segment with one; boxes, cylinders and cones
//! have the radius zero. Of these two the features are in `round`.
//!
//! * A point has vertex 0. A segment has edge 0, and vertex 0 at its negative side.
//! * Vertex `v` of a box: bit `k` is set where coordinate `k` is negative.
//! * Edge `4 k + s`: along axis `k`; bits 0 and 1 of `s` are set where the coordinates along axes
//!   `k + 1` and `k + 2` are negative.
//! * Face `2 k + s`: across axis `k`, `s = 1` on the negative side. Its corners 0 to 3 go round.

use nalgebra::Vector3;

use super::segment::Segment;
use crate::bodies::{Pose, ShapeKind};

/// All points within `radius` of a core, at its pose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Convex<'a> {
    pub(super) core: Core,
    /// Half lengths of the core along the axes of the pose; a segment lies along the third.
    pub(super) half: [f64; 3],
    pub(super) radius: f64,
    pub(super) pose: &'a Pose,
}

/// The kind of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Core {
    Point,
    Segment,
    Box,
    Cylinder,
    Cone,
}

/// The point of a core that is nearest to another point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nearest {
    pub(super) on: Vector3<f64>,
    /// Unit normal towards the other point; none where it lies on a point or a segment.
    pub(super) normal: Option<Vector3<f64>>,
    /// Negative inside a box, a cylinder and a cone.
    pub(super) distance: f64,
}

/// Points of the rim of a disc by number.
pub(super) const QUARTERS: usize = 4;

/// Sine of the angle below which the closest points of two segments, and the lowest of a rim, are not
/// determined.
pub(super) const ALIGNED: f64 = 1e-6;

/// −1 for an odd number, else 1.
pub(super) fn sign_of(bit: usize) -> f64 {
    if bit & 1 == 1 { -1.0 } else { 1.0 }
}

/// The two axes across axis `k`.
pub(super) fn others(k: usize) -> (usize, usize) {
    ((k + 1) % 3, (k + 2) % 3)
}

impl<'a> Convex<'a> {
    /// None for a half-space and a shape of parry.
    #[inline]
    pub(super) fn of(kind: ShapeKind, pose: &'a Pose) -> Option<Self> {
        let (core, half, radius) = match kind {
            ShapeKind::Sphere { radius } => (Core::Point, [0.0; 3], radius),
            ShapeKind::Capsule {
                half_length,
                radius,
            } => (Core::Segment, [0.0, 0.0, half_length], radius),
            ShapeKind::Box { half } => (Core::Box, half, 0.0),
            ShapeKind::Cylinder {
                half_length,
                radius,
            } => (Core::Cylinder, [radius, radius, half_length], 0.0),
            ShapeKind::Cone { height, radius } => (Core::Cone, [radius, radius, height], 0.0),
            ShapeKind::Plane => return None,
            #[cfg(feature = "parry")]
            ShapeKind::Parry => return None,
        };
        Some(Self {
            core,
            half,
            radius,
            pose,
        })
    }

    /// Number of vertices.
    pub(super) fn vertices(&self) -> usize {
        match self.core {
            Core::Point => 1,
            Core::Segment => 2,
            Core::Box | Core::Cylinder => 8,
            Core::Cone => QUARTERS + 1,
        }
    }

    /// Number of edges.
    pub(super) fn edges(&self) -> usize {
        match self.core {
            Core::Point | Core::Cylinder | Core::Cone => 0,
            Core::Segment => 1,
            Core::Box => 12,
        }
    }

    /// Number of faces.
    pub(super) fn faces(&self) -> usize {
        if self.core == Core::Box { 6 } else { 0 }
    }

    /// Number of features that can lie over a face of another shape: faces, else edges.
    pub(super) fn incidents(&self) -> usize {
        self.faces().max(usize::from(self.core == Core::Segment))
    }

    fn at_signs(&self, signs: [f64; 3]) -> Vector3<f64> {
        let ([x, y, z], half) = (signs, &self.half);
        self.pose
            .to_world(Vector3::new(x * half[0], y * half[1], z * half[2]))
    }

    pub(super) fn vertex(&self, v: usize) -> Vector3<f64> {
        match self.core {
            Core::Point | Core::Cylinder | Core::Cone => self.pose.position(),
            Core::Segment => self.edge(0).end(v),
            Core::Box => self.at_signs([sign_of(v), sign_of(v >> 1), sign_of(v >> 2)]),
        }
    }

    pub(super) fn edge(&self, edge: usize) -> Segment {
        let (middle, k) = match self.core {
            Core::Point | Core::Segment | Core::Cylinder | Core::Cone => (self.pose.position(), 2),
            Core::Box => {
                let k = edge / 4;
                let (i, j) = others(k);
                let mut signs = [0.0; 3];
                signs[i] = sign_of(edge);
                signs[j] = sign_of(edge >> 1);
                (self.at_signs(signs), k)
            }
        };
        Segment {
            middle,
            axis: self.pose.axis(k),
            half: self.half[k],
        }
    }

    /// The vertices at the ends of an edge.
    pub(super) fn edge_ends(&self, edge: usize) -> [usize; 2] {
        if self.core != Core::Box {
            return [0, 1];
        }
        let k = edge / 4;
        let (i, j) = others(k);
        let low = ((edge & 1) << i) | (((edge >> 1) & 1) << j);
        [low, low | 1 << k]
    }

    /// The edge of a box along axis `k` that lies furthest along `direction`.
    pub(super) fn edge_towards(&self, k: usize, direction: Vector3<f64>) -> usize {
        let (i, j) = others(k);
        let negative = |axis| usize::from(self.pose.axis(axis).dot(&direction) < 0.0);
        4 * k + negative(i) + 2 * negative(j)
    }

    /// Outward normal of a face.
    pub(super) fn face_normal(&self, face: usize) -> Vector3<f64> {
        self.pose.axis(face / 2) * sign_of(face)
    }

    /// A quarter of the area of a face of a box.
    pub(super) fn area_of_face(&self, face: usize) -> f64 {
        let (i, j) = others(face / 2);
        self.half[i] * self.half[j]
    }

    /// The face of a box whose outward normal is most opposite to `normal`, the first of several;
    /// 0 for other cores, which have one feature over a face.
    pub(super) fn face_against(&self, normal: Vector3<f64>) -> usize {
        if self.core != Core::Box {
            return 0;
        }
        let (mut face, mut most) = (0, -1.0);
        for k in 0..3 {
            let along = self.pose.axis(k).dot(&normal);
            if along.abs() > most {
                (face, most) = (2 * k + usize::from(along > 0.0), along.abs());
            }
        }
        face
    }

    /// The vertices of a corner of the face that looks most against `normal`, or of the whole core;
    /// none beyond the last.
    pub(super) fn vertex_against(&self, face: usize, corner: usize) -> Option<usize> {
        if self.core != Core::Box {
            return (corner < self.vertices()).then_some(corner);
        }
        let k = face / 2;
        let (i, j) = others(k);
        let (at_i, at_j) = (
            usize::from(corner == 1 || corner == 2),
            usize::from(corner >= 2),
        );
        (corner < 4).then_some(((face & 1) << k) | (at_i << i) | (at_j << j))
    }

    /// Half the extent of a box along a unit vector.
    pub(super) fn extent(&self, direction: Vector3<f64>) -> f64 {
        let along = self.pose.turned_back(direction);
        self.half[0] * along.x.abs() + self.half[1] * along.y.abs() + self.half[2] * along.z.abs()
    }

    /// The shortest half length of the core.
    pub(super) fn least_half(&self) -> f64 {
        match self.core {
            Core::Point | Core::Segment => self.half[2],
            Core::Box | Core::Cylinder | Core::Cone => {
                self.half[0].min(self.half[1]).min(self.half[2])
            }
        }
    }

    pub(super) fn nearest_of_box(&self, point: Vector3<f64>) -> Nearest {
        let (half, point) = (&self.half, self.pose.to_body(point));
        let mut on = Vector3::from_fn(|k, _| point[k].clamp(-half[k], half[k]));
        let beyond = point - on;
        let mut distance = beyond.norm();
        let normal = if distance > 0.0 {
            beyond / distance
        } else {
            let depth = |k: usize| point[k].abs() - half[k];
            let face = (1..3).fold(0, |face, k| if depth(k) > depth(face) { k } else { face });
            let sign = 1f64.copysign(point[face]);
            (on, distance) = (point, depth(face));
            on[face] = sign * half[face];
            let mut normal = Vector3::zeros();
            normal[face] = sign;
            normal
        };
        Nearest {
            on: self.pose.to_world(on),
            normal: Some(self.pose.turned(normal)),
            distance,
        }
    }
}
