//! Doubts that the errors of steps leave: how far event functions and times of crossings may be
//! off, and decisions that hang on it.

use super::curve::Top;
use super::window::Window;
use crate::hybrid::context::{Context, System};
use crate::hybrid::table::GuardTable;
use crate::hybrid::table::State;
use crate::hybrid::{Arrival, CrossedGuard, Observer};
use crate::ode::Buffer;
use crate::{Guard, Stop};
use std::fmt;

/// A crossing that leaves less of the rate than this changes how deep the motion goes.
const KEPT: f64 = 0.5;

/// Doubts of one step that are told, at most.
const MOST_TOLD: usize = 16;

/// A decision that a run made although the error that its tolerances allow might turn it.
///
/// The errors of the steps are added up, in units of the tolerance, and carried to event functions
/// by their gradients: an estimate, not a bound. A run with a tighter tolerance shows what the case
/// is.
///
/// In a run of a [`ContactModel`](crate::ContactModel) guard `k` is contact `k`, and
/// its event function the gap while the contact is open, its force while it is closed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Doubt {
    /// The guard came closer to its surface than the error, and was not crossed.
    Touch {
        /// The guard.
        guard: Guard,
        /// When (s).
        t: f64,
        /// How close (`u_k`).
        gap: f64,
        /// The error of the event function (`u_k`).
        error: f64,
    },
    /// The crossing of another guard turned the motion away from this one, which was closer to its
    /// surface than the error: neighbours cross it first. A run that is interrupted behind such a
    /// crossing tells it of every guard that was as close, wherever that moves then.
    TurnedAway {
        /// The guard, which was not crossed.
        guard: Guard,
        /// When (s).
        t: f64,
        /// How close (`u_k`).
        gap: f64,
        /// The error of the event function (`u_k`).
        error: f64,
    },
    /// The guard was crossed, but not deeper than the error: neighbours only touch it.
    Shallow {
        /// The guard.
        guard: Guard,
        /// When (s).
        t: f64,
        /// How deep (`u_k`).
        depth: f64,
        /// The error of the event function (`u_k`).
        error: f64,
    },
    /// A crossing is closer to the end of the run than the error of its time: it may belong to the
    /// run or not.
    AtEnd {
        /// The guard.
        guard: Guard,
        /// When (s).
        t: f64,
        /// The error of the time (s); infinite where the guard does not move.
        error: f64,
    },
    /// However close samples were, they did not settle what the event function does between them:
    /// noise, or oscillations faster than the search goes.
    Unresolved {
        /// The guard.
        guard: Guard,
        /// When (s).
        t: f64,
        /// Range of the event function that samples leave open (`u_k`).
        error: f64,
    },
    /// Steps from here on look at event functions at four places only, whatever lies between:
    /// [`Resolution::Samples`](crate::hybrid::Resolution::Samples). Told once, at the start.
    Unsearched {
        /// When (s).
        t: f64,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Touch {
                guard,
                t,
                gap,
                error,
            } => write!(
                f,
                "guard {guard} was not crossed at t = {t}, but came within {gap:e} of its surface, with an error of {error:e}"
            ),
            Self::TurnedAway {
                guard,
                t,
                gap,
                error,
            } => write!(
                f,
                "guard {guard} was {gap:e} from its surface, with an error of {error:e}, when another crossing turned the motion away at t = {t}"
            ),
            Self::Shallow {
                guard,
                t,
                depth,
                error,
            } => write!(
                f,
                "guard {guard} was crossed at t = {t}, but no deeper than {depth:e}, with an error of {error:e}"
            ),
            Self::AtEnd { guard, t, error } => write!(
                f,
                "the crossing of guard {guard} is closer to the end of the run, t = {t}, than the error of its time, {error:e} s"
            ),
            Self::Unresolved { guard, t, error } => write!(
                f,
                "samples of guard {guard} about t = {t} leave open {error:e} of its event function: noise, or oscillations; a time scale (EventFunction::time_scale) or a shorter max_step resolves what oscillates"
            ),
            Self::Unsearched { t } => write!(
                f,
                "from t = {t} on event functions are looked at in four places of a step only (Resolution::Samples)"
            ),
        }
    }
}

/// A maximum within this part of the guard's variation in a step counts as a touch, however small
/// the error is.
const CLOSE: f64 = 1e-8;

/// The doubts of a run: all are counted, a few of a step are kept until it is accepted, when they
/// are told.
#[derive(Clone, Debug)]
pub(crate) struct Doubts {
    kept: Vec<Doubt>,
    /// All of the run.
    pub(crate) count: usize,
    /// Number of them that stay where a step is not taken.
    lasting: usize,
}

/// How many doubts there were: kept, in all, and lasting.
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
        if self.kept.len() < self.kept.capacity() {
            self.kept.push(doubt);
        } else if let (Doubt::Unresolved { .. }, Some(last)) = (doubt, self.kept.last_mut()) {
            // A place that was not searched tells more than one that was close.
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

    /// How many there are.
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

    /// Tells the observer.
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
            guards.spreads.need(context, state, k)?;
            // How much a parabola that bends like the function varies in the step.
            let variation = bend.abs() / (window.width() * window.width());
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
        guards.spreads.need_of_run(context, state, k)?;
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
            arming, spreads, ..
        } = &mut *guards;
        spreads.need_each(context, state, |k| arming[k].is_armed())?;
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
                let error = if rate == 0.0 {
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
