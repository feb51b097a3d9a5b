//! The function of one guard in one window, as its samples show it, and what these settle: that
//! the guard is not passed, where it is passed, or neither.
//!
//! The samples are held against their cubic, and the cubic against other data: the rate at
//! the start of the step, a further sample at its maximum. A guard counts as not passed only when
//! the cubic stays away from zero by more than the doubt about it.

use super::cubic::{Cubic, FRACTIONS};
use super::factors::{CUBIC_PART, OF_TOP, ON_SURFACE, OPEN_PART, SLOPE_DOUBT};
use super::look::Look;
use crate::Stop;
use crate::hybrid::context::System;
use crate::ode::root::{Sample, peak};
use crate::ode::{Buffer, lesser};

/// Samples closer to a maximum than this part of the window do not show how the function bends there.
const BESIDE: f64 = 0.05;

/// Class of a guard by its course in a window.
#[derive(Clone, Copy, Debug)]
pub(super) enum Class {
    /// It is not passed; with the maximum of its function within the window, if it has one.
    Clear(Option<Top>),
    Passed(Passage),
    /// The samples do not settle it; with the size of what they leave open (`u_k`).
    Unsettled(f64),
    /// It left its surface with a rate of zero, and is beyond it at this fraction of the window without
    /// having been off it: the step may be longer than what it does between.
    TooSoon(f64),
}

/// A maximum of a guard that is not passed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Top {
    pub(crate) k: usize,
    /// Fraction of the window.
    pub(crate) at: f64,
    /// Below zero (`u_k`).
    pub(crate) value: f64,
    /// Half of the second derivative there, by the window (`u_k`); 0 where it is a sample that
    /// nothing beside it exceeds, as before a jump.
    pub(crate) bend: f64,
}

/// A guard passed within a window: its function, counted from its origin, is negative at `low` and
/// not at `high`. Places are fractions of the window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Passage {
    pub(super) k: usize,
    pub(super) origin: Origin,
    pub(super) low: Sample,
    pub(super) high: Sample,
    /// The cubic through the samples of that function, where it was found to be close to it.
    pub(super) cubic: Option<Cubic>,
}

impl Passage {
    /// About where, by the line from `low` to `high`.
    #[inline]
    pub(super) fn at(&self) -> f64 {
        let (low, high) = (self.low, self.high);
        let rise = high.value - low.value;
        if rise > 0.0 {
            low.at - low.value * (high.at - low.at) / rise
        } else {
            high.at
        }
    }
}

/// Origin that the values of a guard are counted from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// A level: 0 for the guard itself, `−eps_k` for the entry into its neighbourhood.
    Level(f64),
    /// The value at the start of the window, on the surface: a guard that leaves is looked at by
    /// `(h − start)/s`, which has no root at `s = 0`.
    Start(f64),
}

impl Origin {
    /// The value at the fraction `s` of the window, counted from here.
    #[inline]
    pub(super) fn count(self, value: f64, s: f64) -> f64 {
        match self {
            Self::Level(level) => value - level,
            Self::Start(start) => (value - start) / s,
        }
    }

    /// The value at the fraction `s` of the window, from what is counted from here.
    #[inline]
    pub(super) fn value(self, counted: f64, s: f64) -> f64 {
        match self {
            Self::Level(level) => counted + level,
            Self::Start(start) => start + counted * s,
        }
    }
}

/// The function of one guard in one window, as its samples show it.
pub(super) struct Curve {
    k: usize,
    origin: Origin,
    values: [f64; 4],
    /// The first sample that is not negative.
    beyond: Option<usize>,
    cubic: Cubic,
    /// Values within this of zero are zero.
    zero: f64,
}

impl Curve {
    /// Through samples that are counted from the origin.
    #[inline]
    pub(super) fn new(k: usize, origin: Origin, values: [f64; 4], zero: f64) -> Self {
        Self::along(Cubic::through(values), k, origin, values, zero)
    }

    /// Curve with its cubic as an argument; see [`new`](Self::new).
    #[inline]
    pub(super) fn along(
        cubic: Cubic,
        k: usize,
        origin: Origin,
        values: [f64; 4],
        zero: f64,
    ) -> Self {
        let floor = |i: usize| match origin {
            Origin::Start(_) => ON_SURFACE * zero / FRACTIONS[i],
            Origin::Level(_) => 0.0,
        };
        Self {
            k,
            origin,
            values,
            beyond: (1..4).find(|&i| values[i] >= floor(i) && values[i] >= 0.0),
            cubic,
            zero,
        }
    }

    /// The part of the window before the sample that is beyond the guard, that sample included.
    fn limit(&self) -> f64 {
        self.beyond.map_or(1.0, |i| FRACTIONS[i])
    }

    /// Largest difference of its samples.
    fn spread(&self) -> f64 {
        let (least, most) = self.values.iter().fold(
            (f64::INFINITY, f64::NEG_INFINITY),
            |(least, most): (f64, f64), &v| (least.min(v), most.max(v)),
        );
        most - least
    }

    fn sample(&self, i: usize) -> Sample {
        Sample {
            at: FRACTIONS[i],
            value: self.values[i],
        }
    }

    /// The passage between sample `i` and the one before, or an earlier one where that is beyond within rounding.
    #[inline]
    pub(super) fn between(&self, i: usize) -> Passage {
        let before = (0..i).rfind(|&j| self.values[j] < 0.0);
        self.passage(self.sample(before.unwrap_or(i - 1)), self.sample(i))
    }

    #[inline]
    fn passage(&self, low: Sample, high: Sample) -> Passage {
        Passage {
            k: self.k,
            origin: self.origin,
            low,
            high,
            cubic: Some(self.cubic),
        }
    }

    /// Not passed; `top` is the maximum. Of a guard that leaves its surface the samples are another
    /// function.
    #[inline]
    fn clear(&self, top: Option<Sample>) -> Class {
        Class::Clear(match (self.origin, top) {
            (Origin::Level(_), Some(top)) => Some(Top {
                k: self.k,
                at: top.at,
                value: top.value,
                bend: self.bend_at(top),
            }),
            _ => None,
        })
    }

    /// Half of the second derivative at a maximum, negative; 0 where no sample is below it on both sides. Where the
    /// function jumps behind the maximum the cubic bends by the height of the jump: a parabola falls as far on either
    /// side, so that its bend is at most what the samples beside the maximum show.
    fn bend_at(&self, top: Sample) -> f64 {
        if !self.values.iter().all(|v| *v < top.value) {
            return 0.0;
        }
        let mut fall = 0.5 * self.cubic.bend(top.at).abs();
        let apart = |i: &usize| (FRACTIONS[*i] - top.at).abs() > BESIDE;
        let left = (0..4).rev().filter(apart).find(|i| FRACTIONS[*i] < top.at);
        let right = (0..4).filter(apart).find(|i| FRACTIONS[*i] > top.at);
        for i in [left, right].into_iter().flatten() {
            let distance = FRACTIONS[i] - top.at;
            fall = lesser(fall, (top.value - self.values[i]) / (distance * distance));
        }
        -fall
    }

    /// Class by the samples alone.
    #[inline]
    fn as_sampled(&self) -> Class {
        match self.beyond {
            Some(i) => Class::Passed(self.between(i)),
            None => Class::Clear(None),
        }
    }

    /// Class by the samples when the cubic is off by `doubt` at most; `None` when that is too much.
    #[inline]
    fn decide(&self, doubt: f64) -> Option<Class> {
        let doubt = if doubt <= ON_SURFACE * self.zero {
            0.0
        } else {
            doubt
        };
        let before = self.beyond.unwrap_or(4);
        // Close to a sample the cubic is exact, and its slope off by a few doubts: no maximum where
        // it is steeper.
        let is_clear = |i: usize| {
            self.values[i] < -doubt || self.cubic.slope(FRACTIONS[i]).abs() > SLOPE_DOUBT * doubt
        };
        if !(0..before).all(is_clear) {
            return None;
        }
        if let Some(top) = self.cubic.top(self.limit())
            && top.value >= -OF_TOP * doubt - self.zero
            // One that is clearly beyond, between the samples at which the guard is passed, comes
            // after the passage.
            && !(self.beyond.is_some_and(|i| top.at > FRACTIONS[i - 1]) && top.value > OF_TOP * doubt)
        {
            return None;
        }
        match self.beyond {
            None => Some(self.clear(self.cubic.top(1.0))),
            Some(i) => {
                let rise = self.values[i] - self.values[i - 1];
                (doubt <= OPEN_PART * rise).then(|| Class::Passed(self.between(i)))
            }
        }
    }

    /// Class by the samples, with as much else as it takes: first the cubic alone, then the rate at
    /// the start of the step, then its maximum.
    pub(super) fn classify<S: System + ?Sized, B: Buffer>(
        &self,
        look: &mut Look<'_, S, B>,
    ) -> Result<Class, Stop> {
        let is_counted_from_level = matches!(self.origin, Origin::Level(_));
        let doubt = self.cubic.doubt();
        if let Some(class) = self.decide(doubt) {
            return Ok(class);
        }
        if !(is_counted_from_level && look.window.is_first()) {
            return self.look_closer(look, doubt);
        }
        look.need_rate(self.k)?;
        let slope = look.guards.own_rate(self.k) * look.window.seconds();
        let doubt = self.cubic.doubt_by_slope(slope);
        match self.decide(doubt) {
            Some(class) => Ok(class),
            None => self.look_closer(look, doubt),
        }
    }

    /// Looks at the maximum of a guard whose samples alone do not settle it.
    #[cold]
    fn look_closer<S: System + ?Sized, B: Buffer>(
        &self,
        look: &mut Look<'_, S, B>,
        doubt: f64,
    ) -> Result<Class, Stop> {
        let (k, zero) = (self.k, self.zero);
        let open_part = OPEN_PART * self.spread();
        // The part of it that is left open is noise.
        let is_known = doubt <= ON_SURFACE * zero + look.guards.kept[k].blur;
        if !is_known && doubt > open_part {
            return Ok(Class::Unsettled(doubt));
        }
        let Some(top) = self.cubic.top(self.limit()) else {
            return Ok(if is_known {
                self.as_sampled()
            } else {
                Class::Unsettled(doubt)
            });
        };
        // The guard has its maximum between two samples; how far values there are off the cubic.
        let after = (1..4).find(|&i| FRACTIONS[i] >= top.at).unwrap_or(3);
        let mut off: f64 = 0.0;
        let mut peak_before = |i: usize, guess: f64| {
            let value_at = |s: f64| {
                let value = self.origin.count(look.own_h_in_search(k, s), s);
                off = off.max((value - self.cubic.at(s)).abs());
                value
            };
            peak(value_at, self.sample(i - 1), guess, self.sample(i), zero)
        };
        let mut best = peak_before(after, top.at);
        // It lies on the other side of a sample that is higher than all between them.
        let is_right = self.values[after] > self.values[after - 1];
        let (higher, beside) = if is_right {
            (after, after + 1)
        } else {
            (after - 1, after - 1)
        };
        if best.value <= self.values[higher] && (1..=self.beyond.unwrap_or(3)).contains(&beside) {
            best = peak_before(beside, FRACTIONS[higher]);
        }
        look.check_sample(k, best)?;
        if !is_known && off > open_part {
            return Ok(Class::Unsettled(doubt));
        }
        // Without a maximum where the cubic has one there may be others, which may reach what it is off by.
        let is_peak = self.values.iter().all(|v| *v < best.value);
        let hidden = if best.value > 0.0 {
            CUBIC_PART * self.spread()
        } else {
            -best.value
        };
        if !is_known && !is_peak && off > hidden {
            return Ok(Class::Unsettled(doubt));
        }
        let floor = match self.origin {
            Origin::Start(_) => ON_SURFACE * zero / best.at,
            Origin::Level(_) => zero,
        };
        if best.value > floor {
            // The guard starts before its surface, so that some sample on the left is negative.
            let is_left = |&i: &usize| FRACTIONS[i] < best.at && self.values[i] < 0.0;
            if let Some(left) = (0..4).rev().find(is_left) {
                return Ok(Class::Passed(self.passage(self.sample(left), best)));
            }
        }
        match self.beyond {
            Some(i) if !is_known && off > OPEN_PART * (self.values[i] - self.values[i - 1]) => {
                Ok(Class::Unsettled(doubt))
            }
            Some(_) => Ok(self.as_sampled()),
            None => {
                // A guard that moves away at the start of the step is nowhere closer than there:
                // that is no maximum.
                let moves_away = look.window.is_first()
                    && best.value <= self.values[0]
                    && look.guards.own_rate(k) <= -look.guards.min_rate[k];
                Ok(self.clear((!moves_away).then_some(best)))
            }
        }
    }
}
