//! The transitions of one instant: rates of the guards after each, and the conditions that it must fulfil.

use super::cluster::Cluster;
use super::transversality::{
    Changes, NotLive, armed_beyond, not_live_after, not_live_last, returns_unseen,
};
use crate::hybrid::context::{Context, System};
use crate::hybrid::options::Settings;
use crate::hybrid::room_for;
use crate::hybrid::search::Thrown;
use crate::hybrid::table::GuardTable;
use crate::hybrid::table::State;
use crate::hybrid::transition::{self, CarriedOver, Place, Reset, Scratch};
use crate::model::rearm::Arming;
use crate::ode::Buffer;
use crate::{Arrival, CrossedGuard, Guard, GuardCrossing, Mode, Rearm, Stop};

/// Limit of the crossings of guards that have crossed at the same instant before, in a corner whose
/// order was asked for.
const MOST_REPEATS: usize = 1000;

/// The last transition, and what the run makes of it.
#[derive(Clone, Debug)]
pub(crate) struct Cascade<B> {
    /// The workspace of transitions; holds the place before the last one.
    pub(crate) scratch: Scratch<B>,
    /// Event functions before it.
    pub(super) h_before: Vec<f64>,
    /// A transition of the present instant made a reset; event functions before the first of them.
    pub(super) was_reset: bool,
    /// The error of the time of the last transition of the present instant, by the error of the state there alone (s).
    pub(super) own_error: f64,
    pub(super) h_before_resets: Vec<f64>,
    /// The event functions whose guards it crossed, while guards are marked ready.
    is_crossed: Vec<bool>,
    /// It made event functions jump: by a reset, or because they read the mode.
    pub(super) jumped: bool,
    /// Crossings of guards that have crossed at the present instant before.
    repeats: usize,
    /// How the run came to the guards of the cluster's set, where a limit or an interrupt left them uncrossed.
    pub(super) refused: Option<Arrival>,
    /// Guards with `Watch::stop` that were crossed.
    pub(crate) stopping: Vec<Guard>,
    /// A reset carried the state over the last of them.
    pub(super) is_carried: bool,
    /// The error of the time of that crossing, by the error of the state there alone (s).
    pub(super) stop_error: f64,
    /// Transitions made so far.
    pub(super) index: usize,
    /// A crossing as it is reported to observers.
    pub(super) told: GuardCrossing,
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
            own_error: 0.0,
            h_before_resets: vec![0.0; count],
            is_crossed: vec![false; count],
            jumped: false,
            repeats: 0,
            refused: None,
            stopping: Vec::with_capacity(2 * room_for(count)),
            is_carried: false,
            stop_error: 0.0,
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
        self.refused = None;
        self.stopping.clear();
    }

    /// Refuses a second crossing of a guard at the same time.
    #[inline]
    pub(super) fn refuse_repeat(
        &mut self,
        settings: &Settings,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        set: &[CrossedGuard],
    ) -> Result<(), Stop> {
        let progress = 8.0 * f64::EPSILON * state.t.abs();
        // Guards that cross one after another at one instant may come again: the second wall of a
        // wedge throws the state at the first.
        let most = if settings.corner_order.is_empty() {
            0
        } else {
            MOST_REPEATS
        };
        for &CrossedGuard { guard, .. } in set {
            let since = state.t - *guards.fired_at(guard);
            self.repeats = if since <= progress {
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
            *guards.fired_at(guard) = state.t;
            // A crossing that an interrupt took back has not fired: the flight is the one that it was.
            if since < f64::INFINITY {
                guards.kept[guard.event].since = since;
            }
        }
        Ok(())
    }

    /// Makes the transition, and brings field, event functions and rates up to date.
    #[inline]
    pub(super) fn step<S: System + ?Sized>(
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
        } else {
            // Of others it is asked after resets alone.
            for c in &cluster.set {
                self.h_before[c.guard.event] = guards.h[c.guard.event];
            }
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
        // Event functions that may read the mode mostly do not: then no value is another one.
        self.jumped = reset.any() || (reads_mode && self.h_before != guards.h);
        self.mark_ready(context, state, guards, cluster)?;
        let alone = cluster.near.len() <= cluster.set.len();
        if self.jumped || reads_mode || matches!(rearm, Rearm::Matrix(_)) || !alone {
            cluster.ranking = None;
        }
        Ok(reset)
    }

    /// What the last transition changed, of this set.
    pub(super) fn thrown<'a>(&'a mut self, set: &'a [CrossedGuard]) -> Thrown<'a, B> {
        Thrown {
            set,
            before: &self.scratch,
            h_before: &self.h_before,
            field: self.field.get_mut(),
            knows_field: false,
        }
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
            // Knowledge of event functions that may read the mode was forgotten.
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
            true if anew => transition::RESIDUALS * self.h_before[k].abs(),
            true => f64::INFINITY,
            // So may one that crossed before at this instant, until the motion leaves its surface.
            false if self.stays_ready(guards, k) => {
                transition::RESIDUALS * (guards.sign[k] * self.h_before[k]).max(0.0)
            }
            false => 0.0,
        };
        let on_surface = guards.own_h(k) <= guards.zero[k].max(residual);
        let across = anew && on_surface && guards.own_rate(k) >= guards.min_rate[k];
        guards.arming[k] = Arming::armed(guards.is_clear(k, residual) || across);
    }

    /// True when guard `k` was ready before the last transition, which leaves its side as it was.
    fn stays_ready(&self, guards: &GuardTable<B>, k: usize) -> bool {
        let was_before = self.scratch.mode_before.contains(k);
        let is_same_side = Guard::ahead(k, was_before).sign() * guards.sign[k] > 0.0;
        is_same_side && self.scratch.arming_before[k].is_ready()
    }

    /// Refuses a crossing that is not transversal, or that arms guards beyond their surface; the
    /// run is back before it then.
    pub(super) fn check<S: System + ?Sized>(
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
            arrival,
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
        if reset.state
            && let Some(guard) = returns_unseen(guards, set, &self.h_before)
        {
            undo(state, guards, &self.scratch);
            return Err(Stop::NoProgress {
                guard,
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
    pub(super) fn carried_across<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
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
        let (system, here) = (context.system, state.point());
        transition::carried_across(system, here, reset, arming, set, scratch, |k, armed_by| {
            let crossing = guards.crossing(k);
            let before = match armed_by {
                Some(_) => missed * crossing.rate.abs(),
                None => crossing.guard.sign() * before[k],
            };
            let beyond = transition::beyond(before, guards.zero[k]);
            let crossed = crossing;
            let is_carried = guards.own_h(k) > beyond;
            Ok::<_, Stop>(is_carried.then_some(CarriedOver { crossed, beyond }))
        })?;
        Ok(!set.is_empty())
    }
}

/// Refuses a set of guards where the limit of crossings has been reached. Those of one instant are not parted by it: a
/// run that goes on from there would never get past them.
#[inline]
pub(super) fn allow<B: Buffer>(
    settings: &Settings,
    crossings: usize,
    state: &State<B>,
    guards: &GuardTable<B>,
    set: &[CrossedGuard],
) -> Result<(), Stop> {
    let limit = settings.limits.max_events;
    let counts = |c: &&CrossedGuard| guards.kept[c.guard.event].watch.sees(c.guard.direction);
    match set.iter().find(counts) {
        Some(first) if crossings >= limit => Err(Stop::TooManyEvents {
            limit,
            guard: first.guard,
            at: state.at().into(),
        }),
        _ => Ok(()),
    }
}

/// Back to the state and mode on the guard, for a crossing that is refused.
pub(super) fn undo<B: Buffer>(
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
