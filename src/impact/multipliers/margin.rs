//! How well contacts that depend on each other hold their loads: the margin of the friction cones
//! (friction of redundant contacts; Pfeiffer & Glocker, hyperstatic contacts).
//!
//! ```text
//!     ρ = max { σ : ẏ = b + G λ as the mode prescribes, μ λ_n − |λ_t| ≥ σ √(1 + μ²) }
//! ```
//!
//! in units of rows and of the loads. While `ρ > 0` some admissible multipliers hold the loads; a mode
//! ends where it falls through zero. It is positive inside, so that a search sees it fall: the distance
//! of the loads from the cones is zero there, and says nothing before they are outside.
//!
//! The multipliers of the loads are a point and the null space of the rows. In these coordinates `y`
//! the problem is a small cone program, which Newton's method solves along its central path (Boyd &
//! Vandenberghe, chapter 11): minimise
//! `−τ σ − Σ log(s² − |t|²) − log(1 − σ) − log(R² − |y|²)` for `τ` that rises tenfold, where
//! `s = μ λ_n − σ √(1 + μ²)` and `t = λ_t`. Where contacts slip, the equations may be off by a little.

use nalgebra::DVector;

use super::loads::{Cone, Loads};
use super::{ContactRates, Hold};
use crate::linalg::cholesky::{factor, solve};
use crate::linalg::dot;

/// Limits of how far a margin that is solved for is below its value, near zero and away from it; in
/// between both are blended, so that it has no kinks of its own.
pub(super) const FINE: f64 = 1e-12;
pub(super) const COARSE: f64 = 1e-4;
/// Rates that are left, as a part of the loads, up to which multipliers hold them.
const HELD: f64 = 1e-7;
/// Margins up to this are near zero, and beyond twice this away from it.
const NEAR: f64 = 1e-2;
/// Multipliers that only squeeze count up to this many loads.
const SQUEEZE: f64 = 1e4;
/// Newton steps for one `τ`, whose number doubles the digits once it is below one.
const STEPS: usize = 60;
/// Squares of Newton decrements: below the first a step is whole, below the second it is the last for
/// this `τ`; for the last `τ` the method goes on until it gains nothing, so that margins have no noise.
const WHOLE: f64 = 0.06;
const CENTRED: f64 = 1e-2;

/// Rounding of the Hessian, as a part of its diagonal.
const ROUNDING: f64 = 1e-13;

impl ContactRates<'_> {
    /// The margin `ρ` of the loads in the cones of a mode, between −∞ and 1; NaN where rates are not
    /// finite. Where the multipliers of [`solve`](Self::solve) are well inside, theirs, which is not
    /// above it. Else at most 60 steps of Newton's method for each of 16 values of `τ`.
    #[cold]
    pub(crate) fn margin_in_cones(&self, holds: &[Hold], multipliers: &[f64]) -> f64 {
        // Without a closed contact nothing is held, and there is nothing to decompose.
        if holds.iter().all(|hold| *hold == Hold::Open) {
            return 1.0;
        }
        // Surfaces that move by themselves may ask for rates that no multipliers make. Where these jump, a
        // root is at the side with the smaller value, behind the jump.
        let off = self.residual(holds, multipliers);
        if off > HELD {
            return -HELD;
        }
        let least = self.margin_of(holds, multipliers);
        if least >= 2.0 * NEAR {
            return least.min(1.0);
        }
        // A direction that was found is as good as one that is given.
        let holds: Vec<Hold> = holds.iter().copied().map(Hold::settled).collect();
        let slips =
            |(i, hold): (usize, &Hold)| self.friction[i] != 0.0 && matches!(hold, Hold::Slip(_));
        let may_be_off = holds.iter().enumerate().any(slips);
        let Some(loads) = self.loads(&holds, may_be_off) else {
            return f64::NAN;
        };
        let Some(mut path) = CentralPath::new(&loads) else {
            return f64::NAN;
        };
        let mut found = path.follow(COARSE);
        if found < 2.0 * NEAR {
            let coarse = found;
            found = blend(coarse, path.follow(FINE), coarse);
        }
        blend(least, found, least)
    }

    /// The largest of the prescribed rates that is left with these multipliers, as a part of the loads.
    fn residual(&self, holds: &[Hold], multipliers: &[f64]) -> f64 {
        let (mut left, mut size) = (0.0f64, 0.0f64);
        for row in self.prescribed(holds) {
            let each = self.taken(row.0, &row.1);
            let rate: f64 = each.map(|(k, part)| part * self.rate(k, multipliers)).sum();
            left = left.max(rate.abs() / self.unit(&row));
            size = size.hypot(self.load(&row));
        }
        left / if size > 0.0 { size } else { 1.0 }
    }

    /// The margin of these multipliers.
    fn margin_of(&self, holds: &[Hold], multipliers: &[f64]) -> f64 {
        let rows = self.prescribed(holds);
        let size = rows.fold(0.0f64, |size, row| size.hypot(self.load(&row)));
        let closed = holds
            .iter()
            .enumerate()
            .filter(|(_, hold)| **hold != Hold::Open);
        let each = closed.map(|(i, hold)| {
            let (mu, push) = (self.friction[i], multipliers[i]);
            let [x, y] = self.along(i, |row| multipliers[row]);
            let margin = match hold {
                Hold::Stick if self.tangents > 0 => (mu * push - x.hypot(y)) / 1.0f64.hypot(mu),
                _ => push,
            };
            margin * self.own(i).sqrt() / if size > 0.0 { size } else { 1.0 }
        });
        each.fold(f64::INFINITY, f64::min)
    }
}

/// The first of two values where the last is away from zero, the second where it is near, smoothly.
fn blend(far: f64, near: f64, of: f64) -> f64 {
    let part = ((of - NEAR) / NEAR).clamp(0.0, 1.0);
    let part = part * part * (3.0 - 2.0 * part);
    if part > 0.0 {
        part * far + (1.0 - part) * near
    } else {
        near
    }
}

/// A point of the central path: `y`, then `σ`.
pub(super) struct CentralPath<'a> {
    loads: &'a Loads,
    point: Vec<f64>,
    /// Weight of `σ`.
    tau: f64,
    gradient: Vec<f64>,
    hessian: Vec<f64>,
    /// The gradient of one quantity.
    row: Vec<f64>,
}

impl<'a> CentralPath<'a> {
    /// From the multipliers of least norm; none without contacts.
    pub(super) fn new(loads: &'a Loads) -> Option<Self> {
        let cones = &loads.cones;
        let size = cones.first()?.first()?.len();
        let margin = |cone: &Cone| {
            let value = |of: &DVector<f64>| of[size - 1];
            let tail: f64 = cone.iter().skip(1).map(|t| value(t) * value(t)).sum();
            value(&cone[0]) - tail.sqrt()
        };
        let least = cones.iter().map(margin).fold(0.0, f64::min);
        let mut point = vec![0.0; size];
        point[size - 1] = least - 1.0;
        Some(Self {
            loads,
            point,
            tau: 1.0,
            gradient: vec![0.0; size],
            hessian: vec![0.0; size * size],
            row: vec![0.0; size],
        })
    }

    /// Goes on until `σ` is short of its maximum by no more than this; gives it.
    pub(super) fn follow(&mut self, gap: f64) -> f64 {
        // Each cone, each bound counts twice or once: the gap on the path is their sum over τ.
        let parts = 2.0 * self.loads.cones.len() as f64 + 2.0;
        loop {
            let is_last = parts <= gap * self.tau;
            self.centre(is_last);
            if is_last {
                return self.point[self.point.len() - 1];
            }
            self.tau *= 10.0;
        }
    }

    /// The coordinates `y` of the point.
    pub(super) fn shares(&self) -> &[f64] {
        &self.point[..self.point.len() - 1]
    }

    /// Newton's method for the minimum at this `τ`. A damped step stays inside: the barrier is
    /// self-concordant.
    fn centre(&mut self, is_last: bool) {
        let n = self.point.len();
        let mut before = CENTRED;
        for _ in 0..STEPS {
            self.differentiate();
            // Along the edges of cones the barrier is flat beside them, where `σ` does not change.
            for i in 0..n {
                self.hessian[i * (n + 1)] *= 1.0 + ROUNDING;
            }
            if factor(&mut self.hessian, n).is_none() {
                return;
            }
            self.row.copy_from_slice(&self.gradient);
            solve(&self.hessian, n, &mut self.row);
            let decrement = dot(&self.row, &self.gradient);
            if decrement.is_nan() {
                return;
            }
            let by = if decrement > WHOLE {
                1.0 / (1.0 + decrement.sqrt())
            } else {
                1.0
            };
            for (x, step) in self.point.iter_mut().zip(&self.row) {
                *x -= by * step;
            }
            if decrement <= CENTRED {
                if !is_last || decrement >= 0.5 * before {
                    return;
                }
                before = decrement;
            }
        }
    }

    /// Writes gradient and Hessian at the point.
    fn differentiate(&mut self) {
        let n = self.point.len();
        let last = n - 1;
        self.gradient.fill(0.0);
        self.hessian.fill(0.0);
        let (y, sigma) = (&self.point[..last], self.point[last]);
        let wall = 1.0 / (1.0 - sigma);
        (self.gradient[last], self.hessian[n * n - 1]) = (wall - self.tau, wall * wall);
        let room = SQUEEZE * SQUEEZE - dot(y, y);
        for i in 0..last {
            self.gradient[i] = 2.0 * y[i] / room;
            for k in i..last {
                self.hessian[i * n + k] = 4.0 * y[i] * y[k] / (room * room);
            }
            let stiff = self.tau * self.loads.stiffness[i];
            self.gradient[i] += stiff * y[i];
            self.hessian[i * n + i] += 2.0 / room + stiff;
        }
        for cone in &self.loads.cones {
            // −log D with D = s² − |t|²: its parts by s and t.
            let value = |of: &DVector<f64>| dot(&of.as_slice()[..last], y) + of[last];
            let s = value(&cone[0]) - sigma;
            let tails = cone.iter().skip(1).map(value);
            let across: f64 = tails.map(|t| t * t).sum();
            let room = s * s - across;
            // With w = (s, −t): gradient −2 w/D, Hessian 4 w wᵀ/D² + 2 diag(−1, 1, 1)/D.
            self.row.fill(0.0);
            for (k, of) in cone.iter().enumerate() {
                let weight = if k == 0 { s } else { -value(of) };
                let (parts, sign) = (&of.as_slice()[..last], if k == 0 { -2.0 } else { 2.0 });
                for (to, part) in self.row.iter_mut().zip(parts) {
                    *to += weight * part;
                }
                add_square(&mut self.hessian, sign / room, parts, n);
                if k == 0 {
                    // By σ, along which s falls: the last column of the square.
                    for (i, part) in parts.iter().enumerate() {
                        self.hessian[i * n + last] -= sign / room * part;
                    }
                    self.hessian[n * n - 1] += sign / room;
                }
            }
            self.row[last] = -s;
            add_square(&mut self.hessian, 4.0 / (room * room), &self.row, n);
            for (to, part) in self.gradient.iter_mut().zip(&self.row) {
                *to -= 2.0 * part / room;
            }
        }
    }
}

/// Adds `weight x xᵀ` to the first rows and columns of a symmetric matrix of `n`, above its diagonal.
fn add_square(matrix: &mut [f64], weight: f64, x: &[f64], n: usize) {
    for (i, part) in x.iter().enumerate() {
        let row = &mut matrix[i * n + i..(i + 1) * n];
        for (entry, other) in row.iter_mut().zip(&x[i..]) {
            *entry += weight * part * other;
        }
    }
}

#[cfg(test)]
impl ContactRates<'_> {
    /// The margin of so many contacts that stick.
    pub(super) fn margin_of_sticking(&self, count: usize) -> f64 {
        let holds = vec![Hold::Stick; count];
        let mut multipliers = vec![0.0; self.rows()];
        self.solve(&holds, &mut multipliers);
        self.margin_in_cones(&holds, &multipliers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A unit block of half sides `a` and `b` on two feet, with a force `(x, −z)` on its centre.
    fn margin_of(mu: f64, [a, b]: [f64; 2], [x, z]: [f64; 2]) -> f64 {
        let rows = [[0.0, 1.0, a], [0.0, 1.0, -a], [1.0, 0.0, b], [1.0, 0.0, b]];
        let inverse = [1.0, 1.0, 3.0 / (a * a + b * b)];
        let mut gram = [0.0; 16];
        for (i, p) in rows.iter().enumerate() {
            for (k, q) in rows.iter().enumerate() {
                gram[4 * i + k] = (0..3).map(|c| p[c] * inverse[c] * q[c]).sum();
            }
        }
        let free = rows.map(|row| row[0] * x - row[1] * z);
        let friction = [mu; 2];
        let contacts = ContactRates {
            contacts: 2,
            tangents: 1,
            gram: &gram,
            free: &free,
            friction: &friction,
        };
        let margin = contacts.margin_of_sticking(2);
        // In forces.
        let roots = [0, 1, 2, 3].map(|i| gram[5 * i].sqrt());
        let size = (0..4).fold(0.0f64, |size, i| size.hypot(free[i] / roots[i]));
        margin * size / roots[0] * 1.0f64.hypot(mu)
    }

    #[test]
    fn of_a_block_on_two_feet_it_is_what_the_worse_foot_is_short_of() {
        for (mu, half) in [(0.3, [1.0, 0.5]), (0.8, [0.4, 1.0]), (1.5, [0.2, 0.7])] {
            let [a, b] = half;
            for x in [-2.0, -0.7, -0.1, 0.0, 0.3, 0.5, 1.1, 3.0] {
                // The normal forces are given; friction is shared as the feet can best bear it.
                let [near, far] = [1.0, -1.0].map(|side| 0.5 * (1.0 - side * x * b / a));
                let shared = 0.5 * (mu * (near + far) - f64::abs(x));
                let most = shared.min(mu * near).min(mu * far);
                let found = margin_of(mu, half, [x, 1.0]);
                // Away from zero it is a bound from below.
                let tolerance = if most < 0.003 { 1e-11 } else { most };
                assert!(
                    (found - most).abs() < tolerance * (1.0 + x.abs()),
                    "{mu} {half:?} {x}: {found} {most}"
                );
                assert!(found <= most + 1e-12 * (1.0 + x.abs()));
            }
        }
    }

    /// Of two cones of three quantities and a ray, at a point inside.
    #[test]
    fn the_hessian_is_the_differences_of_the_gradient() {
        let function = |seed: f64, constant: f64| {
            DVector::from_vec(vec![0.3 * seed.sin(), 0.2 * seed.cos(), constant])
        };
        let cone = |seed: f64| {
            vec![
                function(seed, 2.0),
                function(seed + 1.0, 0.3),
                function(seed + 2.0, -0.2),
            ]
        };
        let loads = Loads {
            cones: vec![cone(0.4), cone(1.7), vec![function(2.2, 1.5)]],
            stiffness: vec![0.0, 3.0],
            ..Loads::default()
        };
        let mut path = CentralPath::new(&loads).unwrap();
        path.tau = 4.0;
        let (point, n) = ([0.3, -0.5, -0.4], 3);
        let mut at = |x: [f64; 3]| {
            path.point.copy_from_slice(&x);
            path.differentiate();
            (path.gradient.clone(), path.hessian.clone())
        };
        let (_, hessian) = at(point);
        for k in 0..n {
            let step = 1e-6;
            let moved = |by: f64| {
                let mut x = point;
                x[k] += by;
                x
            };
            let [(before, _), (after, _)] = [-step, step].map(|by| at(moved(by)));
            for i in 0..=k {
                let slope = (after[i] - before[i]) / (2.0 * step);
                let entry = hessian[i * n + k];
                assert!(
                    (entry - slope).abs() < 1e-7 * (1.0 + slope.abs()),
                    "{i} {k}: {entry} {slope}"
                );
            }
        }
    }

    #[test]
    fn it_does_not_depend_on_units_and_has_no_kinks_where_it_is_blended() {
        let at = |x: f64| margin_of(0.5, [1.0, 0.5], [x, 1.0]);
        let big = margin_of(0.5, [1.0, 0.5], [0.3e9, 1e9]);
        assert!((big * 1e-9 - at(0.3)).abs() < 1e-10);
        let mut last = at(0.4);
        for k in 1..400 {
            let here = at(0.4 + 0.0005 * f64::from(k));
            assert!(here < last && last - here < 4e-4, "{k}: {last} {here}");
            last = here;
        }
    }
}
