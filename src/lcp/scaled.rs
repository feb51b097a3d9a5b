//! The problem in units in which its numbers are of size 1.
//!
//! `W' = R W C`, `q' = R q / u`, `z = u C z'`, `w = u R⁻¹ w'`, with powers of two on the diagonals
//! of `R` and `C` and for `u`: nothing is rounded, and no tolerance depends on the units of the
//! user, on masses, or on a friction coefficient of 1e5.

use nalgebra::DMatrixView;

use super::LcpFailure;
use super::blocks::{Block, blocks_of, greater, largest, reset};
use crate::validate;

/// The scaled problem; buffers are kept from one problem to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Scaled {
    pub(super) n: usize,
    /// Blocks of a column.
    pub(super) blocks: usize,
    /// The columns of `−W'`, one after the other.
    columns: Vec<Block>,
    /// `q'`, the largest entry between 1 and 2.
    pub(super) q: Vec<Block>,
    /// Diagonal of `R`.
    pub(super) row: Vec<f64>,
    /// Diagonal of `C`.
    pub(super) column: Vec<f64>,
    /// `u`.
    pub(super) unit: f64,
    /// `max |q_i|` and `max |q'_i|`.
    pub(super) size_given: f64,
    pub(super) size: f64,
    /// `W` as given last, column by column: problems of one matrix are scaled once.
    given: Vec<f64>,
}

/// The reason for which a problem was scaled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loaded {
    /// A matrix that was not the one before.
    Anew,
    /// The matrix before, with another `q`.
    Before,
}

impl Scaled {
    /// Room for problems of size `n`, as far as there is memory.
    pub(super) fn reserve(&mut self, n: usize) {
        let blocks = blocks_of(n);
        // Without it the buffers grow when they are filled.
        let _ = self.columns.try_reserve(n.saturating_mul(blocks));
        let _ = self.q.try_reserve(blocks);
        let _ = self.row.try_reserve(n);
        let _ = self.column.try_reserve(n);
        let _ = self.given.try_reserve(n.saturating_mul(n));
    }

    /// Takes a problem with `W` of size n × n and `q` of length n.
    pub(super) fn load(
        &mut self,
        w: &DMatrixView<'_, f64>,
        q: &[f64],
    ) -> Result<Loaded, LcpFailure> {
        let n = q.len();
        if self.is_given(w, n) {
            self.load_right(q);
            return Ok(Loaded::Before);
        }
        self.given.clear();
        self.row.clear();
        self.row.resize(n, 0.0);
        for j in 0..n {
            for (sum, w) in self.row.iter_mut().zip(w.column(j).as_slice()) {
                *sum += w.abs();
            }
        }
        // Sums are not finite when an entry is not, or when they overflow.
        if self.row.iter().any(|sum| !sum.is_finite()) {
            for j in 0..n {
                validate::finite("w", w.column(j).as_slice())
                    .map_err(validate::counted_from(j * n))?;
            }
        }
        for row in &mut self.row {
            *row = inverse_power_of_two(*row);
        }
        if self.n != n || self.columns.is_empty() {
            self.n = n;
            self.blocks = blocks_of(n);
            reset(&mut self.columns, n * self.blocks);
            reset(&mut self.q, self.blocks);
            self.column.clear();
            self.column.resize(n, 1.0);
        }
        let columns = self.columns.chunks_exact_mut(self.blocks.max(1));
        for (j, (to, scale)) in columns.zip(&mut self.column).enumerate() {
            let column = w.column(j);
            let entries = column.as_slice().iter().zip(&self.row);
            for (to, (w, row)) in to.as_flattened_mut().iter_mut().zip(entries) {
                *to = -(w * row);
            }
            *scale = inverse_power_of_two(largest(to));
            for to in to {
                *to = to.map(|to| to * *scale);
            }
        }
        for j in 0..n {
            self.given.extend_from_slice(w.column(j).as_slice());
        }
        self.load_right(q);
        Ok(Loaded::Anew)
    }

    /// True when a matrix is the one given last.
    fn is_given(&self, w: &DMatrixView<'_, f64>, n: usize) -> bool {
        let mut known = self.given.chunks_exact(n.max(1)).enumerate();
        n > 0
            && self.given.len() == n * n
            && known.all(|(j, known)| {
                // By bits: a zero of the other sign is another matrix. A whole column at once.
                let column = w.column(j);
                let pairs = known.iter().zip(column.as_slice());
                pairs.fold(0, |unlike, (a, b)| unlike | a.to_bits() ^ b.to_bits()) == 0
            })
    }

    /// Takes another `q` of the same length for the same `W`.
    pub(super) fn load_right(&mut self, q: &[f64]) {
        let scaled = &mut self.q.as_flattened_mut()[..self.n];
        let (mut size, mut most) = (0.0, 0.0);
        for ((to, q), row) in scaled.iter_mut().zip(q).zip(&self.row) {
            *to = q * row;
            (size, most) = (greater(q.abs(), size), greater(to.abs(), most));
        }
        let inverse = inverse_power_of_two(most);
        self.unit = inverse.recip();
        (self.size_given, self.size) = (size, most * inverse);
        for q in scaled {
            *q *= inverse;
        }
    }

    /// Column `j` of `−W'`.
    #[inline]
    pub(super) fn column(&self, j: usize) -> &[Block] {
        &self.columns[j * self.blocks..(j + 1) * self.blocks]
    }

    /// `W'_ij`.
    #[inline]
    pub(super) fn entry(&self, i: usize, j: usize) -> f64 {
        -self.column(j).as_flattened()[i]
    }
}

/// A power of two that scales a size to between 1 and 2; 1 for zero. Near the ends of the range of
/// `f64` the closest that exists.
#[inline]
pub(super) fn inverse_power_of_two(size: f64) -> f64 {
    if size == 0.0 {
        return 1.0;
    }
    let exponent = (size.to_bits() >> 52) & 0x7ff;
    f64::from_bits((2046 - exponent.min(2045)).min(2045) << 52)
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    #[test]
    fn powers_of_two_bring_any_size_to_one() {
        for size in [1.0, 1.999, 2.0, 1e5, 1e-5, 3e300, 1e-300] {
            let scaled = size * inverse_power_of_two(size);
            assert!((1.0..2.0).contains(&scaled), "{size}: {scaled}");
        }
        assert!((inverse_power_of_two(0.0) - 1.0).abs() < 1e-15);
        for size in [f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::INFINITY, f64::NAN] {
            let inverse = inverse_power_of_two(size);
            assert!(inverse.is_normal() && inverse.recip().is_normal(), "{size}");
        }
    }

    #[test]
    fn rows_and_columns_are_of_size_one_and_nothing_is_rounded() {
        let w = DMatrix::from_row_slice(3, 3, &[1e5, -3.0, 0.0, 7e-4, 1e-7, 0.0, 0.1, 0.2, 1e-9]);
        let q = [1.0, -1e6, 3.3];
        let mut scaled = Scaled::default();
        scaled.load(&(&w).into(), &q).unwrap();
        for i in 0..3 {
            for j in 0..3 {
                let back = scaled.entry(i, j) / scaled.row[i] / scaled.column[j];
                assert_eq!(back.to_bits(), (w[(i, j)] + 0.0).to_bits());
            }
            let column = (0..3).map(|k| scaled.entry(k, i).abs()).fold(0.0, f64::max);
            assert!((1.0..2.0).contains(&column));
            let back = scaled.q.as_flattened()[i] * scaled.unit / scaled.row[i];
            assert_eq!(back.to_bits(), q[i].to_bits());
        }
    }

    /// A matrix given again is scaled as at first, and another one is not taken for it.
    #[test]
    fn what_was_given_before_does_not_matter() {
        let first = DMatrix::from_row_slice(2, 2, &[3.0, -1.0, 0.0, 7e4]);
        let mut second = first.clone();
        second[(0, 0)] = 5e-3;
        let mut zero = first.clone();
        zero[(1, 0)] = -0.0;
        let larger = DMatrix::from_fn(3, 3, |i, j| (i + 2 * j) as f64);
        let mut scaled = Scaled::default();
        let bad = DMatrix::from_element(2, 2, f64::NAN);
        for w in [
            &first, &first, &second, &zero, &first, &bad, &first, &larger, &larger, &first,
        ] {
            let q: Vec<f64> = (0..w.nrows()).map(|i| 1.0 - 3.0 * i as f64).collect();
            let mut fresh = Scaled::default();
            let loaded = scaled.load(&w.into(), &q);
            assert_eq!(loaded.is_err(), fresh.load(&w.into(), &q).is_err());
            if loaded.is_err() {
                continue;
            }
            assert_eq!(scaled.unit.to_bits(), fresh.unit.to_bits());
            for i in 0..w.nrows() {
                assert_eq!(scaled.row[i].to_bits(), fresh.row[i].to_bits());
                assert_eq!(scaled.column[i].to_bits(), fresh.column[i].to_bits());
                for j in 0..w.nrows() {
                    assert_eq!(scaled.entry(i, j).to_bits(), fresh.entry(i, j).to_bits());
                }
            }
        }
    }
}
