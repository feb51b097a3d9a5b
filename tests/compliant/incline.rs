//! A particle on an incline creeps in stiction and rides on a cushion while it slides (spec 10.3).

use saltation::compliant::{Solver, StepFriction};
use saltation::models::{Particle, SlidingBlock};
use saltation::{Compliant, Run, Start};

use crate::reference_rows;

const DT: f64 = 0.01;
const TAU: f64 = 0.01;

fn run(friction: f64) -> Run {
    let particle = Particle {
        slope: 0.5_f64.atan(),
        friction,
        dissipation_time: TAU,
        ..Particle::default()
    };
    let stepper = Compliant::new(particle)
        .expect("a system")
        .friction(StepFriction::Cone);
    let mut stepper = stepper.time_step(DT).solver(Solver::new().rtol(1e-13));
    let run = stepper.integrate(&Start::at(0.0).q(&particle.rest()).v(&[0.0; 3]), 2.0);
    run.expect("input").completed().expect("completed")
}

#[test]
fn every_row_of_stiction_is_met() {
    let rows = reference_rows::of("incline", "stick");
    let run = run(rows[0].number("mu"));
    for row in rows {
        row.is(match row.quantity.as_str() {
            "creep_speed" => run.state()[3],
            "phi" => run.state()[2],
            other => panic!("{other}"),
        });
    }
}

#[test]
fn every_row_of_sliding_is_met() {
    let rows = reference_rows::of("incline", "slide");
    let friction = rows[0].number("mu");
    let run = run(friction);
    let last = run.times().len() - 1;
    let (q, v) = (run.q(last), run.v(last));
    for row in rows {
        row.is(match row.quantity.as_str() {
            "acceleration" => (v[0] - run.v(last - 1)[0]) / DT,
            "v_n" => v[2],
            "v_t_at_T" => v[0],
            "phi_at_T" => q[2],
            "phi_at_T minus (dt+tau_d) mu v_t_at_T" => q[2] - (DT + TAU) * friction * v[0],
            other => panic!("{other}"),
        });
    }
}

/// The momentum that friction takes in a step is up to six million times smaller than that of the block.
#[test]
fn friction_slows_a_fast_block_in_short_steps() {
    for (friction, speed, step) in [
        (0.01, 2.0, 1e-5),
        (0.05, 50.0, 1e-4),
        (0.02, 50.0, 1e-4),
        (0.3, 300.0, 1e-4),
        (0.05, 30.0, 1e-5),
        (0.01, 100.0, 1e-3),
        (0.1, 10.0, 1e-5),
    ] {
        let block = SlidingBlock {
            friction,
            slope: 0.0,
            ..SlidingBlock::default()
        };
        let mut stepper = Compliant::new(block).unwrap().time_step(step);
        let end = 1000.0 * step;
        let v = [speed, 0.0];
        let start = Start::at(0.0).q(&[0.0; 2]).v(&v);
        let run = stepper.integrate(&start, end).unwrap();
        let lost = (speed - run.state()[2]) / (friction * 9.81 * end);
        // The first steps press less.
        assert!(
            (lost - 1.0).abs() < 0.01,
            "{friction} {speed} {step}: {lost}"
        );
    }
}
