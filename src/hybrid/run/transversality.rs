//! What a crossing must fulfil: liveness before and after, whatever the order, and guards armed
//! before their surface.

use super::state::Run;
use crate::Error;
use crate::hybrid::transition::{Reset, is_carried};
use crate::hybrid::{Arrival, CrossedGuard, EventFunction, Flow, Rearm, evaluate};
use crate::ode::Buffer;

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
    ) -> Result<(), Error> {
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
    pub(crate) fn check_armed(&mut self, reset: Reset) -> Result<(), Error> {
        if reset.any() {
            return Ok(());
        }
        let missed = self.guards.missed_by(&self.crossed, &self.guards.h);
        for k in 0..self.count() {
            let Some(by) = self.transition.armed_by[k].take() else {
                continue;
            };
            let beyond = self.guards.own_h(k);
            let missed = missed * self.guards.rate[k].abs();
            let is_beyond = is_carried(missed, beyond, self.guards.zero[k]);
            if self.guards.arming[k].is_armed() && is_beyond {
                let guard = self.guards.ahead(k);
                self.undo();
                return Err(Error::ArmedBeyond {
                    guard,
                    by,
                    beyond,
                    t: self.t,
                    state: self.state(),
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
    pub(crate) fn check_orders<S: Flow + EventFunction>(
        &mut self,
        system: &S,
    ) -> Result<(), Error> {
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
