//! Softness of a contact in one step: `R_n`, `R_t` and `v̂_n` from stiffness, dissipation time, the
//! step and the effective mass of the contact (Castro et al., equations 29 and 30).

use std::f64::consts::PI;

use super::law::{ContactLaw, Hardening};
use crate::mechanics::ContactParameters;
use crate::{InputError, validate};

/// Loads of the own bodies of a contact from which it hardens, and by how much.
const KNEE: f64 = 10.0;
const HARD: f64 = 1e-3;

/// Regularisation of a contact that gives back its approach, by the response of its own bodies: a light
/// one that others hold carries a multiple of what it could by itself.
const REBOUND: f64 = 1e-6;

/// The two numbers that soften contacts beyond their stiffness.
///
/// ```
/// use saltation::compliant::{Softness, Compliant};
/// use saltation::models::SlidingBlock;
/// let mut softness = Softness::default();
/// softness.near_rigid = 0.1;
/// let stepper = Compliant::new(SlidingBlock::default())?.softness(softness);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Softness {
    /// Near-rigid limit `β` ≥ 0. A contact is never stiffer than a spring on the masses of its two
    /// trees with the period `β dt`: stiffer ones cannot be resolved by the step. 0 switches the
    /// limit off; then every contact needs a finite stiffness. Default 1.
    pub near_rigid: f64,
    /// Softness of stiction `σ` > 0: the creep of a sticking body is up to about `μ σ g dt`.
    /// Default 1e-3.
    pub stiction: f64,
}

impl Default for Softness {
    /// `β = 1`, `σ = 1e-3`.
    fn default() -> Self {
        Self {
            near_rigid: 1.0,
            stiction: 1e-3,
        }
    }
}

impl Softness {
    pub(crate) fn validate(&self) -> Result<(), InputError> {
        validate::not_negative("near_rigid", &[self.near_rigid])?;
        validate::positive("stiction", &[self.stiction])
    }

    /// These, but for what the contact says of itself.
    pub(crate) fn of(&self, contact: &ContactParameters) -> Self {
        Self {
            near_rigid: contact.near_rigid.unwrap_or(self.near_rigid),
            stiction: contact.stiction.unwrap_or(self.stiction),
        }
    }

    /// The law of a contact whose response `W = Σ J A⁻¹ Jᵀ` has the root mean square `w` (1/kg).
    pub(crate) fn law(
        &self,
        dt: f64,
        contact: &ContactParameters,
        w: f64,
    ) -> Result<ContactLaw, InputError> {
        let time = dt + contact.dissipation_time;
        let normal = self.floor(w).max(1.0 / (dt * contact.stiffness * time));
        let rule =
            "a contact with infinite stiffness needs near_rigid > 0 and rows that move a body";
        validate::unless(
            normal > 0.0 && normal.is_finite(),
            "normal regularisation R_n",
            normal,
            rule,
        )?;
        // A contact that moves nothing has w = 0. It keeps a positive R_t, so that no division by
        // zero occurs; its impulse changes no velocity.
        let tangential = self.stiction * w;
        let tangential = if tangential > 0.0 { tangential } else { normal };
        let law = ContactLaw::new(contact.friction, normal, tangential, -contact.gap / time);
        // Sensible numbers of extreme sizes: their products must not overflow.
        let rule = "must be finite: gap, times, friction or rows are too large";
        for (name, value) in [
            ("tangential regularisation R_t", law.tangential),
            ("sliding regularisation R_n + mu^2 R_t", law.sliding()),
            ("stabilising velocity of the gap", law.stabilisation),
        ] {
            validate::unless(value.is_finite(), name, value, rule)?;
        }
        Ok(law)
    }

    /// The regularisation of the moments of a contact, whose response has the root mean square `w`
    /// (1/(kg m²)); zero where they move nothing, so that there are none.
    pub(crate) fn rotational(&self, w: f64) -> Result<f64, InputError> {
        let found = self.stiction * w;
        let rule = "must be finite: rows of angular velocity are too large";
        validate::unless(found.is_finite(), "regularisation of moments", found, rule)?;
        Ok(found)
    }

    /// How a contact of Coulomb's law hardens whose own bodies change their velocity by `change` (m/s)
    /// in a step without contacts: where the near-rigid limit holds it, from so many times the load
    /// on that stops this change.
    pub(crate) fn hardening(
        &self,
        dt: f64,
        contact: &ContactParameters,
        law: &ContactLaw,
        change: f64,
    ) -> Hardening {
        let own = 1.0 / (dt * contact.stiffness * (dt + contact.dissipation_time));
        let w = law.tangential / self.stiction;
        // Without a response, R_t says nothing of it.
        let is_held = law.normal > own && self.floor(w) > 0.0;
        let knee = KNEE * law.normal * change / w;
        Hardening {
            knee: if is_held && knee.is_finite() {
                knee
            } else {
                f64::INFINITY
            },
            normal: (HARD * law.normal).max(own).min(law.normal),
        }
    }

    /// How a contact of Coulomb's law presses while it gives back its approach: from the first
    /// load on, whatever its stiffness.
    pub(crate) fn rebounding(&self, law: &ContactLaw) -> Hardening {
        let w = law.tangential / self.stiction;
        Hardening {
            knee: 0.0,
            normal: (REBOUND * w).min(law.normal),
        }
    }

    /// The near-rigid limit `β² w / 4π²` of a regularisation.
    pub(crate) fn floor(&self, w: f64) -> f64 {
        self.near_rigid * self.near_rigid / (4.0 * PI * PI) * w
    }
}

/// The root mean square of the nine entries of `W`: `‖W‖_F / 3`. Contacts in the plane count as
/// contacts in space whose second tangent moves nothing.
pub(crate) fn root_mean_square(w: &[[f64; 3]; 3]) -> f64 {
    w.iter().flatten().map(|x| x * x).sum::<f64>().sqrt() / 3.0
}
