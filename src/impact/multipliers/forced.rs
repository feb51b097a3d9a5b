//! Slips that begin where only one direction is free to each.
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
use crate::linalg::largest;
use crate::linalg::least_norm::{least_norm, least_norm_size};
use crate::linalg::scratch::{with_list, with_zeros};

/// The smaller eigenvalue of `W` counts as zero up to this part of a tangent's own.
const NONE: f64 = 1e-10;
/// Of so many slips all combinations of sides are tried.
const MOST_FORCED: usize = 4;
/// Rates across the direction count as none up to this part of the greatest.
const ACROSS: f64 = 1e-6;

impl ContactRates<'_> {
    /// Writes the multipliers of a mode in which slips begin, each in the only direction that is free; as
    /// [`solve`](Self::solve). None where more than one is for one of them, where more than [`MOST_FORCED`] begin, and
    /// where they do not all move that way.
    pub(crate) fn begin_forced(&self, holds: &mut [Hold], multipliers: &mut [f64]) -> Option<bool> {
        if self.tangents < 2 || self.contacts < 2 {
            return None;
        }
        with_list(holds.len(), |forced: &mut [Hold]| {
            let count = self.only_directions(holds, forced)?;
            // The sides that are near first, then each of them turned.
            for turned in 0..1usize << count {
                if turned > 0 {
                    turn_some(holds, forced, turned ^ (turned - 1));
                }
                let is_unique = self.solve(forced, multipliers);
                if self.begin_along(holds, forced, multipliers) {
                    holds.copy_from_slice(forced);
                    return Some(is_unique);
                }
            }
            for hold in holds.iter_mut() {
                if let Hold::Onset { pace, .. } = hold {
                    *pace = 0.0;
                }
            }
            None
        })
    }

    /// Writes the holds of a mode with the slips that begin along the only directions that are free, on the side that
    /// they are near to. Their number; none where there are others, none of them, or too many.
    fn only_directions(&self, holds: &[Hold], forced: &mut [Hold]) -> Option<usize> {
        let begin = |hold: &&Hold| matches!(hold, Hold::Onset { .. });
        let count = holds.iter().filter(begin).count();
        if !(1..=MOST_FORCED).contains(&count) {
            return None;
        }
        for (i, (hold, forced)) in holds.iter().zip(&mut *forced).enumerate() {
            *forced = *hold;
            if let Hold::Onset {
                direction: near, ..
            } = hold
            {
                let [x, y] = self.only_direction(i, holds)?;
                let side = if x * near[0] + y * near[1] < 0.0 {
                    -1.0
                } else {
                    1.0
                };
                *forced = Hold::Slip([side * x, side * y]);
            }
        }
        Some(count)
    }

    /// True where all slips that begin move along their directions, pushed: they then have their paces.
    fn begin_along(&self, holds: &[Hold], forced: &mut [Hold], multipliers: &[f64]) -> bool {
        let greatest = largest(self.free);
        let paces = |i: usize, direction: [f64; 2]| {
            let rates = self.along(i, |row| self.rate(row, multipliers));
            let rate = direction[0] * rates[0] + direction[1] * rates[1];
            let across = direction[0] * rates[1] - direction[1] * rates[0];
            let size = self.friction[i] * multipliers[i];
            let moves = size > 0.0 && rate > 0.0 && across.abs() <= ACROSS * greatest;
            moves.then(|| rate / size)
        };
        let begin = |hold: &Hold| matches!(hold, Hold::Onset { .. });
        let begun = (0..holds.len()).filter(|&i| begin(&holds[i]));
        let moves = |i: usize| matches!(forced[i], Hold::Slip(to) if paces(i, to).is_some());
        if !begun.clone().all(moves) {
            return false;
        }
        for i in begun {
            if let Hold::Slip(direction) = forced[i] {
                let pace = paces(i, direction).unwrap_or(0.0);
                forced[i] = Hold::Onset { direction, pace };
            }
        }
        true
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

/// Turns those slips that begin whose places among them are in a set of bits.
fn turn_some(holds: &[Hold], forced: &mut [Hold], set: usize) {
    let pairs = holds.iter().zip(forced);
    let begun = pairs.filter(|(hold, _)| matches!(hold, Hold::Onset { .. }));
    for (place, (_, forced)) in begun.enumerate() {
        if let (Hold::Slip([x, y]), 1) = (forced, set >> place & 1) {
            (*x, *y) = (-*x, -*y);
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact::space::{self, Given};

    const R: f64 = 0.1;
    /// Of a ball of 1 kg, about its centre.
    const INERTIA: f64 = 0.004;

    /// A ball each on the floor and at a wall, which its force presses it against: it sticks to the floor, and spins
    /// along the wall alone.
    struct Balls {
        gram: Vec<f64>,
        free: Vec<f64>,
        friction: Vec<f64>,
        torques: Vec<f64>,
        pressed: f64,
    }

    impl Balls {
        fn new(torques: &[f64]) -> Self {
            let (count, pressed) = (torques.len(), 1.5);
            // Rows of floor and wall: normals, then tangents; forces on the body behind them.
            let floor = [[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]];
            let wall = [[1.0, 0.0, 0.0, 0.0, 0.0, 0.0]];
            let along_floor = [[1.0, 0.0, 0.0, 0.0, -R, 0.0], [0.0, 1.0, 0.0, R, 0.0, 0.0]];
            let along_wall = [[0.0, 1.0, 0.0, 0.0, 0.0, -R], [0.0, 0.0, 1.0, 0.0, R, 0.0]];
            let mut rows: Vec<(usize, [f64; 6])> = Vec::new();
            for ball in 0..count {
                rows.extend([floor[0], wall[0]].map(|row| (ball, row)));
            }
            for ball in 0..count {
                let along = along_floor.into_iter().chain(along_wall);
                rows.extend(along.map(|row| (ball, row)));
            }
            let weight = |k: usize| if k < 3 { 1.0 } else { 1.0 / INERTIA };
            let of = |a: &[f64; 6], b: &[f64; 6]| (0..6).map(|k| a[k] * b[k] * weight(k)).sum();
            let entry = |(a, i): &(usize, [f64; 6]), (b, j): &(usize, [f64; 6])| {
                if a == b { of(i, j) } else { 0.0 }
            };
            let force = |ball: usize| [-pressed, 0.0, -9.81, 0.0, 0.0, torques[ball]];
            Self {
                gram: (rows
                    .iter()
                    .flat_map(|a| rows.iter().map(move |b| entry(a, b))))
                .collect(),
                free: rows
                    .iter()
                    .map(|(ball, row)| of(row, &force(*ball)))
                    .collect(),
                friction: vec![0.3; 2 * count],
                torques: torques.to_vec(),
                pressed,
            }
        }

        fn rates(&self) -> ContactRates<'_> {
            ContactRates {
                contacts: self.friction.len(),
                tangents: 2,
                gram: &self.gram,
                free: &self.free,
                friction: &self.friction,
            }
        }

        /// How fast a ball slides along its wall, `f/(m + I/R²) − R (τ − f R)/I`: rolling on the floor, and
        /// spinning. Nothing squeezes it into the corner any more.
        fn expected(&self, ball: usize) -> f64 {
            let torque = self.torques[ball];
            let friction = torque.signum() * 0.3 * self.pressed;
            friction / (1.0 + INERTIA / (R * R)) - R * (torque - friction * R) / INERTIA
        }
    }

    #[test]
    fn balls_in_corners_spin_along_their_walls() {
        for torques in [
            &[0.2][..],
            &[0.2, -0.15],
            &[-0.1, 0.06, 0.3],
            &[0.1, 0.1, -0.1, -0.2],
        ] {
            let balls = Balls::new(torques);
            let contacts = balls.rates();
            for turned in 0..16 {
                let angle = std::f64::consts::TAU / 16.0 * (f64::from(turned) + 0.3);
                let begins = Hold::Onset {
                    direction: [angle.cos(), angle.sin()],
                    pace: 0.0,
                };
                let mut holds = [Hold::Stick, begins].repeat(torques.len());
                let mut multipliers = vec![0.0; contacts.rows()];
                contacts.solve_mode(&mut holds, &mut multipliers);
                for ball in 0..torques.len() {
                    let rates =
                        contacts.along(2 * ball + 1, |row| contacts.rate(row, &multipliers));
                    let off = (rates[0] - balls.expected(ball)).abs().max(rates[1].abs());
                    assert!(off < 1e-9, "{torques:?} {turned} {ball}: {rates:?}");
                }
            }
        }
    }

    /// Of six contacts modes are not tried one by one.
    #[test]
    fn of_many_contacts_those_that_let_go_spin_along_their_walls() {
        // A little less torque would be held by what squeezes them into their corners.
        let balls = Balls::new(&[0.0608, -0.0607, 0.061]);
        let lets_go = |slips: bool| Given {
            direction: None,
            slips,
            stays: true,
        };
        let given = [lets_go(false), lets_go(true)].repeat(3);
        let contacts = balls.rates();
        let found = space::solutions(&contacts, &given, None).unwrap().list;
        assert_eq!(found.len(), 1);
        for ball in 0..3 {
            let (row, multipliers) = (2 * ball + 1, &found[0].multipliers);
            let rates = contacts.along(row, |row| contacts.rate(row, multipliers));
            let off = (rates[0] - balls.expected(ball)).abs().max(rates[1].abs());
            assert!(off < 1e-8, "{ball}: {rates:?}");
        }
    }
}
