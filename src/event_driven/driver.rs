//! The event-driven driver of mechanical systems: the core integrator on [`ContactModel`], with
//! policies for accumulations and touches, and a log of contacts.

use super::absorption::Zeno;
use super::breakdown::Breakdown;
use super::drive::Drive;
use super::recorder::{Lasting, LoggedPath, Memory};
use super::recovery::Place;
use super::watching::grazing::{Grazing, Seen, Watcher};
use crate::derivative::{Derivative, Followed};
use crate::mechanics::ContactModel;
use crate::mechanics::friction::slow_slip::VelocityTolerance;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::record::{ContactEvent, ContactEventKind, limits};
use crate::{
    InputError, Integrator, Interrupt, Observer, PerEntry, Run, Start, Stop, Summary, validate,
};

/// The greatest relative tolerance with friction in space. A slip has no direction below hundreds of times what
/// tolerances leave open (`slow_slip`): by more than this whole slips would be among these.
const LOOSEST_IN_SPACE: f64 = 1e-6;

/// Runs a mechanical system with contacts.
///
/// Steps are as long as the smooth motion allows. Gaps are sampled within them as closely as
/// [`Resolution`](crate::Resolution) says. A contact that closes and opens again in less than a
/// hundredth of the run, over a thin obstacle, can be missed. The
/// [`time_scale`](MechanicalSystem::time_scale) of the model states the duration of the shortest
/// contact, and of the shortest push of a force that depends on time. Without it steps see pushes of a hundredth
/// of the run or more ([`Flow::until_switch`](crate::Flow::until_switch)); one that a step goes past all the same
/// is told ([`Doubt::Push`](crate::Doubt::Push)).
///
/// Contacts close in one impact where their gaps are zero together, to within rounding; with friction to
/// within [`gap_tolerance`](ContactModel::gap_tolerance), since there the impacts of one contact after
/// the other are another outcome. One that parts takes part in the impact of another where that stops it; where
/// that turns it round, its own impact follows. Contacts that are farther apart, but not by more than the
/// error of the run, are struck in the order that the run finds, and [`Doubt::Order`](crate::Doubt::Order)
/// says so.
///
/// ```
/// use saltation::models::SoftTrot;
/// use saltation::{ContactModel, EventDriven, Start};
/// let trot = SoftTrot::default();
/// let (q, v) = trot.start(0.01); // pitched: the rear foot lands first
/// let start = Start::at(0.0).q(&q).v(&v);
/// let run = EventDriven::new(ContactModel::new(trot))?.rtol(1e-9).integrate(&start, 0.65)?;
/// let closed: Vec<_> = run.phases().into_iter().map(|phase| phase.closed).collect();
/// assert_eq!(closed, [vec![], vec![0], vec![0, 1]]);
/// assert!(run.events()[0].approach[0] < -3.0 && run.events()[0].impulses[0] > 0.3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Debug)]
pub struct EventDriven<S> {
    pub(super) integrator: Integrator<ContactModel<S>>,
    zeno: Zeno,
    zeno_time: Option<f64>,
    zeno_tolerance: f64,
    grazing: Grazing,
}

/// With a model of its own.
impl<S: Clone> Clone for EventDriven<S> {
    fn clone(&self) -> Self {
        Self {
            integrator: self.integrator.apart(),
            zeno: self.zeno,
            zeno_time: self.zeno_time,
            zeno_tolerance: self.zeno_tolerance,
            grazing: self.grazing,
        }
    }
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
        let sizes = &model.bodies.fixed;
        // Sizes that are refused are zeros, and refused by name.
        if sizes.nq == 0 && sizes.d > 0 {
            return Err(InputError::EmptySystem);
        }
        Ok(Self {
            integrator: Integrator::new(model)?,
            zeno: Zeno::default(),
            zeno_time: None,
            zeno_tolerance: 0.0,
            grazing: Grazing::default(),
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

    limits!(integrator.driver.settings.limits);

    /// Ends runs with [`Stop::Interrupted`](crate::Stop::Interrupted) when `interrupt` is set, with
    /// all that was computed: the searches within one event look at it too, unless a [`Derivative`]
    /// shares the model.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.integrator = self.integrator.interrupt(interrupt);
        // A model that a derivative shares keeps its own.
        let change = |model: &mut ContactModel<S>| model.interrupt = interrupt.clone();
        let _ = self.integrator.change(change);
        self
    }

    /// Relative tolerance of the smooth phase, as [`Integrator::rtol`]; default 1e-6. With friction in space runs keep
    /// to 1e-6 where this is more: the direction of a slow slip would not be known.
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

    /// Sets the time before an accumulation at which it counts as reached (s); default a millionth
    /// of the run, so that a longer run takes in an accumulation a little earlier.
    #[must_use]
    pub fn zeno_time(mut self, time: f64) -> Self {
        self.zeno_time = Some(time);
        self
    }

    /// Sums an accumulation up as soon as the bound of the error of its time is at most this (s), or no
    /// less than what the rounding of gaps makes of it, so that further impacts would only add to it;
    /// default 0: not before [`zeno_time`](Self::zeno_time). What follows is that of all impacts to come
    /// at once. Where something else happens before, or the contacts do not stay closed, impacts are
    /// followed further. So are those of an accumulation beyond the end of a run, or of a part of it.
    ///
    /// It bounds the time. Friction is that of one impulse in the direction in which a contact slips at the
    /// end: what slips in space, and is turned by forces along the surface meanwhile, is off by the turn. So is a
    /// slip that the impacts of several contacts turn round, one after the other.
    #[must_use]
    pub fn zeno_tolerance(mut self, tolerance: f64) -> Self {
        self.zeno_tolerance = tolerance;
        self
    }

    /// The policy where a gap is touched. Default [`Grazing::Error`].
    #[must_use]
    pub fn grazing(mut self, policy: Grazing) -> Self {
        self.grazing = policy;
        self
    }

    /// The model.
    pub fn model(&self) -> &ContactModel<S> {
        self.integrator.system()
    }

    /// Integrates from positions and velocities to `tf` and keeps everything. Guard `k` of the run
    /// is contact `k`, its gap while it is open and its force while it is closed; flag `k` of its
    /// modes is on while contact `k` is closed. With friction guards are more: those of
    /// [`ContactModel`], quantity by quantity.
    ///
    /// To go on from an earlier run, start at its [`end`](Run::end). Contacts within the gap
    /// tolerance are decided anew, and are closed where the motion presses on them. Limits, logs
    /// and [`Run::is_guaranteed`] hold for each run.
    ///
    /// # Errors
    /// Bad input: wrong lengths and values, overlapping bodies, settings that make no sense. What
    /// the run meets on its way, the impact at its start included, is in its
    /// [`status`](Run::status): [`Status::reason`](crate::Status::reason) gives the [`Breakdown`]
    /// where the motion of the bodies could not go on.
    pub fn integrate(&mut self, start: &Start<'_>, tf: f64) -> Result<Run, InputError> {
        let (state, near) = self.prepare(start, tf)?;
        let mut path = self.integrator.settings().path(tf - start.t);
        let summary = self.run(state, tf, near, &mut path)?;
        Ok(Run::new(path, summary, Some(self.model().layout())))
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
        let (state, near) = self.prepare(start, tf)?;
        self.run(state, tf, near, observer)
    }

    /// Refuses what makes no sense, and tells the model the tolerances of the run, which what is kept of it reads
    /// too; gives how close to an accumulation it counts as reached (s).
    fn prepare<'s>(&mut self, start: &Start<'s>, tf: f64) -> Result<(State<'s>, f64), InputError> {
        let start = State::of(start)?;
        validate::finite("t0", &[start.t])?;
        validate::finite("tf", &[tf])?;
        if tf < start.t {
            return Err(InputError::TimeReversed { t0: start.t, tf });
        }
        let near = self.check_options(start.t, tf)?;
        self.take_system()?;
        Ok((start, near))
    }

    fn run(
        &mut self,
        start: State<'_>,
        tf: f64,
        near: f64,
        observer: &mut dyn Observer,
    ) -> Result<Summary, InputError> {
        let mut drive = self.drive();
        let mut progress = drive.start(start)?;
        if !progress.is_settled {
            let Place { t, state, mode } = &progress.place;
            observer.start(*t, state, mode);
        }
        progress.near = near;
        drive.advance(&mut progress, tf, observer)
    }

    /// Tells the model what the tolerances leave open in velocities, and how heavy what touches is, where
    /// contacts slip.
    fn tell_tolerance(&mut self) -> Result<(), InputError> {
        let model = self.model().erased();
        let tangents = model.row_tangents();
        if tangents == 0 {
            return Ok(());
        }
        if tangents > 1 {
            self.integrator.lower_rtol_to(LOOSEST_IN_SPACE);
        }
        let model = self.model().erased();
        let settings = self.integrator.settings();
        let of_velocities = |of: &PerEntry| {
            let fixed = &model.bodies.fixed;
            (fixed.nq..fixed.nq + fixed.d).map(|i| of.get(i)).collect()
        };
        let tolerance = VelocityTolerance {
            relative: of_velocities(&settings.rtol),
            absolute: of_velocities(&settings.atol),
        };
        if model.velocity_tolerance == tolerance && model.lightest.is_some() {
            return Ok(());
        }
        let lightest = model.lightest.unwrap_or_else(|| model.lightest_contact());
        let change = |model: &mut ContactModel<S>| {
            model.velocity_tolerance = tolerance;
            model.lightest = Some(lightest);
        };
        self.integrator.change(change)
    }

    /// Reads anew what is kept of a system because it is constant: between runs, and between parts of a live one, a
    /// user may change that. True where its mass is another one.
    pub(super) fn read_constants(&mut self) -> Result<bool, InputError> {
        let model = self.model();
        model.erased().check_has_friction()?;
        model.forget_kept();
        let is_other = model.bodies.has_other_mass();
        if is_other {
            self.integrator.change(|model: &mut ContactModel<S>| {
                model.bodies.read_mass();
                model.lightest = None;
            })?;
        }
        Ok(is_other)
    }

    /// Takes the system as it is now, without an effort beside its own.
    pub(super) fn take_system(&mut self) -> Result<(), InputError> {
        self.read_constants()?;
        self.apply(&[])
    }

    /// Takes this effort beside that of the model from now on.
    pub(super) fn apply(&mut self, effort: &[f64]) -> Result<(), InputError> {
        self.tell_tolerance()?;
        if self.model().bodies.fixed.applied() == effort {
            return Ok(());
        }
        let change = |model: &mut ContactModel<S>| model.bodies.fixed.apply(effort);
        self.integrator.change(change)?
    }

    pub(super) fn drive(&mut self) -> Drive<'_> {
        let (zeno, zeno_tolerance, grazing) = (self.zeno, self.zeno_tolerance, self.grazing);
        let (model, driver, _) = self.integrator.parts();
        Drive {
            model: model.erased(),
            driver,
            zeno,
            zeno_tolerance,
            grazing,
        }
    }

    /// The derivative of the state at `tf` with respect to `(q, v)` at the start, by the core
    /// integrator with the settings of this simulation: [`Integrator::derivative`]. Directions are
    /// `(dq, dv)`; with an impact at the start, they are displacements of the state after it. With
    /// friction, displacements that leave contacts that are closed at the start, or let those slip that
    /// stick, count as their part along them: that which an impulse of these contacts leaves.
    ///
    /// The policies do not apply. An accumulation is followed impact by impact, as far as gaps and
    /// rates resolve it; where a hundred bounces lower than that come no sooner each, the run ends with
    /// [`Breakdown::Zeno`](crate::event_driven::Breakdown::Zeno). Where the run is refused the derivative ends, and
    /// its verdict says why.
    ///
    /// An impact divides the error of the row of its gap by its speed of approach. Where impacts accumulate, write
    /// [`gap_row`](crate::mechanics::UnilateralConstraints::gap_row). Rows that are differences are extrapolated there;
    /// with friction, or beside other closed contacts, that is not enough, and
    /// [`DifferencesDisagree`](crate::NoDerivative::DifferencesDisagree) says so. With friction each column takes
    /// longer than a run.
    ///
    /// ```
    /// use saltation::models::SoftTrot;
    /// use saltation::{ContactModel, EventDriven, Start, Verdict};
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
        self.take_system()?;
        let State { t, q, v } = State::of(start)?;
        let (settled, impact) = self.model().erased().recorded_start(t, q, v)?;
        let bodies = self.model().layout();
        let mut memory = Memory::new(self.model().erased(), t);
        let event = ContactEvent::new(t, ContactEventKind::Contact);
        let before = [q, v].concat();
        memory.begin(self.model().erased(), &before, &settled, &impact, event);
        let path = self.integrator.settings().path(tf - start.t);
        let (system, _, settings) = self.integrator.shared();
        // Touches are a matter of the verdict.
        let (model, seen) = (system.erased(), Seen::default());
        let watcher = Watcher::new(model, &settings, Grazing::Ignore, seen, f64::INFINITY);
        let observer = LoggedPath {
            path,
            memory,
            watcher,
            lasting: Lasting::default(),
        };
        let start = settled.as_start();
        let finish = |LoggedPath { path, watcher, .. }: LoggedPath<'_>| Followed {
            path,
            bodies: Some(bodies),
            refused: watcher.trouble.map(Stop::from),
        };
        let onto = self.model().erased().onto_contacts(&settled);
        let found = self
            .integrator
            .derivative_followed(&start, tf, onto, observer, finish);
        Ok(found?)
    }

    /// The time before an accumulation at which it counts as reached, in a run or a part of one (s).
    pub(super) fn near(&self, t0: f64, tf: f64) -> f64 {
        self.zeno_time.unwrap_or(1e-6 * (tf - t0).abs())
    }

    /// Refuses settings that make no sense, before the start is looked at; gives how close to an
    /// accumulation it counts as reached (s).
    pub(super) fn check_options(&self, t0: f64, tf: f64) -> Result<f64, InputError> {
        let near = self.near(t0, tf);
        validate::not_negative("zeno_time", &[near])?;
        validate::not_negative("zeno_tolerance", &[self.zeno_tolerance])?;
        self.integrator.check_options()?;
        Ok(near)
    }
}
