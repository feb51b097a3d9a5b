//! The crossing phase: guards that are near are reached by projection, in order, without root
//! finding.

use super::Integration;
use super::fire::fire;
use super::project::Landing;
use crate::hybrid::context::{Context, System};
use crate::ode::Buffer;
use crate::{Arrival, Observer, Stop};

/// A guard at whose surface a state is said to be is beyond it by this many times what is zero of it, at most.
const BEYOND: f64 = 1e3;

/// Crosses all guards that are at hand; `true` when one of them ends the run.
pub(crate) fn crossing_phase<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    observer: &mut dyn Observer,
) -> Result<bool, Stop> {
    loop {
        let (guards, pace) = (&mut run.guards, &run.search.pace);
        let earliest = run.cluster.earliest(context, &run.state, guards, pace)?;
        let Some((j, tau)) = earliest else {
            return Ok(false);
        };
        context.settings.limits.interrupt.check()?;
        if run.guards.own_h(j) >= -run.guards.zero[j] {
            if fire_in_place(context, run, observer, j)? {
                return Ok(true);
            }
            continue;
        }
        let Some((j, landing)) = find_landing(context, run, (j, tau))? else {
            return Ok(false);
        };
        // Good for the first guard reached only: what comes after it is near or not by itself.
        run.cluster.entered = None;
        match land_and_fire(context, run, observer, (j, landing))? {
            Landed::Crossed => {}
            Landed::Ended => return Ok(true),
            Landed::TakenBack => return Ok(false),
        }
    }
}

/// Crosses guard `j`, on whose surface the state already is: firing without moving keeps exactly
/// simultaneous guards from being lost. True when the run ends.
fn fire_in_place<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    observer: &mut dyn Observer,
    j: usize,
) -> Result<bool, Stop> {
    let Integration {
        state,
        guards,
        cluster,
        turned,
        ..
    } = run;
    // Steps stop at surfaces, and resets that carry guards across cross them at once: one that is beyond by more than
    // that leaves went across before, at a rate that says nothing.
    let (beyond, rate) = (guards.own_h(j), guards.own_rate(j));
    if beyond > BEYOND * guards.zero[j].max(guards.zero_of(state, j, rate, 0.0)) {
        let guard = guards.ahead(j);
        return Err(guards.not_live(state, guard, 0.0, guards.rate[j]));
    }
    turned.approach_by_rates(state, guards);
    cluster.survey(state, guards, None, j);
    guards.renew_only(context, state, &cluster.near)?;
    cluster.gather(context, state, guards, j)?;
    fire(context, run, observer, Arrival::AlreadyThere)
}

/// The guard that a projection reaches first, and where it lands; `j` is the one that comes first
/// by the tangent, after `tau`. None where a smooth step is to decide.
fn find_landing<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    (j, tau): (usize, f64),
) -> Result<Option<(usize, Landing)>, Stop> {
    let Integration {
        state,
        guards,
        cluster,
        trial,
        search,
        ..
    } = run;
    let is_near = cluster.is_near(context.settings, state, guards, &search.pace, (j, tau));
    if state.t + tau > state.tf || !is_near {
        return Ok(None);
    }
    let found = cluster.project_in_order(context, state, guards, trial, (j, tau))?;
    // A landing that does not go on in time is none.
    let Some((j, landing)) = found.filter(|(_, landing)| landing.dt >= 0.0) else {
        context.counts.projections_failed.add(1);
        return Ok(None);
    };
    let is_in_time = state.t + landing.dt <= state.tf;
    Ok(is_in_time.then_some((j, landing)))
}

/// Outcome of a landing.
enum Landed {
    /// Its guards were crossed.
    Crossed,
    /// They were, and one of them ends the run.
    Ended,
    /// The crossing was refused. A landing is an approximation, and no proof that liveness fails: a
    /// smooth step decides.
    TakenBack,
}

/// Moves to the landing on guard `j`, and crosses the guards there.
fn land_and_fire<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    observer: &mut dyn Observer,
    (j, landing): (usize, Landing),
) -> Result<Landed, Stop> {
    let start = run.state.t;
    let landed = land(context, run, j, landing);
    let crossed = landed.and_then(|()| fire(context, run, observer, Arrival::Projected));
    match crossed {
        Ok(ends) => {
            context.counts.projections.add(1);
            Ok(if ends { Landed::Ended } else { Landed::Crossed })
        }
        Err(Stop::NotLive { .. } | Stop::ArmedBeyond { .. }) if run.trial.is_pending() => {
            context.counts.projections_failed.add(1);
            take_back(context, run, start)?;
            Ok(Landed::TakenBack)
        }
        Err(error) => {
            let (state, wants) = (&run.state, context.wants_segments);
            run.trial
                .commit(wants, observer, state, &run.cascade.scratch);
            Err(error)
        }
    }
}

/// Moves to the landing on guard `j` and collects all that are zero with it there.
fn land<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    j: usize,
    landing: Landing,
) -> Result<(), Stop> {
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
    let t = state.t + landing.dt;
    turned.approach_by_projection(context, state, guards, doubts, &trial.h, t)?;
    state.add_error(landing.error);
    cluster.bend = (j, (landing.rate - guards.own_rate(j)) / landing.dt);
    trial.land(context.wants_segments, state, guards, landing);
    state.note_sizes();
    let scratch = &mut cascade.scratch;
    scratch.keep(state.x.get(), &state.mode, &guards.arming);
    for &k in cluster.near.iter().filter(|&&k| k != j) {
        guards.refresh_rate(context, state, k)?;
    }
    cluster.gather(context, state, guards, j)?;
    if let Some(c) = cluster.set.iter_mut().find(|c| c.guard.event == j) {
        c.rate = c.guard.sign() * landing.rate;
    }
    Ok(())
}

/// Undoes a landing, made from time `start`, whose crossing was refused.
#[cold]
fn take_back<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    start: f64,
) -> Result<(), Stop> {
    let Integration {
        state,
        guards,
        cluster,
        trial,
        cascade,
        turned,
        ..
    } = run;
    cluster.ranking = None;
    cluster.reach = 0.5 * (state.t - start);
    turned.take_back(state.t);
    trial.drop_landing(state, guards, start);
    guards.unfire(&cluster.set, &cascade.scratch.arming_before);
    state.refresh_field(context)
}
