//! Balls in a row: Newton's cradle at the instant of its impacts.

use nalgebra::{DMatrix, DVector};

use crate::impact::{ImpactFailure, ImpactProblem};
use crate::{InputError, validate};

/// `n` balls on a line, each touching the next: `n − 1` contacts with gaps
/// `φ_i = x_{i+1} − x_i − 2r`, mass matrix `diag(m_i)`.
///
/// Everything is rational in the velocities, so that outcomes can be checked by hand. Source:
/// Seghete & Murphey, arXiv 1709.02296, and our table of cradles in `tests/data`.
///
/// ```
/// use saltation::impact::{AllOutcomes, ImpactLaw};
/// use saltation::models::Cradle;
/// // 1 kg, 2 kg, 3 kg; the outer two come in: the order of the two impacts matters.
/// let cradle = Cradle::new(&[1.0, 2.0, 3.0], &[1.0, 0.0, -1.0])?;
/// let outcomes = AllOutcomes::new().resolve(&cradle.impact()?)?;
/// assert_eq!(outcomes.list.len(), 2);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Cradle {
    masses: Vec<f64>,
    velocities: Vec<f64>,
}

impl Cradle {
    /// Masses (kg) and velocities before the impact (m/s), from left to right.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] unless there are two balls or more, of masses > 0;
    /// [`InputError::WrongLength`], [`InputError::NotFinite`].
    pub fn new(masses: &[f64], velocities: &[f64]) -> Result<Self, InputError> {
        let balls = masses.len();
        validate::unless(
            balls >= 2,
            "number of balls",
            balls as f64,
            "must be at least 2",
        )?;
        validate::positive("mass of a ball", masses)?;
        validate::length("velocities", masses.len(), velocities.len())?;
        validate::finite("velocities", velocities)?;
        Ok(Self {
            masses: masses.to_vec(),
            velocities: velocities.to_vec(),
        })
    }

    /// The first ball of `n` equal ones (1 kg) hits the others at 1 m/s.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] unless there are two balls or more.
    pub fn equal(balls: usize) -> Result<Self, InputError> {
        validate::count("number of balls", balls)?;
        let mut velocities = vec![0.0; balls];
        velocities[0] = 1.0;
        Self::new(&vec![1.0; balls], &velocities)
    }

    /// The masses (kg).
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// The velocities before the impact (m/s).
    pub fn velocities(&self) -> &[f64] {
        &self.velocities
    }

    /// The impact, elastic; contact `i` is that of balls `i` and `i + 1`.
    ///
    /// # Errors
    /// As [`ImpactProblem::from_mechanics`], for masses or velocities of extreme size.
    pub fn impact(&self) -> Result<ImpactProblem, ImpactFailure> {
        let n = self.masses.len();
        let mass = DMatrix::from_diagonal(&DVector::from_column_slice(&self.masses));
        let gaps = DMatrix::from_fn(n - 1, n, |contact, ball| {
            if ball == contact {
                -1.0
            } else if ball == contact + 1 {
                1.0
            } else {
                0.0
            }
        });
        let velocities = DVector::from_column_slice(&self.velocities);
        ImpactProblem::from_mechanics(&mass, &gaps, &velocities)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosines_are_those_of_the_closed_form() {
        let m = [1.0, 2.0, 3.0, 4.0];
        let impact = Cradle::new(&m, &[0.0; 4]).unwrap().impact().unwrap();
        let pair = |i: usize| 1.0 / m[i] + 1.0 / m[i + 1];
        for i in 0..2 {
            let expected = -(1.0 / m[i + 1]) / (pair(i) * pair(i + 1)).sqrt();
            assert!((impact.cosines()[(i, i + 1)] - expected).abs() < 1e-15);
        }
        assert!(impact.cosines()[(0, 2)].abs() < 1e-300);
    }

    #[test]
    fn bad_cradles_are_refused() {
        assert!(matches!(
            Cradle::equal(0),
            Err(InputError::BadSetting { .. })
        ));
        assert!(matches!(
            Cradle::equal(1),
            Err(InputError::BadSetting { .. })
        ));
        assert!(Cradle::new(&[1.0, 0.0], &[0.0; 2]).is_err());
        assert!(Cradle::new(&[1.0, 1.0], &[0.0; 3]).is_err());
        assert!(Cradle::new(&[1.0, 1.0], &[0.0, f64::NAN]).is_err());
        let extreme = Cradle::new(&[1e-320, 1e-320], &[0.0; 2]).unwrap();
        assert!(extreme.impact().is_err());
    }
}
