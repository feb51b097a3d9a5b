//! The smooth phase: one Dormand–Prince step in a frozen mode, up to the first guard it passes.

use super::detect::Met;
use super::doubt::GROWTH;
use super::guard_table::GuardTable;
use super::state::Run;
use super::stop::StepEnd;
use crate::hybrid::options::Settings;
use crate::hybrid::{Arrival, EventFunction, Flow, Observer, Projection, Rearm, Segment, evaluate};
use crate::ode::Buffer;
use crate::{Quantity, Stop};

/// The error where a step stops may be this many times what the size of the state there allows:
/// that of the interpolant in a step which just passes the error test.
const MOST_ERROR: f64 = 8.0;
/// A step that is made anew goes this much farther than the guard it was to end on.
const BEYOND: f64 = 1.02;
/// A last step up to this much longer than wished spares one of almost no length.
const LAST: f64 = 1.01;
/// A step that is to be shorter becomes this part of itself at most: a last step may be [`LAST`]
/// times longer than wished.
const SHORTER: f64 = 0.95;

impl<B: Buffer> Run<B> {
    /// Makes one accepted step, or the part of one before a guard, which then fires. `true` when
    /// that ends the run.
    pub(crate) fn smooth_step<S, O>(
        &mut self,
        system: &S,
        settings: &Settings,
        rearm: &Rearm,
        observer: &mut O,
    ) -> Result<bool, Stop>
    where
        S: Flow + EventFunction,
        O: Observer,
    {
        self.ranking = None;
        let step = self.attempt(system, settings)?;
        let reaches_end = self.t + step >= self.tf;
        let end = if reaches_end { self.tf } else { self.t + step };
        if self.count() > 0 || observer.wants_segments() {
            self.ode.form_interpolant(self.t, self.x.get(), step);
        }
        let doubts = self.statistics.doubts;
        // Guards are looked for on the corrected path: the correction may move the state over one.
        let met = self.correct(system, end).and_then(|corrected| {
            let met = match self.count() {
                0 => Met::Nothing,
                _ => self.detect(system, settings, step)?,
            };
            Ok((met, corrected))
        });
        let corrected = match met {
            Ok((Met::Nothing, corrected)) => corrected,
            Ok((Met::Guard(stop), _)) => {
                if let Some(part) = self.shorter_before(settings, stop, step) {
                    self.take_back_step(doubts);
                    self.next_step = step * part;
                    return Ok(false);
                }
                return self.stop_at(system, settings, rearm, observer, stop, step);
            }
            Ok((Met::TooMuch(settled), _)) => {
                self.take_back_step(doubts);
                self.next_step = step * settled.min(SHORTER);
                return Ok(false);
            }
            Err(Stop::NotFinite { .. }) if self.count() > 0 && self.may_shorten(settings, step) => {
                // The end of the step may lie beyond the domain of an event function, and a guard
                // before it.
                self.take_back_step(doubts);
                self.next_step = step * self.control.rejected(f64::NAN);
                return Ok(false);
            }
            Err(error) => {
                self.drop_doubts(doubts);
                return Err(error);
            }
        };
        self.inside = None;
        self.tell_doubts(observer);
        self.add_error(self.step_error);
        if observer.wants_segments() {
            observer.segment(&Segment {
                start: self.t,
                time: end,
                state: self.ode.state(),
                mode: &self.mode,
                projected: false,
                interpolant: self.ode.interpolant(),
            });
        }
        self.t = end;
        self.ode.take(&mut self.x);
        self.reach *= 1.1;
        if corrected {
            self.refresh_field(system)?;
        }
        self.arrive_with_scan(system, rearm, observer)?;
        Ok(observer.is_done())
    }

    /// Finds the error where the step stops, and the part of the step that is to be made anew if it
    /// is too large: up to the stop and little more. The error test allowed what the size of the
    /// state behind the stop does, where it never comes.
    fn shorter_before(&mut self, settings: &Settings, stop: StepEnd, step: f64) -> Option<f64> {
        let point = self.work.point.get_mut();
        self.ode.interpolant().at_fraction(stop.fraction, point);
        let ends = (self.x.get(), &*point);
        let [of_stages, of_time] = self
            .ode
            .errors_at(stop.fraction, ends, step, &self.tolerance);
        // What the interpolant adds is met once a crossing: it is taken as it is.
        self.step_error = of_stages.max(of_time / GROWTH);
        let part = BEYOND * stop.fraction;
        let is_needed = settings.fixed_step.is_none() && of_stages.max(of_time) > MOST_ERROR;
        (is_needed && part <= SHORTER && part * step >= 16.0 * self.least_step()).then_some(part)
    }

    /// Forgets an accepted step, and the doubts about it.
    fn take_back_step(&mut self, doubts: usize) {
        self.drop_doubts(doubts);
        self.statistics.steps -= 1;
        self.statistics.rejections += 1;
    }

    /// Lets the model bring the end of the step back to what its mode prescribes. True when it did;
    /// the field is another one then.
    #[inline]
    fn correct<S>(&mut self, system: &S, end: f64) -> Result<bool, Stop>
    where
        S: Flow + EventFunction,
    {
        let (ode, mode) = (&mut self.ode, &self.mode);
        if !ode.correct(|x| system.correct(end, x, mode)) {
            return Ok(false);
        }
        let x = self.ode.state();
        match x.iter().position(|x| !x.is_finite()) {
            Some(component) => {
                let quantity = Quantity::Correction { component };
                Err(evaluate::not_finite(quantity, end, x, &self.mode))
            }
            None => Ok(true),
        }
    }

    /// Tries steps until one passes the error test; gives its length.
    #[inline]
    fn attempt<S: Flow>(&mut self, system: &S, settings: &Settings) -> Result<f64, Stop> {
        loop {
            if self.statistics.steps + self.statistics.rejections >= settings.max_steps {
                return Err(Stop::TooManySteps {
                    limit: settings.max_steps,
                    at: self.at().into(),
                });
            }
            let remaining = self.tf - self.t;
            let proposed = settings
                .fixed_step
                .unwrap_or(self.next_step.min(self.longest_step))
                .min(settings.max_step);
            let too_short = proposed < self.least_step() && proposed < remaining;
            if too_short || (self.control.was_rejected() && !self.moves(proposed)) {
                return Err(self.step_failed(proposed));
            }
            let slack = if settings.fixed_step.is_some() {
                1.0 + 1e-9
            } else {
                LAST
            };
            let most = (proposed * slack).min(settings.max_step);
            let step = if most >= remaining {
                remaining
            } else {
                proposed
            };

            let (mode, statistics) = (&self.mode, &mut self.statistics);
            let mut flow = |t: f64, x: &[f64], dx: &mut [f64]| system.flow(t, x, mode, dx);
            self.ode.advance(&mut flow, self.t, self.x.get(), step);
            statistics.flow += 6;
            let error = self.ode.error(self.x.get(), step, &self.tolerance);
            let good = if settings.fixed_step.is_some() {
                let ends = self.ode.state().iter().chain(self.ode.slope_at_end());
                ends.sum::<f64>().is_finite()
            } else {
                error <= 1.0
            };
            // Beyond the largest numbers the error is nothing beside the state.
            let is_finite = self.ode.state().iter().all(|x| x.is_finite());
            let error = if is_finite { error } else { f64::NAN };
            if good && is_finite {
                statistics.steps += 1;
                self.step_error = error;
                let factor = self.control.accepted(error);
                self.last_step = step;
                // A step cut to end at tf says nothing against the size that was wished for.
                self.next_step = (step * factor).max(if step < proposed { proposed } else { 0.0 });
                return Ok(step);
            }
            statistics.rejections += 1;
            if settings.fixed_step.is_some() {
                return Err(self.step_failed(step));
            }
            self.next_step = step * self.control.rejected(error);
        }
    }

    /// True when the state moves in a step of this length, or rests.
    fn moves(&self, step: f64) -> bool {
        let (x, field) = (self.x.get(), self.field());
        let moved = |(x, f): (&f64, &f64)| (x + step * f).to_bits() != x.to_bits();
        x.iter().zip(field).any(moved) || field.iter().all(|f| *f == 0.0)
    }

    /// The shortest step that still moves the time (s).
    pub(crate) fn least_step(&self) -> f64 {
        (8.0 * f64::EPSILON * self.t.abs()).max(f64::MIN_POSITIVE / f64::EPSILON)
    }

    fn may_shorten(&self, settings: &Settings, step: f64) -> bool {
        settings.fixed_step.is_none() && 0.1 * step >= self.least_step()
    }

    /// Why no step succeeds from here: a stage that is not finite, or tolerances that cannot be
    /// met.
    #[cold]
    fn step_failed(&self, step: f64) -> Stop {
        let bad = self
            .ode
            .stages()
            .find_map(|stage| stage.iter().position(|v| !v.is_finite()));
        match bad {
            Some(component) => evaluate::not_finite(
                Quantity::Flow { component },
                self.t,
                self.x.get(),
                &self.mode,
            ),
            None => Stop::StepTooSmall {
                step,
                at: self.at().into(),
            },
        }
    }

    /// Takes over what the scan left at the end of a step without events, and lets
    /// `Rearm::WhenEmpty` act.
    fn arrive_with_scan<S, O>(
        &mut self,
        system: &S,
        rearm: &Rearm,
        observer: &mut O,
    ) -> Result<(), Stop>
    where
        S: Flow + EventFunction,
        O: Observer,
    {
        let (guards, work) = (&mut self.guards, &mut self.work);
        std::mem::swap(&mut guards.h, &mut work.h[2]);
        std::mem::swap(&mut guards.rate, &mut work.rate);
        std::mem::swap(&mut guards.zero, &mut work.zero);
        std::mem::swap(&mut guards.stale, &mut work.stale);
        let mut armed = false;
        for k in 0..self.count() {
            if self.guards.armed[k] {
                armed = true;
                self.guards.ready[k] = self.guards.ready[k] || self.guards.is_clear(k, 0.0);
            }
        }
        if armed || !matches!(rearm, Rearm::WhenEmpty) {
            return Ok(());
        }
        self.arm_all(system, observer)
    }

    /// Arms every watched guard that is off its surface: the policy of the paper when none is left.
    fn arm_all<S, O>(&mut self, system: &S, observer: &mut O) -> Result<(), Stop>
    where
        S: Flow + EventFunction,
        O: Observer,
    {
        for k in 0..self.count() {
            self.refresh_rate(system, k)?;
        }
        let mut flipped = false;
        for k in 0..self.count() {
            let h = self.guards.h[k];
            if h.abs() <= self.guards.zero[k] {
                continue;
            }
            flipped |= self.mode.contains(k) != (h > 0.0);
            self.set_mode_bit(k, h > 0.0);
            self.guards.armed[k] = self.guards.watch[k].sees(self.guards.ahead(k).direction);
            self.guards.ready[k] = true;
        }
        if flipped {
            observer.settled(self.t, self.x.get(), &self.mode);
            self.guards.stale.fill(true);
            self.forget_terms(system);
            self.refresh_field(system)?;
            if !system.ignores_mode() {
                self.refresh_events(system)?;
            }
        }
        Ok(())
    }

    /// Moves to where the step stops. On a guard, fires it and all that are zero with it; at the
    /// border of a neighbourhood, leaves the rest to the crossing phase.
    fn stop_at<S, O>(
        &mut self,
        system: &S,
        settings: &Settings,
        rearm: &Rearm,
        observer: &mut O,
        stop: StepEnd,
        step: f64,
    ) -> Result<bool, Stop>
    where
        S: Flow + EventFunction,
        O: Observer,
    {
        self.tell_doubts(observer);
        self.add_error(self.step_error);
        self.bend = (stop.k, stop.bend);
        let mut fraction = stop.fraction;
        let mut on_guard = stop.on_guard;
        let mut backed_up = false;
        if let Projection::Horizon { tau, .. } = settings.projection {
            // Back to the border of the horizon, if the step began clearly before it.
            let border = fraction - tau / step;
            if border * step > 1e-6 * tau {
                fraction = border;
                on_guard = false;
                backed_up = true;
            }
        }
        let end = (self.t + fraction * step).min(self.tf);
        let point = self.work.point.get_mut();
        self.ode.interpolant().at_fraction(fraction, point);
        if observer.wants_segments() {
            observer.segment(&Segment {
                start: self.t,
                time: end,
                state: point,
                mode: &self.mode,
                projected: false,
                interpolant: self.ode.interpolant(),
            });
        }
        self.t = end;
        std::mem::swap(&mut self.x, &mut self.work.point);
        self.note_approach();
        self.slopes_to(stop.fraction * step);
        if backed_up {
            self.refresh_events(system)?;
        } else {
            std::mem::swap(&mut self.guards.h, &mut self.work.h[2]);
        }
        match stop.rate {
            Some(rate) if !backed_up => {
                let field = self.work.landing_field.get();
                self.ode.first_stage().copy_from_slice(field);
                self.survey_here(stop.k);
                self.guards.stale.fill(true);
                self.set_rate(stop.k, rate);
                self.renew_near(system)?;
            }
            _ => {
                self.refresh_field(system)?;
                self.survey_here(stop.k);
                self.renew_rates(system, false)?;
            }
        }
        self.need_rate(system, stop.k)?;
        self.inside = (!on_guard).then_some(stop.k);
        if !on_guard {
            self.entered = Some(stop.k);
            // The survey left out the guard of the stop, which is still ahead.
            self.ranking = None;
            return Ok(false);
        }
        let (guard, rate) = (self.guards.ahead(stop.k), self.guards.own_rate(stop.k));
        if rate < self.guards.min_rate[stop.k] {
            let rate = self.guards.rate[stop.k];
            return Err(self.not_live(guard, rate, f64::NAN));
        }
        self.gather(settings, stop.k);
        self.fire(system, settings, rearm, observer, Arrival::Located, true)
    }

    /// Takes the slopes from the start of the step to the event functions in `work.h[2]`, a time
    /// `dt` later, for rates: those of the start would mislead the search for the guards that come
    /// next.
    fn slopes_to(&mut self, dt: f64) {
        if dt <= 8.0 * f64::EPSILON * self.t.abs() {
            return;
        }
        let n = self.count();
        let GuardTable { h, rate, .. } = &mut self.guards;
        let (before, after) = (&h[..n], &self.work.h[2][..n]);
        for k in 0..n {
            rate[k] = (after[k] - before[k]) / dt;
        }
        if self.tells_rates(dt) {
            for k in 0..n {
                self.guards.see_rate(k, self.guards.rate[k]);
            }
        }
    }
}
