//! What the errors of steps leave open: how far event functions and times of crossings may be off,
//! and decisions that hang on it.

use super::guard_table::Terms;
use super::state::Run;
use super::window::Window;
use crate::Guard;
use crate::hybrid::{Arrival, EventFunction, Observer, Statistics};
use crate::ode::Buffer;

/// Errors of steps grow along a run; they are taken to do so by this factor.
pub(crate) const GROWTH: f64 = 3.0;

/// A crossing that leaves less of the rate than this changes how deep the motion goes.
const KEPT: f64 = 0.5;

/// How an event function depends on the state is known for this part of the last step after it was
/// evaluated.
const RECENT: f64 = 0.1;

/// A decision that a run made although the error that its tolerances allow might turn it.
///
/// The errors of the steps are added up, in units of the tolerance, and carried to event functions
/// by their gradients: an estimate, not a bound. A run with a tighter tolerance shows what the case
/// is.
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
    /// surface than the error: neighbours cross it first.
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
    /// The crossing and the end of the run are closer than the error of its time; it belongs to the
    /// run or does not.
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
        /// What samples leave open of the event function (`u_k`).
        error: f64,
    },
    /// Steps from here on look at event functions at four places only, whatever lies between:
    /// [`Resolution::Samples`](crate::hybrid::Resolution::Samples). Told once, at the start.
    Unsearched {
        /// When (s).
        t: f64,
    },
}

/// A maximum of a guard that is not passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Top {
    pub(crate) k: usize,
    /// Fraction of the window.
    pub(crate) at: f64,
    /// Below zero.
    pub(crate) value: f64,
    /// How much a parabola that bends like the function varies in the step.
    pub(crate) variation: f64,
}

/// What comes this part of its variation within a step close to zero counts as a touch, however
/// exact the state is.
const CLOSE: f64 = 1e-8;

impl<B: Buffer> Run<B> {
    /// Adds the error of a step, in units of the tolerance.
    #[inline]
    pub(crate) fn add_error(&mut self, error: f64) {
        self.error += GROWTH * if error < 1e9 { error } else { 1e9 };
    }

    /// How far event function `k` may be off by now (`u_k`).
    #[inline]
    pub(crate) fn error_of(&self, k: usize) -> f64 {
        self.error * self.guards.spread[k]
    }

    /// Evaluates how event function `k` depends on the state, for its error, unless that is known
    /// for this place.
    #[inline]
    pub(crate) fn need_spread<S: EventFunction>(&mut self, system: &S, k: usize) {
        let is_recent = self.t - self.guards.spread_at[k] <= RECENT * self.last_step;
        if self.guards.spread[k] <= 0.0 || !is_recent {
            self.evaluate_spread(system, k);
        }
    }

    fn evaluate_spread<S: EventFunction>(&mut self, system: &S, k: usize) {
        let x = self.x.get();
        let row = self.work.row.get_mut();
        let tolerance = &self.tolerance;
        self.statistics.gradient += 1;
        let spread = if system.gradient(k, self.t, x, &self.mode, row).is_some() {
            tolerance.along(row, x)
        } else {
            // Those that are kept are for the numerical zero, and may be of another place.
            let (at, mut terms) = ((self.t, x), Terms::default());
            let space = (row, tolerance);
            terms.evaluate(system, k, at, &self.mode, space, &mut self.statistics);
            terms.spread
        };
        self.set_spread(k, spread);
    }

    /// Takes over how event function `k` depends on the state here.
    #[inline]
    pub(crate) fn set_spread(&mut self, k: usize, spread: f64) {
        let guards = &mut self.guards;
        guards.spread[k] = spread;
        guards.spread_at[k] = self.t;
        guards.most_spread[k] = guards.most_spread[k].max(spread);
    }

    /// Takes in the maxima of guards that a window does not pass, up to the fraction `until` of it.
    pub(crate) fn doubt_tops<S: EventFunction>(
        &mut self,
        system: &S,
        window: Window,
        step: f64,
        until: f64,
    ) {
        for i in 0..self.work.tops.len() {
            let Top {
                k,
                at,
                value,
                variation,
            } = self.work.tops[i];
            if at >= until {
                continue;
            }
            self.need_spread(system, k);
            let error = self.error_of(k).max(CLOSE * variation);
            if -value <= error {
                let (guard, gap) = (self.guards.ahead(k), -value);
                let t = self.t + window.at(at) * step;
                self.keep_doubt(Doubt::Touch {
                    guard,
                    t,
                    gap,
                    error,
                });
            }
        }
    }

    /// Keeps a doubt until the step is accepted, when it is told; beyond a few of one step they are
    /// only counted.
    pub(crate) fn keep_doubt(&mut self, doubt: Doubt) {
        self.statistics.doubts += 1;
        if self.work.doubts.len() < self.work.doubts.capacity() {
            self.work.doubts.push(doubt);
        } else if let (Doubt::Unresolved { .. }, Some(last)) = (doubt, self.work.doubts.last_mut())
        {
            // What was not searched tells more than what was close.
            *last = doubt;
        }
    }

    /// Drops what a step that is not taken left of doubts, of which there were `before` so many: a
    /// shorter step meets them again. What is settled only once stays.
    #[cold]
    pub(crate) fn drop_doubts(&mut self, before: usize) {
        let stays = |d: &Doubt| matches!(d, Doubt::Unresolved { .. } | Doubt::TurnedAway { .. });
        self.work.doubts.retain(stays);
        self.statistics.doubts = before + self.work.doubts.len();
    }

    /// Tells the observer of doubts.
    #[inline]
    pub(crate) fn tell_doubts<O: Observer>(&mut self, observer: &mut O) {
        if self.work.doubts.is_empty() {
            return;
        }
        for doubt in self.work.doubts.drain(..) {
            observer.doubt(&doubt);
        }
    }

    /// The error of the time at which guard `guard` was crossed at `rate` (s); keeps a doubt when
    /// it may only be touched. Where a crossing changes the rate, all neighbours start from the
    /// surface with the new one: how far they go then does not depend on the error.
    #[inline]
    pub(crate) fn time_error<S: EventFunction>(
        &mut self,
        system: &S,
        guard: Guard,
        rate: f64,
        arrival: Arrival,
    ) -> f64 {
        let k = guard.event;
        self.need_spread(system, k);
        let error = self.error_of(k);
        let own = guard.sign() * rate;
        let since = self.t - self.guards.passed_at[guard.partner().index()];
        let is_return = since <= 0.0;
        let after = guard.sign() * self.guards.rate[k];
        self.guards.passed_at[guard.index()] = if after < 0.0 {
            f64::INFINITY
        } else if is_return || after < KEPT * own {
            f64::NEG_INFINITY
        } else {
            self.t
        };
        if arrival == Arrival::Jumped || is_return {
            // A reset decided that, not a maximum.
            return error / own.abs();
        }
        // How deep it goes, when the bend of its function turns it back; how deep the other side
        // was that it comes from.
        let ahead = match self.bend {
            (of, bend) if of == k && bend < 0.0 => -0.5 * own * own / bend,
            _ => f64::INFINITY,
        };
        let behind = 0.25 * own * since;
        let depth = ahead.min(behind);
        if depth < error {
            let t = self.t;
            self.keep_doubt(Doubt::Shallow {
                guard,
                t,
                depth,
                error,
            });
        }
        error / own.abs()
    }

    /// Looks for guards that are as close to their surface at the end as their error.
    pub(crate) fn doubt_end<S: EventFunction>(&mut self, system: &S) {
        for k in 0..self.count() {
            if !self.guards.arming[k].is_armed() {
                continue;
            }
            let own = self.guards.own_h(k);
            self.need_spread(system, k);
            let error = self.error_of(k);
            if own >= -error {
                let rate = self.guards.own_rate(k);
                let (ahead, t) = (self.guards.ahead(k), self.t);
                // What moves away has just been crossed.
                let guard = if rate < 0.0 { ahead.partner() } else { ahead };
                let error = if rate == 0.0 {
                    f64::INFINITY
                } else {
                    error / rate.abs()
                };
                self.keep_doubt(Doubt::AtEnd { guard, t, error });
            }
        }
    }
}

impl Terms {
    /// Evaluates both sums at a state by differences, `2 dim` evaluations, unless they are known
    /// for states of this size; `row` is overwritten.
    pub(crate) fn evaluate<S: EventFunction, B: Buffer>(
        &mut self,
        system: &S,
        k: usize,
        (t, x): (f64, &[f64]),
        mode: &crate::hybrid::Mode,
        (point, tolerance): (&mut [f64], &crate::ode::Tolerance<B>),
        statistics: &mut Statistics,
    ) {
        // Half of the digits: the difference keeps the other half.
        const PART: f64 = 1.5e-8;
        let largest = x
            .iter()
            .fold(f64::MIN_POSITIVE, |most, x| x.abs().max(most));
        if largest >= 0.5 * self.size && largest <= 2.0 * self.size {
            return;
        }
        point.copy_from_slice(x);
        let (mut magnitude, mut spread) = (0.0, 0.0);
        for i in 0..x.len() {
            let scale = tolerance.scale(i, x[i], x[i]);
            let step = PART * x[i].abs().max(1e-3 * largest).max(scale);
            let (above, below) = (x[i] + step, x[i] - step);
            point[i] = above;
            let h = system.event(k, t, point, mode);
            point[i] = below;
            let slope = ((h - system.event(k, t, point, mode)) / (above - below)).abs();
            point[i] = x[i];
            if slope.is_finite() {
                magnitude += slope * x[i].abs();
                spread += slope * scale;
            }
        }
        statistics.event += 2 * x.len();
        (self.magnitude, self.spread, self.size) = (magnitude, spread, largest);
    }
}
