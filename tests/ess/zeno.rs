//! Accumulations of crossings, and rest after them.

use saltation::{At, Guard, Integrator, Projection, Start, Status, Stop};

use crate::fixtures::support::{SplitMix64, run};
use crate::resets::{G, ball, ball_over, bounces};

#[test]
fn a_zeno_ball_ends_in_the_typed_status_near_the_accumulation() {
    for e in [0.5, 0.9] {
        let t1 = (2.0 / G).sqrt();
        let accumulation = t1 * (1.0 + e) / (1.0 - e);
        for projection in [Projection::Auto, Projection::Off] {
            let trajectory = run(
                ball(e),
                1e-9,
                projection.clone(),
                &[1.0, 0.0],
                2.0 * accumulation,
            );
            let what = format!("e = {e}, {projection:?}");
            let Status::Refused(reason) = trajectory.status() else {
                panic!("{what}: {:?} at {}", trajectory.status(), trajectory.t());
            };
            assert!(
                matches!(
                    reason,
                    Stop::TooManyEvents { .. } | Stop::NotLive { .. } | Stop::NoProgress { .. }
                ),
                "{what}: {reason:?}"
            );
            // Speeds fall from 4.43 m/s to the least rate, a millionth of that, in ln(1e6) / ln(1 /
            // e) bounces.
            let last = 1e6f64.ln() / (1.0 / e).ln();
            let crossings = trajectory.crossings().len() as f64;
            assert!(
                (last - 2.0..last + 2.0).contains(&crossings),
                "{what}: {crossings} of {last}"
            );
            // What is left then: flights of 2 v / g, v ≤ 4.43e-6 / e, e times shorter each.
            let left = 2.0 * 4.43e-6 / e / G / (1.0 - e);
            let away = trajectory.t() - accumulation;
            assert!(
                away.abs() < left + 1e-7,
                "{what}: ends {away:e} s from the accumulation"
            );
            let exact = bounces(1.0, e, 0.9 * accumulation);
            for (crossing, (time, _)) in trajectory.crossings().iter().zip(&exact) {
                assert!((crossing.t - time).abs() < 1e-7, "{what}");
            }
            assert!(
                trajectory.state_at(0.5 * accumulation).is_ok()
                    && trajectory.state()[0].abs() < 1e-6
            );
        }
    }
}

#[test]
fn a_zeno_ball_never_falls_through_its_floor() {
    let mut random = SplitMix64(5);
    for floor in [0.0, 1.0, -37.0] {
        for projection in [Projection::Auto, Projection::Off] {
            for _ in 0..30 {
                let (e, height) = (random.between(0.3, 0.8), random.between(0.1, 3.0));
                let accumulation = (2.0 * height / G).sqrt() * (1.0 + e) / (1.0 - e);
                let end = accumulation * random.between(1.1, 4.0);
                let what =
                    format!("floor {floor}, e = {e}, from {height} until {end}, {projection:?}");
                let trajectory = run(
                    ball_over(floor, e),
                    1e-9,
                    projection.clone(),
                    &[floor + height, 0.0],
                    end,
                );
                let Status::Refused(reason) = trajectory.status() else {
                    panic!("{what}: {} at {}", trajectory.state(), trajectory.t());
                };
                assert!(
                    matches!(
                        reason,
                        Stop::TooManyEvents { .. } | Stop::NotLive { .. } | Stop::NoProgress { .. }
                    ),
                    "{what}: {reason:?}"
                );
                // From 7.7 m/s to 1e-6 m/s in at most ln(7.7e6) / ln(1 / 0.8) bounces.
                assert!(trajectory.crossings().len() <= 72, "{what}");
                // A floor at ±y is known to y · 2e-16 m, at 1e-4 m/s and gravity g to 1e-10 s of
                // 1e-5: until there the ball has to bounce.
                let left = 2.0 * 1e-4 / e / G / (1.0 - e);
                let away = trajectory.t() - accumulation;
                assert!(away.abs() < left, "{what}: {away:e} s away, {reason:?}");
                let deepest = trajectory.states().row(0).min() - floor;
                assert!(deepest > -1e-9, "{what}: {deepest:e}");
            }
        }
    }
}

#[test]
fn a_ball_that_stays_where_it_lands_is_refused_as_not_live() {
    // No rebound at all, or one slower than the least rate: resting, which is no event-selected
    // system.
    for e in [0.0, 1e-7] {
        for floor in [0.0, 1.0] {
            for projection in [
                Projection::Auto,
                Projection::Off,
                Projection::horizon(1e-3, 4),
            ] {
                let trajectory = run(
                    ball_over(floor, e),
                    1e-9,
                    projection.clone(),
                    &[floor + 1.0, 0.0],
                    2.0,
                );
                let what = format!("e = {e}, floor {floor}, {projection:?}");
                let Status::Refused(Stop::NotLive { guard, at, .. }) = trajectory.status() else {
                    panic!("{what}: {:?} {}", trajectory.status(), trajectory.state());
                };
                let At { t, .. } = at.as_ref();
                assert_eq!(*guard, Guard::falling(0), "{what}");
                let (late, off) = (t - (2.0 / G).sqrt(), trajectory.state()[0] - floor);
                // A landing that differences leave 1e-13 m above the floor falls again for 1.4e-7
                // s.
                assert!(
                    late.abs() < 1.5e-7 && off.abs() < 1e-13,
                    "{what}: {late:e} s, {off:e} m"
                );
            }
        }
    }
}

#[test]
fn max_events_bounds_a_zeno_ball_too() {
    let trajectory = Integrator::new(ball(0.5))
        .unwrap()
        .max_events(7)
        .integrate(&Start::at(0.0).x(&[1.0, 0.0]), 10.0)
        .unwrap();
    let Status::Refused(Stop::TooManyEvents {
        limit: 7,
        guard,
        at,
        ..
    }) = trajectory.status()
    else {
        panic!("{:?}", trajectory.status());
    };
    let At { t, .. } = at.as_ref();
    assert_eq!(*guard, Guard::falling(0));
    assert_eq!(trajectory.crossings().len(), 7);
    let exact = bounces(1.0, 0.5, 10.0f64.min(*t + 1e-6));
    assert!((t - exact[exact.len() - 1].0).abs() < 1e-6);
}
