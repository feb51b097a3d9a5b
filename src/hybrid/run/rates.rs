//! Rates of event functions, `dh_k/dt = D_x h_k · f + ∂h_k/∂t`, and how well each is told from zero:
//! by its row where it is written, else by a difference along the motion.

use super::guard_table::GuardTable;
use super::state::State;
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::{self, Rate};
use crate::hybrid::{CrossedGuard, Mode};
use crate::ode::Buffer;
use crate::ode::difference::step_along;
use crate::{Quantity, Stop};

/// Where no row is written, the terms behind the numerical zero are evaluated only if `|h|` is
/// below this part of its motion in a step.
const NEAR: f64 = 1e-3;

/// The two places beside a state, along its field, of a central difference: all event functions
/// whose rows are not written have the same.
#[derive(Clone, Debug)]
pub(super) struct Beside<B> {
    /// The state that they are beside of, and its field.
    t: f64,
    x: B,
    field: B,
    /// How far they are from it (s).
    step: f64,
    ahead: B,
    behind: B,
    /// All event functions there, where all are asked for.
    all: [Vec<f64>; 2],
}

impl<B: Buffer> Beside<B> {
    pub(super) fn new(dim: usize, count: usize) -> Self {
        Self {
            t: f64::NAN,
            x: B::zeros(dim),
            field: B::zeros(dim),
            step: 0.0,
            ahead: B::zeros(dim),
            behind: B::zeros(dim),
            all: [vec![0.0; count], vec![0.0; count]],
        }
    }

    /// Forgets the last run.
    pub(super) fn begin(&mut self) {
        self.t = f64::NAN;
    }

    /// Stands beside a state.
    #[inline]
    fn stand(&mut self, (t, x): (f64, &[f64]), field: &[f64]) {
        let is_same = t.to_bits() == self.t.to_bits();
        if is_same && x == self.x.get() && field == self.field.get() {
            return;
        }
        self.t = t;
        self.x.get_mut().copy_from_slice(x);
        self.field.get_mut().copy_from_slice(field);
        self.step = step_along(t, x, 1.0, field);
        let (ahead, behind) = (self.ahead.get_mut(), self.behind.get_mut());
        for i in 0..x.len() {
            ahead[i] = x[i] + self.step * field[i];
            behind[i] = x[i] - self.step * field[i];
        }
    }

    /// The rate of event function `k` by its values at the two places.
    #[inline]
    fn rate<S: System + ?Sized>(&self, system: &S, mode: &Mode, k: usize) -> Rate {
        let ahead = system.event(k, self.t + self.step, self.ahead.get(), mode);
        let behind = system.event(k, self.t - self.step, self.behind.get(), mode);
        self.between(ahead, behind)
    }

    #[inline]
    fn between(&self, ahead: f64, behind: f64) -> Rate {
        Rate {
            value: (ahead - behind) / (2.0 * self.step),
            magnitude: 0.0,
            written: false,
            beside: ahead.abs().max(behind.abs()),
        }
    }

    /// Evaluates all event functions at the two places.
    fn evaluate_all<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        mode: &Mode,
    ) -> Result<(), Stop> {
        let [ahead, behind] = &mut self.all;
        let places = [
            (self.step, self.ahead.get(), ahead),
            (-self.step, self.behind.get(), behind),
        ];
        for (step, x, h) in places {
            context.settings.interrupt.check()?;
            context.system.events(self.t + step, x, mode, h);
        }
        Ok(())
    }
}

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
        let (x, row) = (state.x.get(), self.row.get_mut());
        let by_row = context.rate_by_row(k, (state.t, x), &state.mode, state.field(), row);
        let rate = if let Some(rate) = by_row {
            rate
        } else {
            // A difference is two evaluations, each perhaps of all forces of a heap.
            context.settings.interrupt.check()?;
            self.beside.stand((state.t, x), state.field());
            self.beside.rate(context.system, &state.mode, k)
        };
        self.take_rate(context, state, k, rate)
    }

    /// The same for all event functions: those whose rows are not written are evaluated together.
    pub(crate) fn refresh_rates<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
    ) -> Result<(), Stop> {
        let mut are_known = false;
        for k in 0..state.count() {
            let (x, row) = (state.x.get(), self.row.get_mut());
            let by_row = context.rate_by_row(k, (state.t, x), &state.mode, state.field(), row);
            let rate = if let Some(rate) = by_row {
                rate
            } else {
                if !are_known {
                    self.beside.stand((state.t, x), state.field());
                    self.beside.evaluate_all(context, &state.mode)?;
                    are_known = true;
                }
                let [ahead, behind] = &self.beside.all;
                self.beside.between(ahead[k], behind[k])
            };
            self.take_rate(context, state, k, rate)?;
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
        } else {
            let moves = rate.value.abs() * state.last_step.max(NEAR * (state.tf - state.t));
            // At a tangent the rate does not tell how far the guard moves.
            if self.h[k].abs() <= NEAR * moves.max(rate.beside) {
                rate.magnitude = self.spreads.magnitude(context, k, (state.t, x), state)?;
                self.spreads.take_terms(state, k);
            }
        }
        self.set_rate(state, k, rate);
        Ok(())
    }

    /// Takes over the rate of event function `k` at the present state.
    #[inline]
    pub(crate) fn set_rate(&mut self, state: &State<B>, k: usize, rate: Rate) {
        self.rate[k] = rate.value;
        self.see_rate(k, rate.value);
        self.zero[k] = self.zero_of(state, k, rate.value, rate.magnitude);
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

    /// The same for the guards in `near`.
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
