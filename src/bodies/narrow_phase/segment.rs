//! Segments: the edges of cores.

use nalgebra::Vector3;

/// A segment about its middle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub(super) middle: Vector3<f64>,
    /// Unit vector.
    pub(super) axis: Vector3<f64>,
    pub(super) half: f64,
}

impl Segment {
    pub(super) fn at(&self, s: f64) -> Vector3<f64> {
        self.middle + self.axis * s
    }

    /// End 0 lies at the negative side.
    pub(super) fn end(&self, end: usize) -> Vector3<f64> {
        self.at(if end == 0 { -self.half } else { self.half })
    }

    /// The place of the foot of a point on the line, beyond the ends too.
    pub(super) fn foot(&self, point: Vector3<f64>) -> f64 {
        self.axis.dot(&(point - self.middle))
    }

    /// The closest point of the segment.
    pub(super) fn closest(&self, point: Vector3<f64>) -> Vector3<f64> {
        self.at(self.foot(point).clamp(-self.half, self.half))
    }

    /// The places at which the lines are closest to each other; none where they are parallel.
    pub(super) fn closest_on_lines(&self, other: &Self) -> Option<(f64, f64)> {
        let sine_squared = self.axis.cross(&other.axis).norm_squared();
        if sine_squared < 1e-24 {
            return None;
        }
        let (between, cosine) = (self.middle - other.middle, self.axis.dot(&other.axis));
        let (f, g) = (self.axis.dot(&between), other.axis.dot(&between));
        Some((
            (cosine * g - f) / sine_squared,
            (g - cosine * f) / sine_squared,
        ))
    }

    /// The closest points of two segments.
    pub(super) fn closest_points(&self, other: &Self) -> (Vector3<f64>, Vector3<f64>) {
        let lines = self.closest_on_lines(other);
        let start = lines.map_or(0.0, |(s, _)| s.clamp(-self.half, self.half));
        let on_other = other.closest(self.at(start));
        let on_self = self.closest(on_other);
        (on_self, other.closest(on_self))
    }

    /// True when the closest points of the lines lie on both segments.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let lines = self.closest_on_lines(other);
        lines.is_some_and(|(s, t)| s.abs() <= self.half && t.abs() <= other.half)
    }
}
