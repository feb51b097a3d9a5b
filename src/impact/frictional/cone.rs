//! The cone of contact forces: how pointed it is, and how soon impacts end for that reason (Halm &
//! Posa, Theorem 8).
//!
//! Generators are `f = Jnᵀ ± μ Jtᵀ`, for each contact. The least-norm point of their convex hull in
//! the metric `|f|² = fᵀ M⁻¹ f` has the norm δ. The convex problem `min ½ λᵀ G λ − Σ λn` over
//! impulses in the cones of friction has a solution exactly when δ > 0, and then `δ⁻² = Σ λn`.
//! (Weights of the generators instead of `λ` cancel where μ is large.)

use nalgebra::DVector;

use super::least_norm::LeastNorm;
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::validate;

/// Margins below this part of the longest normal are zero.
const LEAST: f64 = 1e-8;

/// The cone of contact forces of an impact.
///
/// ```
/// use saltation::impact::{ContactCone, ImpactProblem};
/// use saltation::nalgebra::{DMatrix, DVector};
/// let body = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, 1.0]);
/// // Two walls that face each other: the cone contains a line.
/// let walls = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, -1.0, 0.0]);
/// let squeezed = ImpactProblem::from_mechanics(&body, &walls, &DVector::from_vec(vec![1.0, 0.0]))?;
/// assert!(!ContactCone::of(&squeezed)?.is_pointed());
/// let floor = DMatrix::from_row_slice(1, 2, &[0.0, 1.0]);
/// let falling = ImpactProblem::from_mechanics(&body, &floor, &DVector::from_vec(vec![0.0, -3.0]))?;
/// let cone = ContactCone::of(&falling)?;
/// assert!((cone.margin() - 1.0).abs() < 1e-12);
/// // No impact takes a greater sum of normal impulses than this.
/// assert!((cone.greatest_impulse() - 6.0).abs() < 1e-12);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ContactCone {
    contacts: usize,
    kinetic_norm: f64,
    margin: f64,
    direction: DVector<f64>,
    euclidean: Option<f64>,
}

impl ContactCone {
    /// Of the contacts of a problem. In space the polygon of directions is refined until the margin
    /// is that of the circle to 1e-10, at most 40 times; then the greatest lower bound found is the
    /// margin.
    ///
    /// # Errors
    /// [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored) for friction without
    /// tangents; for a problem given in contact space
    /// [`InputError::InconsistentSpeeds`](crate::InputError::InconsistentSpeeds) when no motion has
    /// its speeds, and [`InputError::BadMatrix`](crate::InputError::BadMatrix) for rows whose
    /// Delassus matrix is not positive semidefinite: the bounds are those of a motion;
    /// [`ImpactFailure::Lcp`] when the least-norm problem is not solved; [`ImpactFailure::Interrupted`].
    pub fn of(problem: &ImpactProblem) -> Result<Self, ImpactFailure> {
        problem.refuse_friction_without_tangents("ContactCone")?;
        problem.refuse_speeds_of_no_motion()?;
        let least = LeastNorm::of(problem.delassus(), problem)?;
        let greatest = problem.space().roots.iter().copied().fold(0.0, f64::max);
        let margin = if least.norm > 0.0 {
            least.norm.recip()
        } else {
            0.0
        };
        let pointed = margin > LEAST * greatest;
        let euclidean = match problem.response() {
            Some(response) if pointed => {
                let least = LeastNorm::of(&(response.transpose() * response), problem)?;
                (least.norm > 0.0).then_some(least.norm)
            }
            _ => None,
        };
        // zero times an overflow is not a number
        let direction = if pointed {
            least.impulses
        } else {
            DVector::zeros(least.impulses.len())
        };
        Ok(Self {
            contacts: problem.contacts(),
            kinetic_norm: problem.kinetic_norm(),
            margin: if pointed { margin } else { 0.0 },
            direction,
            euclidean,
        })
    }

    /// δ, the distance of the convex hull of the generators from zero in the metric of `M⁻¹`
    /// (1/√kg for gaps in metres); 0 for a cone that contains a line, where contacts can jam a body
    /// and impacts need not end.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// True when the cone contains no line.
    pub fn is_pointed(&self) -> bool {
        self.margin > 0.0
    }

    /// Impulses `Λ` whose force `r = Jᵀ Λ` has `rᵀ M⁻¹ f ≥ 1` for all generators, with the least
    /// norm in the metric of `M⁻¹`, 1/δ (normals first); zero for a cone that is not pointed.
    pub fn direction(&self) -> &DVector<f64> {
        &self.direction
    }

    /// The least Euclidean norm of an `r` with `rᵀ M⁻¹ f ≥ 1` for all generators (equation 77), of
    /// a problem made from mechanics with a pointed cone.
    pub fn euclidean_norm(&self) -> Option<f64> {
        self.euclidean
    }

    /// No impact takes a greater sum of normal impulses (N s): `2 |v|_M/δ`, `|v|_M` the
    /// [`kinetic_norm`](ImpactProblem::kinetic_norm) of the problem; infinite for a cone that is not
    /// pointed.
    pub fn greatest_impulse(&self) -> f64 {
        // at rest 0/0 otherwise
        if self.is_pointed() {
            2.0 * self.kinetic_norm / self.margin
        } else {
            f64::INFINITY
        }
    }

    /// The constant `c` of Theorem 8 in its sharper form, `4 ⌈(m + 1)/(h δ)⌉`: steps of uniform
    /// bounds up to `h` (N s) for each unit of `⌈|v|_M⌉`. With the face law take half of `h`.
    /// Infinite for a cone that is not pointed.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) unless `h` is finite and positive.
    pub fn steps_per_norm(&self, h: f64) -> Result<f64, ImpactFailure> {
        validate::positive("bound", &[h])?;
        Ok(self.constant(1.0 / self.margin, h))
    }

    /// The constant `c` of Theorem 8 as printed (78), `4 ⌈(m + 1) |r|₂/(h √σ)⌉`, σ the least
    /// eigenvalue of the mass matrix. Infinite where [`euclidean_norm`](Self::euclidean_norm) is
    /// not known.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) unless both are finite and
    /// positive.
    pub fn steps_per_norm_as_printed(&self, h: f64, least_mass: f64) -> Result<f64, ImpactFailure> {
        validate::positive("bound", &[h])?;
        validate::positive("least eigenvalue of the mass matrix", &[least_mass])?;
        let norm = self.euclidean.unwrap_or(f64::INFINITY);
        Ok(self.constant(norm / least_mass.sqrt(), h))
    }

    /// More steps than this are made with at most this probability: `c ⌈|v|_M⌉ + j`,
    /// `exp(−j/(m + 1)²)` the probability, for a `c` of the two methods above. Infinite for an
    /// infinite `c`.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) unless `c ≥ 0` and the probability
    /// lies in (0, 1].
    pub fn steps(&self, per_norm: f64, probability: f64) -> Result<f64, ImpactFailure> {
        validate::unless(per_norm >= 0.0, "steps per norm", per_norm, "must be >= 0")?;
        let kept = probability > 0.0 && probability <= 1.0;
        validate::unless(kept, "probability", probability, "must lie in (0, 1]")?;
        let rows = (self.contacts + 1) as f64;
        let more = -probability.ln() * rows * rows;
        // at rest too, where the product is not a number
        if per_norm == f64::INFINITY {
            return Ok(per_norm);
        }
        Ok(per_norm * self.kinetic_norm.ceil() + more.ceil())
    }

    fn constant(&self, norm: f64, h: f64) -> f64 {
        let whole = (self.contacts + 1) as f64 * norm / h;
        // A whole number stays one.
        4.0 * (whole * (1.0 - 1e-12)).ceil()
    }
}
