//! `MechanicalSystem`: masses and forces, `M(q) q̈ = f(t, q, q̇) + c(q, q̇) q̇ + Da_Jᵀ λ_J` (Pace &
//! Burden, eq. 1).

use std::ops::Range;

use super::State;
use crate::linalg::dot;
use crate::linalg::scratch::with_zeros;
use crate::validate;

/// A mechanical system in coordinates `q` with velocities `v`; what contacts do to it is in
/// [`UnilateralConstraints`](super::UnilateralConstraints).
///
/// Slices `v` and `f` have [`dof`](Self::dof) entries, `q` has [`coordinates`](Self::coordinates);
/// matrices are `dof × dof`, one column after the other. Sizes (these and
/// [`trees`](Self::trees)) are read once, when a driver is made, and slices have these lengths ever
/// after; the compliant driver, whose system may be changed between steps, reads them when it starts
/// and refuses a step with others. Sizes whose matrices would take gigabytes are refused.
///
/// Velocities are the rates of the coordinates, `q̇ = v`, unless
/// [`configuration_rate`](Self::configuration_rate) is written: then `q̇ = N(q) v`, as for a body
/// with a unit quaternion in `q` and its angular velocity in `v`. There the derivative of a
/// function of `q` by velocity `i` is the one along `N(q) e_i`.
///
/// Derivatives (the Coriolis force, rows and curvatures of gaps) come on three levels: nothing
/// written, and they are differences; the system written once for any scalar (`SmoothMechanics`,
/// `SmoothConstraints`) and wrapped in `Dual`, feature `dual`, and they are exact; or written by
/// hand, which [`check_mechanics`](super::check_mechanics) compares with differences.
pub trait MechanicalSystem {
    /// Number `d` of degrees of freedom: of velocities.
    fn dof(&self) -> usize;

    /// Number of coordinates, no less than [`dof`](Self::dof); provided: the same number. More only
    /// where [`configuration_rate`](Self::configuration_rate) is written.
    fn coordinates(&self) -> usize {
        self.dof()
    }

    /// Writes the rates of the coordinates `q̇ = N(q) v`, linear in `v`, and returns `true`; the
    /// provided method returns `false`, which means `q̇ = v`. The returned value must be the same
    /// at all states.
    ///
    /// If it is written, [`coriolis`](Self::coriolis) must be written too, even for a constant
    /// mass: the mass matrix alone does not determine it. A run of a system without it is refused
    /// with [`InputError::CoriolisUnwritten`](crate::InputError::CoriolisUnwritten).
    fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        let _ = (q, v, rate);
        false
    }

    /// Brings coordinates that drifted off their manifold back to it (a quaternion to unit length)
    /// and returns `true` when it changed them; the provided method does nothing. Called at the
    /// start, after accepted steps and at events. Do not correct rounding errors: each change costs
    /// an evaluation of the motion.
    ///
    /// Derivatives are those within the manifold: give directions `dq = N(q) δ`, on which this map
    /// is the identity to first order.
    fn project_configuration(&self, q: &mut [f64]) -> bool {
        let _ = q;
        false
    }

    /// The velocities that are driven: forces of contacts do not change them, and
    /// [`effort`](Self::effort) writes their accelerations. So surfaces move: a belt, a shaken table, a
    /// turntable, each a coordinate (or some) of its own, of which gaps and tangents depend as on all
    /// others. They come into the rates and accelerations of gaps and slips, into impacts and into
    /// derivatives as all velocities do. The mass matrix has the entries of an identity in their
    /// rows and columns, which weigh nothing: kinetic energies and Coriolis forces leave them out. The
    /// work of a surface is in the contacts' part of [`EnergyBalance`](super::EnergyBalance). Provided:
    /// none.
    ///
    /// Time itself may be one: a coordinate with velocity 1 and acceleration 0 makes a gap depend on time
    /// as the user writes it, exactly.
    ///
    /// ```
    /// use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
    /// use saltation::{ContactModel, EventDriven, Start};
    /// /// A block of 1 kg on a belt: its place and height, and the place of the belt.
    /// struct Belt;
    /// impl MechanicalSystem for Belt {
    ///     fn dof(&self) -> usize { 3 }
    ///     fn driven(&self) -> std::ops::Range<usize> { 2..3 }
    ///     fn mass(&self, _q: &[f64], mass: &mut [f64]) {
    ///         mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    ///     }
    ///     fn constant_mass(&self) -> bool { true }
    ///     fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
    ///         effort.copy_from_slice(&[0.0, -9.81, 0.0]); // the belt has a constant speed
    ///     }
    /// }
    /// impl UnilateralConstraints for Belt {
    ///     fn contacts(&self) -> usize { 1 }
    ///     fn gap(&self, _j: usize, q: &[f64]) -> f64 { q[1] }
    ///     fn friction(&self, _j: usize) -> f64 { 0.3 }
    ///     fn tangents(&self, _j: usize) -> usize { 1 }
    ///     fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
    ///         rows.copy_from_slice(&[1.0, 0.0, -1.0]); // the slip is that on the belt
    ///     }
    /// }
    /// // It is put on the belt at rest, is dragged along, and sticks at 2/(0.3 g).
    /// let start = Start::at(0.0).q(&[0.0; 3]).v(&[0.0, 0.0, 2.0]);
    /// let run = EventDriven::new(ContactModel::new(Belt))?.integrate(&start, 1.0)?.completed()?;
    /// assert!((run.events()[0].t - 2.0 / (0.3 * 9.81)).abs() < 1e-6);
    /// assert!((run.state()[3] - 2.0).abs() < 1e-9 && run.state()[5] == 2.0);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// Read once, when a driver is made. [`Variational`](crate::Variational) and
    /// [`Compliant`](crate::Compliant) refuse a system that has some
    /// ([`InputError::DrivenVelocities`](crate::InputError::DrivenVelocities)). A contact has a body on one
    /// side at least: between two surfaces that are driven no force changes anything. One body may touch
    /// several surfaces; where they ask for accelerations that no forces make, contacts slip or open, as
    /// the complementarity problem of forces and accelerations has it. Where they squeeze a body the run
    /// ends ([`Breakdown::NoConsistentMode`](crate::event_driven::Breakdown::NoConsistentMode)).
    fn driven(&self) -> Range<usize> {
        0..0
    }

    /// Writes the mass matrix `M(q)`, symmetric and positive definite.
    fn mass(&self, q: &[f64], mass: &mut [f64]);

    /// Writes the effort `f(t, q, v)`: all forces but those of contacts and the Coriolis force; of
    /// velocities that are [driven](Self::driven) the accelerations.
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]);

    /// Writes derivatives of the effort, `D_q f · dq + D_v f · dv`, and returns `true`:
    /// `directions` holds one `(dq, dv)` after the other, `coordinates + dof` entries each, and
    /// `out` takes `dof` entries for each. The provided method returns `false`, and the crate takes
    /// differences. Written, it makes derivatives of runs faster and more exact.
    fn effort_along(&self, at: State<'_>, directions: &[f64], out: &mut [f64]) -> bool {
        let _ = (at, directions, out);
        false
    }

    /// Writes what implicit steps with contacts know of springs and dampers: the stiffness
    /// `K = −∂f₁/∂q N` and the damping `D = −∂f₁/∂v` of a part `f₁` of the effort, `dof × dof`, and
    /// returns `true`. Both must be symmetric and positive semidefinite, and must not couple trees;
    /// leave springs between trees and everything else out. Provided: none.
    ///
    /// The compliant driver takes them into the inertia `A` that contacts meet; without, its
    /// contact impulses see the masses alone.
    fn springs_and_dampers(
        &self,
        at: State<'_>,
        stiffness: &mut [f64],
        damping: &mut [f64],
    ) -> bool {
        let _ = (at, stiffness, damping);
        false
    }

    /// Number of trees. A tree is a block of velocities that no entry of the mass matrix couples to
    /// another block: a free body, an arm on its base. Drivers that factorise tree by tree ask for
    /// them; provided: one.
    fn trees(&self) -> usize {
        1
    }

    /// The velocities of tree `i`. Trees follow each other from 0 to [`dof`](Self::dof), none is
    /// empty; provided: all velocities. [`check_mechanics`](super::check_mechanics) compares them
    /// with the mass matrix.
    fn tree(&self, i: usize) -> Range<usize> {
        let _ = i;
        0..self.dof()
    }

    /// Writes the mass matrix of tree `i`, `n × n` for its `n` velocities, one column after the
    /// other; provided: the block of [`mass`](Self::mass), at the cost of all of it.
    fn tree_mass(&self, i: usize, q: &[f64], mass: &mut [f64]) {
        if self.trees() == 1 {
            self.mass(q, mass);
            return;
        }
        let (d, tree) = (self.dof(), self.tree(i));
        if validate::entries("mass", d, d).is_err() {
            mass.fill(f64::NAN);
            return;
        }
        with_zeros(d * d, |whole| {
            self.mass(q, whole);
            let columns = whole.chunks_exact(d.max(1)).skip(tree.start);
            let blocks = mass.chunks_exact_mut(tree.len().max(1));
            for (column, block) in columns.zip(blocks) {
                for (entry, m) in block.iter_mut().zip(column.iter().skip(tree.start)) {
                    *entry = *m;
                }
            }
        });
    }

    /// A speed of tree `i` at its own velocities `v`, below which nothing of it moves faster (m/s):
    /// by it the compliant driver decides what [sleeps](crate::compliant::Sleep). Zero for `v = 0`
    /// alone. Provided: the length of `v`, with rad/s as m/s; write it where coordinates are angles
    /// of long arms.
    fn tree_speed(&self, i: usize, q: &[f64], v: &[f64]) -> f64 {
        let _ = (i, q);
        dot(v, v).sqrt()
    }

    /// Adds to `effort` what depends on which contacts are `closed` (in rising order), and returns
    /// `true`: a muscle that is switched by a touch sensor, or adhesion (Pace & Burden, section
    /// 5.7). The provided method adds nothing and returns `false`; the returned value must be the
    /// same for all sets. With such efforts several contact modes can be consistent at one state,
    /// or none: [`Breakdown::AmbiguousMode`](crate::event_driven::Breakdown::AmbiguousMode),
    /// [`Breakdown::NoConsistentMode`](crate::event_driven::Breakdown::NoConsistentMode). All sets of the contacts
    /// that touch are tried, of twelve at most; of five where they have friction.
    fn contact_effort(&self, at: State<'_>, closed: &[usize], effort: &mut [f64]) -> bool {
        let _ = (at, closed, effort);
        false
    }

    /// Writes the Coriolis force `c(q, v) v` (on the side of the forces) and returns `true`; the
    /// provided method returns `false`, and the crate derives it from differences of the mass
    /// matrix, `c_lm = −½ Σ_k (∂_k M_lm + ∂_m M_lk − ∂_l M_km) v_k`. Where
    /// [`constant_mass`](Self::constant_mass) says so and `q̇ = v` it is zero.
    ///
    /// If `q̇ = N(q) v` it must be written. With `p = M v`, `X_i = N e_i` and brackets
    /// `[X_i, X_j] = Σ_k C^k_ij X_k`, component `i` is
    /// `−(Ṁ v)_i + ½ ∂(vᵀ M v)/∂X_i − Σ_jk C^k_ij v_j p_k` (Boltzmann and Hamel); for a body with
    /// inertia `I` and angular velocity `ω` in its own axes that is `−ω × I ω`.
    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        let _ = (q, v, force);
        false
    }

    /// Writes the derivative of the kinetic energy, `½ ∂(vᵀ M v)/∂q` (along `N(q) e_i`), and
    /// returns `true`; the provided method returns `false`, and the crate takes differences of the
    /// mass matrix. It is the part of the Coriolis force that is not `−Ṁ v`.
    fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
        let _ = (q, v, gradient);
        false
    }

    /// True when `M` does not depend on `q`. Then `M` is factorised once a run, or a part of a live one, and the
    /// Coriolis force is zero where `q̇ = v`.
    fn constant_mass(&self) -> bool {
        false
    }

    /// The shortest time (s) in which the effort does something of its own that the motion does not
    /// show before: a pulse, a switch by the clock. Steps sample at least as often, and sample the
    /// forces of contacts too: a body at rest does not move before its contact opens. `INFINITY`
    /// for efforts that change as `q` and `v` do, a controller's among them unless its targets follow the
    /// clock; with the provided `None` the forces of contacts are sampled a hundred times a run, and steps
    /// follow the error test alone.
    ///
    /// It makes sure that a pulse is not missed, and no jump exact: one by the clock is stepped over, with
    /// an error of up to a hundred times the tolerance and no [`Doubt`](crate::Doubt). Where its time is
    /// known, end the run there and go on from its [`end`](crate::Run::end), or command the effort of a
    /// [`Live`](crate::Live) run.
    fn time_scale(&self) -> Option<f64> {
        None
    }

    /// The potential energy of the conservative part of the effort (J), for
    /// [`ContactModel::energy`](crate::ContactModel::energy).
    fn potential(&self, q: &[f64]) -> Option<f64> {
        let _ = q;
        None
    }
}
