//! Samples of the set of outcomes (Halm & Posa, Algorithms 1 and 2).

use super::blocks::{force_rows, slopes};
use super::bounds::Pushing;
use super::lcp_step::LcpStep;
use super::settings::{Finish, LcpSteps};
use crate::impact::outcome::check_finite;
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::linalg::symmetric::Spectrum;
use crate::random::Draws;
use crate::validate;

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

/// The workspace of [`LcpSteps`] for one problem: samples allocate nothing, except where
/// contact modes are enumerated and one is singular.
#[derive(Clone, Debug)]
pub struct LcpSimulation<'p> {
    pub(super) settings: LcpSteps,
    pub(super) step: LcpStep<'p>,
    /// The bound of the last, small step.
    small: f64,
    /// The normal speeds below minus which contacts approach.
    eps: Vec<f64>,
    pub(super) most: Vec<f64>,
}

impl LcpSteps {
    /// The workspace for samples of a problem.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for a setting out of its range,
    /// for complementarity problems of more than 1000 unknowns, `(3 + k) m`, and for rules that
    /// enumerate contact modes in space or with more than five contacts;
    /// [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored) for friction without
    /// tangents; those of [`LcpSimulation::simulate`] while a dictionary is learnt.
    pub fn start<'p>(
        &self,
        problem: &'p ImpactProblem,
    ) -> Result<LcpSimulation<'p>, ImpactFailure> {
        self.check(problem)?;
        LcpSimulation::new(*self, problem)
    }
}

impl<'p> LcpSimulation<'p> {
    pub(super) fn problem(&self) -> &ImpactProblem {
        self.step.problem
    }

    pub(super) fn new(
        settings: LcpSteps,
        problem: &'p ImpactProblem,
    ) -> Result<Self, ImpactFailure> {
        let step = LcpStep::new(&settings, problem);
        let mut simulation = Self {
            settings,
            small: small_bound(&settings, problem)?,
            eps: problem.parts_of_greatest(settings.tolerance),
            most: vec![0.0; problem.contacts()],
            step,
        };
        if settings.dictionary > 0 {
            simulation.learn()?;
        }
        Ok(simulation)
    }

    /// Makes the dictionary of the bases that most steps of the first samples end in.
    fn learn(&mut self) -> Result<(), ImpactFailure> {
        let size = self.step.push.len();
        let (mut speeds, mut impulses) = (vec![0.0; size], vec![0.0; size]);
        self.step.start_learning();
        for sample in 0..self.settings.dictionary {
            self.simulate(sample, &mut speeds, &mut impulses)?;
        }
        self.step.end_learning()
    }

    /// Runs one sample: `speeds` get the contact speeds after it, `impulses` the sum of its
    /// impulses (normals first). What it finds depends on the settings, the problem and the number
    /// alone.
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength), [`ImpactFailure::Lcp`] when a step is
    /// not solved, [`ImpactFailure::Overflow`], [`ImpactFailure::Interrupted`].
    pub fn simulate(
        &mut self,
        sample: u64,
        speeds: &mut [f64],
        impulses: &mut [f64],
    ) -> Result<Ended, ImpactFailure> {
        let mut ended = start(self.step.problem, speeds, impulses)?;
        ended.finished = self.is_over(speeds);
        let mut is_last = false;
        while let Some(draws) = self.next_bounds(sample, speeds, ended, &mut is_last) {
            self.step.problem.check_interrupt()?;
            let residual = self.step.solve(draws, speeds, &self.most, None)?;
            self.count_step(residual, speeds, impulses, &mut ended);
        }
        finite(ended, speeds, impulses)
    }

    pub(super) fn is_over(&self, speeds: &[f64]) -> bool {
        is_over(&speeds[..self.most.len()], &self.eps)
    }

    /// The bounds of the next step, in `most`, and its draws; none after the last one.
    pub(super) fn next_bounds(
        &mut self,
        sample: u64,
        speeds: &[f64],
        ended: Ended,
        is_last: &mut bool,
    ) -> Option<Draws> {
        if *is_last {
            return None;
        }
        let over = ended.finished || ended.steps >= self.settings.most_steps;
        if over && self.settings.finish == Finish::Drop {
            return None;
        }
        let pushing = Pushing {
            speeds,
            eps: &self.eps,
            stored: &[],
        };
        let bounds = self.settings.bounds();
        let draws = bounds.of_step(sample, ended.steps, pushing, &mut self.most);
        if over {
            *is_last = true;
            self.most.fill(self.small);
        }
        Some(draws)
    }

    /// Adds the step that was solved last.
    pub(super) fn count_step(
        &self,
        residual: f64,
        speeds: &mut [f64],
        impulses: &mut [f64],
        ended: &mut Ended,
    ) {
        self.step.apply(speeds, impulses);
        ended.residual = ended.residual.max(residual);
        ended.steps += 1;
        ended.finished = self.is_over(speeds);
    }
}

/// Sets a sample to the start. Whether it is over is the caller's to say.
pub(super) fn start(
    problem: &ImpactProblem,
    speeds: &mut [f64],
    impulses: &mut [f64],
) -> Result<Ended, ImpactFailure> {
    let before = problem.speeds();
    validate::length("speeds", before.len(), speeds.len())?;
    validate::length("impulses", before.len(), impulses.len())?;
    speeds.copy_from_slice(before.as_slice());
    impulses.fill(0.0);
    Ok(Ended {
        steps: 0,
        finished: false,
        residual: 0.0,
    })
}

/// The end of a sample, refused where its numbers overflow.
pub(super) fn finite(
    ended: Ended,
    speeds: &[f64],
    impulses: &[f64],
) -> Result<Ended, ImpactFailure> {
    check_finite("impulse", impulses)?;
    check_finite("speed after the impact", speeds)?;
    Ok(ended)
}

/// True when no normal speed is below minus its rounding.
pub(super) fn is_over(normals: &[f64], eps: &[f64]) -> bool {
    normals.iter().zip(eps).all(|(&u, &eps)| u >= -eps)
}

/// `ε/(3ψ)`.
fn small_bound(settings: &LcpSteps, problem: &ImpactProblem) -> Result<f64, ImpactFailure> {
    let Finish::SmallStep(size) = settings.finish else {
        return Ok(0.0);
    };
    let (m, t) = (problem.contacts(), problem.tangents());
    // M⁻¹ J̄ᵀ, or A where only G is known
    let rows = force_rows(m, t, &slopes(t, settings.directions));
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
    Ok(size / (3.0 * (sigma * m as f64 * (1.0 + mu) + 1.0)))
}
