//! The multipliers that hold contacts in a mode: impulses of an impact, forces of a motion (Pfeiffer &
//! Glocker, "Multibody Dynamics with Unilateral Contacts", 1996).
//!
//! With `ẏ = b + G λ`, speeds after an impact or accelerations of a motion, along normals and
//! tangents:
//!
//! ```text
//!     open   λ = 0
//!     stick  ẏ_n = 0, ẏ_t = 0
//!     slip   ẏ_n = 0, λ_t = −μ λ_n d
//! ```
//!
//! A slip that begins has the direction in which it begins, `ẏ_t = k d`: an equation for `d`, which
//! Newton's method solves. Where contacts depend on each other multipliers are not unique: those of
//! least norm are taken, and `cones` says whether some in the cones of friction balance the loads.
//!
//! * `system`: the linear system of a mode.
//! * `cones`, `margin`: multipliers in the cones, and how far inside they can be.
//! * `scaled`: units for all this.

mod cones;
mod margin;
mod scaled;
mod system;

pub(crate) use scaled::ScaledRates;

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

/// How a contact is held in a mode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) enum Hold {
    #[default]
    Open,
    Stick,
    /// Slips in this direction, a unit vector by tangents; zero without friction.
    Slip([f64; 2]),
    /// Begins to slip, near this direction; and its pace `k/(μ λ_n)`, as far as it is known.
    Onset {
        direction: [f64; 2],
        pace: f64,
    },
}

/// A contact that comes to rest, and the direction of its slip until then.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Halt {
    pub(crate) contact: usize,
    pub(crate) direction: [f64; 2],
}

/// A combination of the rows of a contact: parts along its normal and its tangents.
pub(super) type Parts = [f64; 3];
const NORMAL: Parts = [1.0, 0.0, 0.0];

/// A quarter turn of a direction in space.
fn across([x, y]: [f64; 2]) -> Parts {
    [0.0, -y, x]
}

/// The unit vector along `x`; none for zero.
pub(crate) fn unit([x, y]: [f64; 2]) -> Option<[f64; 2]> {
    let size = x.hypot(y);
    (size > 0.0).then(|| [x / size, y / size])
}

impl Hold {
    /// The multiplier along the normal with the friction that it carries.
    pub(super) fn pushes(self, mu: f64) -> Option<Parts> {
        match self {
            Self::Open => None,
            Self::Stick => Some(NORMAL),
            Self::Slip([x, y])
            | Self::Onset {
                direction: [x, y], ..
            } => Some([1.0, -mu * x, -mu * y]),
        }
    }

    /// Turns the direction of a slip that begins, by an angle.
    pub(super) fn turn(&mut self, by: f64) {
        let (sin, cos) = by.sin_cos();
        if let Self::Onset { direction, .. } = self {
            let [x, y] = *direction;
            *direction = [x * cos - y * sin, x * sin + y * cos];
        }
    }

    /// How many multipliers are free, and rates prescribed, with so many tangents.
    pub(super) fn unknowns(self, tangents: usize) -> usize {
        match self {
            Self::Open => 0,
            Self::Stick => 1 + tangents,
            Self::Onset { .. } if tangents > 1 => 2,
            Self::Slip(_) | Self::Onset { .. } => 1,
        }
    }

    /// The directions along tangents, of so many, in which a multiplier is free and a rate
    /// prescribed.
    fn along(self, tangents: usize) -> impl Iterator<Item = Parts> {
        let (count, parts) = match self {
            Self::Stick => (tangents, [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
            Self::Onset { direction, .. } if tangents > 1 => (1, [across(direction); 2]),
            _ => (0, [NORMAL; 2]),
        };
        parts.into_iter().take(count)
    }
}

/// Contacts at one instant. Rows come as in an impact problem: normals first, then the tangents,
/// contact by contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ContactRates<'a> {
    pub(crate) contacts: usize,
    /// Tangents of a contact.
    pub(crate) tangents: usize,
    /// `G`.
    pub(crate) gram: &'a [f64],
    /// `b`: rates of rows without multipliers.
    pub(crate) free: &'a [f64],
    /// Coefficients of friction.
    pub(crate) friction: &'a [f64],
}

impl ContactRates<'_> {
    /// Number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.contacts * (1 + self.tangents)
    }

    /// The row of a contact along its normal (0) or a tangent.
    #[inline]
    pub(crate) fn row(&self, i: usize, along: usize) -> usize {
        match along {
            0 => i,
            _ => self.contacts + i * self.tangents + along - 1,
        }
    }

    /// The entries of `of` that a combination takes.
    pub(super) fn taken<'p>(
        &'p self,
        i: usize,
        parts: &'p Parts,
    ) -> impl Iterator<Item = (usize, f64)> + 'p {
        let parts = parts.iter().take(1 + self.tangents).enumerate();
        let there = parts.filter(|(_, part)| **part != 0.0);
        there.map(move |(along, part)| (self.row(i, along), *part))
    }

    /// The prescribed rates, or the unknown multipliers where `of` says so: of normals first, then
    /// along tangents.
    fn each<'p>(
        &'p self,
        holds: &'p [Hold],
        of: impl Fn(usize, Hold) -> Option<Parts> + 'p,
    ) -> impl Iterator<Item = (usize, Parts)> + 'p {
        let normals = holds.iter().enumerate();
        let normals = normals.filter_map(move |(i, hold)| of(i, *hold).map(|parts| (i, parts)));
        let along = holds.iter().enumerate();
        normals.chain(along.flat_map(|(i, hold)| hold.along(self.tangents).map(move |p| (i, p))))
    }

    pub(super) fn prescribed<'p>(
        &'p self,
        holds: &'p [Hold],
    ) -> impl Iterator<Item = (usize, Parts)> + 'p {
        self.each(holds, |_, hold| (hold != Hold::Open).then_some(NORMAL))
    }

    pub(super) fn unknowns<'p>(
        &'p self,
        holds: &'p [Hold],
    ) -> impl Iterator<Item = (usize, Parts)> + 'p {
        self.each(holds, |i, hold| hold.pushes(self.friction[i]))
    }

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

    /// The rate along a row with these multipliers.
    pub(crate) fn rate(&self, row: usize, multipliers: &[f64]) -> f64 {
        let r = self.rows();
        self.free[row] + dot(&self.gram[row * r..(row + 1) * r], multipliers)
    }

    /// The parts of a contact in a list by rows along its two tangents.
    pub(crate) fn along(&self, i: usize, of: impl Fn(usize) -> f64) -> [f64; 2] {
        let part = |along: usize| match along {
            along if along <= self.tangents => of(self.row(i, along)),
            _ => 0.0,
        };
        [part(1), part(2)]
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

    /// `G_kk`.
    pub(super) fn own(&self, row: usize) -> f64 {
        self.gram[row * self.rows() + row]
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
