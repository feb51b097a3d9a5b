//! The solutions of a contact problem with friction in space, by the modes of its contacts.
//!
//! A contact is open, sticks or slips: 3ᵐ modes. A slip from rest has the direction in which it
//! begins, an equation that may have several solutions. Of one slip, of up to three contacts, all are
//! found; else it is solved from several starts. So the list has all modes, but of the directions in a
//! mode of several slips only those that were found.
//!
//! Where contacts depend on each other, multipliers of least size stand for all, or others where they do not obey
//! the law; where rates depend on how they share
//! their load, the solution says so.
//!
//! Of more contacts than can be enumerated one solution is looked for.
//!
//! * `search`: the modes, and which multipliers of a mode are a solution.
//! * `law`: which multipliers obey the law of a mode, and some that do.
//! * `coulomb_path`: guesses of a mode, by an interior point method.
//! * `shares`: solutions that are of one continuum.
//! * `wave`: all directions of a slip that alone begins.
//!
//! All numbers are those of [`ScaledRates`].

mod coulomb_path;
mod law;
mod search;
mod shares;
#[cfg(test)]
mod tests;
mod wave;

use nalgebra::DVector;

use self::search::{STARTS, Search};
use super::multipliers::{ContactRates, Hold, MANY_STARTS, ScaledRates, unit};
use super::{Contacting, ImpactFailure, ImpactProblem, Order, Outcome, Outcomes, Remark};
use crate::Interrupt;
use crate::linalg::dot;

/// Limit of the contacts whose modes are enumerated: 243 modes.
pub(crate) const MOST_CONTACTS: usize = 5;
/// Limit of the contacts of which one solution is looked for: dense systems of three unknowns each.
pub(crate) const MOST_OF_ONE: usize = 40;
/// Rates closer than this are one.
const MERGED: f64 = 1e-8;
/// Part by which multipliers differ in size that are not of one size.
const LESS: f64 = 1e-6;
/// Parts by which cones are made narrower to tell what begins to slip where loads are hardly beyond
/// them.
const NARROWER: [f64; 5] = [0.0, 1e-3, 1e-5, 1e-7, 1e-9];

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
    /// Likewise, those that are listed of all that make its motion.
    listed: Vec<f64>,
    /// Scaled rates with them.
    rates: Vec<f64>,
    /// By how much its rates may be off, since it fulfils the law only to within tolerances.
    off: f64,
    /// False where contacts depend on each other.
    is_unique: bool,
    /// True where the multipliers themselves lie in the cones, and not only others with which prescribed
    /// rates are the same: where some contacts slip the others may then move in another way.
    is_whole: bool,
    /// True where other multipliers in the cones make other rates: the contacts share their load in several ways.
    is_shared: bool,
}

impl Solution {
    /// True where no contact slips with friction.
    fn sticks(&self) -> bool {
        sticks(&self.holds)
    }
}

/// True where no contact is held as one that slips with friction.
fn sticks(holds: &[Hold]) -> bool {
    let slips = |hold: &Hold| match hold {
        Hold::Slip(direction) => unit(*direction).is_some(),
        Hold::Onset { .. } => true,
        Hold::Open | Hold::Stick => false,
    };
    !holds.iter().any(slips)
}

/// Solutions that are found.
#[derive(Clone, Debug)]
pub(crate) struct Solutions {
    pub(crate) list: Vec<Solution>,
    /// False where not all modes were tried, or one was left out since no multipliers were found that obey its law,
    /// though its loads seem to lie in the cones.
    pub(crate) is_complete: bool,
}

/// All solutions that are found, of an impact where nothing is given.
pub(crate) fn solutions(
    contacts: &ContactRates<'_>,
    given: &[Given],
    interrupt: Option<&Interrupt>,
) -> Result<Solutions, ImpactFailure> {
    let m = contacts.contacts;
    let scaled = ScaledRates::of(contacts)?;
    let mut search = Search {
        contacts: scaled.rates(),
        given,
        starts: STARTS,
        multipliers: vec![0.0; contacts.rows()],
        found: Vec::new(),
    };
    if m <= MOST_CONTACTS {
        search.descend(&mut Vec::with_capacity(m), interrupt)?;
        search.follow_path(0.0, interrupt)?;
        if search.found.is_empty() {
            search.starts = MANY_STARTS;
            search.descend(&mut Vec::with_capacity(m), interrupt)?;
        }
        search.visit_neighbours(interrupt)?;
    } else {
        search.visit_first();
        for narrower in NARROWER {
            if !search.found.is_empty() {
                break;
            }
            search.follow_path(narrower, interrupt)?;
        }
    }
    let mut found = std::mem::take(&mut search.found);
    for solution in &mut found {
        law::take_least(&search.contacts, solution);
    }
    let count = found.len();
    if given.is_empty() {
        // An impact has its multipliers alone; a motion has the margins of its cones, which let rates be off by a
        // little.
        found.retain_mut(|solution| law::make_obey(&search.contacts, solution));
        // Of more contacts the list is incomplete anyway.
        let listed = if m <= MOST_CONTACTS { count } else { 0 };
        for solution in found.iter_mut().take(listed) {
            solution.is_shared = shares::moves_at_rest(&search.contacts, solution);
            solution.is_unique &= !solution.is_shared;
        }
    }
    let is_complete = m <= MOST_CONTACTS && found.len() == count;
    shares::without_parts(&mut found);
    for solution in &mut found {
        if !(solution.is_unique || solution.is_shared || solution.sticks()) {
            let rates = search.contacts.move_by_shares(&solution.holds, 0.0);
            solution.is_shared = rates.unwrap_or(false);
        }
        solution.multipliers = std::mem::take(&mut solution.listed);
        scaled.unscale(&mut solution.multipliers);
    }
    Ok(Solutions {
        list: found,
        is_complete,
    })
}

/// True when multipliers are smaller than others, beyond rounding.
fn is_less(multipliers: &[f64], than: &[f64]) -> bool {
    dot(multipliers, multipliers) < (1.0 - LESS) * dot(than, than)
}

/// Solutions as outcomes of an impact; of more contacts than are enumerated not all.
pub(crate) fn outcomes(
    found: &Solutions,
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
        let remark = of.is_shared.then_some(Remark::SharedImpulses);
        Outcome::of_impulses(
            problem,
            impulses,
            Order::Modes(modes),
            remark.into_iter().collect(),
        )
    };
    let list: Result<Vec<_>, _> = found.list.iter().map(outcome).collect();
    Ok(Outcomes::of(list?, found.is_complete, 0))
}
