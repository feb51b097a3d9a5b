//! Far ends, tolerances without an absolute part, and the longest step.

use saltation::models::{Hopper, NormalPlate, PlateParameters};
use saltation::{
    EventFunction, Flow, Guard, Integrator, Projection, Start, Status, Watch, flow_fn,
};

use crate::fixtures::support::{Sketch, distance, falling};
use crate::resets::G;

const PROJECTIONS: [Projection; 3] = [
    Projection::Auto,
    Projection::Off,
    Projection::horizon(1e-4, 4),
];

#[test]
fn a_ball_stops_at_its_floor_however_far_the_end() {
    for end in [1e3, 1e10, 1e14, 1e300] {
        for projection in PROJECTIONS {
            let ball = falling(G).events([Watch::FALLING.and_stop()], |_, _, x, _| x[0]);
            let what = format!("until {end:e}, {projection:?}");
            let trajectory = Integrator::new(ball)
                .unwrap()
                .projection(projection)
                .integrate(&Start::at(0.0).x(&[1.0, 0.0]), end)
                .unwrap();
            let guards = vec![Guard::falling(0)];
            assert_eq!(*trajectory.status(), Status::Stopped { guards }, "{what}");
            let exact = (2.0 / G).sqrt();
            assert!((trajectory.t() - exact).abs() < 1e-6, "{what}");
            assert!(trajectory.state()[0].abs() < 1e-6, "{what}");
        }
    }
}

#[test]
fn no_absolute_tolerance_is_needed_where_a_component_is_zero_for_ever() {
    // A ball that bounces straight down: the sideways place and velocity stay 0.
    for step in [None, Some(0.01)] {
        for projection in PROJECTIONS {
            let ball = Sketch::new(4, |_, x, _, dx| {
                dx.copy_from_slice(&[x[1], -G, x[3], -x[2]]);
            })
            .events([Watch::FALLING], |_, _, x, _| x[0])
            .reset(|_, _, x, _| {
                x[1] *= -0.9;
                Ok(())
            });
            let what = format!("{step:?}, {projection:?}");
            let mut integrator = Integrator::new(ball)
                .unwrap()
                .rtol(1e-9)
                .atol(0.0)
                .projection(projection);
            if let Some(step) = step {
                integrator = integrator.fixed_step(step);
            }
            let trajectory = integrator
                .integrate(&Start::at(0.0).x(&[1.0, 0.1, 0.0, 0.0]), 1.0)
                .unwrap();
            assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
            assert_eq!(trajectory.crossings().len(), 1, "{what}");
            let speed = (0.1f64.powi(2) + 2.0 * G).sqrt();
            let (landing, up) = ((0.1 + speed) / G, 0.9 * speed);
            let left = 1.0 - landing;
            let exact = [up * left - 0.5 * G * left * left, up - G * left, 0.0, 0.0];
            assert!(
                (trajectory.crossings()[0].t - landing).abs() < 1e-8,
                "{what}"
            );
            assert!(distance(trajectory.state(), &exact) < 1e-7, "{what}");
        }
    }
}

/// Longest way between two nodes beyond `most` (s), each time known to half a unit in its last
/// place.
fn excess<S: Flow + EventFunction>(
    integrator: Integrator<S>,
    x0: &[f64],
    tf: f64,
    most: f64,
) -> f64 {
    let trajectory = integrator
        .max_step(most)
        .integrate(&Start::at(0.0).x(x0), tf)
        .unwrap();
    assert_eq!(*trajectory.status(), Status::ReachedEnd);
    let ways = trajectory.times().windows(2).map(|pair| pair[1] - pair[0]);
    ways.fold(f64::NEG_INFINITY, f64::max) - most
}

#[test]
fn no_step_is_longer_than_the_longest() {
    // Steps of 2^−3 s from 0 end at numbers that are exact; the last one may be a little more or
    // less than a whole one.
    let walk = || flow_fn(1, |_, _, _, dx| dx[0] = 1.0).with_events(1, |_, _, x| x[0] - 1e9);
    let most = 0.125;
    for tf in [
        1.0,
        1.0 + 1e-12,
        1.0 + 1e-10,
        1.0005,
        1.001,
        1.002,
        1.06,
        0.9999,
    ] {
        for projection in PROJECTIONS {
            let what = format!("until {tf}, {projection:?}");
            let made = || {
                Integrator::new(walk())
                    .unwrap()
                    .projection(projection.clone())
            };
            for (integrator, name) in [
                (made(), "free"),
                (made().first_step(1.0), "first step"),
                (made().fixed_step(1.0), "fixed step"),
                (made().fixed_step(most), "fixed step of the same length"),
            ] {
                let over = excess(integrator, &[0.0], tf, most);
                assert!(over <= 0.0, "{name}, {what}: {over:e} s over");
            }
        }
    }
}

#[test]
fn no_step_is_longer_than_the_longest_around_events() {
    // Two units in the last place of times below 4.
    let rounding = 2.0 * 4.0 * f64::EPSILON;
    let plate = NormalPlate::new(PlateParameters::with_springs(5)).unwrap();
    let tilted = [0.1, 2.4, -0.03, 0.3, -0.5, 0.4];
    for most in [0.01, 0.003] {
        for tf in [0.7, 1.111, 2.0] {
            for projection in PROJECTIONS {
                let what = format!("{most} until {tf}, {projection:?}");
                let hopper = Integrator::new(Hopper::default()).unwrap();
                let over = excess(hopper.projection(projection.clone()), &[2.0, 0.0], tf, most);
                assert!(over <= rounding, "hopper, {what}: {over:e} s over");
                let plate = Integrator::new(&plate).unwrap();
                let over = excess(plate.projection(projection.clone()), &tilted, tf, most);
                assert!(over <= rounding, "plate, {what}: {over:e} s over");
            }
        }
    }
}

#[test]
fn neighbourhoods_smaller_than_the_rounding_of_time_do_not_stop_it() {
    // Two surfaces at one place, in units of their own: the border of the second is found by a step
    // that ends a rounding before it.
    for (eps, place) in [(1e-7, 1.0), (1e-8, 1.0), (1e-4, 1000.0)] {
        let two = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
            .events([Watch::BOTH; 2], move |k, _, x, _| {
                [4.22, 3.26][k] * (x[0] - place)
            });
        let run = Integrator::new(&two)
            .unwrap()
            .projection(Projection::eps(eps, 3))
            .max_steps(10_000)
            .integrate(&Start::at(0.0).x(&[0.0]), 1.2 * place)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{eps}");
        assert_eq!(run.crossings().len(), 2);
    }
}
