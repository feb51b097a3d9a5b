//! `UnilateralConstraints`: gaps and what happens when they close, `a_j(q) ≥ 0` (Pace & Burden,
//! section 2).

use super::Friction;

/// Gaps `a_j(q) ≥ 0` and what happens when they close; one description for all drivers and impact
/// laws. [`contacts`](Self::contacts) and [`tangents`](Self::tangents) are read once, when a driver is
/// made; rigid drivers take 10,000 contacts at most, since their Delassus matrix is dense.
pub trait UnilateralConstraints {
    /// Number `n` of contacts.
    fn contacts(&self) -> usize;

    /// Gap `a_j(q)`, twice differentiable; negative beyond the surface; with friction a distance (see
    /// [`tangent_rows`](Self::tangent_rows)). Where the surface moves by itself, its place is a
    /// coordinate that is [driven](super::MechanicalSystem::driven).
    fn gap(&self, j: usize, q: &[f64]) -> f64;

    /// Writes the row `Da_j(q)` that acts on velocities, `ȧ_j = Da_j v`, and returns `true`; the
    /// provided method returns `false`, and the crate takes differences, four gaps a coordinate, over steps that are
    /// shortened until the gap is straight along them. Where `q̇ = N(q) v`
    /// ([`configuration_rate`](super::MechanicalSystem::configuration_rate)), entry `i` is the
    /// derivative of the gap along `N(q) e_i`.
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let _ = (j, q, row);
        false
    }

    /// True when the row `Da_j` does not depend on `q`: the gap has no curvature. Spares
    /// evaluations.
    fn constant_row(&self, j: usize) -> bool {
        let _ = j;
        false
    }

    /// The curvature term `κ_j = vᵀ D²a_j(q) v`, the part of the gap's acceleration that is not
    /// `Da_j v̇`; the provided method returns `None`, and the crate takes the difference of
    /// `Da_j v` along `v`. Where `q̇ = N(q) v` it is the derivative of `Da_j v` along `N(q) v`,
    /// with `v` held.
    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        let _ = (j, q, v);
        None
    }

    /// Coefficient of restitution `γ_j(q, v⁻)`, in [0, 1]. Provided: 0, plastic.
    fn restitution(&self, j: usize, q: &[f64], v: &[f64]) -> f64 {
        let _ = (j, q, v);
        0.0
    }

    /// Stiffness of contact `j` (N/m), > 0. With a compliant driver the normal force is
    /// `(−k a − τ k ȧ)₊`. Provided: `INFINITY`, as stiff as the driver resolves. Rigid drivers do
    /// not read it.
    fn stiffness(&self, j: usize) -> f64 {
        let _ = j;
        f64::INFINITY
    }

    /// Dissipation time `τ` of contact `j` (s), ≥ 0, with the [`stiffness`](Self::stiffness);
    /// provided: 0, without dissipation. Near-rigid contacts of the compliant driver then return
    /// about 1 % of the speed of an impact, with the midpoint scheme up to half.
    fn dissipation_time(&self, j: usize) -> f64 {
        let _ = j;
        0.0
    }

    /// Coefficient of friction, ≥ 0. Laws and drivers without friction refuse one that is not zero. It may change
    /// between runs and between parts of a live one; whether any contact has friction is read when the model is made.
    /// Provided: 0.
    fn friction(&self, j: usize) -> f64 {
        let _ = j;
        0.0
    }

    /// The coefficients of friction of contact `j` at `q` while it slips with `speed` (m/s, ≥ 0), where
    /// they are not the one of [`friction`](Self::friction): static friction above kinetic, friction
    /// that depends on speed (Stribeck) or place. To be smooth in both: a jump of friction from place to
    /// place is stepped over like any jump of a force, with an error of up to a hundred times the tolerance. Coefficients are not negative; below 1e-12 they
    /// count as that. Provided: none. A contact has a law at all places and speeds or at none, which is
    /// asked when the model is made, with `q` of zeros. [`stick`](Friction::stick) is read of a contact at
    /// rest alone.
    ///
    /// [`EventDriven`](crate::EventDriven) takes it while contacts are closed: a contact that is at rest
    /// sticks if static friction can hold it, and one that stuck before sticks on if that holds it once others
    /// slip; one that slips has kinetic friction. An impact has one
    /// coefficient, kinetic friction at the slip with which it begins. The coefficient
    /// [`friction`](Self::friction) is not read then but for its sign: it must not be zero, by which a
    /// contact is known to have friction. The other drivers refuse a law
    /// ([`InputError::FrictionLaw`](crate::InputError::FrictionLaw)).
    fn friction_at(&self, j: usize, q: &[f64], speed: f64) -> Option<Friction> {
        let _ = (j, q, speed);
        None
    }

    /// Number of tangential directions of contact `j`: 0 without friction, 1 in the plane, 2 in
    /// space. All contacts have the same number. Provided: 0.
    fn tangents(&self, j: usize) -> usize {
        let _ = j;
        0
    }

    /// True when the [`tangent_rows`](Self::tangent_rows) do not depend on `q`. Spares evaluations;
    /// the provided `false` is always right.
    fn constant_tangents(&self, j: usize) -> bool {
        let _ = j;
        false
    }

    /// Writes the rows of the tangential velocities of contact `j`, one after the other, each with
    /// an entry a velocity: of unit tangents, orthogonal to each other and to the normal. Their
    /// sign is that of the slip. Units and signs are those of [`Contacts`](super::Contacts).
    /// To be written where there are [`tangents`](Self::tangents); provided: zeros, which drivers
    /// refuse at the start of a run for a contact with friction
    /// ([`InputError::TangentsUnwritten`](crate::InputError::TangentsUnwritten)).
    ///
    /// Friction compares the multipliers of the rows. The normal row is `Da`, so that the
    /// [`gap`](Self::gap) of a contact with friction has to be a distance: where `|∇a|` is not 1 in
    /// space, the coefficient acts as `μ/|∇a|`. Divide such a gap by `|∇a|`. (Tangents that are
    /// longer by the same factor give the right forces too, and slips in their units.)
    ///
    /// Rows that are not of one length and orthogonal are refused by runs with friction
    /// ([`InputError::ContactFrame`](crate::InputError::ContactFrame)) of a system that says that its
    /// mass matrix is [constant](super::MechanicalSystem::constant_mass) (it does not unless that is
    /// written), and reported by [`check_mechanics`](super::check_mechanics) where it is, said or
    /// not. Looked at are the start of a run and, in the event-driven driver, each impact; problems
    /// made by [`ImpactProblem::of_system`](crate::impact::ImpactProblem::of_system) are not.
    ///
    /// It is seen for a [tree](super::MechanicalSystem::trees) whose first two (in the plane) or
    /// three velocities have one mass `m I` and are not coupled with any others: these are the shifts
    /// of a body, as of a particle `(x, z)` or a body `(x, z, θ)`. In other coordinates (joints,
    /// masses that depend on them, shifts that are not first) it cannot be seen, and nothing is said.
    /// A system that looks like shifts and is none, as two levers of one inertia, does not say that
    /// its mass is constant.
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let _ = (j, q);
        rows.fill(0.0);
    }
}
