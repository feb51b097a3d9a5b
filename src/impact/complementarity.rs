//! The one place where impact laws meet the solver of linear complementarity problems.

use nalgebra::{DMatrix, DVector};

use crate::Error;
use crate::lcp::LcpSolver;

/// `z` with `0 ≤ z ⊥ W z + q ≥ 0`, for a positive semidefinite `W` with a positive diagonal.
pub(super) fn solve_lcp(w: &DMatrix<f64>, q: &DVector<f64>) -> Result<DVector<f64>, Error> {
    if q.iter().all(|&q| q >= 0.0) {
        return Ok(DVector::zeros(q.len()));
    }
    if let ([w], [q]) = (w.as_slice(), q.as_slice()) {
        return Ok(DVector::from_element(1, -q / w));
    }
    let mut solver = LcpSolver::growing();
    let solution = solver.solve(w, q.as_slice())?;
    Ok(solution.vector().into_owned())
}
