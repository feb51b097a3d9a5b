//! The beginning of a run: on which side of each guard it starts, and what is armed.

use super::Integration;
use super::transversality::check_admissible;
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate;
use crate::hybrid::options::Resolution;
use crate::hybrid::table::GuardTable;
use crate::hybrid::table::State;
use crate::model::rearm::Arming;
use crate::ode::Buffer;
use crate::{Doubt, Mode, Observer, Stop};

/// Decides the start mode, arms the guards and chooses the first step.
pub(crate) fn start<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    given: Option<&Mode>,
    observer: &mut dyn Observer,
) -> Result<(), Stop> {
    let Integration {
        state,
        guards,
        steps,
        search,
        doubts,
        ..
    } = run;
    let system = context.system;
    guards.begin(system, state);
    steps.begin(system, context.settings);
    search.begin(system, context.settings, state, guards);
    let sides = match given {
        Some(mode) => take_sides(context, state, guards, mode),
        None => decide_sides(context, state, guards),
    };
    observer.start(state.t, state.x.get(), &state.mode);
    if context.settings.resolution == Resolution::Samples
        && guards.kept.iter().any(|kept| kept.watch.is_any())
    {
        doubts.keep(Doubt::Unsearched { t: state.t });
        doubts.tell(observer);
    }
    sides?;
    arm(context, state, guards)?;
    steps.begin_part(system, state);
    steps.choose(context, state);
    Ok(())
}

fn take_sides<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &mut State<B>,
    guards: &mut GuardTable<B>,
    mode: &Mode,
) -> Result<(), Stop> {
    state.mode.copy_from(mode);
    guards.follow(mode);
    state.refresh_field(context)?;
    guards.refresh_events(context, state)
}

/// Sides by the signs of the event functions; where one is zero, by its rate in the mode before its
/// crossing.
fn decide_sides<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &mut State<B>,
    guards: &mut GuardTable<B>,
) -> Result<(), Stop> {
    guards.refresh_events(context, state)?;
    for k in 0..state.count() {
        guards.set_side(&mut state.mode, k, guards.h[k] > 0.0);
    }
    state.refresh_field(context)?;
    // Undecided guards wait; `arm` arms all anew.
    guards.arming.fill(Arming::Off);
    let mut undecided = 0;
    guards.refresh_rates(context, state)?;
    for k in 0..state.count() {
        let watch = guards.kept[k].watch;
        // A start that was solved for lies a few roundings off.
        if watch.is_any() && guards.h[k].abs() <= 4.0 * guards.zero[k] {
            guards.arming[k] = Arming::Waiting;
            undecided += 1;
            guards.set_side(&mut state.mode, k, watch.falling && !watch.rising);
        }
    }
    if undecided > 0 {
        guards.forget_terms(context);
        state.refresh_field(context)?;
        for k in 0..state.count() {
            if guards.arming[k].is_armed() {
                guards.refresh_rate(context, state, k)?;
                exclude_rounding(context, state, guards, k);
            }
        }
        for k in 0..state.count() {
            if !guards.arming[k].is_armed() {
                continue;
            }
            let (guard, rate) = (guards.ahead(k), guards.own_rate(k));
            if rate >= guards.min_rate[k] {
                guards.set_side(&mut state.mode, k, guard.side_after());
            } else if rate > -guards.min_rate[k] {
                return Err(guards.tangent(state, guard));
            }
        }
        state.refresh_field(context)?;
    }
    if state.count() > 0 && !context.system.ignores_mode() {
        guards.forget_terms(context);
        guards.refresh_events(context, state)?;
        guards.stale.fill(true);
    } else if undecided > 0 {
        guards.stale.fill(true);
    }
    Ok(())
}

/// Raises the liveness bound of a guard, where the user states none, above the rounding of its rate
/// at the start: no other rate has been seen yet.
fn exclude_rounding<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &State<B>,
    guards: &mut GuardTable<B>,
    k: usize,
) {
    if guards.part_of_rate[k] <= 0.0 {
        return;
    }
    let (row, magnitude) = (guards.row.get_mut(), guards.spreads.known_magnitude(k));
    let (system, point) = (context.system, state.point());
    let error = evaluate::rate_error(system, k, point, state.field(), row, magnitude);
    context.counts.event.add(3);
    if error.is_finite() {
        guards.min_rate[k] = guards.min_rate[k].max(error);
    }
}

/// Arms every guard that is watched and lies ahead; under `Rearm::Pairs` also those whose crossing
/// does not count. A guard whose state is beyond its surface, in a given mode, is not armed unless
/// it moves back: its side is a memory. A guard on its surface that moves across in the start mode
/// fires at once. Refuses a start beyond what the model admits.
fn arm<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &State<B>,
    guards: &mut GuardTable<B>,
) -> Result<(), Stop> {
    if guards.stale.contains(&true) {
        guards.refresh_rates(context, state)?;
    }
    for k in 0..state.count() {
        if guards.h[k].abs() <= 4.0 * guards.zero[k] {
            exclude_rounding(context, state, guards, k);
        }
        let (rate, least) = (guards.own_rate(k), guards.min_rate[k]);
        // A start that was solved for lies a few roundings off.
        let beyond = guards.own_h(k) > 4.0 * guards.zero[k];
        let direction = guards.ahead(k).direction;
        let sees = context.rearm.follows(guards.kept[k].watch, direction);
        if !(sees && (!beyond || rate <= -least)) {
            guards.arming[k] = Arming::Off;
            continue;
        }
        let is_ready = guards.is_clear(k, 0.0) || (!beyond && rate >= least);
        guards.arming[k] = Arming::armed(is_ready);
    }
    let GuardTable {
        h, arming, spreads, ..
    } = &mut *guards;
    spreads.need_each(context, state, h, |k| arming[k].is_armed())?;
    check_admissible(context, state, guards, None)
}
