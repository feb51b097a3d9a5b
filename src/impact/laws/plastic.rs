//! Plastic outcomes, and outcomes between plastic and elastic.
//!
//! The plastic impact removes the part of the momentum along the normals: `λ = −C⁻¹ s` (Seghete &
//! Murphey, eqs (10), (11)). Where this would pull, the projection onto the feasible momenta is
//! taken instead, `0 ≤ λ ⊥ s + C λ ≥ 0`.
//!
//! With one coefficient `R` for the impact, `R = √(1 − ΔE/E_p)` (eq. (16)), `E_p` the energy that
//! the plastic impact loses, and the blend `p⁺ = α p_e + (1 − α) p_p` (eq. (17)) follows `α = R`
//! (the printed `α = √(1 − R²)` makes `R = 1` plastic). With the unilateral plastic outcome
//! `δ = ⟨p_e, p_p⟩ − ‖p_p‖² ≥ 0` need not vanish, and `α` solves `α² D + 2α(1 − α) δ = R² D`,
//! `D = ‖p_e‖² − ‖p_p‖² = 2 E_p`.

use nalgebra::DVector;

use super::complementarity::solve_lcp;
use crate::impact::ImpactFailure;
use crate::impact::normal_space::ContactSpace;
use crate::impact::{ImpactLaw, ImpactProblem, Order, Outcome, Outcomes, Reflections, Remark};
use crate::linalg::decompose::cholesky;
use crate::validate;

/// The plastic impact: contacts that push do not separate. Coefficients of restitution are not
/// read.
///
/// Bilateral where no contact pulls in it, else the projection onto the feasible speeds with the
/// remark [`Remark::UnilateralPlastic`]. It loses `½ uᵀ G⁻¹ u` over the contacts that push.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plastic;

impl ImpactLaw for Plastic {
    fn name(&self) -> &'static str {
        "Plastic"
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<Outcomes, ImpactFailure> {
        problem.refuse_friction(self.name())?;
        let plastic = PlasticPart::of(problem)?;
        let remarks = plastic.remarks();
        let outcome = Outcome::new(
            problem,
            plastic.impulses.as_slice(),
            Order::Together,
            remarks,
        )?;
        Ok(Outcomes::of_one(outcome))
    }
}

/// Scaled impulses of the plastic impact.
#[derive(Clone, Debug)]
pub(crate) struct PlasticPart {
    /// `λ`.
    pub(crate) impulses: DVector<f64>,
    /// `s_p = s + C λ`.
    speeds: DVector<f64>,
    is_unilateral: bool,
}

impl PlasticPart {
    pub(crate) fn of(problem: &ImpactProblem) -> Result<Self, ImpactFailure> {
        let space = problem.space();
        let bilateral = bilateral(space, &-&space.speeds)
            .ok()
            .filter(|impulses| impulses.iter().all(|&l| l >= -problem.threshold()));
        let is_unilateral = bilateral.is_none();
        let impulses = match bilateral {
            Some(impulses) => impulses,
            None => solve_lcp(
                &space.gram,
                &space.speeds,
                problem.noise(),
                problem.interrupt(),
            )?,
        };
        Ok(Self {
            speeds: &space.speeds + &space.gram * &impulses,
            impulses,
            is_unilateral,
        })
    }

    fn remarks(&self) -> Vec<Remark> {
        let remark = self.is_unilateral.then_some(Remark::UnilateralPlastic);
        remark.into_iter().collect()
    }
}

/// `C⁻¹ change`: the scaled impulses that change the scaled speeds by `change`.
pub(crate) fn bilateral(
    space: &ContactSpace,
    change: &DVector<f64>,
) -> Result<DVector<f64>, ImpactFailure> {
    space.independent()?;
    let factor = cholesky(space.gram.clone()).ok_or_else(|| ImpactFailure::DependentContacts {
        set: (0..space.contacts()).collect(),
        rcond: space.rcond(),
    })?;
    Ok(factor.solve(change))
}

/// The blend that turns elastic outcomes of a problem into those with its restitution.
#[derive(Clone, Debug)]
pub(crate) struct Blend {
    restitution: f64,
    /// None when elastic outcomes stay as they are.
    plastic: Option<PlasticPart>,
    remarks: Vec<Remark>,
}

impl Blend {
    /// One coefficient for the impact: the largest.
    pub(crate) fn of(problem: &ImpactProblem) -> Result<Self, ImpactFailure> {
        let all = problem.restitution();
        let rule = "must lie in [0, 1] for a blend of plastic and elastic";
        validate::accepted("restitution", all, rule, |e| (0.0..=1.0).contains(&e))?;
        let restitution = all.iter().copied().fold(0.0, f64::max);
        let mut remarks = Vec::new();
        if all.iter().any(|&e| e < restitution) {
            remarks.push(Remark::LargestRestitution { used: restitution });
        }
        let plastic = if restitution < 1.0 {
            let plastic = PlasticPart::of(problem)?;
            remarks.extend(plastic.remarks());
            Some(plastic)
        } else {
            None
        };
        Ok(Self {
            restitution,
            plastic,
            remarks,
        })
    }

    /// The outcomes for the elastic ones in which words of reflections end. With restitution 0 they
    /// are one.
    pub(crate) fn outcomes(
        &self,
        problem: &ImpactProblem,
        words: impl Iterator<Item = Vec<usize>>,
    ) -> Result<Vec<Outcome>, ImpactFailure> {
        let are_apart = self.restitution > crate::impact::orders::momenta::EQUAL;
        let mut reflections = Reflections::new(problem);
        words
            .take(if are_apart { usize::MAX } else { 1 })
            .map(|word| {
                problem.check_interrupt()?;
                reflections.reset(problem.space().speeds.as_slice());
                for &contact in &word {
                    reflections.reflect(contact);
                }
                self.outcome(problem, reflections.scaled_impulses(), word)
            })
            .collect()
    }

    /// The outcome for an elastic one, given its scaled impulses `μ` and its word.
    pub(crate) fn outcome(
        &self,
        problem: &ImpactProblem,
        elastic: &[f64],
        word: Vec<usize>,
    ) -> Result<Outcome, ImpactFailure> {
        let order = Order::Word(word);
        let Some(plastic) = &self.plastic else {
            return Outcome::new(problem, elastic, order, self.remarks.clone());
        };
        let elastic = DVector::from_column_slice(elastic);
        // λ · s_p vanishes, exactly so in the bilateral case: D = −λ · s, δ = μ · s_p
        let lost = -plastic.impulses.dot(&problem.space().speeds);
        let delta = if plastic.is_unilateral {
            elastic.dot(&plastic.speeds)
        } else {
            0.0
        };
        let alpha = part(self.restitution, delta / lost);
        let impulses = &elastic * alpha + &plastic.impulses * (1.0 - alpha);
        Outcome::new(problem, impulses.as_slice(), order, self.remarks.clone())
    }
}

/// The root in [0, 1] of `(1 − 2κ) α² + 2κ α = R²`, `κ = δ/D` in [0, 1].
fn part(restitution: f64, kappa: f64) -> f64 {
    // NaN when nothing approaches and nothing is lost; rounding may leave [0, 1]
    let kappa = if kappa.is_finite() {
        kappa.clamp(0.0, 1.0)
    } else {
        0.0
    };
    if restitution == 0.0 {
        return 0.0;
    }
    let square = restitution * restitution;
    let root = square / (kappa + (kappa * kappa + (1.0 - 2.0 * kappa) * square).sqrt());
    // Rounding may leave [0, 1].
    root.min(1.0)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact equality is what is promised")]
mod tests {
    use super::*;

    #[test]
    fn the_elastic_part_is_the_restitution_for_a_bilateral_plastic_outcome() {
        for r in [0.0, 1e-9, 0.3, 0.7, 1.0] {
            assert!((part(r, 0.0) - r).abs() < 1e-16);
            assert_eq!(part(r, f64::NAN), part(r, 0.0));
        }
    }

    #[test]
    fn the_elastic_part_solves_its_equation() {
        for i in 0..=20 {
            for j in 0..=20 {
                let (r, k) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
                let a = part(r, k);
                let residual = (1.0 - 2.0 * k) * a * a + 2.0 * k * a - r * r;
                assert!(
                    (0.0..=1.0).contains(&a) && residual.abs() < 1e-15,
                    "{r} {k}"
                );
            }
        }
    }
}
