//! The solutions of a contact problem with friction in space, by the modes of its contacts.
//!
//! A contact is open, sticks or slips: 3ᵐ modes. A slip from rest has the direction in which it
//! begins, an equation that may have several solutions; it is solved from several starts. So the list
//! has all modes, but of the directions in a mode only those that were found.
//!
//! Where contacts depend on each other, multipliers of least size stand for all.
//!
//! All numbers are in units in which normals have a Delassus matrix with a unit diagonal and the
//! greatest rate is 1. Tangents take the unit of their normal, so that cones stay round.

use nalgebra::DVector;

use super::multipliers::{ContactRates, Hold, unit};
use super::{Contacting, ImpactFailure, ImpactProblem, Order, Outcome, Outcomes};
use crate::Interrupt;
use crate::linalg::dot;

/// Limit of the contacts whose modes are enumerated: 243 modes.
pub(crate) const MOST_CONTACTS: usize = 5;
/// Signs are checked to this.
const TOLERANCE: f64 = 1e-10;
/// Loads of contacts that depend on each other lie in the cones of a mode up to this part.
const IN_CONES: f64 = 1e-9;
/// Rates closer than this are one.
const MERGED: f64 = 1e-8;
/// Directions in which slips are started: that in which the cone is left, and those turned by parts of
/// a turn from the one in which contacts would slip without friction.
const STARTS: u32 = 8;
/// Turned ones where many contacts make many modes.
const FEW_STARTS: u32 = 2;
/// Where nothing is found from these: so many, in which each contact is turned by its own multiples of
/// the golden section.
const MANY_STARTS: u32 = 48;
const APART: f64 = 0.618_033_988_749_894_9;

/// Facts of a contact that are given before its mode is looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Given {
    /// The direction of its slip, where it has one.
    pub(crate) direction: Option<[f64; 2]>,
    /// It has just left its cone: it slips, or is open.
    pub(crate) slips: bool,
    /// Of modes with one motion, those are kept in which it is closed; open where it does not stay.
    pub(crate) stays: bool,
}

/// A solution.
#[derive(Clone, Debug)]
pub(crate) struct Solution {
    pub(crate) holds: Vec<Hold>,
    /// One a row.
    pub(crate) multipliers: Vec<f64>,
    /// Scaled rates with them.
    rates: Vec<f64>,
    /// By how much its rates may be off, since it fulfils the law only to within tolerances.
    off: f64,
    /// False where contacts depend on each other.
    is_unique: bool,
}

/// All solutions that are found.
pub(crate) fn solutions(
    contacts: &ContactRates<'_>,
    given: &[Given],
    interrupt: Option<&Interrupt>,
) -> Result<Vec<Solution>, ImpactFailure> {
    let (m, r) = (contacts.contacts, contacts.rows());
    let tangents = contacts.tangents.max(1);
    let contact = |row: usize| if row < m { row } else { (row - m) / tangents };
    let roots: Vec<f64> = (0..r).map(|row| root(contacts, contact(row))).collect();
    let largest = |most: f64, row: usize| most.max((contacts.free[row] / roots[row]).abs());
    let size = (0..r).fold(0.0, largest);
    let size = if size > 0.0 { size } else { 1.0 };
    let entry = |k: usize| contacts.gram[k] / roots[k / r] / roots[k % r];
    let gram: Vec<f64> = (0..r * r).map(entry).collect();
    let free: Vec<f64> = (0..r)
        .map(|row| contacts.free[row] / roots[row] / size)
        .collect();
    if let Some(k) = gram.iter().chain(&free).position(|x| !x.is_finite()) {
        return Err(ImpactFailure::Overflow {
            quantity: "scaled rates of contacts",
            contact: contact(k % r.max(1)),
            value: f64::NAN,
        });
    }
    let mut search = Search {
        contacts: ContactRates {
            gram: &gram,
            free: &free,
            ..*contacts
        },
        given,
        starts: if m > 2 { FEW_STARTS } else { STARTS },
        multipliers: vec![0.0; r],
        found: Vec::new(),
    };
    search.descend(&mut Vec::with_capacity(m), interrupt)?;
    if search.found.is_empty() {
        search.starts = MANY_STARTS;
        search.descend(&mut Vec::with_capacity(m), interrupt)?;
    }
    let mut found = std::mem::take(&mut search.found);
    without_parts(&mut found);
    for solution in &mut found {
        if !solution.is_unique {
            let contacts = &search.contacts;
            contacts.least_in_cones(&solution.holds, &mut solution.multipliers);
        }
        for (row, (p, root)) in solution.multipliers.iter_mut().zip(&roots).enumerate() {
            // Rounding does not pull.
            let pushed = if row < m { p.max(0.0) } else { *p };
            *p = pushed * size / root;
        }
    }
    Ok(found)
}

/// Where slipping contacts depend on each other the motion depends on how they share their load: of
/// such a family the member with the multipliers of least size is kept, not those in which some of
/// its contacts are open.
fn without_parts(found: &mut Vec<Solution>) {
    let is_closed = |hold: &Hold| *hold != Hold::Open;
    let closed = |of: &Solution| of.holds.iter().map(is_closed).collect::<Vec<_>>();
    let whole: Vec<_> = found
        .iter()
        .filter(|of| !of.is_unique)
        .map(closed)
        .collect();
    found.retain(|of| {
        let own = closed(of);
        let is_part = |whole: &Vec<bool>| {
            *whole != own && whole.iter().zip(&own).all(|(whole, own)| *whole || !own)
        };
        !whole.iter().any(is_part)
    });
}

/// Solutions as outcomes of an impact.
pub(crate) fn outcomes(
    found: &[Solution],
    problem: &ImpactProblem,
) -> Result<Outcomes, ImpactFailure> {
    let contacting = |hold: &Hold| match hold {
        Hold::Open => Contacting::Open,
        Hold::Stick => Contacting::Stick,
        Hold::Slip(_) | Hold::Onset { .. } => Contacting::SlipForward,
    };
    let outcome = |of: &Solution| {
        let impulses = DVector::from_column_slice(&of.multipliers);
        let modes = of.holds.iter().map(contacting).collect();
        Outcome::of_impulses(problem, impulses, Order::Modes(modes), Vec::new())
    };
    let list: Result<Vec<_>, _> = found.iter().map(outcome).collect();
    Ok(Outcomes::of(list?, true, 0))
}

/// `√G_nn` of a contact.
fn root(contacts: &ContactRates<'_>, i: usize) -> f64 {
    let own = contacts.gram[i * contacts.rows() + i];
    if own > 0.0 { own.sqrt() } else { 1.0 }
}

struct Search<'a> {
    contacts: ContactRates<'a>,
    given: &'a [Given],
    /// Directions from which those of a mode are looked for.
    starts: u32,
    multipliers: Vec<f64>,
    found: Vec<Solution>,
}

impl Search<'_> {
    /// Decides how the next contact is held.
    fn descend(
        &mut self,
        holds: &mut Vec<Hold>,
        interrupt: Option<&Interrupt>,
    ) -> Result<(), ImpactFailure> {
        let i = holds.len();
        if i == self.contacts.contacts {
            interrupt.map_or(Ok(()), Interrupt::check)?;
            self.visit(holds);
            return Ok(());
        }
        let begins = Hold::Onset {
            direction: [1.0, 0.0],
            pace: 0.0,
        };
        let given = self.given.get(i).copied().unwrap_or_default();
        let closed = match given.direction {
            _ if self.contacts.friction[i] == 0.0 => [Some(Hold::Slip([0.0; 2])), None],
            Some(direction) => [Some(Hold::Slip(direction)), None],
            None if given.slips => [Some(begins), None],
            None => [Some(Hold::Stick), Some(begins)],
        };
        for hold in closed.into_iter().chain([Some(Hold::Open)]).flatten() {
            holds.push(hold);
            let visited = self.descend(holds, interrupt);
            holds.pop();
            visited?;
        }
        Ok(())
    }

    /// Looks for the solutions of a mode.
    fn visit(&mut self, mode: &[Hold]) {
        let mut multipliers = std::mem::take(&mut self.multipliers);
        if mode.iter().any(|hold| matches!(hold, Hold::Onset { .. })) {
            self.visit_onsets(mode, &mut multipliers);
        } else {
            let is_unique = self.contacts.solve(mode, &mut multipliers);
            self.take(mode, &mut multipliers, is_unique);
        }
        self.multipliers = multipliers;
    }

    /// Looks for the directions in which slips begin, from several starts.
    fn visit_onsets(&mut self, mode: &[Hold], multipliers: &mut [f64]) {
        let mut holds = mode.to_vec();
        let begun = self.contacts.begin_beyond_cones(&mut holds, multipliers);
        if let Some(is_unique) = begun {
            self.take(&holds, multipliers, is_unique);
        }
        for start in 0..self.starts {
            let part = f64::from(start) / f64::from(self.starts);
            holds.copy_from_slice(mode);
            for (i, hold) in holds.iter_mut().enumerate() {
                if let Hold::Onset { direction, .. } = hold {
                    let free = self.contacts.along(i, |row| self.contacts.free[row]);
                    *direction = unit(free).unwrap_or([1.0, 0.0]);
                }
                // All alike, or where these are not enough each in its own way.
                let own = if self.starts < MANY_STARTS {
                    part
                } else {
                    f64::from(start) * (APART * (i + 1) as f64).fract()
                };
                hold.turn(std::f64::consts::TAU * own);
            }
            if let Some(is_unique) = self.contacts.begin(&mut holds, multipliers) {
                self.take(&holds, multipliers, is_unique);
            }
        }
    }

    /// Takes multipliers of a mode if they are a solution that is not there already, or not with a
    /// better mode.
    fn take(&mut self, holds: &[Hold], multipliers: &mut [f64], is_unique: bool) {
        let contacts = &self.contacts;
        if !is_unique {
            contacts.bring_into_cones(holds, multipliers);
        }
        let rows = 0..contacts.rows();
        let rates: Vec<f64> = rows.map(|row| contacts.rate(row, multipliers)).collect();
        if !self.moves(holds, &rates) {
            return;
        }
        let known = |within: f64, found: &[Solution]| {
            let near = |known: &Solution| {
                let mut pairs = known.rates.iter().zip(&rates);
                pairs.all(|(a, b)| (a - b).abs() <= within + known.off)
            };
            found.iter().position(near)
        };
        // It is worse than one that has as few strays, and is not off by more.
        let is_worse = |known: usize, off: f64| {
            let known = &self.found[known];
            self.strays(&known.holds) <= self.strays(holds) && known.off <= MERGED + off
        };
        if known(MERGED, &self.found).is_some_and(|known| is_worse(known, 0.0)) {
            return;
        }
        // Of dependent contacts some multipliers in the cones do, not those found.
        let beyond = if is_unique {
            0.0
        } else {
            -contacts.margin_in_cones(holds, multipliers).min(0.0)
        };
        let is_in_cones = if is_unique {
            self.is_in_cones(holds, multipliers)
        } else {
            beyond <= IN_CONES
        };
        if !is_in_cones {
            return;
        }
        let off = self.off(holds, multipliers, beyond);
        let known = known(MERGED + off, &self.found);
        if known.is_some_and(|known| is_worse(known, off)) {
            return;
        }
        let solution = Solution {
            holds: holds.to_vec(),
            multipliers: multipliers.to_vec(),
            rates,
            off,
            is_unique,
        };
        match known {
            None => self.found.push(solution),
            Some(known) => self.found[known] = solution,
        }
    }

    /// By how much rates may be off: by the friction that is missing or too much where directions have
    /// not settled, and by the part of the loads `beyond` the cones.
    fn off(&self, holds: &[Hold], multipliers: &[f64], beyond: f64) -> f64 {
        let contacts = &self.contacts;
        let own = (0..contacts.rows()).map(|row| contacts.own(row));
        let own = own.fold(0.0, f64::max);
        let excess = |(i, hold): (usize, &Hold)| match hold {
            Hold::Onset { .. } => {
                let [x, y] = contacts.along(i, |row| multipliers[row]);
                (x.hypot(y) - contacts.friction[i] * multipliers[i]).abs()
            }
            _ => 0.0,
        };
        let excess: f64 = holds.iter().enumerate().map(excess).sum();
        own * excess + beyond * dot(contacts.free, contacts.free).sqrt()
    }

    /// Number of contacts that a mode opens though they stay, or closes though they do not.
    fn strays(&self, holds: &[Hold]) -> usize {
        let pairs = holds.iter().zip(self.given);
        let strays = pairs.filter(|(hold, given)| given.stays == (**hold == Hold::Open));
        strays.count()
    }

    /// True when rates have the signs of a mode.
    fn moves(&self, holds: &[Hold], rates: &[f64]) -> bool {
        let contacts = &self.contacts;
        holds.iter().enumerate().all(|(i, hold)| {
            let slip = contacts.along(i, |row| rates[row]);
            let rests = rates[i].abs() <= TOLERANCE;
            match hold {
                Hold::Open => rates[i] >= -TOLERANCE,
                Hold::Stick => rests && slip[0].hypot(slip[1]) <= TOLERANCE,
                Hold::Slip(_) => rests,
                Hold::Onset { direction, .. } => {
                    let along = dot(direction, &slip);
                    let across = direction[0] * slip[1] - direction[1] * slip[0];
                    rests && along >= -TOLERANCE && across.abs() <= TOLERANCE
                }
            }
        })
    }

    /// True when multipliers do not pull and sticking contacts are in their cones.
    fn is_in_cones(&self, holds: &[Hold], multipliers: &[f64]) -> bool {
        let largest = multipliers.iter().fold(1.0f64, |most, p| most.max(p.abs()));
        let least = -TOLERANCE * largest;
        holds.iter().enumerate().all(|(i, hold)| {
            let (push, mu) = (multipliers[i], self.contacts.friction[i]);
            let [x, y] = self.contacts.along(i, |row| multipliers[row]);
            match hold {
                Hold::Open => true,
                Hold::Stick => push >= least && mu * push - x.hypot(y) >= least,
                Hold::Slip(_) | Hold::Onset { .. } => push * (1.0 + mu) >= least,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanics::friction::contact_function::Slip;
    use crate::random::word;

    /// Whatever directions a search finds, the motion finds from the tangents they are near to.
    /// Of these bodies two want more starts than the tangents and where cones are left.
    #[test]
    fn slips_that_begin_are_found_again_in_the_motion() {
        let (mut tried, mut lost) = (0, Vec::new());
        for seed in 340..460 {
            let mut index = 0;
            let mut between = |low: f64, high: f64| {
                index += 1;
                low + (high - low) * (word(seed, index) as f64 / 2f64.powi(64))
            };
            // A body on legs, as its rows of normals and tangents.
            let m = 1 + (seed % 3) as usize;
            let inertia = [1.0, 1.0, 1.0, 0.1, 0.06, 0.07];
            let height = between(0.0, 0.5);
            let legs: Vec<_> = (0..m)
                .map(|_| [between(-0.6, 0.6), between(-0.6, 0.6)])
                .collect();
            let normals = legs.iter().map(|[x, y]| [0.0, 0.0, 1.0, 0.0, *y, -x]);
            let along = legs.iter().flat_map(|[x, y]| {
                [
                    [1.0, 0.0, 0.0, -y, 0.0, -height],
                    [0.0, 1.0, 0.0, *x, height, 0.0],
                ]
            });
            let rows: Vec<[f64; 6]> = normals.chain(along).collect();
            let force: [f64; 6] = std::array::from_fn(|k| match k {
                2 => -9.81,
                3..6 => between(-1.0, 1.0),
                _ => between(-8.0, 8.0),
            });
            let of = |a: &[f64; 6], b: &[f64; 6]| (0..6).map(|k| a[k] * b[k] / inertia[k]).sum();
            let gram: Vec<f64> = rows
                .iter()
                .flat_map(|a| rows.iter().map(move |b| of(a, b)))
                .collect();
            let free: Vec<f64> = rows.iter().map(|a| of(a, &force)).collect();
            let friction: Vec<f64> = (0..m).map(|_| between(0.05, 0.9)).collect();
            let contacts = ContactRates {
                contacts: m,
                tangents: 2,
                gram: &gram,
                free: &free,
                friction: &friction,
            };
            let given = vec![Given::default(); m];
            let mut multipliers = vec![0.0; 3 * m];
            for found in solutions(&contacts, &given, None).unwrap_or_default() {
                let near = |hold: &Hold| match *hold {
                    Hold::Onset { direction, .. } => Hold::Onset {
                        direction: Slip::near(direction).tangent(),
                        pace: 0.0,
                    },
                    other => other,
                };
                let mut holds: Vec<Hold> = found.holds.iter().map(near).collect();
                if holds == found.holds {
                    continue;
                }
                tried += 1;
                contacts.solve_mode(&mut holds, &mut multipliers);
                if multipliers.iter().any(|p| !p.is_finite()) {
                    lost.push(seed);
                }
            }
        }
        assert!(tried > 50 && lost.is_empty(), "{tried} {lost:?}");
    }
}
