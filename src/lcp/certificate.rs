//! Rays that prove that there is no solution: with `u ≥ 0`, `Wᵀu ≤ 0` and `q·u < 0`, the sum
//! `u·(W z + q)` would be negative for every `z ≥ 0`.

use super::scaled::Scaled;
use crate::linalg::largest;

/// The greatest rest of `Wᵀu` by rounding, over the size of its terms or of the columns, whichever
/// is larger.
const ROUGHLY_ZERO: f64 = 1e-12;
/// `q·u` is negative by at least this, over the size of its terms.
const NEGATIVE: f64 = 1e-10;
/// A solution would be larger than this in units of the scaled problem, given the rest of `Wᵀu` and
/// the rounding of its sums.
const FAR: f64 = 1e8;

/// The strength of a ray as a proof that there is no solution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Proof {
    /// It proves nothing.
    None,
    /// Proved to more than rounding; nearly dependent rows may be the reason.
    Rough,
    /// Proved to rounding.
    Exact,
}

/// The proof by `u ≥ 0`, in units of the scaled problem, whose columns are of size 1.
pub(super) fn proof_by(problem: &Scaled, u: &[f64]) -> Proof {
    let most = u.iter().zip(&problem.row).map(|(u, row)| u / row);
    let most = most.fold(0.0, f64::max);
    if !(most > 0.0 && most.is_finite()) {
        return Proof::None;
    }
    // A product, and what its terms add up to without signs.
    let product = |v: &[f64]| {
        let terms = v.iter().zip(u).zip(&problem.row);
        terms.fold((0.0, 0.0), |(sum, size), ((v, u), row)| {
            let term = v * (u / row / most);
            (sum + term, size + term.abs())
        })
    };
    let unit = problem.n as f64 * f64::EPSILON;
    let (mut rises, mut proof) = (0.0f64, Proof::Exact);
    for j in 0..problem.n {
        // The columns are those of −W.
        let (falls, size) = product(problem.column(j).as_flattened());
        rises = rises.max(-falls).max(unit * size);
        let allowed = size.max(1.0);
        if -falls > ROUGHLY_ZERO * allowed {
            return Proof::None;
        }
        if -falls > 8.0 * unit * allowed {
            proof = Proof::Rough;
        }
    }
    let (sum, size) = product(problem.q.as_flattened());
    let proves = -sum > NEGATIVE * size && -sum > FAR * rises;
    if proves { proof } else { Proof::None }
}

/// Divides by the largest entry; zeros when there is none.
pub(super) fn bring_to_one(u: &mut [f64]) {
    let most = largest(&*u);
    let is_ray = most > 0.0 && most.is_finite();
    for u in u {
        *u = if is_ray { *u / most } else { 0.0 };
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::DMatrix;

    use super::*;

    fn proof(w: &[f64; 4], q: [f64; 2], u: [f64; 2]) -> Proof {
        let mut problem = Scaled::default();
        let w = DMatrix::from_row_slice(2, 2, w);
        problem.load(&(&w).into(), &q).unwrap();
        proof_by(&problem, &u)
    }

    #[test]
    fn proofs_are_as_sure_as_the_numbers() {
        let squeezed = [1.0, -1.0, -1.0, 1.0];
        assert_eq!(proof(&squeezed, [-1.0, -1.0], [1.0, 1.0]), Proof::Exact);
        assert_eq!(proof(&squeezed, [1.0, -2.0], [0.5, 0.5]), Proof::Exact);
        // Solvable, by much and by little.
        assert_eq!(proof(&squeezed, [1.0, -0.9], [1.0, 1.0]), Proof::None);
        assert_eq!(proof(&squeezed, [1.0, -1.0], [1.0, 1.0]), Proof::None);
        // Almost singular: solvable with z = 1e10, and almost not.
        let almost = |by: f64| [1.0 + by, -1.0, -1.0, 1.0 + by];
        assert_eq!(proof(&almost(1e-10), [-1.0; 2], [1.0; 2]), Proof::None);
        assert_eq!(proof(&almost(1e-13), [-1.0; 2], [1.0; 2]), Proof::Rough);
        assert_eq!(proof(&almost(1e-15), [-1.0; 2], [1.0; 2]), Proof::Exact);
        // No ray.
        for u in [0.0, f64::NAN, f64::INFINITY] {
            assert_eq!(proof(&squeezed, [-1.0; 2], [u; 2]), Proof::None, "{u}");
        }
    }

    #[test]
    fn units_do_not_change_what_is_proved() {
        let w = [1e8, -1e-3, -1e-3, 1e-14];
        assert_eq!(proof(&w, [-1e4, -1e-7], [1e-11, 1.0]), Proof::Exact);
    }
}
