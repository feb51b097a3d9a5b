//! What a crossing does beside flipping a side: resets, sets of guards, refusals by the model.

use std::cell::RefCell;
use std::rc::Rc;

use saltation::{
    Arrival, At, CrossedGuard, EventFunction, Flow, Guard, Projection, Status, Stop, Watch,
};

use crate::fixtures::support::{Sketch, distance, falling, run};

pub(crate) const G: f64 = 9.81;

/// A ball dropped on the floor: one line of reset, nothing else.
pub(crate) fn ball(restitution: f64) -> Sketch {
    ball_over(0.0, restitution)
}

pub(crate) fn ball_over(floor: f64, restitution: f64) -> Sketch {
    falling(G)
        .events([Watch::FALLING], move |_, _, x, _| x[0] - floor)
        .reset(move |_, _, x, _| {
            x[1] *= -restitution;
            Ok(())
        })
}

/// Bounce times and the speeds just before them, dropped from `height`.
pub(crate) fn bounces(height: f64, restitution: f64, until: f64) -> Vec<(f64, f64)> {
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
                (crossing.t - time).abs() < 1e-9,
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
            let after = trajectory.state_at(crossing.t).unwrap();
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
                &trajectory.state_at(t).unwrap(),
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
    // At x = 0.5 the speed is doubled to 2, across the guard "speed 1.5"; whose own reset counts in
    // the third state.
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
        assert_eq!(first.t.to_bits(), second.t.to_bits());
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
        let Status::Refused(Stop::NoProgress { guard, at, .. }) = trajectory.status() else {
            panic!("{:?}", trajectory.status());
        };
        let At { t, .. } = at.as_ref();
        assert!(guard.event == 0 && (t - 0.5).abs() < 1e-12);
        assert!((2..=3).contains(&trajectory.crossings().len()));
        assert!((trajectory.state_at(0.25).unwrap()[0] + 0.25).abs() < 1e-12);
    }
}

#[test]
fn a_model_that_refuses_a_crossing_ends_the_run_and_keeps_it() {
    let broken = falling(G)
        .events([Watch::FALLING], |_, _, x, _| x[0])
        .reset(|_, _, _, _| Err(Stop::model("the plate is glued")));
    let trajectory = run(broken, 1e-9, Projection::Auto, &[1.0, 0.0], 2.0);
    let Status::Refused(Stop::Model(reason)) = trajectory.status() else {
        panic!("{:?}", trajectory.status());
    };
    assert_eq!(reason.to_string(), "the plate is glued");
    let landing = (2.0 / G).sqrt();
    assert!((trajectory.t() - landing).abs() < 1e-8);
    assert!((trajectory.state_at(0.3).unwrap()[0] - (1.0 - 0.5 * G * 0.09)).abs() < 1e-9);
    assert!(trajectory.state_at(1.0).is_err());
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
    let Status::Refused(Stop::NotFinite { quantity, at, .. }) = trajectory.status() else {
        panic!("{:?}", trajectory.status());
    };
    let At { t, .. } = at.as_ref();
    assert_eq!(*quantity, saltation::Quantity::Reset { component: 1 });
    // No step tried it.
    let words = trajectory.status().to_string();
    assert!(
        words.ends_with(", inf]") && !words.contains("trial"),
        "{words}"
    );
    assert!((t - (2.0 / G).sqrt()).abs() < 1e-8);
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
