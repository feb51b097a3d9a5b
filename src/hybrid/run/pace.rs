//! How long the windows are in which a smooth step is searched for guards: each as long as the one
//! before allows, and narrower where its samples do not settle what happens.

use super::cubic::WIDEST;
use super::state::State;
use super::window::Window;
use crate::hybrid::context::{Context, System};
use crate::hybrid::options::Resolution;
use crate::ode::Buffer;

/// The last window of a step may be this much longer: that spares one of almost no length.
const LAST: f64 = 1.1;
/// Where the samples of a window do not settle, it becomes this part of itself.
pub(super) const NARROWER: f64 = 0.4;
/// Most times a window is narrowed at one place: to a 1500th.
const MOST_NARROWED: u32 = 8;
/// Narrowings after which an open window is tested for noise.
const NOISE_AFTER: u32 = 3;
/// Motion that is this many times as fast as it was at the start of the last step is another one:
/// windows are shorter by as much.
const FASTER: f64 = 2.0;
/// The next step is to need no more windows than this.
const WANTED_WINDOWS: usize = 8;

/// What settles the guards of a window: it says how much longer the next one may be.
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
    /// What settles a window whose guards `are_plain`, if no more is needed, or in which none is
    /// near.
    #[inline]
    pub(super) fn by(are_plain: bool, none_is_near: bool) -> Self {
        match (are_plain, none_is_near) {
            (true, _) => Self::Plain,
            (false, true) => Self::Calm,
            (false, false) => Self::Closely,
        }
    }

    /// How much longer than this window the next one may be.
    ///
    /// Four samples of a wave do not settle by chance in windows of up to six radians; in longer
    /// ones they may agree with a cubic of which the wave knows nothing. So no window gets that
    /// long on the word of a much shorter one: a closer look settles windows of up to five radians,
    /// calm ones span up to 3.3 of a wave, and plain ones up to 1.1.
    const fn growth(self) -> f64 {
        match self {
            Self::Closely => 1.25,
            Self::Calm => 1.8,
            Self::Plain => 5.0,
        }
    }
}

/// How long windows are (s).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// How long the next one may be.
    next: f64,
    /// The last one whose samples settled what happens in it.
    pub(crate) settled: f64,
    /// The longest distance of samples that the time scales of the guards allow.
    pub(crate) apart: f64,
    /// The longest window that they allow.
    longest: f64,
    /// How fast the motion was at the start of the last step, in tolerances a second; 0 before.
    speed: f64,
    /// A reset has changed the state since.
    pub(super) is_thrown: bool,
}

impl Pace {
    pub(super) const FREE: Self = Self {
        next: f64::INFINITY,
        settled: f64::INFINITY,
        apart: f64::INFINITY,
        longest: f64::INFINITY,
        speed: 0.0,
        is_thrown: false,
    };

    /// At the start of a run whose samples may be so far apart (s).
    pub(super) fn of(apart: f64) -> Self {
        Self {
            apart,
            longest: apart / (LAST * WIDEST),
            ..Self::FREE
        }
    }

    /// How wide the next window is, as a part of the step.
    fn width(&self, windows: &Windows) -> f64 {
        let (step, shortest) = (windows.step, windows.shortest);
        if !windows.adaptive {
            return f64::INFINITY;
        }
        let longest = (self.longest / step).max(shortest);
        (self.next / step).min(longest).max(shortest)
    }

    /// Takes the speed at which a step starts. A reset may have made the motion faster: what a
    /// window told of the guards before, it told of a shorter way.
    pub(super) fn follow(&mut self, speed: f64) {
        let is_thrown = std::mem::take(&mut self.is_thrown);
        if is_thrown && speed > FASTER * self.speed && self.speed > 0.0 {
            self.next *= self.speed / speed;
        }
        self.speed = speed;
    }

    /// Remembers how long a window was, and may be next.
    pub(super) fn keep(&mut self, window: Window, has_narrowed: bool, how: Settled) {
        self.settled = window.seconds();
        let growth = if has_narrowed { 1.0 } else { how.growth() };
        self.next = growth * self.settled;
    }
}

/// The windows of one step; places and widths are parts of it.
pub(super) struct Windows {
    /// Its length (s).
    step: f64,
    pub(super) adaptive: bool,
    /// Whether a shorter step may be tried instead.
    pub(super) may_shorten: bool,
    /// Within less than the shortest step times are rounded to the same.
    pub(super) shortest: f64,
    /// How many there were so far.
    pub(super) count: usize,
    /// Where the present one begins, and how wide it is.
    from: f64,
    width: f64,
    /// How wide it was before it was narrowed.
    first_width: f64,
    /// How often it was narrowed.
    narrowed: u32,
    /// Whether any was, of those that do not count as noise.
    pub(super) has_narrowed: bool,
    /// What the run had left unresolved before it.
    pub(super) unresolved: usize,
}

impl Windows {
    pub(super) fn new<S: System + ?Sized, B: Buffer>(
        context: &Context<'_, S>,
        state: &State<B>,
        step: f64,
        pace: &Pace,
    ) -> Self {
        let adaptive = context.settings.resolution == Resolution::Adaptive;
        let mut windows = Self {
            step,
            adaptive,
            may_shorten: adaptive && context.settings.fixed_step.is_none(),
            shortest: state.least_step() / step,
            count: 0,
            from: 0.0,
            width: 0.0,
            first_width: 0.0,
            narrowed: 0,
            has_narrowed: false,
            unresolved: context.counts.unresolved.get(),
        };
        windows.set_width(pace);
        windows
    }

    fn set_width(&mut self, pace: &Pace) {
        self.width = pace.width(self);
        self.first_width = self.width;
    }

    /// The window to look at, and whether it may be narrowed.
    pub(super) fn next(&mut self) -> (Window, Narrowable) {
        let to = if self.from + LAST * self.width >= 1.0 {
            1.0
        } else {
            self.from + self.width
        };
        let window = Window {
            from: self.from,
            to,
            step: self.step,
        };
        self.count += 1;
        self.width = window.width();
        let is_too_short = NARROWER * self.width < self.shortest;
        let narrowable = Narrowable::of(self.adaptive, self.narrowed, is_too_short);
        (window, narrowable)
    }

    pub(super) fn narrow(&mut self) {
        self.width *= NARROWER;
        self.narrowed += 1;
        self.has_narrowed = true;
    }

    /// What is noise at any width is not followed: the next window is as wide as this one was at
    /// first.
    pub(super) fn forget_noise(&mut self, pace: &mut Pace) {
        pace.next = self.first_width * self.step;
        self.has_narrowed = false;
    }

    /// Goes on behind a window that is settled.
    pub(super) fn settle(&mut self, window: Window, unresolved: usize, pace: &Pace) {
        self.from = window.to;
        self.narrowed = 0;
        self.unresolved = unresolved;
        self.set_width(pace);
    }

    /// How long the next step is to be at most (s), for few enough windows.
    pub(super) fn longest_step(&self) -> f64 {
        if self.count <= WANTED_WINDOWS {
            f64::INFINITY
        } else {
            WANTED_WINDOWS as f64 / self.count as f64 * self.step
        }
    }
}

/// Whether a window that its samples do not settle is to be narrower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Narrowable {
    Yes,
    UnlessNoise,
    No,
}

impl Narrowable {
    fn of(adaptive: bool, narrowed: u32, is_too_short: bool) -> Self {
        if !adaptive || narrowed >= MOST_NARROWED || is_too_short {
            Self::No
        } else if narrowed >= NOISE_AFTER {
            Self::UnlessNoise
        } else {
            Self::Yes
        }
    }
}
