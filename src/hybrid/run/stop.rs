//! Where a smooth step stops: the root of the guard that a window passes, or of another that is
//! passed before.

use super::cubic::SLOPE_DOUBT;
use super::doubt::Doubt;
use super::examine::Passage;
use super::state::Run;
use super::window::Window;
use crate::hybrid::evaluate;
use crate::hybrid::evaluate::Rate;
use crate::hybrid::options::Settings;
use crate::hybrid::{EventFunction, Flow};
use crate::ode::Buffer;
use crate::ode::root::{Sample, root};
use crate::{Quantity, Stop};

/// Where a smooth step has to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepEnd {
    /// The event function.
    pub(crate) k: usize,
    /// Fraction of the step.
    pub(crate) fraction: f64,
    /// True at the guard itself, false at the entry into its neighbourhood.
    pub(crate) on_guard: bool,
    /// `d²h/dt²` of the guard, counted in its direction (`u_k`/s²).
    pub(crate) bend: f64,
    /// The rate of the guard there; `work.landing_field` holds the field then, both in the mode of
    /// the step.
    pub(crate) rate: Option<Rate>,
}

impl<B: Buffer> Run<B> {
    /// Where the step stops: on the guard of `passage`, or on another one that turns out to be
    /// passed before. `None` when its rate there does not fit its samples, which so do not settle
    /// what happens between them.
    pub(crate) fn stop_of<S>(
        &mut self,
        system: &S,
        settings: &Settings,
        mut passage: Passage,
        window: Window,
        step: f64,
        narrowable: bool,
    ) -> Result<Option<StepEnd>, Stop>
    where
        S: Flow + EventFunction,
    {
        self.work.tried.fill(false);
        loop {
            let s = self.locate(system, passage, window, step)?;
            self.work.tried[passage.k] = true;
            if let Some(earlier) = self.passed_and_left(s) {
                passage = earlier;
                continue;
            }
            if let Some(earlier) = self.passed_before(system, settings, s, window, step)? {
                passage = earlier;
                continue;
            }
            let on_guard = passage.level == 0.0;
            let rate = if on_guard {
                Some(self.rate_at(system, passage.k, window.at(s), step)?)
            } else {
                None
            };
            let fits = |rate: Rate| self.rate_fits(passage, rate, s, window.width() * step);
            if !rate.is_none_or(fits) {
                if narrowable {
                    return Ok(None);
                }
                self.doubt_misfit(passage, window, step);
            }
            let seconds = window.width() * step;
            let bend = match (passage.cubic, passage.leaves) {
                (Some(cubic), None) => cubic.bend(s) / (seconds * seconds),
                _ => 0.0,
            };
            return Ok(Some(StepEnd {
                k: passage.k,
                fraction: window.at(s),
                on_guard,
                bend,
                rate,
            }));
        }
    }

    /// A passage that was found in the window and not tried yet, and is over before the fraction
    /// `s`: by then its guard may be back.
    fn passed_and_left(&self, s: f64) -> Option<Passage> {
        let is_before = |p: &&Passage| !self.work.tried[p.k] && p.high.at < s;
        self.work.passages.iter().find(is_before).copied()
    }

    /// Fraction of the window at which the guard passes its level.
    fn locate<S: EventFunction>(
        &mut self,
        system: &S,
        passage: Passage,
        window: Window,
        step: f64,
    ) -> Result<f64, Stop> {
        self.statistics.locations += 1;
        let end = (self.t + step).abs().max(self.t.abs());
        let width = f64::EPSILON * (end / (step * window.width())).max(1.0);
        let value = |s: f64| {
            let value = self.own_h_at(system, passage.k, window.at(s), step);
            match passage.leaves {
                Some(start) => (value - start) / s,
                None => value - passage.level,
            }
        };
        let found = root(value, passage.low, passage.high, width);
        self.check_sample(passage.k, found, window, step)?;
        Ok(found.at)
    }

    /// The rate of guard `k` in the mode of the step at `work.point`, a fraction of the step;
    /// leaves the field in `work.landing_field`.
    fn rate_at<S>(&mut self, system: &S, k: usize, fraction: f64, step: f64) -> Result<Rate, Stop>
    where
        S: Flow + EventFunction,
    {
        let t = self.t + fraction * step;
        let (x, field) = (self.work.point.get(), self.work.landing_field.get_mut());
        system.flow(t, x, &self.mode, field);
        self.statistics.flow += 1;
        evaluate::check_flow(field, t, x, &self.mode)?;
        let row = self.work.row.get_mut();
        let mut rate = evaluate::rate(system, k, (t, x), &self.mode, field, row);
        self.statistics.gradient += 1;
        if !rate.written {
            let (terms, space) = (&mut self.guards.terms[k], (row, &self.tolerance));
            terms.evaluate(system, k, (t, x), &self.mode, space, &mut self.statistics);
            rate.magnitude = terms.magnitude;
        }
        if !rate.value.is_finite() {
            return Err(evaluate::not_finite(
                Quantity::Gradient { event: k },
                t,
                x,
                &self.mode,
            ));
        }
        Ok(rate)
    }

    /// True when the rate of a guard where it is passed is that of its cubic: else it oscillates
    /// between its samples, and may have been passed before.
    fn rate_fits(&self, passage: Passage, rate: Rate, s: f64, seconds: f64) -> bool {
        let Some(cubic) = passage.cubic else {
            return true;
        };
        let rate = self.guards.sign[passage.k] * rate.value * seconds;
        let slope = match passage.leaves {
            Some(_) => s * cubic.slope(s),
            None => cubic.slope(s),
        };
        let size = rate.abs().max(slope.abs());
        let zero = self.guards.zero[passage.k];
        (rate - slope).abs() <= 0.25 * size + 2.0 * cubic.doubt() + SLOPE_DOUBT * zero
    }

    /// Says that the rate of a guard is not that of its samples, however close they are.
    #[cold]
    fn doubt_misfit(&mut self, passage: Passage, window: Window, step: f64) {
        self.statistics.unresolved += 1;
        let (guard, t) = (self.guards.ahead(passage.k), self.t + window.from * step);
        let error = passage.high.value - passage.low.value;
        self.keep_doubt(Doubt::Unresolved { guard, t, error });
    }

    /// Refuses a value on the interpolant that is not finite.
    pub(crate) fn check_sample(
        &mut self,
        k: usize,
        sample: Sample,
        window: Window,
        step: f64,
    ) -> Result<(), Stop> {
        if sample.value.is_finite() {
            return Ok(());
        }
        let fraction = window.at(sample.at);
        let point = self.work.point.get_mut();
        self.ode.interpolant().at_fraction(fraction, point);
        let (quantity, t) = (Quantity::Event { event: k }, self.t + fraction * step);
        Err(evaluate::not_finite(quantity, t, point, &self.mode))
    }

    /// Evaluates all event functions at the fraction `s` of a window into `work.h[2]`, and gives
    /// the guard farthest in time beyond its level there, if any was not tried yet: it was passed
    /// earlier.
    fn passed_before<S: Flow + EventFunction>(
        &mut self,
        system: &S,
        settings: &Settings,
        s: f64,
        window: Window,
        step: f64,
    ) -> Result<Option<Passage>, Stop> {
        let fraction = window.at(s);
        let t = self.t + fraction * step;
        let point = self.work.point.get_mut();
        self.ode.interpolant().at_fraction(fraction, point);
        let h = &mut self.work.h[2];
        system.events(t, point, &self.mode, h);
        self.statistics.events += 1;
        evaluate::check_events(h, t, point, &self.mode)?;
        let mut earliest: Option<(f64, Passage)> = None;
        for k in 0..self.count() {
            if !(self.guards.armed[k] && self.guards.ready[k]) || self.work.tried[k] {
                continue;
            }
            let own = self.own_samples(k, window);
            let (own_start, own_here) = (own[0], own[3]);
            let level = self.level(settings, k, own_start);
            let (start, here) = (own_start - level, own_here - level);
            let zero = self.zero(k, (here - start) / (s * window.width() * step), 0.0);
            let zero = zero.max(self.guards.zero[k]);
            if here <= zero || self.moves_away_in(system, k, step)? {
                continue;
            }
            let mut low = Sample {
                at: 0.0,
                value: start,
            };
            let mut high = Sample { at: s, value: here };
            let mut leaves = None;
            if level == 0.0 && start >= -4.0 * zero {
                // It was on its surface at the start: passed only if it left and came back.
                let slope = self.guards.own_rate(k) * window.width() * step;
                let left = window.is_first() && !self.guards.stale[k] && slope < 0.0;
                if !left || here <= 4.0 * zero {
                    continue;
                }
                leaves = Some(start);
                low.value = slope;
                high.value = (here - start) / s;
            }
            let lead = here / (here - start);
            if earliest.is_none_or(|(most, _)| lead > most) {
                let passage = Passage {
                    k,
                    level,
                    leaves,
                    low,
                    high,
                    cubic: None,
                };
                earliest = Some((lead, passage));
            }
        }
        Ok(earliest.map(|(_, passage)| passage))
    }
}
