//! Settings of samples, one type for each rate: by complementarity problems (Halm & Posa, Algorithms
//! 1 and 2), or exact.

use super::blocks::{force_rows, slopes};
use super::bounds::{Bound, BoundLaw, StepBounds};
use super::energetic::Stores;
use super::exact::{Legs, ZERO};
use super::lcp_step::{LcpStep, SolutionRule, StepSettings};
use super::simulation::{InclusionSimulation, Rate};
use crate::impact::planar::modes::Modes;
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::linalg::symmetric::Spectrum;
use crate::validate;

/// Largest complementarity problem of a step.
const MOST_UNKNOWNS: usize = 1000;
/// Limit of the branches of a sample.
const MOST_BRANCHES: usize = 10_000;
/// Limit of the samples that a dictionary is learnt from.
const MOST_LEARNT: u64 = 100_000;

/// The treatment of a sample after its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Finish {
    /// Samples that still approach after the last step are unfinished, to be dropped by the caller.
    #[default]
    Drop,
    /// Every sample makes one more step, in which each contact may push by `ε/(3ψ)`,
    /// `ψ = σ m (1 + max μ) + 1`; unfinished are those that approach after it. Of a problem made
    /// with its motion, σ is the greatest singular value of `M⁻¹ J̄ᵀ`, `J̄` the rows of normals and
    /// directions, and the step moves the velocity by less than ε/3 (Algorithm 2 of the paper).
    /// If only contact space is given, σ² is the greatest eigenvalue of `A`, and ε/3 bounds the
    /// change in the metric of kinetic energy (√J).
    SmallStep(f64),
}

/// Settings of the sampler: steps in which each normal impulse is at most a drawn part of `bound`.
///
/// ```
/// use saltation::impact::{ImpactProblem, LcpSteps};
/// use saltation::nalgebra::{DMatrix, DVector};
/// // Two contacts without friction that push each other apart.
/// let problem = ImpactProblem::new(DMatrix::from_row_slice(2, 2, &[1.0, 0.4, 0.4, 1.0]), DVector::from_vec(vec![-1.0, -1.0]))?;
/// let mut simulation = LcpSteps::new(0.5).start(&problem)?;
/// let (mut speeds, mut impulses) = ([0.0; 2], [0.0; 2]);
/// let ended = simulation.simulate(7, &mut speeds, &mut impulses)?;
/// assert!(ended.finished && speeds.iter().all(|&u| u > -1e-8));
/// // The same sample again.
/// let mut again = [0.0; 2];
/// simulation.simulate(7, &mut again, &mut impulses)?;
/// assert_eq!(speeds, again);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LcpSteps {
    bound: Bound,
    step: StepSettings,
    finish: Finish,
    tolerance: f64,
    dictionary: u64,
}

impl LcpSteps {
    /// With the greatest bound `h` on the normal impulse of a contact in one step (N s). A good
    /// choice is half of the momentum that approaches; small bounds make outcomes cluster.
    pub const fn new(bound: f64) -> Self {
        Self {
            bound: Bound::new(bound, 10, BoundLaw::Uniform),
            step: StepSettings {
                rule: SolutionRule::Lemke,
                directions: 8,
                round: false,
            },
            finish: Finish::Drop,
            tolerance: 1e-8,
            dictionary: 0,
        }
    }

    /// Limit of the steps of a sample (default 10, at least 1, at most 1 000 000).
    #[must_use]
    pub const fn most_steps(mut self, steps: usize) -> Self {
        self.bound.most_steps = steps;
        self
    }

    /// The seed of all draws (default 0). A sample depends on its number and the settings alone.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.bound.seed = seed;
        self
    }

    /// Sets how bounds are drawn (default uniform).
    #[must_use]
    pub const fn law(mut self, law: BoundLaw) -> Self {
        self.bound.law = law;
        self
    }

    /// Sets which of several solutions a step takes (default that of Lemke's method).
    #[must_use]
    pub const fn rule(mut self, rule: SolutionRule) -> Self {
        self.step.rule = rule;
        self
    }

    /// The treatment of a sample after its steps (default: unfinished ones are to be dropped).
    #[must_use]
    pub const fn finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }

    /// Directions of friction of a contact in space (default 8; even, at least 4). Friction is then
    /// bounded by a polygon inscribed in the circle: outcomes have an error that does not fall with
    /// the bound, unless [`round_cone`](Self::round_cone) is asked for.
    #[must_use]
    pub const fn directions(mut self, directions: usize) -> Self {
        self.step.directions = directions;
        self
    }

    /// In space, replaces the polygon of friction by the circle: each step is solved with the
    /// polygon, and from there by Newton's method with the circle, to 1e-11.
    #[must_use]
    pub const fn round_cone(mut self) -> Self {
        self.step.round = true;
        self
    }

    /// A contact approaches when its scaled speed `u_i/√G_ii` is below minus this part of the
    /// greatest before the impact, of normals and tangents (default 1e-8).
    #[must_use]
    pub const fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Learns a dictionary of bases from this many samples before the first (default 0: none; at
    /// most 100 000), numbers 0, 1, … of the seed: the 64 bases that solve most of their steps, the
    /// most frequent first. A step then takes the solution of the first basis that solves it, and
    /// only without one that of Lemke's method. The dictionary is the same for all samples, so that
    /// each still depends on its number and the settings alone. For [`SolutionRule::Lemke`].
    ///
    /// If steps have several solutions, the most frequent basis wins each time, and samples can
    /// lose most of the set: one outcome is left for [`CompassGait`](crate::models::CompassGait).
    #[must_use]
    pub const fn dictionary(mut self, samples: u64) -> Self {
        self.dictionary = samples;
        self
    }

    /// Limit of the branches of a sample, where all are followed.
    pub(crate) const fn most_branches(&self) -> Option<usize> {
        self.step.rule.most_branches()
    }

    /// Refuses settings out of their ranges, and problems that they are not for.
    fn check(&self, problem: &ImpactProblem) -> Result<(), ImpactFailure> {
        problem.refuse_friction_without_tangents("LcpSteps")?;
        self.bound.check("most steps")?;
        let tolerance = self.tolerance;
        let kept = (0.0..=0.1).contains(&tolerance);
        validate::unless(kept, "tolerance", tolerance, "must lie in [0, 0.1]")?;
        let (m, t, k) = (problem.contacts(), problem.tangents(), self.step.directions);
        let kept = t < 2 || k >= 4 && k.is_multiple_of(2);
        validate::unless(kept, "directions", k as f64, "must be even and at least 4")?;
        let directions = [0, 2, k][t.min(2)];
        let kept = m.saturating_mul(directions.saturating_add(3)) <= MOST_UNKNOWNS;
        let rule = "must make at most 1000 unknowns, 3 + k each";
        validate::unless(kept, "contacts", m as f64, rule)?;
        match self.step.rule {
            SolutionRule::Lemke => {}
            SolutionRule::LemkeRandomCover { spread } => {
                let kept = spread.is_finite() && spread >= 1.0;
                validate::unless(kept, "spread", spread, "must be at least 1")?;
            }
            SolutionRule::PickUniform => Modes::refuse(problem)?,
            SolutionRule::EnumerateAll { branches } => {
                let kept = (1..=MOST_BRANCHES).contains(&branches);
                let rule = "must be at least 1 and at most 10000";
                validate::unless(kept, "branches", branches as f64, rule)?;
                Modes::refuse(problem)?;
            }
        }
        if let Finish::SmallStep(size) = self.finish {
            validate::positive("size of the last step", &[size])?;
        }
        let learns = self.dictionary;
        let kept = learns == 0 || learns <= MOST_LEARNT && self.step.rule == SolutionRule::Lemke;
        let rule = "must be at most 100000, and 0 but for the rule of Lemke's method";
        validate::unless(kept, "samples of the dictionary", learns as f64, rule)?;
        Ok(())
    }
    /// The workspace for samples of a problem.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for a setting out of its range,
    /// for complementarity problems of more than 1000 unknowns, `(3 + k) m`, and for rules that
    /// enumerate contact modes in space or with more than five contacts;
    /// [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored) for friction without
    /// tangents; those of [`InclusionSimulation::simulate`] while a dictionary is learnt.
    pub fn start<'p>(
        &self,
        problem: &'p ImpactProblem,
    ) -> Result<InclusionSimulation<'p>, ImpactFailure> {
        self.check(problem)?;
        let mut step = Box::new(LcpStep::new(self.step, problem));
        let small = small_bound(self, problem)?;
        let bounds = StepBounds::new(self.bound, small, self.tolerance, problem);
        if self.dictionary == 0 {
            return Ok(InclusionSimulation::new(problem, bounds, Rate::Lcp(step)));
        }
        step.start_learning();
        let mut simulation = InclusionSimulation::new(problem, bounds, Rate::Lcp(step));
        let size = problem.speeds().len();
        let (mut speeds, mut impulses) = (vec![0.0; size], vec![0.0; size]);
        for sample in 0..self.dictionary {
            simulation.simulate(sample, &mut speeds, &mut impulses)?;
        }
        if let Rate::Lcp(step) = &mut simulation.rate {
            step.end_learning()?;
        }
        Ok(simulation)
    }

    /// The workspace for samples of a problem with restitution: see [`InclusionSimulation`].
    ///
    /// # Errors
    /// As [`start`](Self::start), and [`InputError::BadSetting`](crate::InputError::BadSetting) for
    /// rules that enumerate contact modes, [`Finish::SmallStep`], a dictionary, and coefficients of
    /// restitution outside [0, 1].
    pub fn start_energetic<'p>(
        &self,
        problem: &'p ImpactProblem,
    ) -> Result<InclusionSimulation<'p>, ImpactFailure> {
        self.check(problem)?;
        let kept =
            !self.step.rule.enumerates() && self.finish == Finish::Drop && self.dictionary == 0;
        let rule = "must be without enumeration, small step and dictionary";
        validate::unless(kept, "steps with restitution", 0.0, rule)?;
        let rule = "must lie in [0, 1]";
        validate::accepted("restitution", problem.restitution(), rule, |r| {
            (0.0..=1.0).contains(&r)
        })?;
        let step = Box::new(LcpStep::new(self.step, problem));
        let bounds = StepBounds::new(self.bound, None, self.tolerance, problem);
        let rate = Rate::Energetic(step, Stores::new(problem));
        Ok(InclusionSimulation::new(problem, bounds, rate))
    }
}

/// Settings of the sampler without a step error.
///
/// A sample is a path of the impact inclusion in legs. In a leg contact `i` pushes at a constant
/// rate, so that it would spend a drawn part of `bound` (N s) over the whole leg; it does not push
/// while it separates, and only as much as keeps it closed where more would open it. Friction
/// follows from the normal rates by Coulomb's law. At each normal speed or slip that becomes zero
/// the rates are computed again; where several are possible, one is drawn. A path ends when no contact
/// approaches.
///
/// Every point of a path is in the exact set, to the rounding of the impulses between two events:
/// speeds follow from the sum of all impulses in twice the precision, so that what one event rounds
/// is seen and undone at the next, and does not add up. With much friction this matters: tangential
/// impulses that cancel are `μ` times as great as normal ones.
///
/// ```
/// use saltation::impact::{EventExact, ImpactProblem};
/// use saltation::nalgebra::{DMatrix, DVector};
/// // Two contacts without friction that push each other apart, with tangents of no coupling.
/// let delassus = DMatrix::from_row_slice(4, 4, &[1.0, 0.4, 0.0, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
/// let speeds = DVector::from_vec(vec![-1.0, -1.0, 0.0, 0.0]);
/// let problem = ImpactProblem::with_tangents(delassus, speeds, &[0.0; 2])?;
/// let mut simulation = EventExact::new(0.5).start(&problem)?;
/// let (mut speeds, mut impulses) = ([0.0; 4], [0.0; 4]);
/// let ended = simulation.simulate(7, &mut speeds, &mut impulses)?;
/// assert!(ended.finished && speeds[0].min(speeds[1]).abs() < 1e-12);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventExact {
    bound: Bound,
}

impl EventExact {
    /// With the greatest normal impulse `h` of a contact in one leg (N s). A good choice is half of
    /// the momentum that approaches.
    pub const fn new(bound: f64) -> Self {
        Self {
            bound: Bound::new(bound, 20, BoundLaw::Faces),
        }
    }

    /// Limit of the legs of a sample (default 20, at least 1, at most 1 000 000). A leg ends early
    /// after 64 events a contact.
    #[must_use]
    pub const fn most_legs(mut self, legs: usize) -> Self {
        self.bound.most_steps = legs;
        self
    }

    /// The seed of all draws (default 0). A sample depends on its number and the settings alone.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.bound.seed = seed;
        self
    }

    /// Sets how the bounds of a leg are drawn (default by faces).
    #[must_use]
    pub const fn law(mut self, law: BoundLaw) -> Self {
        self.bound.law = law;
        self
    }

    /// The workspace for samples of a problem.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for a setting out of its range,
    /// for problems in space and for more than five contacts;
    /// [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored) for friction without
    /// tangents; [`ImpactFailure::Overflow`] for coefficients of friction that overflow in units in which
    /// normals and tangents have length 1.
    pub fn start<'p>(
        &self,
        problem: &'p ImpactProblem,
    ) -> Result<InclusionSimulation<'p>, ImpactFailure> {
        problem.refuse_friction_without_tangents("EventExact")?;
        self.bound.check("most legs")?;
        let legs = Box::new(Legs::new(problem)?);
        let bounds = StepBounds::new(self.bound, None, ZERO, problem);
        Ok(InclusionSimulation::new(problem, bounds, Rate::Exact(legs)))
    }
}

/// `ε/(3ψ)`.
fn small_bound(settings: &LcpSteps, problem: &ImpactProblem) -> Result<Option<f64>, ImpactFailure> {
    let Finish::SmallStep(size) = settings.finish else {
        return Ok(None);
    };
    let (m, t) = (problem.contacts(), problem.tangents());
    // M⁻¹ J̄ᵀ, or A where only G is given
    let rows = force_rows(m, t, &slopes(t, settings.step.directions));
    let squares = match problem.response() {
        Some(response) => {
            let response = response * rows.transpose();
            response.tr_mul(&response)
        }
        None => &rows * problem.delassus() * rows.transpose(),
    };
    validate::finite("squares of normals and directions", squares.as_slice())?;
    // the norm bounds the eigenvalues
    let greatest = Spectrum::of(&squares).map_or(squares.norm(), |found| found.greatest());
    let sigma = greatest.max(0.0).sqrt();
    let mu = problem
        .friction()
        .iter()
        .fold(0.0f64, |most, &mu| most.max(mu));
    Ok(Some(size / (3.0 * (sigma * m as f64 * (1.0 + mu) + 1.0))))
}
