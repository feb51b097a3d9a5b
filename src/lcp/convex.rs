//! Symmetric positive semidefinite problems as convex programs: `min ½ zᵀW z + q·z` over `z ≥ 0`.
//!
//! An active-set method (Lawson & Hanson, "Solving Least Squares Problems", chapter 23, on the
//! normal equations) with Cholesky factors. A diagonal `δ`, about the rounding of a factor, makes
//! each program strictly convex; the proximal point method (Rockafellar 1976) takes its effect
//! away: `z_(k+1) = argmin ½ zᵀW z + q·z + ½ δ |z − z_k|²`. Where there is no solution, the steps
//! `z_(k+1) − z_k` tend to a `u ≥ 0` with `W u = 0` and `q·u < 0`, which proves it.

use nalgebra::DMatrixView;

use super::LcpFailure;
use super::scaled::inverse_power_of_two;
use crate::Interrupt;
use crate::linalg::cholesky;
use crate::linalg::double_double::Double;
use crate::linalg::largest;

/// Entries across the diagonal differ by this much at most, measured by the roots of their diagonal
/// entries; no entry is larger than their product by more.
const SYMMETRIC: f64 = 1e-12;
/// Proximal steps.
const ROUNDS: usize = 4;
/// `δ` over the rounding unit and the size, with a diagonal of about 1: enough for the factor of a
/// singular matrix.
const SHIFT: f64 = 16.0;
/// `W u` of that size, over the size of `u`, is zero.
const ZERO: f64 = 1e-12;
/// Factors of one program, at most, are this times the size and [`MORE_FACTORS`].
const FACTORS: usize = 10;
const MORE_FACTORS: usize = 100;
/// Refinements of a solution of the equations. Their residuals have twice the precision: the matrix
/// is almost singular.
const REFINEMENTS: usize = 2;
/// A step that is a larger part of `z` than this is unbounded.
const GROWS: f64 = 0.1;
/// `q·u` counts as zero below this part of `|q| |u|`: along `u` with `W u = 0` to rounding it is
/// known to the root of rounding.
const FALLS: f64 = 1e-6;

/// Workspace; buffers are kept from one problem to the next.
#[derive(Clone, Debug, Default)]
pub(super) struct Convex {
    n: usize,
    /// `D`: powers of two, with which the diagonal of `S = D W D` lies between ½ and 2 where it is
    /// not zero.
    scale: Vec<f64>,
    /// `S`, one row after the other.
    matrix: Vec<f64>,
    /// `D q / u`, the largest entry between 1 and 2.
    offset: Vec<f64>,
    /// `u`.
    unit: f64,
    /// `δ`.
    shift: f64,
    /// The entries of `z` that may be positive, in the order of the rows of the factor.
    passive: Vec<usize>,
    /// The factor of `S + δ` on the passive set, one row after the other, n entries each.
    factor: Vec<f64>,
    /// The number of rows of the factor that are up to date.
    factored: usize,
    /// `D q / u − δ z_k`.
    linear: Vec<f64>,
    z: Vec<f64>,
    /// `z_k`, then `z_(k+1) − z_k`.
    step: Vec<f64>,
    /// The minimiser on the passive set, in its order, and what is left of its equations.
    target: Vec<f64>,
    rest: Vec<f64>,
    /// `(S + δ) z` and the linear term.
    gradient: Vec<f64>,
    /// Skipped until `z` moves: rounding would remove them as soon as they enter.
    rejected: Vec<bool>,
}

impl Convex {
    pub(super) fn reserve(&mut self, n: usize) {
        // Without it the buffers grow when they are filled.
        for v in [&mut self.matrix, &mut self.factor] {
            let _ = v.try_reserve(n.saturating_mul(n));
        }
        for v in [
            &mut self.scale,
            &mut self.offset,
            &mut self.linear,
            &mut self.z,
            &mut self.step,
            &mut self.target,
            &mut self.rest,
            &mut self.gradient,
        ] {
            let _ = v.try_reserve(n);
        }
        let _ = self.passive.try_reserve(n);
        let _ = self.rejected.try_reserve(n);
    }

    /// Looks for `z`, and keeps the last proximal step. False when the matrix is not symmetric
    /// positive semidefinite.
    pub(super) fn search(
        &mut self,
        w: &DMatrixView<'_, f64>,
        q: &[f64],
        interrupt: Option<&Interrupt>,
    ) -> Result<bool, LcpFailure> {
        if !self.load(w, q) {
            return Ok(false);
        }
        for round in 0..ROUNDS {
            self.step.copy_from_slice(&self.z);
            for i in 0..self.n {
                self.linear[i] = self.offset[i] - self.shift * self.z[i];
            }
            if !self.minimise(interrupt)? {
                return Ok(false);
            }
            for (step, z) in self.step.iter_mut().zip(&self.z) {
                *step = z - *step;
            }
            if round > 0 && largest(&self.step) <= f64::EPSILON * largest(&self.z) {
                break;
            }
        }
        Ok(true)
    }

    /// `z`, in the units of the problem given.
    pub(super) fn z(&self) -> impl Iterator<Item = f64> + '_ {
        let z = self.z.iter().zip(&self.scale);
        z.map(|(z, d)| z * d * self.unit)
    }

    /// The last proximal step where it is positive, in the units of the problem given.
    pub(super) fn ray(&self) -> impl Iterator<Item = f64> + '_ {
        let step = self.step.iter().zip(&self.scale);
        step.map(|(step, d)| step.max(0.0) * d)
    }

    /// True when `z` still grows in the last proximal step `u`, and the objective falls along it,
    /// `q·u < 0`, with `W u = 0` to rounding: there is no solution.
    pub(super) fn grows(&self) -> bool {
        let along = self.offset.iter().zip(&self.step);
        let (sum, size) = along.fold((0.0, 0.0), |(sum, size), (q, step)| {
            (sum + q * step, size + step.abs())
        });
        let is_zero = |row: &[f64]| {
            let terms = row.iter().zip(&self.step).map(|(s, step)| s * step);
            terms.sum::<f64>().abs() <= ZERO * size
        };
        largest(&self.step) > GROWS * largest(&self.z)
            && sum < -FALLS * size
            && self.matrix.chunks_exact(self.n).all(is_zero)
    }

    /// Takes a problem; false when the matrix cannot be symmetric positive semidefinite.
    fn load(&mut self, w: &DMatrixView<'_, f64>, q: &[f64]) -> bool {
        let n = q.len();
        self.n = n;
        self.scale.clear();
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        for i in 0..n {
            let diagonal = w[(i, i)];
            if diagonal < 0.0 {
                return false;
            }
            let d = inverse_root(diagonal);
            self.scale.push(d);
            self.matrix[i * n + i] = diagonal * d * d;
        }
        for j in 0..n {
            for i in 0..j {
                let d = self.scale[i] * self.scale[j];
                let (above, below) = (w[(i, j)] * d, w[(j, i)] * d);
                let mean = 0.5 * (above + below);
                (self.matrix[i * n + j], self.matrix[j * n + i]) = (mean, mean);
                let roots = (self.matrix[i * n + i] * self.matrix[j * n + j]).sqrt();
                // Written so that NaN fails.
                let fits = (above - below).abs() <= SYMMETRIC * roots
                    && mean.abs() <= (1.0 + SYMMETRIC) * roots;
                if !fits {
                    return false;
                }
            }
        }
        let offset = q.iter().zip(&self.scale).map(|(q, d)| q * d);
        self.offset.clear();
        self.offset.extend(offset);
        let inverse = inverse_power_of_two(largest(&self.offset));
        for q in &mut self.offset {
            *q *= inverse;
        }
        self.unit = inverse.recip();
        self.shift = SHIFT * n as f64 * f64::EPSILON;
        for (v, size) in [
            (&mut self.linear, n),
            (&mut self.z, n),
            (&mut self.step, n),
            (&mut self.gradient, n),
            (&mut self.factor, n * n),
        ] {
            v.clear();
            v.resize(size, 0.0);
        }
        self.rejected.clear();
        self.rejected.resize(n, false);
        self.passive.clear();
        self.factored = 0;
        true
    }

    /// `z ← argmin ½ zᵀ(S + δ) z + linear · z` over `z ≥ 0`, from the `z` and the passive set at
    /// hand. False when a factor does not exist: the matrix is indefinite.
    fn minimise(&mut self, interrupt: Option<&Interrupt>) -> Result<bool, LcpFailure> {
        let mut left = FACTORS * self.n + MORE_FACTORS;
        self.rejected.fill(false);
        if !self.descend(&mut left, interrupt)? {
            return Ok(false);
        }
        while left > 0
            && let Some(enters) = self.steepest()
        {
            self.passive.push(enters);
            if !self.descend(&mut left, interrupt)? {
                return Ok(false);
            }
            if self.z[enters] > 0.0 {
                self.rejected.fill(false);
            } else {
                self.rejected[enters] = true;
            }
        }
        Ok(true)
    }

    /// Moves to the minimiser on the passive set; entries that would become negative leave the set.
    fn descend(
        &mut self,
        left: &mut usize,
        interrupt: Option<&Interrupt>,
    ) -> Result<bool, LcpFailure> {
        while !self.passive.is_empty() && *left > 0 {
            *left -= 1;
            interrupt.map_or(Ok(()), Interrupt::check)?;
            if !self.solve() {
                return Ok(false);
            }
            let (mut part, mut stops) = (1.0, None);
            for (k, (&i, &target)) in self.passive.iter().zip(&self.target).enumerate() {
                if target <= 0.0 {
                    // Not a number where both are zero.
                    let reach = (self.z[i] / (self.z[i] - target)).max(0.0);
                    if stops.is_none() || reach < part {
                        (part, stops) = (reach, Some(k));
                    }
                }
            }
            for (&i, target) in self.passive.iter().zip(&self.target) {
                self.z[i] += part * (target - self.z[i]);
            }
            let Some(stops) = stops else {
                break;
            };
            self.z[self.passive[stops]] = 0.0;
            for k in (0..self.passive.len()).rev() {
                let i = self.passive[k];
                if self.z[i] <= 0.0 {
                    self.z[i] = 0.0;
                    self.passive.remove(k);
                    self.factored = self.factored.min(k);
                }
            }
        }
        Ok(true)
    }

    /// The index outside the passive set where the gradient is most negative, by more than
    /// rounding.
    fn steepest(&mut self) -> Option<usize> {
        let n = self.n;
        let mut size = largest(&self.linear);
        self.gradient.copy_from_slice(&self.linear);
        for &j in &self.passive {
            let z = self.z[j];
            size += z;
            let row = &self.matrix[j * n..(j + 1) * n];
            for (gradient, s) in self.gradient.iter_mut().zip(row) {
                *gradient += s * z;
            }
        }
        let mut bar = -4.0 * f64::EPSILON * size;
        let mut found = None;
        for (i, &gradient) in self.gradient.iter().enumerate() {
            if gradient < bar && !self.rejected[i] && !self.passive.contains(&i) {
                (bar, found) = (gradient, Some(i));
            }
        }
        found
    }

    /// `(S + δ)_PP target = −linear_P`, refined.
    fn solve(&mut self) -> bool {
        if !self.extend_factor() {
            return false;
        }
        self.target.clear();
        self.target.resize(self.passive.len(), 0.0);
        for _ in 0..=REFINEMENTS {
            self.rest.clear();
            for (k, &i) in self.passive.iter().enumerate() {
                let row = &self.matrix[i * self.n..(i + 1) * self.n];
                let mut sum = Double::from(self.linear[i]);
                sum = sum + Double::product(self.shift, self.target[k]);
                for (&j, &target) in self.passive.iter().zip(&self.target) {
                    sum = sum + Double::product(row[j], target);
                }
                self.rest.push(-sum.high());
            }
            cholesky::solve_by_rows(&self.factor, self.n, &mut self.rest);
            for (target, rest) in self.target.iter_mut().zip(&self.rest) {
                *target += rest;
            }
        }
        self.target.iter().all(|target| target.is_finite())
    }

    /// Computes the rows of the factor that are not up to date; false when the matrix is not
    /// positive definite.
    fn extend_factor(&mut self) -> bool {
        let n = self.n;
        for k in self.factored..self.passive.len() {
            let i = self.passive[k];
            let row = &mut self.factor[k * n..=k * n + k];
            for (entry, &j) in row.iter_mut().zip(&self.passive) {
                *entry = self.matrix[i * n + j];
            }
            row[k] += self.shift;
            if !cholesky::factor_row(&mut self.factor, n, k) {
                return false;
            }
            self.factored = k + 1;
        }
        true
    }
}

/// A power of two near `1/√v`; 1 for zero.
fn inverse_root(v: f64) -> f64 {
    if v == 0.0 {
        return 1.0;
    }
    // Exponents are stored plus 1023.
    let exponent = (v.to_bits() >> 52) & 0x7ff;
    f64::from_bits((1023 + 511 - exponent / 2) << 52)
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    fn searched(w: &DMatrix<f64>, q: &[f64]) -> Option<Convex> {
        let mut convex = Convex::default();
        let found = convex.search(&w.into(), q, None).unwrap();
        found.then_some(convex)
    }

    #[test]
    fn powers_of_two_bring_any_diagonal_to_one() {
        for v in [1.0, 1.9, 2.0, 3.9, 4.0, 1e-300, 1e300, 7e-7] {
            let scaled = v * inverse_root(v) * inverse_root(v);
            assert!((0.5..2.0).contains(&scaled), "{v}: {scaled}");
        }
    }

    #[test]
    fn solutions_in_any_units() {
        for d in [1.0, 1e-9, 1e9] {
            let w = DMatrix::from_row_slice(2, 2, &[2.0, d, d, 3.0 * d * d]);
            let convex = searched(&w, &[-1.0, -2.0 * d]).unwrap();
            let z: Vec<f64> = convex.z().collect();
            assert!((z[0] - 0.2).abs() < 1e-15, "{z:?}");
            assert!((z[1] * d - 0.6).abs() < 1e-15, "{z:?}");
            assert!(!convex.grows());
        }
    }

    #[test]
    fn equal_contacts_share_their_load() {
        let convex = searched(&DMatrix::from_element(3, 3, 1.0), &[-3.0; 3]).unwrap();
        assert!(convex.z().all(|z| (z - 1.0).abs() < 1e-2));
        assert!((convex.z().sum::<f64>() - 3.0).abs() < 1e-14 && !convex.grows());
    }

    #[test]
    fn without_a_solution_the_steps_are_a_ray() {
        let w = DMatrix::from_row_slice(3, 3, &[1.0, -2.0, 0.0, -2.0, 4.0, 0.0, 0.0, 0.0, 1.0]);
        let convex = searched(&w, &[-1.0, 1.0, -1.0]).unwrap();
        assert!(convex.grows());
        let u: Vec<f64> = convex.ray().collect();
        assert!((u[0] / u[1] - 2.0).abs() < 1e-14 && u[2] < 1e-14 * u[0]);
    }

    #[test]
    fn other_matrices_are_passed_over() {
        for w in [
            [1.0, 2.0, 2.0, 1.0],
            [1.0, 0.5, 0.4, 1.0],
            [-1.0, 0.0, 0.0, 1.0],
            [0.0, 1.0, 1.0, 1.0],
        ] {
            let w = DMatrix::from_row_slice(2, 2, &w);
            assert!(searched(&w, &[-1.0, -1.0]).is_none());
        }
        // Every pair of rows could belong to a semidefinite matrix.
        let w = DMatrix::from_fn(3, 3, |i, j| if i == j { 1.0 } else { -0.9 });
        assert!(searched(&w, &[-1.0; 3]).is_none());
    }

    #[test]
    fn an_interrupt_ends_the_search() {
        let interrupt = Interrupt::new();
        interrupt.set();
        let w = DMatrix::identity(2, 2);
        let found = Convex::default().search(&(&w).into(), &[-1.0; 2], Some(&interrupt));
        assert_eq!(found, Err(LcpFailure::Interrupted));
    }
}
