//! Values that a model declares inadmissible: a start there, and a reset to there, are refused; a
//! model that declares nothing has both sides of every guard.

use saltation::models::IntegrateAndFire;
use saltation::{Guard, Integrator, Projection, Run, Start, Status, Stop, Watch};

use crate::fixtures::support::{Sketch, SplitMix64, falling};

const G: f64 = 9.81;
const FLOOR: std::ops::RangeInclusive<f64> = 0.0..=f64::INFINITY;

/// A ball over `floor`; a bounce takes it `to` a height above the floor, at half the speed.
fn bouncing(floor: f64, to: f64) -> Sketch {
    falling(G)
        .events([Watch::FALLING], move |_, _, x, _| x[0] - floor)
        .reset(move |_, _, x, _| {
            x[0] = floor + to;
            x[1] *= -0.5;
            Ok(())
        })
}

fn integrate(system: &Sketch, x0: &[f64]) -> Run {
    let mut integrator = Integrator::new(system).unwrap();
    integrator.integrate(&Start::at(0.0).x(x0), 0.6).unwrap()
}

/// The guard, the value and the time of an inadmissible state.
#[track_caller]
fn refused(run: &Run) -> (Guard, f64, f64) {
    match run.status() {
        Status::Refused(Stop::Inadmissible {
            guard,
            value,
            at,
            bound,
        }) => {
            assert!(bound.abs() < 1e-300 && at.state == run.state().as_slice());
            (*guard, *value, at.t)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_start_below_a_declared_floor_is_refused() {
    let run = integrate(&bouncing(0.0, 0.0).admissible(FLOOR), &[-1.0, 0.0]);
    assert_eq!(refused(&run), (Guard::falling(0), -1.0, 0.0));
    assert_eq!(
        run.status().to_string(),
        "refused: event function 0 is -1e0 at t = 0, beyond 0e0: the model declares that no start and no reset may leave the state there (EventFunction::admissible)"
    );
    // A ceiling.
    let up = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0);
    let up = up.events([Watch::RISING], |_, _, x, _| x[0]);
    let up = up.admissible(f64::NEG_INFINITY..=0.0);
    assert_eq!(
        refused(&integrate(&up, &[0.5])),
        (Guard::rising(0), 0.5, 0.0)
    );
    // Declared by a model of the library: a cell above its threshold would never fire.
    let cells = IntegrateAndFire::new(2, vec![2.0; 2], 1.0, 0.1, 1.0).unwrap();
    let run = Integrator::new(cells)
        .unwrap()
        .integrate(&Start::at(0.0).x(&[0.5, 1.5]), 1.0)
        .unwrap();
    assert_eq!(refused(&run), (Guard::rising(1), 0.5, 0.0));
}

#[test]
fn a_reset_to_below_a_declared_floor_is_refused() {
    let run = integrate(&bouncing(0.0, -1.0).admissible(FLOOR), &[1.0, 0.0]);
    let (guard, value, t) = refused(&run);
    assert_eq!(
        (guard, value, run.crossings().len()),
        (Guard::falling(0), -1.0, 1)
    );
    assert!((t - (2.0 / G).sqrt()).abs() < 1e-9);
}

#[test]
fn a_guard_without_declaration_has_both_sides() {
    // From below nothing is met; thrown below, the ball is on its way up through the floor.
    let below = integrate(&bouncing(0.0, 0.0), &[-1.0, 0.0]);
    assert_eq!(*below.status(), Status::ReachedEnd);
    assert!((below.state()[0] + 1.0 + 0.5 * G * 0.36).abs() < 1e-9);
    let thrown = integrate(&bouncing(0.0, -1.0), &[1.0, 0.0]);
    assert_eq!(
        (thrown.status(), thrown.crossings().len()),
        (&Status::ReachedEnd, 1)
    );
}

#[test]
fn zero_to_rounding_is_admissible_and_a_range_of_nan_is_not() {
    // 0.3 − (0.1 + 0.2) is −5.6e-17; a tolerance of the model counts as rounding.
    let system = bouncing(0.1 + 0.2, 0.0).admissible(FLOOR);
    let run = integrate(&system, &[0.3, 3.0]);
    assert_eq!(*run.status(), Status::ReachedEnd);
    let run = integrate(&system, &[0.3 - 1e-12, 1.0]);
    assert_eq!(refused(&run).0, Guard::falling(0));
    let nan = bouncing(0.0, 0.0).admissible(f64::NAN..=f64::INFINITY);
    let run = integrate(&nan, &[1.0, 0.0]);
    assert!(matches!(
        run.status(),
        Status::Refused(Stop::Inadmissible { .. })
    ));
}

#[test]
fn what_a_projection_leaves_beyond_the_floor_is_no_resets_doing() {
    // Order 1 lands up to 1e-3 beyond the floor, and the reset leaves the height as it is.
    let system = falling(G)
        .events([Watch::FALLING], |_, _, x, _| x[0])
        .reset(|_, _, x, _| {
            x[1] *= -0.9;
            Ok(())
        })
        .admissible(FLOOR);
    for projection in [
        Projection::eps(0.05, 1),
        Projection::horizon(0.02, 1),
        Projection::Auto,
        Projection::Off,
    ] {
        let mut integrator = Integrator::new(&system).unwrap().projection(projection);
        let run = integrator
            .integrate(&Start::at(0.0).x(&[1.0, 0.0]), 3.0)
            .unwrap();
        assert_eq!(
            (run.status(), run.crossings().len()),
            (&Status::ReachedEnd, 4)
        );
    }
}

/// A reset throws the state over the floor, which crosses at the same instant.
fn thrown_over(back: f64) -> Run {
    let system = Sketch::new(2, |_, _, _, dx| dx.copy_from_slice(&[0.0, 1.0]))
        .events([Watch::FALLING, Watch::RISING], |k, _, x, _| {
            if k == 0 { x[0] } else { x[1] - 0.25 }
        })
        .reset(move |_, crossed, x, _| {
            x[0] = if crossed.contains(0) { back } else { -1.0 };
            Ok(())
        });
    // The second guard may be passed: only what both admit is declared.
    let system = system.admissible(-0.5..=f64::INFINITY);
    integrate(&system, &[1.0, 0.0])
}

#[test]
fn a_state_thrown_over_the_floor_may_be_brought_back_at_the_same_instant() {
    let run = thrown_over(0.5);
    assert_eq!(
        (run.status(), run.crossings().len()),
        (&Status::ReachedEnd, 2)
    );
    // Brought to the same place it is left there.
    let run = thrown_over(-1.0);
    assert!(
        matches!(run.status(), Status::Refused(Stop::Inadmissible { guard, .. }) if *guard == Guard::falling(0)),
        "{:?}",
        run.status()
    );
}

/// Random floors, starts and resets: refused if, and only if, the start or the reset is below.
#[test]
fn random_starts_and_resets_are_refused_where_they_are_below() {
    let mut random = SplitMix64(12);
    let mut counts = [0; 3];
    for case in 0..600 {
        let (floor, start) = (random.between(-1.0, 1.0), random.between(-0.2, 1.0));
        let to = random.between(-0.3, 0.3);
        let system = bouncing(floor, to).admissible(FLOOR);
        let run = integrate(&system, &[floor + start, 0.0]);
        let falls = start > 0.0 && (2.0 * start / G).sqrt() < 0.6;
        let expected = if start < 0.0 {
            0
        } else if falls && to < 0.0 {
            1
        } else {
            2
        };
        counts[expected] += 1;
        if expected == 2 {
            assert_eq!(*run.status(), Status::ReachedEnd, "case {case}");
            continue;
        }
        let (guard, value, t) = refused(&run);
        let (below, when) = [(start, 0.0), (to, (2.0 * start / G).sqrt())][expected];
        assert_eq!(guard, Guard::falling(0), "case {case}");
        assert!(
            (value - below).abs() < 1e-12 && (t - when).abs() < 1e-6,
            "case {case}"
        );
    }
    assert!(counts.iter().all(|&n| n > 50), "{counts:?}");
}

/// What motion carried below is not held against it, but a reset may throw it no farther.
#[test]
fn what_moved_below_the_floor_may_not_be_thrown_deeper() {
    let thrown_to = |depth: f64| {
        let system = Sketch::new(1, |_, _, _, dx| dx[0] = -2.2)
            .events([Watch::NONE, Watch::FALLING], |k, t, x, _| {
                if k == 0 { x[0] } else { 0.5 - t }
            })
            .reset(move |_, _, x, _| {
                x[0] = -depth;
                Ok(())
            })
            .admissible(FLOOR);
        integrate(&system, &[0.1])
    };
    for depth in [0.5, 1.0] {
        assert_eq!(*thrown_to(depth).status(), Status::ReachedEnd, "{depth}");
    }
    for depth in [1.001, 5.0, 9.0, 11.0] {
        let (guard, value, _) = refused(&thrown_to(depth));
        assert_eq!(guard, Guard::falling(0));
        assert!((value + depth).abs() < 1e-12, "{depth}: {value}");
    }
}
