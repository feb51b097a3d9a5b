//! The law of a compliant contact with friction in the velocities at the end of a step: impulse,
//! cost and curvature (Castro et al., section V-A, appendices C and D).

use super::coulomb::Bounded;
use super::lagged::Lag;
use super::moments::Moments;
use super::values::{
    ContactLaw, ContactPoint, Curvature, Friction, Hardening, ImpulseRates, Normal, Region, dot,
};

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

    /// True for Coulomb's law with friction, and for moments, whose load the solver has to find.
    pub(in crate::compliant) fn has_load(&self) -> bool {
        match self.model {
            Friction::Coulomb { .. } => self.friction > 0.0,
            Friction::Moments { .. } => true,
            Friction::Cone | Friction::Lagged { .. } => false,
        }
    }

    /// The normal part of Coulomb's law at the velocity `v`; of others, that of a contact without
    /// friction.
    #[inline]
    pub(in crate::compliant) fn normal_at(&self, v: &[f64; 3]) -> Normal {
        self.hardening()
            .normal(self.normal, self.stabilisation - v[0])
    }

    /// How the contact hardens; one that does not has no knee.
    #[inline]
    pub(in crate::compliant) fn hardening(&self) -> Hardening {
        match self.model {
            Friction::Coulomb { hard, .. } => hard,
            _ => Hardening {
                knee: f64::INFINITY,
                normal: self.normal,
            },
        }
    }

    /// The normal impulse at the velocity `v`: the load of Coulomb's law.
    #[inline]
    pub(in crate::compliant) fn load(&self, v: &[f64; 3]) -> f64 {
        self.normal_at(v).impulse
    }

    /// The normal impulse that the law has, of a contact whose velocity answers to its own impulse
    /// alone, by `w` (1/kg): from the impulse `before` at the normal velocity `v`.
    pub(in crate::compliant) fn relaxed_normal(&self, before: f64, v: f64, w: f64) -> f64 {
        // The approach without the impulse, s + w γ = a, on either side of the knee.
        let free = self.stabilisation - v + w * before;
        if free <= 0.0 {
            return 0.0;
        }
        let hard = self.hardening();
        let soft = free / (self.normal + w);
        let at_knee = hard.knee / self.normal;
        if soft <= at_knee {
            return soft.max(0.0);
        }
        (free - hard.knee + hard.normal * at_knee) / (hard.normal + w)
    }

    /// With this load, where it is of Coulomb's law.
    #[inline]
    pub(in crate::compliant) fn held(&self, load: f64) -> Self {
        let model = match self.model {
            Friction::Coulomb { hard, .. } => Friction::Coulomb { load, hard },
            Friction::Moments { spinning, .. } => Friction::Moments { load, spinning },
            other => other,
        };
        Self { model, ..*self }
    }

    /// The part that a load which follows the velocity adds to `G = −∂γ/∂v_c` at the velocity `v`, the
    /// product `a wᵀ`: a contact that slides has `γ_t = −μ γ_n t` and `∂γ_n = −γ_n′ ∂v_n`. None in stiction,
    /// and where nothing presses. `w` is in the rows of the contact whose normal part is `normal`.
    pub(in crate::compliant) fn coupling(
        &self,
        v: &[f64; 3],
        normal: &Normal,
    ) -> Option<[[f64; 3]; 2]> {
        if let Friction::Moments { spinning, .. } = self.model {
            return Moments::new(self, normal.impulse, spinning).coupling(v, normal);
        }
        let (load, slope) = (normal.impulse, normal.slope);
        let slip = (v[1] * v[1] + v[2] * v[2]).sqrt();
        let slides = slip > self.tangential * self.friction * load;
        (self.has_load() && load > 0.0 && slides).then(|| {
            let along = [0.0, v[1] / slip, v[2] / slip];
            [along, [-self.friction * slope, 0.0, 0.0]]
        })
    }

    /// `G w` at the velocity `v`, of Coulomb's law with the load of that velocity; with `is_transposed` `Gᵀ w`. For
    /// the other laws `G` is symmetric.
    pub(in crate::compliant) fn curvature_times(
        &self,
        v: &[f64; 3],
        w: &[f64; 3],
        is_transposed: bool,
    ) -> [f64; 3] {
        let mut product = self.held(self.load(v)).curvature(v).times(w);
        if let Some([mut left, mut right]) = self.coupling(v, &self.normal_at(v)) {
            if is_transposed {
                std::mem::swap(&mut left, &mut right);
            }
            let rate = dot(&right, w);
            for (sum, u) in product.iter_mut().zip(&left) {
                *sum += u * rate;
            }
        }
        product
    }

    /// Impulse, cost and region at the velocity `v`. On the boundary of stiction the region is
    /// stiction. Of Coulomb's law the cost is that with its load held.
    pub fn evaluate(&self, v: &[f64; 3]) -> ContactPoint {
        self.held(self.load(v)).evaluate_held(v)
    }

    /// As [`evaluate`](Self::evaluate), with the load that is held.
    #[inline]
    pub(crate) fn evaluate_held(&self, v: &[f64; 3]) -> ContactPoint {
        match self.model {
            Friction::Cone => {}
            Friction::Coulomb { load, hard } => return Bounded::new(self, load, hard).evaluate(v),
            Friction::Moments { load, spinning } => {
                return Moments::new(self, load, spinning).evaluate(v);
            }
            Friction::Lagged { start, slip } => {
                return Lag::new(self, start, slip).evaluate(self, v);
            }
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
        match self.model {
            Friction::Cone => {}
            Friction::Coulomb { load, hard } => return Bounded::new(self, load, hard).along(v, w),
            Friction::Moments { load, spinning } => {
                return Moments::new(self, load, spinning).along(v, w);
            }
            Friction::Lagged { .. } => {
                let force = dot(&self.evaluate_held(v).impulse, w);
                return (force, self.curvature(v).along(w));
            }
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
        match self.model {
            Friction::Cone => {}
            Friction::Coulomb { load, hard } => return Bounded::new(self, load, hard).curvature(v),
            Friction::Moments { load, spinning } => {
                return Moments::new(self, load, spinning).curvature(v);
            }
            Friction::Lagged { start, slip } => {
                return Lag::new(self, start, slip).curvature(self, v);
            }
        }
        let mut terms = Curvature::default();
        let slip = (v[1] * v[1] + v[2] * v[2]).sqrt();
        let point = self.evaluate_held(v);
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
        if let Friction::Coulomb { .. } = self.model {
            return self.by_parameters_of_coulomb(v, &point);
        }
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

    /// As [`by_parameters`](Self::by_parameters), of Coulomb's law with the load of the velocity `v`.
    fn by_parameters_of_coulomb(&self, v: &[f64; 3], point: &ContactPoint) -> ImpulseRates {
        let [_, first, second] = point.impulse;
        let mut rates = ImpulseRates::default();
        let (normal, hard) = (self.normal_at(v), self.hardening());
        if normal.impulse <= 0.0 {
            return rates;
        }
        // γ_n = s₁/R_n + (s − s₁)/R_h beyond the knee: what each number adds to it.
        let s = self.stabilisation - v[0];
        let beyond = (s - hard.knee).max(0.0);
        let is_beyond = s > hard.knee;
        let soft = if is_beyond { hard.knee } else { s } / self.normal;
        let by_knee = if is_beyond {
            1.0 / self.normal - 1.0 / hard.normal
        } else {
            0.0
        };
        rates.normal[0] = -soft;
        rates.hard[0] = -beyond / hard.normal;
        rates.knee[0] = by_knee;
        rates.stabilisation[0] = normal.slope;
        match point.region {
            Region::Stiction => {
                let by_tangential = |gamma: f64| -gamma / self.tangential;
                rates.tangential = [0.0, by_tangential(first), by_tangential(second)];
            }
            Region::Sliding if self.friction > 0.0 => {
                // γ_t = −μ γ_n t follows.
                let slip = (v[1] * v[1] + v[2] * v[2]).sqrt();
                for k in 1..3 {
                    let along = -v[k] / slip;
                    rates.friction[k] = along * normal.impulse;
                    for of in [
                        &mut rates.normal,
                        &mut rates.hard,
                        &mut rates.knee,
                        &mut rates.stabilisation,
                    ] {
                        of[k] = along * self.friction * of[0];
                    }
                }
            }
            Region::Sliding | Region::NoContact => {}
        }
        rates
    }

    /// `g · γ` with `g = v_c − v̂ + R γ`: zero but for rounding (33). Without the convex cone only
    /// its normal part is complementary.
    pub(crate) fn complementarity(&self, v: &[f64; 3], gamma: &[f64; 3]) -> f64 {
        // The approach that the impulse is of, by both regularisations.
        let hard = self.hardening();
        let at_knee = hard.knee / self.normal;
        let approach =
            self.normal * gamma[0].min(at_knee) + hard.normal * (gamma[0] - at_knee).max(0.0);
        let normal = (v[0] - self.stabilisation + approach) * gamma[0];
        if self.model != Friction::Cone {
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
