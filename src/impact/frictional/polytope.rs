//! Polytopes of few dimensions by their vertices: dimension, distance, facets and measure.

use crate::linalg::nearest::Nearest;

/// The convex hull of points, in a space of more dimensions than its own as a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Polytope {
    dimension: usize,
    vertices: Vec<f64>,
}

impl Polytope {
    /// From vertices, flat, none in the hull of the others.
    pub(super) fn of_vertices(dimension: usize, vertices: Vec<f64>) -> Self {
        Self {
            dimension,
            vertices,
        }
    }

    /// The vertices.
    pub fn vertices(&self) -> std::slice::ChunksExact<'_, f64> {
        self.vertices.chunks_exact(self.dimension)
    }

    /// Distance of a point; 0 inside. NaN for a wrong length.
    pub fn distance(&self, point: &[f64]) -> f64 {
        if point.len() != self.dimension {
            return f64::NAN;
        }
        let mut rows =
            Vec::with_capacity(self.vertices.len() + self.vertices.len() / self.dimension);
        for vertex in self.vertices() {
            rows.push(1.0);
            rows.extend_from_slice(vertex);
        }
        let rows = rows.chunks_exact(self.dimension + 1);
        Nearest::default().distance(rows, point, 0.0)
    }
}
