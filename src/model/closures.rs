//! Closures as systems.

use crate::model::{EventFunction, Flow, Mode};

/// A right-hand side given as a closure, without event functions: a plain differential equation.
///
/// ```
/// use saltation::{Integrator, Start, flow_fn};
/// let decay = flow_fn(1, |_t, x, _mode, dx| dx[0] = -x[0]);
/// let run = Integrator::new(decay)?.rtol(1e-10).integrate(&Start::at(0.0).x(&[1.0]), 1.0)?;
/// assert!((run.state()[0] - (-1.0f64).exp()).abs() < 1e-8);
/// # Ok::<(), saltation::Error>(())
/// ```
pub fn flow_fn<F>(dim: usize, flow: F) -> FlowFn<F>
where
    F: Fn(f64, &[f64], &Mode, &mut [f64]),
{
    FlowFn { dim, flow }
}

/// See [`flow_fn`].
#[derive(Clone, Copy, Debug)]
pub struct FlowFn<F> {
    dim: usize,
    flow: F,
}

impl<F> FlowFn<F> {
    /// Adds `count` event functions `h(k, t, x)`, watched both ways.
    ///
    /// ```
    /// use saltation::{Integrator, Start, flow_fn};
    /// let relay = flow_fn(1, |_t, _x, mode, dx| dx[0] = if mode.contains(0) { -1.0 } else { 2.0 })
    ///     .with_events(1, |_k, t, _x| t - 0.5);
    /// let run = Integrator::new(relay)?.integrate(&Start::at(0.0).x(&[0.0]), 1.0)?;
    /// assert!((run.state()[0] - 0.5).abs() < 1e-9);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    pub fn with_events<H>(self, count: usize, event: H) -> GuardedFn<F, H>
    where
        H: Fn(usize, f64, &[f64]) -> f64,
    {
        GuardedFn {
            flow: self,
            count,
            event,
        }
    }
}

impl<F> Flow for FlowFn<F>
where
    F: Fn(f64, &[f64], &Mode, &mut [f64]),
{
    fn dim(&self) -> usize {
        self.dim
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        (self.flow)(t, x, mode, dx);
    }
}

impl<F> EventFunction for FlowFn<F> {
    fn count(&self) -> usize {
        0
    }
    fn event(&self, _k: usize, _t: f64, _x: &[f64], _mode: &Mode) -> f64 {
        f64::NAN
    }
}

/// A right-hand side and event functions given as closures; see [`FlowFn::with_events`].
#[derive(Clone, Copy, Debug)]
pub struct GuardedFn<F, H> {
    flow: FlowFn<F>,
    count: usize,
    event: H,
}

impl<F, H> Flow for GuardedFn<F, H>
where
    F: Fn(f64, &[f64], &Mode, &mut [f64]),
{
    fn dim(&self) -> usize {
        self.flow.dim()
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.flow.flow(t, x, mode, dx);
    }
}

impl<F, H> EventFunction for GuardedFn<F, H>
where
    H: Fn(usize, f64, &[f64]) -> f64,
{
    fn count(&self) -> usize {
        self.count
    }
    fn event(&self, k: usize, t: f64, x: &[f64], _mode: &Mode) -> f64 {
        (self.event)(k, t, x)
    }
    fn ignores_mode(&self) -> bool {
        true
    }
    fn resets(&self) -> bool {
        false
    }
}
