//! When islands fall asleep.

use crate::{InputError, validate};

/// Lets islands of trees that are at rest sleep ([`Compliant::sleep`]). A tree that sleeps does not move
/// by a bit, is not solved, and its contacts with others that sleep and with fixed bodies are not looked
/// for: a heap at rest costs a few percent of what it costs awake.
///
/// An island is what contacts that are listed and [terms](super::StepTerm) join. It falls asleep at the end
/// of a step, whole, when
///
/// * each of its trees was **at rest** in all steps of the last [`time`](Self::time) seconds: its speed
///   ([`tree_speed`]) lay below [`speed`](Self::speed) at the end of the step, and the step changed its velocities by no
///   more than 1 % of what it would have changed them by without contacts and terms (or by a thousandth of `speed`);
/// * it is **held by the world**: by a contact that presses or a row of a term, with one tree alone. What floats or falls never
///   sleeps, however slow;
/// * nothing that acts on it **changes in time**: at rest there, its velocities without contacts and the
///   laws of its rows are the same for a step from the start of this one and from its end.
///
/// Its velocities become exactly zero, which takes no more than `½ m speed²` of kinetic energy of each body
/// of a scene (in general `½ λ speed²` of a tree, with the greatest eigenvalue `λ` of its mass matrix). What creeps, rolls, or is moved by
/// a motor more slowly than `speed` stops.
///
/// It wakes, whole, in the step in which
///
/// * a contact of one of its trees with one that is awake is listed: one that the step may close, or nearer than
///   [`least_margin`](super::Compliant::least_margin);
/// * its velocities without contacts differ from those with which it fell asleep, by more than rounding (1e-9):
///   an effort was applied, gravity changed, the wind blows;
/// * a row that holds it differs, or there is another: the goal of a motor moves, a [`Kinematic`] body sets off. So does what lies
///   upon that body, which is one island with it;
/// * the step has another length than those before: so have the last two of a run that its step does not divide;
/// * [`wake`](super::Compliant::wake), [`wake_all`](super::Compliant::wake_all), [`system_mut`](super::Compliant::system_mut),
///   [`exchange`](super::Compliant::exchange) (as [bodies that come or go](super::Compliant::add_body)) or a new
///   [`start`](super::Compliant::start) says so: the last four wake all.
///
/// What wakes goes on with the velocity zero, from where it lies, and does not fall asleep again within `time`: an island
/// that something awake touches is one with it, and sleeps when that does. Contacts that sleep are not
/// in [`contacts`](super::Compliant::contacts) and have no impulses there; rows of terms that sleep keep those of the last step that
/// they were solved in. Steps in which an island sleeps, or falls asleep, have no derivative
/// ([`CompliantFailure::NoDerivative`](super::CompliantFailure::NoDerivative)).
///
/// ```
/// use saltation::bodies::{Body, Scene, Shape};
/// use saltation::compliant::{Compliant, Sleep};
/// use saltation::Start;
/// let mut scene = Scene::new();
/// scene.add(Body::fixed(Shape::plane()))?;
/// let cube = scene.add(Body::new(Shape::cuboid([0.1; 3])?).position([0.0, 0.0, 0.1]))?;
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
/// # let _ = cube;
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// [`Compliant::sleep`]: super::Compliant::sleep
/// [`Kinematic`]: crate::bodies::Kinematic
/// [`tree_speed`]: crate::mechanics::MechanicalSystem::tree_speed
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sleep {
    /// Speed below which a tree is at rest (m/s, [`tree_speed`]); default 0.01.
    ///
    /// [`tree_speed`]: crate::mechanics::MechanicalSystem::tree_speed
    pub speed: f64,
    /// Time for which all trees of an island have to be at rest (s), at least one step; default 0.5. Make it longer than a
    /// quarter of the period of what swings.
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
    pub(in crate::compliant::stepping) fn validate(&self) -> Result<(), InputError> {
        validate::positive("speed of sleep", &[self.speed])?;
        validate::not_negative("time of sleep", &[self.time])
    }
}
