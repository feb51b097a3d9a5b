//! One window of a step, with all that is needed to look closer at a guard in it.

use super::factors::UNTOLD;
use super::window::{Samples, Window};
use crate::hybrid::Projection;
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate;
use crate::hybrid::options::{PerEntry, Settings};
use crate::hybrid::run::{GuardTable, State};
use crate::ode::Buffer;
use crate::ode::root::Sample;
use crate::{Quantity, Stop};

/// Where guards end a step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Levels<'a> {
    /// Widths of the neighbourhoods, if a step ends on their borders.
    eps: Option<&'a PerEntry>,
    /// The event function in whose neighbourhood the step began.
    inside: Option<usize>,
}

impl<'a> Levels<'a> {
    #[inline]
    pub(super) fn new(settings: &'a Settings, inside: Option<usize>) -> Self {
        let eps = match &settings.projection {
            Projection::Eps { eps, .. } => Some(eps),
            _ => None,
        };
        Self { eps, inside }
    }

    /// True where all levels are 0.
    #[inline]
    pub(super) fn are_zero(&self) -> bool {
        self.eps.is_none()
    }

    /// The level at which guard `k` ends the step. It is that of the border of its neighbourhood,
    /// `−eps_k`, while the guard starts, at `own`, clearly outside (by more than `zero`, what
    /// rounding makes of it), and unless the last step ended on that border. Else it is 0.
    #[inline]
    pub(super) fn of(&self, k: usize, own: f64, zero: impl FnOnce() -> f64) -> f64 {
        match self.eps {
            Some(eps) if self.inside != Some(k) => {
                let eps = eps.get(k);
                let outside = own < -eps * (1.0 + 1e-9) - 4.0 * zero();
                if outside { -eps } else { 0.0 }
            }
            _ => 0.0,
        }
    }
}

/// A window, and what is known of the guards in it.
pub(super) struct Look<'a, S: ?Sized, B> {
    pub(super) context: &'a Context<'a, S>,
    pub(super) state: &'a State<B>,
    pub(super) guards: &'a mut GuardTable<B>,
    pub(super) samples: &'a mut Samples<B>,
    pub(super) window: Window,
    pub(super) levels: Levels<'a>,
    /// Some guard took more than a look at whether it is monotonic.
    pub(super) closely: bool,
}

impl<S: System + ?Sized, B: Buffer> Look<'_, S, B> {
    /// `sign · h_k` at the four samples.
    #[inline]
    pub(super) fn own(&self, k: usize) -> [f64; 4] {
        self.samples.own(self.guards, k, self.window)
    }

    /// `sign · h_k` on the interpolant, at a fraction of the window.
    #[inline]
    pub(super) fn own_h_at(&mut self, k: usize, s: f64) -> f64 {
        let (state, point) = (self.state, self.samples.point.get_mut());
        let fraction = self.window.at(s);
        state.ode.interpolant().at_fraction(fraction, point);
        let t = state.t + fraction * self.window.step;
        self.guards.sign[k] * self.context.event(k, t, point, &state.mode)
    }

    /// The same for a search that ends where a value is not finite: so it is once the run is
    /// interrupted, as [`check_sample`](Self::check_sample) says then.
    #[inline]
    pub(super) fn own_h_in_search(&mut self, k: usize, s: f64) -> f64 {
        if self.context.settings.interrupt.is_set() {
            return f64::NAN;
        }
        self.own_h_at(k, s)
    }

    /// Numerical zero of event function `k` that rises by `rise` in `seconds`, or as it is known
    /// where that is more.
    #[inline]
    pub(super) fn zero_over(&self, k: usize, rise: f64, seconds: f64) -> f64 {
        let of_rise = self.guards.zero_of(self.state, k, rise / seconds, 0.0);
        of_rise.max(self.guards.zero[k])
    }

    /// Evaluates the rate of event function `k` at the start of the step, if it is stale.
    #[inline]
    pub(super) fn need_rate(&mut self, k: usize) -> Result<(), Stop> {
        self.guards.need_rate(self.context, self.state, k)
    }

    /// The level at which guard `k`, `own` at the start, ends the step.
    #[inline]
    pub(super) fn level(&self, k: usize, own: f64) -> f64 {
        let guards = &*self.guards;
        let zero = || guards.zero_of(self.state, k, guards.rate[k], 0.0);
        self.levels.of(k, own, zero)
    }

    /// True when the step is a few of the shortest and the guard moves away where it starts: what
    /// its samples show is rounding.
    #[inline]
    pub(super) fn moves_away(&mut self, k: usize) -> Result<bool, Stop> {
        if self.window.step > UNTOLD * self.state.least_step() {
            return Ok(false);
        }
        self.need_rate(k)?;
        Ok(self.guards.own_rate(k) <= -self.guards.min_rate[k])
    }

    /// Refuses a value on the interpolant that is not finite.
    pub(super) fn check_sample(&mut self, k: usize, sample: Sample) -> Result<(), Stop> {
        if sample.value.is_finite() {
            return Ok(());
        }
        self.context.settings.interrupt.check()?;
        let point = self.samples.point.get_mut();
        let fraction = self.window.at(sample.at);
        self.state.ode.interpolant().at_fraction(fraction, point);
        let (quantity, t) = (
            Quantity::Event { event: k },
            self.state.t + fraction * self.window.step,
        );
        Err(evaluate::not_finite(quantity, t, point, &self.state.mode))
    }
}
