//! References, smart pointers and closures as systems.

use std::rc::Rc;
use std::sync::Arc;

use super::{Crossed, EventFunction, Flow, Mode, Watch};
use crate::Error;

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<P: Flow + ?Sized> Flow for $pointer {
            #[inline]
            fn dim(&self) -> usize {
                (**self).dim()
            }
            #[inline]
            fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
                (**self).flow(t, x, mode, dx);
            }
            #[inline]
            fn jacobian_times(&self, t: f64, x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
                (**self).jacobian_times(t, x, mode, v, out)
            }
            #[inline]
            fn jacobian_times_each(&self, t: f64, x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
                (**self).jacobian_times_each(t, x, mode, v, out)
            }
            #[inline]
            fn flow_time_scale(&self) -> Option<f64> {
                (**self).flow_time_scale()
            }
            #[inline]
            fn correct(&self, t: f64, x: &mut [f64], mode: &Mode) -> bool {
                (**self).correct(t, x, mode)
            }
            #[inline]
            fn flip(&self, t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
                (**self).flip(t, x, mode, k, dx)
            }
        }

        impl<P: EventFunction + ?Sized> EventFunction for $pointer {
            #[inline]
            fn count(&self) -> usize {
                (**self).count()
            }
            #[inline]
            fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
                (**self).event(k, t, x, mode)
            }
            #[inline]
            fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
                (**self).events(t, x, mode, h);
            }
            #[inline]
            fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
                (**self).gradient(k, t, x, mode, dh)
            }
            #[inline]
            fn watch(&self, k: usize) -> Watch {
                (**self).watch(k)
            }
            #[inline]
            fn least_rate(&self, k: usize) -> Option<f64> {
                (**self).least_rate(k)
            }
            #[inline]
            fn noise(&self, k: usize) -> f64 {
                (**self).noise(k)
            }
            #[inline]
            fn time_scale(&self, k: usize) -> Option<f64> {
                (**self).time_scale(k)
            }
            #[inline]
            fn ignores_mode(&self) -> bool {
                (**self).ignores_mode()
            }
            fn writes_reset_differences(&self) -> bool {
                (**self).writes_reset_differences()
            }
            #[inline]
            fn on_crossing(
                &self,
                t: f64,
                crossed: &Crossed<'_>,
                x: &mut [f64],
                mode: &mut Mode,
            ) -> Result<(), Error> {
                (**self).on_crossing(t, crossed, x, mode)
            }
            #[inline]
            fn reset_times(
                &self,
                t: f64,
                crossed: &Crossed<'_>,
                x: &[f64],
                mode: &Mode,
                direction: (f64, &[f64]),
                out: &mut [f64],
            ) -> bool {
                (**self).reset_times(t, crossed, x, mode, direction, out)
            }
            #[inline]
            fn reset_times_each(
                &self,
                t: f64,
                crossed: &Crossed<'_>,
                x: &[f64],
                mode: &Mode,
                directions: (f64, &[f64]),
                out: &mut [f64],
            ) -> bool {
                (**self).reset_times_each(t, crossed, x, mode, directions, out)
            }
        }
    )*};
}

forward!(&P, Box<P>, Rc<P>, Arc<P>);

/// A right-hand side given as a closure, without event functions: a plain differential equation.
///
/// ```
/// use saltation::{Integrator, flow_fn};
/// let decay = flow_fn(1, |_t, x, _mode, dx| dx[0] = -x[0]);
/// let run = Integrator::new(decay)?.rtol(1e-10).integrate(0.0, &[1.0], 1.0)?;
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
    /// use saltation::{Integrator, flow_fn};
    /// let relay = flow_fn(1, |_t, _x, mode, dx| dx[0] = if mode.contains(0) { -1.0 } else { 2.0 })
    ///     .with_events(1, |_k, t, _x| t - 0.5);
    /// let run = Integrator::new(relay)?.integrate(0.0, &[0.0], 1.0)?;
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
}
