//! Two boxes.
//!
//! 1. The axis of the largest separation among the face normals of both and the products of their
//!    edges.
//! 2. A face in nearly this direction is taken instead, that of A first, if a corner of the common
//!    area is as deep. The corner where two edges cross has the gap of the edge pair over the
//!    cosine of the angle between both normals, so that the gap is nearly continuous where the choice
//!    changes.
//! 3. Face: the face of the other box that looks most into it is clipped by its borders; edges: the
//!    closest points of both lines.
//! 4. Where boxes are apart and this gives no point within the margin, a vertex or an edge is
//!    closest: all vertices and edge pairs are compared.

use super::face_clip::{CORNERS, FacePair};
use super::placed_box::{PlacedBox, others};
use super::reduction::{MOST, choose};
use super::segment::Segment;
use super::{Manifold, ManifoldPoint, ball};
use crate::bodies::broad_phase::Ball;
use nalgebra::Vector3;

/// Features are faces, then edge pairs, then vertices of A and of B.
const EDGES: usize = 2 * 6 * 6 * CORNERS;
const VERTICES: usize = EDGES + 12 * 12;
const FEATURES: usize = VERTICES + 16;
const _: () = assert!(FEATURES <= super::FEATURES);

/// Cosine of the angle to the best axis (0.05 rad) up to which a face is taken instead. Points that
/// bear load together differ in depth by little; at a larger tilt they are close to each other, and
/// one of them is enough.
const FLAT: f64 = 0.99875;
/// How much less deep than the best axis says the points of such a face may be, by the shortest
/// half length.
const SLACK: f64 = 1e-4;
/// Corners closer than this, by the shortest half length, are one.
const APART: f64 = 1e-6;
/// Corners whose gaps differ by less than this, by the shortest half length, are equally deep when
/// four of them are chosen.
const LEVEL: f64 = 1e-4;

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

/// A face of the reference box.
#[derive(Clone, Copy)]
struct Face {
    /// 0: A, 1: B.
    reference: usize,
    face: usize,
}

impl Face {
    /// From B into A.
    fn normal(self, a: &PlacedBox<'_>, b: &PlacedBox<'_>) -> Vector3<f64> {
        if self.reference == 0 {
            -a.face_normal(self.face)
        } else {
            b.face_normal(self.face)
        }
    }

    /// With the face `incident` of the other box over it.
    fn over(self, a: &PlacedBox<'_>, b: &PlacedBox<'_>, incident: usize) -> FacePair {
        if self.reference == 0 {
            FacePair::new(a, self.face, b, incident)
        } else {
            FacePair::new(b, self.face, a, incident)
        }
    }
}

/// Adds the points within the margin.
pub(super) fn add(a: &PlacedBox<'_>, b: &PlacedBox<'_>, margin: f64, manifold: &mut Manifold) {
    let Some((best, faces)) = separations(a, b, margin) else {
        return;
    };
    let half = a.least_half().min(b.least_half());
    for face in faces {
        // Corners of the common area are the contact if they are as deep as the boxes: then the
        // lowest corner, or the crossing of the best two edges, is among them.
        if face.normal(a, b).dot(&best.normal) >= FLAT {
            let corners = FaceCorners::new(a, b, face, margin);
            if corners.deepest() <= best.by + SLACK * half {
                return corners.add(margin, manifold);
            }
        }
    }
    match best.kind {
        Kind::Face(face) => FaceCorners::new(a, b, face, margin).add(margin, manifold),
        Kind::Edges(i, j) => {
            let edge_a = a.edge_towards(i, -best.normal);
            let edge_b = b.edge_towards(j, best.normal);
            if best.by <= 0.0 || edges_meet(&segment(a, edge_a), &segment(b, edge_b)) {
                let point = edge_point(a, edge_a, b, edge_b);
                if let Some(point) = point {
                    manifold.push_within(margin, point);
                }
            }
        }
    }
    if best.by > 0.0 && manifold.points().is_empty() {
        add_closest(a, b, best.normal, margin, manifold);
    }
}

/// The point of a feature.
pub(super) fn point(a: &PlacedBox<'_>, b: &PlacedBox<'_>, feature: usize) -> Option<ManifoldPoint> {
    if feature < EDGES {
        let (faces, corner) = (feature / CORNERS, feature % CORNERS);
        let face = Face {
            reference: faces / 36,
            face: faces / 6 % 6,
        };
        let pair = face.over(a, b, faces % 6);
        let corner = pair.corner(corner)?;
        Some(face_point(&pair, face.reference, feature, corner))
    } else if feature < VERTICES {
        let edges = feature - EDGES;
        edge_point(a, edges / 12, b, edges % 12)
    } else if feature < FEATURES {
        Some(vertex_point(a, b, feature - VERTICES))
    } else {
        None
    }
}

/// The axis of the largest separation, and the best face of each box; none if an axis separates
/// beyond the margin.
fn separations(
    a: &PlacedBox<'_>,
    b: &PlacedBox<'_>,
    margin: f64,
) -> Option<(Separation, [Face; 2])> {
    let between = a.pose.position() - b.pose.position();
    // Entry (i, j): axis i of A along axis j of B.
    let cosines = a.pose.rotation().tr_mul(&b.pose.rotation());
    let sizes = cosines.abs();
    let (in_a, in_b) = (
        a.pose.rotation().tr_mul(&between),
        b.pose.rotation().tr_mul(&between),
    );
    let (half_a, half_b) = (Vector3::from(*a.half), Vector3::from(*b.half));
    let extents_b = sizes * half_b;
    let extents_a = sizes.tr_mul(&half_a);
    let (mut best_a, mut best_b) = ((f64::NEG_INFINITY, 0), (f64::NEG_INFINITY, 0));
    for k in 0..3 {
        let by = in_a[k].abs() - half_a[k] - extents_b[k];
        if by > best_a.0 {
            // The face of A that looks at B.
            best_a = (by, 2 * k + usize::from(in_a[k] >= 0.0));
        }
        let by = in_b[k].abs() - half_b[k] - extents_a[k];
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
    let (of_a, of_b) = (face_of(0, best_a.1), face_of(1, best_b.1));
    let (normal, kind) = if let Some((i, j)) = edges {
        let across = a.pose.axis(i).cross(&b.pose.axis(j)).normalize();
        let normal = across * 1f64.copysign(across.dot(&between));
        (normal, Kind::Edges(i, j))
    } else {
        let face = if best_b.0 > best_a.0 { of_b } else { of_a };
        (face.normal(a, b), Kind::Face(face))
    };
    let by = most;
    // In a fixed order: both are as deep where both are taken, and the choice does not alternate.
    Some((Separation { by, normal, kind }, [of_a, of_b]))
}

fn face_point(
    pair: &FacePair,
    reference: usize,
    feature: usize,
    corner: [f64; 3],
) -> ManifoldPoint {
    let outward = pair.normal();
    let (on_other, gap) = (pair.in_world(corner), corner[2]);
    let on_reference = on_other - outward * gap;
    let (normal, on_a, on_b) = if reference == 0 {
        (-outward, on_reference, on_other)
    } else {
        (outward, on_other, on_reference)
    };
    ManifoldPoint {
        feature,
        gap,
        normal,
        on_a,
        on_b,
    }
}

/// The corners of the common area of a face and the face of the other box that looks most into it.
struct FaceCorners {
    pair: FacePair,
    face: Face,
    incident: usize,
    corners: [[f64; 3]; MOST],
    numbers: [usize; MOST],
    count: usize,
    /// Corners closer than this are one.
    apart: f64,
    /// Gaps that differ by less are equal when four corners are chosen.
    level: f64,
}

impl FaceCorners {
    fn new(a: &PlacedBox<'_>, b: &PlacedBox<'_>, face: Face, margin: f64) -> Self {
        let incident = if face.reference == 0 {
            b.face_against(a.face_normal(face.face))
        } else {
            a.face_against(b.face_normal(face.face))
        };
        let pair = face.over(a, b, incident);
        let half = a.least_half().min(b.least_half());
        let apart = APART * half;
        let (mut corners, mut numbers) = ([[0.0; 3]; MOST], [0; MOST]);
        let count = pair.common_corners(margin, apart, &mut corners, &mut numbers);
        Self {
            pair,
            face,
            incident,
            corners,
            numbers,
            count,
            apart,
            level: LEVEL * half,
        }
    }

    /// The lowest gap.
    fn deepest(&self) -> f64 {
        let gaps = self.corners[..self.count].iter().map(|corner| corner[2]);
        gaps.fold(f64::INFINITY, f64::min)
    }

    fn add(&self, margin: f64, manifold: &mut Manifold) {
        let (chosen, kept) = choose(&self.corners[..self.count], self.apart, self.level);
        let Face { reference, face } = self.face;
        for &i in &chosen[..kept] {
            let feature = ((reference * 6 + face) * 6 + self.incident) * CORNERS + self.numbers[i];
            let point = face_point(&self.pair, reference, feature, self.corners[i]);
            manifold.push_within(margin, point);
        }
    }
}

fn segment(cuboid: &PlacedBox<'_>, edge: usize) -> Segment {
    let (middle, axis, half) = cuboid.edge(edge);
    Segment { middle, axis, half }
}

/// True when the closest points of the lines lie on both edges.
fn edges_meet(a: &Segment, b: &Segment) -> bool {
    let lines = a.closest_on_lines(b);
    lines.is_some_and(|(s, t)| s.abs() <= a.half && t.abs() <= b.half)
}

/// The point of two edges; none where they are parallel. The witness points stay on the edges.
fn edge_point(
    a: &PlacedBox<'_>,
    edge_a: usize,
    b: &PlacedBox<'_>,
    edge_b: usize,
) -> Option<ManifoldPoint> {
    let between = a.pose.position() - b.pose.position();
    let (a, b) = (segment(a, edge_a), segment(b, edge_b));
    let (s, t) = a.closest_on_lines(&b)?;
    let across = a.axis.cross(&b.axis).normalize();
    let normal = across * 1f64.copysign(across.dot(&between));
    let gap = normal.dot(&(a.middle - b.middle));
    let on_a = a.at(s.clamp(-a.half, a.half));
    let on_b = b.at(t.clamp(-b.half, b.half));
    let middle = (on_a + on_b) * 0.5;
    Some(ManifoldPoint {
        feature: EDGES + 12 * edge_a + edge_b,
        gap,
        normal,
        on_a: middle + normal * (0.5 * gap),
        on_b: middle - normal * (0.5 * gap),
    })
}

/// Vertices 0 to 7 are those of A against B, 8 to 15 those of B against A.
fn vertex_point(a: &PlacedBox<'_>, b: &PlacedBox<'_>, vertex: usize) -> ManifoldPoint {
    let feature = VERTICES + vertex;
    let at_vertex = |centre| Ball {
        centre,
        radius: 0.0,
    };
    if vertex < 8 {
        ball::on_box(feature, at_vertex(a.vertex(vertex)), b)
    } else {
        ball::on_box(feature, at_vertex(b.vertex(vertex - 8)), a).exchanged()
    }
}

/// Adds the closest point of boxes that are apart; `normal` separates them. What lies further behind
/// it than the closest point so far, or than the margin, is passed over.
fn add_closest(
    a: &PlacedBox<'_>,
    b: &PlacedBox<'_>,
    normal: Vector3<f64>,
    margin: f64,
    manifold: &mut Manifold,
) {
    let (mut closest, mut least): (Option<ManifoldPoint>, f64) = (None, margin);
    // How far the planes across the normal that touch A and B lie.
    let low_a = normal.dot(&a.pose.position()) - a.extent(normal);
    let high_b = normal.dot(&b.pose.position()) + b.extent(normal);
    let mut compare = |point: ManifoldPoint, least: &mut f64| {
        if point.gap > 0.0 && point.gap <= *least {
            *least = point.gap;
            closest = Some(point);
        }
    };
    for vertex in 0..8 {
        if normal.dot(&a.vertex(vertex)) - high_b <= least {
            compare(vertex_point(a, b, vertex), &mut least);
        }
        if low_a - normal.dot(&b.vertex(vertex)) <= least {
            compare(vertex_point(a, b, 8 + vertex), &mut least);
        }
    }
    for edge_a in 0..12 {
        let first = segment(a, edge_a);
        let low = normal.dot(&first.middle) - first.half * normal.dot(&first.axis).abs();
        if low - high_b > least {
            continue;
        }
        for edge_b in 0..12 {
            let second = segment(b, edge_b);
            let high = normal.dot(&second.middle) + second.half * normal.dot(&second.axis).abs();
            if low - high <= least
                && edges_meet(&first, &second)
                && let Some(point) = edge_point(a, edge_a, b, edge_b)
            {
                compare(point, &mut least);
            }
        }
    }
    if let Some(point) = closest {
        manifold.push_within(margin, point);
    }
}
