//! A list of momenta that stores those equal to rounding once.

use std::collections::HashMap;

use crate::impact::ImpactProblem;

/// Outcomes whose scaled speeds differ by less than this part of `√(2T)` are one.
pub(crate) const EQUAL: f64 = 1e-9;

/// Rounding of scaled speeds, as a part of `√(2T)` along the normals.
const ROUNDING: f64 = 1e-14;

/// Momenta on the way to outcomes are equal within the threshold: no reflection follows from
/// smaller differences.
pub(crate) fn meeting(problem: &ImpactProblem) -> f64 {
    let most = EQUAL * problem.kinetic_norm();
    problem.threshold().min(most).max(rounding(problem))
}

/// Differences of scaled speeds by rounding; never zero: at rest all momenta are one.
pub(crate) fn rounding(problem: &ImpactProblem) -> f64 {
    // of the motion along the normals only
    (ROUNDING * problem.space().norm).max(f64::MIN_POSITIVE)
}

/// Scaled contact speeds, merged when no component differs by more than a tolerance and the same
/// contacts approach.
///
/// The second condition keeps a search sound. A momentum in which a contact approaches slowly must
/// not be merged with the one after its reflection, however close they are.
///
/// A list is filed under the projection of its speeds on a fixed direction, cut into cells wider
/// than what the tolerance can change: equal ones lie in the same cell or in neighbours.
#[derive(Clone, Debug)]
pub(crate) struct Momenta {
    contacts: usize,
    /// `contacts` numbers for each momentum.
    speeds: Vec<f64>,
    tolerance: f64,
    /// A contact approaches when its speed lies below minus this.
    threshold: f64,
    /// Weights of the projection, no two alike, over the width of a cell.
    weights: Vec<f64>,
    cells: HashMap<i64, Vec<usize>>,
}

impl Momenta {
    /// An empty list of outcomes.
    pub(crate) fn of_ends(problem: &ImpactProblem) -> Self {
        let equal = (EQUAL * problem.kinetic_norm()).max(rounding(problem));
        Self::new(problem.contacts(), equal, problem.threshold())
    }

    /// An empty list of momenta with so many contacts.
    pub(crate) fn new(contacts: usize, tolerance: f64, threshold: f64) -> Self {
        const GOLDEN: f64 = 0.618_033_988_749_894_8;
        let weights = (0..contacts).map(|i| 0.5 + (GOLDEN * (i + 1) as f64).fract());
        // Each weight is below 1.5: the projections of equal momenta differ by less than half of
        // this.
        let width = 3.0 * contacts as f64 * tolerance;
        Self {
            contacts,
            speeds: Vec::new(),
            tolerance,
            threshold,
            weights: weights.map(|w| w / width).collect(),
            cells: HashMap::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.speeds.len() / self.contacts.max(1)
    }

    /// The speeds of momentum `k`.
    pub(crate) fn get(&self, k: usize) -> &[f64] {
        &self.speeds[k * self.contacts..(k + 1) * self.contacts]
    }

    /// The number of a momentum that is there.
    pub(crate) fn find(&self, speeds: &[f64]) -> Option<usize> {
        let cell = self.cell(speeds);
        let near = [cell.saturating_sub(1), cell, cell.saturating_add(1)];
        let mut filed = near
            .iter()
            .filter_map(|cell| self.cells.get(cell))
            .flatten();
        filed.find(|&&k| self.equal(k, speeds)).copied()
    }

    /// Adds a momentum unless it is there; returns its number if it is new.
    pub(crate) fn add(&mut self, speeds: &[f64]) -> Option<usize> {
        if self.find(speeds).is_some() {
            return None;
        }
        Some(self.push(speeds))
    }

    /// Adds a momentum that is not there; returns its number.
    pub(crate) fn push(&mut self, speeds: &[f64]) -> usize {
        let k = self.len();
        self.speeds.extend_from_slice(speeds);
        let cell = self.cell(speeds);
        self.cells.entry(cell).or_default().push(k);
        k
    }

    /// Forgets the momenta from number `count` on.
    pub(crate) fn truncate(&mut self, count: usize) {
        while self.len() > count {
            let k = self.len() - 1;
            let cell = self.cell(self.get(k));
            if let Some(filed) = self.cells.get_mut(&cell) {
                // the latest of a cell is the last in it
                filed.pop();
                if filed.is_empty() {
                    self.cells.remove(&cell);
                }
            }
            self.speeds.truncate(k * self.contacts);
        }
    }

    fn equal(&self, k: usize, speeds: &[f64]) -> bool {
        let approaches = |s: f64| s < -self.threshold;
        let mut pairs = self.get(k).iter().zip(speeds);
        pairs.all(|(&a, &b)| (a - b).abs() <= self.tolerance && approaches(a) == approaches(b))
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "saturated where there is no such number: then all lies in one cell"
    )]
    fn cell(&self, speeds: &[f64]) -> i64 {
        let sum: f64 = self.weights.iter().zip(speeds).map(|(w, s)| w * s).sum();
        sum.floor() as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_momenta_are_stored_once_wherever_cells_end() {
        let mut list = Momenta::new(3, 1e-9, 1.0);
        for k in 0..2000 {
            let base = [0.1 * f64::from(k), -1e-10 * f64::from(k), 7.0];
            assert_eq!(list.add(&base), Some(list.len() - 1), "{k}");
            for shift in [0.9e-9, -0.9e-9] {
                assert_eq!(list.add(&base.map(|s| s + shift)), None, "{k}");
            }
        }
        assert_eq!(list.len(), 2000);
        assert_eq!(list.add(&[0.1, 2e-9, 7.0]), Some(2000));
    }

    #[test]
    fn a_slow_approach_is_not_the_parting_beside_it() {
        let mut list = Momenta::new(2, 1e-9, 1e-12);
        for (momentum, found) in [
            ([1.0, -1e-10], Some(0)),
            ([1.0, 1e-10], Some(1)),
            ([1.0, -2e-10], None),
            // within the threshold nothing approaches
            ([1.0, -0.9e-12], None),
            ([1.0, 2e-10], None),
        ] {
            assert_eq!(list.add(&momentum), found, "{momentum:?}");
        }
    }

    #[test]
    fn what_was_forgotten_can_be_added_again() {
        let mut list = Momenta::new(1, 1e-9, 0.0);
        for s in [1.0, 2.0, 2.0 + 1.5e-9, 3.0] {
            assert!(list.add(&[s]).is_some());
        }
        list.truncate(1);
        assert_eq!((list.len(), list.get(0)), (1, &[1.0][..]));
        assert_eq!(list.add(&[1.0]), None);
        assert_eq!(list.add(&[3.0]), Some(1));
    }
}
