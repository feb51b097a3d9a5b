//! Numbers that are the same on every run.

use nalgebra::DVector;

/// The generator `SplitMix64`, from a state of one's choice.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// A number in [`low`, `high`).
    pub(crate) fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        let bits = (z ^ z >> 31) >> 11;
        low + (high - low) * bits as f64 * (f64::EPSILON / 2.0)
    }

    /// A unit vector, no direction favoured.
    pub(crate) fn direction(&mut self, dim: usize) -> DVector<f64> {
        loop {
            let v = DVector::from_fn(dim, |_, _| self.between(-1.0, 1.0));
            // Vectors from the corners of the cube would favour its diagonals.
            if (0.01..=1.0).contains(&v.norm()) {
                return v.normalize();
            }
        }
    }
}
