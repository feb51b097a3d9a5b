//! References and smart pointers to systems are systems: every method is handed on.

use std::rc::Rc;
use std::sync::Arc;

use crate::hybrid::{Crossed, Crossing, EventFunction, Flow, Mode, Watch};
use crate::{InputError, Stop};

/// `forward!([bounds] type, self => target)`: the traits of a system, each method handed on to
/// `target`.
macro_rules! forward {
    ([$($flow:tt)*] [$($events:tt)*] $type:ty, $self:ident => $target:expr) => {
        impl<$($flow)*> Flow for $type {
            #[inline]
            fn dim(&$self) -> usize {
                $target.dim()
            }
            fn validate(&$self) -> Result<(), InputError> {
                $target.validate()
            }
            #[inline]
            fn flow(&$self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
                $target.flow(t, x, mode, dx);
            }
            #[inline]
            fn jacobian_times(&$self, t: f64, x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
                $target.jacobian_times(t, x, mode, v, out)
            }
            #[inline]
            fn jacobian_times_each(&$self, t: f64, x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
                $target.jacobian_times_each(t, x, mode, v, out)
            }
            #[inline]
            fn flow_time_scale(&$self) -> Option<f64> {
                $target.flow_time_scale()
            }
            #[inline]
            fn correct(&$self, t: f64, x: &mut [f64], mode: &Mode) -> bool {
                $target.correct(t, x, mode)
            }
            #[inline]
            fn flip(&$self, t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
                $target.flip(t, x, mode, k, dx)
            }
        }

        impl<$($events)*> EventFunction for $type {
            #[inline]
            fn count(&$self) -> usize {
                $target.count()
            }
            #[inline]
            fn flags(&$self) -> usize {
                $target.flags()
            }
            #[inline]
            fn event(&$self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
                $target.event(k, t, x, mode)
            }
            #[inline]
            fn events(&$self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
                $target.events(t, x, mode, h);
            }
            #[inline]
            fn gradient(&$self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
                $target.gradient(k, t, x, mode, dh)
            }
            #[inline]
            fn watch(&$self, k: usize) -> Watch {
                $target.watch(k)
            }
            #[inline]
            fn min_rate(&$self, k: usize) -> Option<f64> {
                $target.min_rate(k)
            }
            #[inline]
            fn event_tolerance(&$self, k: usize) -> f64 {
                $target.event_tolerance(k)
            }
            #[inline]
            fn admissible(&$self, k: usize, mode: &Mode) -> std::ops::RangeInclusive<f64> {
                $target.admissible(k, mode)
            }
            #[inline]
            fn time_scale(&$self, k: usize) -> Option<f64> {
                $target.time_scale(k)
            }
            #[inline]
            fn is_affine(&$self, k: usize) -> bool {
                $target.is_affine(k)
            }
            #[inline]
            fn max_rate(&$self, k: usize) -> Option<f64> {
                $target.max_rate(k)
            }
            #[inline]
            fn ignores_mode(&$self) -> bool {
                $target.ignores_mode()
            }
            #[inline]
            fn resets(&$self) -> bool {
                $target.resets()
            }
            fn writes_reset_differences(&$self) -> bool {
                $target.writes_reset_differences()
            }
            #[inline]
            fn on_crossing(&$self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
                $target.on_crossing(crossing)
            }
            #[inline]
            fn reset_times(
                &$self,
                t: f64,
                crossed: &Crossed<'_>,
                x: &[f64],
                mode: &Mode,
                direction: (f64, &[f64]),
                out: &mut [f64],
            ) -> bool {
                $target.reset_times(t, crossed, x, mode, direction, out)
            }
            #[inline]
            fn reset_times_each(
                &$self,
                t: f64,
                crossed: &Crossed<'_>,
                x: &[f64],
                mode: &Mode,
                directions: (f64, &[f64]),
                out: &mut [f64],
            ) -> bool {
                $target.reset_times_each(t, crossed, x, mode, directions, out)
            }
        }
    };
}

pub(crate) use forward;

forward!([P: Flow + ?Sized] [P: EventFunction + ?Sized] &P, self => (**self));
forward!([P: Flow + ?Sized] [P: EventFunction + ?Sized] Box<P>, self => (**self));
forward!([P: Flow + ?Sized] [P: EventFunction + ?Sized] Rc<P>, self => (**self));
forward!([P: Flow + ?Sized] [P: EventFunction + ?Sized] Arc<P>, self => (**self));
