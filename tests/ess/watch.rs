//! In which directions crossings count, and which of them end the run.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use saltation::{
    Direction, Doubt, Guard, Integrator, Projection, Rearm, Run, Start, Status, Watch,
};

use crate::fixtures::support::{Sketch, SplitMix64, falling, run};
use crate::resets::G;

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
        assert!((trajectory.t() - (2.0 / G).sqrt()).abs() < 1e-9);
        assert!(trajectory.state()[0].abs() < 1e-12);
        assert_eq!(
            trajectory.crossings().len(),
            2,
            "the one on the way and the last"
        );
        assert_eq!(trajectory.times().last(), Some(&trajectory.t()));
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
fn swing(watch: Watch, start: f64, rearm: Rearm, projection: Projection) -> Run {
    let trajectory = Integrator::new(pendulum(watch))
        .unwrap()
        .rtol(1e-10)
        .atol(1e-11)
        .rearm(rearm)
        .projection(projection)
        .integrate(&Start::at(0.0).x(&[start, 0.0]), 10.0 * TAU)
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
                let late = crossing.t - (FRAC_PI_2 + TAU * i as f64);
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
            let late = crossing.t - (FRAC_PI_2 + PI * i as f64);
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
                let late = crossing.t - (first + TAU * i as f64);
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

/// A circle in closed form, and two guards of which one ends the run, by a gap before the other or behind it.
#[test]
fn a_crossing_that_may_lie_before_or_behind_a_stop_is_doubted() {
    let mut draw = SplitMix64(5);
    let mut wrong = 0;
    for case in 0..1_200_usize {
        let (at, gap) = (
            draw.between(0.3, 1.3),
            [1e-5, 1e-6, 1e-7, 1e-8][case % 4] * draw.between(-1.0, 1.0).signum(),
        );
        let rtol = [1e-4, 1e-6, 1e-10][case / 4 % 3];
        let stop = at + gap;
        let circle = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -x[0]])).events(
            [Watch::RISING, Watch::RISING.and_stop()],
            move |k, _, x, _| match k {
                0 => x[0] - at.sin(),
                _ => 0.6 * x[0] - 0.8 * x[1] - (0.6 * stop.sin() - 0.8 * stop.cos()),
            },
        );
        let mut integrator = Integrator::new(&circle).unwrap().rtol(rtol).atol(rtol);
        let x = [(-1f64).sin(), 1f64.cos()];
        let run = integrator.integrate(&Start::at(-1.0).x(&x), 5.0).unwrap();
        assert!(matches!(run.status(), Status::Stopped { .. }), "{case}");
        let is_right = run.crossings().len() == 1 + usize::from(gap > 0.0);
        assert!(is_right || !run.is_guaranteed(), "{case} {gap} {rtol}");
        let (first, other) = (Guard::rising(1), Guard::rising(0));
        let is_told = |doubt: &Doubt| matches!(doubt, Doubt::Order { first: f, guard, .. } if (*f, *guard) == (first, other));
        let is_doubted = run.doubts().iter().any(is_told);
        assert_eq!(is_doubted, !run.is_guaranteed(), "{case} {gap} {rtol}");
        wrong += usize::from(!is_right);
        // Where errors are far below the gap there is nothing to doubt.
        let is_clear = gap.abs() > 1e3 * rtol;
        assert!(!(is_clear && is_doubted), "{case} {gap} {rtol}");
    }
    assert!(wrong > 100, "{wrong}");
}

/// A guard on the surface of the one that ends the run is crossed with it, and one whose reset carries the state over
/// that before it.
#[test]
fn a_stop_whose_order_is_known_leaves_no_doubt() {
    for carries in [false, true] {
        let line = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
            .events(
                [Watch::RISING, Watch::RISING.and_stop()],
                move |k, _, x, _| match (k, carries) {
                    (0, _) => x[0] - 1.0,
                    (_, false) => 2.0 * (x[0] - 1.0),
                    (_, true) => x[0] - 2.0,
                },
            )
            .reset(move |_, _, x, _| {
                x[0] += if carries { 2.0 } else { 0.0 };
                Ok(())
            });
        let mut integrator = Integrator::new(&line).unwrap();
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0]), 5.0)
            .unwrap();
        assert!(matches!(run.status(), Status::Stopped { .. }), "{carries}");
        assert_eq!(run.crossings().len(), 2, "{carries}");
        assert!(run.is_guaranteed(), "{carries}: {:?}", run.doubts());
    }
}
