//! Doubts that the errors of steps leave: how far event functions and times of crossings may be
//! off, and decisions that hang on it.

use std::ops::Range;

use super::curve::Top;
use super::factors::{GREATER, WANTED_WINDOWS};
use super::window::Window;
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::{self, Point};
use crate::hybrid::table::GuardTable;
use crate::hybrid::table::State;
use crate::hybrid::transition::Scratch;
use crate::ode::Buffer;
use crate::{Arrival, CrossedGuard, Doubt, Guard, Mode, Observer, Stop};

/// A crossing that leaves less of the rate than this changes how deep the motion goes.
const KEPT: f64 = 0.5;

/// A reset that changes a rate by less than this part of it does not change it.
const UNCHANGED: f64 = 1e-9;

/// A reset leaves a guard on its surface by design up to so many times what is zero of it.
pub(crate) const MEANT: f64 = 8.0;

/// Doubts of one step that are reported, at most.
const MOST_TOLD: usize = 16;

/// A maximum within this part of the guard's variation in a step of a few windows counts as a touch, however small
/// the error is.
const CLOSE: f64 = 1e-8;

/// The doubts of a run: all are counted. A few of each step are kept, and reported when it is
/// accepted.
#[derive(Clone, Debug)]
pub(crate) struct Doubts {
    kept: Vec<Doubt>,
    /// All of the run.
    pub(crate) count: usize,
    /// Number of them that stay where a step is not taken.
    lasting: usize,
}

/// Numbers of the doubts so far: kept, in all, and lasting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    kept: usize,
    count: usize,
    lasting: usize,
}

/// A shorter step meets other doubts again. These it may not: what was noise counts as that from
/// then on, and guards that were turned away are looked for once.
fn is_lasting(doubt: &Doubt) -> bool {
    matches!(doubt, Doubt::Unresolved { .. } | Doubt::TurnedAway { .. })
}

impl Doubts {
    pub(crate) fn new() -> Self {
        Self {
            kept: Vec::with_capacity(MOST_TOLD),
            count: 0,
            lasting: 0,
        }
    }

    /// Forgets the last run.
    pub(crate) fn begin(&mut self) {
        self.kept.clear();
        (self.count, self.lasting) = (0, 0);
    }

    /// Keeps a doubt; beyond a few of one step they are only counted.
    pub(crate) fn keep(&mut self, doubt: Doubt) {
        self.count += 1;
        self.lasting += usize::from(is_lasting(&doubt));
        if self.kept.len() < MOST_TOLD {
            self.kept.push(doubt);
        } else if let (Doubt::Unresolved { .. }, Some(last)) = (doubt, self.kept.last_mut()) {
            // A place that was not searched matters more than one that was close.
            *last = doubt;
        }
    }

    /// Drops the doubts since a mark, of a step that is not taken, but for those that last. These
    /// are counted once, kept or not.
    #[cold]
    pub(crate) fn drop_since(&mut self, mark: Mark) {
        self.kept.retain(is_lasting);
        self.count = mark.count + self.lasting - mark.lasting;
    }

    /// Their present numbers.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            kept: self.kept.len(),
            count: self.count,
            lasting: self.lasting,
        }
    }

    /// Drops those since a mark, of a crossing that is not made.
    #[cold]
    pub(crate) fn take_back(&mut self, mark: Mark) {
        self.kept.truncate(mark.kept);
        (self.count, self.lasting) = (mark.count, mark.lasting);
    }

    /// Reports the doubts to the observer.
    #[inline]
    pub(crate) fn tell(&mut self, observer: &mut dyn Observer) {
        for doubt in self.kept.drain(..) {
            observer.doubt(&doubt);
        }
    }

    /// Takes in the maxima of guards that a window does not pass, up to the fraction `until` of it.
    pub(crate) fn of_tops<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        tops: &[Top],
        window: Window,
        until: f64,
    ) -> Result<(), Stop> {
        for &Top { k, at, value, bend } in tops {
            if at >= until {
                continue;
            }
            guards.spreads.need(context, state, &guards.h, k)?;
            // How much a parabola that bends like the function varies in the step, or in a few windows of it. What is
            // within the noise of the function is no bend: a short window would make much of it.
            let bend = (bend.abs() - guards.zero[k]).max(0.0);
            let width = window.width().max(1.0 / WANTED_WINDOWS as f64);
            let variation = bend / (width * width);
            let error = guards.error_of(state, k).max(CLOSE * variation);
            if -value <= error {
                let t = state.t + window.seconds_to(at);
                let (guard, gap) = (guards.ahead(k), -value);
                self.keep(Doubt::Touch {
                    guard,
                    t,
                    gap,
                    error,
                });
            }
        }
        Ok(())
    }

    /// The error of the time at which a guard was crossed at its rate (s), by what is allowed at the
    /// state there; keeps a doubt when it may only be touched. `bend` is an event function with
    /// its second derivative before. Where a crossing changes the rate, all neighbours start from
    /// the surface with the new one: how far they go then does not depend on the error.
    #[inline]
    pub(crate) fn of_crossing<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        crossed: CrossedGuard,
        arrival: Arrival,
        bend: (usize, f64),
    ) -> Result<f64, Stop> {
        let CrossedGuard { guard, rate } = crossed;
        let k = guard.event;
        (guards.spreads).need_of_run(context, state, &guards.h, k)?;
        let error = guards.error_of(state, k);
        let own = guard.sign() * rate;
        let since = state.t - *guards.passed_at(guard.partner());
        let is_return = since <= 0.0;
        let after = guard.sign() * guards.rate[k];
        *guards.passed_at(guard) = if after < 0.0 {
            f64::INFINITY
        } else if is_return || after < KEPT * own {
            f64::NEG_INFINITY
        } else {
            state.t
        };
        if arrival == Arrival::Jumped || is_return {
            // A reset decided that, not a maximum.
            return Ok(error / own.abs());
        }
        // How deep it goes, when the bend of its function turns it back; how deep the other side
        // was that it comes from.
        let ahead = match bend {
            (of, bend) if of == k && bend < 0.0 => -0.5 * own * own / bend,
            _ => f64::INFINITY,
        };
        let behind = 0.25 * own * since;
        let depth = ahead.min(behind);
        if depth < error {
            let t = state.t;
            self.keep(Doubt::Shallow {
                guard,
                t,
                depth,
                error,
            });
        }
        Ok(error / own.abs())
    }

    /// Looks for guards that are as close to their surface at the end as their error, and for those that a reset threw
    /// off it as shortly before the end. The last transition found the mode `mode_before`.
    pub(crate) fn of_end<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        mode_before: &Mode,
    ) -> Result<(), Stop> {
        let GuardTable {
            h, arming, spreads, ..
        } = &mut *guards;
        spreads.need_each(context, state, h, |k| arming[k].is_armed())?;
        for k in 0..state.count() {
            let own = guards.own_h(k);
            let error = guards.error_of(state, k);
            // One that waits beyond its surface has been left alone there.
            let is_near = own >= -error && (own <= error || guards.arming[k].is_ready());
            if guards.arming[k].is_armed() && is_near {
                let rate = guards.own_rate(k);
                let (ahead, t) = (guards.ahead(k), state.t);
                // A guard that moves away has just been crossed.
                let guard = if rate < 0.0 { ahead.partner() } else { ahead };
                let error = if rate.abs() < guards.min_rate[k] {
                    f64::INFINITY
                } else {
                    error / rate.abs()
                };
                self.keep(Doubt::AtEnd { guard, t, error });
                continue;
            }
            // It may as well be crossed behind the end: that matters where the state is elsewhere now.
            let (last, own_error) = (guards.kept[k].fired_last(), guards.kept[k].own_error);
            let is_off = || {
                let h = context.event(k, state.t, state.x.get(), mode_before);
                h.abs() > error.max(8.0 * guards.zero[k])
            };
            if own_error > 0.0 && state.t - last <= own_error && is_off() {
                let error = own_error;
                let guard = guards.kept[k].last_guard(k);
                self.keep(Doubt::AtEnd {
                    guard,
                    t: last,
                    error,
                });
            }
        }
        Ok(())
    }
}

/// How far the error of the state moves event function `k` at a place; `scratch` is overwritten.
fn error_at<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &State<B>,
    point: Point<'_>,
    k: usize,
    scratch: &mut [f64],
) -> f64 {
    let Point { t, x, mode } = point;
    if context.gradient(k, t, x, mode, scratch).is_some() {
        return state.error * state.tolerance.along(scratch, x);
    }
    scratch.copy_from_slice(x);
    let mut moved = 0.0;
    let here = context.event(k, t, x, mode);
    for i in 0..x.len() {
        scratch[i] = x[i] + state.error * state.tolerance.scale(i, x[i], x[i]);
        moved += (context.event(k, t, scratch, mode) - here).abs();
        scratch[i] = x[i];
    }
    moved
}

/// What a reset of the state changed.
pub(crate) struct Thrown<'a, B> {
    /// The guards whose crossing it followed.
    pub(crate) set: &'a [CrossedGuard],
    /// The place before.
    pub(crate) before: &'a Scratch<B>,
    /// Event functions there.
    pub(crate) h_before: &'a [f64],
    /// The field there, once it is asked for.
    pub(crate) field: &'a mut [f64],
    pub(crate) knows_field: bool,
}

impl<B: Buffer> Thrown<'_, B> {
    /// The rate of guard `k` before the reset; its row, where it is written, is left in that of the guards.
    pub(crate) fn rate_before<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        guards: &mut GuardTable<B>,
        t: f64,
        k: usize,
    ) -> evaluate::Rate {
        let (x, mode) = (self.before.x_before.get(), &self.before.mode_before);
        if !std::mem::replace(&mut self.knows_field, true) {
            context.flow(t, x, mode, self.field);
        }
        context.rate(k, Point { t, x, mode }, self.field, guards.row.get_mut())
    }

    /// True where the reset changed the rate of guard `k`, which was `rate`.
    pub(crate) fn turns<S: System + ?Sized>(
        &self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        k: usize,
        rate: evaluate::Rate,
    ) -> Result<bool, Stop> {
        guards.need_rate(context, state, k)?;
        let turned = (guards.rate[k] - rate.value).abs();
        if turned <= UNCHANGED * rate.value.abs() || rate.written {
            return Ok(turned > UNCHANGED * rate.value.abs());
        }
        let (x, mode) = (self.before.x_before.get(), &self.before.mode_before);
        let point = Point {
            t: state.t,
            x,
            mode,
        };
        let rounding = of_differences(context, state, guards, k, point, self.field)?;
        Ok(turned > rounding)
    }
}

impl Doubts {
    /// Keeps the doubt of the guard that was next before a reset, if the error of the run hides whether it came before
    /// those that were crossed and the reset changed its value or its rate: then it matters. (Bodies that know nothing
    /// of each other land in any order.)
    #[inline]
    pub(crate) fn of_reset<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        mut thrown: Thrown<'_, B>,
    ) -> Result<(), Stop> {
        let n = state.count();
        let greater = GREATER * state.error * guards.spreads.grown(state);
        let (h, arming) = (&thrown.h_before[..n], &thrown.before.arming_before[..n]);
        let (most_spread, zero) = (&guards.spreads.most[..n], &guards.zero[..n]);
        // Last, since it looks through the set.
        let is_crossed = |k: usize| thrown.set.iter().any(|c| c.guard.event == k);
        let is_within = |h: f64, k: usize| h.abs() <= greater * most_spread[k];
        let before = (0..n).find(|&k| is_within(h[k], k) && arming[k].is_ready() && !is_crossed(k));
        let behind = (0..n).find(|&k| {
            let h = guards.h[k];
            let is_landed = is_within(h, k) && h.abs() > MEANT * zero[k];
            is_landed && guards.arming[k].is_armed() && !is_crossed(k)
        });
        if let Some(first) = before {
            self.closest_behind(context, state, guards, &mut thrown, first..n)?;
        }
        if let Some(first) = behind {
            self.landings(context, state, guards, &thrown, first..n)?;
        }
        Ok(())
    }

    /// Part of [`of_reset`](Self::of_reset): keeps the doubt of a guard that the reset put so close to its surface that
    /// the error of the run hides on which side, where the state moves back to the side that it comes from. One on
    /// which it lies to rounding is meant to: its neighbours do so too, which a derivative looks at.
    #[cold]
    fn landings<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        thrown: &Thrown<'_, B>,
        rest: Range<usize>,
    ) -> Result<(), Stop> {
        let greater = GREATER * state.error * guards.spreads.grown(state);
        for k in rest {
            let (h, before) = (guards.h[k], thrown.h_before[k]);
            let is_near = h.abs() <= greater * guards.spreads.most[k]
                && h.abs() > MEANT * guards.zero[k]
                && (h - before).abs() > greater * guards.spreads.most[k]
                && guards.arming[k].is_armed()
                && thrown.set.iter().all(|c| c.guard.event != k);
            if !is_near {
                continue;
            }
            guards.need_rate(context, state, k)?;
            let guard = guards.ahead(k);
            if guard.sign() * before > 0.0 || guards.own_rate(k) >= guards.min_rate[k] {
                continue;
            }
            let point = state.point();
            let error = error_at(context, state, point, k, guards.row.get_mut());
            // A function of another mode was not off its surface by as much.
            let same = context.event(k, state.t, state.x.get(), &thrown.before.mode_before);
            if h.abs() <= error && same.to_bits() == h.to_bits() {
                let (t, gap) = (state.t, -guards.own_h(k));
                self.keep(Doubt::Touch {
                    guard,
                    t,
                    gap,
                    error,
                });
            }
        }
        Ok(())
    }

    /// Part of [`of_reset`](Self::of_reset) from the first guard on that is near.
    #[cold]
    fn closest_behind<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        thrown: &mut Thrown<'_, B>,
        rest: Range<usize>,
    ) -> Result<(), Stop> {
        let Some(&CrossedGuard { guard: first, .. }) = thrown.set.first() else {
            return Ok(());
        };
        let before = thrown.before;
        let (t, x, mode) = (state.t, before.x_before.get(), &before.mode_before);
        let point = Point { t, x, mode };
        let greater = GREATER * state.error * guards.spreads.grown(state);
        let (mut least, mut found) = (f64::INFINITY, None);
        for k in rest {
            let (ahead, h) = (Guard::ahead(k, mode.contains(k)), thrown.h_before[k]);
            let gap = -ahead.sign() * h;
            let is_near = (0.0..least).contains(&gap)
                && gap <= greater * guards.spreads.most[k]
                && before.arming_before[k].is_ready()
                && thrown.set.iter().all(|c| c.guard.event != k);
            if !is_near {
                continue;
            }
            context.settings.limits.interrupt.check()?;
            let rate = thrown.rate_before(context, guards, t, k);
            let error = error_at(context, state, point, k, guards.row.get_mut());
            if gap > error {
                continue;
            }
            let is_turned = thrown.turns(context, state, guards, k, rate)?;
            if ahead.sign() * rate.value < guards.min_rate[k] {
                // It stood, or moved away: what it crosses now, it crosses since.
                if is_turned {
                    guards.kept[k].changed_at = t;
                }
                continue;
            }
            let is_moved = (guards.h[k] - h).abs() > MEANT * guards.zero[k];
            if is_turned || is_moved {
                least = gap;
                guards.kept[k].changed_at = t;
                found = Some(Doubt::Order {
                    first,
                    guard: ahead,
                    t,
                    gap,
                    error,
                });
            }
        }
        if let Some(doubt) = found {
            self.keep(doubt);
        }
        Ok(())
    }
}

/// How far the rates of a guard whose row is not written may be off each other by the rounding of their differences
/// (`u_k`/s): before a reset, at a point along its field, and behind it.
fn of_differences<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &State<B>,
    guards: &mut GuardTable<B>,
    k: usize,
    before: Point<'_>,
    field: &[f64],
) -> Result<f64, Stop> {
    let GuardTable {
        h, row, spreads, ..
    } = &mut *guards;
    let magnitude = spreads.magnitude(context, k, state.point(), state, h[k])?;
    let row = row.get_mut();
    let sides = [(before, field), (state.point(), state.field())];
    let errors = sides.map(|(point, field)| {
        context.counts.event.add(3);
        evaluate::rate_error(context.system, k, point, field, row, magnitude)
    });
    Ok(errors[0] + errors[1])
}
