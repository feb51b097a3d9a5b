//! One window of a step, with all that is needed to look closer at a guard in it.

use super::factors::{ROUNDING, UNTOLD};
use super::levels::Levels;
use super::window::{Samples, Window};
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate;
use crate::hybrid::table::{GuardTable, State};
use crate::ode::root::Sample;
use crate::ode::{Buffer, greater};
use crate::{Quantity, Stop};

/// A window, and bounds on the guards in it.
pub(super) struct Look<'a, S: ?Sized, B> {
    pub(super) context: &'a Context<'a, S>,
    pub(super) state: &'a State<B>,
    pub(super) guards: &'a mut GuardTable<B>,
    pub(super) samples: &'a mut Samples<B>,
    pub(super) window: Window,
    pub(super) levels: Levels<'a>,
    /// Effect of the rounding of times on an event function, as a part of its rise in the window.
    rounding: f64,
    /// The step is a few of the shortest: what samples show of a guard that moves away where it
    /// starts is rounding.
    pub(super) is_tiny: bool,
    /// Some guard took more than a look at whether it is monotonic.
    pub(super) closely: bool,
}

impl<'a, S: System + ?Sized, B: Buffer> Look<'a, S, B> {
    #[inline]
    pub(super) fn new(
        context: &'a Context<'a, S>,
        state: &'a State<B>,
        guards: &'a mut GuardTable<B>,
        samples: &'a mut Samples<B>,
        window: Window,
        levels: Levels<'a>,
    ) -> Self {
        Self {
            context,
            state,
            guards,
            samples,
            window,
            levels,
            rounding: ROUNDING * f64::EPSILON * state.size_of_time() / window.seconds(),
            is_tiny: window.step <= UNTOLD * state.least_step(),
            closely: false,
        }
    }

    /// True for a guard that is not armed, or far from its surface in all of the window.
    #[inline]
    pub(super) fn is_far(&self, k: usize) -> bool {
        let arming = self.guards.arming[k];
        !arming.is_armed() || (arming.is_ready() && self.samples.is_far(k))
    }

    /// `sign · h_k` at the four samples.
    #[inline(always)]
    pub(super) fn own(&self, k: usize) -> [f64; 4] {
        self.samples.own(self.guards, k, self.window)
    }

    /// `sign · h_k` on the interpolant, at a fraction of the window.
    #[inline]
    pub(super) fn own_h_at(&mut self, k: usize, s: f64) -> f64 {
        let (state, point) = (self.state, self.samples.point.get_mut());
        let fraction = self.window.at(s);
        state.ode.at_fraction(fraction, point);
        let t = state.t + fraction * self.window.step;
        self.guards.sign[k] * self.context.event(k, t, point, &state.mode)
    }

    /// `sign · h_k` as [`own_h_at`](Self::own_h_at), for a search that ends where a value is not
    /// finite: so it is once the run is interrupted, as [`check_sample`](Self::check_sample) says
    /// then.
    #[inline]
    pub(super) fn own_h_in_search(&mut self, k: usize, s: f64) -> f64 {
        if self.context.settings.limits.interrupt.is_set() {
            return f64::NAN;
        }
        self.own_h_at(k, s)
    }

    /// Numerical zero of event function `k` that rises by `rise` in the part `s` of the window, or
    /// that of the table where it is more.
    #[inline]
    pub(super) fn zero_over(&self, k: usize, rise: f64, s: f64) -> f64 {
        let of_rise = self.rounding * rise.abs() / s;
        greater(
            greater(self.guards.zero[k], of_rise),
            self.guards.kept[k].event_tolerance,
        )
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

    /// True when the step is tiny and the guard moves away where it starts.
    #[inline]
    pub(super) fn moves_away(&mut self, k: usize) -> Result<bool, Stop> {
        if !self.is_tiny {
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
        self.context.settings.limits.interrupt.check()?;
        let point = self.samples.point.get_mut();
        let fraction = self.window.at(sample.at);
        self.state.ode.at_fraction(fraction, point);
        let (quantity, t) = (
            Quantity::Event { event: k },
            self.state.t + fraction * self.window.step,
        );
        Err(evaluate::not_finite(quantity, t, point, &self.state.mode))
    }
}
