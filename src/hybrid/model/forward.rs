//! References and smart pointers to systems are systems: every method is handed on.

use std::rc::Rc;
use std::sync::Arc;

use crate::hybrid::{Crossed, Crossing, EventFunction, Flow, Mode, Watch};
use crate::{InputError, Stop};

macro_rules! forward {
    ($($pointer:ty),*) => {$(
        impl<P: Flow + ?Sized> Flow for $pointer {
            #[inline]
            fn dim(&self) -> usize {
                (**self).dim()
            }
            fn validate(&self) -> Result<(), InputError> {
                (**self).validate()
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
            fn flags(&self) -> usize {
                (**self).flags()
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
            fn min_rate(&self, k: usize) -> Option<f64> {
                (**self).min_rate(k)
            }
            #[inline]
            fn event_tolerance(&self, k: usize) -> f64 {
                (**self).event_tolerance(k)
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
            fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
                (**self).on_crossing(crossing)
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
