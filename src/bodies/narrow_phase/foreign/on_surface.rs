//! Contacts on a mesh or a height field: those of a ball or a capsule, and which of parry's hold.
//!
//! Each triangle has a point that is closest to the core of the round shape: to an end of it, or
//! between it and an edge of the triangle. Such a point is a contact where it is closest on the
//! whole surface around it too. With the unit normal `n` from it to the core that holds if no
//! triangle `T` at the point `p` rises along the normal, `n · (v − p) ≤ 0` for the vertices `v` of
//! `T`: a triangle is convex. So edges within a plane and in a hollow have no contacts, while a
//! ridge and the border have theirs, with the exact normal.
//!
//! A surface with one side pushes out what has its core behind it, at the end that lies there.

use nalgebra::Vector3;
use parry3d_f64::bounding_volume::Aabb;
use parry3d_f64::glamx::DVec3;
use parry3d_f64::query::PointQuery;
use parry3d_f64::shape::{HeightField, Shape as ParryShape, TriMesh, TriMeshFlags, Triangle};

use super::super::segment::Segment;
use super::patches::is_same_normal;
use super::vector;

/// Sine of the slope up to which an edge of a flat surface is no edge: the normal that it would
/// have is that of the plane.
const FLAT: f64 = 1e-6;

/// Part of the size of a body by which parry's points are off.
const ROUNDING: f64 = 1e-6;

/// Sine of the angle between core and surface up to which a core that lies on it touches with the
/// higher end too.
const ALONG: f64 = 0.05;

/// A ball or a capsule: all points within `radius` of a segment, of half length 0 for a ball.
#[derive(Clone, Copy)]
pub(super) struct Round {
    pub(super) core: Segment,
    pub(super) radius: f64,
}

/// A contact: the triangle, the unit normal from it, its point, and that of the core.
#[derive(Clone, Copy)]
pub(super) struct Touch {
    pub(super) triangle: u32,
    pub(super) normal: Vector3<f64>,
    pub(super) on_surface: Vector3<f64>,
    pub(super) on_core: Vector3<f64>,
}

/// Finds the contacts of a round shape, given in the axes of the surface, whose core is closer than
/// the radius and `reach`. None where parry has to answer: the core passes through a surface with
/// two sides.
pub(super) fn touches(round: Round, shape: &dyn ParryShape, reach: f64) -> Option<Vec<Touch>> {
    let ends = [0, 1].map(|end| round.core.end(end));
    let facets = Facets::near(&ends, shape, round.radius + reach);
    let mut found = Vec::new();
    let core = &round.core;
    if !facets.one_sided && core.half > 0.0 && facets.cross(core) {
        return None;
    }
    if core.half > 0.0 {
        for end in 0..2 {
            let inwards = core.axis * if end == 0 { 1.0 } else { -1.0 };
            facets.at_end(core.end(end), Some(inwards), &mut found);
        }
        facets.at_edges(core, &mut found);
    } else {
        facets.at_end(core.middle, None, &mut found);
    }
    Some(found)
}

/// A point of a surface and a unit normal from it, in its axes.
#[derive(Clone, Copy)]
pub(super) struct Lean {
    pub(super) point: Vector3<f64>,
    pub(super) normal: Vector3<f64>,
}

/// Says of each of some contacts with a body of this size whether the surface rises along its
/// normal. parry corrects normals at edges by one edge of three, so that some lean along an edge.
pub(super) fn rises(contacts: &[Lean], shape: &dyn ParryShape, size: f64) -> Vec<bool> {
    let points: Vec<Vector3<f64>> = contacts.iter().map(|of| of.point).collect();
    // Points of parry lie on the surface up to its rounding.
    let mut facets = Facets::near(&points, shape, ROUNDING * size);
    facets.same = ROUNDING * size;
    let rising = contacts
        .iter()
        .map(|of| facets.is_edge_below(of.normal, of.point));
    rising.collect()
}

/// A triangle.
struct Facet {
    number: u32,
    corners: [Vector3<f64>; 3],
    /// Zero for one without area.
    normal: Vector3<f64>,
    /// The corners of the box around it.
    low: Vector3<f64>,
    high: Vector3<f64>,
}

impl Facet {
    fn new(number: u32, triangle: &Triangle) -> Self {
        let corners = triangle.vertices().map(vector);
        let [a, b, c] = corners;
        let area = (b - a).cross(&(c - a));
        Self {
            number,
            corners,
            normal: area.try_normalize(0.0).unwrap_or_default(),
            low: a.inf(&b).inf(&c),
            high: a.sup(&b).sup(&c),
        }
    }

    fn edges(&self) -> [Segment; 3] {
        let [a, b, c] = self.corners;
        [(a, b), (b, c), (c, a)].map(|(from, to)| {
            let length = (to - from).norm();
            Segment {
                middle: (from + to) * 0.5,
                axis: (to - from).try_normalize(0.0).unwrap_or_default(),
                half: 0.5 * length,
            }
        })
    }

    /// True for a point closer than `same`.
    fn holds(&self, point: Vector3<f64>, same: f64) -> bool {
        let inside = |k| point[k] >= self.low[k] - same && point[k] <= self.high[k] + same;
        (0..3).all(inside) && (self.closest(point) - point).norm() <= same
    }

    /// True where it rises along a normal from one of its points.
    fn rises(&self, normal: Vector3<f64>, from: Vector3<f64>, same: f64) -> bool {
        let mut arms = self.corners.iter().map(|corner| corner - from);
        arms.any(|arm| normal.dot(&arm) > FLAT * arm.norm() + same)
    }

    fn closest(&self, point: Vector3<f64>) -> Vector3<f64> {
        let [a, b, c] = self.corners.map(|corner| DVec3::from_array(corner.into()));
        let point = DVec3::from_array(point.into());
        vector(
            Triangle::new(a, b, c)
                .project_local_point(point, false)
                .point,
        )
    }
}

/// The triangles of a surface near a round shape, in the order of their lowest x.
struct Facets {
    all: Vec<Facet>,
    /// The largest extent along x.
    width: f64,
    one_sided: bool,
    /// Cores further away touch nothing (m).
    within: f64,
    /// Points closer than this are one (m).
    same: f64,
}

impl Facets {
    /// The triangles within a distance of the box around some points.
    fn near(points: &[Vector3<f64>], shape: &dyn ParryShape, within: f64) -> Self {
        let first = points.first().copied().unwrap_or_default();
        let low = points.iter().fold(first, |low, point| low.inf(point));
        let high = points.iter().fold(first, |high, point| high.sup(point));
        let (low, high) = (low.add_scalar(-within), high.add_scalar(within));
        let around = Aabb::new(
            DVec3::from_array(low.into()),
            DVec3::from_array(high.into()),
        );
        let mut all = Vec::new();
        let mut one_sided = true;
        if let Some(field) = shape.as_heightfield() {
            of_field(field, &around, &mut all);
        } else if let Some(mesh) = shape.as_trimesh() {
            let flags = TriMeshFlags::FIX_INTERNAL_EDGES_TWO_SIDED;
            one_sided = !mesh.flags().contains(flags);
            of_mesh(mesh, &around, &mut all);
        }
        all.sort_by(|f, g| f.low.x.total_cmp(&g.low.x).then(f.number.cmp(&g.number)));
        let (mut width, mut furthest): (f64, f64) = (0.0, low.amax().max(high.amax()));
        for facet in &all {
            width = width.max(facet.high.x - facet.low.x);
            furthest = furthest.max(facet.low.amax()).max(facet.high.amax());
        }
        Self {
            all,
            width,
            one_sided,
            within,
            same: 1e-9 * within + 1e-14 * furthest,
        }
    }

    /// The triangles that hold a point.
    fn holding(&self, point: Vector3<f64>) -> impl Iterator<Item = &Facet> {
        let from = point.x - self.width - self.same;
        let first = self.all.partition_point(|facet| facet.low.x < from);
        let near = self.all[first..].iter();
        near.take_while(move |facet| facet.low.x <= point.x + self.same)
            .filter(move |facet| facet.holds(point, self.same))
    }

    /// The contact of a point of the core and one of a triangle; none where another triangle is
    /// closer, or they are too far apart.
    fn touch(
        &self,
        facet: &Facet,
        on_surface: Vector3<f64>,
        on_core: Vector3<f64>,
    ) -> Option<Touch> {
        let between = on_core - on_surface;
        let distance = between.norm();
        let normal = if distance > 0.0 {
            between / distance
        } else {
            facet.normal
        };
        let is_closest = distance <= self.within
            && normal != Vector3::zeros()
            && !self.is_edge_below(normal, on_surface)
            && !self.is_behind(normal, on_surface);
        is_closest.then_some(Touch {
            triangle: facet.number,
            normal,
            on_surface,
            on_core,
        })
    }

    /// True where a triangle at a point rises along a normal.
    fn is_edge_below(&self, normal: Vector3<f64>, point: Vector3<f64>) -> bool {
        let mut here = self.holding(point);
        here.any(|facet| facet.rises(normal, point, self.same))
    }

    /// True where a surface with one side looks away from the normal at a point. Its border has two
    /// sides.
    fn is_behind(&self, normal: Vector3<f64>, point: Vector3<f64>) -> bool {
        let looks = self.holding(point).map(|facet| facet.normal.dot(&normal));
        self.one_sided && looks.sum::<f64>() < 0.0 && !self.is_border(point)
    }

    /// The contacts of an end of the core; a capsule goes on `inwards`.
    fn at_end(&self, end: Vector3<f64>, inwards: Option<Vector3<f64>>, found: &mut Vec<Touch>) {
        let closest = self.all.iter().map(|facet| (facet, facet.closest(end)));
        let distance = |on: &Vector3<f64>| (end - on).norm();
        let nearest = closest
            .clone()
            .min_by(|p, q| distance(&p.1).total_cmp(&distance(&q.1)));
        let Some((facet, on_surface)) = nearest else {
            return;
        };
        let away = (end - on_surface).try_normalize(0.0).unwrap_or_default();
        if distance(&on_surface) <= self.within && self.is_behind(away, on_surface) {
            found.push(Touch {
                triangle: facet.number,
                normal: -away,
                on_surface,
                on_core: end,
            });
            return;
        }
        found.extend(closest.filter_map(|(facet, on_surface)| {
            let touch = self.touch(facet, on_surface, end)?;
            let leads_away = inwards.is_none_or(|inwards| touch.normal.dot(&inwards) >= -ALONG);
            leads_away.then_some(touch)
        }));
    }

    /// The contacts of the core, but for its ends, with edges.
    fn at_edges(&self, core: &Segment, found: &mut Vec<Touch>) {
        for facet in &self.all {
            for edge in facet.edges() {
                let (on_core, on_edge) = core.closest_points(&edge);
                let is_within = core.foot(on_core).abs() < core.half - self.same;
                if is_within && (on_core - on_edge).norm() > self.same {
                    let touch = self.touch(facet, on_edge, on_core);
                    found.extend(touch.filter(|touch| self.is_edge(touch)));
                }
            }
        }
    }

    /// True but within a plane, where the ends of a core bear it, or the edges at the border.
    fn is_edge(&self, touch: &Touch) -> bool {
        let mut around = self.holding(touch.on_surface);
        around.any(|facet| !is_same_normal(&facet.normal, &touch.normal))
            || self.is_border(touch.on_surface)
    }

    /// True on an edge that one triangle alone has.
    fn is_border(&self, point: Vector3<f64>) -> bool {
        let around: Vec<&Facet> = self.holding(point).collect();
        let on = |edge: &Segment, place| (edge.closest(place) - place).norm() <= self.same;
        around.iter().any(|facet| {
            let edges = facet.edges();
            let mut here = edges.iter().filter(|edge| on(edge, point));
            here.any(|edge| {
                let shares = |other: &&&Facet| {
                    let ends = [edge.end(0), edge.end(1)];
                    let corners = |end: &Vector3<f64>| {
                        let mut corners = other.corners.iter();
                        corners.any(|corner| (corner - end).norm() <= self.same)
                    };
                    ends.iter().all(corners)
                };
                around.iter().filter(shares).count() < 2
            })
        })
    }

    /// True where a core passes through a triangle.
    fn cross(&self, core: &Segment) -> bool {
        self.all.iter().any(|facet| {
            let height = |end| facet.normal.dot(&(core.end(end) - facet.corners[0]));
            let (low, high) = (height(0), height(1));
            if low * high >= 0.0 {
                return false;
            }
            let point = core.end(0).lerp(&core.end(1), low / (low - high));
            facet.holds(point, self.same)
        })
    }
}

fn of_field(field: &HeightField, around: &Aabb, all: &mut Vec<Facet>) {
    field.map_elements_in_local_aabb(around, &mut |number, triangle| {
        all.push(Facet::new(number, triangle));
    });
}

fn of_mesh(mesh: &TriMesh, around: &Aabb, all: &mut Vec<Facet>) {
    let near = mesh.bvh().intersect_aabb(around);
    all.extend(near.map(|number| Facet::new(number, &mesh.triangle(number))));
}
