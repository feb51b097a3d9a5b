//! A solution, and what found it: a candidate that passes the residual check, wherever it comes
//! from.

use nalgebra::{DMatrixView, DVectorView};

use super::blocks::{greater, smaller};
use super::problem::{form_slack, worst};
use super::scaled::Scaled;

/// A solution, lent by the solver until its next solve.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Solution<'s> {
    z: &'s [f64],
    w: &'s [f64],
    basis: &'s [usize],
    residual: f64,
    pivots: usize,
    rung: Attempt,
}

/// The attempts at a solution, in the order in which they are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Attempt {
    /// `q ≥ 0`, hence `z = 0`.
    Zero,
    /// Lemke's method with the covering vector asked for.
    Lemke,
    /// Lemke's method with a covering vector inverse to the sizes of the rows of `W`: with the rows
    /// of friction times `max(1, μ)`.
    RowSizes,
    /// Lemke's method with the first of two fixed covering vectors.
    FirstFixed,
    /// Lemke's method with the second of two fixed covering vectors.
    SecondFixed,
    /// Complementary bases one by one (n ≤ 12).
    Bases,
    /// The convex program of a symmetric positive semidefinite `W`; other matrices are passed over.
    /// Tried next where Lemke's method ended in a ray: the ray is then due to rounding or proves
    /// that there is no solution.
    Convex,
    /// Lemke's method with the covering vector asked for, in numbers of twice the precision (n ≤
    /// 200; at most 10 n pivots).
    Careful,
    /// A basis of a [`BasisDictionary`](super::BasisDictionary).
    Dictionary,
}

/// The order in which attempts are made.
pub(super) const LADDER: [Attempt; 7] = [
    Attempt::Lemke,
    Attempt::RowSizes,
    Attempt::FirstFixed,
    Attempt::SecondFixed,
    Attempt::Bases,
    Attempt::Convex,
    Attempt::Careful,
];

/// The order when the first ended in a ray.
pub(super) const AFTER_A_RAY: [Attempt; 7] = [
    Attempt::Lemke,
    Attempt::Convex,
    Attempt::RowSizes,
    Attempt::FirstFixed,
    Attempt::SecondFixed,
    Attempt::Bases,
    Attempt::Careful,
];

impl<'s> Solution<'s> {
    pub(super) fn new(
        candidate: &'s Candidate,
        basis: &'s [usize],
        residual: f64,
        pivots: usize,
        rung: Attempt,
    ) -> Self {
        Self {
            z: &candidate.z,
            w: &candidate.slack,
            basis,
            residual,
            pivots,
            rung,
        }
    }

    /// `z`, n entries, none negative.
    pub fn z(&self) -> &'s [f64] {
        self.z
    }

    /// `z` as a vector of nalgebra.
    pub fn vector(&self) -> DVectorView<'s, f64> {
        DVectorView::from_slice(self.z, self.z.len())
    }

    /// `w = W z + q`, n entries; zero where `z` is positive and not negative elsewhere, to within
    /// the residual.
    pub fn w(&self) -> &'s [f64] {
        self.w
    }

    /// The complementary basis: the indices of `z` that the solution solves for, ascending; the
    /// others are zero. Where a basis was not at hand ([`Attempt::Convex`], [`Attempt::Careful`]),
    /// the indices of positive `z`. For a [`BasisDictionary`](super::BasisDictionary).
    pub fn basis(&self) -> &'s [usize] {
        self.basis
    }

    /// `max |min(z, W z + q)|`, as [`residual`](super::residual) says.
    pub fn residual(&self) -> f64 {
        self.residual
    }

    /// Pivots of Lemke's method, all attempts together.
    pub fn pivots(&self) -> usize {
        self.pivots
    }

    /// The attempt that found it.
    pub fn rung(&self) -> Attempt {
        self.rung
    }
}

/// A candidate in the units of the problem given, and its `W z + q`.
#[derive(Clone, Debug, Default)]
pub(super) struct Candidate {
    pub(super) z: Vec<f64>,
    pub(super) slack: Vec<f64>,
}

/// The result of the check.
#[derive(Clone, Copy, Debug)]
pub(super) struct Check {
    pub(super) passed: bool,
    /// `max |min(z, W z + q)|` and what is allowed, in the units of the problem given.
    pub(super) residual: f64,
    pub(super) allowed: f64,
}

impl Candidate {
    pub(super) fn reserve(&mut self, n: usize) {
        // Without it the buffers grow when they are filled.
        let _ = self.z.try_reserve(n);
        let _ = self.slack.try_reserve(n);
    }

    /// `z = 0`.
    pub(super) fn set_zero(&mut self, q: &[f64]) {
        self.z.clear();
        self.z.resize(q.len(), 0.0);
        self.slack.clear();
        self.slack.extend_from_slice(q);
    }

    /// Takes `z'` of the scaled problem, without its negative entries, and checks it against `W`
    /// and `q` as given: the residual is at most `tolerance` times `max|q| + max|z|`, in the units
    /// given and in those of the scaled problem, where z and w are of one size. Values that are not
    /// finite never pass.
    pub(super) fn judge(
        &mut self,
        problem: &Scaled,
        w: &DMatrixView<'_, f64>,
        q: &[f64],
        scaled_z: &[f64],
        tolerance: f64,
    ) -> Check {
        self.set_zero(q);
        for ((to, &z), column) in self.z.iter_mut().zip(scaled_z).zip(&problem.column) {
            // NaN stays.
            let z = if z < 0.0 { 0.0 } else { z };
            *to = z * column * problem.unit;
        }
        form_slack(w, q, &self.z, &mut self.slack);
        let residual = worst(&self.z, &self.slack);

        // What is not finite has been found.
        let per_unit = problem.unit.recip();
        let (mut most, mut gap, mut size) = (0.0, 0.0, 0.0);
        let scaled = scaled_z.iter().zip(&problem.row);
        for ((&z, &slack), (&scaled_z, row)) in self.z.iter().zip(&self.slack).zip(scaled) {
            let scaled_z = greater(scaled_z, 0.0);
            let slack = slack * row * per_unit;
            most = greater(z, most);
            gap = greater(smaller(scaled_z, slack).abs(), gap);
            size = greater(scaled_z, size);
        }
        let allowed = tolerance * problem.size_given + tolerance * most;
        let scaled_allowed = tolerance * (problem.size + size);
        Check {
            passed: residual.is_finite() && residual <= allowed && gap <= scaled_allowed,
            residual,
            allowed,
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::super::bases::Principal;
    use super::*;

    /// Every basis of a problem with one solution, solved and checked.
    #[test]
    fn a_wrong_basis_is_caught() {
        let w = DMatrix::from_row_slice(3, 3, &[2.0, -1.0, -0.5, -1.0, 2.0, -1.0, -0.5, -1.0, 2.0]);
        let q = [-1.0, 0.6, 1.0];
        let mut problem = Scaled::default();
        problem.load(&(&w).into(), &q).unwrap();
        let mut principal = Principal::default();
        let mut candidate = Candidate::default();
        for basis in 0..8u32 {
            principal.set.clear();
            principal.set.extend((0..3).filter(|i| basis >> i & 1 == 1));
            assert!(principal.solve(&problem, 0.0));
            let check = candidate.judge(&problem, &(&w).into(), &q, &principal.z, 1e-10);
            // z = (1/2, 0, 0).
            let right = basis == 0b001;
            assert_eq!(check.passed, right, "{basis:b}: {check:?}");
            assert_eq!(check.residual <= check.allowed, right);
        }
    }

    #[test]
    fn what_is_not_finite_never_passes() {
        let w = DMatrix::from_row_slice(1, 1, &[1.0]);
        let mut problem = Scaled::default();
        problem.load(&(&w).into(), &[-1.0]).unwrap();
        let mut candidate = Candidate::default();
        for z in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let check = candidate.judge(&problem, &(&w).into(), &[-1.0], &[z], 1e-10);
            assert!(!check.passed, "{z}: {check:?}");
        }
        assert!(
            candidate
                .judge(&problem, &(&w).into(), &[-1.0], &[1.0], 1e-10)
                .passed
        );
    }

    /// W = 1e-12: in the units given, any large z would pass.
    #[test]
    fn units_do_not_loosen_the_check() {
        let w = DMatrix::from_row_slice(1, 1, &[1e-12]);
        let mut problem = Scaled::default();
        problem.load(&(&w).into(), &[-1.0]).unwrap();
        let mut candidate = Candidate::default();
        let half = 0.5 / (problem.column[0] * problem.unit) * 1e12;
        let check = candidate.judge(&problem, &(&w).into(), &[-1.0], &[half], 1e-10);
        assert!(
            check.residual <= check.allowed && !check.passed,
            "{check:?}"
        );
    }
}
