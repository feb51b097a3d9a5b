//! The first step behind a crossing, whose length follows from little: where it is far too long its error estimate may
//! be small by chance.

use saltation::{Crossing, EventFunction, Flow, Integrator, Mode, Start, Stop, Watch};

use crate::fixtures::support::{Sketch, SplitMix64};

/// `x' = 1`, and `y' = c + 0.3 cos(1.5 x + p)` where `c` falls from 1 to 1/2 at `x = g`; another guard stands close
/// behind.
#[test]
fn a_quadrature_that_is_switched_stays_within_its_tolerance() {
    for rtol in [1e-5, 1e-6, 1e-7, 1e-8] {
        for i in 0..4_000 {
            let phase = std::f64::consts::TAU * f64::from(i % 400) / 400.0;
            let switch = 0.6 + 0.1 * f64::from(i / 400);
            let quadrature = Sketch::new(2, move |_, x, mode, dx| {
                let constant = if mode.contains(0) { 0.5 } else { 1.0 };
                dx.copy_from_slice(&[1.0, constant + 0.3 * (1.5 * x[0] + phase).cos()]);
            })
            .events([Watch::BOTH; 2], move |k, _, x, _| {
                x[0] - switch - 0.25 * k as f64
            });
            let mut integrator = Integrator::new(&quadrature).unwrap().rtol(rtol).atol(rtol);
            let start = Start::at(0.0).x(&[0.0, 0.0]);
            let run = integrator.integrate(&start, 3.0).unwrap();
            let wave = 0.2 * ((4.5 + phase).sin() - phase.sin());
            let off = run.state()[1] - (switch + 0.5 * (3.0 - switch) + wave);
            // A few steps, each off by no more than three tolerances of values up to 2.3.
            assert!(
                off.abs() < 20.0 * rtol,
                "{rtol:e}, {phase}, {switch}: {off:e}"
            );
        }
    }
}

/// A neuron, `v' = −v/τ + I + A sin ωt`, that fires at `v = 1` and starts from 0 again.
struct Neuron {
    tau: f64,
    current: f64,
    amplitude: f64,
    frequency: f64,
}

impl Flow for Neuron {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx[0] = -x[0] / self.tau + self.current + self.amplitude * (self.frequency * t).sin();
    }
}

impl EventFunction for Neuron {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] - 1.0
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::RISING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        crossing.x[0] = 0.0;
        Ok(())
    }
}

impl Neuron {
    /// The motion that all others approach.
    fn driven(&self, t: f64) -> f64 {
        let (rate, phase) = (1.0 / self.tau, self.frequency * t);
        let wave = rate * phase.sin() - self.frequency * phase.cos();
        let size = rate * rate + self.frequency * self.frequency;
        self.current * self.tau + self.amplitude * wave / size
    }

    /// The state a time after it has fired, and its rate.
    fn since(&self, fired: f64, t: f64) -> [f64; 2] {
        let x = self.driven(t) - self.driven(fired) * (-(t - fired) / self.tau).exp();
        let mut rate = [0.0];
        self.flow(t, &[x], &Mode::new(1), &mut rate);
        [x, rate[0]]
    }

    /// Times of firing before `end`, by short steps and bisection; none where one of them grazes.
    fn firings(&self, end: f64) -> Option<Vec<f64>> {
        let (mut fired, mut times) = (0.0, Vec::new());
        let mut t = 0.0;
        while t < end {
            let (mut before, mut after) = (t, t + 1e-2);
            if self.since(fired, after)[0] >= 1.0 {
                while after - before > 1e-14 * end {
                    let middle = 0.5 * (before + after);
                    if self.since(fired, middle)[0] >= 1.0 {
                        after = middle;
                    } else {
                        before = middle;
                    }
                }
                if self.since(fired, after)[1] < 0.2 {
                    return None;
                }
                fired = after;
                times.push(after);
            }
            t = after;
        }
        Some(times)
    }
}

#[test]
fn a_neuron_fires_when_it_does() {
    let mut compared = 0;
    for (seed, rtol) in (0..300).flat_map(|seed| [1e-5, 1e-6, 1e-7].map(|rtol| (seed, rtol))) {
        let mut draw = SplitMix64(seed);
        let neuron = Neuron {
            tau: draw.between(1.0, 5.0),
            current: draw.between(1.2, 3.0),
            amplitude: draw.between(0.2, 1.0),
            frequency: draw.between(0.5, 6.0),
        };
        let Some(exact) = neuron.firings(20.0) else {
            continue;
        };
        let mut integrator = Integrator::new(&neuron).unwrap().rtol(rtol).atol(rtol);
        let start = Start::at(0.0).x(&[0.0]);
        let run = integrator.integrate(&start, 20.0).unwrap();
        let near_end = exact.last().is_none_or(|last| 20.0 - last < 1e-2);
        if near_end || !run.is_guaranteed() {
            continue;
        }
        compared += 1;
        assert_eq!(run.crossings().len(), exact.len(), "{seed}, {rtol:e}");
        for (crossing, t) in run.crossings().iter().zip(&exact) {
            let off = (crossing.t - t).abs();
            // Up to fifty spikes, each with an error of some tolerances that shifts all that follow.
            assert!(off < 300.0 * rtol, "{seed}, {rtol:e}: {off:e} at {t}");
        }
    }
    assert!(compared > 600, "{compared}");
}
