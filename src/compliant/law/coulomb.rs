//! Coulomb's law while its load is held: friction of at most `b = μ γ_n`, with a normal impulse that
//! the solver brings to that of the solution. Normal and tangential impulses decouple, each with a
//! convex cost; a contact that does not press has no friction, and one that slides does not glide.
//!
//! ```text
//!     γ_n = s/R_n                           for 0 ≤ s ≤ s₁, then with the slope 1/R_h
//!     ℓ_t = q²/(2 R_t)                      γ_t = −v_t/R_t       for q ≤ R_t b   (stiction)
//!     ℓ_t = b q − R_t b²/2                  γ_t = −b v_t/q       beyond          (sliding)
//! ```

use super::values::{ContactLaw, ContactPoint, Curvature, Hardening, Normal, Region};

impl Hardening {
    /// The normal impulse of an approach `s`, with `R_n` up to the knee.
    #[inline]
    pub(super) fn normal(&self, soft: f64, s: f64) -> Normal {
        if s <= 0.0 {
            let (impulse, slope, cost) = (0.0, 0.0, 0.0);
            return Normal {
                impulse,
                slope,
                cost,
            };
        }
        if s <= self.knee {
            return Normal {
                impulse: s / soft,
                slope: 1.0 / soft,
                cost: 0.5 * s * s / soft,
            };
        }
        let (at_knee, beyond) = (self.knee / soft, s - self.knee);
        Normal {
            impulse: at_knee + beyond / self.normal,
            slope: 1.0 / self.normal,
            cost: at_knee * (0.5 * self.knee + beyond) + 0.5 * beyond * beyond / self.normal,
        }
    }
}

/// A contact with its bound of friction `b` (N s).
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounded<'a> {
    law: &'a ContactLaw,
    hard: Hardening,
    bound: f64,
}

impl<'a> Bounded<'a> {
    #[inline]
    pub(super) fn new(law: &'a ContactLaw, load: f64, hard: Hardening) -> Self {
        let bound = law.friction * load;
        Self { law, hard, bound }
    }

    #[inline]
    fn normal(&self, v: &[f64; 3]) -> Normal {
        self.hard
            .normal(self.law.normal, self.law.stabilisation - v[0])
    }

    /// The slip `q`, and whether it counts as stiction.
    #[inline]
    fn slip(&self, v: &[f64; 3]) -> (f64, bool) {
        let slip = (v[1] * v[1] + v[2] * v[2]).sqrt();
        (slip, slip <= self.law.tangential * self.bound)
    }

    #[inline]
    pub(super) fn evaluate(&self, v: &[f64; 3]) -> ContactPoint {
        let law = self.law;
        let normal = self.normal(v);
        let mut point = ContactPoint {
            region: Region::NoContact,
            impulse: [normal.impulse, 0.0, 0.0],
            cost: normal.cost,
        };
        if normal.impulse > 0.0 {
            point.region = Region::Sliding;
        }
        if self.bound > 0.0 {
            let (slip, sticks) = self.slip(v);
            let (along, cost) = if sticks {
                point.region = Region::Stiction;
                (-1.0 / law.tangential, 0.5 * slip * slip / law.tangential)
            } else {
                point.region = Region::Sliding;
                let creep = law.tangential * self.bound;
                (-self.bound / slip, self.bound * (slip - 0.5 * creep))
            };
            point.impulse = [normal.impulse, along * v[1], along * v[2]];
            point.cost += cost;
        }
        point
    }

    /// `γ · w` and `wᵀ G w`.
    #[inline]
    pub(super) fn along(&self, v: &[f64; 3], w: &[f64; 3]) -> (f64, f64) {
        let law = self.law;
        let normal = self.normal(v);
        let mut force = normal.impulse * w[0];
        let mut stiffness = normal.slope * w[0] * w[0];
        if self.bound > 0.0 {
            let (slip, sticks) = self.slip(v);
            let along = v[1] * w[1] + v[2] * w[2];
            if sticks {
                force -= along / law.tangential;
                stiffness += (w[1] * w[1] + w[2] * w[2]) / law.tangential;
            } else {
                let (across, factor) = ((v[1] * w[2] - v[2] * w[1]) / slip, self.bound / slip);
                force -= factor * along;
                stiffness += factor * across * across;
            }
        }
        (force, stiffness)
    }

    #[inline]
    pub(super) fn curvature(&self, v: &[f64; 3]) -> Curvature {
        let law = self.law;
        let mut terms = Curvature::default();
        let normal = self.normal(v);
        if normal.slope > 0.0 {
            terms.push(normal.slope, [1.0, 0.0, 0.0]);
        }
        if self.bound > 0.0 {
            let (slip, sticks) = self.slip(v);
            if sticks {
                terms.push(1.0 / law.tangential, [0.0, 1.0, 0.0]);
                terms.push(1.0 / law.tangential, [0.0, 0.0, 1.0]);
            } else {
                let across = [0.0, -v[2] / slip, v[1] / slip];
                terms.push(self.bound / slip, across);
            }
        }
        terms
    }
}
