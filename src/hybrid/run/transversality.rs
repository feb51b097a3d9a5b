//! Conditions that a crossing must fulfil: transversality before and after, whatever the order, and
//! guards armed before their surface. These say what is the case; the caller refuses. And what the
//! model declares of the values that a start and a reset may leave.

use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::Point;
use crate::hybrid::table::GuardTable;
use crate::hybrid::table::State;
use crate::hybrid::transition::{Reset, Scratch, is_carried};
use crate::ode::Buffer;
use crate::{Arrival, CrossedGuard, Guard, Mode, Rearm, Stop};

/// A guard that does not go on in its direction, and its rates before and after.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotLive {
    pub(crate) guard: Guard,
    pub(crate) before: f64,
    pub(crate) after: f64,
}

/// Changes in a crossing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Changes<'a> {
    pub(crate) reset: Reset,
    /// Event functions jumped: by a reset, or because they read the mode.
    pub(crate) jumped: bool,
    /// Event functions before.
    pub(crate) h_before: &'a [f64],
    pub(crate) arrival: Arrival,
}

/// The first guard of a set, crossed without a change of sides by the model, that slides, grazes or
/// rests. Without a reset every guard must go on in its direction; after one the rate may be
/// reversed. If the crossing back is not looked for (hysteresis), the rate after the crossing is
/// not checked.
#[inline]
pub(crate) fn not_live_after<B: Buffer>(
    state: &State<B>,
    guards: &GuardTable<B>,
    rearm: &Rearm,
    set: &[CrossedGuard],
    changes: Changes<'_>,
) -> Option<NotLive> {
    let Changes {
        reset,
        jumped,
        h_before,
        arrival,
    } = changes;
    // How far a guard must be off its surface to be more than rounding (of which its rate after the
    // crossing says nothing when it is at rest) and more than a residual.
    let clearly = |c: &CrossedGuard| {
        let k = c.guard.event;
        let zero = guards.zero[k].max(guards.zero_of(state, k, c.rate, 0.0));
        zero.max(2.0 * h_before[k].abs())
    };
    let leapt = |c: &CrossedGuard| {
        let k = c.guard.event;
        arrival == Arrival::Located && guards.has_leapt(state, k, h_before[k], c.rate)
    };
    let is_dead = |c: &&CrossedGuard| {
        let (sign, k) = (c.guard.sign(), c.guard.event);
        let (watch, least) = (guards.kept[k].watch, guards.min_rate[k]);
        let onward = sign * guards.rate[k];
        // Where the new mode has an event function of its own, clear of zero, the rate says
        // nothing.
        let off = guards.h[k].abs() > clearly(c);
        if jumped && off && (!reset.state || sign * guards.h[k] > 0.0) {
            return false;
        }
        if reset.state {
            let is_back = sign * guards.h[k] < -clearly(c);
            return !(is_back || onward.abs() >= least);
        }
        // One that leapt across may go back at any rate: it is off its surface.
        let follows = rearm.follows(watch, c.guard.partner().direction) && !leapt(c);
        !(sign * c.rate >= least && (onward >= least || !follows))
    };
    set.iter().find(is_dead).map(|c| NotLive {
        guard: c.guard,
        before: c.rate,
        after: guards.rate[c.guard.event],
    })
}

/// Flights to one guard, each shorter than the one before by up to this factor, are taken for an accumulation where
/// they become too short to be seen.
const SHRINKS: f64 = 1e3;

/// The first guard of a set whose reset put the state behind its surface again, by less than that is thick, at the end
/// of a flight almost as short: of the crossings that follow none would be seen (Zeno, at a rate that does not vanish).
/// Behind a longer flight, or within a tolerance that the user states, the reset has put the state on the surface.
pub(crate) fn returns_unseen<B: Buffer>(
    guards: &GuardTable<B>,
    set: &[CrossedGuard],
    h_before: &[f64],
) -> Option<Guard> {
    let is_unseen = |c: &&CrossedGuard| {
        let (sign, k) = (c.guard.sign(), c.guard.event);
        let (lay, lies) = (-sign * h_before[k], -sign * guards.h[k]);
        let (zero, onward) = (guards.zero[k], sign * guards.rate[k]);
        let is_put_behind = lies > lay && !is_carried(lay, lies, zero);
        is_put_behind
            && zero > guards.kept[k].event_tolerance
            && onward > 0.0
            && guards.kept[k].since > 0.0
            && onward * guards.kept[k].since <= SHRINKS * lies
    };
    set.iter().find(is_unseen).map(|c| c.guard)
}

/// A guard that a row of the matrix armed although the state is beyond it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Beyond {
    pub(crate) guard: Guard,
    /// The guard whose row did it.
    pub(crate) by: Guard,
    /// Distance of the state beyond its surface (`u_k`).
    pub(crate) depth: f64,
}

/// The first guard that a crossing without a reset armed beyond its surface; a partner may be so by
/// the residual of the crossing.
pub(crate) fn armed_beyond<B: Buffer>(
    guards: &GuardTable<B>,
    set: &[CrossedGuard],
    scratch: &mut Scratch<B>,
) -> Option<Beyond> {
    let missed = guards.missed_by(set, &guards.h);
    for (k, done) in scratch.done.iter_mut().enumerate() {
        let Some(by) = done.armed_by.take() else {
            continue;
        };
        let beyond = guards.own_h(k);
        let is_beyond = is_carried(missed * guards.rate[k].abs(), beyond, guards.zero[k]);
        if guards.arming[k].is_armed() && is_beyond {
            let guard = guards.ahead(k);
            let depth = beyond;
            return Some(Beyond { guard, by, depth });
        }
    }
    None
}

/// Refuses the present state where an event function, of all, is beyond what the model admits by
/// more than rounding; its surface is as thick as it is for starts. `before` holds event functions
/// before the first reset of the instant: what lay beyond then, by the residual of a crossing, was
/// not thrown there; nor what lay farther, where motion had carried it, and is no farther now.
pub(crate) fn check_admissible<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &State<B>,
    guards: &mut GuardTable<B>,
    before: Option<&[f64]>,
) -> Result<(), Stop> {
    for k in 0..state.count() {
        let range = context.system.admissible(k, &state.mode);
        if range.contains(&guards.h[k]) {
            continue;
        }
        guards.need_rate(context, state, k)?;
        guards.spreads.need(context, state, &guards.h, k)?;
        let zero = 4.0 * guards.zero[k];
        for (guard, &bound) in [
            (Guard::falling(k), range.start()),
            (Guard::rising(k), range.end()),
        ] {
            let beyond = |h: f64| guard.sign() * (h - bound);
            let (lay, lies) = (before.map_or(0.0, |h| beyond(h[k])), beyond(guards.h[k]));
            let was_residual = lay <= guards.error_of(state, k);
            let thrown = is_carried(lay, lies, zero) || (!was_residual && lies > lay + zero);
            // An end that is not a number admits nothing.
            if bound.is_nan() || thrown {
                return Err(Stop::Inadmissible {
                    guard,
                    value: guards.h[k],
                    bound,
                    at: state.at().into(),
                });
            }
        }
    }
    Ok(())
}

/// The first guard of a set at one instant whose rate is below its least rate when all others have
/// crossed. Then their order matters, and the system is not event-selected there. (The rates in the
/// mode before are checked elsewhere.) The field is that behind all of them; `mode` and `field` are
/// scratch.
pub(crate) fn not_live_last<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &State<B>,
    guards: &mut GuardTable<B>,
    set: &[CrossedGuard],
    mode: &mut Mode,
    field: &mut [f64],
) -> Result<Option<NotLive>, Stop> {
    let (t, x) = (state.t, state.x.get());
    mode.copy_from(&state.mode);
    for &CrossedGuard { guard, rate } in set {
        let k = guard.event;
        // One that is not watched both ways has a side bit that is a memory.
        if !(guards.kept[k].watch.rising && guards.kept[k].watch.falling) {
            continue;
        }
        context.settings.limits.interrupt.check()?;
        mode.set(k, !guard.side_after());
        field.copy_from_slice(state.field());
        if !context.flip(t, x, mode, k, field) {
            context.flow(t, x, mode, field);
        }
        let row = guards.row.get_mut();
        let last = context.rate(k, Point { t, x, mode }, field, row).value;
        mode.set(k, guard.side_after());
        let is_live = guard.sign() * last >= guards.min_rate[k];
        if !is_live {
            return Ok(Some(NotLive {
                guard,
                before: rate,
                after: last,
            }));
        }
    }
    Ok(None)
}
