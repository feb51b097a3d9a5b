//! Lengths of the windows in which a smooth step is searched for guards: each as long as the one
//! before allows, and narrower where its samples do not decide whether a guard is passed.

use super::cubic::WIDEST;
use super::factors::{
    FASTER, LAST, MOST_NARROWED, NARROWER, NOISE_AFTER, SHORTEST_FIRST, WANTED_WINDOWS,
};
use super::window::Window;
use crate::hybrid::context::Context;
use crate::hybrid::options::Resolution;
use crate::ode::{greater, lesser};

/// Way in which the guards of a window are settled: it says how much longer the next one may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settled {
    /// Some of them needed a closer look.
    Closely,
    /// None did.
    Calm,
    /// All of them hardly bend in it, or are far from zero beside what they move.
    Plain,
}

impl Settled {
    /// Way in which a window is settled whose guards `are_plain`, if no more is needed, or in which
    /// none is near.
    #[inline]
    pub(super) fn by(are_plain: bool, none_is_near: bool) -> Self {
        match (are_plain, none_is_near) {
            (true, _) => Self::Plain,
            (false, true) => Self::Calm,
            (false, false) => Self::Closely,
        }
    }

    /// Largest ratio of the lengths of a window and the one before.
    ///
    /// Four samples of a wave do not settle by chance in windows of up to six radians; in longer ones
    /// they may agree with a cubic that is far from the wave. So no window gets that long right
    /// after a much shorter one: a closer look settles windows of up to five radians, calm ones span
    /// up to 3.3 of a wave, and plain ones up to 1.1, or to 1.8 on a flank that another tone straightens.
    #[inline]
    const fn growth(self) -> f64 {
        match self {
            Self::Closely => 1.25,
            Self::Calm => 1.8,
            Self::Plain => 3.0,
        }
    }
}

/// Lengths of windows (s).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Largest length of the next one.
    next: f64,
    /// The last one whose samples settled what happens in it.
    pub(crate) settled: f64,
    /// The longest distance of samples that the time scales of the guards allow.
    pub(crate) apart: f64,
    /// The longest window that they allow.
    longest: f64,
}

impl Pace {
    /// No bounds: at the start of a run.
    pub(super) const FREE: Self = Self {
        next: f64::INFINITY,
        settled: f64::INFINITY,
        apart: f64::INFINITY,
        longest: f64::INFINITY,
    };

    /// Samples may be so far apart (s).
    pub(super) fn allow(&mut self, apart: f64) {
        self.apart = apart;
        self.longest = apart / (LAST * WIDEST);
    }

    /// Length of the next window (s), no less than `least`, which times resolve.
    #[inline]
    fn length(&self, least: f64) -> f64 {
        greater(least, lesser(self.next, greater(self.longest, least)))
    }

    /// Windows begin in a step, behind one that was passed over: the first of them is as long as a
    /// guard within reach takes to its surface (s) at its largest rate, which is the time in which it
    /// may change; but so long that a few more do.
    pub(super) fn begin_anew(&mut self, step: f64, free: f64) {
        self.next = greater(free, SHORTEST_FIRST * step);
    }

    /// A reset changed the speed of the motion (tolerances a second): where it is faster, windows
    /// become shorter by as much.
    pub(super) fn follow(&mut self, before: f64, after: f64) {
        if after > FASTER * before && before > 0.0 {
            self.next *= before / after;
        }
    }

    /// Remembers how long a window was, and may be next.
    #[inline]
    pub(super) fn keep(&mut self, window: Window, has_narrowed: bool, how: Settled) {
        self.settled = window.seconds();
        let growth = if has_narrowed { 1.0 } else { how.growth() };
        self.next = growth * self.settled;
    }
}

/// The windows of one step; places are parts of it.
pub(super) struct Windows {
    /// Its length (s).
    step: f64,
    /// Within less than this, times are rounded to the same (s).
    least: f64,
    pub(super) adaptive: bool,
    /// A shorter step may be tried instead.
    pub(super) may_shorten: bool,
    /// Their number so far.
    pub(super) count: usize,
    /// Beginning of the present one, as a fraction of the step.
    from: f64,
    /// Its length (s).
    length: f64,
    /// Its length before it was narrowed (s).
    first_length: f64,
    /// The number of its narrowings.
    narrowed: u32,
    /// Any was narrowed, of those that do not count as noise.
    pub(super) has_narrowed: bool,
    /// Number of windows and steps that the run had left unresolved before it.
    pub(super) unresolved: usize,
}

impl Windows {
    /// Windows of a step of length `step`, where times resolve `least` (s).
    #[inline]
    pub(super) fn new<S: ?Sized>(
        context: &Context<'_, S>,
        least: f64,
        step: f64,
        pace: &Pace,
    ) -> Self {
        let adaptive = context.settings.resolution == Resolution::Adaptive;
        let mut windows = Self {
            step,
            least,
            adaptive,
            may_shorten: adaptive && context.settings.fixed_step.is_none(),
            count: 0,
            from: 0.0,
            length: f64::INFINITY,
            first_length: f64::INFINITY,
            narrowed: 0,
            has_narrowed: false,
            unresolved: context.counts.unresolved.get(),
        };
        windows.set_length(pace);
        windows
    }

    #[inline]
    fn set_length(&mut self, pace: &Pace) {
        if self.adaptive {
            self.length = pace.length(self.least);
        } else {
            self.length = f64::INFINITY;
        }
        self.first_length = self.length;
    }

    /// The window to look at.
    #[inline]
    pub(super) fn next(&mut self) -> Window {
        self.count += 1;
        let rest = (1.0 - self.from) * self.step;
        let to = if LAST * self.length >= rest {
            1.0
        } else {
            self.from + self.length / self.step
        };
        Window {
            from: self.from,
            to,
            step: self.step,
        }
    }

    /// Decides whether that window may be narrowed.
    pub(super) fn narrowable(&self, window: Window) -> Narrowable {
        let is_too_short = NARROWER * window.seconds() < self.least;
        if !self.adaptive || self.narrowed >= MOST_NARROWED || is_too_short {
            Narrowable::No
        } else if self.narrowed >= NOISE_AFTER {
            Narrowable::UnlessNoise
        } else {
            Narrowable::Yes
        }
    }

    /// Looks at less of a window that is not settled.
    pub(super) fn narrow(&mut self, window: Window) {
        self.length = NARROWER * window.seconds();
        self.narrowed += 1;
        self.has_narrowed = true;
    }

    /// A function that is noise at any width is not followed: the next window is as wide as this
    /// one was at first.
    pub(super) fn forget_noise(&mut self, pace: &mut Pace) {
        pace.next = self.first_length;
        self.has_narrowed = false;
    }

    /// Goes on behind a window that is settled.
    pub(super) fn settle(&mut self, window: Window, unresolved: usize, pace: &Pace) {
        self.from = window.to;
        self.narrowed = 0;
        self.unresolved = unresolved;
        self.set_length(pace);
    }

    /// True when a step of this part of the present one may be tried in its place.
    pub(super) fn may_shorten_to(&self, part: f64) -> bool {
        self.may_shorten && part * self.step >= self.least
    }

    /// Largest length of the next step (s), for few enough windows.
    #[inline]
    pub(super) fn longest_step(&self) -> f64 {
        if self.count <= WANTED_WINDOWS {
            f64::INFINITY
        } else {
            WANTED_WINDOWS as f64 / self.count as f64 * self.step
        }
    }
}

/// Answer to whether a window that its samples do not settle is to be narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Narrowable {
    Yes,
    UnlessNoise,
    No,
}
