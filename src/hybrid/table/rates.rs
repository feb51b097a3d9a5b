//! Rates of event functions, `dh_k/dt = D_x h_k · f + ∂h_k/∂t`, and how well each is distinguished from zero:
//! by its row where it is written, else by a difference along the motion.

use super::guard_table::GuardTable;
use super::state::State;
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::{self, Rate};
use crate::ode::Buffer;
use crate::{CrossedGuard, Quantity, Stop};

/// If no row is written, the terms behind the numerical zero are evaluated only if `|h|` is
/// below this part of its motion in a step.
const NEAR: f64 = 1e-3;

impl<B: Buffer> GuardTable<B> {
    /// Evaluates rate and numerical zero of event function `k` at the present state, field and
    /// mode.
    #[inline]
    pub(crate) fn refresh_rate<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        k: usize,
    ) -> Result<(), Stop> {
        let (point, row) = (state.point(), self.row.get_mut());
        let by_row = context.rate_by_row(k, point, state.field(), row);
        let rate = if let Some(rate) = by_row {
            rate
        } else {
            // A difference is two evaluations, each perhaps of all forces of a heap.
            context.settings.limits.interrupt.check()?;
            self.beside.stand(point.t, point.x, state.field());
            let (here, sign) = (self.h[k], self.sign[k]);
            (self.beside).rate(context.system, &state.mode, k, here, sign)
        };
        self.take_rate(context, state, k, rate)
    }

    /// As [`refresh_rate`](Self::refresh_rate), for all event functions: those whose rows are not
    /// written are evaluated together.
    pub(crate) fn refresh_rates<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
    ) -> Result<(), Stop> {
        let mut are_known = false;
        self.close.clear();
        for k in 0..state.count() {
            let (point, row) = (state.point(), self.row.get_mut());
            let by_row = context.rate_by_row(k, point, state.field(), row);
            let rate = if let Some(rate) = by_row {
                rate
            } else {
                if !are_known {
                    self.beside.stand(point.t, point.x, state.field());
                    let (ahead, behind) = self.spreads.sides();
                    (self.beside).evaluate_all(context, &state.mode, ahead, behind)?;
                    are_known = true;
                }
                let (ahead, behind) = self.spreads.sides();
                let values = [ahead[k], self.h[k], behind[k]];
                let (system, sign) = (context.system, self.sign[k]);
                (self.beside).between(system, &state.mode, k, values, sign)
            };
            if rate.value.is_finite() && self.is_close(state, k, rate) {
                // Its numerical zero follows, from the rate that is kept in its place.
                (self.rate[k], self.zero[k]) = (rate.value, rate.least);
                self.close.push(k);
            } else {
                self.take_rate(context, state, k, rate)?;
            }
        }
        self.spreads
            .magnitudes(context, state, &self.close, &self.h)?;
        for i in 0..self.close.len() {
            let k = self.close[i];
            self.spreads.take_terms(state, k);
            let rate = Rate {
                value: self.rate[k],
                magnitude: self.spreads.known_magnitude(k),
                written: false,
                beside: 0.0,
                least: self.zero[k],
            };
            self.set_rate(state, k, rate);
        }
        Ok(())
    }

    /// True for an event function whose row is not written and which is so close to zero that the
    /// terms behind its numerical zero count.
    #[inline]
    fn is_close(&self, state: &State<B>, k: usize, rate: Rate) -> bool {
        let moves = rate.value.abs() * state.last_step.max(NEAR * (state.tf - state.t));
        // At a tangent the rate does not tell how far the guard moves.
        !rate.written && self.h[k].abs() <= NEAR * moves.max(rate.beside)
    }

    /// Evaluates how the errors of armed guards that are close to zero depend on the state, where
    /// that was not done for states of this size: a run that is interrupted after a crossing reports
    /// its doubts without further evaluations.
    #[inline]
    pub(crate) fn know_errors_of_close<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
    ) -> Result<(), Stop> {
        let n = self.h.len();
        let (h, rate, each) = (&self.h[..n], &self.rate[..n], &self.spreads.each[..n]);
        let of_a_step = NEAR * state.last_step;
        self.close.clear();
        for k in 0..n {
            if h[k].abs() <= of_a_step * rate[k].abs() && each[k].outgrown != state.outgrown {
                self.close.push(k);
            }
        }
        for i in 0..self.close.len() {
            let k = self.close[i];
            if self.arming[k].is_armed() {
                self.spreads.need(context, state, &self.h, k)?;
            }
        }
        Ok(())
    }

    /// Takes over a rate at the present state, with the numerical zero that belongs to it. Where the
    /// row is written it is in `self.row`.
    #[inline]
    fn take_rate<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        k: usize,
        mut rate: Rate,
    ) -> Result<(), Stop> {
        let x = state.x.get();
        if !rate.value.is_finite() {
            let quantity = Quantity::Gradient { event: k };
            return Err(evaluate::not_finite(quantity, state.t, x, &state.mode));
        }
        if rate.written {
            let spread = state.tolerance.along(self.row.get(), x);
            self.spreads.set(state, k, spread);
        } else if self.is_close(state, k, rate) {
            rate.magnitude =
                (self.spreads).magnitude(context, k, state.point(), state, self.h[k])?;
            self.spreads.take_terms(state, k);
        }
        self.set_rate(state, k, rate);
        Ok(())
    }

    /// Takes over the rate of event function `k` at the present state.
    #[inline]
    pub(crate) fn set_rate(&mut self, state: &State<B>, k: usize, rate: Rate) {
        self.rate[k] = rate.value;
        self.see_rate(k, rate.least);
        self.zero[k] = self.zero_of(state, k, rate.least, rate.magnitude);
        self.stale[k] = false;
    }

    /// Evaluates rate and numerical zero of event function `k` if they are stale.
    #[inline]
    pub(crate) fn need_rate<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        k: usize,
    ) -> Result<(), Stop> {
        if self.stale[k] {
            self.refresh_rate(context, state, k)?;
        }
        Ok(())
    }

    /// Evaluates rates and numerical zeros of guards that were crossed, now that the state or the
    /// mode is another, and what the errors of their times are made of; those of all others become
    /// stale.
    #[inline]
    pub(crate) fn renew_crossed<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        set: &[CrossedGuard],
    ) -> Result<(), Stop> {
        self.stale.fill(true);
        for c in set {
            let k = c.guard.event;
            self.refresh_rate(context, state, k)?;
            // Where no row is written, this is set with the error of the time.
            self.spreads.set_of_run(k, state.along(self.row.get()));
        }
        Ok(())
    }

    /// Evaluates rates and numerical zeros of the armed guards that are stale.
    #[inline]
    pub(crate) fn renew_armed<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
    ) -> Result<(), Stop> {
        for k in 0..self.h.len() {
            if self.arming[k].is_armed() {
                self.need_rate(context, state, k)?;
            }
        }
        Ok(())
    }

    /// Rates and numerical zeros of the guards in `near`, evaluated; those of all others become
    /// stale.
    #[inline]
    pub(crate) fn renew_only<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        near: &[usize],
    ) -> Result<(), Stop> {
        self.stale.fill(true);
        self.renew_near(context, state, near)
    }

    /// Evaluates rates and numerical zeros of the guards in `near` that are stale.
    #[inline]
    pub(crate) fn renew_near<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        near: &[usize],
    ) -> Result<(), Stop> {
        for &k in near {
            self.need_rate(context, state, k)?;
        }
        Ok(())
    }
}
