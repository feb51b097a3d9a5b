//! The linear system of a complementary basis, `W_BB z_B = −q_B`, by LU with row exchanges and one
//! refinement.

use super::blocks::{Block, add_multiple, blocks_of, reset};
use super::scaled::Scaled;

/// Workspace; buffers are kept from one system to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Principal {
    /// `B`, ascending.
    pub(super) set: Vec<usize>,
    /// Blocks of a row of the factors.
    blocks: usize,
    /// Rows of L (below the diagonal) and U.
    factors: Vec<Block>,
    /// Where row i of the factors came from.
    order: Vec<usize>,
    /// The row of the present pivot, from the diagonal on.
    pivot_row: Vec<Block>,
    /// Right side, then solution.
    right: Vec<f64>,
    /// `W' z' + q'`.
    slack: Vec<Block>,
    /// `z'`, of all n indices.
    pub(super) z: Vec<f64>,
}

impl Principal {
    pub(super) fn reserve(&mut self, n: usize) {
        // Without it the buffers grow when they are filled.
        let blocks = blocks_of(n);
        let _ = self.set.try_reserve(n);
        let _ = self.order.try_reserve(n);
        let _ = self.factors.try_reserve(n.saturating_mul(blocks));
        let _ = self.pivot_row.try_reserve(blocks);
        let _ = self.right.try_reserve(n);
        let _ = self.slack.try_reserve(blocks);
        let _ = self.z.try_reserve(n);
    }

    /// Solves for the `B` in `set`: `z'` with zeros outside. False when a pivot is not larger than
    /// `least_pivot`, or not a number.
    pub(super) fn solve(&mut self, problem: &Scaled, least_pivot: f64) -> bool {
        if !self.factor(problem, least_pivot) {
            return false;
        }
        self.z.clear();
        self.z.resize(problem.n, 0.0);
        for refinement in [false, true] {
            // The residual of q for the z so far.
            self.slack.clone_from(&problem.q);
            if refinement {
                for &j in &self.set {
                    add_multiple(&mut self.slack, -self.z[j], problem.column(j));
                }
            }
            let slack = self.slack.as_flattened();
            self.right.clear();
            self.right
                .extend(self.order.iter().map(|&k| -slack[self.set[k]]));
            self.substitute();
            for (&j, dz) in self.set.iter().zip(&self.right) {
                self.z[j] += dz;
            }
        }
        true
    }

    fn factor(&mut self, problem: &Scaled, least_pivot: f64) -> bool {
        let size = self.set.len();
        let blocks = blocks_of(size);
        self.blocks = blocks;
        reset(&mut self.factors, size * blocks);
        reset(&mut self.pivot_row, blocks);
        self.order.clear();
        self.order.extend(0..size);
        let entries = self.factors.as_flattened_mut();
        for (k, &j) in self.set.iter().enumerate() {
            let column = problem.column(j).as_flattened();
            for (i, &row) in self.set.iter().enumerate() {
                entries[4 * blocks * i + k] = -column[row];
            }
        }
        for k in 0..size {
            let entries = self.factors.as_flattened_mut();
            let (mut pivot, mut most) = (k, 0.0);
            for i in k..size {
                let entry = entries[4 * blocks * i + k].abs();
                if entry > most {
                    (pivot, most) = (i, entry);
                }
            }
            if most <= least_pivot || !most.is_finite() {
                return false;
            }
            if pivot != k {
                self.order.swap(pivot, k);
                for j in 0..4 * blocks {
                    entries.swap(4 * blocks * pivot + j, 4 * blocks * k + j);
                }
            }
            let start = k / 4;
            let (above, below) = self.factors.split_at_mut((k + 1) * blocks);
            let pivot_row = &mut self.pivot_row[start..];
            pivot_row.copy_from_slice(&above[k * blocks + start..]);
            let inverse = pivot_row[0][k % 4].recip();
            // The multipliers of earlier pivots stay as they are.
            pivot_row[0][..k % 4].fill(0.0);
            for row in below.chunks_exact_mut(blocks) {
                let row = &mut row[start..];
                let factor = row[0][k % 4] * inverse;
                if factor != 0.0 {
                    add_multiple(row, -factor, pivot_row);
                }
                row[0][k % 4] = factor;
            }
        }
        true
    }

    /// `right ← (L U)⁻¹ right`.
    fn substitute(&mut self) {
        let (size, stride) = (self.set.len(), 4 * self.blocks);
        let entries = self.factors.as_flattened();
        for i in 0..size {
            let row = &entries[stride * i..stride * i + size];
            let (known, rest) = self.right.split_at_mut(i);
            let sum: f64 = row.iter().zip(known).map(|(l, x)| l * *x).sum();
            rest[0] -= sum;
        }
        for i in (0..size).rev() {
            let row = &entries[stride * i..stride * i + size];
            let (rest, known) = self.right.split_at_mut(i + 1);
            let sum: f64 = row[i + 1..].iter().zip(known).map(|(u, x)| u * *x).sum();
            rest[i] = (rest[i] - sum) / row[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    #[test]
    fn random_systems_are_solved_to_rounding() {
        let mut index = 0;
        let mut draw = || {
            index += 1;
            crate::random::fraction(crate::random::word(7, index)) - 0.5
        };
        let mut principal = Principal::default();
        let mut problem = Scaled::default();
        for n in 1..30 {
            let w = DMatrix::from_fn(n, n, |_, _| draw());
            let q: Vec<f64> = (0..n).map(|_| draw()).collect();
            problem.load(&(&w).into(), &q).unwrap();
            principal.set.clear();
            principal.set.extend((0..n).filter(|i| i % 3 != 1));
            assert!(principal.solve(&problem, 0.0));
            for &i in &principal.set {
                let sum: f64 = (0..n).map(|j| problem.entry(i, j) * principal.z[j]).sum();
                let size = principal
                    .z
                    .iter()
                    .fold(1.0, |most: f64, z| most.max(z.abs()));
                let rest = sum + problem.q.as_flattened()[i];
                assert!(rest.abs() < 1e-14 * n as f64 * size, "{n}: {rest:e}");
            }
            assert!((0..n).all(|i| i % 3 != 1 || principal.z[i].to_bits() == 0));
        }
    }

    #[test]
    fn a_singular_system_is_refused_and_an_empty_one_is_solved() {
        let w = DMatrix::from_element(2, 2, 1.0);
        let mut problem = Scaled::default();
        problem.load(&(&w).into(), &[-1.0, 1.0]).unwrap();
        let mut principal = Principal::default();
        assert!(principal.solve(&problem, 0.0));
        assert_eq!(principal.z, [0.0, 0.0]);
        principal.set.extend([0, 1]);
        assert!(!principal.solve(&problem, 1e-13));
    }
}
