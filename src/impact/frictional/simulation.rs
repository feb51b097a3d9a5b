//! Samples of the set of outcomes (Halm & Posa, Algorithms 1 and 2).

use super::blocks::{force_rows, slopes};
use super::lcp_step::LcpStep;
use super::settings::{Finish, LcpSteps};
use crate::impact::{Failure, ImpactProblem};
use crate::linalg::spectrum::Spectrum;
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
/// [`SolutionRule::PickUniform`](super::SolutionRule::PickUniform) meets a singular mode.
#[derive(Clone, Debug)]
pub struct LcpSimulation<'p> {
    settings: LcpSteps,
    step: LcpStep<'p>,
    /// The bound of the last, small step.
    small: f64,
    /// The normal speeds below minus which contacts approach.
    eps: Vec<f64>,
    most: Vec<f64>,
}

impl LcpSteps {
    /// The workspace for samples of a problem.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for a setting out of its range,
    /// for complementarity problems of more than 1000 unknowns, `(3 + k) m`, and for
    /// [`SolutionRule::PickUniform`](super::SolutionRule::PickUniform) in space or with more than
    /// five contacts; [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored) for
    /// friction without tangents; those of [`LcpSimulation::simulate`] while a dictionary is
    /// learnt.
    pub fn start<'p>(&self, problem: &'p ImpactProblem) -> Result<LcpSimulation<'p>, Failure> {
        self.check(problem)?;
        LcpSimulation::new(*self, problem)
    }
}

impl<'p> LcpSimulation<'p> {
    pub(super) fn problem(&self) -> &ImpactProblem {
        self.step.problem
    }

    pub(super) fn new(settings: LcpSteps, problem: &'p ImpactProblem) -> Result<Self, Failure> {
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
    fn learn(&mut self) -> Result<(), Failure> {
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
    /// [`InputError::WrongLength`](crate::InputError::WrongLength), [`Failure::Lcp`] when a step is
    /// not solved, [`Failure::Interrupted`].
    pub fn simulate(
        &mut self,
        sample: u64,
        speeds: &mut [f64],
        impulses: &mut [f64],
    ) -> Result<Ended, Failure> {
        let mut ended = start(self.step.problem, speeds, impulses)?;
        ended.finished = self.is_over(speeds);
        let bounds = self.settings.bounds();
        while !ended.finished && ended.steps < self.settings.most_steps {
            self.step.problem.check_interrupt()?;
            let draws = bounds.of_step(sample, ended.steps, speeds, &[], &mut self.most);
            self.make_step(draws, speeds, impulses, &mut ended)?;
        }
        if matches!(self.settings.finish, Finish::SmallStep(_)) {
            let draws = bounds.of_step(sample, ended.steps, speeds, &[], &mut self.most);
            self.most.fill(self.small);
            self.make_step(draws, speeds, impulses, &mut ended)?;
        }
        Ok(ended)
    }

    fn is_over(&self, speeds: &[f64]) -> bool {
        is_over(&speeds[..self.most.len()], &self.eps)
    }

    /// One step with the bounds in `most`.
    fn make_step(
        &mut self,
        draws: Draws,
        speeds: &mut [f64],
        impulses: &mut [f64],
        ended: &mut Ended,
    ) -> Result<(), Failure> {
        let residual = self.step.solve(draws, speeds, &self.most, None)?;
        self.step.apply(speeds, impulses);
        ended.residual = ended.residual.max(residual);
        ended.steps += 1;
        ended.finished = self.is_over(speeds);
        Ok(())
    }
}

/// Sets a sample to the start. Whether it is over is the caller's to say.
pub(super) fn start(
    problem: &ImpactProblem,
    speeds: &mut [f64],
    impulses: &mut [f64],
) -> Result<Ended, Failure> {
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

/// True when no normal speed is below minus its rounding.
pub(super) fn is_over(normals: &[f64], eps: &[f64]) -> bool {
    normals.iter().zip(eps).all(|(&u, &eps)| u >= -eps)
}

/// `ε/(3ψ)`.
fn small_bound(settings: &LcpSteps, problem: &ImpactProblem) -> Result<f64, Failure> {
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
    let sigma = Spectrum::of(&squares).greatest().max(0.0).sqrt();
    let mu = problem
        .friction()
        .iter()
        .fold(0.0f64, |most, &mu| most.max(mu));
    Ok(size / (3.0 * (sigma * m as f64 * (1.0 + mu) + 1.0)))
}
