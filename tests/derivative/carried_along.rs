//! Crossings that resets carry along at a corner have the times of the guards whose resets carry them: against runs
//! beside.

use saltation::derivative::Verdict;
use saltation::{Guard, Integrator, Run, Start, Status, Watch};

use crate::fixtures::draw::Draw;
use crate::sketch::Sketch;

/// Fields and resets are constant: differences of runs are exact but for rounding over this.
const BESIDE: f64 = 1.0 / 4096.0;
/// States that resets moved back do not meet their guards before it (s).
const END: f64 = 1.05;

/// Guards that are met so far apart are one corner (s).
const APART: f64 = 1e-11;

/// A guard of each state, all met at 1 s, or up to [`APART`] behind it. The rates of the states depend on the sides of all guards. Crossed, guard `k`
/// may take its own state back, and may put one of the others ahead of its guard, wherever that is: the outcome does
/// not depend on the order.
fn corner(n: usize, draw: &mut Draw) -> (Sketch, Vec<f64>) {
    let base: Vec<f64> = (0..n).map(|_| draw.rounded(0.5, 1.5, 6)).collect();
    let apart = APART * f64::from(draw.whole(0, 1));
    let start = (0..n)
        .map(|k| -base[k] * (1.0 + apart * draw.between(0.0, 1.0)))
        .collect();
    let more: Vec<f64> = (0..n * n).map(|_| draw.rounded(-0.1, 0.4, 6)).collect();
    let back: Vec<bool> = (0..n).map(|_| draw.whole(0, 1) == 1).collect();
    let ahead: Vec<Option<usize>> = (0..n)
        .map(|k| (0..n).find(|&other| other != k && draw.whole(0, 5) == 0))
        .collect();
    let system = Sketch::new(n, move |_, _, mode, dx| {
        for (i, dx) in dx.iter_mut().enumerate() {
            let crossed = (0..n).filter(|&k| mode.contains(k));
            *dx = base[i] + crossed.map(|k| more[n * i + k]).sum::<f64>();
        }
    })
    .events_of(n, Watch::BOTH, |k, _, x, _| x[k])
    .reset(move |_, crossed, x, _| {
        let rising = || {
            let guards = crossed.guards().iter().map(|c| c.guard);
            guards.filter(|g| g.side_after()).map(|g| g.event)
        };
        for other in rising().filter_map(|k| ahead[k]) {
            x[other] = 0.5;
        }
        for k in rising().filter(|&k| back[k]) {
            x[k] -= 0.25;
        }
        Ok(())
    });
    (system, start)
}

/// The time of a crossing of `guard` behind `earlier` ones, if there is one.
fn time_of(run: &Run, guard: Guard, earlier: usize) -> Option<f64> {
    let crossings = run.crossings().iter();
    let mut own = crossings.filter(|c| c.guard == guard).map(|c| c.t);
    own.nth(earlier)
}

#[test]
fn crossings_carried_along_shift_with_the_guard_that_carries_them() {
    let (mut compared, mut back, mut again, mut rows) = (0, 0, 0, 0);
    let (mut skipped, mut fewer) = (0, 0);
    for seed in 0..120 {
        let mut draw = Draw(seed);
        let n = 2 + usize::try_from(seed % 3).unwrap();
        let (system, start) = corner(n, &mut draw);
        let mut integrator = Integrator::new(&system).unwrap();
        let d = integrator.derivative(&Start::at(0.0).x(&start), END);
        let d = d.unwrap();
        if !matches!(d.verdict(), Verdict::Classical | Verdict::Bouligand) {
            skipped += 1;
            continue;
        }
        for _ in 0..4 {
            let v = draw.direction(n);
            let beside: Vec<f64> = start.iter().zip(&v).map(|(x, v)| x + BESIDE * v).collect();
            let mut integrator = Integrator::new(&system).unwrap();
            let run = integrator.integrate(&Start::at(0.0).x(&beside), END);
            let run = run.unwrap();
            if *run.status() != Status::ReachedEnd {
                // Guards that put each other back and ahead go on for ever.
                continue;
            }
            for (i, crossing) in d.run().crossings().iter().enumerate() {
                let guard = crossing.guard;
                let before = &d.run().crossings()[..i];
                let earlier = before.iter().filter(|c| c.guard == guard).count();
                let shift = d.event_time_shift(i, &v);
                let Some(other) = time_of(&run, guard, earlier) else {
                    // Another order has fewer.
                    fewer += 1;
                    assert!(shift.is_err(), "seed {seed}: {guard} {shift:?}");
                    continue;
                };
                let shift = shift.unwrap();
                let expected = (other - crossing.t) / BESIDE;
                // What is apart is not at the corner.
                let most = 1e-9 + 10.0 * APART / BESIDE;
                let what = format!("seed {seed}: crossing {i}, {guard}, {shift} and {expected}");
                assert!((shift - expected).abs() < most, "{what}");
                if let Ok(row) = d.event_time_row(i) {
                    let by_row: f64 = row.iter().zip(&v).map(|(row, v)| row * v).sum();
                    assert!((by_row - expected).abs() < most, "row {by_row}, {what}");
                    rows += 1;
                }
                compared += 1;
                back += usize::from(!guard.side_after());
                again += usize::from(earlier > 0);
            }
        }
    }
    let found = format!("{skipped} {fewer} {compared} {back} {again} {rows}");
    assert!(compared > 1500 && back > 400 && again > 10, "{found}");
    assert!(fewer > 10 && rows > 100 && skipped < 20, "{found}");
}

/// Guard 0 falls back, and guard 1 puts it ahead again, where it stays; met behind guard 1 it stays at once. Both rates
/// are one, so that its first crossing has one row.
#[test]
fn a_second_crossing_has_no_row_of_the_first() {
    let system = Sketch::new(3, |_, _, _, dx| dx.copy_from_slice(&[1.0, 1.0, 0.0]))
        .events([Watch::BOTH; 2], |k, _, x, _| x[k])
        .reset(|_, crossed, x, mode| {
            if crossed.guards().iter().any(|c| c.guard == Guard::rising(0)) {
                x[0] = if mode.contains(1) { 0.5 } else { -0.25 };
                x[2] = 1.0;
            } else if x[2] > 0.5 && crossed.contains(1) {
                x[0] = 0.25;
            }
            Ok(())
        });
    let start = Start::at(0.0).x(&[-1.0, -1.0 - APART, 0.0]);
    let mut integrator = Integrator::new(&system).unwrap();
    let d = integrator.derivative(&start, END).unwrap();
    assert_eq!(*d.verdict(), Verdict::Bouligand);
    let met: Vec<Guard> = d.run().crossings().iter().map(|c| c.guard).collect();
    let [rising, falling] = [Guard::rising(0), Guard::falling(0)];
    assert_eq!(met, [rising, falling, Guard::rising(1), rising]);
    let off = |found: f64, exact: f64| (found - exact).abs() < 1e-9;
    let row = d.event_time_row(0).unwrap();
    assert!(off(row[0], -1.0) && off(row[1], 0.0));
    // The second is at the time of guard 1, where that is met last.
    assert!(d.event_time_row(3).is_err());
    let shift = |index, v: [f64; 3]| d.event_time_shift(index, &v);
    assert!(off(shift(3, [0.0, -1.0, 0.0]).unwrap(), 1.0));
    assert!(shift(3, [-1.0, 0.0, 0.0]).is_err());
}
