//! Doubts that the errors of steps leave: how far event functions and times of crossings may be
//! off, and decisions that hang on it.

use super::curve::Top;
use super::window::Window;
use crate::hybrid::context::{Context, System};
use crate::hybrid::table::GuardTable;
use crate::hybrid::table::State;
use crate::ode::Buffer;
use crate::{Arrival, CrossedGuard, Doubt, Guard, Observer, Stop};

/// A crossing that leaves less of the rate than this changes how deep the motion goes.
const KEPT: f64 = 0.5;

/// A reset that changes a rate by less than this part of it does not change it.
const UNCHANGED: f64 = 1e-9;

/// Doubts of one step that are reported, at most.
const MOST_TOLD: usize = 16;

/// A maximum within this part of the guard's variation in a step counts as a touch, however small
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
            // How much a parabola that bends like the function varies in the step. What is within the noise
            // of the function is no bend: a short window would make much of it.
            let bend = (bend.abs() - guards.zero[k]).max(0.0);
            let variation = bend / (window.width() * window.width());
            let error = guards.error_of(state, k).max(CLOSE * variation);
            if -value <= error {
                let (guard, gap) = (guards.ahead(k), -value);
                let t = state.t + window.seconds_to(at);
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

    /// Looks for guards that are as close to their surface at the end as their error.
    pub(crate) fn of_end<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
    ) -> Result<(), Stop> {
        let GuardTable {
            h, arming, spreads, ..
        } = &mut *guards;
        spreads.need_each(context, state, h, |k| arming[k].is_armed())?;
        for k in 0..state.count() {
            if !guards.arming[k].is_armed() {
                continue;
            }
            let own = guards.own_h(k);
            let error = guards.error_of(state, k);
            if own >= -error {
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
            }
        }
        Ok(())
    }
}

/// A guard that may come before those that are about to cross.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unordered {
    pub(crate) doubt: Doubt,
    k: usize,
    /// Its rate before their reset (`u_k`/s).
    rate: f64,
}

impl Unordered {
    /// True where the reset has changed its rate, so that it matters which of them comes first: bodies that know
    /// nothing of each other land in any order.
    pub(crate) fn is_changed<B: Buffer>(&self, guards: &GuardTable<B>) -> bool {
        (guards.rate[self.k] - self.rate).abs() > UNCHANGED * self.rate.abs()
    }
}

/// The guard that may come before those that are about to cross: the closest one that is ahead of the motion
/// by less than its error, where the model says that the order matters.
#[inline]
pub(crate) fn unordered<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &State<B>,
    guards: &mut GuardTable<B>,
    crossed: &[CrossedGuard],
) -> Result<Option<Unordered>, Stop> {
    let orders = |c: &&CrossedGuard| guards.kept[c.guard.event].crosses_within > 0.0;
    match crossed.iter().find(orders) {
        Some(first) => closest_behind(context, state, guards, first.guard, crossed),
        None => Ok(None),
    }
}

/// Part of [`unordered`] behind the crossing of guard `first` with the others of `crossed`.
#[cold]
fn closest_behind<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &State<B>,
    guards: &mut GuardTable<B>,
    first: Guard,
    crossed: &[CrossedGuard],
) -> Result<Option<Unordered>, Stop> {
    let (mut found, mut least) = (None, f64::INFINITY);
    for k in 0..guards.h.len() {
        let gap = -guards.own_h(k);
        let is_ahead = guards.kept[k].crosses_within > 0.0
            && guards.arming[k].is_ready()
            && (0.0..least).contains(&gap)
            && crossed.iter().all(|c| c.guard.event != k);
        if !is_ahead {
            continue;
        }
        guards.refresh_rate(context, state, k)?;
        guards.spreads.need(context, state, &guards.h, k)?;
        let error = guards.error_of(state, k);
        if gap <= error && guards.is_candidate(k) {
            let (guard, t) = (guards.ahead(k), state.t);
            least = gap;
            let doubt = Doubt::Order {
                first,
                guard,
                t,
                gap,
                error,
            };
            let rate = guards.rate[k];
            found = Some(Unordered { doubt, k, rate });
        }
    }
    Ok(found)
}
