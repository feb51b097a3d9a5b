//! The linear system of a mode: the rates that it prescribes, and the multipliers that make them.
//!
//! Contacts that depend on each other share their load in more ways than one. Rates may depend on how: friction
//! `μ λ_n` along slips of different directions, or with different coefficients, adds up to another force for each
//! way.
//!
//! ```text
//!     Cᵀ G B z = 0, B z ≠ 0        B: the force of each multiplier, C: what it holds
//! ```
//!
//! A multiplier of a contact that slips along `d` has the force `Nᵀ − μ Tᵀ d` and holds the rate along `N`.

use nalgebra::{DMatrix, DVector};

use super::{ContactRates, Hold, Parts};
use crate::linalg::decompose::svd;
use crate::linalg::least_norm as semidefinite;
use crate::linalg::lu::{self, SINGULAR};
use crate::linalg::scratch::{with_list, with_zeros};

/// The least pace with which directions are looked for, in units of rows: forces that only squeeze a
/// body between its contacts would turn them at will.
const LEAST_PACE: f64 = 1e-8;
/// Multipliers share a load that change the rates of what they hold by less than this part.
const SHARED: f64 = 1e-9;
/// They move the bodies if they change rates by more than this part of those that one alone makes.
pub(crate) const MOVED: f64 = 1e-6;

impl ContactRates<'_> {
    /// The part of a row along a combination of the rows of a contact. No zero is negative.
    #[inline]
    fn combined(&self, row: &[f64], i: usize, parts: &Parts) -> f64 {
        let mut sum = -0.0;
        if parts[0] != 0.0 {
            sum += parts[0] * (0.0 + row[i]);
        }
        let first = self.contacts + i * self.tangents;
        let along = row[first..first + self.tangents].iter();
        for (entry, part) in along.zip(&parts[1..]) {
            if *part != 0.0 {
                sum += part * (0.0 + entry);
            }
        }
        sum
    }

    /// The system of a mode, row by row: no rate along normals, nor along the tangents of sticking
    /// contacts, nor across a slip that begins.
    fn set_up(
        &self,
        holds: &[Hold],
        unknowns: &[(usize, Parts)],
        matrix: &mut [f64],
        right: &mut [f64],
    ) {
        let (r, size) = (self.rows(), right.len());
        with_zeros(r, |across| {
            for (at, (i, parts)) in self.prescribed(holds).enumerate() {
                let turns = matches!(holds[i], Hold::Onset { .. }) && parts[0] == 0.0;
                let along = parts.iter().position(|part| *part != 0.0).unwrap_or(0);
                right[at] = 0.0;
                let row = if turns {
                    across.fill(0.0);
                    for (k, part) in self.taken(i, &parts) {
                        right[at] -= part * self.free[k];
                        for (to, g) in across.iter_mut().zip(&self.gram[k * r..(k + 1) * r]) {
                            *to += part * g;
                        }
                    }
                    &*across
                } else {
                    let k = self.row(i, along);
                    right[at] -= self.free[k];
                    &self.gram[k * r..(k + 1) * r]
                };
                let entries = &mut matrix[at * size..(at + 1) * size];
                for (entry, (j, parts)) in entries.iter_mut().zip(unknowns) {
                    *entry = self.combined(row, *j, parts);
                }
                if let (Hold::Onset { pace, .. }, true) = (holds[i], turns) {
                    // The rate across it turns with the direction, by −w/(μ λ_n).
                    entries[at] += pace.max(LEAST_PACE * self.own(self.row(i, 1)));
                }
            }
        });
    }

    /// Writes the multipliers of a mode, one a row. Where contacts depend on each other, those of
    /// least norm, in or out of the cones: the rates with them are those of the mode; then false.
    pub(crate) fn solve(&self, holds: &[Hold], multipliers: &mut [f64]) -> bool {
        self.solve_sharing(holds, None, multipliers)
    }

    /// Likewise; where contacts depend on each other they share their loads as these multipliers do.
    pub(super) fn solve_sharing(
        &self,
        holds: &[Hold],
        shares: Option<&[f64]>,
        multipliers: &mut [f64],
    ) -> bool {
        let size = holds.iter().map(|hold| hold.unknowns(self.tangents)).sum();
        multipliers.fill(0.0);
        with_list(size, |unknowns: &mut [(usize, Parts)]| {
            for (to, unknown) in unknowns.iter_mut().zip(self.unknowns(holds)) {
                *to = unknown;
            }
            with_zeros(size * size + size, |scratch| {
                let (matrix, x) = scratch.split_at_mut(size * size);
                self.set_up(holds, unknowns, matrix, x);
                // In space slips in slightly different directions make a matrix regular that is not.
                let may_depend = self.tangents > 1 && self.contacts > 1;
                let mut is_unique = !(may_depend && self.add_null_space(holds, shares, matrix, x));
                if !lu::solve_once(matrix, x) {
                    self.set_up(holds, unknowns, matrix, x);
                    is_unique = false;
                    self.add_null_space(holds, shares, matrix, x);
                    if !lu::solve_once(matrix, x) {
                        self.set_up(holds, unknowns, matrix, x);
                        least_norm(matrix, x);
                    }
                }
                for ((i, parts), x) in unknowns.iter().zip(&*x) {
                    for (k, part) in self.taken(*i, parts) {
                        multipliers[k] += part * x;
                    }
                }
                is_unique
            })
        })
    }

    /// Adds the projector onto the null space of the rows of normals and sticking contacts to the
    /// system of a mode; true where they depend on each other. On these multipliers, which move
    /// nothing, the system says nothing else: they are those of the shares, or vanish.
    fn add_null_space(
        &self,
        holds: &[Hold],
        shares: Option<&[f64]>,
        matrix: &mut [f64],
        right: &mut [f64],
    ) -> bool {
        let (r, size) = (self.rows(), right.len());
        with_list(size, |places| {
            let mut count = 0;
            let hard = self.prescribed(holds).enumerate();
            let hard = hard.filter(|(_, (i, parts))| parts[0] != 0.0 || holds[*i] == Hold::Stick);
            for (place, (i, parts)) in hard {
                let along = parts.iter().position(|part| *part != 0.0);
                places[count] = [place, self.row(i, along.unwrap_or(0))];
                count += 1;
            }
            let places = &places[..count];
            let work = semidefinite::least_norm_size(count);
            with_zeros(2 * count * count + work, |scratch| {
                let (gram, rest) = scratch.split_at_mut(count * count);
                let (projector, work) = rest.split_at_mut(count * count);
                for (row, [_, a]) in gram.chunks_exact_mut(count.max(1)).zip(places) {
                    for (to, [_, b]) in row.iter_mut().zip(places) {
                        *to = self.gram[a * r + b];
                    }
                }
                let rank = semidefinite::null_projector(gram, count, projector, work);
                if rank == count {
                    return false;
                }
                let unit = places
                    .iter()
                    .fold(0.0f64, |most, [_, a]| most.max(self.own(*a)));
                for (row, [place, _]) in projector.chunks_exact(count.max(1)).zip(places) {
                    for (part, [column, k]) in row.iter().zip(places) {
                        matrix[place * size + column] += unit * part;
                        right[*place] += unit * part * shares.map_or(0.0, |shares| shares[*k]);
                    }
                }
                true
            })
        })
    }

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

/// Replaces `right` by the solution of least norm; NaN where there is none.
#[cold]
fn least_norm(matrix: &[f64], right: &mut [f64]) {
    let size = right.len();
    let matrix = DMatrix::from_row_slice(size, size, matrix);
    let b = DVector::from_column_slice(right);
    let greatest = matrix.amax();
    let solved = svd(matrix, true, true).and_then(|svd| svd.solve(&b, SINGULAR * greatest).ok());
    match solved {
        Some(x) => right.copy_from_slice(x.as_slice()),
        None => right.fill(f64::NAN),
    }
}
