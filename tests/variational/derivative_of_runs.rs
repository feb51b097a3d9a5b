//! The derivative of runs, against differences of runs.

use saltation::impact::Propagative;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{BouncingBall, DoublePendulum, SlidingBlock};
use saltation::variational::VariationalFailure;
use saltation::{ContactModel, NoDerivative, Start, Status, Variational, Verdict};

#[test]
fn the_derivative_of_a_run_with_an_impact_is_that_of_differences() {
    for (h, tf) in [(0.02, 1.5), (0.07, 1.0), (0.01, 0.5)] {
        let law = Propagative::default();
        let mut driver = Variational::new(ContactModel::with_law(DoublePendulum::default(), law))
            .unwrap()
            .time_step(h);
        let x = [1.0, 0.5, 0.1, -0.2];
        let found = driver
            .derivative(&Start::at(0.0).q(&x[..2]).v(&x[2..]), tf)
            .unwrap();
        let (run, derivative) = (found.run(), found.matrix().unwrap());
        let s = 1e-5;
        for k in 0..4 {
            let mut end = |by: f64| {
                let mut x = x;
                x[k] += by;
                let run = driver
                    .integrate(&Start::at(0.0).q(&x[..2]).v(&x[2..]), tf)
                    .unwrap();
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

/// Lengths by `L`, masses by `m` and times by `√L` give the same motion.
#[test]
fn the_derivative_of_an_impact_is_the_same_in_any_units() {
    let found = |length: f64, mass: f64| {
        let (unit, time) = (DoublePendulum::default(), length.sqrt());
        let pendulum = DoublePendulum {
            masses: [mass; 2],
            lengths: [length; 2],
            wall: length * unit.wall,
            ..unit
        };
        let model = ContactModel::new(pendulum)
            .gap_tolerance(1e-10 * length)
            .rate_tolerance(1e-8 * length / time);
        let mut driver = Variational::new(model).unwrap().time_step(0.02 * time);
        let v = [0.1 / time, -0.2 / time];
        let start = Start::at(0.0).q(&[1.0, 0.5]).v(&v);
        let found = driver.derivative(&start, 1.5 * time).unwrap();
        assert!(!found.run().events().is_empty());
        assert_eq!(found.verdict(), &Verdict::Classical);
        let units = [1.0, 1.0, 1.0 / time, 1.0 / time];
        let matrix = found.matrix().unwrap();
        nalgebra::DMatrix::from_fn(4, 4, |i, j| matrix[(i, j)] / units[i] * units[j])
    };
    let expected = found(1.0, 1.0);
    for (length, mass) in [
        (1.0, 1e-6),
        (1.0, 1e-10),
        (1.0, 1e12),
        (1e-3, 1e-6),
        (1e-12, 1.0),
        (1e6, 1e9),
    ] {
        // Differences of the law and of steps have errors of about 1e-8.
        let off = (found(length, mass) - &expected).amax();
        assert!(
            off < 1e-6 * expected.amax(),
            "{length:e} {mass:e}: {off:e} of {:e}",
            expected.amax()
        );
    }
}

#[test]
fn bounces_of_a_ball_have_the_closed_form() {
    // Each impact has the saltation matrix [−e, 0; (1 + e) g/v, −e].
    let ball = BouncingBall::default();
    let mut driver = Variational::new(ContactModel::new(ball))
        .unwrap()
        .time_step(0.01);
    let found = driver
        .derivative(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1.2)
        .unwrap();
    let (run, derivative) = (found.run(), found.matrix().unwrap());
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
    let model = ContactModel::new(SlidingBlock::default()).frictionless();
    let mut driver = Variational::new(model).unwrap();
    let start = Start::at(0.0).q(&[0.0; 2]).v(&[1.0, 0.0]);
    let found = driver.derivative(&start, 0.1).unwrap();
    assert_eq!(*found.run().status(), Status::ReachedEnd);
    let Verdict::NotGuaranteed(NoDerivative::Stop(reason)) = found.verdict() else {
        panic!("{}", found.verdict());
    };
    let reason = reason.downcast();
    assert!(matches!(
        reason,
        Some(VariationalFailure::NoDerivative { .. })
    ));
    assert_eq!(
        found.matrix().unwrap_err(),
        found.apply(&[0.0; 4]).unwrap_err()
    );
}

#[test]
fn an_impact_at_the_start_has_the_derivative_of_impacts() {
    let ball = BouncingBall::default();
    let mut driver = Variational::new(ContactModel::new(ball))
        .unwrap()
        .time_step(0.01);
    let found = driver
        .derivative(&Start::at(0.0).q(&[0.0]).v(&[-1.0]), 0.05)
        .unwrap();
    let derivative = found.matrix().unwrap();
    let s = 1e-6;
    let mut end = |q: f64, v: f64| {
        let run = driver
            .integrate(&Start::at(0.0).q(&[q]).v(&[v]), 0.05)
            .unwrap();
        let run = run.completed().unwrap();
        [run.state()[0], run.state()[1]]
    };
    let here = end(0.0, -1.0);
    let columns = [end(s, -1.0), end(0.0, -1.0 + s)];
    for k in 0..2 {
        for i in 0..2 {
            let expected = (columns[k][i] - here[i]) / s;
            assert!(
                (derivative[(i, k)] - expected).abs() < 1e-4,
                "{i} {k} {} {expected}",
                derivative[(i, k)]
            );
        }
    }
}

#[test]
fn an_impact_at_the_end_of_a_step_has_the_derivative_of_impacts() {
    let ball = BouncingBall {
        gravity: 0.0,
        ..BouncingBall::default()
    };
    let e = ball.restitution;
    for tf in [1.0 - 1e-12, 1.0, 1.0 + 1e-12, 1.0 + 1e-6, 1.1, 1.5] {
        let mut driver = Variational::new(ContactModel::new(ball))
            .unwrap()
            .time_step(0.25);
        let found = driver
            .derivative(&Start::at(0.0).q(&[1.0]).v(&[-1.0]), tf)
            .unwrap();
        // At the end of the run neighbours are before it or behind it.
        let is_at_end = (tf - 1.0).abs() < 1e-9;
        assert_eq!(found.matrix().is_err(), is_at_end, "{tf}");
        let Ok(derivative) = found.matrix() else {
            assert_ne!(*found.verdict(), Verdict::Classical);
            continue;
        };
        assert_eq!(found.run().events().len(), 1);
        assert!((derivative[(0, 0)] + e).abs() < 1e-6, "{derivative}");
        assert!((derivative[(0, 1)] + e * tf).abs() < 1e-6, "{derivative}");
    }
}

/// A block falls onto a floor with a slip that the impact just ends, or does not: at a speed of 2 μ times that of the fall
/// with e = 1 friction takes all of it.
#[test]
fn an_impact_whose_slip_just_ends_has_no_derivative() {
    let block = SlidingBlock {
        gravity: 0.0,
        restitution: 1.0,
        ..SlidingBlock::default()
    };
    let edge = 2.0 * block.friction;
    for by in [1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-8, 0.0] {
        for sign in [1.0, -1.0] {
            let v = [edge * (1.0 + sign * by), -1.0];
            let mut driver = Variational::new(ContactModel::new(block)).unwrap();
            let start = Start::at(0.0).q(&[0.0, 1.0]).v(&v);
            let found = driver.derivative(&start, 1.5).unwrap();
            assert!(by < 1e-4 || found.matrix().is_ok(), "{by}");
            assert!(by > 1e-6 || found.matrix().is_err(), "{by}");
            let Ok(derivative) = found.matrix() else {
                let is_told = found.verdict().to_string().contains("two branches");
                assert!(is_told, "{}", found.verdict());
                continue;
            };
            // By the slip: what goes on keeps all of it, what sticks nothing.
            let expected = f64::from(u8::from(sign > 0.0));
            let off = derivative[(2, 2)] - expected;
            assert!(off.abs() < 1e-3, "{by} {sign}: {derivative}");
        }
    }
}

/// A driven ball.
struct Driven {
    rate: f64,
}

impl MechanicalSystem for Driven {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = -9.81 + 5.0 * (self.rate * t).sin();
    }
}

impl UnilateralConstraints for Driven {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        0.8
    }
}

#[test]
fn the_derivative_knows_driven_efforts_at_late_times() {
    for t0 in [0.0, 1000.0] {
        let mut driver = Variational::new(ContactModel::new(Driven { rate: 20.0 }))
            .unwrap()
            .time_step(0.02);
        let found = driver
            .derivative(&Start::at(t0).q(&[1.0]).v(&[0.3]), t0 + 1.2)
            .unwrap();
        let derivative = found.matrix().unwrap();
        let s = 1e-5;
        let mut end = |q: f64, v: f64| {
            let run = driver
                .integrate(&Start::at(t0).q(&[q]).v(&[v]), t0 + 1.2)
                .unwrap();
            let run = run.completed().unwrap();
            [run.state()[0], run.state()[1]]
        };
        let pairs = [
            [end(1.0 + s, 0.3), end(1.0 - s, 0.3)],
            [end(1.0, 0.3 + s), end(1.0, 0.3 - s)],
        ];
        for (k, [ahead, behind]) in pairs.iter().enumerate() {
            for i in 0..2 {
                let expected = (ahead[i] - behind[i]) / (2.0 * s);
                let error = (derivative[(i, k)] - expected).abs();
                assert!(
                    error < 1e-6 * expected.abs().max(1.0),
                    "{t0} {i} {k} {error:e} {expected}"
                );
            }
        }
    }
}

/// Restitution that depends on the speed.
struct Soft;

impl MechanicalSystem for Soft {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = -9.81;
    }
}

impl UnilateralConstraints for Soft {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
    fn restitution(&self, _j: usize, _q: &[f64], v: &[f64]) -> f64 {
        0.8 / (1.0 + 0.1 * v[0].abs())
    }
}

#[test]
fn the_derivative_knows_restitution_that_depends_on_speed() {
    let mut driver = Variational::new(ContactModel::new(Soft))
        .unwrap()
        .time_step(0.01);
    let found = driver
        .derivative(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 0.8)
        .unwrap();
    let derivative = found.matrix().unwrap();
    let mut end = |q: f64| {
        driver
            .integrate(&Start::at(0.0).q(&[q]).v(&[0.0]), 0.8)
            .unwrap()
            .state()
            .clone()
    };
    let (ahead, behind) = (end(1.00001), end(0.99999));
    for i in 0..2 {
        let expected = (ahead[i] - behind[i]) / 2e-5;
        assert!((derivative[(i, 0)] - expected).abs() < 1e-6, "{i}");
    }
}
