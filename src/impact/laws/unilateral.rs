//! Unilateral impact: contacts push or separate, all at once.

use super::complementarity::rebound;
use crate::impact::ImpactFailure;
use crate::impact::{ImpactLaw, ImpactProblem, Order, Outcomes};
use crate::linalg::scratch::with_zeros;

/// Contacts push or separate faster than their restitution asks: `0 ≤ p ⊥ u⁺ + diag(e) (u)₋ ≥ 0`,
/// `u⁺ = u + G p`, `(u)₋ = min(u, 0)`, over all zero gaps at once (Moreau; Newton's restitution).
/// The default of the crate.
///
/// Equals [`Projective`](crate::impact::Projective) when that pushes everywhere and all contacts
/// approach. With dependent contacts the speeds are unique and the impulses one choice of many. It
/// does not carry an impact through resting neighbours: a Newton's cradle of three equal balls
/// leaves with (−1/3, 2/3, 2/3).
///
/// # When there is an outcome
/// There is always one where some motion opens all contacts at once, as with independent normals,
/// and where `e = 0`. Contacts squeeze a body when a combination of their normals with positive
/// weights vanishes, as two opposite walls do: then none of them parts unless another closes. If
/// one of these approaches with `e > 0`, there is no outcome: [`ImpactFailure::Squeezed`]. There is no
/// other such case: with `C u = 0`, `u ≥ 0`, the speeds of any motion have `u · s = 0`, and
/// impulses exist exactly when no such `u` has `Σ u_i e_i (s_i)₋ < 0`. The body then rattles
/// between the walls, which no simultaneous law describes.
///
/// # Energy
/// A contact that pushes has `u⁺ = −e (u)₋`. So `ΔE = ½ Σ p_i (u_i + u_i⁺)` has the term
/// `−½ (1 − e_i) p_i |u_i|` for a contact that approached and `+½ p_i u_i` for one that parted and
/// is pressed on by others. With coefficients in [0, 1], common or not,
///
/// * the energy never rises when no contact parts before: `ΔE = −½ Σ (1 − e_i) p_i |u_i|`;
/// * else it rises by at most `½ Σ p_i u_i` over the parting contacts. It can rise even with one
///   coefficient for all contacts. `G = [1, −½; −½, 1]`, `u = (−1, ½)`, `e = 1` gains 1/6 on 1/2.
///   The outcome then has a remark ([`Remark::EnergyRaised`](crate::impact::Remark::EnergyRaised));
/// * with all coefficients 0 it never rises: `p · u⁺ = 0`, and `ΔE = −½ pᵀ G p`.
///
/// Errors: [`ImpactFailure::Squeezed`]; [`lcp::LcpFailure::Residual`](crate::lcp::LcpFailure::Residual) when
/// rounding defeats the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unilateral;

impl ImpactLaw for Unilateral {
    fn name(&self) -> &'static str {
        "Unilateral"
    }

    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        problem.refuse_friction(self.name())?;
        let space = problem.space();
        let e = problem.restitution();
        let (outcome, memory) = outcomes.begin_one();
        outcome.order = Order::Together;
        let (solver, speeds) = (&mut memory.solvers.lcp, space.speeds.as_slice());
        with_zeros(speeds.len(), |impulses| {
            rebound(&space.gram, speeds, |i| e[i], problem, solver, impulses)?;
            outcome.push(problem, impulses)
        })
    }
}
