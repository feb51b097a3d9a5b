//! Settings of the solver.

use crate::{InputError, Interrupt, validate};

/// The line search: the way in which the length of a Newton step is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LineSearch {
    /// At the minimum along the step, to 1e-8 of the slope at its start; at most 100 evaluations.
    #[default]
    Exact,
    /// By Armijo's rule, at most 40 evaluations; where none of them decreases the cost, and after ten
    /// iterations, by the exact search.
    Armijo,
}

/// The friction of contacts in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum StepFriction {
    /// Coulomb's law: at most `μ` times the normal impulse of the same step. A contact presses where it
    /// would close within the step, and bodies that pass each other do not touch
    /// ([`Problem::coulomb`](super::Problem::coulomb)).
    #[default]
    Coulomb,
    /// The convex cone (Castro et al.), one convex problem a step: a contact that slides rides on a
    /// cushion `(dt + τ) μ |v_t|`, and bodies that pass each other this near push each other.
    Cone,
    /// At most `μ` times the normal impulse of the law at the start of the step
    /// ([`Problem::lag_friction`](super::Problem::lag_friction)): the bound is one step old. Contacts press from
    /// `(dt + τ)` times their approach on, along the normals of the start: a body that passes beside an edge this
    /// near is braked, however short the steps are.
    Lagged {
        /// The slip below which friction is proportional to it (m/s); 1e-4 is usual.
        slip: f64,
    },
}

/// Lets islands of trees that are at rest sleep ([`Compliant::sleep`]). A tree that sleeps does not move
/// by a bit, is not solved, and its contacts with others that sleep and with fixed bodies are not looked
/// for. What is left of the cost of a step is that of efforts and terms, which are evaluated as ever.
///
/// An island is what contacts that are listed and [terms](crate::compliant::StepTerm) join. It falls
/// asleep at the end of a step, whole, when
///
/// * each of its trees was **at rest** in all steps of the last [`time`](Self::time) seconds: its
///   speed ([`tree_speed`]) lay below [`speed`](Self::speed) at the end of the step, and the step
///   changed its velocities by no more than 1 % of what it would have changed them by without contacts
///   and terms (or by a thousandth of `speed`), with the same applied effort as the step before;
/// * it is **held by the world**: by a contact that presses or a row of a term, with one tree alone.
///   What floats or falls never sleeps, however slow, nor what a contact of a term touches;
/// * nothing that acts on it **changes in time**: at rest there, its velocities without contacts and the
///   laws of its rows are the same for a step from the start of this one and from its end.
///
/// Its velocities become exactly zero, which takes no more than `½ m speed²` of kinetic energy of
/// each body of a scene (in general `½ λ speed²` of a tree, with the greatest eigenvalue `λ` of its
/// mass matrix). What creeps, rolls, or is moved by a motor more slowly than `speed` stops.
///
/// It wakes, whole, in the step in which
///
/// * a contact of one of its trees with one that is awake is listed: one that the step may close, or nearer than
///   [`least_margin`](crate::compliant::Compliant::least_margin);
/// * its velocities without contacts differ from those with which it fell asleep, by more than rounding (1e-9):
///   an effort was applied, gravity changed, the wind blows;
/// * a row that holds it differs, or there is another, or a contact of a term: the goal of a motor moves,
///   a [`Kinematic`] body
///   sets off. So does what lies upon that body, which is one island with it;
/// * the step has another length than those before: so have the last two of a run that its step does not divide;
/// * [`wake`](crate::compliant::Compliant::wake), [`wake_all`](crate::compliant::Compliant::wake_all),
///   [`system_mut`](crate::compliant::Compliant::system_mut),
///   [`exchange`](crate::compliant::Compliant::exchange) (as
///   [bodies that come or go](crate::compliant::Compliant::add_body)) or a new
///   [`start`](crate::compliant::Compliant::start) says so: the last four wake all, as does other
///   [friction](crate::compliant::Compliant::friction) or [`Softness`](crate::compliant::Softness) of the driver;
/// * a saved run is taken up ([`resume`](crate::compliant::Compliant::resume), `restore`) in a model or a driver
///   in which something else holds it: contacts (those nearer than `least_margin`, by gap, rows and
///   coefficients), the inertia of its trees, or friction and softness of the driver are not those with
///   which it was saved.
///
/// An island that wakes goes on with the velocity zero, from where it lies, and does not fall asleep
/// again within `time`: an island that something awake touches is one with it, and sleeps when that
/// does. Contacts that sleep are not in [`contacts`](crate::compliant::Compliant::contacts) and have
/// no impulses there; rows of terms that sleep keep those of the last step that they were solved in.
/// Steps in which an island sleeps, or falls asleep, have no derivative
/// ([`CompliantFailure::NoDerivative`](crate::compliant::CompliantFailure::NoDerivative)).
///
/// ```
/// use saltation::bodies::{Body, Scene, Shape};
/// use saltation::compliant::{Compliant, Sleep};
/// use saltation::Start;
/// let mut scene = Scene::new();
/// scene.add(Body::fixed(Shape::plane()))?;
/// scene.add(Body::new(Shape::cuboid([0.1; 3])?).position([0.0, 0.0, 0.1]))?;
/// let (q, v) = scene.start();
/// let mut stepper = Compliant::new(scene)?.sleep(Sleep::default());
/// stepper.start(&Start::at(0.0).q(&q).v(&v))?;
/// for _ in 0..100 {
///     stepper.step()?;
/// }
/// assert_eq!(stepper.asleep(), [true]);
/// assert!(stepper.v().iter().all(|v| *v == 0.0) && stepper.contacts().is_empty());
/// let push = [0.0, 0.0, 0.0, 60.0, 0.0, 0.0]; // more than friction holds
/// for _ in 0..10 {
///     stepper.step_with(&push)?;
/// }
/// assert!(stepper.asleep().is_empty() && stepper.v()[3] > 0.1);
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// [`Compliant::sleep`]: crate::compliant::Compliant::sleep
/// [`Kinematic`]: crate::bodies::Kinematic
/// [`tree_speed`]: crate::mechanics::MechanicalSystem::tree_speed
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sleep {
    /// Speed below which a tree is at rest (m/s, [`tree_speed`]); default 0.01.
    ///
    /// [`tree_speed`]: crate::mechanics::MechanicalSystem::tree_speed
    pub speed: f64,
    /// Time for which all trees of an island have to be at rest (s), at least one step; default 0.5.
    /// Make it longer than a quarter of the period of what swings.
    pub time: f64,
}

impl Default for Sleep {
    fn default() -> Self {
        Self {
            speed: 0.01,
            time: 0.5,
        }
    }
}

impl Sleep {
    /// Refuses numbers that make no sense.
    pub(super) fn validate(&self) -> Result<(), InputError> {
        validate::positive("speed of sleep", &[self.speed])?;
        validate::not_negative("time of sleep", &[self.time])
    }
}

/// The start of Newton's method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Guess {
    /// At the cheapest of three: the given velocities, those without contacts `v*`, and rest (zero
    /// for trees with a contact, `v*` for others); island by island.
    #[default]
    Best,
    /// At the given velocities.
    Given,
}

/// Loads that come to rest do so in fewer iterations.
const FOLLOWING: usize = 100;

/// The part of `rtol` within which a guess is the solution of a problem that is solved again.
const NEAR: f64 = 1e-4;

/// Where iterations end, the tolerance of what a step changes is so many times `rtol`.
const MISSED: f64 = 100.0;

/// And no less than this part of `rtol` of the momenta themselves, which are rounded.
const ROUNDED: f64 = 1e-6;

/// Settings of [`Solver`](super::Solver).
#[derive(Clone, Debug)]
pub(crate) struct SolverSettings {
    pub(crate) rtol: f64,
    pub(crate) atol: f64,
    /// Absolute (J) and relative change of the cost that ends the iteration.
    pub(crate) cost_tolerance: (f64, f64),
    pub(crate) max_iterations: usize,
    /// Velocities that are no more than the rounding of places in a step: an island with these rests, however
    /// little its momenta and impulses, which are rounding too, balance (m/s).
    pub(crate) rest_speed: f64,
    /// The guess solves nearly the same problem. It is taken as the solution only if it is far within `rtol`: else what
    /// it misses, always to the same side, would add up over a run.
    pub(crate) is_repeated: bool,
    pub(crate) line_search: LineSearch,
    pub(crate) guess: Guess,
    pub(crate) islands: bool,
    pub(crate) history: bool,
    pub(crate) threads: usize,
    pub(crate) interrupt: Interrupt,
}

impl Default for SolverSettings {
    fn default() -> Self {
        Self {
            rtol: 1e-6,
            atol: 1e-14,
            cost_tolerance: (1e-30, 1e-15),
            max_iterations: 400,
            rest_speed: 0.0,
            is_repeated: false,
            line_search: LineSearch::Exact,
            guess: Guess::Best,
            islands: true,
            history: false,
            threads: 1,
            interrupt: Interrupt::new(),
        }
    }
}

impl SolverSettings {
    /// True when a gradient of this norm is small beside momenta and impulses (26).
    pub(crate) fn accepts(&self, residual: f64, scale: f64) -> bool {
        residual <= self.atol + self.rtol * scale
    }

    /// True when it is small also beside what the step changes of the momenta, which may be far less than
    /// these: what is missed of it adds up over many short steps. A guess, which misses it always to the
    /// same side, is to be closer.
    pub(crate) fn accepts_changes(
        &self,
        residual: f64,
        [scale, changes]: [f64; 2],
        is_guess: bool,
    ) -> bool {
        let allowed = match (is_guess, self.is_repeated) {
            (false, _) => MISSED * changes,
            (true, false) => changes,
            (true, true) => NEAR * scale,
        };
        residual <= self.atol + self.rtol * allowed.max(ROUNDED * scale)
    }

    /// Iterations in which the loads of Coulomb's friction follow the velocities; then they are fixed.
    pub(crate) fn following(&self) -> usize {
        (self.max_iterations / 4).min(FOLLOWING)
    }

    pub(crate) fn validate(&self) -> Result<(), InputError> {
        validate::not_negative("rtol", &[self.rtol])?;
        validate::not_negative("atol", &[self.atol])?;
        let rule = "must lie between 1 and 1000000";
        let most = self.max_iterations;
        let allowed = (1..=1_000_000).contains(&most);
        validate::unless(allowed, "max_iterations", most as f64, rule)?;
        let rule = "must lie between 1 and 1024";
        let allowed = (1..=1024).contains(&self.threads);
        validate::unless(allowed, "threads", self.threads as f64, rule)
    }
}
