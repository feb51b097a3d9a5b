//! Accelerations and multipliers of a mechanical system whose contacts `J` are closed (Pace &
//! Burden, eq. 1 and 2, corrected):
//!
//! ```text
//!     G_J = Da_J M⁻¹ Da_Jᵀ        λ_J = −G_J⁻¹ (Da_J M⁻¹ (f + c v) + κ_J)        q̈ = M⁻¹ (f + c v + Da_Jᵀ λ_J)
//! ```

use crate::linalg::cholesky::{factor, factor_rows, solve, solve_lower};
use crate::linalg::dot;
use crate::linalg::least_norm::{DEPENDENT, least_norm, least_norm_size};
use crate::linalg::scratch::{Cut, with_zeros};
use crate::mechanics::contact::contacts::ContactRows;
use crate::mechanics::contact::delassus::{Inertia, Mass, delassus};
use crate::mechanics::contact::gaps::curvature;
use crate::mechanics::motion::constants::{Bodies, Fixed, Trouble};
use crate::mechanics::motion::kinetic::coriolis;
use crate::mechanics::{MechanicalSystem, Redundant, State, UnilateralConstraints};

/// The use for which accelerations and multipliers are evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Purpose {
    /// The motion.
    Motion,
    /// Event functions: their rounding is added to the multipliers, so that a contact without a force
    /// stays closed. Accelerations are left without them.
    Events {
        /// The tolerance of rates (m/s).
        rate_tolerance: f64,
    },
}

/// Part of the tolerance of rates by which an idle contact may change them in a second.
const IDLE: f64 = 1e-3;

/// Rounding of the accelerations of gaps, as a part of their size, where the user wrote the rows.
pub(crate) const WRITTEN: f64 = 1e-12;
/// That where some row is a difference.
pub(crate) const DIFFERENCED: f64 = 1e-10;

/// Rounding of the Gram matrix of unit rows, over their number.
const NOISE: f64 = 4.0 * f64::EPSILON;
/// Rows that the user writes are independent if each has this part of its size across the others: a
/// million times its rounding, so that forces are resolved to a millionth.
const SHARP: f64 = 1e-10;

/// Accelerations of closed gaps beyond so many times their noise are none of it: no forces hold the gaps,
/// and the complementarity problem sees that too.
const UNHELD: f64 = 4.0;

/// A multiplier counts as zero up to this: the rounding of the acceleration of its gap in units of
/// its row, or the force that changes the rate of the gap by a thousandth of `rate_tolerance` in a
/// second; `unit` is `1/√G_ii`.
pub(crate) fn idle_force(rounding: f64, unit: f64, rate_tolerance: f64) -> f64 {
    (rounding + IDLE * rate_tolerance * unit) * unit
}

impl<S> Bodies<S>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    /// See [`Frame::new`].
    pub(crate) fn frame<'a>(
        &'a self,
        q: &[f64],
        contacts: &'a [usize],
        scratch: &'a mut [f64],
    ) -> Result<Frame<'a>, Trouble> {
        Frame::new(&self.system, &self.fixed, q, contacts, scratch)
    }
}

/// A configuration with its mass matrix factorised and some contacts with their rows and their Gram
/// matrix.
pub(crate) struct Frame<'a> {
    pub(crate) d: usize,
    mass: Mass<'a>,
    pub(crate) rows: ContactRows<'a>,
    /// `M⁻¹ Daᵀ`, one column after the other.
    pub(crate) lift: &'a mut [f64],
    /// `G = Da M⁻¹ Daᵀ`.
    pub(crate) gram: &'a mut [f64],
    /// The diagonal of `G`.
    diagonal: &'a mut [f64],
    /// Largest sum of the absolute terms of a gap acceleration, in units of its row: the scale of
    /// its rounding.
    pub(crate) size: f64,
    /// `aᵀ M a` of the free acceleration `a`; ∞ where it was not asked for.
    thrust: f64,
    /// There is a Coriolis force.
    pub(super) has_coriolis: bool,
    /// Rounding of the curvatures, the larger part where these are differences (units of rows).
    bent: f64,
    /// A generalised effort beside that of the system; empty: none.
    applied: &'a [f64],
    work: &'a mut [f64],
}

impl<'a> Frame<'a> {
    /// Factorises at `q`, for `contacts`; scratch of [`Fixed::frame_size`] zeros.
    pub(crate) fn new<S>(
        system: &S,
        fixed: &'a Fixed,
        q: &[f64],
        contacts: &'a [usize],
        scratch: &'a mut [f64],
    ) -> Result<Self, Trouble>
    where
        S: MechanicalSystem + UnilateralConstraints + ?Sized,
    {
        let (d, m) = (fixed.dof(system)?, contacts.len());
        let mut cut = Cut(scratch);
        let mass = fixed.mass(system, d, q, cut.take(fixed.mass_size(d)))?;
        let (rows, lift, gram) = (cut.take(m * d), cut.take(m * d), cut.take(m * m));
        let (diagonal, work) = (cut.take(m), cut.0);
        let rows = ContactRows::new(system, d, q, contacts, rows, work);
        delassus(&mass, d, rows.rows, lift, gram);
        let space = [lift, gram, diagonal, work];
        let has_coriolis = !(fixed.identity && system.constant_mass());
        Ok(Self::of(d, mass, rows, space, has_coriolis).with(fixed))
    }

    /// From its parts: the last space is scratch.
    #[inline(always)]
    pub(super) fn of(
        d: usize,
        mass: Mass<'a>,
        rows: ContactRows<'a>,
        [lift, gram, diagonal, work]: [&'a mut [f64]; 4],
        has_coriolis: bool,
    ) -> Self {
        Self {
            d,
            mass,
            rows,
            lift,
            gram,
            diagonal,
            size: 0.0,
            thrust: f64::INFINITY,
            has_coriolis,
            bent: 0.0,
            applied: &[],
            work,
        }
    }

    /// With the effort that is applied beside that of the system.
    #[inline(always)]
    pub(super) fn with(mut self, fixed: &'a Fixed) -> Self {
        self.applied = fixed.applied();
        self
    }

    /// The rounding of the accelerations of gaps, in units of rows. It is larger where rows or
    /// curvatures are differences.
    fn rounding(&self) -> f64 {
        let part = if self.rows.written {
            WRITTEN
        } else {
            DIFFERENCED
        };
        part * self.size + self.bent
    }

    /// The unit of the multiplier of a gap, `1/√G_ii`.
    pub(super) fn unit_force(&self, i: usize) -> f64 {
        self.diagonal[i].sqrt().recip()
    }

    /// See [`idle_force`].
    pub(crate) fn idle_force(&self, i: usize, rate_tolerance: f64) -> f64 {
        idle_force(self.rounding(), self.unit_force(i), rate_tolerance)
    }

    /// The least acceleration that counts as not zero, in units of rows: at least `part` of their
    /// size.
    pub(crate) fn least_acceleration(&self, part: f64, rate_tolerance: f64) -> f64 {
        let unit = self
            .diagonal
            .iter()
            .fold(f64::INFINITY, |least, g| g.min(least));
        let least = (part * self.size).max(IDLE * rate_tolerance / unit.sqrt());
        least.max(self.rounding())
    }

    pub(crate) fn row(&self, i: usize) -> &[f64] {
        self.rows.row(i)
    }

    /// `x += M⁻¹ Da_iᵀ p`.
    pub(crate) fn push(&self, i: usize, p: f64, x: &mut [f64]) {
        for (x, l) in x.iter_mut().zip(&self.lift[i * self.d..(i + 1) * self.d]) {
            *x += p * l;
        }
    }

    /// `out = M⁻¹ force`.
    pub(crate) fn solve_mass(&self, force: &[f64], out: &mut [f64]) {
        self.mass.solve(force, out);
    }

    /// The acceleration without contact forces, `M⁻¹ (f + c v)`, when `closed` are closed.
    pub(crate) fn free_acceleration<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        State { t, q, v }: State<'_>,
        closed: &[usize],
        acceleration: &mut [f64],
    ) {
        let d = self.d;
        let mut cut = Cut(&mut self.work[..]);
        let force = cut.take(d);
        force.fill(0.0);
        system.effort(t, q, v, force);
        system.contact_effort(State { t, q, v }, closed, force);
        for (force, applied) in force.iter_mut().zip(self.applied) {
            *force += applied;
        }
        if self.has_coriolis {
            coriolis(system, q, v, acceleration, cut.0);
            for i in 0..d {
                force[i] += acceleration[i];
            }
        }
        self.mass.solve(force, acceleration);
        self.thrust = dot(force, acceleration);
    }

    /// Distance of free accelerations of gaps from the range of the Gram matrix that is rounding,
    /// in units of rows: dependent rows are resolved to the root of rounding.
    pub(crate) fn noise(&self) -> f64 {
        let m = self.rows.contacts.len() as f64;
        (NOISE * m).sqrt() * self.thrust.max(0.0).sqrt()
    }

    /// The acceleration of each gap under the accelerations `acceleration`: `Da q̈ + κ`. Records
    /// their size.
    pub(crate) fn gap_acceleration<S: MechanicalSystem + UnilateralConstraints + ?Sized>(
        &mut self,
        system: &S,
        q: &[f64],
        v: &[f64],
        acceleration: &[f64],
        out: &mut [f64],
    ) {
        let m = self.rows.contacts.len();
        (self.size, self.bent) = (0.0, 0.0);
        for i in 0..m {
            let (bent, rounding) = curvature(system, self.rows.contacts[i], q, v, self.work);
            let (mut sum, mut size) = (bent, bent.abs());
            for (row, a) in self.row(i).iter().zip(acceleration) {
                sum += row * a;
                size += (row * a).abs();
            }
            out[i] = sum;
            self.diagonal[i] = self.gram[i * m + i];
            let unit = self.diagonal[i].sqrt();
            self.size = self.size.max(size / unit);
            self.bent = self.bent.max(rounding / unit);
        }
    }

    /// Writes by how much the gaps of contacts that depend on each other accelerate, to either side,
    /// beyond what is rounding, with the accelerations `acceleration` of multipliers that are not unique
    /// (units of rows): zeros unless surfaces that move by themselves ask for what no forces make. Gives
    /// what is rounding. To be called once, after [`accelerate`].
    #[cold]
    pub(crate) fn unheld<S: MechanicalSystem + UnilateralConstraints + ?Sized>(
        &mut self,
        system: &S,
        State { q, v, .. }: State<'_>,
        acceleration: &[f64],
        out: &mut [f64],
    ) -> f64 {
        let least = UNHELD * self.noise();
        self.gap_acceleration(system, q, v, acceleration, out);
        for (out, diagonal) in out.iter_mut().zip(&*self.diagonal) {
            *out = (out.abs() / diagonal.sqrt() - least).max(0.0);
        }
        least
    }

    /// Writes the inverse of a constant mass with the contacts held,
    /// `P = M⁻¹ − M⁻¹ Daᵀ G⁻¹ Da M⁻¹`, `d × d`: the acceleration is `P` times a force. False when
    /// the mass is not constant; the Gram matrix must be factorised. `half` has one entry a
    /// contact.
    pub(crate) fn held_inverse(&mut self, half: &mut [f64], out: &mut [f64]) -> bool {
        let Inertia::Inverse(inverse) = self.mass.inertia else {
            return false;
        };
        let (d, m) = (self.d, self.rows.contacts.len());
        out.copy_from_slice(inverse);
        // With G = C Cᵀ, P = M⁻¹ − K Kᵀ, K = M⁻¹ Daᵀ C⁻ᵀ; K replaces the columns of M⁻¹ Daᵀ.
        for i in 0..d {
            for (k, half) in half.iter_mut().enumerate() {
                *half = self.lift[k * d + i];
            }
            solve_lower(self.gram, m, half);
            for (k, half) in half.iter().enumerate() {
                self.lift[k * d + i] = *half;
            }
        }
        for k in self.lift.chunks_exact(d.max(1)) {
            for (k_i, column) in k.iter().zip(out.chunks_exact_mut(d.max(1))) {
                for (entry, k) in column.iter_mut().zip(k) {
                    *entry -= k_i * k;
                }
            }
        }
        true
    }

    /// Solves `G x = b` in place; the Gram matrix is overwritten, by its factor where the solution
    /// is unique. True when it is.
    pub(crate) fn solve_gram(
        &mut self,
        b: &mut [f64],
        redundant: Redundant,
    ) -> Result<bool, Trouble> {
        let m = self.rows.contacts.len();
        for i in 0..m {
            self.diagonal[i] = self.gram[i * m + i];
        }
        let rcond = factor(self.gram, m).unwrap_or(0.0);
        if rcond > DEPENDENT {
            solve(self.gram, m, b);
            return Ok(true);
        }
        if redundant == Redundant::Refuse || b.iter().any(|b| !b.is_finite()) {
            return Err(Trouble::Dependent(rcond));
        }
        // The factor is below the diagonal; above it the matrix is whole.
        for i in 0..m {
            self.gram[i * m + i] = self.diagonal[i];
            for k in 0..i {
                self.gram[k * m + i] = self.gram[i * m + k];
            }
        }
        Ok(self.solve_dependent(b))
    }

    /// Solves `G x = b` as [`solve_gram`](Self::solve_gram) where rows depend on each other to the
    /// rounding of the Gram matrix: by the multipliers of least norm, unless these do not hold the
    /// load and those of the rows do.
    #[cold]
    fn solve_dependent(&mut self, b: &mut [f64]) -> bool {
        let m = b.len();
        with_zeros(m + least_norm_size(m), |scratch| {
            let (load, scratch) = scratch.split_at_mut(m);
            load.copy_from_slice(b);
            least_norm(self.gram, m, b, scratch);
            let noise = self.noise();
            let is_held = (0..m).all(|i| {
                let wrong = load[i] - dot(&self.gram[i * m..(i + 1) * m], b);
                let is_wrong = wrong.abs() > noise * self.diagonal[i].sqrt();
                // NaN counts as held.
                !is_wrong
            });
            if is_held {
                return false;
            }
            with_zeros(m * m, |factor| {
                let is_sharp = self.push_by_rows(0..m, load, factor);
                if is_sharp {
                    b.copy_from_slice(load);
                    self.gram.copy_from_slice(factor);
                }
                is_sharp
            })
        })
    }

    /// Replaces the load of some contacts by the forces that hold it, by a factor of their Gram
    /// matrix that is as exact as their rows; true where they are determined and none pulls. The
    /// sides of a sharp wedge are dependent to the rounding of the Gram matrix, which squares its
    /// angle, and they hold a load that those of lower rank do not.
    pub(crate) fn push_by_rows(
        &self,
        set: impl ExactSizeIterator<Item = usize>,
        load: &mut [f64],
        factor: &mut [f64],
    ) -> bool {
        let (d, m) = (self.d, set.len());
        if !self.rows.written {
            return false;
        }
        with_zeros(2 * m * d, |space| {
            let (rows, lift) = space.split_at_mut(m * d);
            for (k, i) in set.enumerate() {
                rows[k * d..(k + 1) * d].copy_from_slice(self.row(i));
                lift[k * d..(k + 1) * d].copy_from_slice(&self.lift[i * d..(i + 1) * d]);
            }
            factor_rows(rows, lift, d, SHARP, factor)
        }) && {
            solve(factor, m, load);
            load.iter().all(|force| *force >= 0.0)
        }
    }
}

/// Writes `q̈` with the contacts of a frame closed, and their multipliers; true when these are
/// unique.
// In one file with what it calls: in another one a user's build does not inline these.
pub(crate) fn accelerate<S>(
    system: &S,
    frame: &mut Frame<'_>,
    state: State<'_>,
    acceleration: &mut [f64],
    multipliers: &mut [f64],
    redundant: Redundant,
) -> Result<bool, Trouble>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    frame.free_acceleration(system, state, frame.rows.contacts, acceleration);
    if frame.rows.contacts.is_empty() {
        return Ok(true);
    }
    frame.gap_acceleration(system, state.q, state.v, acceleration, multipliers);
    for l in multipliers.iter_mut() {
        *l = -*l;
    }
    let unique = frame.solve_gram(multipliers, redundant)?;
    for i in 0..frame.rows.contacts.len() {
        frame.push(i, multipliers[i], acceleration);
    }
    Ok(unique)
}
