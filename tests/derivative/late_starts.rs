//! Time has no origin: derivatives of runs that begin late are those of runs that begin at zero, but
//! for the rounding of their times.

use saltation::derivative::{Verdict, check_derivatives, gradient_row};
use saltation::{Integrator, Mode, Start, Watch, flow_fn};

use crate::sketch::Sketch;

const STARTS: [f64; 6] = [0.0, 1e3, 1e5, -1e6, 1e7, 1e9];

/// What a difference of values that are rounded as the times are may be off by.
fn allowed(t0: f64) -> f64 {
    1e-8 + 4.0 * f64::EPSILON * t0.abs()
}

/// `x' = 1`, from the crossing of `x − 1 − a sin(t − t₀)` on `x' = 2`; no row is written.
#[test]
fn guards_that_move_have_their_rows() {
    let amplitude = 0.4;
    for t0 in STARTS {
        let system = || {
            let flow = flow_fn(1, |_, _, mode, dx| {
                dx[0] = if mode.contains(0) { 2.0 } else { 1.0 };
            });
            flow.with_events(1, move |_, t, x: &[f64]| {
                x[0] - 1.0 - amplitude * (t - t0).sin()
            })
        };
        let mut crossing: f64 = 1.0;
        for _ in 0..200 {
            crossing = 1.0 + amplitude * crossing.sin();
        }
        let rate = 1.0 - amplitude * crossing.cos();
        let mut integrator = Integrator::new(system()).unwrap().rtol(1e-9).atol(1e-9);
        let d = integrator
            .derivative(&Start::at(t0).x(&[0.0]), t0 + crossing + 0.5)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Classical);
        let off = (d.matrix().unwrap()[(0, 0)] - (1.0 + 1.0 / rate)).abs();
        assert!(off < allowed(t0), "{t0:e} {off:e}");
        let off = (d.event_time_row(0).unwrap()[0] + 1.0 / rate).abs();
        assert!(off < allowed(t0), "{t0:e} {off:e}");
        let x = [1.0 + amplitude * crossing.sin()];
        let (_, moving) = gradient_row(&system(), 0, t0 + crossing, &x, &Mode::new(1)).unwrap();
        let off = (moving + amplitude * crossing.cos()).abs();
        assert!(off < allowed(t0), "{t0:e} {off:e}");
    }
}

/// A row that is right is found right.
#[test]
fn rows_are_checked_whenever_it_is() {
    for t0 in STARTS {
        let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
            .events([Watch::RISING], move |_, t, x, _| {
                x[0] - 0.4 * (t - t0).sin()
            })
            .gradient(move |_, t, _, _, row| {
                row[0] = 1.0;
                Some(-0.4 * (t - t0).cos())
            });
        let report = check_derivatives(&system, t0 + 0.3, &[0.2], &Mode::new(1)).unwrap();
        let worst = report.worst.map_or(0.0, |worst| worst.error);
        assert!(worst < 1e-9, "{t0:e} {worst:e}");
    }
}

/// At the crossing of 1/2 the second state takes a value that depends on the time; its rise carries it
/// across a guard of its own, whose reset moves the first.
#[test]
fn resets_that_read_the_time_have_their_derivatives() {
    for t0 in STARTS {
        for chained in [false, true] {
            let second = if chained { Watch::RISING } else { Watch::NONE };
            let system = Sketch::new(2, |_, _, _, dx| dx.copy_from_slice(&[0.8, 0.1]))
                .events([Watch::RISING, second], |k, _, x, _| {
                    if k == 0 { x[0] - 0.5 } else { x[1] }
                })
                .reset(move |t, crossed, x, _| {
                    for guard in crossed.guards() {
                        if guard.guard.event == 0 {
                            x[1] = 1.0 + 0.5 * (t - t0).sin();
                        } else {
                            x[0] += 0.25;
                        }
                    }
                    Ok(())
                });
            let mut integrator = Integrator::new(&system).unwrap().rtol(1e-9).atol(1e-9);
            let crossing = 0.5 / 0.8;
            let d = integrator
                .derivative(&Start::at(t0).x(&[0.0, -0.5]), t0 + crossing + 0.1)
                .unwrap();
            let found = d
                .matrix()
                .unwrap_or_else(|why| panic!("{t0:e} {chained} {why}"));
            // It comes later by dx/0.8 the lower it starts, and rises by 0.1 from then on.
            let by_time = 0.5 * crossing.cos() - 0.1;
            let off = (found[(1, 0)] + by_time / 0.8).abs();
            assert!(off < 4.0 * allowed(t0), "{t0:e} {chained} {off:e}");
            assert!(found[(1, 1)].abs() < 1e-9);
        }
    }
}
