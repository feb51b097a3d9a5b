//! Starts on a guard, close to one, or in a given mode.

use saltation::{
    At, EventFunction, Flow, Guard, Integrator, Mode, Projection, Start, Status, Stop, Watch,
    flow_fn,
};

use crate::fixtures::support::{Sketch, run};

const PROJECTIONS: [Projection; 3] = [
    Projection::Auto,
    Projection::Off,
    Projection::horizon(1e-8, 4),
];

/// Bit 1 says "below 0" although x is 1. After a nanosecond guard 0 turns the field round, to
/// `−before`; guard 1 is left alone.
fn turns_round<S: Flow + EventFunction>(system: impl Fn(f64) -> S) {
    for before in [-1.0, 1.0] {
        for projection in PROJECTIONS {
            let what = format!("{before}, {projection:?}");
            let trajectory = Integrator::new(system(before))
                .unwrap()
                .projection(projection)
                .integrate(&Start::at(0.0).x(&[1.0]).mode(&Mode::new(2)), 0.5)
                .unwrap();
            assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
            let [only] = trajectory.crossings() else {
                panic!("{what}: {:?}", trajectory.crossings());
            };
            assert_eq!(only.guard, Guard::rising(0), "{what}");
            assert!((only.t - 1e-9).abs() < 1e-15, "{what}: {}", only.t);
            assert_eq!(*trajectory.mode(), Mode::with(2, &[0]), "{what}");
            let end = 1.0 - before * 0.5;
            assert!((trajectory.state()[0] - end).abs() < 1e-8, "{what}");
        }
    }
}

fn turned(before: f64, mode: &Mode) -> f64 {
    if mode.contains(0) { -before } else { before }
}

fn clock_or_place(k: usize, t: f64, x: &[f64]) -> f64 {
    if k == 0 { t - 1e-9 } else { x[0] }
}

#[test]
fn a_guard_that_the_start_mode_leaves_behind_does_not_fire_when_the_field_turns() {
    turns_round(|before| {
        flow_fn(1, move |_, _, mode, dx| dx[0] = turned(before, mode))
            .with_events(2, clock_or_place)
    });
}

#[test]
fn a_guard_left_behind_does_not_fire_either_where_event_functions_may_read_the_mode() {
    turns_round(|before| {
        Sketch::new(1, move |_, _, mode, dx| dx[0] = turned(before, mode))
            .events([Watch::BOTH; 2], |k, t, x, _| clock_or_place(k, t, x))
    });
}

#[test]
fn a_guard_that_nobody_watches_may_be_zero_at_the_start() {
    let nobody = Watch {
        rising: false,
        falling: false,
        stop: false,
    };
    // Zero and at rest, zero for ever, zero and grazing; and one that is watched, to see that the
    // run goes on.
    for watch in [nobody, nobody.and_stop()] {
        for projection in PROJECTIONS {
            let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events(
                [watch, watch, watch, Watch::BOTH],
                |k, t, x, _| match k {
                    0 => 0.0,
                    1 => -0.0 * x[0],
                    2 => t * t,
                    _ => x[0] - 0.5,
                },
            );
            let trajectory = run(system, 1e-9, projection.clone(), &[0.0], 1.0);
            assert_eq!(*trajectory.status(), Status::ReachedEnd, "{projection:?}");
            assert_eq!(trajectory.crossings().len(), 1, "{projection:?}");
        }
    }
}

#[test]
fn a_start_just_before_a_guard_crosses_it_on_time_however_far_the_end() {
    for ahead in [1e-6, 1e-9] {
        for end in [1.0, 1e6, 1e10] {
            for projection in PROJECTIONS {
                let walk = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
                    .events([Watch::BOTH], |_, _, x, _| x[0]);
                let what = format!("{ahead:e} m before, until {end:e}, {projection:?}");
                let trajectory = run(walk, 1e-9, projection, &[-ahead], end);
                assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
                let [only] = trajectory.crossings() else {
                    panic!("{what}: {:?}", trajectory.crossings());
                };
                assert_eq!(only.guard, Guard::rising(0), "{what}");
                let (late, off) = (only.t - ahead, only.state[0]);
                // Times and places of 1e-6 are rounded to 2e-22; the rest is what differences see
                // of a rate.
                assert!(
                    late.abs() < 1e-6 * ahead && off.abs() < 1e-6 * ahead,
                    "{what}: {late:e} s late, {off:e} m off"
                );
            }
        }
    }
}

#[test]
fn a_given_mode_whose_guard_was_passed_by_rounding_is_crossed_at_once() {
    for steps in 1..=20 {
        let system = Sketch::new(1, |_, _, _, dx| dx[0] = -1.0)
            .events([Watch::BOTH], |_, _, x, _| x[0] - 1.0);
        let before = Mode::with(1, &[0]);
        let start = 1.0 - 1.1e-16 * f64::from(steps);
        let mut integrator = Integrator::new(system).unwrap();
        let run = integrator
            .integrate(&Start::at(0.0).x(&[start]).mode(&before), 1.0)
            .unwrap();
        assert_eq!(run.crossings().len(), 1, "{steps}");
        assert!(run.crossings()[0].t <= 0.0);
    }
}

#[test]
fn a_given_mode_that_a_tangent_start_contradicts_is_refused() {
    let start = |bend: f64| {
        let system = Sketch::new(2, move |_, x, _, dx| {
            dx[0] = x[1];
            dx[1] = bend;
        })
        .events([Watch::BOTH], |_, _, x, _| x[0]);
        let mut integrator = Integrator::new(system).unwrap();
        integrator
            .integrate(&Start::at(0.0).x(&[0.0, 0.0]).mode(&Mode::new(1)), 1.0)
            .unwrap()
    };
    assert_eq!(*start(-1.0).status(), Status::ReachedEnd);
    let Status::Refused(Stop::Tangent { guard, at, .. }) = start(1.0).status().clone() else {
        panic!("{:?}", start(1.0).status());
    };
    let At { t, .. } = at.as_ref();
    assert_eq!((guard, *t), (Guard::rising(0), 0.0));
}
