//! The derivative of runs, against differences of runs.

use saltation::impact::Propagative;
use saltation::models::{BouncingBall, DoublePendulum, SlidingBlock};
use saltation::variational::{Failure, Variational};

#[test]
fn the_derivative_of_a_run_with_an_impact_is_that_of_differences() {
    for (h, tf) in [(0.02, 1.5), (0.07, 1.0), (0.01, 0.5)] {
        let law = Propagative::default();
        let mut driver = Variational::with_law(DoublePendulum::default(), law)
            .unwrap()
            .step(h);
        let x = [1.0, 0.5, 0.1, -0.2];
        let (run, derivative) = driver.derivative(0.0, &x[..2], &x[2..], tf).unwrap();
        let s = 1e-5;
        for k in 0..4 {
            let mut end = |by: f64| {
                let mut x = x;
                x[k] += by;
                let run = driver.integrate(0.0, &x[..2], &x[2..], tf).unwrap();
                run.completed().unwrap()
            };
            let (ahead, behind) = (end(s), end(-s));
            assert_eq!(ahead.events().len(), run.events().len());
            for i in 0..4 {
                let expected = (ahead.state()[i] - behind.state()[i]) / (2.0 * s);
                let error = (derivative[(i, k)] - expected).abs();
                assert!(
                    error < 1e-6 * expected.abs().max(1.0),
                    "{h} {i} {k} {error:e}"
                );
            }
        }
    }
}

#[test]
fn bounces_of_a_ball_have_the_closed_form() {
    // Each impact has the saltation matrix [−e, 0; (1 + e) g/v, −e].
    let ball = BouncingBall::default();
    let mut driver = Variational::new(ball).unwrap().step(0.01);
    let (run, derivative) = driver.derivative(0.0, &[1.0], &[0.0], 1.2).unwrap();
    let mut expected = nalgebra::Matrix2::identity();
    let mut last = 0.0;
    let free = |t: f64| nalgebra::Matrix2::new(1.0, t, 0.0, 1.0);
    for event in run.events() {
        let (before, after) = (event.state_before[1], event.state_after[1]);
        let e = ball.restitution;
        // (f⁺ − R f⁻) / (Dh f⁻) with f = (v, −g)
        let row = nalgebra::Matrix2::new(
            (after + e * before) / before,
            0.0,
            -(1.0 + e) * 9.81 / before,
            0.0,
        );
        let saltation = nalgebra::Matrix2::new(-e, 0.0, 0.0, -e);
        expected = (saltation + row) * free(event.t - last) * expected;
        last = event.t;
    }
    assert_eq!(run.events().len(), 2);
    expected = free(1.2 - last) * expected;
    assert!((derivative - expected).amax() < 1e-7, "{expected}");
}

#[test]
fn what_has_no_derivative_here_says_so() {
    let mut driver = Variational::new(SlidingBlock::default())
        .unwrap()
        .frictionless();
    let failure = driver
        .derivative(0.0, &[0.0; 2], &[1.0, 0.0], 0.1)
        .unwrap_err();
    assert!(matches!(failure, Failure::NoDerivative { .. }), "{failure}");
}
