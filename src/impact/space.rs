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
        multipliers: vec![0.0; r],
        found: Vec::new(),
    };
    search.descend(&mut Vec::with_capacity(m), interrupt)?;
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
        let starts = if mode.len() > 2 { FEW_STARTS } else { STARTS };
        for start in 0..starts {
            let turn = std::f64::consts::TAU * f64::from(start) / f64::from(starts);
            let (sin, cos) = turn.sin_cos();
            holds.copy_from_slice(mode);
            for (i, hold) in holds.iter_mut().enumerate() {
                if let Hold::Onset { direction, .. } = hold {
                    let free = self.contacts.along(i, |row| self.contacts.free[row]);
                    let [x, y] = unit(free).unwrap_or([1.0, 0.0]);
                    *direction = [x * cos - y * sin, x * sin + y * cos];
                }
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
        let near = |known: &Solution| {
            let mut pairs = known.rates.iter().zip(&rates);
            pairs.all(|(a, b)| (a - b).abs() <= MERGED)
        };
        let known = self.found.iter().position(near);
        let worse = |known: usize| self.strays(&self.found[known].holds) <= self.strays(holds);
        if known.is_some_and(worse) {
            return;
        }
        // Of dependent contacts some multipliers in the cones do, not those found.
        let is_in_cones = if is_unique {
            self.is_in_cones(holds, multipliers)
        } else {
            contacts.margin_in_cones(holds, multipliers) >= -IN_CONES
        };
        if !is_in_cones {
            return;
        }
        let solution = Solution {
            holds: holds.to_vec(),
            multipliers: multipliers.to_vec(),
            rates,
            is_unique,
        };
        match known {
            None => self.found.push(solution),
            Some(known) => self.found[known] = solution,
        }
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
