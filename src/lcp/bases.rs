//! Complementary bases: those of a small problem that signs allow, and the linear system of one,
//! `W_BB z_B = −q_B`, by LU with row exchanges and one refinement.

use super::blocks::{Block, add_multiple, blocks_of, known_mut, reset};
use super::scaled::Scaled;

/// Workspace; buffers are kept from one system to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Principal {
    /// `B`, ascending.
    pub(super) set: Vec<usize>,
    /// `−W'_BB`, then the rows of its L (below the diagonal) and U.
    factors: Vec<Block>,
    /// The index of the row of each pivot.
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
        let _ = self.factors.try_reserve(blocks.saturating_mul(4 * blocks));
        let _ = self.pivot_row.try_reserve(blocks);
        let _ = self.right.try_reserve(4 * blocks);
        let _ = self.slack.try_reserve(blocks);
        let _ = self.z.try_reserve(n);
    }

    /// Solves for the `B` in `set`: `z'` with zeros outside. False when a pivot is not larger than
    /// `least_pivot`, or not a number.
    pub(super) fn solve(&mut self, problem: &Scaled, least_pivot: f64) -> bool {
        // Loops over few blocks are compiled for their number.
        match blocks_of(self.set.len()) {
            1 => self.solve_in::<1>(problem, least_pivot),
            2 => self.solve_in::<2>(problem, least_pivot),
            3 => self.solve_in::<3>(problem, least_pivot),
            4 => self.solve_in::<4>(problem, least_pivot),
            _ => self.solve_in::<0>(problem, least_pivot),
        }
    }

    /// [`solve`](Self::solve) with rows of `N` blocks, of any number if that is 0.
    fn solve_in<const N: usize>(&mut self, problem: &Scaled, least_pivot: f64) -> bool {
        self.gather::<N>(problem);
        if !self.factor::<N>(least_pivot) {
            return false;
        }
        self.z.clear();
        self.z.resize(problem.n, 0.0);
        self.slack.clone_from(&problem.q);
        self.add_correction::<N>();
        // What is left of q for this z, and what z lacks by it.
        for &j in &self.set {
            add_multiple(&mut self.slack, -self.z[j], problem.column(j));
        }
        self.add_correction::<N>();
        true
    }

    /// `factors = −W'_BB`, one row after the other. Few are filled up by the identity, so that loops
    /// over them have one length.
    fn gather<const N: usize>(&mut self, problem: &Scaled) {
        let size = self.set.len();
        let blocks = if N > 0 { N } else { blocks_of(size) };
        let rows = if N > 0 { 4 * N } else { size };
        reset(&mut self.factors, rows * blocks);
        let factors = self.factors.as_flattened_mut();
        for (k, &j) in self.set.iter().enumerate() {
            let column = problem.column(j).as_flattened();
            let rows = factors.chunks_exact_mut(4 * blocks);
            for (row, &i) in rows.zip(&self.set) {
                row[k] = column[i];
            }
        }
        for k in size..rows {
            factors[k * (4 * blocks + 1)] = 1.0;
        }
        self.order.clear();
        self.order.extend_from_slice(&self.set);
    }

    /// LU with row exchanges, in place.
    fn factor<const N: usize>(&mut self, least_pivot: f64) -> bool {
        let size = self.order.len();
        let blocks = if N > 0 { N } else { blocks_of(size) };
        let factors = &mut self.factors[..size * blocks];
        for k in 0..size {
            let (place, lane) = (k / 4, k % 4);
            let (mut pivot, mut most) = (k, 0.0);
            for (i, row) in factors.chunks_exact(blocks).enumerate().skip(k) {
                let entry = row[place][lane].abs();
                if entry > most {
                    (pivot, most) = (i, entry);
                }
            }
            if most <= least_pivot || !most.is_finite() {
                return false;
            }
            if pivot != k {
                self.order.swap(pivot, k);
                for j in 0..blocks {
                    factors.swap(pivot * blocks + j, k * blocks + j);
                }
            }
            // Short rows are taken as a whole: what the pivot's has before it becomes zero.
            let start = if N > 0 { 0 } else { place };
            let (above, below) = factors.split_at_mut((k + 1) * blocks);
            self.pivot_row.clear();
            self.pivot_row
                .extend_from_slice(&above[k * blocks + start..]);
            let pivot_row = known_mut::<N>(&mut self.pivot_row);
            let inverse = pivot_row[place - start][lane].recip();
            // The multipliers of earlier pivots stay as they are.
            pivot_row.as_flattened_mut()[..k - 4 * start].fill(0.0);
            for row in below.chunks_exact_mut(blocks) {
                let row = &mut row[start..];
                let factor = row[place - start][lane] * inverse;
                if factor != 0.0 {
                    add_multiple(row, -factor, pivot_row);
                }
                row[place - start][lane] = factor;
            }
        }
        true
    }

    /// `z_B ← z_B + (L U)⁻¹ slack_B`.
    fn add_correction<const N: usize>(&mut self) {
        let size = self.order.len();
        let stride = 4 * if N > 0 { N } else { blocks_of(size) };
        let rows = if N > 0 { 4 * N } else { size };
        let slack = self.slack.as_flattened();
        self.right.clear();
        self.right.extend(self.order.iter().map(|&i| slack[i]));
        self.right.resize(rows, 0.0);
        let x = &mut self.right[..rows];
        let factors = &self.factors.as_flattened()[..rows * stride];
        for i in 0..rows {
            let mut sum = 0.0;
            for j in 0..i {
                sum += factors[i * stride + j] * x[j];
            }
            x[i] -= sum;
        }
        for i in (0..rows).rev() {
            let mut sum = 0.0;
            for j in i + 1..rows {
                sum += factors[i * stride + j] * x[j];
            }
            x[i] = (x[i] - sum) / factors[i * stride + i];
        }
        for (&j, x) in self.set.iter().zip(x) {
            self.z[j] += *x;
        }
    }
}

/// Largest problem whose bases are listed.
pub(super) const MOST: usize = 16;

/// The positive and the negative entries of a row, as bits, and the sign of `q`.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    positive: u32,
    negative: u32,
    /// −1, 0, 1.
    q: i8,
}

/// The bases, one bit for each index of `z`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subsets {
    n: usize,
    rows: [Row; MOST],
}

impl Subsets {
    /// Of a problem of size at most [`MOST`].
    pub(super) fn new(problem: &Scaled) -> Self {
        let n = problem.n.min(MOST);
        let mut rows = [Row::default(); MOST];
        let sign = |v: f64| i8::from(v > 0.0) - i8::from(v < 0.0);
        for (i, row) in rows[..n].iter_mut().enumerate() {
            row.q = sign(problem.q.as_flattened()[i]);
            for j in 0..n {
                match sign(problem.entry(i, j)) {
                    1 => row.positive |= 1 << j,
                    -1 => row.negative |= 1 << j,
                    _ => {}
                }
            }
        }
        Self { n, rows }
    }

    /// Calls `visit` with each basis that signs allow, until it returns true. Returns whether it
    /// did.
    pub(super) fn any(&self, mut visit: impl FnMut(u32) -> bool) -> bool {
        self.descend(0, 0, &mut visit)
    }

    /// Decides index `next`, the lower ones being decided.
    fn descend(&self, next: usize, basic: u32, visit: &mut impl FnMut(u32) -> bool) -> bool {
        let undecided = ((1u32 << self.n) - 1) & !((1u32 << next) - 1);
        if !self.signs_allow(next, basic, basic | undecided) {
            return false;
        }
        if next == self.n {
            return visit(basic);
        }
        self.descend(next + 1, basic, visit) || self.descend(next + 1, basic | 1 << next, visit)
    }

    /// With `z ≥ 0` nonzero only in `possible`: rows with `z` basic can reach `w = 0`, the others
    /// `w ≥ 0`.
    fn signs_allow(&self, decided: usize, basic: u32, possible: u32) -> bool {
        self.rows[..decided].iter().enumerate().all(|(i, row)| {
            let can_rise = row.q >= 0 || row.positive & possible != 0;
            let can_fall = row.q <= 0 || row.negative & possible != 0;
            can_rise && (can_fall || basic >> i & 1 == 0)
        })
    }
}

/// The indices of a basis.
pub(super) fn list(basis: u32, set: &mut Vec<usize>) {
    set.clear();
    set.extend((0..MOST).filter(|i| basis >> i & 1 == 1));
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
