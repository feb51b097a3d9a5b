//! Systems made of closures, for tests of phenomena that no model shows.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::ops::RangeInclusive;

use saltation::Crossing;
use saltation::{Crossed, EventFunction, Flow, Mode, Stop, Watch};

type FlowBox = Box<dyn Fn(f64, &[f64], &Mode, &mut [f64])>;
type EventBox = Box<dyn Fn(usize, f64, &[f64], &Mode) -> f64>;
type GradientBox = Box<dyn Fn(usize, f64, &[f64], &Mode, &mut [f64]) -> Option<f64>>;
type ResetBox = Box<dyn Fn(f64, &Crossed<'_>, &mut [f64], &mut Mode) -> Result<(), Stop>>;

/// A system made of closures, where `flow_fn` does not reach: modes in `h`, watches, gradients,
/// resets.
pub(crate) struct Sketch {
    dim: usize,
    flow: FlowBox,
    event: EventBox,
    gradient: GradientBox,
    reset: ResetBox,
    watch: Vec<Watch>,
    flags: usize,
    admissible: RangeInclusive<f64>,
    min_rate: Option<f64>,
    tolerance: f64,
    time_scale: Option<f64>,
    max_rates: Vec<f64>,
    is_affine: bool,
    ignores_mode: bool,
}

impl Sketch {
    /// `dim` states, no event functions.
    pub(crate) fn new(dim: usize, flow: impl Fn(f64, &[f64], &Mode, &mut [f64]) + 'static) -> Self {
        Self {
            dim,
            flow: Box::new(flow),
            event: Box::new(|_, _, _, _| f64::NAN),
            gradient: Box::new(|_, _, _, _, _| None),
            reset: Box::new(|_, _, _, _| Ok(())),
            watch: Vec::new(),
            flags: 0,
            admissible: f64::NEG_INFINITY..=f64::INFINITY,
            min_rate: None,
            tolerance: 0.0,
            time_scale: None,
            max_rates: Vec::new(),
            is_affine: false,
            ignores_mode: false,
        }
    }

    /// One event function for each of `watch`, `h(k, t, x, mode)`.
    pub(crate) fn events<const N: usize>(
        mut self,
        watch: [Watch; N],
        event: impl Fn(usize, f64, &[f64], &Mode) -> f64 + 'static,
    ) -> Self {
        self.watch = watch.into();
        self.event = Box::new(event);
        self
    }

    /// `count` event functions, all watched alike.
    pub(crate) fn events_of(
        mut self,
        count: usize,
        watch: Watch,
        event: impl Fn(usize, f64, &[f64], &Mode) -> f64 + 'static,
    ) -> Self {
        self.watch = vec![watch; count];
        self.event = Box::new(event);
        self
    }

    /// How many flags it declares.
    pub(crate) fn flags(mut self, count: usize) -> Self {
        self.flags = count;
        self
    }

    /// The admissible values of all event functions.
    pub(crate) fn admissible(mut self, range: RangeInclusive<f64>) -> Self {
        self.admissible = range;
        self
    }

    /// The liveness bound of all event functions.
    pub(crate) fn min_rate(mut self, rate: f64) -> Self {
        self.min_rate = Some(rate);
        self
    }

    /// The tolerance of all event functions.
    pub(crate) fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// The time scale of all event functions (s).
    pub(crate) fn time_scale(mut self, scale: f64) -> Self {
        self.time_scale = Some(scale);
        self
    }

    /// The largest rates of the event functions.
    pub(crate) fn max_rates(mut self, rates: Vec<f64>) -> Self {
        self.max_rates = rates;
        self
    }

    /// Promises that all event functions are affine.
    pub(crate) fn affine(mut self) -> Self {
        self.is_affine = true;
        self
    }

    /// Promises that no event function reads the mode.
    pub(crate) fn ignoring_mode(mut self) -> Self {
        self.ignores_mode = true;
        self
    }

    pub(crate) fn gradient(
        mut self,
        gradient: impl Fn(usize, f64, &[f64], &Mode, &mut [f64]) -> Option<f64> + 'static,
    ) -> Self {
        self.gradient = Box::new(gradient);
        self
    }

    pub(crate) fn reset(
        mut self,
        reset: impl Fn(f64, &Crossed<'_>, &mut [f64], &mut Mode) -> Result<(), Stop> + 'static,
    ) -> Self {
        self.reset = Box::new(reset);
        self
    }
}

impl Flow for Sketch {
    fn dim(&self) -> usize {
        self.dim
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        (self.flow)(t, x, mode, dx);
    }
}

impl EventFunction for Sketch {
    fn count(&self) -> usize {
        self.watch.len()
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        (self.event)(k, t, x, mode)
    }
    fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        (self.gradient)(k, t, x, mode, dh)
    }
    fn flags(&self) -> usize {
        self.flags
    }
    fn watch(&self, k: usize) -> Watch {
        self.watch[k]
    }
    fn admissible(&self, _k: usize, _mode: &Mode) -> RangeInclusive<f64> {
        self.admissible.clone()
    }
    fn min_rate(&self, _k: usize) -> Option<f64> {
        self.min_rate
    }
    fn event_tolerance(&self, _k: usize) -> f64 {
        self.tolerance
    }
    fn time_scale(&self, _k: usize) -> Option<f64> {
        self.time_scale
    }
    fn max_rate(&self, k: usize) -> Option<f64> {
        self.max_rates.get(k).copied()
    }
    fn is_affine(&self, _k: usize) -> bool {
        self.is_affine
    }
    fn ignores_mode(&self) -> bool {
        self.ignores_mode
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (t, crossed, x, mode) = crossing.parts();
        (self.reset)(t, crossed, x, mode)
    }
}

/// A point mass in free fall, `x = (height, velocity)`, gravity `g`.
pub(crate) fn falling(g: f64) -> Sketch {
    Sketch::new(2, move |_, x, _, dx| {
        dx[0] = x[1];
        dx[1] = -g;
    })
}
