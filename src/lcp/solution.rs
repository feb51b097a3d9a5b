//! A solution, and what found it.

use nalgebra::DVectorView;

use super::check::Candidate;

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
