//! The cones of friction of contacts that depend on each other: the multipliers of least size in them
//! (Pfeiffer & Glocker, hyperstatic contacts).
//!
//! In the plane a cone has two edges. In space it is round: edges are added where the distance falls
//! most along them, and in the directions of the multipliers found, until it falls no more.
//!
//! Where no multipliers in the cones do, the way from the nearest of them to the loads says so: along it loads point,
//! and no multiplier does (Farkas' lemma).

use super::contact_rates::{NORMAL, TANGENTS};
use super::{ContactRates, Hold, Parts, unit};
use crate::linalg::nearest::Nearest;
use crate::linalg::scratch::{with_list, with_zeros};
use crate::linalg::{dot, largest};

/// Weight of the size of multipliers beside the equations they fulfil: its square is the error.
const SMALL: f64 = 1e-5;
/// Edges of a cone in space that a search starts with.
const EDGES: u32 = 8;
/// Rounds in which edges are added where the distance falls most.
const ROUNDS: usize = 40;
/// Rounds that lower the distance by less than this part of it, after which it has settled.
const FALLS: f64 = 1e-3;
const STALLED: u32 = 3;
/// Edges closer than this are one (rad): the distance is off by its square.
const SAME: f64 = 1e-6;
/// Distances below this part of the loads are none.
const NONE: f64 = 1e-13;
/// Loads are beyond all multipliers where they are so far from them, as a part of themselves, and where along the way
/// there no multiplier points by more than this part of what it moves: one that holds them has a hundred thousand times
/// their size.
const BEYOND: f64 = 1e-4;
const ALONG: f64 = 1e-9;
/// Loads below this part of the largest are rounding of it.
const ROUNDED: f64 = 1e-8;

impl ContactRates<'_> {
    /// Replaces multipliers that are not unique by those of least size in the cones, where they are
    /// outside and the motion depends on them, since slipping contacts carry friction along.
    pub(crate) fn bring_into_cones(&self, holds: &[Hold], multipliers: &mut [f64]) {
        let slips = |(i, hold): (usize, &Hold)| {
            self.friction[i] != 0.0 && matches!(hold, Hold::Slip(_) | Hold::Onset { .. })
        };
        let depends = self.tangents > 1 && holds.iter().enumerate().any(slips);
        if depends && !self.are_in_cones(holds, multipliers) {
            self.least_in_cones(holds, multipliers);
        }
    }

    /// Adds the multipliers of least norm that the rates of a mode are short of.
    fn correct(&self, holds: &[Hold], multipliers: &mut [f64]) {
        with_zeros(2 * self.rows(), |scratch| {
            let (rates, added) = scratch.split_at_mut(self.rows());
            for (row, rate) in rates.iter_mut().enumerate() {
                *rate = self.rate(row, multipliers);
            }
            ContactRates {
                free: rates,
                ..*self
            }
            .solve(holds, added);
            for (p, added) in multipliers.iter_mut().zip(&*added) {
                *p += added;
            }
        });
    }

    /// True when no multiplier pulls, and those of sticking contacts are in their cones.
    pub(crate) fn are_in_cones(&self, holds: &[Hold], multipliers: &[f64]) -> bool {
        holds.iter().enumerate().all(|(i, hold)| {
            let (push, mu) = (multipliers[i], self.friction[i]);
            let [x, y] = self.along(i, |row| multipliers[row]);
            push >= 0.0 && (*hold != Hold::Stick || mu * push >= x.hypot(y))
        })
    }

    /// Writes the multipliers of least size in the cones of a mode that balance the loads best. Likewise
    /// at most 40 rounds.
    #[cold]
    pub(crate) fn least_in_cones(&self, holds: &[Hold], multipliers: &mut [f64]) {
        // The distance with the multipliers themselves in it, which shall be small.
        let mut search = ConeSearch::new(self, holds, SMALL);
        search.run(self, holds);
        multipliers.fill(0.0);
        for (ray, weight) in search.nearest.coefficients() {
            let Some((i, parts)) = search.edge(ray) else {
                continue;
            };
            for (k, part) in self.taken(*i, parts) {
                multipliers[k] += part * weight;
            }
        }
        // The size that is kept small costs a part of the rates.
        self.correct(holds, multipliers);
    }

    /// True where no multipliers in the cones make the rates of a mode, and none that press where contacts are open.
    /// Slips that begin may have any friction here that those of their cones have, whatever directions are given.
    pub(crate) fn are_beyond_cones(&self, holds: &[Hold]) -> bool {
        let cone = |hold: &Hold| match hold {
            Hold::Onset { .. } => Hold::Stick,
            hold => *hold,
        };
        with_list(2 * holds.len(), |space: &mut [Hold]| {
            let (cones, settled) = space.split_at_mut(holds.len());
            for (i, hold) in holds.iter().enumerate() {
                (cones[i], settled[i]) = (cone(hold), hold.settled());
            }
            let mut search = ConeSearch::new(self, settled, 0.0);
            search.edges = self.edges(cones);
            for i in (0..holds.len()).filter(|&i| holds[i] == Hold::Open) {
                search.let_part(self, i);
            }
            let size = dot(&search.point, &search.point).sqrt();
            // Where these loads are rounding of others they say nothing.
            let all = (0..self.rows()).map(|row| self.free[row] / self.own(row).sqrt());
            let all = largest(all);
            let distance = search.run(self, cones);
            distance > BEYOND * size
                && distance > ROUNDED * all
                && search.is_separating(self, cones, distance)
        })
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
}

/// A search for the point of the cones of a mode that is nearest to its loads.
struct ConeSearch {
    /// The prescribed rates, and the units of their rows.
    rows: Vec<(usize, Parts)>,
    roots: Vec<f64>,
    /// The loads, in units of rows.
    point: Vec<f64>,
    /// The places of those that may be positive.
    parting: Vec<usize>,
    edges: Vec<(usize, Parts)>,
    /// Weight of the multipliers themselves.
    weight: f64,
    nearest: Nearest,
}

impl ConeSearch {
    fn new(contacts: &ContactRates<'_>, holds: &[Hold], weight: f64) -> Self {
        let rows: Vec<(usize, Parts)> = contacts.prescribed(holds).collect();
        let roots: Vec<f64> = rows.iter().map(|row| contacts.unit(row)).collect();
        let mut point: Vec<f64> = rows.iter().map(|row| contacts.load(row)).collect();
        if weight > 0.0 {
            point.resize(rows.len() + contacts.rows(), 0.0);
        }
        Self {
            edges: contacts.edges(holds),
            parting: Vec::new(),
            nearest: Nearest::default(),
            rows,
            roots,
            point,
            weight,
        }
    }

    /// Lets a contact part: its rate may be positive.
    fn let_part(&mut self, contacts: &ContactRates<'_>, i: usize) {
        let row = (i, NORMAL);
        self.parting.push(self.rows.len());
        self.point.push(contacts.load(&row));
        self.roots.push(contacts.unit(&row));
        self.rows.push(row);
    }

    /// The edge that belongs to a ray of the search: before them are the apex and what parts.
    fn edge(&self, ray: usize) -> Option<&(usize, Parts)> {
        let place = ray.checked_sub(1 + self.parting.len())?;
        self.edges.get(place)
    }

    /// True when along the way from the nearest point to the loads no cone goes on: not even between its edges.
    fn is_separating(&self, contacts: &ContactRates<'_>, cones: &[Hold], distance: f64) -> bool {
        let along = |i: usize, parts: Parts| {
            let ray = self.ray(contacts, &(i, parts));
            let size = dot(&ray[1..], &ray[1..]).sqrt();
            (-dot(&ray[1..], self.nearest.gap()) / distance, size)
        };
        // A contact that parts moves the rays' way backwards: its ray is −1 at its place.
        let gap = self.nearest.gap();
        let mut parting = self.parting.iter();
        parting.all(|&place| gap[place] <= ALONG * distance)
            && cones.iter().enumerate().all(|(i, cone)| {
                let mu = contacts.friction[i];
                let (most, size) = match cone.pushes(mu) {
                    None => return true,
                    Some(parts) if *cone != Hold::Stick => along(i, parts),
                    Some(normal) => {
                        let (of_normal, size) = along(i, normal);
                        let [(x, _), (y, _)] = TANGENTS.map(|tangent| along(i, tangent));
                        (of_normal + mu * x.hypot(y), size)
                    }
                };
                most <= ALONG * size
            })
    }

    /// The distance. Round cones get edges, in the directions of the multipliers found and where it
    /// falls most, until it falls no more.
    fn run(&mut self, contacts: &ContactRates<'_>, holds: &[Hold]) -> f64 {
        let size = dot(&self.point, &self.point).sqrt();
        let mut apex = vec![0.0; 1 + self.point.len()];
        apex[0] = 1.0;
        let parts = |&place: &usize| {
            let mut ray = vec![0.0; 1 + self.point.len()];
            ray[1 + place] = -1.0;
            ray
        };
        let parting: Vec<Vec<f64>> = self.parting.iter().map(parts).collect();
        let (mut least, mut stalled, mut known) = (f64::INFINITY, 0, 0);
        for _ in 0..ROUNDS {
            let new = self.edges[known..].iter();
            let rays: Vec<Vec<f64>> = new.map(|edge| self.ray(contacts, edge)).collect();
            let (rays, enough) = (rays.iter().map(Vec::as_slice), NONE * size);
            let found = if known == 0 {
                let first = std::iter::once(&apex).chain(&parting);
                let all = first.map(Vec::as_slice).chain(rays);
                self.nearest.distance(all, &self.point, enough)
            } else {
                self.nearest.distance_with(rays, &self.point, enough)
            };
            known = self.edges.len();
            if found >= (1.0 - FALLS) * least {
                stalled += 1;
            }
            least = least.min(found);
            let is_settled = stalled >= STALLED || found <= NONE * size;
            if is_settled || !self.add_edges(contacts, holds) {
                break;
            }
        }
        least
    }

    /// Adds edges to round cones; false where there are none that are not there already.
    fn add_edges(&mut self, contacts: &ContactRates<'_>, holds: &[Hold]) -> bool {
        let before = self.edges.len();
        for (i, hold) in holds.iter().enumerate() {
            if *hold != Hold::Stick || contacts.tangents < 2 {
                continue;
            }
            let mut found = [0.0; 2];
            for (ray, weight) in self.nearest.coefficients() {
                if let Some((_, parts)) = self.edge(ray).filter(|(j, _)| *j == i) {
                    found = [found[0] + weight * parts[1], found[1] + weight * parts[2]];
                }
            }
            let fall = |parts: Parts| {
                let ray = self.ray(contacts, &(i, parts));
                -dot(&ray[1..], self.nearest.gap())
            };
            let steepest = unit(TANGENTS.map(fall));
            let mu = contacts.friction[i];
            for [x, y] in unit(found).into_iter().chain(steepest) {
                let mut own = self.edges.iter().filter(|(j, _)| *j == i);
                let is_there = |(_, [_, a, b]): &(usize, Parts)| {
                    (x * b - y * a).abs() <= SAME * mu && x * a + y * b > 0.0
                };
                if !own.any(is_there) {
                    self.edges.push((i, [1.0, mu * x, mu * y]));
                }
            }
        }
        self.edges.len() > before
    }

    /// A ray of the search: the rates that a multiplier makes, in units of rows, and with its weight
    /// the multiplier itself.
    fn ray(&self, contacts: &ContactRates<'_>, (i, parts): &(usize, Parts)) -> Vec<f64> {
        let r = contacts.rows();
        let mut ray = vec![0.0];
        for ((at, across), root) in self.rows.iter().zip(&self.roots) {
            let taken = contacts.taken(*at, across).map(|(k, a)| {
                let row = &contacts.gram[k * r..(k + 1) * r];
                let of_parts = contacts.taken(*i, parts).map(|(l, b)| b * row[l]);
                a * of_parts.sum::<f64>()
            });
            ray.push(taken.sum::<f64>() / root);
        }
        ray.resize(1 + self.point.len(), 0.0);
        if self.weight > 0.0 {
            for (k, part) in contacts.taken(*i, parts) {
                ray[1 + self.rows.len() + k] = self.weight * part * contacts.own(k).sqrt();
            }
        }
        ray
    }
}
