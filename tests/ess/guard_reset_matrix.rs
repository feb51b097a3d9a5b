//! The guard reset matrix at work: the hopper of the paper, guards at one instant, numbering, pairs
//! as a matrix.

use saltation::models::{NormalPlate, PlateParameters, VerticalPlate};
use saltation::{
    Direction, EventFunction, Flow, Guard, Integrator, Mode, Projection, Rearm, RearmMatrix, Run,
    Start, Status, Watch,
};

use crate::fixtures::support::{Permuted, Sketch, distance};
use crate::hopper_exact::{END, EVENTS, FINAL, START};

const PROJECTIONS: [Projection; 5] = [
    Projection::Auto,
    Projection::Off,
    Projection::horizon(1e-3, 1),
    Projection::horizon(1e-3, 4),
    Projection::horizon(0.1, 3),
];

fn by_matrix<S: Flow + EventFunction>(
    system: S,
    matrix: RearmMatrix,
    projection: Projection,
    x0: &[f64],
    tf: f64,
) -> Run {
    Integrator::new(system)
        .unwrap()
        .rtol(1e-9)
        .atol(1e-10)
        .projection(projection)
        .rearm(Rearm::Matrix(matrix))
        .integrate(&Start::at(0.0).x(x0), tf)
        .unwrap()
}

/// Each of two guards arms the other.
fn by_turns() -> RearmMatrix {
    let (a, b) = (Guard::rising(0), Guard::rising(1));
    RearmMatrix::new(2).arm(a, b).unwrap().arm(b, a).unwrap()
}

#[test]
fn the_hopper_of_the_paper_with_two_one_way_guards_makes_four_events() {
    // Touch-down L0 − z and lift-off z − L0, both rising; the first bit is the stance. A projection
    // of first order over 0.011 s (0.05 m at 4.4 m/s) misses half the square of that of the jerk
    // 1770 m/s³ before lift-off: 0.11 m/s, 0.023 s of flight.
    for (projection, allowed) in [
        (Projection::Auto, 1e-7),
        (Projection::Off, 1e-7),
        (Projection::eps(0.05, 1), 3e-2),
        (Projection::eps(0.05, 2), 5e-4),
        (Projection::horizon(0.01, 1), 3e-2),
        (Projection::horizon(0.01, 4), 1e-6),
    ] {
        let hopper = Sketch::new(2, |_, x, mode, dx| {
            let spring = if mode.contains(0) {
                400.0 * (1.0 - x[0])
            } else {
                0.0
            };
            dx.copy_from_slice(&[x[1], spring - 9.81]);
        })
        .events([Watch::RISING; 2], |k, _, x, _| {
            if k == 0 { 1.0 - x[0] } else { x[0] - 1.0 }
        });
        let trajectory = by_matrix(hopper, by_turns(), projection.clone(), &START, END);
        assert_eq!(*trajectory.status(), Status::ReachedEnd, "{projection:?}");
        let guards: Vec<Guard> = trajectory.crossings().iter().map(|c| c.guard).collect();
        let (down, up) = (Guard::rising(0), Guard::rising(1));
        assert_eq!(guards, [down, up, down, up], "{projection:?}");
        for (crossing, time) in trajectory.crossings().iter().zip(EVENTS) {
            let late = crossing.t - time;
            assert!(late.abs() < allowed, "{projection:?}: {late:e} s late");
        }
        // At accelerations of 10 m/s² in flight.
        let error = distance(trajectory.state(), &FINAL);
        assert!(error < 20.0 * allowed, "{projection:?}: {error:e}");
        let modes: Vec<&Mode> = trajectory
            .modes()
            .iter()
            .map(|change| &change.mode)
            .collect();
        let (air, ground) = (Mode::with(2, &[1]), Mode::with(2, &[0]));
        assert_eq!(
            modes,
            [&air, &ground, &air, &ground, &air],
            "{projection:?}"
        );
    }
}

#[test]
fn guards_at_one_instant_that_arm_each_other_stay_crossed() {
    for watch in [Watch::BOTH, Watch::RISING] {
        for scale in [1.0, 2.0, 1e-3] {
            for projection in PROJECTIONS {
                let walk = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
                    .events([watch; 2], move |k, _, x, _| {
                        x[0] * if k == 0 { 1.0 } else { scale }
                    });
                let what = format!("{watch:?}, {scale}, {projection:?}");
                let trajectory = by_matrix(walk, by_turns(), projection, &[-0.5], 1.0);
                assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
                let guards: Vec<Guard> = trajectory.crossings().iter().map(|c| c.guard).collect();
                assert_eq!(guards, [Guard::rising(0), Guard::rising(1)], "{what}");
                assert_eq!(*trajectory.mode(), Mode::with(2, &[0, 1]), "{what}");
            }
        }
    }
}

/// What happened, by the names of the guards: 0 the clock, 1 and 2 the walls.
#[derive(Debug, PartialEq)]
struct Told {
    crossings: Vec<(usize, Direction, u64)>,
    mode: Vec<bool>,
    state: u64,
}

/// `x' = 1` from 0; a clock at 0.3 s, at which the model declares both walls, at 0.6 and 0.8,
/// crossed; `rows` arm. The guard numbered k has the name `names[k]`.
fn declared(rows: &[(usize, usize)], names: [usize; 3], projection: Projection) -> Told {
    let walk = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
        .events([Watch::RISING; 3], |k, t, x, _| match k {
            0 => t - 0.3,
            1 => x[0] - 0.6,
            _ => x[0] - 0.8,
        })
        .reset(|_, crossed, _, mode| {
            if crossed.contains(0) {
                mode.set(1, true);
                mode.set(2, true);
            }
            Ok(())
        });
    let number = |name: usize| names.iter().position(|&n| n == name).unwrap();
    let matrix = rows
        .iter()
        .fold(RearmMatrix::new(3), |matrix, &(by, guard)| {
            let (by, guard) = (Guard::rising(number(by)), Guard::rising(number(guard)));
            matrix.arm(by, guard).unwrap()
        });
    let system = Permuted::new(walk, names.to_vec());
    let trajectory = by_matrix(system, matrix, projection, &[0.0], 1.0);
    assert_eq!(*trajectory.status(), Status::ReachedEnd);
    let crossings = trajectory.crossings().iter();
    let mut crossings: Vec<_> = crossings
        .map(|c| (names[c.guard.event], c.guard.direction, c.t.to_bits()))
        .collect();
    crossings.sort_by_key(|&(name, _, time)| (time, name));
    Told {
        crossings,
        mode: (0..3)
            .map(|name| trajectory.mode().contains(number(name)))
            .collect(),
        state: trajectory.state()[0].to_bits(),
    }
}

#[test]
fn sides_set_by_the_model_rearm_by_the_matrix_whatever_the_numbering() {
    let numberings = [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ];
    let rows: [&[(usize, usize)]; 6] = [
        &[],
        &[(1, 2)],
        &[(2, 1)],
        &[(1, 2), (2, 1)],
        &[(0, 1), (1, 2)],
        &[(0, 2), (2, 1), (1, 0)],
    ];
    for rows in rows {
        for projection in PROJECTIONS {
            let plain = declared(rows, numberings[0], projection.clone());
            for names in numberings {
                let other = declared(rows, names, projection.clone());
                assert_eq!(
                    plain, other,
                    "rows {rows:?}, numbered {names:?}, {projection:?}"
                );
            }
        }
    }
}

/// Everything that a run computed; `{:?}` of an f64 tells any two values apart.
fn all_of(trajectory: &Run) -> (Vec<u64>, Vec<u64>, String) {
    let rest = format!(
        "{:?} {:?} {:?}",
        trajectory.status(),
        trajectory.crossings(),
        trajectory.modes()
    );
    (
        trajectory.times().iter().map(|t| t.to_bits()).collect(),
        trajectory.states().iter().map(|x| x.to_bits()).collect(),
        rest,
    )
}

fn pairs_are_pairs<S: Flow + EventFunction>(system: &S) {
    let tilted = [0.1, 2.4, -0.03, 0.3, -0.5, 0.4];
    for projection in PROJECTIONS {
        let run = |rearm| {
            let integrator = Integrator::new(system)
                .unwrap()
                .projection(projection.clone());
            integrator
                .rearm(rearm)
                .integrate(&Start::at(0.0).x(&tilted), 2.0)
                .unwrap()
        };
        let pairs = run(Rearm::Pairs);
        let matrix = run(Rearm::Matrix(RearmMatrix::pairs(system.count())));
        assert_eq!(*pairs.status(), Status::ReachedEnd, "{projection:?}");
        assert!(pairs.crossings().len() > 20, "{projection:?}");
        assert_eq!(all_of(&pairs), all_of(&matrix), "{projection:?}");
    }
}

#[test]
fn the_ready_made_matrix_of_pairs_is_pairs_bit_for_bit() {
    pairs_are_pairs(&VerticalPlate::new(PlateParameters::with_springs(10)).unwrap());
    pairs_are_pairs(&NormalPlate::new(PlateParameters::with_springs(10)).unwrap());
}

/// Two rooms that know nothing of each other, each with a heater that is on from 19 °C to 21 °C: which is
/// switched first does not matter, however close in time.
#[test]
fn rooms_apart_are_not_doubted_for_their_order() {
    let rooms = || {
        Sketch::new(2, |_, x, mode, dx| {
            for (i, (dx, x)) in dx.iter_mut().zip(x).enumerate() {
                let heats = if mode.contains(2 * i) { 0.0 } else { 10.0 };
                *dx = heats - 0.3 * (x - 10.0);
            }
        })
        .events(
            [Watch::RISING, Watch::FALLING, Watch::RISING, Watch::FALLING],
            |k, _, x, _| x[k / 2] - if k % 2 == 0 { 21.0 } else { 19.0 },
        )
    };
    for rtol in [1e-4, 1e-6, 1e-8] {
        for apart in [1e-1, 1e-2, 1e-3, 3e-4, 1e-4, 1e-6, 0.0] {
            let mut matrix = RearmMatrix::new(4);
            for hot in [0, 2] {
                let (hot, cold) = (Guard::rising(hot), Guard::falling(hot + 1));
                matrix = matrix.arm(hot, cold).unwrap().arm(cold, hot).unwrap();
            }
            let system = rooms();
            let integrator = Integrator::new(&system).unwrap().rtol(rtol).atol(rtol);
            // Both are off.
            let (mode, x) = (Mode::with(4, &[0, 1, 2, 3]), [19.5, 19.5 + apart]);
            let start = Start::at(0.0).x(&x).mode(&mode);
            let mut integrator = integrator.rearm(Rearm::Matrix(matrix));
            let run = integrator.integrate(&start, 0.6).unwrap();
            assert_eq!(run.crossings().len(), 4);
            assert!(run.is_guaranteed(), "{rtol:e} {apart:e} {:?}", run.doubts());
        }
    }
}
