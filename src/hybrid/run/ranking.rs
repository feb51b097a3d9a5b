//! One look at all guards: which are near their surface, and which of the others is predicted to be
//! crossed first, by the tangent.

use crate::hybrid::model::rearm::Arming;

/// Who is predicted to be crossed first, by the tangent.
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
        let tau = (way / rate).max(0.0);
        if tau < self.least {
            self.second = self.least;
            self.least = tau;
            self.first = Some(k);
        } else {
            self.second = tau;
        }
    }
}

/// What one look at all guards finds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Survey {
    /// The ranking of all guards that are not near.
    pub(crate) ranking: Ranking,
    /// Time by which a projection missed its guard, by the value there (s).
    pub(crate) residual_time: f64,
}

/// What guards are judged by, one entry an event function.
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
    /// stale), or beyond it; marks the others ready and ranks them. Guard `on` is always listed:
    /// the state was brought there, to within the error of the method, which makes all guards
    /// uncertain by `missed`; `time` is how far times are rounded (s).
    #[inline]
    pub(crate) fn survey(
        self,
        arming: &mut [Arming],
        (on, missed): (usize, f64),
        time: f64,
        near: &mut Vec<usize>,
    ) -> Survey {
        let n = arming.len();
        let (h, sign, rate) = (&self.h[..n], &self.sign[..n], &self.rate[..n]);
        let (zero, min_rate) = (&self.zero[..n], &self.min_rate[..n]);
        let mut ranking = Ranking::EMPTY;
        near.clear();
        for k in 0..n {
            if !arming[k].is_armed() {
                continue;
            }
            let way = -sign[k] * h[k];
            let zero = zero[k].max(time * rate[k].abs());
            if way > 4.0 * zero + missed * rate[k].abs() && k != on {
                arming[k] = Arming::Ready;
                ranking.enter(k, way, sign[k] * rate[k], min_rate[k]);
            } else {
                near.push(k);
            }
        }
        Survey {
            ranking,
            residual_time: missed,
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
