//! Random draws keyed by seed and index: no state, so that any split of the indices gives the same
//! list.

/// 2⁶⁴ over the golden ratio.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// Draw `index` of a seed: the finaliser of `SplitMix64` (Steele, Lea, Flood, OOPSLA 2014) on the
/// mixed seed plus `index` golden-ratio steps.
pub(crate) fn word(seed: u64, index: u64) -> u64 {
    in_sequence(in_sequence(seed, 1), index)
}

/// A number below `count` (0 when `count` is 0) for draw `index` of a seed.
pub(crate) fn below(seed: u64, index: u64, count: usize) -> usize {
    // The high half of the product of a 64-bit fraction and the count lies below the count.
    let product = u128::from(word(seed, index)) * count as u128;
    usize::try_from(product >> 64).unwrap_or(0)
}

/// Number `index` = 1, 2, … of the sequence of `SplitMix64` from a state.
pub(crate) fn in_sequence(state: u64, index: u64) -> u64 {
    mix(state.wrapping_add(index.wrapping_mul(GOLDEN)))
}

/// A word as a number in [0, 1).
pub(crate) fn fraction(word: u64) -> f64 {
    (word >> 11) as f64 * (f64::EPSILON / 2.0)
}

/// A word as a number in [−1, 1).
pub(crate) fn symmetric(word: u64) -> f64 {
    (word >> 11) as f64 * f64::EPSILON - 1.0
}

fn mix(z: u64) -> u64 {
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_lie_below_the_count_and_differ_by_seed() {
        assert_eq!(below(1, 2, 0), 0);
        assert_eq!(below(1, 2, 1), 0);
        let row = |seed| (0..64).map(|i| below(seed, i, 10)).collect::<Vec<_>>();
        assert!(row(3).iter().all(|&d| d < 10));
        assert_eq!(row(3), row(3));
        assert_ne!(row(3), row(4));
    }
}
