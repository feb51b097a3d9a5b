//! Table of event functions: value, rate, numerical zero, error and arming of each.

use super::beside::Beside;
use super::ranking::{Blur, Surfaces, Survey};
use super::spread::Spreads;
use super::state::State;
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate;
use crate::hybrid::room_for;
use crate::model::rearm::Arming;
use crate::ode::Buffer;
use crate::{CrossedGuard, Direction, Guard, Mode, Stop, Watch};

/// A guard is off its surface by so many numerical zeros of an earlier state or mode. A zero that is
/// greater now comes of a greater rate, by which the guard leaves the surface or crosses it.
const OFF: f64 = 1e4;

/// A located guard so many numerical zeros beyond its surface was carried there by a jump of its
/// function.
const LEAPT: f64 = 64.0;

/// A stale rate says that a guard is not near where the time to it is so many times what may be
/// projected over, and its way to the surface so many numerical zeros.
pub(crate) const NOT_NEAR: f64 = 16.0;

/// Table of event functions: value, rate and error of each at the present state, and how it is
/// armed.
#[derive(Clone, Debug)]
pub(crate) struct GuardTable<B> {
    /// `h_k(t, x)`.
    pub(crate) h: Vec<f64>,
    /// +1 where the side bit is off and the next crossing is rising, −1 where it is falling;
    /// follows the mode.
    pub(crate) sign: Vec<f64>,
    /// `dh_k/dt`; kept for armed guards only.
    pub(crate) rate: Vec<f64>,
    /// Numerical zero `z_k` (`u_k`); kept for armed guards only.
    pub(crate) zero: Vec<f64>,
    /// Rate and zero are those of an earlier state or mode. Most guards are far when one is
    /// crossed: their rows are evaluated again only when they may cross next.
    pub(crate) stale: Vec<bool>,
    /// State of the search for the crossing of the guard ahead of the present side.
    pub(crate) arming: Vec<Arming>,
    /// Some armed guards may wait to be ready.
    pub(crate) some_wait: bool,
    /// Liveness bound `c_k`.
    pub(crate) min_rate: Vec<f64>,
    /// The part of the largest rate seen that `c_k` is, where the user states none; else 0.
    pub(crate) part_of_rate: Vec<f64>,
    /// Dependence of each on the errors of the state.
    pub(crate) spreads: Spreads<B>,
    /// Data that are asked of one event function at a time.
    pub(crate) kept: Vec<Kept>,
    /// Guards that were farther from their surface than the error in this mode.
    pub(crate) outside: Vec<bool>,
    /// Scratch of surveys.
    ahead: Vec<f64>,
    /// Scratch: those tried as the one that is passed, or comes, first.
    pub(crate) tried: Vec<bool>,
    /// Scratch: those that are not far from zero.
    pub(crate) close: Vec<usize>,
    /// Scratch for rows.
    pub(crate) row: B,
    /// Places beside the present one, for differences in the stead of rows.
    pub(super) beside: Beside<B>,
}

/// Data that a run keeps of one event function, and asks of it alone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) watch: Watch,
    pub(crate) event_tolerance: f64,
    /// Distance within which it is crossed with another one (`u_k`).
    pub(crate) crosses_within: f64,
    /// Range of it that samples have left open however close they were (`u_k`).
    pub(crate) blur: f64,
    /// Time at which it fired last, rising and falling; −∞ before (s).
    fired_at: [f64; 2],
    /// Time between its last two crossings in one direction; ∞ before (s).
    pub(crate) since: f64,
    /// Time at which the motion last passed it, rising and falling (s). ∞ if the crossing reversed
    /// the rate; −∞ if it left less than half of the rate, if it was the return from such a
    /// reversal, or if there was none.
    passed_at: [f64; 2],
    /// The error of the time of its last crossing, and how far errors before earlier crossings may
    /// shift later ones (s).
    pub(crate) time_error: f64,
    pub(crate) shift: f64,
    /// The part of that error that is its own; that by what is allowed at the state there (s).
    pub(crate) crossing_error: f64,
    pub(crate) error_there: f64,
    /// That, where a reset changed the state; else zero (s).
    pub(crate) own_error: f64,
    /// Time at which it last jumped, or a reset changed its rate close to its surface; −∞ before (s).
    pub(crate) changed_at: f64,
}

impl Kept {
    /// Before a run.
    const BLANK: Self = Self {
        watch: Watch::BOTH,
        event_tolerance: 0.0,
        crosses_within: 0.0,
        blur: 0.0,
        fired_at: [f64::NEG_INFINITY; 2],
        since: f64::INFINITY,
        passed_at: [f64::NEG_INFINITY; 2],
        time_error: 0.0,
        shift: 0.0,
        crossing_error: 0.0,
        error_there: 0.0,
        own_error: 0.0,
        changed_at: f64::NEG_INFINITY,
    };

    /// Time at which it fired last, in either direction; −∞ before (s).
    pub(crate) fn fired_last(&self) -> f64 {
        self.fired_at[0].max(self.fired_at[1])
    }

    /// The guard of event function `k` that fired last.
    pub(crate) fn last_guard(&self, k: usize) -> Guard {
        let [rising, falling] = self.fired_at;
        if rising >= falling {
            Guard::rising(k)
        } else {
            Guard::falling(k)
        }
    }
}

/// Writes the slopes between two samples of each event function, a time `dt` apart.
#[inline]
fn slopes(rate: &mut [f64], [before, after]: [&[f64]; 2], dt: f64) {
    let n = rate.len();
    let (before, after) = (&before[..n], &after[..n]);
    for k in 0..n {
        rate[k] = (after[k] - before[k]) / dt;
    }
}

impl<B: Buffer> GuardTable<B> {
    pub(crate) fn new(dim: usize, count: usize) -> Self {
        let values = || vec![0.0; count];
        Self {
            h: values(),
            sign: vec![1.0; count],
            rate: values(),
            zero: values(),
            stale: vec![true; count],
            arming: vec![Arming::Off; count],
            some_wait: true,
            min_rate: values(),
            part_of_rate: values(),
            spreads: Spreads::new(dim, count),
            kept: vec![Kept::BLANK; count],
            outside: vec![false; count],
            ahead: values(),
            tried: vec![false; count],
            close: Vec::with_capacity(room_for(count)),
            row: B::zeros(dim),
            beside: Beside::new(dim),
        }
    }

    /// Forgets the last run, with all sides off, and asks the model how its event functions are
    /// watched; values, rates and zeros are written before they are read.
    pub(crate) fn begin<S: System + ?Sized>(&mut self, system: &S, state: &State<B>) {
        self.arming.fill(Arming::Off);
        self.some_wait = true;
        self.spreads.begin(state);
        self.beside.begin();
        self.stale.fill(true);
        self.outside.fill(false);
        self.sign.fill(1.0);
        for k in 0..self.h.len() {
            self.kept[k] = Kept {
                watch: system.watch(k),
                event_tolerance: system.event_tolerance(k),
                crosses_within: system.crosses_within(k),
                ..Kept::BLANK
            };
            (self.min_rate[k], self.part_of_rate[k]) = match system.min_rate(k) {
                Some(least) => (least, 0.0),
                // It follows the rates that are seen.
                None => (f64::MIN_POSITIVE, evaluate::PART_OF_RATE),
            };
        }
    }

    /// The guard that event function `k` would cross next.
    #[inline]
    pub(crate) fn ahead(&self, k: usize) -> Guard {
        let direction = if self.sign[k] > 0.0 {
            Direction::Rising
        } else {
            Direction::Falling
        };
        Guard {
            event: k,
            direction,
        }
    }

    /// The crossing of event function `k` in the direction ahead, at the last rate.
    #[inline]
    pub(crate) fn crossing(&self, k: usize) -> CrossedGuard {
        CrossedGuard {
            guard: self.ahead(k),
            rate: self.rate[k],
        }
    }

    /// Takes back that the guards of a set fired; rates are to be evaluated again.
    pub(crate) fn unfire(&mut self, set: &[CrossedGuard], arming: &[Arming]) {
        self.arming.copy_from_slice(arming);
        self.some_wait = true;
        for c in set {
            *self.fired_at(c.guard) = f64::NEG_INFINITY;
        }
        self.stale.fill(true);
    }

    /// `h_k` counted so that it rises through zero at the next crossing.
    #[inline]
    pub(crate) fn own_h(&self, k: usize) -> f64 {
        self.sign[k] * self.h[k]
    }

    /// `dh_k/dt`, counted in the same way.
    #[inline]
    pub(crate) fn own_rate(&self, k: usize) -> f64 {
        self.sign[k] * self.rate[k]
    }

    /// True when guard `k` is off its surface, or on it, to within `residual`, and known to leave
    /// it.
    #[inline]
    pub(crate) fn is_clear(&self, k: usize, residual: f64) -> bool {
        let (h, zero) = (self.own_h(k), self.zero[k]);
        h < -zero || (h <= zero.max(residual) && self.own_rate(k) <= -self.min_rate[k])
    }

    /// Marks the armed guards ready whose rate is stale and that are so far before their surface
    /// that they are off it whatever the rate is; lists the others in `close`. How the error of a
    /// guard depends on states of this size must be known, for doubts.
    pub(crate) fn mark_far_off(&mut self, state: &State<B>) {
        let n = self.h.len();
        let (h, sign, zero) = (&self.h[..n], &self.sign[..n], &self.zero[..n]);
        let (stale, each) = (&self.stale[..n], &self.spreads.each[..n]);
        let arming = &mut self.arming[..n];
        self.close.clear();
        for k in 0..n {
            if !arming[k].is_armed() {
                continue;
            }
            let is_off = zero[k] > 0.0 && sign[k] * h[k] < -OFF * zero[k];
            if is_off && stale[k] && each[k].outgrown == state.outgrown {
                arming[k] = Arming::Ready;
            } else {
                self.close.push(k);
            }
        }
    }

    /// Time by which the crossing of a set missed its surfaces, by the values of event functions
    /// there: others miss theirs by as much (s).
    pub(crate) fn missed_by(&self, set: &[CrossedGuard], h: &[f64]) -> f64 {
        set.iter().fold(0.0, |most: f64, c| {
            let k = c.guard.event;
            most.max(h[k].abs().max(self.zero[k]) / c.rate.abs())
        })
    }

    /// True when guard `k` may fire and moves across.
    #[inline]
    pub(crate) fn is_candidate(&self, k: usize) -> bool {
        self.arming[k].is_ready() && self.own_rate(k) >= self.min_rate[k]
    }

    /// Time at which a directed guard fired last; −∞ before (s).
    #[inline]
    pub(crate) fn fired_at(&mut self, guard: Guard) -> &mut f64 {
        &mut self.kept[guard.event].fired_at[usize::from(!guard.side_after())]
    }

    /// Time at which the motion last passed it (see [`Kept`]).
    #[inline]
    pub(crate) fn passed_at(&mut self, guard: Guard) -> &mut f64 {
        &mut self.kept[guard.event].passed_at[usize::from(!guard.side_after())]
    }

    /// Lets the liveness bound of event function `k` follow a rate of it, where the user states
    /// none.
    #[inline]
    pub(crate) fn see_rate(&mut self, k: usize, rate: f64) {
        let least = self.part_of_rate[k] * rate.abs();
        if least > self.min_rate[k] {
            self.min_rate[k] = least;
        }
    }

    /// As [`see_rate`](Self::see_rate), for the rates of all event functions at once.
    fn see_rates(&mut self) {
        let n = self.h.len();
        let (rate, part) = (&self.rate[..n], &self.part_of_rate[..n]);
        let least = &mut self.min_rate[..n];
        for k in 0..n {
            let seen = part[k] * rate[k].abs();
            least[k] = if seen > least[k] { seen } else { least[k] };
        }
    }

    /// Takes the slopes between two samples, a time `dt` apart, for rates; the first is the present
    /// one if none is given.
    #[inline]
    pub(crate) fn take_slopes(&mut self, before: Option<&[f64]>, after: &[f64], dt: f64) {
        slopes(&mut self.rate, [before.unwrap_or(&self.h), after], dt);
        self.see_rates();
    }

    /// True when no guard is predicted to be crossed within `horizon` seconds, nor is close to its
    /// surface.
    #[inline]
    pub(crate) fn are_all_later(&self, horizon: f64) -> bool {
        let n = self.h.len();
        let (h, sign) = (&self.h[..n], &self.sign[..n]);
        let (rate, zero) = (&self.rate[..n], &self.zero[..n]);
        let mut is_some_soon = false;
        for k in 0..n {
            let (way, own) = (-sign[k] * h[k], sign[k] * rate[k]);
            is_some_soon |= way < horizon * own || way < NOT_NEAR * zero[k];
        }
        !is_some_soon
    }

    /// True when no guard is as close to its surface as `eps`, nor as its numerical zero.
    #[inline]
    pub(crate) fn are_all_outside(&self, eps: impl Fn(usize) -> f64) -> bool {
        let n = self.h.len();
        let (h, sign, zero) = (&self.h[..n], &self.sign[..n], &self.zero[..n]);
        (0..n).all(|k| -sign[k] * h[k] > eps(k).max(NOT_NEAR * zero[k]))
    }

    /// Takes the slopes from the event functions of the table to `after` for rates: those of the start would
    /// mislead the search for the guards that come next.
    pub(crate) fn slopes_to(&mut self, state: &State<B>, after: &[f64], dt: f64) {
        if dt <= 8.0 * f64::EPSILON * state.t.abs() {
            return;
        }
        slopes(&mut self.rate, [&self.h, after], dt);
        if state.tells_rates(dt) {
            self.see_rates();
        }
    }

    /// Marks the armed guards ready that are clear of their surface.
    pub(crate) fn note_clear(&mut self) {
        for k in 0..self.h.len() {
            if self.arming[k] == Arming::Waiting && self.is_clear(k, 0.0) {
                self.arming[k] = Arming::Ready;
            }
        }
    }

    /// Values and bounds that the surfaces ahead are judged by, at the present state.
    #[inline]
    pub(crate) fn surfaces(&self) -> Surfaces<'_> {
        Surfaces {
            h: &self.h,
            sign: &self.sign,
            rate: &self.rate,
            zero: &self.zero,
            min_rate: &self.min_rate,
        }
    }

    /// Looks at all guards, and marks those ready that are off their surface: see
    /// [`Surfaces::survey`]. `landing` are event functions where a projection lands, instead of
    /// those of the present state.
    #[inline]
    pub(crate) fn survey(
        &mut self,
        landing: Option<&[f64]>,
        on: usize,
        time: f64,
        near: &mut Vec<usize>,
    ) -> Survey {
        let surfaces = Surfaces {
            h: landing.unwrap_or(&self.h),
            sign: &self.sign,
            rate: &self.rate,
            zero: &self.zero,
            min_rate: &self.min_rate,
        };
        let missed = landing.map_or(0.0, |_| surfaces.missed(on));
        let (arming, ahead) = (&mut self.arming[..], &mut self.ahead[..]);
        let blur = Blur { time, missed };
        let survey = surfaces.survey(arming, ahead, self.some_wait, on, blur, near);
        self.some_wait = near.iter().any(|&k| self.arming[k] == Arming::Waiting);
        survey
    }

    /// Sets a side bit of the mode.
    #[inline]
    pub(crate) fn set_side(&mut self, mode: &mut Mode, k: usize, side: bool) {
        mode.set(k, side);
        self.sign[k] = Guard::ahead(k, side).sign();
    }

    /// Brings the signs in line with a mode that was replaced as a whole.
    pub(crate) fn follow(&mut self, mode: &Mode) {
        for (k, sign) in self.sign.iter_mut().enumerate() {
            *sign = Guard::ahead(k, mode.contains(k)).sign();
        }
    }

    /// Numerical zero of `h_k` for a guard that moves at `rate` where `Σ|∂h_k/∂x_i x_i|` is
    /// `magnitude`: what a few units in the last place of time and state make of it. Times are as
    /// exact as the time itself and the step they are found in.
    #[inline]
    pub(crate) fn zero_of(&self, state: &State<B>, k: usize, rate: f64, magnitude: f64) -> f64 {
        let time = state.size_of_time();
        let rounding = f64::EPSILON * (8.0 * time * rate.abs() + 4.0 * magnitude);
        rounding.max(self.kept[k].event_tolerance)
    }

    /// True for a guard that was located where its function is `h`, and its rate by a difference `rate`: a
    /// jump carried it across.
    #[inline]
    pub(crate) fn has_leapt(&self, state: &State<B>, k: usize, h: f64, rate: f64) -> bool {
        let zero = self.zero[k].max(self.zero_of(state, k, rate, 0.0));
        h.abs() > LEAPT * zero
    }

    /// Forgets how event functions depend on the state, now that the mode is another, unless they
    /// do not read it.
    #[inline]
    pub(crate) fn forget_terms<S: System + ?Sized>(&mut self, context: &Context<'_, S>) {
        if !context.system.ignores_mode() {
            self.forget_system();
        }
    }

    /// Forgets how event functions depend on the state: the system may be another one by now.
    pub(crate) fn forget_system(&mut self) {
        self.spreads.forget();
        self.outside.fill(false);
    }

    /// Evaluates all event functions at the present state and mode.
    #[inline]
    pub(crate) fn refresh_events<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
    ) -> Result<(), Stop> {
        context.events(state.t, state.x.get(), &state.mode, &mut self.h)
    }

    /// Bound of the error of event function `k` by now (`u_k`).
    #[inline]
    pub(crate) fn error_of(&self, state: &State<B>, k: usize) -> f64 {
        state.error * self.spreads.of(k)
    }

    /// The refusal of guard `guard` as sliding or grazing.
    #[cold]
    pub(crate) fn not_live(
        &self,
        state: &State<B>,
        guard: Guard,
        rate_before: f64,
        rate_after: f64,
    ) -> Stop {
        Stop::NotLive {
            guard,
            rate_before,
            rate_after,
            min_rate: self.min_rate[guard.event],
            at: state.at().into(),
        }
    }

    /// The refusal of a start on `guard`.
    #[cold]
    pub(crate) fn tangent(&self, state: &State<B>, guard: Guard) -> Stop {
        Stop::Tangent {
            guard,
            rate: self.rate[guard.event],
            at: state.at().into(),
        }
    }
}
