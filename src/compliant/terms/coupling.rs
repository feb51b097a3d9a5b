//! Linear constraints between axes.

use super::axis::{Axis, nearest, with_row};
use super::compliance::{Bounds, Compliance};
use crate::compliant::{Problem, StepState, StepTerm};
use crate::linalg::scratch::with_list;
use crate::{InputError, validate};

/// Parts of a turn beyond which gears have no common measure.
const FINEST: f64 = 1e-3;

/// Limit of the divisions that find a common measure: ratios of numbers up to `1/FINEST` need 15.
const DIVISIONS: usize = 40;

/// Holds a linear form of axes: `Σ c q = c₀`. One axis is held at a value; two are geared together.
/// The velocities may lie in up to two trees: two hinges of bodies on one frame, or of a body on
/// another and of that on the frame. Gears of three bodies are refused
/// ([`InputError::TreesOfTerm`]).
///
/// Of axes that turn on, such as hinges, the form is held but for whole turns of each. With
/// `c = (z₁, z₂)`, the numbers of teeth of two wheels that mesh outside, `z₁ q₁ + z₂ q₂` stays as it is
/// but for multiples of `2π gcd(z₁, z₂)`: teeth do not slip, however far the wheels turn. Of a rack and a pinion
/// `c = (r, −1)`. Where coefficients have no common measure above a thousandth of the largest, the rates alone
/// are coupled: `Σ c q̇ = 0`.
///
/// Adds one row; its impulse is along `c`.
///
/// ```
/// use saltation::compliant::JointCoupling;
/// let gear = JointCoupling::new(&[(0, 1.0), (1, -3.0)], 0.0); // q0 = 3 q1
/// let held = JointCoupling::new(&[(2, 1.0)], 0.5); // q2 = 0.5
/// ```
#[derive(Clone, Debug)]
pub struct JointCoupling {
    parts: Vec<(Axis, f64)>,
    value: f64,
    compliance: Compliance,
}

impl JointCoupling {
    /// The coefficients `c` of axes, and the value `c₀` of the form.
    pub fn new<A: Into<Axis> + Clone>(parts: &[(A, f64)], value: f64) -> Self {
        let parts = parts
            .iter()
            .map(|(axis, factor)| (axis.clone().into(), *factor));
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

    /// Values of the form that differ by this are the same place: the common measure of what whole
    /// turns of the axes add to it. Zero where there is none.
    fn period(&self) -> f64 {
        let mut common = f64::INFINITY;
        for (axis, factor) in &self.parts {
            let period = axis.period() * factor.abs();
            if period.is_finite() {
                common = if common.is_finite() {
                    common_measure(common, period)
                } else {
                    period
                };
            }
        }
        common
    }
}

/// The greatest number of which both are multiples (Euclid), zero where there is none that is not
/// small beside them.
fn common_measure(a: f64, b: f64) -> f64 {
    let least = FINEST * a.max(b);
    let (mut a, mut b) = (a.max(b), a.min(b));
    for _ in 0..DIVISIONS {
        if a < least {
            return 0.0;
        }
        // Rounding leaves a little less than nothing, or than all.
        let rest = (a - b * (a / b).round()).abs();
        if rest < 1e-6 * least {
            return b;
        }
        (a, b) = (b, rest);
    }
    0.0
}

impl StepTerm for JointCoupling {
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        for (entry, (axis, factor)) in self.parts.iter().enumerate() {
            axis.check(coordinates, dof)?;
            let of_part = validate::counted_from(entry);
            validate::finite("coefficient of a coupling", &[*factor]).map_err(&of_part)?;
            let rule = "must not be zero";
            validate::unless(*factor != 0.0, "coefficient of a coupling", *factor, rule)
                .map_err(of_part)?;
        }
        if self.parts.is_empty() {
            return Err(InputError::TreesOfTerm { found: 0 });
        }
        validate::finite("value of a coupling", &[self.value])?;
        self.compliance.check()
    }

    fn axes(&self, visit: &mut dyn FnMut(&Axis)) {
        self.parts.iter().for_each(|(axis, _)| visit(axis));
    }

    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        self.check(state.q.len(), state.v.len())?;
        let mut size = 0;
        for (axis, _) in &self.parts {
            size += axis.in_step(state, problem)?.len();
        }
        with_list(size, |row: &mut [(usize, f64)]| {
            let (mut deviation, mut places) = (-self.value, row.iter_mut());
            for (axis, factor) in &self.parts {
                let at = axis.in_step(state, problem)?;
                deviation += factor * at.position;
                for (part, place) in at.rate(*factor).zip(places.by_ref()) {
                    *place = part;
                }
            }
            let period = self.period();
            let deviation = if period > 0.0 {
                nearest(deviation, period)
            } else {
                0.0
            };
            with_row(problem, row.iter().copied(), |problem, row| {
                let response = problem.response_of_heavier(row)?;
                let law = self
                    .compliance
                    .law(state.dt, response, deviation, Bounds::BOTH);
                problem.add_row(law, row)
            })
        })?;
        Ok(())
    }
}
