//! Unilateral impact: contacts push or separate, all at once.

use nalgebra::DVector;

use super::complementarity::solve_lcp;
use super::{ImpactLaw, ImpactProblem, Order, Outcome, Outcomes};
use crate::Error;

/// Contacts push or separate faster than their restitution asks: `0 ≤ p ⊥ u⁺ + diag(e) (u)₋ ≥ 0`, `u⁺ = u + G p`,
/// `(u)₋ = min(u, 0)`, over all zero gaps at once (Moreau; Newton's restitution). The default of the crate.
///
/// Equals [`Projective`](super::Projective) when that pushes everywhere and all contacts approach. Always feasible. With
/// dependent contacts the speeds are unique and the impulses one choice of many. It does not carry an impact through resting
/// neighbours: Newton's cradle of equal balls moves on as (−1/3, 2/3, 2/3).
///
/// # Energy
/// A contact that pushes has `u⁺ = −e (u)₋`. So `ΔE = ½ Σ p_i (u_i + u_i⁺)` has the term `−½ (1 − e_i) p_i |u_i|` for a contact that
/// approached and `+½ p_i u_i` for one that parted and is pressed on by others. With coefficients in [0, 1], common or not,
///
/// * the energy never rises when no contact parts before: `ΔE = −½ Σ (1 − e_i) p_i |u_i|`;
/// * else it rises by `½ Σ p_i u_i` over the parting contacts at most: it can, with one coefficient for all too. `G = [1, −½; −½, 1]`,
///   `u = (−1, ½)`, `e = 1` gains 1/6 on 1/2. The outcome then says so
///   ([`Remark::EnergyRaised`](super::Remark::EnergyRaised));
/// * with all coefficients 0 it never rises: `p · u⁺ = 0`, and `ΔE = −½ pᵀ G p`.
///
/// [`Error::LcpResidual`] when rounding defeats the solver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unilateral;

impl ImpactLaw for Unilateral {
    fn resolve(&self, problem: &ImpactProblem) -> Result<Outcomes, Error> {
        let space = problem.space();
        let e = problem.restitution();
        let q = DVector::from_fn(e.len(), |i, _| restituted(space.speeds[i], e[i]));
        let impulses = solve_lcp(&space.gram, &q)?;
        let outcome = Outcome::new(problem, impulses.as_slice(), Order::Together, Vec::new())?;
        Ok(Outcomes::of_one(outcome))
    }
}

/// `s + e (s)₋`.
pub(super) fn restituted(speed: f64, restitution: f64) -> f64 {
    speed + restitution * speed.min(0.0)
}
