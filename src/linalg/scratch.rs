//! Scratch space for right-hand sides that are shared by reference and allocate nothing.

/// Runs `work` on `size` zeros: on the stack up to 1024 (a few bodies), on the heap beyond. Several
/// stack sizes, because clearing a larger one would be a good part of a small system's step.
#[inline]
pub(crate) fn with_zeros<R>(size: usize, work: impl FnOnce(&mut [f64]) -> R) -> R {
    const FEW: usize = 64;
    const SOME: usize = 256;
    const MANY: usize = 1024;
    let (mut few, mut some, mut many, mut heap);
    let zeros: &mut [f64] = if size <= FEW {
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

/// Runs `work` on a list of `n` indices without allocating, up to 64; two sizes, as of scratch
/// space.
pub(crate) fn with_indices<R>(n: usize, work: impl FnOnce(&mut [usize]) -> R) -> R {
    let (mut few, mut many, mut heap);
    let indices: &mut [usize] = if n <= 8 {
        few = [0; 8];
        &mut few[..n]
    } else if n <= 64 {
        many = [0; 64];
        &mut many[..n]
    } else {
        heap = vec![0; n];
        &mut heap
    };
    work(indices)
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
