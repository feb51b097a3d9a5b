//! The directions in which slips in space begin: Newton's method for the multipliers of a mode; and a
//! slip that comes to rest straight.

use super::{ContactRates, Hold, unit};
use crate::linalg::dot;
use crate::linalg::scratch::{with_list, with_zeros};

/// Starts of the directions of slips that begin, beside those in which cones are left.
const STARTS: u32 = 8;
/// Steps of Newton's method for the directions of slips that begin.
const STEPS: usize = 40;
/// Directions that turn by less have settled: friction is off by the square of it.
const SETTLED: f64 = 1e-8;
/// So have those across which nothing moves, up to this part of the greatest rate, if they turn by no
/// more than this and stop settling: by less than this part in a step.
const ACROSS: f64 = 1e-13;
const LOOSE: f64 = 1e-3;
const STALLED: f64 = 0.75;

/// A contact that comes to rest, and the direction of its slip until then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halt {
    pub(crate) contact: usize,
    pub(crate) direction: [f64; 2],
}

impl ContactRates<'_> {
    /// Writes the multipliers of a mode, slips that begin among them in whatever direction that is; as
    /// [`solve`](Self::solve).
    pub(crate) fn solve_mode(&self, holds: &mut [Hold], multipliers: &mut [f64]) -> bool {
        if !holds.iter().any(|hold| matches!(hold, Hold::Onset { .. })) {
            return self.solve(holds, multipliers);
        }
        with_list(holds.len(), |near: &mut [Hold]| {
            near.copy_from_slice(holds);
            let mut begun = self.begin_beyond_cones(holds, multipliers);
            for start in 0..STARTS {
                if begun.is_some() {
                    break;
                }
                // From the tangents that the slips are near to, and turned to either side of them.
                let half = f64::from(start.div_ceil(2)) / f64::from(STARTS);
                let turn = std::f64::consts::TAU * if start % 2 == 0 { half } else { -half };
                holds.copy_from_slice(near);
                for hold in &mut *holds {
                    hold.turn(turn);
                }
                begun = self.begin(holds, multipliers);
            }
            begun.unwrap_or_else(|| {
                multipliers.fill(f64::NAN);
                true
            })
        })
    }

    /// Writes the multipliers of a mode in which one contact, among those that stick, slows down along
    /// its slip, `ẏ_t = −c d` with the friction of a slip, `|λ_t| = μ λ_n`; as [`solve`](Self::solve).
    /// With those that would hold it, `λ_0`, and what a deceleration adds to them, `λ_0 + c λ_1`, that is
    /// a quadratic equation for `c`. NaN where no `c > 0` does so, since it would not stick.
    pub(crate) fn solve_halt(
        &self,
        holds: &mut [Hold],
        Halt { contact, direction }: Halt,
        multipliers: &mut [f64],
    ) -> bool {
        let is_unique = self.solve_mode(holds, multipliers);
        let (r, mu) = (self.rows(), self.friction[contact]);
        let unit = self.free.iter().fold(0.0f64, |most, b| most.max(b.abs()));
        with_zeros(2 * r, |scratch| {
            let (free, added) = scratch.split_at_mut(r);
            free.copy_from_slice(self.free);
            for (along, part) in direction.iter().enumerate() {
                free[self.row(contact, 1 + along)] += unit * part;
            }
            ContactRates { free, ..*self }.solve_mode(holds, added);
            for (added, p) in added.iter_mut().zip(&*multipliers) {
                *added -= p;
            }
            let (n0, n1) = (mu * multipliers[contact], mu * added[contact]);
            let held = self.along(contact, |row| multipliers[row]);
            let slowed = self.along(contact, |row| added[row]);
            // a c² + 2 b c + e = 0, with e < 0 within the cone.
            let a = dot(&slowed, &slowed) - n1 * n1;
            let b = dot(&held, &slowed) - n0 * n1;
            let e = dot(&held, &held) - n0 * n0;
            let c = -e / (b + (b * b - a * e).sqrt());
            let c = if n0 > 0.0 && c > 0.0 { c } else { f64::NAN };
            for (p, added) in multipliers.iter_mut().zip(&*added) {
                *p += c * added;
            }
        });
        is_unique
    }
    /// Lets a slip begin in the direction to which its contact leaves the cone of friction, where the
    /// others do not slip: that in which it would need more friction than there is.
    pub(crate) fn begin_beyond_cones(
        &self,
        holds: &mut [Hold],
        multipliers: &mut [f64],
    ) -> Option<bool> {
        let begins = |hold: &Hold| matches!(hold, Hold::Onset { .. });
        with_list(holds.len(), |sticking: &mut [Hold]| {
            for (to, hold) in sticking.iter_mut().zip(&*holds) {
                *to = if begins(hold) { Hold::Stick } else { *hold };
            }
            self.solve(sticking, multipliers);
        });
        for (i, hold) in holds
            .iter_mut()
            .enumerate()
            .filter(|(_, hold)| begins(hold))
        {
            if let Some(direction) = unit(self.along(i, |row| -multipliers[row])) {
                *hold = Hold::Onset {
                    direction,
                    pace: 0.0,
                };
            }
        }
        self.begin(holds, multipliers)
    }

    /// Writes the multipliers of a mode in which slips begin in space, and the directions in which
    /// they do so. The directions given are where Newton's method starts. `None` where it does not
    /// settle, in 40 steps; else as [`solve`](Self::solve).
    pub(crate) fn begin(&self, holds: &mut [Hold], multipliers: &mut [f64]) -> Option<bool> {
        let greatest = self.free.iter().fold(0.0f64, |most, b| most.max(b.abs()));
        let (mut before, mut settled) = (f64::INFINITY, None);
        for _ in 0..STEPS {
            let is_unique = self.solve(holds, multipliers);
            let (mut turned, mut strays): (f64, f64) = (0.0, 0.0);
            for i in 0..holds.len() {
                let Hold::Onset { direction, .. } = holds[i] else {
                    continue;
                };
                let friction = self.along(i, |row| -multipliers[row]);
                let size = self.friction[i] * multipliers[i];
                // One that pulls drags along: a step may end behind the event that releases it.
                let [x, y] = unit(friction)?;
                let new = [x * size.signum(), y * size.signum()];
                let by = direction[0] * friction[1] - direction[1] * friction[0];
                turned = turned.max((by / size).abs());
                let rates = self.along(i, |row| self.rate(row, multipliers));
                strays = strays.max((new[0] * rates[1] - new[1] * rates[0]).abs());
                holds[i] = Hold::Onset {
                    direction: new,
                    pace: dot(&new, &rates) / size,
                };
            }
            if turned <= SETTLED {
                return Some(is_unique);
            }
            // Near the edge of a cone Newton's method only halves them: as long as it does it goes on.
            let has_settled = strays <= ACROSS * greatest && turned <= LOOSE;
            if has_settled && turned > STALLED * before {
                return Some(is_unique);
            }
            (before, settled) = (turned, has_settled.then_some(is_unique));
        }
        settled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_on_four_legs_begins_to_slip_where_it_is_pulled() {
        // Twelve multipliers on six freedoms, whatever the pull beyond the cones.
        let (a, b, h) = (0.5, 0.3, 0.6);
        let inertia = [2.0, 2.0, 2.0, 0.3, 0.2, 0.25];
        let mut rows: Vec<[f64; 6]> = Vec::new();
        let legs = [[a, b], [-a, b], [a, -b], [-a, -b]];
        for [x, y] in legs {
            rows.push([0.0, 0.0, 1.0, 0.0, y, -x]);
        }
        for [x, y] in legs {
            rows.push([1.0, 0.0, 0.0, -y, 0.0, -h]);
            rows.push([0.0, 1.0, 0.0, x, h, 0.0]);
        }
        let r = rows.len();
        let mut gram = vec![0.0; r * r];
        for i in 0..r {
            for j in 0..r {
                gram[i * r + j] = (0..6).map(|k| rows[i][k] * rows[j][k] / inertia[k]).sum();
            }
        }
        let friction = [0.4; 4];
        for over in (-12..2).flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(e))) {
            let pull = 0.4 * 2.0 * 9.81 * (1.0 + over);
            let f = [pull * 0.5f64.cos(), pull * 0.5f64.sin(), -2.0 * 9.81];
            let free: Vec<f64> = (0..r)
                .map(|i| (0..3).map(|k| rows[i][k] * f[k] / inertia[k]).sum())
                .collect();
            let contacts = ContactRates {
                contacts: 4,
                tangents: 2,
                gram: &gram,
                free: &free,
                friction: &friction,
            };
            let begins = Hold::Onset {
                direction: [1.0, 0.0],
                pace: 0.0,
            };
            let mut holds = [begins; 4];
            let mut multipliers = vec![0.0; r];
            let found = contacts.begin_beyond_cones(&mut holds, &mut multipliers);
            assert_eq!(found, Some(false), "{over:e}");
            // The legs share the excess, as forces over √(1 + μ²), in units of rows and of the loads.
            let margin = contacts.margin_of_sticking(4);
            let root = |row: usize| gram[row * r + row].sqrt();
            let size = (0..r).fold(0.0f64, |size, row| size.hypot(free[row] / root(row)));
            let excess = 0.4 * 2.0 * 9.81 * over / 4.0 / 1.16f64.sqrt() * root(0) / size;
            assert!(
                (margin + excess).abs() < 2e-12 + 1e-9 * over || over > 0.1,
                "{over:e} {margin:e} {excess:e}"
            );
            assert!(contacts.margin_of_sticking(4).to_bits() == margin.to_bits());
            let rates = contacts.along(0, |row| contacts.rate(row, &multipliers));
            let expected = over * 0.4 * 9.81;
            let error = rates[0].hypot(rates[1]) - expected;
            assert!(error.abs() < 1e-13 + 1e-8 * expected, "{over:e} {error:e}");
            assert!(multipliers[..4].iter().all(|&push| push > 0.9));
        }
    }
}
