//! Three-ball billiards: one ball hits two others at once.

use nalgebra::{DMatrix, DVector};

use crate::impact::{ImpactFailure, ImpactProblem};
use crate::validate;

/// Ball c moves along the bisector between balls a and b, at rest, and touches both at one instant;
/// frictionless, in the plane, masses `r³` (Seghete & Murphey, arXiv 1709.02296, Fig. 5).
///
/// Ball c is at the origin and moves along the first axis at 1 m/s, the centres of a and b lie at
/// angles `±θ/2`; coordinates `(x_a, y_a, x_b, y_b, x_c, y_c)`. The contacts are a–c and b–c, and
///
/// ```text
///     C_01 = cos θ (1/m_c)/√((1/m_a + 1/m_c)(1/m_b + 1/m_c))
/// ```
///
/// so that the outcome is unique at `θ = π/2`, whatever the masses (in the paper's eq. (31) the
/// middle expression has the opposite sign). The paper gives neither radii nor masses, and its
/// range of 12 % does not go with its least angle π/6 for equal balls a and b: three sets of radii
/// stand for it.
///
/// ```
/// use saltation::impact::indeterminacy;
/// use saltation::models::ThreeBalls;
/// let balls = ThreeBalls::EQUAL;
/// let xi = indeterminacy(&balls.impact(std::f64::consts::FRAC_PI_3)?)?;
/// assert!((xi - 0.75).abs() < 1e-12);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreeBalls {
    /// Radius of ball a, > 0.
    pub radius_a: f64,
    /// Radius of ball b, > 0.
    pub radius_b: f64,
    /// Radius of ball c, > 0.
    pub radius_c: f64,
}

impl ThreeBalls {
    /// Set A: the indeterminacy spans the range of the paper's figure, up to 12 %.
    pub const RANGE: Self = Self::pair_and(2.15);

    /// Set B: balls a and b touch at `θ = π/6`, as in the paper's figure; `r_c = 1/sin(π/12) − 1`.
    pub const LEAST_ANGLE: Self = Self::pair_and(2.863_703_305_156_273);

    /// Set C: three equal balls.
    pub const EQUAL: Self = Self::pair_and(1.0);

    /// Balls a and b of radius 1.
    const fn pair_and(radius_c: f64) -> Self {
        Self {
            radius_a: 1.0,
            radius_b: 1.0,
            radius_c,
        }
    }

    /// The angle at which balls a and b touch (rad), the least there is.
    pub fn least_angle(&self) -> f64 {
        let (ac, bc) = (self.radius_a + self.radius_c, self.radius_b + self.radius_c);
        let ab = self.radius_a + self.radius_b;
        ((ac * ac + bc * bc - ab * ab) / (2.0 * ac * bc)).acos()
    }

    /// The impact at angle `θ` between the directions to balls a and b (rad), elastic.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for radii that are not finite and
    /// > 0, or an angle outside `least_angle` … π (to 1e-12).
    pub fn impact(&self, angle: f64) -> Result<ImpactProblem, ImpactFailure> {
        let radii = [self.radius_a, self.radius_b, self.radius_c];
        validate::positive("radius", &radii)?;
        let range = self.least_angle() - 1e-12..=std::f64::consts::PI + 1e-12;
        let rule = "must lie between the angle at which a and b touch, and π";
        validate::unless(range.contains(&angle), "angle", angle, rule)?;
        let [m_a, m_b, m_c] = radii.map(|r| r.powi(3));
        let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![m_a, m_a, m_b, m_b, m_c, m_c]));
        let (sin, cos) = (0.5 * angle).sin_cos();
        // |a − c| grows along the direction from c to a
        let gaps = DMatrix::from_row_slice(
            2,
            6,
            &[
                cos, sin, 0.0, 0.0, -cos, -sin, //
                0.0, 0.0, cos, -sin, -cos, sin,
            ],
        );
        let velocity = DVector::from_vec(vec![0.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
        ImpactProblem::from_mechanics(&mass, &gaps, &velocity)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InputError;
    use std::f64::consts::PI;

    #[test]
    fn least_angles() {
        for (balls, expected) in [
            (ThreeBalls::RANGE, 0.646100119026),
            (ThreeBalls::LEAST_ANGLE, PI / 6.0),
            (ThreeBalls::EQUAL, PI / 3.0),
        ] {
            assert!((balls.least_angle() - expected).abs() < 1e-12);
            assert!(balls.impact(balls.least_angle()).is_ok());
            assert!(matches!(
                balls.impact(balls.least_angle() - 1e-6),
                Err(ImpactFailure::Input(InputError::BadSetting {
                    name: "angle",
                    ..
                }))
            ));
        }
    }

    #[test]
    fn the_cosine_has_its_closed_form_and_the_gaps_their_slopes() {
        let balls = ThreeBalls {
            radius_a: 1.0,
            radius_b: 1.5,
            radius_c: 2.0,
        };
        let [m_a, m_b, m_c] = [1.0, 3.375, 8.0];
        for angle in [1.5, 2.0, 3.0] {
            let impact = balls.impact(angle).unwrap();
            let scale: f64 = (1.0 / m_a + 1.0 / m_c) * (1.0 / m_b + 1.0 / m_c);
            let expected = angle.cos() / m_c / scale.sqrt();
            assert!((impact.cosines()[(0, 1)] - expected).abs() < 1e-15);
            // c moves towards both at cos(θ/2)
            assert!((impact.speeds().add_scalar((0.5 * angle).cos())).amax() < 1e-15);
        }
    }

    #[test]
    fn bad_radii_are_refused() {
        for radius_c in [0.0, -1.0, f64::NAN] {
            let balls = ThreeBalls {
                radius_c,
                ..ThreeBalls::EQUAL
            };
            assert!(balls.impact(2.0).is_err());
        }
    }
}
