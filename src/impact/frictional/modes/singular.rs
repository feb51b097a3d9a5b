//! Modes whose linear system is singular: a point of the mode's cone, and whether there are others.

use nalgebra::{DMatrix, DVector, SVD};

use super::super::elimination::SINGULAR;
use super::{MERGED, Modes, Normal, TOLERANCE, add_product};
use crate::Interrupt;
use crate::impact::Failure;
use crate::impact::laws::complementarity::solve_lcp;

/// When the singular values of a matrix count as found, and most iterations for them.
const CLOSE: f64 = 5.0 * f64::EPSILON;
const ITERATIONS: usize = 1000;
/// How far along a null vector another point of the mode is looked for.
const APART: f64 = 1e-4;

/// The equations `columns y = right`, `y ≥ 0`, of a mode.
#[derive(Debug, Default)]
struct Cone {
    /// Contact, normal and tangential part of the impulse of each unknown.
    generators: Vec<(usize, [f64; 2])>,
    columns: DMatrix<f64>,
    right: DVector<f64>,
}

impl Modes {
    /// A point of a singular mode: nonnegative weights of its generators and of the slacks of its
    /// inequalities that make all its equations hold, in the least-squares sense. False when there
    /// are none.
    #[cold]
    pub(super) fn point_of_cone(&mut self, interrupt: Option<&Interrupt>) -> Result<bool, Failure> {
        let cone = self.cone();
        let (columns, right) = (&cone.columns, &cone.right);
        let n = columns.ncols();
        let norms: Vec<f64> = columns.column_iter().map(|c| c.norm()).collect();
        let scale = |j: usize| if norms[j] > 0.0 { norms[j] } else { 1.0 };
        let unit = DMatrix::from_fn(columns.nrows(), n, |i, j| columns[(i, j)] / scale(j));
        let mut gram = unit.transpose() * &unit;
        gram.fill_diagonal(1.0);
        let q = -(unit.transpose() * right);
        let weights = match solve_lcp(&gram, &q, TOLERANCE, interrupt) {
            Ok(weights) => weights,
            Err(Failure::Interrupted) => return Err(Failure::Interrupted),
            Err(_) => {
                self.complete = false;
                return Ok(false);
            }
        };
        // The positive weights afresh, without the square of the condition number.
        let support: Vec<usize> = (0..n).filter(|&j| weights[j] > 0.0).collect();
        if support.is_empty() {
            return Ok(true);
        }
        let chosen = SVD::try_new(unit.select_columns(&support), true, true, CLOSE, ITERATIONS);
        let Some(Ok(fresh)) = chosen.map(|chosen| chosen.solve(right, SINGULAR)) else {
            self.complete = false;
            return Ok(false);
        };
        for (&j, weight) in support.iter().zip(fresh.iter()) {
            let (i, parts) = cone.generators[j];
            self.lambda[i] += parts[0] * weight / scale(j);
            if self.tangents > 0 {
                self.lambda[self.contacts + i] += parts[1] * weight / scale(j);
            }
        }
        Ok(true)
    }

    /// The equations of a mode in nonnegative unknowns: the impulses of its generators, and slacks.
    fn cone(&mut self) -> Cone {
        let (m, t) = (self.contacts, self.tangents);
        let (gram, after) = (&self.gram, &mut self.after);
        // Where a full contact sticks, its friction starts at the lower end.
        for (i, state) in self.mode.iter().enumerate() {
            if state.normal == Normal::Full && state.slip == 0 {
                self.lambda[m + i] = -self.friction[i] * self.most[i];
            }
        }
        add_product(gram, &self.lambda, &self.speeds, after);
        let mut cone = Cone::default();
        // Each row of an equation: a row of speeds with the sign of its slack, or a bound.
        let mut rows: Vec<(usize, f64)> = Vec::new();
        let mut bounds: Vec<(Vec<(usize, f64)>, f64)> = Vec::new();
        for (i, state) in self.mode.iter().enumerate() {
            let (mu, s) = (self.friction[i], f64::from(state.slip));
            let (known, size) = (self.known[i], 1.0 + mu);
            let first = cone.generators.len();
            match (state.normal, state.slip) {
                (Normal::Open, _) if known.normal == 0 => rows.push((i, 1.0)),
                (Normal::Closed, 0) => {
                    rows.extend([(i, 0.0), (m + i, 0.0)]);
                    cone.generators.push((i, [1.0 / size, mu / size]));
                    cone.generators.push((i, [1.0 / size, -mu / size]));
                    let sum = vec![(first, 1.0 / size), (first + 1, 1.0 / size)];
                    bounds.push((sum, self.most[i]));
                }
                (Normal::Closed, _) => {
                    rows.push((i, 0.0));
                    cone.generators.push((i, [1.0 / size, -s * mu / size]));
                    bounds.push((vec![(first, 1.0 / size)], self.most[i]));
                }
                (Normal::Full, 0) => {
                    if known.normal == 0 {
                        rows.push((i, -1.0));
                    }
                    rows.push((m + i, 0.0));
                    cone.generators.push((i, [0.0, 1.0]));
                    bounds.push((vec![(first, 1.0)], 2.0 * mu * self.most[i]));
                }
                (Normal::Full, _) if known.normal == 0 => rows.push((i, -1.0)),
                (Normal::Open | Normal::Full, _) => {}
            }
            if t > 0 && state.normal != Normal::Open && state.slip != 0 && known.slip == 0 {
                rows.push((m + i, s));
            }
        }
        bounds.retain(|bound| bound.1.is_finite());
        let forces = cone.generators.len();
        let slacks = rows.iter().filter(|row| row.1 != 0.0).count();
        let height = rows.len() + bounds.len();
        let mut columns = DMatrix::zeros(height, forces + slacks + bounds.len());
        let mut right = DVector::zeros(height);
        let mut slack = forces;
        for (r, &(row, sign)) in rows.iter().enumerate() {
            for (j, &(i, parts)) in cone.generators.iter().enumerate() {
                columns[(r, j)] = gram[(row, i)] * parts[0];
                if t > 0 {
                    columns[(r, j)] += gram[(row, m + i)] * parts[1];
                }
            }
            right[r] = -after[row];
            if sign != 0.0 {
                columns[(r, slack)] = -sign;
                slack += 1;
            }
        }
        for (b, (sum, bound)) in bounds.iter().enumerate() {
            let r = rows.len() + b;
            for &(j, part) in sum {
                columns[(r, j)] = part;
            }
            columns[(r, slack + b)] = 1.0;
            right[r] = *bound;
        }
        // Slacks push nothing.
        cone.generators.resize(columns.ncols(), (0, [0.0; 2]));
        cone.columns = columns;
        cone.right = right;
        cone
    }

    /// Whether the singular mode that was kept last holds other velocities nearby.
    #[cold]
    pub(super) fn look_further(&mut self) {
        let (m, t) = (self.contacts, self.tangents);
        let kept = self.lambda.clone();
        self.set_up();
        let size = self.system.rows.len();
        let matrix = DMatrix::from_row_slice(size, size, &self.system.entries);
        let Some(svd) = SVD::try_new(matrix, false, true, CLOSE, ITERATIONS) else {
            self.complete = false;
            return;
        };
        let Some(right) = svd.v_t else {
            return;
        };
        let greatest = svd.singular_values.max();
        for (k, value) in svd.singular_values.iter().enumerate() {
            if *value > SINGULAR * greatest {
                continue;
            }
            let mut change = vec![0.0; kept.len()];
            for (&(i, parts), x) in self.system.unknowns.iter().zip(right.row(k).iter()) {
                change[i] += parts[0] * x;
                if t > 0 {
                    change[m + i] += parts[1] * x;
                }
            }
            let mut moved = vec![0.0; kept.len()];
            let still = vec![0.0; kept.len()];
            add_product(&self.gram, &change, &still, &mut moved);
            if moved.iter().all(|u| u.abs() <= MERGED) {
                continue;
            }
            for sign in [APART, -APART] {
                for (i, to) in self.lambda.iter_mut().enumerate() {
                    *to = kept[i] + sign * change[i];
                }
                if self.is_solution() {
                    self.complete = false;
                }
            }
        }
    }
}
