//! Which multipliers obey the law of a mode themselves, and of those that make one motion some that do.
//!
//! Of dependent contacts a search says that some multipliers in the cones hold the loads, not which: those of least
//! size are in the cones only as far as their equations and their size are weighed against each other. Loads that only
//! a squeeze of many times their size holds, and rows that are long along some directions and short along others, then
//! leave them far outside.

use super::search::TOLERANCE;
use super::{Solution, unit};
use crate::impact::multipliers::{ContactRates, Hold};
use crate::linalg::dot;

/// Rates, pulls and friction that is missing or too much count as none up to this part of the greatest multiplier or
/// load, as cones do in a search.
const OBEYED: f64 = 1e-9;

/// Writes the multipliers of least size in the cones of a solution, where its own are not unique.
pub(super) fn take_least(contacts: &ContactRates<'_>, solution: &mut Solution) {
    solution.listed.clone_from(&solution.multipliers);
    if !solution.is_unique {
        contacts.least_in_cones(&solution.holds, &mut solution.listed);
    }
    without_pulls(contacts, &mut solution.listed);
}

/// Where the multipliers of least size do not obey the law of a solution, replaces them by some that do: those of the
/// search, or some inside the cones, as near to the former as the cones reach. Slips that begin and do not move may
/// stick. False where none of these obey.
pub(super) fn make_obey(contacts: &ContactRates<'_>, solution: &mut Solution) -> bool {
    if solution.is_unique || obey(contacts, &solution.holds, &solution.listed, 0.0) {
        return true;
    }
    let rests = |(i, hold): (usize, &Hold)| match hold {
        Hold::Onset { .. } if is_at_rest(contacts, i, &solution.rates) => Hold::Stick,
        hold => *hold,
    };
    let sticking: Vec<Hold> = solution.holds.iter().enumerate().map(rests).collect();
    let found = obedient(contacts, &solution.holds, solution);
    let found = found.or_else(|| {
        let is_other = sticking != solution.holds;
        let found = is_other.then(|| obedient(contacts, &sticking, solution));
        found.flatten().inspect(|_| solution.holds = sticking)
    });
    found.map(|found| solution.listed = found).is_some()
}

/// True where a contact does not slip, but for rounding of rates.
pub(super) fn is_at_rest(contacts: &ContactRates<'_>, i: usize, rates: &[f64]) -> bool {
    let slip = contacts.along(i, |row| rates[row]);
    slip[0].hypot(slip[1]) <= TOLERANCE
}

/// Multipliers that obey the law of a mode: those of the search, or some inside the cones.
#[cold]
fn obedient(contacts: &ContactRates<'_>, holds: &[Hold], of: &Solution) -> Option<Vec<f64>> {
    let mut own = of.multipliers.clone();
    without_pulls(contacts, &mut own);
    if obey(contacts, holds, &own, 0.0) {
        return Some(own);
    }
    let mut inside = vec![0.0; own.len()];
    for may_be_off in [false, true] {
        if !contacts.inside_cones(holds, may_be_off, &mut inside) {
            continue;
        }
        let mut near = inside.clone();
        contacts.approach(holds, &of.listed, &mut near);
        for multipliers in [&mut near, &mut inside] {
            without_pulls(contacts, multipliers);
            if obey(contacts, holds, multipliers, 0.0) {
                return Some(std::mem::take(multipliers));
            }
        }
    }
    // A slow slip is known to the rates across it, which turn its direction by more than friction shows.
    obey(contacts, holds, &own, TOLERANCE).then_some(own)
}

/// Rounding does not pull.
fn without_pulls(contacts: &ContactRates<'_>, multipliers: &mut [f64]) {
    for push in &mut multipliers[..contacts.contacts] {
        *push = push.max(0.0);
    }
}

/// True when multipliers and the rates that they make obey the law of a mode, but for rounding, and for rates `across`
/// the friction of slips that begin.
fn obey(contacts: &ContactRates<'_>, holds: &[Hold], multipliers: &[f64], across: f64) -> bool {
    let root = |row: usize| contacts.own(row).sqrt();
    let sizes = (0..contacts.rows()).map(|row| {
        let (load, root) = (contacts.free[row].abs(), root(row));
        let load = if root > 0.0 { load / root } else { 0.0 };
        load.max(multipliers[row].abs() * root)
    });
    let limit = OBEYED * sizes.fold(0.0, f64::max);
    holds.iter().enumerate().all(|(i, hold)| {
        let (push, mu) = (multipliers[i], contacts.friction[i]);
        let rate = contacts.rate(i, multipliers);
        if *hold == Hold::Open {
            return rate >= -limit * root(i);
        }
        // In units of the longer tangent.
        let [one, other] = contacts.along(i, root);
        let long = one.max(other);
        let slip = contacts.along(i, |row| contacts.rate(row, multipliers));
        let friction = contacts.along(i, |row| -multipliers[row]);
        let excess = friction[0].hypot(friction[1]) - mu * push;
        let rests = slip[0].hypot(slip[1]) <= limit * long;
        let opposes = || {
            let misses = |[x, y]: [f64; 2]| {
                let missing = (friction[0] - mu * push * x).hypot(friction[1] - mu * push * y);
                missing * long > limit
            };
            let turns = |[x, y]: [f64; 2]| {
                (x * slip[1] - y * slip[0]).abs() > across || dot(&[x, y], &slip) < 0.0
            };
            unit(slip).is_some_and(|along| !misses(along))
                || excess.abs() * long <= limit && unit(friction).is_some_and(|along| !turns(along))
        };
        let is_held = match hold {
            Hold::Open | Hold::Slip(_) => true,
            Hold::Stick => rests,
            Hold::Onset { .. } => rests || opposes(),
        };
        rate.abs() <= limit * root(i) && push >= 0.0 && excess * long <= limit && is_held
    })
}
