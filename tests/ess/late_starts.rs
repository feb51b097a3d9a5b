//! Time has no origin: a run that begins late is the run that begins at zero, but for the rounding
//! of its times.

use saltation::{Integrator, Start, flow_fn};

/// Starts, up to the seconds since 1970.
const STARTS: [f64; 5] = [0.0, 1e3, -1e6, 1e6, 1.7e9];

/// The distance of a time to the next.
fn tick(t: f64) -> f64 {
    f64::EPSILON * t.abs().max(1.0)
}

/// A clock as a state, and a pendulum: steps as long as the clock advances.
#[test]
fn states_do_not_drift_from_the_time() {
    for t0 in STARTS {
        for step in [None, Some(1e-3), Some(1.0 / 1024.0)] {
            let flow = flow_fn(3, |_, x, _, dx| {
                dx.copy_from_slice(&[1.0, x[2], -x[1]]);
            });
            let system = flow.with_events(1, |_, _, x: &[f64]| x[0] - 5.0);
            let integrator = Integrator::new(system).unwrap().rtol(1e-10).atol(1e-10);
            let mut integrator = match step {
                None => integrator,
                Some(step) => integrator.fixed_step(step),
            };
            let start = Start::at(t0).x(&[0.0, 1.0, 0.0]);
            let run = integrator.integrate(&start, t0 + 10.0).unwrap();
            assert!(run.is_guaranteed());
            // A tick where the run is split at the event.
            let off = (run.state()[0] - (run.t() - t0)).abs();
            let allowed = 2.0 * tick(t0 + 10.0) + 1e-13;
            assert!(off <= allowed, "{t0:e} {step:?} {off:e}");
            let [event] = run.crossings() else {
                panic!("{t0:e} {step:?} {:?}", run.crossings())
            };
            let off = (event.t - t0 - 5.0).abs();
            assert!(off <= allowed, "{t0:e} {step:?} {off:e}");
            let off = (run.state()[1] - 10.0_f64.cos()).abs();
            assert!(off <= 1e-9 + allowed, "{t0:e} {step:?} {off:e}");
        }
    }
}

/// The rows are not written, and the states rest: rates are differences in time alone.
#[test]
fn guards_of_the_clock_have_their_rates_whenever_it_is() {
    for t0 in STARTS {
        for (rate, phase) in [(0.5, 0.1), (1.0, 0.7), (3.0, 2.0)] {
            let wave = move |t: f64| (rate * (t - t0) + phase).sin() - 0.3;
            let rest = flow_fn(1, |_, _, _, dx| dx[0] = 0.0);
            let system = rest.with_events(1, move |_, t, _: &[f64]| wave(t));
            let mut integrator = Integrator::new(system).unwrap();
            let run = integrator
                .integrate(&Start::at(t0).x(&[0.0]), t0 + 20.0)
                .unwrap();
            assert!(run.is_guaranteed(), "{t0:e} {rate} {:?}", run.doubts());
            let expected = (rate * 20.0 + phase) / std::f64::consts::PI;
            let counted = run.crossings().len() as f64;
            assert!((counted - expected).abs() < 1.5, "{t0:e} {counted}");
            for event in run.crossings() {
                let exact = rate * (rate * (event.t - t0) + phase).cos();
                let off = (event.rate_before - exact).abs();
                assert!(off < 1e-7 * rate + tick(t0), "{t0:e} {rate} {off:e}");
            }
        }
    }
}
