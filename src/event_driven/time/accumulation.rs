//! Impacts that accumulate: their limit, by the ratios of the intervals between them, with a bound of
//! its error.
//!
//! Of each contact the last impacts are kept. With intervals `d_k` and ratios `r_k = d_k/d_{k−1}` that
//! settle below 1, changes of the ratio shrink by `σ = (r_k − r_{k−1})/(r_{k−1} − r_{k−2})`, and the
//! ratio tends to `r_∞ = r_k + (r_k − r_{k−1}) σ/(1 − σ)`. All ratios to come lie between `r_k` and
//! `r_∞` as long as they settle in this way. The rest of the sum then lies between `d_k r_k/(1 − r_k)`
//! and `d_k r_∞/(1 − r_∞)`: the distance of the two is the bound of its error. The sum itself is formed
//! with ratios that go on to settle by `σ`. For a bouncing ball, whose ratio is constant, it is exact:
//! `t* = t_1 (1 + γ)/(1 − γ)`.
//!
//! Times are as exact as gaps are: to `ν`, the rounding of a gap over its rate, which grows as
//! rates fall. An interval is off by `2 ν`, a ratio by `4 ν/d`, a change of ratios by `8 ν/d`, so that
//! the sum is off by up to
//!
//! ```text
//!     ν (1 + 2 r/(1 − r) + (4 + 8 σ/(1 − σ))/(1 − r)²)
//! ```
//!
//! which is part of the bound. Once it is the greater part, further impacts only add to it.

use crate::event_driven::Breakdown;
use crate::record::{ContactEvent, Remark};

/// Impacts of a contact that are kept, and that a limit is taken of: four intervals, three ratios.
const VALUES: usize = 5;
/// Ratios of an accumulation that is near may vary by this part.
const STEADY: f64 = 0.05;
/// Intervals with ratios above this do not shrink.
const LASTING: f64 = 0.999;
/// Ratios that settle more slowly than this are not extrapolated.
const SLOWEST: f64 = 0.9;
/// Rounding of an interval between two times, in units of the times.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Rounding of a gap, in units of the greatest coordinate (at least 1).
const GAP_ROUNDING: f64 = 4.0 * f64::EPSILON;
/// Contacts whose accumulations are closer to each other than so many times what a time is taken to
/// accumulate together.
const TOGETHER: f64 = 10.0;
/// Errors of smooth phases over their lengths, in units of the relative tolerance: an estimate.
const SMOOTH: f64 = 100.0;

/// An accumulation that is about to happen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Accumulation {
    pub(crate) t: f64,
    pub(crate) contacts: Vec<usize>,
    /// The ratio of intervals in the end.
    pub(crate) ratio: f64,
    /// Bound of the error of `t` (s).
    pub(crate) bound: f64,
    /// It counts as reached: nothing that happens before it matters.
    pub(crate) is_near: bool,
}

impl Accumulation {
    /// It as the end of a run, at a time.
    pub(crate) fn breakdown(&self, t: f64) -> Breakdown {
        Breakdown::Zeno {
            accumulation: self.t,
            contacts: self.contacts.clone(),
            ratio: self.ratio,
            t,
        }
    }

    /// The remark on the event that absorbs it.
    pub(crate) fn remark(&self) -> Remark {
        Remark::Accumulation {
            ratio: self.ratio,
            bound: self.bound,
        }
    }
}

/// How close an accumulation is to be to be announced.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ahead {
    /// It counts as reached when it is closer than this (s).
    pub(crate) near: f64,
    /// Its time is known when the bound of its error is at most this (s); 0 for one that is never
    /// known before it is reached.
    pub(crate) tolerance: f64,
    /// Later ones are not announced (s).
    pub(crate) end: f64,
    /// Relative tolerance of smooth phases.
    pub(crate) rtol: f64,
}

#[derive(Clone, Copy, Debug)]
struct Impact {
    t: f64,
    /// Error of `t` by the rounding of gaps.
    noise: f64,
}

/// The impacts of all contacts, and the accumulation found in them.
#[derive(Clone, Debug)]
pub(crate) struct Detector {
    /// The last impacts of each contact, the latest last.
    impacts: Vec<Vec<Impact>>,
    /// Number of coordinates in a state.
    coordinates: usize,
    /// The time at which the run began (s).
    start: f64,
    ahead: Ahead,
}

impl Detector {
    /// For a run that begins at `start`.
    pub(crate) fn new(contacts: usize, coordinates: usize, start: f64) -> Self {
        Self {
            impacts: vec![Vec::with_capacity(VALUES + 1); contacts],
            coordinates,
            start,
            ahead: Ahead::default(),
        }
    }

    /// Announces accumulations so close ahead from now on.
    pub(crate) fn look(&mut self, ahead: Ahead) {
        self.ahead = ahead;
    }

    /// Records the impacts of an event at these contacts; returns the accumulation that they announce.
    pub(crate) fn take(
        &mut self,
        contacts: &[usize],
        event: &ContactEvent,
    ) -> Option<Accumulation> {
        if contacts.is_empty() {
            return None;
        }
        let q = event.state_before.iter().take(self.coordinates);
        let size = q.fold(1.0, |most: f64, x| most.max(x.abs()));
        let approach = event.approach.iter();
        let fastest = approach.fold(0.0, |most: f64, u| most.max(-u));
        let impact = Impact {
            t: event.t,
            noise: GAP_ROUNDING * size / fastest,
        };
        let mut found = None;
        for &j in contacts {
            found = found.or(self.impact(j, impact));
        }
        found
    }

    fn impact(&mut self, contact: usize, impact: Impact) -> Option<Accumulation> {
        let impacts = self.impacts.get_mut(contact)?;
        match impacts.last_mut() {
            // Impacts at one time are one.
            Some(last) if last.t >= impact.t => last.noise = last.noise.max(impact.noise),
            _ => impacts.push(impact),
        }
        if impacts.len() > VALUES {
            impacts.remove(0);
        }
        let Ahead {
            near,
            tolerance,
            end,
            ..
        } = self.ahead;
        let is_steady = self.is_steady(contact);
        if !is_steady && tolerance == 0.0 {
            return None;
        }
        let limit = self.limit(contact)?;
        let is_near = is_steady && limit.t - impact.t < near;
        let is_known = tolerance > 0.0 && limit.is_known(tolerance);
        if limit.t > end || !(is_near || is_known) {
            return None;
        }
        let contacts = self.together(contact, limit, |other| {
            if is_near {
                TOGETHER * near
            } else {
                limit.bound + limit.noise + other.bound + other.noise + TOGETHER * tolerance
            }
        })?;
        Some(Accumulation {
            t: limit.t,
            contacts,
            ratio: limit.ratio,
            bound: limit.bound + limit.noise,
            is_near,
        })
    }

    /// The contacts that accumulate at a limit, or `apart` from it (s) by what is known of theirs. None where some
    /// contact has been struck repeatedly meanwhile, but not yet so often that it has a limit: a body thrown
    /// to and fro between two others comes to rest on both or on neither.
    fn together(
        &self,
        contact: usize,
        limit: Limit,
        apart: impl Fn(Limit) -> f64,
    ) -> Option<Vec<usize>> {
        let since = self.impacts[contact].iter().nth_back(VALUES - 1)?.t;
        let mut contacts = Vec::new();
        for (j, impacts) in self.impacts.iter().enumerate() {
            let struck = impacts.iter().filter(|impact| impact.t >= since).count();
            match self.limit(j) {
                Some(other) => {
                    let is_close = (other.t - limit.t).abs() <= apart(other);
                    if j == contact || (struck > 1 && is_close) {
                        contacts.push(j);
                    }
                }
                None if struck > 1 => return None,
                None => {}
            }
        }
        Some(contacts)
    }

    /// Adds what the errors of the smooth phases since the start are estimated to be to the bound.
    pub(crate) fn with_smooth_errors(&self, found: Accumulation) -> Accumulation {
        let smooth = SMOOTH * self.ahead.rtol * (found.t - self.start);
        Accumulation {
            bound: found.bound + smooth,
            ..found
        }
    }

    /// Forgets a contact, which has been dealt with.
    pub(crate) fn forget(&mut self, contacts: &[usize]) {
        for &j in contacts {
            if let Some(impacts) = self.impacts.get_mut(j) {
                impacts.clear();
            }
        }
    }

    /// The last interval between the impacts of a contact (s), where these do not shrink.
    pub(crate) fn lasting(&self, contact: usize) -> Option<f64> {
        let last: &[Impact; VALUES] = self.impacts.get(contact)?.last_chunk()?;
        let mut ratios = last.windows(3).map(ratio);
        let interval = last[VALUES - 1].t - last[VALUES - 2].t;
        ratios.all(|ratio| ratio > LASTING).then_some(interval)
    }

    /// The limit of the impacts of a contact.
    fn limit(&self, contact: usize) -> Option<Limit> {
        let impacts = self.impacts.get(contact)?;
        let last: &[Impact; VALUES] = impacts.last_chunk()?;
        let noise = last.iter().map(|impact| impact.noise);
        Limit::of(
            last.map(|impact| impact.t),
            noise.fold(0.0, f64::max),
            self.ahead.tolerance,
        )
    }

    /// True when all ratios of a contact are below 1 and hardly vary.
    fn is_steady(&self, contact: usize) -> bool {
        let ratios = self.impacts[contact].windows(3).map(ratio);
        let range = |(a, b): (f64, f64), r: f64| (a.min(r), b.max(r));
        let (least, most) = ratios.fold((f64::INFINITY, 0.0), range);
        least > 0.0 && most < 1.0 && most - least <= STEADY * most
    }
}

/// The ratio of the intervals between three impacts.
fn ratio(impacts: &[Impact]) -> f64 {
    (impacts[2].t - impacts[1].t) / (impacts[1].t - impacts[0].t)
}

/// The limit of times whose intervals shrink.
#[derive(Clone, Copy, Debug)]
struct Limit {
    t: f64,
    /// The time to it from the last of those (s).
    left: f64,
    /// The ratio of intervals in the end.
    ratio: f64,
    /// Bound of the error of the sum of intervals to come.
    bound: f64,
    /// The part of its error that the rounding of gaps makes.
    noise: f64,
}

impl Limit {
    /// Of times that may be off by `noise`. Without a tolerance it is that of a constant ratio. Else, of two
    /// bounds, one that makes the limit known is taken, or the lesser.
    fn of(times: [f64; VALUES], noise: f64, tolerance: f64) -> Option<Self> {
        let d: [f64; VALUES - 1] = std::array::from_fn(|k| times[k + 1] - times[k]);
        let ratios: [f64; VALUES - 2] = std::array::from_fn(|k| d[k + 1] / d[k]);
        if !ratios.iter().all(|&r| r > 0.0 && r < 1.0) {
            return None;
        }
        let ([first, second, third], interval, last) = (ratios, d[VALUES - 2], times[VALUES - 1]);
        let rest = |r: f64| interval * r / (1.0 - r);
        // A remainder that is small itself.
        let most = ratios.iter().fold(0.0, |most: f64, &r| most.max(r));
        let small = Self {
            t: last + rest(third),
            left: rest(third),
            ratio: third,
            bound: rest(most),
            noise,
        };
        if tolerance == 0.0 {
            return Some(small);
        }
        let change = third - second;
        let settling = (change / (second - first)).abs();
        // Ratios that vary without settling are constant but for noise; none of those to come is
        // farther away than ten times that.
        let (ratio, scatter, settling) = if change == 0.0 {
            (third, 0.0, 0.0)
        } else if settling < SLOWEST {
            (third + change * settling / (1.0 - settling), 0.0, settling)
        } else {
            (third, 10.0 * (change.abs() + (second - first).abs()), 0.0)
        };
        if !(ratio > 0.0 && ratio < 1.0) {
            return Some(small);
        }
        let left = 1.0 - ratio;
        let spread = scatter * interval + ROUNDING * last.abs();
        let of_ratios = 4.0 + 8.0 * settling / (1.0 - settling);
        let to_come = sum(interval, third, change, settling);
        let settled = Self {
            t: last + to_come,
            left: to_come,
            ratio,
            bound: (rest(ratio) - rest(third)).abs() + spread / (left * left),
            noise: noise * (1.0 + 2.0 * ratio / left + of_ratios / (left * left)),
        };
        let is_better = small.bound + small.noise < settled.bound + settled.noise;
        match [settled, small].map(|limit| limit.is_known(tolerance)) {
            [true, _] => Some(settled),
            [false, true] => Some(small),
            [false, false] => Some(if is_better { small } else { settled }),
        }
    }

    /// True when the sum is within a tolerance, or no more off than the times that it is formed of.
    /// Impacts whose times are off by more than what is left say nothing: one without an approach has
    /// no time that a gap determines.
    fn is_known(&self, tolerance: f64) -> bool {
        self.noise <= self.left && self.bound <= tolerance.max(self.noise)
    }
}

/// The intervals to come, whose ratios change by `change`, less by `settling` from one to the next.
fn sum(interval: f64, mut ratio: f64, mut change: f64, settling: f64) -> f64 {
    let (mut term, mut sum) = (interval, 0.0);
    // Changes that shrink by less than `SLOWEST` are rounding after some hundred terms.
    while change.abs() > f64::EPSILON * ratio && term > f64::EPSILON * sum {
        change *= settling;
        ratio += change;
        term *= ratio;
        sum += term;
    }
    sum + term * ratio / (1.0 - ratio)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detector(contacts: usize, near: f64, tolerance: f64) -> Detector {
        let mut detector = Detector::new(contacts, 0, 0.0);
        let (end, rtol) = (100.0, 0.0);
        detector.look(Ahead {
            near,
            tolerance,
            end,
            rtol,
        });
        detector
    }

    fn struck(detector: &mut Detector, contact: usize, t: f64) -> Option<Accumulation> {
        detector.impact(contact, Impact { t, noise: 0.0 })
    }

    #[test]
    fn a_bouncing_ball_is_found_and_its_time_is_exact() {
        let (first, restitution): (f64, f64) = (0.45, 0.5);
        let exact = first * (1.0 + restitution) / (1.0 - restitution);
        for (near, tolerance, left) in [(1e-3, 0.0, 1e-3), (0.0, 1e-9, 0.1)] {
            let mut detector = detector(1, near, tolerance);
            let (mut t, mut gap) = (first, 2.0 * first * restitution);
            let found = loop {
                if let Some(found) = struck(&mut detector, 0, t) {
                    break found;
                }
                t += gap;
                gap *= restitution;
            };
            assert!((found.t - exact).abs() < 1e-12 && found.contacts == [0]);
            assert!((found.ratio - restitution).abs() < 1e-9 && exact - t < left);
            assert!((found.t - exact).abs() <= found.bound && found.bound < 1e-3);
        }
    }

    #[test]
    fn steady_bouncing_and_irregular_gaps_are_no_accumulation() {
        let mut detector = detector(3, 1.0, 1e-2);
        for k in 0..40 {
            assert_eq!(struck(&mut detector, 0, f64::from(k)), None);
        }
        let mut t = 0.0;
        for gap in [1.0, 0.5, 0.4, 0.1, 0.09, 0.02, 0.018] {
            t += gap;
            assert_eq!(struck(&mut detector, 1, t), None);
        }
        for gap in [1.0, 0.5, 0.6, 0.2, 0.5, 0.6, 0.5, 0.4] {
            t += gap;
            assert_eq!(struck(&mut detector, 2, t), None);
        }
    }

    /// A block that rocks: intervals are odd functions of a rate that falls by 0.7.
    #[test]
    fn the_limit_lies_within_its_bound() {
        let exact = 0.7 / 0.3 + 0.3 / (1.0 - 0.343);
        let mut found = 0;
        for tolerance in (3..13).map(|k| 10f64.powi(-k)) {
            let (mut detector, mut t, mut w) = (detector(2, 0.0, tolerance), 0.0, 1.0);
            for k in 0..60 {
                t += 0.7 * w + 0.3 * w * w * w;
                w *= 0.7;
                if let Some(limit) = struck(&mut detector, k % 2, t) {
                    found += 1;
                    let off = (limit.t - exact).abs();
                    assert!(off <= limit.bound && limit.bound <= tolerance, "{limit:?}");
                    assert!(limit.contacts == [0, 1] && !limit.is_near);
                }
            }
        }
        assert!(found > 100, "{found}");
    }
}
