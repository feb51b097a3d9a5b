//! Dry friction of joints.

use super::axis::{Axis, with_row};
use crate::compliant::{Problem, RowLaw, StepState, StepTerm};
use crate::{InputError, validate};

/// Dry friction of a joint: an effort up to `τ_c` against its motion, whatever its speed.
///
/// Adds one row. Below `τ_c` the joint sticks, but for a creep `σ w dt` times the load, with the
/// response `w` of the joint (velocity per impulse); above, it moves against exactly `τ_c`.
#[derive(Clone, Debug)]
pub struct JointFriction {
    axis: Axis,
    effort: f64,
    stiction: f64,
}

impl JointFriction {
    /// With the greatest effort `τ_c` ≥ 0 (N, or N m).
    pub fn new(axis: impl Into<Axis>, effort: f64) -> Self {
        Self {
            axis: axis.into(),
            effort,
            stiction: 1e-3,
        }
    }

    /// Softness of stiction `σ` > 0; default 1e-3.
    #[must_use]
    pub fn stiction(mut self, sigma: f64) -> Self {
        self.stiction = sigma;
        self
    }
}

impl StepTerm for JointFriction {
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        self.axis.check(coordinates, dof)?;
        validate::not_negative("friction of a joint", &[self.effort])?;
        validate::positive("stiction of a joint", &[self.stiction])
    }

    fn axes(&self, visit: &mut dyn FnMut(&Axis)) {
        visit(&self.axis);
    }

    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        self.check(state.q.len(), state.v.len())?;
        let bound = state.dt * self.effort;
        let at = self.axis.in_step(state, problem)?;
        with_row(problem, at.rate(1.0), |problem, row| {
            let law = RowLaw {
                regularisation: self.stiction * problem.row_response(row)?,
                target: 0.0,
                low: -bound,
                high: bound,
            };
            problem.add_row(law, row)
        })?;
        Ok(())
    }
}
