//! Windows of a smooth step: event functions sampled at four places each, and which guards a window
//! leaves far from their surface.

use super::cubic::{Cubic, FRACTIONS};
use super::factors::{DISTANT, STRAIGHT};
use super::levels::Levels;
use crate::Stop;
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate;
use crate::hybrid::table::{GuardTable, State};
use crate::ode::{Buffer, greater, lesser};

/// A part of the smooth step just made, as fractions of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) from: f64,
    pub(crate) to: f64,
    /// Length of the step (s).
    pub(crate) step: f64,
}

impl Window {
    #[inline]
    pub(crate) fn width(self) -> f64 {
        self.to - self.from
    }

    /// Its length (s).
    #[inline]
    pub(crate) fn seconds(self) -> f64 {
        self.width() * self.step
    }

    /// Fraction of the step at the fraction `s` of the window.
    #[inline]
    pub(crate) fn at(self, s: f64) -> f64 {
        if s < 1.0 {
            self.from + s * self.width()
        } else {
            self.to
        }
    }

    /// Time from the start of the step to the fraction `s` of the window (s).
    #[inline]
    pub(crate) fn seconds_to(self, s: f64) -> f64 {
        self.at(s) * self.step
    }

    #[inline]
    pub(crate) fn is_first(self) -> bool {
        self.from <= 0.0
    }
}

/// Overview of all guards at once, by the samples of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overview {
    /// All armed guards stay far from their surface.
    pub(super) are_far: bool,
    /// All of them hardly bend, or are far beside what they move.
    pub(super) are_plain: bool,
}

/// Arming of the guards when a window was measured.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arms {
    /// None was armed.
    pub(crate) none: bool,
    /// Some were not ready.
    pub(crate) waiting: bool,
}

/// Distance of a guard from its surface in a window, and its motion there.
#[derive(Clone, Copy)]
pub(super) struct Reach {
    /// The least of its ways at the samples.
    pub(super) least: f64,
    /// Their largest difference.
    spread: f64,
    /// Spread of its ways, with what the curvature of the samples allows for.
    pub(super) moves: f64,
}

impl Reach {
    #[inline]
    pub(super) fn of([w0, w1, w2, w3]: [f64; 4], cubic: Cubic) -> Self {
        let least = lesser(lesser(w0, w1), lesser(w2, w3));
        let spread = greater(greater(w0, w1), greater(w2, w3)) - least;
        let moves = spread + 2.0 * cubic.leading().abs();
        Self {
            least,
            spread,
            moves,
        }
    }
}

/// Distances of a guard, by its ways at the samples, its error and its numerical zero: the first is
/// positive where it is far from its surface, the second not negative where it is plain (`u_k`).
#[inline(always)]
fn distances(way: [f64; 4], error: f64, zero: f64) -> (f64, f64) {
    let cubic = Cubic::through(way);
    let Reach {
        least,
        spread,
        moves,
    } = Reach::of(way, cubic);
    let straight = STRAIGHT * spread + zero - cubic.doubt();
    // In this order: a value that is not a number is the second one.
    let far = lesser(least - error, least - moves);
    (far, greater(straight, least - DISTANT * moves))
}

/// Event functions at the samples of a window.
#[derive(Clone, Debug)]
pub(crate) struct Samples<B> {
    /// At the start of a window that is not the first of its step; at that of the first they are
    /// those of the guard table.
    start: Vec<f64>,
    /// At the samples after its start.
    pub(crate) h: [Vec<f64>; 3],
    /// A trial state on the interpolant.
    pub(crate) point: B,
    /// Positive for guards that a window leaves far from their surface (`u_k`).
    pub(super) far: Vec<f64>,
    /// Not negative for those that are plain in it (`u_k`).
    plain: Vec<f64>,
    /// Arming of the guards in the last window.
    pub(crate) arms: Arms,
    /// Time between the last two samples of the last step (s).
    pub(super) apart: f64,
    /// Largest rates, ∞ where none is stated, if all event functions declare how they change (`u_k`/s).
    pub(super) max_rates: Vec<f64>,
    /// Event functions at the end of the step are evaluated already.
    pub(super) knows_end: bool,
}

impl<B: Buffer> Samples<B> {
    pub(super) fn new(dim: usize, count: usize) -> Self {
        let values = || vec![0.0; count];
        Self {
            start: values(),
            h: std::array::from_fn(|_| values()),
            point: B::zeros(dim),
            far: values(),
            plain: values(),
            arms: Arms {
                none: true,
                waiting: false,
            },
            apart: 0.0,
            max_rates: Vec::with_capacity(count),
            knows_end: false,
        }
    }

    /// Evaluates all event functions at the samples of a window after its start.
    #[inline]
    pub(super) fn take<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        window: Window,
    ) {
        let [first, second, end] = &mut self.h;
        let (ode, mode) = (&state.ode, &state.mode);
        let point = self.point.get_mut();
        for (h, s) in [(first, FRACTIONS[1]), (second, FRACTIONS[2])] {
            let fraction = window.from + s * window.width();
            ode.at_fraction(fraction, point);
            context.all_events(state.t + fraction * window.step, point, mode, h);
        }
        let knows_end = std::mem::take(&mut self.knows_end);
        let t = state.t + window.to * window.step;
        if window.to < 1.0 {
            ode.at_fraction(window.to, point);
            context.all_events(t, point, mode, end);
        } else if !knows_end {
            context.all_events(t, ode.state(), mode, end);
        }
    }

    /// Makes the end of a window the start of the next one.
    #[inline]
    pub(super) fn next_window_starts(&mut self) {
        std::mem::swap(&mut self.start, &mut self.h[2]);
    }

    /// Measures how far guards stay from their levels in a window.
    ///
    /// Far guards are those whose distance exceeds the error, and the sum of how far they moved in
    /// the window and of what the curvature of their samples allows for. That is measured for all
    /// guards without a branch, so that several are measured at once.
    ///
    /// # Errors
    /// The first value that is not finite.
    #[inline]
    pub(super) fn measure<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        window: Window,
        levels: Levels<'_>,
    ) -> Result<Overview, Stop> {
        let n = state.count();
        let start = if window.is_first() {
            &guards.h[..n]
        } else {
            &self.start[..n]
        };
        let [first, second, end] = &self.h;
        let (first, second, end) = (&first[..n], &second[..n], &end[..n]);
        let (far, plain) = (&mut self.far[..n], &mut self.plain[..n]);
        let (sign, zero) = (&guards.sign[..n], &guards.zero[..n]);
        let error = state.error * guards.spreads.grown(state);
        let most_spread = &guards.spreads.most[..n];
        let own = |k: usize| [start[k], first[k], second[k], end[k]].map(|h| sign[k] * h);
        if levels.are_zero() {
            for k in 0..n {
                let way = own(k).map(|v| -v);
                (far[k], plain[k]) = distances(way, error * most_spread[k], zero[k]);
            }
        } else {
            // The levels at first, so that the loop over the samples has no branch.
            for k in 0..n {
                let rounding = || guards.zero_of(state, k, guards.rate[k], 0.0);
                far[k] = levels.of(k, sign[k] * start[k], rounding);
            }
            for k in 0..n {
                let way = own(k).map(|v| far[k] - v);
                (far[k], plain[k]) = distances(way, error * most_spread[k], zero[k]);
            }
        }
        let (arming, outside) = (&guards.arming[..n], &mut guards.outside[..n]);
        let mut overview = Overview {
            are_far: true,
            are_plain: true,
        };
        let (mut total, mut is_any_armed, mut waiting) = (0.0, false, false);
        for k in 0..n {
            total += far[k];
            if arming[k].is_armed() {
                is_any_armed = true;
                overview.are_plain &= plain[k] >= 0.0;
                let is_ready = arming[k].is_ready();
                waiting |= !is_ready;
                if far[k] > 0.0 && is_ready {
                    outside[k] = true;
                } else {
                    overview.are_far = false;
                }
            }
        }
        let none = !is_any_armed;
        self.arms = Arms { none, waiting };
        // It is so where all samples are.
        if !f64::is_finite(total) {
            self.check_finite(context, state, window)?;
        }
        Ok(overview)
    }

    /// Refuses the first value that is not finite.
    #[cold]
    fn check_finite<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        window: Window,
    ) -> Result<(), Stop> {
        context.settings.limits.interrupt.check()?;
        let point = self.point.get_mut();
        for (h, s) in self.h.iter().zip(&FRACTIONS[1..]) {
            let fraction = window.at(*s);
            state.ode.at_fraction(fraction, point);
            evaluate::check_events(h, state.t + fraction * window.step, point, &state.mode)?;
        }
        Ok(())
    }

    /// True for a guard that the window leaves far from its surface, as measured last.
    #[inline]
    pub(super) fn is_far(&self, k: usize) -> bool {
        self.far[k] > 0.0
    }

    /// Event functions at the start of a window.
    #[inline]
    fn start<'a>(&'a self, guards: &'a GuardTable<B>, window: Window) -> &'a [f64] {
        if window.is_first() {
            &guards.h
        } else {
            &self.start
        }
    }

    /// `sign · h_k` at the four samples of a window.
    #[inline(always)]
    pub(crate) fn own(&self, guards: &GuardTable<B>, k: usize, window: Window) -> [f64; 4] {
        let (sign, start) = (guards.sign[k], self.start(guards, window));
        let [first, second, end] = &self.h;
        [start[k], first[k], second[k], end[k]].map(|h| sign * h)
    }
}
