//! The crossings of one instant: transitions one after another, as long as resets carry guards
//! across; their doubts, and reports to observers.

use super::Integration;
use super::cascade::{allow, undo};
use super::order;
use super::transversality::check_admissible;
use crate::hybrid::context::{Context, System};
use crate::hybrid::search::Flying;
use crate::hybrid::table::State;
use crate::hybrid::transition::Reset;
use crate::ode::Buffer;
use crate::{Arrival, CrossedGuard, Observer, Stop, Transition};

/// Fires the guards of the cluster's set, which are zero at the present state, and all that cross
/// at the same instant in consequence. `true` when one of them ends the run. After an error state and mode are those
/// before the crossing that was refused, or interrupted; but those that resets left where these are
/// refused ([`Stop::Inadmissible`]).
pub(crate) fn fire<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    observer: &mut dyn Observer,
    arrival: Arrival,
) -> Result<bool, Stop> {
    let (mut arrival, mut crossed_some) = (arrival, false);
    run.cascade.was_reset = false;
    run.cascade.own_error = 0.0;
    loop {
        // Crossings that follow from one that was made belong to it: the limit ends the run before the next one.
        if !crossed_some {
            let crossings = context.counts.crossings.get() - context.crossed;
            let (guards, set) = (&run.guards, &run.cluster.set);
            let allowed = allow(context.settings, crossings, &run.state, guards, set);
            if allowed.is_err() {
                run.cascade.refused = Some(arrival);
                run.cluster.look_again();
            }
            allowed?;
        }
        match cross(context, run, observer, arrival) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                if crossed_some {
                    let State { t, x, mode, .. } = &run.state;
                    observer.settled(*t, x.get(), mode);
                } else if matches!(error, Stop::Interrupted) {
                    run.cascade.refused = Some(arrival);
                }
                return Err(error);
            }
        }
        (arrival, crossed_some) = (Arrival::Jumped, true);
    }
    let Integration {
        state,
        guards,
        steps,
        cascade,
        ..
    } = run;
    observer.settled(state.t, state.x.get(), &state.mode);
    if cascade.was_reset {
        check_admissible(context, state, guards, Some(&cascade.h_before_resets))?;
    }
    steps.note_crossing(state);
    if context.settings.restart_at_events {
        steps.choose(context, state);
    }
    Ok(!run.cascade.stopping.is_empty() || observer.is_done())
}

/// Fires the guards at which a limit or an interrupt ended the part before, where the run still stands on them. True
/// when one of them ends the run.
pub(crate) fn fire_refused<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    observer: &mut dyn Observer,
    is_renewed: bool,
) -> Result<bool, Stop> {
    let Some(arrival) = run.cascade.refused.take() else {
        return Ok(false);
    };
    // The user may have moved them meanwhile.
    let (state, guards) = (&run.state, &mut run.guards);
    let stands = |c: &CrossedGuard| {
        let k = c.guard.event;
        let now = context.event(k, state.t, state.x.get(), &state.mode);
        (now - guards.h[k]).abs() <= guards.zero[k]
    };
    if is_renewed || !run.cluster.set.iter().all(stands) {
        guards.refresh_events(context, state)?;
        guards.stale.fill(true);
        return Ok(false);
    }
    let ends = fire(context, run, observer, arrival)?;
    let projected = usize::from(matches!(arrival, Arrival::Projected));
    context.counts.projections.add(projected);
    Ok(ends)
}

/// Crosses the guards of the set once; true when more were carried across, which are the set then.
#[inline]
fn cross<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    observer: &mut dyn Observer,
    arrival: Arrival,
) -> Result<bool, Stop> {
    run.cascade.refuse_repeat(
        context.settings,
        &run.state,
        &mut run.guards,
        &run.cluster.set,
    )?;
    run.turned.note_closest(&run.guards, arrival);
    let mark = run.doubts.mark();
    let speed_before = if context.system.resets() {
        run.state.speed()
    } else {
        0.0
    };
    let (reset, time_error) = match make(context, run, observer, arrival) {
        Ok(made) => made,
        Err(error) => {
            let scratch = &run.cascade.scratch;
            undo(&mut run.state, &mut run.guards, scratch);
            if matches!(error, Stop::Interrupted) {
                // No refusal: it is as if the run had never come here.
                run.guards.unfire(&run.cluster.set, &scratch.arming_before);
                run.cluster.look_again();
                run.doubts.take_back(mark);
            }
            return Err(error);
        }
    };
    let (state, wants) = (&run.state, context.wants_segments);
    run.trial
        .commit(wants, observer, state, &run.cascade.scratch);
    tell(context, run, observer, arrival, time_error);
    if reset.state {
        run.search.note_reset(speed_before, run.state.speed());
    }
    let (state, set) = (&run.state, &mut run.cluster.set);
    run.cascade
        .carried_across(context, state, &run.guards, set, reset)
}

/// Makes the transition, and checks it; reports nothing. What it reset, and the error of its time
/// (s).
#[inline]
fn make<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    observer: &mut dyn Observer,
    arrival: Arrival,
) -> Result<(Reset, f64), Stop> {
    let Integration {
        state,
        guards,
        cluster,
        trial,
        cascade,
        turned,
        doubts,
        ..
    } = run;
    let reset = cascade.step(context, state, guards, cluster)?;
    if reset.state {
        let thrown = cascade.thrown(&cluster.set);
        doubts.of_reset(context, state, guards, thrown)?;
    }
    if reset.any() {
        // The model has acted: this landing stands.
        trial.commit(context.wants_segments, observer, state, &cascade.scratch);
    }
    cascade.check(context, state, guards, &cluster.set, reset, arrival)?;
    let (mut latest, mut time_error, mut own_error): (f64, f64, f64) = (0.0, 0.0, 0.0);
    let (part_of_steps, residual_time) = (state.part_of_steps(), cluster.residual_time);
    for &crossed in &cluster.set {
        let CrossedGuard { guard, rate } = crossed;
        let error = doubts.of_crossing(context, state, guards, crossed, arrival, cluster.bend)?;
        latest = latest.max(error);
        // The part of it that is left in speeds shifts each flight to come. That all of them are
        // shifted hides no order of crossings: doubts take the error of this one alone.
        // One that a reset carried across is crossed when that was.
        let own = if arrival == Arrival::Jumped {
            cascade.own_error
        } else {
            state.error * guards.spreads.of_run(guard.event) / rate.abs()
        };
        own_error = own_error.max(own);
        let kept = &mut guards.kept[guard.event];
        let with_shift = own + residual_time + kept.shift;
        kept.shift += part_of_steps * own + residual_time;
        kept.time_error = with_shift;
        kept.crossing_error = own;
        kept.error_there = error;
        // The way back of one that its reset threw across is no crossing of its own.
        if reset.state || arrival != Arrival::Jumped {
            kept.own_error = if reset.state { own } else { 0.0 };
        }
        time_error = time_error.max(with_shift);
    }
    cascade.own_error = own_error;
    if cascade.jumped {
        let set = &cluster.set;
        order::doubt_before_reset(context, state, guards, cascade, set, reset, doubts)?;
    }
    if reset.any() || arrival == Arrival::Jumped {
        turned.forget_flown();
    } else {
        let crossed = Flying {
            set: &cluster.set,
            mode_before: &cascade.scratch.mode_before,
            error: latest,
        };
        turned.by_order(context, state, guards, doubts, crossed)?;
    }
    Ok((reset, time_error))
}

/// Reports the set to the observer and counts it.
#[inline]
fn tell<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    observer: &mut dyn Observer,
    arrival: Arrival,
    time_error: f64,
) {
    let Integration {
        state,
        guards,
        cluster,
        cascade,
        doubts,
        ..
    } = run;
    let scratch = &cascade.scratch;
    context.counts.crossings.add(scratch.counted.len());
    doubts.tell(observer);
    observer.transition(&Transition {
        t: state.t,
        guards: &cluster.set,
        min_rates: &guards.min_rate,
        arrival,
        arming_before: &scratch.arming_before,
        index: cascade.index,
        record: &scratch.record,
        state_before: scratch.x_before.get(),
        mode_before: &scratch.mode_before,
        state: state.x.get(),
        mode: &state.mode,
        time_error,
    });
    for &CrossedGuard { guard, rate } in &scratch.counted {
        let k = guard.event;
        if guards.kept[k].watch.stop {
            cascade.stopping.push(guard);
            cascade.is_carried = arrival == Arrival::Jumped;
            cascade.stop_error = cascade.own_error;
        }
        let told = &mut cascade.told;
        told.t = state.t;
        told.guard = guard;
        told.state.copy_from_slice(scratch.x_before.get());
        told.rate_before = rate;
        told.rate_after = guards.rate[k];
        told.min_rate = guards.min_rate[k];
        told.arrival = arrival;
        told.time_error = guards.kept[k].time_error;
        observer.crossing(told);
    }
    cascade.index += 1;
    cluster.bend = (0, 0.0);
}
