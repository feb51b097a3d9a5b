//! A slip that begins where only one direction is free.
//!
//! While normals stay closed and others stick, a contact may move along its tangents within the range of
//!
//! ```text
//!     W = G_tt − G_tH G_HH⁺ G_Ht
//! ```
//!
//! A ball in a groove that sticks at one wall slides at the other along the groove alone. Its friction is then along
//! that line too, whatever squeezed it across while it stuck: that stress goes as soon as it slides. Newton's method
//! for directions finds the stress again, at a rate of zero, and no direction.

use super::{ContactRates, Hold};
use crate::linalg::least_norm::{least_norm, least_norm_size};
use crate::linalg::scratch::{with_list, with_zeros};

/// The smaller eigenvalue of `W` counts as zero up to this part of a tangent's own.
const NONE: f64 = 1e-10;
/// Rates across the direction count as none up to this part of the greatest.
const ACROSS: f64 = 1e-6;

impl ContactRates<'_> {
    /// Writes the multipliers of a mode in which one slip begins, in the only direction that is free; as
    /// [`solve`](Self::solve). None where more than one is, or more than one begins, and where it would not move
    /// that way.
    pub(super) fn begin_forced(&self, holds: &mut [Hold], multipliers: &mut [f64]) -> Option<bool> {
        if self.tangents < 2 || self.contacts < 2 {
            return None;
        }
        let mut begin = holds.iter().enumerate();
        let begins = |(i, hold): (usize, &Hold)| match hold {
            Hold::Onset { direction, .. } => Some((i, *direction)),
            _ => None,
        };
        let (i, near) = begin.by_ref().find_map(begins)?;
        if begin.find_map(begins).is_some() {
            return None;
        }
        let [x, y] = self.only_direction(i, holds)?;
        let side = if x * near[0] + y * near[1] < 0.0 {
            -1.0
        } else {
            1.0
        };
        let greatest = self.free.iter().fold(0.0f64, |most, b| most.max(b.abs()));
        for side in [side, -side] {
            let direction = [side * x, side * y];
            holds[i] = Hold::Slip(direction);
            let is_unique = self.solve(holds, multipliers);
            let rates = self.along(i, |row| self.rate(row, multipliers));
            let rate = direction[0] * rates[0] + direction[1] * rates[1];
            let across = direction[0] * rates[1] - direction[1] * rates[0];
            let size = self.friction[i] * multipliers[i];
            if size > 0.0 && rate > 0.0 && across.abs() <= ACROSS * greatest {
                let pace = rate / size;
                holds[i] = Hold::Onset { direction, pace };
                return Some(is_unique);
            }
        }
        let (direction, pace) = (near, 0.0);
        holds[i] = Hold::Onset { direction, pace };
        None
    }

    /// The only direction in which a contact may slide beside the others.
    fn only_direction(&self, i: usize, holds: &[Hold]) -> Option<[f64; 2]> {
        let r = self.rows();
        let sticks = |j: &usize| holds[*j] == Hold::Stick;
        let normals = (0..self.contacts).filter(|&j| holds[j] != Hold::Open);
        let tangents = (0..self.contacts)
            .filter(sticks)
            .flat_map(|j| [self.row(j, 1), self.row(j, 2)]);
        let held = || normals.clone().chain(tangents.clone());
        let m = held().count();
        with_list(m, |rows: &mut [usize]| {
            rows.iter_mut().zip(held()).for_each(|(to, row)| *to = row);
            with_zeros(m * m + 2 * m + least_norm_size(m), |scratch| {
                let (gram, rest) = scratch.split_at_mut(m * m);
                let (columns, work) = rest.split_at_mut(2 * m);
                let entry = |a: usize, b: usize| self.gram[a * r + b];
                for (to, &a) in gram.chunks_exact_mut(m).zip(&*rows) {
                    to.iter_mut()
                        .zip(&*rows)
                        .for_each(|(to, &b)| *to = entry(a, b));
                }
                let own = [self.row(i, 1), self.row(i, 2)];
                let mut free = [[0.0; 2]; 2];
                for (k, column) in columns.chunks_exact_mut(m).enumerate() {
                    column
                        .iter_mut()
                        .zip(&*rows)
                        .for_each(|(to, &a)| *to = entry(a, own[k]));
                    least_norm(gram, m, column, work);
                    for (to, &row) in free.iter_mut().zip(&own) {
                        let taken: f64 = rows
                            .iter()
                            .zip(&*column)
                            .map(|(&a, x)| entry(row, a) * x)
                            .sum();
                        to[k] = entry(row, own[k]) - taken;
                    }
                }
                direction_of(free, self.own(own[0]).max(self.own(own[1])))
            })
        })
    }
}

/// The eigenvector of a symmetric matrix with one eigenvalue beside zero.
fn direction_of([[a, b], [_, d]]: [[f64; 2]; 2], size: f64) -> Option<[f64; 2]> {
    let (mean, half) = (0.5 * (a + d), (0.5 * (a - d)).hypot(b));
    let (greater, smaller) = (mean + half, mean - half);
    if !(smaller.abs() <= NONE * size && greater > NONE.sqrt() * size) {
        return None;
    }
    // The longer of the two rows of (W − λ₂), each along it.
    let rows = [[a - smaller, b], [b, d - smaller]];
    let longer = usize::from(rows[1][0].hypot(rows[1][1]) > rows[0][0].hypot(rows[0][1]));
    super::unit(rows[longer])
}
