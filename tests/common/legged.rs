//! A body on legs in space.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};

pub(crate) const GRAVITY: f64 = 9.81;

/// A body on legs over a plane: `q` holds its centre, the angle about the vertical and two small
/// tilts.
#[derive(Clone, Debug)]
pub(crate) struct Legged {
    pub(crate) mass: [f64; 6],
    pub(crate) legs: Vec<[f64; 2]>,
    pub(crate) friction: Vec<f64>,
    pub(crate) restitution: f64,
    pub(crate) height: f64,
    /// A pull along `x` and `y` (N) and a torque (N m): constant parts, oscillating ones, and what is
    /// added in a second.
    pub(crate) pull: [[f64; 3]; 3],
    pub(crate) frequency: f64,
}

impl Legged {
    fn leg(&self, j: usize, phi: f64) -> [f64; 2] {
        let ([x, y], (sin, cos)) = (self.legs[j], phi.sin_cos());
        [x * cos - y * sin, x * sin + y * cos]
    }

    /// Rows of normal and tangents of a contact.
    pub(crate) fn rows(&self, j: usize, q: &[f64]) -> [[f64; 6]; 3] {
        let [x, y] = self.leg(j, q[3]);
        let by_angle = x * q[4] + y * q[5];
        [
            [0.0, 0.0, 1.0, by_angle, y, -x],
            [1.0, 0.0, 0.0, -y, 0.0, -self.height],
            [0.0, 1.0, 0.0, x, self.height, 0.0],
        ]
    }
}

impl MechanicalSystem for Legged {
    fn dof(&self) -> usize {
        6
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        self.mass
            .iter()
            .enumerate()
            .for_each(|(k, of)| m[7 * k] = *of);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        f.fill(0.0);
        let part = (self.frequency * t).sin();
        let pull = |k: usize| self.pull[0][k] + part * self.pull[1][k] + t * self.pull[2][k];
        (f[0], f[1], f[3]) = (pull(0), pull(1), pull(2));
        f[2] = -self.mass[2] * GRAVITY;
    }
}

impl UnilateralConstraints for Legged {
    fn contacts(&self) -> usize {
        self.legs.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let [x, y] = self.leg(j, q[3]);
        q[2] + y * q[4] - x * q[5]
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&self.rows(j, q)[0]);
        true
    }
    fn friction(&self, j: usize) -> f64 {
        self.friction[j]
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let [_, x, y] = self.rows(j, q);
        rows[..6].copy_from_slice(&x);
        rows[6..].copy_from_slice(&y);
    }
}
