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

use nalgebra::{DMatrix, DVector, DVectorView};

use super::complementarity::{Solvers, solve_speeds};
use crate::impact::ImpactFailure;
use crate::impact::normal_space::ContactSpace;
use crate::impact::{ImpactLaw, ImpactProblem, Order, Outcome, Outcomes, Reflections, Remark};
use crate::linalg::decompose::cholesky;
use crate::linalg::scratch::{resize, resize_vector, with_zeros};
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

    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        problem.refuse_friction(self.name())?;
        let (outcome, memory) = outcomes.begin_one();
        outcome.order = Order::Together;
        let plastic = &mut memory.blend.plastic;
        plastic.fill(problem, &mut memory.solvers)?;
        outcome.remarks.extend(plastic.remark());
        outcome.push(problem, plastic.impulses.as_slice())
    }
}

/// Scaled impulses of the plastic impact.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlasticPart {
    /// `λ`.
    pub(crate) impulses: DVector<f64>,
    /// `s_p = s + C λ`.
    speeds: DVector<f64>,
    is_unilateral: bool,
}

impl PlasticPart {
    fn fill(
        &mut self,
        problem: &ImpactProblem,
        solvers: &mut Solvers,
    ) -> Result<(), ImpactFailure> {
        let (space, n) = (problem.space(), problem.contacts());
        resize_vector(&mut self.impulses, n);
        for (impulse, speed) in self.impulses.iter_mut().zip(&space.speeds) {
            *impulse = -speed;
        }
        let pushes = |&l: &f64| l >= -problem.threshold();
        self.is_unilateral = !(bilateral(space, &mut self.impulses, &mut solvers.matrix)
            && self.impulses.iter().all(pushes));
        if self.is_unilateral {
            let (speeds, impulses) = (space.speeds.as_slice(), self.impulses.as_mut_slice());
            solve_speeds(&space.gram, speeds, problem, &mut solvers.lcp, impulses)?;
        }
        resize_vector(&mut self.speeds, n);
        self.speeds.gemv(1.0, &space.gram, &self.impulses, 0.0);
        for (after, before) in self.speeds.iter_mut().zip(&space.speeds) {
            *after += before;
        }
        Ok(())
    }

    fn remark(&self) -> Option<Remark> {
        self.is_unilateral.then_some(Remark::UnilateralPlastic)
    }
}

/// Replaces changes of the scaled speeds by the scaled impulses that make them, `C⁻¹ change`; false
/// where contacts depend on each other. `matrix` is memory for the factor.
pub(crate) fn bilateral(
    space: &ContactSpace,
    change: &mut DVector<f64>,
    matrix: &mut DMatrix<f64>,
) -> bool {
    if !space.dependent.is_empty() {
        return false;
    }
    let n = space.contacts();
    resize(matrix, n, n);
    matrix.copy_from(&space.gram);
    let Some(factor) = cholesky(std::mem::take(matrix)) else {
        return false;
    };
    factor.solve_mut(change);
    *matrix = factor.unpack_dirty();
    true
}

/// The blend that turns elastic outcomes of a problem into those with its restitution.
#[derive(Clone, Debug, Default)]
pub(crate) struct Blend {
    restitution: f64,
    /// Not read with a restitution of 1, when elastic outcomes stay as they are.
    pub(crate) plastic: PlasticPart,
    remarks: Vec<Remark>,
}

impl Blend {
    /// One coefficient for the impact: the largest.
    pub(crate) fn of(problem: &ImpactProblem) -> Result<Self, ImpactFailure> {
        let mut blend = Self::default();
        blend.fill(problem, &mut Solvers::default())?;
        Ok(blend)
    }

    /// Likewise, in memory that is there.
    pub(crate) fn fill(
        &mut self,
        problem: &ImpactProblem,
        solvers: &mut Solvers,
    ) -> Result<(), ImpactFailure> {
        let all = problem.restitution();
        let rule = "must lie in [0, 1] for a blend of plastic and elastic";
        validate::accepted("restitution", all, rule, |e| (0.0..=1.0).contains(&e))?;
        let restitution = all.iter().copied().fold(0.0, f64::max);
        self.restitution = restitution;
        self.remarks.clear();
        if all.iter().any(|&e| e < restitution) {
            let remark = Remark::LargestRestitution { used: restitution };
            self.remarks.push(remark);
        }
        if restitution < 1.0 {
            self.plastic.fill(problem, solvers)?;
            self.remarks.extend(self.plastic.remark());
        }
        Ok(())
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
                let mut outcome = Outcome::empty();
                outcome.order = Order::Word(word);
                self.write(problem, reflections.scaled_impulses(), &mut outcome)?;
                Ok(outcome)
            })
            .collect()
    }

    /// Writes the outcome for an elastic one, given its scaled impulses `μ`, beside its word.
    pub(crate) fn write(
        &self,
        problem: &ImpactProblem,
        elastic: &[f64],
        outcome: &mut Outcome,
    ) -> Result<(), ImpactFailure> {
        outcome.remarks.extend_from_slice(&self.remarks);
        if self.restitution >= 1.0 {
            return outcome.push(problem, elastic);
        }
        let (plastic, n) = (&self.plastic, elastic.len());
        // λ · s_p vanishes, exactly so in the bilateral case: D = −λ · s, δ = μ · s_p
        let lost = -plastic.impulses.dot(&problem.space().speeds);
        let delta = if plastic.is_unilateral {
            DVectorView::from_slice(elastic, n).dot(&plastic.speeds)
        } else {
            0.0
        };
        let alpha = part(self.restitution, delta / lost);
        with_zeros(n, |impulses| {
            let parts = elastic.iter().zip(&plastic.impulses);
            for (impulse, (e, p)) in impulses.iter_mut().zip(parts) {
                *impulse = e * alpha + p * (1.0 - alpha);
            }
            outcome.push(problem, impulses)
        })
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
