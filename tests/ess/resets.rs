//! What a crossing does beside flipping a side: resets, sets of guards, refusals by the model, stops, directions, guards that
//! move with time or change with the mode.

use std::cell::RefCell;
use std::f64::consts::{FRAC_PI_2, PI, TAU};
use std::rc::Rc;

use saltation::{
    Arrival, CrossedGuard, Direction, Error, EventFunction, Flow, Guard, Integrator, Projection,
    Rearm, Status, Trajectory, Watch,
};

use crate::support::{Sketch, SplitMix64, distance, falling, run};

const G: f64 = 9.81;

/// A ball dropped on the floor: one line of reset, nothing else.
fn ball(restitution: f64) -> Sketch {
    ball_over(0.0, restitution)
}

fn ball_over(floor: f64, restitution: f64) -> Sketch {
    falling(G)
        .events([Watch::FALLING], move |_, _, x, _| x[0] - floor)
        .reset(move |_, _, x, _| {
            x[1] *= -restitution;
            Ok(())
        })
}

/// Bounce times and the speeds just before them, dropped from `height`.
fn bounces(height: f64, restitution: f64, until: f64) -> Vec<(f64, f64)> {
    let mut bounce = ((2.0 * height / G).sqrt(), (2.0 * height * G).sqrt());
    let mut all = Vec::new();
    while bounce.0 <= until {
        all.push(bounce);
        let up = restitution * bounce.1;
        bounce = (bounce.0 + 2.0 * up / G, up);
    }
    all
}

fn height_and_speed(bounces: &[(f64, f64)], restitution: f64, height: f64, t: f64) -> [f64; 2] {
    match bounces.iter().rev().find(|bounce| bounce.0 <= t) {
        None => [height - 0.5 * G * t * t, -G * t],
        Some(&(at, speed)) => {
            let (p, up) = (t - at, restitution * speed);
            [up * p - 0.5 * G * p * p, up - G * p]
        }
    }
}

#[test]
fn a_bouncing_ball_follows_its_closed_form() {
    let (e, end) = (0.9, 3.0);
    let exact = bounces(1.0, e, end);
    assert_eq!(exact.len(), 4);
    for projection in [
        Projection::Auto,
        Projection::Off,
        Projection::eps(1e-3, 4),
        Projection::horizon(1e-3, 4),
    ] {
        let trajectory = run(ball(e), 1e-10, projection.clone(), &[1.0, 0.0], end);
        assert_eq!(*trajectory.status(), Status::ReachedEnd, "{projection:?}");
        let crossings = trajectory.crossings();
        assert_eq!(crossings.len(), exact.len(), "{projection:?}");
        for (crossing, &(time, speed)) in crossings.iter().zip(&exact) {
            assert_eq!(crossing.guard, Guard::falling(0));
            assert!(
                (crossing.time - time).abs() < 1e-9,
                "{projection:?}: bounce at {time}"
            );
            assert!(
                (crossing.rate_before + speed).abs() < 1e-8,
                "{projection:?}"
            );
            assert!(
                (crossing.rate_after - e * speed).abs() < 1e-8,
                "{projection:?}"
            );
            // Before the reset in the record; after it in the dense output.
            assert!((crossing.state[1] + speed).abs() < 1e-8, "{projection:?}");
            let after = trajectory.at(crossing.time).unwrap();
            assert!((after[1] - e * speed).abs() < 1e-8, "{projection:?}");
        }
        assert_eq!(trajectory.statistics().resets, exact.len());
        assert!(trajectory.mode().contains(0), "the ball is above the floor");
        for i in 0..=600 {
            let t = end * f64::from(i) / 600.0;
            if exact.iter().any(|bounce| (bounce.0 - t).abs() < 1e-8) {
                continue;
            }
            let error = distance(
                &trajectory.at(t).unwrap(),
                &height_and_speed(&exact, e, 1.0, t),
            );
            assert!(error < 1e-8, "{projection:?}: {error:e} at {t}");
        }
        // Node by node: two at each bounce, at the same time, before and after.
        let double = trajectory
            .times()
            .windows(2)
            .filter(|pair| pair[0].to_bits() == pair[1].to_bits());
        assert_eq!(double.count(), exact.len(), "{projection:?}");
    }
}

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
                panic!("{what}: {:?} at {}", trajectory.status(), trajectory.time());
            };
            assert!(
                matches!(
                    reason,
                    Error::TooManyEvents { .. } | Error::NotLive { .. } | Error::NoProgress { .. }
                ),
                "{what}: {reason:?}"
            );
            // Speeds fall from 4.43 m/s to the least rate of 1e-6 m/s in ln(4.43e6) / ln(1 / e) bounces.
            let last = 4.43e6f64.ln() / (1.0 / e).ln();
            let crossings = trajectory.crossings().len() as f64;
            assert!(
                (last - 2.0..last + 2.0).contains(&crossings),
                "{what}: {crossings} of {last}"
            );
            // What is left then: flights of 2 v / g, v ≤ 1e-6 / e, e times shorter each.
            let left = 2.0 * 1e-6 / e / G / (1.0 - e);
            let away = trajectory.time() - accumulation;
            assert!(
                away.abs() < left + 1e-7,
                "{what}: ends {away:e} s from the accumulation"
            );
            let exact = bounces(1.0, e, 0.9 * accumulation);
            for (crossing, (time, _)) in trajectory.crossings().iter().zip(&exact) {
                assert!((crossing.time - time).abs() < 1e-7, "{what}");
            }
            assert!(
                trajectory.at(0.5 * accumulation).is_ok() && trajectory.state()[0].abs() < 1e-6
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
                    panic!("{what}: {} at {}", trajectory.state(), trajectory.time());
                };
                assert!(
                    matches!(
                        reason,
                        Error::TooManyEvents { .. }
                            | Error::NotLive { .. }
                            | Error::NoProgress { .. }
                    ),
                    "{what}: {reason:?}"
                );
                // From 7.7 m/s to 1e-6 m/s in at most ln(7.7e6) / ln(1 / 0.8) bounces.
                assert!(trajectory.crossings().len() <= 72, "{what}");
                // A floor at ±y is known to y · 2e-16 m, at 1e-4 m/s and gravity g to 1e-10 s of 1e-5: until there the ball
                // has to bounce.
                let left = 2.0 * 1e-4 / e / G / (1.0 - e);
                let away = trajectory.time() - accumulation;
                assert!(away.abs() < left, "{what}: {away:e} s away, {reason:?}");
                let deepest = trajectory.states().row(0).min() - floor;
                assert!(deepest > -1e-9, "{what}: {deepest:e}");
            }
        }
    }
}

#[test]
fn a_ball_that_stays_where_it_lands_is_refused_as_not_live() {
    // No rebound at all, or one slower than the least rate: resting, which is no event-selected system.
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
                let Status::Refused(Error::NotLive { guard, t, .. }) = trajectory.status() else {
                    panic!("{what}: {:?} {}", trajectory.status(), trajectory.state());
                };
                assert_eq!(*guard, Guard::falling(0), "{what}");
                let (late, off) = (t - (2.0 / G).sqrt(), trajectory.state()[0] - floor);
                // A landing that differences leave 1e-13 m above the floor falls again for 1.4e-7 s.
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
        .integrate(0.0, &[1.0, 0.0], 10.0)
        .unwrap();
    let Status::Refused(Error::TooManyEvents {
        limit: 7, guard, t, ..
    }) = trajectory.status()
    else {
        panic!("{:?}", trajectory.status());
    };
    assert_eq!(*guard, Guard::falling(0));
    assert_eq!(trajectory.crossings().len(), 7);
    let exact = bounces(1.0, 0.5, 10.0f64.min(*t + 1e-6));
    assert!((t - exact[exact.len() - 1].0).abs() < 1e-6);
}

type Calls = Rc<RefCell<Vec<(f64, Vec<CrossedGuard>)>>>;

#[test]
fn four_feet_that_hit_together_are_one_call_with_all_four() {
    // Heights of the feet in m, mm, km and some odd unit; a fifth stays in the air.
    let units = [1.0, 1e3, 1e-3, 3.7];
    let eps = |order| Projection::eps([1e-4, 1e-1, 1e-7, 3.7e-4, 1e-4], order);
    for projection in [
        Projection::Auto,
        Projection::Off,
        eps(3),
        eps(4),
        Projection::horizon(1e-3, 4),
    ] {
        let calls = Calls::default();
        let log = Rc::clone(&calls);
        let table = falling(G)
            .events([Watch::FALLING; 5], move |k, _, x, _| {
                units.get(k).map_or(x[0] + 1.0, |unit| unit * x[0])
            })
            .reset(move |t, crossed, x, mode| {
                assert!(
                    (0..4).all(|k| !mode.contains(k)),
                    "side bits are flipped before the call"
                );
                log.borrow_mut().push((t, crossed.guards().to_vec()));
                x[1] *= -0.5;
                Ok(())
            });
        let end = 1.0;
        let exact = bounces(1.0, 0.5, end);
        assert_eq!(exact.len(), 2);
        let trajectory = run(table, 1e-10, projection.clone(), &[1.0, 0.0], end);
        assert_eq!(*trajectory.status(), Status::ReachedEnd, "{projection:?}");
        let calls = calls.borrow();
        assert_eq!(calls.len(), 2, "{projection:?}: one call a landing");
        for ((t, set), &(time, speed)) in calls.iter().zip(&exact) {
            assert!((t - time).abs() < 1e-9);
            let guards: Vec<Guard> = set.iter().map(|c| c.guard).collect();
            assert_eq!(guards, [0, 1, 2, 3].map(Guard::falling), "{projection:?}");
            for (c, unit) in set.iter().zip(units) {
                assert!(
                    (c.rate / unit + speed).abs() < 1e-8,
                    "{projection:?}: rate of {}",
                    c.guard
                );
            }
        }
        assert_eq!(trajectory.crossings().len(), 8);
        assert_eq!(trajectory.corners().len(), 2);
        let error = distance(trajectory.state(), &height_and_speed(&exact, 0.5, 1.0, end));
        assert!(error < 1e-8, "{projection:?}: {error:e}");
    }
}

#[test]
fn a_reset_that_carries_another_guard_across_makes_it_fire_at_the_same_instant() {
    // At x = 0.5 the speed is doubled to 2, across the guard "speed 1.5"; whose own reset counts in the third state.
    let kick = || {
        Sketch::new(3, |_, x, _, dx| {
            dx[0] = x[1];
            dx[1] = 0.0;
            dx[2] = 0.0;
        })
        .events([Watch::RISING, Watch::RISING], |k, _, x, _| {
            if k == 0 { x[0] - 0.5 } else { x[1] - 1.5 }
        })
        .reset(|_, crossed, x, _| {
            if crossed.contains(0) {
                assert!(!crossed.contains(1), "the speed is not yet across");
                x[1] = 2.0;
            }
            if crossed.contains(1) {
                x[2] += 1.0;
            }
            Ok(())
        })
    };
    for projection in [Projection::Auto, Projection::Off] {
        let trajectory = run(kick(), 1e-9, projection.clone(), &[0.0, 1.0, 0.0], 1.0);
        assert_eq!(*trajectory.status(), Status::ReachedEnd, "{projection:?}");
        let [first, second] = trajectory.crossings() else {
            panic!("{projection:?}: {:?}", trajectory.crossings());
        };
        assert_eq!(
            (first.guard, second.guard),
            (Guard::rising(0), Guard::rising(1))
        );
        assert_ne!(first.arrival, Arrival::Jumped);
        assert_eq!(second.arrival, Arrival::Jumped);
        assert_eq!(first.time.to_bits(), second.time.to_bits());
        assert!(
            distance(trajectory.state(), &[1.5, 2.0, 1.0]) < 1e-9,
            "{projection:?}"
        );
        assert!(trajectory.mode().contains(0) && trajectory.mode().contains(1));
    }
}

#[test]
fn a_reset_that_throws_the_state_to_and_fro_makes_no_progress() {
    let ping_pong = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
        .events([Watch::BOTH], |_, _, x, _| x[0])
        .reset(|_, crossed, x, _| {
            x[0] = -crossed.guards()[0].guard.sign();
            Ok(())
        });
    for projection in [Projection::Auto, Projection::Off] {
        let trajectory = run(&ping_pong, 1e-9, projection, &[-0.5], 1.0);
        let Status::Refused(Error::NoProgress { guard, t, .. }) = trajectory.status() else {
            panic!("{:?}", trajectory.status());
        };
        assert!(guard.event == 0 && (t - 0.5).abs() < 1e-12);
        assert!((2..=3).contains(&trajectory.crossings().len()));
        assert!((trajectory.at(0.25).unwrap()[0] + 0.25).abs() < 1e-12);
    }
}

#[test]
fn a_model_that_refuses_a_crossing_ends_the_run_and_keeps_it() {
    let broken = falling(G)
        .events([Watch::FALLING], |_, _, x, _| x[0])
        .reset(|_, _, _, _| {
            Err(Error::Model {
                reason: "the plate is glued".into(),
            })
        });
    let trajectory = run(broken, 1e-9, Projection::Auto, &[1.0, 0.0], 2.0);
    let Status::Refused(Error::Model { reason }) = trajectory.status() else {
        panic!("{:?}", trajectory.status());
    };
    assert_eq!(reason, "the plate is glued");
    let landing = (2.0 / G).sqrt();
    assert!((trajectory.time() - landing).abs() < 1e-8);
    assert!((trajectory.at(0.3).unwrap()[0] - (1.0 - 0.5 * G * 0.09)).abs() < 1e-9);
    assert!(trajectory.at(1.0).is_err());
}

#[test]
fn a_reset_that_is_not_finite_is_refused_by_name() {
    let broken = falling(G)
        .events([Watch::FALLING], |_, _, x, _| x[0])
        .reset(|_, _, x, _| {
            x[1] = f64::INFINITY;
            Ok(())
        });
    let trajectory = run(broken, 1e-9, Projection::Auto, &[1.0, 0.0], 2.0);
    let Status::Refused(Error::NotFinite { quantity, t, .. }) = trajectory.status() else {
        panic!("{:?}", trajectory.status());
    };
    assert_eq!(*quantity, saltation::Quantity::Reset { component: 1 });
    assert!((t - (2.0 / G).sqrt()).abs() < 1e-8);
}

#[test]
fn a_stop_ends_the_run_on_the_guard() {
    for projection in [Projection::Auto, Projection::Off] {
        let drop = falling(G).events([Watch::BOTH.and_stop(), Watch::BOTH], |k, _, x, _| {
            if k == 0 { x[0] } else { x[0] - 0.5 }
        });
        let trajectory = run(drop, 1e-10, projection, &[1.0, 0.0], 2.0);
        assert_eq!(
            *trajectory.status(),
            Status::Stopped {
                guards: vec![Guard::falling(0)]
            }
        );
        assert!((trajectory.time() - (2.0 / G).sqrt()).abs() < 1e-9);
        assert!(trajectory.state()[0].abs() < 1e-12);
        assert_eq!(
            trajectory.crossings().len(),
            2,
            "the one on the way and the last"
        );
        assert_eq!(trajectory.times().last(), Some(&trajectory.time()));
    }
}

#[test]
fn a_stop_names_all_guards_that_end_the_run_at_its_time() {
    let stop = Watch::BOTH.and_stop();
    for projection in [Projection::Auto, Projection::Off] {
        // The second crosses with the others and does not stop; the fourth lies elsewhere.
        let drop = falling(G).events([stop, Watch::BOTH, stop, stop], |k, _, x, _| match k {
            0 => x[0],
            1 => 2.0 * x[0],
            2 => -30.0 * x[0],
            _ => x[0] + 1.0,
        });
        let trajectory = run(drop, 1e-10, projection, &[1.0, 0.0], 2.0);
        assert_eq!(
            *trajectory.status(),
            Status::Stopped {
                guards: vec![Guard::falling(0), Guard::rising(2)]
            }
        );
        assert_eq!(trajectory.crossings().len(), 3);
        let [corner] = trajectory.corners() else {
            panic!("{:?}", trajectory.corners());
        };
        assert_eq!(
            corner.order,
            [Guard::falling(0), Guard::falling(1), Guard::rising(2)]
        );
    }
}

#[test]
fn a_stop_with_a_reset_ends_after_the_reset() {
    let once = falling(G)
        .events([Watch::FALLING.and_stop()], |_, _, x, _| x[0])
        .reset(|_, _, x, _| {
            x[1] = -x[1];
            Ok(())
        });
    let trajectory = run(once, 1e-10, Projection::Auto, &[1.0, 0.0], 2.0);
    assert!(matches!(trajectory.status(), Status::Stopped { .. }));
    assert!((trajectory.state()[1] - (2.0 * G).sqrt()).abs() < 1e-8);
}

/// `x' = v, v' = −x`.
fn pendulum(watch: Watch) -> Sketch {
    Sketch::new(2, |_, x, _, dx| {
        dx[0] = x[1];
        dx[1] = -x[0];
    })
    .events([watch], |_, _, x, _| x[0])
}

/// From (±1, 0), ten turns.
fn swing(watch: Watch, start: f64, rearm: Rearm, projection: Projection) -> Trajectory {
    let trajectory = Integrator::new(pendulum(watch))
        .unwrap()
        .rtol(1e-10)
        .atol(1e-11)
        .rearm(rearm)
        .projection(projection)
        .integrate(0.0, &[start, 0.0], 10.0 * TAU)
        .unwrap();
    assert_eq!(*trajectory.status(), Status::ReachedEnd);
    trajectory
}

#[test]
fn only_the_watched_direction_counts() {
    // The side follows the state both ways; only one way is reported.
    for projection in [
        Projection::Auto,
        Projection::Off,
        Projection::horizon(1e-3, 4),
    ] {
        for (watch, start, direction) in [
            (Watch::FALLING, 1.0, Direction::Falling),
            (Watch::RISING, -1.0, Direction::Rising),
        ] {
            let trajectory = swing(watch, start, Rearm::Pairs, projection.clone());
            assert_eq!(
                trajectory.crossings().len(),
                10,
                "{watch:?}, {projection:?}"
            );
            for (i, crossing) in trajectory.crossings().iter().enumerate() {
                assert_eq!(crossing.guard.direction, direction);
                let late = crossing.time - (FRAC_PI_2 + TAU * i as f64);
                assert!(late.abs() < 1e-7, "{watch:?}, {projection:?}: {late:e}");
            }
            assert_eq!(trajectory.statistics().crossings, 10);
            assert_eq!(trajectory.modes().len(), 21, "the side bit follows");
            assert_eq!(trajectory.mode().contains(0), start > 0.0);

            let once = swing(watch, start, Rearm::Never, projection.clone());
            assert_eq!(once.crossings().len(), 1, "{watch:?}, {projection:?}");
            assert_eq!(once.mode().contains(0), start < 0.0);
        }
        let both = swing(Watch::BOTH, 1.0, Rearm::Pairs, projection.clone());
        assert_eq!(both.crossings().len(), 20, "{projection:?}");
        for (i, crossing) in both.crossings().iter().enumerate() {
            // 63 s at tolerance 1e-10 a step.
            let late = crossing.time - (FRAC_PI_2 + PI * i as f64);
            assert!(late.abs() < 1e-7, "{projection:?}: {late:e}");
        }
    }
}

#[test]
fn a_guard_watched_one_way_is_crossed_every_time_when_the_policy_looks_again() {
    for (watch, first, direction) in [
        (Watch::FALLING, FRAC_PI_2, Direction::Falling),
        (Watch::RISING, 3.0 * FRAC_PI_2, Direction::Rising),
    ] {
        for projection in [Projection::Auto, Projection::Off] {
            let trajectory = swing(watch, 1.0, Rearm::WhenEmpty, projection.clone());
            assert_eq!(
                trajectory.crossings().len(),
                10,
                "{watch:?}, {projection:?}"
            );
            for (i, crossing) in trajectory.crossings().iter().enumerate() {
                let late = crossing.time - (first + TAU * i as f64);
                assert!(late.abs() < 1e-7, "{watch:?}, {projection:?}: {late:e}");
                assert_eq!(crossing.guard.direction, direction, "{watch:?}");
            }
        }
    }
}

#[test]
fn a_guard_that_is_not_watched_never_fires() {
    let nowhere = Watch {
        rising: false,
        falling: false,
        stop: true,
    };
    for rearm in [Rearm::Pairs, Rearm::WhenEmpty] {
        let trajectory = swing(nowhere, 1.0, rearm, Projection::Auto);
        assert!(trajectory.crossings().is_empty());
    }
}

#[test]
fn a_table_that_moves_with_time_is_hit_where_it_is() {
    // A ball dropped from 1 m on a table at 0.2 sin 5t; no gradient is written, ∂h/∂t comes from differences.
    let table = |t: f64| 0.2 * (5.0 * t).sin();
    let gap = |t: f64| 1.0 - 0.5 * G * t * t - table(t);
    let (mut early, mut late) = (0.0, 0.6);
    assert!(gap(early) > 0.0 && gap(late) < 0.0);
    for _ in 0..100 {
        let middle = 0.5 * (early + late);
        if gap(middle) > 0.0 {
            early = middle;
        } else {
            late = middle;
        }
    }
    let hit = early;
    let closing = -G * hit - (5.0 * hit).cos();
    for projection in [
        Projection::Auto,
        Projection::Off,
        Projection::eps(1e-3, 4),
        Projection::horizon(1e-3, 4),
    ] {
        let ball = falling(G)
            .events([Watch::FALLING], move |_, t, x, _| x[0] - table(t))
            // Elastic against the moving table: the relative velocity turns round.
            .reset(|t, _, x, _| {
                x[1] = 2.0 * (5.0 * t).cos() - x[1];
                Ok(())
            });
        let trajectory = run(ball, 1e-10, projection.clone(), &[1.0, 0.0], hit + 0.1);
        assert_eq!(*trajectory.status(), Status::ReachedEnd, "{projection:?}");
        let [crossing] = trajectory.crossings() else {
            panic!("{projection:?}: {} hits", trajectory.crossings().len());
        };
        assert!((crossing.time - hit).abs() < 1e-9, "{projection:?}");
        // Central differences of a function of size 1 are right to about 1e-10.
        assert!(
            (crossing.rate_before - closing).abs() < 1e-7,
            "{projection:?}"
        );
        assert!(
            (crossing.rate_after + closing).abs() < 1e-7,
            "{projection:?}"
        );
        let up = 2.0 * (5.0 * hit).cos() + G * hit;
        let exact = [table(hit) + 0.1 * up - 0.005 * G, up - 0.1 * G];
        assert!(
            distance(trajectory.state(), &exact) < 1e-8,
            "{projection:?}"
        );
    }
}

#[test]
fn a_gradient_that_is_written_gives_what_differences_give() {
    let ball = |written: bool| {
        falling(G)
            .events([Watch::BOTH], |_, t, x, _| x[0] * x[0] - 0.2 - 0.1 * t)
            .gradient(move |_, _, x, _, dh| {
                dh.copy_from_slice(&[2.0 * x[0], 0.0]);
                written.then_some(-0.1)
            })
    };
    let runs =
        [true, false].map(|written| run(ball(written), 1e-10, Projection::Auto, &[1.0, 0.0], 0.6));
    let [exact, differences] = &runs;
    assert_eq!(exact.crossings().len(), 2);
    assert_eq!(differences.crossings().len(), 2);
    for (a, b) in exact.crossings().iter().zip(differences.crossings()) {
        assert!((a.time - b.time).abs() < 1e-10 && (a.rate_before - b.rate_before).abs() < 1e-8);
    }
}

#[test]
fn a_guard_may_depend_on_the_mode() {
    // Guard 0 at t = 0.3; guard 1 at x = 0.5 before and x = 0.8 after it.
    let clock = || {
        Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events(
            [Watch::BOTH, Watch::BOTH],
            |k, t, x, mode| match (k, mode.contains(0)) {
                (0, _) => t - 0.3,
                (_, false) => x[0] - 0.5,
                (_, true) => x[0] - 0.8,
            },
        )
    };
    for projection in [Projection::Auto, Projection::Off] {
        let trajectory = run(clock(), 1e-9, projection, &[0.0], 1.0);
        assert_eq!(*trajectory.status(), Status::ReachedEnd);
        let hits: Vec<(usize, f64)> = trajectory
            .crossings()
            .iter()
            .map(|c| (c.guard.event, c.time))
            .collect();
        assert_eq!(hits.len(), 2, "{hits:?}");
        assert!(
            hits[0].0 == 0 && (hits[0].1 - 0.3).abs() < 1e-12,
            "{hits:?}"
        );
        assert!(
            hits[1].0 == 1 && (hits[1].1 - 0.8).abs() < 1e-12,
            "{hits:?}"
        );
    }
}

#[test]
fn a_mode_that_puts_the_state_beyond_a_guard_crosses_it_at_the_same_instant() {
    // The second guard lies at x = 0.5, and at x = 0.2 once the first is crossed, at 0.3.
    let clock = || {
        Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events([Watch::BOTH; 2], |k, t, x, mode| {
            match (k, mode.contains(0)) {
                (0, _) => t - 0.3,
                (_, false) => x[0] - 0.5,
                (_, true) => x[0] - 0.2,
            }
        })
    };
    for projection in [Projection::Auto, Projection::Off] {
        let trajectory = run(clock(), 1e-9, projection, &[0.0], 1.0);
        assert_eq!(*trajectory.status(), Status::ReachedEnd);
        let guards: Vec<Guard> = trajectory.crossings().iter().map(|c| c.guard).collect();
        assert_eq!(guards, [Guard::rising(0), Guard::rising(1)]);
        for crossing in trajectory.crossings() {
            assert!((crossing.time - 0.3).abs() < 1e-12, "{}", crossing.time);
        }
    }
}

#[test]
fn systems_are_usable_behind_pointers_and_as_objects() {
    trait System: Flow + EventFunction {}
    impl<S: Flow + EventFunction> System for S {}
    let boxed: Box<dyn System> = Box::new(ball(0.9));
    let by_box = run(boxed, 1e-9, Projection::Auto, &[1.0, 0.0], 1.0);
    let by_value = run(ball(0.9), 1e-9, Projection::Auto, &[1.0, 0.0], 1.0);
    assert_eq!(by_box.state(), by_value.state());
    assert_eq!(by_box.statistics(), by_value.statistics());
}
