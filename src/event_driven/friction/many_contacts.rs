//! The contact mode that follows where more contacts touch than are enumerated, in the plane: the linear
//! complementarity problem of accelerations (Pfeiffer & Glocker, chapter 6), by Lemke's method.
//!
//! ```text
//!     ä_n = b_n + G_nn λ_n + G_nt λ_t        λ_t = β₊ − β₋, of one that slips −μ σ λ_n
//!     0 ≤ ä_n ⊥ λ_n ≥ 0        0 ≤ γ ± ä_t ⊥ β_± ≥ 0        0 ≤ μ λ_n − β₊ − β₋ ⊥ γ ≥ 0
//! ```
//!
//! A mode is read from the solution and verified: it has the forces and accelerations that it needs.
//! Whether another one has them too is not known, and the event says so.

use nalgebra::{DMatrix, DVector};

use crate::Interrupt;
use crate::impact::ImpactFailure;
use crate::impact::multipliers::{ContactRates, Hold, ScaledRates};
use crate::impact::planar::modes::Known;
use crate::lcp::{LcpFailure, LcpSolver};
use crate::mechanics::friction::contact_function::Slip;

/// Limit of the contacts: four unknowns each.
pub(super) const MOST: usize = 100;
/// Signs of scaled forces and accelerations are checked to this.
const TOLERANCE: f64 = 1e-9;
/// Part of the normal force by which friction is less than it may be where a contact sticks.
const INSIDE: f64 = 1e-6;
/// Of the solver.
const ROUNDING: f64 = 1e-12;

/// The slips of contacts in a mode, none of those that are open; none where no mode is found that is
/// verified.
pub(super) fn find(
    contacts: &ContactRates<'_>,
    known: &[Known],
    interrupt: &Interrupt,
) -> Result<Option<Vec<Option<Slip>>>, ImpactFailure> {
    let scaled = ScaledRates::of(contacts)?;
    let scaled = scaled.rates();
    let columns = Columns::of(contacts, known);
    let (matrix, right) = (columns.matrix(&scaled), columns.right(&scaled));
    let mut solver = LcpSolver::new(right.len()).interrupt(interrupt);
    let z = match solver.solve(&matrix, right.as_slice()) {
        Ok(solution) => DVector::from_column_slice(solution.z()),
        Err(interrupted @ LcpFailure::Interrupted) => return Err(interrupted.into()),
        Err(_) => return Ok(None),
    };
    // An onset is seen where loads are a little beyond the cones: it moves by as little, and signs are
    // read ever more closely.
    let found = [TOLERANCE, 1e-10, 1e-11, ROUNDING]
        .iter()
        .find_map(|&least| {
            let holds = columns.read(&scaled, &z, known, least);
            is_consistent(&scaled, &holds, known).then_some(holds)
        });
    let Some(holds) = found else {
        return Ok(None);
    };
    let slip = |hold: &Hold| match *hold {
        Hold::Open => None,
        Hold::Slip([sign, _]) if sign != 0.0 => Some(Slip::near([sign, 0.0])),
        _ => Some(Slip::NONE),
    };
    Ok(Some(holds.iter().map(slip).collect()))
}

/// The unknowns of the problem.
struct Columns {
    contacts: usize,
    friction: Vec<f64>,
    /// The sign of the slip of each contact that slips already.
    slips: Vec<f64>,
    /// Contacts at rest with friction: they have `β₊`, `β₋` and `γ` each.
    rest: Vec<usize>,
}

impl Columns {
    fn of(contacts: &ContactRates<'_>, known: &[Known]) -> Self {
        let m = contacts.contacts;
        let signs = known.iter().map(|known| f64::from(known.slip));
        let slips: Vec<f64> = signs.take(m).collect();
        let rests = |&i: &usize| contacts.friction[i] > 0.0 && slips[i] == 0.0;
        Self {
            contacts: m,
            friction: contacts.friction.to_vec(),
            rest: (0..m).filter(rests).collect(),
            slips,
        }
    }

    /// The force of unknown `k` on each row.
    fn force(&self, k: usize) -> Vec<(usize, f64)> {
        let m = self.contacts;
        if k < m {
            let along = -self.friction[k] * self.slips[k];
            return vec![(k, 1.0), (m + k, along)];
        }
        let (i, part) = ((k - m) / 3, (k - m) % 3);
        match part {
            0 => vec![(m + self.rest[i], 1.0)],
            1 => vec![(m + self.rest[i], -1.0)],
            _ => Vec::new(),
        }
    }

    fn size(&self) -> usize {
        self.contacts + 3 * self.rest.len()
    }

    fn matrix(&self, scaled: &ContactRates<'_>) -> DMatrix<f64> {
        let (m, r) = (self.contacts, scaled.rows());
        let mut matrix = DMatrix::zeros(self.size(), self.size());
        for k in 0..self.size() {
            let force = self.force(k);
            let rate = |row: usize| -> f64 {
                let each = force
                    .iter()
                    .map(|(by, part)| part * scaled.gram[row * r + by]);
                each.sum()
            };
            for row in 0..m {
                matrix[(row, k)] = rate(row);
            }
            for (place, &i) in self.rest.iter().enumerate() {
                let (at, along) = (m + 3 * place, rate(m + i));
                (matrix[(at, k)], matrix[(at + 1, k)]) = (along, -along);
            }
        }
        for (place, &i) in self.rest.iter().enumerate() {
            let at = m + 3 * place;
            for side in [at, at + 1] {
                matrix[(side, at + 2)] = 1.0;
                matrix[(at + 2, side)] = -1.0;
            }
            matrix[(at + 2, i)] = self.friction[i];
        }
        matrix
    }

    fn right(&self, scaled: &ContactRates<'_>) -> DVector<f64> {
        let m = self.contacts;
        let mut right = DVector::zeros(self.size());
        for i in 0..m {
            right[i] = scaled.free[i];
        }
        for (place, &i) in self.rest.iter().enumerate() {
            let along = scaled.free[m + i];
            (right[m + 3 * place], right[m + 3 * place + 1]) = (along, -along);
        }
        right
    }

    /// The mode of a solution, in which forces and accelerations up to `least` are none. A contact that
    /// neither pushes nor parts stays as it was.
    fn read(
        &self,
        scaled: &ContactRates<'_>,
        z: &DVector<f64>,
        known: &[Known],
        least: f64,
    ) -> Vec<Hold> {
        let m = self.contacts;
        let mut forces = vec![0.0; scaled.rows()];
        for k in 0..self.size() {
            for (row, part) in self.force(k) {
                forces[row] += part * z[k];
            }
        }
        let hold = |i: usize| {
            let (push, parts) = (forces[i], scaled.rate(i, &forces));
            let stays = known[i].stays;
            let is_closed = push > least || (stays && parts <= least);
            let along = scaled.rate(m + i, &forces);
            // Inside its cone it sticks, whatever small acceleration the solver leaves.
            let room = self.friction[i] * push - forces[m + i].abs();
            let is_inside = room > INSIDE * push;
            match (is_closed, self.slips[i]) {
                (false, _) => Hold::Open,
                _ if self.friction[i] == 0.0 => Hold::Slip([0.0; 2]),
                (_, sign) if sign != 0.0 => Hold::Slip([sign, 0.0]),
                _ if is_inside || along.abs() <= least => Hold::Stick,
                _ => Hold::Slip([along.signum(), 0.0]),
            }
        };
        (0..m).map(hold).collect()
    }
}

/// True when a mode has the forces and accelerations that it needs.
fn is_consistent(rates: &ContactRates<'_>, holds: &[Hold], known: &[Known]) -> bool {
    let mut forces = vec![0.0; rates.rows()];
    let is_unique = rates.solve(holds, &mut forces);
    let moves = holds.iter().enumerate().all(|(i, hold)| {
        let [normal, along] = [0, 1].map(|part| rates.rate(rates.row(i, part), &forces));
        let rests = normal.abs() <= TOLERANCE;
        let begins = known[i].slip == 0;
        match hold {
            Hold::Open => normal >= -TOLERANCE,
            Hold::Stick => rests && along.abs() <= TOLERANCE,
            Hold::Slip([sign, _]) => rests && (!begins || sign * along >= -TOLERANCE),
            Hold::Onset { .. } => false,
        }
    });
    let holds_on = |(i, hold): (usize, &Hold)| {
        let [push, along] = [0, 1].map(|part| forces[rates.row(i, part)]);
        let room = rates.friction[i] * push - along.abs();
        push >= -TOLERANCE && (*hold != Hold::Stick || room >= -TOLERANCE)
    };
    moves
        && if is_unique {
            holds.iter().enumerate().all(holds_on)
        } else {
            rates.margin_in_cones(holds, &forces) >= -TOLERANCE
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact::ImpactProblem;
    use crate::impact::planar::modes::{Modes, UNKNOWN};
    use crate::linalg::largest;
    use crate::random::{below, fraction, word};

    /// The accelerations of rows in a mode.
    fn accelerations(
        contacts: &ContactRates<'_>,
        known: &[Known],
        slips: &[Option<Slip>],
    ) -> Vec<f64> {
        let hold = |(i, slip): (usize, &Option<Slip>)| match slip {
            None => Hold::Open,
            _ if contacts.friction[i] == 0.0 => Hold::Slip([0.0; 2]),
            Some(slip) if slip.sign == 0 && known[i].slip == 0 => Hold::Stick,
            Some(slip) => Hold::Slip([f64::from(slip.sign), 0.0]),
        };
        let holds: Vec<Hold> = slips.iter().enumerate().map(hold).collect();
        let mut forces = vec![0.0; contacts.rows()];
        contacts.solve(&holds, &mut forces);
        (0..contacts.rows())
            .map(|row| contacts.rate(row, &forces))
            .collect()
    }

    #[test]
    fn of_few_contacts_it_finds_a_mode_that_enumeration_finds() {
        let (mut found, mut missed, mut none) = (0, 0, 0);
        for seed in 0..3000 {
            let mut index = 10;
            let mut between = |low: f64, high: f64| {
                index += 1;
                low + (high - low) * fraction(word(seed, index))
            };
            let m = 1 + below(seed, 1, 4);
            let d = 3 + below(seed, 2, 4);
            let rows: Vec<f64> = (0..2 * m * d).map(|_| between(-1.0, 1.0)).collect();
            let row = |i: usize| &rows[i * d..(i + 1) * d];
            let gram: Vec<f64> = (0..4 * m * m)
                .map(|k| {
                    row(k / (2 * m))
                        .iter()
                        .zip(row(k % (2 * m)))
                        .map(|(a, b)| a * b)
                        .sum()
                })
                .collect();
            let load: Vec<f64> = (0..d).map(|_| between(-1.0, 1.0)).collect();
            let free: Vec<f64> = (0..2 * m)
                .map(|i| row(i).iter().zip(&load).map(|(a, b)| a * b).sum())
                .collect();
            let friction: Vec<f64> = (0..m).map(|_| between(-0.2, 0.8).max(0.0)).collect();
            let known: Vec<Known> = (0..m)
                .map(|i| {
                    let slip = [-1, 0, 0, 1][below(seed, 3 + i as u64, 4)];
                    Known {
                        slip: if friction[i] > 0.0 { slip } else { 0 },
                        ..UNKNOWN
                    }
                })
                .collect();
            let contacts = ContactRates {
                contacts: m,
                tangents: 1,
                gram: &gram,
                free: &free,
                friction: &friction,
            };
            let problem = ImpactProblem::of_motion(
                DMatrix::from_column_slice(2 * m, 2 * m, &gram),
                DVector::from_column_slice(&free),
                friction.clone(),
                largest(&free),
            );
            let problem = problem.unwrap();
            let mut modes = Modes::new(&problem);
            modes.find_accelerations(&free, &known, None).unwrap();
            let outcomes = modes.outcomes(&problem).unwrap();
            match find(&contacts, &known, &Interrupt::new()).unwrap() {
                Some(slips) => {
                    let here = accelerations(&contacts, &known, &slips);
                    let is_there = outcomes.list.iter().any(|of| {
                        let pairs = of.speeds.iter().zip(&here);
                        pairs.fold(0.0f64, |most, (a, b)| most.max((a - b).abs())) < 1e-6
                    });
                    assert!(is_there, "{seed}: {slips:?} {here:?}");
                    found += 1;
                }
                None if outcomes.list.is_empty() => none += 1,
                None => missed += 1,
            }
        }
        println!("{found} found, {none} without a mode, {missed} missed");
        assert!(found > 2500 && missed == 0, "{found} {none} {missed}");
    }
}
