//! The mass matrix, its trees and the forces of inertia against differences of the mass matrix.

use nalgebra::{DMatrix, DVector};

use super::{Point, mixed, scale};
use crate::derivative::{DerivativeReport, Partial};
use crate::linalg::decompose::{svd, symmetric_eigen};
use crate::linalg::dot;
use crate::linalg::symmetric::{driven_fault, matrix_fault};
use crate::mechanics::configuration::{self, is_identity};
use crate::mechanics::trees::check_trees;
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::ode::difference::{coordinate_step, step_along};
use crate::{InputError, MatrixFault, Stop};

impl<S> Point<'_, S>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    pub(super) fn mass(&self, q: &[f64]) -> DMatrix<f64> {
        let d = self.system.dof();
        let mut mass = DMatrix::from_element(d, d, f64::NAN);
        self.system.mass(q, mass.as_mut_slice());
        mass
    }

    pub(super) fn check_mass(&self) -> Result<(), Stop> {
        let (mass, name) = (self.mass(self.q), "mass");
        if let Some(fault) = matrix_fault(&mass) {
            return Err(Stop::Input(InputError::BadMatrix { name, fault }));
        }
        let d = self.system.dof();
        if let Some(fault) = driven_fault(mass.as_slice(), d, self.system.driven()) {
            return Err(Stop::Input(InputError::BadMatrix { name, fault }));
        }
        let value = symmetric_eigen(mass).map_or(f64::NAN, |found| found.eigenvalues.min());
        if value > 0.0 {
            return Ok(());
        }
        let fault = MatrixFault::NotPositive { value };
        Err(Stop::Input(InputError::BadMatrix { name, fault }))
    }

    /// The derivative of the mass matrix along a change of `q`, by a difference of this step.
    pub(super) fn mass_rate(&self, along: &[f64], step: f64) -> Result<DMatrix<f64>, Stop> {
        let at = |s: f64| {
            let moved: Vec<f64> = self.q.iter().zip(along).map(|(q, a)| q + s * a).collect();
            self.mass(&moved)
        };
        let rate = (at(step) - at(-step)) / (2.0 * step);
        match rate.iter().position(|entry| !entry.is_finite()) {
            None => Ok(rate),
            Some(entry) => {
                let (column, row) = (entry / rate.nrows(), entry % rate.nrows());
                let value = rate[(row, column)];
                let fault = MatrixFault::NotFinite { row, column, value };
                Err(Stop::Input(InputError::BadMatrix {
                    name: "mass",
                    fault,
                }))
            }
        }
    }

    /// The derivative of the mass matrix along `N(q) e_i`. Where that is a coordinate, with the
    /// step of that coordinate: others may have another unit.
    pub(super) fn mass_slope(&self, coordinate: usize) -> Result<DMatrix<f64>, Stop> {
        self.interrupt.check()?;
        let along = self.direction(coordinate);
        let step = if is_identity(self.system, self.q, self.system.dof()) {
            coordinate_step(self.q[coordinate])
        } else {
            step_along(0.0, self.q, 0.0, &along)
        };
        self.mass_rate(&along, step)
    }

    pub(super) fn compare_constant_mass(&self, report: &mut DerivativeReport) -> Result<(), Stop> {
        if !self.system.constant_mass() {
            return Ok(());
        }
        let d = self.system.dof();
        let scale = self.mass(self.q).amax().max(1.0);
        for coordinate in 0..d {
            let slope = self.mass_slope(coordinate)?;
            for row in 0..d {
                for column in 0..d {
                    let what = Partial::Mass {
                        row,
                        column,
                        coordinate,
                    };
                    report.compare(what, 0.0, slope[(row, column)], scale);
                }
            }
        }
        Ok(())
    }

    pub(super) fn compare_coriolis(
        &self,
        report: &mut DerivativeReport,
        v: &[f64],
    ) -> Result<(), Stop> {
        let d = self.system.dof();
        let mut given = vec![f64::NAN; d];
        if !self.system.coriolis(self.q, v, &mut given) {
            return Ok(());
        }
        let v = DVector::from_column_slice(v);
        let mut found = vec![0.0; d];
        for coordinate in 0..d {
            let momentum = self.mass_slope(coordinate)? * &v;
            for (force, p) in found.iter_mut().zip(&momentum) {
                *force -= v[coordinate] * p;
            }
            found[coordinate] += 0.5 * momentum.dot(&v);
        }
        let mut along = vec![0.0; self.q.len()];
        configuration::rate(self.system, self.q, v.as_slice(), &mut along);
        let mut is_determined = true;
        if !is_identity(self.system, self.q, v.len()) {
            let momentum = self.mass(self.q) * &v;
            for (i, force) in found.iter_mut().enumerate() {
                self.interrupt.check()?;
                match self.bracket(i, v.as_slice(), &along) {
                    Some(bracket) => *force -= momentum.dot(&bracket),
                    None => is_determined = false,
                }
            }
        }
        let scale = scale(&found);
        for component in (0..d).filter(|_| is_determined) {
            let what = Partial::Coriolis { component };
            report.compare(what, given[component], found[component], scale);
        }
        let step = step_along(0.0, self.q, 0.0, &along);
        let rate = self.mass_rate(&along, step)?;
        let (power, taken) = (dot(&given, v.as_slice()), -0.5 * v.dot(&(rate * &v)));
        // Thus it is never larger than the error of the component that causes it.
        let scale = scale * v.iter().fold(1.0, |sum, v| sum + v.abs());
        report.compare(Partial::CoriolisPower, power, taken, scale);
        Ok(())
    }

    /// `Σ_j C^k_ij v_j`: the velocity of the bracket of `N e_i` with `N v`, which is `along` at
    /// `q`. None where velocities are not determined by the rates of the coordinates.
    fn bracket(&self, i: usize, v: &[f64], along: &[f64]) -> Option<DVector<f64>> {
        let (nq, d) = (self.q.len(), v.len());
        let mut axis = vec![0.0; d];
        axis[i] = 1.0;
        let change = |of: &[f64], by: &[f64]| {
            let step = step_along(0.0, self.q, 0.0, by);
            let at = |s: f64| {
                let moved: Vec<f64> = self.q.iter().zip(by).map(|(q, by)| q + s * by).collect();
                let mut rate = DVector::zeros(nq);
                self.system
                    .configuration_rate(&moved, of, rate.as_mut_slice());
                rate
            };
            (at(step) - at(-step)) / (2.0 * step)
        };
        let bracket = change(v, &self.direction(i)) - change(&axis, along);
        let columns: Vec<f64> = (0..d).flat_map(|k| self.direction(k)).collect();
        let found = svd(DMatrix::from_vec(nq, d, columns), true, true)?;
        let [least, most] = [found.singular_values.min(), found.singular_values.max()];
        if least <= 1e-10 * most {
            return None;
        }
        let solved = found.solve(&bracket, 1e-12).ok();
        solved.or_else(|| Some(DVector::from_element(d, f64::NAN)))
    }

    /// True when the mass matrix is constant, by what the system says of it or by its entries at two
    /// configurations beside.
    pub(super) fn has_constant_mass(&self) -> bool {
        let here = || self.mass(self.q);
        let is_here = |sample: u8| {
            let beside = |(i, q): (usize, &f64)| q + 0.1 * f64::from(sample) * mixed(i);
            let q: Vec<f64> = self.q.iter().enumerate().map(beside).collect();
            self.mass(&q) == here()
        };
        self.system.constant_mass() || (1..3).all(is_here)
    }

    /// The trees against the mass matrix, here and at two configurations beside: an entry that
    /// happens to be zero at one of them is seen.
    pub(super) fn compare_trees(&self, report: &mut DerivativeReport) -> Result<(), Stop> {
        let d = self.system.dof();
        check_trees(self.system, d)?;
        if self.system.trees() == 1 {
            return Ok(());
        }
        for sample in 0..3 {
            let beside = |(i, q): (usize, &f64)| q + 0.1 * f64::from(sample) * mixed(i);
            let q: Vec<f64> = self.q.iter().enumerate().map(beside).collect();
            let mass = self.mass(&q);
            let mut blocks = DMatrix::<f64>::zeros(d, d);
            for i in 0..self.system.trees() {
                let tree = self.system.tree(i);
                let (start, n) = (tree.start, tree.len());
                let mut block = DMatrix::from_element(n, n, f64::NAN);
                self.system.tree_mass(i, &q, block.as_mut_slice());
                blocks.view_mut((start, start), (n, n)).copy_from(&block);
            }
            let scale = mass.amax().max(1.0);
            for row in 0..d {
                for column in 0..d {
                    let what = Partial::TreeMass { row, column };
                    report.compare(what, blocks[(row, column)], mass[(row, column)], scale);
                }
            }
        }
        Ok(())
    }

    pub(super) fn compare_kinetic_gradient(
        &self,
        report: &mut DerivativeReport,
        v: &[f64],
    ) -> Result<(), Stop> {
        let d = self.system.dof();
        let mut given = vec![f64::NAN; d];
        if !self.system.kinetic_gradient(self.q, v, &mut given) {
            return Ok(());
        }
        let v = DVector::from_column_slice(v);
        let mut found = vec![0.0; d];
        for (coordinate, found) in found.iter_mut().enumerate() {
            *found = 0.5 * (self.mass_slope(coordinate)? * &v).dot(&v);
        }
        let scale = scale(&found);
        for component in 0..d {
            let what = Partial::KineticGradient { component };
            report.compare(what, given[component], found[component], scale);
        }
        Ok(())
    }
}
