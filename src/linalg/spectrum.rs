//! Symmetric matrices with a unit diagonal, and eigenvalues of small ones.

use nalgebra::{DMatrix, DVector};

use super::decompose::symmetric_eigen;
use super::scratch::resize;

/// A symmetric matrix scaled to a unit diagonal, its two halves averaged, with the roots of its
/// diagonal.
pub(crate) fn unit_diagonal(matrix: &DMatrix<f64>) -> (DMatrix<f64>, Vec<f64>) {
    let (mut scaled, mut roots) = (DMatrix::zeros(0, 0), Vec::new());
    fill_unit_diagonal(matrix, matrix.nrows(), &mut scaled, &mut roots);
    (scaled, roots)
}

/// [`unit_diagonal`] of the first `n` rows and columns, in memory that is there.
pub(crate) fn fill_unit_diagonal(
    matrix: &DMatrix<f64>,
    n: usize,
    scaled: &mut DMatrix<f64>,
    roots: &mut Vec<f64>,
) {
    roots.clear();
    roots.extend((0..n).map(|k| matrix[(k, k)].sqrt()));
    resize(scaled, n, n);
    for j in 0..n {
        for i in 0..n {
            scaled[(i, j)] = if i == j {
                1.0
            } else {
                // halved first: the sum of two finite numbers may overflow
                let mean = 0.5 * matrix[(i, j)] + 0.5 * matrix[(j, i)];
                mean / roots[i] / roots[j]
            };
        }
    }
}

/// Eigenvalues in rising order, with unit eigenvectors in the columns.
#[derive(Clone, Debug)]
pub(crate) struct Spectrum {
    pub(crate) values: Vec<f64>,
    pub(crate) vectors: Vec<DVector<f64>>,
}

impl Spectrum {
    /// Of a symmetric matrix; none when it is empty or not finite.
    pub(crate) fn of(matrix: &DMatrix<f64>) -> Option<Self> {
        let eigen = symmetric_eigen(matrix.clone())?;
        let mut order: Vec<usize> = (0..matrix.nrows()).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
        Some(Self {
            values: order.iter().map(|&k| eigen.eigenvalues[k]).collect(),
            vectors: order
                .iter()
                .map(|&k| eigen.eigenvectors.column(k).into_owned())
                .collect(),
        })
    }

    pub(crate) fn least(&self) -> f64 {
        self.values.first().copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn greatest(&self) -> f64 {
        self.values.last().copied().unwrap_or(f64::NAN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_rise() {
        let matrix = DMatrix::from_row_slice(3, 3, &[1., 0.6, 0., 0.6, 1., 0., 0., 0., 1.]);
        let spectrum = Spectrum::of(&matrix).unwrap();
        for (found, expected) in spectrum.values.iter().zip([0.4, 1.0, 1.6]) {
            assert!((found - expected).abs() < 1e-14);
        }
        assert!(((&matrix * &spectrum.vectors[2]) - 1.6 * &spectrum.vectors[2]).norm() < 1e-14);
    }
}
