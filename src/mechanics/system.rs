//! `MechanicalSystem`: masses and forces, `M(q) q̈ = f(t, q, q̇) + c(q, q̇) q̇ + Da_Jᵀ λ_J` (Pace & Burden, eq. 1).

/// A mechanical system in coordinates `q` with velocities `v = q̇`; what contacts do to it is in
/// [`UnilateralConstraints`](super::UnilateralConstraints).
///
/// Slices `q`, `v`, `f` have [`dof`](Self::dof) entries; matrices are `dof × dof`, one column after the other.
///
/// Derivatives (the Coriolis force, rows and curvatures of gaps) come on three levels: nothing written, and they are
/// differences; the system written once for any scalar (`SmoothMechanics`, `SmoothConstraints`) and wrapped in `Dual`, feature `dual`,
/// and they are exact; or written by hand, which [`check_mechanics`](super::check_mechanics) compares with differences.
pub trait MechanicalSystem {
    /// Number `d` of degrees of freedom.
    fn dof(&self) -> usize;

    /// Writes the mass matrix `M(q)`, symmetric and positive definite.
    fn mass(&self, q: &[f64], mass: &mut [f64]);

    /// Writes the effort `f(t, q, v)`: all forces but those of contacts and the Coriolis force.
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]);

    /// Writes derivatives of the effort, `D_q f · dq + D_v f · dv`, and returns `true`: `directions` holds one `(dq, dv)` after the
    /// other, `2 dof` entries each, and `out` takes `dof` entries for each. The provided method returns `false`, and the crate takes
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

    /// Adds to `effort` what depends on which contacts are `closed` (in rising order), and returns `true`: a muscle that is
    /// switched by a touch sensor, or adhesion (Pace & Burden, section 5.7). The provided method adds nothing and returns
    /// `false`; it must not be `true` for some sets only. With such efforts several contact modes can be consistent at
    /// one state, or none: [`Error::AmbiguousMode`](crate::Error::AmbiguousMode),
    /// [`Error::SettleFailed`](crate::Error::SettleFailed).
    fn contact_effort(
        &self,
        (t, q, v): (f64, &[f64], &[f64]),
        closed: &[usize],
        effort: &mut [f64],
    ) -> bool {
        let _ = (t, q, v, closed, effort);
        false
    }

    /// Writes the Coriolis force `c(q, v) v` (on the side of the forces) and returns `true`; the provided method returns
    /// `false`, and the crate derives it from differences of the mass matrix,
    /// `c_lm = −½ Σ_k (∂_k M_lm + ∂_m M_lk − ∂_l M_km) v_k`. Where [`constant_mass`](Self::constant_mass) says so it is zero.
    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        let _ = (q, v, force);
        false
    }

    /// True when `M` does not depend on `q`: spares the Coriolis force and factorisations.
    fn constant_mass(&self) -> bool {
        false
    }

    /// The shortest time (s) in which the effort does something of its own that the motion does not show before: a pulse, a switch by
    /// the clock. Steps look at least as often, and at the forces of contacts too: a body at rest does not move before its contact
    /// opens. `INFINITY` for efforts that change as `q` and `v` do; the provided `None` looks at the forces of contacts a hundred times a
    /// run, and leaves steps to the error test.
    fn time_scale(&self) -> Option<f64> {
        None
    }

    /// The potential energy of the conservative part of the effort, for those who watch the energy (J).
    fn potential(&self, q: &[f64]) -> Option<f64> {
        let _ = q;
        None
    }
}

/// Gaps `a_j(q) ≥ 0` and what happens when they close; one description for all drivers and impact laws.
pub trait UnilateralConstraints {
    /// Number `n` of contacts.
    fn contacts(&self) -> usize;

    /// Gap `a_j(q)`, twice differentiable; negative beyond the surface. It does not depend on time: on a table that moves by itself,
    /// take `q` in the frame of the table and add the inertial force to the effort, or make the table a heavy body of its own.
    fn gap(&self, j: usize, q: &[f64]) -> f64;

    /// Writes the row `Da_j(q)` and returns `true`; the provided method returns `false`, and the crate takes differences.
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let _ = (j, q, row);
        false
    }

    /// True when the row `Da_j` does not depend on `q`: the gap is an affine function, without curvature. Spares evaluations.
    fn constant_row(&self, j: usize) -> bool {
        let _ = j;
        false
    }

    /// The curvature term `κ_j = vᵀ D²a_j(q) v`, the part of the gap's acceleration that is not `Da_j q̈`; the provided method
    /// returns `None`, and the crate takes the difference of `Da_j v` along `v`.
    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        let _ = (j, q, v);
        None
    }

    /// Coefficient of restitution `γ_j(q, v⁻)`, in [0, 1].
    fn restitution(&self, j: usize, q: &[f64], v: &[f64]) -> f64 {
        let _ = (j, q, v);
        0.0
    }

    /// Coefficient of friction, ≥ 0. What knows no friction refuses one that is not zero.
    fn friction(&self, j: usize) -> f64 {
        let _ = j;
        0.0
    }

    /// Number of tangential directions of contact `j`: 0 without friction, 1 in the plane, 2 in space.
    fn tangents(&self, j: usize) -> usize {
        let _ = j;
        0
    }

    /// Writes the rows of the tangential velocities of contact `j`, one after the other.
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let _ = (j, q);
        rows.fill(0.0);
    }
}
