//! Which guards may be crossed again: the ready-made policies, the guard reset matrix, and what it
//! refuses (spec 5).

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use saltation::models::{Hopper, Thermostat};
use saltation::{
    At, Direction, Doubt, Guard, InputError, Integrator, Mode, Projection, Rearm, RearmMatrix, Run,
    Start, Status, Stop, Watch,
};

use crate::fixtures::support::{Sketch, run};

const PROJECTIONS: [Projection; 3] = [
    Projection::Auto,
    Projection::Off,
    Projection::horizon(1e-4, 4),
];

/// `x = cos t`, guards `x = 0` and, `far`, `x = −5`, which is never reached; ten turns.
fn swing(rearm: Rearm, far: bool, projection: Projection) -> Run {
    let flow = |_: f64, x: &[f64], _: &Mode, dx: &mut [f64]| {
        dx[0] = x[1];
        dx[1] = -x[0];
    };
    let event = |k: usize, _: f64, x: &[f64], _: &Mode| x[0] + 5.0 * k as f64;
    let system = if far {
        Sketch::new(2, flow).events([Watch::BOTH; 2], event)
    } else {
        Sketch::new(2, flow).events([Watch::BOTH], event)
    };
    let trajectory = Integrator::new(system)
        .unwrap()
        .rtol(1e-10)
        .atol(1e-11)
        .rearm(rearm)
        .projection(projection)
        .integrate(&Start::at(0.0).x(&[1.0, 0.0]), 10.0 * TAU)
        .unwrap();
    assert_eq!(*trajectory.status(), Status::ReachedEnd);
    for (i, crossing) in trajectory.crossings().iter().enumerate() {
        let late = crossing.t - (FRAC_PI_2 + PI * i as f64);
        assert!(
            late.abs() < 1e-7 && crossing.guard.event == 0,
            "{late:e} s late"
        );
    }
    trajectory
}

#[test]
fn never_crosses_each_guard_once() {
    for projection in PROJECTIONS {
        let trajectory = swing(Rearm::Never, false, projection);
        assert_eq!(trajectory.crossings().len(), 1);
        assert!(
            !trajectory.mode().contains(0),
            "the side of the first crossing stays"
        );
    }
}

#[test]
fn pairs_cross_every_time() {
    for projection in PROJECTIONS {
        for far in [false, true] {
            assert_eq!(
                swing(Rearm::Pairs, far, projection.clone())
                    .crossings()
                    .len(),
                20
            );
        }
    }
}

#[test]
fn when_empty_waits_for_the_last_guard() {
    for projection in PROJECTIONS {
        let alone = swing(Rearm::WhenEmpty, false, projection.clone());
        assert_eq!(alone.crossings().len(), 20, "{projection:?}");
        // A guard that is never reached keeps the pool from being empty (weakness W9 of the
        // published listing).
        let waiting = swing(Rearm::WhenEmpty, true, projection.clone());
        assert_eq!(waiting.crossings().len(), 1, "{projection:?}");
    }
}

fn pairs_as_matrix(count: usize) -> RearmMatrix {
    (0..count).fold(RearmMatrix::new(count), |matrix, k| {
        let (up, down) = (Guard::rising(k), Guard::falling(k));
        matrix.arm(up, down).unwrap().arm(down, up).unwrap()
    })
}

#[test]
fn the_matrix_of_pairs_is_pairs_and_the_zero_matrix_is_never() {
    for projection in PROJECTIONS {
        for (policy, matrix) in [
            (Rearm::Pairs, pairs_as_matrix(2)),
            (Rearm::Never, RearmMatrix::new(2)),
        ] {
            assert!(matrix.conflicts().is_empty());
            let one = swing(policy, true, projection.clone());
            let other = swing(Rearm::Matrix(matrix), true, projection.clone());
            assert_eq!(one.crossings(), other.crossings());
            assert_eq!(one.state(), other.state());
            assert_eq!(one.modes(), other.modes());
        }
    }
}

#[test]
fn the_hopper_by_its_matrix_is_the_hopper_by_pairs() {
    let run = |rearm| {
        let mut integrator = Integrator::new(Hopper::default()).unwrap().rearm(rearm);
        integrator
            .integrate(&Start::at(0.0).x(&[2.0, 0.0]), 5.0)
            .unwrap()
    };
    let (pairs, matrix) = (run(Rearm::Pairs), run(Rearm::Matrix(pairs_as_matrix(1))));
    assert_eq!(pairs.crossings().len(), 10);
    assert_eq!(pairs.crossings(), matrix.crossings());
    assert_eq!(pairs.state(), matrix.state());
}

fn room(start: f64, mode: Option<&Mode>, projection: Projection) -> Run {
    let room = Thermostat::default();
    let mut integrator = Integrator::new(room)
        .unwrap()
        .rtol(1e-10)
        .atol(1e-11)
        .projection(projection)
        .rearm(Rearm::Matrix(room.rearm().unwrap()));
    let start = [start];
    let start = Start::at(0.0).x(&start).mode(mode);
    let trajectory = integrator.integrate(&start, 20.05 * room.period()).unwrap();
    assert_eq!(*trajectory.status(), Status::ReachedEnd);
    trajectory
}

/// The room of the default: towards 30 °C heated, towards 10 °C not, both with 1000 s.
fn towards(target: f64, from: f64, to: f64) -> f64 {
    1000.0 * ((from - target) / (to - target)).ln()
}

fn cycles(trajectory: &Run, first: f64, mut heating: bool) {
    let mut time = first;
    for (i, crossing) in trajectory.crossings().iter().enumerate() {
        let guard = if heating {
            Guard::rising(0)
        } else {
            Guard::falling(1)
        };
        assert_eq!(crossing.guard, guard, "crossing {i}");
        // Temperatures are right to 1e-8 K or better, at rates of 8e-3 K/s or more.
        assert!(
            (crossing.t - time).abs() < 1e-5,
            "crossing {i}: {} s late",
            crossing.t - time
        );
        time += if heating {
            towards(10.0, 22.0, 20.0)
        } else {
            towards(30.0, 20.0, 22.0)
        };
        heating = !heating;
    }
    assert!(time > trajectory.t(), "no crossing is missing at the end");
    assert!(trajectory.crossings().len() >= 39);
}

#[test]
fn a_thermostat_with_hysteresis_keeps_its_period() {
    for projection in PROJECTIONS {
        let trajectory = room(18.0, None, projection.clone());
        cycles(&trajectory, towards(30.0, 18.0, 22.0), true);
        for (t, x) in trajectory.nodes() {
            assert!(
                t < 500.0 || (19.999999..22.000001).contains(&x[0]),
                "{projection:?}: {x} at {t}"
            );
        }
    }
}

#[test]
fn the_start_mode_is_the_memory_of_the_thermostat() {
    for projection in PROJECTIONS {
        // At 21 °C: heating by default, cooling when told that 22 °C was reached before.
        let heating = room(21.0, None, projection.clone());
        cycles(&heating, towards(30.0, 21.0, 22.0), true);
        let cooling = room(21.0, Some(&Mode::with(2, &[0, 1])), projection);
        cycles(&cooling, towards(10.0, 21.0, 20.0), false);
    }
}

/// `x' = 1` from 0; guards at `places`, watched rising; what each crossing saw.
fn walk<const N: usize>(places: [f64; N], matrix: RearmMatrix, projection: Projection) -> Run {
    let walk = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0);
    Integrator::new(walk.events([Watch::BOTH; N], move |k, _, x, _| x[0] - places[k]))
        .unwrap()
        .projection(projection)
        .rearm(Rearm::Matrix(matrix))
        .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
        .unwrap()
}

fn passed(trajectory: &Run) -> Vec<(usize, Direction)> {
    let guards = trajectory.crossings().iter().map(|c| c.guard);
    guards.map(|guard| (guard.event, guard.direction)).collect()
}

#[test]
fn arming_a_guard_that_lies_behind_is_refused() {
    for projection in PROJECTIONS {
        let matrix = RearmMatrix::new(2)
            .arm(Guard::rising(0), Guard::rising(1))
            .unwrap();
        let trajectory = walk([0.5, 0.2], matrix, projection);
        let Status::Refused(Stop::ArmedBeyond {
            guard,
            by,
            beyond,
            at,
        }) = trajectory.status()
        else {
            panic!("{:?}", trajectory.status());
        };
        let At { t, state, .. } = at.as_ref();
        assert_eq!((*guard, *by), (Guard::rising(1), Guard::rising(0)));
        assert!(
            (beyond - 0.3).abs() < 1e-9 && (t - 0.5).abs() < 1e-9 && (state[0] - 0.5).abs() < 1e-9
        );
        assert!((trajectory.state_at(0.4).unwrap()[0] - 0.4).abs() < 1e-9);
        assert_eq!(passed(&trajectory)[0], (1, Direction::Rising));
    }
}

#[test]
fn a_retired_guard_counts_as_crossed_and_is_not_watched() {
    for projection in PROJECTIONS {
        let matrix = RearmMatrix::new(2)
            .retire(Guard::rising(0), Guard::rising(1))
            .unwrap();
        let trajectory = walk([0.3, 0.6], matrix, projection);
        assert_eq!(*trajectory.status(), Status::ReachedEnd);
        assert_eq!(passed(&trajectory), [(0, Direction::Rising)]);
        let [before, after] = trajectory.modes() else {
            panic!("{:?}", trajectory.modes());
        };
        assert_eq!((before.mode.count_ones(), after.mode.count_ones()), (0, 2));
        assert!((after.t - 0.3).abs() < 1e-9);
    }
}

#[test]
fn a_retired_guard_can_be_armed_again() {
    for projection in PROJECTIONS {
        let (first, last, again) = (Guard::rising(0), Guard::rising(1), Guard::rising(2));
        let matrix = RearmMatrix::new(3)
            .retire(first, last)
            .unwrap()
            .arm(again, last)
            .unwrap();
        let [conflict] = matrix.conflicts()[..] else {
            panic!("{:?}", matrix.conflicts());
        };
        assert_eq!(
            (conflict.arms, conflict.retires, conflict.guard),
            (again, first, last)
        );
        let trajectory = walk([0.3, 0.6, 0.5], matrix, projection);
        assert_eq!(*trajectory.status(), Status::ReachedEnd);
        let ways = [
            (0, Direction::Rising),
            (2, Direction::Rising),
            (1, Direction::Rising),
        ];
        assert_eq!(passed(&trajectory), ways);
    }
}

#[test]
fn rows_that_disagree_are_listed_and_equal_rows_are_not() {
    let guards: Vec<Guard> = (0..3)
        .flat_map(|k| [Guard::rising(k), Guard::falling(k)])
        .collect();
    let matrix = RearmMatrix::new(3)
        .arm(guards[0], guards[4])
        .and_then(|m| m.arm(guards[1], guards[4]))
        .and_then(|m| m.retire(guards[2], guards[4]))
        .and_then(|m| m.retire(guards[2], guards[5]))
        .and_then(|m| m.retire(guards[3], guards[5]))
        .unwrap();
    let conflicts = matrix.conflicts();
    assert_eq!(conflicts.len(), 2);
    for (conflict, arms) in conflicts.iter().zip([guards[0], guards[1]]) {
        assert_eq!(
            (conflict.arms, conflict.retires, conflict.guard),
            (arms, guards[2], guards[4])
        );
    }
}

#[test]
fn a_matrix_that_rearms_a_guard_by_itself_is_refused() {
    for (guard, direction) in [(Guard::rising(1), "rising"), (Guard::falling(1), "falling")] {
        for refused in [
            RearmMatrix::new(2).arm(guard, guard),
            RearmMatrix::new(2).retire(guard, guard),
        ] {
            assert_eq!(
                refused,
                Err(InputError::SelfRearming {
                    event: 1,
                    direction
                })
            );
        }
    }
}

#[test]
fn a_matrix_of_another_size_is_refused() {
    let mut integrator = Integrator::new(Hopper::default()).unwrap();
    integrator = integrator.rearm(Rearm::Matrix(RearmMatrix::new(2)));
    let refused = integrator.integrate(&Start::at(0.0).x(&[2.0, 0.0]), 1.0);
    assert!(
        matches!(
            refused,
            Err(InputError::WrongLength {
                expected: 1,
                found: 2,
                ..
            })
        ),
        "{refused:?}"
    );
}

#[test]
fn a_neuron_armed_anew_far_from_its_threshold_is_not_projected_to_it() {
    // V' = 2 − V fires at 1 and is put back to 0: a period of ln 2.
    let period = std::f64::consts::LN_2;
    // A first-order projection over 1e-3 s is early by half its square, at a rate that changes by 1
    // a second.
    let first_order = 0.6e-6;
    for (projection, allowed) in [
        (Projection::Auto, 1e-8),
        (Projection::Off, 1e-8),
        (Projection::eps(1e-3, 1), first_order),
        (Projection::horizon(1e-3, 1), first_order),
        (Projection::eps(1e-3, 3), 1e-8),
        (Projection::horizon(1e-3, 4), 1e-8),
    ] {
        let neuron = Sketch::new(1, |_, x, _, dx| dx[0] = 2.0 - x[0])
            .events([Watch::RISING], |_, _, x, _| x[0] - 1.0)
            .reset(|_, _, x, _| {
                x[0] = 0.0;
                Ok(())
            });
        let trajectory = run(neuron, 1e-9, projection.clone(), &[0.0], 10.5 * period);
        assert_eq!(*trajectory.status(), Status::ReachedEnd, "{projection:?}");
        assert_eq!(trajectory.crossings().len(), 10, "{projection:?}");
        let mut last = 0.0;
        for crossing in trajectory.crossings() {
            let late = crossing.t - last - period;
            assert!(late.abs() < allowed, "{projection:?}: {late:e} s late");
            assert!((crossing.state[0] - 1.0).abs() < 1e-8, "{projection:?}");
            last = crossing.t;
        }
    }
}

#[test]
fn modes_that_the_policy_looked_up_are_told_like_all_others() {
    // x = −cos t, watched upward through 0.5; the way down is noticed at the end of a step.
    for projection in PROJECTIONS {
        let system = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -x[0]]))
            .events([Watch::RISING], |_, _, x, _| x[0] - 0.5);
        let mut integrator = Integrator::new(system)
            .unwrap()
            .rearm(Rearm::WhenEmpty)
            .projection(projection.clone());
        let trajectory = integrator
            .integrate(&Start::at(0.0).x(&[-1.0, 0.0]), 10.0 * TAU - 0.1)
            .unwrap();
        assert_eq!(*trajectory.status(), Status::ReachedEnd);
        assert_eq!(trajectory.crossings().len(), 10, "{projection:?}");
        let modes = trajectory.modes();
        assert_eq!(modes.len(), 21, "{projection:?}");
        for (i, change) in modes.iter().enumerate() {
            assert_eq!(change.mode.contains(0), i % 2 == 1, "{projection:?}: {i}");
            let above = trajectory.state_at(change.t).unwrap()[0] - 0.5;
            assert!(
                above.abs() < 1e-4 || change.mode.contains(0) == (above > 0.0),
                "{projection:?}: {above} at {}",
                change.t
            );
        }
        assert_eq!(trajectory.mode(), &modes[20].mode, "{projection:?}");
        assert_eq!(trajectory.mode(), integrator.mode(), "{projection:?}");
    }
}

#[test]
fn a_guard_armed_beyond_its_surface_by_a_side_that_the_model_set_crosses_at_once() {
    // Guard 1 is crossed at t = 0.3. At t = 1 the model sets side 2, whose row arms guard 1 again.
    for projection in PROJECTIONS {
        let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
            .events([Watch::RISING; 3], |k, _, x, _| x[0] - [1.0, 0.3, 9.0][k])
            .reset(|_, crossed, _, mode| {
                if crossed.contains(0) {
                    mode.set(2, true);
                }
                Ok(())
            });
        let row = RearmMatrix::new(3).arm(Guard::rising(2), Guard::rising(1));
        let run = Integrator::new(system)
            .unwrap()
            .rearm(Rearm::Matrix(row.unwrap()))
            .projection(projection)
            .integrate(&Start::at(0.0).x(&[0.0]), 2.0)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd);
        let crossed = run.crossings().iter().map(|c| (c.guard.event, c.t));
        let expected = [(1, 0.3), (0, 1.0), (1, 1.0)];
        for ((k, t), (expected, at)) in crossed.clone().zip(expected) {
            assert!(k == expected && (t - at).abs() < 1e-6, "{k} at {t}");
        }
        assert_eq!(crossed.count(), 3);
        assert!((0..3).all(|k| run.mode().contains(k)));
    }
}

/// A thermostat whose sides are set back where a step ends: how often it switches depends on steps.
#[test]
fn sides_that_the_rule_of_the_paper_sets_back_are_told() {
    let room = || {
        Sketch::new(1, |_, x, mode, dx| {
            dx[0] = if mode.contains(0) { 10.0 } else { 30.0 } - x[0];
        })
        .events([Watch::RISING, Watch::FALLING], |k, _, x, _| {
            x[0] - [22.0, 20.0][k]
        })
    };
    for (rearm, is_guaranteed) in [(Rearm::WhenEmpty, false), (Rearm::Never, true)] {
        let mut integrator = Integrator::new(room()).unwrap().rearm(rearm);
        let start = [21.0];
        let run = integrator
            .integrate(&Start::at(0.0).x(&start), 3.0)
            .unwrap();
        assert_eq!(run.is_guaranteed(), is_guaranteed, "{:?}", run.doubts());
        let mut told = run.doubts().iter();
        assert_eq!(
            told.any(|doubt| matches!(doubt, Doubt::Rearmed { .. })),
            !is_guaranteed
        );
    }
}
