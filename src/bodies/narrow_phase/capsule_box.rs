//! Capsule and box, the box as B: the point of the box that is closest to the core. A core along a
//! face or an edge touches at both ends of the common length.

use nalgebra::Vector3;

use super::placed_box::{PlacedBox, others, sign_of};
use super::segment::{PlacedCapsule, Segment};
use super::{Manifold, ManifoldPoint, ball};

/// Features: faces with both ends and four borders, edges, vertices, ends.
const EDGES: usize = 36;
const VERTICES: usize = EDGES + 12;
const ENDS: usize = VERTICES + 8;
const FEATURES: usize = ENDS + 2;

/// Cosine of the angle between normals up to which a core lies on a face.
const FLAT: f64 = 0.9998;
/// Sine of the angle between core and face up to which it has two points there.
const ALONG: f64 = 0.1;
/// Sine of the angle up to which core and edge are parallel.
const PARALLEL: f64 = 0.02;

/// Adds the points within the margin.
pub(super) fn add(
    capsule: &PlacedCapsule<'_>,
    cuboid: &PlacedBox<'_>,
    margin: f64,
    manifold: &mut Manifold,
) {
    let local = Local::new(&capsule.core, cuboid);
    let along = local.closest();
    let beyond = local.beyond(along);
    let distance = beyond.norm();
    if distance - capsule.radius > margin {
        return;
    }
    let shortest = cuboid.least_half().min(capsule.core.half);
    let feature = if distance > 1e-9 * shortest {
        let normal = beyond / distance;
        let face = (0..3).find(|&k| normal[k].abs() >= FLAT);
        if let Some(k) = face
            && local.axis[k].abs() <= ALONG
        {
            let face = 2 * k + usize::from(normal[k] < 0.0);
            local.add_face(face, capsule, cuboid, margin, shortest, manifold);
        }
        if manifold.points().is_empty() {
            let edge = edge_at(beyond);
            if let Some(edge) = edge
                && local.axis[edge / 4].abs() >= 1.0 - 0.5 * PARALLEL * PARALLEL
            {
                local.add_parallel_edge(edge, capsule, cuboid, margin, shortest, manifold);
            }
        }
        local.closest_feature(along, beyond)
    } else {
        let (face, edge) = local.least_overlap();
        if edge.is_none() {
            local.add_face(face, capsule, cuboid, margin, shortest, manifold);
        }
        edge.map_or(ENDS + local.lower_end(face), |edge| EDGES + edge)
    };
    if manifold.points().is_empty()
        && let Some(point) = point(capsule, cuboid, feature)
    {
        manifold.push_within(margin, point);
    }
}

/// The point of a feature.
pub(super) fn point(
    capsule: &PlacedCapsule<'_>,
    cuboid: &PlacedBox<'_>,
    feature: usize,
) -> Option<ManifoldPoint> {
    let (core, radius) = (&capsule.core, capsule.radius);
    if feature < EDGES {
        let local = Local::new(core, cuboid);
        let along = local.on_face(feature)?;
        let (face, on_core) = (feature / 6, core.at(along));
        let normal = cuboid.face_normal(face);
        let point = local.at(along);
        let height = sign_of(face) * point[face / 2] - cuboid.half[face / 2];
        let (gap, on_a) = (height - radius, on_core - normal * radius);
        Some(ManifoldPoint::from_a(feature, gap, normal, on_a))
    } else if feature < VERTICES {
        let (middle, axis, half) = cuboid.edge(feature - EDGES);
        let edge = Segment { middle, axis, half };
        let (s, t) = core.closest_on_lines(&edge)?;
        let across = core.axis.cross(&axis).normalize();
        let normal = across * 1f64.copysign(across.dot(&(middle - cuboid.pose.position())));
        let on_core = core.at(s.clamp(-core.half, core.half));
        let distance = normal.dot(&(core.middle - middle));
        let on_a = on_core - normal * radius;
        let on_b = edge.at(t.clamp(-half, half));
        Some(ManifoldPoint {
            feature,
            gap: distance - radius,
            normal,
            on_a,
            on_b,
        })
    } else if feature < ENDS {
        let vertex = cuboid.vertex(feature - VERTICES);
        let outward = vertex - cuboid.pose.position();
        let from = core.closest(vertex) - vertex;
        let distance = from.norm().copysign(from.dot(&outward));
        let normal = if distance == 0.0 {
            outward.normalize()
        } else {
            from / distance
        };
        let on_a = core.closest(vertex) - normal * radius;
        let gap = distance - radius;
        Some(ManifoldPoint::from_a(feature, gap, normal, on_a))
    } else if feature < FEATURES {
        let end = capsule.ball_at(core.end(feature - ENDS));
        Some(ball::on_box(feature, end, cuboid))
    } else {
        None
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
    fn new(core: &Segment, cuboid: &PlacedBox<'a>) -> Self {
        Self {
            half: cuboid.half,
            middle: cuboid.pose.to_body(core.middle),
            axis: cuboid.pose.rotation().tr_mul(&core.axis),
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

    /// Where the core is closest to the box: the zero of the derivative of the squared distance,
    /// which rises and is linear between the planes of the faces.
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

    fn closest_feature(&self, along: f64, beyond: Vector3<f64>) -> usize {
        if along <= -self.length {
            return ENDS;
        }
        if along >= self.length {
            return ENDS + 1;
        }
        if let Some(edge) = edge_at(beyond) {
            return EDGES + edge;
        }
        if (0..3).all(|k| beyond[k] != 0.0) {
            let negative = (0..3).filter(|&k| beyond[k] < 0.0);
            return VERTICES + negative.map(|k| 1 << k).sum::<usize>();
        }
        ENDS + usize::from(self.beyond(self.length).norm() < self.beyond(-self.length).norm())
    }

    /// Where on the core a point of a face lies: its ends, or above a border of the face.
    fn on_face(&self, feature: usize) -> Option<f64> {
        let (face, place) = (feature / 6, feature % 6);
        if place < 2 {
            return Some(if place == 0 {
                -self.length
            } else {
                self.length
            });
        }
        let (i, j) = others(face / 2);
        let (axis, sign) = (if place < 4 { i } else { j }, sign_of(place));
        let along = (sign * self.half[axis] - self.middle[axis]) / self.axis[axis];
        // Found again at another pose, it may have left the core.
        (along.abs() <= 2.0 * self.length).then_some(along)
    }

    /// Adds both ends of the part of the core that lies above a face.
    fn add_face(
        &self,
        face: usize,
        capsule: &PlacedCapsule<'_>,
        cuboid: &PlacedBox<'_>,
        margin: f64,
        shortest: f64,
        manifold: &mut Manifold,
    ) {
        let (i, j) = others(face / 2);
        for place in 0..6 {
            let Some(along) = self.on_face(6 * face + place) else {
                continue;
            };
            let at = self.at(along);
            let slack = 1e-9 * shortest;
            let above = [i, j].iter().all(|&k| at[k].abs() <= self.half[k] + slack);
            if above
                && along.abs() <= self.length
                && let Some(point) = point(capsule, cuboid, 6 * face + place)
            {
                manifold.push_apart(margin, 1e-6 * shortest, point);
            }
        }
    }

    /// Adds the ends of the common length of the core and a parallel edge.
    fn add_parallel_edge(
        &self,
        edge: usize,
        capsule: &PlacedCapsule<'_>,
        cuboid: &PlacedBox<'_>,
        margin: f64,
        shortest: f64,
        manifold: &mut Manifold,
    ) {
        let k = edge / 4;
        let (i, j) = others(k);
        let across = (((edge & 1) << i) | (((edge >> 1) & 1) << j), 1 << k);
        for end in 0..2 {
            let along = if end == 0 { -self.length } else { self.length };
            if self.at(along)[k].abs() <= self.half[k]
                && let Some(point) = point(capsule, cuboid, ENDS + end)
            {
                manifold.push_apart(margin, 1e-3 * shortest, point);
            }
        }
        for vertex in [across.0, across.0 | across.1] {
            let foot = capsule.core.foot(cuboid.vertex(vertex));
            if foot.abs() <= self.length
                && let Some(point) = point(capsule, cuboid, VERTICES + vertex)
            {
                manifold.push_apart(margin, 1e-3 * shortest, point);
            }
        }
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
