//! The decompositions of nalgebra, each asked for here and nowhere else (`clippy.toml`): with an
//! empty matrix, or an entry that is not finite, they panic or turn for ever. Here both have no
//! decomposition, and iterations are bounded.
#![expect(
    clippy::disallowed_methods,
    reason = "matrices are checked here before they are decomposed"
)]

use nalgebra::allocator::Allocator;
use nalgebra::{
    Cholesky, DMatrix, DVector, DefaultAllocator, Dim, DimDiff, DimSub, Dyn, OMatrix, SVD,
    SymmetricEigen, U1,
};

/// Limit of the iterations of a decomposition, for each row and column; two or three are usual.
const MOST_SWEEPS: usize = 100;

/// Rounding of singular values, as a part of the greatest.
const CLOSE: f64 = 5.0 * f64::EPSILON;

/// By how much a product of vectors and values may differ from its matrix, as a part of the
/// greatest entry.
const ROUNDING: f64 = 1e-12;

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
/// not finite. A vector that goes with a value of zero may be zero.
pub(crate) fn svd(matrix: DMatrix<f64>, left: bool, right: bool) -> Option<SVD<f64, Dyn, Dyn>> {
    if !is_sound(matrix.as_slice()) {
        return None;
    }
    let most = MOST_SWEEPS * (matrix.nrows() + matrix.ncols());
    if !left && !right {
        return SVD::try_new(matrix, false, false, CLOSE, most);
    }
    let mut found = SVD::try_new(matrix.clone(), true, true, CLOSE, most)?;
    if !fits(&found, &matrix) {
        found = rotated(&found, &matrix)?;
    }
    found.u = found.u.filter(|_| left);
    found.v_t = found.v_t.filter(|_| right);
    Some(found)
}

/// True when a decomposition gives its matrix, to rounding. That of nalgebra 0.35 may be off by
/// 1e-3 in its vectors, with values that are right to 1e-6.
fn fits(found: &SVD<f64, Dyn, Dyn>, matrix: &DMatrix<f64>) -> bool {
    let (Some(u), Some(v_t)) = (&found.u, &found.v_t) else {
        return false;
    };
    let product = u * DMatrix::from_diagonal(&found.singular_values) * v_t;
    let allowed = ROUNDING * matrix.amax();
    let off = (product - matrix).amax();
    // An overflow is no reason to try again.
    off.is_nan() || off <= allowed
}

/// The decomposition by rotations of columns (one-sided Jacobi), from the right vectors of one that
/// does not fit: their span is right, and `A V` has columns that are nearly orthogonal.
fn rotated(found: &SVD<f64, Dyn, Dyn>, matrix: &DMatrix<f64>) -> Option<SVD<f64, Dyn, Dyn>> {
    if matrix.nrows() < matrix.ncols() {
        let transposed = SVD {
            u: found.v_t.as_ref().map(DMatrix::transpose),
            v_t: found.u.as_ref().map(DMatrix::transpose),
            singular_values: found.singular_values.clone(),
        };
        let solved = rotated(&transposed, &matrix.transpose())?;
        return Some(SVD {
            u: solved.v_t.map(|v_t| v_t.transpose()),
            v_t: solved.u.map(|u| u.transpose()),
            singular_values: solved.singular_values,
        });
    }
    let n = matrix.ncols();
    let mut v = found.v_t.as_ref()?.transpose();
    let mut columns = matrix * &v;
    for _ in 0..MOST_SWEEPS {
        let mut has_turned = false;
        for p in 0..n {
            for q in p + 1..n {
                let (a, b) = (columns.column(p), columns.column(q));
                let (aa, bb, ab) = (a.norm_squared(), b.norm_squared(), a.dot(&b));
                if ab.abs() <= f64::EPSILON * (aa * bb).sqrt() {
                    continue;
                }
                has_turned = true;
                // The smaller angle that makes the two orthogonal.
                let ratio = (bb - aa) / (2.0 * ab);
                let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
                let cos = 1.0 / tangent.hypot(1.0);
                turn(&mut columns, p, q, cos, cos * tangent);
                turn(&mut v, p, q, cos, cos * tangent);
            }
        }
        if !has_turned {
            break;
        }
    }
    let lengths: Vec<f64> = columns.column_iter().map(|column| column.norm()).collect();
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| lengths[j].total_cmp(&lengths[i]));
    for (mut column, length) in columns.column_iter_mut().zip(&lengths) {
        if *length > 0.0 {
            column /= *length;
        }
    }
    Some(SVD {
        u: Some(columns.select_columns(&order)),
        v_t: Some(v.select_columns(&order).transpose()),
        singular_values: DVector::from_iterator(n, order.iter().map(|&j| lengths[j])),
    })
}

/// Turns columns `p` and `q` by an angle of this cosine and sine.
fn turn(matrix: &mut DMatrix<f64>, p: usize, q: usize, cos: f64, sin: f64) {
    for i in 0..matrix.nrows() {
        let (a, b) = (matrix[(i, p)], matrix[(i, q)]);
        matrix[(i, p)] = cos * a - sin * b;
        matrix[(i, q)] = sin * a + cos * b;
    }
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

    /// The vectors of nalgebra alone are off by up to 2.7e-3 in some of these.
    #[test]
    fn singular_vectors_give_their_matrix() {
        let mut turned = 0;
        for case in 0..6000_u64 {
            let n = 2 + usize::try_from(case % 4).unwrap();
            let draw = |k: usize| fraction(word(case, k as u64)) - 0.5;
            // Entries of nearly ±1, and a row of ones below.
            let tall = DMatrix::from_fn(n + 1, n, |i, j| {
                let k = 2 * (n * i + j);
                let nearly = draw(k).signum() * (1.0 + 1e-3 * draw(k + 1));
                if i == n { 1.0 } else { nearly }
            });
            for matrix in [tall.transpose(), tall] {
                let most = MOST_SWEEPS * 2 * (n + 1);
                let theirs = SVD::try_new(matrix.clone(), true, true, CLOSE, most).unwrap();
                turned += u32::from(!fits(&theirs, &matrix));
                let SVD {
                    u,
                    v_t,
                    singular_values,
                } = svd(matrix.clone(), true, true).unwrap();
                let (u, v_t) = (u.unwrap(), v_t.unwrap());
                let off = &u * DMatrix::from_diagonal(&singular_values) * &v_t - &matrix;
                assert!(off.amax() < 1e-12, "{case}: {:e}", off.amax());
                let values = singular_values.as_slice();
                assert!(values.is_sorted_by(|a, b| a >= b), "{case}: {values:?}");
                for (k, value) in values.iter().enumerate() {
                    let lengths = [u.column(k).norm(), v_t.row(k).norm()];
                    let is_one = |length: f64| (length - 1.0).abs() < 1e-12;
                    assert!(
                        *value < 1e-12 || lengths.into_iter().all(is_one),
                        "{case}: {lengths:?}"
                    );
                }
            }
        }
        assert!(turned > 50, "{turned}");
    }
}
