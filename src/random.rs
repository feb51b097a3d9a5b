//! Random draws keyed by seed and index: no state, so that any split of the indices gives the same
//! list.
//!
//! The generator is Philox4x64-10 (Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy
//! as 1, 2, 3", SC 2011). The key is `(seed, 0)`. The counter is `(sample, step, block, stream)`.

/// The multipliers of the two halves of a round.
const MULTIPLIERS: [u64; 2] = [0xd2e7_470e_e14c_6c93, 0xca5a_8263_9512_1157];
/// The increments of the key in a round: 2⁶⁴ over the golden ratio, and 2⁶⁴ (√3 − 1).
const KEY_STEPS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xbb67_ae85_84ca_a73b];
const ROUNDS: usize = 10;

/// The purpose of a draw. Draws of different streams are independent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Stream {
    /// Bounds of the normal impulses of a step.
    Bounds = 0,
    /// Choice of the contacts of a step that keep their bounds.
    Faces = 1,
    /// Covering vectors of Lemke's method.
    Cover = 2,
    /// Choice among the solutions of a step.
    Choice = 3,
    /// Everything that is numbered by one index alone.
    Index = 4,
    /// Scrambles of Sobol's sequence.
    #[cfg(feature = "sobol")]
    Scramble = 5,
    /// Starts and parameters of the rows of an ensemble.
    Ensemble = 6,
}

/// The draws of one step of one sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Draws {
    pub(crate) seed: u64,
    pub(crate) sample: u64,
    pub(crate) step: u64,
}

impl Draws {
    /// Four words of a stream.
    pub(crate) fn block(self, stream: Stream, block: u64) -> [u64; 4] {
        philox(
            [self.sample, self.step, block, stream as u64],
            [self.seed, 0],
        )
    }

    /// Fills with numbers in the open interval (0, 1): component `4 b + j` from word `j` of block
    /// `b`.
    pub(crate) fn fill_open(self, stream: Stream, to: &mut [f64]) {
        for (b, four) in to.chunks_mut(4).enumerate() {
            let words = self.block(stream, b as u64);
            for (to, word) in four.iter_mut().zip(words) {
                *to = open_fraction(word);
            }
        }
    }
}

/// Draw `index` of a seed.
pub(crate) fn word(seed: u64, index: u64) -> u64 {
    let (sample, step) = (0, 0);
    let four = Draws { seed, sample, step }.block(Stream::Index, index / 4);
    four[(index % 4) as usize]
}

/// A number below `count` (0 when `count` is 0) for draw `index` of a seed.
pub(crate) fn below(seed: u64, index: u64, count: usize) -> usize {
    word_below(word(seed, index), count)
}

/// A word as a number below `count` (0 when `count` is 0).
pub(crate) fn word_below(word: u64, count: usize) -> usize {
    // The high half of the product of a 64-bit fraction and the count lies below the count.
    let product = u128::from(word) * count as u128;
    usize::try_from(product >> 64).unwrap_or(0)
}

/// A word as a number in [0, 1).
pub(crate) fn fraction(word: u64) -> f64 {
    (word >> 11) as f64 * (f64::EPSILON / 2.0)
}

/// A word as a number in (0, 1).
pub(crate) fn open_fraction(word: u64) -> f64 {
    // The largest word would round to 1.
    (((word >> 11) as f64 + 0.5) * (f64::EPSILON / 2.0)).min(1.0 - f64::EPSILON / 2.0)
}

/// A word as a number in [−1, 1).
pub(crate) fn symmetric(word: u64) -> f64 {
    (word >> 11) as f64 * f64::EPSILON - 1.0
}

/// Philox4x64-10.
fn philox(mut counter: [u64; 4], mut key: [u64; 2]) -> [u64; 4] {
    for round in 0..ROUNDS {
        if round > 0 {
            for (key, step) in key.iter_mut().zip(KEY_STEPS) {
                *key = key.wrapping_add(step);
            }
        }
        let (high_0, low_0) = wide_product(MULTIPLIERS[0], counter[0]);
        let (high_1, low_1) = wide_product(MULTIPLIERS[1], counter[2]);
        counter = [
            high_1 ^ counter[1] ^ key[0],
            low_1,
            high_0 ^ counter[3] ^ key[1],
            low_0,
        ];
    }
    counter
}

/// The high and the low half of a product.
#[expect(clippy::cast_possible_truncation, reason = "halves of 128 bits")]
fn wide_product(a: u64, b: u64) -> (u64, u64) {
    let product = u128::from(a) * u128::from(b);
    ((product >> 64) as u64, product as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_has_its_published_answers() {
        for (counter, key, expected) in [
            (
                [0; 4],
                [0; 2],
                [
                    0x16554d9eca36314c,
                    0xdb20fe9d672d0fdc,
                    0xd7e772cee186176b,
                    0x7e68b68aec7ba23b,
                ],
            ),
            (
                [5, 3, 2, 0],
                [7, 0],
                [
                    0xea086484b10bc1f8,
                    0x786940b008f33923,
                    0x95048609e924c164,
                    0xc6e2e128e0b62759,
                ],
            ),
            (
                [0x75bcd15, 9, 1, 2],
                [1, 0],
                [
                    0x2f9c0fdc20daa5fd,
                    0x4ca8b784f04bd39f,
                    0x73b834997f70ff97,
                    0x9ea25807943656ea,
                ],
            ),
            (
                [u64::MAX; 4],
                [u64::MAX; 2],
                [
                    0x87b092c3013fe90b,
                    0x438c3c67be8d0224,
                    0x9cc7d7c69cd777b6,
                    0xa09caebf594f0ba0,
                ],
            ),
        ] {
            assert_eq!(philox(counter, key), expected);
        }
    }

    #[test]
    fn the_bounds_of_the_first_step_have_their_known_values() {
        let (seed, sample, step) = (1, 0, 0);
        let mut drawn = [0.0; 5];
        Draws { seed, sample, step }.fill_open(Stream::Bounds, &mut drawn);
        let expected: [f64; 5] = [
            0.7949013274183931,
            0.6379192318013047,
            0.9096039754146836,
            0.20421696560213215,
            0.02252453705218277,
        ];
        assert_eq!(drawn.map(f64::to_bits), expected.map(f64::to_bits));
    }

    #[test]
    fn draws_lie_below_the_count_and_differ_by_seed() {
        assert_eq!(below(1, 2, 0), 0);
        assert_eq!(below(1, 2, 1), 0);
        let row = |seed| (0..64).map(|i| below(seed, i, 10)).collect::<Vec<_>>();
        assert!(row(3).iter().all(|&d| d < 10));
        assert_eq!(row(3), row(3));
        assert_ne!(row(3), row(4));
        assert!(open_fraction(0) > 0.0 && open_fraction(u64::MAX) < 1.0);
    }
}
