//! Which guard a smooth step passes first: window after window, each as long as the samples of the
//! guards settle what happens between them.

use super::cubic::{FRACTIONS, WIDEST};
use super::doubt::{Doubt, Top};
use super::examine::{Finding, Passage};
use super::state::Run;
use super::stop::StepEnd;
use super::window::{Crossed, Window};
use crate::Stop;
use crate::hybrid::evaluate::Rate;
use crate::hybrid::options::{Resolution, Settings};
use crate::hybrid::{EventFunction, Flow};
use crate::ode::Buffer;
use crate::ode::root::Sample;

/// A window may be this much longer than the one before, when that held guards which needed a
/// closer look.
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
/// The same of a step whose length is fixed. What is left of it beyond is one window then, and
/// counts as unresolved.
const MOST_WINDOWS_FIXED: usize = 4096;
/// The next step is to need no more windows than this.
const WANTED_WINDOWS: usize = 8;
/// Samples of a run, at least, when guards state no time scale.
const LEAST_SAMPLES: f64 = 100.0;

/// What a smooth step meets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Met {
    Nothing,
    Guard(StepEnd),
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
    /// Looks for the first guard that the step just made, of length `step`, passes. Without one,
    /// leaves the event functions at the end of the step in `work.h[2]`, and what is known of their
    /// rates in `work.rate`, `work.zero`, `work.stale`.
    pub(crate) fn detect<S>(
        &mut self,
        system: &S,
        settings: &Settings,
        step: f64,
    ) -> Result<Met, Stop>
    where
        S: Flow + EventFunction,
    {
        let mut adaptive = settings.resolution == Resolution::Adaptive;
        let may_shorten = adaptive && settings.fixed_step.is_none();
        // Within less than the shortest step times are rounded to the same.
        let shortest = self.least_step() / step;
        let longest = if adaptive {
            (self.longest_window / step).max(shortest)
        } else {
            f64::INFINITY
        };
        let mut width = (self.next_window / step).min(longest).max(shortest);
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
            let narrower = NARROWER * window.width();
            let narrowable = if !adaptive || narrowed >= MOST_NARROWED || narrower < shortest {
                Narrowable::No
            } else if narrowed >= NOISE_AFTER {
                Narrowable::UnlessNoise
            } else {
                Narrowable::Yes
            };
            let found = self.first_passed(system, settings, (window, step), crossed, narrowable)?;
            let can_narrow = narrowable != Narrowable::No;
            let stop = match found {
                First::Passage(passage) => {
                    self.stop_of(system, settings, passage, window, step, can_narrow)?
                }
                First::Nobody | First::Open => None,
            };
            if stop.is_none() && !matches!(found, First::Nobody) {
                self.work.tops.clear();
                (width, narrowed, has_narrowed) = (narrower, narrowed + 1, true);
                self.statistics.narrowed += 1;
                continue;
            }
            if let Some(stop) = stop {
                let shorter = NARROWER * stop.fraction;
                if may_shorten && shorter >= shortest && self.returns_too_early(stop) {
                    self.work.tops.clear();
                    return Ok(Met::TooMuch(shorter));
                }
                self.doubt_turned(system, window);
                let until = (stop.fraction - window.from) / window.width();
                self.doubt_tops(system, window, step, until);
                self.keep_window(window, step, has_narrowed);
                return Ok(Met::Guard(stop));
            }
            self.doubt_turned(system, window);
            self.doubt_tops(system, window, step, f64::INFINITY);
            self.mark_clear(window);
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
                // What is noise at any width is not followed: the next window is as wide as this
                // one was at first.
                (self.next_window, has_narrowed) = (wide * step, false);
            }
            self.next_window_starts();
            from = to;
            width = if adaptive {
                (self.next_window / step).min(longest).max(shortest)
            } else {
                f64::INFINITY
            };
            narrowed = 0;
            (wide, unresolved) = (width, self.statistics.unresolved);
        }
    }

    /// True when a guard that left its surface with a rate of zero is back on it, but still moves
    /// away: positions and velocities of the step are not exact enough to follow so low an
    /// excursion.
    fn returns_too_early(&self, stop: StepEnd) -> bool {
        let away =
            |rate: Rate| self.guards.sign[stop.k] * rate.value < self.guards.min_rate[stop.k];
        !self.guards.ready[stop.k] && stop.rate.is_some_and(away)
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

    /// Marks guards ready that the end of a window shows clear of their surface, and those that the
    /// whole window leaves on it.
    fn mark_clear(&mut self, window: Window) {
        for i in 0..self.near.len() {
            let k = self.near[i];
            let own = self.own_samples(k, window);
            let zero = self.guards.zero[k];
            self.guards.ready[k] |= own[3] < -zero;
            self.work.hovers[k] = own.iter().all(|&v| v >= -4.0 * zero);
        }
    }

    /// The guard that is passed first within a window, as far as lines between samples tell:
    /// `crossed` or one of those in `near`.
    fn first_passed<S>(
        &mut self,
        system: &S,
        settings: &Settings,
        (window, step): (Window, f64),
        crossed: Option<Crossed>,
        narrowable: Narrowable,
    ) -> Result<First, Stop>
    where
        S: Flow + EventFunction,
    {
        self.work.passages.clear();
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
            // One for each guard has room.
            if self.work.passages.len() < self.work.passages.capacity() {
                self.work.passages.push(passage);
            }
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

    /// True when a guard, in places so close together that nothing smooth moves, varies by no small
    /// part of what its samples leave open.
    #[cold]
    fn is_noise<S: EventFunction>(
        &mut self,
        system: &S,
        (k, doubt): (usize, f64),
        window: Window,
        step: f64,
    ) -> bool {
        // Times that are rounded to the same tell nothing; nor does a window that is no longer than
        // they are apart.
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

    /// Takes the samples of a guard as they are: what they leave open is noise, or too narrow for
    /// the search.
    #[cold]
    fn give_up(&mut self, k: usize, doubt: f64) {
        self.guards.blur[k] = self.guards.blur[k].max(BLUR * doubt);
        self.statistics.unresolved += 1;
        let (guard, t, error) = (self.guards.ahead(k), self.t, doubt);
        self.keep_doubt(Doubt::Unresolved { guard, t, error });
    }

    /// Ends the search in a step that may not be shortened, for a guard that asked for the last
    /// window, or any that is watched.
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
        let (guard, t, error) = (self.guards.ahead(k), self.t, most - least);
        self.keep_doubt(Doubt::Unresolved { guard, t, error });
    }

    /// The longest distance of samples that the time scales of the guards allow (s).
    pub(crate) fn apart_by_time_scales<S: EventFunction>(&self, system: &S) -> f64 {
        let of_the_run = (self.tf - self.t) / LEAST_SAMPLES;
        let watched = (0..self.count()).filter(|&k| self.guards.watch[k].is_any());
        let apart = watched.map(|k| system.time_scale(k).unwrap_or(of_the_run));
        apart.fold(f64::INFINITY, f64::min)
    }

    /// The longest window in which no samples are farther apart than that (s).
    pub(crate) fn longest_window(&self) -> f64 {
        self.apart / (LAST * WIDEST)
    }
}

/// What is passed first within a window.
enum First {
    Nobody,
    Passage(Passage),
    /// The samples do not settle it.
    Open,
}
