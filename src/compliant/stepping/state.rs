//! The driver without the type of the system: settings, state, and the contacts of a step.

use std::sync::Arc;

use super::columns::Columns;
use super::model::{StepState, StepTerm, SteppedSystem};
use super::motion::FreeMotion;
use super::scheme::Scheme;
use super::sleep::Sleepers;
use super::statistics::{StepStatistics, StepTimes};

use crate::compliant::blow::{Blow, check_restitution};
use crate::compliant::failure::CompliantFailure;
use crate::compliant::problem::check_slip;
use crate::compliant::{Problem, Sleep, Softness, Solver, StepFriction, StepSolution};
use crate::mechanics::measured::Sizes;
use crate::mechanics::{ContactSet, Contacts, Measured, Reach, Wanted};
use crate::record::Limits;
use crate::{Doubt, InputError, validate};

/// Settings of the driver.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) dt: f64,
    pub(super) scheme: Scheme,
    pub(super) softness: Softness,
    pub(super) least_margin: f64,
    pub(super) friction_law: StepFriction,
    pub(super) friction: bool,
    pub(super) inelastic: bool,
    /// Contacts that approach no faster give nothing back (m/s).
    pub(super) slowest_rebound: f64,
    /// None: nothing sleeps.
    pub(super) sleep: Option<Sleep>,
    pub(super) limits: Limits,
    /// The interrupt of the limits is to be looked at, not that of the solver.
    pub(super) is_interruptible: bool,
    pub(super) terms: Vec<Arc<dyn StepTerm + Send + Sync>>,
}

/// Checks and doubts that come once in a run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Once {
    /// A contact that lies too deep was told.
    pub(super) sunk: bool,
    /// A step was made with these terms and this system.
    pub(super) terms: bool,
    /// A body that terms moved far in such a step.
    pub(super) apart: Telling,
}

/// A doubt that is told once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Telling {
    /// Nothing was found yet.
    #[default]
    Open,
    Due(Doubt),
    Done,
}

/// A pair of surfaces ([`ContactSource::pair`](crate::mechanics::ContactSource::pair)) that was looked at in a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) pair: usize,
    /// One of its contacts.
    pub(super) contact: usize,
    /// They pass: their contacts are left out.
    pub(super) passes: bool,
}

/// The pairs that were looked at in a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Passing(pub(super) Vec<Seen>);

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

/// The driver without the type of the system: settings, state and memory.
#[derive(Clone)]
pub(super) struct Core {
    pub(super) settings: Settings,
    pub(super) solver: Solver,
    pub(super) t: f64,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) motion: FreeMotion,
    pub(super) contacts: Contacts,
    /// The list of contacts before this one.
    pub(super) listed: Contacts,
    pub(super) passing: Passing,
    /// The sizes of the system at the start.
    pub(super) sizes: Arc<Sizes>,
    /// A step was begun, and has not come back where the system panicked.
    pub(super) is_stepping: bool,
    pub(super) problem: Problem,
    pub(super) blow: Blow,
    /// Contacts that pressed in the last step, in rising order, each once.
    pub(super) pressing: Vec<usize>,
    /// Contacts that press in the step that is being made.
    pub(super) next_pressing: Vec<usize>,
    pub(super) sleepers: Box<Sleepers>,
    /// The number of contacts that the system numbered at the start; 0 where it numbers none.
    pub(super) numbered: usize,
    pub(super) next_q: Vec<f64>,
    /// The velocities of the problem that was solved before, as a guess.
    pub(super) next_v: Vec<f64>,
    pub(super) once: Once,
    pub(super) statistics: StepStatistics,
    pub(super) times: StepTimes,
    pub(super) columns: Option<Box<Columns>>,
}

/// A step as it was ordered: of a system, by a length, with an effort beside that of the model.
#[derive(Clone, Copy)]
pub(super) struct Ordered<'a> {
    pub(super) system: &'a dyn SteppedSystem,
    pub(super) dt: f64,
    /// Empty: none.
    pub(super) applied: &'a [f64],
}

/// The velocities of a step that are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// At the start.
    Start,
    /// At the end as well, without contacts.
    Free,
    /// At the end of the problem that was solved last.
    End,
}

/// The friction under which restitution and moments of contacts are ignored.
const OTHER_FRICTION: &str =
    "the compliant driver with another friction than StepFriction::Coulomb";

impl Settings {
    /// True for Coulomb's law, under which a contact presses where it would close within the step.
    pub(super) fn closes_within_steps(&self) -> bool {
        self.friction_law == StepFriction::Coulomb
    }

    /// What a step ignores restitution by; none where it does not.
    fn ignores_restitution(&self) -> Option<&'static str> {
        if !self.closes_within_steps() {
            // A contact that presses from a distance has no approach to give back.
            return Some(OTHER_FRICTION);
        }
        let moves_on = self.scheme.velocity_weight() < 1.0;
        moves_on.then_some("the compliant driver with Scheme::ExplicitEuler or Scheme::Midpoint")
    }

    /// The contacts of `set`; refuses what this driver does not take.
    pub(super) fn fill(
        &self,
        system: &dyn SteppedSystem,
        q: &[f64],
        v: &[f64],
        set: ContactSet<'_>,
        contacts: &mut Contacts,
    ) -> Result<(), InputError> {
        let wanted = Wanted {
            friction: self.friction,
            slips_at: None,
            restitution_at: (!self.inelastic).then_some(v),
            compliance: true,
        };
        system.fill(q, set, wanted, contacts)?;
        let ignored_by = self.ignores_restitution();
        for parameters in contacts.all_parameters() {
            let contact = parameters.contact;
            check_restitution(contact, parameters.restitution, ignored_by)?;
            if !self.closes_within_steps() && parameters.has_moments() {
                return Err(parameters.moments_ignored(OTHER_FRICTION, contact));
            }
            if parameters.friction != 0.0 && contacts.tangents() == 0 {
                return Err(InputError::Tangents {
                    contact,
                    expected: 1,
                    found: 0,
                });
            }
        }
        Ok(())
    }

    /// Stage 2: the contact problem of a step.
    pub(super) fn build(
        &self,
        system: &dyn SteppedSystem,
        motion: &FreeMotion,
        contacts: &Contacts,
        state: &StepState<'_>,
        problem: &mut Problem,
    ) -> Result<(), InputError> {
        problem.reset(state.dt, self.softness)?;
        for tree in 0..motion.places.len() {
            let (inertia, free) = motion.block(system, tree);
            problem.add_tree(inertia, free)?;
        }
        problem.add_contacts(contacts)?;
        let mut asked = *state;
        let ahead = self.scheme.rows_ahead();
        if ahead > 0.0 {
            (asked.t, asked.q) = (state.t + ahead * state.dt, &motion.rows_q);
        }
        self.terms.iter().try_for_each(|term| {
            term.add(&asked, problem)?;
            problem.end_term();
            Ok(())
        })?;
        // all contacts, those of terms too
        match self.friction_law {
            StepFriction::Coulomb => problem.coulomb(state.v),
            StepFriction::Cone => Ok(()),
            StepFriction::Lagged { slip } => problem.lag_friction(state.v, slip),
        }
    }
}

impl Core {
    /// With the default settings.
    pub(super) fn new() -> Result<Self, InputError> {
        let settings = Settings {
            dt: 1e-2,
            scheme: Scheme::default(),
            softness: Softness::default(),
            least_margin: 1e-3,
            friction_law: StepFriction::default(),
            friction: true,
            inelastic: false,
            slowest_rebound: 0.0,
            sleep: None,
            limits: Limits::default(),
            is_interruptible: false,
            terms: Vec::new(),
        };
        Ok(Self {
            sizes: Arc::default(),
            is_stepping: false,
            problem: Problem::new(settings.dt)?,
            blow: Blow::new(settings.dt)?,
            settings,
            solver: Solver::new(),
            t: f64::NAN,
            q: Vec::new(),
            v: Vec::new(),
            motion: FreeMotion::default(),
            contacts: Contacts::new(),
            listed: Contacts::new(),
            passing: Passing::default(),
            pressing: Vec::new(),
            next_pressing: Vec::new(),
            sleepers: Box::default(),
            numbered: 0,
            next_q: Vec::new(),
            next_v: Vec::new(),
            once: Once::default(),
            statistics: StepStatistics::default(),
            times: StepTimes::default(),
            columns: None,
        })
    }

    pub(super) fn check(&self) -> Result<(), InputError> {
        let settings = &self.settings;
        validate::positive("time_step", &[settings.dt])?;
        validate::not_negative("least_margin", &[settings.least_margin])?;
        validate::not_negative("slowest_rebound", &[settings.slowest_rebound])?;
        settings.softness.validate()?;
        if let Some(sleep) = &settings.sleep {
            sleep.validate()?;
        }
        if let StepFriction::Lagged { slip } = settings.friction_law {
            check_slip(slip)?;
        }
        self.solver.settings.validate()
    }

    /// Hands the interrupt on to the solver.
    pub(super) fn take_interrupt(&mut self) {
        if self.settings.is_interruptible {
            self.solver.settings.interrupt = self.settings.limits.interrupt.clone();
        }
    }

    /// True for a system of the sizes of the start.
    pub(super) fn fits(&self, system: &dyn SteppedSystem) -> bool {
        self.sizes.check_same(system).is_ok()
    }

    /// Lists the contacts that the first step can reach by the velocities of the start.
    pub(super) fn list_at_start(&mut self, system: &dyn SteppedSystem) -> Result<(), InputError> {
        self.passing.clear();
        self.list_contacts(system, self.settings.dt, Known::Start)
    }

    /// Lists the contacts that a step can reach.
    pub(super) fn list_contacts(
        &mut self,
        system: &dyn SteppedSystem,
        dt: f64,
        known: Known,
    ) -> Result<(), InputError> {
        let velocities = [&*self.v, &*self.motion.v, self.solver.solution().v()];
        let known = match known {
            Known::Start => 1,
            Known::Free => 2,
            Known::End => 3,
        };
        let mut reach = Reach::new(&velocities[..known], dt, self.settings.least_margin);
        // The other laws press from a distance.
        reach.cushions = !self.settings.closes_within_steps();
        reach.asleep = self.sleepers.asleep();
        let set = ContactSet::Reachable(reach);
        self.settings
            .fill(system, &self.q, &self.v, set, &mut self.contacts)?;
        // Sources may leave out contacts of which all trees sleep, and need not.
        self.contacts.remove_within(self.sleepers.asleep());
        if !self.passing.is_empty() {
            let passes = |contact| self.passing.holds(system.pair(contact));
            self.contacts.remove_numbers(passes);
        }
        Ok(())
    }

    /// Refuses a step before the start, and a system that has other sizes since. During the step it
    /// has those of the start.
    pub(super) fn measured<'a>(
        &self,
        system: &'a dyn SteppedSystem,
    ) -> Result<Measured<&'a dyn SteppedSystem>, InputError> {
        if self.t.is_nan() {
            return Err(InputError::NotStarted);
        }
        self.sizes.check_same(system)?;
        Ok(Measured::with(system, &self.sizes))
    }

    /// Refuses an effort before the start, of another length, or that is not finite.
    pub(super) fn check_effort(&self, effort: &[f64]) -> Result<(), InputError> {
        if self.t.is_nan() {
            return Err(InputError::NotStarted);
        }
        validate::length("effort", self.v.len(), effort.len())?;
        validate::finite("effort", effort)
    }

    /// The solution that the step ends with: that of its blow, where it has one.
    pub(super) fn solution(&self) -> &StepSolution {
        self.blow.last_of(&self.solver)
    }

    /// The problem of [`solution`](Self::solution).
    pub(super) fn solved(&self) -> &Problem {
        if self.blow.is_struck() {
            &self.blow.problem
        } else {
            &self.problem
        }
    }

    /// The solutions of the step: with its blow there are two.
    pub(super) fn solutions(&self) -> impl Iterator<Item = &StepSolution> {
        let is_struck = self.blow.is_struck();
        let blow = is_struck.then(|| self.blow.solver.solution());
        std::iter::once(self.solver.solution()).chain(blow)
    }

    pub(super) fn count(&mut self) {
        let mut counts = self.statistics;
        counts.steps += 1;
        counts.sleeping += self.sleepers.count();
        counts.contacts += self.contacts.len();
        counts.islands += self.solver.solution().islands().len();
        for solution in self.solutions() {
            counts.add_iterations(solution);
            counts.momentum_error = counts.momentum_error.max(solution.momentum_error());
            counts.friction_error = counts.friction_error.max(solution.friction_error());
            counts.complementarity_error = counts
                .complementarity_error
                .max(solution.complementarity_error());
        }
        let gaps = self.contacts.all_parameters().iter().map(|c| -c.gap);
        counts.overlap = gaps.fold(counts.overlap, f64::max);
        self.statistics = counts;
    }

    pub(super) fn check_convergence(&self) -> Result<(), CompliantFailure> {
        let islands = self.solutions().flat_map(StepSolution::islands);
        let failed = islands.filter(|island| !island.convergence.is_converged());
        let worst = failed.max_by(|a, b| a.momentum_error.total_cmp(&b.momentum_error));
        match worst {
            None => Ok(()),
            Some(island) => Err(CompliantFailure::NotConverged {
                t: self.t,
                contacts: island.contacts,
                momentum_error: island.momentum_error,
                state: self.state(),
            }),
        }
    }

    pub(super) fn state(&self) -> Vec<f64> {
        self.q.iter().chain(&self.v).copied().collect()
    }

    pub(super) fn model_failure(&self, reason: InputError) -> CompliantFailure {
        CompliantFailure::Model {
            t: self.t,
            state: self.state(),
            reason,
        }
    }
}

/// A contact may press at several points.
pub(super) fn sort_pressing(pressing: &mut Vec<usize>) {
    pressing.sort_unstable();
    pressing.dedup();
}
