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
//! least size in the cones of friction are taken, and the distance of the loads from the cones says
//! whether there are any.

use nalgebra::{DMatrix, DVector};

use crate::linalg::decompose::svd;
use crate::linalg::dot;
use crate::linalg::lu::{self, SINGULAR};
use crate::linalg::nearest::Nearest;
use crate::linalg::scratch::{with_list, with_zeros};

/// Weight of the size of multipliers beside the equations they fulfil: its square is the error.
const SMALL: f64 = 1e-5;
/// Edges of a cone in space that a search starts with.
const EDGES: u32 = 8;
/// Rounds in which edges are added where the distance falls most.
const ROUNDS: usize = 40;
/// Steps of Newton's method for the directions of slips that begin.
const STEPS: usize = 40;
/// Directions that turn by less have settled.
const SETTLED: f64 = 1e-14;

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

/// A combination of the rows of a contact: parts along its normal and its tangents.
type Parts = [f64; 3];
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
    fn pushes(self, mu: f64) -> Option<Parts> {
        match self {
            Self::Open => None,
            Self::Stick => Some(NORMAL),
            Self::Slip([x, y])
            | Self::Onset {
                direction: [x, y], ..
            } => Some([1.0, -mu * x, -mu * y]),
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
    fn taken<'p>(&'p self, i: usize, parts: &'p Parts) -> impl Iterator<Item = (usize, f64)> + 'p {
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

    fn prescribed<'p>(&'p self, holds: &'p [Hold]) -> impl Iterator<Item = (usize, Parts)> + 'p {
        self.each(holds, |_, hold| (hold != Hold::Open).then_some(NORMAL))
    }

    fn unknowns<'p>(&'p self, holds: &'p [Hold]) -> impl Iterator<Item = (usize, Parts)> + 'p {
        self.each(holds, |i, hold| hold.pushes(self.friction[i]))
    }

    /// The system of a mode, row by row: no rate along normals, nor along the tangents of sticking
    /// contacts, nor across a slip that begins.
    fn set_up(&self, holds: &[Hold], matrix: &mut [f64], right: &mut [f64]) {
        let (r, size) = (self.rows(), right.len());
        with_zeros(r, |row| {
            for (at, (i, parts)) in self.prescribed(holds).enumerate() {
                row.fill(0.0);
                right[at] = 0.0;
                for (k, part) in self.taken(i, &parts) {
                    right[at] -= part * self.free[k];
                    for (to, g) in row.iter_mut().zip(&self.gram[k * r..(k + 1) * r]) {
                        *to += part * g;
                    }
                }
                let entries = &mut matrix[at * size..(at + 1) * size];
                for (entry, (j, parts)) in entries.iter_mut().zip(self.unknowns(holds)) {
                    *entry = self.taken(j, &parts).map(|(k, part)| part * row[k]).sum();
                }
                if let (Hold::Onset { pace, .. }, true) = (holds[i], parts[0] == 0.0) {
                    // The rate across it turns with the direction, by −w/(μ λ_n).
                    entries[at] += pace;
                }
            }
        });
    }

    /// Writes the multipliers of a mode, one a row. Where contacts depend on each other, those of
    /// least norm, in or out of the cones: the rates with them are those of the mode; then false.
    pub(crate) fn solve(&self, holds: &[Hold], multipliers: &mut [f64]) -> bool {
        let size = self.prescribed(holds).count();
        multipliers.fill(0.0);
        with_zeros(size * size + size, |scratch| {
            let (matrix, unknowns) = scratch.split_at_mut(size * size);
            self.set_up(holds, matrix, unknowns);
            let is_unique = lu::solve_once(matrix, unknowns);
            if !is_unique {
                self.set_up(holds, matrix, unknowns);
                least_norm(matrix, unknowns);
            }
            for ((i, parts), x) in self.unknowns(holds).zip(&*unknowns) {
                for (k, part) in self.taken(i, &parts) {
                    multipliers[k] += part * x;
                }
            }
            is_unique
        })
    }

    /// Writes the multipliers of a mode, slips that begin among them in whatever direction that is; as
    /// [`solve`](Self::solve).
    pub(crate) fn solve_mode(&self, holds: &mut [Hold], multipliers: &mut [f64]) -> bool {
        if !holds.iter().any(|hold| matches!(hold, Hold::Onset { .. })) {
            return self.solve(holds, multipliers);
        }
        let begun = self.begin_beyond_cones(holds, multipliers);
        begun.unwrap_or_else(|| {
            multipliers.fill(f64::NAN);
            true
        })
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
        for _ in 0..STEPS {
            let is_unique = self.solve(holds, multipliers);
            let mut turned: f64 = 0.0;
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
                holds[i] = Hold::Onset {
                    direction: new,
                    pace: dot(&new, &rates) / size,
                };
            }
            if turned <= SETTLED {
                return Some(is_unique);
            }
        }
        None
    }

    /// The distance of the loads from the cones of a mode, in units of rows, as a part of the loads,
    /// and the multipliers of least size in the cones that balance the loads. At most 40 rounds
    /// with an edge more for each sticking contact in space.
    #[cold]
    pub(crate) fn in_cones(&self, holds: &[Hold], multipliers: &mut [f64]) -> f64 {
        multipliers.fill(0.0);
        let rows: Vec<(usize, Parts)> = self.prescribed(holds).collect();
        let root = |(i, parts): &(usize, Parts)| {
            let own: f64 = self
                .taken(*i, parts)
                .map(|(k, part)| part * part * self.own(k))
                .sum();
            if own > 0.0 { own.sqrt() } else { 1.0 }
        };
        let roots: Vec<f64> = rows.iter().map(root).collect();
        let load = |of: &(usize, Parts)| -> f64 {
            let taken = self.taken(of.0, &of.1);
            taken.map(|(k, part)| -part * self.free[k]).sum()
        };
        let mut point: Vec<f64> = rows.iter().map(load).collect();
        point
            .iter_mut()
            .zip(&roots)
            .for_each(|(b, root)| *b /= root);
        let size = dot(&point, &point).sqrt();
        if size == 0.0 {
            return 0.0;
        }
        let mut edges = self.edges(holds);
        let mut nearest = Nearest::default();
        let mut search = |edges: &mut Vec<(usize, Parts)>, weight: f64, point: &[f64]| {
            let mut generators = vec![origin(point.len())];
            let mut least = f64::INFINITY;
            for _ in 0..ROUNDS {
                for edge in &edges[generators.len() - 1..] {
                    generators.push(self.ray(edge, &rows, &roots, weight));
                }
                let found = nearest.distance(generators.iter().map(Vec::as_slice), point, 0.0);
                let is_settled = found >= (1.0 - 1e-9) * least || found <= 1e-14 * size;
                least = least.min(found);
                if is_settled
                    || !self.add_edges(holds, edges, |edge| {
                        // The slope of the distance along a multiplier.
                        dot(&self.ray(edge, &rows, &roots, weight)[1..], nearest.gap())
                    })
                {
                    break;
                }
            }
            let found: Vec<_> = nearest.coefficients().collect();
            (least, found)
        };
        let (distance, _) = search(&mut edges, 0.0, &point);
        // The distance with the multipliers themselves in it, which shall be small.
        point.resize(rows.len() + self.rows(), 0.0);
        let (_, weights) = search(&mut edges, SMALL, &point);
        for (ray, weight) in weights {
            let Some((i, parts)) = ray.checked_sub(1).and_then(|ray| edges.get(ray)) else {
                continue;
            };
            for (k, part) in self.taken(*i, parts) {
                multipliers[k] += part * weight;
            }
        }
        distance / size
    }

    /// `G_kk`.
    fn own(&self, row: usize) -> f64 {
        self.gram[row * self.rows() + row]
    }

    /// The edges of the cones of closed contacts.
    fn edges(&self, holds: &[Hold]) -> Vec<(usize, Parts)> {
        let mut edges = Vec::new();
        for (i, hold) in holds.iter().enumerate() {
            let mu = self.friction[i];
            match (hold, self.tangents) {
                (Hold::Stick, 1) => edges.extend([1.0, -1.0].map(|to| (i, [1.0, mu * to, 0.0]))),
                (Hold::Stick, 2) => edges.extend((0..EDGES).map(|k| {
                    let (sin, cos) =
                        (std::f64::consts::TAU * f64::from(k) / f64::from(EDGES)).sin_cos();
                    (i, [1.0, mu * cos, mu * sin])
                })),
                _ => edges.extend(hold.pushes(mu).map(|parts| (i, parts))),
            }
        }
        edges
    }

    /// Adds an edge to each round cone where the distance falls most along it; false where no cone
    /// is round.
    fn add_edges(
        &self,
        holds: &[Hold],
        edges: &mut Vec<(usize, Parts)>,
        slope: impl Fn(&(usize, Parts)) -> f64,
    ) -> bool {
        let before = edges.len();
        for (i, hold) in holds.iter().enumerate() {
            if *hold != Hold::Stick || self.tangents < 2 {
                continue;
            }
            let steepest = [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(|parts| -slope(&(i, parts)));
            if let Some([x, y]) = unit(steepest) {
                let mu = self.friction[i];
                edges.push((i, [1.0, mu * x, mu * y]));
            }
        }
        edges.len() > before
    }

    /// A ray of the search: the rates that a multiplier makes, in units of rows, and with a weight
    /// itself.
    fn ray(
        &self,
        (i, parts): &(usize, Parts),
        rows: &[(usize, Parts)],
        roots: &[f64],
        weight: f64,
    ) -> Vec<f64> {
        let r = self.rows();
        let mut ray = vec![0.0];
        for ((at, across), root) in rows.iter().zip(roots) {
            let taken = self.taken(*at, across).map(|(k, a)| {
                let row = &self.gram[k * r..(k + 1) * r];
                a * self.taken(*i, parts).map(|(l, b)| b * row[l]).sum::<f64>()
            });
            ray.push(taken.sum::<f64>() / root);
        }
        if weight > 0.0 {
            ray.resize(1 + rows.len() + r, 0.0);
            for (k, part) in self.taken(*i, parts) {
                ray[1 + rows.len() + k] = weight * part * self.own(k).sqrt();
            }
        }
        ray
    }
}

/// The tip of all cones.
fn origin(size: usize) -> Vec<f64> {
    let mut origin = vec![0.0; 1 + size];
    origin[0] = 1.0;
    origin
}

/// Replaces `right` by the solution of least norm; NaN where there is none.
#[cold]
fn least_norm(matrix: &[f64], right: &mut [f64]) {
    let size = right.len();
    let matrix = DMatrix::from_row_slice(size, size, matrix);
    let b = DVector::from_column_slice(right);
    let greatest = matrix.amax();
    let solved = svd(matrix, true, true).and_then(|svd| svd.solve(&b, SINGULAR * greatest).ok());
    match solved {
        Some(x) => right.copy_from_slice(x.as_slice()),
        None => right.fill(f64::NAN),
    }
}
