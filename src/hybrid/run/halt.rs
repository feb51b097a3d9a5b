//! The crossing that ends a run, and the guards of which errors hide whether they are crossed before it.

use super::cascade::Cascade;
use crate::hybrid::context::{Context, System};
use crate::hybrid::search::{Doubts, MEANT};
use crate::hybrid::table::{GuardTable, State};
use crate::ode::Buffer;
use crate::{Doubt, Stop};

/// Keeps a doubt of each guard that may be crossed before or behind the crossing that ended the run: it belongs to the
/// run or not. Those that are crossed together are meant to be, to rounding or as the model says
/// ([`EventFunction::crosses_within`](crate::EventFunction::crosses_within)).
pub(super) fn doubt_order<S: System + ?Sized, B: Buffer>(
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
