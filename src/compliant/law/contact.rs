//! The law of a compliant contact with friction in the velocities at the end of a step: impulse,
//! cost and curvature (Castro et al., section V-A, appendices C and D).

use super::lagged::Lag;
use super::values::{ContactLaw, ContactPoint, Curvature, Friction, ImpulseRates, Region, dot};

impl ContactLaw {
    /// With the cone of Coulomb's law.
    pub fn new(friction: f64, normal: f64, tangential: f64, stabilisation: f64) -> Self {
        Self {
            friction,
            normal,
            tangential,
            stabilisation,
            model: Friction::Cone,
        }
    }

    /// `D = R_n + μ² R_t`, the regularisation of a sliding contact.
    #[inline]
    pub(in crate::compliant) fn sliding(&self) -> f64 {
        self.normal + self.friction * self.friction * self.tangential
    }

    /// Impulse, cost and region at the velocity `v`. On the boundary of stiction the region is
    /// stiction.
    #[inline]
    pub fn evaluate(&self, v: &[f64; 3]) -> ContactPoint {
        if let Friction::Lagged { start, slip } = self.model {
            return Lag::new(self, start, slip).evaluate(self, v);
        }
        // One square root a contact: `hypot` is several times slower and guards against overflow
        // that velocities never reach.
        let (slip, approach) = (
            (v[1] * v[1] + v[2] * v[2]).sqrt(),
            self.stabilisation - v[0],
        );
        let mu = self.friction;
        if mu > 0.0 && slip * self.normal <= mu * self.tangential * approach {
            let (normal, tangential) = (approach / self.normal, -1.0 / self.tangential);
            return ContactPoint {
                region: Region::Stiction,
                impulse: [normal, tangential * v[1], tangential * v[2]],
                cost: 0.5 * (slip * slip / self.tangential + approach * normal),
            };
        }
        let reach = approach + mu * slip;
        if reach > 0.0 {
            let normal = reach / self.sliding();
            // Without slip there is no direction, and no friction: mu is zero then.
            let along = if slip > 0.0 { -mu * normal / slip } else { 0.0 };
            return ContactPoint {
                region: Region::Sliding,
                impulse: [normal, along * v[1], along * v[2]],
                cost: 0.5 * reach * normal,
            };
        }
        ContactPoint {
            region: Region::NoContact,
            impulse: [0.0; 3],
            cost: 0.0,
        }
    }

    /// `γ · w` and `wᵀ G w` at the velocity `v`: what a line search along `w` needs.
    #[inline]
    pub(crate) fn along(&self, v: &[f64; 3], w: &[f64; 3]) -> (f64, f64) {
        if let Friction::Lagged { .. } = self.model {
            return (
                dot(&self.evaluate(v).impulse, w),
                self.curvature(v).along(w),
            );
        }
        let (mu, square) = (self.friction, v[1] * v[1] + v[2] * v[2]);
        let (slip, approach) = (square.sqrt(), self.stabilisation - v[0]);
        if mu > 0.0 && slip * self.normal <= mu * self.tangential * approach {
            let (n, t) = (1.0 / self.normal, 1.0 / self.tangential);
            let force = approach * n * w[0] - t * (v[1] * w[1] + v[2] * w[2]);
            return (force, n * w[0] * w[0] + t * (w[1] * w[1] + w[2] * w[2]));
        }
        let reach = approach + mu * slip;
        if reach <= 0.0 {
            return (0.0, 0.0);
        }
        let d = 1.0 / self.sliding();
        if slip > 0.0 && mu > 0.0 {
            let along = (v[1] * w[1] + v[2] * w[2]) / slip;
            let across = (v[1] * w[2] - v[2] * w[1]) / slip;
            let a = w[0] - mu * along;
            let normal = reach * d;
            return (normal * a, d * a * a + mu * normal / slip * across * across);
        }
        (reach * d * w[0], d * w[0] * w[0])
    }

    /// The curvature at the velocity `v`: where the law has a kink, that of the region that
    /// [`evaluate`](Self::evaluate) names.
    #[inline]
    pub(crate) fn curvature(&self, v: &[f64; 3]) -> Curvature {
        if let Friction::Lagged { start, slip } = self.model {
            return Lag::new(self, start, slip).curvature(self, v);
        }
        let mut terms = Curvature::default();
        let slip = (v[1] * v[1] + v[2] * v[2]).sqrt();
        let point = self.evaluate(v);
        match point.region {
            Region::Stiction => {
                terms.push(1.0 / self.normal, [1.0, 0.0, 0.0]);
                terms.push(1.0 / self.tangential, [0.0, 1.0, 0.0]);
                terms.push(1.0 / self.tangential, [0.0, 0.0, 1.0]);
            }
            Region::Sliding if slip > 0.0 && self.friction > 0.0 => {
                let (mu, t1, t2) = (self.friction, v[1] / slip, v[2] / slip);
                terms.push(1.0 / self.sliding(), [1.0, -mu * t1, -mu * t2]);
                terms.push(mu * point.impulse[0] / slip, [0.0, -t2, t1]);
            }
            Region::Sliding => terms.push(1.0 / self.sliding(), [1.0, 0.0, 0.0]),
            Region::NoContact => {}
        }
        terms
    }

    /// The derivatives of the impulse at the fixed velocity `v` by the numbers of the law: where it
    /// has a kink, those of the region that [`evaluate`](Self::evaluate) names.
    pub(crate) fn by_parameters(&self, v: &[f64; 3]) -> ImpulseRates {
        let point = self.evaluate(v);
        let normal = point.impulse[0];
        let mut rates = ImpulseRates {
            stabilisation: self.curvature(v).times(&[1.0, 0.0, 0.0]),
            ..ImpulseRates::default()
        };
        if let Friction::Lagged { start, slip } = self.model {
            Lag::new(self, start, slip).add_rates(self, v, &mut rates);
            return rates;
        }
        match point.region {
            Region::NoContact => {}
            Region::Stiction => {
                rates.normal = [-normal, 0.0, 0.0];
                let by_tangential = |gamma: f64| -gamma / self.tangential;
                rates.tangential = [
                    0.0,
                    by_tangential(point.impulse[1]),
                    by_tangential(point.impulse[2]),
                ];
            }
            Region::Sliding => {
                let (mu, d) = (self.friction, self.sliding());
                let slip = (v[1] * v[1] + v[2] * v[2]).sqrt();
                let t = if slip > 0.0 {
                    [v[1] / slip, v[2] / slip]
                } else {
                    [0.0; 2]
                };
                // γ_t = −μ γ_n t, with the change of γ_n given and that of μ.
                let with = |dn: f64, dmu: f64| {
                    let along = -(dmu * normal + mu * dn);
                    [dn, along * t[0], along * t[1]]
                };
                rates.friction = with((slip - 2.0 * mu * self.tangential * normal) / d, 1.0);
                rates.normal = with(-normal * (self.normal / d), 0.0);
                rates.tangential = with(-mu * mu * normal / d, 0.0);
            }
        }
        rates
    }

    /// `g · γ` with `g = v_c − v̂ + R γ`: zero but for rounding (33). Lagged friction has no cone,
    /// and only its normal part is complementary.
    pub(crate) fn complementarity(&self, v: &[f64; 3], gamma: &[f64; 3]) -> f64 {
        let normal = (v[0] - self.stabilisation + self.normal * gamma[0]) * gamma[0];
        if let Friction::Lagged { .. } = self.model {
            return normal;
        }
        let tangential = (v[1] + self.tangential * gamma[1]) * gamma[1]
            + (v[2] + self.tangential * gamma[2]) * gamma[2];
        normal + tangential
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
