//! Which guard a smooth step passes, and where: signs at the end and at two interior points, the rate test for guards
//! entered and left within the step, and location on the interpolant (spec 4.3).

use super::locate::{Sample, maximum, root};
use super::run::{Guards, Run};
use super::settings::Settings;
use super::{EventFunction, Flow, Projection, probe};
use crate::ode::Buffer;
use crate::{Error, Quantity};

/// Fractions of the step at which event functions are sampled, the start left out.
const FRACTIONS: [f64; 4] = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];

/// A guard passed within a smooth step: `sign · h_k − level` is negative at `low` and not at `high`.
#[derive(Clone, Copy, Debug)]
struct Passage {
    k: usize,
    /// 0 for the guard itself, `−eps_k` for the entry into its neighbourhood.
    level: f64,
    low: Sample,
    high: Sample,
}

/// The lesser of two numbers that are known to be finite: one instruction, unlike `f64::min`.
#[inline]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// Height at which a line from the left, `(0, a)` with slope `up`, meets one from the right, `(width, b)` with slope `down`.
#[inline]
fn meet(a: f64, up: f64, b: f64, down: f64, width: f64) -> f64 {
    a + up * ((b - a - down * width) / (up - down))
}

/// Where a smooth step has to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// The event function.
    pub(crate) k: usize,
    /// Fraction of the step.
    pub(crate) fraction: f64,
    /// True at the guard itself, false at the entry into its neighbourhood.
    pub(crate) on_guard: bool,
}

impl<B: Buffer> Run<B> {
    /// Looks for the first guard that the step just made, of length `step`, passes. Without one, leaves the event
    /// functions at the end of the step in `work.h[2]`, and what is known of their rates in `work.rate`, `work.zero`,
    /// `work.stale`.
    pub(crate) fn scan<S>(
        &mut self,
        system: &S,
        settings: &Settings,
        step: f64,
    ) -> Result<Option<Stop>, Error>
    where
        S: Flow + EventFunction,
    {
        self.sample(system, step)?;
        self.list_doubtful(settings);
        let mut first: Option<(f64, Passage)> = None;
        for i in 0..self.near.len() {
            let k = self.near[i];
            if let Some(passage) = self.passage(system, settings, k, step) {
                let (low, high) = (passage.low, passage.high);
                let gap = high.value - low.value;
                let at = if gap > 0.0 {
                    low.at - low.value * (high.at - low.at) / gap
                } else {
                    high.at
                };
                if first.is_none_or(|(earliest, _)| at < earliest) {
                    first = Some((at, passage));
                }
            }
        }
        if first.is_none() {
            self.slopes_at_end(step);
        }
        // A guard may be entered and left before another one is passed.
        let until = first.map_or(1.0, |(_, passage)| passage.high.at);
        let dip = self.first_dip(system, step, until)?;
        let (mut passage, mut fraction) = match (first, dip) {
            (None, None) => return Ok(None),
            (None, Some(dip)) => (dip, self.locate(system, dip, step)?),
            (Some((_, passage)), dip) => {
                let fraction = self.locate(system, passage, step)?;
                // One with its top after the passage is found beyond its surface there.
                match dip.filter(|dip| dip.high.at < fraction) {
                    Some(dip) => (dip, self.locate(system, dip, step)?),
                    None => (passage, fraction),
                }
            }
        };
        self.work.tried.fill(false);
        loop {
            self.work.tried[passage.k] = true;
            let Some(earlier) = self.passed_before(system, settings, fraction, step)? else {
                return Ok(Some(Stop {
                    k: passage.k,
                    fraction,
                    on_guard: passage.level == 0.0,
                }));
            };
            passage = earlier;
            fraction = self.locate(system, passage, step)?;
        }
    }

    /// Event functions at two interior points and at the end.
    fn sample<S: EventFunction>(&mut self, system: &S, step: f64) -> Result<(), Error> {
        let work = &mut self.work;
        for (h, fraction) in work.h.iter_mut().zip(&FRACTIONS[1..]) {
            let t = self.t + fraction * step;
            let x = if *fraction < 1.0 {
                let x = work.point.get_mut();
                self.ode.interpolant().at_fraction(*fraction, x);
                &*x
            } else {
                self.ode.state()
            };
            system.events(t, x, &self.mode, h);
            self.statistics.events += 1;
            probe::check_events(h, t, x)?;
        }
        Ok(())
    }

    /// Lists in `near` the armed guards that may have passed their level: all but those that were ready, and whose samples
    /// are all before it.
    fn list_doubtful(&mut self, settings: &Settings) {
        let n = self.count();
        let Guards {
            h,
            sign,
            armed,
            ready,
            ..
        } = &self.guards;
        let (h, sign, armed, ready) = (&h[..n], &sign[..n], &armed[..n], &ready[..n]);
        let [first, second, end] = &self.work.h;
        let (first, second, end) = (&first[..n], &second[..n], &end[..n]);
        self.near.clear();
        for k in 0..n {
            if !armed[k] {
                continue;
            }
            let level = match &settings.projection {
                Projection::Eps { eps, .. } => -eps.get(k),
                _ => 0.0,
            };
            let start = sign[k] * h[k];
            let before = start < level
                && sign[k] * first[k] < level
                && sign[k] * second[k] < level
                && sign[k] * end[k] < level;
            if !(ready[k] && before) {
                self.near.push(k);
            }
        }
    }

    /// The level that guard `k` is watched for: the border of its neighbourhood as long as it is clearly outside, so that
    /// a step that begins on the border does not find it again.
    #[inline]
    fn level(&self, settings: &Settings, k: usize) -> f64 {
        match &settings.projection {
            Projection::Eps { eps, .. } => {
                let (eps, rounding) = (eps.get(k), self.zero(k, self.guards.rate[k], 0.0));
                let outside = self.own_h(k) < -eps * (1.0 + 1e-9) - 4.0 * rounding;
                if outside { -eps } else { 0.0 }
            }
            _ => 0.0,
        }
    }

    /// The first of the sub-intervals in which guard `k` passes its level. Marks the guard ready when it was seen clear of
    /// its surface and does not pass.
    #[inline]
    fn passage<S: EventFunction>(
        &mut self,
        system: &S,
        settings: &Settings,
        k: usize,
        step: f64,
    ) -> Option<Passage> {
        let level = self.level(settings, k);
        let values = self.own_samples(k).map(|value| value - level);
        let mut clear = self.guards.ready[k];
        if clear && values.iter().all(|&v| v < 0.0) {
            return None;
        }
        let zero = self.zero(k, (values[3] - values[0]) / step, 0.0);
        for i in 1..4 {
            if clear && values[i] >= 0.0 {
                let high = Sample {
                    at: FRACTIONS[i],
                    value: values[i],
                };
                let mut low = Sample {
                    at: FRACTIONS[i - 1],
                    value: values[i - 1],
                };
                if i == 1 && level == 0.0 && low.value >= -4.0 * zero {
                    low = match self.just_left(system, k, high, step, zero) {
                        Some(left) => left,
                        // On its surface, and not off it since: passed at the start itself.
                        None if low.value <= 4.0 * zero => Sample {
                            at: 0.0,
                            value: -f64::MIN_POSITIVE,
                        },
                        // Beyond it by the residual of a coarse projection, and on its way back.
                        None => {
                            clear = false;
                            continue;
                        }
                    };
                }
                self.guards.ready[k] = true;
                return Some(Passage {
                    k,
                    level,
                    low,
                    high,
                });
            }
            clear |= values[i] < -zero;
        }
        self.guards.ready[k] = clear;
        None
    }

    /// A guard that leaves its surface at the start of the step and is back at the sample `back`: a point in between where
    /// it is clear of its surface, if there is one. `zero` is the rounding of the whole step; in a long one it may hide a low arc
    /// at its start, where the rounding of the start is what counts.
    #[cold]
    fn just_left<S: EventFunction>(
        &mut self,
        system: &S,
        k: usize,
        back: Sample,
        step: f64,
        zero: f64,
    ) -> Option<Sample> {
        for clear in [zero, self.guards.zero[k]].map(|zero| -4.0 * zero) {
            let mut at = back.at;
            for _ in 0..60 {
                at *= 0.5;
                let value = self.own_h_at(system, k, at, step);
                if value < clear {
                    return Some(Sample { at, value });
                }
            }
        }
        None
    }

    /// `sign · h_k` on the interpolant.
    #[inline]
    fn own_h_at<S: EventFunction>(&mut self, system: &S, k: usize, at: f64, step: f64) -> f64 {
        let point = self.work.point.get_mut();
        self.ode.interpolant().at_fraction(at, point);
        self.statistics.event += 1;
        self.guards.sign[k] * system.event(k, self.t + at * step, point, &self.mode)
    }

    /// `sign · h_k` at the start, the two interior points and the end.
    #[inline]
    fn own_samples(&self, k: usize) -> [f64; 4] {
        let sign = self.guards.sign[k];
        let [first, second, end] = &self.work.h;
        [&self.guards.h, first, second, end].map(|h| sign * h[k])
    }

    /// Takes the slopes between the last two samples for the rates at the end of the step, until a row is asked for.
    fn slopes_at_end(&mut self, step: f64) {
        let n = self.count();
        let work = &mut self.work;
        let [_, h2, h3] = &work.h;
        let (h2, h3, rate) = (&h2[..n], &h3[..n], &mut work.rate[..n]);
        let per_second = 1.0 / ((FRACTIONS[3] - FRACTIONS[2]) * step);
        for k in 0..n {
            rate[k] = (h3[k] - h2[k]) * per_second;
        }
        work.zero.copy_from_slice(&self.guards.zero);
        work.stale.fill(true);
    }

    /// Lists in `near` the guards that are clear at all samples after the start, but came nearer to their surface than they
    /// moved in the whole step.
    fn list_close(&mut self) {
        let n = self.count();
        let guards = &self.guards;
        let (h0, sign) = (&guards.h[..n], &guards.sign[..n]);
        let (armed, ready) = (&guards.armed[..n], &guards.ready[..n]);
        let [h1, h2, h3] = &self.work.h;
        let (h1, h2, h3) = (&h1[..n], &h2[..n], &h3[..n]);
        self.near.clear();
        for k in 0..n {
            if !(armed[k] && ready[k]) {
                continue;
            }
            let [v0, v1, v2, v3] = [h0[k], h1[k], h2[k], h3[k]].map(|h| -sign[k] * h);
            let way = lesser(v1, lesser(v2, v3));
            let farthest = -lesser(lesser(-v0, -v1), lesser(-v2, -v3));
            if way > 0.0 && way <= farthest - lesser(v0, way) {
                self.near.push(k);
            }
        }
    }

    /// The first guard that is clear at all samples but was entered and left between them, if it was entered before the
    /// fraction `until` of the step.
    fn first_dip<S>(&mut self, system: &S, step: f64, until: f64) -> Result<Option<Passage>, Error>
    where
        S: Flow + EventFunction,
    {
        self.list_close();
        let mut first: Option<Passage> = None;
        for i in 0..self.near.len() {
            let k = self.near[i];
            let Some((from, to)) = self.bracket_of_maximum(system, k, step, until)? else {
                continue;
            };
            let zero = self.work.zero[k].max(self.guards.zero[k]);
            let top = maximum(|at| self.own_h_at(system, k, at, step), from, to, zero);
            self.check_sample(k, top, step)?;
            if top.value <= zero || first.is_some_and(|f| f.high.at <= top.at) {
                continue;
            }
            let value = self.own_h_at(system, k, from, step);
            if value < 0.0 {
                first = Some(Passage {
                    k,
                    level: 0.0,
                    low: Sample { at: from, value },
                    high: top,
                });
            }
        }
        Ok(first)
    }

    /// Fractions of the step between which `sign · h_k`, negative at all samples, may have a maximum beyond the surface: for
    /// a function with a single maximum the tangents or secants on both sides of it meet above it.
    fn bracket_of_maximum<S>(
        &mut self,
        system: &S,
        k: usize,
        step: f64,
        until: f64,
    ) -> Result<Option<(f64, f64)>, Error>
    where
        S: Flow + EventFunction,
    {
        let values = self.own_samples(k);
        let [v0, v1, v2, v3] = values;
        let third = FRACTIONS[1];
        for i in 1..3 {
            let (before, at, after) = (values[i - 1], values[i], values[i + 1]);
            if at > before && at >= after && FRACTIONS[i - 1] < until {
                // Twice the rise of the parabola through the three samples, or the tangents at both ends of the step.
                let (slope, bend) = (0.5 * (after - before), 2.0 * at - before - after);
                if at + slope * slope / bend > 0.0 {
                    return Ok(Some((FRACTIONS[i - 1], FRACTIONS[i + 1])));
                }
                self.need_rate(system, k)?;
                let left = self.own_rate(k) * step;
                let right = self.rate_at_end(system, k, step)? * step;
                if left > 0.0 && right < 0.0 && meet(v0, left, v3, right, 1.0) > 0.0 {
                    return Ok(Some((0.0, 1.0)));
                }
            }
        }
        let middle = (v2 - v1) / third;
        if v0 > v1 {
            self.need_rate(system, k)?;
            let left = self.own_rate(k) * step;
            if left > 0.0 && meet(v0, left, v1, middle, third) > 0.0 {
                return Ok(Some((0.0, FRACTIONS[1])));
            }
        }
        if v3 > v2 && FRACTIONS[2] < until {
            // Still rising at the last sample: a maximum after it needs a falling end.
            let right = self.rate_at_end(system, k, step)? * step;
            if right < 0.0 && meet(v2, middle, v3, right, third) > 0.0 {
                return Ok(Some((FRACTIONS[2], 1.0)));
            }
        }
        Ok(None)
    }

    /// `sign · dh_k/dt` at the end of the step, by its row; kept in `work.rate`.
    fn rate_at_end<S>(&mut self, system: &S, k: usize, step: f64) -> Result<f64, Error>
    where
        S: Flow + EventFunction,
    {
        let (t, x) = (self.t + step, self.ode.state());
        let (row, field) = (self.work.row.get_mut(), self.ode.slope_at_end());
        let rate = probe::rate(system, k, (t, x), &self.mode, field, row);
        self.statistics.gradient += 1;
        if !rate.value.is_finite() {
            return Err(probe::not_finite(Quantity::Gradient { event: k }, t, x));
        }
        self.work.rate[k] = rate.value;
        self.work.zero[k] = self.zero(k, rate.value, rate.magnitude);
        self.work.stale[k] = false;
        Ok(self.guards.sign[k] * rate.value)
    }

    /// Fraction of the step at which the guard passes its level.
    fn locate<S: EventFunction>(
        &mut self,
        system: &S,
        passage: Passage,
        step: f64,
    ) -> Result<f64, Error> {
        let Passage {
            k,
            level,
            low,
            high,
        } = passage;
        self.statistics.locations += 1;
        let end = (self.t + step).abs().max(self.t.abs());
        let width = f64::EPSILON * (end / step).max(1.0);
        let own_h = |at| self.own_h_at(system, k, at, step) - level;
        let found = root(own_h, low, high, width);
        self.check_sample(k, found, step)?;
        Ok(found.at)
    }

    /// Refuses a value on the interpolant that is not finite.
    fn check_sample(&mut self, k: usize, sample: Sample, step: f64) -> Result<(), Error> {
        if sample.value.is_finite() {
            return Ok(());
        }
        let point = self.work.point.get_mut();
        self.ode.interpolant().at_fraction(sample.at, point);
        let (quantity, t) = (Quantity::Event { event: k }, self.t + sample.at * step);
        Err(probe::not_finite(quantity, t, point))
    }

    /// Evaluates all event functions at `fraction` into `work.h[2]`, and gives the guard farthest in time beyond its level
    /// there, if any was not tried yet: it was passed earlier.
    fn passed_before<S: EventFunction>(
        &mut self,
        system: &S,
        settings: &Settings,
        fraction: f64,
        step: f64,
    ) -> Result<Option<Passage>, Error> {
        let t = self.t + fraction * step;
        let point = self.work.point.get_mut();
        self.ode.interpolant().at_fraction(fraction, point);
        let h = &mut self.work.h[2];
        system.events(t, point, &self.mode, h);
        self.statistics.events += 1;
        probe::check_events(h, t, point)?;
        let mut earliest: Option<(f64, Passage)> = None;
        for k in 0..self.count() {
            if !(self.guards.armed[k] && self.guards.ready[k]) || self.work.tried[k] {
                continue;
            }
            let sign = self.guards.sign[k];
            let level = self.level(settings, k);
            let start = sign * self.guards.h[k] - level;
            let here = sign * self.work.h[2][k] - level;
            let zero = self.zero(k, (here - start) / (fraction * step), 0.0);
            if here <= zero {
                continue;
            }
            let mut low = Sample {
                at: 0.0,
                value: start,
            };
            let high = Sample {
                at: fraction,
                value: here,
            };
            if level == 0.0 && start >= -4.0 * zero {
                // It was on its surface at the start: passed only if it left and came back.
                match self.just_left(system, k, high, step, zero) {
                    Some(left) => low = left,
                    None => continue,
                }
            }
            let lead = here / (here - start);
            if earliest.is_none_or(|(most, _)| lead > most) {
                let passage = Passage {
                    k,
                    level,
                    low,
                    high,
                };
                earliest = Some((lead, passage));
            }
        }
        Ok(earliest.map(|(_, passage)| passage))
    }
}
