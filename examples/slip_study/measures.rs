//! Slip and condition of the last step of a run.

use saltation::Compliant;
use saltation::bodies::Scene;
use saltation::compliant::{ContactLaw, Region};
use saltation::mechanics::MechanicalSystem;
use saltation::nalgebra::{DMatrix, DVector, Matrix3, Vector3};

/// What the last step of a run says of all its contacts.
#[derive(Clone, Copy)]
pub(crate) struct AtRest {
    /// Mean slip of the contacts that press (m/s).
    pub(crate) slip: f64,
    /// Greatest over least eigenvalue of the Hessian `A + Jᵀ G J`.
    pub(crate) condition: f64,
}

impl AtRest {
    pub(crate) fn of(stepper: &Compliant<Scene>) -> Self {
        let rows = jacobian(stepper);
        let velocities = &rows * DVector::from_column_slice(stepper.v());
        let solution = stepper.solution();
        let (mut slip, mut pressing) = (0.0, 0.0);
        let mut weighted = rows.clone();
        for (i, region) in solution.regions().iter().enumerate() {
            let v = Vector3::from_fn(|k, _| velocities[3 * i + k]);
            let law = stepper.problem().law(i).copied();
            let g = law.map_or_else(Matrix3::zeros, |law| {
                curvature(&law, *region, &v, solution.impulses()[i][0])
            });
            if *region != Region::NoContact {
                slip += v.y.hypot(v.z);
                pressing += 1.0;
            }
            let block = g * rows.rows(3 * i, 3);
            weighted.rows_mut(3 * i, 3).copy_from(&block);
        }
        let dof = rows.ncols();
        let mut mass = DMatrix::zeros(dof, dof);
        stepper.system().mass(stepper.q(), mass.as_mut_slice());
        let values = (mass + rows.transpose() * weighted).symmetric_eigenvalues();
        Self {
            slip: slip / f64::max(pressing, 1.0),
            condition: values.max() / values.min(),
        }
    }
}

/// The rows of the contacts of the last step, three each.
fn jacobian(stepper: &Compliant<Scene>) -> DMatrix<f64> {
    let contacts = stepper.contacts();
    let mut all = DMatrix::zeros(3 * contacts.len(), contacts.dof());
    for i in 0..contacts.len() {
        for block in contacts.blocks(i) {
            let rows = DMatrix::from_row_slice(3, block.width, block.rows);
            let mut place = all.view_mut((3 * i, block.start), (3, block.width));
            place += rows;
        }
    }
    all
}

/// `G = −∂γ/∂v_c` of the friction cone in the order `[n, t₁, t₂]` (Castro et al., appendix D).
fn curvature(law: &ContactLaw, region: Region, v: &Vector3<f64>, load: f64) -> Matrix3<f64> {
    match region {
        Region::Stiction => {
            let softness = Vector3::new(law.normal, law.tangential, law.tangential);
            Matrix3::from_diagonal(&softness.map(f64::recip))
        }
        Region::Sliding => {
            let speed = v.y.hypot(v.z);
            let along = Vector3::new(0.0, v.y, v.z) / speed;
            let across = Vector3::new(0.0, -along.z, along.y);
            let a = Vector3::x() - law.friction * along;
            let sliding = law.normal + law.friction * law.friction * law.tangential;
            a * a.transpose() / sliding
                + across * across.transpose() * (law.friction * load / speed)
        }
        Region::NoContact => Matrix3::zeros(),
    }
}
