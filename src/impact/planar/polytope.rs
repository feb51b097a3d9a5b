//! Polytopes of few dimensions by their vertices: dimension, distance, facets and measure.

use crate::linalg::nearest::Nearest;
use crate::linalg::{dot, orthogonalise};

/// Polytopes thinner than this part of their diameter are flat.
const FLAT: f64 = 1e-10;

/// Limit of the subsets of vertices that are tried for facets.
const MOST_SUBSETS: usize = 200_000;

/// The convex hull of points, in a space of more dimensions than its own as a rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Polytope {
    /// Coordinates of a vertex.
    rows: usize,
    vertices: Vec<f64>,
}

impl Polytope {
    /// From vertices, flat, none in the hull of the others.
    pub(super) fn of_vertices(rows: usize, vertices: Vec<f64>) -> Self {
        Self { rows, vertices }
    }

    /// The vertices.
    pub fn vertices(&self) -> std::slice::ChunksExact<'_, f64> {
        self.vertices.chunks_exact(self.rows)
    }

    /// Distance of a point; 0 inside. NaN for a wrong length.
    pub fn distance(&self, point: &[f64]) -> f64 {
        if point.len() != self.rows {
            return f64::NAN;
        }
        let mut rows = Vec::with_capacity(self.vertices.len() + self.vertices.len() / self.rows);
        for vertex in self.vertices() {
            rows.push(1.0);
            rows.extend_from_slice(vertex);
        }
        let rows = rows.chunks_exact(self.rows + 1);
        Nearest::default().distance(rows, point, 0.0)
    }

    /// The dimension of its affine hull: 0 for a point, 1 for a segment. Parts thinner than 1e-10
    /// of its diameter do not count.
    pub fn dimension(&self) -> usize {
        Frame::of(self).basis.len()
    }

    /// Length, area or volume in its affine hull, by the number of dimensions (m/s to that power);
    /// 1 for a point. None where [`facets`](Self::facets) are too many to be found.
    pub fn measure(&self) -> Option<f64> {
        let dimension = self.dimension();
        if dimension == 0 {
            return Some(1.0);
        }
        let apex = self.vertices().next()?;
        if dimension == 1 {
            let ends = self.facets()?;
            return Some(
                ends.iter()
                    .map(|end| end.offset - dot(&end.normal, apex))
                    .sum(),
            );
        }
        // pyramids over the facets that do not hold the apex
        let mut sum = 0.0;
        for facet in self.facets()? {
            let height = facet.offset - dot(&facet.normal, apex);
            if facet.vertices.contains(&0) || height <= 0.0 {
                continue;
            }
            let vertices = facet
                .vertices
                .iter()
                .filter_map(|&k| self.vertices().nth(k));
            let base = Self::of_vertices(self.rows, vertices.flatten().copied().collect());
            sum += height * base.measure()?;
        }
        Some(sum / dimension as f64)
    }

    /// The facets, in an order that depends on the vertices only; none of a point. None when more
    /// than 200 000 subsets of vertices would have to be tried.
    pub fn facets(&self) -> Option<Vec<Facet>> {
        let frame = Frame::of(self);
        let (d, n) = (frame.basis.len(), self.vertices().len());
        if d == 0 {
            return Some(Vec::new());
        }
        let subsets = (0..d).try_fold(1_usize, |product, k| {
            product.checked_mul(n - k).map(|p| p / (k + 1))
        });
        if subsets.is_none_or(|count| count > MOST_SUBSETS) {
            return None;
        }
        let mut facets: Vec<Facet> = Vec::new();
        let mut chosen: Vec<usize> = (0..d).collect();
        loop {
            if let Some(facet) = frame.facet_through(&chosen)
                && !facets.iter().any(|known| known.vertices == facet.vertices)
            {
                facets.push(facet);
            }
            // the next subset in lexicographic order
            let Some(k) = (0..d).rev().find(|&k| chosen[k] < n - d + k) else {
                return Some(facets);
            };
            chosen[k] += 1;
            for later in k + 1..d {
                chosen[later] = chosen[later - 1] + 1;
            }
        }
    }
}

/// A face of one dimension less.
///
/// Inside the affine hull of the polytope, `normal · u ≤ offset` holds for its points, with
/// equality on the facet.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Facet {
    /// Outward unit normal along the affine hull of the polytope.
    pub normal: Vec<f64>,
    /// `normal · u` on the facet (m/s).
    pub offset: f64,
    /// The numbers of its vertices, rising.
    pub vertices: Vec<usize>,
}

/// Coordinates in the affine hull of a polytope.
struct Frame<'p> {
    polytope: &'p Polytope,
    /// Orthonormal.
    basis: Vec<Vec<f64>>,
    /// The greatest length that counts as zero.
    tolerance: f64,
}

impl<'p> Frame<'p> {
    fn of(polytope: &'p Polytope) -> Self {
        let base = polytope.vertices().next().unwrap_or(&[]);
        let mut rest: Vec<Vec<f64>> = polytope.vertices().map(|v| minus(v, base)).collect();
        let size = rest.iter().map(|v| dot(v, v)).fold(0.0, f64::max).sqrt();
        let mut frame = Self {
            polytope,
            basis: Vec::new(),
            tolerance: FLAT * size,
        };
        loop {
            let longest = rest.iter().max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)));
            let Some(direction) = longest.and_then(|v| unit(v, frame.tolerance)) else {
                return frame;
            };
            for v in &mut rest {
                reject(v, &direction);
            }
            frame.basis.push(direction);
        }
    }

    /// The facet through these vertices, if they span one.
    fn facet_through(&self, chosen: &[usize]) -> Option<Facet> {
        let at = |k: usize| self.polytope.vertices().nth(k);
        let first = at(chosen[0])?;
        let mut span: Vec<Vec<f64>> = Vec::new();
        for &k in &chosen[1..] {
            let mut v = minus(at(k)?, first);
            orthogonalise(&mut v, span.iter().map(Vec::as_slice), |_, _| {});
            span.push(unit(&v, self.tolerance)?);
        }
        // the direction of the hull that is left
        let mut left = self.basis.clone();
        for v in &mut left {
            orthogonalise(v, span.iter().map(Vec::as_slice), |_, _| {});
        }
        let longest = left.iter().max_by(|a, b| dot(a, a).total_cmp(&dot(b, b)))?;
        let mut normal = unit(longest, 0.0)?;
        let heights: Vec<f64> = self
            .polytope
            .vertices()
            .map(|v| dot(&normal, &minus(v, first)))
            .collect();
        let most = heights.iter().fold(0.0, |most: f64, &h| most.max(h));
        let least = heights.iter().fold(0.0, |least: f64, &h| least.min(h));
        if most > self.tolerance && least < -self.tolerance {
            return None;
        }
        if most > self.tolerance {
            for x in &mut normal {
                *x = -*x;
            }
        }
        let on = |k: &usize| heights[*k].abs() <= self.tolerance;
        Some(Facet {
            offset: dot(&normal, first),
            normal,
            vertices: (0..heights.len()).filter(on).collect(),
        })
    }
}

/// Distance from a union; NaN where that from a piece is, infinite where there is none.
pub(super) fn distance_from_union(pieces: &[Polytope], point: &[f64]) -> f64 {
    let distances = pieces.iter().map(|piece| piece.distance(point));
    distances.fold(f64::INFINITY, |least, d| {
        // `f64::min` would forget what is no number.
        if least.is_nan() || d.is_nan() {
            f64::NAN
        } else {
            least.min(d)
        }
    })
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

/// Takes away the part along a unit vector.
fn reject(v: &mut [f64], along: &[f64]) {
    let part = dot(v, along);
    v.iter_mut().zip(along).for_each(|(v, a)| *v -= part * a);
}

/// A vector of length 1, unless it is not longer than `zero`.
fn unit(v: &[f64], zero: f64) -> Option<Vec<f64>> {
    let length = dot(v, v).sqrt();
    (length > zero).then(|| v.iter().map(|x| x / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cube_in_five_dimensions_has_its_faces_and_volume() {
        // three orthogonal edges of lengths 1, 2 and 3 in general position
        let edges = [
            [0.6, 0.8, 0.0, 0.0, 0.0],
            [-1.6, 1.2, 0.0, 0.0, 0.0],
            [0.0, 0.0, 1.0, 2.0, 2.0],
        ];
        let mut vertices = Vec::new();
        for corner in 0..8 {
            for row in 0..5 {
                let along = |k: usize| {
                    if corner >> k & 1 == 1 {
                        edges[k][row]
                    } else {
                        0.0
                    }
                };
                vertices.push(7.0 + along(0) + along(1) + along(2));
            }
        }
        let cube = Polytope::of_vertices(5, vertices);
        assert_eq!(cube.dimension(), 3);
        assert!((cube.measure().unwrap() - 6.0).abs() < 1e-13);
        let facets = cube.facets().unwrap();
        assert_eq!(facets.len(), 6);
        for facet in facets {
            assert_eq!(facet.vertices.len(), 4);
            for (k, v) in cube.vertices().enumerate() {
                let height = dot(&facet.normal, v) - facet.offset;
                assert_eq!(facet.vertices.contains(&k), height.abs() < 1e-12);
                assert!(height < 1e-12);
            }
        }
    }

    #[test]
    fn points_segments_and_triangles() {
        let of = |flat: &[f64]| Polytope::of_vertices(2, flat.to_vec());
        let point = of(&[1.0, 2.0]);
        assert_eq!((point.dimension(), point.measure()), (0, Some(1.0)));
        let segment = of(&[1.0, 2.0, 4.0, 6.0]);
        assert_eq!(segment.dimension(), 1);
        assert!((segment.measure().unwrap() - 5.0).abs() < 1e-14);
        let triangle = of(&[0.0, 0.0, 2.0, 0.0, 0.0, 3.0]);
        assert!((triangle.measure().unwrap() - 3.0).abs() < 1e-14);
        assert_eq!(triangle.facets().unwrap().len(), 3);
    }
}
