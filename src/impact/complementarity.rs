//! The one place where impact laws meet the solver of linear complementarity problems.

use nalgebra::{DMatrix, DVector};

use crate::Error;
use crate::lcp::solve_semidefinite;

/// `z` with `0 ≤ z ⊥ W z + q ≥ 0`, for a positive semidefinite `W` with a positive diagonal.
pub(super) fn solve_lcp(w: &DMatrix<f64>, q: &DVector<f64>) -> Result<DVector<f64>, Error> {
    solve_semidefinite(w.as_view(), q.as_slice()).map(DVector::from_vec)
}
