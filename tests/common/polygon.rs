//! A rigid polygon (a rod has two corners) thrown in the plane onto fixed planes: free flight in
//! closed form, many turns in one step.
#![allow(dead_code, reason = "each test binary uses a part")]

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};

/// A straight obstacle: points `p` with `normal · p ≥ offset` are free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plane {
    pub(crate) normal: [f64; 2],
    pub(crate) offset: f64,
}

impl Plane {
    /// Rising to the right at this angle, through the origin.
    pub(crate) fn tilted(angle: f64) -> Self {
        Self {
            normal: [-angle.sin(), angle.cos()],
            offset: 0.0,
        }
    }
}

/// `q = (x, z, θ)` of the centre of mass; every corner may touch every plane.
#[derive(Clone, Debug)]
pub(crate) struct Polygon {
    /// Corners in the frame of the body (m).
    pub(crate) corners: Vec<[f64; 2]>,
    pub(crate) planes: Vec<Plane>,
    pub(crate) mass: f64,
    pub(crate) inertia: f64,
    pub(crate) gravity: f64,
    pub(crate) restitution: f64,
    /// Rows of gaps are written.
    pub(crate) written: bool,
}

impl Polygon {
    /// Corner `i` relative to the centre of mass.
    fn arm(&self, i: usize, angle: f64) -> [f64; 2] {
        let ([x, z], (sine, cosine)) = (self.corners[i], angle.sin_cos());
        [cosine * x - sine * z, sine * x + cosine * z]
    }

    /// The least gap at `q`.
    pub(crate) fn least_gap(&self, q: &[f64]) -> f64 {
        let gaps = (0..self.contacts()).map(|j| self.gap(j, q));
        gaps.fold(f64::INFINITY, f64::min)
    }

    /// Kinetic and potential energy (J).
    pub(crate) fn energy(&self, state: &[f64]) -> f64 {
        let (q, v) = state.split_at(3);
        0.5 * self.mass * (v[0] * v[0] + v[1] * v[1])
            + 0.5 * self.inertia * v[2] * v[2]
            + self.mass * self.gravity * q[1]
    }

    fn split(&self, j: usize) -> (usize, Plane) {
        (j % self.corners.len(), self.planes[j / self.corners.len()])
    }
}

impl MechanicalSystem for Polygon {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        (mass[0], mass[4], mass[8]) = (self.mass, self.mass, self.inertia);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -self.mass * self.gravity, 0.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for Polygon {
    fn contacts(&self) -> usize {
        self.corners.len() * self.planes.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let (i, plane) = self.split(j);
        let ([x, z], [n, m]) = (self.arm(i, q[2]), plane.normal);
        n * (q[0] + x) + m * (q[1] + z) - plane.offset
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        if self.written {
            let (i, plane) = self.split(j);
            let ([x, z], [n, m]) = (self.arm(i, q[2]), plane.normal);
            row.copy_from_slice(&[n, m, -n * z + m * x]);
        }
        self.written
    }
    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        let (i, plane) = self.split(j);
        let ([x, z], [n, m]) = (self.arm(i, q[2]), plane.normal);
        self.written.then_some(-(n * x + m * z) * v[2] * v[2])
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}
