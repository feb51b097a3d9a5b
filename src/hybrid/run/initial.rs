//! The beginning of a run: on which side of each guard it starts, what is armed, how long the first
//! step is.

use super::state::Run;
use crate::hybrid::options::{Resolution, Settings};
use crate::hybrid::{Doubt, EventFunction, Flow, Mode, Observer, Rearm, evaluate};
use crate::ode::{Buffer, STAGES_APART, first_step};
use crate::{Guard, Stop};

impl<B: Buffer> Run<B> {
    /// Decides the start mode, arms the guards and chooses the first step.
    pub(crate) fn start<S, O>(
        &mut self,
        system: &S,
        settings: &Settings,
        rearm: &Rearm,
        given: Option<&Mode>,
        observer: &mut O,
    ) -> Result<(), Stop>
    where
        S: Flow + EventFunction,
        O: Observer,
    {
        for k in 0..self.count() {
            self.guards.watch[k] = system.watch(k);
            self.guards.state_min_rate(k, system.min_rate(k));
            self.guards.event_tolerance[k] = system.event_tolerance(k);
        }
        self.longest_step = system.flow_time_scale().unwrap_or(f64::INFINITY) / STAGES_APART;
        self.apart = self.apart_by_time_scales(system);
        self.longest_window = self.longest_window();
        let sides = match given {
            Some(mode) => self.take_sides(system, mode),
            None => self.decide_sides(system),
        };
        observer.start(self.t, self.x.get(), &self.mode);
        if settings.resolution == Resolution::Samples
            && self.guards.watch.iter().any(|watch| watch.is_any())
        {
            self.keep_doubt(Doubt::Unsearched { t: self.t });
            self.tell_doubts(observer);
        }
        sides?;
        self.arm(system, rearm)?;
        self.choose_step(system, settings);
        Ok(())
    }

    fn take_sides<S: Flow + EventFunction>(&mut self, system: &S, mode: &Mode) -> Result<(), Stop> {
        self.mode.copy_from(mode);
        self.follow_mode();
        self.refresh_field(system)?;
        self.refresh_events(system)
    }

    /// Sides by the signs of the event functions; where one is zero, by its rate in the mode before
    /// its crossing.
    fn decide_sides<S: Flow + EventFunction>(&mut self, system: &S) -> Result<(), Stop> {
        self.refresh_events(system)?;
        for k in 0..self.count() {
            self.set_mode_bit(k, self.guards.h[k] > 0.0);
        }
        self.refresh_field(system)?;
        let mut undecided = 0;
        for k in 0..self.count() {
            self.refresh_rate(system, k)?;
            // `ready` marks the guards whose side is open; it gets its own meaning in `arm`.
            let watched = self.guards.watch[k].is_any();
            // A start that was solved for lies a few roundings off.
            let open = watched && self.guards.h[k].abs() <= 4.0 * self.guards.zero[k];
            self.guards.ready[k] = open;
            if open {
                undecided += 1;
                let watch = self.guards.watch[k];
                self.set_mode_bit(k, watch.falling && !watch.rising);
            }
        }
        if undecided > 0 {
            self.forget_terms(system);
            self.refresh_field(system)?;
            for k in 0..self.count() {
                if self.guards.ready[k] {
                    self.refresh_rate(system, k)?;
                    self.exclude_rounding(system, k);
                }
            }
            for k in 0..self.count() {
                if !self.guards.ready[k] {
                    continue;
                }
                let (guard, rate) = (self.guards.ahead(k), self.guards.own_rate(k));
                if rate >= self.guards.min_rate[k] {
                    self.set_mode_bit(k, guard.side_after());
                } else if rate > -self.guards.min_rate[k] {
                    return Err(self.tangent(guard));
                }
            }
            self.refresh_field(system)?;
        }
        if self.count() > 0 && !system.ignores_mode() {
            self.forget_terms(system);
            self.refresh_events(system)?;
        }
        Ok(())
    }

    /// Raises the liveness bound of a guard above the rounding of its rate at the start, where the
    /// user states none: the only rate seen of it may be no more than that.
    fn exclude_rounding<S: EventFunction>(&mut self, system: &S, k: usize) {
        if self.guards.part_of_rate[k] <= 0.0 {
            return;
        }
        let (at, field) = ((self.t, self.x.get()), self.ode.slope_at_start());
        let space = (self.work.row.get_mut(), self.guards.terms[k].magnitude);
        let error = evaluate::rate_error(system, k, at, &self.mode, field, space);
        self.statistics.event += 3;
        if error.is_finite() {
            self.guards.min_rate[k] = self.guards.min_rate[k].max(error);
        }
    }

    #[cold]
    pub(crate) fn tangent(&self, guard: Guard) -> Stop {
        Stop::Tangent {
            guard,
            rate: self.guards.rate[guard.event],
            at: self.at().into(),
        }
    }

    /// Arms every guard that is watched and lies ahead; under `Rearm::Pairs` also those whose
    /// crossing does not count. One that a given mode puts before its surface although the state is
    /// beyond it is left alone (a mode with memory), unless it is on its way back. One on its
    /// surface that moves across in the start mode fires at once: a given mode, or a start on a
    /// sliding surface.
    fn arm<S>(&mut self, system: &S, rearm: &Rearm) -> Result<(), Stop>
    where
        S: Flow + EventFunction,
    {
        for k in 0..self.count() {
            self.refresh_rate(system, k)?;
            if self.guards.h[k].abs() <= 4.0 * self.guards.zero[k] {
                self.exclude_rounding(system, k);
            }
            let (rate, least) = (self.guards.own_rate(k), self.guards.min_rate[k]);
            // A start that was solved for lies a few roundings off.
            let beyond = self.guards.own_h(k) > 4.0 * self.guards.zero[k];
            let watch = self.guards.watch[k];
            let sees = rearm.follows(watch, self.guards.ahead(k).direction);
            self.guards.armed[k] = sees && (!beyond || rate <= -least);
            self.guards.ready[k] = self.guards.is_clear(k, 0.0) || (!beyond && rate >= least);
            if self.guards.armed[k] {
                self.need_spread(system, k);
            }
        }
        Ok(())
    }

    /// Chooses the step anew: fixed, given, or by an Euler step.
    pub(crate) fn choose_step<S: Flow>(&mut self, system: &S, settings: &Settings) {
        let most = settings.max_step.min(self.tf - self.t);
        let step = match (settings.fixed_step, settings.first_step) {
            (Some(step), _) | (None, Some(step)) => step,
            (None, None) if most > 0.0 => {
                self.statistics.flow += 1;
                let (mode, t) = (&self.mode, self.t);
                first_step(
                    |t, x, dx| system.flow(t, x, mode, dx),
                    t,
                    (self.x.get(), self.ode.slope_at_start()),
                    &self.tolerance,
                    most,
                    (self.work.point.get_mut(), self.work.row.get_mut()),
                )
            }
            (None, None) => most,
        };
        let step = match settings.fixed_step.or(settings.first_step) {
            Some(_) => step,
            // A guess that would not move the time is too short.
            None => step.max(16.0 * self.least_step()).min(most),
        };
        self.next_step = step;
        self.last_step = step;
    }
}
