//! A block that slides does not glide but with the convex cone of friction.

use saltation::compliant::StepFriction;
use saltation::models::SlidingBlock;
use saltation::{Compliant, InputError, Start};

/// Gap and slip of a block after 1 s at constant speed down a slope.
fn slides(friction: StepFriction) -> (f64, f64) {
    let block = SlidingBlock {
        friction: 0.5,
        slope: 0.5_f64.atan(),
        ..SlidingBlock::default()
    };
    let stepper = Compliant::new(block).expect("a system").time_step(0.01);
    let run = stepper
        .friction(friction)
        .integrate(&Start::at(0.0).q(&[0.0, 0.0]).v(&[-1.0, 0.0]), 1.0)
        .expect("input")
        .completed()
        .expect("completed");
    (run.state()[1], run.state()[2])
}

#[test]
fn a_sliding_block_does_not_glide() {
    let (gap, speed) = slides(StepFriction::Cone);
    // (dt + τ) μ |v_t| less the depth, which is below 1e-4 m.
    assert!((gap - 0.01 * 0.5 * speed.abs()).abs() < 1e-4, "{gap:e}");
    // The depth at rest, R_n (dt + τ) N dt = β² w N dt²/4π², at the exact speed.
    let (gap, speed) = slides(StepFriction::Coulomb);
    assert!(gap < 0.0 && gap > -1e-4, "{gap:e}");
    assert!((speed + 1.0).abs() < 1e-7, "{speed}");
    let (gap, speed) = slides(StepFriction::Lagged { slip: 1e-4 });
    assert!(gap < 0.0 && gap > -1e-4, "{gap:e}");
    // The bound is that of the step before: one step without friction at most.
    let step = 9.81 * 0.5_f64.atan().sin() * 0.01;
    assert!((speed + 1.0).abs() < step, "{speed}");
}

#[test]
fn a_slip_that_makes_no_sense_ends_the_run() {
    let stepper = Compliant::new(SlidingBlock::default()).expect("a system");
    let mut stepper = stepper.friction(StepFriction::Lagged { slip: 0.0 });
    let started = stepper.start(&Start::at(0.0).q(&[0.0; 2]).v(&[0.0; 2]));
    assert!(matches!(started, Err(InputError::BadSetting { .. })));
}
