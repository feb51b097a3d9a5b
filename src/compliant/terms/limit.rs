//! Limits of joints.

use super::axis::{Axis, with_row};
use super::compliance::{Bounds, Compliance};
use crate::compliant::{Problem, StepState, StepTerm};
use crate::{InputError, validate};

/// Keeps an axis between two limits: an end stop pushes back and does not pull.
///
/// The angle of a hinge is taken as the one nearest to the middle of both limits: they are finite,
/// less than a turn apart, and may lie beyond ±π.
///
/// Adds a row for each limit that is finite, the lower first. Its impulse
/// ([`StepSolution::row_impulses`](crate::compliant::StepSolution::row_impulses)) is positive where the
/// stop pushes. Under a load `F` a stop gives way by `R dt (dt + τ) F` ([`Compliance`]).
///
/// ```
/// use saltation::Start;
/// use saltation::compliant::{JointLimit, Compliant};
/// use saltation::models::LinkChain;
/// let pendulum = LinkChain::new(1)?;
/// let stop = JointLimit::new(0, 0.2, f64::INFINITY);
/// let mut stepper = Compliant::new(pendulum)?.term(stop);
/// let run = stepper.integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 5.0)?.completed()?;
/// assert!((run.state()[0] - 0.2).abs() < 1e-5);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct JointLimit {
    axis: Axis,
    lower: f64,
    upper: f64,
    compliance: Compliance,
}

impl JointLimit {
    /// Limits (m, or rad), `lower < upper`; an infinite one is no limit.
    pub fn new(axis: impl Into<Axis>, lower: f64, upper: f64) -> Self {
        Self {
            axis: axis.into(),
            lower,
            upper,
            compliance: Compliance::default(),
        }
    }

    /// Sets the compliance of the stops; by default rigid.
    #[must_use]
    pub fn compliance(mut self, compliance: Compliance) -> Self {
        self.compliance = compliance;
        self
    }
}

impl StepTerm for JointLimit {
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        self.axis.check(coordinates, dof)?;
        let (lower, upper) = (self.lower, self.upper);
        let rule = "the lower limit of a joint must lie below the upper one";
        validate::unless(lower < upper, "lower limit", lower, rule)?;
        let rule = "a limit that nothing can reach";
        let reachable = lower < f64::INFINITY && upper > f64::NEG_INFINITY;
        validate::unless(reachable, "limit of a joint", lower, rule)?;
        let (period, rule) = (
            self.axis.period(),
            "an axis that turns on needs two limits that are less than a turn apart",
        );
        let is_known = period == f64::INFINITY || upper - lower < period;
        validate::unless(is_known, "range of a joint", upper - lower, rule)?;
        self.compliance.check()
    }

    fn axes(&self, visit: &mut dyn FnMut(&Axis)) {
        visit(&self.axis);
    }

    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        self.check(state.q.len(), state.v.len())?;
        let at = self.axis.in_step(state, problem)?;
        let q = if at.period.is_finite() {
            at.nearest_to(0.5 * (self.lower + self.upper))
        } else {
            at.position
        };
        let sides = [(1.0, q - self.lower), (-1.0, self.upper - q)];
        for (sign, distance) in sides {
            if distance == f64::INFINITY {
                continue;
            }
            with_row(problem, at.rate(sign), |problem, row| {
                let response = problem.response_of_heavier(row)?;
                let law = self
                    .compliance
                    .law(state.dt, response, distance, Bounds::PUSH);
                problem.add_row(law, row)
            })?;
        }
        Ok(())
    }
}
