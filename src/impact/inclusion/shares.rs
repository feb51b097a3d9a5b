//! How dependent contacts share their load where some of them slide.
//!
//! With the rows `H` of held contacts (normals that push, tangents that stick) and friction of those that slide
//! along `e_i`, the impulses `z` on `H` solve
//!
//! ```text
//!     B z = −u_H      B = G_H (E + F)      λt_i = μ_i λn_i e_i where i slides
//! ```
//!
//! where `E` places an impulse on its row and `F` the friction that goes with it. Dependent rows leave `z` open.
//! Sweeps find one that hangs on the order of the contacts; here the one of least norm is taken. Impulses of the null
//! space of `B` that friction of different directions or coefficients goes with move the bodies: the motion then
//! depends on the shares.

use nalgebra::DMatrix;

use super::proximal::{ConeStep, Step};
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::linalg::decompose::svd;
use crate::linalg::least_norm::{DEPENDENT as OF_ROWS, least_norm_size, null_projector};

/// Limit of the rounds in which directions of slip and shares settle.
const ROUNDS: usize = 40;
/// Singular values that are smaller than this part of the greatest are zero: rows are rounded, and differences.
const DEPENDENT: f64 = 1e-9;
/// Part of the energy of impulses that move something up to which those of the null space move nothing.
const NOTHING: f64 = 1e-12;

/// How contacts share their load.
struct Shares {
    /// The impulses of least norm were found.
    is_found: bool,
    /// The motion depends on it.
    moves: bool,
}

/// No bounds of normal impulses but zero.
struct Bounds {
    low: Vec<f64>,
    high: Vec<f64>,
}

impl Bounds {
    fn of(problem: &ImpactProblem) -> Self {
        let m = problem.contacts();
        Self {
            low: vec![0.0; m],
            high: vec![f64::INFINITY; m],
        }
    }

    fn step<'s>(&'s self, problem: &'s ImpactProblem, speeds: &'s [f64]) -> Step<'s> {
        Step {
            delassus: problem.delassus(),
            friction: problem.friction(),
            speeds,
            low: &self.low,
            high: &self.high,
        }
    }
}

impl ConeStep {
    /// As [`solve`](Self::solve), with normal impulses of any size.
    pub(crate) fn solve_unbounded(
        &mut self,
        problem: &ImpactProblem,
        speeds: &[f64],
        lambda: &mut [f64],
    ) -> Result<f64, ImpactFailure> {
        let Bounds { low, high } = Bounds::of(problem);
        self.solve(problem, speeds, &low, &high, lambda)
    }

    /// Changes the impulses of a solution to those of least norm; true where the motion depends on how contacts
    /// share their load. They are kept where nothing slides, where contacts are independent, and where none of least
    /// norm is found.
    pub(crate) fn share(
        &mut self,
        problem: &ImpactProblem,
        speeds: &[f64],
        lambda: &mut [f64],
    ) -> bool {
        let bounds = Bounds::of(problem);
        let step = bounds.step(problem, speeds);
        self.form_residual(&step, lambda);
        let is_open = self.slides(&step, lambda) && self.depends(&step, lambda);
        is_open && self.settle(&step, problem.kinetic_norm(), lambda).moves
    }

    /// Changes impulses near a solution to those of least norm, as [`share`](Self::share) does; none where none are
    /// found.
    #[cold]
    pub(crate) fn find_least(
        &mut self,
        problem: &ImpactProblem,
        speeds: &[f64],
        lambda: &mut [f64],
    ) -> Option<bool> {
        let bounds = Bounds::of(problem);
        let step = bounds.step(problem, speeds);
        self.form_residual(&step, lambda);
        let Shares { is_found, moves } = self.settle(&step, problem.kinetic_norm(), lambda);
        is_found.then_some(moves)
    }

    /// Rounds from the mode of these impulses on, until those of least norm in it solve the step.
    fn settle(&mut self, step: &Step<'_>, momentum: f64, lambda: &mut [f64]) -> Shares {
        let (mut trial, mut moves) = (lambda.to_vec(), false);
        for _ in 0..ROUNDS {
            let Some(moves_here) = self.round(step, &mut trial) else {
                break;
            };
            moves |= moves_here;
            if self.is_solved(step, &trial, momentum) {
                self.project(step, &mut trial);
                lambda.copy_from_slice(&trial);
                return Shares {
                    is_found: true,
                    moves: moves_here,
                };
            }
        }
        Shares {
            is_found: false,
            moves,
        }
    }

    fn slides(&self, step: &Step<'_>, lambda: &[f64]) -> bool {
        let rubs = |i: usize| step.friction[i] > 0.0 && lambda[i] > 0.0;
        (0..self.contacts).any(|i| rubs(i) && self.aim(step, lambda, i).1 < 1.0)
    }

    /// The rows of held contacts, and the normals of those that just touch: which of dependent ones push is open.
    fn touching(&self, step: &Step<'_>, lambda: &[f64]) -> Vec<usize> {
        let allowed = self.allowed(step.speeds, lambda);
        let touches = |i: &usize| lambda[*i] - self.rates[*i] * self.after[*i] >= -allowed;
        let tangents = self.held(step, lambda).into_iter();
        let tangents = tangents.filter(|row| *row >= self.contacts);
        (0..self.contacts).filter(touches).chain(tangents).collect()
    }

    /// True where their rows depend on each other.
    fn depends(&self, step: &Step<'_>, lambda: &[f64]) -> bool {
        let held = self.touching(step, lambda);
        let n = held.len();
        let mut gram = Vec::with_capacity(n * n);
        for &i in &held {
            gram.extend(held.iter().map(|&j| step.delassus[(i, j)]));
        }
        let (mut projector, mut scratch) = (vec![0.0; n * n], vec![0.0; least_norm_size(n)]);
        null_projector(&gram, n, &mut projector, &mut scratch) < n
    }

    /// True where impulses solve the step but for speeds that dependent rows may have by a motion of this momentum
    /// (√J; see [`hold`](Self::hold)).
    fn is_solved(&mut self, step: &Step<'_>, lambda: &[f64], momentum: f64) -> bool {
        self.form_residual(step, lambda);
        let held = self.held(step, lambda);
        let speed = |i: usize| self.after[i] / step.delassus[(i, i)].sqrt();
        let size = held.iter().map(|&i| speed(i).powi(2)).sum::<f64>().sqrt();
        let most = (held.len() as f64 * OF_ROWS).sqrt() * momentum;
        if size.is_nan() || size > most {
            return false;
        }
        for &i in &held {
            self.residual[i] -= self.rates[i] * self.after[i];
        }
        let allowed = self.allowed(step.speeds, lambda);
        self.residual.iter().all(|r| r.abs() <= allowed)
    }

    /// Replaces the impulses by those of least norm in the mode and along the slips of these; true where others of
    /// the same mode move the bodies in another way. None where there is no solution.
    fn round(&mut self, step: &Step<'_>, lambda: &mut [f64]) -> Option<bool> {
        let held = self.touching(step, lambda);
        let (n, size) = (held.len(), lambda.len());
        // E + F: column k places an impulse on row `held[k]`, and the friction of a contact that slides.
        let mut with_friction = DMatrix::zeros(size, n);
        for (column, &row) in held.iter().enumerate() {
            with_friction[(row, column)] = 1.0;
            if row >= self.contacts {
                continue;
            }
            let (aim, part) = self.aim(step, lambda, row);
            let norm = aim[0].hypot(aim[1]);
            for (axis, aim) in aim.iter().enumerate().take(self.tangents) {
                if part < 1.0 && norm > 0.0 {
                    let of = self.contacts + self.tangents * row + axis;
                    with_friction[(of, column)] = step.friction[row] * aim / norm;
                }
            }
        }
        let moved = step.delassus * &with_friction;
        let rows = DMatrix::from_fn(n, n, |row, column| moved[(held[row], column)]);
        let aims = DMatrix::from_fn(n, 1, |row, _| -step.speeds[held[row]]);
        let found = svd(rows, true, true)?;
        let smallest = DEPENDENT * found.singular_values.max();
        let impulses = found.solve(&aims, smallest).ok()?;
        lambda.copy_from_slice((&with_friction * impulses).as_slice());
        // The projector onto the null space, by what is not in it.
        let vectors = found.v_t.as_ref()?;
        let mut open = DMatrix::identity(n, n);
        for (vector, _) in
            (vectors.row_iter().zip(&found.singular_values)).filter(|(_, s)| **s > smallest)
        {
            open -= vector.transpose() * vector;
        }
        // ½ λᵀ G λ is the energy that impulses bring to bodies at rest.
        let energy = |of: &DMatrix<f64>| of.dot(&(step.delassus * of));
        Some(energy(&(&with_friction * open)) > NOTHING * energy(&with_friction))
    }
}
