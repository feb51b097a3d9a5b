//! Friction that lags a step: bounded by the normal impulse at the velocities of the start of the
//! step, so that bodies which slide do not glide on a cushion.
//!
//! ```text
//!     ℓ = s₊²/(2 R_n) + μ γ_n0 (√(q² + ε²) − ε),   ε = max(slip, R_t μ γ_n0)
//! ```

use super::values::{ContactLaw, ContactPoint, Curvature, ImpulseRates, Region};

/// The data of lagged friction from the start of the step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lag {
    /// The normal impulse `γ_n0`.
    impulse: f64,
    /// `μ γ_n0`.
    bound: f64,
    /// `ε`.
    slip: f64,
    /// True when `ε` is `R_t μ γ_n0`.
    creeps: bool,
}

impl Lag {
    /// From the normal velocity at the start of the step and the least `ε`.
    pub(super) fn new(law: &ContactLaw, start: f64, slip: f64) -> Self {
        let impulse = (law.stabilisation - start).max(0.0) / law.normal;
        let bound = law.friction * impulse;
        let creep = law.tangential * bound;
        Self {
            impulse,
            bound,
            slip: creep.max(slip),
            creeps: creep > slip,
        }
    }

    /// `√(q² + ε²)`.
    fn soft(&self, square: f64) -> f64 {
        (square + self.slip * self.slip).sqrt()
    }

    /// A slip of at most `ε` counts as stiction.
    pub(super) fn evaluate(&self, law: &ContactLaw, v: &[f64; 3]) -> ContactPoint {
        let approach = (law.stabilisation - v[0]).max(0.0);
        let normal = approach / law.normal;
        let square = v[1] * v[1] + v[2] * v[2];
        let soft = self.soft(square);
        let region = if self.bound > 0.0 && square <= self.slip * self.slip {
            Region::Stiction
        } else if self.bound > 0.0 || normal > 0.0 {
            Region::Sliding
        } else {
            Region::NoContact
        };
        let along = -self.bound / soft;
        ContactPoint {
            region,
            impulse: [normal, along * v[1], along * v[2]],
            // soft − ε without the cancellation of small slips
            cost: 0.5 * approach * normal + self.bound * square / (soft + self.slip),
        }
    }

    pub(super) fn curvature(&self, law: &ContactLaw, v: &[f64; 3]) -> Curvature {
        let mut terms = Curvature::default();
        if law.stabilisation - v[0] > 0.0 {
            terms.push(1.0 / law.normal, [1.0, 0.0, 0.0]);
        }
        if self.bound > 0.0 {
            let square = v[1] * v[1] + v[2] * v[2];
            let (slip, soft) = (square.sqrt(), self.soft(square));
            let (t1, t2) = if slip > 0.0 {
                (v[1] / slip, v[2] / slip)
            } else {
                (1.0, 0.0)
            };
            let across = self.bound / soft;
            terms.push(across * (self.slip / soft).powi(2), [0.0, t1, t2]);
            terms.push(across, [0.0, -t2, t1]);
        }
        terms
    }

    /// Adds the derivatives of the impulse at the fixed velocity `v` to `rates`, which hold the
    /// direct one by `v̂_n`.
    pub(super) fn add_rates(&self, law: &ContactLaw, v: &[f64; 3], rates: &mut ImpulseRates) {
        let pressing = (law.stabilisation - v[0]).max(0.0) / law.normal;
        rates.normal[0] -= pressing;
        let soft = self.soft(v[1] * v[1] + v[2] * v[2]);
        let creep = if self.creeps {
            self.bound * self.slip / (soft * soft * soft)
        } else {
            0.0
        };
        // By the bound, at a fixed R_t, and what the bound does to ε.
        let by_bound = law.tangential * creep - 1.0 / soft;
        let by_start = if self.impulse > 0.0 {
            by_bound * law.friction / law.normal
        } else {
            0.0
        };
        for k in 1..3 {
            rates.friction[k] += by_bound * self.impulse * v[k];
            rates.normal[k] -= by_bound * self.bound * v[k];
            rates.tangential[k] += creep * self.bound * v[k];
            rates.stabilisation[k] += by_start * v[k];
            rates.start[k] -= by_start * v[k];
        }
    }
}
