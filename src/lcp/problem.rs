//! The problem, its residual, and the reasons for which it has no solution, or none that was found.

use nalgebra::DMatrixView;

use super::blocks::{greater, smaller};
use crate::interrupt::Interrupted;
use crate::{InputError, validate};

/// `max_i |min(z_i, (W z + q)_i)|`: zero exactly for the solutions of `0 ≤ z ⊥ W z + q ≥ 0`,
/// infinite when something is not a number. `W` is n × n; `q` and `z` have n entries, in any units
/// that fit together.
///
/// ```
/// use saltation::nalgebra::DMatrix;
/// let w = DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 2.0]);
/// assert_eq!(saltation::lcp::residual(&w, &[-3.0, 1.0], &[1.5, 0.0])?, 0.0);
/// assert_eq!(saltation::lcp::residual(&w, &[-3.0, 1.0], &[1.0, 0.0])?, 1.0);
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// # Errors
/// [`InputError::WrongLength`](crate::InputError::WrongLength).
pub fn residual<'w>(
    w: impl Into<DMatrixView<'w, f64>>,
    q: &[f64],
    z: &[f64],
) -> Result<f64, LcpFailure> {
    let w = w.into();
    check_sizes(&w, q)?;
    validate::length("z", q.len(), z.len())?;
    Ok(residual_in(w, q, z, &mut vec![0.0; q.len()]))
}

/// The [`residual`] of arguments of the right lengths, with `W z + q` left in `slack`.
pub(crate) fn residual_in(w: DMatrixView<'_, f64>, q: &[f64], z: &[f64], slack: &mut [f64]) -> f64 {
    form_slack(&w, q, z, slack);
    worst(z, slack)
}

/// `max |min(z_i, slack_i)|`, infinite when one is not finite.
pub(super) fn worst(z: &[f64], slack: &[f64]) -> f64 {
    let (mut most, mut rest) = (0.0, 0.0);
    for (&z, &slack) in z.iter().zip(slack) {
        most = greater(smaller(z, slack).abs(), most);
        // Zero unless one is not finite.
        rest += z * 0.0 + slack * 0.0;
    }
    if rest == 0.0 { most } else { f64::INFINITY }
}

/// `slack = W z + q`, column by column.
#[inline]
pub(super) fn form_slack(w: &DMatrixView<'_, f64>, q: &[f64], z: &[f64], slack: &mut [f64]) {
    slack.copy_from_slice(q);
    for (j, &z) in z.iter().enumerate() {
        if z != 0.0 {
            for (slack, w) in slack.iter_mut().zip(w.column(j).as_slice()) {
                *slack += w * z;
            }
        }
    }
}

pub(super) fn check_sizes(w: &DMatrixView<'_, f64>, q: &[f64]) -> Result<(), LcpFailure> {
    validate::length("column of w", q.len(), w.nrows())?;
    validate::length("row of w", q.len(), w.ncols())?;
    Ok(())
}

/// The reason for which a linear complementarity problem was not solved.
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

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    #[test]
    fn the_residual_sees_every_violation() {
        let w = DMatrix::identity(2, 2);
        for (q, z, expected) in [
            ([-1.0, 2.0], [1.0, 0.0], 0.0),
            ([-1.0, 2.0], [-1e-3, 0.0], 1.001),
            ([-1.0, 2.0], [1.0, 0.5], 0.5),
            ([0.0, 0.0], [0.0, -0.25], 0.25),
            ([-1.0, 2.0], [f64::NAN, 0.0], f64::INFINITY),
            ([-1.0, 2.0], [f64::INFINITY, 0.0], f64::INFINITY),
        ] {
            let found = residual(&w, &q, &z).unwrap();
            assert!(
                found.to_bits() == expected.to_bits() || (found - expected).abs() < 1e-15,
                "{z:?}: {found}"
            );
        }
    }

    #[test]
    fn sizes_are_checked() {
        let w = DMatrix::identity(2, 3);
        assert!(residual(&w, &[0.0; 2], &[0.0; 2]).is_err());
        assert!(residual(&w, &[0.0; 3], &[0.0; 3]).is_err());
        let w = DMatrix::identity(2, 2);
        assert!(residual(&w, &[0.0; 2], &[0.0; 3]).is_err());
    }
}
