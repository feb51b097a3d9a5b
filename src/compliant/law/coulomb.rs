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

/// Friction in a plane of at most the bound `b`: `−v/R`, or `−b v/|v|` where that is less.
#[derive(Clone, Copy, Debug)]
pub(super) struct Disc {
    pub(super) regularisation: f64,
    pub(super) bound: f64,
}

impl Disc {
    /// The slip `q` of the last two components of a velocity, and whether it counts as stiction.
    #[inline]
    pub(super) fn slip(&self, v: &[f64; 3]) -> (f64, bool) {
        let slip = (v[1] * v[1] + v[2] * v[2]).sqrt();
        (slip, slip <= self.regularisation * self.bound)
    }

    /// The impulse for each unit of the slip, the cost, and whether it sticks.
    #[inline]
    pub(super) fn evaluate(&self, v: &[f64; 3]) -> (f64, f64, bool) {
        let (slip, sticks) = self.slip(v);
        if sticks {
            let along = -1.0 / self.regularisation;
            return (along, 0.5 * slip * slip / self.regularisation, true);
        }
        let creep = self.regularisation * self.bound;
        (-self.bound / slip, self.bound * (slip - 0.5 * creep), false)
    }

    /// `γ · w` and `wᵀ G w`.
    #[inline]
    pub(super) fn along(&self, v: &[f64; 3], w: &[f64; 3]) -> (f64, f64) {
        if self.bound <= 0.0 {
            return (0.0, 0.0);
        }
        let (slip, sticks) = self.slip(v);
        let along = v[1] * w[1] + v[2] * w[2];
        if sticks {
            let square = w[1] * w[1] + w[2] * w[2];
            return (-along / self.regularisation, square / self.regularisation);
        }
        let (across, factor) = ((v[1] * w[2] - v[2] * w[1]) / slip, self.bound / slip);
        (-factor * along, factor * across * across)
    }

    /// The curvature beside that of the first component, `slope`.
    #[inline]
    pub(super) fn curvature(&self, v: &[f64; 3], slope: f64) -> Curvature {
        let mut terms = Curvature::default();
        if slope > 0.0 {
            terms.push(slope, [1.0, 0.0, 0.0]);
        }
        if self.bound > 0.0 {
            let (slip, sticks) = self.slip(v);
            if sticks {
                terms.push(1.0 / self.regularisation, [0.0, 1.0, 0.0]);
                terms.push(1.0 / self.regularisation, [0.0, 0.0, 1.0]);
            } else {
                let across = [0.0, -v[2] / slip, v[1] / slip];
                terms.push(self.bound / slip, across);
            }
        }
        terms
    }
}

/// A contact with its bound of friction `b` (N s).
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounded<'a> {
    law: &'a ContactLaw,
    hard: Hardening,
    disc: Disc,
}

impl<'a> Bounded<'a> {
    #[inline]
    pub(super) fn new(law: &'a ContactLaw, load: f64, hard: Hardening) -> Self {
        let disc = Disc {
            regularisation: law.tangential,
            bound: law.friction * load,
        };
        Self { law, hard, disc }
    }

    #[inline]
    fn normal(&self, v: &[f64; 3]) -> Normal {
        self.hard
            .normal(self.law.normal, self.law.stabilisation - v[0])
    }

    #[inline]
    pub(super) fn evaluate(&self, v: &[f64; 3]) -> ContactPoint {
        let normal = self.normal(v);
        let mut point = ContactPoint {
            region: Region::NoContact,
            impulse: [normal.impulse, 0.0, 0.0],
            cost: normal.cost,
        };
        if normal.impulse > 0.0 {
            point.region = Region::Sliding;
        }
        if self.disc.bound > 0.0 {
            let (along, cost, sticks) = self.disc.evaluate(v);
            point.region = if sticks {
                Region::Stiction
            } else {
                Region::Sliding
            };
            point.impulse = [normal.impulse, along * v[1], along * v[2]];
            point.cost += cost;
        }
        point
    }

    /// `γ · w` and `wᵀ G w`.
    #[inline]
    pub(super) fn along(&self, v: &[f64; 3], w: &[f64; 3]) -> (f64, f64) {
        let normal = self.normal(v);
        let (force, stiffness) = self.disc.along(v, w);
        (
            normal.impulse * w[0] + force,
            normal.slope * w[0] * w[0] + stiffness,
        )
    }

    #[inline]
    pub(super) fn curvature(&self, v: &[f64; 3]) -> Curvature {
        self.disc.curvature(v, self.normal(v).slope)
    }
}
