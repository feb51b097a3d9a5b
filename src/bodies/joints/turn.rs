//! How far the axes of one body are turned in those of another, as three numbers and the rows of their
//! rates.

use nalgebra::{Matrix3, Rotation3, UnitQuaternion, Vector3};

/// Three numbers that say how axes are turned, and for each the direction whose product with the relative
/// angular velocity is its rate; all in the axes they are turned in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Turn {
    pub(super) angles: Vector3<f64>,
    pub(super) directions: [Vector3<f64>; 3],
}

impl Turn {
    /// Of axes with the rotation `turned`, of which these may turn.
    ///
    /// Where one axis is free, its number is the angle about it, in (−π, π], and the others are the tilt of the
    /// axis. Otherwise they are the vector of the rotation, no longer than π.
    pub(super) fn new(turned: Matrix3<f64>, free: [bool; 3]) -> Self {
        let turned = Rotation3::from_matrix_unchecked(turned);
        let turned = UnitQuaternion::from_rotation_matrix(&turned);
        match free {
            [true, false, false] => Self::about(0, turned),
            [false, true, false] => Self::about(1, turned),
            [false, false, true] => Self::about(2, turned),
            _ => Self::by_vector(turned),
        }
    }

    /// A turn about axis `k`, then a tilt. The rates of the tilt are those of the angular velocity up to
    /// the size of the tilt, which the joint holds at zero.
    fn about(k: usize, turned: UnitQuaternion<f64>) -> Self {
        let axis = Vector3::ith_axis(k);
        // Half the angle, (−π/2, π/2] of both quaternions that say the same.
        let sign = if turned.w < 0.0 { -1.0 } else { 1.0 };
        let angle = 2.0 * (sign * turned.imag()[k]).atan2(sign * turned.w);
        let tilt = turned * UnitQuaternion::from_axis_angle(&axis, -angle);
        let mut angles = tilt.scaled_axis();
        angles[k] = angle;
        Self {
            angles,
            directions: [Vector3::x(), Vector3::y(), Vector3::z()],
        }
    }

    /// The vector `θ` of the rotation. Its rate is `J⁻¹ ω` with the left Jacobian `J`,
    ///
    /// ```text
    ///     J⁻¹ = 1 − [θ]/2 + c [θ]²,   c = 1/θ² − cot(θ/2)/(2 θ)
    /// ```
    fn by_vector(turned: UnitQuaternion<f64>) -> Self {
        let angles = turned.scaled_axis();
        let square = angles.norm_squared();
        let c = if square < 1e-4 {
            // The series: the difference of large numbers has no digits there.
            1.0 / 12.0 + square / 720.0
        } else {
            let angle = square.sqrt();
            1.0 / square - 0.5 / (angle * (0.5 * angle).tan())
        };
        let cross = angles.cross_matrix();
        let inverse = Matrix3::identity() - 0.5 * cross + c * cross * cross;
        Self {
            angles,
            directions: [0, 1, 2].map(|k| inverse.row(k).transpose()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rotation(vector: Vector3<f64>) -> Matrix3<f64> {
        *Rotation3::new(vector).matrix()
    }

    /// The rates of all numbers against differences: for the vector anywhere, for a turn about an axis where
    /// the tilt is zero.
    #[test]
    fn rates_are_those_of_differences() {
        let all = [true; 3];
        let vectors = [
            [0.0, 0.0, 0.0],
            [1e-3, 0.0, 2e-3],
            [0.3, -1.2, 0.7],
            [1.0, 2.0, -2.0],
        ];
        let cases = vectors.map(|v| (Vector3::from(v), all)).into_iter();
        let hinges = (0..3).flat_map(|k| {
            [0.0, 0.4, 3.0, -3.1].map(|angle| {
                let mut free = [false; 3];
                free[k] = true;
                let mut vector = Vector3::zeros();
                vector[k] = angle;
                (vector, free)
            })
        });
        for (vector, free) in cases.chain(hinges) {
            let turn = Turn::new(rotation(vector), free);
            assert!((turn.angles - vector).norm() < 1e-12, "{vector:?}");
            for k in 0..3 {
                let h = 1e-6;
                let spin = Vector3::ith_axis(k).into_inner();
                let at = |h: f64| Turn::new(rotation(spin * h) * rotation(vector), free).angles;
                let rate = (at(h) - at(-h)) / (2.0 * h);
                for (i, direction) in turn.directions.iter().enumerate() {
                    let error = (rate[i] - direction.dot(&spin)).abs();
                    assert!(error < 1e-8, "{vector:?} {free:?} {k} {i}: {error:e}");
                }
            }
        }
    }

    /// Both ways of half a turn, and quaternions that rounding puts on either side.
    #[test]
    fn angles_lie_within_half_a_turn() {
        use std::f64::consts::PI;
        for angle in [PI, PI - 1e-9, -PI + 1e-9, 3.0 * PI - 1e-3] {
            let turn = Turn::new(rotation(Vector3::x() * angle), [true, false, false]);
            let apart = (turn.angles.x - angle) / (2.0 * PI);
            assert!(
                (apart - apart.round()).abs() < 1e-12,
                "{angle}: {}",
                turn.angles
            );
            assert!(turn.angles.x.abs() <= PI && turn.angles.yz().norm() < 1e-7);
        }
    }
}
