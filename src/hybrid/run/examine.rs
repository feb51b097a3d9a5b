//! What the four samples of a window say of one guard: that it is not passed, where it is passed,
//! or that they do not settle it.
//!
//! The samples are held against their cubic, and the cubic against what else is known: the rate at
//! the start of the step, a further sample at its maximum. A guard counts as not passed only when
//! the cubic stays away from zero by more than the doubt about it.

use super::cubic::{Cubic, FRACTIONS, SLOPE_DOUBT};
use super::state::Run;
use super::window::{Crossed, Window};
use crate::Stop;
use crate::hybrid::options::Settings;
use crate::hybrid::{EventFunction, Flow, Projection};
use crate::ode::Buffer;
use crate::ode::root::{Sample, peak};

/// How often the time is halved in the search for an excursion that began with a rate of zero.
const MOST_HALVINGS: u32 = 30;

/// Steps of up to so many of the shortest do not tell motion from rounding.
const UNTOLD: f64 = 64.0;

/// A guard passed within a window: its function, counted from its level, is negative at `low` and
/// not at `high`. Places are fractions of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passage {
    pub(crate) k: usize,
    /// 0 for the guard itself, `−eps_k` for the entry into its neighbourhood.
    pub(crate) level: f64,
    /// The guard is on its surface, at this value, where the window starts. Its function is divided
    /// by the fraction of the window then, so that the start is no root.
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

impl<B: Buffer> Run<B> {
    /// What the samples of a window say of guard `k`.
    #[inline]
    pub(crate) fn examine<S>(
        &mut self,
        system: &S,
        settings: &Settings,
        k: usize,
        window: Window,
        step: f64,
    ) -> Result<Finding, Stop>
    where
        S: Flow + EventFunction,
    {
        if self.moves_away_in(system, k, step)? {
            return Ok(Finding::NotPassed(None));
        }
        let own = self.own_samples(k, window);
        let seconds = window.width() * step;
        let secant = (own[3] - own[0]) / seconds;
        let zero = self.zero(k, secant, 0.0).max(self.guards.zero[k]);
        let level = self.level(settings, k, own[0]);
        // One that was clear of its surface in the window before may start this one a rounding
        // before it.
        let comes = !window.is_first() && own[0] < 0.0 && !self.work.hovers[k];
        let on_surface = level == 0.0 && own[0] >= -4.0 * zero && !comes;
        if !self.guards.ready[k] || on_surface {
            return self.examine_on_surface(system, k, own, window, step, zero);
        }
        let samples = Samples::new(k, level, None, own.map(|v| v - level), zero);
        let doubt = samples.cubic.doubt();
        if let Some(found) = samples.decide(doubt) {
            return Ok(found);
        }
        let mut doubt = doubt;
        if window.is_first() {
            self.need_rate(system, k)?;
            doubt = samples
                .cubic
                .doubt_by_slope(self.guards.own_rate(k) * seconds);
            if let Some(found) = samples.decide(doubt) {
                return Ok(found);
            }
        }
        self.look_closer(system, &samples, doubt, window, step)
    }

    /// True when a step is so short that a guard which moves away where it starts cannot come back:
    /// what its samples show is rounding.
    #[inline]
    pub(crate) fn moves_away_in<S>(&mut self, system: &S, k: usize, step: f64) -> Result<bool, Stop>
    where
        S: Flow + EventFunction,
    {
        if step > UNTOLD * self.least_step() {
            return Ok(false);
        }
        self.need_rate(system, k)?;
        Ok(self.guards.own_rate(k) <= -self.guards.min_rate[k])
    }

    /// The passage of a guard that is monotonic in a window.
    pub(crate) fn passage_of(
        &self,
        settings: &Settings,
        crossed: Crossed,
        window: Window,
    ) -> Passage {
        let Crossed { k, i, .. } = crossed;
        let own = self.own_samples(k, window);
        let level = self.level(settings, k, own[0]);
        Samples::new(k, level, None, own.map(|v| v - level), 0.0).between(i)
    }

    /// A guard that is on its surface where the window starts, or beyond it by the residual of a
    /// projection.
    fn examine_on_surface<S>(
        &mut self,
        system: &S,
        k: usize,
        own: [f64; 4],
        window: Window,
        step: f64,
        zero: f64,
    ) -> Result<Finding, Stop>
    where
        S: Flow + EventFunction,
    {
        if self.guards.ready[k] && !window.is_first() {
            // A window before was too short to tell.
            let way = self.guards.own_rate(k) * window.width() * step;
            let moves_so = |rise: f64| rise > 8.0 * zero && (way - rise).abs() <= 0.5 * way;
            if !self.guards.stale[k] && own[0] <= 8.0 * zero && moves_so(own[3] - own[0]) {
                return Ok(self.examine_about_to_pass(system, k, own, window, step, zero));
            }
        } else if self.guards.ready[k] {
            // One that was just crossed may lie beyond its surface by the residual of a projection,
            // and leaves it all the same.
            self.need_rate(system, k)?;
            let slope = self.guards.own_rate(k) * window.width() * step;
            if own.iter().all(|v| v.abs() <= 8.0 * zero) {
                // So short a window tells nothing.
                return Ok(Finding::NotPassed(None));
            }
            if slope > 0.0 && own[0] <= 4.0 * zero {
                return Ok(self.examine_about_to_pass(system, k, own, window, step, zero));
            }
            if slope < 0.0 {
                let [_, f1, f2, f3] = FRACTIONS;
                let chord = |i: usize, f: f64| (own[i] - own[0]) / f;
                let values = [slope, chord(1, f1), chord(2, f2), chord(3, f3)];
                let samples = Samples::new(k, 0.0, Some(own[0]), values, zero);
                let doubt = samples.cubic.doubt();
                return match samples.decide(doubt) {
                    Some(found) => Ok(found),
                    None => self.look_closer(system, &samples, doubt, window, step),
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
        let started_there = !self.guards.ready[k] && !clear && own[0] <= 4.0 * zero;
        let beyond = (1..4).find(|&i| started_there && own[i] > 4.0 * zero);
        let passage = beyond.and_then(|i| {
            let (at, value) = (FRACTIONS[i], own[i]);
            self.left_before(system, k, Sample { at, value }, (window, step), zero)
        });
        if let Some(passage) = passage {
            return Ok(Finding::Passed(passage));
        }
        // The first step tells that a given mode puts a guard ahead that the state leaves behind.
        let starts = self.statistics.steps == 1 && self.statistics.crossings == 0;
        let way = self.guards.own_rate(k).max(0.0) * window.width() * step;
        let bends = own[0].abs() <= 4.0 * zero && own[3] > 8.0 * zero + 4.0 * way;
        if starts && window.is_first() && !self.guards.ready[k] && bends {
            return Err(self.tangent(self.guards.ahead(k)));
        }
        Ok(Finding::NotPassed(None))
    }

    /// The passage at or before the sample `high` of a guard that was on its surface, with a rate
    /// of zero, where the window starts: it may have left and come back before the first sample.
    /// Its place off the surface is sought towards the start, in up to thirty evaluations; `None`
    /// when it was nowhere farther off than rounding.
    #[cold]
    fn left_before<S: EventFunction>(
        &mut self,
        system: &S,
        k: usize,
        mut high: Sample,
        (window, step): (Window, f64),
        zero: f64,
    ) -> Option<Passage> {
        let mut at = high.at;
        for _ in 0..MOST_HALVINGS {
            at *= 0.5;
            let value = self.own_h_at(system, k, window.at(at), step);
            let here = Sample { at, value };
            if value < -zero {
                return Some(Passage {
                    k,
                    level: 0.0,
                    leaves: None,
                    low: here,
                    high,
                    cubic: None,
                });
            }
            if value >= 0.0 {
                high = here;
            }
        }
        None
    }

    /// A guard that is on its surface where the window starts, and moves across: passed unless it
    /// turns back at once.
    #[cold]
    fn examine_about_to_pass<S: EventFunction>(
        &mut self,
        system: &S,
        k: usize,
        own: [f64; 4],
        window: Window,
        step: f64,
        zero: f64,
    ) -> Finding {
        let mut at = FRACTIONS[1];
        let mut value = own[1];
        for _ in 0..60 {
            if value > zero {
                let low = Sample {
                    at: 0.0,
                    value: own[0].min(-f64::MIN_POSITIVE),
                };
                return Finding::Passed(Passage {
                    k,
                    level: 0.0,
                    leaves: None,
                    low,
                    high: Sample { at, value },
                    cubic: None,
                });
            }
            at *= 0.5;
            value = self.own_h_at(system, k, window.at(at), step);
        }
        Finding::NotPassed(None)
    }

    /// Looks at the maximum of a guard whose samples alone do not settle it.
    #[cold]
    fn look_closer<S: EventFunction>(
        &mut self,
        system: &S,
        samples: &Samples,
        doubt: f64,
        window: Window,
        step: f64,
    ) -> Result<Finding, Stop> {
        let (k, zero) = (samples.k, samples.zero);
        let spread = samples.spread();
        let open = Finding::Open(doubt);
        let known = doubt <= 4.0 * zero + self.guards.blur[k];
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
                let value = self.own_value(system, samples, window, step, s);
                worst = worst.max((value - samples.cubic.at(s)).abs());
                value
            },
            (low, top.at, high),
            zero,
        );
        self.check_sample(k, best, window, step)?;
        if !known && worst > 0.25 * spread {
            return Ok(open);
        }
        let threshold = match samples.leaves {
            Some(_) => 4.0 * zero / best.at,
            None => zero,
        };
        if best.value > threshold {
            // It starts before its surface: there is a sample on the left that is.
            let left = (0..4)
                .rev()
                .find(|&i| FRACTIONS[i] < best.at && samples.values[i] < 0.0);
            if let Some(left) = left {
                return Ok(Finding::Passed(samples.passage(samples.sample(left), best)));
            }
        }
        match samples.beyond {
            Some(i) if !known && 4.0 * worst > samples.values[i] - samples.values[i - 1] => {
                Ok(open)
            }
            Some(_) => Ok(samples.take_as_they_are()),
            None => {
                // What moves away at the start of the step is nowhere closer than there: that is no
                // maximum.
                let moves_away = window.is_first()
                    && samples.leaves.is_none()
                    && best.value <= samples.values[0]
                    && self.guards.own_rate(k) <= -self.guards.min_rate[k];
                Ok(samples.not_passed((!moves_away).then_some(best)))
            }
        }
    }

    /// The function of a guard at a fraction of a window, as its samples are counted.
    #[inline]
    fn own_value<S: EventFunction>(
        &mut self,
        system: &S,
        samples: &Samples,
        window: Window,
        step: f64,
        s: f64,
    ) -> f64 {
        let value = self.own_h_at(system, samples.k, window.at(s), step);
        match samples.leaves {
            Some(start) => (value - start) / s,
            None => value - samples.level,
        }
    }

    /// The level that guard `k` is watched for, which is at `own` where the window starts: the
    /// border of its neighbourhood as long as it is clearly outside, and the last step did not end
    /// there, so that a step that begins on the border does not find it again.
    #[inline]
    pub(crate) fn level(&self, settings: &Settings, k: usize, own: f64) -> f64 {
        match &settings.projection {
            Projection::Eps { eps, .. } if self.inside != Some(k) => {
                let (eps, rounding) = (eps.get(k), self.zero(k, self.guards.rate[k], 0.0));
                let outside = own < -eps * (1.0 + 1e-9) - 4.0 * rounding;
                if outside { -eps } else { 0.0 }
            }
            _ => 0.0,
        }
    }
}
