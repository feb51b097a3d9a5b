//! Lemke's method in a full tableau of double-double numbers, for bases that are almost singular.
//!
//! The method and its rule for ties are those of `lemke`. Rounding is 1e-32 of the entries, so that
//! much smaller pivots and ties are distinguished from zero.

use super::LcpFailure;
use super::blocks::Block;
use super::lemke::End;
use super::scaled::Scaled;
use crate::Interrupt;
use crate::linalg::double_double::Double;

/// Largest problem for which it is tried: a pivot then takes some milliseconds, and the tableau 1.3
/// MB.
const MOST: usize = 200;
/// Limit of the pivots, times n.
const PIVOTS: usize = 10;
/// Rows take part in a ratio test above this pivot, relative to the column's largest or 1.
const LEAST_PIVOT: f64 = 1e-20;
/// Numbers that differ by less are equal, relative to their size or 1.
const TIE: f64 = 1e-22;

/// Workspace. Variables are numbered `w_j = j`, `z_j = n + j`, `z0 = 2n`.
#[derive(Clone, Debug, Default)]
pub(super) struct Careful {
    n: usize,
    /// `B⁻¹ [I | −W | −d | q]`, one row after the other.
    table: Vec<Double>,
    /// Of each row, the variable that is basic.
    basic: Vec<usize>,
    pivot_row: Vec<Double>,
    /// `z'` of the last path, or its ray.
    pub(super) z: Vec<f64>,
}

impl Careful {
    pub(super) fn reserve(&mut self, n: usize) {
        if n > MOST {
            return;
        }
        // Without it the buffers grow when they are filled.
        let width = 2 * n + 2;
        let _ = self.table.try_reserve(n * width);
        let _ = self.pivot_row.try_reserve(width);
        let _ = self.basic.try_reserve(n);
        let _ = self.z.try_reserve(n);
    }

    /// Follows the path of a problem with a covering vector, `d > 0` in scaled units, for `most`
    /// pivots.
    pub(super) fn run(
        &mut self,
        problem: &Scaled,
        cover: &[Block],
        most: usize,
        interrupt: Option<&Interrupt>,
    ) -> Result<End, LcpFailure> {
        let n = problem.n;
        let most = most.min(PIVOTS * n);
        if n > MOST {
            return Ok(End::MaxPivots);
        }
        let (mut row, mut entering) = (self.start(problem, cover), 2 * n);
        for _ in 0..most {
            interrupt.map_or(Ok(()), Interrupt::check)?;
            self.pivot(row, entering);
            let leaving = std::mem::replace(&mut self.basic[row], entering);
            if leaving == 2 * n {
                self.keep(2 * n + 1, 1.0);
                return Ok(End::Complementary);
            }
            entering = if leaving < n {
                leaving + n
            } else {
                leaving - n
            };
            let Some(least) = self.leaving_row(entering) else {
                self.keep(entering, -1.0);
                if entering >= n {
                    self.z[entering - n] = 1.0;
                }
                return Ok(End::Ray);
            };
            row = least;
        }
        Ok(End::MaxPivots)
    }

    /// Loads the tableau; the row that `z0` replaces: among equal ratios the last one.
    fn start(&mut self, problem: &Scaled, cover: &[Block]) -> usize {
        let n = problem.n;
        self.n = n;
        let (q, d) = (problem.q.as_flattened(), cover.as_flattened());
        self.table.clear();
        for i in 0..n {
            let unit = |j: usize| Double::from(f64::from(u8::from(i == j)));
            self.table.extend((0..n).map(unit));
            self.table
                .extend((0..n).map(|j| Double::from(-problem.entry(i, j))));
            self.table.extend([Double::from(-d[i]), Double::from(q[i])]);
        }
        self.basic.clear();
        self.basic.extend(0..n);
        let mut least = 0;
        for i in 0..n {
            if q[i] / d[i] <= q[least] / d[least] {
                least = i;
            }
        }
        least
    }

    #[inline]
    fn at(&self, row: usize, column: usize) -> Double {
        self.table[row * (2 * self.n + 2) + column]
    }

    /// `z ← ± column` at the rows of the basic `z`, without what is negative.
    fn keep(&mut self, column: usize, sign: f64) {
        let n = self.n;
        self.z.clear();
        self.z.resize(n, 0.0);
        for row in 0..n {
            let variable = self.basic[row];
            if (n..2 * n).contains(&variable) {
                let value = sign * self.at(row, column).high();
                // NaN stays.
                self.z[variable - n] = if value < 0.0 { 0.0 } else { value };
            }
        }
    }

    /// The row that is least in the lexicographic order of `[x B⁻¹]`, over its entry in the column
    /// that enters; among equal `x` that of `z0` first. None when no row limits.
    fn leaving_row(&self, entering: usize) -> Option<usize> {
        let n = self.n;
        let most = (0..n).map(|row| self.at(row, entering).high().abs());
        let least_pivot = LEAST_PIVOT * most.fold(1.0, f64::max);
        let limits = |row: &usize| self.at(*row, entering).high() > least_pivot;
        (0..n)
            .filter(limits)
            .reduce(|best, row| self.lesser(best, row, entering))
    }

    fn lesser(&self, best: usize, row: usize, entering: usize) -> usize {
        let (a, b) = (self.at(best, entering), self.at(row, entering));
        // The sign of the difference of two ratios.
        let order = |column: usize| {
            let (p, q) = (self.at(best, column) / a, self.at(row, column) / b);
            let difference = (q - p).high();
            let size = p.high().abs().max(q.high().abs()).max(1.0);
            (difference.abs() > TIE * size).then_some(difference < 0.0)
        };
        let n = self.n;
        let is_less = order(2 * n + 1)
            .or_else(|| (self.basic[best] == 2 * n).then_some(false))
            .or_else(|| (self.basic[row] == 2 * n).then_some(true))
            .or_else(|| (0..n).find_map(order));
        if is_less == Some(true) { row } else { best }
    }

    fn pivot(&mut self, row: usize, entering: usize) {
        let width = 2 * self.n + 2;
        let pivot = self.at(row, entering);
        let entries = &self.table[row * width..(row + 1) * width];
        self.pivot_row.clear();
        self.pivot_row.extend(entries.iter().map(|e| *e / pivot));
        for (i, to) in self.table.chunks_exact_mut(width).enumerate() {
            let factor = to[entering];
            if i == row {
                to.copy_from_slice(&self.pivot_row);
            } else if factor != Double::ZERO {
                for (to, p) in to.iter_mut().zip(&self.pivot_row) {
                    *to = *to - factor * *p;
                }
                to[entering] = Double::ZERO;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    fn run(w: &DMatrix<f64>, q: &[f64], most: usize) -> (End, Vec<f64>) {
        let mut problem = Scaled::default();
        problem.load(&w.into(), q).unwrap();
        let cover = vec![[1.0; 4]; problem.blocks];
        let mut careful = Careful::default();
        let end = careful.run(&problem, &cover, most, None).unwrap();
        let scales = problem.column.iter().map(|c| c * problem.unit);
        let z = careful.z.iter().zip(scales).map(|(z, scale)| z * scale);
        (end, z.collect())
    }

    #[test]
    fn small_problems() {
        let w = DMatrix::from_row_slice(3, 3, &[1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0]);
        let (end, z) = run(&w, &[-1.0; 3], 30);
        assert_eq!(end, End::Complementary);
        assert!(z.iter().all(|z| (z - 1.0 / 3.0).abs() < 1e-15), "{z:?}");
        assert_eq!(run(&w, &[-1.0; 3], 1).0, End::MaxPivots);
        let squeezed = DMatrix::from_row_slice(2, 2, &[1.0, -1.0, -1.0, 1.0]);
        let (end, u) = run(&squeezed, &[-1.0, -1.0], 30);
        assert_eq!(end, End::Ray);
        assert!((u[0] / u[1] - 1.0).abs() < 1e-15, "{u:?}");
    }

    #[test]
    fn almost_singular_bases_are_told_from_singular_ones() {
        let large = 2f64.powi(43);
        let by = large.recip();
        let w = DMatrix::from_row_slice(2, 2, &[1.0 + by, -1.0, -1.0, 1.0 + by]);
        let (end, z) = run(&w, &[-1.0, -1.0], 30);
        assert_eq!(end, End::Complementary);
        assert!(z.iter().all(|z| (z / large - 1.0).abs() < 1e-15), "{z:?}");
    }

    #[test]
    fn large_problems_are_left_alone() {
        let n = MOST + 1;
        let (end, _) = run(&DMatrix::identity(n, n), &vec![-1.0; n], 10);
        assert_eq!(end, End::MaxPivots);
    }
}
