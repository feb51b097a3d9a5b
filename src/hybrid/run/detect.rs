//! Which guard a smooth step passes first: window after window, each as long as the samples of the
//! guards settle what happens between them.

use super::cubic::FRACTIONS;
use super::doubt::{Doubt, Doubts, Top};
use super::examine::{Finding, Passage, examine, passage_of};
use super::guard_table::GuardTable;
use super::pace::{NARROWER, Narrowable, Pace, Settled, Windows};
use super::state::State;
use super::stop::{Candidates, StepEnd, stop_of};
use super::turned::Turned;
use super::window::{Crossed, Levels, Look, Overview, Sampled, Window};
use crate::Stop;
use crate::hybrid::EventFunction;
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::Rate;
use crate::hybrid::model::rearm::Arming;
use crate::ode::Buffer;
use crate::ode::root::Sample;

/// Evaluations of that test.
const NOISE_SAMPLES: u32 = 8;
/// How far apart they are, as a part of the window.
const NOISE_APART: f64 = 1e-7;
/// What such windows leave open counts as noise of this many times its size.
const BLUR: f64 = 4.0;
/// Most windows of one step, before a shorter step is tried.
const MOST_WINDOWS: usize = 64;
/// The same of a step whose length is fixed. What is left of it beyond is one window then, and
/// counts as unresolved.
const MOST_WINDOWS_FIXED: usize = 4096;
/// Samples of a run, at least, when guards state no time scale.
const LEAST_SAMPLES: f64 = 100.0;

/// What a smooth step meets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Met {
    /// No guard; the next step is to be no longer than so much (s).
    Nothing(f64),
    Guard(StepEnd),
    /// Guards change too fast for a step of this length; this part of it is settled.
    TooMuch(f64),
}

/// What the look at one window finds.
enum Found {
    /// No guard is passed in it.
    Clear,
    Stop(StepEnd),
    /// Its samples do not settle what happens in it.
    Unsettled,
}

/// The search of a smooth step for guards, and what it remembers from step to step.
#[derive(Clone, Debug)]
pub(crate) struct GuardSearch<B> {
    pub(crate) sampled: Sampled<B>,
    /// The field where a step stops on a guard.
    pub(crate) stop_field: B,
    /// The event function in whose neighbourhood the step begins: it is not entered again.
    pub(crate) inside: Option<usize>,
    pub(crate) pace: Pace,
    /// What settles the present window.
    how: Settled,
    /// Guards that it may pass.
    near: Vec<usize>,
    /// Passages of guards in it.
    passages: Vec<Passage>,
    /// Maxima of guards that it does not pass.
    tops: Vec<Top>,
    tried: Vec<bool>,
    /// Guards that were on their surface, but for rounding, in all of the last window that looked
    /// at them.
    hovers: Vec<bool>,
}

impl<B: Buffer> GuardSearch<B> {
    pub(crate) fn new(dim: usize, count: usize) -> Self {
        Self {
            sampled: Sampled::new(dim, count),
            stop_field: B::zeros(dim),
            inside: None,
            pace: Pace::FREE,
            how: Settled::Closely,
            near: Vec::with_capacity(count),
            passages: Vec::with_capacity(count),
            tops: Vec::with_capacity(count),
            tried: vec![false; count],
            hovers: vec![false; count],
        }
    }

    /// Forgets the last run. Samples are never farther apart than time scales allow; where neither
    /// guards nor settings state one, a run has a hundred samples at least.
    pub(crate) fn begin<S: EventFunction + ?Sized>(
        &mut self,
        (system, stated): (&S, Option<f64>),
        state: &State<B>,
        guards: &GuardTable<B>,
    ) {
        let of_the_run = (state.tf - state.t) / LEAST_SAMPLES;
        let of_others = stated.unwrap_or(of_the_run);
        let watched = (0..state.count()).filter(|&k| guards.watch[k].is_any());
        let apart = watched.map(|k| system.time_scale(k).unwrap_or(of_others));
        self.pace = Pace::of(apart.fold(f64::INFINITY, f64::min));
        self.inside = None;
        self.hovers.fill(false);
        self.sampled.begin();
    }

    /// Forgets which guards lie on their surface, and how fast the motion was: a reset has changed
    /// the state.
    #[cold]
    pub(crate) fn note_reset(&mut self) {
        self.hovers.fill(false);
        self.pace.is_thrown = true;
    }

    /// Looks for the first guard that the step just made, of length `step`, passes. Without one the
    /// guard table holds what is known of event functions at its end.
    pub(crate) fn detect<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        (state, guards): (&State<B>, &mut GuardTable<B>),
        (doubts, turned): (&mut Doubts, &mut Turned<B>),
        step: f64,
    ) -> Result<Met, Stop> {
        self.pace.follow(state.speed());
        let mut windows = Windows::new(context, state, step, &self.pace);
        loop {
            let (window, narrowable) = windows.next();
            let seen = (state, &mut *guards, &mut *doubts);
            let stop = match self.look(context, seen, window, narrowable)? {
                Found::Unsettled => {
                    windows.narrow();
                    context.counts.narrowed.add(1);
                    context.settings.interrupt.check()?;
                    continue;
                }
                Found::Stop(stop) => Some(stop),
                Found::Clear => None,
            };
            let until = match stop {
                Some(stop) => {
                    let shorter = NARROWER * stop.fraction;
                    let may_retry = windows.may_shorten && shorter >= windows.shortest;
                    if may_retry && returns_too_early(guards, stop) {
                        return Ok(Met::TooMuch(shorter));
                    }
                    (stop.fraction - window.from) / window.width()
                }
                None => f64::INFINITY,
            };
            turned.in_window(context, (state, guards, doubts), &self.sampled, window)?;
            if !self.tops.is_empty() {
                doubts.of_tops(context, (state, guards), &self.tops, window, until)?;
            }
            if let Some(stop) = stop {
                self.pace.keep(window, windows.has_narrowed, self.how);
                return Ok(Met::Guard(stop));
            }
            self.mark_clear(guards, window);
            self.pace.keep(window, windows.has_narrowed, self.how);
            if window.to >= 1.0 {
                self.hand_over(state, guards, window);
                return Ok(Met::Nothing(windows.longest_step()));
            }
            if windows.may_shorten && windows.count >= MOST_WINDOWS {
                return Ok(Met::TooMuch(window.to));
            }
            if windows.adaptive && windows.count >= MOST_WINDOWS_FIXED {
                self.give_up_on_step(context, (state, guards), doubts, window);
                windows.adaptive = false;
            }
            let unresolved = context.counts.unresolved.get();
            if unresolved > windows.unresolved {
                windows.forget_noise(&mut self.pace);
            }
            context.settings.interrupt.check()?;
            self.sampled.next_window_starts();
            windows.settle(window, unresolved, &self.pace);
        }
    }

    /// Looks at one window: the stop at the guard that is passed first in it, if its samples settle
    /// that.
    #[inline]
    fn look<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        (state, guards, doubts): (&State<B>, &mut GuardTable<B>, &mut Doubts),
        window: Window,
        narrowable: Narrowable,
    ) -> Result<Found, Stop> {
        self.sampled.take(context, state, window)?;
        context.counts.windows.add(1);
        let levels = Levels::new(context.settings, self.inside);
        let seen = (state, &mut *guards);
        let Overview { crossed, are_plain } =
            self.sampled.list_near(seen, levels, window, &mut self.near);
        self.how = Settled::by(are_plain, self.near.is_empty());
        self.tops.clear();
        // In most windows all guards are far or monotonic, and none passes.
        if self.near.is_empty() && crossed.is_none() {
            return Ok(Found::Clear);
        }
        let mut look = Look {
            context,
            state,
            guards,
            sampled: &mut self.sampled,
            window,
            levels,
        };
        let mut lists = Lists {
            near: &self.near,
            passages: &mut self.passages,
            tops: &mut self.tops,
            hovers: &self.hovers,
            doubts: &mut *doubts,
        };
        let passage = match first_passed(&mut look, crossed, &mut lists, narrowable)? {
            First::Nobody => return Ok(Found::Clear),
            First::Open => return Ok(Found::Unsettled),
            First::Passage(passage) => passage,
        };
        let candidates = Candidates {
            passages: &self.passages,
            tried: &mut self.tried,
            field: self.stop_field.get_mut(),
            doubts,
        };
        let can_narrow = narrowable != Narrowable::No;
        let stop = stop_of(&mut look, passage, candidates, can_narrow)?;
        Ok(stop.map_or(Found::Unsettled, Found::Stop))
    }

    /// Marks guards ready that the end of a window shows clear of their surface, and those that the
    /// whole window leaves on it.
    fn mark_clear(&mut self, guards: &mut GuardTable<B>, window: Window) {
        for &k in &self.near {
            let own = self.sampled.own(guards, k, window);
            let zero = guards.zero[k];
            if own[3] < -zero {
                guards.arming[k] = Arming::Ready;
            }
            self.hovers[k] = own.iter().all(|&v| v >= -4.0 * zero);
        }
    }

    /// Hands event functions at the end of a step without events over to the guard table. Rates
    /// there are estimated by the slopes between the last two samples, until a row is asked for; in
    /// too short a window those of the start are kept.
    #[inline]
    fn hand_over(&mut self, state: &State<B>, guards: &mut GuardTable<B>, window: Window) {
        let seconds = window.seconds();
        let [_, before, end] = &mut self.sampled.h;
        if state.tells_rates(seconds) {
            let apart = (FRACTIONS[3] - FRACTIONS[2]) * seconds;
            guards.take_slopes([before, end], apart);
        }
        std::mem::swap(&mut guards.h, end);
        guards.stale.fill(true);
    }

    /// Counts what is left of a step of fixed length as unresolved, for the first guard that is
    /// near, else for the first that is watched.
    #[cold]
    fn give_up_on_step<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        (state, guards): (&State<B>, &GuardTable<B>),
        doubts: &mut Doubts,
        window: Window,
    ) {
        let watched = |&k: &usize| guards.watch[k].is_any();
        let near = self.near.first().copied();
        let Some(k) = near.or_else(|| (0..state.count()).find(watched)) else {
            return;
        };
        let own = self.sampled.own(guards, k, window);
        let (least, most) = own.iter().fold((own[0], own[0]), |(least, most), v| {
            (v.min(least), v.max(most))
        });
        context.counts.unresolved.add(1);
        let (guard, t, error) = (guards.ahead(k), state.t, most - least);
        doubts.keep(Doubt::Unresolved { guard, t, error });
    }
}

/// True when a guard that left its surface with a rate of zero is back on it, but still moves away:
/// positions and velocities of the step are not exact enough to follow so low an excursion.
fn returns_too_early<B: Buffer>(guards: &GuardTable<B>, stop: StepEnd) -> bool {
    let away = |rate: Rate| guards.sign[stop.k] * rate.value < guards.min_rate[stop.k];
    !guards.arming[stop.k].is_ready() && stop.rate.is_some_and(away)
}

/// What the samples of a window are sorted into.
struct Lists<'a> {
    near: &'a [usize],
    passages: &'a mut Vec<Passage>,
    tops: &'a mut Vec<Top>,
    hovers: &'a [bool],
    doubts: &'a mut Doubts,
}

/// The guard that is passed first in a window, as far as lines between samples tell.
fn first_passed<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    crossed: Option<Crossed>,
    lists: &mut Lists<'_>,
    narrowable: Narrowable,
) -> Result<First, Stop> {
    lists.passages.clear();
    let mut first: Option<(f64, Passage)> = crossed.map(|c| (c.at, passage_of(look, c)));
    for i in 0..lists.near.len() {
        let k = lists.near[i];
        let found = match examine(look, k, lists.hovers[k])? {
            Finding::Open(_) if narrowable == Narrowable::Yes => return Ok(First::Open),
            Finding::Open(doubt)
                if narrowable == Narrowable::UnlessNoise && !is_noise(look, k, doubt) =>
            {
                return Ok(First::Open);
            }
            Finding::Open(doubt) => {
                give_up(look, lists.doubts, k, doubt);
                // With its doubt known it is taken as its samples are.
                examine(look, k, lists.hovers[k])?
            }
            found => found,
        };
        let passage = match found {
            Finding::Passed(passage) => passage,
            Finding::NotPassed(Some((Sample { at, value }, bend))) => {
                let variation = bend.abs() / (look.window.width() * look.window.width());
                // One for each guard has room.
                if lists.tops.len() < lists.tops.capacity() {
                    lists.tops.push(Top {
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
        if lists.passages.len() < lists.passages.capacity() {
            lists.passages.push(passage);
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
fn is_noise<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
    doubt: f64,
) -> bool {
    // Times that are rounded to the same tell nothing; nor does a window that is no longer than
    // they are apart.
    let rounding = 8.0 * f64::EPSILON * look.state.t.abs() / look.window.seconds();
    let apart = NOISE_APART.max(rounding);
    if apart > 0.01 {
        return true;
    }
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for i in 0..NOISE_SAMPLES {
        let value = look.own_h_at(k, FRACTIONS[1] + f64::from(i) * apart);
        (least, most) = (value.min(least), value.max(most));
    }
    most - least > 0.1 * doubt
}

/// Takes the samples of a guard as they are: what they leave open is noise, or too narrow for the
/// search.
#[cold]
fn give_up<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    doubts: &mut Doubts,
    k: usize,
    doubt: f64,
) {
    let guards = &mut *look.guards;
    guards.blur[k] = guards.blur[k].max(BLUR * doubt);
    look.context.counts.unresolved.add(1);
    let (guard, t, error) = (guards.ahead(k), look.state.t, doubt);
    doubts.keep(Doubt::Unresolved { guard, t, error });
}

/// What is passed first within a window.
enum First {
    Nobody,
    Passage(Passage),
    /// The samples do not settle it.
    Open,
}
