//! The softness of stiction: slip of a stack on a slope, and the condition of the Hessian
//! (spec 10.7).

use saltation::{Compliant, Start};
use std::collections::HashMap;

use saltation::bodies::Scene;
use saltation::compliant::{Region, Softness};
use saltation::mechanics::MechanicalSystem;
use saltation::models::CubeStack;
use saltation::nalgebra::{DMatrix, DVector};

use crate::reference_rows;

const DT: f64 = 0.01;
const STACK: CubeStack = CubeStack {
    cubes: 3,
    edge: 0.1,
    density: 1000.0,
    friction: 1.0,
    stiffness: 1e12,
    dissipation_time: 0.01,
    slope: 0.1,
    gravity: 9.81,
};

/// The stack after 1.5 s.
fn run(sigma: f64) -> Compliant<Scene> {
    let scene = STACK.scene().expect("a scene");
    let (q, v) = scene.start();
    let mut softness = Softness::default();
    softness.stiction = sigma;
    let stepper = Compliant::new(scene).expect("a system").time_step(DT);
    let mut stepper = stepper.softness(softness);
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("a start");
    for _ in 0..150 {
        stepper.step().expect("a step");
    }
    stepper
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

/// The mean slip of the contacts (m/s).
fn mean_slip(stepper: &Compliant<Scene>) -> f64 {
    let velocities = jacobian(stepper) * DVector::from_column_slice(stepper.v());
    let slips = velocities.as_slice().chunks_exact(3);
    let count = slips.len() as f64;
    slips.map(|v| v[1].hypot(v[2])).sum::<f64>() / count
}

/// The condition of `A + Jᵀ G J` in the last step, where all contacts stick.
fn condition(stepper: &Compliant<Scene>) -> f64 {
    let (j, n) = (jacobian(stepper), stepper.contacts().dof());
    let mut stiff = j.clone();
    for (i, region) in stepper.solution().regions().iter().enumerate() {
        assert_eq!(*region, Region::Stiction);
        let law = stepper.problem().law(i).expect("a contact");
        let rates = [law.normal, law.tangential, law.tangential];
        for (k, rate) in rates.into_iter().enumerate() {
            let mut row = stiff.row_mut(3 * i + k);
            row /= rate;
        }
    }
    let mut mass = DMatrix::zeros(n, n);
    stepper.system().mass(stepper.q(), mass.as_mut_slice());
    let hessian = mass + j.transpose() * stiff;
    let values = hessian.symmetric_eigenvalues();
    values.max() / values.min()
}

#[test]
fn every_row_of_the_slip_is_met() {
    let mut runs = HashMap::new();
    for row in reference_rows::of("slip_parameter", "tilted stack") {
        let sigma = row.number("sigma");
        let stepper = runs.entry(sigma.to_bits()).or_insert_with(|| run(sigma));
        row.is(match row.quantity.as_str() {
            "mean_slip" => mean_slip(stepper),
            "mean_slip_predicted" => {
                let slip = |i: usize| {
                    let pull = STACK.load(i) * STACK.slope.tan();
                    sigma * STACK.response(i) * pull * DT / 4.0
                };
                (0..3).map(slip).sum::<f64>() / 3.0
            }
            "hessian_condition" => condition(stepper),
            other => panic!("{other}"),
        });
        let bound = sigma * STACK.friction * DT * STACK.gravity;
        assert!(mean_slip(stepper) < bound, "{row:?}");
    }
}
