//! One look at all guards: which are near their surface, and which of the others is predicted to be
//! crossed first, by the tangent.

use crate::model::rearm::Arming;

/// Guards that are predicted to be crossed first, by the tangent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ranking {
    pub(crate) first: Option<usize>,
    /// Time to the first guard (s).
    pub(crate) least: f64,
    /// Time to the second (s).
    pub(crate) second: f64,
}

impl Ranking {
    pub(crate) const EMPTY: Self = Self {
        first: None,
        least: f64::INFINITY,
        second: f64::INFINITY,
    };

    /// Enters guard `k`, which is `way` before its surface and approaches it at `rate`.
    #[inline]
    pub(crate) fn enter(&mut self, k: usize, way: f64, rate: f64, min_rate: f64) {
        // way/rate < second, without a division for all who are later.
        if rate < min_rate || way >= self.second * rate {
            return;
        }
        self.enter_at(k, (way / rate).max(0.0));
    }

    /// Entry of guard `k` after the time `tau` (s), which is less than that of the second.
    #[inline]
    fn enter_at(&mut self, k: usize, tau: f64) {
        if tau < self.least {
            self.second = self.least;
            self.least = tau;
            self.first = Some(k);
        } else {
            self.second = tau;
        }
    }
}

/// Stands for the time to the surface of a guard that is near it.
const NEAR: f64 = -1.0;

/// By how much the times to surfaces are uncertain.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blur {
    /// Rounding of times (s).
    pub(crate) time: f64,
    /// By how much a projection may have missed its guard, and all others with it (s).
    pub(crate) missed: f64,
}

/// Findings of one look at all guards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Survey {
    /// The ranking of all guards that are not near.
    pub(crate) ranking: Ranking,
    /// Time by which a projection missed its guard, by the value there (s).
    pub(crate) residual_time: f64,
}

/// Values and bounds that guards are judged by, one entry an event function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surfaces<'a> {
    pub(crate) h: &'a [f64],
    pub(crate) sign: &'a [f64],
    pub(crate) rate: &'a [f64],
    pub(crate) zero: &'a [f64],
    pub(crate) min_rate: &'a [f64],
}

impl Surfaces<'_> {
    /// Time by which a projection onto guard `on` may have missed it, by the value there (s); twice
    /// that, since the rate is the one before.
    #[inline]
    pub(crate) fn missed(&self, on: usize) -> f64 {
        let missed = 2.0 * (self.h[on] / self.rate[on]).abs();
        if missed.is_finite() { missed } else { 0.0 }
    }

    /// Lists in `near` the armed guards within four numerical zeros of their surface (zeros may be
    /// stale), or beyond it; marks the others ready, where some `wait`, and ranks them. Guard `on` is
    /// always listed: the state was brought there, to within the error of the method. `ahead` is
    /// overwritten.
    #[inline]
    pub(crate) fn survey(
        self,
        arming: &mut [Arming],
        ahead: &mut [f64],
        wait: bool,
        on: usize,
        blur: Blur,
        near: &mut Vec<usize>,
    ) -> Survey {
        self.times_ahead(blur, ahead);
        // It is as near as can be.
        ahead[on] = NEAR;
        let n = arming.len();
        let ahead = &ahead[..n];
        if wait {
            for k in 0..n {
                if ahead[k] >= 0.0 && arming[k].is_armed() {
                    arming[k] = Arming::Ready;
                }
            }
        }
        let mut ranking = Ranking::EMPTY;
        near.clear();
        for k in 0..n {
            // A guard mostly comes later than the first two.
            if ahead[k] >= ranking.second || !arming[k].is_armed() {
                continue;
            }
            if ahead[k] < 0.0 {
                near.push(k);
            } else {
                ranking.enter_at(k, ahead[k]);
            }
        }
        Survey {
            ranking,
            residual_time: blur.missed,
        }
    }

    /// The time to the surface of each guard by the tangent (s): [`NEAR`] where it is near, and no
    /// end for one that is not live. Without a branch, so that several are made at once.
    fn times_ahead(self, blur: Blur, ahead: &mut [f64]) {
        let Blur { time, missed } = blur;
        let n = ahead.len();
        let (h, sign, rate) = (&self.h[..n], &self.sign[..n], &self.rate[..n]);
        let (zero, min_rate) = (&self.zero[..n], &self.min_rate[..n]);
        for k in 0..n {
            let (way, own) = (-sign[k] * h[k], sign[k] * rate[k]);
            let speed = rate[k].abs();
            let rounded = time * speed;
            let zero = if zero[k] > rounded { zero[k] } else { rounded };
            let tau = way / own;
            let tau = if tau > 0.0 { tau } else { 0.0 };
            let tau = if own >= min_rate[k] {
                tau
            } else {
                f64::INFINITY
            };
            let is_far = way > 4.0 * zero + missed * speed;
            ahead[k] = if is_far { tau } else { NEAR };
        }
    }

    /// Ranks all ready and live guards by the time to their surface.
    #[inline]
    pub(crate) fn rank(self, arming: &[Arming]) -> Ranking {
        let n = arming.len();
        let (h, sign, rate) = (&self.h[..n], &self.sign[..n], &self.rate[..n]);
        let min_rate = &self.min_rate[..n];
        let mut ranking = Ranking::EMPTY;
        for k in 0..n {
            if arming[k].is_ready() {
                ranking.enter(k, -sign[k] * h[k], sign[k] * rate[k], min_rate[k]);
            }
        }
        ranking
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{below, symmetric, word};

    /// A number in [−1, 1) that is zero in one of eight.
    fn draw(seed: u64, index: u64) -> f64 {
        let drawn = word(seed, index);
        if drawn.is_multiple_of(8) {
            0.0
        } else {
            symmetric(drawn)
        }
    }

    #[test]
    fn a_survey_is_one_look_at_each_guard_after_the_other() {
        for seed in 0..2000 {
            let n = 1 + below(seed, 0, 19);
            let column =
                |c: u64| -> Vec<f64> { (0..n as u64).map(|k| draw(seed, 1 + c + 8 * k)).collect() };
            let sizes = |c: u64| column(c).iter().map(|v| v.abs()).collect::<Vec<_>>();
            let sign: Vec<f64> = column(0).iter().map(|v| v.signum()).collect();
            let (h, rate, zero) = (column(1), column(2), sizes(3));
            let min_rate: Vec<f64> = sizes(4).iter().map(|v| 0.1 * v + 1e-9).collect();
            let kinds = [Arming::Off, Arming::Waiting, Arming::Ready];
            let of = |k: usize| kinds[below(seed, 6 + 8 * k as u64, 3)];
            let before: Vec<Arming> = (0..n).map(of).collect();
            let surfaces = Surfaces {
                h: &h,
                sign: &sign,
                rate: &rate,
                zero: &zero.iter().map(|v| 0.02 * v).collect::<Vec<_>>(),
                min_rate: &min_rate,
            };
            let on = below(seed, 7, n);
            let (missed, time) = (0.05 * draw(seed, 15).abs(), 0.01 * draw(seed, 23).abs());
            let (mut arming, mut near) = (before.clone(), Vec::new());
            let found = surfaces.survey(
                &mut arming,
                &mut vec![f64::NAN; n],
                true,
                on,
                Blur { time, missed },
                &mut near,
            );
            let (mut expected, mut close) = (Ranking::EMPTY, Vec::new());
            for k in (0..n).filter(|&k| before[k].is_armed()) {
                let (way, own) = (-sign[k] * h[k], sign[k] * rate[k]);
                let zero = surfaces.zero[k].max(time * rate[k].abs());
                let is_near = k == on || way <= 4.0 * zero + missed * rate[k].abs();
                assert_eq!(arming[k], if is_near { before[k] } else { Arming::Ready });
                if is_near {
                    close.push(k);
                } else {
                    expected.enter(k, way, own, min_rate[k]);
                }
            }
            assert_eq!(near, close);
            let Ranking {
                first,
                least,
                second,
            } = found.ranking;
            assert_eq!((first, least), (expected.first, expected.least), "{seed}");
            // Not a number where there is none.
            let apart = second - expected.second;
            let is_close = apart.is_nan() || apart.abs() <= 4.0 * f64::EPSILON * second;
            assert!(is_close, "{seed}: {second} {}", expected.second);
        }
    }
}
