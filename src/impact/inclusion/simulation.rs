//! Samples of the set of outcomes (Halm & Posa, Algorithms 1 and 2): steps in which each contact
//! spends at most a drawn bound, at one of three rates.

use super::bounds::StepBounds;
use super::energetic::Stores;
use super::exact::Legs;
use super::lcp_step::LcpStep;
use crate::impact::outcome::check_finite;
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::random::Draws;
use crate::{InputError, validate};

/// The end of a sample.
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

/// The workspace of [`LcpSteps`](crate::impact::LcpSteps) or
/// [`EventExact`](crate::impact::EventExact) for one problem: samples allocate nothing,
/// except where contact modes are enumerated and one is singular.
///
/// With [`LcpSteps::start_energetic`](crate::impact::LcpSteps::start_energetic) contacts have the coefficients of restitution of the problem,
/// taken as energetic coefficients. In a step, contacts in restitution push with the whole of their
/// drawn bounds, but no more than their stores give; the others push as without restitution. Stores
/// are counted with the speeds at the end of a step, so that outcomes are right to first order in
/// the bound. The kinetic energy after the impact is no greater than before, for any coefficients
/// in [0, 1] and any sample. Where no motion opens all contacts there need be no end: the cap on
/// steps holds.
#[derive(Clone, Debug)]
pub struct InclusionSimulation<'p> {
    pub(super) problem: &'p ImpactProblem,
    pub(super) bounds: StepBounds,
    pub(super) rate: Rate<'p>,
}

/// The way in which contacts spend their bounds in a step.
#[derive(Clone, Debug)]
pub(super) enum Rate<'p> {
    /// By the complementarity problem of the step.
    Lcp(Box<LcpStep<'p>>),
    /// Likewise, with stores of energy at contacts that rebound.
    Energetic(Box<LcpStep<'p>>, Stores),
    /// By rates that are constant between events, without the error of a step.
    Exact(Box<Legs<'p>>),
}

impl Rate<'_> {
    fn stored(&self) -> &[f64] {
        match self {
            Self::Energetic(_, stores) => &stores.stored,
            Self::Lcp(_) | Self::Exact(_) => &[],
        }
    }
}

/// Progress of a sample.
#[derive(Clone, Copy)]
struct Progress {
    ended: Ended,
    /// The last, small step is made.
    is_last: bool,
}

impl Progress {
    /// Draws the bounds of the next step; none after the last one.
    fn next(
        &mut self,
        sample: u64,
        speeds: &[f64],
        stored: &[f64],
        bounds: &mut StepBounds,
    ) -> Option<Draws> {
        let over = self.ended.finished || self.ended.steps >= bounds.settings.most_steps;
        if self.is_last || over && bounds.small.is_none() {
            return None;
        }
        let draws = bounds.draw(sample, self.ended.steps, speeds, stored);
        if let Some(small) = bounds.small.filter(|_| over) {
            self.is_last = true;
            bounds.most.fill(small);
        }
        Some(draws)
    }

    fn count(&mut self, residual: f64, finished: bool) {
        self.ended.residual = self.ended.residual.max(residual);
        self.ended.steps += 1;
        self.ended.finished = finished;
    }
}

impl<'p> InclusionSimulation<'p> {
    pub(super) fn new(problem: &'p ImpactProblem, bounds: StepBounds, rate: Rate<'p>) -> Self {
        Self {
            problem,
            bounds,
            rate,
        }
    }

    /// The energies that the last sample left in its stores (J): zeros when it finished; empty
    /// without restitution.
    pub fn stored(&self) -> &[f64] {
        self.rate.stored()
    }

    /// Runs one sample: `speeds` get the contact speeds after it, `impulses` the sum of its
    /// impulses (normals first). What it finds depends on the settings, the problem and the number
    /// alone. It is finished when no contact approaches and all stores are empty, and unfinished
    /// after the last step.
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`ImpactFailure::Lcp`] when a step is
    /// not solved, [`ImpactFailure::Overflow`], [`ImpactFailure::Interrupted`].
    pub fn simulate(
        &mut self,
        sample: u64,
        speeds: &mut [f64],
        impulses: &mut [f64],
    ) -> Result<Ended, ImpactFailure> {
        let mut at = self.begin(speeds, impulses)?;
        while let Some(draws) = at.next(sample, speeds, self.rate.stored(), &mut self.bounds) {
            self.problem.check_interrupt()?;
            let bounds = &mut self.bounds;
            let residual = match &mut self.rate {
                Rate::Lcp(step) => {
                    let residual = step.solve(draws, speeds, &bounds.most, None)?;
                    step.apply(speeds, impulses);
                    residual
                }
                Rate::Energetic(step, stores) => {
                    stores.advance(step, draws, bounds, speeds, impulses)?
                }
                Rate::Exact(legs) => {
                    legs.advance(draws, bounds, speeds)?;
                    0.0
                }
            };
            at.count(residual, self.is_over(speeds));
        }
        if let Rate::Exact(legs) = &self.rate {
            legs.round(speeds, impulses);
        }
        check_finite("impulse", impulses)?;
        check_finite("speed after the impact", speeds)?;
        Ok(at.ended)
    }

    /// Sets a sample to the start.
    fn begin(
        &mut self,
        speeds: &mut [f64],
        impulses: &mut [f64],
    ) -> Result<Progress, ImpactFailure> {
        let before = self.problem.speeds();
        validate::length("speeds", before.len(), speeds.len())?;
        validate::length("impulses", before.len(), impulses.len())?;
        speeds.copy_from_slice(before.as_slice());
        impulses.fill(0.0);
        match &mut self.rate {
            Rate::Lcp(_) => {}
            Rate::Energetic(_, stores) => stores.stored.fill(0.0),
            Rate::Exact(legs) => legs.begin(&self.bounds.eps, speeds),
        }
        let ended = Ended {
            steps: 0,
            finished: self.is_over(speeds),
            residual: 0.0,
        };
        Ok(Progress {
            ended,
            is_last: false,
        })
    }

    fn is_over(&self, speeds: &[f64]) -> bool {
        self.bounds.is_over(speeds) && self.stored().iter().all(|&e| e == 0.0)
    }
}

/// One of the outcomes of a sample.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Branch {
    /// Contact speeds after it (m/s).
    pub speeds: Vec<f64>,
    /// The sum of its impulses (N s), normals first.
    pub impulses: Vec<f64>,
    /// Its end.
    pub ended: Ended,
}

/// A branch on its way.
#[derive(Clone)]
struct Open {
    speeds: Vec<f64>,
    impulses: Vec<f64>,
    at: Progress,
}

impl Open {
    /// Adds the step that was solved last.
    fn advance(&mut self, residual: f64, step: &LcpStep<'_>, bounds: &StepBounds) {
        step.apply(&mut self.speeds, &mut self.impulses);
        self.at.count(residual, bounds.is_over(&self.speeds));
    }
}

impl InclusionSimulation<'_> {
    /// Runs one sample with [`SolutionRule::EnumerateAll`](crate::impact::SolutionRule::EnumerateAll): where a step has several velocities,
    /// the sample goes on with each of them. All of its branches have the bounds of the sample's
    /// number. `each` is given the branches in order, those of the first solutions first. Different
    /// branches may end in the same velocity.
    ///
    /// Returns true when these are all branches: false when the cap of the rule left some out, and
    /// where a mode of a step holds a continuum of velocities, of which one was followed, or impulses that are
    /// too large to be listed. It keeps
    /// at most as many branches at a time as the cap allows.
    ///
    /// ```
    /// use saltation::impact::{ImpactProblem, LcpSteps, SolutionRule};
    /// use saltation::nalgebra::{DMatrix, DVector};
    /// // A rod that slides against the floor and is stopped by it: one velocity in each step.
    /// let problem = ImpactProblem::with_tangents(
    ///     DMatrix::from_row_slice(2, 2, &[1.6, -1.2, -1.2, 3.4]),
    ///     DVector::from_vec(vec![-1e-6, -1.0]),
    ///     &[1.0],
    /// )?;
    /// let rule = SolutionRule::EnumerateAll { branches: 8 };
    /// let mut simulation = LcpSteps::new(1.0).rule(rule).start(&problem)?;
    /// let mut found = Vec::new();
    /// let all = simulation.branches(0, |branch| found.push(branch))?;
    /// assert!(all && found.len() == 1 && found[0].ended.finished);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for another rule; those of
    /// [`simulate`](Self::simulate).
    pub fn branches(
        &mut self,
        sample: u64,
        mut each: impl FnMut(Branch),
    ) -> Result<bool, ImpactFailure> {
        let size = self.problem.speeds().len();
        let (mut speeds, mut impulses) = (vec![0.0; size], vec![0.0; size]);
        let at = self.begin(&mut speeds, &mut impulses)?;
        let bounds = &mut self.bounds;
        let followed = match &mut self.rate {
            Rate::Lcp(step) => step.rule.most_branches().map(|most| (step, most)),
            Rate::Energetic(..) | Rate::Exact(_) => None,
        };
        let Some((step, most)) = followed else {
            let refused = InputError::BadSetting {
                name: "rule",
                entry: 0,
                value: 0.0,
                rule: "must be EnumerateAll for branches",
            };
            return Err(refused.into());
        };
        let (mut all, mut known) = (true, 1);
        let mut open = vec![Open {
            speeds,
            impulses,
            at,
        }];
        while let Some(mut branch) = open.pop() {
            while let Some(draws) = branch.at.next(sample, &branch.speeds, &[], bounds) {
                self.problem.check_interrupt()?;
                let count = step.enumerate(&branch.speeds, &bounds.most)?;
                all &= count > 0 && step.has_all();
                let others = count.saturating_sub(1);
                let followed = others.min(most - known);
                all &= followed == others;
                known += followed;
                // From the last one on: the stack gives them back in order.
                for solution in (1..=followed).rev() {
                    let mut other = branch.clone();
                    let residual = step.take(solution);
                    other.advance(residual, step, bounds);
                    open.push(other);
                }
                let residual = match count {
                    0 => step.solve(draws, &branch.speeds, &bounds.most, None)?,
                    _ => step.take(0),
                };
                branch.advance(residual, step, bounds);
            }
            each(Branch {
                speeds: branch.speeds,
                impulses: branch.impulses,
                ended: branch.at.ended,
            });
        }
        Ok(all)
    }
}
