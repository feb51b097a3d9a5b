//! The search for a motion that opens all contacts at once; used only when reflections do not end.

use nalgebra::DVector;

use crate::impact::ImpactFailure;
use crate::impact::laws::complementarity::solve_lcp;
use crate::impact::normal_space::ContactSpace;

/// Cones that open by less than this (cosine between unit normals and the direction deepest inside)
/// count as closed.
const CLOSED: f64 = 1e-9;

/// True when some motion opens all contacts at once.
///
/// Reflections are finite when some direction `r` has `⟨r, u_i⟩ ≥ δ > 0` for all contacts. The
/// shortest `r` with `⟨r, u_i⟩ ≥ 1` is `Σ λ_i u_i` with `0 ≤ λ ⊥ C λ − 1 ≥ 0`, and `‖r‖² = Σ λ_i`;
/// without a solution there is none.
fn exists(space: &ContactSpace) -> bool {
    let ones = DVector::repeat(space.contacts(), -1.0);
    solve_lcp(&space.gram, &ones, 0.0, None)
        .is_ok_and(|weights| weights.sum().sqrt() < 1.0 / CLOSED)
}

/// The error for a cap that was reached: `found`, or that the stages need not end.
pub(crate) fn explain(space: &ContactSpace, limit: usize, found: ImpactFailure) -> ImpactFailure {
    if exists(space) {
        found
    } else {
        ImpactFailure::NoFeasibleInterior { limit }
    }
}

/// Refuses an incomplete search when the words need not end.
pub(crate) fn check_search(
    space: &ContactSpace,
    limit: usize,
    is_complete: bool,
) -> Result<(), ImpactFailure> {
    if is_complete || exists(space) {
        Ok(())
    } else {
        Err(ImpactFailure::NoFeasibleInterior { limit })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impact::normal_space::Source;
    use nalgebra::{DMatrix, dmatrix};

    fn opens(gram: &DMatrix<f64>) -> bool {
        let still = vec![0.0; gram.nrows()];
        exists(&ContactSpace::new(gram, &still, Source::Given).unwrap())
    }

    #[test]
    fn only_cones_that_surround_the_origin_are_closed() {
        assert!(opens(&dmatrix![1.0]));
        assert!(opens(&dmatrix![1.0, 0.999; 0.999, 1.0]));
        assert!(opens(&dmatrix![1.0, -0.999999; -0.999999, 1.0]));
        // One contact twice: the cone has an interior.
        assert!(opens(&dmatrix![1.0, 1.0; 1.0, 1.0]));
        assert!(!opens(&dmatrix![1.0, -1.0; -1.0, 1.0]));
        // Three walls of a triangle around a point.
        assert!(!opens(
            &dmatrix![1.0, -0.5, -0.5; -0.5, 1.0, -0.5; -0.5, -0.5, 1.0]
        ));
    }
}
