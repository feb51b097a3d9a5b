//! Cylinders and cones: two discs across an axis, the upper one of a cone a point, and all between. And
//! the furthest and the nearest point of all cores, of which these are two.
//!
//! The point that is lowest over a plane lies on the rim of a disc. Where the axis is upright no
//! point is lowest; the first one is then that along the x axis of the body. Points at quarters of
//! the rim hold a body that stands: their sum is as stiff about every axis across the normal, so
//! that it does not matter which four they are.

use nalgebra::Vector3;

use super::convex::{ALIGNED, Convex, Core, Nearest, QUARTERS};

/// Rounding of a point on a segment, by the largest of its coordinates.
const ON_SEGMENT: f64 = 1e-14;

/// A disc across the axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disc {
    /// On the axis.
    pub(super) at: f64,
    pub(super) radius: f64,
}

impl Convex<'_> {
    /// True for a cylinder and a cone.
    pub(super) fn is_round(&self) -> bool {
        matches!(self.core, Core::Cylinder | Core::Cone)
    }

    /// The lower and the upper disc. The half lengths of a cone are its radius, twice, and its
    /// height; its centre of mass lies at a quarter of it.
    pub(super) fn discs(&self) -> [Disc; 2] {
        let [radius, _, length] = self.half;
        let disc = |at, radius| Disc { at, radius };
        match self.core {
            Core::Cone => [disc(-0.25 * length, radius), disc(0.75 * length, 0.0)],
            _ => [disc(-length, radius), disc(length, radius)],
        }
    }

    /// The unit vector across the axis that looks most along a direction: the x axis where none does.
    pub(super) fn across_axis(&self, towards: Vector3<f64>) -> Vector3<f64> {
        let local = self.pose.turned_back(towards);
        let length = local.x.hypot(local.y);
        if length < ALIGNED * towards.norm() {
            self.pose.axis(0)
        } else {
            self.pose
                .turned(Vector3::new(local.x / length, local.y / length, 0.0))
        }
    }

    /// A point of a rim, in a direction across the axis.
    pub(super) fn on_rim(&self, disc: Disc, across: Vector3<f64>) -> Vector3<f64> {
        self.pose.position() + self.pose.axis(2) * disc.at + across * disc.radius
    }

    /// Point `number` of the rims for a plane with this normal: the lowest of its disc and the
    /// quarters after it.
    pub(super) fn rim_point(&self, number: usize, up: Vector3<f64>) -> Vector3<f64> {
        let lowest = self.across_axis(-up);
        let next = self.pose.axis(2).cross(&lowest);
        let across = [lowest, next, -lowest, -next][number % QUARTERS];
        self.on_rim(self.discs()[number / QUARTERS % 2], across)
    }

    /// Outward unit normal of the side, in the direction `across` the axis.
    pub(super) fn side_normal(&self, across: Vector3<f64>) -> Vector3<f64> {
        let [low, high] = self.discs();
        let normal = across * (high.at - low.at) + self.pose.axis(2) * (low.radius - high.radius);
        normal.normalize()
    }

    /// The point that lies furthest along a direction, of a body without a radius.
    pub(super) fn furthest(&self, towards: Vector3<f64>) -> Vector3<f64> {
        match self.core {
            Core::Point => self.pose.position(),
            Core::Segment => self
                .edge(0)
                .end(usize::from(self.pose.axis(2).dot(&towards) >= 0.0)),
            Core::Box => {
                let along = self.pose.turned_back(towards);
                let corner = Vector3::from_fn(|k, _| self.half[k].copysign(along[k]));
                self.pose.to_world(corner)
            }
            Core::Cylinder | Core::Cone => {
                // In the own axes, where rounding cannot give it a part along the axis.
                let local = self.pose.turned_back(towards);
                let across = Vector3::new(local.x, local.y, 0.0).try_normalize(0.0);
                let across = self.pose.turned(across.unwrap_or_else(Vector3::x));
                let [low, high] = self.discs().map(|disc| self.on_rim(disc, across));
                if towards.dot(&(high - low)) > 0.0 {
                    high
                } else {
                    low
                }
            }
        }
    }

    /// The point of the core that is nearest to a point. A point inside a box belongs to the
    /// nearest face, the first of several.
    pub(super) fn nearest(&self, point: Vector3<f64>) -> Nearest {
        let on = match self.core {
            Core::Point => self.pose.position(),
            Core::Segment => self.edge(0).closest(point),
            Core::Box => return self.nearest_of_box(point),
            Core::Cylinder | Core::Cone => return self.nearest_of_round(point),
        };
        let between = point - on;
        let distance = between.norm();
        // Of a point on a segment, within rounding, a direction would be that of rounding: along it too.
        let rounding = match self.core {
            Core::Segment => ON_SEGMENT * point.amax().max(self.edge(0).half),
            _ => 0.0,
        };
        Nearest {
            on,
            normal: (distance > rounding).then(|| between / distance),
            distance,
        }
    }

    /// The nearest point of a cylinder or a cone; a point inside belongs to the nearest of its
    /// faces, the first of several.
    fn nearest_of_round(&self, point: Vector3<f64>) -> Nearest {
        let local = self.pose.to_body(point);
        let distance_from_axis = local.x.hypot(local.y);
        let across = if distance_from_axis > 0.0 {
            Vector3::new(local.x, local.y, 0.0) / distance_from_axis
        } else {
            Vector3::x()
        };
        // In the half plane of the point: (distance from the axis, place on it).
        let place = [distance_from_axis, local.z];
        let [low, high] = self.discs();
        let sides = [
            ([0.0, low.at], [low.radius, low.at]),
            ([low.radius, low.at], [high.radius, high.at]),
            ([high.radius, high.at], [0.0, high.at]),
        ];
        let count = if high.radius > 0.0 { 3 } else { 2 };
        let mut inside: Option<InPlane> = None;
        let mut outside: Option<InPlane> = None;
        for (from, to) in &sides[..count] {
            let found = InPlane::on_side(place, *from, *to);
            if found.is_outside {
                if outside.is_none_or(|best| found.distance < best.distance) {
                    outside = Some(found);
                }
            } else if inside.is_none_or(|best| found.distance > best.distance) {
                inside = Some(found);
            }
        }
        let InPlane {
            on,
            normal,
            distance,
            ..
        } = outside.or(inside).unwrap_or_default();
        let in_space = |[u, z]: [f64; 2]| across * u + Vector3::new(0.0, 0.0, z);
        Nearest {
            on: self.pose.to_world(in_space(on)),
            normal: Some(self.pose.turned(in_space(normal))),
            distance,
        }
    }
}

/// The nearest point of a side of the outline, in the half plane.
#[derive(Clone, Copy, Debug, Default)]
struct InPlane {
    on: [f64; 2],
    normal: [f64; 2],
    /// Negative on the inner side of the line.
    distance: f64,
    is_outside: bool,
}

impl InPlane {
    /// Of a side that has the outline on its left.
    fn on_side(place: [f64; 2], from: [f64; 2], to: [f64; 2]) -> Self {
        let (u, z) = (to[0] - from[0], to[1] - from[1]);
        let length = u.hypot(z);
        let (u, z) = (u / length, z / length);
        let (x, y) = (place[0] - from[0], place[1] - from[1]);
        let (height, along) = (x * z - y * u, x * u + y * z);
        let foot = along.clamp(0.0, length);
        let on = [from[0] + u * foot, from[1] + z * foot];
        let is_outside = height > 0.0;
        if is_outside && (along < 0.0 || along > length) {
            let beyond = [place[0] - on[0], place[1] - on[1]];
            let distance = beyond[0].hypot(beyond[1]);
            let normal = beyond.map(|x| x / distance);
            return Self {
                on,
                normal,
                distance,
                is_outside,
            };
        }
        Self {
            on,
            normal: [z, -u],
            distance: height,
            is_outside,
        }
    }
}
