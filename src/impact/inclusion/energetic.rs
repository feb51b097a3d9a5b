//! Impacts with friction and restitution, each contact with a store of energy.
//!
//! The state is `(v, e)` with the energy `e_i ≥ 0` stored at contact i, zero at first. A contact
//! pushes while it approaches (compression), and while its store is not empty (restitution). With
//! the energetic coefficient `r`, `de = −r² λ un` in compression and `de = −λ un` in restitution:
//! the kinetic energy and the stores together never rise, and one contact without friction leaves
//! with `−r un`.

use super::bounds::StepBounds;
use super::lcp_step::LcpStep;
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::random::Draws;

/// Limit of the times that the impulse of a contact in restitution is cut to what its store can
/// give.
const CUTS: usize = 8;
/// Stores below this part of the kinetic energy before the impact are empty.
const EMPTY: f64 = 1e-12;

/// The stores of energy of all contacts.
#[derive(Clone, Debug)]
pub(super) struct Stores {
    /// The store below which it counts as empty (J).
    empty: f64,
    pub(super) stored: Vec<f64>,
    restores: Vec<bool>,
    /// Speeds and impulses of a step that may be cut.
    speeds: Vec<f64>,
    impulses: Vec<f64>,
}

impl Stores {
    pub(super) fn new(problem: &ImpactProblem) -> Self {
        let (m, size) = (problem.contacts(), problem.speeds().len());
        Self {
            empty: EMPTY * 0.5 * problem.kinetic_norm().powi(2),
            stored: vec![0.0; m],
            restores: vec![false; m],
            speeds: vec![0.0; size],
            impulses: vec![0.0; size],
        }
    }

    /// Makes a step with these bounds; gives its residual.
    pub(super) fn advance(
        &mut self,
        step: &mut LcpStep<'_>,
        draws: Draws,
        bounds: &mut StepBounds,
        speeds: &mut [f64],
        impulses: &mut [f64],
    ) -> Result<f64, ImpactFailure> {
        for (i, &stored) in self.stored.iter().enumerate() {
            self.restores[i] = stored > 0.0 && speeds[i] >= -bounds.eps[i];
        }
        let mut greatest = 0.0f64;
        for cut in 0..=CUTS {
            let residual = step.solve(draws, speeds, &bounds.most, Some(&self.restores))?;
            greatest = greatest.max(residual);
            self.speeds.copy_from_slice(speeds);
            self.impulses.copy_from_slice(impulses);
            step.apply(&mut self.speeds, &mut self.impulses);
            if !self.cut(&mut bounds.most, cut + 1 == CUTS) {
                break;
            }
        }
        speeds.copy_from_slice(&self.speeds);
        impulses.copy_from_slice(&self.impulses);
        self.count_energy(step);
        Ok(greatest)
    }

    /// Cuts the bounds of contacts that gave more than their stores hold; true when one was cut.
    /// The last time no contact in restitution may push: then none gives anything.
    fn cut(&mut self, most: &mut [f64], last: bool) -> bool {
        let mut any = false;
        for (i, most) in most.iter_mut().enumerate() {
            let given = *most * self.speeds[i];
            if self.restores[i] && given > self.stored[i] + self.empty {
                *most = self.stored[i] / self.speeds[i];
                any = true;
            }
        }
        if any && last {
            for (most, restores) in most.iter_mut().zip(&self.restores) {
                *most = if *restores { 0.0 } else { *most };
            }
        }
        any
    }

    /// Adds what compression stores, and takes what restitution gives.
    fn count_energy(&mut self, step: &LcpStep<'_>) {
        let r = step.problem.restitution();
        for i in 0..self.stored.len() {
            let work = step.push[i] * self.speeds[i];
            let change = if work < 0.0 {
                -r[i] * r[i] * work
            } else {
                -work
            };
            let stored = self.stored[i] + change;
            self.stored[i] = if stored > self.empty { stored } else { 0.0 };
        }
    }
}
