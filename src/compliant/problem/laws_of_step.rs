//! The laws of friction that a step gives all its contacts in the place of the convex cone.

use super::Problem;
use crate::compliant::law::Friction;
use crate::{InputError, validate};

impl Problem {
    /// Bounds the friction of all contacts added so far by the normal impulses `γ_n0` of the law at
    /// the velocities `v0` of the start of the step, in place of those of its end:
    ///
    /// ```text
    ///     ℓ = s₊²/(2 R_n) + μ γ_n0 (√(|v_t|² + ε²) − ε),   ε = max(slip, R_t μ γ_n0)
    /// ```
    ///
    /// Normal and tangential impulses decouple: bodies that slide do not glide on a cushion. The
    /// friction bound is one step old; a body that lands meets no friction in its first step. A
    /// slip below `ε` counts as stiction; it creeps with the speed at which friction balances the
    /// load, of the size of `slip` (m/s; 1e-4 is usual).
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::NotFinite`] for velocities,
    /// [`InputError::BadSetting`] for a slip below 1e-12 m/s, and [`InputError::MomentsIgnored`].
    pub fn lag_friction(&mut self, v0: &[f64], slip: f64) -> Result<(), InputError> {
        validate::length("start velocities", self.dof(), v0.len())?;
        validate::finite("start velocities", v0)?;
        check_slip(slip)?;
        self.check_moments(Some("lagged friction"))?;
        for i in 0..self.contacts.len() {
            let start = self.normal_rate(i, v0);
            self.contacts[i].law.model = Friction::Lagged { start, slip };
        }
        Ok(())
    }

    /// Gives all contacts added so far Coulomb's law in the place of the convex cone, with the velocities
    /// `v0` at the start of the step:
    ///
    /// ```text
    ///     γ_n = s₊/R_n up to s₁, then with the slope 1/R_h
    ///     γ_t = −v_t/R_t, or −μ γ_n v_t/|v_t| where that is less
    ///     s = v̂_n − v_n       v̂_n = −φ₀/(dt + τ) for φ₀ ≤ 0, and −φ₀/dt for φ₀ > 0
    /// ```
    ///
    /// A contact presses where it would close within the step, by its rows at the start: nothing glides on a
    /// cushion. (The driver leaves out contacts that pass each other on their way.) Where the near-rigid limit holds, a contact hardens
    /// to `R_h = R_n/1000`, or to its stiffness, from ten times the load on that its own bodies would
    /// make: `s₁ = 10 R_n max |J_b (v* − v0)|/w`, the greater of its bodies `b`. So a heavy body does not
    /// sink into a light one, and an impact leaves no rebound.
    ///
    /// The solution is no minimum of a cost any more. It is found by convex problems with the loads
    /// `γ_n` of friction held, sweeps over the contacts and Newton's method; where loads do not come
    /// to rest, those of the last sweep stay, and
    /// [`friction_error`](crate::compliant::IslandReport::friction_error) says by how much they are wrong. With large
    /// `μ` bodies may jam in more ways than one; then the guess decides.
    ///
    /// # Errors
    /// [`InputError::WrongLength`] and [`InputError::NotFinite`] for velocities.
    pub fn coulomb(&mut self, v0: &[f64]) -> Result<(), InputError> {
        validate::length("start velocities", self.dof(), v0.len())?;
        validate::finite("start velocities", v0)?;
        for i in 0..self.contacts.len() {
            let change = self.own_change(i, v0, 3);
            let term = &mut self.contacts[i];
            let softness = self.softness.of(&term.parameters);
            let hard = softness.hardening(self.dt, &term.parameters, &term.law, change);
            term.law.model = Friction::Coulomb { load: 0.0, hard };
            if term.parameters.gap > 0.0 {
                term.law.stabilisation = -term.parameters.gap / self.dt;
            }
        }
        Ok(())
    }

    /// Refuses spinning and rolling friction with a law that ignores them; none: with those of the problem.
    pub(in crate::compliant) fn check_moments(
        &self,
        law: Option<&'static str>,
    ) -> Result<(), InputError> {
        for (number, term) in self.contacts.iter().enumerate() {
            let law = law.or(match term.law.model {
                Friction::Coulomb { .. } => None,
                _ => Some("the convex cone of friction"),
            });
            if let (true, Some(law)) = (term.rotational > 0.0, law) {
                return Err(term.parameters.moments_ignored(law, number));
            }
        }
        Ok(())
    }

    /// Takes for all contacts the side of gaps and overlaps on which they are in another problem of the same
    /// contacts: between both the law has an edge.
    pub(in crate::compliant) fn close_as(&mut self, other: &Self) {
        for (term, of) in self.contacts.iter_mut().zip(&other.contacts) {
            if let Friction::Coulomb { .. } = term.law.model {
                let lag = if of.parameters.gap > 0.0 {
                    0.0
                } else {
                    term.parameters.dissipation_time
                };
                term.law.stabilisation = -term.parameters.gap / (self.dt + lag);
            }
        }
    }

    /// Lets contact `i` of Coulomb's law open with this normal velocity, as a rigid one.
    pub(in crate::compliant) fn rebound(&mut self, i: usize, speed: f64) {
        let term = &mut self.contacts[i];
        let softness = self.softness.of(&term.parameters);
        let hard = softness.rebounding(&term.law);
        term.law.stabilisation = speed;
        term.law.model = Friction::Coulomb { load: 0.0, hard };
    }
}

/// Refuses a slip of lagged friction whose square is lost in rounding, and at last underflows.
pub(in crate::compliant) fn check_slip(slip: f64) -> Result<(), InputError> {
    let rule = "must be finite and at least 1e-12";
    validate::accepted("slip of lagged friction", &[slip], rule, |s| s >= 1e-12)
}
