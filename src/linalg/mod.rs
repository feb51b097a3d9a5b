//! Small dense linear algebra on slices, for right-hand sides and solvers that allocate nothing.
//! What may allocate uses nalgebra.
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
