//! A face of one box over a face of another: the corners of the common area.
//!
//! In the axes `(u, w)` of the reference face and the height `h` over it, corners of the common area
//! are of three kinds: corners of the incident face, crossings of its edges with the borders of the
//! reference face, and corners of the reference face. Each has a number, by which it is found again.

use nalgebra::Vector3;

use super::placed_box::{PlacedBox, others, sign_of};
use super::reduction::MOST;

/// Number of corners by number: 4 incident corners, 4 × 4 crossings, 4 reference corners.
pub(super) const CORNERS: usize = 24;
const CROSSINGS: usize = 4;
const REFERENCE: usize = 20;

/// The incident face seen from the reference face.
#[derive(Clone, Copy, Debug)]
pub(super) struct FacePair {
    origin: Vector3<f64>,
    /// `u`, `w` and the outward normal of the reference face.
    axes: [Vector3<f64>; 3],
    half: [f64; 2],
    /// Corners of the incident face, `(u, w, h)`.
    incident: [[f64; 3]; 4],
    /// Slopes of the incident face, `∂h/∂u` and `∂h/∂w`.
    slopes: [f64; 2],
}

impl FacePair {
    /// Face number `face` of the reference box, and `other_face` of the other.
    pub(super) fn new(
        reference: &PlacedBox<'_>,
        face: usize,
        other: &PlacedBox<'_>,
        other_face: usize,
    ) -> Self {
        let k = face / 2;
        let (i, j) = others(k);
        let normal = reference.face_normal(face);
        let axes = [reference.pose.axis(i), reference.pose.axis(j), normal];
        let origin = reference.pose.position() + normal * reference.half[k];
        let in_face =
            |v: Vector3<f64>| Vector3::new(axes[0].dot(&v), axes[1].dot(&v), normal.dot(&v));
        let (other_k, tilt) = (other_face / 2, other.face_normal(other_face));
        let (other_i, other_j) = others(other_k);
        let middle = other.pose.position() + tilt * other.half[other_k];
        let middle = in_face(middle - origin);
        let first = in_face(other.pose.axis(other_i)) * other.half[other_i];
        let second = in_face(other.pose.axis(other_j)) * other.half[other_j];
        // In the order of the corners of a face.
        let incident = [
            (middle + first + second).into(),
            (middle - first + second).into(),
            (middle - first - second).into(),
            (middle + first - second).into(),
        ];
        let tilt = in_face(tilt);
        let slope = |axis: usize| -tilt[axis] / tilt[2];
        Self {
            origin,
            axes,
            half: [reference.half[i], reference.half[j]],
            incident,
            slopes: [slope(0), slope(1)],
        }
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
            return Some(self.incident[number]);
        }
        if number < REFERENCE {
            return self
                .crossing(number - CROSSINGS)
                .filter(|(_, along)| {
                    // Found again at another pose, a crossing may have left its edge.
                    (-0.5..=1.5).contains(along)
                })
                .map(|(corner, _)| corner);
        }
        (number < CORNERS).then(|| self.reference_corner(number - REFERENCE))
    }

    /// Where an edge crosses a border, and at which part of the edge.
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
    pub(super) fn within(&self, corner: &[f64; 3], slack: f64) -> bool {
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

    /// Writes the corners of the common area with heights up to `margin` and their numbers, those
    /// closer than `apart` to one before left out; returns how many there are.
    pub(super) fn common_corners(
        &self,
        margin: f64,
        apart: f64,
        corners: &mut [[f64; 3]; MOST],
        numbers: &mut [usize; MOST],
    ) -> usize {
        let mut count = 0;
        for number in 0..CORNERS {
            let corner = if number < CROSSINGS {
                Some(self.incident[number])
            } else if number < REFERENCE {
                let crossing = self.crossing(number - CROSSINGS);
                crossing
                    .filter(|(_, along)| (0.0..=1.0).contains(along))
                    .map(|(corner, _)| corner)
            } else {
                let corner = self.reference_corner(number - REFERENCE);
                self.over_incident(&corner, apart).then_some(corner)
            };
            let Some(corner) = corner.filter(|c| self.within(c, apart) && c[2] <= margin) else {
                continue;
            };
            let near = |other: &[f64; 3]| {
                (other[0] - corner[0]).abs() <= apart && (other[1] - corner[1]).abs() <= apart
            };
            if count < MOST && !corners[..count].iter().any(near) {
                corners[count] = corner;
                numbers[count] = number;
                count += 1;
            }
        }
        count
    }
}
