//! Efforts and rows that act on trees at rest. A tree sleeps as long as they stay the same.

use crate::compliant::problem::Links;
use crate::compliant::{Problem, RowLaw};

/// Relative change of a velocity or of the law of a row that rounding explains, and the part of the speed of
/// sleep that is none.
const ROUNDING: f64 = 1e-9;

/// A row of a term that acts on trees at rest alone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RestRow {
    /// The number of its term.
    pub(super) term: usize,
    pub(super) law: RowLaw,
    /// Its trees.
    pub(super) first: usize,
    pub(super) second: Option<usize>,
    /// A checksum of its entries, which are the same where nothing moves.
    pub(super) checksum: u64,
    /// Its impulse in the last step in which it was solved.
    pub(super) impulse: f64,
}

impl RestRow {
    pub(super) fn trees(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.first).chain(self.second)
    }

    /// True for the same trees and, to rounding, the same law.
    fn agrees(&self, other: &Self, speed: f64) -> bool {
        let (a, b) = (&self.law, &other.law);
        let same = |a: f64, b: f64| is_close(a, b, a.abs());
        self.has_trees_of(other)
            && self.checksum == other.checksum
            && same(a.regularisation, b.regularisation)
            && is_close(a.target, b.target, a.target.abs().max(speed))
            && same(a.low, b.low)
            && same(a.high, b.high)
    }

    pub(super) fn has_trees_of(&self, other: &Self) -> bool {
        (self.term, self.first, self.second) == (other.term, other.first, other.second)
    }
}

/// Equal up to rounding of numbers of this size; infinite ones to the last bit.
fn is_close(a: f64, b: f64, size: f64) -> bool {
    let apart = (a - b).abs();
    a.to_bits() == b.to_bits() || (apart.is_finite() && apart <= ROUNDING * size)
}

/// True where the velocities that a tree has without contacts, from rest, are the same.
pub(super) fn same_velocities(a: &[f64], b: &[f64], speed: f64) -> bool {
    let size = a.iter().fold(speed, |most: f64, a| most.max(a.abs()));
    a.iter().zip(b).all(|(a, b)| is_close(*a, *b, size))
}

/// Writes the rows of a problem all of whose trees are at rest, term by term, with their impulses
/// (zero where there are none).
pub(super) fn collect_rows(
    problem: &Problem,
    impulses: &[f64],
    is_still: impl Fn(usize) -> bool,
    rows: &mut Vec<RestRow>,
) {
    rows.clear();
    for term in 0.. {
        let Some(numbers) = problem.rows_of_term(term) else {
            break;
        };
        for number in numbers {
            let of = &problem.rows[number];
            let row = RestRow {
                term,
                law: of.law,
                first: of.links.first.tree,
                second: of.links.second.map(|link| link.tree),
                checksum: checksum(problem, &of.links),
                impulse: impulses.get(number).copied().unwrap_or(0.0),
            };
            if row.trees().all(&is_still) {
                rows.push(row);
            }
        }
    }
}

/// A checksum of the entries of a row.
fn checksum(problem: &Problem, links: &Links) -> u64 {
    let entries = links.iter().flat_map(|link| {
        let width = problem.trees[link.tree].width;
        &problem.jacobian[link.place..link.place + width]
    });
    entries.fold(0, |sum, entry| mix(sum, entry.to_bits()))
}

/// A checksum with one number more.
pub(super) fn mix(sum: u64, bits: u64) -> u64 {
    // An odd constant from the golden ratio.
    (sum.rotate_left(23) ^ bits).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// Calls `differs` for the trees of rows in which two lists, term by term, do not agree. Of a term
/// with another number of rows that may be more than have changed.
pub(super) fn compare_rows(
    a: &[RestRow],
    b: &[RestRow],
    speed: f64,
    is_still: impl Fn(usize) -> bool,
    mut differs: impl FnMut(usize),
) {
    let still = |row: &&RestRow| row.trees().all(&is_still);
    let mut a = a.iter().filter(still).peekable();
    let mut b = b.iter().filter(still).peekable();
    loop {
        let terms = [a.peek(), b.peek()].map(|row| row.map(|row| row.term));
        let Some(term) = terms.into_iter().flatten().min() else {
            break;
        };
        let of_term = |row: &&RestRow| row.term == term;
        let (one, other) = (a.next_if(of_term), b.next_if(of_term));
        let agree = one.is_some_and(|one| other.is_some_and(|other| one.agrees(other, speed)));
        if !agree {
            let both = one.into_iter().chain(other);
            both.flat_map(RestRow::trees).for_each(&mut differs);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(term: usize, first: usize, target: f64) -> RestRow {
        let law = RowLaw {
            regularisation: 0.1,
            target,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
        };
        RestRow {
            term,
            law,
            first,
            second: None,
            checksum: 5,
            impulse: 0.0,
        }
    }

    fn differing(a: &[RestRow], b: &[RestRow]) -> Vec<usize> {
        let mut trees = Vec::new();
        compare_rows(a, b, 0.01, |tree| tree < 10, |tree| trees.push(tree));
        trees.sort_unstable();
        trees.dedup();
        trees
    }

    #[test]
    fn rows_are_compared_term_by_term() {
        let kept = [row(0, 1, 0.0), row(0, 2, 1.0), row(2, 3, 2.0)];
        assert_eq!(differing(&kept, &kept), []);
        let mut other = kept;
        other[1].law.target += 1e-6;
        assert_eq!(differing(&kept, &other), [2]);
        other[1].law.target = 1.0 + 1e-10;
        other[2].law.high = 5.0;
        assert_eq!(differing(&kept, &other), [3]);
        other[0].checksum = 6;
        assert_eq!(differing(&kept, &other), [1, 3]);
        // Of a term that lost a row, those behind it; other terms are as they were.
        assert_eq!(differing(&kept, &kept[1..]), [1, 2]);
        assert_eq!(differing(&kept[..2], &kept), [3]);
        // A tree that moves is looked at by no one.
        assert_eq!(
            differing(&kept, &[kept.as_slice(), &[row(2, 10, 0.0)]].concat()),
            []
        );
    }

    #[test]
    fn velocities_are_equal_up_to_rounding_of_the_greatest() {
        assert!(same_velocities(&[0.0, -0.0981], &[9e-11, -0.0981], 0.01));
        assert!(!same_velocities(&[0.0, -0.0981], &[1.1e-10, -0.0981], 0.01));
        assert!(same_velocities(&[0.0, 0.0], &[9e-12, 0.0], 0.01));
        assert!(!same_velocities(&[0.0, 0.0], &[1.1e-11, 0.0], 0.01));
        assert!(!same_velocities(&[0.0], &[f64::NAN], 0.01));
    }
}
