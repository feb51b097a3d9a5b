//! One step of an impact with bounded normal impulses (Halm & Posa, equations 72–75).

use nalgebra::DVector;

use super::blocks::Blocks;
use super::proximal::ConeStep;
use crate::impact::planar::modes::Modes;
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::lcp::{BasisDictionary, LcpSolver};
use crate::random::{Draws, Stream, word_below};

/// The solution that a step takes where its complementarity problem has several.
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
    /// All velocities are found likewise, and [`InclusionSimulation::branches`] follows each of them:
    /// one sample has several outcomes. [`InclusionSimulation::simulate`] follows the first that is
    /// found in each step, which is the first branch; a [`Sampler`](super::Sampler) has one
    /// outcome a sample, and [`PickUniform`](Self::PickUniform) reaches all with it.
    ///
    /// [`InclusionSimulation::branches`]: super::InclusionSimulation::branches
    /// [`InclusionSimulation::simulate`]: super::InclusionSimulation::simulate
    EnumerateAll {
        /// Limit of the branches of a sample, 1 to 10 000.
        branches: usize,
    },
}

impl SolutionRule {
    /// Limit of the branches of a sample, where all are followed.
    pub(super) const fn most_branches(self) -> Option<usize> {
        match self {
            Self::EnumerateAll { branches } => Some(branches),
            _ => None,
        }
    }

    /// True when it needs all solutions.
    pub(super) const fn enumerates(self) -> bool {
        matches!(self, Self::PickUniform | Self::EnumerateAll { .. })
    }
}

/// Settings by which the complementarity problem of a step is made and solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct StepSettings {
    pub(super) rule: SolutionRule,
    pub(super) directions: usize,
    /// Friction in space is bounded by the circle.
    pub(super) round: bool,
}

/// Limits of the bases that are counted while a dictionary is learnt, and of those that it keeps.
const MOST_MET: usize = 4096;
const MOST_BASES: usize = 64;

/// The workspace of steps of one problem: they allocate nothing, except where
/// enumeration meets a singular mode.
#[derive(Clone, Debug)]
pub(super) struct LcpStep<'p> {
    pub(super) problem: &'p ImpactProblem,
    pub(super) rule: SolutionRule,
    blocks: Blocks,
    solver: LcpSolver,
    modes: Option<Modes>,
    cone: Option<ConeStep>,
    dictionary: Option<BasisDictionary>,
    /// Bases that were met while a dictionary is learnt, and how often.
    learning: Option<Vec<(Vec<usize>, usize)>>,
    q: Vec<f64>,
    z: Vec<f64>,
    slack: Vec<f64>,
    cover: Vec<f64>,
    low: Vec<f64>,
    /// The impulses of the last step, normals first (N s).
    pub(super) push: DVector<f64>,
}

impl<'p> LcpStep<'p> {
    pub(super) fn new(settings: StepSettings, problem: &'p ImpactProblem) -> Self {
        let blocks = Blocks::new(problem, settings.directions);
        let n = blocks.size();
        let by_modes = settings.rule.enumerates();
        let round = settings.round && problem.tangents() > 1;
        Self {
            problem,
            rule: settings.rule,
            solver: LcpSolver::new(n),
            modes: by_modes.then(|| Modes::new(problem)),
            cone: round.then(|| ConeStep::new(problem)),
            dictionary: None,
            learning: None,
            q: vec![0.0; n],
            z: vec![0.0; n],
            slack: vec![0.0; n],
            cover: vec![1.0; n],
            low: vec![0.0; problem.contacts()],
            push: DVector::zeros(problem.speeds().len()),
            blocks,
        }
    }

    /// Counts the bases of steps from now on.
    pub(super) fn start_learning(&mut self) {
        self.learning = Some(Vec::new());
    }

    /// Keeps the bases that were met most often.
    pub(super) fn end_learning(&mut self) -> Result<(), ImpactFailure> {
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

    /// Solves a step from these speeds with these bounds; gives the residual. Contacts of `pressed`
    /// push with the whole of their bounds, whatever their speeds.
    pub(super) fn solve(
        &mut self,
        draws: Draws,
        speeds: &[f64],
        most: &[f64],
        pressed: Option<&[bool]>,
    ) -> Result<f64, ImpactFailure> {
        let count = self.enumerate(speeds, most)?;
        if count > 0 {
            let chosen = match self.rule {
                SolutionRule::PickUniform => word_below(draws.block(Stream::Choice, 0)[0], count),
                _ => 0,
            };
            return Ok(self.take(chosen));
        }
        let residual = self.solve_lcp(draws, speeds, most, pressed)?;
        let Some(cone) = &mut self.cone else {
            return Ok(residual);
        };
        for (i, low) in self.low.iter_mut().enumerate() {
            *low = if pressed.is_some_and(|pressed| pressed[i]) {
                most[i]
            } else {
                0.0
            };
        }
        cone.solve(
            self.problem,
            speeds,
            &self.low,
            most,
            self.push.as_mut_slice(),
        )
    }

    /// Finds all solutions of a step by their modes; how many, 0 without enumeration.
    pub(super) fn enumerate(
        &mut self,
        speeds: &[f64],
        most: &[f64],
    ) -> Result<usize, ImpactFailure> {
        let Some(modes) = &mut self.modes else {
            return Ok(0);
        };
        modes.find(speeds, Some(most), self.problem.interrupt())?;
        self.blocks.right_side(most, speeds, &mut self.q);
        Ok(modes.count())
    }

    /// True when the solutions enumerated last are all there are.
    pub(super) fn has_all(&self) -> bool {
        self.modes.as_ref().is_some_and(Modes::is_complete)
    }

    /// Takes the impulses of one of the solutions enumerated last; gives the residual.
    pub(super) fn take(&mut self, solution: usize) -> f64 {
        let push = self
            .modes
            .as_ref()
            .and_then(|modes| modes.impulses(solution));
        let Some(push) = push else {
            return f64::INFINITY;
        };
        self.push.copy_from_slice(push);
        let (z, slack) = (&mut self.z, &mut self.slack);
        self.blocks.residual(push, &self.q, z, slack)
    }

    fn solve_lcp(
        &mut self,
        draws: Draws,
        speeds: &[f64],
        most: &[f64],
        pressed: Option<&[bool]>,
    ) -> Result<f64, ImpactFailure> {
        self.blocks.right_side(most, speeds, &mut self.q);
        if let Some(pressed) = pressed {
            self.press(pressed, speeds, most);
        }
        if let Some(dictionary) = &mut self.dictionary
            && let Some(solution) = dictionary.solve(&self.q)?
        {
            self.blocks.impulses(solution.z(), self.push.as_mut_slice());
            return Ok(solution.residual());
        }
        let w = self.blocks.bounded();
        let solution = match self.rule {
            SolutionRule::LemkeRandomCover { spread } => {
                draws.fill_open(Stream::Cover, &mut self.cover);
                for d in &mut self.cover {
                    *d = spread.powf(2.0 * *d - 1.0);
                }
                self.solver.solve_covered(w, &self.q, &self.cover)?
            }
            _ => self.solver.solve(w, &self.q)?,
        };
        if let Some(met) = &mut self.learning {
            let basis = solution.basis();
            match met.iter().position(|(known, _)| known == basis) {
                Some(k) => met[k].1 += 1,
                None if met.len() < MOST_MET => met.push((basis.to_vec(), 1)),
                None => {}
            }
        }
        self.blocks.impulses(solution.z(), self.push.as_mut_slice());
        Ok(solution.residual())
    }

    /// Makes contacts push with the whole of their bounds: of their normal rows, which say nothing
    /// else than whether they push, the speed is so low that nothing raises it to zero.
    fn press(&mut self, pressed: &[bool], speeds: &[f64], most: &[f64]) {
        let m = most.len();
        let delassus = self.problem.delassus();
        for i in (0..m).filter(|&i| pressed[i]) {
            let mut reach = speeds[i].abs();
            for (j, push) in most.iter().enumerate() {
                let tangents = (delassus.ncols() - m) / m;
                let along = m + tangents * j..m + tangents * (j + 1);
                let most_along: f64 = along.map(|k| delassus[(i, k)].abs()).sum();
                let all = delassus[(i, j)].abs() + self.problem.friction()[j] * most_along;
                reach += all * push;
            }
            self.q[m + i] = -2.0 * reach * self.blocks.scale_of_normal(i);
        }
    }

    /// Adds the impulses of the last step to a sum, and their effect to the speeds.
    pub(super) fn apply(&self, speeds: &mut [f64], impulses: &mut [f64]) {
        for (sum, push) in impulses.iter_mut().zip(self.push.as_slice()) {
            *sum += push;
        }
        let columns = self
            .problem
            .delassus()
            .as_slice()
            .chunks_exact(speeds.len().max(1));
        for (column, push) in columns.zip(self.push.as_slice()) {
            for (u, g) in speeds.iter_mut().zip(column) {
                *u += g * push;
            }
        }
    }
}
