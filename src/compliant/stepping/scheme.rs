//! The schemes of the theta method (Castro et al., section II-C).

/// The weights of the start and the end of a step, `x_θ = θ x + (1 − θ) x₀`:
///
/// ```text
///     M(q_θ) (v − v₀) = dt k(q_θ, v_θ) + J(q₀)ᵀ γ        q = q₀ + dt N(q_θ) v_θvq
/// ```
///
/// Contacts and joints act by the velocities at the end of the step in all of them. While their
/// forces change the order is one; the module says what that does to the energy.
///
/// If `θ = 0` the Coriolis force is that at `q₀` and the mean of `v₀` and `v`, where it does no
/// work: at `v₀` it would speed up bodies that tumble, without bound. (The paper has it in `k`, at
/// `v*`: of bodies that joints or contacts hold it would take the spin.)
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Scheme {
    /// `θ = θ_vq = 0`, order 1. Energy grows.
    ExplicitEuler,
    /// `θ = 0`, `θ_vq = 1`, order 1. Energy stays bounded. The default.
    #[default]
    SymplecticEuler,
    /// `θ = θ_vq = 1`, order 1. Strongly dissipative.
    ImplicitEuler,
    /// `θ = θ_vq = ½`, order 2, also with the joints of [`bodies`](crate::bodies). It keeps the energy of linear
    /// springs exactly. Bodies that slide along a surface of which the normal turns with `ω` gain energy
    /// at the relative rate `ω² dt` (1/s). An impact of speed `u` penetrates up to `dt u/2` however
    /// stiff the contact is, and rebounds with up to `u dt/(2 (dt + τ))`: with half of `u` where
    /// the dissipation time `τ` is zero, as models have it that do not write it.
    Midpoint,
}

impl Scheme {
    /// `θ`: the weight of the end of the step in masses and efforts.
    pub fn effort_weight(self) -> f64 {
        match self {
            Self::ExplicitEuler | Self::SymplecticEuler => 0.0,
            Self::ImplicitEuler => 1.0,
            Self::Midpoint => 0.5,
        }
    }

    /// `θ_vq`: the weight of the end of the step in the velocities that move the coordinates.
    pub fn velocity_weight(self) -> f64 {
        match self {
            Self::ExplicitEuler => 0.0,
            Self::SymplecticEuler | Self::ImplicitEuler => 1.0,
            Self::Midpoint => 0.5,
        }
    }

    /// The part of a step, with the velocities of its start, by which the rows of further terms are taken ahead.
    ///
    /// With midpoint rows of the start would lag behind the move `dt (v₀ + v)/2`: on a joint that turns
    /// with `ω` the velocities at the start point outward by `u ω dt`, the rows would have to send them
    /// inward by `2 u ω dt`, and the kinetic energy would grow at the rate `ω² dt`. Half a step on it
    /// is `u ω dt/2` each, and none is gained.
    pub(super) fn rows_ahead(self) -> f64 {
        match self {
            Self::ExplicitEuler | Self::SymplecticEuler | Self::ImplicitEuler => 0.0,
            Self::Midpoint => 0.5,
        }
    }
}
