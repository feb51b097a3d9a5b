//! The variational driver, and the loop over steps.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::failure::VariationalFailure;
use super::run::VariationalRun;
use super::runner::Runner;
use super::settings::{Chatter, Settings};
use crate::impact::{ImpactLaw, Selection, Unilateral};
use crate::mechanics::configuration::check_input;
use crate::mechanics::contact_frames::check_all_frames;
use crate::mechanics::kinetic::energy;
use crate::mechanics::{Measured, MechanicalSystem, Mechanism, State, UnilateralConstraints};
use crate::{InputError, Interrupt, Start, validate};

/// Limit of the steps of a run.
const MOST_STEPS: f64 = 1e9;

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
/// ends of steps. A contact opens when it needs no impulse. Efforts that depend on which contacts
/// are closed are those of the contacts closed at the start of a part of a step.
///
/// The order is two, through impacts and where slips turn in space too; it is one where friction
/// reverses within a step. Steps must be short beside the fastest motion: some ten a period, more
/// for large swings. Then energy stays within `O(h²)` between impacts for any time. The kinetic
/// energy of an elastic impact is kept to rounding. Steps without closed contacts and impacts
/// allocate nothing but the log.
///
/// A step, or a part of one before or after an impact, without closed contacts that Newton's method
/// does not solve whole, or in which it meets what is not finite, is made in two halves, once, and
/// told ([`VariationalRun::halved`]). The run ends where that does not help, and where contacts are
/// closed: with [`VariationalFailure::NewtonFailed`] or [`VariationalFailure::NotFinite`].
///
/// ```
/// use saltation::Start;
/// use saltation::models::DoublePendulum;
/// use saltation::variational::Variational;
/// let mut driver = Variational::new(DoublePendulum::default())?.time_step(0.0025); // an elastic wall
/// let run = driver.integrate(&Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0, 0.0]), 1.5)?.completed()?;
/// assert!((run.events()[0].t - 0.755987814701).abs() < 4e-6);
/// assert_eq!(run.times().len(), 601);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Debug)]
pub struct Variational<S> {
    pub(super) settings: Settings,
    system: Measured<S>,
}

impl<S> Variational<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// With the default law, [`Unilateral`].
    ///
    /// # Errors
    /// [`InputError::EmptySystem`], [`InputError::NotCoordinateRates`], and
    /// [`InputError::BadSetting`] for more than 10,000 velocities or contacts.
    pub fn new(system: S) -> Result<Self, InputError> {
        Self::with_law(system, Unilateral)
    }

    /// With a law of one's choice. One that gives several outcomes wants a
    /// [`selection`](Self::selection).
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_law(
        system: S,
        law: impl ImpactLaw + Send + Sync + 'static,
    ) -> Result<Self, InputError> {
        let system = Measured::checked(system)?;
        super::midpoint::Stepper::new(&system)?;
        Ok(Self {
            settings: Settings::new(Arc::new(law)),
            system,
        })
    }

    /// Length of a step (s); default 1 ms.
    #[must_use]
    pub fn time_step(mut self, step: f64) -> Self {
        self.settings.step = step;
        self
    }

    /// Which outcome is taken where the law has several. Default [`Selection::Single`].
    #[must_use]
    pub fn selection(mut self, selection: Selection) -> Self {
        self.settings.selection = selection;
        self
    }

    /// When impacts that follow each other closely are made plastic; none: never. Impacts are then
    /// followed until a rebound is below the tolerance of rates, or the run ends with
    /// [`VariationalFailure::TooManyImpacts`]. Default: closer than a step, or more than three in a step.
    #[must_use]
    pub fn chatter(mut self, rule: Option<Chatter>) -> Self {
        self.settings.chatter = rule;
        self
    }

    /// Says that coefficients of friction do not matter, in impacts and between them.
    #[must_use]
    pub fn frictionless(mut self) -> Self {
        self.settings.friction = false;
        self
    }

    /// Says that impacts are without friction, as in the paper, while closed contacts have it.
    /// Without this a law that ignores friction is refused for a system with friction.
    #[must_use]
    pub fn frictionless_impacts(mut self) -> Self {
        self.settings.frictionless_impacts = true;
        self
    }

    /// Gaps within this of zero are zero (m); default 1e-10.
    #[must_use]
    pub fn gap_tolerance(mut self, tolerance: f64) -> Self {
        self.settings.gap_tolerance = tolerance;
        self
    }

    /// Contacts that part no faster than this after an impact stay closed (m/s); default 1e-8.
    #[must_use]
    pub fn rate_tolerance(mut self, tolerance: f64) -> Self {
        self.settings.rate_tolerance = tolerance;
        self
    }

    /// Limit of the impacts in one step; default 1000.
    #[must_use]
    pub fn max_impacts(mut self, most: usize) -> Self {
        self.settings.max_impacts = most;
        self
    }

    /// Limit of the memory of a run: its states and events (bytes). Default 2³⁰. A run that wants
    /// more ends with [`VariationalFailure::TooLarge`].
    #[must_use]
    pub fn max_memory(mut self, bytes: usize) -> Self {
        self.settings.max_memory = bytes;
        self
    }

    /// Ends runs, and searches of the law, when `interrupt` is set.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.settings.interrupt = interrupt.clone();
        self
    }

    /// The system.
    pub fn system(&self) -> &S {
        &self.system.system
    }

    /// The energy at a state `(q, v)`, kinetic and potential (J); none when the system has no
    /// [`potential`](MechanicalSystem::potential), or the state has another length.
    pub fn energy(&self, state: &[f64]) -> Option<f64> {
        let d = self.system.dof();
        (state.len() == 2 * d).then(|| energy(&self.system, &state[..d], &state[d..]))?
    }

    /// Integrates from positions and velocities to `tf`, in steps of equal length but for the last one,
    /// which may be shorter. At most 1e9 steps.
    ///
    /// Contacts with gaps of zero take part at the start: an impact where one approaches, closed
    /// where none parts. Gaps below zero by more than the tolerance are refused.
    ///
    /// # Errors
    /// [`VariationalFailure::Input`] for bad lengths, numbers, settings and starts. What the run meets on its
    /// way is the [`failure`](VariationalRun::failure) of the run.
    pub fn integrate(
        &mut self,
        start: &Start<'_>,
        tf: f64,
    ) -> Result<VariationalRun, VariationalFailure> {
        let (run, _) = integrate(&self.settings, &self.system, start, tf, false)?;
        Ok(run)
    }

    /// The run, and the derivative of its end `(q, v)` by its start: `2d × 2d`.
    ///
    /// Steps are differentiated by the implicit function theorem, impacts by differences of the
    /// law at the same contacts, their times by the rate of the gap. Errors are about 1e-8 of the
    /// entries. A run with several contacts that close at one instant, with a touch, with closed
    /// contacts, or with a step in two halves has none here: the event-driven driver and its Bouligand derivative know
    /// these.
    ///
    /// ```
    /// use saltation::Start;
    /// use saltation::models::DoublePendulum;
    /// use saltation::variational::Variational;
    /// let mut driver = Variational::new(DoublePendulum::default())?.time_step(0.01);
    /// let start = Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0; 2]);
    /// let (run, derivative) = driver.derivative(&start, 1.5)?;
    /// assert_eq!((run.events().len(), derivative.shape()), (1, (4, 4)));
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate); also what ended the run early, and
    /// [`VariationalFailure::NoDerivative`].
    pub fn derivative(
        &mut self,
        start: &Start<'_>,
        tf: f64,
    ) -> Result<(VariationalRun, DMatrix<f64>), VariationalFailure> {
        let (run, derivative) = integrate(&self.settings, &self.system, start, tf, true)?;
        let run = run.completed()?;
        derivative.map(|derivative| (run, derivative))
    }
}

/// See [`Variational::integrate`] and [`Variational::derivative`]. Compiled once, for all systems.
fn integrate(
    settings: &Settings,
    system: &dyn Mechanism,
    start: &Start<'_>,
    tf: f64,
    derive: bool,
) -> Result<(VariationalRun, Result<DMatrix<f64>, VariationalFailure>), VariationalFailure> {
    let d = system.dof();
    let State { t: t0, q, v } = State::of(start)?;
    check_input(d, d, t0, q, v)?;
    validate::finite("tf", &[tf])?;
    if tf < t0 {
        return Err(InputError::TimeReversed { t0, tf }.into());
    }
    settings.check(system)?;
    if settings.friction {
        check_all_frames(system, q)?;
    }
    // A step that ends within rounding of the end is the last one.
    let least = f64::from(u8::from(tf > t0));
    let steps = ((tf - t0) / settings.step - 1e-9).ceil().max(least);
    let rule = "must give at most 1e9 steps";
    validate::unless(steps <= MOST_STEPS, "step", settings.step, rule)?;
    let mut runner = Runner::new(settings, system, derive)?;
    runner.start(t0, q, v)?;
    // At most MOST_STEPS.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked above"
    )]
    let steps = steps as usize;
    for k in 1..=steps {
        let end = if k == steps {
            tf
        } else {
            t0 + k as f64 * settings.step
        };
        if let Err(failure) = runner.step_to(end) {
            let none = Err(failure.clone());
            return Ok((runner.finish(Some(failure)), none));
        }
    }
    let derivative = match runner.log.parts.take() {
        Some(parts) => runner.derivative(&parts),
        None => Ok(DMatrix::zeros(0, 0)),
    };
    Ok((runner.finish(None), derivative))
}
