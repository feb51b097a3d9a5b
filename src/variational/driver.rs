//! The variational driver, and the loop over steps.

use std::any::Any;
use std::sync::Arc;

use nalgebra::DMatrix;

use super::failure::VariationalFailure;
use super::runner::{Progress, Runner};
use super::settings::{Chatter, Settings};
#[cfg(doc)]
use crate::derivative::RunDerivative;
use crate::derivative::StepsDerivative;
use crate::mechanics::configuration::check_input;
use crate::mechanics::contact::frames::check_all_frames;
use crate::mechanics::{ContactModel, MechanicalSystem, Mechanism, State, UnilateralConstraints};
use crate::record::path::{Keep, Path};
use crate::record::{Advance, BodyLayout, Now, can_go_on, limits, whole_steps};
use crate::{
    InputError, Interrupt, Live, Observer, Run, Snapshot, Start, Status, Stop, Summary, validate,
};

/// The variational driver: steps of one length by the midpoint rule
/// ([`Midpoint`](super::Midpoint)), with impacts at their times inside the steps, and contacts that
/// stay closed.
///
/// An impact inside a step is found as the first root of a gap along the discrete motion: the step
/// is made up to the root, the impact law acts on the momentum there, and the rest of the step
/// follows. A gap that closes and opens again within a step is found by its rate at both ends.
///
/// Closed contacts push with impulses at both ends of a step, with Coulomb friction in the sense of
/// greatest dissipation (in the plane and in space, with a round cone); their gaps are zero at the
/// ends of steps. A contact opens when it needs no impulse and its gap exceeds the tolerance
/// ([`ContactModel::gap_tolerance`]): nothing holds it until then, but it counts as closed, for `(6 m δ/Ḟ)^(1/3)` where
/// what lifts a mass `m` grows by `Ḟ`, 0.2 ms for 1 kg and 1 kN/s. Efforts that depend on which contacts are closed are
/// those of the contacts closed at the start of a part of a step.
///
/// The order is two, through impacts, where a body turns about a corner that sticks in the plane, and
/// where slips turn in space; it is one where friction reverses within a step, and where a body
/// turns about a contact that sticks in space. Steps must be short beside the fastest motion: some ten a period, more
/// for large swings. Then energy stays within `O(h²)` between impacts for any time. The kinetic
/// energy of an elastic impact is kept to rounding. Steps without closed contacts and impacts
/// allocate nothing but the log.
///
/// A step, or a part of one before or after an impact, without closed contacts that Newton's method
/// does not solve whole, or in which it meets what is not finite, is made in two halves, once, and
/// reported ([`Doubt::Halved`](crate::Doubt::Halved)). The run ends where that does not help, and where contacts are
/// closed: with [`VariationalFailure::NewtonFailed`] or [`VariationalFailure::NotFinite`].
///
/// ```
/// use saltation::Start;
/// use saltation::models::DoublePendulum;
/// use saltation::{ContactModel, Variational};
/// let model = ContactModel::new(DoublePendulum::default()); // an elastic wall
/// let mut driver = Variational::new(model)?.time_step(0.0025);
/// let run = driver.integrate(&Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0, 0.0]), 1.5)?.completed()?;
/// assert!((run.events()[0].t - 0.755987814701).abs() < 4e-6);
/// assert_eq!(run.every(0.0025)?.times.len(), 601);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Variational<S> {
    pub(super) settings: Settings,
    model: ContactModel<S>,
}

impl<S> Variational<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// A driver of `model`, whose law and selection resolve impacts; its
    /// [policy](ContactModel::redundant) for contacts that depend on each other is not needed: a
    /// step takes forces of least norm, and where the motion depends on them as contacts slide, the run says so
    /// ([`Doubt::SharedLoads`](crate::Doubt::SharedLoads)).
    ///
    /// # Errors
    /// [`InputError::EmptySystem`], [`InputError::NotCoordinateRates`], and
    /// [`InputError::BadSetting`] for more than 10,000 velocities or contacts.
    pub fn new(model: ContactModel<S>) -> Result<Self, InputError> {
        let system = &model.bodies.system;
        system.sizes.check()?;
        system.sizes.check_free("Variational")?;
        super::midpoint::Stepper::new(system)?;
        Ok(Self {
            settings: Settings::of(&model),
            model,
        })
    }

    /// Length of a step (s); default 1 ms.
    #[must_use]
    pub fn time_step(mut self, step: f64) -> Self {
        self.settings.step = step;
        self
    }

    /// Sets the rule by which impacts that follow each other closely are made plastic; none: never.
    /// Impacts are then followed until a rebound is below the tolerance of rates, or the run ends
    /// with [`VariationalFailure::TooManyImpacts`]. Default: closer than a step, or more than three
    /// in a step.
    #[must_use]
    pub fn chatter(mut self, rule: Option<Chatter>) -> Self {
        self.settings.chatter = rule;
        self
    }

    /// Says that impacts are without friction, as in the paper, while closed contacts have it.
    /// Without this a law that ignores friction is refused for a system with friction.
    #[must_use]
    pub fn frictionless_impacts(mut self) -> Self {
        self.settings.frictionless_impacts = true;
        self
    }

    /// Limit of the impacts in one step; default 1000.
    #[must_use]
    pub fn max_impacts(mut self, most: usize) -> Self {
        self.settings.max_impacts = most;
        self
    }

    limits!(settings.limits);

    /// Ends runs, and searches of the law, when `interrupt` is set.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.settings.limits.interrupt = interrupt.clone();
        self
    }

    /// The model.
    pub fn model(&self) -> &ContactModel<S> {
        &self.model
    }

    /// Integrates from positions and velocities to `tf`, in steps of the length
    /// [`time_step`](Self::time_step), and keeps everything; nodes of the run are the ends of steps
    /// and, twice each, the impacts. The last step is shorter where the length does not divide the
    /// time.
    ///
    /// Contacts with gaps of zero take part at the start: an impact where one approaches, closed
    /// where none parts. Gaps below zero by more than the tolerance are refused.
    ///
    /// # Errors
    /// Bad lengths, numbers, settings and starts. What the run meets on its way is in its
    /// [`status`](Run::status); [`Status::reason`](crate::Status::reason) gives the
    /// [`VariationalFailure`].
    pub fn integrate(&mut self, start: &Start<'_>, tf: f64) -> Result<Run, InputError> {
        let mut path = Path::new(Keep::of_steps(self.settings.limits.max_memory));
        let summary = self.observe(start, tf, &mut path)?;
        let bodies = BodyLayout::new(self.model.bodies.system.dof());
        Ok(Run::new(path, summary, Some(bodies)))
    }

    /// Integrates to `tf` and reports to `observer` as it goes; keeps nothing.
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate).
    pub fn observe(
        &mut self,
        start: &Start<'_>,
        tf: f64,
        observer: &mut dyn Observer,
    ) -> Result<Summary, InputError> {
        self.model.bodies.system.apply(&[])?;
        let system = &self.model.bodies.system;
        let (summary, _) = observe(&self.settings, system, start, tf, false, observer)?;
        Ok(summary)
    }

    /// A run in parts, each with an effort of its own, from a start, in whole steps: for control loops.
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate).
    pub fn live(&mut self, start: &Start<'_>) -> Result<Live<'_>, InputError> {
        let start = State::of(start)?;
        self.settings.steps(0.0, 0.0)?;
        self.model.bodies.system.apply(&[])?;
        let (settings, system) = (&self.settings, &self.model.bodies.system);
        let mut on = Progress::new(settings, system, false)?;
        let mut runner = Runner {
            settings,
            system,
            observer: &mut (),
            on: &mut on,
        };
        let status = match runner.begin(start)? {
            Ok(()) => Status::ReachedEnd,
            Err(failure) => Status::Refused(failure.into()),
        };
        let has_begun = status == Status::ReachedEnd;
        Ok(self.stand(on, status, has_begun))
    }

    /// Takes up a live run from a snapshot of it.
    ///
    /// # Errors
    /// [`InputError::Snapshot`] for one of another driver or another system; bad settings.
    pub fn resume(&mut self, snapshot: &Snapshot) -> Result<Live<'_>, InputError> {
        let saved: &Saved = snapshot.saved()?;
        let system = &self.model.bodies.system;
        if saved.on.sizes() != (system.dof(), system.contacts()) {
            return Err(InputError::Snapshot { of: "system" });
        }
        self.settings.steps(0.0, 0.0)?;
        self.settings.check(system)?;
        let (mut on, status) = (saved.on.clone(), saved.status.clone());
        if saved.step.to_bits() != self.settings.step.to_bits() {
            // Steps of another length are counted from here.
            on.start = on.now().t;
            on.log.told.steps = 0;
        }
        Ok(self.stand(on, status, saved.has_begun).resumed(snapshot))
    }

    fn stand(&mut self, on: Progress, status: Status, has_begun: bool) -> Live<'_> {
        let stands = status.clone();
        let run = LiveRun {
            driver: self,
            on,
            status,
            has_begun,
        };
        Live::new(run, stands)
    }

    /// The run, and the derivative of its end `(q, v)` by its start: `2d × 2d`.
    ///
    /// Steps are differentiated by the implicit function theorem, impacts by differences of the
    /// law at the same contacts, their times by the rate of the gap. Errors are about 1e-8 of the
    /// entries where the row of the gap is written, and up to 1e-4 where it is differences: the more, the shorter the
    /// steps. A run with several
    /// contacts that close at one instant, with a touch, with closed contacts, with an impact between two branches of
    /// its law (as where a slip just ends) or at the end of the run, or with a step in two halves has none here: the
    /// event-driven driver and its Bouligand derivative know these. A touch is one that the steps meet: a surface at
    /// the very height of an apex may be missed between them, or struck by rounding, and the derivative is that of the
    /// run as it went. A start at a contact that approaches is the state before its impact.
    ///
    /// ```
    /// use saltation::models::DoublePendulum;
    /// use saltation::{ContactModel, Start, Variational};
    /// let model = ContactModel::new(DoublePendulum::default());
    /// let mut driver = Variational::new(model)?.time_step(0.01);
    /// let start = Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0; 2]);
    /// let derivative = driver.derivative(&start, 1.5)?;
    /// assert_eq!(derivative.run().events().len(), 1);
    /// assert_eq!(derivative.matrix()?.shape(), (4, 4));
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate). Why a run has no derivative is in its
    /// [verdict](RunDerivative::verdict): what ended it early, or
    /// [`VariationalFailure::NoDerivative`].
    pub fn derivative(
        &mut self,
        start: &Start<'_>,
        tf: f64,
    ) -> Result<StepsDerivative, InputError> {
        let mut path = Path::new(Keep::of_steps(self.settings.limits.max_memory));
        self.model.bodies.system.apply(&[])?;
        let system = &self.model.bodies.system;
        let (summary, matrix) = observe(&self.settings, system, start, tf, true, &mut path)?;
        let run = Run::new(path, summary, Some(BodyLayout::new(system.dof())));
        let matrix = matrix.map_err(|failure| Stop::from(failure).into());
        Ok(StepsDerivative::new(run, matrix))
    }
}

/// See [`Variational::observe`] and [`Variational::derivative`]. Compiled once, for all systems.
fn observe(
    settings: &Settings,
    system: &dyn Mechanism,
    start: &Start<'_>,
    tf: f64,
    derive: bool,
    observer: &mut dyn Observer,
) -> Result<(Summary, Result<DMatrix<f64>, VariationalFailure>), InputError> {
    validate::finite("tf", &[tf])?;
    let begin = State::of(start)?;
    if tf < begin.t {
        return Err(InputError::TimeReversed { t0: begin.t, tf });
    }
    let steps = settings.steps(begin.t, tf)?;
    let mut on = Progress::new(settings, system, derive)?;
    let mut runner = Runner {
        settings,
        system,
        observer,
        on: &mut on,
    };
    let begun = runner.begin(begin)?;
    runner.on.log.told.start(runner.observer);
    let made = begun.and_then(|()| runner.steps_to(tf, steps));
    let status = match &made {
        Ok(status) => status.clone(),
        Err(failure) => Status::Refused(failure.clone().into()),
    };
    let summary = Summary {
        status,
        t: runner.on.now().t,
        statistics: runner.on.log.statistics,
    };
    let derivative = match (made, runner.on.log.parts.take()) {
        (Err(failure), _) => Err(failure),
        (Ok(_), Some(parts)) => runner.derivative(&parts),
        (Ok(_), None) => Ok(DMatrix::zeros(0, 0)),
    };
    Ok((summary, derivative))
}

impl Runner<'_> {
    /// Checks a start, and stands there. What is not bad input is what ends the run.
    fn begin(&mut self, start: State<'_>) -> Result<Result<(), VariationalFailure>, InputError> {
        let (d, State { t, q, v }) = (self.system.dof(), start);
        check_input(d, d, t, q, v)?;
        self.settings.check(self.system)?;
        if self.settings.friction {
            check_all_frames(self.system, q)?;
            let mut contacts = 0..self.system.contacts();
            if let Some(contact) = contacts.find(|&j| self.system.friction_at(j, q, 0.0).is_some())
            {
                let driver = "Variational";
                return Err(InputError::FrictionLaw { driver, contact });
            }
        }
        for j in 0..self.system.contacts() {
            let restitution = self.system.restitution(j, q, v);
            let law = &*self.settings.law;
            self.settings.check_restitution(law, j, restitution)?;
        }
        self.on.log.told.stand_at(t, q, v);
        match self.start(start) {
            Err(VariationalFailure::Input(error)) => Err(error),
            made => Ok(made),
        }
    }

    /// Makes steps to `tf`, the last of them that many after the start.
    fn steps_to(&mut self, tf: f64, last: usize) -> Result<Status, VariationalFailure> {
        while self.on.log.told.steps < last {
            let (told, limits) = (&self.on.log.told, &self.settings.limits);
            if let Some(status) = told.ends(limits, self.observer) {
                return Ok(status);
            }
            // A step that was interrupted behind an impact in it is gone on with.
            if self.on.state.t <= self.settings.end_of(self.on.start, self.on.log.told.steps) {
                for touch in &mut self.on.touches.each {
                    // Impacts are counted in each step, for the second test of chatter.
                    touch.impacts = 0;
                }
            }
            // Ends are counted from the start, t₀ + k h, so that rounding does not add up.
            let next = self.on.log.told.steps + 1;
            let end = if next == last {
                tf
            } else {
                self.settings.end_of(self.on.start, next)
            };
            self.step_to(end)?;
            self.on.log.told.count_step();
            self.on.log.statistics.steps += 1;
        }
        Ok(Status::ReachedEnd)
    }
}

/// A live run.
struct LiveRun<'a, S> {
    driver: &'a mut Variational<S>,
    on: Progress,
    status: Status,
    /// Its start is settled.
    has_begun: bool,
}

/// The saved state of a live run.
struct Saved {
    on: Progress,
    status: Status,
    has_begun: bool,
    /// Length of its steps (s).
    step: f64,
}

/// The effort of a live run is not that of later ones.
impl<S> Drop for LiveRun<'_, S> {
    fn drop(&mut self) {
        self.driver.model.bodies.system.applied.clear();
    }
}

impl<S: MechanicalSystem + UnilateralConstraints> Advance for LiveRun<'_, S> {
    fn advance(
        &mut self,
        t: f64,
        effort: &[f64],
        observer: &mut dyn Observer,
    ) -> Result<Summary, InputError> {
        let driver = &mut *self.driver;
        driver.model.bodies.system.apply(effort)?;
        let settings = &driver.settings;
        let last = whole_steps(self.on.start, t, settings.step);
        self.on.stepper.newton.terms.interrupt = settings.limits.interrupt.clone();
        let now = self.on.now();
        let (t0, x0) = (now.t, now.state.to_vec());
        let (q, v) = x0.split_at(x0.len() / 2);
        let mut runner = Runner {
            settings,
            system: &driver.model.bodies.system,
            observer,
            on: &mut self.on,
        };
        if can_go_on(&self.status) {
            let begun = if self.has_begun {
                Ok(())
            } else {
                runner.begin(State { t: t0, q, v })?
            };
            self.has_begun = begun.is_ok();
            runner.on.log.told.start(runner.observer);
            let end = settings.end_of(runner.on.start, last);
            let made = begun.and_then(|()| runner.steps_to(end, last));
            self.status = made.unwrap_or_else(|failure| Status::Refused(failure.into()));
        } else {
            runner.on.log.told.start(runner.observer);
        }
        Ok(Summary {
            status: self.status.clone(),
            t: self.on.now().t,
            statistics: self.on.log.statistics,
        })
    }

    fn now(&self) -> Now<'_> {
        self.on.now()
    }

    fn record(&self) -> (Option<BodyLayout>, Keep) {
        let bodies = BodyLayout::new(self.driver.model.bodies.system.dof());
        let keep = Keep::of_steps(self.driver.settings.limits.max_memory);
        (Some(bodies), keep)
    }

    fn save(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::new(Saved {
            on: self.on.clone(),
            status: self.status.clone(),
            has_begun: self.has_begun,
            step: self.driver.settings.step,
        })
    }
}
