//! Bad input: each ends in its own typed error, before the run.

use std::fmt::Debug;

use saltation::models::{Affine, Hopper};
use saltation::{
    EventFunction, Flow, Guard, InputError, Integrator, Mode, PerEntry, Projection, RearmMatrix,
    Start, Status, flow_fn,
};

use crate::fixtures::support::run;

fn hopper() -> Integrator<Hopper> {
    Integrator::new(Hopper::default()).unwrap()
}

/// What a run of the hopper from (2, 0) over 2 s refuses.
fn refused(mut integrator: Integrator<Hopper>) -> InputError {
    integrator
        .integrate(&Start::at(0.0).x(&[2.0, 0.0]), 2.0)
        .expect_err("refused")
}

fn is_setting(error: &InputError, setting: &str) -> bool {
    matches!(error, InputError::BadSetting { name, .. } if name.contains(setting))
}

/// NaN cannot be compared, so the texts are.
fn same(a: &impl Debug, b: &impl Debug) -> bool {
    format!("{a:?}") == format!("{b:?}")
}

pub(crate) const NOT_FINITE: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

#[test]
fn a_start_time_that_is_not_finite() {
    for value in NOT_FINITE {
        let error = hopper()
            .integrate(&Start::at(value).x(&[2.0, 0.0]), 2.0)
            .unwrap_err();
        assert!(
            same(
                &error,
                &InputError::NotFinite {
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
        let error = hopper()
            .integrate(&Start::at(0.0).x(&[2.0, 0.0]), value)
            .unwrap_err();
        assert!(
            same(
                &error,
                &InputError::NotFinite {
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
            let error = hopper()
                .integrate(&Start::at(0.0).x(&start), 2.0)
                .unwrap_err();
            assert!(
                same(
                    &error,
                    &InputError::NotFinite {
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
    let error = hopper()
        .integrate(&Start::at(1.0).x(&[2.0, 0.0]), 0.5)
        .unwrap_err();
    assert_eq!(error, InputError::TimeReversed { t0: 1.0, tf: 0.5 });
}

#[test]
fn a_final_time_at_the_start_gives_the_start() {
    let trajectory = hopper()
        .integrate(&Start::at(1.0).x(&[2.0, 0.5]), 1.0)
        .unwrap();
    assert_eq!(*trajectory.status(), Status::ReachedEnd);
    assert_eq!(
        (trajectory.t(), trajectory.state().as_slice()),
        (1.0, &[2.0, 0.5][..])
    );
    assert_eq!(trajectory.state_at(1.0).unwrap().as_slice(), [2.0, 0.5]);
}

#[test]
fn a_start_of_the_wrong_length() {
    for start in [&[2.0][..], &[2.0, 0.0, 0.0], &[]] {
        let error = hopper()
            .integrate(&Start::at(0.0).x(start), 2.0)
            .unwrap_err();
        let found = start.len();
        assert_eq!(
            error,
            InputError::WrongLength {
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
        InputError::WrongLength {
            name: "atol",
            expected: 2,
            found: 3
        }
    );
    let error = refused(hopper().rtol([1e-6]));
    assert_eq!(
        error,
        InputError::WrongLength {
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
            InputError::WrongLength {
                name: "eps",
                expected: 1,
                found
            }
        );
    }
}

#[test]
fn a_start_mode_of_the_wrong_length() {
    let mode = Mode::new(2);
    let error = hopper()
        .integrate(&Start::at(0.0).x(&[2.0, 0.0]).mode(&mode), 2.0)
        .expect_err("refused");
    assert!(
        matches!(
            error,
            InputError::WrongLength {
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
            InputError::WrongLength {
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
        Err(InputError::EmptySystem)
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
        let middle = trajectory.state_at(4.0).unwrap();
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
    let error = affine
        .integrate(&Start::at(0.0).x(&[-0.4, -0.15, 0.3]), 0.5)
        .unwrap_err();
    assert!(
        matches!(
            error,
            InputError::BadSetting {
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
                InputError::BadSetting {
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
        matches!(error, InputError::BadSetting { entry: 1, .. }),
        "{error:?}"
    );
    // One of the two is enough.
    let run = hopper()
        .rtol(0.0)
        .atol(1e-9)
        .integrate(&Start::at(0.0).x(&[2.0, 0.0]), 0.4);
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
        assert!(is_setting(
            &refused(hopper().time_scale(step)),
            "time_scale"
        ));
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

/// `x' = 1` with two guards, of which the second has this least rate and this noise.
struct Odd {
    min_rate: f64,
    noise: f64,
    together: f64,
}

impl Flow for Odd {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, _: f64, _: &[f64], _: &Mode, dx: &mut [f64]) {
        dx[0] = 1.0;
    }
}

impl EventFunction for Odd {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _: f64, x: &[f64], _: &Mode) -> f64 {
        x[0] - 0.25 - 0.5 * k as f64
    }
    fn min_rate(&self, k: usize) -> Option<f64> {
        [None, Some(self.min_rate)][k]
    }
    fn event_tolerance(&self, k: usize) -> f64 {
        [0.0, self.noise][k]
    }
    fn crosses_within(&self, k: usize) -> f64 {
        [0.0, self.together][k]
    }
}

#[test]
fn least_rates_and_noises_that_make_no_sense() {
    let run = |min_rate: f64, noise: f64, together: f64| {
        let odd = Odd {
            min_rate,
            noise,
            together,
        };
        let mut integrator = Integrator::new(odd).unwrap();
        integrator.integrate(&Start::at(0.0).x(&[0.0]), 1.0)
    };
    for value in [f64::NAN, 0.0, -1.0, f64::INFINITY] {
        let error = run(value, 0.0, 0.0).expect_err("refused");
        assert!(is_setting(&error, "min_rate"), "{error:?}");
        assert!(matches!(error, InputError::BadSetting { entry: 1, .. }));
    }
    for value in [f64::NAN, -1.0, f64::INFINITY] {
        let error = run(1e-6, value, 0.0).expect_err("refused");
        assert!(is_setting(&error, "event_tolerance"), "{error:?}");
        assert!(matches!(error, InputError::BadSetting { entry: 1, .. }));
        let error = run(1e-6, 0.0, value).expect_err("refused");
        assert!(is_setting(&error, "crosses_within"), "{error:?}");
        assert!(matches!(error, InputError::BadSetting { entry: 1, .. }));
    }
    assert_eq!(run(0.5, 1e-9, 1e-9).unwrap().crossings().len(), 2);
}

#[test]
fn a_matrix_that_rearms_a_guard_by_itself() {
    let guard = Guard::falling(0);
    let error = RearmMatrix::new(1).arm(guard, guard).unwrap_err();
    assert_eq!(
        error,
        InputError::SelfRearming {
            event: 0,
            direction: "falling"
        }
    );
}

#[test]
fn a_matrix_for_a_guard_that_does_not_exist() {
    let error = RearmMatrix::new(1)
        .arm(Guard::rising(0), Guard::rising(1))
        .unwrap_err();
    assert_eq!(
        error,
        InputError::NoSuch {
            what: "event function",
            index: 1,
            count: 1
        }
    );
}

#[test]
fn a_time_outside_the_trajectory() {
    let trajectory = hopper()
        .integrate(&Start::at(0.5).x(&[2.0, 0.0]), 2.0)
        .unwrap();
    for t in [0.4, 2.1, f64::NAN, f64::INFINITY] {
        let error = trajectory.state_at(t).unwrap_err();
        let (start, end) = (0.5, 2.0);
        assert!(
            same(&error, &InputError::OutsideRun { t, start, end }),
            "{error:?}"
        );
    }
}

#[test]
fn errors_say_what_is_wrong_in_words() {
    let error = hopper()
        .integrate(&Start::at(1.0).x(&[2.0, 0.0]), 0.5)
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "the final time 0.5 lies before the start 1; integrate forward in time"
    );
    let error: Box<dyn std::error::Error + Send + Sync> = Box::new(refused(hopper().rtol(-1.0)));
    assert_eq!(error.to_string(), "rtol = -1: must be ≥ 0");
}
