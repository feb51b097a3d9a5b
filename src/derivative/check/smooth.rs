//! Traits that a user writes once for any scalar: a flow and event functions.

use std::ops::RangeInclusive;

use nalgebra::RealField;

use crate::{Crossed, Guard, InputError, Mode, Stop, Watch};
#[cfg(doc)]
use crate::{EventFunction, Flow, derivative::Dual};

/// The right-hand side of a hybrid system, written once for any real scalar; [`Dual`] makes a
/// [`Flow`] of it.
///
/// The rules of [`Flow`] hold. Constants are made by [`convert`](crate::derivative::convert);
/// branches may look at `mode`, and at `x` where both branches meet smoothly. Not for dual numbers:
/// `floor`, `ceil`, `round`, `trunc`, `fract` and `%` panic in `num-dual`, `powf` is NaN for a base
/// that is not positive (use `powi` or `sqrt`), and the functions of `f64` alone do not take a `T`.
pub trait SmoothFlow {
    /// Number of state variables.
    fn dim(&self) -> usize;

    /// Writes `f(t, x; mode)` into `dx`: every component, whatever it held before.
    fn flow<T: RealField + Copy>(&self, t: T, x: &[T], mode: &Mode, dx: &mut [T]);

    /// As [`Flow::flip`].
    fn flip(&self, t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        let _ = (t, x, mode, k, dx);
        false
    }

    /// As [`Flow::validate`].
    ///
    /// # Errors
    /// As [`Flow::validate`].
    fn validate(&self) -> Result<(), InputError> {
        Ok(())
    }

    /// As [`Flow::flow_time_scale`].
    fn flow_time_scale(&self) -> Option<f64> {
        None
    }

    /// As [`Flow::until_switch`].
    fn until_switch(&self, t: f64, x: &[f64], mode: &Mode, step: f64, places: usize) -> f64 {
        let _ = (t, x, mode, places);
        step
    }

    /// As [`Flow::correct`].
    fn correct(&self, t: f64, x: &mut [f64], mode: &Mode) -> bool {
        let _ = (t, x, mode);
        false
    }
}

/// The event functions of a hybrid system, written once for any real scalar; [`Dual`] makes an
/// [`EventFunction`] of them.
///
/// All methods but [`event`](Self::event) are those of [`EventFunction`].
pub trait SmoothEvents {
    /// Number of event functions.
    fn count(&self) -> usize;

    /// `h_k(t, x)` in its own unit.
    fn event<T: RealField + Copy>(&self, k: usize, t: T, x: &[T], mode: &Mode) -> T;

    /// As [`EventFunction::events`].
    fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        for (k, h_k) in h.iter_mut().enumerate() {
            *h_k = self.event(k, t, x, mode);
        }
    }

    /// As [`EventFunction::watch`].
    fn watch(&self, k: usize) -> Watch {
        let _ = k;
        Watch::BOTH
    }

    /// As [`EventFunction::min_rate`].
    fn min_rate(&self, k: usize) -> Option<f64> {
        let _ = k;
        None
    }

    /// As [`EventFunction::event_tolerance`].
    fn event_tolerance(&self, k: usize) -> f64 {
        let _ = k;
        0.0
    }

    /// As [`EventFunction::crosses_within`].
    fn crosses_within(&self, k: usize) -> f64 {
        let _ = k;
        0.0
    }

    /// As [`EventFunction::admissible`].
    fn admissible(&self, k: usize, mode: &Mode) -> RangeInclusive<f64> {
        let _ = (k, mode);
        f64::NEG_INFINITY..=f64::INFINITY
    }

    /// As [`EventFunction::time_scale`].
    fn time_scale(&self, k: usize) -> Option<f64> {
        let _ = k;
        None
    }

    /// As [`EventFunction::is_affine`].
    fn is_affine(&self, k: usize) -> bool {
        let _ = k;
        false
    }

    /// As [`EventFunction::max_rate`].
    fn max_rate(&self, k: usize) -> Option<f64> {
        let _ = k;
        None
    }

    /// As [`EventFunction::flags`].
    fn flags(&self) -> usize {
        0
    }

    /// As [`EventFunction::ignores_mode`].
    fn ignores_mode(&self) -> bool {
        false
    }

    /// As [`EventFunction::resets`].
    fn resets(&self) -> bool {
        true
    }

    /// As [`EventFunction::on_crossing`], written for any scalar too: its derivative is that of the
    /// reset.
    ///
    /// # Errors
    /// [`Stop::Model`] for what the model cannot resolve.
    fn on_crossing<T: RealField + Copy>(
        &self,
        t: T,
        crossed: &GuardSet<'_>,
        x: &mut [T],
        mode: &mut Mode,
    ) -> Result<(), Stop> {
        let _ = (t, crossed, x, mode);
        Ok(())
    }
}

/// The guards that cross together, as a reset written for any scalar sees them: without their
/// rates, which depend on the state and would be constants here. Such a reset computes what it
/// needs from `x`.
#[derive(Clone, Copy, Debug)]
pub struct GuardSet<'a>(Crossed<'a>);

impl<'a> GuardSet<'a> {
    /// The guards of a set; of use to those who test their own `on_crossing`.
    pub const fn new(crossed: Crossed<'a>) -> Self {
        Self(crossed)
    }

    /// True when event function `event` is among them, in either direction.
    pub fn contains(&self, event: usize) -> bool {
        self.0.contains(event)
    }

    /// The guards, in rising order of their event functions.
    pub fn guards(&self) -> impl Iterator<Item = Guard> + 'a {
        self.0.guards().iter().map(|c| c.guard)
    }
}
