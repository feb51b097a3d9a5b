//! Vectors in blocks of four entries, padded with zeros: loops without remainders, which the
//! compiler vectorises. With them the inverse of a basis, as a product of pivots (product form of
//! the inverse, Dantzig & Orchard-Hays 1954).
//!
//! A pivot on entry `r` of a column `a` is the matrix that turns `a` into the unit vector `e_r`;
//! its column `r` is kept. With k pivots a column costs at most k n multiplications, and fewer as
//! long as entries are zero: less than the n² a pivot of a full tableau as long as k < n.

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
        // Vectorised in unrolled loops too, where writing lane by lane is not.
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

/// `B⁻¹` as pivots, first to last.
#[derive(Clone, Debug, Default)]
pub(super) struct Product {
    blocks: usize,
    /// Column `r` of each pivot.
    columns: Vec<Block>,
    /// The `r` of each pivot.
    rows: Vec<usize>,
}

/// Pivots kept for size `n` before the inverse is rebuilt.
const fn most(n: usize) -> usize {
    n.saturating_add(24)
}

impl Product {
    pub(super) fn reserve(&mut self, n: usize) {
        // Without it the buffers grow when they are filled.
        let _ = self
            .columns
            .try_reserve(most(n).saturating_mul(blocks_of(n)));
        let _ = self.rows.try_reserve(most(n));
    }

    /// The identity of size `n`.
    pub(super) fn clear(&mut self, n: usize) {
        self.blocks = blocks_of(n);
        self.columns.clear();
        self.rows.clear();
    }

    /// So many pivots that a rebuild pays, in time and in digits.
    pub(super) fn is_long(&self, n: usize) -> bool {
        self.rows.len() >= most(n)
    }

    /// `v ← B⁻¹ v`; `v` has `N` blocks if that is not 0.
    // Inlined, its loops are no longer vectorised.
    #[inline(never)]
    pub(super) fn apply<const N: usize>(&self, v: &mut [Block]) {
        let blocks = if N > 0 { N } else { self.blocks };
        let v = known_mut::<N>(v);
        for (column, &row) in self.columns.chunks_exact(blocks).zip(&self.rows) {
            pivot(v, row, column);
        }
    }

    /// `v ← (B⁻¹)ᵀ v`: of a unit vector, a row of `B⁻¹`.
    #[inline]
    pub(super) fn apply_transposed(&self, v: &mut [Block]) {
        let columns = self.columns.chunks_exact(self.blocks).rev();
        for (column, &row) in columns.zip(self.rows.iter().rev()) {
            let sum = dot(v, column);
            v.as_flattened_mut()[row] = sum;
        }
    }

    /// One more pivot, on entry `row` of `a = B⁻¹ ·` (the entering column); applied to `x` too.
    #[inline(never)]
    pub(super) fn push<const N: usize>(&mut self, row: usize, a: &[Block], x: &mut [Block]) {
        let (a, x) = (known::<N>(a), known_mut::<N>(x));
        let inverse = a.as_flattened()[row].recip();
        let start = self.columns.len();
        self.columns.extend_from_slice(a);
        self.rows.push(row);
        let column = known_mut::<N>(&mut self.columns[start..]);
        for a in &mut *column {
            *a = a.map(|a| -a * inverse);
        }
        column.as_flattened_mut()[row] = inverse;
        pivot(x, row, column);
    }
}

#[inline(always)]
fn pivot(v: &mut [Block], row: usize, column: &[Block]) {
    let factor = std::mem::take(&mut v.as_flattened_mut()[row]);
    if factor != 0.0 {
        add_multiple(v, factor, column);
    }
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

    #[test]
    fn a_basis_becomes_the_identity_and_rows_are_those_of_the_inverse() {
        let basis = [
            [[1.0, 2.0, 0.0, 0.0]],
            [[3.0, 4.0, 1.0, 0.0]],
            [[0.0, -1.0, 5.0, 0.0]],
        ];
        let mut product = Product::default();
        product.clear(3);
        let mut nothing = [[0.0; 4]];
        for (row, column) in basis.iter().enumerate() {
            let mut a = *column;
            product.apply::<1>(&mut a);
            product.push::<0>(row, &a, &mut nothing);
        }
        assert_eq!(product.rows.len(), 3);
        for (row, column) in basis.iter().enumerate() {
            let mut a = *column;
            product.apply::<0>(&mut a);
            for i in 0..3 {
                assert!((a[0][i] - f64::from(u8::from(i == row))).abs() < 1e-14);
            }
            let mut of_inverse = [[0.0; 4]];
            of_inverse[0][row] = 1.0;
            product.apply_transposed(&mut of_inverse);
            for (j, other) in basis.iter().enumerate() {
                let entry = dot(&of_inverse, other);
                assert!((entry - f64::from(u8::from(j == row))).abs() < 1e-14);
            }
        }
    }
}
