//! Samples of the set of outcomes by steps of bounded impulses (Halm & Posa, Algorithms 1 and 2).

use nalgebra::{DMatrix, DVector};

use super::blocks::Blocks;
use super::bounds::{BoundLaw, draw};
use super::modes::Modes;
use crate::impact::{Failure, ImpactProblem};
use crate::lcp::{BasisDictionary, LcpSolver};
use crate::linalg::spectrum::Spectrum;
use crate::random::{Draws, Stream, word_below};
use crate::validate;

/// Largest complementarity problem of a step.
const MOST_UNKNOWNS: usize = 1000;
/// Most samples a dictionary is learnt from, bases that are counted meanwhile, and bases it keeps.
const MOST_LEARNT: u64 = 100_000;
const MOST_MET: usize = 4096;
const MOST_BASES: usize = 64;

/// Which solution a step takes where its complementarity problem has several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum SolutionRule {
    /// The one Lemke's method finds with a covering vector of ones. Some solutions are found with no
    /// covering vector, so that a part of the set may be missed.
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
}

/// What becomes of a sample after its steps.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum Finish {
    /// Samples that still approach after the last step are unfinished, to be dropped by the caller.
    #[default]
    Drop,
    /// Every sample makes one more step, in which each contact may push by `ε/(3ψ)`,
    /// `ψ = σ m (1 + max μ) + 1`, σ² the greatest eigenvalue of `A`; unfinished are those that
    /// approach after it. It moves the velocity by less than ε/3 in the metric of kinetic energy
    /// (√J).
    SmallStep(f64),
}

/// Settings of the sampler: steps in which each normal impulse is at most a drawn part of `bound`.
///
/// ```
/// use saltation::impact::{ImpactProblem, LcpSteps};
/// use saltation::nalgebra::{dmatrix, dvector};
/// // Two contacts without friction that push each other apart.
/// let problem = ImpactProblem::new(dmatrix![1.0, 0.4; 0.4, 1.0], dvector![-1.0, -1.0])?;
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
    bound: f64,
    most_steps: usize,
    seed: u64,
    law: BoundLaw,
    rule: SolutionRule,
    finish: Finish,
    directions: usize,
    tolerance: f64,
    dictionary: u64,
}

/// How a sample ended.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ended {
    /// Steps made.
    pub steps: usize,
    /// No contact approaches any more.
    pub finished: bool,
    /// The greatest residual of its complementarity problems, `max |min(z, W z + q)|`.
    pub residual: f64,
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
            tolerance: 1e-8,
            dictionary: 0,
        }
    }

    /// Most steps of a sample (default 10, at least 1, at most 1 000 000).
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

    /// What becomes of a sample after its steps (default: unfinished ones are to be dropped).
    #[must_use]
    pub const fn finish(mut self, finish: Finish) -> Self {
        self.finish = finish;
        self
    }

    /// Directions of friction of a contact in space (default 8; even, at least 4). Friction is then
    /// bounded by a polygon inscribed in the circle: outcomes have an error that does not fall with
    /// the bound.
    #[must_use]
    pub const fn directions(mut self, directions: usize) -> Self {
        self.directions = directions;
        self
    }

    /// A contact approaches when its speed is below minus this part of the greatest normal speed
    /// before the impact (default 1e-8).
    #[must_use]
    pub const fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Learns a dictionary of bases from this many samples before the first (default 0: none; at most
    /// 100 000), numbers 0, 1, … of the seed: the 64 bases that solve most of their steps, the most
    /// frequent first. A step then takes the solution of the first basis that solves it, and only
    /// without one that of Lemke's method. The dictionary is the same for all samples, so that each
    /// still depends on its number and the settings alone. For [`SolutionRule::Lemke`].
    #[must_use]
    pub const fn dictionary(mut self, samples: u64) -> Self {
        self.dictionary = samples;
        self
    }

    /// The workspace for samples of a problem.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for a setting out of its range, for
    /// complementarity problems of more than 1000 unknowns, `(3 + k) m`, and for
    /// [`SolutionRule::PickUniform`] in space or with more than five contacts;
    /// [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored) for friction without
    /// tangents; those of [`LcpSimulation::simulate`] while a dictionary is learnt.
    pub fn start<'p>(&self, problem: &'p ImpactProblem) -> Result<LcpSimulation<'p>, Failure> {
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
        }
        if let Finish::SmallStep(size) = self.finish {
            validate::positive("size of the last step", &[size])?;
        }
        let learns = self.dictionary;
        let kept = learns == 0 || learns <= MOST_LEARNT && self.rule == SolutionRule::Lemke;
        let rule = "must be at most 100000, and 0 but for the rule of Lemke's method";
        validate::unless(kept, "samples of the dictionary", learns as f64, rule)?;
        let blocks = Blocks::new(problem, k);
        let n = blocks.size();
        let greatest = problem.speeds().rows(0, m).amax();
        let mut simulation = LcpSimulation {
            settings: *self,
            problem,
            small: small_bound(self.finish, problem, &blocks),
            eps: tolerance * greatest,
            solver: LcpSolver::new(n),
            modes: (self.rule == SolutionRule::PickUniform).then(|| Modes::new(problem)),
            q: vec![0.0; n],
            cover: vec![1.0; n],
            most: vec![0.0; m],
            push: DVector::zeros(m + t * m),
            dictionary: None,
            learning: None,
            blocks,
        };
        if learns > 0 {
            simulation.learn(learns)?;
        }
        Ok(simulation)
    }
}

/// `ε/(3ψ)`.
fn small_bound(finish: Finish, problem: &ImpactProblem, blocks: &Blocks) -> f64 {
    let Finish::SmallStep(size) = finish else {
        return 0.0;
    };
    let m = problem.contacts();
    let forces = blocks.size() - m - if problem.tangents() > 0 { m } else { 0 };
    let matrix: DMatrix<f64> = blocks.bounded().view((m, m), (forces, forces)).into();
    let sigma = Spectrum::of(&matrix).greatest().max(0.0).sqrt();
    let mu = problem
        .friction()
        .iter()
        .fold(0.0f64, |most, &mu| most.max(mu));
    size / (3.0 * (sigma * m as f64 * (1.0 + mu) + 1.0))
}

/// The workspace of [`LcpSteps`] for one problem: samples allocate nothing, except where
/// [`SolutionRule::PickUniform`] meets a singular mode.
#[derive(Clone, Debug)]
pub struct LcpSimulation<'p> {
    settings: LcpSteps,
    problem: &'p ImpactProblem,
    blocks: Blocks,
    /// The bound of the last, small step.
    small: f64,
    /// The normal speed below minus which a contact approaches.
    eps: f64,
    solver: LcpSolver,
    modes: Option<Modes>,
    q: Vec<f64>,
    cover: Vec<f64>,
    most: Vec<f64>,
    push: DVector<f64>,
    dictionary: Option<BasisDictionary>,
    /// Bases that were met while a dictionary is learnt, and how often.
    learning: Option<Vec<(Vec<usize>, usize)>>,
}

impl LcpSimulation<'_> {
    pub(super) fn problem(&self) -> &ImpactProblem {
        self.problem
    }

    /// Makes the dictionary of the bases that most steps of the first samples end in.
    fn learn(&mut self, samples: u64) -> Result<(), Failure> {
        let size = self.push.len();
        let (mut speeds, mut impulses) = (vec![0.0; size], vec![0.0; size]);
        self.learning = Some(Vec::new());
        for sample in 0..samples {
            self.simulate(sample, &mut speeds, &mut impulses)?;
        }
        let mut met = self.learning.take().unwrap_or_default();
        // Stable: of equal counts the one met first.
        met.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut dictionary = BasisDictionary::new(self.blocks.bounded())?;
        for (basis, _) in met.iter().take(MOST_BASES) {
            dictionary.push(basis);
        }
        self.dictionary = Some(dictionary);
        Ok(())
    }

    /// Runs one sample: `speeds` get the contact speeds after it, `impulses` the sum of its impulses
    /// (normals first). What it finds depends on the settings, the problem and the number alone.
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength), [`Failure::Lcp`] when a step is
    /// not solved, [`Failure::Interrupted`].
    pub fn simulate(
        &mut self,
        sample: u64,
        speeds: &mut [f64],
        impulses: &mut [f64],
    ) -> Result<Ended, Failure> {
        let before = self.problem.speeds();
        validate::length("speeds", before.len(), speeds.len())?;
        validate::length("impulses", before.len(), impulses.len())?;
        speeds.copy_from_slice(before.as_slice());
        impulses.fill(0.0);
        let mut ended = Ended {
            steps: 0,
            finished: self.is_over(speeds),
            residual: 0.0,
        };
        let m = self.most.len();
        while !ended.finished && ended.steps < self.settings.most_steps {
            self.problem.check_interrupt()?;
            let draws = self.draws(sample, ended.steps);
            draw(self.settings.law, draws, &speeds[..m], &mut self.most);
            for most in &mut self.most {
                *most *= self.settings.bound;
            }
            self.step(draws, speeds, impulses, &mut ended)?;
        }
        if matches!(self.settings.finish, Finish::SmallStep(_)) {
            let draws = self.draws(sample, ended.steps);
            self.most.fill(self.small);
            self.step(draws, speeds, impulses, &mut ended)?;
        }
        Ok(ended)
    }

    fn draws(&self, sample: u64, step: usize) -> Draws {
        Draws {
            seed: self.settings.seed,
            sample,
            step: step as u64,
        }
    }

    fn is_over(&self, speeds: &[f64]) -> bool {
        speeds[..self.most.len()].iter().all(|&u| u >= -self.eps)
    }

    /// One step with the bounds in `most`.
    fn step(
        &mut self,
        draws: Draws,
        speeds: &mut [f64],
        impulses: &mut [f64],
        ended: &mut Ended,
    ) -> Result<(), Failure> {
        if let Some(modes) = &mut self.modes {
            modes.find(speeds, Some(&self.most), self.problem.interrupt())?;
            let chosen = word_below(draws.block(Stream::Choice, 0)[0], modes.count());
            match modes.impulses(chosen) {
                Some(push) => self.push.copy_from_slice(push),
                None => self.solve(draws, speeds, ended)?,
            }
        } else {
            self.solve(draws, speeds, ended)?;
        }
        for (sum, push) in impulses.iter_mut().zip(&self.push) {
            *sum += push;
        }
        let delassus = self.problem.delassus();
        for (column, push) in delassus.column_iter().zip(&self.push) {
            for (u, g) in speeds.iter_mut().zip(column.iter()) {
                *u += g * push;
            }
        }
        ended.steps += 1;
        ended.finished = self.is_over(speeds);
        Ok(())
    }

    /// The impulses of Lemke's solution of a step.
    fn solve(&mut self, draws: Draws, speeds: &[f64], ended: &mut Ended) -> Result<(), Failure> {
        self.blocks.right_side(&self.most, speeds, &mut self.q);
        if let Some(dictionary) = &mut self.dictionary
            && let Some(solution) = dictionary.solve(&self.q)?
        {
            ended.residual = ended.residual.max(solution.residual());
            self.blocks.impulses(solution.z(), self.push.as_mut_slice());
            return Ok(());
        }
        let w = self.blocks.bounded();
        let solution = match self.settings.rule {
            SolutionRule::LemkeRandomCover { spread } => {
                draws.fill_open(Stream::Cover, &mut self.cover);
                for d in &mut self.cover {
                    *d = spread.powf(2.0 * *d - 1.0);
                }
                self.solver.solve_covered(w, &self.q, &self.cover)?
            }
            _ => self.solver.solve(w, &self.q)?,
        };
        ended.residual = ended.residual.max(solution.residual());
        if let Some(met) = &mut self.learning {
            let basis = solution.basis();
            match met.iter().position(|(known, _)| known == basis) {
                Some(k) => met[k].1 += 1,
                None if met.len() < MOST_MET => met.push((basis.to_vec(), 1)),
                None => {}
            }
        }
        self.blocks.impulses(solution.z(), self.push.as_mut_slice());
        Ok(())
    }
}
