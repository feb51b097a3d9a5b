//! `MechanicalSystem`: masses and forces, `M(q) q̈ = f(t, q, q̇) + c(q, q̇) q̇ + Da_Jᵀ λ_J` (Pace &
//! Burden, eq. 1).

/// A mechanical system in coordinates `q` with velocities `v = q̇`; what contacts do to it is in
/// [`UnilateralConstraints`](super::UnilateralConstraints).
///
/// Slices `q`, `v`, `f` have [`dof`](Self::dof) entries; matrices are `dof × dof`, one column after
/// the other.
///
/// Derivatives (the Coriolis force, rows and curvatures of gaps) come on three levels: nothing
/// written, and they are differences; the system written once for any scalar (`SmoothMechanics`,
/// `SmoothConstraints`) and wrapped in `Dual`, feature `dual`, and they are exact; or written by
/// hand, which [`check_mechanics`](super::check_mechanics) compares with differences.
pub trait MechanicalSystem {
    /// Number `d` of degrees of freedom.
    fn dof(&self) -> usize;

    /// Writes the mass matrix `M(q)`, symmetric and positive definite.
    fn mass(&self, q: &[f64], mass: &mut [f64]);

    /// Writes the effort `f(t, q, v)`: all forces but those of contacts and the Coriolis force.
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]);

    /// Writes derivatives of the effort, `D_q f · dq + D_v f · dv`, and returns `true`:
    /// `directions` holds one `(dq, dv)` after the other, `2 dof` entries each, and `out` takes
    /// `dof` entries for each. The provided method returns `false`, and the crate takes
    /// differences. For derivatives of runs, which it makes faster and more exact.
    fn effort_along(
        &self,
        (t, q, v): (f64, &[f64], &[f64]),
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        let _ = (t, q, v, directions, out);
        false
    }

    /// Adds to `effort` what depends on which contacts are `closed` (in rising order), and returns
    /// `true`: a muscle that is switched by a touch sensor, or adhesion (Pace & Burden, section
    /// 5.7). The provided method adds nothing and returns `false`; it must not be `true` for some
    /// sets only. With such efforts several contact modes can be consistent at one state, or none:
    /// [`Breakdown::AmbiguousMode`](crate::event_driven::Breakdown::AmbiguousMode),
    /// [`Breakdown::NoConsistentMode`](crate::event_driven::Breakdown::NoConsistentMode).
    fn contact_effort(
        &self,
        (t, q, v): (f64, &[f64], &[f64]),
        closed: &[usize],
        effort: &mut [f64],
    ) -> bool {
        let _ = (t, q, v, closed, effort);
        false
    }

    /// Writes the Coriolis force `c(q, v) v` (on the side of the forces) and returns `true`; the
    /// provided method returns `false`, and the crate derives it from differences of the mass
    /// matrix, `c_lm = −½ Σ_k (∂_k M_lm + ∂_m M_lk − ∂_l M_km) v_k`. Where
    /// [`constant_mass`](Self::constant_mass) says so it is zero.
    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        let _ = (q, v, force);
        false
    }

    /// True when `M` does not depend on `q`: spares the Coriolis force and factorisations.
    fn constant_mass(&self) -> bool {
        false
    }

    /// The shortest time (s) in which the effort does something of its own that the motion does not
    /// show before: a pulse, a switch by the clock. Steps look at least as often, and at the forces
    /// of contacts too: a body at rest does not move before its contact opens. `INFINITY` for
    /// efforts that change as `q` and `v` do; the provided `None` looks at the forces of contacts a
    /// hundred times a run, and leaves steps to the error test.
    fn time_scale(&self) -> Option<f64> {
        None
    }

    /// The potential energy of the conservative part of the effort, for those who watch the energy
    /// (J).
    fn potential(&self, q: &[f64]) -> Option<f64> {
        let _ = q;
        None
    }
}
