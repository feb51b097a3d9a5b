//! Propagative impact: contacts are reflected one after another until none approaches.

use crate::impact::ImpactFailure;
use crate::impact::orders::interior;
use crate::impact::{ImpactLaw, ImpactProblem, Outcomes, ReflectionOrder};

/// Reflects one approaching contact after another, in the order of a rule, until none approaches
/// (Seghete & Murphey, arXiv 1709.02296, eq. (7), eq. (14) and Definition 1).
///
/// Elastic when the restitution is 1: energy and the momentum across all normals are kept, no
/// impulse pulls. Any order ends when some motion opens all contacts at once; narrow cones take
/// many reflections. With restitution `R < 1`, one for the whole impact, the outcome is the blend
/// of the plastic and the elastic one that keeps `R²` of the energy which a plastic impact loses.
/// All contacts with zero gaps take part, resting ones too.
///
/// [`resolve`](ImpactLaw::resolve) returns one outcome; the errors are [`ImpactFailure::ReflectionCap`],
/// [`ImpactFailure::NoFeasibleInterior`], [`ImpactFailure::NotApproaching`] and
/// [`InputError::NoSuch`](crate::InputError::NoSuch) (of [`ReflectionOrder::GivenFirst`]) and
/// [`InputError::BadSetting`](crate::InputError::BadSetting) (restitution outside [0, 1]).
/// [`AllOutcomes`](crate::impact::AllOutcomes) gives those of all rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Propagative {
    rule: ReflectionOrder,
    cap: usize,
}

/// Limit of the reflections of one impact, unless another cap is set.
const CAP: usize = 10_000;

impl Propagative {
    /// With a rule for who is next.
    pub const fn new(rule: ReflectionOrder) -> Self {
        Self { rule, cap: CAP }
    }

    /// Limit of the reflections of one impact; default 10 000, and 10 000 000 at most. Random
    /// systems of 6 contacts need some hundred on average and now and then 50 000.
    #[must_use]
    pub const fn cap(mut self, reflections: usize) -> Self {
        self.cap = reflections;
        self
    }
}

impl Default for Propagative {
    /// [`ReflectionOrder::ArgMin`].
    fn default() -> Self {
        Self::new(ReflectionOrder::ArgMin)
    }
}

impl ImpactLaw for Propagative {
    fn name(&self) -> &'static str {
        "Propagative"
    }

    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        problem.refuse_friction(self.name())?;
        let (outcome, memory) = outcomes.begin_one();
        let (blend, reflections) = (&mut memory.blend, &mut memory.reflections);
        blend.fill(problem, &mut memory.solvers)?;
        reflections.fill(problem);
        if let Err(error) = reflections.run(self.rule, self.cap) {
            return Err(match error {
                ImpactFailure::ReflectionCap { limit, .. } => {
                    interior::explain(problem.space(), limit, error)
                }
                other => other,
            });
        }
        outcome.set_word(reflections.word());
        blend.write(problem, reflections.scaled_impulses(), outcome)
    }
}
