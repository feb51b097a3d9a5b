//! Data and values of the law of a contact: its numbers, and impulse, curvature and rates at a
//! velocity.

/// The state of a contact at the end of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// It presses and does not slip, up to the regularised creep `R_t γ_t`.
    Stiction,
    /// It presses and slips.
    Sliding,
    /// It does not press.
    NoContact,
}

/// The friction in the convex cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Friction {
    /// Coulomb's cone with the normal impulse of the same step (the paper).
    Cone,
    /// Coulomb's law: friction bounded by `μ` times the load (N s), a normal impulse that the solver
    /// brings to that of the solution; and a contact that is stiffer under great loads.
    Coulomb { load: f64, hard: Hardening },
    /// Friction bounded by `μ γ_n0`, with the normal impulse `γ_n0` of the normal velocity `start`
    /// (m/s) at the start of the step; proportional to slips far below the greater of `slip` (m/s)
    /// and `R_t μ γ_n0`. Normal and tangential impulses decouple; sliding bodies do not glide.
    Lagged { start: f64, slip: f64 },
    /// No contact, but its moments, `[n, t₁, t₂]` in the relative angular velocity: `friction` is the
    /// coefficient `r` of rolling friction (m), `tangential` the regularisation of both (1/(kg m²)), and
    /// the load that of the contact.
    Moments { load: f64, spinning: f64 },
}

/// The stiffness of a near-rigid contact under great loads: from an approach `s₁` on (m/s) its
/// regularisation is `R_h ≤ R_n` (1/kg).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hardening {
    pub(crate) knee: f64,
    pub(crate) normal: f64,
}

/// The normal part of Coulomb's law at an approach.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct Normal {
    /// `γ_n`.
    pub(in crate::compliant) impulse: f64,
    /// `∂γ_n/∂s`.
    pub(in crate::compliant) slope: f64,
    /// Its part of the cost (J).
    pub(in crate::compliant) cost: f64,
}

/// The numbers of a contact in one step. Velocities and impulses are `[n, t₁, t₂]`: the normal
/// component first, positive where bodies separate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactLaw {
    /// Coefficient of friction `μ` ≥ 0.
    pub friction: f64,
    /// Normal regularisation `R_n` > 0 (1/kg).
    pub normal: f64,
    /// Tangential regularisation `R_t` > 0 (1/kg).
    pub tangential: f64,
    /// Velocity `v̂_n` (m/s) at which the normal impulse vanishes without slip.
    pub stabilisation: f64,
    pub(crate) model: Friction,
}

/// The value of the law at one velocity.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContactPoint {
    /// The region.
    pub region: Region,
    /// Impulse `γ` on body A (N s), `[n, t₁, t₂]`.
    pub impulse: [f64; 3],
    /// Cost `ℓ_R` (J).
    pub cost: f64,
}

/// The curvature `G = −∂γ/∂v_c` as a sum `Σ weight · u uᵀ` of at most three terms.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Curvature {
    pub(crate) weights: [f64; 3],
    pub(crate) directions: [[f64; 3]; 3],
    pub(crate) count: usize,
}

impl Curvature {
    pub(super) fn push(&mut self, weight: f64, direction: [f64; 3]) {
        self.weights[self.count] = weight;
        self.directions[self.count] = direction;
        self.count += 1;
    }

    /// `wᵀ G w`.
    pub(crate) fn along(&self, w: &[f64; 3]) -> f64 {
        (0..self.count)
            .map(|i| self.weights[i] * dot(&self.directions[i], w).powi(2))
            .sum()
    }

    /// `G w`.
    pub(crate) fn times(&self, w: &[f64; 3]) -> [f64; 3] {
        let mut product = [0.0; 3];
        for i in 0..self.count {
            let factor = self.weights[i] * dot(&self.directions[i], w);
            for (sum, u) in product.iter_mut().zip(&self.directions[i]) {
                *sum += factor * u;
            }
        }
        product
    }
}

#[inline]
pub(crate) fn dot(a: &[f64; 3], b: &[f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The derivatives of the impulse of a contact at a fixed velocity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct ImpulseRates {
    /// By `μ`.
    pub(crate) friction: [f64; 3],
    /// By `ln R_n`: the impulse of a contact as soft as 1e-301 N/m and its change with the stiffness
    /// are ordinary numbers, the rate by `R_n` itself underflows.
    pub(crate) normal: [f64; 3],
    /// By `R_t`.
    pub(crate) tangential: [f64; 3],
    /// By `v̂_n`.
    pub(crate) stabilisation: [f64; 3],
    /// By the normal velocity at the start of the step, with lagged friction.
    pub(crate) start: [f64; 3],
    /// By `s₁` and by `ln R_h` of a contact that hardens.
    pub(crate) knee: [f64; 3],
    pub(crate) hard: [f64; 3],
}

/// The derivatives of the moments of a contact at fixed angular velocities.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct MomentRates {
    /// By the coefficients `s` and `r`.
    pub(crate) spinning: [f64; 3],
    pub(crate) rolling: [f64; 3],
    /// By the regularisation.
    pub(crate) rotational: [f64; 3],
    /// By the load `γ_n`.
    pub(crate) load: [f64; 3],
}
