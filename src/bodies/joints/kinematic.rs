//! Bodies that move along a path in time, whatever acts on them.

use std::fmt;
use std::sync::Arc;

use nalgebra::{Rotation3, UnitQuaternion};

use super::anchor::{Anchor, FreeBody, check_pair};
use super::frozen::held;
use crate::bodies::{Pose, Scene};
use crate::compliant::{Problem, StepState, StepTerm};
use crate::{InputError, validate};

/// Moves a body along a path in time, whatever acts on it: a lift, a turntable, a shaker, the hand of a
/// robot. Others meet it as a body of infinite mass, by contacts and by joints.
///
/// Each step takes it from where it is to the pose of the path at its end: its velocities are the
/// differences of poses by the length of the step, those of the middle of the step to second order. That is
/// so in schemes that move bodies by the velocities at the end of a step, as the default. A step turns by less than
/// half a turn. Start it on the
/// path: from beside it the first step takes it there.
///
/// It is a body of the scene that moves, with coordinates and a mass, of which nothing remains but that
/// contacts are a little softer for a light one. Its mass should not be far above those of the bodies that
/// it moves: the tolerance of the solver is a part of all momenta. Pairs with fixed bodies that it touches are
/// best [ignored](crate::bodies::Scene::ignore).
///
/// A path that is not where the body is at the start, as one that is written for `t = 0` in a run
/// that starts at another time, throws it there in one step, with all that it meets.
///
/// Adds six rows, moves along the axes of the world before turns about them; their impulses by `dt` are the
/// forces and torques that move it (N, N m), those for its own weight and inertia among them.
///
/// ```
/// use saltation::bodies::{Body, Kinematic, Pose, Scene, Shape};
/// use saltation::{Compliant, Start};
/// let mut scene = Scene::new();
/// let plate = scene.add(Body::new(Shape::cuboid([1.0, 0.5, 0.05])?).position([0.0, 0.0, -0.05]))?;
/// let load = scene.add(Body::new(Shape::cuboid([0.1; 3])?).position([0.0, 0.0, 0.1]))?;
/// let (q, v) = scene.start();
/// // To and fro with up to 4 m/s², below what friction of 0.5 holds.
/// let path = |t: f64| Pose::new([(1.0 - (4.0 * t).cos()) / 4.0, 0.0, -0.05], [1.0, 0.0, 0.0, 0.0]);
/// let moved = Kinematic::of(&scene, plate, path)?;
/// let mut stepper = Compliant::new(scene)?.term(moved);
/// let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 2.0)?.completed()?;
/// let at = |body: usize| stepper.system().position(body, stepper.q()).map_or(0.0, |at| at.x);
/// assert!((at(plate) - (1.0 - 8.0_f64.cos()) / 4.0).abs() < 1e-6);
/// assert!((at(load) - at(plate)).abs() < 1e-3);
/// # let _ = run;
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone)]
pub struct Kinematic {
    body: FreeBody,
    path: Arc<dyn Fn(f64) -> Result<Pose, InputError> + Send + Sync>,
}

impl fmt::Debug for Kinematic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kinematic")
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

impl Kinematic {
    /// Moves a body along a path: the pose of its centre and its axes as a function of time (s).
    ///
    /// Whatever the path refuses, as [`Pose::new`] does numbers that are not finite, ends the run with
    /// [`InputError::Path`], which names tree and time.
    pub fn new(
        body: impl Into<FreeBody>,
        path: impl Fn(f64) -> Result<Pose, InputError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            body: body.into(),
            path: Arc::new(path),
        }
    }

    /// As [`new`](Self::new), of a body of a scene by its number.
    ///
    /// # Errors
    /// [`InputError::NoSuch`]; [`InputError::WrongBody`] for a body that was removed or is fixed.
    pub fn of(
        scene: &Scene,
        body: usize,
        path: impl Fn(f64) -> Result<Pose, InputError> + Send + Sync + 'static,
    ) -> Result<Self, InputError> {
        Ok(Self::new(FreeBody::of(scene, body)?, path))
    }
}

impl StepTerm for Kinematic {
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        let body = Anchor::on(self.body, [0.0; 3]);
        check_pair([&body, &Anchor::world([0.0; 3])], coordinates, dof)
    }

    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        self.check(state.q.len(), state.v.len())?;
        let now = Anchor::on(self.body, [0.0; 3]).place(state.q)?.pose;
        let t = state.t + state.dt;
        let goal = (self.path)(t).map_err(|reason| InputError::Path {
            tree: self.body.tree,
            t,
            reason: Box::new(reason),
        })?;
        let speed = (goal.position() - now.position()) / state.dt;
        // A step turns by 2 atan(ω dt/2).
        let turn = goal.rotation() * now.rotation().transpose();
        let turn = UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(turn));
        let rule = "a path must turn by less than half a turn in a step, to 0.1 rad";
        validate::unless(turn.w.abs() > 0.025, "turn of a path", turn.angle(), rule).map_err(
            |reason| InputError::Path {
                tree: self.body.tree,
                t,
                reason: Box::new(reason),
            },
        )?;
        let spin = turn.imag() * (2.0 / (state.dt * turn.w));
        for number in 0..6 {
            let target = if number < 3 {
                speed[number]
            } else {
                spin[number - 3]
            };
            held(self.body, number, target, problem)?;
        }
        Ok(())
    }
}
