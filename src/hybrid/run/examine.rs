//! What the four samples of a window say of one guard: that it is not passed, where it is passed,
//! or that they do not settle it.
//!
//! The samples are held against their cubic, and the cubic against what else is known: the rate at
//! the start of the step, a further sample at its maximum. A guard counts as not passed only when
//! the cubic stays away from zero by more than the doubt about it.

use super::cubic::{Cubic, FRACTIONS, SLOPE_DOUBT};
use super::window::{Crossed, Look};
use crate::Stop;
use crate::hybrid::context::System;
use crate::ode::Buffer;
use crate::ode::root::{Sample, peak};

/// How often the time is halved in the search for an excursion that began with a rate of zero.
const MOST_HALVINGS: u32 = 30;

/// Steps of up to so many of the shortest do not tell motion from rounding, nor do values of up to
/// so many numerical zeros.
const UNTOLD: f64 = 64.0;

/// A guard passed within a window: its function, counted from its level, is negative at `low` and
/// not at `high`. Places are fractions of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    pub(crate) k: usize,
    /// 0 for the guard itself, `−eps_k` for the entry into its neighbourhood.
    pub(crate) level: f64,
    /// The value at the start, if the guard starts on its surface. Samples are then `(h −
    /// start)/s`, which has no root at `s = 0`.
    pub(crate) leaves: Option<f64>,
    pub(crate) low: Sample,
    pub(crate) high: Sample,
    /// The cubic through the samples of that function, where it is known to be close to it.
    pub(crate) cubic: Option<Cubic>,
}

/// What samples say of a guard.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Finding {
    /// With the maximum of its function in the window, if it has one inside, and half the second
    /// derivative there.
    NotPassed(Option<(Sample, f64)>),
    Passed(Passage),
    /// The samples do not settle it; with the size of what they leave open.
    Open(f64),
}

/// The samples of one guard in one window, counted from its level.
struct Samples {
    k: usize,
    level: f64,
    leaves: Option<f64>,
    values: [f64; 4],
    /// The first sample that is not negative.
    beyond: Option<usize>,
    cubic: Cubic,
    /// Values within this of zero are zero.
    zero: f64,
}

impl Samples {
    fn new(k: usize, level: f64, leaves: Option<f64>, values: [f64; 4], zero: f64) -> Self {
        let floor = |i: usize| match leaves {
            Some(_) => 4.0 * zero / FRACTIONS[i],
            None => 0.0,
        };
        Self {
            k,
            level,
            leaves,
            values,
            beyond: (1..4).find(|&i| values[i] >= floor(i) && values[i] >= 0.0),
            cubic: Cubic::through(values),
            zero,
        }
    }

    /// The part of the window before the sample that is beyond the guard, that sample included.
    fn limit(&self) -> f64 {
        self.beyond.map_or(1.0, |i| FRACTIONS[i])
    }

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

    /// The passage between sample `i` and the one before.
    fn between(&self, i: usize) -> Passage {
        self.passage(self.sample(i - 1), self.sample(i))
    }

    fn passage(&self, low: Sample, high: Sample) -> Passage {
        Passage {
            k: self.k,
            level: self.level,
            leaves: self.leaves,
            low,
            high,
            cubic: Some(self.cubic),
        }
    }

    /// What the samples say when the cubic is off by `doubt` at most; `None` when that is too much.
    #[inline]
    fn decide(&self, doubt: f64) -> Option<Finding> {
        let doubt = if doubt <= 4.0 * self.zero { 0.0 } else { doubt };
        let before = self.beyond.unwrap_or(4);
        // Close to a sample the cubic is exact, and its slope off by less than twelve doubts: no
        // maximum where it is steeper.
        let is_clear = |i: usize| {
            self.values[i] < -doubt || self.cubic.slope(FRACTIONS[i]).abs() > SLOPE_DOUBT * doubt
        };
        if !(0..before).all(is_clear) {
            return None;
        }
        if let Some(top) = self.cubic.top(self.limit())
            && top.value >= -2.0 * doubt - self.zero
            // One that is clearly beyond, between the samples at which the guard is passed, comes
            // after the passage.
            && !(self.beyond.is_some_and(|i| top.at > FRACTIONS[i - 1]) && top.value > 2.0 * doubt)
        {
            return None;
        }
        match self.beyond {
            None => Some(self.not_passed(self.cubic.top(1.0))),
            Some(i) => {
                let rise = self.values[i] - self.values[i - 1];
                (doubt <= 0.25 * rise).then(|| Finding::Passed(self.between(i)))
            }
        }
    }

    fn not_passed(&self, top: Option<Sample>) -> Finding {
        // Of one that leaves its surface the samples are another function.
        let top = top.filter(|_| self.leaves.is_none());
        Finding::NotPassed(top.map(|top| (top, 0.5 * self.cubic.bend(top.at))))
    }

    /// What the samples say when nothing more is to be learned.
    fn take_as_they_are(&self) -> Finding {
        match self.beyond {
            Some(i) => Finding::Passed(self.between(i)),
            None => self.not_passed(None),
        }
    }
}

/// What the samples of a window say of guard `k`; `hovers` if the window before left it on its
/// surface.
#[inline]
pub(crate) fn examine<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
    hovers: bool,
) -> Result<Finding, Stop> {
    if moves_away_in(look, k)? {
        return Ok(Finding::NotPassed(None));
    }
    let own = look.own(k);
    let seconds = look.window.seconds();
    let secant = (own[3] - own[0]) / seconds;
    let zero = look.zero_of(k, secant).max(look.guards.zero[k]);
    let level = look.level(k, own[0]);
    // One that was clear of its surface in the window before may start this one a rounding
    // before it.
    let comes = !look.window.is_first() && own[0] < 0.0 && !hovers;
    let mut on_surface = level == 0.0 && own[0] >= -4.0 * zero && !comes;
    if on_surface && look.window.is_first() && own[0] < -UNTOLD * look.guards.zero[k] {
        // A window that is long beside the way to the surface says too much of its start, where
        // times and states are exact.
        look.need_rate(k)?;
        on_surface = own[0] >= -UNTOLD * look.guards.zero[k];
    }
    if !look.guards.arming[k].is_ready() || on_surface {
        return examine_on_surface(look, k, own, zero);
    }
    let samples = Samples::new(k, level, None, own.map(|v| v - level), zero);
    let doubt = samples.cubic.doubt();
    if let Some(found) = samples.decide(doubt) {
        return Ok(found);
    }
    let mut doubt = doubt;
    if look.window.is_first() {
        look.need_rate(k)?;
        doubt = samples
            .cubic
            .doubt_by_slope(look.guards.own_rate(k) * seconds);
        if let Some(found) = samples.decide(doubt) {
            return Ok(found);
        }
    }
    look_closer(look, &samples, doubt)
}

/// True when the step is a few of the shortest and the guard moves away where it starts: what its
/// samples show is rounding.
#[inline]
pub(crate) fn moves_away_in<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
) -> Result<bool, Stop> {
    if look.window.step > UNTOLD * look.state.least_step() {
        return Ok(false);
    }
    look.need_rate(k)?;
    Ok(look.guards.own_rate(k) <= -look.guards.min_rate[k])
}

/// The passage of a guard that is monotonic in a window.
pub(crate) fn passage_of<S: System + ?Sized, B: Buffer>(
    look: &Look<'_, S, B>,
    crossed: Crossed,
) -> Passage {
    let Crossed { k, i, level, .. } = crossed;
    let own = look.own(k);
    Samples::new(k, level, None, own.map(|v| v - level), 0.0).between(i)
}

/// A guard that is on its surface where the window starts, or beyond it by the residual of a
/// projection.
fn examine_on_surface<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
    own: [f64; 4],
    zero: f64,
) -> Result<Finding, Stop> {
    if look.guards.arming[k].is_ready() && !look.window.is_first() {
        // A window before was too short to tell.
        let way = look.guards.own_rate(k) * look.window.seconds();
        let moves_so = |rise: f64| rise > 8.0 * zero && (way - rise).abs() <= 0.5 * way;
        if !look.guards.stale[k] && own[0] <= 8.0 * zero && moves_so(own[3] - own[0]) {
            return examine_about_to_pass(look, k, own, zero);
        }
    } else if look.guards.arming[k].is_ready() {
        // One that was just crossed may lie beyond its surface by the residual of a projection,
        // and leaves it all the same.
        look.need_rate(k)?;
        let slope = look.guards.own_rate(k) * look.window.seconds();
        if own.iter().all(|v| v.abs() <= 8.0 * zero) {
            // So short a window tells nothing.
            return Ok(Finding::NotPassed(None));
        }
        if slope > 0.0 && own[0] <= 4.0 * zero {
            return examine_about_to_pass(look, k, own, zero);
        }
        if slope < 0.0 {
            let [_, f1, f2, f3] = FRACTIONS;
            let chord = |i: usize, f: f64| (own[i] - own[0]) / f;
            let values = [slope, chord(1, f1), chord(2, f2), chord(3, f3)];
            let samples = Samples::new(k, 0.0, Some(own[0]), values, zero);
            let doubt = samples.cubic.doubt();
            return match samples.decide(doubt) {
                Some(found) => Ok(found),
                None => look_closer(look, &samples, doubt),
            };
        }
    }
    // Only what was seen clear of its surface passes it.
    let mut clear = own[0] < -zero;
    for i in 1..4 {
        if clear && own[i] >= 0.0 {
            let samples = Samples::new(k, 0.0, None, own, zero);
            return Ok(Finding::Passed(Passage {
                cubic: None,
                ..samples.between(i)
            }));
        }
        clear |= own[i] < -zero;
    }
    let started_there = !look.guards.arming[k].is_ready() && !clear && own[0] <= 4.0 * zero;
    let beyond = (1..4).find(|&i| started_there && own[i] > 4.0 * zero);
    if let Some(i) = beyond {
        let (at, value) = (FRACTIONS[i], own[i]);
        if let Some(passage) = left_before(look, k, Sample { at, value }, zero)? {
            return Ok(Finding::Passed(passage));
        }
    }
    // The first step tells that a given mode puts a guard ahead that the state leaves behind.
    let starts = look.context.counts.steps.get() == 1 && look.context.counts.crossings.get() == 0;
    let way = look.guards.own_rate(k).max(0.0) * look.window.seconds();
    let bends = own[0].abs() <= 4.0 * zero && own[3] > 8.0 * zero + 4.0 * way;
    if starts && look.window.is_first() && !look.guards.arming[k].is_ready() && bends {
        return Err(look.guards.tangent(look.state, look.guards.ahead(k)));
    }
    Ok(Finding::NotPassed(None))
}

/// The passage at or before the sample `high` of a guard that was on its surface, with a rate
/// of zero, where the window starts: it may have left and come back before the first sample.
/// Its place off the surface is sought towards the start, in up to thirty evaluations; `None`
/// when it was nowhere farther off than rounding.
#[cold]
fn left_before<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
    mut high: Sample,
    zero: f64,
) -> Result<Option<Passage>, Stop> {
    let mut at = high.at;
    for _ in 0..MOST_HALVINGS {
        look.context.settings.interrupt.check()?;
        at *= 0.5;
        let value = look.own_h_at(k, at);
        let here = Sample { at, value };
        if value < -zero {
            return Ok(Some(Passage {
                k,
                level: 0.0,
                leaves: None,
                low: here,
                high,
                cubic: None,
            }));
        }
        if value >= 0.0 {
            high = here;
        }
    }
    Ok(None)
}

/// A guard that is on its surface where the window starts, and moves across: passed unless it
/// turns back at once.
#[cold]
fn examine_about_to_pass<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
    own: [f64; 4],
    zero: f64,
) -> Result<Finding, Stop> {
    let mut at = FRACTIONS[1];
    let mut value = own[1];
    for _ in 0..60 {
        if value > zero {
            let low = Sample {
                at: 0.0,
                value: own[0].min(-f64::MIN_POSITIVE),
            };
            return Ok(Finding::Passed(Passage {
                k,
                level: 0.0,
                leaves: None,
                low,
                high: Sample { at, value },
                cubic: None,
            }));
        }
        look.context.settings.interrupt.check()?;
        at *= 0.5;
        value = look.own_h_at(k, at);
    }
    Ok(Finding::NotPassed(None))
}

/// Looks at the maximum of a guard whose samples alone do not settle it.
#[cold]
fn look_closer<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    samples: &Samples,
    doubt: f64,
) -> Result<Finding, Stop> {
    let (k, zero) = (samples.k, samples.zero);
    let spread = samples.spread();
    let open = Finding::Open(doubt);
    let known = doubt <= 4.0 * zero + look.guards.blur[k];
    if !known && doubt > 0.25 * spread {
        return Ok(open);
    }
    let Some(top) = samples.cubic.top(samples.limit()) else {
        return Ok(if known {
            samples.take_as_they_are()
        } else {
            open
        });
    };
    let after = (1..4).find(|&i| FRACTIONS[i] >= top.at).unwrap_or(3);
    let (low, high) = (samples.sample(after - 1), samples.sample(after));
    let mut worst: f64 = 0.0;
    let best = peak(
        |s| {
            let value = own_value(look, samples, s);
            worst = worst.max((value - samples.cubic.at(s)).abs());
            value
        },
        (low, top.at, high),
        zero,
    );
    look.check_sample(k, best)?;
    if !known && worst > 0.25 * spread {
        return Ok(open);
    }
    let threshold = match samples.leaves {
        Some(_) => 4.0 * zero / best.at,
        None => zero,
    };
    if best.value > threshold {
        // The guard starts before its surface, so that some sample on the left is negative.
        let left = (0..4)
            .rev()
            .find(|&i| FRACTIONS[i] < best.at && samples.values[i] < 0.0);
        if let Some(left) = left {
            return Ok(Finding::Passed(samples.passage(samples.sample(left), best)));
        }
    }
    match samples.beyond {
        Some(i) if !known && 4.0 * worst > samples.values[i] - samples.values[i - 1] => Ok(open),
        Some(_) => Ok(samples.take_as_they_are()),
        None => {
            // What moves away at the start of the step is nowhere closer than there: that is no
            // maximum.
            let moves_away = look.window.is_first()
                && samples.leaves.is_none()
                && best.value <= samples.values[0]
                && look.guards.own_rate(k) <= -look.guards.min_rate[k];
            Ok(samples.not_passed((!moves_away).then_some(best)))
        }
    }
}

/// The function of a guard at a fraction of a window, as its samples are counted.
#[inline]
fn own_value<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    samples: &Samples,
    s: f64,
) -> f64 {
    let value = look.own_h_in_search(samples.k, s);
    match samples.leaves {
        Some(start) => (value - start) / s,
        None => value - samples.level,
    }
}
