//! Samples of the set of outcomes by steps of bounded impulses (Halm & Posa, Algorithms 1 and 2).

use super::bounds::{BoundDraws, BoundLaw};
use super::modes::Modes;
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::validate;

/// Largest complementarity problem of a step.
const MOST_UNKNOWNS: usize = 1000;
/// Limit of the branches of a sample.
const MOST_BRANCHES: usize = 10_000;
/// Limit of the samples that a dictionary is learnt from.
const MOST_LEARNT: u64 = 100_000;

/// Which solution a step takes where its complementarity problem has several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum SolutionRule {
    /// The one Lemke's method finds with a covering vector of ones. Some solutions are found with
    /// no covering vector, so that a part of the set may be missed.
    #[default]
    Lemke,
    /// The one Lemke's method finds with a covering vector drawn for each step, its entries between
    /// 1/spread and spread.
    LemkeRandomCover {
        /// At least 1.
        spread: f64,
    },
    /// All velocities are found by their contact modes, and one is drawn, each as likely. In the
    /// plane, up to five contacts; 7ᵐ modes a step.
    PickUniform,
    /// All velocities are found likewise, and [`LcpSimulation::branches`] follows each of them:
    /// one sample has several outcomes. [`LcpSimulation::simulate`] follows the first that is
    /// found in each step, which is the first branch; a [`Sampler`](super::Sampler) has one
    /// outcome a sample, and [`PickUniform`](Self::PickUniform) reaches all with it.
    ///
    /// [`LcpSimulation::branches`]: super::LcpSimulation::branches
    /// [`LcpSimulation::simulate`]: super::LcpSimulation::simulate
    EnumerateAll {
        /// Limit of the branches of a sample, 1 to 10 000.
        branches: usize,
    },
}

impl SolutionRule {
    /// Whether it needs all solutions.
    pub(super) const fn enumerates(self) -> bool {
        matches!(self, Self::PickUniform | Self::EnumerateAll { .. })
    }
}

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
    /// Where only contact space is known, σ² is the greatest eigenvalue of `A`, and ε/3 bounds the
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
    pub(super) bound: f64,
    pub(super) most_steps: usize,
    pub(super) seed: u64,
    pub(super) law: BoundLaw,
    pub(super) rule: SolutionRule,
    pub(super) finish: Finish,
    pub(super) directions: usize,
    pub(super) round: bool,
    pub(super) tolerance: f64,
    pub(super) dictionary: u64,
}

impl LcpSteps {
    /// With the greatest bound `h` on the normal impulse of a contact in one step (N s). A good
    /// choice is half of the momentum that approaches; small bounds make outcomes cluster.
    pub const fn new(bound: f64) -> Self {
        Self {
            bound,
            most_steps: 10,
            seed: 0,
            law: BoundLaw::Uniform,
            rule: SolutionRule::Lemke,
            finish: Finish::Drop,
            directions: 8,
            round: false,
            tolerance: 1e-8,
            dictionary: 0,
        }
    }

    /// Limit of the steps of a sample (default 10, at least 1, at most 1 000 000).
    #[must_use]
    pub const fn most_steps(mut self, steps: usize) -> Self {
        self.most_steps = steps;
        self
    }

    /// The seed of all draws (default 0). A sample depends on its number and the settings alone.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How bounds are drawn (default uniform).
    #[must_use]
    pub const fn law(mut self, law: BoundLaw) -> Self {
        self.law = law;
        self
    }

    /// Which of several solutions a step takes (default that of Lemke's method).
    #[must_use]
    pub const fn rule(mut self, rule: SolutionRule) -> Self {
        self.rule = rule;
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
        self.directions = directions;
        self
    }

    /// In space, replaces the polygon of friction by the circle: each step is solved with the
    /// polygon, and from there by Newton's method with the circle, to 1e-11.
    #[must_use]
    pub const fn round_cone(mut self) -> Self {
        self.round = true;
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
    /// Where steps have several solutions, the most frequent basis wins each time, and samples can
    /// lose most of the set: one outcome is left for [`CompassGait`](crate::models::CompassGait).
    #[must_use]
    pub const fn dictionary(mut self, samples: u64) -> Self {
        self.dictionary = samples;
        self
    }

    /// Limit of the branches of a sample, where all are followed.
    pub(crate) const fn most_branches(&self) -> Option<usize> {
        match self.rule {
            SolutionRule::EnumerateAll { branches } => Some(branches),
            _ => None,
        }
    }

    /// How its bounds are drawn.
    pub(super) const fn bounds(&self) -> BoundDraws {
        BoundDraws {
            law: self.law,
            seed: self.seed,
            bound: self.bound,
        }
    }

    /// Refuses settings out of their ranges, and problems that they are not for.
    pub(super) fn check(&self, problem: &ImpactProblem) -> Result<(), ImpactFailure> {
        problem.refuse_friction_without_tangents("LcpSteps")?;
        validate::positive("bound", &[self.bound])?;
        validate::count("most steps", self.most_steps)?;
        let tolerance = self.tolerance;
        let kept = (0.0..=0.1).contains(&tolerance);
        validate::unless(kept, "tolerance", tolerance, "must lie in [0, 0.1]")?;
        let (m, t, k) = (problem.contacts(), problem.tangents(), self.directions);
        let kept = t < 2 || k >= 4 && k.is_multiple_of(2);
        validate::unless(kept, "directions", k as f64, "must be even and at least 4")?;
        let directions = [0, 2, k][t.min(2)];
        let kept = m.saturating_mul(directions.saturating_add(3)) <= MOST_UNKNOWNS;
        let rule = "must make at most 1000 unknowns, 3 + k each";
        validate::unless(kept, "contacts", m as f64, rule)?;
        match self.rule {
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
        let kept = learns == 0 || learns <= MOST_LEARNT && self.rule == SolutionRule::Lemke;
        let rule = "must be at most 100000, and 0 but for the rule of Lemke's method";
        validate::unless(kept, "samples of the dictionary", learns as f64, rule)?;
        Ok(())
    }
}
