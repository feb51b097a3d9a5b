//! What a crossing does: sides, reset, re-arming, liveness, and the crossings it causes at the same
//! instant.

use super::model::rearm::Effect;
use super::options::Settings;
use super::run::guard_table::GuardTable;
use super::run::state::Run;
use super::run::turned::Flown;
use super::transversality::Reset;
use super::{
    Arrival, Crossed, CrossedGuard, CrossedSet, CrossingEvent, EventFunction, Flow, Observer,
    Rearm, RearmMatrix, Segment, evaluate,
};
use crate::ode::Buffer;
use crate::{Guard, Quantity, Stop, validate};

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
    ) -> Result<bool, Stop>
    where
        S: Flow + EventFunction,
        O: Observer,
    {
        let (mut arrival, mut fresh, mut crossed_some) = (arrival, knows_field, false);
        loop {
            self.list_counted();
            self.work.x_before.get_mut().copy_from_slice(self.x.get());
            self.work.mode_before.copy_from(&self.mode);
            let reset = match self.cross(system, settings, rearm, observer, arrival, fresh) {
                Ok(reset) => reset,
                Err(error) => {
                    self.undo();
                    if crossed_some {
                        observer.settled(self.t, self.x.get(), &self.mode);
                    }
                    return Err(error);
                }
            };
            crossed_some = true;
            if !self.carried_across(reset) {
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
        settings: &Settings,
        rearm: &Rearm,
        observer: &mut O,
        arrival: Arrival,
        knows_field: bool,
    ) -> Result<Reset, Stop>
    where
        S: Flow + EventFunction,
        O: Observer,
    {
        self.allow(settings)?;
        self.note_closest(arrival);
        let reset = self.switch(system, rearm, knows_field)?;
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
    fn allow(&mut self, settings: &Settings) -> Result<(), Stop> {
        let allowed = settings
            .max_events
            .saturating_sub(self.statistics.crossings);
        if let Some(beyond) = self.counted.get(allowed) {
            return Err(Stop::TooManyEvents {
                limit: settings.max_events,
                guard: beyond.guard,
                at: self.at().into(),
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
                return Err(Stop::NoProgress {
                    guard,
                    at: self.at().into(),
                });
            }
            *last = self.t;
        }
        Ok(())
    }

    /// Flips the sides of the set, applies the reset matrix and the model's reset, re-arms, and
    /// brings field, event functions and rates up to date.
    #[inline]
    fn switch<S>(&mut self, system: &S, rearm: &Rearm, knows_field: bool) -> Result<Reset, Stop>
    where
        S: Flow + EventFunction,
    {
        let mut fresh = knows_field;
        for i in 0..self.crossed.len() {
            let guard = self.crossed[i].guard;
            self.guards.armed[guard.event] = false;
            self.set_side(system, guard.event, guard.side_after(), &mut fresh);
        }
        match rearm {
            Rearm::Never | Rearm::WhenEmpty => {}
            Rearm::Pairs => {
                for i in 0..self.crossed.len() {
                    self.arm_ahead(self.crossed[i].guard.event);
                }
            }
            Rearm::Matrix(matrix) => {
                self.work.armed_by.fill(None);
                self.work.declared.fill(false);
                for i in 0..self.crossed.len() {
                    self.apply_row(system, matrix, self.crossed[i].guard, &mut fresh);
                }
            }
        }
        if !system.ignores_mode() {
            self.work.h_before.copy_from_slice(&self.guards.h);
        }
        let reset = self.apply_reset(system, rearm, &mut fresh)?;
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

    /// Sets a side bit; keeps the field up to date when the user offers `flip`.
    #[inline]
    fn set_side<S: Flow>(&mut self, system: &S, k: usize, side: bool, fresh: &mut bool) {
        if self.mode.contains(k) == side {
            return;
        }
        self.set_mode_bit(k, side);
        if *fresh {
            let field = self.ode.first_stage();
            *fresh = system.flip(self.t, self.x.get(), &self.mode, k, field);
            self.statistics.flip += usize::from(*fresh);
        }
    }

    /// Arms event function `k` in the direction ahead, whether its crossing counts or not, if any
    /// of its crossings does.
    #[inline]
    fn arm_ahead(&mut self, k: usize) {
        self.guards.armed[k] = self.guards.watch[k].is_any();
        self.guards.ready[k] = false;
    }

    /// Applies row `by` of the guard reset matrix.
    fn apply_row<S: Flow>(
        &mut self,
        system: &S,
        matrix: &RearmMatrix,
        by: Guard,
        fresh: &mut bool,
    ) {
        for &(guard, effect) in matrix.row(by) {
            let k = guard.event;
            let before = !guard.side_after();
            match effect {
                // One that has just fired at the same instant is crossed, whoever comes first in
                // the set; and what the model made of a side stands.
                Effect::Arm
                    if self.work.declared[k] || self.crossed.iter().any(|c| c.guard == guard) => {}
                Effect::Arm => {
                    self.set_side(system, k, before, fresh);
                    self.arm_ahead(k);
                    self.work.armed_by[k] = Some(by);
                }
                Effect::Retire if self.mode.contains(k) == before => {
                    self.set_side(system, k, !before, fresh);
                    self.guards.armed[k] = false;
                }
                Effect::Retire => {}
            }
        }
    }

    /// Lets the model act. Sides that it changed count as crossed for the re-arming.
    #[inline]
    fn apply_reset<S>(&mut self, system: &S, rearm: &Rearm, fresh: &mut bool) -> Result<Reset, Stop>
    where
        S: Flow + EventFunction,
    {
        self.work.mode_crossed.copy_from(&self.mode);
        if self.counted.is_empty() {
            return Ok(Reset::NONE);
        }
        let crossed = Crossed::new(&self.counted);
        let outcome = system.on_crossing(self.t, &crossed, self.x.get_mut(), &mut self.mode);
        let reset = Reset {
            state: self.x.get() != self.work.x_before.get(),
            mode: !self.mode.is(&self.work.mode_crossed),
        };
        match outcome {
            Ok(()) if !reset.any() => Ok(reset),
            Ok(()) => {
                *fresh = false;
                self.take_reset(system, rearm, reset)?;
                Ok(reset)
            }
            Err(error) => {
                self.undo();
                Err(error)
            }
        }
    }

    /// Lists in `counted` those of the set that cross in a watched direction.
    #[inline]
    fn list_counted(&mut self) {
        self.counted.clear();
        for c in &self.crossed {
            if self.guards.watch[c.guard.event].sees(c.guard.direction) {
                self.counted.push(*c);
            }
        }
    }

    /// Checks what the model made of state and mode, and re-arms the event functions whose sides it
    /// changed.
    #[cold]
    fn take_reset<S: Flow>(&mut self, system: &S, rearm: &Rearm, reset: Reset) -> Result<(), Stop> {
        let expected = self.work.mode_crossed.len();
        if let Err(error) = validate::length("the mode after a reset", expected, self.mode.len()) {
            self.undo();
            return Err(error.into());
        }
        if let Some(component) = self.x.get().iter().position(|v| !v.is_finite()) {
            let error = evaluate::not_finite(
                Quantity::Reset { component },
                self.t,
                self.x.get(),
                &self.mode,
            );
            self.undo();
            return Err(error);
        }
        self.statistics.resets += 1;
        self.work.h_before.copy_from_slice(&self.guards.h);
        if reset.mode {
            self.follow_mode();
            // All of them as the model left them, before a row of the matrix changes others.
            for k in 0..self.count() {
                let declared = self.mode.contains(k) != self.work.mode_crossed.contains(k);
                self.work.declared[k] = declared;
                self.guards.armed[k] &= !declared;
            }
            for k in 0..self.count() {
                if self.work.declared[k] {
                    let guard = Guard::ahead(k, self.work.mode_crossed.contains(k));
                    self.rearm_after_jump(system, rearm, guard);
                }
            }
        }
        Ok(())
    }

    /// Re-arms after the model set the side bit across `guard`.
    fn rearm_after_jump<S: Flow>(&mut self, system: &S, rearm: &Rearm, guard: Guard) {
        match rearm {
            Rearm::Never | Rearm::WhenEmpty => {}
            Rearm::Pairs => self.arm_ahead(guard.event),
            Rearm::Matrix(matrix) => self.apply_row(system, matrix, guard, &mut false),
        }
    }

    /// Back to the state and mode on the guard, for a crossing that is refused.
    pub(crate) fn undo(&mut self) {
        self.x.get_mut().copy_from_slice(self.work.x_before.get());
        self.mode.clone_from(&self.work.mode_before);
        self.follow_mode();
    }

    /// Field, event functions and rates in the new mode. `fresh` says that the field is right
    /// already.
    #[inline]
    fn refresh<S>(&mut self, system: &S, fresh: bool, reset: Reset) -> Result<(), Stop>
    where
        S: Flow + EventFunction,
    {
        if fresh {
            evaluate::check_flow(self.field(), self.t, self.x.get(), &self.mode)?;
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
    fn mark_ready<S>(&mut self, system: &S, rearm: &Rearm, anew: bool) -> Result<(), Stop>
    where
        S: Flow + EventFunction,
    {
        if anew || matches!(rearm, Rearm::Matrix(_)) {
            for k in 0..self.count() {
                if self.guards.armed[k] && (anew || !self.guards.ready[k]) {
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
        let GuardTable { armed, ready, .. } = &self.guards;
        if !armed[k] || (ready[k] && !anew) {
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
        self.guards.ready[k] = self.guards.is_clear(k, residual) || across;
    }

    /// Tells the observer of the projection that led to the crossing, if there was one.
    #[inline]
    pub(crate) fn tell_projection<O: Observer>(&mut self, observer: &mut O) {
        if std::mem::take(&mut self.untold) && observer.wants_segments() {
            observer.segment(&Segment {
                start: self.work.hermite.start,
                time: self.t,
                state: self.work.x_before.get(),
                mode: &self.work.mode_before,
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
        self.statistics.crossings += self.counted.len();
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
            state_before: self.work.x_before.get(),
            mode_before: &self.work.mode_before,
            state: self.x.get(),
            mode: &self.mode,
            time_error: latest,
        });
        for &CrossedGuard { guard, rate } in &self.counted {
            let k = guard.event;
            if self.guards.watch[k].stop {
                self.stopping.push(guard);
            }
            observer.crossing(&CrossingEvent {
                time: self.t,
                guard,
                state: self.work.x_before.get(),
                rate_before: rate,
                rate_after: self.guards.rate[k],
                min_rate: self.guards.min_rate[k],
                arrival,
                time_error: self.work.time_errors[k],
            });
        }
        self.bend = (0, 0.0);
    }

    /// Collects the armed guards that a reset, or a new mode, carried across their surface into
    /// `crossed`; false when there are none. Those that lay beyond it before, by the residual of a
    /// projection, did not move.
    fn carried_across(&mut self, reset: Reset) -> bool {
        if !self.moved {
            return false;
        }
        self.work.tried.fill(false);
        if !reset.state {
            // A guard beyond its surface in the very mode that its crossing entered waits until the
            // state is back.
            for c in &self.crossed {
                self.work.tried[c.guard.event] = true;
            }
        }
        self.crossed.clear();
        for k in 0..self.count() {
            let guard = self.guards.ahead(k);
            let residual = 10.0 * (guard.sign() * self.work.h_before[k]).max(0.0);
            let beyond = self.guards.own_h(k) > self.guards.zero[k].max(residual);
            if self.guards.armed[k] && beyond && !self.work.tried[k] {
                let rate = self.guards.rate[k];
                self.crossed.push(CrossedGuard { guard, rate });
            }
        }
        !self.crossed.is_empty()
    }
}
