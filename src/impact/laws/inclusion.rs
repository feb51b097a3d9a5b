//! The set of outcomes of inelastic impacts with friction, as samples of it.

use nalgebra::DVector;

use crate::impact::{Failure, ImpactLaw, ImpactProblem, LcpSteps, Order, Outcome, Outcomes};
use crate::validate;

/// Speeds closer than this part of the greatest are one outcome.
const MERGED: f64 = 1e-8;
/// Most numbers of all outcomes: 80 MB.
const NUMBERS: usize = 10_000_000;

/// Inelastic impact with Coulomb friction in which contacts share the impulse in any way and at
/// will (Halm & Posa): the set of outcomes, as far as some samples show it.
///
/// The samples are those of [`LcpSteps`] with the numbers 0, 1, …. Unfinished ones are dropped, and
/// each velocity is listed once (to 1e-8 of the greatest speed), in the order of the samples. The
/// set is never complete: a run needs a [`Selection`](crate::impact::Selection) other than
/// `Single`. For many samples [`LcpSteps::start`] is cheaper: it keeps nothing.
///
/// Coefficients of restitution are not read. [`Outcomes::effort`] is the number of steps.
///
/// # Errors
/// Those of [`LcpSteps::start`] and
/// [`LcpSimulation::simulate`](crate::impact::LcpSimulation::simulate);
/// [`InputError::BadSetting`](crate::InputError::BadSetting) for more than 10⁷ numbers of samples
/// times rows.
///
/// ```
/// use saltation::impact::{ImpactLaw, ImpactProblem, LcpSteps, RouthInclusion};
/// use saltation::nalgebra::{DMatrix, DVector};
/// // A contact whose impact pushes the other apart: whichever acts last stays.
/// let problem = ImpactProblem::new(DMatrix::from_row_slice(2, 2, &[1.0, 0.5, 0.5, 1.0]), DVector::from_vec(vec![-1.0, -1.0]))?;
/// let outcomes = RouthInclusion::new(LcpSteps::new(1.0), 100).resolve(&problem)?;
/// let farthest = outcomes.list.iter().map(|o| o.speeds.amax()).fold(0.0, f64::max);
/// assert!(farthest > 0.1 && farthest < 0.25 + 1e-9);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RouthInclusion {
    steps: LcpSteps,
    samples: u64,
}

impl RouthInclusion {
    /// So many samples of these steps.
    pub const fn new(steps: LcpSteps, samples: u64) -> Self {
        Self { steps, samples }
    }
}

impl ImpactLaw for RouthInclusion {
    fn name(&self) -> &'static str {
        "RouthInclusion"
    }

    fn honours_friction(&self) -> bool {
        true
    }

    fn resolve(&self, problem: &ImpactProblem) -> Result<Outcomes, Failure> {
        let size = problem.speeds().len();
        let count = usize::try_from(self.samples).unwrap_or(usize::MAX);
        let kept = count.saturating_mul(size) <= NUMBERS;
        let rule = "must make at most 10000000 numbers with the rows of the problem";
        validate::unless(kept, "samples", self.samples as f64, rule)?;
        let mut simulation = self.steps.start(problem)?;
        let mut list: Vec<Outcome> = Vec::new();
        let mut effort = 0;
        let (mut speeds, mut impulses) = (DVector::zeros(size), DVector::zeros(size));
        for sample in 0..self.samples {
            let ended =
                simulation.simulate(sample, speeds.as_mut_slice(), impulses.as_mut_slice())?;
            effort += ended.steps;
            let near = MERGED * problem.speeds().amax();
            let known = |outcome: &Outcome| (&outcome.speeds - &speeds).amax() <= near;
            if ended.finished && !list.iter().any(known) {
                let outcome =
                    Outcome::of_impulses(problem, impulses.clone(), Order::Together, Vec::new())?;
                list.push(outcome);
            }
        }
        Ok(Outcomes {
            list,
            is_complete: false,
            effort,
        })
    }
}
