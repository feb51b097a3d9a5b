//! The search for the guard that a smooth step passes first (Anderson & Revzen, section 3; located,
//! not projected).
//!
//! * `window`: a part of the step, its samples, and the guards far from zero in it; `pace`: lengths of
//!   windows.
//! * `classify`: what the samples of a window say of one guard, by the `curve` through them and
//!   their `cubic`; `surface`: of one that starts on its surface; `look`: what they look at.
//! * `declared`: steps that no guard can be passed in, by what is declared of it.
//! * `levels`: where guards end a step.
//! * `locate`: the root at which the step stops.
//! * `doubt`, `turned`: decisions that the error of the run may turn.
//! * `factors`: the numbers by which all of them decide, each with its reason.

mod classify;
mod cubic;
mod curve;
mod declared;
mod doubt;
mod factors;
mod levels;
mod locate;
mod look;
mod pace;
mod surface;
mod turned;
mod window;

pub(crate) use doubt::{Doubts, MEANT, Thrown};
pub(crate) use locate::StepEnd;
pub(crate) use pace::Pace;
pub(crate) use turned::{Flying, Turned};
pub(crate) use window::Arms;

use super::table::{GuardTable, State};
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::Rate;
use crate::hybrid::options::Settings;
use crate::hybrid::room_for;
use crate::model::rearm::Arming;
use crate::ode::Buffer;
use crate::{Doubt, EventFunction, Stop};
use classify::{classify, monotone};
use cubic::FRACTIONS;
use curve::{Class, Passage, Top};
use declared::Reach;
use factors::{
    BLUR, LEAST_SAMPLES, MOST_WINDOWS, MOST_WINDOWS_FIXED, MUCH_GROWN, NARROWER, NOISE_APART,
    NOISE_PART, NOISE_SAMPLES, NOISE_TOO_WIDE, ON_SURFACE,
};
use levels::Levels;
use locate::{Candidates, jump_of, stop_of};
use look::Look;
use pace::{Narrowable, Settled, Windows};
use window::{Samples, Window};

/// Outcome of the search over a smooth step.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Met {
    /// No guard; the next step is to be no longer than so much (s).
    Nothing(f64),
    Guard(StepEnd),
    /// Guards change too fast for a step of this length; this part of it is settled.
    TooMuch(f64),
}

/// Outcome of the look at one window.
enum Found {
    /// No guard is passed in it.
    Clear,
    Stop(StepEnd),
    /// Its samples do not settle what happens in it.
    Unsettled,
    /// An excursion in it is shorter than the step, of which this part is to be tried.
    TooLong(f64),
}

/// The search of a smooth step for guards, and what it remembers from step to step.
#[derive(Clone, Debug)]
pub(crate) struct GuardSearch<B> {
    pub(crate) samples: Samples<B>,
    /// The field where a step stops on a guard.
    pub(crate) stop_field: B,
    /// The event function in whose neighbourhood the step begins: it is not entered again.
    pub(crate) inside: Option<usize>,
    pub(crate) pace: Pace,
    /// All event functions declare how they change.
    is_declared: bool,
    /// The last step was passed over by that, or there was none.
    passed_over: bool,
    /// Way in which the present window is settled.
    how: Settled,
    /// Armed guards that are not far from their surface in it.
    near: Vec<usize>,
    /// Passages of guards in it.
    passages: Vec<Passage>,
    /// Maxima of guards that it does not pass.
    tops: Vec<Top>,
    /// Guards that were on their surface, but for rounding, in all of the last window that looked
    /// at them.
    hovers: Vec<bool>,
    /// Guards that are passed by their noise alone in this window.
    unheard: Vec<usize>,
}

impl<B: Buffer> GuardSearch<B> {
    pub(crate) fn new(dim: usize, count: usize) -> Self {
        Self {
            samples: Samples::new(dim, count),
            stop_field: B::zeros(dim),
            inside: None,
            pace: Pace::FREE,
            is_declared: false,
            passed_over: true,
            how: Settled::Closely,
            near: Vec::with_capacity(room_for(count)),
            passages: Vec::with_capacity(room_for(count)),
            tops: Vec::with_capacity(room_for(count)),
            hovers: vec![false; count],
            unheard: Vec::with_capacity(room_for(count)),
        }
    }

    /// Forgets the last run.
    pub(crate) fn begin<S: EventFunction + ?Sized>(
        &mut self,
        system: &S,
        settings: &Settings,
        state: &State<B>,
        guards: &GuardTable<B>,
    ) {
        self.pace = Pace::FREE;
        self.begin_part(system, settings, state, guards);
        self.is_declared = self.samples.are_declared(system, settings, guards);
        self.passed_over = true;
        self.inside = None;
        self.hovers.fill(false);
    }

    /// A run begins, or the next part of a live one. Samples are never farther apart than time scales allow; where
    /// neither guards nor settings state one, it has a hundred samples at least.
    pub(crate) fn begin_part<S: EventFunction + ?Sized>(
        &mut self,
        system: &S,
        settings: &Settings,
        state: &State<B>,
        guards: &GuardTable<B>,
    ) {
        let of_the_run = (state.tf - state.t) / LEAST_SAMPLES;
        let of_others = settings.time_scale.unwrap_or(of_the_run);
        let watched = (0..state.count()).filter(|&k| guards.kept[k].watch.is_any());
        let apart = watched.filter_map(|k| match system.time_scale(k) {
            None if system.is_affine(k) => None,
            scale => Some(scale.unwrap_or(of_others)),
        });
        self.pace.allow(apart.fold(f64::INFINITY, f64::min));
    }

    /// Forgets which guards lie on their surface: a reset has changed the state, and the speed of
    /// the motion (tolerances a second).
    #[cold]
    pub(crate) fn note_reset(&mut self, speed_before: f64, speed_after: f64) {
        self.hovers.fill(false);
        self.pace.follow(speed_before, speed_after);
    }

    /// Looks for the first guard that the step just made, of length `step`, passes. Without one the
    /// samples hold event functions at its end.
    #[inline]
    pub(crate) fn detect<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        doubts: &mut Doubts,
        turned: &mut Turned<B>,
        step: f64,
    ) -> Result<Met, Stop> {
        if self.is_declared && turned.is_closed() {
            match self.samples.reach(context, state, guards, step) {
                Reach::Out => {
                    self.passed_over = true;
                    return Ok(Met::Nothing(f64::INFINITY));
                }
                Reach::In(free) if self.passed_over => self.pace.begin_anew(step, free),
                Reach::In(_) => {}
            }
        }
        self.passed_over = false;
        let mut windows = Windows::new(context, state.least_step(), step, &self.pace);
        loop {
            let window = windows.next();
            self.unheard.clear();
            let mut found = self.look(context, state, guards, doubts, window, &windows)?;
            // Each guard is left out once at most.
            while let Found::Stop(stop) = found
                && !self.unheard.contains(&stop.k)
                && self.is_noise_alone(context, state, guards, window, stop)
            {
                context.settings.limits.interrupt.check()?;
                self.unheard.push(stop.k);
                found = self.look(context, state, guards, doubts, window, &windows)?;
            }
            let stop = match found {
                Found::Unsettled => {
                    windows.narrow(window);
                    context.counts.narrowed.add(1);
                    context.settings.limits.interrupt.check()?;
                    continue;
                }
                Found::TooLong(part) => return Ok(Met::TooMuch(part)),
                Found::Stop(stop) => Some(stop),
                Found::Clear => None,
            };
            let until = match stop {
                Some(stop) => {
                    let shorter = NARROWER * stop.fraction;
                    if windows.may_shorten_to(shorter) && contradicts_field(guards, stop) {
                        return Ok(Met::TooMuch(shorter));
                    }
                    (stop.fraction - window.from) / window.width()
                }
                None => f64::INFINITY,
            };
            turned.in_window(context, state, guards, doubts, &self.samples, window)?;
            if !self.tops.is_empty() {
                doubts.of_tops(context, state, guards, &self.tops, window, until)?;
            }
            self.pace.keep(window, windows.has_narrowed, self.how);
            if let Some(stop) = stop {
                return Ok(Met::Guard(stop));
            }
            if !self.near.is_empty() {
                self.mark_clear(guards, window);
            }
            if window.to >= 1.0 {
                self.samples.apart = (FRACTIONS[3] - FRACTIONS[2]) * window.seconds();
                return Ok(Met::Nothing(windows.longest_step()));
            }
            if windows.may_shorten && windows.count >= MOST_WINDOWS {
                return Ok(Met::TooMuch(window.to));
            }
            if windows.adaptive && windows.count >= MOST_WINDOWS_FIXED {
                self.give_up_on_step(context, state, guards, doubts, window);
                windows.adaptive = false;
            }
            let unresolved = context.counts.unresolved.get();
            if unresolved > windows.unresolved {
                windows.forget_noise(&mut self.pace);
            }
            context.settings.limits.interrupt.check()?;
            self.samples.next_window_starts();
            windows.settle(window, unresolved, &self.pace);
        }
    }

    /// Looks at one window: the stop at the guard that is passed first in it, if its samples settle
    /// that.
    #[inline]
    fn look<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        doubts: &mut Doubts,
        window: Window,
        windows: &Windows,
    ) -> Result<Found, Stop> {
        self.samples.take(context, state, window);
        context.counts.windows.add(1);
        let levels = Levels::new(context.settings, self.inside);
        let mut overview = (self.samples).measure(context, state, guards, window, levels)?;
        if !overview.are_far && guards.spreads.grown(state) > MUCH_GROWN {
            let arming = &guards.arming;
            (guards.spreads).renew(context, state, &guards.h, |k| arming[k].is_armed())?;
            overview = (self.samples).measure(context, state, guards, window, levels)?;
        }
        self.near.clear();
        self.tops.clear();
        self.how = Settled::by(overview.are_plain, overview.are_far);
        // In most windows all guards are far.
        if overview.are_far {
            return Ok(Found::Clear);
        }
        self.look_at_near(context, state, guards, doubts, window, windows)
    }

    /// Look at a window in which some guards are not far; see [`look`](Self::look).
    fn look_at_near<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        doubts: &mut Doubts,
        window: Window,
        windows: &Windows,
    ) -> Result<Found, Stop> {
        self.passages.clear();
        let levels = Levels::new(context.settings, self.inside);
        let narrowable = windows.narrowable(window);
        let mut look = Look::new(context, state, guards, &mut self.samples, window, levels);
        let mut first: Option<(f64, Passage)> = None;
        for k in 0..state.count() {
            if look.is_far(k) || self.unheard.contains(&k) {
                continue;
            }
            let found = monotone(&look, k);
            if let Some(passage) = found {
                // Guards that are passed later are not asked for their passage.
                let earliest = first.map_or(f64::INFINITY, |(earliest, _)| earliest);
                first = passage.earlier_than(earliest).or(first);
                continue;
            }
            self.near.push(k);
            let hovers = self.hovers[k];
            let class = match classify(&mut look, k, hovers)? {
                Class::Unsettled(open) => {
                    let is_noise = match narrowable {
                        Narrowable::Yes => return Ok(Found::Unsettled),
                        Narrowable::UnlessNoise => is_noise(&mut look, k, open),
                        Narrowable::No => true,
                    };
                    match jump_of(&mut look, k)? {
                        Some(class) => class,
                        None if !is_noise => return Ok(Found::Unsettled),
                        None => {
                            give_up(&mut look, doubts, k, open);
                            // With what is left open of it known it is taken as its samples are.
                            classify(&mut look, k, hovers)?
                        }
                    }
                }
                class => class,
            };
            match class {
                Class::Passed(passage) => {
                    let at = passage.at();
                    if first.is_none_or(|(earliest, _)| at < earliest) {
                        first = Some((at, passage));
                    }
                    self.passages.push(passage);
                }
                Class::Clear(top) => self.tops.extend(top),
                Class::TooSoon(at) => {
                    let shorter = NARROWER * window.at(at);
                    if windows.may_shorten_to(shorter) {
                        return Ok(Found::TooLong(shorter));
                    }
                }
                Class::Unsettled(_) => {}
            }
        }
        self.how = Settled::by(self.how == Settled::Plain, !look.closely);
        let Some((_, passage)) = first else {
            return Ok(Found::Clear);
        };
        let candidates = Candidates {
            passages: &self.passages,
            field: self.stop_field.get_mut(),
            doubts,
        };
        let can_narrow = narrowable != Narrowable::No;
        let stop = stop_of(&mut look, passage, candidates, can_narrow)?;
        Ok(stop.map_or(Found::Unsettled, Found::Stop))
    }

    /// True when a guard that is known to be noisy passes by what varies in places close together, is within that of
    /// its surface where the window ends, and the field says that it moves away: shorter steps would show no
    /// less of the noise.
    #[inline]
    fn is_noise_alone<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        window: Window,
        stop: StepEnd,
    ) -> bool {
        let k = stop.k;
        if guards.kept[k].blur == 0.0 || !contradicts_field(guards, stop) {
            return false;
        }
        let levels = Levels::new(context.settings, self.inside);
        let mut look = Look::new(context, state, guards, &mut self.samples, window, levels);
        // Samples of the window may be those at its stop by now.
        let [_, beside @ .., end] = FRACTIONS.map(|s| look.own_h_at(k, s));
        let beyond = beside.into_iter().fold(end.max(0.0), f64::max);
        let noise = noise_of(&mut look, k);
        noise > NOISE_PART * beyond && end <= noise
    }

    /// Hands event functions at the end of a step without events over to the guard table. Rates
    /// there are estimated by the slopes between the last two samples, of which the first is the start
    /// of a step that was passed over, until a row is asked for; in too short a window those of the
    /// start are kept.
    #[inline]
    pub(crate) fn hand_over(&mut self, state: &State<B>, guards: &mut GuardTable<B>) {
        let Samples { h, apart, .. } = &mut self.samples;
        let [_, before, end] = h;
        if state.tells_rates(*apart) {
            let before = (!self.passed_over).then_some(&before[..]);
            guards.take_slopes(before, end, *apart);
        }
        std::mem::swap(&mut guards.h, end);
        guards.stale.fill(true);
    }

    /// Marks guards ready that the end of a window shows clear of their surface, and those that the
    /// whole window leaves on it.
    fn mark_clear(&mut self, guards: &mut GuardTable<B>, window: Window) {
        for &k in &self.near {
            let own = self.samples.own(guards, k, window);
            let zero = guards.zero[k];
            if own[3] < -zero {
                guards.arming[k] = Arming::Ready;
            }
            self.hovers[k] = own.iter().all(|&v| v >= -ON_SURFACE * zero);
        }
    }

    /// Counts what is left of a step of fixed length as unresolved, for the first guard that is
    /// near, else for the first that is watched.
    #[cold]
    fn give_up_on_step<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &GuardTable<B>,
        doubts: &mut Doubts,
        window: Window,
    ) {
        let watched = |&k: &usize| guards.kept[k].watch.is_any();
        let near = self.near.first().copied();
        let Some(k) = near.or_else(|| (0..state.count()).find(watched)) else {
            return;
        };
        let own = self.samples.own(guards, k, window);
        let (least, most) = own.iter().fold((own[0], own[0]), |(least, most), v| {
            (v.min(least), v.max(most))
        });
        context.counts.unresolved.add(1);
        let (guard, t, error) = (guards.ahead(k), state.t, most - least);
        doubts.keep(Doubt::Unresolved { guard, t, error });
    }
}

/// True when the field says that a guard moves away where the step passes it: clearly, or it left its
/// surface with a rate of zero and is back on it. Positions and velocities of the step are not exact
/// enough then to follow so low an excursion.
fn contradicts_field<B: Buffer>(guards: &GuardTable<B>, stop: StepEnd) -> bool {
    let (is_ready, least) = (guards.arming[stop.k].is_ready(), guards.min_rate[stop.k]);
    let most = if is_ready { -least } else { least };
    let away = |rate: Rate| guards.sign[stop.k] * rate.value < most;
    stop.rate.is_some_and(away)
}

/// True when a guard varies by noise alone by no small part of what its samples leave open.
#[cold]
fn is_noise<S: System + ?Sized, B: Buffer>(look: &mut Look<'_, S, B>, k: usize, open: f64) -> bool {
    noise_of(look, k) > NOISE_PART * open
}

/// By how much a guard varies in places so close together that nothing smooth moves; infinite where they would be too
/// far apart to tell.
#[cold]
fn noise_of<S: System + ?Sized, B: Buffer>(look: &mut Look<'_, S, B>, k: usize) -> f64 {
    // Times that are rounded to the same tell nothing; nor does a window that is no longer than
    // they are apart.
    let rounding = 8.0 * f64::EPSILON * look.state.t.abs() / look.window.seconds();
    let apart = NOISE_APART.max(rounding);
    if apart > NOISE_TOO_WIDE {
        return f64::INFINITY;
    }
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for i in 0..NOISE_SAMPLES {
        let value = look.own_h_at(k, FRACTIONS[1] + f64::from(i) * apart);
        (least, most) = (value.min(least), value.max(most));
    }
    most - least
}

/// Takes the samples of a guard as they are: what they leave open is noise, or too narrow for the
/// search.
#[cold]
fn give_up<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    doubts: &mut Doubts,
    k: usize,
    open: f64,
) {
    let guards = &mut *look.guards;
    guards.kept[k].blur = guards.kept[k].blur.max(BLUR * open);
    look.context.counts.unresolved.add(1);
    let (guard, t, error) = (guards.ahead(k), look.state.t, open);
    doubts.keep(Doubt::Unresolved { guard, t, error });
}
