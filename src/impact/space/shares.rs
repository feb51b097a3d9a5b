//! Whether a solution is one of a continuum by contacts at the borders of their modes: open ones that rest on their
//! surfaces, and slips that begin and do not move.

use super::law::is_at_rest;
use super::{MERGED, Solution, sticks};
use crate::impact::multipliers::{ContactRates, Hold, unit};

/// True where other shares of the loads move the bodies: of the closed contacts and one that is open though it rests
/// on its surface, which may push as well; or of the closed ones, where a slip that begins and does not move has
/// friction in any direction, as one that sticks.
pub(super) fn moves_at_rest(contacts: &ContactRates<'_>, solution: &Solution) -> bool {
    let moves =
        |holds: &[Hold]| !sticks(holds) && contacts.move_by_shares(holds, 0.0) == Some(true);
    let rests = |i: usize| is_at_rest(contacts, i, &solution.rates);
    let is_stuck = |i: usize| matches!(solution.holds[i], Hold::Onset { .. }) && rests(i);
    let settle = |(i, hold): (usize, &Hold)| if is_stuck(i) { Hold::Stick } else { *hold };
    let mut holds: Vec<Hold> = solution.holds.iter().enumerate().map(settle).collect();
    if holds != solution.holds && moves(&holds) {
        return true;
    }
    (0..holds.len()).any(|i| {
        if holds[i] != Hold::Open || solution.rates[i] > MERGED + solution.off {
            return false;
        }
        let slip = unit(contacts.along(i, |row| solution.rates[row]));
        holds[i] = match slip {
            _ if contacts.friction[i] == 0.0 => Hold::Slip([0.0; 2]),
            Some(direction) if !rests(i) => Hold::Slip(direction),
            _ => Hold::Stick,
        };
        let found = moves(&holds);
        holds[i] = Hold::Open;
        found
    })
}
