//! The limit of impacts that accumulate, by the ratios of the intervals between them.
//!
//! With intervals `d_k` and ratios `r_k = d_k/d_{k−1}` that settle below 1, changes of the ratio
//! shrink by `σ = (r_k − r_{k−1})/(r_{k−1} − r_{k−2})`, and the ratio tends to
//! `r_∞ = r_k + (r_k − r_{k−1}) σ/(1 − σ)`. All ratios to come lie between `r_k` and `r_∞` as long
//! as they settle in this way. The rest of the sum then lies between `d_k r_k/(1 − r_k)` and
//! `d_k r_∞/(1 − r_∞)`: the distance of the two is the bound of its error. The sum itself is formed
//! with ratios that go on to settle by `σ`.
//!
//! Times are as exact as gaps are: to `ν`, the rounding of a gap over its rate, which grows as
//! rates fall. An interval is off by `2 ν`, a ratio by `4 ν/d`, a change of ratios by `8 ν/d`, so that
//! the sum is off by up to
//!
//! ```text
//!     ν (1 + 2 r/(1 − r) + (4 + 8 σ/(1 − σ))/(1 − r)²)
//! ```
//!
//! which is part of the bound. Once it is the greater part, further impacts only add to it, and the
//! limit is taken. Errors of the smooth stretches before are not counted here.

/// Values that a limit is taken of: four intervals, three ratios.
const VALUES: usize = 5;
/// Longest cycle of impacts: a block that drifts rocks differently to either side.
const CYCLE: usize = 2;
/// Impacts kept.
const KEPT: usize = CYCLE * (VALUES - 1) + 1;
/// Ratios that settle more slowly than this are not extrapolated.
const SLOWEST: f64 = 0.9;
/// Rounding of an interval between two values, in units of the values.
const ROUNDING: f64 = 8.0 * f64::EPSILON;
/// Limit of the terms of a sum.
const TERMS: usize = 10_000;

/// The impacts of a run since the last accumulation.
#[derive(Clone, Debug, Default)]
pub(super) struct Series {
    impacts: Vec<Impact>,
}

#[derive(Clone, Debug)]
struct Impact {
    t: f64,
    s: f64,
    /// Error of `t` by the rounding of gaps.
    noise: f64,
    /// Contacts with an impulse.
    contacts: Vec<usize>,
}

/// The end of an accumulation.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Limit {
    pub(super) t: f64,
    pub(super) s: f64,
    pub(super) ratio: f64,
    /// Bounds of the errors of `t` and `s`.
    pub(super) bounds: [f64; 2],
    pub(super) contacts: Vec<usize>,
}

impl Series {
    pub(super) fn clear(&mut self) {
        self.impacts.clear();
    }

    /// Adds an impact: time and arclength after it, and how far the time may be off by the rounding
    /// of gaps. Impacts at one time are one.
    pub(super) fn add(
        &mut self,
        t: f64,
        s: f64,
        noise: f64,
        contacts: impl Iterator<Item = usize>,
    ) {
        match self.impacts.last_mut() {
            Some(last) if last.t >= t => {
                last.s = s;
                last.noise = last.noise.max(noise);
                last.contacts.extend(contacts);
            }
            _ => {
                if self.impacts.len() == KEPT {
                    self.impacts.remove(0);
                }
                let contacts = contacts.collect();
                self.impacts.push(Impact {
                    t,
                    s,
                    noise,
                    contacts,
                });
            }
        }
    }

    /// The limit of the impacts, if its error bounds are at most `tolerance`, or this `part` of the
    /// last interval.
    pub(super) fn limit(&self, tolerance: f64, part: f64) -> Option<Limit> {
        (1..=CYCLE).find_map(|cycle| self.limit_of_each(cycle, tolerance, part))
    }

    /// The limit of the last impact and those whole cycles before it.
    fn limit_of_each(&self, cycle: usize, tolerance: f64, part: f64) -> Option<Limit> {
        let first = self.impacts.len().checked_sub(cycle * (VALUES - 1) + 1)?;
        let each = self.impacts[first..].iter().step_by(cycle);
        let values = |of: fn(&Impact) -> f64| each.clone().map(of).collect::<Vec<_>>();
        let (times, arclengths) = (values(|impact| impact.t), values(|impact| impact.s));
        let noise = values(|impact| impact.noise)
            .into_iter()
            .fold(0.0, f64::max);
        let (t, bound_t, ratio) = limit_of(&times, noise, tolerance, part)?;
        // arclength goes on with time, and faster
        let span = |of: &[f64]| of.last().zip(of.first()).map_or(0.0, |(b, a)| b - a);
        let pace = span(&arclengths) / span(&times);
        let (s, bound_s, _) = limit_of(&arclengths, pace * noise, tolerance, part)?;
        let impacts = &self.impacts[first..];
        let strikes = |j: &usize| impacts.iter().filter(|i| i.contacts.contains(j)).count();
        // Contacts that are struck once each do not accumulate.
        let recurs = |impact: &Impact| impact.contacts.iter().any(|j| strikes(j) > 1);
        if !impacts.iter().all(recurs) {
            return None;
        }
        let mut contacts: Vec<usize> = Vec::new();
        for impact in impacts {
            contacts.extend(&impact.contacts);
        }
        contacts.sort_unstable();
        contacts.dedup();
        Some(Limit {
            t,
            s,
            ratio,
            bounds: [bound_t, bound_s],
            contacts,
        })
    }
}

/// The limit of rising values, the bound of its error, and the ratio of intervals in the end.
fn limit_of(values: &[f64], noise: f64, tolerance: f64, part: f64) -> Option<(f64, f64, f64)> {
    let intervals: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let ratios: Vec<f64> = intervals.windows(2).map(|pair| pair[1] / pair[0]).collect();
    let (&last, &interval) = (values.last()?, intervals.last()?);
    let [.., first, second, third] = ratios[..] else {
        return None;
    };
    // an impact without an approach has no time that a gap determines
    if !ratios.iter().all(|&r| r > 0.0 && r < 1.0) || !noise.is_finite() {
        return None;
    }
    let tolerance = tolerance.max(part * interval);
    let rest = |r: f64| interval * r / (1.0 - r);
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
    if ratio > 0.0 && ratio < 1.0 {
        let left = 1.0 - ratio;
        let spread = scatter * interval + ROUNDING * last.abs();
        let bound = (rest(ratio) - rest(third)).abs() + spread / (left * left);
        let of_ratios = 4.0 + 8.0 * settling / (1.0 - settling);
        let of_times = noise * (1.0 + 2.0 * ratio / left + of_ratios / (left * left));
        if bound <= tolerance.max(of_times) {
            let limit = last + sum(interval, third, change, settling);
            return Some((limit, bound + of_times, ratio));
        }
    }
    // A remainder that is small itself, or no more than the error of times.
    let most = ratios.iter().fold(0.0, |most: f64, &r| most.max(r));
    let bound = rest(most);
    (bound <= tolerance.max(noise)).then(|| (last + rest(third), bound + noise, third))
}

/// The intervals to come, whose ratios change by `change`, less by `settling` from one to the next.
fn sum(interval: f64, mut ratio: f64, mut change: f64, settling: f64) -> f64 {
    let (mut term, mut sum) = (interval, 0.0);
    for _ in 0..TERMS {
        change *= settling;
        ratio += change;
        term *= ratio;
        sum += term;
        if term <= f64::EPSILON * sum {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Impacts of a block that rocks: intervals are odd functions of a rate that falls by 0.7.
    fn series(impacts: u32) -> (Series, f64) {
        let interval = |k: u32| {
            let w = 0.7f64.powi(i32::try_from(k).unwrap());
            0.7 * w + 0.3 * w * w * w
        };
        let (mut series, mut t) = (Series::default(), 0.0);
        for k in 0..impacts {
            t += interval(k);
            series.add(t, 11.0 * t, 0.0, std::iter::once(k as usize % 2));
        }
        (series, 0.7 / 0.3 + 0.3 / (1.0 - 0.343))
    }

    #[test]
    fn the_limit_lies_within_its_bound() {
        let mut found = 0;
        for impacts in 5..40 {
            let (series, exact) = series(impacts);
            for tolerance in [1e-3, 1e-6, 1e-9] {
                if let Some(limit) = series.limit(tolerance, 0.0) {
                    found += 1;
                    assert!(
                        (limit.t - exact).abs() <= limit.bounds[0],
                        "{limit:?} {exact}"
                    );
                    assert!(limit.bounds[1] <= tolerance && limit.contacts == [0, 1]);
                    assert!((limit.s - 11.0 * exact).abs() <= limit.bounds[1]);
                }
            }
        }
        assert!(found > 60, "{found}");
    }

    #[test]
    fn a_cycle_of_two_has_a_limit() {
        let (mut series, mut t, mut interval) = (Series::default(), 0.0, 1.0);
        let exact = (1.0 + 0.1) / (1.0 - 0.05);
        for k in 0..12 {
            t += interval;
            interval *= if k % 2 == 0 { 0.1 } else { 0.5 };
            series.add(t, 2.0 * t, 0.0, std::iter::once(k % 2));
        }
        let limit = series.limit(1e-12, 0.0).unwrap();
        assert!((limit.t - exact).abs() < 1e-14 && (limit.ratio - 0.05).abs() < 1e-9);
    }

    #[test]
    fn steady_and_irregular_impacts_have_no_limit() {
        for intervals in [
            [1.0, 1.0, 1.0, 1.0],
            [1.0, 0.5, 0.6, 0.2],
            [0.5, 0.6, 0.5, 0.4],
        ] {
            let (mut series, mut t) = (Series::default(), 1.0);
            series.add(t, t, 0.0, std::iter::empty());
            for interval in intervals {
                t += interval;
                series.add(t, t, 0.0, std::iter::empty());
            }
            assert_eq!(series.limit(1e-2, 0.0), None);
        }
    }
}
