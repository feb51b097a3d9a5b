//! The system of a mode in numbers of twice the precision. Rows that are almost dependent, as those of
//! very unequal masses, have impulses that cancel to speeds which rounding would hide.

use super::trial::{Normal, Trial};
use crate::linalg::double_double::Double;

/// The impact as it is given, and what of it is solved. The scaled numbers of a [`Trial`] are rounded
/// already: these are its ratios.
#[derive(Clone, Debug, Default)]
pub(super) struct Careful {
    /// In units of the problem, column by column.
    pub(super) delassus: Vec<f64>,
    pub(super) friction: Vec<f64>,
    pub(super) speeds: Vec<f64>,
    /// Scaled, empty before the first system.
    gram: Vec<Double>,
    coefficients: Vec<Double>,
    start: Vec<Double>,
    /// The equations with their right sides, row by row.
    table: Vec<Double>,
    impulses: Vec<Double>,
}

impl Careful {
    /// The scaled numbers are those of another impact from now on.
    pub(super) fn forget(&mut self) {
        self.start.clear();
    }

    fn scale(&mut self, roots: &[f64], unit: f64) {
        let (size, m) = (roots.len(), self.friction.len());
        self.gram.clear();
        for (j, &root) in roots.iter().enumerate() {
            let column = (0..size).map(|i| (roots[i], self.delassus[j * size + i]));
            let scaled = column.map(|(own, g)| Double::from(g) / own.into() / root.into());
            self.gram.extend(scaled);
        }
        self.coefficients.clear();
        let coefficient = |i: usize| match roots.get(m + i) {
            Some(&root) => Double::product(self.friction[i], root) / roots[i].into(),
            None => Double::ZERO,
        };
        self.coefficients.extend((0..m).map(coefficient));
        let rows = self.speeds.iter().zip(roots);
        let scaled = rows.map(|(u, root)| Double::from(*u) / (*root).into() / unit.into());
        self.start.extend(scaled);
    }

    /// Solves the system that a trial has set up: its impulses, and the speeds after them. False when it
    /// is singular.
    pub(super) fn solve(&mut self, trial: &mut Trial, roots: &[f64], unit: f64) -> bool {
        if self.start.is_empty() {
            self.scale(roots, unit);
        }
        let (m, size, n) = (trial.contacts, roots.len(), trial.system.rows.len());
        // The impulses of contact `i` for a normal part, and its friction where it slips.
        let slip = |i: usize| self.coefficients[i] * Double::from(-f64::from(trial.mode[i].slip));
        self.impulses.clear();
        self.impulses.resize(size, Double::ZERO);
        for (i, state) in trial.mode.iter().enumerate() {
            if state.normal == Normal::Full {
                self.impulses[i] = trial.most[i].into();
                if size > m && state.slip != 0 {
                    self.impulses[m + i] = slip(i) * self.impulses[i];
                }
            }
        }
        self.table.clear();
        for &row in &trial.system.rows {
            for &(i, [normal, _]) in &trial.system.unknowns {
                let at = |row: usize, column: usize| self.gram[column * size + row];
                let entry = match (normal == 0.0, trial.mode[i].slip) {
                    (true, _) => at(row, m + i),
                    (false, 0) => at(row, i),
                    (false, _) if size > m => at(row, i) + at(row, m + i) * slip(i),
                    (false, _) => at(row, i),
                };
                self.table.push(entry);
            }
            self.table.push(-self.after(row, size));
        }
        if !eliminate(&mut self.table, n) {
            return false;
        }
        for (k, &(i, [normal, _])) in trial.system.unknowns.iter().enumerate() {
            let x = self.table[k * (n + 1) + n];
            if normal == 0.0 {
                self.impulses[m + i] = x;
                continue;
            }
            self.impulses[i] = x;
            if size > m && trial.mode[i].slip != 0 {
                self.impulses[m + i] = x * slip(i);
            }
        }
        for row in 0..size {
            trial.lambda[row] = self.impulses[row].high();
            trial.after[row] = self.after(row, size).high();
        }
        true
    }

    /// The speed of a row after the impulses.
    fn after(&self, row: usize, size: usize) -> Double {
        let columns = self.gram.chunks_exact(size).zip(&self.impulses);
        columns.fold(self.start[row], |sum, (column, l)| sum + column[row] * *l)
    }
}

/// Pivots below this are rounding of numbers of twice the precision: a system of rows of size 1 is singular. Impulses
/// that are listed leave pivots far above it.
const SINGULAR: f64 = 1e-26;

/// Replaces the last column of `n` rows by the solution of their equations; false when a pivot is rounding.
fn eliminate(table: &mut [Double], n: usize) -> bool {
    let width = n + 1;
    for k in 0..n {
        let size = |i: &usize| table[i * width + k].high().abs();
        let pivot = (k..n).max_by(|i, j| size(i).total_cmp(&size(j)));
        let pivot = pivot.filter(|i| size(i) > SINGULAR);
        let Some(pivot) = pivot else {
            return false;
        };
        for j in k..width {
            table.swap(k * width + j, pivot * width + j);
        }
        for j in (k..width).rev() {
            table[k * width + j] = table[k * width + j] / table[k * width + k];
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = table[i * width + k];
            for j in k..width {
                table[i * width + j] = table[i * width + j] - factor * table[k * width + j];
            }
        }
    }
    true
}
