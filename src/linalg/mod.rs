//! Small dense linear algebra on slices, for right-hand sides and solvers that allocate nothing.
//! Code that may allocate uses nalgebra.
//!
//! * `block_kernels`: products and triangular solves of small blocks, row-major.
//! * `cholesky`: factors of definite matrices, of a whole one and row by row.
//! * `decompose`: the decompositions of nalgebra, for finite matrices.
//! * `double_double`: numbers of twice the precision.
//! * `least_norm`: the solution of least norm of a semidefinite system.
//! * `lu`: factors of any matrix, in place.
//! * `nearest`: distances from convex hulls.
//! * `spectrum`: symmetric matrices with a unit diagonal, and eigenvalues in order.
//! * `symmetric`: what keeps a matrix from being symmetric with a positive diagonal.
//! * `scratch`: zeros and indices on the stack.

pub(crate) mod block_kernels;
pub(crate) mod cholesky;
pub(crate) mod decompose;
pub(crate) mod double_double;
pub(crate) mod least_norm;
pub(crate) mod lu;
pub(crate) mod nearest;
pub(crate) mod scratch;
pub(crate) mod spectrum;
pub(crate) mod symmetric;

/// `a · b`.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// `columns = map · columns`: the square matrix `map` and the columns stand column by column. Not
/// by blocks, as matrices of a hundred and more rows would want; `scratch` has one column.
pub(crate) fn multiply_from_left(map: &[f64], columns: &mut [f64], scratch: &mut [f64]) {
    let n = scratch.len();
    for column in columns.chunks_exact_mut(n.max(1)) {
        scratch.fill(0.0);
        for (factor, from) in column.iter().zip(map.chunks_exact(n)) {
            for i in 0..n {
                scratch[i] += factor * from[i];
            }
        }
        column.copy_from_slice(scratch);
    }
}
