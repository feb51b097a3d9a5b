//! The smooth phase: one step of the stepper in a frozen mode, up to the first guard it passes.

use super::Integration;
use super::cluster::Cluster;
use super::fire::fire;
use super::steps::SHORTER;
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::Rate;
use crate::hybrid::options::Settings;
use crate::hybrid::search::{Arms, Doubts, Met, StepEnd};
use crate::hybrid::table::GuardTable;
use crate::hybrid::table::State;
use crate::hybrid::{Projection, evaluate};
use crate::model::rearm::Arming;
use crate::ode::{Buffer, lesser};
use crate::{Arrival, Doubt, Observer, Quantity, Rearm, Segment, Stop};

/// Makes one accepted step, or the part of one before a guard, which then fires. `true` when that
/// ends the run.
pub(crate) fn smooth_step<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    observer: &mut dyn Observer,
) -> Result<bool, Stop> {
    let settings = context.settings;
    let Integration {
        state,
        guards,
        steps,
        search,
        cluster,
        turned,
        doubts,
        ..
    } = run;
    cluster.leave();
    let step = steps.attempt(context, state)?;
    let reaches_end = state.t + step >= state.tf;
    let end = if reaches_end {
        state.tf
    } else {
        state.t + step
    };
    if state.count() > 0 || context.wants_segments {
        state.ode.form_interpolant(state.t, state.x.get(), step);
    }
    let mark = doubts.mark();
    // Guards are looked for on the corrected path: the correction may move the state over one.
    let mut corrected = false;
    let met = correct(context, state, end).and_then(|done| {
        corrected = done;
        match state.count() {
            0 => Ok(Met::Nothing(f64::INFINITY)),
            _ => search.detect(context, state, guards, doubts, turned, step),
        }
    });
    // The step that is made in its place, when this one is not taken.
    let instead = match met {
        Ok(Met::Nothing(wanted)) => {
            steps.lengths.next = lesser(steps.lengths.next, wanted);
            steps.is_behind_crossing = false;
            return take_step(context, run, observer, end, corrected);
        }
        Ok(Met::Guard(stop)) => match steps.shorter_before(settings, state, stop, step) {
            Some(shorter) => shorter,
            None => return stop_at(context, run, observer, stop, step),
        },
        Ok(Met::TooMuch(settled)) => step * settled.min(SHORTER),
        Err(Stop::NotFinite { .. }) if steps.is_free() && may_shorten(settings, state, step) => {
            // The end of the step may lie beyond the domain of an event function, and a guard
            // before it.
            steps.shorten(step);
            steps.lengths.next
        }
        Err(error) => {
            doubts.drop_since(mark);
            return Err(error);
        }
    };
    doubts.drop_since(mark);
    context.counts.steps.take_back();
    context.counts.rejections.add(1);
    steps.lengths.next = instead;
    Ok(false)
}

/// True when there are guards that a shorter step may meet before the end of a domain.
fn may_shorten<B: Buffer>(settings: &Settings, state: &State<B>, step: f64) -> bool {
    state.count() > 0 && settings.fixed_step.is_none() && 0.1 * step >= state.least_step()
}

/// Lets the model bring the end of the step back to what its mode prescribes. True when it did; the
/// field is another one then.
#[inline]
fn correct<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &mut State<B>,
    end: f64,
) -> Result<bool, Stop> {
    let State { ode, mode, .. } = state;
    if !ode.correct(|x| context.system.correct(end, x, mode)) {
        return Ok(false);
    }
    let x = ode.state();
    match x.iter().position(|x| !x.is_finite()) {
        Some(component) => {
            let quantity = Quantity::Correction { component };
            Err(evaluate::not_finite(quantity, end, x, mode))
        }
        None => Ok(true),
    }
}

/// Reports to the observer the step, or the part of one, that ends at a time in a state.
#[inline]
fn tell_segment<S: ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &State<B>,
    observer: &mut dyn Observer,
    t: f64,
    end: &[f64],
) {
    if context.wants_segments {
        observer.segment(&Segment {
            start: state.t,
            t,
            state: end,
            mode: &state.mode,
            projected: false,
            interpolant: state.ode.interpolant(),
        });
    }
}

/// Moves to the end of a step that met no guard.
fn take_step<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    observer: &mut dyn Observer,
    end: f64,
    corrected: bool,
) -> Result<bool, Stop> {
    let Integration {
        state,
        guards,
        steps,
        search,
        cluster,
        doubts,
        ..
    } = run;
    search.inside = None;
    if state.count() > 0 {
        search.hand_over(state, guards);
    }
    doubts.tell(observer);
    state.add_error(steps.error);
    tell_segment(context, state, observer, end, state.ode.state());
    state.t = end;
    state.ode.take(&mut state.x);
    state.note_sizes();
    cluster.reach *= 1.1;
    if corrected {
        state.refresh_field(context)?;
    }
    if state.count() > 0 {
        let Arms { none, waiting } = search.samples.arms;
        if waiting {
            guards.note_clear();
        }
        if none && matches!(context.rearm, Rearm::WhenEmpty) {
            arm_all(context, state, guards, doubts, observer)?;
        }
        cluster.look_ahead(context.settings, state, guards, &search.pace);
    }
    Ok(observer.is_done())
}

/// Arms every watched guard that is off its surface: the policy of the paper when none is left.
fn arm_all<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &mut State<B>,
    guards: &mut GuardTable<B>,
    doubts: &mut Doubts,
    observer: &mut dyn Observer,
) -> Result<(), Stop> {
    guards.refresh_rates(context, state)?;
    let mut flipped = false;
    for k in 0..state.count() {
        let h = guards.h[k];
        if h.abs() <= guards.zero[k] {
            continue;
        }
        flipped |= state.mode.contains(k) != (h > 0.0);
        guards.set_side(&mut state.mode, k, h > 0.0);
        let sees = guards.kept[k].watch.sees(guards.ahead(k).direction);
        guards.arming[k] = if sees { Arming::Ready } else { Arming::Off };
    }
    if flipped {
        observer.settled(state.t, state.x.get(), &state.mode);
        guards.stale.fill(true);
        guards.forget_terms(context);
        let field_before = guards.row.get_mut();
        field_before.copy_from_slice(state.field());
        state.refresh_field(context)?;
        if *field_before != *state.field() {
            // Where the mode changes depends on where steps end.
            doubts.keep(Doubt::Rearmed { t: state.t });
        }
        if !context.system.ignores_mode() {
            guards.refresh_events(context, state)?;
        }
    }
    Ok(())
}

/// The fraction at which the step stops. Under `Projection::Horizon` it is moved back by the
/// horizon if the step began clearly before that; the flag says so.
fn back_up(settings: &Settings, stop: StepEnd, step: f64) -> (f64, bool) {
    if let Projection::Horizon { tau, .. } = settings.projection {
        let border = stop.fraction - tau / step;
        if border * step > 1e-6 * tau {
            return (border, true);
        }
    }
    (stop.fraction, false)
}

/// Lists the guards near the stop on guard `k`, and evaluates field and rates there. `known` holds
/// the rate of `k` and the field where they are evaluated already.
fn survey_stop<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &mut State<B>,
    guards: &mut GuardTable<B>,
    cluster: &mut Cluster,
    k: usize,
    known: Option<(Rate, &[f64])>,
) -> Result<(), Stop> {
    if let Some((rate, field)) = known {
        state.ode.first_stage().copy_from_slice(field);
        cluster.survey(state, guards, None, k);
        guards.stale.fill(true);
        guards.set_rate(state, k, rate);
        guards.renew_near(context, state, &cluster.near)?;
    } else {
        state.refresh_field(context)?;
        cluster.survey(state, guards, None, k);
        guards.renew_only(context, state, &cluster.near)?;
    }
    guards.need_rate(context, state, k)
}

/// Moves to where the step stops. On a guard, fires it and all that are zero with it; at the border
/// of a neighbourhood, leaves the rest to the crossing phase.
fn stop_at<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    observer: &mut dyn Observer,
    stop: StepEnd,
    step: f64,
) -> Result<bool, Stop> {
    let Integration {
        state,
        guards,
        steps,
        search,
        cluster,
        turned,
        doubts,
        ..
    } = run;
    doubts.tell(observer);
    state.add_error(steps.error);
    cluster.bend = (stop.k, stop.bend);
    let (fraction, backed_up) = back_up(context.settings, stop, step);
    let on_guard = stop.on_guard && !backed_up;
    let end = (state.t + fraction * step).min(state.tf);
    let (point, h) = (&mut search.samples.point, &mut search.samples.h[2]);
    let x = point.get_mut();
    state.ode.at_fraction(fraction, x);
    tell_segment(context, state, observer, end, x);
    state.t = end;
    std::mem::swap(&mut state.x, point);
    state.note_sizes();
    turned.approach_in_step(state.t, &guards.h, h);
    guards.slopes_to(state, h, stop.fraction * step);
    if backed_up {
        guards.refresh_events(context, state)?;
    } else {
        std::mem::swap(&mut guards.h, h);
    }
    let field = search.stop_field.get();
    let known = stop.rate.filter(|_| !backed_up).map(|rate| (rate, field));
    survey_stop(context, state, guards, cluster, stop.k, known)?;
    search.inside = (!on_guard).then_some(stop.k);
    if !on_guard {
        cluster.entered = Some(stop.k);
        cluster.look_again();
        return Ok(false);
    }
    let (guard, rate) = (guards.ahead(stop.k), guards.own_rate(stop.k));
    if rate < guards.min_rate[stop.k] {
        let rate = guards.rate[stop.k];
        return Err(guards.not_live(state, guard, rate, f64::NAN));
    }
    cluster.gather(context, state, guards, stop.k)?;
    fire(context, run, observer, Arrival::Located)
}
