//! The central path of Coulomb's law: an interior point method that guesses the mode of many contacts
//! in space.
//!
//! With the correction of De Saxcé and Feng, `ũ = (ẏ_n + μ |ẏ_t|, ẏ_t)`, Coulomb's law is the cone
//! complementarity problem
//!
//! ```text
//!     ẏ = b + G λ        K ∋ λ ⊥ ũ ∈ K*        K: μ λ_n ≥ |λ_t|
//! ```
//!
//! (Acary, Cadoux, Lemaréchal & Malick, 2011). A contact that slips already has the ray
//! `λ = λ_n (1, −μ d)` for its cone, and `0 ≤ λ_n ⊥ ẏ_n ≥ 0`. The points with
//!
//! ```text
//!     τ ũ + ω λ = ∇ Σ log(μ² λ_n² − |λ_t|²)        along rays 2/λ_n on the right
//! ```
//!
//! are inside the cones and lead to a solution as `τ` grows. Newton's method follows them; damped
//! steps stay inside, since the barrier is self-concordant. The term with `ω` keeps multipliers
//! bounded that only squeeze. Since `ũ` is not monotonic the path may end: it gives guesses of a
//! mode, which are verified elsewhere.

use super::Given;
use crate::impact::multipliers::{ContactRates, Hold, Parts, unit};
use crate::linalg::dot;
use crate::linalg::lu;

/// `τ` grows tenfold until it reaches this.
const LAST: f64 = 1e10;
/// From here on a point tells a mode.
const TELLS: f64 = 1e4;
/// Steps of Newton's method for one `τ`.
const STEPS: usize = 30;
/// Local size of a step below which it is whole, and below which the next `τ` is looked at.
const WHOLE: f64 = 0.25;
const CENTRED: f64 = 0.05;
/// `ω`: multipliers that only squeeze grow to some ten loads.
const BOUND: f64 = 1e-2;

/// A point of the path, in units in which loads and the diagonal of `G` are about 1.
pub(super) struct CoulombPath<'a> {
    contacts: &'a ContactRates<'a>,
    /// The multiplier of a contact that is on a ray; else it is in a round cone.
    rays: Vec<Option<Parts>>,
    friction: Vec<f64>,
    /// The unknown multipliers, and where those of each contact begin.
    point: Vec<f64>,
    first: Vec<usize>,
    /// Rates of all rows.
    rates: Vec<f64>,
    tau: f64,
}

impl<'a> CoulombPath<'a> {
    /// With cones that are narrower by a part of their friction.
    pub(super) fn new(contacts: &'a ContactRates<'a>, given: &[Given], narrower: f64) -> Self {
        let m = contacts.contacts;
        let friction: Vec<f64> = (0..m)
            .map(|i| contacts.friction[i] * (1.0 - narrower))
            .collect();
        let ray = |i: usize| {
            let direction = given.get(i).and_then(|given| given.direction);
            match direction {
                _ if friction[i] == 0.0 => Some([1.0, 0.0, 0.0]),
                Some([x, y]) => Some([1.0, -friction[i] * x, -friction[i] * y]),
                None => None,
            }
        };
        let rays: Vec<Option<Parts>> = (0..m).map(ray).collect();
        let (mut first, mut point) = (Vec::with_capacity(m), Vec::new());
        for ray in &rays {
            first.push(point.len());
            point.push(1.0);
            if ray.is_none() {
                point.extend([0.0; 2]);
            }
        }
        Self {
            contacts,
            rays,
            friction,
            point,
            first,
            rates: vec![0.0; contacts.rows()],
            tau: 0.1,
        }
    }

    /// Goes on to the next `τ`; false at the end of the path.
    pub(super) fn advance(&mut self) -> bool {
        while self.tau < LAST {
            self.tau *= 10.0;
            if !self.centre() {
                return false;
            }
            if self.tau >= TELLS {
                return true;
            }
        }
        false
    }

    /// The mode that the point tells: of force and rate of a contact, whose product is of the size `1/τ`,
    /// the smaller one vanishes.
    pub(super) fn mode(&self, holds: &mut Vec<Hold>) {
        holds.clear();
        for (i, ray) in self.rays.iter().enumerate() {
            let push = self.point[self.first[i]];
            let is_open = self.rates[i] > push;
            holds.push(match *ray {
                _ if is_open => Hold::Open,
                Some(_) if self.friction[i] == 0.0 => Hold::Slip([0.0; 2]),
                Some([_, x, y]) => {
                    let mu = self.friction[i];
                    Hold::Slip([-x / mu, -y / mu])
                }
                None => {
                    let slip = self.contacts.along(i, |row| self.rates[row]);
                    let [x, y] = [1, 2].map(|k| self.point[self.first[i] + k]);
                    let inside = self.friction[i] * push - x.hypot(y);
                    match unit(slip) {
                        Some(direction) if slip[0].hypot(slip[1]) > inside => Hold::Onset {
                            direction,
                            pace: 0.0,
                        },
                        _ => Hold::Stick,
                    }
                }
            });
        }
    }

    /// The combination of rows of a contact that its unknown `k` multiplies.
    fn parts(&self, i: usize, k: usize) -> Parts {
        self.rays[i].unwrap_or_else(|| std::array::from_fn(|part| f64::from(u8::from(part == k))))
    }

    /// How many unknowns a contact has.
    fn unknowns(&self, i: usize) -> usize {
        if self.rays[i].is_some() { 1 } else { 3 }
    }

    /// Newton's method for the point of the path at this `τ`; false where it cannot go on.
    fn centre(&mut self) -> bool {
        let n = self.point.len();
        let (mut right, mut matrix) = (vec![0.0; n], vec![0.0; n * n]);
        let mut local = vec![0.0; n * 3];
        let mut units = vec![0.0; n];
        for _ in 0..STEPS {
            self.find_rates();
            self.set_up(&mut right, &mut matrix, &mut local);
            // Unknowns in units in which the diagonal is 1: their sizes differ by up to τ.
            for (k, unit) in units.iter_mut().enumerate() {
                *unit = 1.0 / matrix[k * n + k].abs().sqrt();
            }
            for (row, a) in matrix.chunks_exact_mut(n).zip(&units) {
                for (entry, b) in row.iter_mut().zip(&units) {
                    *entry *= a * b;
                }
            }
            for (entry, a) in right.iter_mut().zip(&units) {
                *entry *= -a;
            }
            if !lu::solve_once(&mut matrix, &mut right) {
                return false;
            }
            for (entry, a) in right.iter_mut().zip(&units) {
                *entry *= a;
            }
            let size = self.local_size(&right, &local);
            if !size.is_finite() {
                return false;
            }
            let by = if size > WHOLE {
                1.0 / (1.0 + size)
            } else {
                1.0
            };
            for (x, step) in self.point.iter_mut().zip(&right) {
                *x += by * step;
            }
            if size <= CENTRED {
                break;
            }
        }
        self.find_rates();
        true
    }

    /// `ẏ = b + G λ`
    fn find_rates(&mut self) {
        let mut multipliers = vec![0.0; self.contacts.rows()];
        for i in 0..self.contacts.contacts {
            for k in 0..self.unknowns(i) {
                let parts = self.parts(i, k);
                for (row, part) in self.contacts.taken(i, &parts) {
                    multipliers[row] += part * self.point[self.first[i] + k];
                }
            }
        }
        for row in 0..self.contacts.rows() {
            self.rates[row] = self.contacts.rate(row, &multipliers);
        }
    }

    /// Writes the equations of the path and their derivatives; beside them the Hessians of the barrier,
    /// three entries an unknown.
    fn set_up(&self, right: &mut [f64], matrix: &mut [f64], local: &mut [f64]) {
        let (contacts, n) = (self.contacts, self.point.len());
        let (r, tau) = (contacts.rows(), self.tau);
        // A smooth speed of slip: it is that of the slip where this is larger than 1/τ.
        let (smooth, mut along) = (1.0 / tau, vec![0.0; r]);
        for i in 0..contacts.contacts {
            let (at, mu) = (self.first[i], self.friction[i]);
            let rows = self.unknowns(i);
            let slip = contacts.along(i, |row| self.rates[row]);
            let speed = slip[0].hypot(slip[1]).hypot(smooth);
            for k in 0..rows {
                // The row of G, with that of the correction.
                let row = contacts.row(i, k);
                along.copy_from_slice(&contacts.gram[row * r..(row + 1) * r]);
                right[at + k] = tau * self.rates[row];
                if k == 0 && rows > 1 {
                    right[at] += tau * mu * (speed - smooth);
                    for (tangent, slip) in slip.iter().enumerate() {
                        let row = contacts.row(i, 1 + tangent) * r;
                        for (to, g) in along.iter_mut().zip(&contacts.gram[row..row + r]) {
                            *to += mu * slip / speed * g;
                        }
                    }
                }
                let entries = &mut matrix[(at + k) * n..(at + k + 1) * n];
                for j in 0..contacts.contacts {
                    for l in 0..self.unknowns(j) {
                        let parts = self.parts(j, l);
                        let taken = contacts.taken(j, &parts);
                        let entry: f64 = taken.map(|(row, part)| part * along[row]).sum();
                        entries[self.first[j] + l] = tau * entry;
                    }
                }
            }
            self.add_barrier(i, right, matrix, local);
        }
    }

    /// Adds the barrier of a contact, and the bound of its multipliers.
    fn add_barrier(&self, i: usize, right: &mut [f64], matrix: &mut [f64], local: &mut [f64]) {
        let (at, n, mu) = (self.first[i], self.point.len(), self.friction[i]);
        if self.rays[i].is_some() {
            let x = self.point[at];
            right[at] += BOUND * x - 2.0 / x;
            local[3 * at] = 2.0 / (x * x) + BOUND;
            matrix[at * n + at] += local[3 * at];
            return;
        }
        // −log D with D = μ² λ_n² − |λ_t|²: gradient −∇D/D, Hessian ∇D ∇Dᵀ/D² − ∇²D/D.
        let point: [f64; 3] = std::array::from_fn(|k| self.point[at + k]);
        let curves = [2.0 * mu * mu, -2.0, -2.0];
        let slope: [f64; 3] = std::array::from_fn(|k| curves[k] * point[k]);
        let room = 0.5 * dot(&slope, &point);
        for a in 0..3 {
            right[at + a] += BOUND * point[a] - slope[a] / room;
            for b in 0..3 {
                let mut bend = slope[a] * slope[b] / (room * room);
                if a == b {
                    bend += BOUND - curves[a] / room;
                }
                local[3 * (at + a) + b] = bend;
                matrix[(at + a) * n + at + b] += bend;
            }
        }
    }

    /// The size of a step by the Hessian of the barrier: below 1 it stays inside.
    fn local_size(&self, step: &[f64], local: &[f64]) -> f64 {
        let mut size = 0.0;
        for (i, &at) in self.first.iter().enumerate() {
            for a in 0..self.unknowns(i) {
                for b in 0..self.unknowns(i) {
                    size += step[at + a] * local[3 * (at + a) + b] * step[at + b];
                }
            }
        }
        size.sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two round cones and a ray, at a point inside.
    #[test]
    fn derivatives_of_the_equations_are_their_differences() {
        let rows: Vec<[f64; 5]> = (0..9)
            .map(|i| std::array::from_fn(|k| (1.3 * f64::from(i) + 2.1 * k as f64).sin()))
            .collect();
        let gram: Vec<f64> = rows
            .iter()
            .flat_map(|a| rows.iter().map(move |b| dot(a, b)))
            .collect();
        let free = [-1.0, -0.6, -0.8, 0.4, -0.3, 0.2, 0.7, -0.5, 0.1];
        let contacts = ContactRates {
            contacts: 3,
            tangents: 2,
            gram: &gram,
            free: &free,
            friction: &[0.4, 0.7, 0.3],
        };
        let mut given = [Given::default(); 3];
        given[1].direction = Some([0.6, 0.8]);
        let mut path = CoulombPath::new(&contacts, &given, 0.0);
        path.tau = 10.0;
        path.point
            .copy_from_slice(&[1.0, 0.1, -0.2, 0.8, 1.2, 0.05, 0.2]);
        let (point, n) = (path.point.clone(), path.point.len());
        let mut local = vec![0.0; 3 * n];
        let mut at = |x: &[f64], matrix: &mut [f64]| {
            let mut right = vec![0.0; n];
            path.point.copy_from_slice(x);
            path.find_rates();
            path.set_up(&mut right, matrix, &mut local);
            right
        };
        let (mut matrix, mut other) = (vec![0.0; n * n], vec![0.0; n * n]);
        at(&point, &mut matrix);
        for k in 0..n {
            let step = 1e-6;
            let moved = |by: f64| {
                let mut x = point.clone();
                x[k] += by;
                x
            };
            let [before, after] = [-step, step].map(|by| at(&moved(by), &mut other));
            for i in 0..n {
                let slope = (after[i] - before[i]) / (2.0 * step);
                let entry = matrix[i * n + k];
                assert!(
                    (entry - slope).abs() < 1e-6 * (1.0 + slope.abs()),
                    "{i} {k}: {entry} {slope}"
                );
            }
        }
    }
}
