//! Functions that are not defined everywhere: holes between the samples of a step, and domains that
//! end beyond a guard.

use saltation::{
    At, EventFunction, Flow, Guard, Integrator, Projection, Quantity, Rearm, Run, Start, Status,
    Stop, Watch, flow_fn,
};

use crate::bad_input::NOT_FINITE;
use crate::fixtures::support::{Sketch, SplitMix64, run};

const PROJECTIONS: [Projection; 4] = [
    Projection::Auto,
    Projection::Off,
    Projection::horizon(1e-3, 4),
    Projection::horizon(1e-3, 1),
];

#[test]
fn a_hole_between_the_samples_of_a_step_is_typed() {
    for value in NOT_FINITE {
        for centre in [0.5, 0.45, 0.2, 0.9] {
            let hole = move |_: usize, _: f64, x: &[f64]| {
                let h = x[0] - centre;
                if h.abs() < 1e-3 { value } else { h }
            };
            let system = flow_fn(1, |_, _, _, dx| dx[0] = 1.0).with_events(1, hole);
            let mut made = Integrator::new(system)
                .unwrap()
                .projection(Projection::Off)
                .fixed_step(1.0);
            let by_one_step = made.integrate(&Start::at(0.0).x(&[0.0]), 1.0).unwrap();
            let adaptive = PROJECTIONS.map(|projection| run(system, 1e-9, projection, &[0.0], 1.0));
            for trajectory in adaptive.iter().chain([&by_one_step]) {
                let what = format!("{value} around {centre}");
                let Status::Refused(Stop::NotFinite { quantity, at }) = trajectory.status() else {
                    panic!("{what}: {:?}", trajectory.status());
                };
                let At { t, state, .. } = at.as_ref();
                let named = [
                    Quantity::Event { event: 0 },
                    Quantity::Gradient { event: 0 },
                ];
                assert!(named.contains(quantity), "{what}: {quantity:?}");
                assert!(
                    (t - centre).abs() < 1.1e-3 && (state[0] - t).abs() < 1e-9,
                    "{what}: {t}"
                );
                assert!(trajectory.t() <= centre + 1e-3, "{what}");
                assert!(trajectory.crossings().is_empty(), "{what}");
            }
        }
    }
}

/// It stops by its guard at `time`, where the state is 0.01. Over 1e-3 s the rate of the guard, 5 a
/// second, changes by 5 %: a projection of first order is early by half of that.
fn stops(trajectory: &Run, time: f64, what: &str) {
    let allowed = if what.contains("order: 1") {
        5e-5
    } else {
        1e-6
    };
    let guards = vec![Guard::rising(0)];
    assert_eq!(*trajectory.status(), Status::Stopped { guards }, "{what}");
    let (late, off) = (trajectory.t() - time, trajectory.state()[0] - 0.01);
    assert!(
        late.abs() < allowed && off.abs() < allowed,
        "{what}: {late:e} s late, {off:e} off"
    );
}

/// By every projection, until each of these times.
fn runs<S: Flow + EventFunction>(system: &S, ends: &[f64], then: impl Fn(&Run, f64, &str)) {
    for projection in PROJECTIONS {
        for &end in ends {
            let what = format!("{projection:?}, until {end}");
            let trajectory = run(system, 1e-8, projection.clone(), &[1.0], end);
            then(&trajectory, end, &what);
        }
    }
}

#[test]
fn a_guard_is_found_before_the_end_of_its_own_domain() {
    // h = 0.1 − √x rises through zero at x = 0.01; no step may end below 0.
    let walk = Sketch::new(1, |_, _, _, dx| dx[0] = -1.0)
        .events([Watch::BOTH.and_stop()], |_, _, x, _| 0.1 - x[0].sqrt());
    runs(&walk, &[0.5, 0.9, 0.95, 0.985], |trajectory, end, what| {
        assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
        assert!(trajectory.crossings().is_empty(), "{what}");
        assert!(
            (trajectory.state()[0] - (1.0 - end)).abs() < 1e-12,
            "{what}"
        );
    });
    runs(
        &walk,
        &[0.995, 1.0, 1.2, 1.5, 10.0, 1e4],
        |trajectory, _, what| {
            stops(trajectory, 0.99, what);
        },
    );
}

#[test]
fn a_guard_is_found_before_the_end_of_the_domain_of_the_flow() {
    // x' = −1 − √x: with u = √x a time of 2 (u − ln(1 + u)) to 0.
    let fall = Sketch::new(1, |_, x, _, dx| dx[0] = -1.0 - x[0].sqrt())
        .events([Watch::BOTH.and_stop()], |_, _, x, _| 0.01 - x[0]);
    let left = |u: f64| 2.0 * (u - u.ln_1p());
    let time = left(1.0) - left(0.1);
    runs(&fall, &[0.7, 1.0, 1.5, 10.0, 1e4], |trajectory, _, what| {
        stops(trajectory, time, what);
    });
}

#[test]
fn a_guard_is_found_before_a_flow_ends_without_a_sign() {
    // Nothing tells before x = 0 that the flow ends there: long steps try it.
    for value in NOT_FINITE {
        let fall = Sketch::new(1, move |_, x, _, dx| {
            dx[0] = if x[0] < 0.0 { value } else { -1.0 }
        })
        .events([Watch::BOTH.and_stop()], |_, _, x, _| 0.01 - x[0]);
        runs(&fall, &[1.0, 1.5, 10.0, 1e4], |trajectory, _, what| {
            stops(trajectory, 0.99, what);
        });
    }
}

#[test]
fn a_step_that_ends_beyond_the_domain_of_a_far_guard_is_made_shorter() {
    // The second guard is defined below x = 0.5 only, where the run is turned round.
    for projection in PROJECTIONS {
        let there_and_back = Sketch::new(1, |_, _, mode, dx| {
            dx[0] = if mode.contains(0) { -1.0 } else { 1.0 };
        })
        .events([Watch::RISING, Watch::BOTH], |k, _, x, _| {
            if k == 0 {
                x[0] - 0.4
            } else {
                (0.5 - x[0]).sqrt() - 5.0
            }
        });
        let trajectory = Integrator::new(there_and_back)
            .unwrap()
            .projection(projection.clone())
            .rearm(Rearm::Never)
            .integrate(&Start::at(0.0).x(&[0.0]), 5.0)
            .unwrap();
        assert_eq!(*trajectory.status(), Status::ReachedEnd, "{projection:?}");
        assert_eq!(trajectory.crossings().len(), 1, "{projection:?}");
        assert!((trajectory.crossings()[0].t - 0.4).abs() < 1e-9);
        assert!((trajectory.state()[0] + 4.2).abs() < 1e-9, "{projection:?}");
    }
}

/// A swing that comes to the end of its domain so slowly that time goes on by thousands of shortest steps before its
/// state moves by a last bit; the other component always moves.
#[test]
fn a_domain_that_ends_where_a_motion_turns_is_typed() {
    let mut found = [0; 2];
    for seed in 0..2000 {
        let mut draw = SplitMix64(seed);
        let k = 10f64.powf(draw.between(-8.0, -5.0));
        let (rtol, start) = (
            10f64.powf(draw.between(-10.0, -4.0)),
            draw.between(0.0, 3.0),
        );
        let of_guard = seed % 2 == 0;
        let at = move |x: &[f64], ends: bool, inside: f64| {
            if x[0] > 1.0 - k && ends {
                f64::NAN
            } else {
                inside
            }
        };
        let swing = Sketch::new(2, move |_, x, _, dx| {
            dx.copy_from_slice(&[x[1], at(x, !of_guard, -x[0])]);
        });
        let system = swing.events([Watch::BOTH], move |_, _, x, _| at(x, of_guard, x[1] + 2.0));
        let mut integrator = Integrator::new(&system).unwrap().rtol(rtol).atol(rtol);
        integrator = integrator.max_steps(5000);
        let start = Start::at(start).x(&[0.0, 1.0]);
        let run = integrator.integrate(&start, 10.0).unwrap();
        // No step may have a stage there.
        if *run.status() == Status::ReachedEnd {
            continue;
        }
        found[usize::from(of_guard)] += 1;
        let is_typed = matches!(run.status(), Status::Refused(Stop::NotFinite { .. }));
        assert!(is_typed, "{seed}: {}", run.status());
        assert!(run.state()[0] > 1.0 - 2.0 * k, "{seed}: {}", run.state());
    }
    assert!(found[0] > 100 && found[1] > 15, "{found:?}");
}
