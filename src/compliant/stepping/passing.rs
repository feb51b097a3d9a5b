//! Contacts that the rows of a step close, and that pass each other.
//!
//! Rows are those of the start of a step. Along them surfaces close that pass beside an edge or a round face on
//! their way ([`ContactSource::meets`]): bodies would be braked in the air. Contacts that were apart, press,
//! and do not meet by the velocities of the start are left out, and the step is solved again. If by the velocities of
//! that solution they meet after all, they come back: at most eight times.

use super::model::SteppedSystem;
use super::state::{Core, Known};
use crate::compliant::failure::CompliantFailure;
use crate::mechanics::Passage;

/// Limit of the problems of a step that pairs which pass make.
const ROUNDS: usize = 8;

/// Surfaces count as apart that lie no deeper on each other than this part of the smaller body, if they close by
/// more.
const APART: f64 = 1e-3;

/// A pair of surfaces ([`ContactSource::pair`](crate::mechanics::ContactSource::pair)) that was looked at in a step.
#[derive(Clone, Copy, Debug)]
struct Seen {
    pair: usize,
    /// One of its contacts.
    contact: usize,
    /// They pass: their contacts are left out.
    passes: bool,
}

/// The pairs that were looked at in a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Passing(Vec<Seen>);

impl Passing {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// True for a pair that passes.
    pub(super) fn holds(&self, pair: usize) -> bool {
        self.0.iter().any(|seen| seen.passes && seen.pair == pair)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Core {
    /// Leaves out the contacts that pass each other in the step that was solved, and solves it again.
    pub(super) fn let_pass(
        &mut self,
        system: &dyn SteppedSystem,
        dt: f64,
        known: Known,
    ) -> Result<(), CompliantFailure> {
        for round in 1.. {
            if !self.find_passing(system, dt) {
                break;
            }
            if round == ROUNDS {
                self.passing
                    .0
                    .iter_mut()
                    .for_each(|seen| seen.passes = false);
            }
            self.list_contacts(system, dt, known)
                .map_err(|reason| self.model_failure(reason))?;
            self.build_and_solve(system, dt, false)?;
        }
        Ok(())
    }

    /// Looks which contacts of the solution pass; true where others do than before.
    fn find_passing(&mut self, system: &dyn SteppedSystem, dt: f64) -> bool {
        let solution = self.solver.solution();
        let way = |v| Passage {
            q: &self.q,
            v,
            dt,
            contacts: &self.contacts,
        };
        let (mut changed, seen) = (false, &mut self.passing.0);
        for seen in seen.iter_mut().filter(|seen| seen.passes) {
            seen.passes = !system.meets(seen.contact, &way(solution.v()));
            changed |= !seen.passes;
        }
        let contacts = self.contacts.all_parameters().iter();
        for (i, (of, impulse)) in contacts.zip(solution.impulses()).enumerate() {
            if impulse[0] <= 0.0 {
                continue;
            }
            let depth = of.size.map_or(0.0, |size| APART * size);
            let closes = if of.gap > 0.0 { of.gap } else { depth };
            let approach = -dt * self.contacts.velocity(i, &self.v)[0];
            if of.gap < -depth || approach <= closes {
                continue;
            }
            let pair = system.pair(of.contact);
            if seen.iter().any(|seen| seen.pair == pair) {
                continue;
            }
            let passes = !system.meets(of.contact, &way(&self.v));
            changed |= passes;
            seen.push(Seen {
                pair,
                contact: of.contact,
                passes,
            });
        }
        changed
    }
}
