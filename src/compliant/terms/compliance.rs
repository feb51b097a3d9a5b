//! Stiffness of a constraint in one step.

use crate::compliant::{RowLaw, Softness};
use crate::{InputError, validate};

/// The compliance of a constraint: a spring of the stiffness `k` with the dissipation time `τ`,
/// but no stiffer than the near-rigid limit `β` allows.
///
/// A deviation `g` is answered by the force `−k g − τ k ġ`, both at the end of the step. In a step
/// the regularisation is `R = max(β² w / 4π², 1/(dt k (dt + τ)))` with the response `w` of the
/// constraint (velocity per impulse), that of two bodies twice the smaller of their own: a light body passes on
/// the load of a heavy one. The velocity without force is `v̂ = −g/(dt + τ)`. A load `F`
/// at rest deviates it by `R dt (dt + τ) F`, which is `F/k` above the near-rigid limit.
///
/// The default is rigid: `k = ∞`, `τ = 0`, `β = 0.1`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compliance {
    /// Stiffness `k` > 0 (N/m, or N m/rad); `INFINITY` for as stiff as the step resolves.
    pub stiffness: f64,
    /// Dissipation time `τ` ≥ 0 (s). A deviation decays by the factor `τ/(dt + τ)` a step.
    pub dissipation_time: f64,
    /// Near-rigid limit `β` ≥ 0: the constraint is never stiffer than a spring with the period
    /// `β dt`. 0 switches the limit off, and then `k` must be finite.
    pub near_rigid: f64,
}

impl Default for Compliance {
    fn default() -> Self {
        Self {
            stiffness: f64::INFINITY,
            dissipation_time: 0.0,
            near_rigid: NEAR_RIGID,
        }
    }
}

/// The near-rigid limit `β` of constraints and motors. Ten times below that of contacts: constraints
/// are few, and their drift shows.
pub(super) const NEAR_RIGID: f64 = 0.1;

/// The least regularisation `β² w / 4π²`.
pub(super) fn least(near_rigid: f64, response: f64) -> f64 {
    let softness = Softness {
        near_rigid,
        ..Softness::default()
    };
    softness.floor(response)
}

impl Compliance {
    pub(crate) fn check(&self) -> Result<(), InputError> {
        let (stiffness, rule) = (self.stiffness, "must be > 0");
        validate::unless(
            stiffness > 0.0,
            "stiffness of a constraint",
            stiffness,
            rule,
        )?;
        let time = [self.dissipation_time];
        validate::not_negative("dissipation time of a constraint", &time)?;
        validate::not_negative("near_rigid of a constraint", &[self.near_rigid])?;
        let rule = "a constraint with infinite stiffness needs near_rigid > 0";
        let resolved = stiffness.is_finite() || self.near_rigid > 0.0;
        validate::unless(
            resolved,
            "near_rigid of a constraint",
            self.near_rigid,
            rule,
        )
    }

    /// The law of a constraint with the deviation `g` at the start of the step.
    pub(crate) fn law(&self, dt: f64, response: f64, deviation: f64, bounds: Bounds) -> RowLaw {
        let time = dt + self.dissipation_time;
        let spring = 1.0 / (dt * self.stiffness * time);
        RowLaw {
            regularisation: least(self.near_rigid, response).max(spring),
            target: -deviation / time,
            low: bounds.low,
            high: bounds.high,
        }
    }
}

/// The least and the largest impulse of a constraint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    low: f64,
    high: f64,
}

impl Bounds {
    /// Pulls and pushes.
    pub(crate) const BOTH: Self = Self {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };
    /// Only pushes.
    pub(super) const PUSH: Self = Self {
        low: 0.0,
        high: f64::INFINITY,
    };
    /// Only pulls.
    pub(crate) const PULL: Self = Self {
        low: f64::NEG_INFINITY,
        high: 0.0,
    };
}
