//! The one place where impact laws meet the solver of linear complementarity problems.

use nalgebra::{DMatrix, DVector};

use crate::Interrupt;
use crate::impact::ImpactFailure;
use crate::impact::ImpactProblem;
use crate::lcp::{proof_of_none, solve_semidefinite};

/// Entries of a proof that are smaller than this part of the greatest are rounding.
const PART: f64 = 1e-6;

/// `z` with `0 ≤ z ⊥ W z + q ≥ 0`, for a positive semidefinite `W` with a unit diagonal; `noise` is
/// the rounding of `q`.
pub(crate) fn solve_lcp(
    w: &DMatrix<f64>,
    q: &DVector<f64>,
    noise: f64,
    interrupt: Option<&Interrupt>,
) -> Result<DVector<f64>, ImpactFailure> {
    let z = solve_semidefinite(w.as_view(), q.as_slice(), noise, interrupt)?;
    Ok(DVector::from_vec(z))
}

/// `s + e (s)₋`.
pub(crate) fn restituted(speed: f64, restitution: f64) -> f64 {
    speed + restitution * speed.min(0.0)
}

/// Scaled impulses `λ` of contacts that push or part faster than their restitution asks,
/// `0 ≤ λ ⊥ s + diag(e) (s)₋ + C λ ≥ 0`.
///
/// For speeds of a motion they exist unless normals `n_i` satisfy `Σ u_i n_i = 0` with `u ≥ 0`, and
/// a contact with `u_i > 0` approaches with `e_i > 0`: [`ImpactFailure::Squeezed`]. For `u · s = 0`, and
/// `u · q = Σ u_i e_i (s_i)₋` must not be negative.
pub(crate) fn rebound(
    gram: &DMatrix<f64>,
    speeds: &DVector<f64>,
    restitution: impl Fn(usize) -> f64,
    problem: &ImpactProblem,
) -> Result<DVector<f64>, ImpactFailure> {
    let (e, noise) = (&restitution, problem.noise());
    let q = DVector::from_fn(speeds.len(), |i, _| restituted(speeds[i], e(i)));
    solve_lcp(gram, &q, noise, problem.interrupt()).map_err(|error| match error {
        ImpactFailure::Lcp(crate::lcp::LcpFailure::Ray { infeasible: true }) => {
            squeezed(gram, speeds, e, &q, noise).unwrap_or(error)
        }
        other => other,
    })
}

/// Why there are no impulses, when contacts squeeze a body.
#[cold]
fn squeezed(
    gram: &DMatrix<f64>,
    speeds: &DVector<f64>,
    restitution: &impl Fn(usize) -> f64,
    q: &DVector<f64>,
    noise: f64,
) -> Option<ImpactFailure> {
    let u = proof_of_none(gram.as_view(), q.as_slice(), noise)?;
    let set: Vec<usize> = (0..u.len()).filter(|&i| u[i] > PART).collect();
    let rebound = |i: &usize| restitution(*i) * -speeds[*i];
    let contact = *set
        .iter()
        .max_by(|a, b| rebound(a).total_cmp(&rebound(b)))?;
    (rebound(&contact) > 0.0).then(|| ImpactFailure::Squeezed {
        restitution: restitution(contact),
        set,
        contact,
    })
}
