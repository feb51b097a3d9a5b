//! The one place where impact laws meet the solver of linear complementarity problems.

use nalgebra::{DMatrix, DVector};

use crate::Error;
use crate::lcp::LcpSolver;

/// `z` with `0 ≤ z ⊥ W z + q ≥ 0`, for a positive semidefinite `W`.
pub(super) fn solve_lcp(w: &DMatrix<f64>, q: &DVector<f64>) -> Result<DVector<f64>, Error> {
    let mut solver = LcpSolver::new(q.len());
    let solution = solver.solve(w, q.as_slice())?;
    Ok(solution.vector().into_owned())
}
