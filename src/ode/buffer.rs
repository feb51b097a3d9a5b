//! State vectors of a size known at compile time or at run time.

use std::fmt::Debug;

mod sealed {
    pub trait Sealed {}
    impl Sealed for Vec<f64> {}
    impl<const N: usize> Sealed for [f64; N] {}
}

/// Limit of the numbers of a vector.
const MOST: usize = 1 << 27;

/// Storage of one state vector: `[f64; N]` for a size in the type, else `Vec<f64>`. Sealed.
///
/// Loops over an array have a constant length, which the compiler unrolls: worth it for two states,
/// hardly for six (`cargo bench --bench ratios -- step`).
pub trait Buffer: Clone + Debug + Send + Sync + sealed::Sealed + 'static {
    /// The size, where it is in the type.
    #[doc(hidden)]
    const SIZE: Option<usize>;
    /// `n` zeros, none where `n` is more than 2²⁷ (a gibibyte); an array of another size than `n`
    /// keeps its own size.
    fn zeros(n: usize) -> Self;
    /// The entries.
    fn get(&self) -> &[f64];
    /// The entries, to write.
    fn get_mut(&mut self) -> &mut [f64];
}

impl Buffer for Vec<f64> {
    const SIZE: Option<usize> = None;
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
    const SIZE: Option<usize> = Some(N);
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

/// Compiles an expression that loops over `n` entries for each small `n` by itself, where the size
/// `known` when the program is compiled is none: a loop that does not know its length takes twice to
/// seven times the instructions.
macro_rules! by_size {
    ($known:expr, $n:expr, |$size:ident| $body:expr) => {
        match ($known, $n) {
            (Some($size), _) => $body,
            (None, 1) => {
                let $size = 1;
                $body
            }
            (None, 2) => {
                let $size = 2;
                $body
            }
            (None, 3) => {
                let $size = 3;
                $body
            }
            (None, 4) => {
                let $size = 4;
                $body
            }
            (None, 6) => {
                let $size = 6;
                $body
            }
            (None, $size) => $body,
        }
    };
}

pub(super) use by_size;
