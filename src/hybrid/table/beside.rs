//! The places at which differences stand in for the rows of event functions that are not written.

use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::Rate;
use crate::ode::Buffer;
use crate::ode::difference::step_along;
use crate::{Mode, Stop};

/// The two places beside a state, along its field, of a central difference: all event functions
/// whose rows are not written have the same.
#[derive(Clone, Debug)]
pub(super) struct Beside<B> {
    /// The state that they are beside of, and its field.
    t: f64,
    x: B,
    field: B,
    /// Their distance from it (s).
    step: f64,
    ahead: B,
    behind: B,
}

impl<B: Buffer> Beside<B> {
    pub(super) fn new(dim: usize) -> Self {
        Self {
            t: f64::NAN,
            x: B::zeros(dim),
            field: B::zeros(dim),
            step: 0.0,
            ahead: B::zeros(dim),
            behind: B::zeros(dim),
        }
    }

    /// Forgets the last run.
    pub(super) fn begin(&mut self) {
        self.t = f64::NAN;
    }

    /// Stands beside a state.
    #[inline]
    pub(super) fn stand(&mut self, t: f64, x: &[f64], field: &[f64]) {
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
    pub(super) fn rate<S: System + ?Sized>(&self, system: &S, mode: &Mode, k: usize) -> Rate {
        let ahead = system.event(k, self.t + self.step, self.ahead.get(), mode);
        let behind = system.event(k, self.t - self.step, self.behind.get(), mode);
        self.between(ahead, behind)
    }

    #[inline]
    pub(super) fn between(&self, ahead: f64, behind: f64) -> Rate {
        Rate {
            value: (ahead - behind) / (2.0 * self.step),
            magnitude: 0.0,
            written: false,
            beside: ahead.abs().max(behind.abs()),
        }
    }

    /// Evaluates all event functions at the two places, ahead and behind.
    pub(super) fn evaluate_all<S: System + ?Sized>(
        &self,
        context: &Context<'_, S>,
        mode: &Mode,
        ahead: &mut [f64],
        behind: &mut [f64],
    ) -> Result<(), Stop> {
        let places = [
            (self.step, self.ahead.get(), ahead),
            (-self.step, self.behind.get(), behind),
        ];
        for (step, x, h) in places {
            context.settings.limits.interrupt.check()?;
            context.all_events(self.t + step, x, mode, h);
        }
        Ok(())
    }
}
