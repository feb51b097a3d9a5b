//! Problems with a symmetric positive semidefinite `W`, as of contacts without friction. `W z` is
//! the same for all solutions. With a definite `W`, often all contacts push.

use nalgebra::DMatrixView;

use super::LcpFailure;
use super::LcpSolver;
use super::problem::check_sizes;
use crate::linalg::cholesky;
use crate::validate;

/// Largest problem for which it is tried whether all push, on the stack.
const FEW: usize = 8;
/// Below this pivot, as a part of its diagonal entry, the direct solve is skipped.
const DEFINITE: f64 = 1e-8;

/// Writes `z` with `0 ≤ z ⊥ W z + q ≥ 0`, by a solver that was set to
/// [`expect`](LcpSolver::expect): where the rows of `W` are dependent to rounding, `q` may lie outside
/// its range by as much.
///
/// # Errors
/// As [`LcpSolver::solve`].
pub(crate) fn solve_semidefinite(
    w: DMatrixView<'_, f64>,
    q: &[f64],
    solver: &mut LcpSolver,
    z: &mut [f64],
) -> Result<(), LcpFailure> {
    check_sizes(&w, q)?;
    validate::finite("q", q)?;
    for j in 0..q.len() {
        validate::finite("w", w.column(j).as_slice())
            .map_err(validate::counted_from(j * q.len()))?;
    }
    if q.iter().all(|&q| q >= 0.0) {
        z.fill(0.0);
        return Ok(());
    }
    if !all_push(&w, q, z) {
        z.copy_from_slice(solver.solve(w, q)?.z());
    }
    Ok(())
}

/// The `u ≥ 0` that proves that a problem has no solution, if it has none.
#[cold]
pub(crate) fn proof_of_none(w: DMatrixView<'_, f64>, q: &[f64], noise: f64) -> Option<Vec<f64>> {
    let mut solver = LcpSolver::growing().noise(noise);
    match solver.solve(w, q) {
        Err(LcpFailure::Ray { infeasible: true }) => solver.ray().map(<[f64]>::to_vec),
        _ => None,
    }
}

/// Writes `z = −W⁻¹ q`; true when that is positive and `W` is definite by a margin: no other can be
/// the solution.
fn all_push(w: &DMatrixView<'_, f64>, q: &[f64], z: &mut [f64]) -> bool {
    let n = q.len();
    if n > FEW {
        return false;
    }
    let mut matrix = [0.0; FEW * FEW];
    let matrix = &mut matrix[..n * n];
    for (j, column) in matrix.chunks_exact_mut(n).enumerate() {
        column.copy_from_slice(w.column(j).as_slice());
    }
    let least_pivot = cholesky::factor(matrix, n);
    if least_pivot.is_none_or(|pivot| pivot <= DEFINITE) {
        return false;
    }
    for (z, q) in z.iter_mut().zip(q) {
        *z = -q;
    }
    cholesky::solve(matrix, n, z);
    z.iter().all(|&z| z > 0.0 && z.is_finite())
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;
    use proptest::prelude::*;

    use super::*;
    use crate::lcp::residual;

    fn solved(w: &DMatrix<f64>, q: &[f64]) -> Result<Vec<f64>, LcpFailure> {
        let mut z = vec![f64::NAN; q.len()];
        solve_semidefinite(w.as_view(), q, &mut LcpSolver::growing(), &mut z).map(|()| z)
    }

    fn pushed(w: &DMatrix<f64>, q: &[f64]) -> Option<Vec<f64>> {
        let mut z = vec![f64::NAN; q.len()];
        all_push(&w.as_view(), q, &mut z).then_some(z)
    }

    proptest! {
        /// `W = A Aᵀ` with unit rows of `A`, of any rank.
        #[test]
        fn what_is_found_first_is_what_the_solver_finds(
            n in 1usize..=9,
            rank in 1usize..=9,
            entries in proptest::collection::vec(-1.0f64..1.0, 81),
            q in proptest::collection::vec(-1.0f64..0.3, 9),
        ) {
            let mut a = DMatrix::from_fn(n, rank, |i, k| entries[9 * i + k] + if k == 0 { 0.5 } else { 0.0 });
            for mut row in a.row_iter_mut() {
                let length = row.norm();
                prop_assume!(length > 1e-3);
                row /= length;
            }
            let w = &a * a.transpose();
            let q = &q[..n];
            let mut solver = LcpSolver::new(n);
            let (Ok(found), Ok(solved)) = (solved(&w, q), solver.solve(&w, q))
            else {
                return Ok(());
            };
            let sizes = 1.0 + found.iter().fold(0.0f64, |most, z| z.max(most));
            prop_assert!(residual(&w, q, &found).unwrap() < 1e-9 * sizes);
            // `W z` is unique.
            let off = &w * (nalgebra::DVector::from_column_slice(&found) - solved.vector());
            prop_assert!(off.amax() < 1e-9 * sizes);
        }
    }

    #[test]
    fn all_push_or_the_solver_is_asked() {
        let w = DMatrix::from_row_slice(2, 2, &[1.0, -0.5, -0.5, 1.0]);
        let z = pushed(&w, &[-1.0, -1.0]).unwrap();
        assert!((z[0] - 2.0).abs() < 1e-15 && (z[1] - 2.0).abs() < 1e-15);
        // The second would have to pull.
        let blunt = DMatrix::from_row_slice(2, 2, &[1.0, 0.5, 0.5, 1.0]);
        assert_eq!(pushed(&blunt, &[-1.0, 0.0]), None);
        assert_eq!(solved(&blunt, &[-1.0, 0.0]).unwrap(), [1.0, 0.0]);
        let dependent = DMatrix::from_element(2, 2, 1.0);
        assert_eq!(pushed(&dependent, &[-1.0, -1.0]), None);
        let almost = DMatrix::from_row_slice(2, 2, &[1.0, 1.0 - 1e-9, 1.0 - 1e-9, 1.0]);
        assert_eq!(pushed(&almost, &[-1.0, -1.0]), None);
        assert_eq!(pushed(&w, &[-1.0, f64::NAN]), None);
        // No solution is accepted before the data are checked.
        let refused = |w: &DMatrix<f64>, q: &[f64]| solved(w, q).is_err();
        assert!(refused(&w, &[f64::INFINITY, 1.0]) && refused(&w, &[1.0]));
        assert!(refused(&DMatrix::from_element(2, 2, f64::NAN), &[1.0, 1.0]));
        assert_eq!(solved(&w, &[0.0, 2.0]).unwrap(), [0.0, 0.0]);
    }
}
