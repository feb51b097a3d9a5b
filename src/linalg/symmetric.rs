//! Symmetric matrices: what keeps one from being symmetric with a positive diagonal, scales that
//! make it a unit diagonal, and eigenvalues in order.

use std::cmp::Ordering::Equal;
use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use super::decompose::symmetric_eigen;
use super::scratch::resize;
use crate::{InputError, MatrixFault};

/// Entries across the diagonal may differ by this much, measured by the geometric mean of their
/// diagonal entries.
const SYMMETRIC: f64 = 1e-9;

/// Refuses a matrix that is not square, finite, symmetric, or has a diagonal entry that is not > 0.
pub(crate) fn check_symmetric(name: &'static str, matrix: &DMatrix<f64>) -> Result<(), InputError> {
    match matrix_fault(matrix) {
        Some(fault) => Err(InputError::BadMatrix { name, fault }),
        None => Ok(()),
    }
}

/// The fault of a matrix that is not square, finite and symmetric with a diagonal that is > 0.
pub(crate) fn matrix_fault(matrix: &DMatrix<f64>) -> Option<MatrixFault> {
    let (rows, columns) = matrix.shape();
    if rows != columns {
        return Some(MatrixFault::NotSquare { rows, columns });
    }
    square_fault(matrix.as_slice(), rows)
}

/// The first entry of velocities that are driven that is not that of an identity, in a matrix of `n`
/// rows.
pub(crate) fn driven_fault(mass: &[f64], n: usize, driven: Range<usize>) -> Option<MatrixFault> {
    driven.into_iter().find_map(|column| {
        let unit = |row: usize| if row == column { 1.0 } else { 0.0 };
        let entries = mass.iter().skip(column * n).take(n).enumerate();
        // NaN is wrong too.
        let mut wrong =
            entries.filter(|&(row, value)| value.partial_cmp(&unit(row)) != Some(Equal));
        let (row, &value) = wrong.next()?;
        Some(MatrixFault::Driven { row, column, value })
    })
}

/// [`matrix_fault`] of `matrix` (`n × n`, by columns).
pub(crate) fn square_fault(matrix: &[f64], n: usize) -> Option<MatrixFault> {
    let entry = |row: usize, column: usize| matrix[column * n + row];
    for column in 0..n {
        for row in 0..n {
            let value = entry(row, column);
            if !value.is_finite() {
                return Some(MatrixFault::NotFinite { row, column, value });
            }
        }
    }
    for k in 0..n {
        let value = entry(k, k);
        if value <= 0.0 {
            return Some(MatrixFault::NotPositive { value });
        }
    }
    for column in 0..n {
        for row in 0..column {
            let by = entry(row, column) - entry(column, row);
            let scale = entry(row, row).sqrt() * entry(column, column).sqrt();
            // written so that an overflow to infinity is refused too
            let symmetric = by.abs() <= SYMMETRIC * scale;
            if !symmetric {
                return Some(MatrixFault::NotSymmetric { row, column, by });
            }
        }
    }
    None
}

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

    fn fault(matrix: &DMatrix<f64>) -> MatrixFault {
        match check_symmetric("mass", matrix) {
            Err(InputError::BadMatrix { fault, .. }) => fault,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn each_fault_has_its_name() {
        let square = |entries: [f64; 4]| DMatrix::from_row_slice(2, 2, &entries);
        assert!(matches!(
            fault(&DMatrix::zeros(1, 2)),
            MatrixFault::NotSquare {
                rows: 1,
                columns: 2
            }
        ));
        assert!(matches!(
            fault(&square([1.0, f64::NAN, 0.0, 1.0])),
            MatrixFault::NotFinite {
                row: 0,
                column: 1,
                ..
            }
        ));
        assert!(matches!(
            fault(&square([1.0, 0.5, 0.4, 1.0])),
            MatrixFault::NotSymmetric { by, .. } if (by - 0.1).abs() < 1e-15
        ));
        assert!(matches!(
            fault(&square([1.0, 0.0, 0.0, -2.0])),
            MatrixFault::NotPositive { value: -2.0 }
        ));
        assert_eq!(
            check_symmetric("mass", &square([1e-300, 0.0, 0.0, 1e300])),
            Ok(())
        );
    }

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
