//! Random numbers of few bits, the same on every machine.

/// `SplitMix64`.
pub(crate) struct Draw(pub(crate) u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// In [low, high).
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.next() >> 11) as f64 * 2f64.powi(-53))
    }

    /// A whole number from `low` to `high`.
    pub(crate) fn whole(&mut self, low: i32, high: i32) -> i32 {
        let span = u64::from(high.abs_diff(low)) + 1;
        low + i32::try_from(self.next() % span).expect("at most the span")
    }

    /// The nearest multiple of 2^−bits to a number in [low, high).
    pub(crate) fn rounded(&mut self, low: f64, high: f64, bits: i32) -> f64 {
        round(self.between(low, high), bits)
    }

    /// A direction with components in [−1, 1], multiples of 2^−16.
    pub(crate) fn direction(&mut self, dim: usize) -> Vec<f64> {
        (0..dim).map(|_| self.rounded(-1.0, 1.0, 16)).collect()
    }

    /// A random order of 0 … n − 1.
    pub(crate) fn permutation(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for last in (1..n).rev() {
            let other = self.next() % (last as u64 + 1);
            order.swap(last, usize::try_from(other).expect("at most last"));
        }
        order
    }
}

/// Nearest multiple of 2^−bits.
pub(crate) fn round(v: f64, bits: i32) -> f64 {
    let unit = 2f64.powi(-bits);
    (v / unit).round() * unit
}
