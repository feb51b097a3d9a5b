//! Contact points of whole faces of convex hulls of parry.
//!
//! parry cuts a face of a hull to four of its vertices, so that a prism with six sides would stand
//! on a part of its foot. Here the faces that meet along a normal of parry are clipped whole; and where
//! its normal is wrong, as it can be where faces touch exactly, those along a normal of a face.

use nalgebra::Vector3;
use parry3d_f64::glamx::DVec3;
use parry3d_f64::math::Pose as ParryPose;
use parry3d_f64::shape::{ConvexPolyhedron, PolygonalFeature, Shape as ParryShape};

use super::super::ManifoldPoint;

/// A convex part of a shape at its pose.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    pub(super) shape: &'a dyn ParryShape,
    pub(super) pose: ParryPose,
}

/// Gaps that differ by less than this part of a hull are equal: more than the rounding of parry.
const ROUNDING: f64 = 1e-6;

/// Overlaps deeper than this part of the smaller shape are doubted: they may be through the whole of it. Bodies at
/// rest sink in by less.
const DEEP: f64 = 1e-3;

/// Vertices of a hull beside its face over a plane that count: those of both neighbours of a face that rolls on.
const BESIDE: usize = 4;

/// Faces of a hull that lean to the one that looks into a plane by less are of its foot, as those of a curved sole
/// or of a scanned one: the cosine of 0.05.
const FLAT: f64 = 0.998_75;

/// Steeper faces than this have no height over a plane along the normal: its cosine.
const STEEP: f64 = 1e-3;

/// Calls `add` with each corner of the common area of two parts, seen along the unit normal from B into A, and
/// whether it lies beside the face that looks into a plane. True where these are all that can touch: of a hull
/// over a plane.
pub(super) fn corners(
    a: &Part<'_>,
    b: &Part<'_>,
    normal: Vector3<f64>,
    mut add: impl FnMut(ManifoldPoint, bool),
) -> bool {
    if b.shape.as_halfspace().is_some() {
        return a.over_plane(b, &mut add);
    }
    if a.shape.as_halfspace().is_some() {
        return b.over_plane(a, |point, is_beside| add(point.exchanged(), is_beside));
    }
    if let (Some(face_a), Some(face_b)) = (a.face(-normal), b.face(normal)) {
        let a_is_flatter = face_a.slope(normal) > face_b.slope(normal);
        let (clipped, plane) = if a_is_flatter {
            (&face_b, &face_a)
        } else {
            (&face_a, &face_b)
        };
        // The height of the clipped face over the other, with A on top.
        let sign = if a_is_flatter { -1.0 } else { 1.0 };
        let Some((origin, towards)) = plane.height_over(normal) else {
            return false;
        };
        for point in clip(&clipped.vertices, &plane.vertices, normal) {
            let height = towards.dot(&(point - origin));
            let other = point - normal * height;
            let (on_a, on_b) = if a_is_flatter {
                (other, point)
            } else {
                (point, other)
            };
            let point = ManifoldPoint {
                feature: 0,
                gap: sign * height - face_a.radius - face_b.radius,
                normal,
                on_a: on_a - normal * face_a.radius,
                on_b: on_b + normal * face_b.radius,
            };
            add(point, false);
        }
    }
    false
}

/// The unit normal from B into A along which two convex parts have the largest gap, and this gap, where along the
/// normal of parry, if it has one, it is not the `gap` that parry returns, or is deep. That happens where faces
/// touch exactly: parry then takes the normal of any face. Convex bodies are no deeper in each other than along
/// any direction. Normals of faces are tried, and axes, not normals of two edges.
pub(super) fn better_normal(
    a: &Part<'_>,
    b: &Part<'_>,
    asked: Option<Vector3<f64>>,
    gap: f64,
) -> Option<(Vector3<f64>, f64)> {
    if !gap.is_finite() {
        return None;
    }
    let size = a.shape.compute_local_bounding_sphere().radius;
    let size = size.min(b.shape.compute_local_bounding_sphere().radius);
    let own = match asked {
        Some(normal) => separation(a, b, normal)?,
        None => f64::NEG_INFINITY,
    };
    if own >= gap - ROUNDING * size && own > -DEEP * size {
        return None;
    }
    let of_a = a.normals().into_iter().map(|outwards| -outwards);
    let normals = of_a.chain(b.normals());
    let gaps = normals.filter_map(|normal| Some((separation(a, b, normal)?, normal)));
    let (best, normal) = gaps.max_by(|p, q| p.0.total_cmp(&q.0))?;
    // Where parry has no normal edges may touch, of which faces say nothing: they would be deep.
    let least = if asked.is_some() {
        own + ROUNDING * size
    } else {
        -DEEP * size
    };
    (best > least).then_some((normal, best))
}

/// The gap of two convex parts along a normal; none for shapes that are not convex or not bounded.
pub(super) fn separation(a: &Part<'_>, b: &Part<'_>, normal: Vector3<f64>) -> Option<f64> {
    let furthest = |part: &Part<'_>, towards: Vector3<f64>| {
        let map = part.shape.as_support_map()?;
        let towards = DVec3::from_array(towards.into());
        Some(map.support_point(&part.pose, towards).dot(towards))
    };
    Some(-furthest(a, -normal)? - furthest(b, normal)?)
}

/// The numbers of the vertices of a face of a hull.
fn numbers(hull: &ConvexPolyhedron, face: usize) -> Option<&[u32]> {
    let face = hull.faces().get(face)?;
    let first = face.first_vertex_or_edge as usize;
    (hull.vertices_adj_to_face()).get(first..first + face.num_vertices_or_edges as usize)
}

impl Part<'_> {
    /// Outward unit normals of the faces of a hull; of other shapes both directions of their axes, which are those of
    /// the faces of boxes, cylinders and cones.
    fn normals(&self) -> Vec<Vector3<f64>> {
        let to_world = |normal: DVec3| Vector3::from((self.pose.rotation * normal).to_array());
        if let Some((hull, _)) = self.hull() {
            let faces = hull.faces().iter();
            return faces.map(|face| to_world(face.normal)).collect();
        }
        let axes = [DVec3::X, DVec3::Y, DVec3::Z];
        let both = axes.into_iter().flat_map(|axis| [axis, -axis]);
        both.map(to_world).collect()
    }

    /// The hull, and the radius by which it is rounded.
    pub(super) fn hull(&self) -> Option<(&ConvexPolyhedron, f64)> {
        if let Some(hull) = self.shape.as_convex_polyhedron() {
            return Some((hull, 0.0));
        }
        let round = self.shape.as_round_convex_polyhedron()?;
        Some((&round.inner_shape, round.border_radius))
    }

    fn in_world(&self, point: DVec3) -> Vector3<f64> {
        self.pose.transform_point(point).to_array().into()
    }

    /// Vertices of a hull over a half-space, with this part as A; false for other shapes. They are those of the face
    /// that looks most into it and of faces that hardly lean to it, as of our boxes, and the lowest of the others: over
    /// steeper faces the gap is not affine.
    fn over_plane(&self, plane: &Self, mut add: impl FnMut(ManifoldPoint, bool)) -> bool {
        let (Some((hull, radius)), Some(half_space)) = (self.hull(), plane.shape.as_halfspace())
        else {
            return false;
        };
        let up = Vector3::from((plane.pose.rotation * half_space.normal).to_array());
        let origin = plane.in_world(DVec3::ZERO);
        let faces = hull.faces();
        let Some(lowest) = self.looking(hull, -up).and_then(|k| faces.get(k)) else {
            return false;
        };
        let mut is_foot = vec![false; hull.points().len()];
        for (k, face) in faces.iter().enumerate() {
            if face.normal.dot(lowest.normal) > FLAT {
                let numbers = numbers(hull, k).unwrap_or_default();
                for &k in numbers {
                    is_foot[k as usize] = true;
                }
            }
        }
        let height = |point: Vector3<f64>| up.dot(&(point - origin));
        let heights = (0..hull.points().len()).filter(|k| !is_foot[*k]);
        let heights = heights.map(|k| (height(self.in_world(hull.points()[k])), k));
        let mut beside: Vec<(f64, usize)> = heights.collect();
        beside.sort_by(|p, q| p.0.total_cmp(&q.0));
        beside.truncate(BESIDE);
        for (k, &vertex) in hull.points().iter().enumerate() {
            let is_beside = beside.iter().any(|&(_, other)| other == k);
            if is_beside || is_foot[k] {
                let point = self.in_world(vertex);
                let height = height(point);
                let point = ManifoldPoint {
                    feature: 0,
                    gap: height - radius,
                    normal: up,
                    on_a: point - up * radius,
                    on_b: point - up * height,
                };
                add(point, is_beside);
            }
        }
        true
    }

    /// The face of a hull that looks most along a direction.
    fn looking(&self, hull: &ConvexPolyhedron, towards: Vector3<f64>) -> Option<usize> {
        let towards = self.pose.rotation.inverse() * DVec3::from_array(towards.into());
        let along = |k: usize| hull.faces()[k].normal.dot(towards);
        (0..hull.faces().len()).max_by(|f, g| along(*f).total_cmp(&along(*g)))
    }

    /// The face that looks most along a direction; none for a ball.
    fn face(&self, towards: Vector3<f64>) -> Option<Face> {
        if let Some((hull, radius)) = self.hull() {
            let numbers = numbers(hull, self.looking(hull, towards)?)?.iter();
            let vertices = numbers.map(|&k| self.in_world(hull.points()[k as usize]));
            return Some(Face {
                vertices: vertices.collect(),
                radius,
            });
        }
        let towards = self.pose.rotation.inverse() * DVec3::from_array(towards.into());
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
