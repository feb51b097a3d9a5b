//! The crossings of one instant: transitions one after another, as long as resets carry guards
//! across; what is known of the guards behind each, and what observers are told.

use super::guard_table::GuardTable;
use super::state::Run;
use super::turned::Flown;
use crate::hybrid::model::rearm::Arming;
use crate::hybrid::options::Settings;
use crate::hybrid::transition::{self, Place, Reset};
use crate::hybrid::{
    Arrival, CrossedGuard, CrossedSet, CrossingEvent, EventFunction, Flow, Observer, Rearm,
    Segment, evaluate,
};
use crate::ode::Buffer;
use crate::{Error, Guard};

/// Most crossings of guards that have crossed at the same instant before, in a corner whose order
/// was asked for.
const MOST_REPEATS: usize = 1000;

impl<B: Buffer> Run<B> {
    /// Fires the guards in `crossed`, which are zero at the present state, and all that cross at
    /// the same instant in consequence; `knows_field` says that the first stage holds the field of
    /// the old mode here. `true` when one of them ends the run. After an error state and mode are
    /// those before the crossing that was refused.
    pub(crate) fn fire<S, O>(
        &mut self,
        system: &S,
        settings: &Settings,
        rearm: &Rearm,
        observer: &mut O,
        arrival: Arrival,
        knows_field: bool,
    ) -> Result<bool, Error>
    where
        S: Flow + EventFunction,
        O: Observer,
    {
        let (mut arrival, mut fresh, mut crossed_some) = (arrival, knows_field, false);
        loop {
            let allowed = self.allow(settings);
            let reset = allowed.and_then(|()| self.cross(system, rearm, observer, arrival, fresh));
            let reset = match reset {
                Ok(reset) => reset,
                Err(error) => {
                    if crossed_some {
                        observer.settled(self.t, self.x.get(), &self.mode);
                    }
                    return Err(error);
                }
            };
            crossed_some = true;
            if !self.carried_across(reset)? {
                break;
            }
            (arrival, fresh) = (Arrival::Jumped, true);
        }
        observer.settled(self.t, self.x.get(), &self.mode);
        if settings.restart_at_events {
            self.choose_step(system, settings);
        }
        Ok(!self.stopping.is_empty() || observer.is_done())
    }

    /// Crosses the guards in `crossed` once, and leaves in `moved` whether event functions may have
    /// jumped.
    #[inline]
    fn cross<S, O>(
        &mut self,
        system: &S,
        rearm: &Rearm,
        observer: &mut O,
        arrival: Arrival,
        knows_field: bool,
    ) -> Result<Reset, Error>
    where
        S: Flow + EventFunction,
        O: Observer,
    {
        self.note_closest(arrival);
        let reset = match self.switch(system, rearm, knows_field) {
            Ok(reset) => reset,
            Err(error) => {
                self.undo();
                return Err(error);
            }
        };
        self.moved = reset.any() || !system.ignores_mode();
        if reset.any() {
            // The model has acted: this landing is not taken back.
            self.tell_projection(observer);
        }
        self.check_live(rearm, reset, arrival)?;
        let by_flow = !reset.any() && arrival != Arrival::Jumped;
        if by_flow && self.crossed.len() > 1 {
            self.check_orders(system)?;
        }
        if matches!(rearm, Rearm::Matrix(_)) {
            self.check_armed(reset)?;
        }
        self.tell_projection(observer);
        self.tell(system, observer, arrival, reset);
        Ok(reset)
    }

    /// Refuses too many crossings, and a second one of a guard at the same time.
    #[inline]
    fn allow(&mut self, settings: &Settings) -> Result<(), Error> {
        let allowed = settings
            .max_events
            .saturating_sub(self.statistics.crossings);
        let counts = |c: &&CrossedGuard| self.counts(c.guard);
        if let Some(beyond) = self.crossed.iter().filter(counts).nth(allowed) {
            return Err(Error::TooManyEvents {
                limit: settings.max_events,
                guard: beyond.guard,
                t: self.t,
                state: self.state(),
            });
        }
        let progress = 8.0 * f64::EPSILON * self.t.abs();
        // Guards that cross one after another at one instant may come again: the second wall of a
        // wedge throws the state at the first.
        let most = if settings.corner_order.is_empty() {
            0
        } else {
            MOST_REPEATS
        };
        for &CrossedGuard { guard, .. } in &self.crossed {
            let last = &mut self.guards.fired_at[guard.index()];
            self.repeats = if self.t - *last <= progress {
                self.repeats + 1
            } else {
                0
            };
            if self.repeats > most {
                return Err(Error::NoProgress {
                    guard,
                    t: self.t,
                    state: self.state(),
                });
            }
            *last = self.t;
        }
        Ok(())
    }

    /// Makes the transition, and brings field, event functions and rates up to date.
    #[inline]
    fn switch<S>(&mut self, system: &S, rearm: &Rearm, knows_field: bool) -> Result<Reset, Error>
    where
        S: Flow + EventFunction,
    {
        let mut fresh = knows_field;
        if !system.ignores_mode() {
            self.work.h_before.copy_from_slice(&self.guards.h);
        }
        let GuardTable { arming, sign, .. } = &mut self.guards;
        let place = Place {
            x: self.x.get_mut(),
            mode: &mut self.mode,
            arming,
        };
        let (t, field) = (self.t, self.ode.first_stage());
        let flips = &mut self.statistics.flip;
        let reset = transition::step(
            (system, rearm),
            t,
            &self.crossed,
            place,
            &mut self.transition,
            |x, mode, k| {
                sign[k] = Guard::ahead(k, mode.contains(k)).sign();
                // Keeps the field up to date when the user offers `flip`.
                if fresh {
                    fresh = system.flip(t, x, mode, k, field);
                    *flips += usize::from(fresh);
                }
            },
        )?;
        if reset.any() {
            fresh = false;
            self.statistics.resets += 1;
            self.work.h_before.copy_from_slice(&self.guards.h);
        }
        if reset.mode {
            self.follow_mode();
        }
        self.forget_terms(system);
        self.refresh(system, fresh, reset)?;
        let anew = reset.any() || !system.ignores_mode();
        self.mark_ready(system, rearm, anew)?;
        let alone = self.near.len() <= self.crossed.len();
        if anew || matches!(rearm, Rearm::Matrix(_)) || !alone {
            self.ranking = None;
        }
        Ok(reset)
    }

    /// Back to the state and mode on the guard, for a crossing that is refused.
    pub(crate) fn undo(&mut self) {
        let before = &self.transition;
        self.x.get_mut().copy_from_slice(before.x_before.get());
        self.mode.clone_from(&before.mode_before);
        self.follow_mode();
    }

    /// True when a crossing of `guard` is in a watched direction.
    fn counts(&self, guard: Guard) -> bool {
        self.guards.watch[guard.event].sees(guard.direction)
    }

    /// Field, event functions and rates in the new mode. `fresh` says that the field is right
    /// already.
    #[inline]
    fn refresh<S>(&mut self, system: &S, fresh: bool, reset: Reset) -> Result<(), Error>
    where
        S: Flow + EventFunction,
    {
        if fresh {
            evaluate::check_flow(self.field(), self.t, self.x.get())?;
        } else {
            self.refresh_field(system)?;
        }
        if reset.state || !system.ignores_mode() {
            self.refresh_events(system)?;
        }
        self.renew_rates(system, reset.any())?;
        for i in 0..self.crossed.len() {
            let k = self.crossed[i].guard.event;
            self.need_rate(system, k)?;
        }
        Ok(())
    }

    /// Which guards may fire next. When event functions may have jumped (`anew`) even one that is
    /// zero and moves across: it crosses at the same instant.
    #[inline]
    fn mark_ready<S>(&mut self, system: &S, rearm: &Rearm, anew: bool) -> Result<(), Error>
    where
        S: Flow + EventFunction,
    {
        if anew || matches!(rearm, Rearm::Matrix(_)) {
            for k in 0..self.count() {
                let arming = self.guards.arming[k];
                if arming.is_armed() && (anew || !arming.is_ready()) {
                    self.need_rate(system, k)?;
                    self.mark_one_ready(k, anew);
                }
            }
            return Ok(());
        }
        // The guards of the set were armed anew; all others that are not ready are near.
        for i in 0..self.crossed.len() {
            self.mark_one_ready(self.crossed[i].guard.event, anew);
        }
        for i in 0..self.near.len() {
            self.mark_one_ready(self.near[i], anew);
        }
        Ok(())
    }

    #[inline]
    fn mark_one_ready(&mut self, k: usize, anew: bool) {
        let arming = self.guards.arming[k];
        if !arming.is_armed() || (arming.is_ready() && !anew) {
            return;
        }
        // The guard that has just crossed may lie beyond its surface on the way back, by the
        // residual of the crossing.
        let residual = match self.crossed.iter().any(|c| c.guard.event == k) {
            true if anew => 10.0 * self.work.h_before[k].abs(),
            true => f64::INFINITY,
            false => 0.0,
        };
        let on_surface = self.guards.own_h(k) <= self.guards.zero[k].max(residual);
        let across = anew && on_surface && self.guards.own_rate(k) >= self.guards.min_rate[k];
        self.guards.arming[k] = Arming::armed(self.guards.is_clear(k, residual) || across);
    }

    /// Tells the observer of the projection that led to the crossing, if there was one.
    #[inline]
    pub(crate) fn tell_projection<O: Observer>(&mut self, observer: &mut O) {
        if std::mem::take(&mut self.untold) && observer.wants_segments() {
            observer.segment(&Segment {
                start: self.work.hermite.start,
                time: self.t,
                state: self.transition.x_before.get(),
                mode: &self.transition.mode_before,
                projected: true,
                interpolant: self.work.hermite.view(),
            });
        }
    }

    /// Reports the set to the observer and counts it.
    #[inline]
    fn tell<S, O>(&mut self, system: &S, observer: &mut O, arrival: Arrival, reset: Reset)
    where
        S: Flow + EventFunction,
        O: Observer,
    {
        self.statistics.crossings += self.transition.counted.len();
        let mut latest: f64 = 0.0;
        for i in 0..self.crossed.len() {
            let CrossedGuard { guard, rate } = self.crossed[i];
            let error = self.time_error(system, guard, rate, arrival);
            self.work.time_errors[guard.event] = error;
            latest = latest.max(error);
        }
        if reset.any() || arrival == Arrival::Jumped {
            self.last_flown = None;
        } else {
            let (t, error) = (self.t, latest);
            self.doubt_order(system, Flown { t, error });
        }
        self.tell_doubts(observer);
        observer.together(&CrossedSet {
            time: self.t,
            guards: &self.crossed,
            min_rates: &self.guards.min_rate,
            arrival,
            arming_before: &self.transition.arming_before,
            state_before: self.transition.x_before.get(),
            mode_before: &self.transition.mode_before,
            state: self.x.get(),
            mode: &self.mode,
            time_error: latest,
        });
        for &CrossedGuard { guard, rate } in &self.transition.counted {
            let k = guard.event;
            if self.guards.watch[k].stop {
                self.stopping.push(guard);
            }
            observer.crossing(&CrossingEvent {
                time: self.t,
                guard,
                state: self.transition.x_before.get(),
                rate_before: rate,
                rate_after: self.guards.rate[k],
                min_rate: self.guards.min_rate[k],
                arrival,
                time_error: self.work.time_errors[k],
            });
        }
        self.bend = (0, 0.0);
    }

    /// Collects the armed guards that the last crossing carried across their surface into `crossed`;
    /// false when there are none.
    fn carried_across(&mut self, reset: Reset) -> Result<bool, Error> {
        if !self.moved {
            return Ok(false);
        }
        let (guards, before) = (&self.guards, &self.work.h_before);
        let missed = guards.missed_by(&self.crossed, before);
        transition::carried_across(
            reset,
            &guards.arming,
            &mut self.crossed,
            &mut self.transition,
            |k, armed_by| {
                let (guard, rate) = (guards.ahead(k), guards.rate[k]);
                let before = match armed_by {
                    Some(_) => missed * rate.abs(),
                    None => guard.sign() * before[k],
                };
                let after = guards.own_h(k);
                let is_carried = transition::is_carried(before, after, guards.zero[k]);
                Ok(is_carried.then_some(CrossedGuard { guard, rate }))
            },
        )?;
        Ok(!self.crossed.is_empty())
    }
}
