//! Scratch space for right-hand sides that are shared by reference and allocate nothing, and matrices
//! that are filled again in their memory.

use nalgebra::{DMatrix, DVector, Dyn, U1, VecStorage};

/// Runs `work` on `size` zeros: on the stack up to 1024 (a few bodies), on the heap beyond. Several
/// stack sizes, because clearing a larger one would be a good part of a small system's step.
#[inline]
pub(crate) fn with_zeros<R>(size: usize, work: impl FnOnce(&mut [f64]) -> R) -> R {
    const LEAST: usize = 16;
    const FEW: usize = 64;
    const SOME: usize = 256;
    const MANY: usize = 1024;
    let (mut least, mut few, mut some, mut many, mut heap);
    let zeros: &mut [f64] = if size <= LEAST {
        least = [0.0; LEAST];
        &mut least[..size]
    } else if size <= FEW {
        few = [0.0; FEW];
        &mut few[..size]
    } else if size <= SOME {
        some = [0.0; SOME];
        &mut some[..size]
    } else if size <= MANY {
        many = [0.0; MANY];
        &mut many[..size]
    } else {
        heap = vec![0.0; size];
        &mut heap
    };
    work(zeros)
}

/// Runs `work` on a list of `n` defaults (indices, marks) without allocating, up to 64; two sizes, as
/// of scratch space.
pub(crate) fn with_list<T: Copy + Default, R>(n: usize, work: impl FnOnce(&mut [T]) -> R) -> R {
    let (mut few, mut many, mut heap);
    let list: &mut [T] = if n <= 8 {
        few = [T::default(); 8];
        &mut few[..n]
    } else if n <= 64 {
        many = [T::default(); 64];
        &mut many[..n]
    } else {
        heap = vec![T::default(); n];
        &mut heap
    };
    work(list)
}

/// Makes a matrix one of zeros, of another size in the same memory.
pub(crate) fn resize(matrix: &mut DMatrix<f64>, rows: usize, columns: usize) {
    if matrix.shape() == (rows, columns) {
        matrix.fill(0.0);
        return;
    }
    let old = std::mem::take(matrix);
    let mut entries: Vec<f64> = old.data.into();
    entries.clear();
    entries.resize(rows * columns, 0.0);
    *matrix = DMatrix::from_data(VecStorage::new(Dyn(rows), Dyn(columns), entries));
}

/// Makes a vector one of zeros, of another length in the same memory.
pub(crate) fn resize_vector(vector: &mut DVector<f64>, rows: usize) {
    if vector.len() == rows {
        vector.fill(0.0);
        return;
    }
    let old = std::mem::take(vector);
    let mut entries: Vec<f64> = old.data.into();
    entries.clear();
    entries.resize(rows, 0.0);
    *vector = DVector::from_data(VecStorage::new(Dyn(rows), U1, entries));
}

/// Cuts slices of given lengths off a scratch space.
pub(crate) struct Cut<'a>(pub(crate) &'a mut [f64]);

impl<'a> Cut<'a> {
    pub(crate) fn take(&mut self, length: usize) -> &'a mut [f64] {
        let all = std::mem::take(&mut self.0);
        let (first, rest) = all.split_at_mut(length.min(all.len()));
        self.0 = rest;
        first
    }
}
