//! A segment A and a box B: the point of the box that is closest to the segment. A segment along a
//! face or an edge touches at both ends of the common length.

use nalgebra::Vector3;

use super::convex::{others, sign_of};
use super::feature::{Face, Side, Two};
use super::meet::{OverFace, add_common_length};
use super::{Manifold, ManifoldPoint};

/// Cosine of the angle between normals up to which a core lies on a face.
const FLAT: f64 = 0.9998;
/// Sine of the angle between core and face up to which it has two points there.
const ALONG: f64 = 0.1;
/// Sine of the angle up to which core and edge are parallel.
const PARALLEL: f64 = 0.02;

/// Adds the points within the margin.
pub(super) fn add(two: Two<'_>, margin: f64, out: &mut Manifold) {
    let local = Local::new(two);
    let along = local.closest();
    let beyond = local.beyond(along);
    let distance = beyond.norm();
    if distance - two.radii() > margin {
        return;
    }
    let over = |face| {
        let reference = Side::B;
        OverFace::new(two, Face { reference, face }, margin + two.radii())
    };
    let point = if distance > 1e-9 * two.least_half() {
        let normal = beyond / distance;
        let face = (0..3).find(|&k| normal[k].abs() >= FLAT);
        if let Some(k) = face
            && local.axis[k].abs() <= ALONG
        {
            let face = 2 * k + usize::from(normal[k] < 0.0);
            over(face).add(margin, out);
        }
        if out.points().is_empty()
            && let Some(edge) = edge_at(beyond)
            && local.axis[edge / 4].abs() >= 1.0 - 0.5 * PARALLEL * PARALLEL
        {
            add_common_length(two, [0, edge], margin, out);
        }
        local.closest_point(two, along, beyond)
    } else {
        let (face, edge) = local.least_overlap();
        if edge.is_none() {
            over(face).add(margin, out);
        }
        edge.map_or_else(
            || Some(two.at_vertex(Side::A, local.lower_end(face))),
            |edge| two.at_edges(0, edge),
        )
    };
    if out.points().is_empty() {
        out.extend_within(margin, point);
    }
}

/// The edge that is closest where the point lies beyond two faces.
fn edge_at(beyond: Vector3<f64>) -> Option<usize> {
    let k = (0..3).find(|&k| beyond[k] == 0.0)?;
    let (i, j) = others(k);
    let both = beyond[i] != 0.0 && beyond[j] != 0.0;
    let negative = |axis: usize| usize::from(beyond[axis] < 0.0);
    both.then(|| 4 * k + negative(i) + 2 * negative(j))
}

/// The core in the axes of the box.
struct Local<'a> {
    half: &'a [f64; 3],
    middle: Vector3<f64>,
    axis: Vector3<f64>,
    /// Half length of the core.
    length: f64,
}

impl<'a> Local<'a> {
    fn new(two: Two<'a>) -> Self {
        let (core, cuboid) = (two.a.edge(0), two.b);
        Self {
            half: &cuboid.half,
            middle: cuboid.pose.to_body(core.middle),
            axis: cuboid.pose.turned_back(core.axis),
            length: core.half,
        }
    }

    fn at(&self, along: f64) -> Vector3<f64> {
        self.middle + self.axis * along
    }

    /// From the closest point of the box to a point of the core.
    fn beyond(&self, along: f64) -> Vector3<f64> {
        let point = self.at(along);
        Vector3::from_fn(|k, _| point[k] - point[k].clamp(-self.half[k], self.half[k]))
    }

    /// The place at which the core is closest to the box: the zero of the derivative of the squared
    /// distance, which rises and is linear between the planes of the faces.
    fn closest(&self) -> f64 {
        let mut kinks = [self.length; 7];
        for k in 0..3 {
            for (side, sign) in [1.0, -1.0].into_iter().enumerate() {
                let at = (sign * self.half[k] - self.middle[k]) / self.axis[k];
                // Beyond the ends, or not a number for a core along the face: no kink.
                if at.abs() < self.length {
                    kinks[2 * k + side] = at;
                }
            }
        }
        kinks.sort_unstable_by(f64::total_cmp);
        let slope = |along| self.beyond(along).dot(&self.axis);
        let mut before = (-self.length, slope(-self.length));
        if before.1 >= 0.0 {
            return before.0;
        }
        for at in kinks {
            let slope = slope(at);
            if slope >= 0.0 {
                let part = before.1 / (before.1 - slope);
                return before.0 + part * (at - before.0);
            }
            before = (at, slope);
        }
        self.length
    }

    /// The point where the core is closest to the box, which lies there.
    fn closest_point(
        &self,
        two: Two<'_>,
        along: f64,
        beyond: Vector3<f64>,
    ) -> Option<ManifoldPoint> {
        if along <= -self.length {
            return Some(two.at_vertex(Side::A, 0));
        }
        if along >= self.length {
            return Some(two.at_vertex(Side::A, 1));
        }
        if let Some(edge) = edge_at(beyond) {
            return two.at_edges(0, edge);
        }
        if (0..3).all(|k| beyond[k] != 0.0) {
            let negative = (0..3).filter(|&k| beyond[k] < 0.0);
            return Some(two.at_vertex(Side::B, negative.map(|k| 1 << k).sum()));
        }
        let second = self.beyond(self.length).norm() < self.beyond(-self.length).norm();
        Some(two.at_vertex(Side::A, usize::from(second)))
    }

    /// The end that lies lower over a face.
    fn lower_end(&self, face: usize) -> usize {
        usize::from(sign_of(face) * self.axis[face / 2] < 0.0)
    }

    /// The face through which a core inside the box is pushed out shortest, and an edge if one is
    /// shorter.
    fn least_overlap(&self) -> (usize, Option<usize>) {
        let (mut face, mut most) = (0, f64::NEG_INFINITY);
        for k in 0..3 {
            let by = self.middle[k].abs() - self.half[k] - self.length * self.axis[k].abs();
            if by > most {
                (face, most) = (2 * k + usize::from(self.middle[k] < 0.0), by);
            }
        }
        let mut edge = None;
        most += 1e-2 * self.half[0].min(self.half[1]).min(self.half[2]);
        for k in 0..3 {
            let mut direction = Vector3::zeros();
            direction[k] = 1.0;
            let across = self.axis.cross(&direction);
            let length = across.norm();
            if length < 1e-6 {
                continue;
            }
            let normal = across * (1f64.copysign(across.dot(&self.middle)) / length);
            let extent: f64 = (0..3).map(|l| self.half[l] * normal[l].abs()).sum();
            let by = normal.dot(&self.middle) - extent;
            if by > most {
                let (i, j) = others(k);
                let negative = |axis: usize| usize::from(normal[axis] < 0.0);
                (most, edge) = (by, Some(4 * k + negative(i) + 2 * negative(j)));
            }
        }
        (face, edge)
    }
}
