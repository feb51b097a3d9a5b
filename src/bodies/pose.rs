//! Poses: position and orientation of a body, its two velocities, and axes along a normal.

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};

use crate::{InputError, validate};

/// Position of the centre and orientation of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose {
    position: Vector3<f64>,
    rotation: Matrix3<f64>,
}

impl Pose {
    /// At the origin, the axes of the body along those of the world.
    pub fn identity() -> Self {
        Self {
            position: Vector3::zeros(),
            rotation: Matrix3::identity(),
        }
    }

    /// At `position` (m), turned by the quaternion `[w, x, y, z]`, which is normalised.
    ///
    /// # Errors
    /// [`InputError::NotFinite`]; [`InputError::BadSetting`] for a quaternion of length zero.
    pub fn new(position: [f64; 3], quaternion: [f64; 4]) -> Result<Self, InputError> {
        let [x, y, z] = position;
        let [w, i, j, k] = quaternion;
        let coordinates = [x, y, z, w, i, j, k];
        check_coordinates(&coordinates)?;
        Ok(Self::from_coordinates(&coordinates))
    }

    /// Of the coordinates of one body: position, then quaternion of any length but zero.
    pub(super) fn from_coordinates(q: &[f64]) -> Self {
        Self {
            position: Vector3::new(q[0], q[1], q[2]),
            rotation: rotation(q),
        }
    }

    pub(super) fn from_parts(position: Vector3<f64>, rotation: Matrix3<f64>) -> Self {
        Self { position, rotation }
    }

    /// The centre (m).
    pub fn position(&self) -> Vector3<f64> {
        self.position
    }

    /// The matrix whose columns are the axes of the body in world axes.
    pub fn rotation(&self) -> Matrix3<f64> {
        self.rotation
    }

    /// An axis of the body in world axes.
    pub(super) fn axis(&self, k: usize) -> Vector3<f64> {
        self.rotation.data.0[k].into()
    }

    /// A point given in the axes of the body, in world axes.
    pub fn to_world(&self, point: Vector3<f64>) -> Vector3<f64> {
        self.position + self.turned(point)
    }

    /// A point given in world axes, in the axes of the body.
    pub fn to_body(&self, point: Vector3<f64>) -> Vector3<f64> {
        self.turned_back(point - self.position)
    }

    /// A direction given in the axes of the body, in world axes. By components: geometry asks for hundreds in a
    /// step, and products of matrices are calls.
    #[inline]
    pub(super) fn turned(&self, direction: Vector3<f64>) -> Vector3<f64> {
        let [x, y, z] = &self.rotation.data.0;
        let along = |k: usize| x[k] * direction.x + y[k] * direction.y + z[k] * direction.z;
        Vector3::new(along(0), along(1), along(2))
    }

    /// A direction given in world axes, in the axes of the body.
    #[inline]
    pub(super) fn turned_back(&self, direction: Vector3<f64>) -> Vector3<f64> {
        let [x, y, z] = &self.rotation.data.0;
        let along =
            |axis: &[f64; 3]| axis[0] * direction.x + axis[1] * direction.y + axis[2] * direction.z;
        Vector3::new(along(x), along(y), along(z))
    }

    /// This pose, given in the axes of `frame`, in the axes in which `frame` is given.
    #[must_use]
    pub fn moved_by(&self, frame: &Self) -> Self {
        Self {
            position: frame.to_world(self.position),
            rotation: frame.rotation * self.rotation,
        }
    }

    /// The axes of the world in those of this pose.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self {
            position: -self.turned_back(self.position),
            rotation: self.rotation.transpose(),
        }
    }

    /// The quaternion `[w, x, y, z]` of the rotation.
    pub fn quaternion(&self) -> [f64; 4] {
        let rotation = Rotation3::from_matrix_unchecked(self.rotation);
        let turn = UnitQuaternion::from_rotation_matrix(&rotation);
        [turn.w, turn.i, turn.j, turn.k]
    }
}

/// Refuses coordinates of a body that are not finite, or have a quaternion of length zero.
pub(super) fn check_coordinates(q: &[f64]) -> Result<(), InputError> {
    validate::finite("q", q)?;
    let length = quaternion(q).norm();
    let rule = "the length of an orientation must be > 0 and finite";
    validate::unless(
        length > 0.0 && length.is_finite(),
        "quaternion",
        length,
        rule,
    )
}

/// The quaternion in the coordinates of a body.
pub(super) fn quaternion(q: &[f64]) -> Quaternion<f64> {
    Quaternion::new(q[3], q[4], q[5], q[6])
}

/// The rotation in the coordinates of a body.
pub(super) fn rotation(q: &[f64]) -> Matrix3<f64> {
    let unit = UnitQuaternion::new_normalize(quaternion(q));
    *unit.to_rotation_matrix().matrix()
}

/// Angular velocity of the body of a tree, and velocity of its centre.
pub(super) fn halves(v: &[f64], tree: usize) -> (Vector3<f64>, Vector3<f64>) {
    let v = &v[6 * tree..6 * tree + 6];
    (
        Vector3::new(v[0], v[1], v[2]),
        Vector3::new(v[3], v[4], v[5]),
    )
}

/// The normal and two tangents that depend on it alone (Duff et al., "Building an orthonormal basis,
/// revisited", 2017). Of the z axis they are x and y. They jump where `n_z = −0.6`, away from the
/// normals of level floors and upright walls.
pub(super) fn frame(n: Vector3<f64>) -> [Vector3<f64>; 3] {
    let sign = if n.z > -0.6 { 1.0 } else { -1.0 };
    let a = -1.0 / (sign + n.z);
    let b = n.x * n.y * a;
    let first = Vector3::new(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    let second = Vector3::new(b, sign + n.y * n.y * a, -n.y);
    [n, first, second]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_turn_about_z_takes_x_to_y() {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        let pose = Pose::new([1.0, 2.0, 3.0], [2.0 * half, 0.0, 0.0, 2.0 * half]).unwrap();
        let point = pose.to_world(Vector3::x());
        assert!((point - Vector3::new(1.0, 3.0, 3.0)).norm() < 1e-15);
        assert!((pose.to_body(point) - Vector3::x()).norm() < 1e-15);
        assert!((pose.axis(0) - Vector3::y()).norm() < 1e-15);
        let none = pose.moved_by(&pose.inverse());
        assert!(none.position().norm() < 1e-15);
        assert!((none.rotation() - Matrix3::identity()).norm() < 1e-15);
        let expected = [half, 0.0, 0.0, half];
        for (found, expected) in pose.quaternion().iter().zip(expected) {
            assert!((found - expected).abs() < 1e-15);
        }
    }

    #[test]
    fn bad_poses_are_refused() {
        assert!(Pose::new([0.0; 3], [0.0; 4]).is_err());
        assert!(Pose::new([0.0; 3], [f64::NAN, 0.0, 0.0, 1.0]).is_err());
        assert!(Pose::new([f64::INFINITY, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0]).is_err());
    }
}
