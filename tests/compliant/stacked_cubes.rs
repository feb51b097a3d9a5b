//! Cubes on cubes: gaps of the interfaces at rest (spec 10.6).

use saltation::{Compliant, Start};
use std::f64::consts::PI;

use saltation::bodies::Scene;
use saltation::compliant::{Solver, StepFriction};
use saltation::models::CubeStack;

use crate::reference_rows;

const DT: f64 = 0.01;

/// The stack after 3 s.
fn settled(stack: &CubeStack) -> Compliant<Scene> {
    let scene = stack.scene().expect("a scene");
    let (q, v) = scene.start();
    let stepper = Compliant::new(scene).expect("a system").time_step(DT);
    // The law of the paper, under which contacts do not harden.
    let stepper = stepper.friction(StepFriction::Cone);
    let mut stepper = stepper.solver(Solver::new().rtol(1e-12));
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("a start");
    for _ in 0..300 {
        stepper.step().expect("a step");
    }
    stepper
}

#[test]
fn every_row_of_the_stacks_is_met() {
    let rows = reference_rows::of("stack", "interface");
    for cubes in [1_u8, 2, 5] {
        let stack = CubeStack {
            cubes: cubes.into(),
            ..CubeStack::default()
        };
        let stepper = settled(&stack);
        let gaps = stack.gaps(stepper.q());
        let of_stack = rows
            .iter()
            .filter(|row| (row.number("n") - f64::from(cubes)).abs() < 0.5);
        let mut checked = 0;
        for row in of_stack {
            let words: Vec<&str> = row.case.split(' ').collect();
            let interface: usize = words[1].parse().expect("a number");
            match row.quantity.as_str() {
                // Both the formula and the gap itself.
                "phi_first_order" => {
                    let normal = stack.response(interface) / (2.0 * PI).powi(2);
                    let time = DT + stack.dissipation_time;
                    row.is(-normal * time * stack.load(interface) * DT / 4.0);
                    row.is(gaps[interface]);
                }
                "phi" => row.is(gaps[interface]),
                other => panic!("{other}"),
            }
            checked += 1;
        }
        assert_eq!(checked, 2 * cubes);
    }
}

#[test]
fn a_stack_at_rest_takes_no_iterations() {
    let scene = CubeStack::default().scene().expect("a scene");
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene).expect("a system").time_step(DT);
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("a start");
    for _ in 0..300 {
        stepper.step().expect("a step");
    }
    let before = *stepper.statistics();
    for _ in 0..100 {
        stepper.step().expect("a step");
    }
    assert_eq!(stepper.statistics().iterations, before.iterations);
    assert_eq!(stepper.contacts().len(), 20);
}
