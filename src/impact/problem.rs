//! An impact: several contacts with zero gap at one instant, in contact space.

use nalgebra::{DMatrix, DVector};

use super::ImpactFailure;
use super::normal_space::{ContactSpace, Source, least_momentum};
use crate::linalg::decompose::cholesky;
use crate::linalg::scratch::{resize, resize_vector};
use crate::linalg::symmetric::{check_symmetric, unit_diagonal};
use crate::{InputError, Interrupt, MatrixFault, validate};

/// Contacts with zero gap at one instant, and the motion with which they meet it: what an
/// [`ImpactLaw`](super::ImpactLaw) resolves.
///
/// Rows come as normals first, one a contact, then the tangents: `k` rows for contact 0, `k` for
/// contact 1 and so on, with `k` = 0, 1 (plane) or 2. With the mass matrix `M`, the Jacobian `J` of
/// gaps and slips and the velocity `v⁻`,
///
/// ```text
///     G = J M⁻¹ Jᵀ        u = J v⁻        v⁺ = v⁻ + M⁻¹ Jᵀ p        u⁺ = u + G p
/// ```
///
/// `u_i < 0` approaches. Speeds are in m/s and impulses `p` in N s when gaps are lengths. Laws
/// without friction read the normal block only; their impulses change the slips too.
///
/// All contacts are elastic (restitution 1) and newly activated until said otherwise;
/// [`from_contacts`](Self::from_contacts) takes restitution from the contacts.
///
/// ```
/// use saltation::impact::{ImpactLaw, ImpactProblem, Propagative};
/// use saltation::nalgebra::{DMatrix, DVector};
///
/// // Three equal balls in a row; the first hits the other two, which touch.
/// let mass = DMatrix::identity(3, 3);
/// let gaps = DMatrix::from_row_slice(2, 3, &[-1.0, 1.0, 0.0, 0.0, -1.0, 1.0]);
/// let before = DVector::from_vec(vec![1.0, 0.0, 0.0]);
/// let cradle = ImpactProblem::from_mechanics(&mass, &gaps, &before)?;
/// let outcome = Propagative::default().outcome(&cradle)?;
/// let velocity = cradle.velocity_after(&outcome)?;
/// assert!((velocity - DVector::from_vec(vec![0.0, 0.0, 1.0])).norm() < 1e-14);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ImpactProblem {
    delassus: DMatrix<f64>,
    speeds: DVector<f64>,
    friction: Vec<f64>,
    restitution: Vec<f64>,
    is_new: Vec<bool>,
    tolerance: f64,
    /// `√(2T)`, `T` the kinetic energy of the whole motion where it is given.
    momentum: f64,
    /// `√(2T)` of the motion of least energy that has these contact speeds.
    least: f64,
    space: ContactSpace,
    motion: Option<Motion>,
    interrupt: Option<Interrupt>,
}

/// The motion that brings impulses back to velocities.
#[derive(Clone, Debug)]
pub(super) struct Motion {
    pub(super) velocity: DVector<f64>,
    /// `M⁻¹ Jᵀ`.
    pub(super) response: DMatrix<f64>,
    pub(super) mass: DMatrix<f64>,
}

/// The tolerance unless another is set.
const TOLERANCE: f64 = 1e-12;
/// Rows this much shorter than that of their normal are zero, but for rounding.
const STILL: f64 = 16.0 * f64::EPSILON;

impl ImpactProblem {
    /// Without friction, from the Delassus matrix `G` (`n × n`, symmetric, positive semidefinite)
    /// and the contact speeds `u` (`n`). Tolerances and the indeterminacy refer to the kinetic
    /// energy. It is that of the motion along the normals, `½ uᵀ G⁻¹ u`, unless
    /// [`with_kinetic_energy`](Self::with_kinetic_energy) sets another.
    ///
    /// # Errors
    /// [`InputError::NoContacts`], [`InputError::WrongLength`], [`InputError::NotFinite`],
    /// [`InputError::BadMatrix`] (`Delassus`), [`ImpactFailure::Overflow`] for a momentum that is
    /// infinite, and [`InputError::InconsistentSpeeds`] when contacts are dependent and no motion
    /// has these speeds. [`from_mechanics`](Self::from_mechanics) is given the motion and makes no
    /// such check.
    pub fn new(delassus: DMatrix<f64>, speeds: DVector<f64>) -> Result<Self, ImpactFailure> {
        let contacts = delassus.nrows();
        Self::with_rows(delassus, speeds, vec![0.0; contacts], Source::Given)
    }

    /// Like [`new`](Self::new), with tangents: one coefficient of friction a contact (≥ 0), and
    /// `G`, `u` with the rows of normals and tangents. The kinetic energy is then the least of all
    /// motions with these normal speeds and slips. Speeds of dependent tangents are not compared
    /// here: what needs a motion refuses them.
    ///
    /// # Errors
    /// As [`new`](Self::new), for the normals, and [`InputError::BadSetting`] for a coefficient
    /// that is not finite and ≥ 0.
    pub fn with_tangents(
        delassus: DMatrix<f64>,
        speeds: DVector<f64>,
        friction: &[f64],
    ) -> Result<Self, ImpactFailure> {
        Self::with_rows(delassus, speeds, friction.to_vec(), Source::Given)
    }

    /// Without contacts: memory to be filled by [`fill`](Self::fill).
    pub(crate) fn empty() -> Self {
        Self {
            delassus: DMatrix::zeros(0, 0),
            speeds: DVector::zeros(0),
            friction: Vec::new(),
            restitution: Vec::new(),
            is_new: Vec::new(),
            tolerance: TOLERANCE,
            momentum: 0.0,
            least: 0.0,
            space: ContactSpace::default(),
            motion: None,
            interrupt: None,
        }
    }

    /// From `G`, contact speeds `J v`, coefficients of friction, and the momentum `√(vᵀ M v)`.
    pub(crate) fn of_motion(
        delassus: DMatrix<f64>,
        speeds: DVector<f64>,
        friction: Vec<f64>,
        momentum: f64,
    ) -> Result<Self, ImpactFailure> {
        let mut problem = Self {
            delassus,
            speeds,
            friction,
            ..Self::empty()
        };
        problem.check_motion(momentum)?;
        Ok(problem)
    }

    /// Another problem in this memory, with so many `rows`: `write` is given space for `G` and the
    /// contact speeds `J v`, zeros. `momentum` is `√(vᵀ M v)`.
    pub(crate) fn fill(
        &mut self,
        rows: usize,
        friction: impl Iterator<Item = f64>,
        momentum: f64,
        write: impl FnOnce(&mut [f64], &mut [f64]),
    ) -> Result<(), ImpactFailure> {
        resize(&mut self.delassus, rows, rows);
        resize_vector(&mut self.speeds, rows);
        write(self.delassus.as_mut_slice(), self.speeds.as_mut_slice());
        self.friction.clear();
        self.friction.extend(friction);
        self.check_motion(momentum)
    }

    /// A problem with `G` and speeds of a motion.
    ///
    /// Along a tangent whose row is zero nothing moves, as along the axis of a hinge: it gets the motion of the
    /// normal, coupled with nothing, and no impulse acts along it. A contact of which all are so has no friction.
    fn check_motion(&mut self, momentum: f64) -> Result<(), ImpactFailure> {
        let (contacts, delassus) = (self.friction.len(), &mut self.delassus);
        let speeds = &mut self.speeds;
        let still = STILL * speeds.amax();
        let tangents = (delassus.nrows() / contacts.max(1)).saturating_sub(1);
        for (i, friction) in self.friction.iter_mut().enumerate() {
            let rows = contacts + i * tangents..contacts + (i + 1) * tangents;
            if !rows.is_empty() && rows.clone().all(|k| delassus[(k, k)] == 0.0) {
                *friction = 0.0;
            }
            let own = delassus[(i, i)];
            for k in rows {
                let is_zero = delassus[(k, k)] <= STILL * STILL * own;
                let is_still = speeds[k].abs() <= still;
                if is_zero && (*friction == 0.0 || is_still) {
                    delassus.row_mut(k).fill(0.0);
                    delassus.column_mut(k).fill(0.0);
                    delassus[(k, k)] = own;
                    if is_still {
                        speeds[k] = 0.0;
                    }
                }
            }
        }
        self.check(Source::Motion)?;
        if !momentum.is_finite() {
            return Err(ImpactFailure::Overflow {
                quantity: "momentum",
                contact: 0,
                value: momentum,
            });
        }
        self.momentum = momentum;
        Ok(())
    }

    /// Makes the momentum no less than that of the contact speeds: bodies at rest that a surface strikes
    /// have none of their own.
    pub(crate) fn raise_momentum(&mut self) {
        self.momentum = self.momentum.max(self.least);
    }

    /// Keeps the motion `v`, `M⁻¹ Jᵀ` and `M`, for velocities after the impact.
    pub(crate) fn with_response(
        mut self,
        velocity: &[f64],
        response: DMatrix<f64>,
        mass: &DMatrix<f64>,
    ) -> Self {
        self.motion = Some(Motion {
            velocity: DVector::from_column_slice(velocity),
            response,
            mass: mass.clone(),
        });
        self
    }

    /// Without friction, from the mass matrix `M` (`d × d`, symmetric, positive definite), the
    /// Jacobian `J` of the gaps (`n × d`) and the velocity `v⁻` (`d`). It keeps `M⁻¹ Jᵀ`, so that
    /// [`velocity_after`](Self::velocity_after) works.
    ///
    /// # Errors
    /// [`InputError::EmptySystem`], [`InputError::BadMatrix`] (`mass`),
    /// [`InputError::WrongLength`], [`InputError::NotFinite`], and those of [`new`](Self::new) but
    /// [`InputError::InconsistentSpeeds`].
    pub fn from_mechanics(
        mass: &DMatrix<f64>,
        jacobian: &DMatrix<f64>,
        velocity: &DVector<f64>,
    ) -> Result<Self, ImpactFailure> {
        let friction = vec![0.0; jacobian.nrows()];
        Self::with_motion(mass, jacobian, velocity, friction)
    }

    /// Like [`from_mechanics`](Self::from_mechanics), with tangents: one coefficient of friction a
    /// contact (≥ 0), and `J` with the rows of normals and tangents. A contact whose tangents are
    /// rows of zeros has no friction.
    ///
    /// # Errors
    /// As [`from_mechanics`](Self::from_mechanics), and [`InputError::BadSetting`] for a
    /// coefficient that is not finite and ≥ 0.
    pub fn from_mechanics_with_tangents(
        mass: &DMatrix<f64>,
        jacobian: &DMatrix<f64>,
        velocity: &DVector<f64>,
        friction: &[f64],
    ) -> Result<Self, ImpactFailure> {
        Self::with_motion(mass, jacobian, velocity, friction.to_vec())
    }

    fn with_motion(
        mass: &DMatrix<f64>,
        jacobian: &DMatrix<f64>,
        velocity: &DVector<f64>,
        friction: Vec<f64>,
    ) -> Result<Self, ImpactFailure> {
        if mass.is_empty() {
            return Err(ImpactFailure::Input(InputError::EmptySystem));
        }
        check_symmetric("mass", mass)?;
        validate::length("velocity", mass.nrows(), velocity.len())?;
        validate::length("columns of the Jacobian", mass.nrows(), jacobian.ncols())?;
        validate::finite("velocity", velocity.as_slice())?;
        validate::finite("Jacobian", jacobian.as_slice())?;
        // Scaled to a unit diagonal: masses and inertias come in different units.
        let (scaled, roots) = unit_diagonal(mass);
        let roots = DVector::from_vec(roots);
        let Some(factor) = cholesky(scaled.clone()) else {
            let value = super::normal_space::positive_spectrum("mass", &scaled)?.least();
            return Err(ImpactFailure::Input(InputError::BadMatrix {
                name: "mass",
                fault: MatrixFault::NotPositive { value },
            }));
        };
        let mut response = jacobian.transpose();
        for mut column in response.column_iter_mut() {
            column.component_div_assign(&roots);
        }
        factor.solve_mut(&mut response);
        for mut column in response.column_iter_mut() {
            column.component_div_assign(&roots);
        }
        let delassus = jacobian * &response;
        let speeds = jacobian * velocity;
        // ‖Lᵀ v‖ is √(vᵀ M v) without the square of large numbers
        let momentum = stable_norm(&(factor.l().transpose() * velocity.component_mul(&roots)));
        let problem = Self::of_motion(delassus, speeds, friction, momentum)?;
        Ok(problem.with_response(velocity.as_slice(), response, mass))
    }

    fn with_rows(
        delassus: DMatrix<f64>,
        speeds: DVector<f64>,
        friction: Vec<f64>,
        source: Source,
    ) -> Result<Self, ImpactFailure> {
        let mut problem = Self {
            delassus,
            speeds,
            friction,
            ..Self::empty()
        };
        problem.check(source)?;
        Ok(problem)
    }

    /// Checks what is given and derives the rest, as of elastic contacts that are all new.
    fn check(&mut self, source: Source) -> Result<(), ImpactFailure> {
        let (contacts, rows) = (self.friction.len(), self.delassus.nrows());
        let (delassus, speeds) = (&self.delassus, &self.speeds);
        if contacts == 0 {
            return Err(ImpactFailure::Input(InputError::NoContacts));
        }
        validate::length("contact speeds", rows, speeds.len())?;
        // 1, 2 or 3 rows a contact; the nearest is what is expected.
        let wanted = contacts * (rows / contacts).clamp(1, 3);
        validate::length("rows of normals and tangents", wanted, rows)?;
        check_symmetric("Delassus", delassus)?;
        validate::finite("contact speeds", speeds.as_slice())?;
        validate::not_negative("coefficient of friction", &self.friction)?;
        let space = &mut self.space;
        space.fill(delassus, &speeds.as_slice()[..contacts], source)?;
        let least = if source == Source::Given && rows > contacts {
            // Laws that need a motion refuse what has none.
            match least_momentum(delassus, speeds.as_slice(), contacts) {
                Err(ImpactFailure::Input(_)) => space.norm,
                least => least?.max(space.norm),
            }
        } else {
            space.norm
        };
        self.restitution.clear();
        self.restitution.resize(contacts, 1.0);
        self.is_new.clear();
        self.is_new.resize(contacts, true);
        self.tolerance = TOLERANCE;
        (self.least, self.momentum) = (least, least);
        (self.motion, self.interrupt) = (None, None);
        Ok(())
    }

    /// One coefficient of restitution for all contacts, in [0, 1].
    ///
    /// # Errors
    /// [`InputError::BadSetting`].
    pub fn with_restitution(self, restitution: f64) -> Result<Self, ImpactFailure> {
        let all = vec![restitution; self.contacts()];
        self.with_restitutions(&all)
    }

    /// A coefficient of restitution for each contact, in [0, 1].
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::BadSetting`].
    pub fn with_restitutions(self, restitution: &[f64]) -> Result<Self, ImpactFailure> {
        let rule = "must lie in [0, 1]; with_any_restitutions accepts others";
        validate::accepted("restitution", restitution, rule, |e| {
            (0.0..=1.0).contains(&e)
        })?;
        self.with_any_restitutions(restitution)
    }

    /// A coefficient of restitution for each contact, of any size: beyond 1 an impact adds energy,
    /// below 0 bodies penetrate. Laws that have no meaning for these refuse them.
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::BadSetting`] for one that is not finite.
    pub fn with_any_restitutions(mut self, restitution: &[f64]) -> Result<Self, ImpactFailure> {
        self.set_restitutions(restitution)?;
        Ok(self)
    }

    pub(crate) fn set_restitutions(&mut self, restitution: &[f64]) -> Result<(), InputError> {
        validate::length("restitution", self.contacts(), restitution.len())?;
        validate::accepted("restitution", restitution, "must be finite", |_| true)?;
        self.restitution.copy_from_slice(restitution);
        Ok(())
    }

    /// Marks on the contacts that are newly activated, and who ends searches.
    pub(crate) fn set_new(&mut self, is_new: &[bool], interrupt: &Interrupt) {
        self.is_new.clear();
        self.is_new.extend_from_slice(is_new);
        self.interrupt = Some(interrupt.clone());
    }

    /// Only these contacts are newly activated; the others were closed already.
    ///
    /// # Errors
    /// [`InputError::NoSuch`].
    pub fn with_new_contacts(mut self, new: &[usize]) -> Result<Self, ImpactFailure> {
        let count = self.contacts();
        self.is_new.fill(false);
        for &contact in new {
            *self
                .is_new
                .get_mut(contact)
                .ok_or(ImpactFailure::Input(InputError::NoSuch {
                    what: "contact",
                    index: contact,
                    count,
                }))? = true;
        }
        Ok(self)
    }

    /// A contact approaches when `u_i/√G_ii < −tolerance · √(2T)`, `T` the kinetic energy. Default
    /// 1e-12, about the rounding of the speeds. With smaller values rounding causes impacts; larger
    /// ones (1e-6) leave slow approaches unresolved.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] unless it lies in [0, 0.1].
    pub fn with_tolerance(mut self, tolerance: f64) -> Result<Self, ImpactFailure> {
        let kept = (0.0..=0.1).contains(&tolerance);
        validate::unless(kept, "tolerance", tolerance, "must lie in [0, 0.1]")?;
        self.tolerance = tolerance;
        Ok(self)
    }

    /// Sets friction to zero, so that laws without friction do not refuse the problem with
    /// [`InputError::FrictionIgnored`].
    #[must_use]
    pub fn frictionless(mut self) -> Self {
        self.friction.fill(0.0);
        self
    }

    /// Ends searches on this problem with [`ImpactFailure::Interrupted`] when `interrupt` is set: those
    /// of [`AllOutcomes`](super::AllOutcomes), [`MinimalOutcomes`](super::MinimalOutcomes),
    /// [`Sequential`](super::Sequential), [`indeterminacy`](super::indeterminacy) and
    /// [`ExactPlanar`](super::ExactPlanar), and samples.
    #[must_use]
    pub fn with_interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.interrupt = Some(interrupt.clone());
        self
    }

    /// The kinetic energy `T` of the whole motion (J), for a problem given in contact space.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] when it is not finite or less than the least of a motion with
    /// these contact speeds.
    pub fn with_kinetic_energy(mut self, energy: f64) -> Result<Self, ImpactFailure> {
        // √(2T), where 2T may overflow
        let momentum = 2.0 * (0.5 * energy).sqrt();
        let least = self.least * (1.0 - 1e-9);
        let rule = "must be at least the least energy of a motion with these contact speeds";
        let kept = momentum.is_finite() && momentum >= least;
        validate::unless(kept, "kinetic energy", energy, rule)?;
        self.momentum = momentum.max(self.least);
        Ok(self)
    }

    /// Number of contacts `n`.
    pub fn contacts(&self) -> usize {
        self.friction.len()
    }

    /// Rows of tangents for each contact: 0, 1 or 2.
    pub fn tangents(&self) -> usize {
        self.delassus.nrows() / self.contacts() - 1
    }

    /// The Delassus matrix `G`, normals first.
    pub fn delassus(&self) -> &DMatrix<f64> {
        &self.delassus
    }

    /// The contact speeds `u` before the impact, normals first.
    pub fn speeds(&self) -> &DVector<f64> {
        &self.speeds
    }

    /// The coefficients of friction.
    pub fn friction(&self) -> &[f64] {
        &self.friction
    }

    /// The coefficients of restitution.
    pub fn restitution(&self) -> &[f64] {
        &self.restitution
    }

    /// True for each contact that is newly activated.
    pub fn is_new(&self) -> &[bool] {
        &self.is_new
    }

    /// The Gram matrix `C` of unit normals: cosines of the angles between contacts in the metric of
    /// kinetic energy.
    pub fn cosines(&self) -> &DMatrix<f64> {
        &self.space.gram
    }

    /// Least over greatest eigenvalue of [`cosines`](Self::cosines); about zero or below when
    /// contacts are dependent.
    pub fn rcond(&self) -> f64 {
        self.space.rcond()
    }

    /// The contacts whose normals depend on each other; empty when all are independent.
    pub fn dependent(&self) -> &[usize] {
        &self.space.dependent
    }

    /// `√(2T)` (`√J`), the norm of the momentum in the metric of kinetic energy: of the whole
    /// motion where it is given, else of the motion of least energy that has these contact speeds.
    /// If no motion has the speeds of all tangents, it is that along the normals.
    pub fn kinetic_norm(&self) -> f64 {
        self.momentum
    }

    /// A contact approaches when its scaled speed `u_i/√G_ii` is below minus this.
    pub fn threshold(&self) -> f64 {
        self.tolerance * self.momentum
    }

    /// True when no contact approaches.
    pub fn is_feasible(&self) -> bool {
        let threshold = self.threshold();
        self.space.speeds.iter().all(|&s| s >= -threshold)
    }

    /// Row by row, the speed that is this part of the greatest scaled speed `|u_i|/√G_ii` of
    /// normals and tangents: all of them round a speed. A row of no length is not scaled.
    pub(super) fn parts_of_greatest(&self, part: f64) -> Vec<f64> {
        let diagonal = self.delassus.diagonal();
        let root = |&g: &f64| if g > 0.0 { g.sqrt() } else { 1.0 };
        let roots: Vec<f64> = diagonal.iter().map(root).collect();
        let scaled = self
            .speeds
            .iter()
            .zip(&roots)
            .map(|(u, root)| u.abs() / root);
        let greatest = scaled.fold(0.0, f64::max);
        roots.iter().map(|root| part * greatest * root).collect()
    }

    /// `v⁺ = v⁻ + M⁻¹ Jᵀ p`, for a problem that was made with a motion.
    pub(super) fn velocity_after_impulses(
        &self,
        impulses: &DVector<f64>,
    ) -> Result<DVector<f64>, InputError> {
        let motion = self.motion.as_ref().ok_or(InputError::OnlyContactSpace)?;
        validate::length("impulses", self.speeds.len(), impulses.len())?;
        Ok(&motion.velocity + &motion.response * impulses)
    }

    /// The motion, where the problem was made from mechanics.
    pub(super) fn motion(&self) -> Option<&Motion> {
        self.motion.as_ref()
    }

    /// `M⁻¹ Jᵀ`, where the problem was made from mechanics.
    pub(super) fn response(&self) -> Option<&DMatrix<f64>> {
        self.motion.as_ref().map(|motion| &motion.response)
    }

    /// Refuses contact speeds that were given and that no motion has.
    pub(super) fn refuse_speeds_of_no_motion(&self) -> Result<(), ImpactFailure> {
        if self.motion.is_none() && self.tangents() > 0 {
            least_momentum(&self.delassus, self.speeds.as_slice(), self.contacts())?;
        }
        Ok(())
    }

    /// Refuses friction on behalf of a law that ignores it.
    #[inline]
    pub(super) fn refuse_friction(&self, law: &'static str) -> Result<(), ImpactFailure> {
        match self.friction.iter().position(|&mu| mu != 0.0) {
            None => Ok(()),
            Some(contact) => Err(ImpactFailure::Input(InputError::FrictionIgnored {
                law,
                contact,
                friction: self.friction[contact],
            })),
        }
    }

    /// Refuses friction that has no tangents to act along.
    pub(super) fn refuse_friction_without_tangents(
        &self,
        law: &'static str,
    ) -> Result<(), ImpactFailure> {
        if self.tangents() > 0 {
            return Ok(());
        }
        self.refuse_friction(law)
    }

    /// The rounding of the scaled speeds where contacts are dependent to rounding.
    pub(crate) fn noise(&self) -> f64 {
        self.space.noise_of_speeds(self.momentum)
    }

    pub(crate) fn interrupt(&self) -> Option<&Interrupt> {
        self.interrupt.as_ref()
    }

    /// [`ImpactFailure::Interrupted`] when the interrupt is set.
    #[inline]
    pub(super) fn check_interrupt(&self) -> Result<(), ImpactFailure> {
        if let Some(interrupt) = &self.interrupt {
            interrupt.check()?;
        }
        Ok(())
    }

    pub(super) fn space(&self) -> &ContactSpace {
        &self.space
    }
}

/// Norm of a vector whose squares may overflow.
fn stable_norm(v: &DVector<f64>) -> f64 {
    let unit = v.amax();
    if unit == 0.0 || !unit.is_finite() {
        return unit;
    }
    unit * (v / unit).norm()
}
