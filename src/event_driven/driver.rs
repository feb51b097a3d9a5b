//! The event-driven driver of mechanical systems: the core integrator on [`ContactModel`], with
//! policies for accumulations and touches, and a log of contacts.

use super::breakdown::Breakdown;
use super::drive::Drive;
use super::grazing::Grazing;
use super::run::MechanicalRun;
use super::zeno::Zeno;
use crate::derivative::Derivative;
use crate::mechanics::ContactModel;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::{InputError, Integrator, Interrupt, PerEntry, Start, validate};

/// Runs a mechanical system with contacts.
///
/// Steps are as long as the smooth motion allows. Gaps are sampled within them as closely as
/// [`Resolution`](crate::Resolution) says. A contact that closes and opens again in less than a
/// hundredth of the run, over a thin obstacle, can be missed. The
/// [`time_scale`](MechanicalSystem::time_scale) of the model states the duration of the shortest
/// contact.
///
/// ```
/// use saltation::Start;
/// use saltation::{ContactModel, EventDriven};
/// use saltation::models::SoftTrot;
/// let trot = SoftTrot::default();
/// let (q, v) = trot.start(0.01); // pitched: the rear foot lands first
/// let start = Start::at(0.0).q(&q).v(&v);
/// let run = EventDriven::new(ContactModel::new(trot))?.rtol(1e-9).integrate(&start, 0.65)?;
/// let closed: Vec<_> = run.modes().into_iter().map(|mode| mode.closed).collect();
/// assert_eq!(closed, [vec![], vec![0], vec![0, 1]]);
/// assert!(run.events()[0].approach[0] < -3.0 && run.events()[0].impulses[0] > 0.3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Debug)]
pub struct EventDriven<S> {
    integrator: Integrator<ContactModel<S>>,
    zeno: Zeno,
    zeno_time: Option<f64>,
    grazing: Grazing,
    cluster: f64,
}

impl<S> EventDriven<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// A simulation of `model`.
    ///
    /// # Errors
    /// [`InputError::EmptySystem`] for a system without coordinates.
    pub fn new(model: ContactModel<S>) -> Result<Self, InputError> {
        Ok(Self {
            integrator: Integrator::new(model)?,
            zeno: Zeno::default(),
            zeno_time: None,
            grazing: Grazing::default(),
            cluster: 0.0,
        })
    }

    /// Changes the settings of the integrator: tolerances, steps, projections.
    #[must_use]
    pub fn configure(
        mut self,
        change: impl FnOnce(Integrator<ContactModel<S>>) -> Integrator<ContactModel<S>>,
    ) -> Self {
        self.integrator = change(self.integrator);
        self
    }

    /// Ends runs with [`Stop::Interrupted`](crate::Stop::Interrupted) when `interrupt` is set, with
    /// all that was computed, as [`Integrator::interrupt`] and [`ContactModel::interrupt`] do: the
    /// searches within one event look at it too, unless a [`Derivative`] shares the model.
    #[must_use]
    pub fn interrupt(self, interrupt: &Interrupt) -> Self {
        self.configure(|integrator| {
            let change = |model: &mut ContactModel<S>| model.interrupt = interrupt.clone();
            integrator.interrupt(interrupt).changed(change)
        })
    }

    /// Relative tolerance of the smooth phase, as [`Integrator::rtol`]; default 1e-6.
    #[must_use]
    pub fn rtol(self, rtol: impl Into<PerEntry>) -> Self {
        self.configure(|integrator| integrator.rtol(rtol))
    }

    /// Absolute tolerance, as [`Integrator::atol`]: in the unit of each entry of `(q, v)`; default
    /// 1e-9.
    #[must_use]
    pub fn atol(self, atol: impl Into<PerEntry>) -> Self {
        self.configure(|integrator| integrator.atol(atol))
    }

    /// The policy where impacts accumulate. Default [`Zeno::Error`].
    #[must_use]
    pub fn zeno(mut self, policy: Zeno) -> Self {
        self.zeno = policy;
        self
    }

    /// How close to an accumulation it counts as reached (s); default a millionth of the run, so
    /// that a longer run takes in an accumulation a little earlier.
    #[must_use]
    pub fn zeno_time(mut self, time: f64) -> Self {
        self.zeno_time = Some(time);
        self
    }

    /// The policy where a gap is touched. Default [`Grazing::Error`].
    #[must_use]
    pub fn grazing(mut self, policy: Grazing) -> Self {
        self.grazing = policy;
        self
    }

    /// Events closer than this to the one before share its cluster number in the log (s);
    /// default 0. A cluster is no corner: what is one instant to the run is told by
    /// [`Integrator::corner_tolerance`].
    #[must_use]
    pub fn cluster_time(mut self, time: f64) -> Self {
        self.cluster = time;
        self
    }

    /// The model.
    pub fn model(&self) -> &ContactModel<S> {
        self.integrator.system()
    }

    /// Integrates from positions and velocities to `tf`.
    ///
    /// To go on from an earlier run, give `q`, `v` and the time of its end
    /// ([`Trajectory::state`](crate::Trajectory::state)). Contacts within the gap tolerance are
    /// decided anew, and are closed where the motion presses on them; the contact mode is not
    /// needed. Limits, logs and [`MechanicalRun::is_guaranteed`] hold for each run.
    ///
    /// # Errors
    /// As [`ContactModel::start`], and [`InputError::NotFinite`] and [`InputError::BadSetting`] for
    /// `tf` and settings. What the run meets on its way is in the
    /// [`status`](crate::Trajectory::status) of its trajectory; [`MechanicalRun::breakdown`] gives
    /// it where the motion of the bodies could not go on.
    pub fn integrate(&mut self, start: &Start<'_>, tf: f64) -> Result<MechanicalRun, Breakdown> {
        validate::finite("tf", &[tf])?;
        let start = State::of(start)?;
        let near = self.check_options(start.t, tf)?;
        let (model, driver, _) = self.integrator.parts();
        let mut drive = Drive {
            model: model.erased(),
            driver,
            zeno: self.zeno,
            grazing: self.grazing,
        };
        drive.integrate(start, tf, near, self.cluster)
    }

    /// The derivative of the state at `tf` with respect to `(q, v)` at the start, by the core
    /// integrator with the settings of this simulation: [`Integrator::derivative`]. Directions are
    /// `(dq, dv)`; with an impact at the start, they are displacements of the state after it.
    ///
    /// The policies do not apply. An accumulation is followed impact by impact, as far as gaps and
    /// rates resolve it. Where the run is refused the derivative ends, and its verdict says why.
    ///
    /// ```
    /// use saltation::Start;
    /// use saltation::derivative::Verdict;
    /// use saltation::{ContactModel, EventDriven};
    /// use saltation::models::SoftTrot;
    /// let (q, v) = SoftTrot::default().start(0.0); // level: both feet land at one instant
    /// let mut simulation = EventDriven::new(ContactModel::new(SoftTrot::default()))?.rtol(1e-9);
    /// let derivative = simulation.derivative(&Start::at(0.0).q(&q).v(&v), 0.65)?;
    /// assert_eq!(*derivative.verdict(), Verdict::Classical);
    /// let by_pitch = derivative.apply(&[0.0, 1.0, -0.5, 0.5, 0.0, 0.0, 0.0, 0.0])?; // feet move with the body
    /// assert!((by_pitch[5] + 3.525506).abs() < 1e-5); // the pitch rate at the end
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`ContactModel::start`] and [`Integrator::derivative`].
    pub fn derivative(
        &mut self,
        start: &Start<'_>,
        tf: f64,
    ) -> Result<Derivative<ContactModel<S>>, Breakdown> {
        self.check_options(start.t, tf)?;
        let settled = self.model().start(start)?;
        Ok(self.integrator.derivative(&settled.as_start(), tf)?)
    }

    /// Refuses settings that make no sense, before the start is looked at; gives how close to an
    /// accumulation it counts as reached (s).
    fn check_options(&self, t0: f64, tf: f64) -> Result<f64, InputError> {
        let near = self.zeno_time.unwrap_or(1e-6 * (tf - t0).abs());
        for (name, value) in [("zeno_time", near), ("cluster_time", self.cluster)] {
            validate::not_negative(name, &[value])?;
        }
        self.integrator.check_options()?;
        Ok(near)
    }
}
