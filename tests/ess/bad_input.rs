//! Bad input and functions that misbehave on the way: each ends in its own typed error, and a run keeps what it computed.

use std::fmt::Debug;

use saltation::models::{Affine, Hopper};
use saltation::{
    Error, Guard, Integrator, Mode, PerEntry, Projection, Quantity, RearmMatrix, Status,
    Trajectory, Watch, flow_fn,
};

use crate::support::{Sketch, falling, run};

fn hopper() -> Integrator<Hopper> {
    Integrator::new(Hopper::default()).unwrap()
}

/// What a run of the hopper from (2, 0) over 2 s refuses.
fn refused(mut integrator: Integrator<Hopper>) -> Error {
    integrator
        .integrate(0.0, &[2.0, 0.0], 2.0)
        .expect_err("refused")
}

fn is_setting(error: &Error, setting: &str) -> bool {
    matches!(error, Error::BadSetting { name, .. } if name.contains(setting))
}

/// NaN cannot be compared, so the texts are.
fn same(a: &impl Debug, b: &impl Debug) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

const NOT_FINITE: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

#[test]
fn a_start_time_that_is_not_finite() {
    for value in NOT_FINITE {
        let error = hopper().integrate(value, &[2.0, 0.0], 2.0).unwrap_err();
        assert!(
            same(
                &error,
                &Error::NotFiniteInput {
                    name: "t0",
                    entry: 0,
                    value
                }
            ),
            "{error:?}"
        );
    }
}

#[test]
fn a_final_time_that_is_not_finite() {
    for value in NOT_FINITE {
        let error = hopper().integrate(0.0, &[2.0, 0.0], value).unwrap_err();
        assert!(
            same(
                &error,
                &Error::NotFiniteInput {
                    name: "tf",
                    entry: 0,
                    value
                }
            ),
            "{error:?}"
        );
    }
}

#[test]
fn a_start_that_is_not_finite() {
    for value in NOT_FINITE {
        for entry in 0..2 {
            let mut start = [2.0, 0.0];
            start[entry] = value;
            let error = hopper().integrate(0.0, &start, 2.0).unwrap_err();
            assert!(
                same(
                    &error,
                    &Error::NotFiniteInput {
                        name: "x0",
                        entry,
                        value
                    }
                ),
                "{error:?}"
            );
        }
    }
}

#[test]
fn a_final_time_before_the_start() {
    let error = hopper().integrate(1.0, &[2.0, 0.0], 0.5).unwrap_err();
    assert_eq!(error, Error::TimeReversed { t0: 1.0, tf: 0.5 });
}

#[test]
fn a_final_time_at_the_start_gives_the_start() {
    let trajectory = hopper().integrate(1.0, &[2.0, 0.5], 1.0).unwrap();
    assert_eq!(*trajectory.status(), Status::ReachedEnd);
    assert_eq!(
        (trajectory.time(), trajectory.state().as_slice()),
        (1.0, &[2.0, 0.5][..])
    );
    assert_eq!(trajectory.at(1.0).unwrap().as_slice(), [2.0, 0.5]);
}

#[test]
fn a_start_of_the_wrong_length() {
    for start in [&[2.0][..], &[2.0, 0.0, 0.0], &[]] {
        let error = hopper().integrate(0.0, start, 2.0).unwrap_err();
        let found = start.len();
        assert_eq!(
            error,
            Error::WrongLength {
                name: "x0",
                expected: 2,
                found
            }
        );
    }
}

#[test]
fn tolerances_of_the_wrong_length() {
    let error = refused(hopper().atol(vec![1e-9; 3]));
    assert_eq!(
        error,
        Error::WrongLength {
            name: "atol",
            expected: 2,
            found: 3
        }
    );
    let error = refused(hopper().rtol([1e-6]));
    assert_eq!(
        error,
        Error::WrongLength {
            name: "rtol",
            expected: 2,
            found: 1
        }
    );
}

#[test]
fn widths_of_the_wrong_length() {
    for found in [0, 2] {
        let error = refused(hopper().projection(Projection::eps(vec![1e-3; found], 3)));
        assert_eq!(
            error,
            Error::WrongLength {
                name: "eps",
                expected: 1,
                found
            }
        );
    }
}

#[test]
fn a_start_mode_of_the_wrong_length() {
    let error = refused(hopper().start_mode(Mode::new(2)));
    assert!(
        matches!(
            error,
            Error::WrongLength {
                expected: 1,
                found: 2,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_fixed_size_that_is_not_the_systems() {
    let error = Integrator::fixed::<3>(Hopper::default()).unwrap_err();
    assert!(
        matches!(
            error,
            Error::WrongLength {
                expected: 2,
                found: 3,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_system_without_states() {
    let nothing = || flow_fn(0, |_, _, _, _| ());
    assert!(matches!(
        Integrator::new(nothing()),
        Err(Error::EmptySystem)
    ));
    assert!(Integrator::fixed::<0>(nothing()).is_err());
}

#[test]
fn a_system_without_event_functions_is_a_plain_differential_equation() {
    let circle = flow_fn(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -x[0]]));
    for projection in [
        Projection::Auto,
        Projection::Off,
        Projection::eps(1e-3, 2),
        Projection::horizon(1e-3, 2),
    ] {
        let trajectory = run(circle, 1e-10, projection, &[1.0, 0.0], 10.0);
        assert_eq!(*trajectory.status(), Status::ReachedEnd);
        let (sine, cosine) = 10f64.sin_cos();
        let x = trajectory.state();
        assert!((x[0] - cosine).abs() < 1e-8 && (x[1] + sine).abs() < 1e-8);
        assert!(trajectory.crossings().is_empty() && trajectory.mode().is_empty());
        let statistics = trajectory.statistics();
        assert_eq!((statistics.event, statistics.gradient), (0, 0));
        let middle = trajectory.at(4.0).unwrap();
        assert!((middle[0] - 4f64.cos()).abs() < 1e-8);
    }
}

#[test]
fn widths_that_are_not_positive() {
    for eps in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        let error = refused(hopper().projection(Projection::eps(eps, 3)));
        assert!(is_setting(&error, "eps"), "{error:?}");
    }
    let mut affine = Integrator::new(Affine::default()).unwrap();
    affine = affine.projection(Projection::eps([1e-3, 1e-3, 0.0], 1));
    let error = affine.integrate(0.0, &[-0.4, -0.15, 0.3], 0.5).unwrap_err();
    assert!(
        matches!(
            error,
            Error::BadSetting {
                name: "eps",
                entry: 2,
                ..
            }
        ),
        "{error:?}"
    );
}

#[test]
fn a_horizon_that_is_not_positive() {
    for tau in [0.0, -1e-3, f64::NAN, f64::INFINITY] {
        let error = refused(hopper().projection(Projection::horizon(tau, 3)));
        assert!(is_setting(&error, "tau"), "{error:?}");
    }
}

#[test]
fn an_order_that_does_not_exist() {
    for order in [0, 5, 255] {
        for projection in [
            Projection::eps(1e-3, order),
            Projection::horizon(1e-3, order),
        ] {
            let error = refused(hopper().projection(projection));
            assert!(is_setting(&error, "order"), "{error:?}");
        }
    }
}

#[test]
fn tolerances_that_are_negative_or_not_finite() {
    for value in [-1e-6, f64::NAN, f64::INFINITY] {
        let error = refused(hopper().rtol(value));
        assert!(is_setting(&error, "rtol"), "{error:?}");
        let error = refused(hopper().atol(value));
        assert!(is_setting(&error, "atol"), "{error:?}");
        let error = refused(hopper().atol([1e-9, value]));
        assert!(
            matches!(
                error,
                Error::BadSetting {
                    name: "atol",
                    entry: 1,
                    ..
                }
            ),
            "{error:?}"
        );
    }
}

#[test]
fn tolerances_that_are_both_zero() {
    let error = refused(hopper().rtol(0.0).atol(0.0));
    assert!(is_setting(&error, "tol"), "{error:?}");
    let error = refused(
        hopper()
            .rtol([1e-6, 0.0])
            .atol(PerEntry::Each(vec![0.0, 0.0])),
    );
    assert!(
        matches!(error, Error::BadSetting { entry: 1, .. }),
        "{error:?}"
    );
    // One of the two is enough.
    let run = hopper()
        .rtol(0.0)
        .atol(1e-9)
        .integrate(0.0, &[2.0, 0.0], 0.4);
    assert_eq!(*run.unwrap().status(), Status::ReachedEnd);
}

#[test]
fn steps_that_are_not_positive() {
    for step in [0.0, -0.1, f64::NAN] {
        assert!(is_setting(
            &refused(hopper().fixed_step(step)),
            "fixed_step"
        ));
        assert!(is_setting(
            &refused(hopper().first_step(step)),
            "first_step"
        ));
        assert!(is_setting(&refused(hopper().max_step(step)), "max_step"));
    }
}

#[test]
fn a_corner_tolerance_that_is_negative_or_not_finite() {
    for tolerance in [-1e-9, f64::NAN, f64::INFINITY] {
        assert!(is_setting(
            &refused(hopper().corner_tolerance(tolerance)),
            "corner_tolerance"
        ));
    }
}

#[test]
fn a_matrix_that_rearms_a_guard_by_itself() {
    let guard = Guard::falling(0);
    let error = RearmMatrix::new(1).arm(guard, guard).unwrap_err();
    assert_eq!(error, Error::SelfRearming { guard });
}

#[test]
fn a_matrix_for_a_guard_that_does_not_exist() {
    let error = RearmMatrix::new(1)
        .arm(Guard::rising(0), Guard::rising(1))
        .unwrap_err();
    let guard = Guard::rising(1);
    assert_eq!(error, Error::NoSuchGuard { guard, count: 1 });
}

#[test]
fn a_time_outside_the_trajectory() {
    let trajectory = hopper().integrate(0.5, &[2.0, 0.0], 2.0).unwrap();
    for t in [0.4, 2.1, f64::NAN, f64::INFINITY] {
        let error = trajectory.at(t).unwrap_err();
        let (start, end) = (0.5, 2.0);
        assert!(
            same(&error, &Error::OutsideTrajectory { t, start, end }),
            "{error:?}"
        );
    }
}

/// The first thing that was not finite, after checking that the run up to there was kept: `x = t` until then.
fn kept(trajectory: &Trajectory, bad_from: f64) -> (Quantity, f64, Vec<f64>) {
    let Status::Refused(Error::NotFinite { quantity, t, state }) = trajectory.status() else {
        panic!("{:?}", trajectory.status());
    };
    assert!(
        trajectory.time() <= bad_from + 1e-9,
        "ended at {}",
        trajectory.time()
    );
    assert!(state.iter().all(|v| v.is_finite()));
    for i in 0..=10 {
        let t = trajectory.time() * (f64::from(i) / 10.0);
        assert!((trajectory.at(t).unwrap()[0] - t).abs() < 1e-9);
    }
    (*quantity, *t, state.clone())
}

#[test]
fn a_flow_that_is_not_finite_on_the_way() {
    for value in NOT_FINITE {
        for projection in [
            Projection::Auto,
            Projection::Off,
            Projection::horizon(1e-3, 3),
        ] {
            let flow = flow_fn(2, move |t, _, _, dx| {
                dx[0] = 1.0;
                dx[1] = if t > 0.5 { value } else { t.cos() };
            });
            let system = flow.with_events(1, |_, _, x| x[0] - 0.25);
            let trajectory = run(system, 1e-9, projection, &[0.0, 0.0], 1.0);
            let (quantity, t, state) = kept(&trajectory, 0.5);
            assert_eq!(quantity, Quantity::Flow { component: 1 });
            assert!((0.25..=1.0).contains(&t) && state.len() == 2);
            assert_eq!(trajectory.crossings().len(), 1, "what came before is kept");
            assert!(trajectory.time() >= 0.25);
        }
    }
}

#[test]
fn a_flow_that_is_not_finite_at_the_start() {
    let flow = flow_fn(1, |_, _, _, dx| dx[0] = f64::NAN);
    let trajectory = run(flow, 1e-9, Projection::Auto, &[0.0], 1.0);
    let (quantity, t, state) = kept(&trajectory, 0.0);
    assert_eq!(
        (quantity, t, state),
        (Quantity::Flow { component: 0 }, 0.0, vec![0.0])
    );
}

#[test]
fn a_flow_that_is_not_finite_in_the_mode_after_a_crossing() {
    for projection in [Projection::Auto, Projection::Off] {
        let flow = flow_fn(1, |_, _, mode, dx| {
            dx[0] = if mode.contains(0) { f64::NAN } else { 1.0 }
        });
        let system = flow.with_events(1, |_, _, x| x[0] - 0.25);
        let trajectory = run(system, 1e-9, projection, &[0.0], 1.0);
        let (quantity, t, state) = kept(&trajectory, 0.25);
        assert_eq!(quantity, Quantity::Flow { component: 0 });
        assert!((t - 0.25).abs() < 1e-9 && (state[0] - 0.25).abs() < 1e-9);
        assert!((trajectory.time() - 0.25).abs() < 1e-9);
    }
}

#[test]
fn an_event_function_that_is_not_finite_on_the_way() {
    for value in NOT_FINITE {
        for projection in [Projection::Auto, Projection::Off, Projection::eps(1e-3, 3)] {
            let flow = flow_fn(1, |_, _, _, dx| dx[0] = 1.0);
            let event = move |k, t, x: &[f64]| {
                if k == 1 && t > 0.5 {
                    value
                } else {
                    x[0] - 0.25 - 3.0 * k as f64
                }
            };
            let trajectory = run(
                flow.with_events(2, event),
                1e-9,
                projection.clone(),
                &[0.0],
                1.0,
            );
            let (quantity, t, _) = kept(&trajectory, 0.5);
            // A difference that straddles the end of what is defined is noticed as the gradient.
            let named = [
                Quantity::Event { event: 1 },
                Quantity::Gradient { event: 1 },
            ];
            assert!(named.contains(&quantity), "{projection:?}: {quantity:?}");
            assert!((0.25..=1.0).contains(&t));
        }
    }
}

#[test]
fn an_event_function_that_is_not_finite_at_the_start() {
    let flow = flow_fn(1, |_, _, _, dx| dx[0] = 1.0);
    let trajectory = run(
        flow.with_events(1, |_, _, _| f64::NAN),
        1e-9,
        Projection::Auto,
        &[0.0],
        1.0,
    );
    let (quantity, t, _) = kept(&trajectory, 0.0);
    assert_eq!((quantity, t), (Quantity::Event { event: 0 }, 0.0));
}

#[test]
fn a_gradient_that_is_not_finite_on_the_way() {
    for value in NOT_FINITE {
        for projection in [
            Projection::Auto,
            Projection::Off,
            Projection::eps(0.125, 3),
            Projection::horizon(0.125, 4),
        ] {
            let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
                .events([Watch::BOTH], |_, _, x, _| x[0] - 0.5)
                .gradient(move |_, t, _, _, dh| {
                    dh[0] = if t > 0.25 { value } else { 1.0 };
                    Some(0.0)
                });
            let trajectory = run(system, 1e-9, projection.clone(), &[0.0], 1.0);
            let (quantity, t, _) = kept(&trajectory, 0.5);
            assert_eq!(quantity, Quantity::Gradient { event: 0 }, "{projection:?}");
            assert!((0.25..=1.0).contains(&t), "{projection:?}: {t}");
            assert!(trajectory.crossings().is_empty());
        }
    }
}

#[test]
fn a_solution_that_blows_up() {
    // x = 1 / (1 − t).
    let flow = flow_fn(1, |_, x, _, dx| dx[0] = x[0] * x[0]);
    for count in [0, 1] {
        let system = flow.with_events(count, |_, _, x| x[0] + 1.0);
        let trajectory = run(system, 1e-6, Projection::Auto, &[1.0], 2.0);
        let Status::Refused(
            Error::StepTooSmall { t, state, .. } | Error::NotFinite { t, state, .. },
        ) = trajectory.status()
        else {
            panic!("{:?}", trajectory.status());
        };
        assert!((t - 1.0).abs() < 1e-4 && state[0] > 1e4, "{t} {state:?}");
        assert!((trajectory.at(0.5).unwrap()[0] - 2.0).abs() < 1e-4);
        assert!(trajectory.statistics().steps < 10_000);
    }
}

#[test]
fn a_solution_that_ends_in_a_root() {
    // x = sqrt(1 − 2t), and no real number beyond t = 0.5.
    let flow = flow_fn(1, |_, x, _, dx| dx[0] = -1.0 / x[0].sqrt().powi(2));
    let trajectory = run(flow, 1e-6, Projection::Auto, &[1.0], 2.0);
    let Status::Refused(Error::StepTooSmall { t, .. } | Error::NotFinite { t, .. }) =
        trajectory.status()
    else {
        panic!("{:?}", trajectory.status());
    };
    assert!((t - 0.5).abs() < 1e-4, "{t}");
    assert!((trajectory.at(0.375).unwrap()[0] - 0.5).abs() < 1e-4);
}

#[test]
fn fixed_steps_over_a_blow_up_end_in_a_typed_error() {
    let flow = flow_fn(1, |_, x, _, dx| dx[0] = x[0] * x[0]);
    let trajectory = Integrator::new(flow)
        .unwrap()
        .fixed_step(0.01)
        .integrate(0.0, &[1.0], 2.0)
        .unwrap();
    assert!(
        matches!(
            trajectory.status(),
            Status::Refused(Error::StepTooSmall { .. } | Error::NotFinite { .. })
        ),
        "{:?}",
        trajectory.status()
    );
    assert!((trajectory.at(0.5).unwrap()[0] - 2.0).abs() < 1e-3);
}

fn swing() -> Sketch {
    let circle = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -x[0]]));
    circle.events([Watch::BOTH], |_, _, x, _| x[0])
}

#[test]
fn too_many_events() {
    for limit in [0, 1, 6] {
        let mut integrator = Integrator::new(swing()).unwrap().max_events(limit);
        let trajectory = integrator.integrate(0.0, &[1.0, 0.0], 100.0).unwrap();
        let Status::Refused(Error::TooManyEvents {
            limit: named,
            guard,
            t,
            state,
        }) = trajectory.status()
        else {
            panic!("{:?}", trajectory.status());
        };
        assert!(*named == limit && guard.event == 0 && state.len() == 2);
        assert_eq!(trajectory.crossings().len(), limit);
        // The one too many is on the guard too.
        assert!(state[0].abs() < 1e-9 && (t - trajectory.time()).abs() < 1e-12);
    }
    let exactly = Integrator::new(swing())
        .unwrap()
        .max_events(3)
        .integrate(0.0, &[1.0, 0.0], 9.0)
        .unwrap();
    assert_eq!(
        (exactly.status(), exactly.crossings().len()),
        (&Status::ReachedEnd, 3)
    );
}

#[test]
fn too_many_steps() {
    let mut integrator = Integrator::new(swing()).unwrap().max_steps(25);
    let trajectory = integrator.integrate(0.0, &[1.0, 0.0], 1000.0).unwrap();
    assert!(matches!(
        trajectory.status(),
        Status::Refused(Error::TooManySteps { limit: 25, .. })
    ));
    let statistics = trajectory.statistics();
    assert_eq!(statistics.steps + statistics.rejections, 25);
    let t = 0.5 * trajectory.time();
    assert!(t > 0.0 && (trajectory.at(t).unwrap()[0] - t.cos()).abs() < 1e-3);
}

#[test]
fn an_integrator_goes_on_after_a_refused_run() {
    let drop = falling(9.81).events([Watch::BOTH], |_, _, x, _| x[0]);
    let mut integrator = Integrator::new(drop).unwrap().max_steps(1000);
    assert!(integrator.integrate(0.0, &[f64::NAN, 0.0], 1.0).is_err());
    let tangent = integrator.integrate(0.0, &[0.0, 0.0], 1.0).unwrap();
    assert!(matches!(
        tangent.status(),
        Status::Refused(Error::Tangent { .. })
    ));
    let good = integrator.integrate(0.0, &[1.0, 0.0], 1.0).unwrap();
    assert_eq!(
        (good.status(), good.crossings().len()),
        (&Status::ReachedEnd, 1)
    );
}

#[test]
fn errors_say_what_is_wrong_in_words() {
    let error = hopper().integrate(1.0, &[2.0, 0.0], 0.5).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the final time 0.5 lies before the start 1; integrate forward in time"
    );
    let error: Box<dyn std::error::Error + Send + Sync> = Box::new(refused(hopper().rtol(-1.0)));
    assert_eq!(error.to_string(), "rtol = -1 (entry 0): must be ≥ 0");
}
