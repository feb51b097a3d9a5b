//! The start of a run: settings, sizes and contacts are looked at, and terms.
//!
//! Of terms also where they, or the system, may have changed: nothing holds a body that was removed, and
//! bodies of a joint do not stand apart.

use std::sync::Arc;

use super::model::{StepState, SteppedSystem};
use super::state::{Core, Once, Telling, sort_pressing};
use super::statistics::{StepStatistics, StepTimes};
use crate::compliant::welds::Welds;
use crate::compliant::{Deviation, Problem};
use crate::linalg::cholesky;
use crate::mechanics::configuration::{check_configuration, check_input, rate};
use crate::mechanics::contact::frames::check_start_frames;
use crate::mechanics::measured::Sizes;
use crate::mechanics::trees::check_trees;
use crate::mechanics::{ContactSet, Measured, MechanicalSystem, TreeBody};
use crate::{Doubt, InputError, validate};

/// Way of a body by the terms of one step, by its size, from which it is said that they moved it far.
const FAR: f64 = 0.1;

impl Core {
    /// Starts at a state; refuses what no run has.
    pub(super) fn start(
        &mut self,
        system: &dyn SteppedSystem,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<(), InputError> {
        self.t = f64::NAN;
        self.sizes = Arc::new(Sizes::by_trees(system)?);
        self.sizes.check_free("Compliant")?;
        let system = &Measured::with(system, &self.sizes);
        check_trees(system, system.dof())?;
        check_input(system.coordinates(), system.dof(), t, q, v)?;
        check_configuration(system, q, v)?;
        self.check()?;
        self.check_terms(system)?;
        self.take_interrupt();
        self.q.clear();
        self.q.extend_from_slice(q);
        system.project_configuration(&mut self.q);
        validate::finite("q", &self.q)?;
        self.v.clear();
        self.v.extend_from_slice(v);
        self.next_q.clear();
        self.next_q.extend_from_slice(q);
        self.statistics = StepStatistics::default();
        self.once = Once::default();
        self.sleepers.wake_anew(0);
        self.blow.clear();
        // Contacts and impulses of before do not belong together.
        self.solver.forget();
        self.problem
            .reset(self.settings.dt, self.settings.softness)?;
        self.times = StepTimes::default();
        self.motion.prepare(system, q);
        self.check_contacts(system)?;
        self.list_at_start(system)?;
        let touching = self
            .contacts
            .all_parameters()
            .iter()
            .filter(|c| c.gap <= 0.0);
        self.pressing.clear();
        self.pressing.extend(touching.map(|c| c.contact));
        sort_pressing(&mut self.pressing);
        self.check_axes(system)?;
        self.t = t;
        let checked = self.check_held(system);
        if checked.is_err() {
            self.t = f64::NAN;
        }
        checked
    }

    /// Refuses terms that do not fit the system, and welds that close a loop and contradict each other.
    pub(super) fn check_terms(&self, system: &dyn SteppedSystem) -> Result<(), InputError> {
        let mut welds = Welds::new(system.trees());
        for (i, term) in self.settings.terms.iter().enumerate() {
            term.check(system.coordinates(), system.dof())
                .map_err(validate::counted_from(i))?;
            if let Some(pair) = term.rigid_pair() {
                welds.add(i, &pair)?;
            }
        }
        Ok(())
    }

    /// Looks at all contacts, near or far, before a run starts: what this driver does not take is
    /// refused here, and not where a body comes near it.
    fn check_contacts(&mut self, system: &dyn SteppedSystem) -> Result<(), InputError> {
        let count = system.contact_count();
        self.numbered = count.unwrap_or(0);
        let Some(count) = count else {
            return Ok(());
        };
        validate::at_most("contacts", count)?;
        let all: Vec<usize> = (0..count).collect();
        let set = ContactSet::Listed(&all);
        self.settings
            .fill(system, &self.q, &self.v, set, &mut self.contacts)?;
        check_start_frames(system, &self.q, &self.contacts)
    }

    /// The rows of terms in a step that starts here.
    fn rows_of_terms(&self, system: &dyn SteppedSystem) -> Result<Problem, InputError> {
        let system = &self.measured(system)?;
        let (t, q, v) = (self.t, &self.q[..], &self.v[..]);
        let mut problem = Problem::new(self.settings.dt)?;
        let mut mass = Vec::new();
        for i in 0..system.trees() {
            let own = system.tree(i);
            mass.clear();
            mass.resize(own.len() * own.len(), 0.0);
            system.tree_mass(i, q, &mut mass);
            problem.add_tree(&mass, &v[own])?;
        }
        let dt = self.settings.dt;
        let state = StepState { t, dt, q, v };
        for term in &self.settings.terms {
            term.add(&state, &mut problem)?;
            problem.end_term();
        }
        Ok(problem)
    }

    /// The first term that acts on a tree in a step that starts here.
    pub(super) fn term_on(
        &self,
        system: &dyn SteppedSystem,
        tree: usize,
    ) -> Result<Option<usize>, InputError> {
        let held = self
            .rows_of_terms(system)?
            .first_held(|asked| asked == tree);
        Ok(held.map(|held| held.term))
    }

    /// Refuses terms on bodies that were removed, at the start.
    fn check_held(&self, system: &dyn SteppedSystem) -> Result<(), InputError> {
        let gone = |tree| system.body_of_tree(tree).is_some_and(|of| !of.is_there);
        if self.settings.terms.is_empty() || !(0..system.trees()).any(gone) {
            return Ok(());
        }
        refuse_gone(system, &self.rows_of_terms(system)?)
    }

    /// Refuses axes by numbers whose velocity is not the rate of their coordinate, `N(q) e_v ≠ e_q` in that entry.
    pub(super) fn check_axes(&self, system: &dyn SteppedSystem) -> Result<(), InputError> {
        let mut found = Ok(());
        let mut v = vec![0.0; self.v.len()];
        let mut rates = vec![0.0; self.q.len()];
        for (i, term) in self.settings.terms.iter().enumerate() {
            term.axes(&mut |axis| {
                let Some(numbers) = axis.numbers().filter(|_| found.is_ok()) else {
                    return;
                };
                // a term of the user may not have checked it
                found = axis.check(rates.len(), v.len());
                if found.is_err() {
                    return;
                }
                v[numbers.velocity] = 1.0;
                rate(system, &self.q, &v, &mut rates);
                v[numbers.velocity] = 0.0;
                let rule = "is not the velocity of its coordinate: of a body of a scene turns come before moves (Axis::new)";
                let is_rate = (rates[numbers.coordinate] - 1.0).abs() < 1e-9;
                let number = numbers.velocity as f64;
                found = validate::unless(is_rate, "velocity of an axis", number, rule)
                    .map_err(validate::counted_from(i));
            });
        }
        found
    }

    /// Looks at the terms in the step that was solved, where they or the system may have changed since the last.
    pub(super) fn look_at_terms(
        &mut self,
        system: &dyn SteppedSystem,
        dt: f64,
    ) -> Result<(), InputError> {
        if self.once.terms {
            self.look_for_apart(system);
            return Ok(());
        }
        refuse_gone(system, &self.problem)?;
        if matches!(self.once.apart, Telling::Open) {
            self.look_for_moved(system, dt);
        }
        Ok(())
    }

    /// Notes the joint whose bodies stand farthest apart by the larger of their sizes, where that is far: since each
    /// step takes its forces in the directions of its start, steps that are long for a load on light bodies
    /// throw them out ever more.
    fn look_for_apart(&mut self, system: &dyn SteppedSystem) {
        if !matches!(self.once.apart, Telling::Open) {
            return;
        }
        let mut most = FAR;
        for row in &self.problem.rows {
            // Most deviations are far below all sizes: these are not asked for.
            if row.is_asleep || row.apart.way == 0.0 && row.apart.turn <= most {
                continue;
            }
            let bodies = row
                .links
                .iter()
                .filter_map(|link| system.body_of_tree(link.tree));
            let Some(body) = bodies.max_by(|a, b| a.size.total_cmp(&b.size)) else {
                continue;
            };
            if let Some(doubt) = farther(&mut most, &body, row.apart, self.t) {
                self.once.apart = Telling::Due(doubt);
            }
        }
    }

    /// Notes the body that the terms of this step moved farthest by its size, where that is far: bodies of a joint that
    /// stood apart are drawn together in one step or two, with any speed that takes.
    fn look_for_moved(&mut self, system: &dyn SteppedSystem, dt: f64) {
        let impulses = self.solver.solution().row_impulses();
        let (problem, change) = (&self.problem, &mut self.next_v);
        change.clear();
        change.resize(problem.dof(), 0.0);
        problem.add_momentum_of_rows(impulses, change);
        let mut most = FAR;
        for tree in 0..problem.trees() {
            let change = &mut change[system.tree(tree)];
            let Some(body) = system
                .body_of_tree(tree)
                .filter(|_| change.iter().any(|p| *p != 0.0))
            else {
                continue;
            };
            let Ok(mut block) = <[f64; 36]>::try_from(problem.inertia_of(tree)) else {
                continue;
            };
            if cholesky::factor(&mut block, 6).is_none() {
                continue;
            }
            cholesky::solve(&block, 6, change);
            let norm = |of: &[f64]| of.iter().map(|x| x * x).sum::<f64>().sqrt();
            let (turn, way) = (dt * norm(&change[..3]), dt * norm(&change[3..]));
            let moved = Deviation { way, turn };
            if let Some(doubt) = farther(&mut most, &body, moved, self.t) {
                self.once.apart = Telling::Due(doubt);
            }
        }
    }
}

/// The doubt of a body that is moved or stands apart farther than the farthest so far, by its size.
fn farther(most: &mut f64, body: &TreeBody, of: Deviation, t: f64) -> Option<Doubt> {
    let Deviation { way, turn } = of;
    let share = way / body.size + turn;
    (share > *most).then(|| {
        *most = share;
        let body = body.number;
        Doubt::Apart { body, t, way, turn }
    })
}

/// Refuses terms on bodies that were removed: they would be held by a ghost with its mass.
fn refuse_gone(system: &dyn SteppedSystem, problem: &Problem) -> Result<(), InputError> {
    let body = |tree| system.body_of_tree(tree).filter(|of| !of.is_there);
    let held = problem.first_held(|tree| body(tree).is_some());
    match held.and_then(|held| Some((held.term, body(held.tree)?.number))) {
        Some((term, body)) => Err(InputError::BodyGone { body, term }),
        None => Ok(()),
    }
}
