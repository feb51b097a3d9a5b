//! Guards that another crossing turns the motion away from, while the error hides which of the two
//! comes first: whether they are crossed is not known.

use super::doubt::Doubt;
use super::state::Run;
use super::window::Window;
use crate::Guard;
use crate::hybrid::{Arrival, CrossedGuard, EventFunction, Flow, evaluate};
use crate::ode::Buffer;

/// The error of a guard is evaluated where it must be no more than this many times the largest
/// known to hide it.
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
    /// Opens the search for guards that the crossings of the present instant, and those that
    /// projections reach from here, turn away. Event functions changed from `guards.h` to
    /// `work.h[2]` in the step that led here.
    pub(crate) fn note_approach(&mut self) {
        let n = self.count();
        let (before, after) = (&self.guards.h[..n], &self.work.h[2][..n]);
        let approach = &mut self.work.approach[..n];
        for k in 0..n {
            approach[k] = after[k] - before[k];
        }
        self.open_cluster(self.t);
    }

    /// The same where a step that found no guard ended on one; the rates before the crossing tell
    /// how event functions changed.
    pub(crate) fn note_approach_by_rates(&mut self) {
        if self.cluster_start < f64::INFINITY {
            return;
        }
        for k in 0..self.count() {
            self.work.approach[k] = self.guards.rate[k] * self.last_step;
        }
        self.open_cluster(self.t);
    }

    /// The same for a projection from the present state to the time `landing`, where event
    /// functions are `work.h[0]`. Where crossings before it have not been searched yet, the
    /// projection shows which guards they turned away.
    pub(crate) fn note_projection<S: EventFunction>(&mut self, system: &S, landing: f64) {
        let n = self.count();
        let guards = &self.guards;
        let (h, sign, zero) = (&guards.h[..n], &guards.sign[..n], &guards.zero[..n]);
        let (arming, most_spread) = (&guards.arming[..n], &guards.most_spread[..n]);
        let work = &mut self.work;
        let after = &work.h[0][..n];
        let (approach, closest) = (&mut work.approach[..n], &mut work.closest[..n]);
        if self.cluster_start == f64::INFINITY {
            for k in 0..n {
                approach[k] = after[k] - h[k];
            }
            self.open_cluster(landing);
            return;
        }
        let greater = GREATER * self.error;
        work.turned.clear();
        for k in 0..n {
            let change = after[k] - h[k];
            let (own, zero) = (sign[k] * change, 8.0 * zero[k]);
            if own > zero {
                approach[k] = change;
            } else if own < -zero {
                let way = sign[k] * approach[k];
                let came_close = came_close(closest[k], way, greater * most_spread[k], zero);
                if arming[k].is_armed() && came_close {
                    work.turned.push(k);
                } else {
                    closest[k] = f64::NEG_INFINITY;
                }
                approach[k] = change;
            }
        }
        for i in 0..self.work.turned.len() {
            let k = self.work.turned[i];
            self.doubt_turned_one(system, k);
            // One that moves away is looked at once.
            self.work.closest[k] = f64::NEG_INFINITY;
        }
    }

    fn open_cluster(&mut self, t: f64) {
        self.work.closest.fill(f64::NEG_INFINITY);
        self.cluster_start = t;
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

    /// Keeps a doubt for each guard that the crossings since the last smooth step may have turned
    /// away, and that moves away in the first window after them.
    pub(crate) fn doubt_turned<S: EventFunction>(&mut self, system: &S, window: Window) {
        if self.cluster_start == f64::INFINITY {
            return;
        }
        self.list_turned();
        for i in 0..self.work.turned.len() {
            let k = self.work.turned[i];
            let own = self.own_samples(k, window);
            if own[1] < own[0] - 8.0 * self.guards.zero[k] {
                self.doubt_turned_one(system, k);
            }
        }
        self.cluster_start = f64::INFINITY;
    }

    /// The same where the run ends before the next window, however it ends: the rates in the last
    /// mode decide. A guard that does not keep its least rate is not crossed.
    pub(crate) fn doubt_turned_at_end<S>(&mut self, system: &S)
    where
        S: Flow + EventFunction,
    {
        if self.cluster_start == f64::INFINITY {
            return;
        }
        let mut knows_field = false;
        self.list_turned();
        for i in 0..self.work.turned.len() {
            let k = self.work.turned[i];
            if self.was_crossed(k) {
                continue;
            }
            let (at, field) = ((self.t, self.x.get()), self.work.stages[0].get_mut());
            if !knows_field {
                // After a refusal the stepper holds the field of another mode.
                system.flow(at.0, at.1, &self.mode, field);
                self.statistics.flow += 1;
                knows_field = true;
            }
            let row = self.work.row.get_mut();
            let rate = evaluate::rate(system, k, at, &self.mode, field, row).value;
            self.statistics.gradient += 1;
            if self.guards.sign[k] * rate < self.guards.min_rate[k] {
                self.doubt_turned_one(system, k);
            }
        }
        self.cluster_start = f64::INFINITY;
    }

    /// Lists in `work.turned` the guards that came closer up to the crossings since the last smooth
    /// step and were about as close as the error then. Some of them may have been crossed.
    fn list_turned(&mut self) {
        let n = self.count();
        let guards = &self.guards;
        let (sign, zero, arming) = (&guards.sign[..n], &guards.zero[..n], &guards.arming[..n]);
        let most_spread = &guards.most_spread[..n];
        let (approach, closest) = (&self.work.approach[..n], &self.work.closest[..n]);
        let greater = GREATER * self.error;
        self.work.turned.clear();
        for k in 0..n {
            let way = sign[k] * approach[k];
            let zero = 8.0 * zero[k];
            if arming[k].is_armed() && came_close(closest[k], way, greater * most_spread[k], zero) {
                self.work.turned.push(k);
            }
        }
    }

    /// True when event function `k` was crossed since the last smooth step.
    fn was_crossed(&self, k: usize) -> bool {
        let guard = self.guards.ahead(k);
        let fired_at = |guard: Guard| self.guards.fired_at[guard.index()];
        fired_at(guard).max(fired_at(guard.partner())) >= self.cluster_start
    }

    /// How far guard `k` was from its surface at the crossings since the last smooth step, at least
    /// (`u_k`).
    fn gap_at_crossing(&self, k: usize) -> f64 {
        (-self.work.closest[k]).max(0.0)
    }

    /// Keeps the doubt for a guard that was turned away, if it was within its error and not
    /// crossed.
    fn doubt_turned_one<S: EventFunction>(&mut self, system: &S, k: usize) {
        if self.was_crossed(k) {
            return;
        }
        self.need_spread(system, k);
        let (guard, t) = (self.guards.ahead(k), self.cluster_start);
        let (gap, error) = (self.gap_at_crossing(k), self.error_of(k));
        if gap <= error {
            self.keep_doubt(Doubt::TurnedAway {
                guard,
                t,
                gap,
                error,
            });
        }
    }

    /// Keeps a doubt for each guard crossed before those in `crossed`, when the error hides which
    /// come first, and these coming first turn the motion away from it.
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
            if guard.sign() * last < self.guards.min_rate[k] {
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

/// True when a guard came closer by `way`, by more than `zero`, to `closest` (its value, counted in
/// the direction ahead), and was not farther than it came, however large the `error`.
#[inline]
fn came_close(closest: f64, way: f64, error: f64, zero: f64) -> bool {
    way > zero && -closest <= way + error
}
