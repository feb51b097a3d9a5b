//! Guards that another crossing turns the motion away from, while the error hides which of the two comes first: whether they are
//! crossed is not known.

use super::doubt::Doubt;
use super::state::Run;
use super::window::Window;
use crate::Guard;
use crate::hybrid::{Arrival, CrossedGuard, EventFunction, Flow, evaluate};
use crate::ode::Buffer;

/// The error of a guard is evaluated where it must be no more than this many times the largest known to hide it.
const GREATER: f64 = 10.0;

/// When the flow crossed guards last, at one instant and without a reset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flown {
    /// When (s).
    pub(crate) t: f64,
    /// The error of that time (s).
    pub(crate) error: f64,
}

impl<B: Buffer> Run<B> {
    /// Remembers how event functions changed from the start of a step, where they are `guards.h`, to its crossing, where they are
    /// `work.h[2]`.
    pub(crate) fn note_approach(&mut self) {
        let n = self.count();
        let (before, after) = (&self.guards.h[..n], &self.work.h[2][..n]);
        let approach = &mut self.work.approach[..n];
        for k in 0..n {
            approach[k] = after[k] - before[k];
        }
        self.work.closest.fill(f64::NEG_INFINITY);
        self.cluster_start = self.t;
    }

    /// Remembers how close event functions are to zero at a crossing that the flow led to.
    #[inline]
    pub(crate) fn note_closest(&mut self, arrival: Arrival) {
        if arrival == Arrival::Jumped {
            return;
        }
        let n = self.count();
        let (h, sign) = (&self.guards.h[..n], &self.guards.sign[..n]);
        let closest = &mut self.work.closest[..n];
        for k in 0..n {
            let own = sign[k] * h[k];
            closest[k] = if own > closest[k] { own } else { closest[k] };
        }
    }

    /// Keeps a doubt for each guard that came closer up to the crossings since the last smooth step, was within the error then, was not
    /// crossed, and moves away in the first window after them.
    pub(crate) fn doubt_turned<S: EventFunction>(&mut self, system: &S, window: Window) {
        let t = self.cluster_start;
        if t == f64::INFINITY {
            return;
        }
        self.cluster_start = f64::INFINITY;
        let greater = GREATER * self.error;
        for k in 0..self.count() {
            let guards = &self.guards;
            let way = guards.sign[k] * self.work.approach[k];
            let gap = (-self.work.closest[k]).max(0.0);
            // Not one that is farther than it came, however large the error.
            let is_close = gap <= way + greater * guards.most_spread[k];
            if !(guards.armed[k] && way > 8.0 * guards.zero[k] && is_close) {
                continue;
            }
            let guard = self.ahead(k);
            let own = self.own_samples(k, window);
            let fired_at = |guard: Guard| self.guards.fired_at[guard.index()];
            let was_crossed = fired_at(guard).max(fired_at(guard.partner())) >= t;
            if was_crossed || own[1] >= own[0] - 8.0 * self.guards.zero[k] {
                continue;
            }
            self.need_spread(system, k);
            let error = self.error_of(k);
            if gap <= error {
                self.keep_doubt(Doubt::TurnedAway {
                    guard,
                    t,
                    gap,
                    error,
                });
            }
        }
    }

    /// Keeps a doubt for each guard crossed before those in `crossed`, when the error hides which come first, and these coming first turn
    /// the motion away from it.
    pub(crate) fn doubt_order<S>(&mut self, system: &S, now: Flown)
    where
        S: Flow + EventFunction,
    {
        if let Some(before) = self.last_flown.replace(now) {
            let apart = self.t - before.t;
            let is_undone =
                |c: &CrossedGuard| self.mode.contains(c.guard.event) != c.guard.side_after();
            if apart <= before.error.max(now.error) && !self.work.flown.iter().any(is_undone) {
                self.doubt_order_of(system, before, apart);
            }
        }
        self.work.flown.clear();
        self.work.flown.extend_from_slice(&self.crossed);
    }

    /// The same for those crossed at one instant, so long before.
    fn doubt_order_of<S>(&mut self, system: &S, before: Flown, apart: f64)
    where
        S: Flow + EventFunction,
    {
        let field = self.work.stages[0].get_mut();
        field.copy_from_slice(self.ode.slope_at_start());
        let mut fresh = true;
        for c in &self.work.flown {
            self.mode.set(c.guard.event, !c.guard.side_after());
            if fresh {
                fresh = system.flip(self.t, self.x.get(), &self.mode, c.guard.event, field);
                self.statistics.flip += usize::from(fresh);
            }
        }
        if !fresh {
            system.flow(self.t, self.x.get(), &self.mode, field);
            self.statistics.flow += 1;
        }
        for i in 0..self.work.flown.len() {
            let CrossedGuard { guard, rate } = self.work.flown[i];
            let k = guard.event;
            let (at, field) = ((self.t, self.x.get()), self.work.stages[0].get());
            let row = self.work.row.get_mut();
            let last = evaluate::rate(system, k, at, &self.mode, field, row).value;
            self.statistics.gradient += 1;
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
        for c in &self.work.flown {
            self.mode.set(c.guard.event, c.guard.side_after());
        }
    }
}
