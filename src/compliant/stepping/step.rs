//! One step, in three stages: the motion without contacts, the contact problem, and what it leaves.
//! Contacts are those that the velocities of the step can close. Which velocities a step ends with is
//! known once it is solved, and a body that was struck may reach others; by Coulomb's law these are then
//! listed too and the step is solved again. At the end every contact that presses is in the list, so
//! that the step does not depend on the rule of listing. The other laws keep their one problem a step.
//!
//! Rows are those of the start of a step. Along them surfaces close that pass beside an edge or a round face on
//! their way ([`ContactSource::meets`](crate::mechanics::ContactSource::meets)): bodies would be braked in the air.
//! Contacts that were apart, press, and do not meet by the velocities of the start are left out, and the step is
//! solved again. If by the velocities of that solution they meet after all, they come back: at most eight times.

use std::time::Instant;

use super::model::{StepState, SteppedSystem};
use super::motion::StepStart;
use super::state::{Core, Known, Ordered, Seen, sort_pressing};
use crate::compliant::blow::Parts;
use crate::compliant::failure::CompliantFailure;
use crate::mechanics::{Contacts, Passage};
use crate::validate;

/// Limit of the lists of a step: after a blow has gone on through so many gaps, the next step goes on with
/// it.
const LISTS: usize = 8;

/// Limit of the problems of a step that pairs which pass each other make.
const ROUNDS: usize = 8;

/// Surfaces count as apart that lie no deeper on each other than this part of the smaller body, if they close by
/// more.
const APART: f64 = 1e-3;

/// The part of that by which the gap of surfaces that lie deeper changes in a step, from which on they are asked
/// whether another surface bears them.
const TURNS: f64 = 0.02;

/// Limit of the problems of a step by which forces learn of the velocities that contacts and joints leave. Most end
/// after three; those of a thin bar that turns by a tenth in a step take twenty.
const BALANCES: usize = 40;

/// Forces are known to this part of what the solver leaves.
const FORCES_KNOWN: f64 = 1e-2;

/// Changes below this part of the velocities are rounding.
const RESOLVED: f64 = 4.0 * f64::EPSILON;

/// Limit of the problems of a step by which the loads of joints and the inertia that they add are found.
const LOADS: usize = 4;

/// Places are rounded to so many last places of the largest coordinate, or of one: gaps and rows are sums of a few
/// products.
const ROUNDED: f64 = 256.0;

/// Part of the least margin to which end velocities may differ from what was listed for.
const TOLERATED: f64 = 0.05;

impl Core {
    /// Makes a step.
    pub(super) fn step(
        &mut self,
        system: &dyn SteppedSystem,
        dt: f64,
        applied: &[f64],
    ) -> Result<(), CompliantFailure> {
        let system = &self.measured(system)?;
        // They may have been set since the start.
        self.check()?;
        self.begin_step(system);
        let ordered = Ordered {
            system,
            dt,
            applied,
        };
        let made = self.solve(ordered).and_then(|()| self.advance(ordered));
        if made.is_ok() {
            self.drowse(ordered);
            self.take_over(ordered);
        }
        self.end_step(&made);
        made
    }

    /// Begins a step; its memory is rebuilt where the system panicked in the last one.
    pub(super) fn begin_step(&mut self, system: &dyn SteppedSystem) {
        self.blow.clear();
        self.passing.clear();
        self.solver.settings.is_repeated = false;
        if std::mem::replace(&mut self.is_stepping, true) {
            self.motion.prepare(system, &self.q);
            self.sleepers.take_back();
        }
        let may_sleep = self.settings.sleep.is_some();
        self.sleepers.fit(may_sleep, system.trees());
        self.sleepers.begin();
    }

    /// Ends a step; where it was not made, who slept before sleeps.
    pub(super) fn end_step(&mut self, made: &Result<(), CompliantFailure>) {
        self.is_stepping = false;
        if made.is_err() {
            self.sleepers.take_back();
        }
    }

    /// The first two stages of a step: its velocities.
    pub(super) fn solve(&mut self, step: Ordered<'_>) -> Result<(), CompliantFailure> {
        let Ordered {
            system,
            dt,
            applied,
        } = step;
        self.solver.settings.interrupt.check()?;
        let began = Instant::now();
        let start = StepStart {
            t: self.t,
            q: &self.q,
            v: &self.v,
            dt,
            scheme: self.settings.scheme,
            closed: &self.pressing,
            applied,
            asleep: self.sleepers.asleep_for(dt),
        };
        let found = self.motion.solve(system, &start);
        let checked = self.motion.check();
        if found.is_err() || checked.is_err() {
            let model = self.motion.model_fault(system, &start);
            model.map_err(|reason| self.model_failure(reason))?;
        }
        if let Err(not_found) = found {
            return Err(CompliantFailure::FreeMotion {
                t: self.t,
                iterations: not_found.iterations,
                correction: not_found.correction,
                state: self.state(),
            });
        }
        checked.map_err(|reason| self.model_failure(reason))?;
        self.wake_by_forces(system, dt);
        self.times.motion += began.elapsed();
        if let Err(failure) = self.find_velocities(step) {
            // What was solved before belongs to other contacts.
            self.solver.forget();
            return Err(failure);
        }
        let looked = self.look_at_terms(system, dt);
        looked.map_err(|reason| self.model_failure(reason))?;
        let began = Instant::now();
        self.rebound()?;
        self.keep_impulses();
        self.times.solve += began.elapsed();
        self.count();
        self.check_convergence()
    }

    /// Stage 3: the coordinates at the end of the step, and which contacts press.
    pub(super) fn advance(&mut self, step: Ordered<'_>) -> Result<(), CompliantFailure> {
        let Ordered {
            system,
            dt,
            applied,
        } = step;
        let began = Instant::now();
        let solution = self.solver.solution();
        let start = StepStart {
            t: self.t,
            q: &self.q,
            v: &self.v,
            dt,
            scheme: self.settings.scheme,
            closed: &[],
            applied,
            asleep: &[],
        };
        self.motion
            .advance(system, &start, solution.v(), &mut self.next_q);
        let finite = validate::finite("coordinates", &self.next_q);
        finite.map_err(|reason| self.model_failure(reason))?;
        let solution = self.blow.last_of(&self.solver);
        self.next_pressing.clear();
        let contacts = self.contacts.all_parameters().iter();
        let pressing = contacts
            .zip(solution.impulses())
            .filter(|(_, p)| p[0] > 0.0);
        self.next_pressing.extend(
            pressing
                .map(|(c, _)| c.contact)
                .chain(self.sleepers.pressing()),
        );
        sort_pressing(&mut self.next_pressing);
        self.times.motion += began.elapsed();
        Ok(())
    }

    /// Takes over the state at the end of the step.
    pub(super) fn take_over(&mut self, step: Ordered<'_>) {
        std::mem::swap(&mut self.q, &mut self.next_q);
        let solution = self.blow.last_of(&self.solver);
        self.v.copy_from_slice(solution.v());
        std::mem::swap(&mut self.pressing, &mut self.next_pressing);
        self.sleepers.end(step.applied);
        self.lay_to_sleep(step.system, step.dt);
        self.t += step.dt;
        self.once.terms = true;
    }

    /// Stage 2: the velocities with contacts.
    fn find_velocities(&mut self, step: Ordered<'_>) -> Result<(), CompliantFailure> {
        let Ordered { system, dt, .. } = step;
        let mut began = Instant::now();
        self.list_contacts(system, dt, Known::Free)
            .map_err(|reason| self.model_failure(reason))?;
        for list in 1.. {
            let found = Instant::now();
            self.times.geometry += found - began;
            self.build_and_solve(step, list == 1)?;
            if list == 1 {
                self.stiffen(step)?;
            }
            self.balance(step)?;
            let closes_within_steps = self.settings.closes_within_steps();
            if closes_within_steps {
                let known = if list == 1 { Known::Free } else { Known::End };
                self.let_pass(step, known)?;
            }
            began = Instant::now();
            let is_open = closes_within_steps && self.strays(system, dt);
            if list == LISTS || !is_open {
                break;
            }
            std::mem::swap(&mut self.contacts, &mut self.listed);
            self.list_contacts(system, dt, Known::End)
                .map_err(|reason| self.model_failure(reason))?;
            if self.pressing_at_end(&self.contacts, dt) == self.pressing_at_end(&self.listed, dt)
                && !self.closes_on_sleepers(dt)
            {
                std::mem::swap(&mut self.contacts, &mut self.listed);
                self.times.geometry += began.elapsed();
                break;
            }
        }
        Ok(())
    }

    /// Leaves out the contacts that pass each other in the step that was solved, and solves it again.
    fn let_pass(&mut self, step: Ordered<'_>, known: Known) -> Result<(), CompliantFailure> {
        let Ordered { system, dt, .. } = step;
        for round in 1.. {
            if !self.find_passing(system, dt)? {
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
            self.build_and_solve(step, false)?;
            self.balance(step)?;
        }
        Ok(())
    }

    /// Looks which contacts of the solution pass; true where others do than before.
    fn find_passing(
        &mut self,
        system: &dyn SteppedSystem,
        dt: f64,
    ) -> Result<bool, CompliantFailure> {
        let interrupt = &self.solver.settings.interrupt;
        let solution = self.solver.solution();
        let way = |v, is_solved| Passage {
            q: &self.q,
            v,
            dt,
            contacts: &self.contacts,
            is_solved,
        };
        let (mut changed, seen) = (false, &mut self.passing.0);
        for seen in seen.iter_mut().filter(|seen| seen.passes) {
            interrupt.check()?;
            seen.passes = !system.meets(seen.contact, &way(solution.v(), true));
            changed |= !seen.passes;
        }
        let contacts = self.contacts.all_parameters().iter();
        for (i, (of, impulse)) in contacts.zip(solution.impulses()).enumerate() {
            if impulse[0] <= 0.0 {
                continue;
            }
            let depth = of.size.map_or(0.0, |size| APART * size);
            // Bodies at rest are not asked where they go. Those that lie deep are where their way turns, as that of
            // a ball over a seam.
            let approach = -dt * self.contacts.velocity(i, &self.v)[0];
            let moves = if of.gap > 0.0 {
                approach > of.gap.max(APART * depth)
            } else {
                of.size.is_some() && approach.abs() > TURNS * depth
            };
            if !moves {
                continue;
            }
            let pair = system.pair(of.contact);
            if seen.iter().any(|seen| seen.pair == pair) {
                continue;
            }
            interrupt.check()?;
            let passes = !system.meets(of.contact, &way(&self.v, false));
            changed |= passes;
            seen.push(Seen {
                pair,
                contact: of.contact,
                passes,
            });
        }
        Ok(changed)
    }

    /// Takes the geometric stiffness of loads of joints into the inertia where the step is too long without it, and
    /// solves the step again: another inertia makes other loads, by less each time.
    fn stiffen(&mut self, step: Ordered<'_>) -> Result<(), CompliantFailure> {
        let system = step.system;
        // Turns have to move on by the velocities that are sought.
        if self.settings.scheme.velocity_weight() < 1.0 {
            return Ok(());
        }
        for _ in 0..LOADS {
            let impulses = self.solver.solution().row_impulses();
            if !self
                .motion
                .stiffen(system, &self.problem, impulses, &self.v)
            {
                break;
            }
            self.build_and_solve(step, false)?;
        }
        Ok(())
    }

    /// Solves the step again with forces at the velocities of its solution, until these change by less than
    /// a hundredth of the tolerance of the solver: at most forty times.
    pub(super) fn balance(&mut self, step: Ordered<'_>) -> Result<(), CompliantFailure> {
        let least = (FORCES_KNOWN * self.solver.settings.rtol).max(RESOLVED);
        self.motion.begin_balance();
        for _ in 0..BALANCES {
            let start = StepStart {
                t: self.t,
                q: &self.q,
                v: &self.v,
                dt: step.dt,
                scheme: self.settings.scheme,
                closed: &self.pressing,
                applied: step.applied,
                asleep: self.sleepers.asleep_for(step.dt),
            };
            let began = Instant::now();
            let v = self.solver.solution().v();
            let change = self.motion.balance(step.system, &start, v, least);
            self.times.motion += began.elapsed();
            if change == 0.0 {
                return Ok(());
            }
            self.statistics.add_iterations(self.solver.solution());
            self.solver.settings.is_repeated = true;
            let solved = self.build_and_solve(step, false);
            self.solver.settings.is_repeated = false;
            solved?;
        }
        self.motion.leave_balance();
        Ok(())
    }

    /// The problem of the contacts that are listed, and its solution: from the velocities of the
    /// start, or from those that were found before.
    pub(super) fn build_and_solve(
        &mut self,
        step: Ordered<'_>,
        is_first: bool,
    ) -> Result<(), CompliantFailure> {
        let Ordered { system, dt, .. } = step;
        let began = Instant::now();
        let known = if is_first { Known::Free } else { Known::End };
        // Each round wakes an island.
        while self.wake_by_contacts(system) || self.build(system, dt)? {
            self.list_contacts(system, dt, known)
                .map_err(|reason| self.model_failure(reason))?;
        }
        let built = Instant::now();
        if !is_first {
            self.next_v.clear();
            self.next_v.extend_from_slice(self.solver.solution().v());
        }
        let farthest = self.q.iter().fold(1.0f64, |most, q| most.max(q.abs()));
        self.solver.settings.rest_speed = ROUNDED * f64::EPSILON * farthest / dt;
        let guess = if is_first { &self.v } else { &self.next_v };
        if let Err(failure) = self.solver.solve(&self.problem, guess) {
            return Err(match failure {
                CompliantFailure::Input(reason) => self.model_failure(reason),
                failure => failure,
            });
        }
        self.times.build += built - began;
        self.times.solve += built.elapsed();
        Ok(())
    }

    /// The problem of the contacts that are listed; true where an island woke.
    fn build(&mut self, system: &dyn SteppedSystem, dt: f64) -> Result<bool, CompliantFailure> {
        let state = StepState {
            t: self.t,
            dt,
            q: &self.q,
            v: &self.v,
        };
        let (motion, contacts, problem) = (&self.motion, &self.contacts, &mut self.problem);
        let built = self
            .settings
            .build(system, motion, contacts, &state, problem);
        built.map_err(|reason| self.model_failure(reason))?;
        Ok(self.wake_by_rows(system))
    }

    /// Makes the blow of the step that was solved, where it has one.
    pub(super) fn rebound(&mut self) -> Result<(), CompliantFailure> {
        let first = Parts {
            problem: &self.problem,
            solver: &self.solver,
            start: &self.v,
        };
        self.blow.find(first, self.settings.slowest_rebound);
        if !self.blow.is_struck() {
            return Ok(());
        }
        let struck = self.blow.strike(first);
        struck.map_err(|failure| match failure {
            CompliantFailure::Input(reason) => self.model_failure(reason),
            failure => failure,
        })
    }

    /// The number of contacts that the velocities of the solution press together.
    fn pressing_at_end(&self, contacts: &Contacts, dt: f64) -> usize {
        let end = self.solver.solution().v();
        let pressing = contacts.all_parameters().iter().enumerate();
        let pressing = pressing.filter(|(i, of)| of.gap + dt * contacts.velocity(*i, end)[0] < 0.0);
        pressing.count()
    }

    /// True where a tree ends the step with velocities that may close a contact which those of the
    /// start and those without contacts do not: they lie off the line between the two by more than a
    /// small part of the least margin in a step.
    fn strays(&self, system: &dyn SteppedSystem, dt: f64) -> bool {
        let end = self.solver.solution().v();
        (0..self.motion.places.len()).any(|tree| {
            let own = system.tree(tree);
            let (start, free) = (&self.v[own.clone()], &self.motion.v_alone()[own.clone()]);
            let (mut along, mut square) = (0.0, 0.0);
            for ((end, start), free) in end[own.clone()].iter().zip(start).zip(free) {
                along += (end - start) * (free - start);
                square += (free - start) * (free - start);
            }
            let part = if square > 0.0 {
                (along / square).clamp(0.0, 1.0)
            } else {
                0.0
            };
            let mut off = 0.0;
            for ((end, start), free) in end[own].iter().zip(start).zip(free) {
                off += (end - start - part * (free - start)).abs();
            }
            off * dt > TOLERATED * self.settings.least_margin
        })
    }
}
