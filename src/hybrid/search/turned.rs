//! Guards that another crossing turns the motion away from, while the error hides which of the two
//! comes first: whether they are crossed is not decided.

use super::doubt::Doubts;
use super::factors::GREATER;
use super::window::{Samples, Window};
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::Point;
use crate::hybrid::room_for;
use crate::hybrid::table::GuardTable;
use crate::hybrid::table::State;
use crate::ode::Buffer;
use crate::{Arrival, CrossedGuard, Doubt, Mode, Stop};

/// Time of the last crossing of guards by the flow, at one instant and without a reset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flown {
    /// Time (s).
    pub(crate) t: f64,
    /// The error of that time (s).
    pub(crate) error: f64,
}

/// Guards that the flow crosses at one instant and without a reset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flying<'a> {
    pub(crate) set: &'a [CrossedGuard],
    /// The mode in which they are met.
    pub(crate) mode_before: &'a Mode,
    /// The error of the time (s).
    pub(crate) error: f64,
}

/// Approach of guards before the crossings since the last smooth step, and their closest values.
#[derive(Clone, Debug)]
pub(crate) struct Turned<B> {
    /// Time of the first crossing since the last smooth step, while guards that it may have turned
    /// away are still to be looked for; else ∞ (s).
    cluster_start: f64,
    /// Changes of event functions in the last smooth step, up to the crossing (`u_k`).
    approach: Vec<f64>,
    /// The largest values of event functions at the crossings since then, counted in the direction
    /// ahead (`u_k`).
    closest: Vec<f64>,
    /// Guards that the crossings since then may have turned away.
    list: Vec<usize>,
    /// Guards that the flow crossed last, at one instant and without a reset.
    flown: Vec<CrossedGuard>,
    /// The mode before they crossed.
    mode_before: Mode,
    /// When, if it was so.
    last_flown: Option<Flown>,
    /// Scratch: the field in another mode, and that.
    field: B,
    mode: Mode,
}

impl<B: Buffer> Turned<B> {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        let count = mode.len();
        Self {
            cluster_start: f64::INFINITY,
            approach: vec![0.0; count],
            closest: vec![0.0; count],
            list: Vec::with_capacity(room_for(count)),
            flown: Vec::with_capacity(room_for(count)),
            mode_before: mode.clone(),
            last_flown: None,
            field: B::zeros(dim),
            mode: mode.clone(),
        }
    }

    /// Forgets the last run.
    pub(crate) fn begin(&mut self) {
        self.cluster_start = f64::INFINITY;
        self.last_flown = None;
    }

    /// Starts the search for guards that are turned away at the end of a step, at time `t`.
    /// Crossings reached from there by projection belong to it. Event functions changed from
    /// `before` to `after` in the step.
    pub(crate) fn approach_in_step(&mut self, t: f64, before: &[f64], after: &[f64]) {
        let n = self.approach.len();
        let (before, after) = (&before[..n], &after[..n]);
        for k in 0..n {
            self.approach[k] = after[k] - before[k];
        }
        self.open(t);
    }

    /// Start of the search as [`approach_in_step`](Self::approach_in_step), where a step that found
    /// no guard ended on one; the rates before the crossing show how event functions changed.
    pub(crate) fn approach_by_rates(&mut self, state: &State<B>, guards: &GuardTable<B>) {
        if self.cluster_start < f64::INFINITY {
            return;
        }
        for (approach, rate) in self.approach.iter_mut().zip(&guards.rate) {
            *approach = rate * state.last_step;
        }
        self.open(state.t);
    }

    /// Start of the search as [`approach_in_step`](Self::approach_in_step), for a projection from
    /// the present state to the time `landing`, where event functions are `after`. Where crossings
    /// before it have not been searched yet, the projection shows which guards they turned away.
    pub(crate) fn approach_by_projection<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        doubts: &mut Doubts,
        after: &[f64],
        landing: f64,
    ) -> Result<(), Stop> {
        let n = state.count();
        let (h, sign, zero) = (&guards.h[..n], &guards.sign[..n], &guards.zero[..n]);
        let (arming, most_spread) = (&guards.arming[..n], &guards.spreads.most[..n]);
        let after = &after[..n];
        let (approach, closest) = (&mut self.approach[..n], &mut self.closest[..n]);
        if self.cluster_start == f64::INFINITY {
            for k in 0..n {
                approach[k] = after[k] - h[k];
            }
            self.open(landing);
            return Ok(());
        }
        let greater = GREATER * state.error;
        self.list.clear();
        for k in 0..n {
            let change = after[k] - h[k];
            let (own, zero) = (sign[k] * change, 8.0 * zero[k]);
            if own > zero {
                approach[k] = change;
            } else if own < -zero {
                let way = sign[k] * approach[k];
                let came_close = came_close(closest[k], way, greater * most_spread[k], zero);
                if arming[k].is_armed() && came_close {
                    self.list.push(k);
                } else {
                    closest[k] = f64::NEG_INFINITY;
                }
                approach[k] = change;
            }
        }
        for i in 0..self.list.len() {
            let k = self.list[i];
            self.doubt(context, state, guards, doubts, k)?;
            // One that moves away is looked at once.
            self.closest[k] = f64::NEG_INFINITY;
        }
        Ok(())
    }

    fn open(&mut self, t: f64) {
        self.closest.fill(f64::NEG_INFINITY);
        self.cluster_start = t;
    }

    /// Takes back what was opened at time `t` or later.
    pub(crate) fn take_back(&mut self, t: f64) {
        if self.cluster_start >= t {
            self.cluster_start = f64::INFINITY;
        }
    }

    /// Remembers how close event functions are to zero at a crossing that the flow led to.
    #[inline]
    pub(crate) fn note_closest(&mut self, guards: &GuardTable<B>, arrival: Arrival) {
        if arrival == Arrival::Jumped {
            return;
        }
        let n = self.closest.len();
        let (h, sign) = (&guards.h[..n], &guards.sign[..n]);
        let closest = &mut self.closest[..n];
        for k in 0..n {
            let own = sign[k] * h[k];
            closest[k] = if own > closest[k] { own } else { closest[k] };
        }
    }

    /// True when no crossing waits for the next window.
    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.cluster_start == f64::INFINITY
    }

    /// Keeps a doubt for each guard that the crossings since the last smooth step may have turned
    /// away, and that moves away in the first window after them.
    #[inline]
    pub(crate) fn in_window<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        doubts: &mut Doubts,
        samples: &Samples<B>,
        window: Window,
    ) -> Result<(), Stop> {
        if self.is_closed() {
            return Ok(());
        }
        self.in_first_window(context, state, guards, doubts, samples, window)
    }

    fn in_first_window<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        doubts: &mut Doubts,
        samples: &Samples<B>,
        window: Window,
    ) -> Result<(), Stop> {
        self.list_close(state, guards);
        for i in 0..self.list.len() {
            let k = self.list[i];
            let own = samples.own(guards, k, window);
            if own[1] < own[0] - 8.0 * guards.zero[k] {
                self.doubt(context, state, guards, doubts, k)?;
            }
        }
        self.cluster_start = f64::INFINITY;
        Ok(())
    }

    /// Doubts as [`in_window`](Self::in_window), where the run ends before the next window, however
    /// it ends: the rates in the last mode decide. A guard that does not keep its least rate is not
    /// crossed. Once the run is interrupted nothing is evaluated: each guard that came as close as
    /// the largest error known of it may have been turned away. A run that goes on does so as if it had not
    /// ended here: its next window is still the first one, but each doubt is kept once.
    pub(crate) fn at_end<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        doubts: &mut Doubts,
    ) -> Result<(), Stop> {
        // Also where an interrupt took the crossing back.
        if !(0..state.count()).any(|k| self.was_crossed(guards, k)) {
            return Ok(());
        }
        let (mut knows_field, mut ended) = (false, Ok(()));
        self.list_close(state, guards);
        for i in 0..self.list.len() {
            let k = self.list[i];
            if self.was_crossed(guards, k) {
                continue;
            }
            let looked = self.at_end_of(context, state, guards, doubts, k, &mut knows_field);
            if looked.is_err() {
                let spread = guards.spreads.most[k];
                self.keep_doubt(state, guards, doubts, k, spread);
                ended = looked;
            }
        }
        ended
    }

    /// Part of [`at_end`](Self::at_end) for one guard; `knows_field` says whether the field is
    /// evaluated already.
    fn at_end_of<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        doubts: &mut Doubts,
        k: usize,
        knows_field: &mut bool,
    ) -> Result<(), Stop> {
        context.settings.limits.interrupt.check()?;
        let (point, field) = (state.point(), self.field.get_mut());
        if !std::mem::replace(knows_field, true) {
            // After a refusal the stepper holds the field of another mode.
            context.flow(point.t, point.x, point.mode, field);
        }
        let row = guards.row.get_mut();
        let rate = context.rate(k, point, field, row).value;
        if guards.sign[k] * rate < guards.min_rate[k] {
            self.doubt(context, state, guards, doubts, k)?;
        }
        Ok(())
    }

    /// Lists the guards that came closer up to the crossings since the last smooth step and were
    /// about as close as the error then. Some of them may have been crossed.
    fn list_close(&mut self, state: &State<B>, guards: &GuardTable<B>) {
        let n = state.count();
        let (sign, zero, arming) = (&guards.sign[..n], &guards.zero[..n], &guards.arming[..n]);
        let most_spread = &guards.spreads.most[..n];
        let (approach, closest) = (&self.approach[..n], &self.closest[..n]);
        let greater = GREATER * state.error;
        self.list.clear();
        for k in 0..n {
            let way = sign[k] * approach[k];
            let zero = 8.0 * zero[k];
            let came_close = came_close(closest[k], way, greater * most_spread[k], zero);
            if arming[k].is_armed() && came_close {
                self.list.push(k);
            }
        }
    }

    /// True when event function `k` was crossed since the last smooth step.
    fn was_crossed(&self, guards: &GuardTable<B>, k: usize) -> bool {
        guards.kept[k].fired_last() >= self.cluster_start
    }

    /// Keeps the doubt for a guard that was turned away, if it was within its error and not
    /// crossed.
    fn doubt<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        doubts: &mut Doubts,
        k: usize,
    ) -> Result<(), Stop> {
        if !self.was_crossed(guards, k) {
            guards.spreads.need(context, state, &guards.h, k)?;
            let spread = guards.spreads.of(k);
            self.keep_doubt(state, guards, doubts, k, spread);
        }
        Ok(())
    }

    /// Doubt for a guard that was within its error, where its event function depends on the state
    /// as `spread` says.
    fn keep_doubt(
        &mut self,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        doubts: &mut Doubts,
        k: usize,
        spread: f64,
    ) {
        let (guard, t) = (guards.ahead(k), self.cluster_start);
        // How far it was from its surface at those crossings, at least.
        let gap = (-self.closest[k]).max(0.0);
        let error = state.error * spread;
        if gap <= error {
            doubts.keep(Doubt::TurnedAway {
                guard,
                t,
                gap,
                error,
            });
            // Once: a run that was cut here looks again.
            self.closest[k] = f64::NEG_INFINITY;
        }
    }

    /// The crossing of a set that the flow did not lead to, or that a reset followed: order is not
    /// asked for.
    pub(crate) fn forget_flown(&mut self) {
        self.last_flown = None;
    }

    /// The error may hide which of two sets came first. Keeps a doubt for each guard of the earlier
    /// set that would not be crossed if `crossed` came first. The field is that behind `crossed`.
    pub(crate) fn by_order<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        doubts: &mut Doubts,
        crossed: Flying<'_>,
    ) -> Result<(), Stop> {
        let now = Flown {
            t: state.t,
            error: crossed.error,
        };
        if let Some(before) = self.last_flown.replace(now) {
            let apart = state.t - before.t;
            let is_undone =
                |c: &CrossedGuard| state.mode.contains(c.guard.event) != c.guard.side_after();
            if apart <= before.error.max(now.error) && !self.flown.iter().any(is_undone) {
                self.by_order_of(context, state, guards, doubts, before, crossed.mode_before)?;
            }
        }
        self.mode_before.copy_from(crossed.mode_before);
        self.flown.clear();
        self.flown.extend_from_slice(crossed.set);
        Ok(())
    }

    /// Part of [`by_order`](Self::by_order) for the guards that crossed at one instant before, and left the
    /// mode `after`.
    fn by_order_of<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        doubts: &mut Doubts,
        before: Flown,
        after: &Mode,
    ) -> Result<(), Stop> {
        let apart = state.t - before.t;
        let (t, x, mode) = (state.t, state.x.get(), &mut self.mode);
        let field = self.field.get_mut();
        field.copy_from_slice(state.field());
        mode.copy_from(&state.mode);
        let mut fresh = true;
        // Their own sides, and those that a matrix of guard resets changed with them.
        for k in self.mode_before.sides_unlike(after) {
            mode.set(k, self.mode_before.contains(k));
            fresh = fresh && context.flip(t, x, mode, k, field);
        }
        if !fresh {
            context.flow(t, x, mode, field);
        }
        let point = Point { t, x, mode };
        for &CrossedGuard { guard, rate } in &self.flown {
            context.settings.limits.interrupt.check()?;
            let k = guard.event;
            let row = guards.row.get_mut();
            let last = context.rate(k, point, field, row).value;
            if guard.sign() * last < guards.min_rate[k] {
                let (gap, error) = (rate.abs() * apart, guards.error_of(state, k));
                doubts.keep(Doubt::TurnedAway {
                    guard,
                    t: before.t,
                    gap,
                    error,
                });
            }
        }
        Ok(())
    }
}

/// True when a guard came closer by `way`, which is more than `zero`, and its gap, `−closest`, is
/// at most `way + error`.
#[inline]
fn came_close(closest: f64, way: f64, error: f64, zero: f64) -> bool {
    way > zero && -closest <= way + error
}
