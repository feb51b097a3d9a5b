//! Which guard a smooth step passes first, and where: window after window, each as long as the samples of the guards settle what
//! happens between them (spec 4.3).

use super::accuracy::{Doubt, Top};
use super::cubic::{FRACTIONS, SLOPE_DOUBT, WIDEST};
use super::examine::{Finding, Passage};
use super::locate::{Sample, root};
use super::probe::{self, Rate};
use super::run::Run;
use super::settings::{Resolution, Settings};
use super::window::{Crossed, Window};
use super::{EventFunction, Flow};
use crate::ode::Buffer;
use crate::{Error, Quantity};

/// A window may be this much longer than the one before, when that held guards which needed a closer look.
const GROWTH: f64 = 4.0;
/// The same when it did not: as steps grow.
const CALM_GROWTH: f64 = 10.0;
/// The last window of a step may be this much longer: that spares one of almost no length.
const LAST: f64 = 1.1;
/// Where the samples of a window do not settle, it becomes this part of itself.
const NARROWER: f64 = 0.4;
/// Most times a window is narrowed at one place: to a 1500th.
const MOST_NARROWED: u32 = 8;
/// From here on what samples leave open is held against the rounding of the event function,
const NOISE_AFTER: u32 = 3;
/// seen in so many places,
const NOISE_SAMPLES: u32 = 8;
/// this part of the window apart.
const NOISE_APART: f64 = 1e-7;
/// What such windows leave open counts as noise of this many times its size.
const BLUR: f64 = 4.0;
/// Most windows of one step, before a shorter step is tried.
const MOST_WINDOWS: usize = 64;
/// The same of a step whose length is fixed. What is left of it beyond is one window then, and counts as unresolved.
const MOST_WINDOWS_FIXED: usize = 4096;
/// The next step is to need no more windows than this.
const WANTED_WINDOWS: usize = 8;

/// Where a smooth step has to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// The event function.
    pub(crate) k: usize,
    /// Fraction of the step.
    pub(crate) fraction: f64,
    /// True at the guard itself, false at the entry into its neighbourhood.
    pub(crate) on_guard: bool,
    /// `d²h/dt²` of the guard, counted in its direction (`u_k`/s²).
    pub(crate) bend: f64,
    /// The rate of the guard there; `work.landing_field` holds the field then, both in the mode of the step.
    pub(crate) rate: Option<Rate>,
}

/// What a smooth step meets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Met {
    Nothing,
    Guard(Stop),
    /// Guards change too fast for a step of this length; this part of it is settled.
    TooMuch(f64),
}

/// Whether a window that its samples do not settle is to be narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Narrowable {
    Yes,
    UnlessNoise,
    No,
}

impl<B: Buffer> Run<B> {
    /// Looks for the first guard that the step just made, of length `step`, passes. Without one, leaves the event
    /// functions at the end of the step in `work.h[2]`, and what is known of their rates in `work.rate`, `work.zero`,
    /// `work.stale`.
    pub(crate) fn detect<S>(
        &mut self,
        system: &S,
        settings: &Settings,
        step: f64,
    ) -> Result<Met, Error>
    where
        S: Flow + EventFunction,
    {
        let mut adaptive = settings.resolution == Resolution::Adaptive;
        let may_shorten = adaptive && settings.fixed_step.is_none();
        let longest = if adaptive {
            self.longest_window / step
        } else {
            f64::INFINITY
        };
        let mut width = self.next_window.min(self.longest_window) / step;
        if !adaptive {
            width = f64::INFINITY;
        }
        let (mut from, mut windows, mut narrowed) = (0.0, 0, 0);
        let mut has_narrowed = false;
        let (mut wide, mut unresolved) = (width, self.statistics.unresolved);
        loop {
            let to = if from + LAST * width >= 1.0 {
                1.0
            } else {
                from + width
            };
            let window = Window { from, to };
            self.work.tops.clear();
            self.sample(system, window, step)?;
            windows += 1;
            self.statistics.windows += 1;
            let crossed = self.list_near(settings, window, step);
            let narrowable = if !adaptive || narrowed >= MOST_NARROWED {
                Narrowable::No
            } else if narrowed >= NOISE_AFTER {
                Narrowable::UnlessNoise
            } else {
                Narrowable::Yes
            };
            let narrower = NARROWER * window.width();
            match self.first_passed(system, settings, (window, step), crossed, narrowable)? {
                First::Open => {
                    self.work.tops.clear();
                    (width, narrowed, has_narrowed) = (narrower, narrowed + 1, true);
                    self.statistics.narrowed += 1;
                    continue;
                }
                First::Passage(passage) => {
                    let stop = self.stop_of(system, settings, passage, window, step, narrowable)?;
                    let Some(stop) = stop else {
                        self.work.tops.clear();
                        (width, narrowed, has_narrowed) = (narrower, narrowed + 1, true);
                        self.statistics.narrowed += 1;
                        continue;
                    };
                    let until = (stop.fraction - window.from) / window.width();
                    self.doubt_tops(system, window, step, until);
                    self.keep_window(window, step, has_narrowed);
                    return Ok(Met::Guard(stop));
                }
                First::Nobody => {}
            }
            self.doubt_tops(system, window, step, f64::INFINITY);
            self.mark_clear();
            self.keep_window(window, step, has_narrowed);
            if to >= 1.0 {
                self.slopes_at_end(window, step);
                if windows > WANTED_WINDOWS {
                    let part = WANTED_WINDOWS as f64 / windows as f64;
                    self.next_step = self.next_step.min(part * step);
                }
                return Ok(Met::Nothing);
            }
            if may_shorten && windows >= MOST_WINDOWS {
                return Ok(Met::TooMuch(to));
            }
            if adaptive && windows >= MOST_WINDOWS_FIXED {
                self.give_up_on_step(window);
                adaptive = false;
            }
            if self.statistics.unresolved > unresolved {
                // What is noise at any width is not followed: the next window is as wide as this one was at first.
                (self.next_window, has_narrowed) = (wide * step, false);
            }
            self.next_window_starts();
            from = to;
            width = if adaptive {
                (self.next_window / step).min(longest)
            } else {
                f64::INFINITY
            };
            narrowed = 0;
            (wide, unresolved) = (width, self.statistics.unresolved);
        }
    }

    /// Remembers how long a window may be.
    fn keep_window(&mut self, window: Window, step: f64, has_narrowed: bool) {
        self.settled_window = window.width() * step;
        let growth = match (has_narrowed, self.near.is_empty()) {
            (true, _) => 1.0,
            (false, false) => GROWTH,
            (false, true) => CALM_GROWTH,
        };
        self.next_window = growth * self.settled_window;
    }

    /// Marks guards ready that the end of a window shows clear of their surface.
    fn mark_clear(&mut self) {
        for i in 0..self.near.len() {
            let k = self.near[i];
            let guards = &mut self.guards;
            guards.ready[k] |= guards.sign[k] * self.work.h[2][k] < -guards.zero[k];
        }
    }

    /// The guard that is passed first within a window, as far as lines between samples tell: `crossed` or one of those in `near`.
    fn first_passed<S>(
        &mut self,
        system: &S,
        settings: &Settings,
        (window, step): (Window, f64),
        crossed: Option<Crossed>,
        narrowable: Narrowable,
    ) -> Result<First, Error>
    where
        S: Flow + EventFunction,
    {
        let mut first: Option<(f64, Passage)> =
            crossed.map(|c| (c.at, self.passage_of(settings, c, window)));
        for i in 0..self.near.len() {
            let k = self.near[i];
            let found = match self.examine(system, settings, k, window, step)? {
                Finding::Open(_) if narrowable == Narrowable::Yes => return Ok(First::Open),
                Finding::Open(doubt)
                    if narrowable == Narrowable::UnlessNoise
                        && !self.is_noise(system, (k, doubt), window, step) =>
                {
                    return Ok(First::Open);
                }
                Finding::Open(doubt) => {
                    self.give_up(k, doubt);
                    // With its doubt known it is taken as its samples are.
                    self.examine(system, settings, k, window, step)?
                }
                found => found,
            };
            let passage = match found {
                Finding::Passed(passage) => passage,
                Finding::NotPassed(Some((Sample { at, value }, bend))) => {
                    let variation = bend.abs() / (window.width() * window.width());
                    // One for each guard has room.
                    if self.work.tops.len() < self.work.tops.capacity() {
                        self.work.tops.push(Top {
                            k,
                            at,
                            value,
                            variation,
                        });
                    }
                    continue;
                }
                _ => continue,
            };
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
        Ok(first.map_or(First::Nobody, |(_, passage)| First::Passage(passage)))
    }

    /// True when a guard, in places so close together that nothing smooth moves, varies by no small part of what its samples leave open.
    #[cold]
    fn is_noise<S: EventFunction>(
        &mut self,
        system: &S,
        (k, doubt): (usize, f64),
        window: Window,
        step: f64,
    ) -> bool {
        // Times that are rounded to the same tell nothing; nor does a window that is no longer than they are apart.
        let rounding = 8.0 * f64::EPSILON * self.t.abs() / (window.width() * step);
        let apart = NOISE_APART.max(rounding);
        if apart > 0.01 {
            return true;
        }
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for i in 0..NOISE_SAMPLES {
            let place = window.at(FRACTIONS[1] + f64::from(i) * apart);
            let value = self.own_h_at(system, k, place, step);
            (least, most) = (value.min(least), value.max(most));
        }
        most - least > 0.1 * doubt
    }

    /// Takes the samples of a guard as they are: what they leave open is noise, or too narrow for the search.
    #[cold]
    fn give_up(&mut self, k: usize, doubt: f64) {
        self.guards.blur[k] = self.guards.blur[k].max(BLUR * doubt);
        self.statistics.unresolved += 1;
        let (guard, t, error) = (self.ahead(k), self.t, doubt);
        self.keep_doubt(Doubt::Unresolved { guard, t, error });
    }

    /// Ends the search in a step that may not be shortened, for a guard that asked for the last window, or any that is watched.
    #[cold]
    fn give_up_on_step(&mut self, window: Window) {
        let watched = |&k: &usize| self.guards.watch[k].is_any();
        let near = self.near.first().copied();
        let Some(k) = near.or_else(|| (0..self.count()).find(watched)) else {
            return;
        };
        let own = self.own_samples(k, window);
        let (least, most) = own.iter().fold((own[0], own[0]), |(least, most), v| {
            (v.min(least), v.max(most))
        });
        self.statistics.unresolved += 1;
        let (guard, t, error) = (self.ahead(k), self.t, most - least);
        self.keep_doubt(Doubt::Unresolved { guard, t, error });
    }

    /// Where the step stops: on the guard of `passage`, or on another one that turns out to be passed before. `None` when its
    /// rate there does not fit its samples, which so do not settle what happens between them.
    fn stop_of<S>(
        &mut self,
        system: &S,
        settings: &Settings,
        mut passage: Passage,
        window: Window,
        step: f64,
        narrowable: Narrowable,
    ) -> Result<Option<Stop>, Error>
    where
        S: Flow + EventFunction,
    {
        self.work.tried.fill(false);
        loop {
            let s = self.locate(system, passage, window, step)?;
            self.work.tried[passage.k] = true;
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
            if narrowable != Narrowable::No && !rate.is_none_or(fits) {
                return Ok(None);
            }
            let seconds = window.width() * step;
            let bend = match (passage.cubic, passage.leaves) {
                (Some(cubic), None) => cubic.bend(s) / (seconds * seconds),
                _ => 0.0,
            };
            return Ok(Some(Stop {
                k: passage.k,
                fraction: window.at(s),
                on_guard,
                bend,
                rate,
            }));
        }
    }

    /// Fraction of the window at which the guard passes its level.
    fn locate<S: EventFunction>(
        &mut self,
        system: &S,
        passage: Passage,
        window: Window,
        step: f64,
    ) -> Result<f64, Error> {
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

    /// The rate of guard `k` in the mode of the step at `work.point`, a fraction of the step; leaves the field in
    /// `work.landing_field`.
    fn rate_at<S>(&mut self, system: &S, k: usize, fraction: f64, step: f64) -> Result<Rate, Error>
    where
        S: Flow + EventFunction,
    {
        let t = self.t + fraction * step;
        let (x, field) = (self.work.point.get(), self.work.landing_field.get_mut());
        system.flow(t, x, &self.mode, field);
        self.statistics.flow += 1;
        probe::check_flow(field, t, x)?;
        let row = self.work.row.get_mut();
        let mut rate = probe::rate(system, k, (t, x), &self.mode, field, row);
        self.statistics.gradient += 1;
        if !rate.written {
            let (terms, space) = (&mut self.guards.terms[k], (row, &self.tolerance));
            terms.evaluate(system, k, (t, x), &self.mode, space, &mut self.statistics);
            rate.magnitude = terms.magnitude;
        }
        if !rate.value.is_finite() {
            return Err(probe::not_finite(Quantity::Gradient { event: k }, t, x));
        }
        Ok(rate)
    }

    /// True when the rate of a guard where it is passed is that of its cubic: else it oscillates between its samples, and may have
    /// been passed before.
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

    /// Refuses a value on the interpolant that is not finite.
    pub(crate) fn check_sample(
        &mut self,
        k: usize,
        sample: Sample,
        window: Window,
        step: f64,
    ) -> Result<(), Error> {
        if sample.value.is_finite() {
            return Ok(());
        }
        let fraction = window.at(sample.at);
        let point = self.work.point.get_mut();
        self.ode.interpolant().at_fraction(fraction, point);
        let (quantity, t) = (Quantity::Event { event: k }, self.t + fraction * step);
        Err(probe::not_finite(quantity, t, point))
    }

    /// Evaluates all event functions at the fraction `s` of a window into `work.h[2]`, and gives the guard farthest in time beyond
    /// its level there, if any was not tried yet: it was passed earlier.
    fn passed_before<S: EventFunction>(
        &mut self,
        system: &S,
        settings: &Settings,
        s: f64,
        window: Window,
        step: f64,
    ) -> Result<Option<Passage>, Error> {
        let fraction = window.at(s);
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
            let own = self.own_samples(k, window);
            let (own_start, own_here) = (own[0], own[3]);
            let level = self.level(settings, k, own_start);
            let (start, here) = (own_start - level, own_here - level);
            let zero = self.zero(k, (here - start) / (s * window.width() * step), 0.0);
            let zero = zero.max(self.guards.zero[k]);
            if here <= zero {
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
                let slope = self.own_rate(k) * window.width() * step;
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

    /// The longest window that the time scales of the guards allow (s).
    pub(crate) fn window_by_time_scales<S: EventFunction>(&self, system: &S) -> f64 {
        let of_the_run = (self.tf - self.t) / LEAST_SAMPLES;
        let watched = (0..self.count()).filter(|&k| self.guards.watch[k].is_any());
        let apart = watched.map(|k| system.time_scale(k).unwrap_or(of_the_run));
        apart.fold(f64::INFINITY, f64::min) / (LAST * WIDEST)
    }
}

/// Samples of a run, at least, when guards state no time scale.
const LEAST_SAMPLES: f64 = 100.0;

/// What is passed first within a window.
enum First {
    Nobody,
    Passage(Passage),
    /// The samples do not settle it.
    Open,
}
