//! Motors: proportional and derivative control with a limit of the effort, implicit in the step.

use std::fmt;
use std::sync::Arc;

use super::axis::{Axis, with_row};
use super::compliance::{NEAR_RIGID, least};
use crate::compliant::{Problem, RowLaw, StepState, StepTerm};
use crate::{InputError, validate};

/// The goal of a motor for one step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotorGoal {
    /// Position `q_d` at the end of the step (m, or rad).
    pub position: f64,
    /// Velocity `v_d` (m/s, or rad/s).
    pub velocity: f64,
    /// Feed-forward effort `u_ff` (N, or N m).
    pub effort: f64,
}

/// A motor on an axis: `u = clamp(−K_p (q − q_d) − K_d (v − v_d) + u_ff, ±e)`, with position and
/// velocity at the end of the step. Being implicit it is stable for any gains.
///
/// The angle of a hinge is taken as the one nearest to the goal, so that a goal may go on for any
/// number of turns while the motor stays within half a turn of it. A motor whose goal stays is a
/// spring with a damper; one with velocity gain alone drives at a speed, one without gains gives its
/// feed-forward effort.
///
/// Gains stiffer than the step resolves are scaled down, both by the same factor:
/// `R = 1/(dt (dt K_p + K_d))` is at least `β² w / 4π²` with the response `w` of the axis.
///
/// Adds one row; its impulse is `dt u`. The goal is held, or a function of the start of the step
/// ([`follow`](Self::follow)); between steps
/// [`Compliant::term_mut`](crate::Compliant::term_mut) finds the motor and
/// [`set_goal`](Self::set_goal) changes it.
///
/// ```
/// use saltation::Start;
/// use saltation::compliant::{Motor, MotorGoal, Compliant};
/// use saltation::models::LinkChain;
/// let motor = Motor::new(0).gains(100.0, 10.0).effort_limit(20.0);
/// let mut stepper = Compliant::new(LinkChain::new(1)?)?.term(motor);
/// stepper.start(&Start::at(0.0).q(&[0.0]).v(&[0.0]))?;
/// for _ in 0..200 {
///     let position = if stepper.t() < 1.0 { 0.5 } else { -0.5 };
///     if let Some(motor) = stepper.term_mut::<Motor>(0) {
///         motor.set_goal(MotorGoal { position, ..MotorGoal::default() });
///     }
///     stepper.step()?;
/// }
/// // The load holds the arm a little above its goal.
/// assert!((stepper.q()[0] + 0.5).abs() < 0.05);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Motor {
    axis: Axis,
    stiffness: f64,
    damping: f64,
    limit: f64,
    near_rigid: f64,
    goal: Goal,
}

#[derive(Clone)]
enum Goal {
    Held(MotorGoal),
    Follows(Arc<dyn Fn(&StepState<'_>) -> MotorGoal + Send + Sync>),
}

impl fmt::Debug for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Held(goal) => goal.fmt(f),
            Self::Follows(_) => f.write_str("Follows(..)"),
        }
    }
}

impl Motor {
    /// Without gains, feed-forward effort and limit: it does nothing yet.
    pub fn new(axis: impl Into<Axis>) -> Self {
        Self {
            axis: axis.into(),
            stiffness: 0.0,
            damping: 0.0,
            limit: f64::INFINITY,
            near_rigid: NEAR_RIGID,
            goal: Goal::Held(MotorGoal::default()),
        }
    }

    /// Gains `K_p` ≥ 0 (N/m, or N m/rad) and `K_d` ≥ 0 (N s/m, or N m s/rad); default 0.
    #[must_use]
    pub fn gains(mut self, stiffness: f64, damping: f64) -> Self {
        (self.stiffness, self.damping) = (stiffness, damping);
        self
    }

    /// Greatest effort `e` ≥ 0 (N, or N m); default `INFINITY`.
    #[must_use]
    pub fn effort_limit(mut self, limit: f64) -> Self {
        self.limit = limit;
        self
    }

    /// Near-rigid limit `β` ≥ 0 of the gains; default 0.1. 0 leaves gains as they are.
    #[must_use]
    pub fn near_rigid(mut self, beta: f64) -> Self {
        self.near_rigid = beta;
        self
    }

    /// The goal; default: position, velocity and feed-forward effort zero.
    #[must_use]
    pub fn goal(mut self, goal: MotorGoal) -> Self {
        self.set_goal(goal);
        self
    }

    /// A goal for each step, as a function of its start: a path in time, a controller.
    #[must_use]
    pub fn follow(
        mut self,
        goal: impl Fn(&StepState<'_>) -> MotorGoal + Send + Sync + 'static,
    ) -> Self {
        self.goal = Goal::Follows(Arc::new(goal));
        self
    }

    /// Changes the goal for the steps to come.
    pub fn set_goal(&mut self, goal: MotorGoal) {
        self.goal = Goal::Held(goal);
    }

    /// The law of the row, from its response and the distance from the goal `q_d − q`.
    fn law(&self, dt: f64, response: f64, distance: f64, goal: &MotorGoal) -> RowLaw {
        let bound = dt * self.limit;
        let slope = dt * (dt * self.stiffness + self.damping);
        if slope == 0.0 {
            // The feed-forward effort alone: a constant impulse.
            let impulse = (dt * goal.effort).max(-bound).min(bound);
            return RowLaw {
                regularisation: response,
                target: 0.0,
                low: impulse,
                high: impulse,
            };
        }
        let regularisation = slope.recip().max(least(self.near_rigid, response));
        // Of the gains, where the near-rigid limit holds them down.
        let kept = 1.0 / (slope * regularisation);
        let pull = self.stiffness * distance + self.damping * goal.velocity;
        RowLaw {
            regularisation,
            target: regularisation * dt * (kept * pull + goal.effort),
            low: -bound,
            high: bound,
        }
    }
}

impl StepTerm for Motor {
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        self.axis.check(coordinates, dof)?;
        validate::not_negative("gain of a motor", &[self.stiffness, self.damping])?;
        let rule = "must be ≥ 0";
        validate::unless(
            self.limit >= 0.0,
            "effort limit of a motor",
            self.limit,
            rule,
        )?;
        validate::not_negative("near_rigid of a motor", &[self.near_rigid])?;
        match &self.goal {
            Goal::Held(goal) => goal.check(),
            Goal::Follows(_) => Ok(()),
        }
    }

    fn axes(&self, visit: &mut dyn FnMut(&Axis)) {
        visit(&self.axis);
    }

    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        self.check(state.q.len(), state.v.len())?;
        let at = self.axis.in_step(state, problem)?;
        let goal = match &self.goal {
            Goal::Held(goal) => *goal,
            Goal::Follows(function) => function(state),
        };
        goal.check()?;
        let distance = goal.position - at.nearest_to(goal.position);
        with_row(problem, at.rate(1.0), |problem, row| {
            let response = problem.row_response(row)?;
            problem.add_row(self.law(state.dt, response, distance, &goal), row)
        })?;
        Ok(())
    }
}

impl MotorGoal {
    fn check(&self) -> Result<(), InputError> {
        let goal = [self.position, self.velocity, self.effort];
        validate::finite("goal of a motor (position, velocity, effort)", &goal)
    }
}
