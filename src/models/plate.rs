//! Parameters of the plate on springs, and the starts of its statistics.

use crate::random::fraction;
use crate::{InputError, validate};

/// A rigid plate above a row of springs on the ground; the parameters of
/// [`VerticalPlate`](super::VerticalPlate) and [`NormalPlate`](super::NormalPlate).
///
/// The plate is an infinite line through `(x, z)` with tilt `θ`; springs stand at `x_i`, evenly
/// from `−W` to `W`. The state is `(x, z, θ, x', z', θ')` [m, m, rad, m/s, m/s, rad/s]. Source:
/// Anderson & Revzen, section 5.2 (the plate); it states neither masses nor springs, the values of
/// [`with_springs`](Self::with_springs) are our own.
///
/// ```
/// use saltation::models::PlateParameters;
/// let plate = PlateParameters { inertia: 2.0, ..PlateParameters::with_springs(10) };
/// assert_eq!(plate.stiffness, 40.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlateParameters {
    /// Number `n` of springs, 1 … 1 000 000.
    pub springs: usize,
    /// Mass `M` (kg), > 0.
    pub mass: f64,
    /// Moment of inertia `I` about `(x, z)` (kg m²), > 0.
    pub inertia: f64,
    /// Gravity `g` (m/s²).
    pub gravity: f64,
    /// Free length `L0` of the springs (m).
    pub rest_length: f64,
    /// Half the distance `W` between the outermost springs (m), ≥ 0.
    pub half_width: f64,
    /// Spring constant `k` of one spring (N/m), ≥ 0.
    pub stiffness: f64,
    /// Damping constant `c` of one spring (N s/m), ≥ 0.
    pub damping: f64,
    /// Damping `c · (number of springs in contact)/n` in place of `c`: forces then depend on the
    /// other contacts, and the order of simultaneous touch-downs matters.
    /// [`VerticalPlate`](super::VerticalPlate) only. Our own example.
    pub shared_damping: bool,
}

impl PlateParameters {
    /// `n` springs that share 400 N/m and 2 N s/m, under 1 kg and 5 kg m², `g` = 9.81 m/s², `L0` =
    /// `W` = 1 m.
    pub fn with_springs(springs: usize) -> Self {
        let share = springs as f64;
        Self {
            springs,
            mass: 1.0,
            inertia: 5.0,
            gravity: 9.81,
            rest_length: 1.0,
            half_width: 1.0,
            stiffness: 400.0 / share,
            damping: 2.0 / share,
            shared_damping: false,
        }
    }

    /// Start `i` = 1, 2, … of the statistics: at rest, centred, `z` in [2, 3) m, `θ` in [−0.1, 0.1)
    /// rad.
    ///
    /// Ranges are those of Anderson & Revzen, section 5.2; the draws are those of `SplitMix64` from
    /// state 0, so that every start is reproduced by its number.
    pub fn random_start(i: u64) -> [f64; 6] {
        let second = i.wrapping_mul(2);
        let z = 2.0 + uniform(second.wrapping_sub(1));
        let theta = -0.1 + 0.2 * uniform(second);
        [0.0, z, theta, 0.0, 0.0, 0.0]
    }

    /// Refuses parameters for which the plate makes no sense.
    pub(super) fn check(&self) -> Result<(), InputError> {
        validate::count("springs", self.springs)?;
        validate::positive("mass", &[self.mass])?;
        validate::positive("inertia", &[self.inertia])?;
        validate::accepted("gravity", &[self.gravity], "must be finite", |_| true)?;
        validate::accepted("rest_length", &[self.rest_length], "must be finite", |_| {
            true
        })?;
        validate::not_negative("half_width", &[self.half_width])?;
        validate::not_negative("stiffness", &[self.stiffness])?;
        validate::not_negative("damping", &[self.damping])
    }
}

/// Draw `j` = 1, 2, … of `SplitMix64` from state 0, as a number in [0, 1).
fn uniform(j: u64) -> f64 {
    // the finaliser of Steele, Lea & Flood, "Fast splittable pseudorandom number generators"
    // (2014), on golden-ratio steps
    let z = j.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    fraction(z ^ z >> 31)
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact equality is what is promised")]
mod tests {
    use super::*;

    #[test]
    fn random_starts_have_the_check_values_of_the_specification() {
        for (i, z, theta) in [
            (1, 2.883310808213642, -0.013694400590298),
            (2, 2.026433771592598, 0.094176395630766),
            (120, 2.884016816387869, -0.007918251330268),
        ] {
            let start = PlateParameters::random_start(i);
            assert!((start[1] - z).abs() < 1e-14 && (start[2] - theta).abs() < 1e-14);
            assert_eq!([start[0], start[3], start[4], start[5]], [0.0; 4]);
        }
    }

    #[test]
    fn parameters_that_make_no_sense_are_refused() {
        let good = PlateParameters::with_springs(4);
        assert_eq!(good.check(), Ok(()));
        let bad = [
            PlateParameters::with_springs(0),
            PlateParameters { mass: 0.0, ..good },
            PlateParameters {
                inertia: -1.0,
                ..good
            },
            PlateParameters {
                half_width: -1.0,
                ..good
            },
            PlateParameters {
                stiffness: -1.0,
                ..good
            },
            PlateParameters {
                damping: -1.0,
                ..good
            },
        ];
        for parameters in bad {
            assert!(matches!(
                parameters.check(),
                Err(InputError::BadSetting { .. })
            ));
        }
        let nan = PlateParameters {
            gravity: f64::NAN,
            ..good
        };
        assert!(matches!(
            nan.check(),
            Err(InputError::BadSetting {
                name: "gravity",
                ..
            })
        ));
    }
}
