//! The error of the state where a guard is crossed: that of the tolerance there, however far the
//! step would have gone, and what a projection misses the guard by.

use saltation::{
    Arrival, EventFunction, Flow, Integrator, Mode, Projection, Run, Start, Status, Watch,
};

/// `x' = 1 + sin(9.5 t)/2` up to `x = b`.
struct Walk {
    b: f64,
}

impl Flow for Walk {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, t: f64, _x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx[0] = 1.0 + 0.5 * (9.5 * t).sin();
    }
}

impl EventFunction for Walk {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] - self.b
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::RISING.and_stop()
    }
}

/// In a step that just passes the error test the interpolant is up to 7.87 tolerances off.
#[test]
fn a_step_that_goes_far_beyond_a_guard_is_exact_up_to_it() {
    for b in [0.5, 0.05, 0.005, 0.0005] {
        for rtol in [1e-6, 1e-8, 1e-10] {
            for k in 0..50 {
                let t0 = 0.04 * f64::from(k);
                let mut integrator = Integrator::new(Walk { b }).unwrap();
                integrator = integrator.rtol(rtol).atol(1e-6 * rtol);
                let run = integrator
                    .integrate(&Start::at(t0).x(&[-b]), t0 + 4.0)
                    .unwrap();
                assert!(matches!(run.status(), Status::Stopped { .. }));
                let t = run.t();
                let exact = -b + (t - t0) + 0.5 / 9.5 * ((9.5 * t0).cos() - (9.5 * t).cos());
                let off = (run.state()[0] - exact).abs();
                let rounding = 8.0 * f64::EPSILON * t;
                let case = format!("b {b}, {rtol:e}, {t0}");
                assert!(off < 8.0 * rtol * b + rounding, "{case}: {off:e}");
                // The guard moves at a rate of at most 1.5, and its error is not larger than what
                // is said.
                let late = run.crossings()[0].time_error;
                assert!(off < 1.5 * late + rounding, "{case}: {off:e}, {late:e}");
            }
        }
    }
}

/// A two-point switch about zero: the state is small all the time, and steps in one mode would
/// leave far beyond.
struct Switch {
    b: f64,
}

impl Flow for Switch {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let on = if mode.contains(0) { 0.0 } else { 14.0 };
        dx[0] = -x[0] - 3.8 + on + 0.5 * (9.5 * t).sin();
    }
}

impl EventFunction for Switch {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], mode: &Mode) -> f64 {
        x[0] + if mode.contains(0) { self.b } else { -self.b }
    }
}

/// The state is off by 8 tolerances at most at each crossing. It goes on faster than it came, by a
/// factor of at most 3.5, and is late by as much more.
#[test]
fn a_switch_that_keeps_the_state_small_keeps_its_error_small() {
    for b in [0.5, 0.05, 0.005] {
        for projection in [Projection::Auto, Projection::Off] {
            let end = |rtol: f64| {
                let mut integrator = Integrator::new(Switch { b }).unwrap();
                integrator = integrator.rtol(rtol).atol(1e-3 * rtol);
                integrator = integrator.projection(projection.clone());
                integrator
                    .integrate(&Start::at(0.0).x(&[0.0]), 40.0 * b)
                    .unwrap()
            };
            let exact = end(1e-13);
            for rtol in [1e-6, 1e-8, 1e-10] {
                let run = end(rtol);
                let crossings = run.crossings().len();
                assert_eq!(crossings, exact.crossings().len());
                let off = (run.state()[0] - exact.state()[0]).abs();
                let allowed = 3.5 * 8.0 * rtol * b * crossings as f64;
                assert!(off < allowed, "b {b}, {rtol:e}: {off:e} of {allowed:e}");
            }
        }
    }
}

/// `x' = 1` up to `x² = 1`: flights have no error, and landings by the slope of `x²` miss 1.
struct Parabola;

impl Flow for Parabola {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, _t: f64, _x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx[0] = 1.0;
    }
}

impl EventFunction for Parabola {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] * x[0] - 1.0
    }
}

#[test]
fn what_a_projection_misses_its_guard_by_is_in_the_stated_error_of_the_time() {
    for order in 1..=4 {
        let integrator = Integrator::new(Parabola).unwrap();
        let mut integrator = integrator.projection(Projection::eps(0.1, order));
        let run: Run = integrator
            .integrate(&Start::at(0.0).x(&[0.5]), 1.0)
            .unwrap();
        let crossing = &run.crossings()[0];
        assert_eq!(crossing.arrival, Arrival::Projected);
        let (late, stated) = ((crossing.t - 0.5).abs(), crossing.time_error);
        assert!(late <= stated, "order {order}: {late:e} of {stated:e}");
        // From √0.9 by its slope, 0.05/√0.9 s, where 1 − √0.9 are left.
        let by_slope = 0.05 / 0.9f64.sqrt() - (1.0 - 0.9f64.sqrt());
        assert!(order > 1 || (late / by_slope - 1.0).abs() < 1e-6);
    }
}
