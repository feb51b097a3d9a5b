//! Vectors in blocks of four entries, padded with zeros: loops without remainders, which the
//! compiler vectorises.

/// Four entries.
pub(super) type Block = [f64; 4];

/// Blocks of a vector with `n` entries.
pub(super) const fn blocks_of(n: usize) -> usize {
    n.div_ceil(4)
}

/// The first `N` blocks, so that loops over them are unrolled; all of them where `N` is 0.
#[inline(always)]
pub(super) fn known<const N: usize>(v: &[Block]) -> &[Block] {
    if N == 0 { v } else { &v[..N] }
}

/// [`known`], to be changed.
#[inline(always)]
pub(super) fn known_mut<const N: usize>(v: &mut [Block]) -> &mut [Block] {
    if N == 0 { v } else { &mut v[..N] }
}

/// `v ← v + factor · other`.
#[inline]
pub(super) fn add_multiple(v: &mut [Block], factor: f64, other: &[Block]) {
    for (v, other) in v.iter_mut().zip(other) {
        // All is read before any is written: the two could overlap for all the compiler knows.
        *v = std::array::from_fn(|lane| v[lane] + factor * other[lane]);
    }
}

/// `Σ a_i b_i`.
#[inline]
pub(super) fn dot(a: &[Block], b: &[Block]) -> f64 {
    let mut sum = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..4 {
            sum[lane] += a[lane] * b[lane];
        }
    }
    (sum[0] + sum[1]) + (sum[2] + sum[3])
}

/// `max |v_i|`; entries that are not a number are passed over.
#[inline]
pub(super) fn largest(v: &[Block]) -> f64 {
    let mut most = [0.0f64; 4];
    for v in v {
        for lane in 0..4 {
            let size = v[lane].abs();
            most[lane] = greater(size, most[lane]);
        }
    }
    reduce(most, greater)
}

/// The greater of two numbers, of which none is NaN: one instruction, which `f64::max` is not.
#[inline]
pub(super) const fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// The smaller of two numbers, of which none is NaN.
#[inline]
pub(super) const fn smaller(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Four entries made one.
#[inline]
pub(super) fn reduce([a, b, c, d]: Block, by: impl Fn(f64, f64) -> f64) -> f64 {
    by(by(a, b), by(c, d))
}

/// Sets the length to `n` blocks of zeros; allocates only beyond the capacity.
pub(super) fn reset(v: &mut Vec<Block>, n: usize) {
    v.clear();
    v.resize(n, [0.0; 4]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padded_loops_are_the_plain_ones() {
        let mut a = vec![[1.0, 2.0, 3.0, 4.0], [5.0, 0.0, 0.0, 0.0]];
        let b = vec![[1.0, -1.0, 1.0, -1.0], [2.0, 0.0, 0.0, 0.0]];
        assert!((dot(&a, &b) - 8.0).abs() < 1e-15);
        add_multiple(&mut a, 2.0, &b);
        assert_eq!(a, [[3.0, 0.0, 5.0, 2.0], [9.0, 0.0, 0.0, 0.0]]);
        assert!((largest(&[[1.0, f64::NAN, -3.0, 2.0]]) - 3.0).abs() < 1e-15);
        assert_eq!(
            [blocks_of(0), blocks_of(1), blocks_of(4), blocks_of(5)],
            [0, 1, 1, 2]
        );
    }
}
