//! Contacts that depend on each other share their load in more ways than one. Whether rates depend on how: friction
//! `μ λ_n` along slips of different directions, or with different coefficients, adds up to another force for each
//! way.
//!
//! ```text
//!     Cᵀ G B z = 0, B z ≠ 0        B: the force of each multiplier, C: what it holds
//! ```
//!
//! A multiplier of a contact that slips along `d` has the force `Nᵀ − μ Tᵀ d` and holds the rate along `N`.

use nalgebra::DMatrix;

use super::{ContactRates, Hold};
use crate::linalg::decompose::svd;

/// Multipliers share a load that change the rates of what they hold by less than this part.
const SHARED: f64 = 1e-9;
/// They move the bodies if they change rates by more than this part of those that one alone makes.
pub(crate) const MOVED: f64 = 1e-6;

impl ContactRates<'_> {
    /// True where rates of a mode depend on how its contacts share their load, by more than directions that are
    /// known to `blur` (rad) make of it; none where a row is no number.
    pub(crate) fn move_by_shares(&self, holds: &[Hold], blur: f64) -> Option<bool> {
        let settled: Vec<Hold> = holds.iter().map(|hold| hold.settled()).collect();
        let of = |columns: Vec<_>| {
            let mut matrix = DMatrix::zeros(self.rows(), columns.len());
            for (c, (i, parts)) in columns.into_iter().enumerate() {
                for (row, part) in self.taken(i, &parts) {
                    matrix[(row, c)] = part;
                }
            }
            matrix
        };
        let force = of(self.unknowns(&settled).collect());
        let held = of(self.prescribed(&settled).collect());
        let by_force = DMatrix::from_column_slice(self.rows(), self.rows(), self.gram) * &force;
        // Multipliers change rates of what they hold, and move the bodies.
        let (rates, energy) = (held.tr_mul(&by_force), force.tr_mul(&by_force));
        if rates.iter().any(|rate| !rate.is_finite()) {
            return None;
        }
        let moved = MOVED.max(blur);
        let least = moved * moved * energy.diagonal().max();
        let svd = svd(rates, false, true)?;
        let (directions, largest) = (svd.v_t?, svd.singular_values.max());
        let mut shares = svd.singular_values.iter().zip(directions.row_iter());
        Some(shares.any(|(value, z)| *value <= SHARED * largest && (z * &energy).dot(&z) > least))
    }
}
