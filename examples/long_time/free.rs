//! A system without its contacts, that counts.

use std::cell::Cell;

use saltation::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use saltation::nalgebra::{Cholesky, DMatrix};

/// A mechanical system without its contacts, that counts how often its effort and the derivatives
/// of it are asked for.
pub(crate) struct Free<S> {
    system: S,
    calls: Cell<u64>,
}

impl<S: MechanicalSystem> Free<S> {
    pub(crate) fn new(system: S) -> Self {
        Self {
            system,
            calls: Cell::new(0),
        }
    }

    /// Evaluations so far.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.get()
    }

    fn count(&self) {
        self.calls.set(self.calls.get() + 1);
    }

    /// Kinetic and potential energy (J); `mass` is for the mass matrix.
    pub(crate) fn energy(&self, q: &[f64], v: &[f64], mass: &mut [f64]) -> f64 {
        self.system.mass(q, mass);
        let columns = mass.chunks_exact(v.len());
        let kinetic: f64 = columns
            .zip(v)
            .map(|(column, vj)| vj * column.iter().zip(v).map(|(m, vi)| m * vi).sum::<f64>())
            .sum();
        0.5 * kinetic + self.system.potential(q).unwrap_or(f64::NAN)
    }

    /// Period of the slowest small oscillation about `q = 0` (s).
    pub(crate) fn slowest_period(&self) -> Option<f64> {
        const SMALL: f64 = 1e-5;
        let d = self.system.dof();
        let (mut q, v) = (vec![0.0; d], vec![0.0; d]);
        let mut mass = DMatrix::zeros(d, d);
        self.system.mass(&q, mass.as_mut_slice());
        let mut stiffness = DMatrix::zeros(d, d);
        for (j, mut column) in stiffness.column_iter_mut().enumerate() {
            for side in [-1.0, 1.0] {
                let mut effort = vec![0.0; d];
                q[j] = side * SMALL;
                self.system.effort(0.0, &q, &v, &mut effort);
                for (entry, effort) in column.iter_mut().zip(effort) {
                    *entry -= 0.5 * side * effort / SMALL;
                }
            }
            q[j] = 0.0;
        }
        // with M = L Lᵀ the squared frequencies are the eigenvalues of L⁻¹ K L⁻ᵀ
        let half = Cholesky::new(mass)?.l();
        let left = half.solve_lower_triangular(&stiffness)?;
        let both = half.solve_lower_triangular(&left.transpose())?;
        let slowest = both.symmetric_eigenvalues().min().sqrt();
        (slowest > 0.0).then_some(std::f64::consts::TAU / slowest)
    }
}

impl<S: MechanicalSystem> MechanicalSystem for Free<S> {
    fn dof(&self) -> usize {
        self.system.dof()
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.system.mass(q, mass);
    }

    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.count();
        self.system.effort(t, q, v, effort);
    }

    fn effort_along(&self, at: State<'_>, directions: &[f64], out: &mut [f64]) -> bool {
        self.count();
        self.system.effort_along(at, directions, out)
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        self.system.coriolis(q, v, force)
    }

    fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
        self.system.kinetic_gradient(q, v, gradient)
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        self.system.potential(q)
    }
}

impl<S> UnilateralConstraints for Free<S> {
    fn contacts(&self) -> usize {
        0
    }

    fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
        f64::INFINITY
    }
}
