//! Small dense linear algebra on slices, for right-hand sides and solvers that allocate nothing.
//! Code that may allocate uses nalgebra.
//!
//! * `block_kernels`: products and triangular solves of small blocks, row-major.
//! * `cholesky`: factors of definite matrices, of a whole one and row by row.
//! * `decompose`: the decompositions of nalgebra, for finite matrices.
//! * `double_double`: numbers of twice the precision.
//! * `least_norm`: the solution of least norm of a semidefinite system.
//! * `lu`: factors of any matrix, kept or used up at once.
//! * `nearest`: distances from convex hulls.
//! * `symmetric`: faults, scales and eigenvalues of symmetric matrices.
//! * `scratch`: zeros and indices on the stack.

use std::borrow::Borrow;

pub(crate) mod block_kernels;
pub(crate) mod cholesky;
#[cfg(feature = "derivative")]
pub(crate) mod decompose;
pub(crate) mod double_double;
pub(crate) mod least_norm;
pub(crate) mod lu;
pub(crate) mod nearest;
pub(crate) mod scratch;
#[cfg(feature = "derivative")]
pub(crate) mod symmetric;

/// The largest size of an entry, 0 where there is none; what is not a number is passed over.
#[inline]
pub(crate) fn largest(entries: impl IntoIterator<Item: Borrow<f64>>) -> f64 {
    entries.into_iter().fold(0.0, |most, entry| {
        let size = entry.borrow().abs();
        // As `f64::max`, but one instruction.
        if size > most { size } else { most }
    })
}

/// Raises each of `most` to the size of its entry, where that is greater; what is not a number is passed over.
#[cfg(feature = "derivative")]
#[inline]
pub(crate) fn raise(most: &mut [f64], entries: &[f64]) {
    for (most, entry) in most.iter_mut().zip(entries) {
        let size = entry.abs();
        *most = if size > *most { size } else { *most };
    }
}

/// `a · b`.
#[inline]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let n = a.len().min(b.len());
    let (a, b) = (&a[..n], &b[..n]);
    // As `Iterator::sum`. By an index, since the tests are not optimised: much of their time went into adapters
    // here.
    let (mut sum, mut i) = (-0.0, 0);
    while i < n {
        sum += a[i] * b[i];
        i += 1;
    }
    sum
}

/// Takes the parts along orthonormal vectors out of `v` by the modified Gram–Schmidt method, twice,
/// which is enough for orthogonality to rounding. `taken` is called with each vector's number and
/// part.
pub(crate) fn orthogonalise<'q>(
    v: &mut [f64],
    to: impl Iterator<Item = &'q [f64]> + Clone,
    mut taken: impl FnMut(usize, f64),
) {
    for (i, q) in to.clone().enumerate().chain(to.enumerate()) {
        let along = dot(q, v);
        taken(i, along);
        for (v, q) in v.iter_mut().zip(q) {
            *v -= along * q;
        }
    }
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
