//! The inverse of a basis as a product of pivots (product form of the inverse, Dantzig &
//! Orchard-Hays 1954).
//!
//! A pivot on entry `r` of a column `a` is the matrix that turns `a` into the unit vector `e_r`;
//! its column `r` is kept. With k pivots a column costs at most k n multiplications, and fewer as
//! long as entries are zero: less than the n² a pivot of a full tableau as long as k < n.

use super::blocks::{Block, add_multiple, blocks_of, dot, known, known_mut};

/// `B⁻¹` as pivots, first to last.
#[derive(Clone, Debug, Default)]
pub(super) struct Product {
    blocks: usize,
    /// Column `r` of each pivot.
    columns: Vec<Block>,
    /// The `r` of each pivot.
    rows: Vec<usize>,
}

/// Pivots kept for size `n` before they are made anew.
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

    /// So many pivots that making them anew pays, in time and in digits.
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
