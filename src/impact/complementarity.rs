//! The one place where impact laws meet the solver of linear complementarity problems.

use nalgebra::{DMatrix, DVector};

use crate::Error;
use crate::lcp::{Failure, LcpSolver};

/// `z` with `0 ≤ z ⊥ W z + q ≥ 0`, for a positive semidefinite `W`.
pub(super) fn solve_lcp(w: &DMatrix<f64>, q: &DVector<f64>) -> Result<DVector<f64>, Error> {
    let mut solver = LcpSolver::new(q.len());
    match solver.solve(w, q.as_slice()) {
        Ok(solution) => Ok(solution.vector().into_owned()),
        Err(Failure::ResidualTooLarge { residual, .. }) => {
            Err(Error::NoComplementarity { residual })
        }
        Err(_) => Err(Error::NoComplementarity {
            residual: f64::INFINITY,
        }),
    }
}
