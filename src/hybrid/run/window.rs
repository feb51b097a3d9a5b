//! Windows of a smooth step: event functions sampled at four places each, and which guards need a
//! closer look.

use super::cubic::{Cubic, FRACTIONS};
use super::guard_table::GuardTable;
use super::state::State;
use crate::hybrid::Projection;
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate;
use crate::hybrid::options::{PerEntry, Settings};
use crate::ode::Buffer;
use crate::ode::root::Sample;
use crate::{Quantity, Stop};

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

/// A guard is plain in a window where its least distance from zero is this many times what it moves
/// and what the curvature of its samples allows for.
const DISTANT: f64 = 16.0;
/// It is so too where the doubt about its cubic is within this part of what it moves, but for
/// rounding.
const STRAIGHT: f64 = 0.03;
/// What the samples of a window show of all guards at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overview {
    /// The first of those that are passed for certain.
    pub(crate) crossed: Option<Crossed>,
    /// Whether all of them are plain.
    pub(crate) are_plain: bool,
}

/// A guard that a window passes between sample `i − 1` and sample `i`, at about the fraction `at`
/// of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossed {
    pub(crate) k: usize,
    pub(crate) i: usize,
    pub(crate) at: f64,
    /// The level that it passes: see [`Levels::of`].
    pub(crate) level: f64,
}

/// Where guards end a step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Levels<'a> {
    /// Widths of the neighbourhoods, if a step ends on their borders.
    eps: Option<&'a PerEntry>,
    /// The event function in whose neighbourhood the step began.
    inside: Option<usize>,
}

impl<'a> Levels<'a> {
    pub(crate) fn new(settings: &'a Settings, inside: Option<usize>) -> Self {
        let eps = match &settings.projection {
            Projection::Eps { eps, .. } => Some(eps),
            _ => None,
        };
        Self { eps, inside }
    }

    /// The level at which guard `k` ends the step. It is that of the border of its neighbourhood,
    /// `−eps_k`, while the guard starts, at `own`, clearly outside (by more than `zero`, what
    /// rounding makes of it), and unless the last step ended on that border. Else it is 0.
    #[inline]
    fn of(&self, k: usize, own: f64, zero: impl FnOnce() -> f64) -> f64 {
        match self.eps {
            Some(eps) if self.inside != Some(k) => {
                let eps = eps.get(k);
                let outside = own < -eps * (1.0 + 1e-9) - 4.0 * zero();
                if outside { -eps } else { 0.0 }
            }
            _ => 0.0,
        }
    }
}

/// The lesser of two numbers that are known to be finite: one instruction, unlike `f64::min`.
#[inline]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

/// The same for the greater.
#[inline]
fn greater(a: f64, b: f64) -> f64 {
    if a > b { a } else { b }
}

/// How far a guard is from its surface in a window, and how far it moves there.
#[derive(Clone, Copy)]
struct Reach {
    /// The least of its ways at the samples.
    least: f64,
    /// How far they are apart.
    spread: f64,
    /// The same with what the curvature of the samples allows for.
    moves: f64,
}

impl Reach {
    #[inline]
    fn of([w0, w1, w2, w3]: [f64; 4], cubic: Cubic) -> Self {
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

/// Event functions at the samples of a window.
#[derive(Clone, Debug)]
pub(crate) struct Sampled<B> {
    /// At the start of a window that is not the first of its step; at that of the first they are
    /// those of the guard table.
    h_start: Vec<f64>,
    /// At the samples after its start.
    pub(crate) h: [Vec<f64>; 3],
    /// A trial state on the interpolant.
    pub(crate) point: B,
    /// The levels at which guards end the step: see [`Levels::of`].
    level: Vec<f64>,
    /// Positive for guards that a window leaves far from their surface (`u_k`).
    far: Vec<f64>,
    /// Not negative for those that are plain in it (`u_k`).
    plain: Vec<f64>,
}

impl<B: Buffer> Sampled<B> {
    pub(crate) fn new(dim: usize, count: usize) -> Self {
        Self {
            h_start: vec![0.0; count],
            h: std::array::from_fn(|_| vec![0.0; count]),
            point: B::zeros(dim),
            level: vec![0.0; count],
            far: vec![0.0; count],
            plain: vec![0.0; count],
        }
    }

    /// Forgets the last run.
    pub(crate) fn begin(&mut self) {
        self.level.fill(0.0);
    }

    /// Evaluates all event functions at the samples of a window after its start.
    pub(crate) fn take<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        window: Window,
    ) -> Result<(), Stop> {
        let [first, second, end] = &mut self.h;
        let (mode, point) = (&state.mode, self.point.get_mut());
        for (h, s) in [(first, FRACTIONS[1]), (second, FRACTIONS[2])] {
            let fraction = window.from + s * window.width();
            state.ode.interpolant().at_fraction(fraction, point);
            context.events(state.t + fraction * window.step, point, mode, h)?;
        }
        if window.to < 1.0 {
            state.ode.interpolant().at_fraction(window.to, point);
            context.events(state.t + window.to * window.step, point, mode, end)
        } else {
            context.events(state.t + window.step, state.ode.state(), mode, end)
        }
    }

    /// Makes the end of a window the start of the next one.
    pub(crate) fn next_window_starts(&mut self) {
        std::mem::swap(&mut self.h_start, &mut self.h[2]);
    }

    /// Lists in `near` the armed guards that a window may pass.
    ///
    /// Far guards are left out: their distance exceeds the error, and the sum of how far they moved
    /// in the window and of what the curvature of their samples allows for. Monotonic guards are
    /// left out too, and the earliest of them that passes is given.
    pub(crate) fn list_near(
        &mut self,
        (state, guards): (&State<B>, &mut GuardTable<B>),
        levels: Levels<'_>,
        window: Window,
        near: &mut Vec<usize>,
    ) -> Overview {
        let n = state.count();
        if levels.eps.is_some() {
            for k in 0..n {
                let start = guards.sign[k] * self.start(guards, window)[k];
                self.level[k] =
                    levels.of(k, start, || guards.zero_of(state, k, guards.rate[k], 0.0));
            }
        }
        let are_plain = self.list_not_far((state, guards), window, near);
        if near.is_empty() {
            let crossed = None;
            return Overview { crossed, are_plain };
        }
        let rounding = rounding_in(state, window.seconds());
        let mut crossed = None::<Crossed>;
        near.retain(|&k| {
            let (level, is_ready) = (self.level[k], guards.arming[k].is_ready());
            let way = self.own(guards, k, window).map(|own| level - own);
            let cubic = Cubic::through(way);
            let reach = Reach::of(way, cubic);
            // One that was always within the error tells nothing by staying there.
            if is_ready && reach.least > reach.moves && !guards.outside[k] {
                return false;
            }
            let clear = 4.0 * guards.zero[k] + rounding * (way[3] - way[0]).abs();
            if !(is_ready && way[0] > clear && cubic.is_monotonic()) {
                return true;
            }
            if let Some(i) = (1..4).find(|&i| way[i] <= 0.0) {
                let fall = way[i - 1] - way[i];
                let at = FRACTIONS[i - 1] + (FRACTIONS[i] - FRACTIONS[i - 1]) * way[i - 1] / fall;
                if crossed.is_none_or(|known| at < known.at) {
                    crossed = Some(Crossed { k, i, at, level });
                }
            }
            false
        });
        Overview { crossed, are_plain }
    }

    /// Lists in `near` the armed guards that a window does not leave far from their surface; true
    /// when all armed ones are plain in it. Most guards are far: that is measured for all of them
    /// without a branch, so that several are measured at once.
    #[inline]
    fn list_not_far(
        &mut self,
        (state, guards): (&State<B>, &mut GuardTable<B>),
        window: Window,
        near: &mut Vec<usize>,
    ) -> bool {
        let n = state.count();
        let start = if window.is_first() {
            &guards.h[..n]
        } else {
            &self.h_start[..n]
        };
        let [first, second, end] = &self.h;
        let (first, second, end) = (&first[..n], &second[..n], &end[..n]);
        let (level, far, plain) = (&self.level[..n], &mut self.far[..n], &mut self.plain[..n]);
        let (sign, zero) = (&guards.sign[..n], &guards.zero[..n]);
        let (error, most_spread) = (state.error, &guards.spreads.most[..n]);
        for k in 0..n {
            let samples = [start[k], first[k], second[k], end[k]];
            let way = samples.map(|h| level[k] - sign[k] * h);
            let cubic = Cubic::through(way);
            let Reach {
                least,
                spread,
                moves,
            } = Reach::of(way, cubic);
            far[k] = lesser(least - moves, least - error * most_spread[k]);
            let straight = STRAIGHT * spread + zero[k] - cubic.doubt();
            plain[k] = greater(straight, least - DISTANT * moves);
        }
        let (arming, outside) = (&guards.arming[..n], &mut guards.outside[..n]);
        let mut are_plain = true;
        near.clear();
        for k in 0..n {
            if arming[k].is_armed() {
                are_plain &= plain[k] >= 0.0;
                if far[k] > 0.0 && arming[k].is_ready() {
                    outside[k] = true;
                } else {
                    near.push(k);
                }
            }
        }
        are_plain
    }

    /// Event functions at the start of a window.
    #[inline]
    fn start<'a>(&'a self, guards: &'a GuardTable<B>, window: Window) -> &'a [f64] {
        if window.is_first() {
            &guards.h
        } else {
            &self.h_start
        }
    }

    /// `sign · h_k` at the four samples of a window.
    #[inline]
    pub(crate) fn own(&self, guards: &GuardTable<B>, k: usize, window: Window) -> [f64; 4] {
        let (sign, start) = (guards.sign[k], self.start(guards, window));
        let [first, second, end] = &self.h;
        [start[k], first[k], second[k], end[k]].map(|h| sign * h)
    }
}

/// What the rounding of times makes of event functions, as a part of their change over `seconds`.
#[inline]
fn rounding_in<B: Buffer>(state: &State<B>, seconds: f64) -> f64 {
    32.0 * f64::EPSILON * state.size_of_time() / seconds
}

/// One window of a step, with all that is needed to look closer at a guard.
pub(crate) struct Look<'a, S: ?Sized, B> {
    pub(crate) context: &'a Context<'a, S>,
    pub(crate) state: &'a State<B>,
    pub(crate) guards: &'a mut GuardTable<B>,
    pub(crate) sampled: &'a mut Sampled<B>,
    pub(crate) window: Window,
    pub(crate) levels: Levels<'a>,
}

impl<S: System + ?Sized, B: Buffer> Look<'_, S, B> {
    /// `sign · h_k` at the four samples.
    #[inline]
    pub(crate) fn own(&self, k: usize) -> [f64; 4] {
        self.sampled.own(self.guards, k, self.window)
    }

    /// `sign · h_k` on the interpolant, at a fraction of the window.
    #[inline]
    pub(crate) fn own_h_at(&mut self, k: usize, s: f64) -> f64 {
        let (state, point) = (self.state, self.sampled.point.get_mut());
        let fraction = self.window.at(s);
        state.ode.interpolant().at_fraction(fraction, point);
        let t = state.t + fraction * self.window.step;
        self.guards.sign[k] * self.context.event(k, t, point, &state.mode)
    }

    /// The same for a search that ends where a value is not finite: so it is once the run is
    /// interrupted, as [`check_sample`](Self::check_sample) says then.
    #[inline]
    pub(crate) fn own_h_in_search(&mut self, k: usize, s: f64) -> f64 {
        if self.context.settings.interrupt.is_set() {
            return f64::NAN;
        }
        self.own_h_at(k, s)
    }

    /// Numerical zero of event function `k` that moves at `rate`.
    #[inline]
    pub(crate) fn zero_of(&self, k: usize, rate: f64) -> f64 {
        self.guards.zero_of(self.state, k, rate, 0.0)
    }

    /// Evaluates the rate of event function `k` at the start of the step, if it is stale.
    #[inline]
    pub(crate) fn need_rate(&mut self, k: usize) -> Result<(), Stop> {
        self.guards.need_rate(self.context, self.state, k)
    }

    /// The level at which guard `k`, `own` at the start, ends the step.
    #[inline]
    pub(crate) fn level(&self, k: usize, own: f64) -> f64 {
        let zero = || self.zero_of(k, self.guards.rate[k]);
        self.levels.of(k, own, zero)
    }

    /// Refuses a value on the interpolant that is not finite.
    pub(crate) fn check_sample(&mut self, k: usize, sample: Sample) -> Result<(), Stop> {
        if sample.value.is_finite() {
            return Ok(());
        }
        self.context.settings.interrupt.check()?;
        let point = self.sampled.point.get_mut();
        let fraction = self.window.at(sample.at);
        self.state.ode.interpolant().at_fraction(fraction, point);
        let (quantity, t) = (
            Quantity::Event { event: k },
            self.state.t + fraction * self.window.step,
        );
        Err(evaluate::not_finite(quantity, t, point, &self.state.mode))
    }
}
