//! Modes whose linear system is singular: a point of the mode's cone, and whether there are others.

use nalgebra::{DMatrix, DVector};

use super::trial::{MERGED, Normal, Trial, add_product};
use crate::linalg::decompose::svd;
use crate::linalg::lu::SINGULAR;
use crate::linalg::nearest::Nearest;

/// Distance along a null vector at which another point of the mode is looked for.
const APART: f64 = 1e-4;

/// Equations in nonnegative unknowns: the impulses of generators, and slacks.
#[derive(Debug, Default)]
struct Cone {
    /// The impulses that the mode prescribes.
    prescribed: Vec<f64>,
    /// Contact, normal and tangential part of the impulse of each generator.
    generators: Vec<(usize, [f64; 2])>,
    /// Rows of speeds, with the sign of their slack (0: they vanish).
    rows: Vec<(usize, f64)>,
    /// Weighted sums of unknowns, and what they do not exceed.
    bounds: Vec<(Vec<(usize, f64)>, f64)>,
}

/// A point of a singular mode: nonnegative weights of its generators and of the slacks of its
/// inequalities that make all its equations hold, in the least-squares sense: what is nearest to the right
/// sides in the cone of its columns.
#[cold]
pub(super) fn point_of_cone(trial: &Trial) -> Vec<f64> {
    let cone = Cone::of(trial);
    let (columns, right) = cone.equations(trial);
    let height = columns.nrows();
    let mut scales = Vec::with_capacity(columns.ncols());
    // The apex, then rays.
    let mut rows = vec![0.0; (1 + columns.ncols()) * (1 + height)];
    rows[0] = 1.0;
    for (column, row) in columns
        .column_iter()
        .zip(rows.chunks_exact_mut(1 + height).skip(1))
    {
        let norm = column.norm();
        let scale = if norm > 0.0 { norm } else { 1.0 };
        scales.push(scale);
        for (to, entry) in row[1..].iter_mut().zip(column.iter()) {
            *to = entry / scale;
        }
    }
    let mut nearest = Nearest::default();
    nearest.distance(rows.chunks_exact(1 + height), right.as_slice(), 0.0);
    let mut impulses = cone.prescribed;
    for (generator, weight) in nearest.coefficients() {
        let Some(j) = generator.checked_sub(1) else {
            continue;
        };
        // Slacks push nothing.
        let Some(&(i, parts)) = cone.generators.get(j) else {
            continue;
        };
        impulses[i] += parts[0] * weight / scales[j];
        if trial.tangents > 0 {
            impulses[trial.contacts + i] += parts[1] * weight / scales[j];
        }
    }
    impulses
}

impl Cone {
    /// The generators and the conditions of a mode.
    fn of(trial: &Trial) -> Self {
        let m = trial.contacts;
        let mut cone = Self {
            prescribed: trial.lambda.clone(),
            ..Self::default()
        };
        for (i, state) in trial.mode.iter().enumerate() {
            let (mu, most) = (trial.friction[i], trial.most[i]);
            let (s, free) = (f64::from(state.slip), trial.known[i].normal == 0);
            let (first, size) = (cone.generators.len(), 1.0 + mu);
            match (state.normal, state.slip) {
                (Normal::Open, _) if free => cone.rows.push((i, 1.0)),
                (Normal::Closed, 0) => {
                    cone.rows.extend([(i, 0.0), (m + i, 0.0)]);
                    cone.generators.push((i, [1.0 / size, mu / size]));
                    cone.generators.push((i, [1.0 / size, -mu / size]));
                    let sum = vec![(first, 1.0 / size), (first + 1, 1.0 / size)];
                    cone.bounds.push((sum, most));
                }
                (Normal::Closed, _) => {
                    cone.rows.push((i, 0.0));
                    cone.generators.push((i, [1.0 / size, -s * mu / size]));
                    cone.bounds.push((vec![(first, 1.0 / size)], most));
                }
                (Normal::Full, 0) => {
                    if free {
                        cone.rows.push((i, -1.0));
                    }
                    cone.rows.push((m + i, 0.0));
                    cone.generators.push((i, [0.0, 1.0]));
                    cone.bounds.push((vec![(first, 1.0)], 2.0 * mu * most));
                    // The friction starts at its lower end.
                    cone.prescribed[m + i] = -mu * most;
                }
                (Normal::Full, _) if free => cone.rows.push((i, -1.0)),
                (Normal::Open | Normal::Full, _) => {}
            }
            let slides = state.normal != Normal::Open && state.slip != 0;
            if trial.tangents > 0 && slides && trial.known[i].slip == 0 {
                cone.rows.push((m + i, s));
            }
        }
        cone.bounds.retain(|bound| bound.1.is_finite());
        cone
    }

    /// The equations `columns y = right`: of each row of speeds, then of each bound.
    fn equations(&self, trial: &Trial) -> (DMatrix<f64>, DVector<f64>) {
        let (m, gram) = (trial.contacts, &trial.gram);
        let mut after = vec![0.0; trial.after.len()];
        add_product(gram, &self.prescribed, &trial.speeds, &mut after);
        let forces = self.generators.len();
        let slacks = self.rows.iter().filter(|row| row.1 != 0.0).count();
        let height = self.rows.len() + self.bounds.len();
        let mut columns = DMatrix::zeros(height, forces + slacks + self.bounds.len());
        let mut right = DVector::zeros(height);
        let mut slack = forces;
        for (r, &(row, sign)) in self.rows.iter().enumerate() {
            for (j, &(i, parts)) in self.generators.iter().enumerate() {
                columns[(r, j)] = gram[(row, i)] * parts[0];
                if trial.tangents > 0 {
                    columns[(r, j)] += gram[(row, m + i)] * parts[1];
                }
            }
            right[r] = -after[row];
            if sign != 0.0 {
                columns[(r, slack)] = -sign;
                slack += 1;
            }
        }
        for (b, (sum, bound)) in self.bounds.iter().enumerate() {
            let r = self.rows.len() + b;
            for &(j, part) in sum {
                columns[(r, j)] = part;
            }
            columns[(r, slack + b)] = 1.0;
            right[r] = *bound;
        }
        (columns, right)
    }
}

/// True when a singular mode holds other velocities near those of the trial.
#[cold]
pub(super) fn holds_others(kept: &Trial) -> bool {
    let (m, mut trial) = (kept.contacts, kept.clone());
    trial.set_up();
    let size = trial.system.rows.len();
    let matrix = DMatrix::from_row_slice(size, size, &trial.system.entries);
    let Some(svd) = svd(matrix, false, true) else {
        return true;
    };
    let Some(right) = svd.v_t else {
        return false;
    };
    let greatest = svd.singular_values.max();
    let mut others = false;
    for (k, value) in svd.singular_values.iter().enumerate() {
        if *value > SINGULAR * greatest {
            continue;
        }
        let mut change = vec![0.0; kept.lambda.len()];
        for (&(i, parts), x) in trial.system.unknowns.iter().zip(right.row(k).iter()) {
            change[i] += parts[0] * x;
            if kept.tangents > 0 {
                change[m + i] += parts[1] * x;
            }
        }
        let (still, mut moved) = (vec![0.0; change.len()], vec![0.0; change.len()]);
        add_product(&kept.gram, &change, &still, &mut moved);
        if moved.iter().all(|u| u.abs() <= MERGED) {
            continue;
        }
        for sign in [APART, -APART] {
            for (i, to) in trial.lambda.iter_mut().enumerate() {
                *to = kept.lambda[i] + sign * change[i];
            }
            others |= trial.is_solution();
        }
    }
    others
}
