//! Which features of two convex shapes meet.
//!
//! A point meets the nearest point of the other core. Two segments, and a segment along an edge of a
//! box, that are nearly parallel touch at the ends of their common length; a segment along a face
//! and two faces touch at the corners of the common area (`clip`). For a segment and a box that are
//! not flat on each other see `segment_box`; for cylinders and cones `outline`; for two boxes:
//!
//! 1. The axis of the largest separation among the face normals of both and the products of their
//!    edges.
//! 2. A face in nearly this direction is taken instead if a corner of the common area is as deep, and of two faces
//!    that of the larger separation, on which a corner of the other box stands; of boxes that lie flat that of the
//!    larger area. The corner where two edges cross has the gap of the edge pair over the
//!    cosine of the angle between both normals, so that the gap is nearly continuous where the choice
//!    changes.
//! 3. Face: the face of the other box that looks most into it is clipped by its borders; edges: the
//!    closest points of both lines.
//! 4. Boxes that are apart, and whose corners over a face are not as deep as the axis says, or whose
//!    edges do not meet: a vertex or an edge is closest, and all vertices and edge pairs are compared.

use nalgebra::{Matrix3, Vector3};

use super::clip::{Corners, FacePair};
use super::convex::{ALIGNED, Core, others};
use super::feature::{Face, Side, Two};
use super::{Manifold, ManifoldPoint, outline, segment_box};

/// Sine of the angle below which capsules touch along their length.
const PARALLEL: f64 = 0.05;
/// Cosine of the angle to the best axis (0.05 rad) up to which a face is taken instead. Points that
/// bear load together differ in depth by little; at a larger tilt they are close to each other, and
/// one of them is enough.
const FLAT: f64 = 0.99875;
/// Part of the shortest half length by which the points of such a face may be less deep than the
/// best axis says, and by which the separations of two faces that lie on each other differ.
const SLACK: f64 = 1e-4;

/// An axis that separates, or that is the shortest way out.
#[derive(Clone, Copy)]
struct Separation {
    /// Signed, negative in overlap.
    by: f64,
    /// From B into A.
    normal: Vector3<f64>,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Face(Face),
    Edges(usize, usize),
}

/// Adds the points within the margin; the shapes come in the order capsule, sphere, box, cylinder or
/// cone.
pub(super) fn add(two: Two<'_>, margin: f64, out: &mut Manifold) {
    match (two.a.core, two.b.core) {
        (Core::Point, _) => out.push_within(margin, two.at_vertex(Side::A, 0)),
        (_, Core::Point) => out.push_within(margin, two.at_vertex(Side::B, 0)),
        _ if two.a.is_round() || two.b.is_round() => outline::add(two, margin, out),
        (_, Core::Segment) => add_segments(two, margin, out),
        (Core::Segment, Core::Box) => segment_box::add(two, margin, out),
        _ => add_boxes(two, margin, out),
    }
}

fn add_segments(two: Two<'_>, margin: f64, out: &mut Manifold) {
    let sine = two.a.edge(0).axis.cross(&two.b.edge(0).axis).norm();
    let closest = two.at_edges(0, 0);
    if sine >= ALIGNED {
        out.extend_within(margin, closest);
    }
    if sine < PARALLEL {
        add_common_length(two, [0, 0], margin, out);
    }
    if out.points().is_empty() {
        out.extend_within(margin, closest);
    }
}

/// Adds the ends of the common length of two edges that are nearly parallel: those of A, then those
/// of B.
pub(super) fn add_common_length(two: Two<'_>, edges: [usize; 2], margin: f64, out: &mut Manifold) {
    let (first, second) = (two.a.edge(edges[0]), two.b.edge(edges[1]));
    let apart = 1e-3 * two.least_half();
    let sides = [
        (Side::A, two.a.edge_ends(edges[0]), &second),
        (Side::B, two.b.edge_ends(edges[1]), &first),
    ];
    for (side, ends, other) in sides {
        for vertex in ends {
            let end = match side {
                Side::A => two.a.vertex(vertex),
                Side::B => two.b.vertex(vertex),
            };
            if other.foot(end).abs() <= other.half + 1e-9 * other.half {
                out.push_apart(margin, apart, two.at_vertex(side, vertex));
            }
        }
    }
}

/// A face and what lies over it.
pub(super) struct OverFace<'a> {
    two: Two<'a>,
    face: Face,
    incident: usize,
    pair: FacePair,
    corners: Corners,
}

impl<'a> OverFace<'a> {
    /// With corners up to a height of the cores.
    pub(super) fn new(two: Two<'a>, face: Face, height: f64) -> Self {
        let incident = two.incident(face);
        let pair = two.over(face, incident);
        let corners = Corners::of(&pair, height, two.least_half());
        Self {
            two,
            face,
            incident,
            pair,
            corners,
        }
    }

    /// Adds up to eight corners of the common area.
    pub(super) fn add(&self, margin: f64, out: &mut Manifold) {
        let (two, pair) = (&self.two, &self.pair);
        for corner in self.corners.chosen() {
            out.push_within(
                margin,
                two.at_corner(pair, self.face, self.incident, corner),
            );
        }
    }
}

fn add_boxes(two: Two<'_>, margin: f64, out: &mut Manifold) {
    let height = margin + two.radii();
    let Some((best, faces)) = separations(two, height) else {
        return;
    };
    let half = two.least_half();
    for face in faces {
        // Corners of the common area are the contact if they are as deep as the boxes: then the
        // lowest corner, or the crossing of the best two edges, is among them.
        if two.normal_of(face).dot(&best.normal) >= FLAT {
            let over = OverFace::new(two, face, height);
            if over.corners.deepest() <= best.by + SLACK * half {
                return over.add(margin, out);
            }
        }
    }
    match best.kind {
        // The corners over the face are further than what is closest: a vertex or an edge beside it.
        Kind::Face(_) if best.by > 0.0 => {}
        Kind::Face(face) => OverFace::new(two, face, height).add(margin, out),
        Kind::Edges(i, j) => {
            let edge_a = two.a.edge_towards(i, -best.normal);
            let edge_b = two.b.edge_towards(j, best.normal);
            if best.by <= 0.0 || two.a.edge(edge_a).meets(&two.b.edge(edge_b)) {
                out.extend_within(margin, two.at_edges(edge_a, edge_b));
            }
        }
    }
    if best.by > 0.0 && out.points().is_empty() {
        add_closest(two, best.normal, margin, out);
    }
}

/// The axis of the largest separation, and the best face of each box, that which bears first; none if an axis
/// separates beyond the margin.
fn separations(two: Two<'_>, margin: f64) -> Option<(Separation, [Face; 2])> {
    let (a, b) = (two.a, two.b);
    let between = a.pose.position() - b.pose.position();
    // Entry (i, j): axis i of A along axis j of B.
    let along_b = |k| a.pose.turned_back(b.pose.axis(k));
    let cosines = Matrix3::from_columns(&[along_b(0), along_b(1), along_b(2)]);
    let sizes = cosines.abs();
    let (in_a, in_b) = (a.pose.turned_back(between), b.pose.turned_back(between));
    let (half_a, half_b) = (Vector3::from(a.half), Vector3::from(b.half));
    let extent_b =
        |k| sizes[(k, 0)] * half_b.x + sizes[(k, 1)] * half_b.y + sizes[(k, 2)] * half_b.z;
    let extent_a =
        |k| sizes[(0, k)] * half_a.x + sizes[(1, k)] * half_a.y + sizes[(2, k)] * half_a.z;
    let (mut best_a, mut best_b) = ((f64::NEG_INFINITY, 0), (f64::NEG_INFINITY, 0));
    for k in 0..3 {
        let by = in_a[k].abs() - half_a[k] - extent_b(k);
        if by > best_a.0 {
            // The face of A that looks at B.
            best_a = (by, 2 * k + usize::from(in_a[k] >= 0.0));
        }
        let by = in_b[k].abs() - half_b[k] - extent_a(k);
        if by > best_b.0 {
            best_b = (by, 2 * k + usize::from(in_b[k] < 0.0));
        }
    }
    if best_a.0.max(best_b.0) > margin {
        return None;
    }
    let mut most = best_a.0.max(best_b.0);
    let mut edges = None;
    for i in 0..3 {
        let (p, q) = others(i);
        for j in 0..3 {
            let (r, s) = others(j);
            // Along the product of both edges, whose length is the sine of their angle.
            let sine_squared = 1.0 - cosines[(i, j)] * cosines[(i, j)];
            // Nearly parallel edges: faces separate as well.
            if sine_squared < 1e-10 {
                continue;
            }
            let along = in_a[q] * cosines[(p, j)] - in_a[p] * cosines[(q, j)];
            let extent_a = half_a[p] * sizes[(q, j)] + half_a[q] * sizes[(p, j)];
            let extent_b = half_b[r] * sizes[(i, s)] + half_b[s] * sizes[(i, r)];
            let by = (along.abs() - extent_a - extent_b) / sine_squared.sqrt();
            if by > margin {
                return None;
            }
            if by > most {
                (most, edges) = (by, Some((i, j)));
            }
        }
    }
    let face_of = |reference, face| Face { reference, face };
    let (of_a, of_b) = (face_of(Side::A, best_a.1), face_of(Side::B, best_b.1));
    let (normal, kind) = if let Some((i, j)) = edges {
        let across = a.pose.axis(i).cross(&b.pose.axis(j)).normalize();
        let normal = across * 1f64.copysign(across.dot(&between));
        (normal, Kind::Edges(i, j))
    } else {
        let face = if best_b.0 > best_a.0 { of_b } else { of_a };
        (two.normal_of(face), Kind::Face(face))
    };
    let by = most;
    // The face on which a corner of the other box stands has its normal, and the larger separation. Boxes that lie
    // flat have both but for rounding: then the choice may not alternate, nor depend on which box comes first.
    let beyond = best_b.0 - best_a.0;
    let is_b_first = if beyond.abs() > SLACK * two.least_half() {
        beyond > 0.0
    } else {
        b.area_of_face(of_b.face) > a.area_of_face(of_a.face)
    };
    let faces = if is_b_first {
        [of_b, of_a]
    } else {
        [of_a, of_b]
    };
    Some((Separation { by, normal, kind }, faces))
}

/// Adds the closest point of boxes that are apart; `normal` separates them. What lies further behind
/// it than the closest point so far, or than the margin, is passed over.
fn add_closest(two: Two<'_>, normal: Vector3<f64>, margin: f64, out: &mut Manifold) {
    let (a, b, radii) = (two.a, two.b, two.radii());
    // Of the cores.
    let (mut closest, mut least): (Option<ManifoldPoint>, f64) = (None, margin + radii);
    // How far the planes across the normal that touch A and B lie.
    let low_a = normal.dot(&a.pose.position()) - a.extent(normal);
    let high_b = normal.dot(&b.pose.position()) + b.extent(normal);
    let mut compare = |point: ManifoldPoint, least: &mut f64| {
        let distance = point.gap + radii;
        if distance > 0.0 && distance <= *least {
            *least = distance;
            closest = Some(point);
        }
    };
    for vertex in 0..8 {
        if normal.dot(&a.vertex(vertex)) - high_b <= least {
            compare(two.at_vertex(Side::A, vertex), &mut least);
        }
        if low_a - normal.dot(&b.vertex(vertex)) <= least {
            compare(two.at_vertex(Side::B, vertex), &mut least);
        }
    }
    for edge_a in 0..12 {
        let first = a.edge(edge_a);
        let low = normal.dot(&first.middle) - first.half * normal.dot(&first.axis).abs();
        if low - high_b > least {
            continue;
        }
        for edge_b in 0..12 {
            let second = b.edge(edge_b);
            let high = normal.dot(&second.middle) + second.half * normal.dot(&second.axis).abs();
            if low - high <= least
                && first.meets(&second)
                && let Some(point) = two.at_edges(edge_a, edge_b)
            {
                compare(point, &mut least);
            }
        }
    }
    if let Some(point) = closest {
        out.push_within(margin, point);
    }
}
