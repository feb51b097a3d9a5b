//! A face of a box and what lies over it: a face of another box, or a segment. The corners of the
//! common area, and up to eight of them.
//!
//! In the axes `(u, w)` of the reference face and the height `h` over it, corners of the common area
//! are of three kinds: corners of what lies over it, crossings of its edges with the borders of the
//! reference face, and corners of the reference face under a face. Each has a number, by which it
//! is found again.

use nalgebra::Vector3;

use super::choice::choose;
use super::convex::{Convex, Core, others, sign_of};

/// Number of corners by number: 4 incident corners, 4 × 4 crossings, 4 reference corners.
pub(super) const CORNERS: usize = 24;
const CROSSINGS: usize = 4;
const REFERENCE: usize = 20;

/// Corners closer than this, by the shortest half length, are one.
const APART: f64 = 1e-6;

/// A reference face and the face or segment over it.
#[derive(Clone, Copy, Debug)]
pub(super) struct FacePair {
    origin: Vector3<f64>,
    /// `u`, `w` and the outward normal of the reference face.
    axes: [Vector3<f64>; 3],
    half: [f64; 2],
    /// Corners of the incident face, or ends of a segment, `(u, w, h)`.
    incident: [[f64; 3]; 4],
    /// Their number.
    ends: usize,
    /// Slopes of the incident face, `∂h/∂u` and `∂h/∂w`.
    slopes: [f64; 2],
}

impl FacePair {
    /// Face number `face` of the reference box, and face `over` of another, or a segment.
    pub(super) fn new(
        reference: &Convex<'_>,
        face: usize,
        other: &Convex<'_>,
        over: usize,
    ) -> Self {
        let k = face / 2;
        let (i, j) = others(k);
        let normal = reference.face_normal(face);
        let axes = [reference.pose.axis(i), reference.pose.axis(j), normal];
        let origin = reference.pose.position() + normal * reference.half[k];
        let in_face =
            |v: Vector3<f64>| Vector3::new(axes[0].dot(&v), axes[1].dot(&v), normal.dot(&v));
        let mut pair = Self {
            origin,
            axes,
            half: [reference.half[i], reference.half[j]],
            incident: [[0.0; 3]; 4],
            ends: 2,
            slopes: [0.0; 2],
        };
        if other.core != Core::Box {
            let middle = in_face(other.pose.position() - origin);
            let along = in_face(other.pose.axis(2)) * other.half[2];
            pair.incident[0] = (middle - along).into();
            pair.incident[1] = (middle + along).into();
            return pair;
        }
        let (other_k, tilt) = (over / 2, other.face_normal(over));
        let (other_i, other_j) = others(other_k);
        let middle = other.pose.position() + tilt * other.half[other_k];
        let middle = in_face(middle - origin);
        let first = in_face(other.pose.axis(other_i)) * other.half[other_i];
        let second = in_face(other.pose.axis(other_j)) * other.half[other_j];
        // In the order of the corners of a face.
        pair.incident = [
            (middle + first + second).into(),
            (middle - first + second).into(),
            (middle - first - second).into(),
            (middle + first - second).into(),
        ];
        pair.ends = 4;
        let tilt = in_face(tilt);
        let slope = |axis: usize| -tilt[axis] / tilt[2];
        pair.slopes = [slope(0), slope(1)];
        pair
    }

    /// The outward normal of the reference face.
    pub(super) fn normal(&self) -> Vector3<f64> {
        self.axes[2]
    }

    /// In world axes.
    pub(super) fn in_world(&self, corner: [f64; 3]) -> Vector3<f64> {
        let [u, w, h] = corner;
        self.origin + self.axes[0] * u + self.axes[1] * w + self.axes[2] * h
    }

    /// Corner `number` `(u, w, h)`, whether or not it lies in the common area. None for a crossing
    /// of an edge that runs along the border, or far beyond the ends of the edge.
    pub(super) fn corner(&self, number: usize) -> Option<[f64; 3]> {
        if number < CROSSINGS {
            return (number < self.ends).then(|| self.incident[number]);
        }
        if number < REFERENCE {
            if number >= CROSSINGS + 4 * self.edges() {
                return None;
            }
            let (corner, along) = self.crossing(number - CROSSINGS)?;
            // Found again at another pose, a crossing may have left its edge.
            return (-0.5..=1.5).contains(&along).then_some(corner);
        }
        // no corner of the reference face lies under a segment
        (number < CORNERS && self.ends == 4).then(|| self.reference_corner(number - REFERENCE))
    }

    /// A segment has one edge.
    fn edges(&self) -> usize {
        if self.ends == 2 { 1 } else { 4 }
    }

    /// The point at which an edge crosses a border, and the part of the edge up to it.
    #[inline]
    fn crossing(&self, number: usize) -> Option<([f64; 3], f64)> {
        let (edge, border) = (number / 4, number % 4);
        let (a, b) = (&self.incident[edge], &self.incident[(edge + 1) % 4]);
        let axis = border / 2;
        let limit = sign_of(border) * self.half[axis];
        let rise = b[axis] - a[axis];
        let length = (b[0] - a[0]).abs() + (b[1] - a[1]).abs();
        if rise.abs() <= 1e-9 * length {
            return None;
        }
        let along = (limit - a[axis]) / rise;
        let at = |k: usize| a[k] + along * (b[k] - a[k]);
        let mut corner = [at(0), at(1), at(2)];
        corner[axis] = limit;
        Some((corner, along))
    }

    fn reference_corner(&self, corner: usize) -> [f64; 3] {
        let u = if corner == 1 || corner == 2 {
            -self.half[0]
        } else {
            self.half[0]
        };
        let w = if corner >= 2 {
            -self.half[1]
        } else {
            self.half[1]
        };
        let [u0, w0, h0] = self.incident[0];
        let h = h0 + self.slopes[0] * (u - u0) + self.slopes[1] * (w - w0);
        [u, w, h]
    }

    /// True within the borders of the reference face.
    fn within(&self, corner: &[f64; 3], slack: f64) -> bool {
        (0..2).all(|k| corner[k].abs() <= self.half[k] + slack)
    }

    /// True over the incident face.
    fn over_incident(&self, point: &[f64; 3], slack: f64) -> bool {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for (i, a) in self.incident.iter().enumerate() {
            let b = &self.incident[(i + 1) % 4];
            let (u, w) = (b[0] - a[0], b[1] - a[1]);
            // The distance from the edge, positive on one side.
            let side = (u * (point[1] - a[1]) - w * (point[0] - a[0])) / u.hypot(w);
            (low, high) = (low.min(side), high.max(side));
        }
        low >= -slack || high <= slack
    }
}

/// The corners of the common area of a pair.
pub(super) struct Corners {
    places: [[f64; 3]; MOST],
    numbers: [usize; MOST],
    count: usize,
    /// The shortest half length of both shapes.
    half: f64,
    /// Corners closer than this are one.
    apart: f64,
}

impl Corners {
    /// Up to a height over the reference face; `half` is the shortest half length of both shapes.
    pub(super) fn of(pair: &FacePair, height: f64, half: f64) -> Self {
        let mut found = Self {
            places: [[0.0; 3]; MOST],
            numbers: [0; MOST],
            count: 0,
            half,
            apart: APART * half,
        };
        for (number, &corner) in pair.incident[..pair.ends].iter().enumerate() {
            found.add(pair, number, corner, height);
        }
        for number in 0..4 * pair.edges() {
            if let Some((corner, along)) = pair.crossing(number)
                && (0.0..=1.0).contains(&along)
            {
                found.add(pair, CROSSINGS + number, corner, height);
            }
        }
        // No corner of the face lies under a segment.
        let under = if pair.ends == 2 { 0 } else { 4 };
        for number in 0..under {
            let corner = pair.reference_corner(number);
            if corner[2] <= height && pair.over_incident(&corner, found.apart) {
                found.add(pair, REFERENCE + number, corner, height);
            }
        }
        found
    }

    /// Adds a corner within the face, unless there is one as near as `apart`.
    fn add(&mut self, pair: &FacePair, number: usize, corner: [f64; 3], height: f64) {
        let (apart, count) = (self.apart, self.count);
        // Both ends of a segment may stand at one place, at different heights.
        let near = |other: &[f64; 3]| {
            let [u, w, h] = [0, 1, 2].map(|k| (other[k] - corner[k]).abs());
            u <= apart && w <= apart && (pair.ends == 4 || h <= apart)
        };
        if corner[2] <= height
            && pair.within(&corner, apart)
            && count < MOST
            && !self.places[..count].iter().any(near)
        {
            (self.places[count], self.numbers[count]) = (corner, number);
            self.count += 1;
        }
    }

    /// The lowest height.
    pub(super) fn deepest(&self) -> f64 {
        let heights = self.places[..self.count].iter().map(|corner| corner[2]);
        heights.fold(f64::INFINITY, f64::min)
    }

    /// Up to eight corners, with their numbers: all, but for rounding.
    pub(super) fn chosen(&self) -> impl Iterator<Item = (usize, [f64; 3])> {
        let (chosen, kept) = choose(&self.places[..self.count], self.apart, self.half);
        let corners = chosen.into_iter().take(kept);
        corners.map(|i| (self.numbers[i], self.places[i]))
    }
}

/// Limit of the corners of the common area of two faces of boxes.
const MOST: usize = 16;
