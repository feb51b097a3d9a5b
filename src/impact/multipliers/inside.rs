//! Multipliers inside the cones of a mode: those of the central path of its margin, and some between them and others.

use super::margin::{COARSE, CentralPath, FINE};
use super::{ContactRates, Hold};
use crate::linalg::dot;

/// Halvings of the way from multipliers inside the cones to others, to the last bit.
const HALVINGS: u32 = 52;

impl ContactRates<'_> {
    /// Writes multipliers that hold the loads of a mode, as far inside its cones as any; false where they are outside.
    /// Slips keep their directions. The steps are those of a margin at most.
    #[cold]
    pub(crate) fn inside_cones(
        &self,
        holds: &[Hold],
        may_be_off: bool,
        multipliers: &mut [f64],
    ) -> bool {
        // Without a closed contact nothing is held, and there is nothing to decompose.
        if holds.iter().all(|hold| *hold == Hold::Open) {
            return false;
        }
        let Some(loads) = self.loads(holds, may_be_off) else {
            return false;
        };
        let Some(mut path) = CentralPath::new(&loads) else {
            return false;
        };
        let mut margin = path.follow(COARSE);
        if margin < 2.0 * COARSE {
            margin = path.follow(FINE);
        }
        multipliers.fill(0.0);
        for ((i, parts), of) in loads.unknowns.iter().zip(&loads.multipliers) {
            let (along, constant) = of.as_slice().split_at(path.shares().len());
            let value = dot(along, path.shares()) + constant[0];
            for (k, part) in self.taken(*i, parts) {
                multipliers[k] += part * value;
            }
        }
        // Nearer to the edge they may be those of it, but for rounding.
        margin > -COARSE
    }

    /// Moves multipliers inside the cones as near to others as the cones reach.
    pub(crate) fn approach(&self, holds: &[Hold], others: &[f64], inside: &mut [f64]) {
        let settled: Vec<Hold> = holds.iter().copied().map(Hold::settled).collect();
        let at = |part: f64| -> Vec<f64> {
            let pairs = inside.iter().zip(others);
            pairs.map(|(a, b)| part * a + (1.0 - part) * b).collect()
        };
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.are_in_cones(&settled, &at(middle)) {
                high = middle;
            } else {
                low = middle;
            }
        }
        inside.copy_from_slice(&at(high));
    }
}
