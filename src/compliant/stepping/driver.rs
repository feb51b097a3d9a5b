//! The compliant driver: steps of one length, each a convex contact problem.

use std::sync::Arc;

use nalgebra::DMatrix;

use super::scheme::Scheme;
use super::state::Core;
use super::statistics::{StepStatistics, StepTimes};
use crate::compliant::failure::CompliantFailure;
use crate::compliant::{Problem, Sleep, Softness, Solver, StepFriction, StepSolution};
#[cfg(doc)]
use crate::derivative::RunDerivative;
use crate::derivative::StepsDerivative;
use crate::mechanics::configuration::rate;
use crate::mechanics::measured::Sizes;
use crate::mechanics::motion::kinetic::energy;
use crate::mechanics::trees::check_trees;
use crate::mechanics::{ContactSource, Contacts, EnergyBalance, Measured, MechanicalSystem, State};
use crate::record::limits;
use crate::{InputError, Interrupt, Observer, Run, Start, Stop, Summary, validate};

/// The compliant driver: implicit steps of one length with compliant contacts and friction. Any
/// number of contacts may close and open in a step; each step is one convex problem with one
/// solution ([`Problem`]), for any [`MechanicalSystem`] with a [`ContactSource`]: a
/// [`ContactModel`](crate::ContactModel), of which the law and the tolerances are not read, a system
/// itself, or a [`Scene`](crate::bodies::Scene).
///
/// A step is made in three stages: the velocities `v*` without contacts by the [`Scheme`], the
/// contact problem, and the coordinates. Coordinates with `q̇ = N(q) v` are moved by
/// `q₀ + dt N v` and brought back by
/// [`project_configuration`](MechanicalSystem::project_configuration).
///
/// Contacts press by `−k a − τ k ȧ` with the [`stiffness`](crate::mechanics::UnilateralConstraints::stiffness)
/// `k` and the [`dissipation_time`](crate::mechanics::UnilateralConstraints::dissipation_time) `τ`
/// of the model, no stiffer than the step resolves ([`Softness`]). A contact with restitution gives back that part of
/// the speed with which it closes ([module](crate::compliant)); where friction or scheme do not allow
/// it, it is refused when a run starts (a [`ContactSource`] without a
/// [`contact_count`](ContactSource::contact_count): where such a contact is listed first), unless [`inelastic`](Self::inelastic) says that it does not matter. What the
/// model gets wrong, and by how much, is in the [module](crate::compliant).
///
/// Efforts that depend on closed contacts are those of the contacts that pressed in the step
/// before; in the first step, of those with a gap up to zero.
///
/// ```
/// use saltation::Start;
/// use saltation::compliant::Compliant;
/// use saltation::models::SlidingBlock;
/// let block = SlidingBlock { friction: 0.3, ..SlidingBlock::default() };
/// let mut stepper = Compliant::new(block)?.time_step(1e-3);
/// let run = stepper.integrate(&Start::at(0.0).q(&[0.0, 0.0]).v(&[2.0, 0.0]), 1.0)?.completed()?;
/// let stop = 4.0 / (2.0 * 0.3 * 9.81);
/// assert!((run.state()[0] - stop).abs() < 1e-2);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone)]
pub struct Compliant<S> {
    pub(super) core: Core,
    pub(super) system: S,
}

impl<S: std::fmt::Debug> std::fmt::Debug for Compliant<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Compliant")
            .field("system", &self.system)
            .field("t", &self.core.t)
            .finish_non_exhaustive()
    }
}

impl<S> Compliant<S>
where
    S: MechanicalSystem + ContactSource,
{
    /// With the default settings.
    ///
    /// # Errors
    /// [`InputError::EmptySystem`], but for a system of no trees: a scene in which nothing moves yet. Trees that
    /// do not follow each other.
    pub fn new(system: S) -> Result<Self, InputError> {
        if system.dof() == 0 && system.trees() > 0 {
            return Err(InputError::EmptySystem);
        }
        let sizes = Arc::new(Sizes::by_trees(&system)?);
        let measured = Measured::with(&system, &sizes);
        check_trees(&measured, measured.dof())?;
        Ok(Self {
            core: Core::new()?,
            system,
        })
    }

    /// Length of a step (s); default 10 ms.
    #[must_use]
    pub fn time_step(mut self, dt: f64) -> Self {
        self.core.settings.dt = dt;
        self
    }

    /// The scheme; default [`Scheme::SymplecticEuler`].
    #[must_use]
    pub fn scheme(mut self, scheme: Scheme) -> Self {
        self.core.settings.scheme = scheme;
        self
    }

    /// Near-rigid limit and softness of stiction of contacts that do not give their own; an example
    /// is in [`Softness`].
    #[must_use]
    pub fn softness(mut self, softness: Softness) -> Self {
        self.core.settings.softness = softness;
        self.wake_all();
        self
    }

    /// Contacts are listed up to this gap at least (m); default 1 mm. Those that the motion of a
    /// step can reach are listed beyond it
    /// ([`ContactSet::Reachable`](crate::mechanics::ContactSet::Reachable)).
    #[must_use]
    pub fn least_margin(mut self, margin: f64) -> Self {
        self.core.settings.least_margin = margin;
        self
    }

    /// The friction of contacts; default [`StepFriction::Coulomb`]. The law of the paper is
    /// [`StepFriction::Cone`].
    #[must_use]
    pub fn friction(mut self, friction: StepFriction) -> Self {
        self.core.settings.friction_law = friction;
        self.wake_all();
        self
    }

    /// Says that coefficients of friction do not matter, those of spinning and rolling friction included.
    #[must_use]
    pub fn frictionless(mut self) -> Self {
        self.core.settings.friction = false;
        self.wake_all();
        self
    }

    /// Contacts that approach no faster than this give nothing back, whatever their restitution
    /// (m/s); default 0. Nor do those that approach no faster than by what one step gives them,
    /// `|J_n (v* − v₀)|`, under its weight `g dt`: what bounces comes to rest.
    ///
    /// ```
    /// use saltation::bodies::{Body, Scene, Shape};
    /// use saltation::{Compliant, Start};
    /// let mut scene = Scene::new();
    /// scene.add(Body::fixed(Shape::plane()))?;
    /// let ball = Body::new(Shape::sphere(0.1)?).restitution(0.8);
    /// scene.add(ball.position([0.0, 0.0, 1.1]))?; // falls for 0.45 s from 1 m
    /// let (q, v) = scene.start();
    /// let start = Start::at(0.0).q(&q).v(&v);
    /// let mut stepper = Compliant::new(scene)?.time_step(1e-4);
    /// let highest = |run: &saltation::Run| {
    ///     let heights = (5000..10000).map(|k| run.q(k)[2]);
    ///     heights.fold(0.0, f64::max) - 0.1
    /// };
    /// let run = stepper.integrate(&start, 1.0)?.completed()?;
    /// assert!((highest(&run) - 0.64).abs() < 1e-3); // e² of it
    /// let mut stepper = stepper.slowest_rebound(5.0); // it arrives with 4.4 m/s
    /// assert!(highest(&stepper.integrate(&start, 1.0)?.completed()?) < 1e-6);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    #[must_use]
    pub fn slowest_rebound(mut self, speed: f64) -> Self {
        self.core.settings.slowest_rebound = speed;
        self
    }

    /// Lets islands that are at rest sleep until something wakes them; by default none does. When
    /// they fall asleep, what wakes them, and what is wrong with it is said in [`Sleep`].
    #[must_use]
    pub fn sleep(mut self, sleep: Sleep) -> Self {
        self.core.settings.sleep = Some(sleep);
        self
    }

    /// Says that coefficients of restitution do not matter: contacts dissipate by their
    /// dissipation time alone.
    #[must_use]
    pub fn inelastic(mut self) -> Self {
        self.core.settings.inelastic = true;
        self
    }

    /// The solver of the contact problem, with its tolerances. The default has `rtol` 1e-6; 1e-3 is
    /// enough for manipulation, 1e-5 for piles.
    #[must_use]
    pub fn solver(mut self, solver: Solver) -> Self {
        self.core.solver = solver;
        self
    }

    limits!(core.settings.limits);

    /// Ends runs, and the searches of the [`solver`](Self::solver), when `interrupt` is set.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.core.settings.limits.interrupt = interrupt.clone();
        self.core.settings.is_interruptible = true;
        self
    }

    /// The system.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// The system, to be changed between steps: a goal of a motor, a load. The number of velocities
    /// and of coordinates must stay; see [`exchange`](Self::exchange). All that
    /// [sleeps](Self::sleep) wakes: the driver cannot know what changes. Efforts are given by
    /// [`step_with`](Self::step_with) without that.
    pub fn system_mut(&mut self) -> &mut S {
        self.wake_all();
        self.core.once.terms = false;
        &mut self.system
    }

    /// Goes on with another system from these coordinates and velocities, at the same time, and
    /// returns the one before: where bodies came or went. Their numbers may be others. Settings, terms
    /// and counts stay; the next step is that of a run that starts here, and all are awake. For bodies of a scene see
    /// [`add_body`](Self::add_body).
    ///
    /// # Errors
    /// [`InputError::NotStarted`]; as [`start`](Self::start). The driver stands as before then.
    pub fn exchange(&mut self, system: S, q: &[f64], v: &[f64]) -> Result<S, InputError> {
        let core = &mut self.core;
        if core.t.is_nan() {
            return Err(InputError::NotStarted);
        }
        let mut next = core.clone();
        next.start(&system, core.t, q, v)?;
        (next.statistics, next.times) = (core.statistics, core.times);
        next.once.sunk = core.once.sunk;
        *core = next;
        Ok(std::mem::replace(&mut self.system, system))
    }

    /// The length of a step (s), and the speed below which trees may sleep; zero where none may.
    pub(crate) fn step_and_sleep(&self) -> (f64, f64) {
        let settings = &self.core.settings;
        let speed = settings.sleep.map_or(0.0, |rule| rule.speed);
        (settings.dt, speed)
    }

    /// Takes another length of steps (s).
    pub(crate) fn set_step(&mut self, dt: f64) {
        self.core.settings.dt = dt;
    }

    /// The relative tolerance of the solver.
    pub(crate) fn tolerance(&self) -> f64 {
        self.core.solver.settings.rtol
    }

    /// Starts at positions and velocities, for [`step`](Self::step). Settings are checked here, and in each step.
    ///
    /// # Errors
    /// Bad input.
    pub fn start(&mut self, start: &Start<'_>) -> Result<(), InputError> {
        let State { t, q, v } = State::of(start)?;
        self.core.start(&self.system, t, q, v)
    }

    /// Makes one step of the length [`time_step`](Self::time_step). Times of steps add up, with their rounding; those
    /// of a run are multiples of the step, so that what depends on time differs in its last bits.
    ///
    /// # Errors
    /// [`CompliantFailure`]; the state is then that at the start of the step. [`CompliantFailure::Input`] before
    /// [`start`](Self::start), and for bad settings.
    pub fn step(&mut self) -> Result<(), CompliantFailure> {
        let dt = self.core.settings.dt;
        self.core.step(&self.system, dt, &[])
    }

    /// Makes one step with a generalised effort beside that of the model, held over the step.
    ///
    /// # Errors
    /// As [`step`](Self::step); an effort of another length or that is not finite.
    pub fn step_with(&mut self, effort: &[f64]) -> Result<(), CompliantFailure> {
        self.core.check_effort(effort)?;
        let dt = self.core.settings.dt;
        self.core.step(&self.system, dt, effort)
    }

    /// Makes one step with a generalised effort, and carries columns `(dq, dv)`
    /// (`coordinates + dof` rows) from its start to its end; `effort_columns` (`dof` rows, as many
    /// columns) says how the effort changes with each. Chained over a rollout this is the
    /// derivative of its end by its start, by controls, or by parameters of a controller.
    ///
    /// The derivative is that at the contacts of the step, in their regions: one-sided where a
    /// contact is on a boundary, and that of no side where several are, as those of boxes that lie level on each
    /// other. Columns `dq` must lie within the manifold of coordinates
    /// (`dq = N(q) δ`). The model is differentiated by central differences, two evaluations of
    /// all contacts a column; errors are about 1e-9 of the entries with a solution to full
    /// precision ([`Solver::rtol`] 1e-10 or less).
    ///
    /// # Errors
    /// As [`step_with`](Self::step_with); [`CompliantFailure::NoDerivative`] where a contact is not
    /// found at a nearby state. State and columns are then those at the start of the step.
    pub fn step_along(
        &mut self,
        effort: &[f64],
        columns: &mut DMatrix<f64>,
        effort_columns: &DMatrix<f64>,
    ) -> Result<(), CompliantFailure> {
        self.core.check_effort(effort)?;
        let dt = self.core.settings.dt;
        self.core
            .step_along(&self.system, dt, effort, columns, Some(effort_columns))
    }

    /// The run from a start to `tf`, and what becomes of small changes of its start:
    /// `directions` are columns `(dq, dv)` at the start, the result those at the end.
    ///
    /// ```
    /// use saltation::Start;
    /// use saltation::nalgebra::DMatrix;
    /// use saltation::compliant::{Solver, Compliant};
    /// use saltation::models::SlidingBlock;
    /// let mut stepper = Compliant::new(SlidingBlock::default())?
    ///     .time_step(1e-3)
    ///     .solver(Solver::new().rtol(1e-10));
    /// let faster = DMatrix::from_column_slice(4, 1, &[0.0, 0.0, 1.0, 0.0]);
    /// let start = Start::at(0.0).q(&[0.0, 0.0]).v(&[2.0, 0.0]);
    /// let (_, end) = stepper.sensitivities(&start, 1.0, &faster)?;
    /// assert!((end[0] - 2.0 / (0.3 * 9.81)).abs() < 0.02); // x = v²/(2 μ g)
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate) and [`step_along`](Self::step_along), and what ended the
    /// run early.
    pub fn sensitivities(
        &mut self,
        start: &Start<'_>,
        tf: f64,
        directions: &DMatrix<f64>,
    ) -> Result<(Run, DMatrix<f64>), Stop> {
        let mut columns = directions.clone();
        let run = self
            .core
            .keep(&self.system, start, tf, Some(&mut columns))?;
        Ok((run.completed()?, columns))
    }

    /// The balance of energy of a run of this system.
    ///
    /// # Errors
    /// [`InputError::WrongLength`] for a run of another system.
    pub fn energy_balance(&self, run: &Run) -> Result<EnergyBalance, InputError> {
        EnergyBalance::of(&self.system, run)
    }

    /// The derivative of the state at `tf` by the start: by displacements of the configuration
    /// along velocities (`dq = N(q) δ`), then by velocities, so that the matrix has
    /// `coordinates + dof` rows and `2 dof` columns. It is that of the steps as they are made, at
    /// the contacts of each in their regions ([`step_along`](Self::step_along)): through an impact it
    /// comes near that of the motion only where steps are far shorter than contacts dissipate
    /// (`dt ≪ τ`). With a solver of full precision ([`Solver::rtol`] 1e-10 or less) to about 1e-9 a step.
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate). Why a run has no derivative is in its
    /// [verdict](RunDerivative::verdict).
    pub fn derivative(
        &mut self,
        start: &Start<'_>,
        tf: f64,
    ) -> Result<StepsDerivative, InputError> {
        let (q, _) = start.motion()?;
        let (nq, d) = (self.system.coordinates(), self.system.dof());
        validate::length("q", nq, q.len())?;
        let mut columns = DMatrix::zeros(nq + d, 2 * d);
        let (mut direction, mut rate_of) = (vec![0.0; d], vec![0.0; nq]);
        for i in 0..d {
            direction.fill(0.0);
            direction[i] = 1.0;
            rate(&self.system, q, &direction, &mut rate_of);
            columns.view_mut((0, i), (nq, 1)).copy_from_slice(&rate_of);
            columns[(nq + i, d + i)] = 1.0;
        }
        let run = self
            .core
            .keep(&self.system, start, tf, Some(&mut columns))?;
        Ok(StepsDerivative::new(run, Ok(columns)))
    }

    /// For each tree whether it [sleeps](Self::sleep); empty where none does.
    ///
    /// ```
    /// # use saltation::{Compliant, models::SlidingBlock};
    /// let stepper = Compliant::new(SlidingBlock::default())?;
    /// let asleep = stepper.asleep().iter().filter(|asleep| **asleep).count();
    /// assert_eq!(asleep, 0);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    pub fn asleep(&self) -> &[bool] {
        self.core.sleepers.asleep()
    }

    /// Wakes the island of a tree, and says whether it slept. It may fall asleep again after the time of
    /// [`Sleep`].
    pub fn wake(&mut self, tree: usize) -> bool {
        let woke = self.core.sleepers.wake(tree);
        self.core.sleepers.forget_awake();
        woke
    }

    /// Wakes all that sleeps.
    pub fn wake_all(&mut self) {
        self.core.sleepers.wake_all();
        self.core.sleepers.forget_awake();
    }

    /// Time (s); NaN before [`start`](Self::start).
    pub fn t(&self) -> f64 {
        self.core.t
    }

    /// Coordinates, at the end of the last step.
    pub fn q(&self) -> &[f64] {
        &self.core.q
    }

    /// Velocities, at the end of the last step.
    pub fn v(&self) -> &[f64] {
        &self.core.v
    }

    /// The contacts of the last step at its start, with their gaps there. Impulses and regions of
    /// [`solution`](Self::solution) have the same order. Listed are also contacts that the step
    /// might have reached and did not; not those of trees that [sleep](Self::sleep).
    pub fn contacts(&self) -> &Contacts {
        &self.core.contacts
    }

    /// The contact problem of the last step.
    pub fn problem(&self) -> &Problem {
        self.core.solved()
    }

    /// The solution of the last step: impulses and regions of its contacts, and how its islands
    /// were solved.
    pub fn solution(&self) -> &StepSolution {
        self.core.solution()
    }

    /// Counts since [`start`](Self::start).
    pub fn statistics(&self) -> &StepStatistics {
        &self.core.statistics
    }

    /// The time since [`start`](Self::start), by the clock, divided among the parts of steps.
    pub fn times(&self) -> &StepTimes {
        &self.core.times
    }

    /// Kinetic and potential energy (J); none when the system has no
    /// [`potential`](MechanicalSystem::potential). The energy in the springs of contacts is not in
    /// it.
    pub fn energy(&self) -> Option<f64> {
        if self.core.q.is_empty() {
            return None;
        }
        energy(&self.system, &self.core.q, &self.core.v)
    }

    /// Integrates from positions and velocities to `tf`, in steps of the length
    /// [`time_step`](Self::time_step), and keeps everything. Where it does not divide the time the
    /// last two share what is left. Where the model numbers its contacts
    /// ([`contact_count`](ContactSource::contact_count)), modes and events say which of them press
    /// in a step: from its end on. Overlap at the start is compression of their springs.
    ///
    /// # Errors
    /// Bad lengths, numbers and settings. What the run meets on its way is in its
    /// [`status`](Run::status); [`Status::reason`](crate::Status::reason) gives the
    /// [`CompliantFailure`].
    pub fn integrate(&mut self, start: &Start<'_>, tf: f64) -> Result<Run, InputError> {
        self.core.keep(&self.system, start, tf, None)
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
        self.core.observe(&self.system, start, tf, None, observer)
    }
}
