//! Vertices, edges and faces of a box at its pose, by number.
//!
//! * Vertex `v`: bit `k` is set where coordinate `k` is negative.
//! * Edge `4 k + s`: along axis `k`; bits 0 and 1 of `s` are set where the coordinates along axes
//!   `k + 1` and `k + 2` are negative.
//! * Face `2 k + s`: across axis `k`, `s = 1` on the negative side. Its corners 0 to 3 go round.

use nalgebra::Vector3;

use crate::bodies::Pose;

/// A box at its pose.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedBox<'a> {
    pub(super) half: &'a [f64; 3],
    pub(super) pose: &'a Pose,
}

/// −1 for an odd number, else 1.
pub(super) fn sign_of(bit: usize) -> f64 {
    if bit & 1 == 1 { -1.0 } else { 1.0 }
}

/// The two axes across axis `k`.
pub(super) fn others(k: usize) -> (usize, usize) {
    ((k + 1) % 3, (k + 2) % 3)
}

/// The signs of the coordinates of a corner of a face.
pub(super) fn face_corner_signs(face: usize, corner: usize) -> [f64; 3] {
    let k = face / 2;
    let (i, j) = others(k);
    let mut signs = [0.0; 3];
    signs[k] = sign_of(face);
    signs[i] = if corner == 1 || corner == 2 {
        -1.0
    } else {
        1.0
    };
    signs[j] = if corner >= 2 { -1.0 } else { 1.0 };
    signs
}

/// The vertex with coordinates of these signs.
pub(super) fn vertex_number(signs: [f64; 3]) -> usize {
    (0..3).filter(|&k| signs[k] < 0.0).map(|k| 1 << k).sum()
}

impl PlacedBox<'_> {
    fn at_signs(&self, signs: [f64; 3]) -> Vector3<f64> {
        let [x, y, z] = signs;
        let half = self.half;
        self.pose
            .to_world(Vector3::new(x * half[0], y * half[1], z * half[2]))
    }

    pub(super) fn vertex(&self, v: usize) -> Vector3<f64> {
        self.at_signs([sign_of(v), sign_of(v >> 1), sign_of(v >> 2)])
    }

    /// Middle, direction and half length of an edge.
    pub(super) fn edge(&self, edge: usize) -> (Vector3<f64>, Vector3<f64>, f64) {
        let k = edge / 4;
        let (i, j) = others(k);
        let mut signs = [0.0; 3];
        signs[i] = sign_of(edge);
        signs[j] = sign_of(edge >> 1);
        (self.at_signs(signs), self.pose.axis(k), self.half[k])
    }

    /// The edge along axis `k` that lies furthest along `direction`.
    pub(super) fn edge_towards(&self, k: usize, direction: Vector3<f64>) -> usize {
        let (i, j) = others(k);
        let negative = |axis| usize::from(self.pose.axis(axis).dot(&direction) < 0.0);
        4 * k + negative(i) + 2 * negative(j)
    }

    /// Outward normal of a face.
    pub(super) fn face_normal(&self, face: usize) -> Vector3<f64> {
        self.pose.axis(face / 2) * sign_of(face)
    }

    /// The face whose outward normal is most opposite to `normal`, the first of several.
    pub(super) fn face_against(&self, normal: Vector3<f64>) -> usize {
        let (mut face, mut most) = (0, -1.0);
        for k in 0..3 {
            let along = self.pose.axis(k).dot(&normal);
            if along.abs() > most {
                (face, most) = (2 * k + usize::from(along > 0.0), along.abs());
            }
        }
        face
    }

    /// Half the extent along a unit vector.
    pub(super) fn extent(&self, direction: Vector3<f64>) -> f64 {
        let along = self.pose.rotation().tr_mul(&direction);
        self.half[0] * along.x.abs() + self.half[1] * along.y.abs() + self.half[2] * along.z.abs()
    }

    /// The shortest half length.
    pub(super) fn least_half(&self) -> f64 {
        self.half[0].min(self.half[1]).min(self.half[2])
    }
}
