//! What happens between the places where a run looks: between the ends of projections, at borders
//! of windows, before a root that was found first.

use saltation::{
    Doubt, EventFunction, Flow, Integrator, Interrupt, Mode, Projection, Resolution, Run, Start,
    Status, Stop, Watch, flow_fn,
};

use crate::fixtures::support::Sketch;

fn events_of(run: &Run) -> Vec<(usize, f64)> {
    let crossings = run.crossings().iter();
    crossings.map(|c| (c.guard.event, c.t)).collect()
}

fn assert_events(run: &Run, expected: &[(usize, f64)]) {
    let found = events_of(run);
    let fits = found.len() == expected.len()
        && (found.iter().zip(expected)).all(|(a, b)| a.0 == b.0 && (a.1 - b.1).abs() < 1e-9);
    assert!(fits, "{found:?}, expected {expected:?}");
    assert_eq!(*run.status(), Status::ReachedEnd);
}

/// The first guard makes the second state move; the third is passed up and down before the second,
/// and moves in the new mode only.
#[test]
fn a_hump_in_the_new_mode_is_not_jumped_over_by_a_projection() {
    for i in 0..20 {
        // from a little more than a hundredth of the run on
        let width = 0.0101 + 1e-4 * f64::from(i);
        let (centre, half) = (0.5 * width + 2e-4, 0.5 * width);
        // Event functions that do not read the mode: their rates are not evaluated anew at a
        // crossing.
        let system = flow_fn(2, |_, _, mode, dx| {
            dx[0] = 1.0;
            dx[1] = if mode.contains(0) { 1.0 } else { 0.0 };
        })
        .with_events(3, move |k, _, x| match k {
            0 => x[0] - 0.5,
            1 => x[0] - 0.5 - width - 4e-4,
            _ => half * half - (x[1] - centre).powi(2),
        });
        let mut integrator = Integrator::new(system).unwrap();
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0, 0.0]), 1.0)
            .unwrap();
        let (up, down) = (0.5 + centre - half, 0.5 + centre + half);
        let last = 0.5 + width + 4e-4;
        assert_events(&run, &[(0, 0.5), (2, up), (2, down), (1, last)]);
    }
}

/// By lines between samples the parabola A comes before the hump B, by their roots after it.
#[test]
fn a_hump_before_a_root_that_looked_earlier_is_not_forgotten() {
    let step = 0.0244;
    let system =
        Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events([Watch::BOTH; 2], move |k, _, x, _| {
            let s = x[0] / step;
            if k == 0 {
                -0.5 + 2.0 * s * s
            } else {
                1e-4 - (s - 0.48).powi(2)
            }
        });
    let run = Integrator::new(system)
        .unwrap()
        .fixed_step(step)
        .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
        .unwrap();
    assert_events(&run, &[(1, 0.47 * step), (1, 0.49 * step), (0, 0.5 * step)]);
}

/// The border of a window lies so close before a crossing that the guard counts as zero there.
#[test]
fn a_crossing_at_the_border_of_a_window_is_not_put_off() {
    let mut worst = 0.0_f64;
    for i in 0..400 {
        let at = 0.2 + 2.5e-4 * f64::from(i);
        let walk = Walk {
            at,
            noise: 1e-3,
            row: None,
        };
        let mut integrator = Integrator::new(walk).unwrap().fixed_step(0.5);
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
            .unwrap();
        assert_eq!(run.crossings().len(), 1);
        worst = worst.max((run.crossings()[0].t - at).abs());
    }
    assert!(worst < 1e-9, "{worst:e}");
}

/// A guard that hardly moves by itself, along a state whose error is more than its distance.
#[test]
fn a_guard_that_hardly_moves_is_doubted_within_the_error() {
    let run = |tolerance: f64| {
        let system = Sketch::new(2, |_, x, _, dx| {
            dx[0] = 40.0 * x[1];
            dx[1] = -40.0 * x[0];
        })
        .events([Watch::BOTH], |_, t, x, _| {
            let drift = x[0] * x[0] + x[1] * x[1] - 1.0;
            -1e-3 - 0.05 * (t - 1.0).powi(2) + 1e-2 * drift
        });
        let mut integrator = Integrator::new(system)
            .unwrap()
            .rtol(tolerance)
            .atol(tolerance);
        integrator
            .integrate(&Start::at(0.0).x(&[1.0, 0.0]), 2.0)
            .unwrap()
    };
    let touches = |d: &Doubt| matches!(d, Doubt::Touch { t, .. } if (t - 1.0).abs() < 0.1);
    let (coarse, fine) = (run(1e-3), run(1e-7));
    assert!(coarse.doubts().iter().any(touches), "{:?}", coarse.doubts());
    assert!(fine.is_guaranteed(), "{:?}", fine.doubts());
}

/// A walk at unit speed that meets a guard at `at`, with a row that says `row` for 1 where it is
/// written.
struct Walk {
    at: f64,
    noise: f64,
    row: Option<f64>,
}

impl Flow for Walk {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, _t: f64, _x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx[0] = 1.0;
    }
}

impl EventFunction for Walk {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] - self.at
    }
    fn gradient(
        &self,
        _k: usize,
        _t: f64,
        _x: &[f64],
        _mode: &Mode,
        row: &mut [f64],
    ) -> Option<f64> {
        row[0] = self.row?;
        Some(0.0)
    }
    fn event_tolerance(&self, _k: usize) -> f64 {
        self.noise
    }
}

#[test]
fn a_row_that_contradicts_its_samples_is_said() {
    let run = |row| {
        let walk = Walk {
            at: 0.5,
            noise: 0.0,
            row: Some(row),
        };
        Integrator::new(walk)
            .unwrap()
            .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
            .unwrap()
    };
    assert!(run(1.0).is_guaranteed());
    let wrong = run(2.0);
    assert_events(&wrong, &[(0, 0.5)]);
    assert!(!wrong.is_guaranteed() && wrong.statistics().unresolved == 1);
}

/// The row is right where the step starts, and the run ends on the guard: without narrower windows
/// the contradiction is met there only.
#[test]
fn a_row_that_contradicts_its_samples_on_the_guard_is_said() {
    let unresolved = |on_guard: f64| {
        let walk = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
            .events([Watch::RISING.and_stop()], |_, _, x, _| x[0] - 0.5)
            .gradient(move |_, _, x, _, row| {
                row[0] = if (x[0] - 0.5).abs() < 1e-3 {
                    on_guard
                } else {
                    1.0
                };
                Some(0.0)
            });
        let mut integrator = Integrator::new(walk)
            .unwrap()
            .resolution(Resolution::Samples);
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
            .unwrap();
        assert_eq!(run.crossings().len(), 1);
        let told = run.doubts().iter();
        let told =
            told.filter(|d| matches!(d, Doubt::Unresolved { guard, .. } if guard.event == 0));
        (told.count(), run.statistics().unresolved)
    };
    assert_eq!(unresolved(1.0), (0, 0));
    assert_eq!(unresolved(2.0), (1, 1));
}

/// The guard never comes near by its own motion; the error of the state is what brings it near.
#[test]
fn the_error_at_the_end_counts_for_guards_without_a_written_row() {
    let system = Sketch::new(3, |_, x, _, dx| {
        dx[0] = 300.0 * x[1];
        dx[1] = -300.0 * x[0];
        dx[2] = 1.0;
    })
    .events([Watch::BOTH], |_, _, x, _| x[2] - 10.02);
    let mut integrator = Integrator::new(system).unwrap().rtol(1e-6);
    let run = integrator
        .integrate(&Start::at(0.0).x(&[1.0, 0.0, 0.0]), 10.0)
        .unwrap();
    let at_end = |d: &Doubt| matches!(d, Doubt::AtEnd { .. });
    assert!(run.doubts().iter().any(at_end), "{:?}", run.doubts());
}

/// Many guards at hand, one after another: the flag is looked at between them too.
#[test]
fn an_interrupt_ends_a_cluster() {
    let interrupt = Interrupt::new();
    let flag = interrupt.clone();
    let system = Sketch::new(1, move |_, _, mode, dx| {
        dx[0] = 1.0;
        if mode.contains(3) {
            flag.set();
        }
    })
    .events([Watch::BOTH; 50], |k, _, x, _| x[0] - 0.5 - 1e-6 * k as f64);
    let mut integrator = Integrator::new(system)
        .unwrap()
        .fixed_step(0.4)
        .interrupt(&interrupt);
    let run = integrator
        .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
        .unwrap();
    assert!(matches!(run.status(), Status::Refused(Stop::Interrupted)));
    assert!(run.crossings().len() < 10, "{}", run.crossings().len());
}

/// The event function is rounded to more than its numerical zero, so that the border of its
/// neighbourhood lies beside it.
#[test]
fn a_neighbourhood_is_entered_once_where_the_run_ends_within_it() {
    for case in 0..40 {
        let at = 0.3 + 1e-3 * f64::from(case);
        for eps in [1e-9, 1e-7, 1e-5] {
            for before in [1e-3, 1e-2, 0.1, 0.5] {
                let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
                    .events([Watch::BOTH], move |_, _, x, _| {
                        31.0 * ((x[0] + 1e3) - (1e3 + at))
                    });
                let projection = Projection::eps(eps, 1);
                let mut integrator = Integrator::new(system).unwrap().projection(projection);
                let end = at - before * eps / 31.0;
                let run = integrator
                    .integrate(&Start::at(0.0).x(&[0.0]), end)
                    .unwrap();
                assert_eq!(*run.status(), Status::ReachedEnd);
                let steps = run.statistics().steps;
                assert!(steps < 40, "{at}, {eps:e}, {before}: {steps} steps");
            }
        }
    }
}

/// A guard moves away from so close before its surface that its noise is larger than its distance, and not known to
/// the run: 8 of these 5,000 were said not to be live though their rows say that they move away.
#[test]
fn a_guard_that_moves_away_is_not_passed_by_noise() {
    for case in 0..5000_u64 {
        let dice = move |bits: u64, i: u64| {
            let mixed = (bits ^ (case << 3) ^ i).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mixed = (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            (mixed >> 32) as f64 / f64::from(u32::MAX)
        };
        let size = 10_f64.powf(-7.0 + 5.0 * dice(0, 1));
        let distance = size * dice(0, 2);
        let slope = 10_f64.powf(2.0 * dice(0, 3));
        let event =
            move |x: f64| size * (dice(x.to_bits(), 4) - 0.5) - distance - slope * (x - 1.0);
        let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
            .events([Watch::RISING], move |_, _, x, _| event(x[0]))
            .gradient(move |_, _, _, _, row| {
                row[0] = -slope;
                Some(0.0)
            });
        let mut integrator = Integrator::new(system).unwrap().max_steps(300);
        let run = integrator
            .integrate(&Start::at(1.0).x(&[1.0]), 2.0)
            .unwrap();
        // One that starts beyond its surface falls through it, where its noise says nothing of its rate.
        let starts_before = event(1.0) < 0.0;
        let is_through = *run.status() == Status::ReachedEnd;
        assert!(is_through || !starts_before, "{case}: {:?}", run.status());
    }
}
