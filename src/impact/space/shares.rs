//! Solutions of one continuum, by how contacts share their load.

use super::law::is_at_rest;
use super::{MERGED, Solution, is_less, sticks};
use crate::impact::multipliers::{ContactRates, Hold, MOVED, unit};
use crate::linalg::largest;

/// Members of one family are near if rates differ by no more than this part of the greatest.
const NEAR: f64 = 1e-3;

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

/// Where contacts depend on each other the motion depends on how they share their load: of such a
/// family that in which all stick is kept, or else the member with the multipliers of least size; not those
/// in which some of its contacts are open, though they rest on their surfaces. (One that parts is in
/// another motion.)
pub(super) fn without_parts(found: &mut Vec<Solution>) {
    let is_open = |of: &Solution, i: usize| of.holds[i] == Hold::Open;
    // The number of contacts that this one opens, of those of the whole; none where it is no part.
    let opened = |of: &Solution, whole: &Solution| {
        let within = MERGED + of.off + whole.off;
        let mut opened = 0;
        for (i, rate) in of.rates.iter().enumerate().take(of.holds.len()) {
            match (is_open(whole, i), is_open(of, i)) {
                (true, false) => return None,
                (true, true) => {}
                (false, opens) => {
                    opened += usize::from(opens);
                    if rate.abs() > within {
                        return None;
                    }
                }
            }
        }
        (!whole.is_unique).then_some(opened)
    };
    let is_member = |of: &Solution, whole: &Solution| match opened(of, whole) {
        None => false,
        Some(0) if of.is_unique => false,
        Some(_) if of.sticks() != whole.sticks() => whole.sticks(),
        Some(0) => is_less(&whole.multipliers, &of.multipliers),
        Some(_) => true,
    };
    // Of members that are of one size, near to each other, the first is kept.
    let is_near = |of: &Solution, whole: &Solution| {
        let size = largest(&of.rates);
        let mut pairs = of.rates.iter().zip(&whole.rates);
        let may_be = !of.is_unique && of.sticks() == whole.sticks() && opened(of, whole) == Some(0);
        may_be && pairs.all(|(a, b)| (a - b).abs() <= NEAR * size)
    };
    let mut keeps: Vec<bool> = found
        .iter()
        .map(|of| !found.iter().any(|whole| is_member(of, whole)))
        .collect();
    for i in 0..found.len() {
        let mut before = found.iter().zip(&keeps).take(i);
        keeps[i] &= !before.any(|(whole, keeps)| *keeps && is_near(&found[i], whole));
    }
    let differs = |of: &Solution, whole: &Solution| {
        let within = MOVED + of.off + whole.off;
        let mut pairs = of.rates.iter().zip(&whole.rates);
        pairs.any(|(a, b)| (a - b).abs() > within)
    };
    let has_others = |whole: &Solution| {
        let mut members = (found.iter()).filter(|of| is_member(of, whole) || is_near(of, whole));
        members.any(|of| differs(of, whole))
    };
    let shared: Vec<bool> = found.iter().map(has_others).collect();
    for (of, is_shared) in found.iter_mut().zip(shared) {
        of.is_shared |= is_shared;
    }
    let mut keeps = keeps.into_iter();
    found.retain(|_| keeps.next().unwrap_or(true));
}
