//! Coulomb's friction while the load is held: at most `b = μ γ_n`, with a normal impulse that the
//! solver brings to that of the solution. Normal and tangential impulses decouple, each with a
//! convex cost; a contact that does not press has no friction, and one that slides does not glide.
//!
//! ```text
//!     ℓ = s₊²/(2 R_n) + q²/(2 R_t)          γ_t = −v_t/R_t       for q ≤ R_t b   (stiction)
//!     ℓ = s₊²/(2 R_n) + b q − R_t b²/2      γ_t = −b v_t/q       beyond          (sliding)
//! ```

use super::values::{ContactLaw, ContactPoint, Curvature, Region};

/// A contact with its bound of friction `b` (N s).
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounded<'a> {
    law: &'a ContactLaw,
    bound: f64,
}

impl<'a> Bounded<'a> {
    #[inline]
    pub(super) fn new(law: &'a ContactLaw, load: f64) -> Self {
        let bound = law.friction * load;
        Self { law, bound }
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
        let approach = (law.stabilisation - v[0]).max(0.0);
        let normal = approach / law.normal;
        let mut point = ContactPoint {
            region: Region::NoContact,
            impulse: [normal, 0.0, 0.0],
            cost: 0.5 * approach * normal,
        };
        if normal > 0.0 {
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
            point.impulse = [normal, along * v[1], along * v[2]];
            point.cost += cost;
        }
        point
    }

    /// `γ · w` and `wᵀ G w`.
    #[inline]
    pub(super) fn along(&self, v: &[f64; 3], w: &[f64; 3]) -> (f64, f64) {
        let law = self.law;
        let (mut force, mut stiffness) = (0.0, 0.0);
        let approach = law.stabilisation - v[0];
        if approach > 0.0 {
            force = approach / law.normal * w[0];
            stiffness = w[0] * w[0] / law.normal;
        }
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
        if law.stabilisation - v[0] > 0.0 {
            terms.push(1.0 / law.normal, [1.0, 0.0, 0.0]);
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
