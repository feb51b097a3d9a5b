//! Who sleeps, since when others are at rest, and what acted on those that sleep.

use super::at_rest::RestRow;
use crate::compliant::Problem;
use crate::compliant::newton::graph::Islands;
use crate::mechanics::Contacts;

/// A contact that pressed when its trees fell asleep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RestContact {
    /// Its number in the source.
    pub(super) number: usize,
    /// One of its trees.
    pub(super) tree: usize,
}

/// Velocities and rows that trees at rest have in a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Acting {
    /// Velocities without contacts.
    pub(super) free: Vec<f64>,
    pub(super) rows: Vec<RestRow>,
}

/// The trees that sleep, and the memory of those that may.
#[derive(Clone, Debug, Default)]
pub(in crate::compliant::stepping) struct Sleepers {
    /// For each tree whether it sleeps; empty where nothing may.
    pub(super) asleep: Vec<bool>,
    /// For each tree that sleeps its island, by one of its trees.
    pub(super) islands: Vec<usize>,
    /// Number of trees that sleep.
    count: usize,
    /// The time for which each tree has been at rest (s).
    pub(super) quiet: Vec<f64>,
    /// Length of the steps that were made since the first fell asleep (s).
    pub(super) dt: f64,
    /// Of trees that sleep, as they fell asleep.
    pub(super) kept: Acting,
    pub(super) contacts: Vec<RestContact>,
    /// Who slept at the start of the step.
    before: Vec<bool>,
    /// Velocities without contacts of all trees in the step.
    pub(super) free: Vec<f64>,
    /// The effort that was applied in the step before; empty: none.
    pub(super) applied: Vec<f64>,
    /// The time at rest after the step, and who falls asleep at its end.
    pub(super) next_quiet: Vec<f64>,
    pub(super) falling: Vec<bool>,
    pub(super) find: Finding,
}

/// Memory of the search for those that fall asleep or wake.
#[derive(Clone, Debug, Default)]
pub(super) struct Finding {
    pub(super) islands: Islands,
    /// The rows of trees at rest in the problem of the step.
    pub(super) rows: Vec<RestRow>,
    /// Of a step from the start of this one, and from its end.
    pub(super) start: Acting,
    pub(super) end: Acting,
    /// Velocities, zero for those at rest.
    pub(super) v: Vec<f64>,
    pub(super) change: Vec<f64>,
    /// Trees of islands that are marked.
    pub(super) marked: Vec<usize>,
    pub(super) problem: Option<Problem>,
    pub(super) none: Contacts,
}

impl Sleepers {
    /// Takes the number of trees; nothing sleeps where the number is another, and where none may.
    pub(in crate::compliant::stepping) fn fit(&mut self, may_sleep: bool, trees: usize) {
        let trees = if may_sleep { trees } else { 0 };
        if self.asleep.len() != trees {
            self.wake_anew(trees);
        }
    }

    /// All are awake, and have not been at rest.
    pub(in crate::compliant::stepping) fn wake_anew(&mut self, trees: usize) {
        self.asleep.clear();
        self.asleep.resize(trees, false);
        self.islands.clear();
        self.islands.resize(trees, 0);
        self.quiet.clear();
        self.quiet.resize(trees, 0.0);
        self.falling.clear();
        self.applied.clear();
        self.count = 0;
        self.kept.rows.clear();
        self.contacts.clear();
    }

    /// For each tree whether it sleeps; empty where none does.
    pub(in crate::compliant::stepping) fn asleep(&self) -> &[bool] {
        if self.count == 0 { &[] } else { &self.asleep }
    }

    /// For each tree whether it sleeps, at the start of a step of the length of those before.
    pub(in crate::compliant::stepping) fn asleep_for(&self, dt: f64) -> &[bool] {
        let is_same = dt.to_bits() == self.dt.to_bits();
        if is_same { self.asleep() } else { &[] }
    }

    /// Number of trees that sleep.
    pub(in crate::compliant::stepping) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn recount(&mut self) {
        self.count = self.asleep.iter().filter(|asleep| **asleep).count();
    }

    /// Wakes the island of a tree; false where that is awake.
    pub(in crate::compliant::stepping) fn wake(&mut self, tree: usize) -> bool {
        if !self.asleep().get(tree).copied().unwrap_or(false) {
            return false;
        }
        let island = self.islands[tree];
        for (asleep, of) in self.asleep.iter_mut().zip(&self.islands) {
            if *asleep && *of == island {
                *asleep = false;
                self.count -= 1;
            }
        }
        true
    }

    pub(in crate::compliant::stepping) fn wake_all(&mut self) {
        self.asleep.fill(false);
        self.count = 0;
    }

    /// Forgets what is kept of trees that woke. Within a step it is kept: that may not be made.
    pub(in crate::compliant::stepping) fn forget_awake(&mut self) {
        let asleep = &self.asleep;
        self.kept.rows.retain(|row| asleep[row.first]);
        self.contacts.retain(|contact| asleep[contact.tree]);
    }

    /// Remembers who sleeps at the start of a step.
    pub(in crate::compliant::stepping) fn begin(&mut self) {
        self.falling.clear();
        self.before.clone_from(&self.asleep);
    }

    /// Who slept at the start of the step sleeps: it was not made.
    pub(in crate::compliant::stepping) fn take_back(&mut self) {
        self.falling.clear();
        if self.before.len() == self.asleep.len() {
            self.asleep.clone_from(&self.before);
            self.recount();
        }
    }

    /// True where an island falls asleep at the end of the step.
    pub(in crate::compliant::stepping) fn falls(&self) -> bool {
        self.falling.contains(&true)
    }

    /// The contacts that pressed when those that sleep fell asleep.
    pub(in crate::compliant::stepping) fn pressing(&self) -> impl Iterator<Item = usize> {
        let kept = self.contacts.iter().filter(|of| self.asleep[of.tree]);
        kept.map(|of| of.number)
    }

    /// Takes over what became of the step, in which this effort was applied.
    pub(in crate::compliant::stepping) fn end(&mut self, applied: &[f64]) {
        if self.asleep.is_empty() {
            return;
        }
        if self.before != self.asleep {
            self.forget_awake();
        }
        std::mem::swap(&mut self.quiet, &mut self.next_quiet);
        self.applied.clear();
        self.applied.extend_from_slice(applied);
    }
}
