//! From contact speeds after an impact back to velocities.

use nalgebra::{DMatrix, DVector};

use super::ImpactProblem;
use crate::linalg::decompose::cholesky;
use crate::linalg::least_norm::{least_norm, least_norm_size};
use crate::linalg::symmetric::unit_diagonal;
use crate::{InputError, MatrixFault, validate};

/// Contact speeds that miss those of all impulses by less than this part of the greatest are
/// reached.
const REACHED: f64 = 1e-8;

impl ImpactProblem {
    /// The velocity `v⁺` after an impact with these contact speeds `u⁺` (m/s, in the order of the
    /// rows), for a problem that was made with a motion: `v⁻ + M⁻¹ Jᵀ p`, where `G p = u⁺ − u⁻`.
    /// All impulses with this change of speeds change the velocity alike. Whether the speeds are an
    /// outcome is not checked. It serves points of an
    /// [`OutcomeSet`](super::OutcomeSet) and [`Samples`](super::Samples).
    ///
    /// ```
    /// use saltation::impact::ExactPlanar;
    /// use saltation::models::RockingBlock;
    /// let impact = RockingBlock::default().impact()?;
    /// for piece in ExactPlanar::new().resolve(&impact)?.pieces() {
    ///     for vertex in piece.vertices() {
    ///         let v = impact.velocity_with_speeds(vertex)?;
    ///         // the speed of the left corner
    ///         assert!((v[1] - 0.5 * v[2] - vertex[0]).abs() < 1e-12);
    ///     }
    /// }
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::OnlyContactSpace`] for a problem given in contact space;
    /// [`InputError::WrongLength`], [`InputError::NotFinite`]; [`InputError::InconsistentSpeeds`]
    /// when no impulses lead to these speeds, to 1e-8 of the greatest scaled speed `u_i/√G_ii`.
    pub fn velocity_with_speeds(&self, speeds: &[f64]) -> Result<DVector<f64>, InputError> {
        VelocityMap::of(self)?.velocity(speeds)
    }
}

/// From contact speeds after an impact to velocities.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VelocityMap {
    contacts: usize,
    before: DVector<f64>,
    velocity: DVector<f64>,
    /// `M⁻¹ Jᵀ`.
    response: DMatrix<f64>,
    mass: DMatrix<f64>,
    /// `√G_ii`; 1 for a row of no length.
    roots: DVector<f64>,
    /// `G` with rows of unit length.
    gram: DMatrix<f64>,
}

impl VelocityMap {
    /// The map of a problem made with a motion.
    pub(super) fn of(problem: &ImpactProblem) -> Result<Self, InputError> {
        let (before, gram) = (problem.speeds(), problem.delassus());
        let motion = problem.motion().ok_or(InputError::OnlyContactSpace)?;
        let n = before.len();
        // Rows come in different units; a row of no length is not scaled.
        let root = |i: usize| gram[(i, i)].sqrt();
        let roots = DVector::from_fn(n, |i, _| if root(i) > 0.0 { root(i) } else { 1.0 });
        Ok(Self {
            contacts: problem.contacts(),
            before: before.clone(),
            velocity: motion.velocity.clone(),
            response: motion.response.clone(),
            mass: motion.mass.clone(),
            gram: DMatrix::from_fn(n, n, |i, j| gram[(i, j)] / roots[i] / roots[j]),
            roots,
        })
    }

    /// The velocity with these contact speeds.
    pub(super) fn velocity(&self, speeds: &[f64]) -> Result<DVector<f64>, InputError> {
        let (before, roots) = (&self.before, &self.roots);
        let n = before.len();
        validate::length("contact speeds", n, speeds.len())?;
        validate::finite("contact speeds", speeds)?;
        let change = DVector::from_fn(n, |i, _| (speeds[i] - before[i]) / roots[i]);
        let (mut impulses, mut scratch) = (change.clone(), vec![0.0; least_norm_size(n)]);
        least_norm(
            self.gram.as_slice(),
            n,
            impulses.as_mut_slice(),
            &mut scratch,
        );
        let by = (&self.gram * &impulses - change).amax();
        let sizes = (0..n).map(|i| speeds[i].abs().max(before[i].abs()) / roots[i]);
        // false for what is not a number
        let is_reached = by <= REACHED * sizes.fold(0.0, f64::max);
        if !is_reached {
            let set = (0..self.contacts).collect();
            return Err(InputError::InconsistentSpeeds { set, by });
        }
        let velocity = &self.velocity + &self.response * impulses.component_div(roots);
        validate::finite("velocity after the impact", velocity.as_slice())?;
        Ok(velocity)
    }

    /// `Lᵀ` with `M = L Lᵀ`: the root of twice the kinetic energy of `v` is `|Lᵀ v|`.
    pub(super) fn root_of_mass(&self) -> Result<DMatrix<f64>, InputError> {
        let (scaled, roots) = unit_diagonal(&self.mass);
        let n = roots.len();
        let factor = cholesky(scaled).ok_or(InputError::BadMatrix {
            name: "mass",
            fault: MatrixFault::NotPositive { value: 0.0 },
        })?;
        let l = factor.unpack();
        Ok(DMatrix::from_fn(n, n, |i, j| l[(j, i)] * roots[j]))
    }
}
