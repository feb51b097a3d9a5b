//! The decompositions of nalgebra, each asked for here and nowhere else (`clippy.toml`): with an
//! empty matrix, or an entry that is not finite, they panic or turn for ever. Here both have no
//! decomposition, and iterations are bounded.
#![expect(
    clippy::disallowed_methods,
    reason = "matrices are checked here before they are decomposed"
)]

use nalgebra::allocator::Allocator;
use nalgebra::{
    Cholesky, DMatrix, DefaultAllocator, Dim, DimDiff, DimSub, Dyn, OMatrix, SVD, SymmetricEigen,
    U1,
};

/// Most iterations of a decomposition, for each row and column; two or three are usual.
const MOST_SWEEPS: usize = 100;

/// Rounding of singular values, as a part of the greatest.
const CLOSE: f64 = 5.0 * f64::EPSILON;

/// `L Lᵀ`; none when the matrix is not positive definite or not finite.
pub(crate) fn cholesky<D: Dim>(matrix: OMatrix<f64, D, D>) -> Option<Cholesky<f64, D>>
where
    DefaultAllocator: Allocator<D, D>,
{
    if !is_sound(matrix.as_slice()) {
        return None;
    }
    Cholesky::new(matrix)
}

/// Eigenvalues, in no order, and eigenvectors of a symmetric matrix; none when it is empty or not
/// finite.
pub(crate) fn symmetric_eigen<D>(matrix: OMatrix<f64, D, D>) -> Option<SymmetricEigen<f64, D>>
where
    D: DimSub<U1>,
    DefaultAllocator: Allocator<D, D> + Allocator<D> + Allocator<DimDiff<D, U1>>,
{
    if !is_sound(matrix.as_slice()) {
        return None;
    }
    let most = 2 * MOST_SWEEPS * matrix.nrows();
    SymmetricEigen::try_new(matrix, f64::EPSILON, most)
}

/// Singular values in falling order, with the vectors asked for; none when the matrix is empty or
/// not finite.
pub(crate) fn svd(matrix: DMatrix<f64>, left: bool, right: bool) -> Option<SVD<f64, Dyn, Dyn>> {
    if !is_sound(matrix.as_slice()) {
        return None;
    }
    let most = MOST_SWEEPS * (matrix.nrows() + matrix.ncols());
    SVD::try_new(matrix, left, right, CLOSE, most)
}

/// None when the matrix is singular or not finite.
pub(crate) fn inverse(matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    if !is_sound(matrix.as_slice()) {
        return None;
    }
    let inverse = matrix.lu().try_inverse()?;
    is_sound(inverse.as_slice()).then_some(inverse)
}

/// Neither empty, nor with an entry that is not finite.
fn is_sound(entries: &[f64]) -> bool {
    !entries.is_empty() && entries.iter().all(|entry| entry.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{fraction, word};

    fn decompositions(matrix: &DMatrix<f64>) -> [bool; 4] {
        let vectors = [true, false];
        let svds = vectors.map(|with| svd(matrix.clone(), with, with).is_some());
        assert_eq!(svds[0], svds[1]);
        [
            cholesky(matrix.clone()).is_some(),
            symmetric_eigen(matrix.clone()).is_some(),
            svds[0],
            inverse(matrix.clone()).is_some(),
        ]
    }

    #[test]
    fn what_is_not_finite_or_empty_has_no_decomposition() {
        assert_eq!(decompositions(&DMatrix::zeros(0, 0)), [false; 4]);
        for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            for n in 1..6 {
                for place in 0..n * n {
                    let mut matrix = DMatrix::identity(n, n);
                    matrix[place] = wrong;
                    assert_eq!(decompositions(&matrix), [false; 4], "{n} {place}");
                }
            }
        }
    }

    /// Entries of any size, to the ends of the numbers: no panic, and what comes out fits.
    #[test]
    fn matrices_of_all_sizes_are_decomposed_or_refused() {
        for case in 0..2000 {
            let n = 1 + case % 5;
            let draw = |k: usize| fraction(word(case as u64, k as u64)) - 0.5;
            let spread = [0.0, 10.0, 300.0, 600.0][case / 5 % 4];
            let entries = DMatrix::from_fn(n, n, |i, j| {
                let (low, high) = (i.min(j), i.max(j));
                let k = 2 * (n * low + high);
                draw(k) * 10f64.powf(spread * draw(k + 1))
            });
            let found = decompositions(&entries);
            assert!(found[1] && found[2], "{case}: {entries}");
            let values = svd(entries.clone(), false, false).unwrap().singular_values;
            assert!(values.iter().all(|value| value.is_finite()), "{case}");
        }
    }
}
