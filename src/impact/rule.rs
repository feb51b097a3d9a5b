//! The impact rule of a run: its law, the selection of one outcome, and what the driver holds
//! against that outcome before it acts on it.

use super::{ImpactFailure, ImpactLaw, ImpactProblem, Occasion, Outcome, Outcomes, Selection};
use crate::InputError;

/// The law of an impact and the selection of its outcome.
#[derive(Clone, Copy)]
pub(crate) struct ImpactRule<'a> {
    pub(crate) law: &'a dyn ImpactLaw,
    /// The rule that takes one outcome of the law.
    pub(crate) selection: &'a Selection,
}

impl ImpactRule<'_> {
    /// The place in `outcomes` of the outcome of `problem` that a run takes. A law may be anybody's:
    /// of the outcome its impulses alone are believed, in number and size as they have to be. Speeds,
    /// energy and the remarks that follow from them are computed again.
    ///
    /// # Errors
    /// Those of the law and the selection; [`ImpactFailure::OutcomeOfLaw`],
    /// [`ImpactFailure::Overflow`], and [`ImpactFailure::LeftApproaching`] where a contact approaches
    /// on by more than `rate_tolerance` (m/s).
    pub(crate) fn resolve(
        self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
        occasion: Occasion,
        rate_tolerance: f64,
    ) -> Result<usize, ImpactFailure> {
        outcomes.forget();
        self.law.resolve_into(problem, outcomes)?;
        let chosen = self.selection.choose(outcomes, occasion)?;
        if let Some(outcome) = outcomes.list.get_mut(chosen) {
            let law = self.law.name();
            let wrong = |reason: InputError| ImpactFailure::OutcomeOfLaw { law, reason };
            outcome.check_impulses(problem).map_err(wrong)?;
            outcome.complete(problem)?;
            if let Some((contact, speed)) = left_approaching(problem, outcome, rate_tolerance) {
                return Err(ImpactFailure::LeftApproaching {
                    law,
                    contact,
                    speed,
                });
            }
        }
        Ok(chosen)
    }
}

/// The contact that approaches most after an impact, and its speed (m/s), where that is more than the
/// tolerance and rounding, and more than its coefficient of restitution says: negative ones, and
/// contacts that part before under a law that takes `u⁺ = −e u⁻` literally, approach after it.
fn left_approaching(
    problem: &ImpactProblem,
    outcome: &Outcome,
    rate_tolerance: f64,
) -> Option<(usize, f64)> {
    let least = problem.least_approach();
    let roots = &problem.space().roots;
    let before = problem.speeds().iter().zip(problem.restitution());
    let after = outcome.speeds.iter().zip(roots).zip(before).enumerate();
    after
        .filter(|(_, ((speed, root), (before, e)))| {
            let limit = rate_tolerance.max(least * **root);
            **speed < -limit && **speed < -*e * **before - limit
        })
        .map(|(contact, ((speed, root), _))| (contact, *speed, speed / root))
        .min_by(|a, b| a.2.total_cmp(&b.2))
        .map(|(contact, speed, _)| (contact, speed))
}
