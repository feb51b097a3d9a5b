//! Functions that misbehave on the way, and limits: each ends in its own typed error, and the run
//! keeps what it computed.

use saltation::{At, Integrator, Projection, Quantity, Run, Start, Status, Stop, Watch, flow_fn};

use crate::bad_input::NOT_FINITE;
use crate::fixtures::support::{Sketch, falling, run};

/// The first thing that was not finite, after checking that the run up to there was kept: `x = t`
/// until then.
fn kept(trajectory: &Run, bad_from: f64) -> (Quantity, f64, Vec<f64>) {
    let Status::Refused(Stop::NotFinite { quantity, at }) = trajectory.status() else {
        panic!("{:?}", trajectory.status());
    };
    let At { t, state, .. } = at.as_ref();
    assert!(
        trajectory.t() <= bad_from + 1e-9,
        "ended at {}",
        trajectory.t()
    );
    assert!(state.iter().all(|v| v.is_finite()));
    for i in 0..=10 {
        let t = trajectory.t() * (f64::from(i) / 10.0);
        assert!((trajectory.state_at(t).unwrap()[0] - t).abs() < 1e-9);
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
            assert!(trajectory.t() >= 0.25);
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
        assert!((trajectory.t() - 0.25).abs() < 1e-9);
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
        let Status::Refused(Stop::StepTooSmall { at, .. } | Stop::NotFinite { at, .. }) =
            trajectory.status()
        else {
            panic!("{:?}", trajectory.status());
        };
        let At { t, state, .. } = at.as_ref();
        assert!((t - 1.0).abs() < 1e-4 && state[0] > 1e4, "{t} {state:?}");
        assert!((trajectory.state_at(0.5).unwrap()[0] - 2.0).abs() < 1e-4);
        assert!(trajectory.statistics().steps < 10_000);
    }
}

#[test]
fn a_solution_that_ends_in_a_root() {
    // x = sqrt(1 − 2t), and no real number beyond t = 0.5.
    let flow = flow_fn(1, |_, x, _, dx| dx[0] = -1.0 / x[0].sqrt().powi(2));
    let trajectory = run(flow, 1e-6, Projection::Auto, &[1.0], 2.0);
    let Status::Refused(Stop::StepTooSmall { at, .. } | Stop::NotFinite { at, .. }) =
        trajectory.status()
    else {
        panic!("{:?}", trajectory.status());
    };
    let At { t, .. } = at.as_ref();
    assert!((t - 0.5).abs() < 1e-4, "{t}");
    assert!((trajectory.state_at(0.375).unwrap()[0] - 0.5).abs() < 1e-4);
}

#[test]
fn fixed_steps_over_a_blow_up_end_in_a_typed_error() {
    let flow = flow_fn(1, |_, x, _, dx| dx[0] = x[0] * x[0]);
    let trajectory = Integrator::new(flow)
        .unwrap()
        .fixed_step(0.01)
        .integrate(&Start::at(0.0).x(&[1.0]), 2.0)
        .unwrap();
    assert!(
        matches!(
            trajectory.status(),
            Status::Refused(Stop::StepTooSmall { .. } | Stop::NotFinite { .. })
        ),
        "{:?}",
        trajectory.status()
    );
    assert!((trajectory.state_at(0.5).unwrap()[0] - 2.0).abs() < 1e-3);
}

fn swing() -> Sketch {
    let circle = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -x[0]]));
    circle.events([Watch::BOTH], |_, _, x, _| x[0])
}

#[test]
fn too_many_events() {
    for limit in [0, 1, 6] {
        let mut integrator = Integrator::new(swing()).unwrap().max_events(limit);
        let trajectory = integrator
            .integrate(&Start::at(0.0).x(&[1.0, 0.0]), 100.0)
            .unwrap();
        let Status::Refused(Stop::TooManyEvents {
            limit: named,
            guard,
            at,
        }) = trajectory.status()
        else {
            panic!("{:?}", trajectory.status());
        };
        let At { t, state, .. } = at.as_ref();
        assert!(*named == limit && guard.event == 0 && state.len() == 2);
        assert_eq!(trajectory.crossings().len(), limit);
        // The one too many is on the guard too.
        assert!(state[0].abs() < 1e-9 && (t - trajectory.t()).abs() < 1e-12);
    }
    let exactly = Integrator::new(swing())
        .unwrap()
        .max_events(3)
        .integrate(&Start::at(0.0).x(&[1.0, 0.0]), 9.0)
        .unwrap();
    assert_eq!(
        (exactly.status(), exactly.crossings().len()),
        (&Status::ReachedEnd, 3)
    );
}

#[test]
fn too_many_steps() {
    let mut integrator = Integrator::new(swing()).unwrap().max_steps(25);
    let trajectory = integrator
        .integrate(&Start::at(0.0).x(&[1.0, 0.0]), 1000.0)
        .unwrap();
    assert!(matches!(
        trajectory.status(),
        Status::Refused(Stop::TooManySteps { limit: 25, .. })
    ));
    let statistics = trajectory.statistics();
    assert_eq!(statistics.steps + statistics.rejections, 25);
    let t = 0.5 * trajectory.t();
    assert!(t > 0.0 && (trajectory.state_at(t).unwrap()[0] - t.cos()).abs() < 1e-3);
}

#[test]
fn an_integrator_goes_on_after_a_refused_run() {
    let drop = falling(9.81).events([Watch::BOTH], |_, _, x, _| x[0]);
    let mut integrator = Integrator::new(drop).unwrap().max_steps(1000);
    assert!(
        integrator
            .integrate(&Start::at(0.0).x(&[f64::NAN, 0.0]), 1.0)
            .is_err()
    );
    let tangent = integrator
        .integrate(&Start::at(0.0).x(&[0.0, 0.0]), 1.0)
        .unwrap();
    assert!(matches!(
        tangent.status(),
        Status::Refused(Stop::Tangent { .. })
    ));
    let good = integrator
        .integrate(&Start::at(0.0).x(&[1.0, 0.0]), 1.0)
        .unwrap();
    assert_eq!(
        (good.status(), good.crossings().len()),
        (&Status::ReachedEnd, 1)
    );
}
