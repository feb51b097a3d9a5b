//! The data of an impact: matrices and speeds in contact space, or the mass, the rows of gaps
//! and slips and the velocity of a mechanism, with the checks of these.

use nalgebra::{DMatrix, DVector};

use super::super::ImpactFailure;
use super::super::normal_space::{self, ContactSpace, Source, least_momentum};
use super::ImpactProblem;
use crate::linalg::decompose::cholesky;
use crate::linalg::scratch::{resize, resize_vector};
use crate::linalg::symmetric::{check_symmetric, unit_diagonal};
use crate::{InputError, MatrixFault, validate};

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

    fn unchecked(delassus: DMatrix<f64>, speeds: DVector<f64>, friction: Vec<f64>) -> Self {
        Self {
            delassus,
            speeds,
            friction,
            ..Self::empty()
        }
    }

    /// From `G`, contact speeds `J v`, coefficients of friction, and the momentum `√(vᵀ M v)`.
    pub(crate) fn of_motion(
        delassus: DMatrix<f64>,
        speeds: DVector<f64>,
        friction: Vec<f64>,
        momentum: f64,
    ) -> Result<Self, ImpactFailure> {
        let mut problem = Self::unchecked(delassus, speeds, friction);
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
        let rows = delassus.nrows();
        let tangents = (rows / contacts.max(1)).saturating_sub(1);
        // More coefficients than rows are refused with the other lengths.
        for (i, friction) in self.friction.iter_mut().enumerate().take(rows) {
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
            let value = normal_space::positive_spectrum("mass", &scaled)?.least();
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
        let mut problem = Self::unchecked(delassus, speeds, friction);
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
}

/// Norm of a vector whose squares may overflow.
fn stable_norm(v: &DVector<f64>) -> f64 {
    let unit = v.amax();
    if unit == 0.0 || !unit.is_finite() {
        return unit;
    }
    unit * (v / unit).norm()
}
