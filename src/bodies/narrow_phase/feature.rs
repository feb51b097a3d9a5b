//! The contact point of one feature of two convex shapes, at any poses.
//!
//! The features of a pair by number, the same for all pairs: the vertices of A and of B, each
//! against the other shape; the edges of A with those of B; the corners of a face and what lies over
//! it.

use nalgebra::Vector3;

use super::ManifoldPoint;
use super::clip::{CORNERS, FacePair};
use super::convex::{ALIGNED, Convex, Core};
use super::separation::gap_along;

const EDGES: usize = 2 * 8;
const FACES: usize = EDGES + 12 * 12;
const END: usize = FACES + 2 * 6 * 6 * CORNERS;
const _: () = assert!(END + super::CAPACITY <= super::FEATURES);

/// Points that are no further apart, by the largest of places, have no direction from one to the other.
pub(super) const TOUCHING: f64 = 1e-10;

/// One of two shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    A,
    B,
}

/// The face of a box over which the other shape lies.
#[derive(Clone, Copy)]
pub(super) struct Face {
    pub(super) reference: Side,
    pub(super) face: usize,
}

/// A pair of convex shapes.
#[derive(Clone, Copy)]
pub(super) struct Two<'a> {
    pub(super) a: &'a Convex<'a>,
    pub(super) b: &'a Convex<'a>,
}

impl<'a> Two<'a> {
    /// One of them, and the other.
    fn of_side(&self, side: Side) -> (&'a Convex<'a>, &'a Convex<'a>) {
        match side {
            Side::A => (self.a, self.b),
            Side::B => (self.b, self.a),
        }
    }

    /// The sum of the radii: a gap is the distance of the cores without it.
    pub(super) fn radii(&self) -> f64 {
        self.a.radius + self.b.radius
    }

    /// The shorter of the shortest half lengths.
    pub(super) fn least_half(&self) -> f64 {
        self.a.least_half().min(self.b.least_half())
    }

    /// The point of a feature; none where the pair has no such feature, or it is not determined.
    pub(super) fn point(&self, feature: usize) -> Option<ManifoldPoint> {
        let is_round = self.a.is_round() || self.b.is_round();
        if is_round && !(self.a.core == Core::Point && feature == 0) {
            None
        } else if feature < EDGES {
            let side = if feature < 8 { Side::A } else { Side::B };
            let owner = self.of_side(side).0;
            (feature % 8 < owner.vertices()).then(|| self.at_vertex(side, feature % 8))
        } else if feature < FACES {
            let (i, j) = ((feature - EDGES) / 12, (feature - EDGES) % 12);
            let exist = i < self.a.edges() && j < self.b.edges();
            exist.then(|| self.at_edges(i, j)).flatten()
        } else if feature < END {
            let (faces, corner) = ((feature - FACES) / CORNERS, (feature - FACES) % CORNERS);
            let reference = if faces < 36 { Side::A } else { Side::B };
            let face = Face {
                reference,
                face: faces / 6 % 6,
            };
            let (owner, other) = self.of_side(reference);
            if owner.faces() == 0 || faces % 6 >= other.incidents() {
                return None;
            }
            let pair = self.over(face, faces % 6);
            Some(self.at_corner(&pair, face, faces % 6, (corner, pair.corner(corner)?)))
        } else {
            None
        }
    }

    /// From B into A.
    pub(super) fn normal_of(&self, face: Face) -> Vector3<f64> {
        match face.reference {
            Side::A => -self.a.face_normal(face.face),
            Side::B => self.b.face_normal(face.face),
        }
    }

    /// The feature of the other shape that looks most into a face.
    pub(super) fn incident(&self, face: Face) -> usize {
        let (owner, other) = self.of_side(face.reference);
        other.face_against(owner.face_normal(face.face))
    }

    #[inline]
    pub(super) fn over(&self, face: Face, incident: usize) -> FacePair {
        let (owner, other) = self.of_side(face.reference);
        FacePair::new(owner, face.face, other, incident)
    }

    /// A point between points of both cores, `normal` from B into A.
    fn between(
        &self,
        feature: usize,
        distance: f64,
        normal: Vector3<f64>,
        [on_a, on_b]: [Vector3<f64>; 2],
    ) -> ManifoldPoint {
        ManifoldPoint {
            feature,
            gap: distance - self.a.radius - self.b.radius,
            normal,
            on_a: on_a - normal * self.a.radius,
            on_b: on_b + normal * self.b.radius,
        }
    }

    /// A vertex of one shape and the nearest point of the other core.
    pub(super) fn at_vertex(&self, side: Side, vertex: usize) -> ManifoldPoint {
        let (owner, other) = self.of_side(side);
        let point = owner.vertex(vertex);
        let nearest = other.nearest(point);
        let mut distance = nearest.distance;
        // towards the owner
        let mut normal = match (nearest.normal, side) {
            (Some(normal), _) => normal,
            (None, Side::A) => self.across(),
            (None, Side::B) => -self.across(),
        };
        let outward = point - owner.pose.position();
        if owner.core == Core::Box && other.core != Core::Box {
            // The vertex of a box: what lies behind it is inside.
            if nearest.normal.is_none() {
                normal = -outward.normalize();
            } else if normal.dot(&outward) > 0.0 {
                (normal, distance) = (-normal, -distance);
            }
        }
        match side {
            Side::A => self.between(vertex, distance, normal, [point, nearest.on]),
            Side::B => self.between(8 + vertex, distance, -normal, [nearest.on, point]),
        }
    }

    /// A normal for points and segments that meet: across both segments, towards A; across one
    /// segment its x axis; for points and parallel segments an axis of A.
    fn across(&self) -> Vector3<f64> {
        match (self.a.core, self.b.core) {
            (Core::Segment, Core::Segment) => {
                let (first, second) = (self.a.edge(0), self.b.edge(0));
                let across = first.axis.cross(&second.axis);
                let length = across.norm();
                if length < ALIGNED {
                    return self.a.pose.axis(0);
                }
                let sign = 1f64.copysign(across.dot(&(first.middle - second.middle)));
                across * (sign / length)
            }
            (Core::Segment, _) => self.a.pose.axis(0),
            (_, Core::Segment) => -self.b.pose.axis(0),
            _ => Vector3::z(),
        }
    }

    /// Two edges: the closest points of two segments, signed where B is a box; none where they are
    /// parallel. The witness points of an edge of a box stay on it.
    pub(super) fn at_edges(&self, edge_a: usize, edge_b: usize) -> Option<ManifoldPoint> {
        let (first, second) = (self.a.edge(edge_a), self.b.edge(edge_b));
        let feature = EDGES + 12 * edge_a + edge_b;
        if self.b.core == Core::Segment {
            let (on_a, on_b) = first.closest_points(&second);
            let between = on_a - on_b;
            let furthest = on_a.amax() + first.half + second.half;
            let distance = between.norm();
            // A direction that may be rounding counts where the gap along it is no shorter than across both.
            let is_better = |own: &Vector3<f64>| {
                let gap = |normal| gap_along(self.a, self.b, normal);
                distance > TOUCHING * furthest || gap(*own) >= gap(self.across())
            };
            let normal = between.try_normalize(0.0).filter(is_better);
            let normal = normal.unwrap_or_else(|| self.across());
            return Some(self.between(feature, distance, normal, [on_a, on_b]));
        }
        let (s, t) = first.closest_on_lines(&second)?;
        let across = first.axis.cross(&second.axis).normalize();
        // Out of B, of which the edge is seen from A.
        let outward = second.middle - self.b.pose.position();
        let normal = across * 1f64.copysign(across.dot(&outward));
        let distance = normal.dot(&(first.middle - second.middle));
        let on_a = first.at(s.clamp(-first.half, first.half));
        let on_b = second.at(t.clamp(-second.half, second.half));
        let middle = (on_a + on_b) * 0.5;
        let apart = normal * (0.5 * distance);
        Some(self.between(feature, distance, normal, [middle + apart, middle - apart]))
    }

    /// A corner of the common area of a face and what lies over it, with its number.
    pub(super) fn at_corner(
        &self,
        pair: &FacePair,
        face: Face,
        incident: usize,
        (number, corner): (usize, [f64; 3]),
    ) -> ManifoldPoint {
        let (outward, height) = (pair.normal(), corner[2]);
        let on_other = pair.in_world(corner);
        let on_face = on_other - outward * height;
        let (side, normal, cores) = match face.reference {
            Side::A => (0, -outward, [on_face, on_other]),
            Side::B => (1, outward, [on_other, on_face]),
        };
        let feature = FACES + ((side * 6 + face.face) * 6 + incident) * CORNERS + number;
        self.between(feature, height, normal, cores)
    }
}
