//! An impact: several contacts with zero gap at one instant, in contact space. This file has what laws
//! read of it, and its settings; `given`: what it is made of, and the checks of that.

mod given;

use nalgebra::{DMatrix, DVector};

use super::ImpactFailure;
use super::normal_space::{ContactSpace, least_momentum};
use crate::{InputError, Interrupt, validate};

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

impl ImpactProblem {
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
