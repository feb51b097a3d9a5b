//! Linear dependence of the rows of the Jacobian of a planar impact.

use nalgebra::DMatrix;

use crate::InputError;
use crate::linalg::double_double::Double;

/// A row whose part outside the span of others has products below this with all rows (unit rows)
/// depends on them: a squared sine, and the error of a ray.
const DEPENDENT: f64 = 1e-14;

/// Speeds of a motion of unit momentum along a part that is rounding: the root of
/// [`DEPENDENT`].
const ROUNDED: f64 = 1e-7;

/// A speed this near to the one that follows from others, in units of the speed before the impact,
/// is that one: contacts that approach by less count as closed. Two contacts whose normals differ by
/// 1e-11 have speeds of their own.
const FOLLOWING: f64 = 1e-12;

/// Coefficients of dependent rows below this are rounding.
const COEFFICIENT: f64 = 1e-12;

/// The rows of the Jacobian that depend on others, with coefficients: dependent speeds are computed
/// from the others, so that a sign never contradicts those it follows from.
pub(super) struct Span {
    /// Row by row the independent rows and coefficients it is the sum of; itself for an
    /// independent row.
    terms: Vec<Vec<(usize, f64)>>,
}

/// The speeds of these dependent rows miss those of a motion by so much.
pub(super) struct Miss {
    rows: Vec<usize>,
    by: f64,
}

impl Miss {
    pub(super) fn named(self, contacts: usize, speed: f64) -> InputError {
        let mut set: Vec<usize> = self.rows.iter().map(|row| row % contacts).collect();
        set.sort_unstable();
        set.dedup();
        InputError::InconsistentSpeeds {
            set,
            by: self.by * speed,
        }
    }
}

impl Span {
    /// Of a positive semidefinite matrix with a unit diagonal, by elimination with the greatest
    /// pivot. A row whose speed is not the one that follows from others counts as independent as
    /// far as rounding explains the difference for a motion of this momentum or of the least that
    /// has these speeds.
    pub(super) fn of(gram: &DMatrix<f64>, speeds: &[f64], momentum: f64) -> Result<Self, Miss> {
        let n = gram.nrows();
        let mut rest = gram.clone();
        let mut unexplained = speeds.to_vec();
        let mut least = 0.0f64;
        // row = Σ coefficient · pivot row + rest
        let mut terms: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
        // neither a pivot nor dependent on pivots
        let mut open: Vec<usize> = (0..n).collect();
        let mut pivots = Vec::new();
        loop {
            // Products with a small pivot are rounding: a dependent row has no part of it.
            open.retain(|&i| rest.row(i).amax() > DEPENDENT);
            let greatest = |&a: &usize, &b: &usize| rest[(a, a)].total_cmp(&rest[(b, b)]);
            let Some(pivot) = open.iter().copied().max_by(greatest) else {
                break;
            };
            let size = rest[(pivot, pivot)];
            if size <= DEPENDENT {
                break;
            }
            open.retain(|&i| i != pivot);
            pivots.push(pivot);
            least = least.hypot(unexplained[pivot] / size.sqrt());
            // the pivot row is what is left of it after the pivots before
            let own = std::mem::take(&mut terms[pivot]);
            for &i in &open {
                let part = rest[(i, pivot)] / size;
                for &(k, coefficient) in &own {
                    add(&mut terms[i], k, -part * coefficient);
                }
                add(&mut terms[i], pivot, part);
                unexplained[i] -= part * unexplained[pivot];
            }
            let column = rest.column(pivot).clone_owned();
            rest -= &column * column.transpose() / size;
        }
        for i in 0..n {
            let by = unexplained[i].abs();
            if pivots.contains(&i) || by > FOLLOWING && by <= ROUNDED * momentum.max(least) {
                terms[i] = vec![(i, 1.0)];
                continue;
            }
            terms[i].retain(|term| term.1.abs() > COEFFICIENT);
            if by > FOLLOWING {
                let rows = terms[i].iter().map(|term| term.0).chain([i]).collect();
                return Err(Miss { rows, by });
            }
        }
        Ok(Self { terms })
    }

    /// All entries of a vector of which the independent ones are given.
    pub(super) fn complete(&self, entry: impl Fn(usize) -> Double) -> Vec<Double> {
        let sum = |terms: &Vec<(usize, f64)>| {
            let terms = terms.iter().map(|&(k, c)| Double::from(c) * entry(k));
            terms.fold(Double::ZERO, |sum, term| sum + term)
        };
        self.terms.iter().map(sum).collect()
    }
}

/// Adds to the coefficient of a row.
fn add(terms: &mut Vec<(usize, f64)>, row: usize, coefficient: f64) {
    match terms.iter_mut().find(|term| term.0 == row) {
        Some(term) => term.1 += coefficient,
        None => terms.push((row, coefficient)),
    }
}
