//! Sequential impact: first the new contacts, then those that the impact makes approach.

use nalgebra::DMatrix;

use super::complementarity::rebound;
use crate::impact::ImpactFailure;
use crate::impact::law::Space;
use crate::impact::orders::interior;
use crate::impact::{ImpactLaw, ImpactProblem, Order, Outcomes};
use crate::linalg::scratch::{resize, resize_vector, with_zeros};

/// Only the newly activated contacts at first, then, stage after stage, whichever contacts
/// approach; each stage is a [`Unilateral`](crate::impact::Unilateral) impact of its contacts
/// alone.
///
/// This is the limit of contacts that close one after another, as the gaps between them vanish:
/// with one new contact it gives the one-sided limits of a corner. New contacts that do not
/// approach are skipped. With coefficients of restitution in [0, 1] the energy never rises, since
/// all contacts of a stage approach before it ([`Unilateral`](crate::impact::Unilateral#energy)).
/// Plastic contacts at an obtuse angle, each undoing the other, need many stages, in which their
/// speeds shrink by a constant factor. Errors: [`ImpactFailure::ReflectionCap`],
/// [`ImpactFailure::NoFeasibleInterior`], [`lcp::LcpFailure::Residual`](crate::lcp::LcpFailure::Residual).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sequential {
    cap: usize,
}

/// Limit of the stages of one impact, unless another cap is set.
const CAP: usize = 10_000;
/// Limit of any cap of stages, and limit of the entries of all stages together: 80 MB.
const MOST: usize = 1_000_000;
const ENTRIES: usize = 10_000_000;

impl Sequential {
    /// With the default cap.
    pub const fn new() -> Self {
        Self { cap: CAP }
    }

    /// Limit of the stages of one impact; default 10 000, and 1 000 000 at most.
    #[must_use]
    pub const fn cap(mut self, stages: usize) -> Self {
        self.cap = stages;
        self
    }
}

impl Default for Sequential {
    fn default() -> Self {
        Self::new()
    }
}

impl ImpactLaw for Sequential {
    fn name(&self) -> &'static str {
        "Sequential"
    }

    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        problem.refuse_friction(self.name())?;
        let space = problem.space();
        let threshold = problem.threshold();
        let (outcome, memory) = outcomes.begin_one();
        let Space {
            solvers,
            speeds,
            impulses,
            pushes,
            ..
        } = memory;
        resize_vector(speeds, space.contacts());
        speeds.copy_from(&space.speeds);
        resize_vector(impulses, speeds.len());
        if !matches!(outcome.order, Order::Stages(_)) {
            outcome.order = Order::Stages(Vec::new());
        }
        let Order::Stages(stages) = &mut outcome.order else {
            return Ok(());
        };
        let mut count = 0;
        let cap = self.cap.min(MOST).min(ENTRIES / speeds.len());
        loop {
            if stages.len() == count {
                stages.push(Vec::new());
            }
            let stage = &mut stages[count];
            stage.clear();
            stage.extend((0..speeds.len()).filter(|&i| speeds[i] < -threshold));
            if count == 0 && stage.iter().any(|&i| problem.is_new()[i]) {
                stage.retain(|&i| problem.is_new()[i]);
            }
            let slower = |a: &usize, b: &usize| speeds[*a].total_cmp(&speeds[*b]);
            let Some(worst) = stage.iter().copied().min_by(slower) else {
                break;
            };
            problem.check_interrupt()?;
            if count >= cap {
                let capped = ImpactFailure::ReflectionCap {
                    limit: cap,
                    contact: worst,
                    speed: speeds[worst] * space.roots[worst],
                };
                return Err(interior::explain(space, cap, capped));
            }
            let (k, e) = (stage.len(), problem.restitution());
            let (gram, solver) = (&mut solvers.matrix, &mut solvers.lcp);
            take_part(&space.gram, stage, gram);
            resize_vector(pushes, k);
            with_zeros(k, |before| {
                for (before, &i) in before.iter_mut().zip(&*stage) {
                    *before = speeds[i];
                }
                let pushes = pushes.as_mut_slice();
                rebound(gram, before, |i| e[stage[i]], problem, solver, pushes)
            })
            .map_err(|error| named(error, stage))?;
            for (&contact, push) in stage.iter().zip(pushes.iter()) {
                impulses[contact] += push;
                speeds.axpy(*push, &space.gram.column(contact), 1.0);
            }
            count += 1;
        }
        stages.truncate(count);
        outcome.push(problem, impulses.as_slice())
    }
}

/// Writes the rows and columns of a stage.
fn take_part(gram: &DMatrix<f64>, stage: &[usize], part: &mut DMatrix<f64>) {
    let k = stage.len();
    resize(part, k, k);
    for j in 0..k {
        for i in 0..k {
            part[(i, j)] = gram[(stage[i], stage[j])];
        }
    }
}

/// Renumbers the contacts in an error of a stage as the problem numbers them.
fn named(mut error: ImpactFailure, stage: &[usize]) -> ImpactFailure {
    if let ImpactFailure::Squeezed { set, contact, .. } = &mut error {
        for i in set.iter_mut().chain([contact]) {
            *i = stage[*i];
        }
    }
    error
}
