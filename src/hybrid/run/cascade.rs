//! The crossings of one instant: transitions one after another, as long as resets carry guards
//! across; what is known of the guards behind each, and what observers are told.

use super::Run;
use super::cluster::Cluster;
use super::transversality::{
    Changes, NotLive, armed_beyond, check_admissible, not_live_after, not_live_last,
};
use crate::hybrid::context::{Context, System};
use crate::hybrid::model::rearm::Arming;
use crate::hybrid::options::Settings;
use crate::hybrid::room_for;
use crate::hybrid::table::GuardTable;
use crate::hybrid::table::State;
use crate::hybrid::transition::{self, Place, Reset, Scratch};
use crate::hybrid::{Arrival, CrossedGuard, GuardCrossing, Mode, Observer, Rearm, Transition};
use crate::ode::Buffer;
use crate::{Guard, Stop};

/// Most crossings of guards that have crossed at the same instant before, in a corner whose order
/// was asked for.
const MOST_REPEATS: usize = 1000;

/// The last transition, and what the run makes of it.
#[derive(Clone, Debug)]
pub(crate) struct Cascade<B> {
    /// The workspace of transitions; holds the place before the last one.
    pub(crate) scratch: Scratch<B>,
    /// Event functions before it.
    h_before: Vec<f64>,
    /// A transition of the present instant made a reset; event functions before the first of them.
    was_reset: bool,
    h_before_resets: Vec<f64>,
    /// Whose guards it crossed, while guards are marked ready.
    is_crossed: Vec<bool>,
    /// It made event functions jump: by a reset, or because they read the mode.
    jumped: bool,
    /// Crossings of guards that have crossed at the present instant before.
    repeats: usize,
    /// Guards with `Watch::stop` that were crossed.
    pub(crate) stopping: Vec<Guard>,
    /// Transitions made so far.
    index: usize,
    /// A crossing as observers are told of it.
    told: GuardCrossing,
    /// Scratch: another mode, and the field in it.
    mode: Mode,
    field: B,
}

impl<B: Buffer> Cascade<B> {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        let count = mode.len();
        Self {
            scratch: Scratch::new(dim, mode),
            h_before: vec![0.0; count],
            was_reset: false,
            h_before_resets: vec![0.0; count],
            is_crossed: vec![false; count],
            jumped: false,
            repeats: 0,
            stopping: Vec::with_capacity(2 * room_for(count)),
            index: 0,
            told: GuardCrossing::blank(dim),
            mode: mode.clone(),
            field: B::zeros(dim),
        }
    }

    /// Forgets the last run; `first` is the number of the next transition.
    pub(crate) fn begin(&mut self, first: usize) {
        self.repeats = 0;
        self.index = first;
        self.is_crossed.fill(false);
        self.stopping.clear();
    }

    /// Refuses too many crossings, and a second one of a guard at the same time.
    #[inline]
    fn allow(
        &mut self,
        settings: &Settings,
        crossings: usize,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        set: &[CrossedGuard],
    ) -> Result<(), Stop> {
        let allowed = settings.max_events.saturating_sub(crossings);
        let counts = |c: &&CrossedGuard| guards.kept[c.guard.event].watch.sees(c.guard.direction);
        if let Some(beyond) = set.iter().filter(counts).nth(allowed) {
            return Err(Stop::TooManyEvents {
                limit: settings.max_events,
                guard: beyond.guard,
                at: state.at().into(),
            });
        }
        let progress = 8.0 * f64::EPSILON * state.t.abs();
        // Guards that cross one after another at one instant may come again: the second wall of a
        // wedge throws the state at the first.
        let most = if settings.corner_order.is_empty() {
            0
        } else {
            MOST_REPEATS
        };
        for &CrossedGuard { guard, .. } in set {
            let last = guards.fired_at(guard);
            self.repeats = if state.t - *last <= progress {
                self.repeats + 1
            } else {
                0
            };
            if self.repeats > most {
                return Err(Stop::NoProgress {
                    guard,
                    at: state.at().into(),
                });
            }
            *last = state.t;
        }
        Ok(())
    }

    /// Makes the transition, and brings field, event functions and rates up to date.
    #[inline]
    fn step<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &mut State<B>,
        guards: &mut GuardTable<B>,
        cluster: &mut Cluster,
    ) -> Result<Reset, Stop> {
        let Context { system, rearm, .. } = *context;
        let reads_mode = !system.ignores_mode();
        // The first stage holds the field of the old mode here.
        let mut fresh = true;
        if reads_mode {
            self.h_before.copy_from_slice(&guards.h);
        }
        let State {
            t, x, mode, ode, ..
        } = &mut *state;
        let GuardTable { arming, sign, .. } = &mut *guards;
        let (x, field) = (x.get_mut(), ode.first_stage());
        let t = *t;
        let place = Place { t, x, mode, arming };
        let (set, scratch) = (&cluster.set[..], &mut self.scratch);
        let flipped = |x: &[f64], mode: &Mode, k: usize| {
            sign[k] = Guard::ahead(k, mode.contains(k)).sign();
            // Keeps the field up to date when the user offers `flip`.
            fresh = fresh && context.flip(t, x, mode, k, field);
        };
        let reset = transition::step(system, rearm, self.index, set, place, scratch, flipped)?;
        if reset.any() {
            fresh = false;
            context.counts.resets.add(1);
            self.h_before.copy_from_slice(&guards.h);
            if !std::mem::replace(&mut self.was_reset, true) {
                self.h_before_resets.copy_from_slice(&guards.h);
            }
        }
        if reset.state {
            state.note_sizes();
        }
        if reset.mode {
            guards.follow(&state.mode);
        }
        guards.forget_terms(context);
        refresh(context, state, guards, cluster, fresh, reset)?;
        // Most event functions that may read the mode do not: then no value is another one.
        self.jumped = reset.any() || (reads_mode && self.h_before != guards.h);
        self.mark_ready(context, state, guards, cluster)?;
        let alone = cluster.near.len() <= cluster.set.len();
        if self.jumped || reads_mode || matches!(rearm, Rearm::Matrix(_)) || !alone {
            cluster.ranking = None;
        }
        Ok(reset)
    }

    /// Marks the guards that may fire next. After a jump of event functions these include guards
    /// that are zero and move across: they cross at the same instant.
    #[inline]
    fn mark_ready<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        cluster: &Cluster,
    ) -> Result<(), Stop> {
        for c in &cluster.set {
            self.is_crossed[c.guard.event] = true;
        }
        if self.jumped || matches!(context.rearm, Rearm::Matrix(_)) {
            guards.mark_far_off(state);
            for i in 0..guards.close.len() {
                let k = guards.close[i];
                if self.jumped || !guards.arming[k].is_ready() {
                    guards.need_rate(context, state, k)?;
                    self.mark_one_ready(guards, k);
                }
            }
        } else {
            // The guards of the set were armed anew; all others that are not ready are near.
            for c in &cluster.set {
                self.mark_one_ready(guards, c.guard.event);
            }
            for &k in &cluster.near {
                self.mark_one_ready(guards, k);
            }
            // What was known of event functions that may read the mode was forgotten.
            if !context.system.ignores_mode() {
                guards.know_errors_of_close(context, state)?;
            }
        }
        for c in &cluster.set {
            self.is_crossed[c.guard.event] = false;
        }
        // Without a jump all others were ready before.
        let waits = |k: usize| guards.arming[k] == Arming::Waiting;
        guards.some_wait = self.jumped
            || matches!(context.rearm, Rearm::Matrix(_))
            || cluster.set.iter().any(|c| waits(c.guard.event))
            || cluster.near.iter().any(|&k| waits(k));
        Ok(())
    }

    #[inline]
    fn mark_one_ready(&self, guards: &mut GuardTable<B>, k: usize) {
        let anew = self.jumped;
        let arming = guards.arming[k];
        if !arming.is_armed() || (arming.is_ready() && !anew) {
            return;
        }
        // The guard that has just crossed may lie beyond its surface on the way back, by the
        // residual of the crossing.
        let residual = match self.is_crossed[k] {
            true if anew => 10.0 * self.h_before[k].abs(),
            true => f64::INFINITY,
            false => 0.0,
        };
        let on_surface = guards.own_h(k) <= guards.zero[k].max(residual);
        let across = anew && on_surface && guards.own_rate(k) >= guards.min_rate[k];
        guards.arming[k] = Arming::armed(guards.is_clear(k, residual) || across);
    }

    /// Refuses a crossing that is not transversal, or that arms guards beyond their surface; the
    /// run is back before it then.
    fn check<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &mut State<B>,
        guards: &mut GuardTable<B>,
        set: &[CrossedGuard],
        reset: Reset,
        arrival: Arrival,
    ) -> Result<(), Stop> {
        let changes = Changes {
            reset,
            jumped: self.jumped,
            h_before: &self.h_before,
        };
        if !reset.mode && arrival != Arrival::Jumped {
            let found = not_live_after(state, guards, context.rearm, set, changes);
            self.refuse(state, guards, found)?;
        }
        let by_flow = !reset.any() && arrival != Arrival::Jumped;
        if by_flow && set.len() > 1 {
            let (mode, field) = (&mut self.mode, self.field.get_mut());
            let found = not_live_last(context, state, guards, set, mode, field)?;
            self.refuse(state, guards, found)?;
        }
        // After a reset such a guard fires instead.
        if matches!(context.rearm, Rearm::Matrix(_))
            && !reset.any()
            && let Some(found) = armed_beyond(guards, set, &mut self.scratch)
        {
            undo(state, guards, &self.scratch);
            return Err(Stop::ArmedBeyond {
                guard: found.guard,
                by: found.by,
                beyond: found.depth,
                at: state.at().into(),
            });
        }
        Ok(())
    }

    fn refuse(
        &self,
        state: &mut State<B>,
        guards: &mut GuardTable<B>,
        found: Option<NotLive>,
    ) -> Result<(), Stop> {
        let Some(found) = found else {
            return Ok(());
        };
        undo(state, guards, &self.scratch);
        Err(guards.not_live(state, found.guard, found.before, found.after))
    }

    /// Collects the armed guards that the last crossing carried across their surface into `set`;
    /// false when there are none.
    fn carried_across(
        &mut self,
        guards: &GuardTable<B>,
        set: &mut Vec<CrossedGuard>,
        reset: Reset,
    ) -> Result<bool, Stop> {
        if !self.jumped {
            return Ok(false);
        }
        let before = &self.h_before;
        let missed = guards.missed_by(set, before);
        let (arming, scratch) = (&guards.arming, &mut self.scratch);
        transition::carried_across(reset, arming, set, scratch, |k, armed_by| {
            let crossing = guards.crossing(k);
            let before = match armed_by {
                Some(_) => missed * crossing.rate.abs(),
                None => crossing.guard.sign() * before[k],
            };
            let is_carried = transition::is_carried(before, guards.own_h(k), guards.zero[k]);
            Ok::<_, Stop>(is_carried.then_some(crossing))
        })?;
        Ok(!set.is_empty())
    }
}

/// Fires the guards of the cluster's set, which are zero at the present state, and all that cross
/// at the same instant in consequence. `true` when one of them ends the run. After an error state and mode are those
/// before the crossing that was refused, or interrupted; but those that resets left where these are
/// refused ([`Stop::Inadmissible`]).
pub(crate) fn fire<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Run<B>,
    observer: &mut dyn Observer,
    arrival: Arrival,
) -> Result<bool, Stop> {
    let (mut arrival, mut crossed_some) = (arrival, false);
    run.cascade.was_reset = false;
    loop {
        match cross(context, run, observer, arrival) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => {
                if crossed_some {
                    let State { t, x, mode, .. } = &run.state;
                    observer.settled(*t, x.get(), mode);
                }
                return Err(error);
            }
        }
        (arrival, crossed_some) = (Arrival::Jumped, true);
    }
    let Run {
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
    steps.note_crossing();
    if context.settings.restart_at_events {
        steps.choose(context, state);
    }
    Ok(!run.cascade.stopping.is_empty() || observer.is_done())
}

/// Crosses the guards of the set once; true when more were carried across, which are the set then.
#[inline]
fn cross<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Run<B>,
    observer: &mut dyn Observer,
    arrival: Arrival,
) -> Result<bool, Stop> {
    let crossings = context.counts.crossings.get();
    run.cascade.allow(
        context.settings,
        crossings,
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
    run.cascade
        .carried_across(&run.guards, &mut run.cluster.set, reset)
}

/// Makes the transition, and checks it; nobody is told. What it reset, and the error of its time
/// (s).
#[inline]
fn make<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Run<B>,
    observer: &mut dyn Observer,
    arrival: Arrival,
) -> Result<(Reset, f64), Stop> {
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
    let reset = cascade.step(context, state, guards, cluster)?;
    if reset.any() {
        // The model has acted: this landing stands.
        trial.commit(context.wants_segments, observer, state, &cascade.scratch);
    }
    cascade.check(context, state, guards, &cluster.set, reset, arrival)?;
    let (mut latest, mut time_error): (f64, f64) = (0.0, 0.0);
    let (part_of_steps, residual_time) = (state.part_of_steps(), cluster.residual_time);
    for &crossed in &cluster.set {
        let CrossedGuard { guard, rate } = crossed;
        let error = doubts.of_crossing(context, state, guards, crossed, arrival, cluster.bend)?;
        latest = latest.max(error);
        // What is left of it in speeds shifts each flight to come. That all of them are shifted
        // hides no order of crossings: doubts take the error of this one alone.
        let own = state.error * guards.spreads.of_run(guard.event) / rate.abs();
        let kept = &mut guards.kept[guard.event];
        let with_shift = own + residual_time + kept.shift;
        kept.shift += part_of_steps * own + residual_time;
        kept.time_error = with_shift;
        time_error = time_error.max(with_shift);
    }
    if reset.any() || arrival == Arrival::Jumped {
        turned.forget_flown();
    } else {
        turned.by_order(context, state, guards, doubts, &cluster.set, latest)?;
    }
    Ok((reset, time_error))
}

/// Back to the state and mode on the guard, for a crossing that is refused.
pub(crate) fn undo<B: Buffer>(
    state: &mut State<B>,
    guards: &mut GuardTable<B>,
    before: &Scratch<B>,
) {
    state.x.get_mut().copy_from_slice(before.x_before.get());
    state.mode.clone_from(&before.mode_before);
    guards.follow(&state.mode);
}

/// Field, event functions and rates in the new mode. `fresh` says that the field is right already.
#[inline]
fn refresh<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &mut State<B>,
    guards: &mut GuardTable<B>,
    cluster: &Cluster,
    fresh: bool,
    reset: Reset,
) -> Result<(), Stop> {
    if fresh {
        crate::hybrid::evaluate::check_flow(state.field(), state.t, state.x.get(), &state.mode)?;
    } else {
        state.refresh_field(context)?;
    }
    if reset.state || !context.system.ignores_mode() {
        guards.refresh_events(context, state)?;
    }
    guards.renew_crossed(context, state, &cluster.set)?;
    if reset.any() {
        guards.renew_armed(context, state)
    } else {
        guards.renew_near(context, state, &cluster.near)
    }
}

/// Reports the set to the observer and counts it.
#[inline]
fn tell<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Run<B>,
    observer: &mut dyn Observer,
    arrival: Arrival,
    time_error: f64,
) {
    let Run {
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
