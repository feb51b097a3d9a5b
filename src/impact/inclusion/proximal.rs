//! The implicit step with the round cone of friction, in the plane or in space.
//!
//! Impulses `λ` with the normal ones between bounds, `u' = u + G λ`:
//!
//! ```text
//!     λn ∈ [low, high]      un' ≥ 0 where λn < high      un' ≤ 0 where λn > low
//!     |λt| ≤ μ λn           λt = −μ λn ut'/|ut'| where ut' ≠ 0
//! ```
//!
//! For prescribed normal impulses (`low = high`) this is the convex problem
//! `min ½|v' − v − M⁻¹ Jnᵀ λn|² + Σ μ λn |Jt v'|`, whose velocity is unique. Solved by Newton's
//! method on the projection equations (Alart & Curnier 1991), with sweeps of projections where that
//! does not descend.
//!
//! Where the rows `H` of contacts that are held (they push, and stick) depend on each other, speeds may have
//! a part that no impulses on them change: with `C = S G_HH S` of unit diagonal and `N` the projector onto
//! its null space, `N S u'_H = N S u_H`. For speeds of a motion, `u = J v`, of exactly dependent rows it is zero.
//! A row counts as dependent where its part that is orthogonal to the others is shorter than `δ` of it, and
//! a motion of momentum `p = √(vᵀ M v)` has speeds up to `δ p` along that part: `|N S u| ≤ √k δ p` for `k`
//! dependent rows. Speeds that are differences of gaps over a step, or slips by tangents within it, differ
//! from `J v` at the second order and have such a part too. Held contacts keep it within that bound, and all
//! other residuals are as small as always. The exact solution would have one of them slide so slowly, far off:
//! the impulses along the null space, a stress between the contacts, rise until a cone is full.

use nalgebra::DMatrix;

use crate::impact::{ImpactFailure, ImpactProblem};
use crate::lcp;
use crate::linalg::dot;
use crate::linalg::least_norm::{DEPENDENT, least_norm, least_norm_size, null_projector};
use crate::linalg::lu::solve_once;

/// Residual allowed, of the greatest impulse.
const TOLERANCE: f64 = 1e-11;
/// Newton's steps in a row, halvings of a step, sweeps in a row, and rounds of both.
const NEWTON: usize = 30;
const HALVINGS: i32 = 10;
const SWEEPS: usize = 200;
const ROUNDS: usize = 20;

/// Workspace; steps allocate nothing, but where dependent contacts defeat the method.
#[derive(Clone, Debug)]
pub(crate) struct ConeStep {
    pub(super) contacts: usize,
    pub(super) tangents: usize,
    /// Factors from a speed to an impulse, row by row.
    pub(super) rates: Vec<f64>,
    pub(super) after: Vec<f64>,
    pub(super) residual: Vec<f64>,
    change: Vec<f64>,
    trial: Vec<f64>,
    jacobian: Vec<f64>,
}

impl ConeStep {
    pub(crate) fn new(problem: &ImpactProblem) -> Self {
        let (m, t) = (problem.contacts(), problem.tangents());
        let g = problem.delassus();
        let size = m + t * m;
        let rates = (0..size).map(|row| {
            if row < m {
                return g[(row, row)].recip();
            }
            let first = m + (row - m) / t * t;
            let trace: f64 = (first..first + t).map(|k| g[(k, k)]).sum();
            // A tangent along which nothing moves takes the rate of its normal.
            let normal = g[((row - m) / t, (row - m) / t)];
            if trace > 0.0 {
                trace.recip()
            } else {
                normal.recip()
            }
        });
        Self {
            contacts: m,
            tangents: t,
            rates: rates.collect(),
            after: vec![0.0; size],
            residual: vec![0.0; size],
            change: vec![0.0; size],
            trial: vec![0.0; size],
            jacobian: vec![0.0; size * size],
        }
    }

    /// Solves with normal impulses from `low` to `high`, from the impulses in `lambda`, which get the solution;
    /// gives the residual (N s).
    pub(crate) fn solve(
        &mut self,
        problem: &ImpactProblem,
        speeds: &[f64],
        low: &[f64],
        high: &[f64],
        lambda: &mut [f64],
    ) -> Result<f64, ImpactFailure> {
        let step = Step {
            delassus: problem.delassus(),
            friction: problem.friction(),
            speeds,
            low,
            high,
        };
        let of_speeds = self.of_speeds(speeds);
        let mut allowed = 0.0;
        let mut found = f64::INFINITY;
        for _ in 0..ROUNDS {
            problem.check_interrupt()?;
            for _ in 0..NEWTON {
                found = self.form_residual(&step, lambda);
                allowed = allowed_of(of_speeds, lambda);
                if found <= allowed {
                    self.project(&step, lambda);
                    return Ok(found);
                }
                if !self.newton_step(&step, lambda, found) {
                    break;
                }
            }
            for _ in 0..SWEEPS {
                self.sweep(&step, lambda);
            }
            if let Some(found) = self.hold(&step, lambda, of_speeds, problem.kinetic_norm()) {
                self.project(&step, lambda);
                return Ok(found);
            }
        }
        Err(ImpactFailure::Lcp(lcp::LcpFailure::Residual {
            residual: found,
            allowed,
        }))
    }

    /// The greatest impulse that stops a row by itself.
    fn of_speeds(&self, speeds: &[f64]) -> f64 {
        let scaled = speeds.iter().zip(&self.rates);
        let scaled = scaled.map(|(u, rate)| u.abs() * rate);
        scaled.fold(0.0, f64::max)
    }

    /// The residual that is allowed of impulses.
    pub(super) fn allowed(&self, speeds: &[f64], lambda: &[f64]) -> f64 {
        allowed_of(self.of_speeds(speeds), lambda)
    }

    /// The impulses of least norm, beside those in `lambda`, that stop the held contacts as far as impulses
    /// can. Gives the residual where that solves the step but for speeds that dependent rows may have by a
    /// motion of this momentum (√J); `lambda` is kept otherwise.
    #[cold]
    fn hold(
        &mut self,
        step: &Step<'_>,
        lambda: &mut [f64],
        of_speeds: f64,
        momentum: f64,
    ) -> Option<f64> {
        self.form_residual(step, lambda);
        let held = self.held(step, lambda);
        let n = held.len();
        // Scaled by the roots of the diagonal: `C`, and the speeds that are to vanish.
        let root: Vec<f64> = held.iter().map(|&i| step.delassus[(i, i)].sqrt()).collect();
        let mut gram = vec![0.0; n * n];
        for (row, &i) in held.iter().enumerate() {
            for (column, &j) in held.iter().enumerate() {
                gram[row * n + column] = step.delassus[(i, j)] / (root[row] * root[column]);
            }
        }
        let (mut projector, mut scratch) = (vec![0.0; n * n], vec![0.0; least_norm_size(n)]);
        let dependent = n - null_projector(&gram, n, &mut projector, &mut scratch);
        if dependent == 0 {
            return None;
        }
        let speeds: Vec<f64> = held
            .iter()
            .zip(&root)
            .map(|(&i, r)| self.after[i] / r)
            .collect();
        let kept: Vec<f64> = projector
            .chunks_exact(n)
            .map(|row| dot(row, &speeds))
            .collect();
        let most = (dependent as f64 * DEPENDENT).sqrt() * momentum;
        let size = dot(&kept, &kept).sqrt();
        if size.is_nan() || size > most {
            return None;
        }
        let mut change: Vec<f64> = speeds.iter().zip(&kept).map(|(s, k)| k - s).collect();
        least_norm(&gram, n, &mut change, &mut scratch);
        let mut trial = lambda.to_vec();
        for ((&i, change), root) in held.iter().zip(&change).zip(&root) {
            trial[i] += change / root;
        }
        let found = self.form_residual(step, &trial);
        // What is left beside the speeds of no motion is judged as ever; also that the same are held.
        if self.held(step, &trial) != held {
            return None;
        }
        for ((&i, kept), root) in held.iter().zip(&kept).zip(&root) {
            self.residual[i] -= self.rates[i] * kept * root;
        }
        let allowed = allowed_of(of_speeds, &trial);
        let is_solved = self.residual.iter().all(|r| r.abs() <= allowed);
        is_solved.then(|| {
            lambda.copy_from_slice(&trial);
            found
        })
    }

    /// The rows whose speeds are to vanish, at the speeds formed last: normals between their bounds, and
    /// tangents within their cones.
    pub(super) fn held(&self, step: &Step<'_>, lambda: &[f64]) -> Vec<usize> {
        let (m, t) = (self.contacts, self.tangents);
        let pushes = |i: &usize| {
            let aim = lambda[*i] - self.rates[*i] * self.after[*i];
            aim > step.low[*i] && aim < step.high[*i]
        };
        let sticks = |i: &usize| step.friction[*i] > 0.0 && self.aim(step, lambda, *i).1 >= 1.0;
        let tangents = (0..m)
            .filter(sticks)
            .flat_map(|i| m + t * i..m + t * (i + 1));
        (0..m).filter(pushes).chain(tangents).collect()
    }

    /// The distances of the impulses from their projections; gives the greatest.
    pub(super) fn form_residual(&mut self, step: &Step<'_>, lambda: &[f64]) -> f64 {
        let (m, t) = (self.contacts, self.tangents);
        step.speeds_after(lambda, &mut self.after);
        for i in 0..m {
            let aim = lambda[i] - self.rates[i] * self.after[i];
            self.residual[i] = lambda[i] - aim.max(step.low[i]).min(step.high[i]);
            let (aim, part) = self.aim(step, lambda, i);
            for axis in 0..t {
                let row = m + t * i + axis;
                self.residual[row] = lambda[row] - part * aim[axis];
            }
        }
        // NaN counts as infinite.
        let size = |r: &f64| {
            if r.is_finite() {
                r.abs()
            } else {
                f64::INFINITY
            }
        };
        self.residual.iter().map(size).fold(0.0, f64::max)
    }

    /// The friction that a contact tends to, and the part of it that its cone allows.
    pub(super) fn aim(&self, step: &Step<'_>, lambda: &[f64], i: usize) -> ([f64; 2], f64) {
        let (m, t) = (self.contacts, self.tangents);
        let mut aim = [0.0; 2];
        for (axis, aim) in aim.iter_mut().enumerate().take(t) {
            let row = m + t * i + axis;
            *aim = lambda[row] - self.rates[row] * self.after[row];
        }
        let (size, most) = (aim[0].hypot(aim[1]), step.friction[i] * lambda[i].max(0.0));
        (aim, if size > most { most / size } else { 1.0 })
    }

    /// One step of Newton's method that makes the residual smaller; false when there is none.
    fn newton_step(&mut self, step: &Step<'_>, lambda: &mut [f64], found: f64) -> bool {
        self.form_jacobian(step, lambda);
        self.change.copy_from_slice(&self.residual);
        let solved = solve_once(&mut self.jacobian, &mut self.change);
        if !solved || self.change.iter().any(|d| !d.is_finite()) {
            return false;
        }
        // The residual is formed with all of the workspace but this.
        let mut trial = std::mem::take(&mut self.trial);
        let accepted = (0..HALVINGS).any(|halving| {
            let part = 0.5f64.powi(halving);
            for ((to, from), d) in trial.iter_mut().zip(&*lambda).zip(&self.change) {
                *to = from - part * d;
            }
            self.form_residual(step, &trial) <= (1.0 - 0.1 * part) * found
        });
        if accepted {
            lambda.copy_from_slice(&trial);
        }
        self.trial = trial;
        accepted
    }

    /// The derivative of the residual.
    fn form_jacobian(&mut self, step: &Step<'_>, lambda: &[f64]) {
        let (m, t) = (self.contacts, self.tangents);
        let size = self.after.len();
        self.jacobian.fill(0.0);
        for i in 0..m {
            let aim = lambda[i] - self.rates[i] * self.after[i];
            let row = &mut self.jacobian[i * size..(i + 1) * size];
            if aim > step.low[i] && aim < step.high[i] {
                for (j, to) in row.iter_mut().enumerate() {
                    *to = self.rates[i] * step.delassus[(i, j)];
                }
            } else {
                row[i] = 1.0;
            }
            let (aim, part) = self.aim(step, lambda, i);
            let norm = aim[0].hypot(aim[1]);
            let unit = if norm > 0.0 {
                aim.map(|a| a / norm)
            } else {
                [0.0; 2]
            };
            for axis in 0..t {
                let of = m + t * i + axis;
                let slides = part < 1.0;
                let row = &mut self.jacobian[of * size..(of + 1) * size];
                row[of] += 1.0;
                // −part (I − e eᵀ) (dλ − rate G dλ), and e μ dλn
                for other in 0..t {
                    let same = f64::from(u8::from(other == axis));
                    let across = if slides {
                        same - unit[axis] * unit[other]
                    } else {
                        same
                    };
                    let from = m + t * i + other;
                    row[from] -= part * across;
                    for (j, to) in row.iter_mut().enumerate() {
                        *to += part * across * self.rates[from] * step.delassus[(from, j)];
                    }
                }
                if slides && lambda[i] > 0.0 {
                    row[i] -= step.friction[i] * unit[axis];
                }
            }
        }
    }

    /// Projects the impulses of one contact after another.
    fn sweep(&mut self, step: &Step<'_>, lambda: &mut [f64]) {
        let (m, t) = (self.contacts, self.tangents);
        for i in 0..m {
            self.after[i] = step.speed_after(i, lambda);
            let aim = lambda[i] - self.rates[i] * self.after[i];
            lambda[i] = aim.max(step.low[i]).min(step.high[i]);
            for row in m + t * i..m + t * (i + 1) {
                self.after[row] = step.speed_after(row, lambda);
            }
            let (aim, part) = self.aim(step, lambda, i);
            for axis in 0..t {
                lambda[m + t * i + axis] = part * aim[axis];
            }
        }
    }

    /// Removes what rounding left outside the cones.
    pub(super) fn project(&self, step: &Step<'_>, lambda: &mut [f64]) {
        let (m, t) = (self.contacts, self.tangents);
        for i in 0..m {
            let push = lambda[i].max(step.low[i]).min(step.high[i]);
            lambda[i] = push;
            let friction = &mut lambda[m + t * i..m + t * (i + 1)];
            let size = friction.iter().map(|f| f * f).sum::<f64>().sqrt();
            let most = step.friction[i] * push;
            if size > most {
                for f in friction {
                    *f *= most / size;
                }
            }
        }
    }
}

fn allowed_of(of_speeds: f64, lambda: &[f64]) -> f64 {
    TOLERANCE * lambda.iter().fold(of_speeds, |most, l| most.max(l.abs()))
}

/// The data of one step.
pub(super) struct Step<'s> {
    pub(super) delassus: &'s DMatrix<f64>,
    pub(super) friction: &'s [f64],
    pub(super) speeds: &'s [f64],
    pub(super) low: &'s [f64],
    pub(super) high: &'s [f64],
}

impl Step<'_> {
    fn speeds_after(&self, lambda: &[f64], after: &mut [f64]) {
        after.copy_from_slice(self.speeds);
        for (column, l) in self.delassus.column_iter().zip(lambda) {
            for (to, g) in after.iter_mut().zip(column.iter()) {
                *to += g * l;
            }
        }
    }

    fn speed_after(&self, row: usize, lambda: &[f64]) -> f64 {
        // The matrix is symmetric: a column for a row.
        let column = self.delassus.column(row);
        let change: f64 = column.iter().zip(lambda).map(|(g, l)| g * l).sum();
        self.speeds[row] + change
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;
    use crate::linalg::largest;
    use crate::random::{symmetric, word};

    /// Two velocities driven by the same normal impulses never move apart in the metric of kinetic
    /// energy: friction is the subgradient of a convex function.
    #[test]
    fn equal_programs_bring_velocities_together() {
        for t in [1, 2] {
            for case in 0..40u64 {
                let mut index = 0;
                let mut draw = || {
                    index += 1;
                    symmetric(word(case, index))
                };
                let (m, dim) = (3, 4 + t);
                // unit mass
                let j = DMatrix::from_fn(m + t * m, dim, |_, _| draw());
                let mut v = [0, 1].map(|_| DVector::from_fn(dim, |_, _| draw()));
                let mu: Vec<f64> = (0..m).map(|_| draw().abs()).collect();
                let g = &j * j.transpose();
                let problem = ImpactProblem::with_tangents(g, &j * &v[0], &mu).unwrap();
                let mut cone = ConeStep::new(&problem);
                let mut apart = (&v[0] - &v[1]).norm();
                for _ in 0..8 {
                    let push: Vec<f64> = (0..m).map(|_| 0.2 * draw().abs()).collect();
                    for v in &mut v {
                        let u = &j * &*v;
                        let mut lambda = vec![0.0; m + t * m];
                        cone.solve(&problem, u.as_slice(), &push, &push, &mut lambda)
                            .unwrap();
                        assert_eq!(&lambda[..m], &push[..]);
                        *v += j.transpose() * DVector::from_vec(lambda);
                    }
                    let now = (&v[0] - &v[1]).norm();
                    assert!(now <= apart + 1e-10, "{t} {case}: {now} {apart}");
                    apart = now;
                }
            }
        }
    }

    /// A block that lands on two corners with friction, its base not quite level: the slips that come to rest are
    /// those of no motion by 1e-9 of the speed. `G`, speeds and momentum in units of length, mass and time.
    fn landing(by: f64, [length, mass, time]: [f64; 3]) -> (ImpactProblem, Vec<f64>) {
        let (theta, half, height) = (3.5e-8, 0.8f64, 0.92f64);
        let inertia = (half * half + height * height) / 3.0;
        // Rows of the corners: normals (0, 1, ∓a), tangents (1, 0, h ± a θ).
        let rows = [
            [0.0, 1.0, -half],
            [0.0, 1.0, half],
            [1.0, 0.0, height + half * theta],
            [1.0, 0.0, height - half * theta],
        ];
        let weights = [1.0, 1.0, inertia.recip()];
        let gram = DMatrix::from_fn(4, 4, |i, j| {
            let sum: f64 = (0..3).map(|k| rows[i][k] * weights[k] * rows[j][k]).sum();
            sum / mass
        });
        let speed = length / time;
        let u = [-1.0, -1.016, -2e-4 + by, -2e-4].map(|u| u * speed);
        let momentum = mass.sqrt() * speed;
        let speeds = DVector::from_row_slice(&u);
        let problem = ImpactProblem::of_motion(gram, speeds, vec![1.0; 2], momentum);
        (problem.unwrap(), u.to_vec())
    }

    #[test]
    fn dependent_contacts_at_rest_keep_speeds_that_no_impulses_change_in_any_units() {
        let any = (vec![0.0; 2], vec![f64::INFINITY; 2]);
        for units in [
            [1.0; 3],
            [1e-3, 1e-6, 0.03],
            [1e3, 1e9, 30.0],
            [1e-9, 1e-15, 1e6],
        ] {
            let speed = units[0] / units[2];
            for by in [0.0, 1e-9, 1e-7] {
                let (problem, u) = landing(by, units);
                let mut lambda = vec![0.0; 4];
                let found =
                    ConeStep::new(&problem).solve(&problem, &u, &any.0, &any.1, &mut lambda);
                assert!(found.is_ok(), "{by:e} {units:?}: {found:?}");
                let after = DVector::from_column_slice(&u)
                    + problem.delassus() * DVector::from_column_slice(&lambda);
                // All corners are at rest but for the two slips, which share what is left.
                assert!(after[0].abs().max(after[1].abs()) < 1e-10 * speed);
                // Normals that stop turn the base by its slope: 0.016 times 3.5e-8 of the speed.
                let most = 0.5 * (by + 5.6e-10) + 1e-10;
                assert!(after[2].abs().max(after[3].abs()) < most * speed);
            }
            // More than a motion of dependent rows has is no residual to be kept.
            let (problem, u) = landing(1e-4, units);
            let mut lambda = vec![0.0; 4];
            if let Ok(found) =
                ConeStep::new(&problem).solve(&problem, &u, &any.0, &any.1, &mut lambda)
            {
                let greatest = largest(&lambda);
                assert!(found <= 2.0 * TOLERANCE * greatest, "{units:?}: {found:e}");
            }
        }
    }
}
