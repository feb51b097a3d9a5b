//! Criteria under which the outcome of a propagative impact does not depend on the order, and bounds
//! of how far outcomes are apart otherwise.
//!
//! Two contacts have one outcome for every momentum exactly when `⟨u, v⟩ = −cos(π/k)`, `k` = 2, 3,
//! 4, …, and the word then has length `k` (`k` = 2, 3 are Theorems 2 and 3 of Seghete & Murphey).
//! Any number of independent contacts, each pair at such an angle: the reflections generate a
//! Coxeter group whose form `C` is positive definite, hence a finite one, and the outcome is the
//! one element of the orbit in the feasible chamber. Equal balls in a row: the permutations, and
//! velocities are sorted.

use std::f64::consts::PI;

use super::all::AllOutcomes;
use crate::impact::ImpactFailure;
use crate::impact::normal_space::ContactSpace;
use crate::impact::{ImpactLaw, ImpactProblem};

/// The criterion by which the outcome of a propagative impact is unique for every momentum, if one
/// proves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Uniqueness {
    /// All contacts at right angles: each is reflected once at most.
    Orthogonal,
    /// Two contacts with `⟨u, v⟩ = −cos(π/k)`: `k` reflections at most.
    Dihedral {
        /// `k`, 3 or more.
        k: usize,
    },
    /// All pairs at angles `π/k`, independent: a finite reflection group.
    FiniteReflectionGroup,
    /// None of these: outcomes may depend on the order.
    Unknown,
}

/// Limit of the outcomes that are compared with each other.
const COMPARED: usize = 5000;

/// Angles may differ from `π/k` by this much (rad).
const ANGLE: f64 = 1e-9;

/// Tests whether the outcome of a propagative impact is unique for every momentum. This is a
/// property of the angles between contacts; speeds are not read.
///
/// Angles are compared to 1e-9 rad. For the momentum at hand see [`indeterminacy`].
pub fn uniqueness(problem: &ImpactProblem) -> Uniqueness {
    of(problem.space())
}

fn of(space: &ContactSpace) -> Uniqueness {
    let n = space.contacts();
    let mut greatest = 2;
    for i in 0..n {
        for j in 0..i {
            match order(space.gram[(i, j)]) {
                Some(k) => greatest = greatest.max(k),
                None => return Uniqueness::Unknown,
            }
        }
    }
    if greatest == 2 {
        Uniqueness::Orthogonal
    } else if !space.dependent.is_empty() {
        Uniqueness::Unknown
    } else if n == 2 {
        Uniqueness::Dihedral { k: greatest }
    } else {
        Uniqueness::FiniteReflectionGroup
    }
}

/// `k` with `cosine = −cos(π/k)`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between 2 and 10 000, and whole"
)]
fn order(cosine: f64) -> Option<usize> {
    let opening = (-cosine).clamp(-1.0, 1.0).acos();
    // Angles beyond π/2 are no π/k; very small ones are not distinguished from their neighbours.
    let k = (PI / opening).round();
    let known = (2.0..10_000.0).contains(&k) && (opening - PI / k).abs() <= ANGLE;
    known.then_some(k as usize)
}

/// `ξ = max ‖p_a − p_b‖ / ‖p‖` over all pairs of elastic outcomes: how much the order of
/// reflections matters for the momentum at hand, 0 when it does not (Seghete & Murphey,
/// indeterminacy of an impact).
///
/// The norm is that of kinetic energy; `‖p‖` is [`ImpactProblem::kinetic_norm`]. Near a right angle
/// of two contacts `ξ` is about `4 |C_01| √(s_0² + s_1²)/‖p‖`. 0 for a problem at rest.
///
/// # Errors
/// As [`AllOutcomes`], [`ImpactFailure::ReflectionCap`] when that stops at its cap, and
/// [`ImpactFailure::TooManyOutcomes`] when there are more than 5000: the work is quadratic in their
/// number, a second for 5000.
pub fn indeterminacy(problem: &ImpactProblem) -> Result<f64, ImpactFailure> {
    let elastic = problem.clone().with_restitution(1.0)?;
    let law = AllOutcomes::new();
    let outcomes = law.resolve(&elastic)?;
    if !outcomes.is_complete {
        return Err(ImpactFailure::ReflectionCap {
            limit: law.limit(),
            contact: 0,
            speed: problem.speeds()[0],
        });
    }
    let count = outcomes.list.len();
    if count > COMPARED {
        let limit = COMPARED;
        return Err(ImpactFailure::TooManyOutcomes { count, limit });
    }
    if problem.kinetic_norm() == 0.0 {
        return Ok(0.0);
    }
    let mut spread = 0.0f64;
    for (i, a) in outcomes.list.iter().enumerate() {
        problem.check_interrupt()?;
        let distances = outcomes.list[..i].iter().map(|b| a.distance(b));
        spread = distances.fold(spread, f64::max);
    }
    Ok(spread / problem.kinetic_norm())
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::{DMatrix, DVector};

    fn with_cosines(n: usize, cosine: impl Fn(usize, usize) -> f64) -> Uniqueness {
        let gram = DMatrix::from_fn(n, n, |i, j| {
            if i == j {
                1.0
            } else {
                cosine(i.min(j), i.max(j))
            }
        });
        uniqueness(&ImpactProblem::new(gram, DVector::zeros(n)).unwrap())
    }

    #[test]
    fn two_contacts() {
        assert_eq!(with_cosines(2, |_, _| 0.0), Uniqueness::Orthogonal);
        for k in [3, 4, 5, 6, 7, 50, 1000] {
            let cosine = (PI / k as f64).cos();
            let found = with_cosines(2, |_, _| -cosine);
            assert_eq!(found, Uniqueness::Dihedral { k });
            let off = with_cosines(2, |_, _| -(PI / k as f64 + 3e-9).cos());
            assert_eq!(off, Uniqueness::Unknown, "{k}");
            // an acute angle is not of this form
            assert_eq!(with_cosines(2, |_, _| cosine), Uniqueness::Unknown);
        }
        assert_eq!(with_cosines(2, |_, _| -1.0), Uniqueness::Unknown);
    }

    #[test]
    fn more_contacts() {
        assert_eq!(with_cosines(1, |_, _| 0.0), Uniqueness::Orthogonal);
        assert_eq!(with_cosines(4, |_, _| 0.0), Uniqueness::Orthogonal);
        // Equal balls in a row, and a symmetry group of the cube.
        let row = |i: usize, j: usize| if j == i + 1 { -0.5 } else { 0.0 };
        assert_eq!(with_cosines(5, row), Uniqueness::FiniteReflectionGroup);
        let cube = |i: usize, j: usize| match (i, j) {
            (0, 1) => -0.5,
            (1, 2) => -(0.5_f64).sqrt(),
            _ => 0.0,
        };
        assert_eq!(with_cosines(3, cube), Uniqueness::FiniteReflectionGroup);
        // A ring of three: dependent, the group of a tiling, infinite.
        assert_eq!(with_cosines(3, |_, _| -0.5), Uniqueness::Unknown);
    }
}
