//! The one place where impact laws meet the solver of linear complementarity problems.

use nalgebra::{DMatrix, DVector};

use crate::Interrupt;
use crate::impact::ImpactFailure;
use crate::impact::ImpactProblem;
use crate::lcp::{LcpFailure, LcpSolver, proof_of_none, solve_semidefinite};
use crate::linalg::scratch::with_zeros;

/// Entries of a proof that are smaller than this part of the greatest are rounding.
const PART: f64 = 1e-6;

/// The memory of linear and complementarity problems.
#[derive(Default)]
pub(crate) struct Solvers {
    pub(crate) lcp: LcpSolver,
    pub(crate) matrix: DMatrix<f64>,
}

/// `z` with `0 ≤ z ⊥ W z + q ≥ 0`, for a positive semidefinite `W` with a unit diagonal; `noise` is
/// the rounding of `q`.
pub(crate) fn solve_lcp(
    w: &DMatrix<f64>,
    q: &DVector<f64>,
    noise: f64,
    interrupt: Option<&Interrupt>,
) -> Result<DVector<f64>, ImpactFailure> {
    let (mut solver, mut z) = (LcpSolver::growing(), DVector::zeros(q.len()));
    solver.expect(noise, interrupt);
    solve_semidefinite(w.as_view(), q.as_slice(), &mut solver, z.as_mut_slice())?;
    Ok(z)
}

/// Likewise for speeds of `problem`, in memory that is there.
pub(crate) fn solve_speeds(
    w: &DMatrix<f64>,
    q: &[f64],
    problem: &ImpactProblem,
    solver: &mut LcpSolver,
    z: &mut [f64],
) -> Result<(), ImpactFailure> {
    solver.expect(problem.noise(), problem.interrupt());
    Ok(solve_semidefinite(w.as_view(), q, solver, z)?)
}

/// `s + e (s)₋`.
pub(crate) fn restituted(speed: f64, restitution: f64) -> f64 {
    speed + restitution * speed.min(0.0)
}

/// Writes scaled impulses `λ` of contacts that push or part faster than their restitution asks,
/// `0 ≤ λ ⊥ s + diag(e) (s)₋ + C λ ≥ 0`.
///
/// For speeds of a motion they exist unless normals `n_i` satisfy `Σ u_i n_i = 0` with `u ≥ 0`, and
/// a contact with `u_i > 0` approaches with `e_i > 0`: [`ImpactFailure::Squeezed`]. For `u · s = 0`, and
/// `u · q = Σ u_i e_i (s_i)₋` must not be negative.
pub(crate) fn rebound(
    gram: &DMatrix<f64>,
    speeds: &[f64],
    restitution: impl Fn(usize) -> f64,
    problem: &ImpactProblem,
    solver: &mut LcpSolver,
    impulses: &mut [f64],
) -> Result<(), ImpactFailure> {
    let e = &restitution;
    with_zeros(speeds.len(), |q| {
        for (i, q) in q.iter_mut().enumerate() {
            *q = restituted(speeds[i], e(i));
        }
        solve_speeds(gram, q, problem, solver, impulses).map_err(|error| match error {
            ImpactFailure::Lcp(LcpFailure::Ray { infeasible: true }) => {
                squeezed(gram, speeds, e, q, problem.noise()).unwrap_or(error)
            }
            other => other,
        })
    })
}

/// The failure without impulses, when contacts squeeze a body.
#[cold]
fn squeezed(
    gram: &DMatrix<f64>,
    speeds: &[f64],
    restitution: &impl Fn(usize) -> f64,
    q: &[f64],
    noise: f64,
) -> Option<ImpactFailure> {
    let u = proof_of_none(gram.as_view(), q, noise)?;
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
