//! A system that is what its numbers say: constant masses, gaps `rows · q`, efforts as given.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::nalgebra::DMatrix;

/// Gaps `rows · q`, efforts as given.
pub(crate) struct Plain<F> {
    pub(crate) mass: Vec<f64>,
    pub(crate) rows: Vec<Vec<f64>>,
    pub(crate) restitution: Vec<f64>,
    pub(crate) effort: F,
}

impl<F: Fn(&[f64], &[f64], &mut [f64])> MechanicalSystem for Plain<F> {
    fn dof(&self) -> usize {
        self.rows[0].len()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&self.mass);
    }
    fn effort(&self, _t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        (self.effort)(q, v, effort);
    }
}

impl<F: Fn(&[f64], &[f64], &mut [f64])> UnilateralConstraints for Plain<F> {
    fn contacts(&self) -> usize {
        self.rows.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.rows[j].iter().zip(q).map(|(r, q)| r * q).sum()
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&self.rows[j]);
        true
    }
    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution[j]
    }
}

pub(crate) fn identity(d: usize) -> Vec<f64> {
    DMatrix::<f64>::identity(d, d).as_slice().to_vec()
}

/// No effort.
pub(crate) type Free = fn(&[f64], &[f64], &mut [f64]);

pub(crate) fn free(_: &[f64], _: &[f64], _: &mut [f64]) {}
