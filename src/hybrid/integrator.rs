//! `Integrator`: its settings, and how runs begin.

use std::sync::Arc;

use super::Projection;
use super::driver::{Driver, Engine, run_any};
use super::options::{Resolution, Settings};
use super::run::{Integration, run_to_end};
use crate::ode::Buffer;
use crate::record::limits;
use crate::{
    EventFunction, Flow, Guard, InputError, Interrupt, Mode, Observer, PerEntry, Rearm, Run, Start,
    Summary, validate,
};

/// Integrates a hybrid system through any number of guards crossed at once or nearly so.
///
/// `S` is the system, by value or by reference; `B` is where state vectors live:
/// [`new`](Integrator::new) for sizes known at run time, [`fixed`](Integrator::fixed) for sizes
/// known at compile time. The workspace is made once; runs allocate only what the [`Observer`]
/// keeps.
///
/// ```
/// use saltation::{Integrator, Start, models::Hopper};
/// let hopper = Hopper::default();
/// let run = Integrator::new(&hopper)?.rtol(1e-9).integrate(&Start::at(0.0).x(&[2.0, 0.0]), 2.0)?;
/// assert_eq!(run.crossings().len(), 4);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Integrator<S, B = Vec<f64>> {
    system: Arc<S>,
    pub(crate) driver: Driver<B>,
    engine: Engine<S, B>,
}

impl<S: Clone> Integrator<S> {
    /// A copy with a system of its own: a clone shares it, and neither can then change it.
    pub(crate) fn apart(&self) -> Self {
        Self {
            system: Arc::new(S::clone(&self.system)),
            driver: self.driver.clone(),
            engine: self.engine,
        }
    }
}

impl<S: Flow + EventFunction> Integrator<S> {
    /// An integrator for `system`, whose sizes are read now and must not change. The run is
    /// compiled once for all systems, and calls the functions of this one by pointer.
    ///
    /// # Errors
    /// [`InputError::EmptySystem`] when `dim()` is 0, [`InputError::BadSetting`] for more than a
    /// million states or event functions.
    pub fn new(system: S) -> Result<Self, InputError> {
        let dim = system.dim();
        Self::with_engine(system, dim, run_any)
    }

    /// An integrator for `system` with state vectors of a size known at compile time:
    /// `Integrator::fixed::<6>(&plate)`. The run is compiled for this system, which costs seconds
    /// of compile time for each: faster for small systems, whose functions are inlined. The results
    /// are those of [`new`](Self::new).
    ///
    /// # Errors
    /// [`InputError::EmptySystem`] when `dim()` is 0, [`InputError::WrongLength`] when it is not
    /// `N`.
    pub fn fixed<const N: usize>(system: S) -> Result<Integrator<S, [f64; N]>, InputError> {
        let dim = system.dim();
        validate::length("the fixed state", dim, N)?;
        Integrator::with_engine(system, dim, run_to_end)
    }
}

impl<S: Flow + EventFunction, B: Buffer> Integrator<S, B> {
    fn with_engine(system: S, dim: usize, engine: Engine<S, B>) -> Result<Self, InputError> {
        if dim == 0 {
            // it may know better why
            system.validate()?;
            return Err(InputError::EmptySystem);
        }
        validate::count("dim", dim)?;
        let (count, flags) = (system.count(), system.flags());
        validate::at_most("count", count)?;
        validate::at_most("flags", flags)?;
        let driver = Driver::new(dim, &Mode::new(count).with_flags(flags));
        let system = Arc::new(system);
        Ok(Self {
            system,
            driver,
            engine,
        })
    }

    /// Relative tolerance of the smooth phase, one for all or one for each state variable. Default
    /// 1e-6; sensible from 1e-3 to 1e-13; below, steps fail by rounding. Zero is allowed where the
    /// absolute tolerance is above zero.
    ///
    /// It holds for the ends of steps. Between them, also where guards are crossed, the interpolant
    /// is exact to eight times the tolerance.
    #[must_use]
    pub fn rtol(mut self, rtol: impl Into<PerEntry>) -> Self {
        self.driver.settings.rtol = rtol.into();
        self
    }

    /// Absolute tolerance, in the unit of each state variable. Default 1e-9; zero is allowed where
    /// the relative one is above zero, and then a component that passes through zero makes steps
    /// short.
    #[must_use]
    pub fn atol(mut self, atol: impl Into<PerEntry>) -> Self {
        self.driver.settings.atol = atol.into();
        self
    }

    /// Sets when the crossing phase may project instead of locating. Default [`Projection::Auto`].
    #[must_use]
    pub fn projection(mut self, projection: Projection) -> Self {
        self.driver.settings.projection = projection;
        self
    }

    /// Sets how closely event functions are sampled in a step. Default [`Resolution::Adaptive`].
    #[must_use]
    pub fn resolution(mut self, resolution: Resolution) -> Self {
        self.driver.settings.resolution = resolution;
        self
    }

    /// Sets which guards may be crossed again. Default [`Rearm::Pairs`].
    #[must_use]
    pub fn rearm(mut self, rearm: Rearm) -> Self {
        self.driver.rearm = rearm;
        self
    }

    /// Steps of exactly `step` seconds without error test (shorter only before events and the end).
    /// Event functions are searched in up to 4,096 windows of each; what is left of a step beyond
    /// is sampled at four places and counts as [unresolved](crate::Statistics::unresolved).
    #[must_use]
    pub fn fixed_step(mut self, step: f64) -> Self {
        self.driver.settings.fixed_step = Some(step);
        self
    }

    /// First step (s); default: chosen automatically.
    #[must_use]
    pub fn first_step(mut self, step: f64) -> Self {
        self.driver.settings.first_step = Some(step);
        self
    }

    /// Largest step (s); default: no limit.
    #[must_use]
    pub fn max_step(mut self, step: f64) -> Self {
        self.driver.settings.max_step = step;
        self
    }

    /// The [`time_scale`](crate::EventFunction::time_scale) of event functions that state none (s),
    /// `INFINITY` where all are smooth wherever the state is. Default: a hundredth of each run, and of each part of a
    /// live one. A
    /// program that makes many short runs, as a controller does, spares most of their samples with a
    /// time scale that is one for all of them: a run of a millisecond needs no more than its steps.
    #[must_use]
    pub fn time_scale(mut self, scale: f64) -> Self {
        self.driver.settings.time_scale = Some(scale);
        self
    }

    limits!(driver.settings.limits);

    /// Ends runs, and the search for their derivatives, when `interrupt` is set.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.driver.settings.limits.interrupt = interrupt.clone();
        self
    }

    /// The settings.
    pub(crate) fn settings(&self) -> &Settings {
        &self.driver.settings
    }

    /// Relative tolerances are no greater than this.
    pub(crate) fn lower_rtol_to(&mut self, most: f64) {
        self.driver.settings.rtol.lower_to(most);
    }

    /// State and workspace of a run.
    pub(crate) fn standing(&self) -> &Integration<B> {
        &self.driver.run
    }

    /// Crossings within this time of the first of them are one corner (s). Default 1e-9, and of a run that is
    /// shorter than 10 ms, but a [live](Self::live) one, 1e-7 of it. It groups
    /// the report ([`Corner`](crate::Corner)) and does not change the motion.
    ///
    /// A [`derivative`](Self::derivative) takes them as met at once: it is that of all their
    /// orders. It decides nothing about crossings that are farther apart than this and nearer than
    /// the errors of the run resolve: these are
    /// [`Verdict::PossibleCorner`](crate::derivative::Verdict::PossibleCorner) where their order
    /// matters, whatever the tolerance is.
    #[must_use]
    pub fn corner_tolerance(mut self, tolerance: f64) -> Self {
        self.driver.settings.corner_tolerance = Some(tolerance);
        self
    }

    /// Lets these guards cross one after another, in this order, where they are met at exactly one
    /// instant; the default, an empty list, lets all cross together. Guards that are not in the
    /// list come after those that are.
    ///
    /// It does nothing where rounding sets their times apart, however close: they cross in the order in
    /// which they are met then.
    ///
    /// Of use where the order matters (a reset that depends on who came first): the run is then the
    /// limit of runs whose start is displaced so that the guards are met in this order, and its
    /// derivative that of such displacements. See
    /// [`Derivative::pieces_at`](crate::Derivative::pieces_at).
    #[must_use]
    pub fn corner_order(mut self, order: impl Into<Vec<Guard>>) -> Self {
        self.driver.settings.corner_order = order.into();
        self
    }

    /// Chooses a new first step after each event, as solvers that are restarted at events do. Only to
    /// measure what that costs.
    #[doc(hidden)]
    #[must_use]
    pub fn restart_at_events(mut self, restart: bool) -> Self {
        self.driver.settings.restart_at_events = restart;
        self
    }

    /// Integrates from a start to `tf` and keeps everything.
    ///
    /// # Errors
    /// Bad input only: wrong lengths, values that are not finite, `tf < t0`, settings that make no
    /// sense. What the run meets on its way is in the trajectory's [`status`](Run::status).
    pub fn integrate(&mut self, start: &Start<'_>, tf: f64) -> Result<Run, InputError> {
        let mut path = self.driver.settings.path(tf - start.t);
        let summary = self.observe(start, tf, &mut path)?;
        Ok(Run::new(path, summary, None))
    }

    /// Integrates from a start to `tf` and reports to `observer` as it goes; allocates nothing
    /// itself, unless it ends with a reason to report.
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate).
    pub fn observe<O: Observer + ?Sized>(
        &mut self,
        start: &Start<'_>,
        tf: f64,
        observer: &mut O,
    ) -> Result<Summary, InputError> {
        let (system, driver, engine) = self.parts();
        let (summary, _) = driver.observe_with(system, engine, start, tf, |_, _| observer)?;
        Ok(summary)
    }

    /// The state at which the last run ended.
    pub fn state(&self) -> &[f64] {
        self.driver.state()
    }

    /// The mode in which the last run ended.
    pub fn mode(&self) -> &Mode {
        self.driver.mode()
    }

    /// The system.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// The system, what runs it, and how.
    pub(crate) fn parts(&mut self) -> (&S, &mut Driver<B>, Engine<S, B>) {
        (&self.system, &mut self.driver, self.engine)
    }

    /// Refuses settings, of the integrator and of its system, that make no sense.
    pub(crate) fn check_options(&self) -> Result<(), InputError> {
        self.driver.check_options(&*self.system)
    }

    /// System, re-arming rule and settings, which the derivative of a run keeps beside what it
    /// recorded.
    pub(crate) fn shared(&self) -> (Arc<S>, Rearm, Settings) {
        let (rearm, settings) = (self.driver.rearm.clone(), self.driver.settings.clone());
        (Arc::clone(&self.system), rearm, settings)
    }
}

impl<S, B> Integrator<S, B> {
    /// Changes options of the system; refused while a derivative shares it.
    pub(crate) fn change<T>(&mut self, change: impl FnOnce(&mut S) -> T) -> Result<T, InputError> {
        let system = Arc::get_mut(&mut self.system);
        system.map(change).ok_or(InputError::SharedModel)
    }
}
