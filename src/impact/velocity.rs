//! From contact speeds after an impact back to velocities.

use nalgebra::{DMatrix, DVector};

use super::ImpactProblem;
use crate::linalg::least_norm::{least_norm, least_norm_size};
use crate::{InputError, validate};

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
        let (before, gram) = (self.speeds(), self.delassus());
        let n = before.len();
        validate::length("contact speeds", n, speeds.len())?;
        validate::finite("contact speeds", speeds)?;
        // Rows come in different units; a row of no length is not scaled.
        let root = |i: usize| gram[(i, i)].sqrt();
        let roots = DVector::from_fn(n, |i, _| if root(i) > 0.0 { root(i) } else { 1.0 });
        let scaled = DMatrix::from_fn(n, n, |i, j| gram[(i, j)] / roots[i] / roots[j]);
        let change = DVector::from_fn(n, |i, _| (speeds[i] - before[i]) / roots[i]);
        let (mut impulses, mut scratch) = (change.clone(), vec![0.0; least_norm_size(n)]);
        least_norm(scaled.as_slice(), n, impulses.as_mut_slice(), &mut scratch);
        let by = (&scaled * &impulses - change).amax();
        let sizes = (0..n).map(|i| speeds[i].abs().max(before[i].abs()) / roots[i]);
        // false for what is not a number
        let is_reached = by <= REACHED * sizes.fold(0.0, f64::max);
        if !is_reached {
            let set = (0..self.contacts()).collect();
            return Err(InputError::InconsistentSpeeds { set, by });
        }
        let velocity = self.velocity_after_impulses(&impulses.component_div(&roots))?;
        validate::finite("velocity after the impact", velocity.as_slice())?;
        Ok(velocity)
    }
}
