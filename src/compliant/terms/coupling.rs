//! Linear constraints between coordinates.

use super::axis::{Axis, with_row};
use super::compliance::{Bounds, Compliance};
use crate::compliant::{Problem, StepState, StepTerm};
use crate::{InputError, validate};

/// Holds a linear form of coordinates: `Σ c q = c₀`. One coordinate is held at a value; two are
/// geared together. The velocities may lie in up to two trees.
///
/// Adds one row; its impulse is along `c`.
///
/// ```
/// use saltation::compliant::JointCoupling;
/// let gear = JointCoupling::new(&[(0, 1.0), (1, -3.0)], 0.0); // q0 = 3 q1
/// let held = JointCoupling::new(&[(2, 1.0)], 0.5); // q2 = 0.5
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct JointCoupling {
    parts: Vec<(Axis, f64)>,
    value: f64,
    compliance: Compliance,
}

impl JointCoupling {
    /// The coefficients `c` of coordinates, and the value `c₀` of the form.
    pub fn new<A: Into<Axis> + Copy>(parts: &[(A, f64)], value: f64) -> Self {
        let parts = parts.iter().map(|&(axis, factor)| (axis.into(), factor));
        Self {
            parts: parts.collect(),
            value,
            compliance: Compliance::default(),
        }
    }

    /// Sets the compliance of the coupling; by default rigid.
    #[must_use]
    pub fn compliance(mut self, compliance: Compliance) -> Self {
        self.compliance = compliance;
        self
    }
}

impl StepTerm for JointCoupling {
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        for (entry, &(axis, factor)) in self.parts.iter().enumerate() {
            axis.check(coordinates, dof)?;
            let of_part = validate::counted_from(entry);
            validate::finite("coefficient of a coupling", &[factor]).map_err(&of_part)?;
            let rule = "must not be zero";
            validate::unless(factor != 0.0, "coefficient of a coupling", factor, rule)
                .map_err(of_part)?;
        }
        if self.parts.is_empty() {
            return Err(InputError::TreesOfTerm { found: 0 });
        }
        validate::finite("value of a coupling", &[self.value])?;
        self.compliance.check()
    }

    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        self.check(state.q.len(), state.v.len())?;
        let mut deviation = -self.value;
        for (axis, factor) in &self.parts {
            deviation += factor * axis.position(state)?;
        }
        let row = self.parts.iter().map(|(axis, c)| (axis.velocity, *c));
        with_row(problem, row, |problem, row| {
            let response = problem.row_response(row)?;
            let law = self
                .compliance
                .law(state.dt, response, deviation, Bounds::BOTH);
            problem.add_row(law, row)
        })?;
        Ok(())
    }
}
