//! The crossing phase: guards that are near are reached by projection, in order, without root
//! finding.

use super::Run;
use super::cascade::fire;
use super::project::Landing;
use crate::Stop;
use crate::hybrid::context::{Context, System};
use crate::hybrid::{Arrival, Observer};
use crate::ode::Buffer;

/// Crosses all guards that are at hand; `true` when one of them ends the run.
pub(crate) fn crossing_phase<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Run<B>,
    observer: &mut dyn Observer,
) -> Result<bool, Stop> {
    let settings = context.settings;
    // Good for the first guard reached only: what comes after it is near or not by itself.
    let mut entered = run.cluster.entered.take();
    loop {
        let Run {
            state,
            guards,
            cluster,
            trial,
            turned,
            search,
            ..
        } = run;
        let Some((j, tau)) = cluster.earliest(context, (state, guards))? else {
            return Ok(false);
        };
        settings.interrupt.check()?;
        if guards.own_h(j) >= -guards.zero[j] {
            // Already on its surface: firing without moving keeps exactly simultaneous guards
            // from being lost.
            turned.approach_by_rates(state, guards);
            cluster.survey((state, guards), None, j);
            guards.renew_only(context, state, &cluster.near)?;
            cluster.gather(settings, guards, j);
            if fire(context, run, observer, Arrival::AlreadyThere, true)? {
                return Ok(true);
            }
            continue;
        }
        let reached = (&*state, &*guards, &search.pace);
        if state.t + tau > state.tf || !cluster.is_near(settings, reached, (j, tau), entered) {
            return Ok(false);
        }
        let found = cluster.project_in_order(context, (state, guards), trial, (j, tau))?;
        // A landing that does not go on in time is none: a smooth step decides.
        let Some((j, landing)) = found.filter(|(_, landing)| landing.dt >= 0.0) else {
            context.counts.projections_failed.add(1);
            return Ok(false);
        };
        if state.t + landing.dt > state.tf {
            return Ok(false);
        }
        entered = None;
        let start = state.t;
        let landed = land(context, run, j, landing);
        let crossed = landed.and_then(|()| {
            let (arrival, knows_field) = (Arrival::Projected, landing.knows_field);
            fire(context, run, observer, arrival, knows_field)
        });
        match crossed {
            Ok(ends) => {
                context.counts.projections.add(1);
                if ends {
                    return Ok(true);
                }
            }
            Err(Stop::NotLive { .. } | Stop::ArmedBeyond { .. }) if run.trial.is_pending => {
                // A landing is an approximation, and no proof that liveness fails: a smooth step
                // decides.
                context.counts.projections_failed.add(1);
                take_back(context, run, start)?;
                return Ok(false);
            }
            Err(error) => {
                let (t, wants) = (run.state.t, context.wants_segments);
                run.trial.commit(wants, observer, t, &run.cascade.scratch);
                return Err(error);
            }
        }
    }
}

/// Moves to the landing on guard `j` and collects all that are zero with it there.
fn land<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Run<B>,
    j: usize,
    landing: Landing,
) -> Result<(), Stop> {
    let Run {
        state,
        guards,
        cluster,
        trial,
        cascade,
        turned,
        doubts,
        ..
    } = run;
    let known = (&*state, &mut *guards, &mut *doubts);
    turned.approach_by_projection(context, known, &trial.h, state.t + landing.dt);
    state.add_error(landing.error);
    cluster.bend = (j, (landing.rate - guards.own_rate(j)) / landing.dt);
    trial.land(context.wants_segments, (state, guards), landing);
    let scratch = &mut cascade.scratch;
    scratch.keep(state.x.get(), &state.mode, &guards.arming);
    if landing.knows_field {
        for &k in cluster.near.iter().filter(|&&k| k != j) {
            guards.refresh_rate(context, state, k)?;
        }
    }
    cluster.gather(context.settings, guards, j);
    // The rates of the others are those in the old mode at the landing, or at the start when the
    // field is not known.
    if let Some(c) = cluster.set.iter_mut().find(|c| c.guard.event == j) {
        c.rate = c.guard.sign() * landing.rate;
    }
    Ok(())
}

/// Undoes a landing, made from time `start`, whose crossing was refused.
#[cold]
fn take_back<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Run<B>,
    start: f64,
) -> Result<(), Stop> {
    let Run {
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
    trial.drop_landing((state, guards), start);
    guards.unfire(&cluster.set, &cascade.scratch.arming_before);
    state.refresh_field(context)
}
