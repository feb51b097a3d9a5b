//! The cradle that swings, as a mechanical system.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};

/// Balls on strings of one length; each touches the next where they hang at rest. For small swings:
/// ball `i` is at `q_i` from where it hangs, with `m_i q̈_i = −m_i (g/l) q_i`, and the gap of
/// neighbours is `q_{i+1} − q_i`.
#[derive(Clone, Debug)]
pub(crate) struct HangingBalls {
    /// [kg]
    pub(crate) masses: Vec<f64>,
    /// Length of the strings [m].
    pub(crate) length: f64,
    /// [m/s^2]
    pub(crate) gravity: f64,
    pub(crate) restitution: f64,
}

impl MechanicalSystem for HangingBalls {
    fn dof(&self) -> usize {
        self.masses.len()
    }

    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for (i, m) in self.masses.iter().enumerate() {
            mass[i * (self.masses.len() + 1)] = *m;
        }
    }

    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        for ((f, m), q) in effort.iter_mut().zip(&self.masses).zip(q) {
            *f = -m * self.gravity / self.length * q;
        }
    }

    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for HangingBalls {
    fn contacts(&self) -> usize {
        self.masses.len() - 1
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j + 1] - q[j]
    }

    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.fill(0.0);
        row[j] = -1.0;
        row[j + 1] = 1.0;
        true
    }

    fn curvature(&self, _j: usize, _q: &[f64], _v: &[f64]) -> Option<f64> {
        Some(0.0)
    }

    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}
