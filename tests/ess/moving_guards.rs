//! Guards that move with time or change with the mode.

use saltation::{Arrival, Guard, Projection, Run, Start, Status, Watch};

use crate::fixtures::support::{Sketch, distance, falling, run};
use crate::resets::G;

#[test]
fn a_table_that_moves_with_time_is_hit_where_it_is() {
    // A ball dropped from 1 m on a table at 0.2 sin 5t; no gradient is written, ∂h/∂t comes from
    // differences.
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
        assert!((crossing.t - hit).abs() < 1e-9, "{projection:?}");
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
        assert!((a.t - b.t).abs() < 1e-10 && (a.rate_before - b.rate_before).abs() < 1e-8);
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
            .map(|c| (c.guard.event, c.t))
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
            assert!((crossing.t - 0.3).abs() < 1e-12, "{}", crossing.t);
        }
    }
}

#[test]
fn a_guard_that_a_mode_declares_crossed_fires_at_the_same_instant() {
    // h1 is −1 until guard 0 is crossed, and x1 − 0.3 from then on, with x1 at 0.5 or more, resting
    // or rising.
    for speed in [0.0, 1.0] {
        for projection in [
            Projection::Auto,
            Projection::Off,
            Projection::horizon(1e-3, 4),
        ] {
            let system = Sketch::new(2, move |_, _, _, dx| dx.copy_from_slice(&[1.0, speed]))
                .events([Watch::BOTH; 2], |k, _, x, mode| {
                    match (k, mode.contains(0)) {
                        (0, _) => x[0] - 0.5,
                        (_, true) => x[1] - 0.3,
                        (_, false) => -1.0,
                    }
                });
            let what = format!("{speed}, {projection:?}");
            let trajectory = run(system, 1e-9, projection, &[0.0, 0.5], 1.0);
            assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
            let [first, second] = trajectory.crossings() else {
                panic!("{what}: {:?}", trajectory.crossings());
            };
            assert_eq!(
                (first.guard, second.guard),
                (Guard::rising(0), Guard::rising(1))
            );
            assert_eq!(first.t.to_bits(), second.t.to_bits(), "{what}");
            assert!((first.t - 0.5).abs() < 1e-9, "{what}");
            assert_eq!(second.arrival, Arrival::Jumped, "{what}");
            assert_eq!(trajectory.mode().count_ones(), 2, "{what}");
        }
    }
}

/// A mass of 1 kg dropped from 0.5 m on spring and damper `c`, which push and do not pull: they
/// touch at no gap and part at no force. Runs until `after` the landing, and gives the time of
/// that.
fn drop_on_damper(c: f64, after: f64, projection: Projection) -> (Run, f64) {
    let system = Sketch::new(2, move |_, x, mode, dx| {
        let pushed = if mode.contains(0) { force(c, x) } else { 0.0 };
        dx.copy_from_slice(&[x[1], pushed - G]);
    })
    .events([Watch::BOTH], move |_, _, x, mode| {
        if mode.contains(0) { force(c, x) } else { -x[0] }
    });
    let height = 0.5;
    let landing = (2.0 * height / G).sqrt();
    let trajectory = run(system, 1e-9, projection, &[height, 0.0], landing + after);
    (trajectory, landing)
}

fn force(c: f64, x: &[f64]) -> f64 {
    -1000.0 * x[0] - c * x[1]
}

const DAMPERS: [f64; 3] = [5.0, 20.0, 40.0];

const PROJECTIONS: [Projection; 3] = [
    Projection::Auto,
    Projection::Off,
    Projection::horizon(1e-4, 4),
];

#[test]
fn a_contact_whose_force_falls_from_the_first_moment_on_lands() {
    // With 40 Ns/m the force is greatest at the landing: the event function of the new mode falls
    // from far above zero.
    for c in DAMPERS {
        for projection in PROJECTIONS {
            let what = format!("c = {c}, {projection:?}");
            let (trajectory, landing) = drop_on_damper(c, 0.05, projection);
            assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
            let [down] = trajectory.crossings() else {
                panic!("{what}: {:?}", trajectory.crossings());
            };
            assert_eq!(down.guard, Guard::rising(0), "{what}");
            assert!((down.t - landing).abs() < 1e-8, "{what}");
            assert!(down.state[0].abs() < 1e-8, "{what}");
            assert_eq!(down.rate_after > 0.0, c < 30.0, "{what}");
            assert!(trajectory.mode().contains(0), "{what}");
        }
    }
}

#[test]
fn a_contact_that_opens_at_zero_force_lands_and_lifts_off() {
    // The force is zero while the spring is still compressed: where the gap is still closed, and
    // opening.
    for c in DAMPERS {
        for projection in PROJECTIONS {
            let what = format!("c = {c}, {projection:?}");
            let (trajectory, _) = drop_on_damper(c, 0.15, projection);
            assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
            let [down, up] = trajectory.crossings() else {
                panic!("{what}: {:?}", trajectory.crossings());
            };
            let guards = (down.guard, up.guard);
            assert_eq!(guards, (Guard::rising(0), Guard::falling(0)), "{what}");
            assert!(force(c, up.state.as_slice()).abs() < 1e-5, "{what}");
            assert!(up.state[0] < 0.0 && up.state[1] > 0.0, "{what}");
            // Free flight from there.
            let t = trajectory.t() - up.t;
            let flight = [
                up.state[0] + up.state[1] * t - 0.5 * G * t * t,
                up.state[1] - G * t,
            ];
            assert!(distance(trajectory.state(), &flight) < 1e-7, "{what}");
            assert!(!trajectory.mode().contains(0), "{what}");
        }
    }
}

#[test]
fn a_guard_that_moves_over_a_resting_state_is_met_where_it_is_zero() {
    // Nothing moves but the guard, so steps are long and the error of the state tells nothing:
    // 0.05 + 0.95 (1 + sin t)/2 comes close to zero at 3π/2 and never reaches it; −0.05 + … does,
    // twice a turn.
    let guard = |floor: f64| move |t: f64| floor + 0.5 * (1.0 - floor) * (1.0 + t.sin());
    for (floor, crossings) in [(0.05, 0), (-0.05, 1)] {
        let resting = Sketch::new(1, |_, _, _, dx| dx[0] = 0.0);
        let resting = resting.events([Watch::FALLING], move |_, t, _, _| guard(floor)(t));
        for start in 0..40 {
            let start = 0.1 * f64::from(start);
            let mut integrator = saltation::Integrator::new(&resting).unwrap().rtol(1e-10);
            let trajectory = integrator
                .integrate(&Start::at(start).x(&[1.0]), 6.0)
                .unwrap();
            assert_eq!(trajectory.crossings().len(), crossings, "from {start}");
            for crossing in trajectory.crossings() {
                assert!(guard(floor)(crossing.t).abs() < 1e-9, "from {start}");
            }
        }
    }
}
