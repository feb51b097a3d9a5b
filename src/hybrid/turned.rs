//! Guards that another crossing turns the motion away from, while the error hides which of the two comes first: whether they are
//! crossed is not known.

use super::accuracy::Doubt;
use super::run::Run;
use super::window::Window;
use super::{Arrival, CrossedGuard, EventFunction, Flow, probe};
use crate::Guard;
use crate::ode::Buffer;

/// A guard that was close to its surface, and came closer, when another one was crossed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Close {
    guard: Guard,
    /// When (s).
    t: f64,
    /// How close (`u_k`).
    gap: f64,
    /// The error of the event function (`u_k`).
    error: f64,
}

/// A guard that the flow crossed by itself, without a reset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alone {
    pub(crate) crossed: CrossedGuard,
    /// When (s).
    pub(crate) t: f64,
    /// The error of that time (s).
    pub(crate) error: f64,
}

/// The error of an event function is evaluated where it may be this many times the largest seen.
const GREATER: f64 = 10.0;

impl<B: Buffer> Run<B> {
    /// Remembers which event functions came closer to zero from the start of a step, where they are `guards.h`, to its crossing, where
    /// they are `work.h[2]`.
    pub(crate) fn note_approach(&mut self) {
        let n = self.count();
        let (before, after) = (&self.guards.h[..n], &self.work.h[2][..n]);
        let (sign, zero) = (&self.guards.sign[..n], &self.guards.zero[..n]);
        let approached = &mut self.work.approached[..n];
        for k in 0..n {
            approached[k] = sign[k] * (after[k] - before[k]) > 8.0 * zero[k];
        }
    }

    /// Lists the guards that the error may hide before the crossings in `crossed`.
    pub(crate) fn note_close<S: EventFunction>(&mut self, system: &S, arrival: Arrival) {
        for i in 0..self.crossed.len() {
            self.work.approached[self.crossed[i].guard.event] = false;
        }
        if arrival == Arrival::Jumped {
            return;
        }
        for k in 0..self.count() {
            if !(self.guards.armed[k] && self.work.approached[k]) {
                continue;
            }
            let gap = (-self.own_h(k)).max(0.0);
            let most = self.guards.most_spread[k];
            if most > 0.0 && gap > GREATER * self.error * most {
                continue;
            }
            self.need_spread(system, k);
            let error = self.error_of(k);
            let close = &mut self.work.close;
            if gap <= error && close.len() < close.capacity() {
                let (guard, t) = (Guard::ahead(k, self.mode.contains(k)), self.t);
                close.push(Close {
                    guard,
                    t,
                    gap,
                    error,
                });
            }
        }
    }

    /// Keeps a doubt for each guard of that list that moves away in the first window after the crossings, and was not crossed.
    pub(crate) fn doubt_turned(&mut self, window: Window) {
        while let Some(Close {
            guard,
            t,
            gap,
            error,
        }) = self.work.close.pop()
        {
            let k = guard.event;
            if self.ahead(k) != guard || self.guards.fired_at[guard.index()] >= t {
                continue;
            }
            let own = self.own_samples(k, window);
            if own[1] < own[0] - 8.0 * self.guards.zero[k] {
                self.keep_doubt(Doubt::TurnedAway {
                    guard,
                    t,
                    gap,
                    error,
                });
            }
        }
    }

    /// Keeps a doubt for the guard crossed before `now`, when the error hides which of the two comes first, and `now` coming first
    /// turns the motion away from it.
    pub(crate) fn doubt_order<S>(&mut self, system: &S, now: Alone)
    where
        S: Flow + EventFunction,
    {
        let Some(before) = self.last_alone.replace(now) else {
            return;
        };
        let CrossedGuard { guard, rate } = before.crossed;
        let (k, apart) = (guard.event, self.t - before.t);
        let is_undone = self.mode.contains(k) != guard.side_after();
        if apart > before.error.max(now.error) || is_undone || k == now.crossed.guard.event {
            return;
        }
        self.mode.set(k, !guard.side_after());
        let (field, row) = (self.work.stages[0].get_mut(), self.work.row.get_mut());
        system.flow(self.t, self.x.get(), &self.mode, field);
        self.statistics.flow += 1;
        self.statistics.gradient += 1;
        let at = (self.t, self.x.get());
        let last = probe::rate(system, k, at, &self.mode, field, row).value;
        self.mode.set(k, guard.side_after());
        if guard.sign() * last < self.guards.least_rate[k] {
            let (t, gap, error) = (before.t, rate.abs() * apart, self.error_of(k));
            self.keep_doubt(Doubt::TurnedAway {
                guard,
                t,
                gap,
                error,
            });
        }
    }
}
