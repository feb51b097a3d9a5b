//! What a solution must be.

use nalgebra::DMatrix;
use saltation::lcp::Failure;
use saltation::lcp::{Attempt, LcpSolver, residual};

use crate::contacts::Lcp;

/// `z` and what found it, after checks that do not rely on the solver's own.
pub(crate) fn solved_by(
    solver: &mut LcpSolver,
    (w, q): &Lcp,
) -> Result<(Vec<f64>, Attempt), Failure> {
    let solution = solver.solve(w, q)?;
    let z = solution.z();
    let size = q
        .iter()
        .chain(z)
        .fold(0.0, |most: f64, v| most.max(v.abs()));
    let found = residual(w, q, z).unwrap();
    assert!(
        found <= 1e-10 * (1.0 + size),
        "residual {found:e}: {w}{q:?}"
    );
    assert_eq!(found.to_bits(), solution.residual().to_bits());
    assert!(z.iter().all(|&z| z >= 0.0));
    assert_eq!(solution.vector().as_slice(), z);
    let slack = DMatrix::from_column_slice(q.len(), 1, q) + w * solution.vector();
    let gaps = slack.iter().zip(solution.w()).map(|(a, b)| (a - b).abs());
    let terms = w.amax() * z.len() as f64 * size;
    assert!(gaps.fold(0.0, f64::max) <= 1e-14 * (size + terms));
    Ok((z.to_vec(), solution.rung()))
}

pub(crate) fn solved(lcp: &Lcp) -> Result<Vec<f64>, Failure> {
    solved_by(&mut LcpSolver::new(0), lcp).map(|(z, _)| z)
}

/// Row by row.
pub(crate) fn lcp<const N: usize>(w: [[f64; N]; N], q: [f64; N]) -> Lcp {
    (DMatrix::from_fn(N, N, |i, j| w[i][j]), q.to_vec())
}

pub(crate) fn assert_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!(
            (a - b).abs() <= tolerance,
            "{found:?}, expected {expected:?}"
        );
    }
}
