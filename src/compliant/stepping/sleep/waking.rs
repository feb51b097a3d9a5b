//! The islands that wake in a step, before it is solved.

use super::at_rest::{collect_rows, compare_rows, same_velocities};
use crate::compliant::stepping::model::SteppedSystem;
use crate::compliant::stepping::state::Core;

impl Core {
    /// Wakes the islands on which other forces act than when they fell asleep, and takes the velocities
    /// without contacts from those that sleep.
    pub(in crate::compliant::stepping) fn wake_by_forces(
        &mut self,
        system: &dyn SteppedSystem,
        dt: f64,
    ) {
        let speed = self.sleeping_speed();
        let sleepers = &mut self.sleepers;
        if sleepers.count() == 0 {
            return;
        }
        if dt.to_bits() != sleepers.dt.to_bits() {
            // Softness and targets contain the length of the step: what acted then says nothing now.
            sleepers.wake_all();
            return;
        }
        for tree in 0..sleepers.asleep.len() {
            let own = system.tree(tree);
            let (kept, now) = (&sleepers.kept.free, &self.motion.v);
            if sleepers.asleep[tree] && !same_velocities(&kept[own.clone()], &now[own], speed) {
                sleepers.wake(tree);
            }
        }
        sleepers.free.clone_from(&self.motion.v);
        self.still_sleepers(system);
    }

    fn sleeping_speed(&self) -> f64 {
        self.settings.sleep.map_or(0.0, |rule| rule.speed)
    }

    /// Velocities without contacts: zero for those that sleep, and of those that woke what they would
    /// have been.
    fn still_sleepers(&mut self, system: &dyn SteppedSystem) {
        self.motion.v.copy_from_slice(&self.sleepers.free);
        self.motion.forget_balance();
        for (tree, asleep) in self.sleepers.asleep.iter().enumerate() {
            if *asleep {
                self.motion.v[system.tree(tree)].fill(0.0);
            }
        }
    }

    /// Wakes islands with a listed contact with a tree that is awake; true where one was.
    pub(in crate::compliant::stepping) fn wake_by_contacts(
        &mut self,
        system: &dyn SteppedSystem,
    ) -> bool {
        let (contacts, sleepers) = (&self.contacts, &mut self.sleepers);
        if sleepers.count() == 0 {
            return false;
        }
        let mut woke = false;
        for contact in 0..contacts.len() {
            // One of its trees is awake, or it would not be listed.
            for block in contacts.blocks(contact).filter(|block| block.width > 0) {
                woke |= sleepers.wake(block.tree);
            }
        }
        if woke {
            self.still_sleepers(system);
        }
        woke
    }

    /// True where the last list has a contact that closes between a tree that sleeps and one that is
    /// awake.
    pub(in crate::compliant::stepping) fn closes_on_sleepers(&self, dt: f64) -> bool {
        let asleep = self.sleepers.asleep();
        if asleep.is_empty() {
            return false;
        }
        let end = self.solver.solution().v();
        let mut contacts = self.contacts.all_parameters().iter().enumerate();
        contacts.any(|(i, of)| {
            let mut blocks = self.contacts.blocks(i);
            let sleeps = blocks.any(|block| asleep.get(block.tree).copied().unwrap_or(false));
            sleeps && of.gap + dt * self.contacts.velocity(i, end)[0] < 0.0
        })
    }

    /// Wakes islands of which a row has another law than when they fell asleep, those that a row joins
    /// with a tree that is awake, and those with a contact of a term; true where one was.
    /// Where none is, the rows of those that sleep are left out
    /// of the problem that was built.
    pub(in crate::compliant::stepping) fn wake_by_rows(
        &mut self,
        system: &dyn SteppedSystem,
    ) -> bool {
        let speed = self.sleeping_speed();
        let (problem, sleepers) = (&mut self.problem, &mut self.sleepers);
        if sleepers.count() == 0 {
            return false;
        }
        let asleep = &sleepers.asleep;
        let find = &mut sleepers.find;
        find.marked.clear();
        for row in &problem.rows {
            let (first, second) = (row.links.first.tree, row.links.second);
            let others = second.map_or(asleep[first], |link| asleep[link.tree]);
            if asleep[first] != others {
                find.marked
                    .extend([first, second.map_or(first, |link| link.tree)]);
            }
        }
        for contact in problem.contacts_of_terms(self.contacts.len()) {
            let links = contact.links;
            find.marked.extend(links.iter().map(|link| link.tree));
        }
        let is_still = |tree: usize| asleep[tree];
        collect_rows(problem, &[], is_still, &mut find.rows);
        compare_rows(&sleepers.kept.rows, &find.rows, speed, is_still, |tree| {
            find.marked.push(tree);
        });
        let marked = std::mem::take(&mut find.marked);
        let mut woke = false;
        for tree in &marked {
            woke |= sleepers.wake(*tree);
        }
        sleepers.find.marked = marked;
        if woke {
            self.still_sleepers(system);
        } else {
            let asleep = &sleepers.asleep;
            for row in &mut problem.rows {
                row.is_asleep = asleep[row.links.first.tree];
            }
        }
        woke
    }

    /// Gives the rows of those that sleep the impulses that they fell asleep with.
    pub(in crate::compliant::stepping) fn keep_impulses(&mut self) {
        let sleepers = &self.sleepers;
        if sleepers.count() == 0 {
            return;
        }
        let blow = self.blow.is_struck().then_some(&mut self.blow.solver);
        for solver in blow.into_iter().chain([&mut self.solver]) {
            let asleep = self.problem.rows.iter().map(|row| row.is_asleep);
            let impulses = solver.solution.row_impulses.iter_mut().zip(asleep);
            let left_out = impulses.filter(|(_, asleep)| *asleep);
            let kept = sleepers.kept.rows.iter();
            let kept = kept.filter(|row| sleepers.asleep[row.first]);
            for ((impulse, _), kept) in left_out.zip(kept) {
                *impulse = kept.impulse;
            }
        }
    }
}
