//! What several modules need: a generator of numbers, wrappers that count or renumber, a fit.

#[path = "../common/random.rs"]
mod random;
#[path = "../common/sketch.rs"]
mod sketch;

use std::cell::Cell;

use nalgebra::DVector;
use saltation::{
    CrossedGuard, Crossing, EventFunction, Flow, Integrator, Mode, Projection, Stop, Trajectory,
    Watch,
};

pub(crate) use random::SplitMix64;
pub(crate) use sketch::{Sketch, falling};

#[test]
fn the_generator_draws_the_starts_of_the_spec() {
    let mut random = SplitMix64(0);
    let starts: Vec<(f64, f64)> = (0..120)
        .map(|_| (2.0 + random.unit(), -0.1 + 0.2 * random.unit()))
        .collect();
    for (i, z, theta) in [
        (1, 2.883310808213642, -0.013694400590298),
        (2, 2.026433771592598, 0.094176395630766),
        (120, 2.884016816387869, -0.007918251330268),
    ] {
        let start: (f64, f64) = starts[i - 1];
        assert!((start.0 - z).abs() < 1e-14 && (start.1 - theta).abs() < 1e-14);
    }
}

/// Largest absolute difference of two states.
pub(crate) fn distance(a: &DVector<f64>, b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let gap = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    // A NaN must not pass for a small distance.
    gap.fold(0.0, |most, d| if d <= most { most } else { d })
}

/// Root of the sum of squares of the difference of two states.
pub(crate) fn euclidean(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).powi(2))
        .sum::<f64>()
        .sqrt()
}

/// Slope of the least-squares line through (ln x, ln y).
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let mean = |f: fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let above: f64 = logs.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let below: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
    above / below
}

#[test]
fn the_fit_finds_the_power_of_a_power_law() {
    let cubic: Vec<(f64, f64)> = [0.1, 0.2, 0.7].map(|x: f64| (x, 5.0 * x.powi(3))).into();
    assert!((slope(&cubic) - 3.0).abs() < 1e-12);
}

/// One run at `rtol = tolerance`, `atol = tolerance / 10`, as the reference rows are stated.
pub(crate) fn run<S: Flow + EventFunction>(
    system: S,
    tolerance: f64,
    projection: Projection,
    x0: &[f64],
    tf: f64,
) -> Trajectory {
    Integrator::new(system)
        .expect("a system with states")
        .rtol(tolerance)
        .atol(tolerance / 10.0)
        .projection(projection)
        .integrate(0.0, x0, tf)
        .expect("good input")
}

/// The same system with its event functions renumbered: number `k` outside is `inside[k]` within.
pub(crate) struct Permuted<S> {
    pub(crate) system: S,
    pub(crate) inside: Vec<usize>,
}

impl<S: EventFunction> Permuted<S> {
    pub(crate) fn new(system: S, inside: Vec<usize>) -> Self {
        assert_eq!(system.count(), inside.len());
        Self { system, inside }
    }

    fn within(&self, mode: &Mode) -> Mode {
        let mut within = Mode::of(&self.system);
        for k in mode.ones() {
            within.set(self.inside[k], true);
        }
        for j in mode.flags() {
            within.set_flag(j, true);
        }
        within
    }
}

impl<S: Flow + EventFunction> Flow for Permuted<S> {
    fn dim(&self) -> usize {
        self.system.dim()
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.system.flow(t, x, &self.within(mode), dx);
    }
    fn jacobian_times(&self, t: f64, x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        self.system.jacobian_times(t, x, &self.within(mode), v, out)
    }
    fn flip(&self, t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        self.system
            .flip(t, x, &self.within(mode), self.inside[k], dx)
    }
}

impl<S: EventFunction> EventFunction for Permuted<S> {
    fn count(&self) -> usize {
        self.system.count()
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        self.system.event(self.inside[k], t, x, &self.within(mode))
    }
    fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        let mut within = vec![0.0; h.len()];
        self.system.events(t, x, &self.within(mode), &mut within);
        for (h_k, &k) in h.iter_mut().zip(&self.inside) {
            *h_k = within[k];
        }
    }
    fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        let mode = self.within(mode);
        self.system.gradient(self.inside[k], t, x, &mode, dh)
    }
    fn watch(&self, k: usize) -> Watch {
        self.system.watch(self.inside[k])
    }
    fn min_rate(&self, k: usize) -> Option<f64> {
        self.system.min_rate(self.inside[k])
    }
    fn event_tolerance(&self, k: usize) -> f64 {
        self.system.event_tolerance(self.inside[k])
    }
    fn flags(&self) -> usize {
        self.system.flags()
    }
    fn ignores_mode(&self) -> bool {
        self.system.ignores_mode()
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (crossed, mode) = (crossing.crossed, crossing.mode.clone());
        let mut set: Vec<CrossedGuard> = crossed.guards().to_vec();
        for c in &mut set {
            c.guard.event = self.inside[c.guard.event];
        }
        set.sort_by_key(|c| c.guard);
        let mut within = self.within(&mode);
        self.system
            .on_crossing(&mut crossing.of_guards(&set, &mut within))?;
        for (k, &inside) in self.inside.iter().enumerate() {
            crossing.mode.set(k, within.contains(inside));
        }
        Ok(())
    }
}

/// The same system, counting how often each function is called.
pub(crate) struct Counting<S> {
    pub(crate) system: S,
    pub(crate) flow: Cell<usize>,
    pub(crate) flip: Cell<usize>,
    pub(crate) event: Cell<usize>,
    pub(crate) events: Cell<usize>,
    pub(crate) gradient: Cell<usize>,
    pub(crate) on_crossing: Cell<usize>,
}

impl<S> Counting<S> {
    pub(crate) fn new(system: S) -> Self {
        Self {
            system,
            flow: Cell::new(0),
            flip: Cell::new(0),
            event: Cell::new(0),
            events: Cell::new(0),
            gradient: Cell::new(0),
            on_crossing: Cell::new(0),
        }
    }
}

fn count(calls: &Cell<usize>) {
    calls.set(calls.get() + 1);
}

impl<S: Flow> Flow for Counting<S> {
    fn dim(&self) -> usize {
        self.system.dim()
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        count(&self.flow);
        self.system.flow(t, x, mode, dx);
    }
    fn flip(&self, t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        let done = self.system.flip(t, x, mode, k, dx);
        if done {
            count(&self.flip);
        }
        done
    }
}

impl<S: EventFunction> EventFunction for Counting<S> {
    fn count(&self) -> usize {
        self.system.count()
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        count(&self.event);
        self.system.event(k, t, x, mode)
    }
    fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        count(&self.events);
        self.system.events(t, x, mode, h);
    }
    fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        count(&self.gradient);
        self.system.gradient(k, t, x, mode, dh)
    }
    fn watch(&self, k: usize) -> Watch {
        self.system.watch(k)
    }
    fn min_rate(&self, k: usize) -> Option<f64> {
        self.system.min_rate(k)
    }
    fn event_tolerance(&self, k: usize) -> f64 {
        self.system.event_tolerance(k)
    }
    fn flags(&self) -> usize {
        self.system.flags()
    }
    fn ignores_mode(&self) -> bool {
        self.system.ignores_mode()
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        count(&self.on_crossing);
        self.system.on_crossing(crossing)
    }
}
