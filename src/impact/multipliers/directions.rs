//! The directions in which slips in space begin: Newton's method for the multipliers of a mode; and a
//! slip that comes to rest straight.

use std::f64::consts::TAU;

use super::{ContactRates, Hold, unit};
use crate::linalg::scratch::{with_list, with_zeros};
use crate::linalg::{dot, largest};

/// Starts of the directions of slips that begin, beside those in which cones are left.
const STARTS: u32 = 8;
/// Where nothing is found from these: so many, in which each contact is turned by its own multiples of
/// the golden section.
pub(crate) const MANY_STARTS: u32 = 48;
const APART: f64 = 0.618_033_988_749_894_9;
/// Steps of Newton's method for the directions of slips that begin.
const STEPS: usize = 40;
/// Rounds in which directions follow the slips before that.
const ROUNDS: usize = 6;
/// Directions that turn by less have settled: friction is off by the square of it.
const SETTLED: f64 = 1e-8;
/// So have those across which nothing moves, up to this part of the greatest rate, if they turn by no
/// more than this and stop settling: by less than this part in a step.
const ACROSS: f64 = 1e-13;
const LOOSE: f64 = 1e-3;
const STALLED: f64 = 0.75;
/// A contact whose load is rounding, this part of the greatest rate, has no friction that needs a direction.
const IDLE: f64 = 1e-13;
/// Parts of the mean load that each of some contacts that share it bears at least, as far as they can.
const LEAST_SHARES: [f64; 4] = [0.25, 0.06, 0.015, 0.0];

/// A contact that comes to rest, and the direction of its slip until then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halt {
    pub(crate) contact: usize,
    pub(crate) direction: [f64; 2],
}

/// By which part of a turn contact `i` is turned in one of many starts.
pub(crate) fn own_turn(start: u32, i: usize) -> f64 {
    f64::from(start) * (APART * (i + 1) as f64).fract()
}

impl ContactRates<'_> {
    /// Writes the multipliers of a mode, slips that begin among them in whatever direction that is; as
    /// [`solve`](Self::solve).
    pub(crate) fn solve_mode(&self, holds: &mut [Hold], multipliers: &mut [f64]) -> bool {
        if !holds.iter().any(|hold| matches!(hold, Hold::Onset { .. })) {
            return self.solve(holds, multipliers);
        }
        if let Some(is_unique) = self.begin_forced(holds, multipliers) {
            return is_unique;
        }
        with_list(holds.len(), |near: &mut [Hold]| {
            near.copy_from_slice(holds);
            let mut begun = self.begin_beyond_cones(holds, multipliers);
            for start in 0..STARTS + MANY_STARTS {
                if begun.is_some() {
                    break;
                }
                // From the tangents that the slips are near to, and turned to either side of them; at last each by its
                // own.
                let half = f64::from(start.div_ceil(2)) / f64::from(STARTS);
                let turn = if start % 2 == 0 { half } else { -half };
                holds.copy_from_slice(near);
                for (i, hold) in holds.iter_mut().enumerate() {
                    hold.turn(
                        TAU * if start < STARTS {
                            turn
                        } else {
                            own_turn(start, i)
                        },
                    );
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
    /// a quadratic equation for `c`. Where no `c > 0` does so it would not stick: its friction is that of a slip.
    pub(crate) fn solve_halt(
        &self,
        holds: &mut [Hold],
        Halt { contact, direction }: Halt,
        multipliers: &mut [f64],
    ) -> bool {
        let is_unique = self.solve_mode(holds, multipliers);
        let (r, mu) = (self.rows(), self.friction[contact]);
        let unit = largest(self.free);
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
            if n0 > 0.0 && c > 0.0 {
                for (p, added) in multipliers.iter_mut().zip(&*added) {
                    *p += c * added;
                }
                return is_unique;
            }
            // It does not slow down any more: it slips on.
            holds[contact] = Hold::Slip(direction);
            self.solve(holds, multipliers)
        })
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

    /// As [`begin`](Self::begin), from the directions in which contacts slide with the friction of the directions
    /// before: a contact that slides fast hardly turns, and Newton's method, which does not know its speed at first,
    /// turns it.
    pub(crate) fn begin_along_slips(
        &self,
        holds: &mut [Hold],
        multipliers: &mut [f64],
    ) -> Option<bool> {
        with_list(holds.len(), |sliding: &mut [Hold]| {
            for _ in 0..ROUNDS {
                for (to, hold) in sliding.iter_mut().zip(&*holds) {
                    *to = hold.settled();
                }
                self.solve(sliding, multipliers);
                for (i, hold) in holds.iter_mut().enumerate() {
                    let rates = self.along(i, |row| self.rate(row, multipliers));
                    let (size, next) = (self.friction[i] * multipliers[i], unit(rates));
                    if let (Hold::Onset { direction, pace }, Some(next)) = (hold, next) {
                        let speed = dot(&next, &rates);
                        *direction = next;
                        *pace = if size > 0.0 { speed / size } else { 0.0 };
                    }
                }
            }
        });
        self.begin(holds, multipliers)
    }

    /// Writes the multipliers of a mode in which slips begin in space, and the directions in which
    /// they do so. The directions given are where Newton's method starts. `None` where it does not
    /// settle, in 40 steps; else as [`solve`](Self::solve). Where loads are shared it is tried with up to four
    /// sharings more.
    ///
    /// Where contacts depend on each other, and with the multipliers of least norm one pulls, its friction
    /// would push with the others and hold more than they can: then loads are shared so that all push, if
    /// they can do so.
    pub(crate) fn begin(&self, holds: &mut [Hold], multipliers: &mut [f64]) -> Option<bool> {
        with_list(holds.len(), |near: &mut [Hold]| {
            near.copy_from_slice(holds);
            let begun = self.begin_sharing(holds, None, multipliers);
            if begun.is_unique || begun.is_settled && all_push(holds, multipliers) {
                return begun.is_settled.then_some(begun.is_unique);
            }
            let own = self.loads_in_cones(near);
            with_list(holds.len(), |other: &mut [Hold]| {
                with_zeros(2 * self.rows(), |scratch| {
                    let (shares, found) = scratch.split_at_mut(self.rows());
                    for least in LEAST_SHARES {
                        other.copy_from_slice(near);
                        self.shares(&own, least, shares);
                        let begun = self.begin_sharing(other, Some(shares), found);
                        if begun.is_settled && all_push(other, found) {
                            holds.copy_from_slice(other);
                            multipliers.copy_from_slice(found);
                            return Some(begun.is_unique);
                        }
                    }
                    begun.is_settled.then_some(begun.is_unique)
                })
            })
        })
    }

    /// How contacts bear the loads, with multipliers of least size in the cones of slips in the directions given.
    #[cold]
    fn loads_in_cones(&self, holds: &[Hold]) -> LoadsInCones {
        let settled: Vec<Hold> = holds.iter().copied().map(Hold::settled).collect();
        let mut least = vec![0.0; self.rows()];
        self.least_in_cones(&settled, &mut least);
        let mean = least[..self.contacts].iter().sum::<f64>() / self.contacts as f64;
        let mut even = vec![0.0; self.rows()];
        for (i, hold) in settled.iter().enumerate() {
            let parts = hold.pushes(self.friction[i]).unwrap_or_default();
            for (k, part) in self.taken(i, &parts) {
                even[k] += mean * part;
            }
        }
        LoadsInCones {
            settled,
            least,
            even,
        }
    }

    /// Writes multipliers with which all closed contacts push, by no less than a part of the mean load
    /// where they can, and which are near to those of the loads.
    fn shares(&self, own: &LoadsInCones, part: f64, multipliers: &mut [f64]) {
        if part == 0.0 {
            multipliers.copy_from_slice(&own.least);
            return;
        }
        let given: Vec<f64> = own.even.iter().map(|even| part * even).collect();
        let free: Vec<f64> = (0..self.rows()).map(|row| self.rate(row, &given)).collect();
        let rest = ContactRates {
            free: &free,
            ..*self
        };
        rest.least_in_cones(&own.settled, multipliers);
        for (p, given) in multipliers.iter_mut().zip(&given) {
            *p += given;
        }
    }

    /// Newton's method, where contacts that depend on each other share their loads like these multipliers.
    fn begin_sharing(
        &self,
        holds: &mut [Hold],
        shares: Option<&[f64]>,
        multipliers: &mut [f64],
    ) -> Begun {
        let greatest = largest(self.free);
        let mut before = f64::INFINITY;
        let mut begun = Begun::default();
        for _ in 0..STEPS {
            begun.is_unique = self.solve_sharing(holds, shares, multipliers);
            let (mut turned, mut strays): (f64, f64) = (0.0, 0.0);
            for i in 0..holds.len() {
                let Hold::Onset { direction, .. } = holds[i] else {
                    continue;
                };
                let friction = self.along(i, |row| -multipliers[row]);
                let size = self.friction[i] * multipliers[i];
                let rates = self.along(i, |row| self.rate(row, multipliers));
                if multipliers[i].abs() * self.own(i) <= IDLE * greatest {
                    // It goes where the others move it.
                    let [x, y] = rates.map(|rate| {
                        if rate.abs() <= ACROSS * greatest {
                            0.0
                        } else {
                            rate
                        }
                    });
                    holds[i] = Hold::Onset {
                        direction: unit([x, y]).unwrap_or(direction),
                        pace: 0.0,
                    };
                    continue;
                }
                // One that pulls drags along: a step may end behind the event that releases it.
                let Some([x, y]) = unit(friction) else {
                    begun.is_settled = false;
                    return begun;
                };
                let new = [x * size.signum(), y * size.signum()];
                let by = direction[0] * friction[1] - direction[1] * friction[0];
                turned = turned.max((by / size).abs());
                strays = strays.max((new[0] * rates[1] - new[1] * rates[0]).abs());
                holds[i] = Hold::Onset {
                    direction: new,
                    pace: dot(&new, &rates) / size,
                };
            }
            if turned <= SETTLED {
                begun.is_settled = true;
                return begun;
            }
            // Near the edge of a cone Newton's method only halves them: as long as it does it goes on.
            let has_settled = strays <= ACROSS * greatest && turned <= LOOSE;
            if has_settled && turned > STALLED * before {
                begun.is_settled = true;
                return begun;
            }
            (before, begun.is_settled) = (turned, has_settled);
        }
        begun
    }
}

/// True where no slip that begins is one of a contact that pulls.
fn all_push(holds: &[Hold], multipliers: &[f64]) -> bool {
    let begins = |hold: &Hold| matches!(hold, Hold::Onset { .. });
    let mut each = holds.iter().zip(multipliers);
    each.all(|(hold, push)| !begins(hold) || *push >= 0.0)
}

/// The loads of contacts that slip in given directions, in their cones.
struct LoadsInCones {
    settled: Vec<Hold>,
    /// The multipliers of least size.
    least: Vec<f64>,
    /// Multipliers with which all bear the mean of these.
    even: Vec<f64>,
}

/// How Newton's method for the directions of slips that begin has ended.
#[derive(Clone, Copy, Default)]
struct Begun {
    is_settled: bool,
    /// The multipliers are; as [`solve`](ContactRates::solve) says.
    is_unique: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A plate of these masses and inertias on legs, its rows in this order, with a coefficient of 0.4.
    struct Plate {
        inertia: [f64; 6],
        rows: Vec<[f64; 6]>,
        gram: Vec<f64>,
    }

    impl Plate {
        /// With its centre at a height over its legs.
        fn on(legs: &[[f64; 2]], h: f64) -> Self {
            let inertia = [2.0, 2.0, 2.0, 0.3, 0.2, 0.25];
            let mut rows: Vec<[f64; 6]> = Vec::new();
            for [x, y] in legs {
                rows.push([0.0, 0.0, 1.0, 0.0, *y, -x]);
            }
            for [x, y] in legs {
                rows.push([1.0, 0.0, 0.0, -y, 0.0, -h]);
                rows.push([0.0, 1.0, 0.0, *x, h, 0.0]);
            }
            let of = |i: &[f64; 6], j: &[f64; 6]| (0..6).map(|k| i[k] * j[k] / inertia[k]).sum();
            let gram = rows.iter().flat_map(|i| rows.iter().map(move |j| of(i, j)));
            Self {
                inertia,
                gram: gram.collect(),
                rows,
            }
        }

        /// Rates of rows with its weight and a pull of so much beyond the friction of that.
        fn free(&self, over: f64) -> Vec<f64> {
            let pull = 0.4 * 2.0 * 9.81 * (1.0 + over);
            let f = [pull * 0.5f64.cos(), pull * 0.5f64.sin(), -2.0 * 9.81];
            let rate = |row: &[f64; 6]| (0..3).map(|k| row[k] * f[k] / self.inertia[k]).sum();
            self.rows.iter().map(rate).collect()
        }

        fn rates<'a>(&'a self, free: &'a [f64], friction: &'a [f64]) -> ContactRates<'a> {
            ContactRates {
                contacts: friction.len(),
                tangents: 2,
                gram: &self.gram,
                free,
                friction,
            }
        }
    }

    const BEGINS: Hold = Hold::Onset {
        direction: [1.0, 0.0],
        pace: 0.0,
    };

    /// Of legs three of which do not hold the centre between them the shares of least norm are negative.
    #[test]
    fn a_table_whose_shares_of_least_norm_pull_begins_to_slip_where_it_is_pulled() {
        let legs = [[1.24, 0.62], [-1.28, -1.46], [0.98, -1.07], [-0.25, 0.025]];
        let plate = Plate::on(&legs, 0.1);
        for over in [1e-8, 1e-6, 1e-3, 0.1] {
            let (free, friction) = (plate.free(over), [0.4; 4]);
            let contacts = plate.rates(&free, &friction);
            let (mut holds, mut multipliers) = ([BEGINS; 4], [0.0; 12]);
            assert!(!contacts.solve_mode(&mut holds, &mut multipliers));
            let rates = contacts.along(0, |row| contacts.rate(row, &multipliers));
            let expected = over * 0.4 * 9.81;
            for (rate, part) in rates.iter().zip([0.5f64.cos(), 0.5f64.sin()]) {
                let error = rate - part * expected;
                // Directions settle slowly at the edge, and friction is off by the square of what is left.
                assert!(error.abs() < 1e-9 + 1e-7 * expected, "{over:e} {error:e}");
            }
            assert!(multipliers[..4].iter().all(|push| *push > 0.1));
        }
    }

    #[test]
    fn a_table_on_four_legs_begins_to_slip_where_it_is_pulled() {
        // Twelve multipliers on six freedoms, whatever the pull beyond the cones.
        let (a, b) = (0.5, 0.3);
        let plate = Plate::on(&[[a, b], [-a, b], [a, -b], [-a, -b]], 0.6);
        let r = plate.rows.len();
        for over in (-12..2).flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(e))) {
            let (free, friction) = (plate.free(over), [0.4; 4]);
            let contacts = plate.rates(&free, &friction);
            let mut holds = [BEGINS; 4];
            let mut multipliers = vec![0.0; r];
            let found = contacts.begin_beyond_cones(&mut holds, &mut multipliers);
            assert_eq!(found, Some(false), "{over:e}");
            // The legs share the excess, as forces over √(1 + μ²), in units of rows and of the loads.
            let margin = contacts.margin_of_sticking(4);
            let root = |row: usize| plate.gram[row * r + row].sqrt();
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
