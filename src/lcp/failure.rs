//! Reasons for which a linear complementarity problem has no solution, or none that was found.

use crate::InputError;
use crate::interrupt::Interrupted;

/// Why a linear complementarity problem was not solved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LcpFailure {
    /// The path of Lemke's method ended in a ray, [`LcpSolver::ray`](crate::lcp::LcpSolver::ray),
    /// and no other attempt found a solution.
    #[error("the path of Lemke's method left along a ray{}",
        if *infeasible { ", which proves that no z ≥ 0 has W z + q ≥ 0" } else { ": there may be no solution" })]
    Ray {
        /// The ray `u` is a certificate that there is no solution: `u ≥ 0`, `Wᵀu ≤ 0` and
        /// `q·u < 0`, so that `u·(W z + q)` is negative for every `z ≥ 0`. In numbers, with rows
        /// and columns scaled to 1: no entry of `Wᵀu` is above 1e-12 of its terms, and a solution
        /// would have to be larger than 1e8.
        ///
        /// In exact arithmetic a path of Lemke's method that ends in a ray proves this whenever `W`
        /// is copositive-plus, as every positive semidefinite matrix is. In floating point the
        /// problem must be infeasible by more than rounding: a symmetric semidefinite problem with
        /// `q·u` within 1e-6 of the size of its terms counts as solvable, by a large `z`. For other
        /// matrices a ray proves nothing in general; a problem that has a solution may end in one.
        infeasible: bool,
    },

    /// A linear complementarity problem has more solutions than are listed, or more singular
    /// complementary bases with solutions.
    #[error(
        "the complementarity problem has more than {limit} solutions, or singular bases that hold solutions: too many to list"
    )]
    TooManySolutions {
        /// The limit.
        limit: usize,
    },

    /// A linear complementarity problem needed more pivots than allowed.
    #[error("no solution of the complementarity problem within {pivots} pivots")]
    Pivots {
        /// Pivots made by the first run of Lemke's method.
        pivots: usize,
    },

    /// The residual check refused the solution that was found, or rounding prevented one.
    #[error(
        "the residual {residual:e} of the complementarity problem exceeds the {allowed:e} allowed"
    )]
    Residual {
        /// `max |min(z, W z + q)|` of what the first attempt found; infinite when rounding or
        /// overflow spoilt its path.
        residual: f64,
        /// The residual that the check allows.
        allowed: f64,
    },

    /// An [`Interrupt`](crate::Interrupt) was set.
    #[error("interrupted")]
    Interrupted,

    /// Bad input.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl From<Interrupted> for LcpFailure {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}
