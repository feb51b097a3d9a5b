//! Trees that sleep as plain data, for a checkpoint.

use serde::{Deserialize, Serialize};

use super::at_rest::RestRow;
use super::sleepers::{RestContact, Sleepers};
use crate::compliant::RowLaw;
use crate::compliant::stepping::model::SteppedSystem;
use crate::compliant::stepping::state::Core;
use crate::linalg::largest;
use crate::mechanics::MechanicalSystem;
use crate::{InputError, validate};

/// Trees that sleep, and since when others are at rest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::compliant) struct Sleeping {
    /// For each tree the time for which it has been at rest (s).
    quiet: Vec<f64>,
    /// For each tree its island, where it sleeps.
    islands: Vec<Option<usize>>,
    /// Length of the steps since (s).
    dt: f64,
    /// Velocities without contacts, from rest.
    free: Vec<f64>,
    rows: Vec<RowDocument>,
    contacts: Vec<ContactDocument>,
    /// For each tree a checksum of what holds it where it sleeps. Empty: not known.
    #[serde(default)]
    supports: Vec<u64>,
    /// The effort that was applied in the step before; empty: none.
    applied: Vec<f64>,
}

/// A row that acts on trees that sleep.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RowDocument {
    term: usize,
    first: usize,
    second: Option<usize>,
    checksum: u64,
    regularisation: f64,
    target: f64,
    /// None: not bounded.
    low: Option<f64>,
    high: Option<f64>,
    impulse: f64,
}

/// A contact that pressed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContactDocument {
    number: usize,
    tree: usize,
}

impl RowDocument {
    fn of(row: &RestRow) -> Self {
        let bound = |bound: f64| bound.is_finite().then_some(bound);
        Self {
            term: row.term,
            first: row.first,
            second: row.second,
            checksum: row.checksum,
            regularisation: row.law.regularisation,
            target: row.law.target,
            low: bound(row.law.low),
            high: bound(row.law.high),
            impulse: row.impulse,
        }
    }

    /// None for numbers that no row has.
    fn row(&self) -> Option<RestRow> {
        let law = RowLaw {
            regularisation: self.regularisation,
            target: self.target,
            low: self.low.unwrap_or(f64::NEG_INFINITY),
            high: self.high.unwrap_or(f64::INFINITY),
        };
        let is_law = law.regularisation > 0.0 && law.low <= law.high;
        is_law.then_some(RestRow {
            term: self.term,
            law,
            first: self.first,
            second: self.second,
            checksum: self.checksum,
            impulse: self.impulse,
        })
    }
}

impl Sleepers {
    /// With what holds those that sleep; none where nothing may.
    pub(in crate::compliant::stepping) fn document(&self, supports: &[u64]) -> Option<Sleeping> {
        if self.asleep.is_empty() {
            return None;
        }
        let trees = self.asleep.iter().zip(&self.islands);
        let contacts = self.contacts.iter().map(|of| ContactDocument {
            number: of.number,
            tree: of.tree,
        });
        let is_any = self.count() > 0;
        Some(Sleeping {
            quiet: self.quiet.clone(),
            islands: trees
                .map(|(asleep, island)| asleep.then_some(*island))
                .collect(),
            dt: self.dt,
            free: if is_any {
                self.kept.free.clone()
            } else {
                Vec::new()
            },
            rows: self.kept.rows.iter().map(RowDocument::of).collect(),
            contacts: contacts.collect(),
            supports: supports.to_vec(),
            applied: self.applied.clone(),
        })
    }

    /// Takes over a document; refuses numbers that no run has.
    fn take(&mut self, from: &Sleeping, dof: usize) -> Result<(), InputError> {
        let trees = from.quiet.len();
        self.wake_anew(trees);
        validate::length("islands of trees", trees, from.islands.len())?;
        validate::not_negative("time at rest", &from.quiet)?;
        if !from.applied.is_empty() {
            validate::length("effort", dof, from.applied.len())?;
            validate::finite("effort", &from.applied)?;
            self.applied.clone_from(&from.applied);
        }
        if !from.supports.is_empty() {
            validate::length("supports of trees", trees, from.supports.len())?;
        }
        for (tree, island) in from.islands.iter().enumerate() {
            let Some(island) = *island else {
                continue;
            };
            // An island is named by its first tree.
            let named = island <= tree && from.islands[island] == Some(island);
            let rule = "must be the first tree of an island that sleeps";
            validate::unless(named, "island", island as f64, rule)?;
            (self.asleep[tree], self.islands[tree]) = (true, island);
        }
        self.recount();
        if self.count() == 0 {
            self.quiet.clone_from(&from.quiet);
            return Ok(());
        }
        validate::positive("length of steps at rest", &[from.dt])?;
        validate::length("velocities from rest", dof, from.free.len())?;
        validate::finite("velocities from rest", &from.free)?;
        let sleeps = |tree: usize| self.asleep.get(tree).copied().unwrap_or(false);
        for (number, row) in from.rows.iter().enumerate() {
            let of = row.row().filter(|row| row.trees().all(sleeps));
            let rule = "must have a law, and trees that sleep";
            validate::unless(of.is_some(), "row at rest", number as f64, rule)?;
            validate::finite("row at rest", &[row.target, row.impulse])?;
            self.kept.rows.extend(of);
        }
        for of in &from.contacts {
            let rule = "must be of a tree that sleeps";
            validate::unless(sleeps(of.tree), "contact at rest", of.number as f64, rule)?;
            let (number, tree) = (of.number, of.tree);
            self.contacts.push(RestContact { number, tree });
        }
        self.dt = from.dt;
        self.kept.free.clone_from(&from.free);
        self.quiet.clone_from(&from.quiet);
        Ok(())
    }
}

impl Core {
    /// Takes over who sleeps from a checkpoint, where it is certain that what holds them is the same.
    pub(in crate::compliant::stepping) fn take_sleepers(
        &mut self,
        system: &dyn SteppedSystem,
        from: Option<&Sleeping>,
    ) -> Result<(), InputError> {
        let Some(from) = from else {
            return Ok(());
        };
        let given = system;
        let system = &self.measured(given)?;
        validate::length("times at rest", system.trees(), from.quiet.len())?;
        self.sleepers.take(from, self.v.len())?;
        let asleep = self.sleepers.asleep().iter().enumerate();
        for (tree, _) in asleep.filter(|(_, asleep)| **asleep) {
            let own = system.tree(tree);
            let speed = largest(&self.v[own.clone()]);
            let rule = "must be zero for a tree that sleeps";
            validate::unless(speed == 0.0, "v", speed, rule)?;
        }
        self.wake_unless_held(given, &from.supports);
        Ok(())
    }
}
