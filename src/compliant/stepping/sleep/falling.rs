//! The islands that fall asleep at the end of a step.

use super::at_rest::{collect_rows, compare_rows, same_velocities};
use super::sleepers::{Acting, RestContact};
use crate::compliant::Sleep;
use crate::compliant::newton::graph::ALONE;
use crate::compliant::stepping::model::{StepState, SteppedSystem};
use crate::compliant::stepping::motion::StepStart;
use crate::compliant::stepping::state::{Core, Ordered};

/// Part of the change that a step makes without contacts and terms, below which a tree is held.
const HELD: f64 = 1e-2;

/// Part of the speed of sleep that a step may change velocities by.
const JITTER: f64 = 1e-3;

impl Core {
    /// Finds the islands that fall asleep at the end of a step that has been solved. Nothing but memory
    /// changes: the step may yet be refused.
    pub(in crate::compliant::stepping) fn drowse(&mut self, step: Ordered<'_>) {
        let Some(rule) = self.settings.sleep else {
            return;
        };
        self.count_quiet(step, rule);
        // Half a step, so that no rounding of sums decides.
        let least = rule.time - 0.5 * step.dt;
        let is_ripe = |quiet: f64| quiet > 0.0 && quiet >= least;
        let sleepers = &mut self.sleepers;
        if !sleepers.next_quiet.iter().any(|quiet| is_ripe(*quiet)) {
            return;
        }
        let islands = &mut sleepers.find.islands;
        islands.find(&self.problem, false);
        sleepers.falling.clear();
        sleepers.falling.resize(sleepers.asleep.len(), false);
        for island in 0..islands.len() {
            let trees = islands.trees(island);
            if trees.iter().all(|tree| is_ripe(sleepers.next_quiet[*tree])) {
                for tree in trees {
                    sleepers.falling[*tree] = true;
                }
            }
        }
        self.keep_awake_what_floats();
        if !self.sleepers.falls() {
            return;
        }
        if self.examine(step, rule).is_none() {
            // The step will say what is wrong.
            self.sleepers.falling.fill(false);
        }
    }

    /// Counts the time for which trees have been at rest.
    fn count_quiet(&mut self, step: Ordered<'_>, rule: Sleep) {
        let end = self.blow.last_of(&self.solver).v();
        let sleepers = &mut self.sleepers;
        sleepers.next_quiet.clear();
        for (tree, asleep) in sleepers.asleep.iter().enumerate() {
            if *asleep {
                sleepers.next_quiet.push(0.0);
                continue;
            }
            let own = step.system.tree(tree);
            let applied = [step.applied, &sleepers.applied].map(|of| of.get(own.clone()));
            let (start, free) = (&self.v[own.clone()], &self.motion.v[own.clone()]);
            let end = &end[own];
            let speed = |v: &[f64]| step.system.tree_speed(tree, &self.next_q, v);
            let change = &mut sleepers.find.change;
            let mut changed = |to: &[f64]| {
                change.clear();
                change.extend(to.iter().zip(start).map(|(to, from)| to - from));
                speed(change)
            };
            // None is zero.
            let zero = |of: Option<&[f64]>| of.is_none_or(|of| of.iter().all(|f| *f == 0.0));
            let is_steady = applied[0] == applied[1] || applied.into_iter().all(zero);
            let is_still = is_steady
                && speed(end) < rule.speed
                && changed(end) <= (HELD * changed(free)).max(JITTER * rule.speed);
            sleepers.next_quiet.push(if is_still {
                sleepers.quiet[tree] + step.dt
            } else {
                0.0
            });
        }
    }

    /// Keeps those islands awake that nothing holds to the world: no contact that presses, and no row, of one
    /// tree alone. So are those with contacts of terms, of which no one knows whether they stay.
    fn keep_awake_what_floats(&mut self) {
        let solution = self.blow.last_of(&self.solver);
        let sleepers = &mut self.sleepers;
        let (islands, held) = (&sleepers.find.islands, &mut sleepers.find.marked);
        held.clear();
        held.resize(islands.len(), 0);
        let contacts = self.problem.contacts.iter().zip(solution.impulses());
        let pressing = contacts.filter(|(_, impulse)| impulse[0] > 0.0);
        let links = pressing.map(|(contact, _)| contact.links);
        for links in links.chain(self.problem.rows.iter().map(|row| row.links)) {
            let island = islands.of_tree[links.first.tree];
            if island != ALONE && links.second.is_none() {
                held[island] = 1;
            }
        }
        for contact in self.problem.contacts_of_terms(self.contacts.len()) {
            if let Some(held) = held.get_mut(islands.of_tree[contact.links.first.tree]) {
                *held = 0;
            }
        }
        for (tree, falls) in sleepers.falling.iter_mut().enumerate() {
            let island = islands.of_tree[tree];
            *falls &= island != ALONE && held[island] == 1;
        }
    }

    /// Asks what acts on those that fall asleep, at rest, in a step from the start of this one and in
    /// the next, and keeps those awake for which that is not the same. They have to be at rest anew.
    fn examine(&mut self, step: Ordered<'_>, rule: Sleep) -> Option<()> {
        let find = &mut self.sleepers.find;
        let (mut start, mut end) = (
            std::mem::take(&mut find.start),
            std::mem::take(&mut find.end),
        );
        let acted = self
            .act_at_rest(step, self.t, &mut start)
            .and_then(|()| self.act_at_rest(step, self.t + step.dt, &mut end));
        (self.sleepers.find.start, self.sleepers.find.end) = (start, end);
        acted?;
        let impulses = self.blow.last_of(&self.solver).row_impulses();
        let sleepers = &mut self.sleepers;
        let find = &mut sleepers.find;
        let (asleep, falling) = (&sleepers.asleep, &mut sleepers.falling);
        let is_still = |tree: usize| asleep[tree] || falling[tree];
        // With the impulses of the step.
        collect_rows(&self.problem, impulses, is_still, &mut find.rows);
        find.marked.clear();
        let (start, end) = (&find.start, &find.end);
        for (tree, _) in falling.iter().enumerate().filter(|(_, falls)| **falls) {
            let own = step.system.tree(tree);
            if !same_velocities(&start.free[own.clone()], &end.free[own], rule.speed) {
                find.marked.push(tree);
            }
        }
        compare_rows(&start.rows, &end.rows, rule.speed, is_still, |tree| {
            find.marked.push(tree);
        });
        let mut made = find.rows.iter();
        for row in &mut find.end.rows {
            match made.next().filter(|made| made.has_trees_of(row)) {
                Some(made) => row.impulse = made.impulse,
                // Rows came or went within the step.
                None => find.marked.extend(row.trees()),
            }
        }
        find.marked
            .extend(made.flat_map(super::at_rest::RestRow::trees));
        let of_tree = &find.islands.of_tree;
        for marked in &find.marked {
            let island = of_tree[*marked];
            for (tree, falls) in falling.iter_mut().enumerate() {
                if *falls && of_tree[tree] == island {
                    *falls = false;
                    sleepers.next_quiet[tree] = 0.0;
                }
            }
        }
        Some(())
    }

    /// Writes what acts, in a step from time `t` with the coordinates of the end of this one, on trees
    /// that sleep or fall asleep: the velocity of these is zero.
    fn act_at_rest(&mut self, step: Ordered<'_>, t: f64, acting: &mut Acting) -> Option<()> {
        let Ordered {
            system,
            dt,
            applied,
        } = step;
        let solution = self.blow.last_of(&self.solver);
        let sleepers = &mut self.sleepers;
        let mut v = std::mem::take(&mut sleepers.find.v);
        v.clear();
        v.extend_from_slice(solution.v());
        let (asleep, falling) = (&sleepers.asleep, &sleepers.falling);
        let is_still = |tree: usize| asleep[tree] || falling[tree];
        for tree in (0..asleep.len()).filter(|tree| is_still(*tree)) {
            v[system.tree(tree)].fill(0.0);
        }
        let start = StepStart {
            t,
            q: &self.next_q,
            v: &v,
            dt,
            scheme: self.settings.scheme,
            closed: &self.next_pressing,
            applied,
            asleep: &[],
        };
        let moved = self.motion.solve(system, &start).is_ok() && self.motion.check().is_ok();
        acting.free.clone_from(&self.motion.v);
        let state = StepState {
            t,
            dt,
            q: &self.next_q,
            v: &v,
        };
        let find = &mut sleepers.find;
        let problem = find.problem.get_or_insert_with(|| self.problem.clone());
        let built = self
            .settings
            .build(system, &self.motion, &find.none, &state, problem);
        if built.is_ok() {
            collect_rows(problem, &[], is_still, &mut acting.rows);
        }
        find.v = v;
        (moved && built.is_ok()).then_some(())
    }

    /// Lays to sleep those that fall asleep, at the end of the step of which the state is taken over.
    pub(in crate::compliant::stepping) fn lay_to_sleep(
        &mut self,
        system: &dyn SteppedSystem,
        dt: f64,
    ) {
        if !self.sleepers.falls() {
            return;
        }
        let solution = self.blow.last_of(&self.solver);
        let sleepers = &mut self.sleepers;
        let find = &mut sleepers.find;
        sleepers.dt = dt;
        sleepers.kept.free.resize(self.v.len(), 0.0);
        for (tree, _) in sleepers
            .falling
            .iter()
            .enumerate()
            .filter(|(_, falls)| **falls)
        {
            let own = system.tree(tree);
            self.v[own.clone()].fill(0.0);
            sleepers.kept.free[own.clone()].copy_from_slice(&find.end.free[own]);
            sleepers.asleep[tree] = true;
            sleepers.quiet[tree] = 0.0;
            sleepers.islands[tree] = find.islands.trees(find.islands.of_tree[tree])[0];
        }
        // The rows of all that sleep, in the order of terms.
        let asleep = &sleepers.asleep;
        sleepers.kept.rows.clear();
        let rows = find.end.rows.iter().filter(|row| asleep[row.first]);
        sleepers.kept.rows.extend(rows);
        let links = self.problem.contacts.iter().map(|contact| contact.links);
        let contacts = self.contacts.all_parameters().iter().zip(links);
        for ((of, links), impulse) in contacts.zip(solution.impulses()) {
            let tree = links.first.tree;
            if sleepers.falling[tree] && impulse[0] > 0.0 {
                let number = of.contact;
                sleepers.contacts.push(RestContact { number, tree });
            }
        }
        sleepers.falling.clear();
        sleepers.recount();
    }
}
