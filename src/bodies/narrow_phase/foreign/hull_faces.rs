//! Contact points of whole faces of convex hulls of parry.
//!
//! parry cuts a face of a hull to four of its vertices, so that a prism with six sides would stand
//! on a part of its foot. Here the faces that meet along a normal of parry are clipped whole.

use nalgebra::Vector3;
use parry3d_f64::glamx::DVec3;
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::shape::{ConvexPolyhedron, PolygonalFeature, Shape as ParryShape};

/// A convex part of a shape at its pose.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) shape: &'a dyn ParryShape,
    pub(super) pose: ParryPose,
}

/// Gaps that differ by less than this part of a hull are equal: more than the rounding of parry.
const ROUNDING: f64 = 1e-6;

/// Steeper faces than this have no height over a plane along the normal: its cosine.
const STEEP: f64 = 1e-3;

/// Calls `add` with the gap and both witness points of each corner of the common area of two parts,
/// one at least a hull, seen along the unit normal from B into A.
pub(super) fn corners(
    a: &Part<'_>,
    b: &Part<'_>,
    normal: Vector3<f64>,
    mut add: impl FnMut(f64, Vector3<f64>, Vector3<f64>),
) {
    if a.hull().is_none() && b.hull().is_none() {
        return;
    }
    if b.shape.as_halfspace().is_some() {
        a.over_plane(b, &mut add);
    } else if a.shape.as_halfspace().is_some() {
        b.over_plane(a, |gap, on_b, on_a| add(gap, on_a, on_b));
    } else if let (Some(face_a), Some(face_b)) = (a.face(-normal), b.face(normal)) {
        let a_is_flatter = face_a.slope(normal) > face_b.slope(normal);
        let (clipped, plane) = if a_is_flatter {
            (&face_b, &face_a)
        } else {
            (&face_a, &face_b)
        };
        // The height of the clipped face over the other, with A on top.
        let sign = if a_is_flatter { -1.0 } else { 1.0 };
        let Some((origin, towards)) = plane.height_over(normal) else {
            return;
        };
        for point in clip(&clipped.vertices, &plane.vertices, normal) {
            let height = towards.dot(&(point - origin));
            let other = point - normal * height;
            let (on_a, on_b) = if a_is_flatter {
                (other, point)
            } else {
                (point, other)
            };
            let gap = sign * height - face_a.radius - face_b.radius;
            add(
                gap,
                on_a - normal * face_a.radius,
                on_b + normal * face_b.radius,
            );
        }
    }
}

/// The unit normal from B into A along which two convex parts, one at least a hull, have the largest
/// gap, where that of parry is not the `gap` that it returns. That happens where faces touch exactly:
/// parry then takes the normal of any face. Normals of faces are tried, not those of two edges.
pub(super) fn better_normal(
    a: &Part<'_>,
    b: &Part<'_>,
    normal: Vector3<f64>,
    gap: f64,
) -> Option<Vector3<f64>> {
    if !gap.is_finite() || (a.hull().is_none() && b.hull().is_none()) {
        return None;
    }
    let size = a.shape.compute_local_bounding_sphere().radius;
    let size = size.min(b.shape.compute_local_bounding_sphere().radius);
    let own = separation(a, b, normal)?;
    if own >= gap - ROUNDING * size {
        return None;
    }
    let of_a = a.normals().into_iter().map(|outwards| -outwards);
    let normals = of_a.chain(b.normals());
    let gaps = normals.filter_map(|normal| Some((separation(a, b, normal)?, normal)));
    let (best, normal) = gaps.max_by(|p, q| p.0.total_cmp(&q.0))?;
    (best > own).then_some(normal)
}

/// The gap of two convex parts along a normal; none for shapes that are not convex or not bounded.
fn separation(a: &Part<'_>, b: &Part<'_>, normal: Vector3<f64>) -> Option<f64> {
    let furthest = |part: &Part<'_>, towards: Vector3<f64>| {
        let map = part.shape.as_support_map()?;
        let towards = DVec3::from_array(towards.into());
        Some(map.support_point(&part.pose, towards).dot(towards))
    };
    Some(-furthest(a, -normal)? - furthest(b, normal)?)
}

impl Part<'_> {
    /// Outward unit normals of the faces of a hull or a box.
    fn normals(&self) -> Vec<Vector3<f64>> {
        let to_world = |normal: DVec3| Vector3::from((self.pose.rotation * normal).to_array());
        if let Some((hull, _)) = self.hull() {
            let faces = hull.faces().iter();
            return faces.map(|face| to_world(face.normal)).collect();
        }
        if self.shape.as_cuboid().is_some() {
            let axes = [DVec3::X, DVec3::Y, DVec3::Z];
            return axes
                .iter()
                .flat_map(|&axis| [to_world(axis), to_world(-axis)])
                .collect();
        }
        Vec::new()
    }

    /// The hull, and the radius by which it is rounded.
    fn hull(&self) -> Option<(&ConvexPolyhedron, f64)> {
        if let Some(hull) = self.shape.as_convex_polyhedron() {
            return Some((hull, 0.0));
        }
        let round = self.shape.as_round_convex_polyhedron()?;
        Some((&round.inner_shape, round.border_radius))
    }

    fn in_world(&self, point: DVec3) -> Vector3<f64> {
        self.pose.transform_point(point).to_array().into()
    }

    /// The vertices of a hull over a half-space: gap, witness point on the hull and on the plane.
    fn over_plane(&self, plane: &Self, mut add: impl FnMut(f64, Vector3<f64>, Vector3<f64>)) {
        let (Some((hull, radius)), Some(half_space)) = (self.hull(), plane.shape.as_halfspace())
        else {
            return;
        };
        let up = Vector3::from((plane.pose.rotation * half_space.normal).to_array());
        let origin = plane.in_world(DVec3::ZERO);
        for &vertex in hull.points() {
            let point = self.in_world(vertex);
            let height = up.dot(&(point - origin));
            add(height - radius, point - up * radius, point - up * height);
        }
    }

    /// The face that looks most along a direction; none for a ball.
    fn face(&self, towards: Vector3<f64>) -> Option<Face> {
        let towards = self.pose.rotation.inverse() * DVec3::from_array(towards.into());
        if let Some((hull, radius)) = self.hull() {
            let faces = hull.faces().iter();
            let along = |normal: DVec3| normal.dot(towards);
            let face = faces.max_by(|f, g| along(f.normal).total_cmp(&along(g.normal)))?;
            let first = face.first_vertex_or_edge as usize;
            let numbers = hull.vertices_adj_to_face();
            let numbers = numbers.get(first..first + face.num_vertices_or_edges as usize)?;
            let vertices = numbers
                .iter()
                .map(|&k| self.in_world(hull.points()[k as usize]));
            return Some(Face {
                vertices: vertices.collect(),
                radius,
            });
        }
        let (map, radius) = self.shape.as_polygonal_feature_map()?;
        let mut feature = PolygonalFeature::default();
        map.local_support_feature(towards, &mut feature);
        let vertices = feature.vertices.iter().take(feature.num_vertices);
        Some(Face {
            vertices: vertices.map(|&vertex| self.in_world(vertex)).collect(),
            radius,
        })
    }
}

/// A convex polygon, an edge or a vertex, rounded by a radius.
struct Face {
    vertices: Vec<Vector3<f64>>,
    radius: f64,
}

impl Face {
    /// Normal of the plane, twice the area long; zero for an edge.
    fn area(&self) -> Vector3<f64> {
        let Some(first) = self.vertices.first() else {
            return Vector3::zeros();
        };
        let arms = self.vertices.iter().map(|vertex| vertex - first);
        let pairs = arms.clone().zip(arms.skip(1));
        pairs.map(|(a, b)| a.cross(&b)).sum()
    }

    /// The cosine between the plane and the plane across the normal; 0 for an edge.
    fn slope(&self, normal: Vector3<f64>) -> f64 {
        let area = self.area();
        let length = area.norm();
        if length > 0.0 {
            (area.dot(&normal) / length).abs()
        } else {
            0.0
        }
    }

    /// A point of the plane and the vector whose product with the arm to a point is the height of
    /// the point over the plane, measured along the normal.
    fn height_over(&self, normal: Vector3<f64>) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let origin = *self.vertices.first()?;
        let area = self.area();
        (self.slope(normal) > STEEP).then(|| (origin, area / area.dot(&normal)))
    }
}

/// The part of a polygon that lies over or under a convex one, along the normal.
fn clip(
    polygon: &[Vector3<f64>],
    border: &[Vector3<f64>],
    normal: Vector3<f64>,
) -> Vec<Vector3<f64>> {
    let middle = border.iter().sum::<Vector3<f64>>() / border.len().max(1) as f64;
    let (mut kept, mut next) = (polygon.to_vec(), Vec::new());
    for (i, from) in border.iter().enumerate() {
        let to = border[(i + 1) % border.len()];
        let mut inwards = normal.cross(&(to - from));
        if inwards.dot(&(middle - from)) < 0.0 {
            inwards = -inwards;
        }
        let inside = |point: &Vector3<f64>| inwards.dot(&(point - from));
        next.clear();
        for (k, point) in kept.iter().enumerate() {
            let after = &kept[(k + 1) % kept.len()];
            let (here, there) = (inside(point), inside(after));
            if here >= 0.0 {
                next.push(*point);
            }
            if (here > 0.0 && there < 0.0) || (here < 0.0 && there > 0.0) {
                next.push(point.lerp(after, here / (here - there)));
            }
        }
        std::mem::swap(&mut kept, &mut next);
    }
    kept
}
