//! Runs of the compliant driver: from a start to an end, and live.

use std::any::Any;
use std::sync::Arc;

use nalgebra::DMatrix;

use super::division::Division;
use super::driver::Compliant;
use super::model::SteppedSystem;
use super::state::Core;
#[cfg(feature = "serde")]
use crate::compliant::Checkpoint;
#[cfg(doc)]
use crate::compliant::Sleep;
use crate::mechanics::{ContactSource, MechanicalSystem, State};
use crate::record::path::{Keep, Path};
use crate::record::{Advance, BodyLayout, Now, Told, can_go_on, whole_steps};
use crate::{
    InputError, Live, Observer, Run, Snapshot, Start, Statistics, Status, Summary, validate,
};

impl Core {
    pub(super) fn keep(
        &mut self,
        system: &dyn SteppedSystem,
        start: &Start<'_>,
        tf: f64,
        columns: Option<&mut DMatrix<f64>>,
    ) -> Result<Run, InputError> {
        let mut path = Path::new(Keep::of_steps(self.settings.limits.max_memory));
        let summary = self.observe(system, start, tf, columns, &mut path)?;
        Ok(Run::new(path, summary, Some(BodyLayout::new(self.q.len()))))
    }

    pub(super) fn observe(
        &mut self,
        system: &dyn SteppedSystem,
        start: &Start<'_>,
        tf: f64,
        mut columns: Option<&mut DMatrix<f64>>,
        observer: &mut dyn Observer,
    ) -> Result<Summary, InputError> {
        validate::finite("tf", &[tf])?;
        let State { t: t0, q, v } = State::of(start)?;
        if tf < t0 {
            return Err(InputError::TimeReversed { t0, tf });
        }
        self.start(system, t0, q, v)?;
        let division = Division::new(t0, tf, self.settings.dt, &self.settings.limits)?;
        let mut told = self.told();
        told.start(observer);
        let mut status = Status::ReachedEnd;
        for k in 1..=division.count {
            if let Some(ended) = told.ends(&self.settings.limits, observer) {
                status = ended;
                break;
            }
            let (dt, end) = division.step(k);
            let made = match columns.as_deref_mut() {
                Some(columns) => self.step_along(system, dt, &[], columns, None),
                None => self.step(system, dt, &[]),
            };
            if let Err(failure) = made {
                status = Status::Refused(failure.into());
                break;
            }
            self.tell_doubts(&mut told, observer);
            self.t = end;
            self.tell_step(&mut told, observer);
        }
        Ok(self.summary(status, &told))
    }

    fn summary(&self, status: Status, told: &Told) -> Summary {
        Summary {
            status,
            t: self.t,
            statistics: Statistics {
                steps: told.steps,
                doubts: told.doubts,
                ..Statistics::default()
            },
        }
    }

    /// Stands where a saved run of this system stood, with its own settings.
    pub(super) fn take_up(
        &mut self,
        system: &dyn SteppedSystem,
        from: &Saved,
    ) -> Result<(), InputError> {
        let saved = &from.core;
        if !saved.fits(system) {
            return Err(InputError::Snapshot { of: "system" });
        }
        self.check()?;
        self.check_terms(system)?;
        let (settings, solver) = (self.settings.clone(), self.solver.settings.clone());
        self.clone_from(saved);
        self.once.terms = false;
        self.settings = settings;
        self.solver.settings = solver;
        self.take_interrupt();
        self.wake_unless_held(system, &from.supports);
        Ok(())
    }
}

impl<S> Compliant<S>
where
    S: MechanicalSystem + ContactSource,
{
    /// A run in parts, each with an effort of its own, from a start, in whole steps: for control loops.
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate).
    pub fn live(&mut self, start: &Start<'_>) -> Result<Live<'_>, InputError> {
        self.start(start)?;
        let told = self.core.told();
        let stand = Stand {
            start: told.now().t,
            status: Status::ReachedEnd,
            told,
        };
        let status = stand.status.clone();
        let driver = self;
        Ok(Live::new(LiveRun { driver, stand }, status))
    }

    /// Takes up a live run from a snapshot of it. Where the system has changed since, what
    /// [slept](Sleep) wakes if something else holds it now.
    ///
    /// # Errors
    /// [`InputError::Snapshot`] for one of another driver or another system; bad settings.
    pub fn resume(&mut self, snapshot: &Snapshot) -> Result<Live<'_>, InputError> {
        let saved: &Saved = snapshot.saved()?;
        self.core.take_up(&self.system, saved)?;
        let mut stand = saved.stand.clone();
        let is_same = saved.core.settings.dt.to_bits() == self.core.settings.dt.to_bits();
        if !is_same {
            // Steps of another length are counted from here.
            stand.start = self.core.t;
            stand.told.steps = 0;
        }
        let status = stand.status.clone();
        let driver = self;
        Ok(Live::new(LiveRun { driver, stand }, status).resumed(snapshot))
    }
}

#[cfg(feature = "serde")]
impl Checkpoint {
    /// Of a live run of the compliant driver.
    ///
    /// # Errors
    /// [`InputError::Snapshot`] for one of another driver.
    pub fn of(snapshot: &Snapshot) -> Result<Self, InputError> {
        let saved: &Saved = snapshot.saved()?;
        let mut of = saved.core.checkpoint(&saved.supports);
        (of.start, of.steps) = (saved.stand.start, saved.stand.told.steps);
        Ok(of)
    }
}

#[cfg(feature = "serde")]
impl Core {
    fn checkpoint(&self, supports: &[u64]) -> Checkpoint {
        let mut of = Checkpoint::at(self.t, self.settings.dt);
        (of.q, of.v) = (self.q.clone(), self.v.clone());
        (of.pressing, of.is_sunk) = (self.pressing.clone(), self.once.sunk);
        of.sleep = self.sleepers.document(supports);
        of
    }
}

#[cfg(feature = "serde")]
impl<S> Compliant<S>
where
    S: MechanicalSystem + ContactSource,
{
    /// The state between steps as plain data, with the feature `serde`.
    ///
    /// # Errors
    /// [`InputError::NotStarted`].
    pub fn checkpoint(&self) -> Result<Checkpoint, InputError> {
        if self.core.t.is_nan() {
            return Err(InputError::NotStarted);
        }
        Ok(self.core.checkpoint(&self.core.supports(&self.system)))
    }

    /// Takes up a run where a checkpoint was made, with the system and the settings of this driver:
    /// as a live run, or by [`step`](Self::step) where that is dropped. What [slept](Sleep) in another
    /// system wakes if something else holds it here.
    ///
    /// # Errors
    /// As [`live`](Self::live); [`InputError::BadSetting`], [`InputError::NoSuch`] for numbers that no
    /// run of this system has. The driver has not started then.
    pub fn restore(&mut self, from: &Checkpoint) -> Result<Live<'_>, InputError> {
        self.core.t = f64::NAN;
        from.check(self.system.contact_count())?;
        self.start(&Start::at(from.t).q(&from.q).v(&from.v))?;
        let core = &mut self.core;
        core.pressing.clone_from(&from.pressing);
        core.once.sunk = from.is_sunk;
        if let Err(reason) = core.take_sleepers(&self.system, from.sleep.as_ref()) {
            core.t = f64::NAN;
            return Err(reason);
        }
        let mut told = core.told();
        let mut start = from.t;
        if from.dt.to_bits() == core.settings.dt.to_bits() {
            (start, told.steps) = (from.start, from.steps);
        }
        let status = Status::ReachedEnd;
        let stand = Stand {
            start,
            status: status.clone(),
            told,
        };
        Ok(Live::new(
            LiveRun {
                driver: self,
                stand,
            },
            status,
        ))
    }
}

/// The place of a live run, beside the driver's own state.
#[derive(Clone, Debug)]
pub(super) struct Stand {
    /// Its start (s).
    pub(super) start: f64,
    pub(super) status: Status,
    pub(super) told: Told,
}

/// A live run.
pub(super) struct LiveRun<'a, S> {
    pub(super) driver: &'a mut Compliant<S>,
    pub(super) stand: Stand,
}

/// The saved state of a live run.
pub(super) struct Saved {
    pub(super) core: Core,
    /// Checksums of the supports of those that sleep.
    supports: Vec<u64>,
    pub(super) stand: Stand,
}

impl<S: MechanicalSystem + ContactSource> Advance for LiveRun<'_, S> {
    fn advance(
        &mut self,
        t: f64,
        effort: &[f64],
        observer: &mut dyn Observer,
    ) -> Result<Summary, InputError> {
        let Compliant { core, system } = &mut *self.driver;
        let Stand {
            start,
            status,
            told,
        } = &mut self.stand;
        if !effort.is_empty() {
            core.check_effort(effort)?;
        }
        told.start(observer);
        if !can_go_on(status) {
            return Ok(core.summary(status.clone(), told));
        }
        let dt = core.settings.dt;
        let last = whole_steps(*start, t, dt);
        *status = Status::ReachedEnd;
        while told.steps < last {
            if let Some(ended) = told.ends(&core.settings.limits, observer) {
                *status = ended;
                break;
            }
            if let Err(failure) = core.step(system, dt, effort) {
                *status = Status::Refused(failure.into());
                break;
            }
            core.tell_doubts(told, observer);
            core.t = *start + (told.steps + 1) as f64 * dt;
            core.tell_step(told, observer);
        }
        Ok(core.summary(status.clone(), told))
    }

    fn now(&self) -> Now<'_> {
        self.stand.told.now()
    }

    fn record(&self) -> (Option<BodyLayout>, Keep) {
        let core = &self.driver.core;
        let keep = Keep::of_steps(core.settings.limits.max_memory);
        (Some(BodyLayout::new(core.q.len())), keep)
    }

    fn save(&self) -> Arc<dyn Any + Send + Sync> {
        let Compliant { core, system } = &*self.driver;
        let supports = core.supports(system);
        let mut core = core.clone();
        // Terms belong to the driver, which may change them while a snapshot is held.
        core.settings.terms.clear();
        Arc::new(Saved {
            core,
            supports,
            stand: self.stand.clone(),
        })
    }
}
