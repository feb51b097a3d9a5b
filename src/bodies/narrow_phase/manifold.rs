//! Contact points of two shapes, in a list of fixed capacity.

use nalgebra::Vector3;

/// Limit of the points of two shapes; shapes of parry may have more.
pub const CAPACITY: usize = 8;

/// One contact point of two shapes A and B.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ManifoldPoint {
    /// Number of the parts of the shapes that meet; the same point has the same number at slightly
    /// different poses.
    pub feature: usize,
    /// Signed distance along the normal (m), negative in overlap: `normal · (on_a − on_b)`.
    pub gap: f64,
    /// Unit normal from B into A.
    pub normal: Vector3<f64>,
    /// Witness point on A (m).
    pub on_a: Vector3<f64>,
    /// Witness point on B (m).
    pub on_b: Vector3<f64>,
}

impl ManifoldPoint {
    /// A point on A, and its distance from B along the normal.
    pub(super) fn from_a(
        feature: usize,
        gap: f64,
        normal: Vector3<f64>,
        on_a: Vector3<f64>,
    ) -> Self {
        Self {
            feature,
            gap,
            normal,
            on_a,
            on_b: on_a - normal * gap,
        }
    }

    /// The point with A and B exchanged.
    pub(super) fn exchanged(self) -> Self {
        Self {
            normal: -self.normal,
            on_a: self.on_b,
            on_b: self.on_a,
            ..self
        }
    }

    const NONE: Self = Self {
        feature: 0,
        gap: 0.0,
        normal: Vector3::new(0.0, 0.0, 0.0),
        on_a: Vector3::new(0.0, 0.0, 0.0),
        on_b: Vector3::new(0.0, 0.0, 0.0),
    };
}

/// The contact points of two shapes, at most [`CAPACITY`]; of shapes of parry as many as there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifold {
    points: [ManifoldPoint; CAPACITY],
    len: usize,
    /// The points, where their number has no such bound.
    #[cfg(feature = "parry")]
    pub(in crate::bodies) many: Vec<ManifoldPoint>,
}

impl Default for Manifold {
    fn default() -> Self {
        Self {
            points: [ManifoldPoint::NONE; CAPACITY],
            len: 0,
            #[cfg(feature = "parry")]
            many: Vec::new(),
        }
    }
}

impl Manifold {
    /// No points.
    pub fn new() -> Self {
        Self::default()
    }

    /// The points.
    pub fn points(&self) -> &[ManifoldPoint] {
        #[cfg(feature = "parry")]
        if !self.many.is_empty() {
            return &self.many;
        }
        &self.points[..self.len]
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
        #[cfg(feature = "parry")]
        self.many.clear();
    }

    /// Adds a point if its gap is up to the margin and there is room.
    pub(super) fn push_within(&mut self, margin: f64, point: ManifoldPoint) {
        if point.gap <= margin && self.len < CAPACITY {
            self.points[self.len] = point;
            self.len += 1;
        }
    }

    /// As [`push_within`](Self::push_within), of a feature that may not be determined.
    pub(super) fn extend_within(&mut self, margin: f64, point: Option<ManifoldPoint>) {
        if let Some(point) = point {
            self.push_within(margin, point);
        }
    }

    /// As [`push_within`](Self::push_within), if no point of the list lies closer than `apart`.
    pub(super) fn push_apart(&mut self, margin: f64, apart: f64, point: ManifoldPoint) {
        let near = |other: &ManifoldPoint| (other.on_a - point.on_a).norm() <= apart;
        if !self.points().iter().any(near) {
            self.push_within(margin, point);
        }
    }

    pub(super) fn exchange(&mut self) {
        for point in &mut self.points[..self.len] {
            *point = point.exchanged();
        }
    }
}
