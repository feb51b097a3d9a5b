//! Where two convex cores meet along a normal, one at least a cylinder or a cone: the parts of both that
//! face each other, and up to eight corners of what they have in common.
//!
//! A part is a face, an edge or a vertex, the more of it the flatter it lies. The foot of a cylinder
//! is a polygon with 32 corners on its rim, one of them at the lowest point: where the rim crosses a border
//! the point is up to half a hundredth of the radius off, and its gap that of the plane.

use nalgebra::Vector3;

use super::choice::choose;
use super::convex::{Convex, Core};
use super::feature::Two;
use super::separation::{Closest, best_normal, gap_along};
use super::{CAPACITY, FEATURES, Manifold, ManifoldPoint};
use crate::bodies::pose::frame;

/// Corners of the outline of a disc.
const CORNERS: usize = 32;
/// Corners of what two outlines have in common: each side cuts off one corner and makes two.
const MOST: usize = 2 * CORNERS;

/// Angles to the normal (rad) up to which a face or an edge lies on the other body.
const SLOPES: [f64; 2] = [0.05, 1e-6];
/// Sine of the angle below which two edges are parallel.
const PARALLEL: f64 = 0.02;
/// Cosine of the angle up to which the end of an edge has a normal of its own.
const ALONG: f64 = 0.99;

/// Points closer than this part of the size are one.
const APART: f64 = 1e-6;

/// Adds the points within the margin. They cannot be found again by their number.
pub(super) fn add(two: Two<'_>, margin: f64, out: &mut Manifold) {
    let Some(Closest { normal, .. }) = best_normal(two.a, two.b, margin + two.radii()) else {
        return;
    };
    let size = two.least_half();
    let [_, u, w] = frame(normal);
    let mut vertex_of_b = false;
    // Parts that lie on each other within an angle may have nothing in common beside an edge: then
    // those that are parallel alone.
    for slope in SLOPES {
        let (a, b) = (
            Outline::facing(two.a, -normal, normal, slope),
            Outline::facing(two.b, normal, normal, slope),
        );
        if (a.len, b.len) == (2, 2) {
            add_edges(two, normal, [&a, &b], margin, out);
            if !out.points().is_empty() {
                return;
            }
            continue;
        }
        let common = Common::of(&a, &b);
        let corners = &common.places[..common.len];
        let (chosen, count) = choose(corners, APART * size, size);
        for &corner in &chosen[..count] {
            let [x, y, gap] = corners[corner];
            let on_a = u * x + w * y + normal * a.height(x, y);
            push(two, normal, gap, on_a, margin, out);
        }
        if !out.points().is_empty() {
            return;
        }
        vertex_of_b = b.len == 1 && a.len > 1;
    }
    let gap = gap_along(two.a, two.b, normal);
    let on_a = if vertex_of_b {
        two.b.furthest(normal) + normal * gap
    } else {
        two.a.furthest(-normal)
    };
    push(two, normal, gap, on_a, margin, out);
}

/// Adds the points of two edges: where they are parallel, the ends of their common length, each with the
/// other body; else their crossing.
fn add_edges(
    two: Two<'_>,
    normal: Vector3<f64>,
    edges: [&Outline; 2],
    margin: f64,
    out: &mut Manifold,
) {
    let [_, u, w] = frame(normal);
    let place = |of: [f64; 3]| u * of[0] + w * of[1] + normal * of[2];
    let along = |of: &Outline| [0, 1].map(|k| of.places[1][k] - of.places[0][k]);
    let (first, second) = (along(edges[0]), along(edges[1]));
    let cross = |p: [f64; 2], q: [f64; 2]| p[0] * q[1] - p[1] * q[0];
    let (length, other) = (first[0].hypot(first[1]), second[0].hypot(second[1]));
    let sine = cross(first, second);
    if sine.abs() > PARALLEL * length * other {
        let (a, b) = (edges[0].places[0], edges[1].places[0]);
        let between = [b[0] - a[0], b[1] - a[1]];
        let (part, of_b) = (cross(between, second) / sine, cross(between, first) / sine);
        let ends = -1e-9..=1.0 + 1e-9;
        if ends.contains(&part) && ends.contains(&of_b) {
            let (x, y) = (a[0] + part * first[0], a[1] + part * first[1]);
            let height = edges[0].height(x, y);
            let gap = height - edges[1].height(x, y);
            push(two, normal, gap, place([x, y, height]), margin, out);
        }
        return;
    }
    let apart = 1e-3 * length.min(other);
    for (number, owner) in edges.iter().enumerate() {
        let (onto, core) = (edges[1 - number], if number == 0 { two.b } else { two.a });
        for end in owner.corners() {
            let axis = along(onto);
            let arm = [0, 1].map(|k| end[k] - onto.places[0][k]);
            let squared = axis[0] * axis[0] + axis[1] * axis[1];
            let part = (arm[0] * axis[0] + arm[1] * axis[1]) / squared;
            if !(-1e-9..=1.0 + 1e-9).contains(&part) {
                continue;
            }
            // From the other body, seen along the normal or against it.
            let (point, sign) = (place(*end), if number == 0 { 1.0 } else { -1.0 });
            let nearest = core.nearest(point);
            let own = nearest.normal.filter(|own| own.dot(&normal) * sign > ALONG);
            let height = sign * (end[2] - onto.height(end[0], end[1]));
            let (normal, gap) = own.map_or((normal, height), |own| (own * sign, nearest.distance));
            let on_a = point + normal * if number == 0 { 0.0 } else { gap };
            let near =
                |of: &ManifoldPoint| (of.on_a + normal * two.a.radius - on_a).norm() <= apart;
            if !out.points().iter().any(near) {
                push(two, normal, gap, on_a, margin, out);
            }
        }
    }
}

/// Adds a point of the core of A and its distance from that of B.
fn push(
    two: Two<'_>,
    normal: Vector3<f64>,
    distance: f64,
    on_a: Vector3<f64>,
    margin: f64,
    out: &mut Manifold,
) {
    let feature = FEATURES - CAPACITY + out.points().len();
    let on_b = on_a - normal * distance;
    let point = ManifoldPoint {
        feature,
        gap: distance - two.radii(),
        normal,
        on_a: on_a - normal * two.a.radius,
        on_b: on_b + normal * two.b.radius,
    };
    out.push_within(margin, point);
}

/// A part of a core, seen along the normal: corners `(u, w, height)` of a polygon, ends of an edge,
/// or a vertex.
struct Outline {
    places: [[f64; 3]; CORNERS],
    len: usize,
}

impl Outline {
    /// The part of a core that looks along `towards`, in the axes along `normal`.
    fn facing(of: &Convex<'_>, towards: Vector3<f64>, normal: Vector3<f64>, slope: f64) -> Self {
        // The sine of a small angle; by the cosine it would be lost in rounding.
        let lies_on =
            |face: Vector3<f64>| face.dot(&towards) > 0.0 && face.cross(&towards).norm() < slope;
        let mut outline = Self {
            places: [[0.0; 3]; CORNERS],
            len: 0,
        };
        let [_, u, w] = frame(normal);
        let mut add = |point: Vector3<f64>| {
            outline.places[outline.len] = [u.dot(&point), w.dot(&point), normal.dot(&point)];
            outline.len += 1;
        };
        let along = |k: usize| of.pose.axis(k).dot(&towards);
        match of.core {
            Core::Segment if along(2).abs() < slope => {
                (0..2).for_each(|end| add(of.edge(0).end(end)));
            }
            Core::Box => {
                let flat = (0..3).find(|&k| lies_on(of.pose.axis(k) * along(k).signum()));
                let edge = (0..3).find(|&k| along(k).abs() < slope);
                if let Some(k) = flat {
                    let face = 2 * k + usize::from(along(k) < 0.0);
                    for vertex in (0..4).filter_map(|corner| of.vertex_against(face, corner)) {
                        add(of.vertex(vertex));
                    }
                } else if let Some(k) = edge {
                    let edge = of.edge(of.edge_towards(k, towards));
                    (0..2).for_each(|end| add(edge.end(end)));
                } else {
                    add(of.furthest(towards));
                }
            }
            Core::Cylinder | Core::Cone => {
                let disc = of.discs()[usize::from(along(2) > 0.0)];
                let lowest = of.across_axis(towards);
                let end = of.pose.axis(2) * along(2).signum();
                if lies_on(end) && disc.radius > 0.0 {
                    // Corners stay where they are on the body, but for the one nearest to the
                    // lowest point, which is there.
                    let step = std::f64::consts::TAU / CORNERS as f64;
                    let local = of.pose.turned_back(lowest);
                    let lowest = local.y.atan2(local.x).rem_euclid(std::f64::consts::TAU);
                    for k in 0..CORNERS {
                        let angle = step * k as f64;
                        let apart = (lowest - angle + 0.5 * step).rem_euclid(std::f64::consts::TAU);
                        let (sin, cos) = if apart < step { lowest } else { angle }.sin_cos();
                        add(of.on_rim(disc, of.pose.axis(0) * cos + of.pose.axis(1) * sin));
                    }
                } else if lies_on(of.side_normal(lowest)) {
                    let discs = of.discs().into_iter();
                    discs.for_each(|disc| add(of.on_rim(disc, lowest)));
                } else {
                    add(of.furthest(towards));
                }
            }
            _ => add(of.furthest(towards)),
        }
        outline
    }

    fn corners(&self) -> &[[f64; 3]] {
        &self.places[..self.len]
    }

    /// The height of its plane, or of its edge, over a place.
    fn height(&self, u: f64, w: f64) -> f64 {
        let [x, y, z] = self.places[0];
        let (u, w) = (u - x, w - y);
        let arm = |k: usize| [0, 1, 2].map(|i| self.places[k][i] - self.places[0][i]);
        match self.len {
            1 => z,
            2 => {
                let [x, y, rise] = arm(1);
                z + rise * (u * x + w * y) / (x * x + y * y)
            }
            len => {
                // Two corners that are not in line with the first.
                let ([a, b, c], [d, e, f]) = (arm(len / 3), arm(2 * len / 3));
                let area = a * e - b * d;
                z + (u * (c * e - b * f) + w * (a * f - c * d)) / area
            }
        }
    }
}

/// The corners `(u, w, gap)` of what two outlines have in common.
struct Common {
    places: [[f64; 3]; MOST],
    len: usize,
}

impl Common {
    fn of(a: &Outline, b: &Outline) -> Self {
        let mut common = Self {
            places: [[0.0; 3]; MOST],
            len: 0,
        };
        match (a.len, b.len) {
            (0 | 1, _) | (_, 0 | 1) => {}
            (2, _) => common.cut(a.corners(), b.corners()),
            (_, 2) => common.cut(b.corners(), a.corners()),
            _ => {
                // The smaller number of sides cuts the polygon with more.
                let (cut, by) = if a.len >= b.len { (a, b) } else { (b, a) };
                common.cut(cut.corners(), by.corners());
            }
        }
        for place in &mut common.places[..common.len] {
            let [u, w, _] = *place;
            place[2] = a.height(u, w) - b.height(u, w);
        }
        common
    }

    fn add(&mut self, u: f64, w: f64) {
        if self.len < MOST {
            self.places[self.len] = [u, w, 0.0];
            self.len += 1;
        }
    }

    /// The part of a polygon or an edge inside of a convex polygon (Sutherland & Hodgman).
    fn cut(&mut self, polygon: &[[f64; 3]], border: &[[f64; 3]]) {
        for place in polygon {
            self.add(place[0], place[1]);
        }
        let turns: f64 = (0..border.len())
            .map(|k| {
                let (p, q) = (&border[k], &border[(k + 1) % border.len()]);
                let [x, y, _] = border[0];
                (p[0] - x) * (q[1] - y) - (p[1] - y) * (q[0] - x)
            })
            .sum();
        for (k, from) in border.iter().enumerate() {
            let to = &border[(k + 1) % border.len()];
            let (u, w) = (to[0] - from[0], to[1] - from[1]);
            let inside = |place: &[f64; 3]| {
                turns.signum() * (u * (place[1] - from[1]) - w * (place[0] - from[0]))
            };
            let (kept, len) = (self.places, self.len);
            self.len = 0;
            // An edge has one way, a polygon goes round.
            let sides = if len == 2 { 1 } else { len };
            for i in 0..len {
                let here = &kept[i];
                if inside(here) >= 0.0 {
                    self.add(here[0], here[1]);
                }
                if i >= sides {
                    continue;
                }
                let there = &kept[(i + 1) % len];
                let (h, t) = (inside(here), inside(there));
                if (h > 0.0 && t < 0.0) || (h < 0.0 && t > 0.0) {
                    let part = h / (h - t);
                    let at = |axis: usize| here[axis] + part * (there[axis] - here[axis]);
                    self.add(at(0), at(1));
                }
            }
        }
    }
}
