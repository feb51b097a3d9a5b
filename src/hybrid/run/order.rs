//! Orders of crossings that the errors of a run hide, and that matter: before the crossing that ends the run, and
//! where a reset would have kept away a guard that was crossed just before.

use super::cascade::Cascade;
use crate::hybrid::context::{Context, System};
use crate::hybrid::search::{Doubts, MEANT};
use crate::hybrid::table::{GuardTable, State};
use crate::hybrid::transition::Reset;
use crate::ode::Buffer;
use crate::{CrossedGuard, Doubt, Stop};

/// Keeps a doubt of each guard that may be crossed before or behind the crossing that ended the run: it belongs to the
/// run or not. Those that are crossed together are meant to be, to rounding or as the model says
/// ([`EventFunction::crosses_within`](crate::EventFunction::crosses_within)).
pub(super) fn doubt_at_stop<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &State<B>,
    guards: &mut GuardTable<B>,
    cascade: &Cascade<B>,
    doubts: &mut Doubts,
) -> Result<(), Stop> {
    let Some(&first) = cascade.stopping.first() else {
        return Ok(());
    };
    let spreads = &mut guards.spreads;
    spreads.need_each(context, state, &guards.h, |_| true)?;
    for k in 0..state.count() {
        if cascade.stopping.iter().any(|guard| guard.event == k) {
            continue;
        }
        guards.need_rate(context, state, k)?;
        let (own, rate, t) = (guards.own_h(k), guards.own_rate(k), state.t);
        let (kept, met) = (&guards.kept[k], MEANT * guards.zero[k]);
        let error = guards.error_of(state, k) + rate.abs() * cascade.stop_error;
        let is_ahead = guards.arming[k].is_armed()
            && rate >= guards.min_rate[k]
            && (-error..-met).contains(&own);
        let since = t - kept.fired_last();
        let together = cascade.h_before[k].abs() <= met.max(kept.crosses_within);
        // Behind a reset that carried the state over the guard that ends the run there is no other order.
        let is_behind = !cascade.is_carried
            && since <= kept.crossing_error + cascade.stop_error
            && !(since == 0.0 && together);
        if is_ahead || is_behind {
            let guards = [guards.ahead(k), kept.last_guard(k)];
            let (guard, gap) = (guards[usize::from(is_behind)], (-own).max(0.0));
            doubts.keep(Doubt::Order {
                first,
                guard,
                t,
                gap,
                error,
            });
        }
    }
    Ok(())
}

/// Keeps a doubt of the last guard that was crossed before the reset of `set`, earlier by less than the errors of both,
/// of which the reset changed the value or the rate: had it come first, that guard would have been met elsewhere, or
/// never. Where those of the set have jumped since then, or turned close to their surfaces, they could not have come
/// first, or a doubt was kept when they were ahead.
pub(super) fn doubt_before_reset<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &State<B>,
    guards: &mut GuardTable<B>,
    cascade: &mut Cascade<B>,
    set: &[CrossedGuard],
    reset: Reset,
    doubts: &mut Doubts,
) -> Result<(), Stop> {
    let Some(&CrossedGuard { guard: first, .. }) = set.first() else {
        return Ok(());
    };
    let (t, mut thrown) = (state.t, cascade.thrown(set));
    let errors = set.iter().map(|c| guards.kept[c.guard.event].error_there);
    let error = errors.fold(0.0, f64::max);
    let changed_at = set.iter().map(|c| guards.kept[c.guard.event].changed_at);
    let (mut latest, mut found) = (changed_at.fold(f64::NEG_INFINITY, f64::max), None);
    let is_moved = |guards: &GuardTable<B>, before: &[f64], k: usize| {
        (guards.h[k] - before[k]).abs() > MEANT * guards.zero[k]
    };
    for k in 0..state.count() {
        let (last, own) = (guards.kept[k].fired_last(), guards.kept[k].error_there);
        let is_close = last > latest && last < t && t - last <= own + error;
        if !(is_close && reset.state) || set.iter().any(|c| c.guard.event == k) {
            continue;
        }
        let is_changed = is_moved(guards, thrown.h_before, k) || {
            let rate = thrown.rate_before(context, guards, t, k);
            let turns = thrown.turns(context, state, guards, k, rate)?;
            turns && rate.value.abs().max(guards.rate[k].abs()) >= guards.min_rate[k]
        };
        if is_changed {
            guards.spreads.need(context, state, &guards.h, k)?;
            latest = last;
            found = Some(Doubt::Order {
                first,
                guard: guards.kept[k].last_guard(k),
                t,
                gap: 0.0,
                error: guards.error_of(state, k),
            });
        }
    }
    // Last, so that nothing is noted of a crossing that an interrupt takes back.
    for k in 0..state.count() {
        if is_moved(guards, thrown.h_before, k) {
            guards.kept[k].changed_at = t;
        }
    }
    if let Some(doubt) = found {
        doubts.keep(doubt);
    }
    Ok(())
}
