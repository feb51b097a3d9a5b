//! Measures of a solution: momentum and complementarity error, gliding, energy of contacts.

use nalgebra::DVector;
use saltation::compliant::{Convergence, Guess, Problem, Region, Solver, StepFriction};
use saltation::mechanics::ContactParameters;
use saltation::models::SlidingBlock;
use saltation::{Compliant, Start};

use crate::random::SplitMix64;
use crate::random_problems::{Kind, Sample};

/// `e_m` (32) and `e_μ` (33) of solutions that are far from converged, against dense matrices.
#[test]
fn errors_are_those_of_their_definitions() {
    let mut random = SplitMix64(8);
    let (mut compared, mut unconverged) = (0, 0);
    for _ in 0..60 {
        let sample = Sample::draw(&mut random, &Kind::default());
        let (problem, dense) = (sample.build(), sample.dense());
        for iterations in [1, 3, 100] {
            let solver = Solver::new().max_iterations(iterations).islands(false);
            let mut solver = solver.guess(Guess::Given).rtol(1e-10);
            let solution = solver.solve(&problem, &sample.guess).expect("input");
            let [report] = solution.islands() else {
                continue;
            };
            // All trees are in the island, or the norms are of other entries.
            if report.trees != problem.trees() {
                continue;
            }
            let v = DVector::from_column_slice(solution.v());
            let (cost, gradient) = dense.cost(&v);
            let diagonal = dense.a.diagonal();
            let norm = |x: &DVector<f64>| {
                let entries = x.iter().zip(diagonal.iter());
                entries.map(|(x, a)| x * x / a).sum::<f64>().sqrt()
            };
            let momentum = &dense.a * &v;
            let impulse = &dense.a * (&v - &dense.free) - &gradient;
            let scale = norm(&momentum).max(norm(&impulse));
            let expected = norm(&gradient) / scale;
            let found = solution.momentum_error();
            assert!(
                (found - expected).abs() < 1e-8 * expected + 1e-12,
                "{found:e} {expected:e}"
            );
            assert!((solution.cost() / cost - 1.0).abs() < 1e-9);
            let mut sum = 0.0;
            for (i, (cone, gamma)) in dense.contacts.iter().zip(solution.impulses()).enumerate() {
                let velocity = problem
                    .contact_velocity(i, solution.v())
                    .expect("a contact");
                assert!((DVector::from_row_slice(&velocity) - &cone.j * &v).norm() < 1e-13);
                let g = [
                    velocity[0] - cone.v_hat + cone.normal * gamma[0],
                    velocity[1] + cone.tangential * gamma[1],
                    velocity[2] + cone.tangential * gamma[2],
                ];
                let product: f64 = g.iter().zip(gamma).map(|(g, p)| g * p).sum();
                // g is the difference of what is added here, and zero where a contact sticks.
                let parts = [cone.normal, cone.tangential, cone.tangential];
                let sizes = (0..3)
                    .map(|k| (velocity[k].abs() + parts[k] * gamma[k].abs()) * gamma[k].abs());
                let size = sizes.sum::<f64>() + cone.v_hat.abs() * gamma[0];
                assert!(product.abs() <= 1e-12 * size, "{product:e} {size:e}");
                sum += product.abs();
            }
            let complementarity = solution.complementarity_error();
            assert!(complementarity < 1e-12 && sum / cost < 1e-11);
            compared += 1;
            let limited = report.convergence == Convergence::MaxIterations;
            unconverged += usize::from(limited && expected > 1e-6);
        }
    }
    assert!(
        compared > 100 && unconverged > 40,
        "{compared} {unconverged}"
    );
}

/// A block that slides steadily down an incline rides at the gap that is predicted, to 1e-9.
#[test]
fn a_steadily_sliding_block_rides_where_predicted() {
    let block = SlidingBlock {
        friction: 0.5,
        slope: 0.5f64.atan(),
        ..SlidingBlock::default()
    };
    for dt in [1e-2, 1e-3] {
        let stepper = Compliant::new(block)
            .expect("a block")
            .time_step(dt)
            .friction(StepFriction::Cone);
        let mut stepper = stepper.solver(Solver::new().rtol(1e-12));
        let run = stepper.integrate(&Start::at(0.0).q(&[0.0; 2]).v(&[-1.0, 0.0]), 3.0);
        let run = run.expect("input").completed().expect("completed");
        let solution = stepper.solution();
        assert_eq!(solution.regions(), [Region::Sliding]);
        let gliding = solution.gliding(stepper.problem(), 0).expect("it slides");
        assert!((gliding.slip - run.state()[2].abs()).abs() < 1e-14);
        assert!((gliding.distance / (dt * 0.5 * gliding.slip) - 1.0).abs() < 1e-13);
        assert!((run.state()[1] / gliding.gap - 1.0).abs() < 1e-9);
        assert!(gliding.gap > 0.0 && gliding.gap < gliding.distance);
    }
}

/// Friction that lags has no cushion.
#[test]
fn with_lagged_friction_the_gap_is_that_of_the_springs() {
    let block = SlidingBlock {
        friction: 0.5,
        slope: 0.5f64.atan(),
        ..SlidingBlock::default()
    };
    let stepper = Compliant::new(block).expect("a block").time_step(0.01);
    let mut stepper = stepper
        .friction(StepFriction::Lagged { slip: 1e-4 })
        .solver(Solver::new().rtol(1e-12));
    let run = stepper.integrate(&Start::at(0.0).q(&[0.0; 2]).v(&[-1.0, 0.0]), 3.0);
    let run = run.expect("input").completed().expect("completed");
    let solution = stepper.solution();
    let gliding = solution.gliding(stepper.problem(), 0).expect("it slides");
    assert!(gliding.slip > 0.9 && gliding.distance.abs() < 1e-300);
    assert!((run.state()[1] / gliding.gap - 1.0).abs() < 1e-9);
}

#[test]
fn contacts_that_stick_or_part_do_not_glide() {
    let block = SlidingBlock {
        friction: 0.5,
        slope: 0.3,
        ..SlidingBlock::default()
    };
    let mut stepper = Compliant::new(block).expect("a block");
    stepper
        .start(&Start::at(0.0).q(&[0.0; 2]).v(&[0.0; 2]))
        .expect("start");
    for _ in 0..10 {
        stepper.step().expect("a step");
    }
    let solution = stepper.solution();
    assert_eq!(solution.regions(), [Region::Stiction]);
    assert_eq!(solution.gliding(stepper.problem(), 0), None);
    assert_eq!(solution.gliding(stepper.problem(), 1), None);
    let other = Problem::new(0.01).expect("a problem");
    assert_eq!(solution.gliding(&other, 0), None);
    assert_eq!(stepper.problem().contact_velocity(0, &[0.0]), None);
    assert_eq!(stepper.problem().contact_velocity(1, &[0.0; 2]), None);
}

/// Contacts hold `½ k φ²`, with the stiffness that the step uses.
#[test]
fn contacts_store_energy() {
    let mut problem = Problem::new(0.01).expect("a problem");
    problem.add_tree(&[2.0], &[0.0]).expect("a tree");
    for (i, gap) in [-1e-3, -2e-3, 1e-3].into_iter().enumerate() {
        let mut contact = ContactParameters::new(i, gap);
        (contact.stiffness, contact.dissipation_time) = (1e3, 0.02);
        problem
            .add_contact(&contact, &[(0, &[1.0])])
            .expect("a contact");
    }
    let springs = 0.5 * 1e3 * (1e-6 + 4e-6);
    assert!((problem.elastic_energy() / springs - 1.0).abs() < 1e-13);
    let rigid = ContactParameters::new(3, -1e-3);
    problem
        .add_contact(&rigid, &[(0, &[1.0])])
        .expect("a contact");
    // w = 1/(3 m): a contact of one row counts as one of three.
    let normal = 1.0 / (4.0 * std::f64::consts::PI.powi(2)) / 6.0;
    let total = springs + 0.5 * 1e-6 / (normal * 1e-4);
    assert!((problem.elastic_energy() / total - 1.0).abs() < 1e-13);
}
