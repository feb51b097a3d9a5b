//! Impacts with friction and restitution, each contact with a store of energy.
//!
//! The state is `(v, e)` with the energy `e_i ≥ 0` stored at contact i, zero at first. A contact
//! pushes while it approaches (compression), and while its store is not empty (restitution). With
//! the energetic coefficient `r`, `de = −r² λ un` in compression and `de = −λ un` in restitution:
//! the kinetic energy and the stores together never rise, and one contact without friction leaves
//! with `−r un`.

use super::bounds::Pushing;
use super::lcp_step::LcpStep;
use super::settings::{Finish, LcpSteps};
use super::simulation::{Ended, finite, is_over, start};
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::validate;

/// Limit of the times that the impulse of a contact in restitution is cut to what its store can
/// give.
const CUTS: usize = 8;
/// Stores below this part of the kinetic energy before the impact are empty.
const EMPTY: f64 = 1e-12;

/// Samples of impacts with the coefficients of restitution of the problem, taken as energetic
/// coefficients: the workspace of [`LcpSteps::start_energetic`].
///
/// In a step, contacts in restitution push with the whole of their drawn bounds, but no more than
/// their stores give; the others push as without restitution. Stores are counted with the speeds at
/// the end of a step, so that outcomes are right to first order in the bound. The kinetic energy
/// after the impact is no greater than before, for any coefficients in [0, 1] and any sample. Where
/// no motion opens all contacts there need be no end: the cap on steps holds.
#[derive(Clone, Debug)]
pub struct EnergeticSimulation<'p> {
    settings: LcpSteps,
    step: LcpStep<'p>,
    /// The normal speeds below minus which contacts approach.
    eps: Vec<f64>,
    /// The store below which it counts as empty (J).
    empty: f64,
    most: Vec<f64>,
    stored: Vec<f64>,
    restores: Vec<bool>,
    /// Speeds and impulses of a step that may be cut.
    speeds: Vec<f64>,
    impulses: Vec<f64>,
}

impl LcpSteps {
    /// The workspace for samples of a problem with restitution: see [`EnergeticSimulation`].
    ///
    /// # Errors
    /// As [`start`](Self::start), and [`InputError::BadSetting`](crate::InputError::BadSetting) for
    /// rules that enumerate contact modes, [`Finish::SmallStep`], a dictionary, and coefficients of
    /// restitution outside [0, 1].
    pub fn start_energetic<'p>(
        &self,
        problem: &'p ImpactProblem,
    ) -> Result<EnergeticSimulation<'p>, ImpactFailure> {
        self.check(problem)?;
        let kept = !self.rule.enumerates() && self.finish == Finish::Drop && self.dictionary == 0;
        let rule = "must be without enumeration, small step and dictionary";
        validate::unless(kept, "steps with restitution", 0.0, rule)?;
        let rule = "must lie in [0, 1]";
        validate::accepted("restitution", problem.restitution(), rule, |r| {
            (0.0..=1.0).contains(&r)
        })?;
        Ok(EnergeticSimulation::new(*self, problem))
    }
}

impl<'p> EnergeticSimulation<'p> {
    pub(super) fn problem(&self) -> &ImpactProblem {
        self.step.problem
    }

    pub(super) fn new(settings: LcpSteps, problem: &'p ImpactProblem) -> Self {
        let (m, size) = (problem.contacts(), problem.speeds().len());
        Self {
            settings,
            step: LcpStep::new(&settings, problem),
            eps: problem.parts_of_greatest(settings.tolerance),
            empty: EMPTY * 0.5 * problem.kinetic_norm().powi(2),
            most: vec![0.0; m],
            stored: vec![0.0; m],
            restores: vec![false; m],
            speeds: vec![0.0; size],
            impulses: vec![0.0; size],
        }
    }

    /// The energies that the last sample left in its stores (J): zeros when it finished.
    pub fn stored(&self) -> &[f64] {
        &self.stored
    }

    /// Runs one sample, as [`LcpSimulation::simulate`](super::LcpSimulation::simulate). It is
    /// finished when no contact approaches and all stores are empty.
    ///
    /// # Errors
    /// As [`LcpSimulation::simulate`](super::LcpSimulation::simulate).
    pub fn simulate(
        &mut self,
        sample: u64,
        speeds: &mut [f64],
        impulses: &mut [f64],
    ) -> Result<Ended, ImpactFailure> {
        let mut ended = start(self.step.problem, speeds, impulses)?;
        self.stored.fill(0.0);
        ended.finished = self.is_over(speeds);
        let bounds = self.settings.bounds();
        while !ended.finished && ended.steps < self.settings.most_steps {
            self.step.problem.check_interrupt()?;
            let pushing = Pushing {
                speeds,
                eps: &self.eps,
                stored: &self.stored,
            };
            let draws = bounds.of_step(sample, ended.steps, pushing, &mut self.most);
            for i in 0..self.most.len() {
                self.restores[i] = self.stored[i] > 0.0 && speeds[i] >= -self.eps[i];
            }
            for cut in 0..=CUTS {
                let residual = self
                    .step
                    .solve(draws, speeds, &self.most, Some(&self.restores))?;
                ended.residual = ended.residual.max(residual);
                self.speeds.copy_from_slice(speeds);
                self.impulses.copy_from_slice(impulses);
                self.step.apply(&mut self.speeds, &mut self.impulses);
                if !self.cut(cut + 1 == CUTS) {
                    break;
                }
            }
            speeds.copy_from_slice(&self.speeds);
            impulses.copy_from_slice(&self.impulses);
            self.count_energy();
            ended.steps += 1;
            ended.finished = self.is_over(speeds);
        }
        finite(ended, speeds, impulses)
    }

    /// Cuts the bounds of contacts that gave more than their stores hold; true when one was cut.
    /// The last time no contact in restitution may push: then none gives anything.
    fn cut(&mut self, last: bool) -> bool {
        let mut any = false;
        for i in 0..self.most.len() {
            let given = self.most[i] * self.speeds[i];
            if self.restores[i] && given > self.stored[i] + self.empty {
                self.most[i] = self.stored[i] / self.speeds[i];
                any = true;
            }
        }
        if any && last {
            for (most, restores) in self.most.iter_mut().zip(&self.restores) {
                *most = if *restores { 0.0 } else { *most };
            }
        }
        any
    }

    /// Adds what compression stores, and takes what restitution gives.
    fn count_energy(&mut self) {
        let r = self.step.problem.restitution();
        for i in 0..self.most.len() {
            let work = self.step.push[i] * self.speeds[i];
            let change = if work < 0.0 {
                -r[i] * r[i] * work
            } else {
                -work
            };
            let stored = self.stored[i] + change;
            self.stored[i] = if stored > self.empty { stored } else { 0.0 };
        }
    }

    fn is_over(&self, speeds: &[f64]) -> bool {
        let m = self.most.len();
        is_over(&speeds[..m], &self.eps) && self.stored.iter().all(|&e| e == 0.0)
    }
}
