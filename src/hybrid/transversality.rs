//! What a crossing must fulfil: liveness before and after, whatever the order, and guards armed
//! before their surface.

use super::run::state::Run;
use super::{Arrival, CrossedGuard, EventFunction, Flow, Rearm, evaluate};
use crate::Stop;
use crate::ode::Buffer;

/// What a call of `on_crossing` did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reset {
    pub(crate) state: bool,
    pub(crate) mode: bool,
}

impl Reset {
    pub(crate) const NONE: Self = Self {
        state: false,
        mode: false,
    };

    pub(crate) fn any(self) -> bool {
        self.state || self.mode
    }
}

impl<B: Buffer> Run<B> {
    /// Refuses sliding, grazing and rest. Without a reset every guard of the set must go on in its
    /// direction. After a reset the rate may be reversed. If the reset changed side bits, no check
    /// is made. Where nothing looks for the way back, the side bit is a memory: a state that turns
    /// in the new mode (hysteresis) does not cross.
    #[inline]
    pub(crate) fn check_live(
        &mut self,
        rearm: &Rearm,
        reset: Reset,
        arrival: Arrival,
    ) -> Result<(), Stop> {
        if reset.mode || arrival == Arrival::Jumped {
            return Ok(());
        }
        let dead = self.crossed.iter().find(|c| {
            let (sign, k) = (c.guard.sign(), c.guard.event);
            let (watch, least) = (self.guards.watch[k], self.guards.min_rate[k]);
            let onward = sign * self.guards.rate[k];
            // Where the new mode has an event function of its own, clear of zero, the rate says
            // nothing.
            let off = self.guards.h[k].abs() > self.clearly(k, c.rate);
            if self.moved && off && (!reset.state || sign * self.guards.h[k] > 0.0) {
                return false;
            }
            if reset.state {
                let is_back = sign * self.guards.h[k] < -self.clearly(k, c.rate);
                return !(is_back || onward.abs() >= least);
            }
            let follows = rearm.follows(watch, c.guard.partner().direction);
            !(sign * c.rate >= least && (onward >= least || !follows))
        });
        let Some(&CrossedGuard { guard, rate }) = dead else {
            return Ok(());
        };
        let after = self.guards.rate[guard.event];
        self.undo();
        Err(self.not_live(guard, rate, after))
    }

    /// Refuses a guard that the matrix arms although the state is beyond it; a partner may be so by
    /// the residual of the crossing. After a reset such a guard fires instead.
    pub(crate) fn check_armed(&mut self, reset: Reset) -> Result<(), Stop> {
        if reset.any() {
            return Ok(());
        }
        for k in 0..self.count() {
            let Some(by) = self.work.armed_by[k].take() else {
                continue;
            };
            // The guard that fired missed its surface by a residual; in time that is as much for
            // this one.
            let j = by.event;
            let missed = self.guards.h[j].abs().max(self.guards.zero[j]);
            let slower = (self.guards.rate[k] / self.guards.rate[j]).abs();
            let residual = 10.0 * missed * if slower.is_finite() { slower } else { 1.0 };
            let beyond = self.guards.own_h(k);
            if self.guards.armed[k] && beyond > self.guards.zero[k].max(residual) {
                let guard = self.guards.ahead(k);
                self.undo();
                return Err(Stop::ArmedBeyond {
                    guard,
                    by,
                    beyond,
                    at: self.at().into(),
                });
            }
        }
        Ok(())
    }

    /// How far guard `k`, crossed at `rate`, must be off its surface to be more than rounding (of
    /// which its rate after the crossing says nothing when it is at rest) and more than a residual.
    fn clearly(&self, k: usize, rate: f64) -> f64 {
        let zero = self.guards.zero[k].max(self.zero(k, rate, 0.0));
        zero.max(2.0 * self.work.h_before[k].abs())
    }

    /// Of guards that cross at exactly one instant, refuses those that would not cross if all
    /// others came first: then their order matters, and the system is not event-selected there.
    /// (That they cross first is checked in the mode before.)
    pub(crate) fn check_orders<S: Flow + EventFunction>(&mut self, system: &S) -> Result<(), Stop> {
        for i in 0..self.crossed.len() {
            let CrossedGuard { guard, rate } = self.crossed[i];
            let k = guard.event;
            if !self.follows(k) {
                continue;
            }
            self.mode.set(k, !guard.side_after());
            let (field, row) = (self.work.stages[0].get_mut(), self.work.row.get_mut());
            system.flow(self.t, self.x.get(), &self.mode, field);
            self.statistics.flow += 1;
            self.statistics.gradient += 1;
            let at = (self.t, self.x.get());
            let last = evaluate::rate(system, k, at, &self.mode, field, row).value;
            self.mode.set(k, guard.side_after());
            let live = guard.sign() * last >= self.guards.min_rate[k];
            if !live {
                self.undo();
                return Err(self.not_live(guard, rate, last));
            }
        }
        Ok(())
    }

    /// True when event function `k` is watched both ways, so that its side bit is no memory.
    fn follows(&self, k: usize) -> bool {
        self.guards.watch[k].rising && self.guards.watch[k].falling
    }
}
