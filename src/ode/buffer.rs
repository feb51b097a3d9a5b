//! State vectors of a size known at compile time or at run time.

use std::fmt::Debug;

mod sealed {
    pub trait Sealed {}
    impl Sealed for Vec<f64> {}
    impl<const N: usize> Sealed for [f64; N] {}
}

/// Most numbers of a vector.
const MOST: usize = 1 << 27;

/// Storage of one state vector: `[f64; N]` when the size is known, `Vec<f64>` otherwise. Sealed.
///
/// Loops over an array have a length the compiler knows and unrolls: worth it for two states,
/// hardly for six (`cargo bench --bench ratios -- step`).
pub trait Buffer: Clone + Debug + sealed::Sealed {
    /// `n` zeros, none where `n` is more than 2²⁷ (a gibibyte); an array of another size than `n`
    /// keeps its own size.
    fn zeros(n: usize) -> Self;
    /// The entries.
    fn get(&self) -> &[f64];
    /// The entries, to write.
    fn get_mut(&mut self) -> &mut [f64];
}

impl Buffer for Vec<f64> {
    fn zeros(n: usize) -> Self {
        vec![0.0; if n > MOST { 0 } else { n }]
    }
    #[inline(always)]
    fn get(&self) -> &[f64] {
        self
    }
    #[inline(always)]
    fn get_mut(&mut self) -> &mut [f64] {
        self
    }
}

impl<const N: usize> Buffer for [f64; N] {
    fn zeros(_n: usize) -> Self {
        [0.0; N]
    }
    #[inline(always)]
    fn get(&self) -> &[f64] {
        self
    }
    #[inline(always)]
    fn get_mut(&mut self) -> &mut [f64] {
        self
    }
}
