//! What is known of each event function: value, rate, numerical zero, arming. And one look at all
//! of them: who is near its surface, and who of the others comes first by the tangent.

use crate::hybrid::model::rearm::Arming;
use crate::hybrid::{CrossedGuard, Watch, evaluate};
use crate::{Direction, Guard};

/// What is known of each event function at the present state, and how it is armed.
#[derive(Clone, Debug)]
pub(crate) struct GuardTable {
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
    /// crossed: their rows are evaluated anew only when they come into question.
    pub(crate) stale: Vec<bool>,
    /// Whether the crossing of the guard ahead of the present side is looked for.
    pub(crate) arming: Vec<Arming>,
    pub(crate) watch: Vec<Watch>,
    /// Liveness bound `c_k`.
    pub(crate) min_rate: Vec<f64>,
    /// The part of the largest rate seen that `c_k` is, where the user states none; else 0.
    pub(crate) part_of_rate: Vec<f64>,
    pub(crate) event_tolerance: Vec<f64>,
    /// `Σ |∂h_k/∂x_i| scale_i` with the error that the tolerances allow in each state variable
    /// (`u_k`); 0 where it is not known.
    pub(crate) spread: Vec<f64>,
    /// When it was evaluated (s).
    pub(crate) spread_at: Vec<f64>,
    /// The largest that was in this run.
    pub(crate) most_spread: Vec<f64>,
    /// Sizes of the terms of those whose row is not written.
    pub(crate) terms: Vec<Terms>,
    /// What samples have left open of `h_k` however close they were (`u_k`).
    pub(crate) blur: Vec<f64>,
    /// Time at which each directed guard fired last, −∞ before.
    pub(crate) fired_at: Vec<f64>,
    /// Time at which the motion last passed each directed guard, where a return over it depends on
    /// how deep it went (s). ∞ when the crossing turned the motion back, −∞ when it slowed it down
    /// or was such a return, and before the first.
    pub(crate) passed_at: Vec<f64>,
}

/// How an event function whose row is not written depends on the state: kept while the state is of
/// the same size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms {
    /// `Σ |∂h_k/∂x_i · x_i|` (`u_k`).
    pub(crate) magnitude: f64,
    /// `Σ |∂h_k/∂x_i| scale_i` with the error that the tolerances allow in each state variable
    /// (`u_k`).
    pub(crate) spread: f64,
    /// The largest state variable that they are known for.
    pub(crate) size: f64,
}

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

impl GuardTable {
    pub(crate) fn new(count: usize) -> Self {
        let values = || vec![0.0; count];
        Self {
            h: values(),
            sign: vec![1.0; count],
            rate: values(),
            zero: values(),
            stale: vec![true; count],
            arming: vec![Arming::Off; count],
            watch: vec![Watch::BOTH; count],
            min_rate: values(),
            part_of_rate: values(),
            event_tolerance: values(),
            spread: values(),
            spread_at: values(),
            most_spread: values(),
            terms: vec![Terms::default(); count],
            blur: values(),
            fired_at: vec![f64::NEG_INFINITY; 2 * count],
            passed_at: vec![f64::NEG_INFINITY; 2 * count],
        }
    }

    /// Forgets the last run; values, rates and zeros are written before they are read.
    pub(crate) fn reset(&mut self) {
        self.arming.fill(Arming::Off);
        self.fired_at.fill(f64::NEG_INFINITY);
        self.passed_at.fill(f64::NEG_INFINITY);
        self.spread.fill(0.0);
        self.spread_at.fill(f64::NEG_INFINITY);
        self.most_spread.fill(0.0);
        self.terms.fill(Terms::default());
        self.blur.fill(0.0);
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

    /// Time by which the crossing of a set missed its surfaces, by the values of event functions there:
    /// others miss theirs by as much (s).
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

    /// Takes over the liveness bound of event function `k`, or that there is none yet.
    pub(crate) fn state_min_rate(&mut self, k: usize, stated: Option<f64>) {
        (self.min_rate[k], self.part_of_rate[k]) = match stated {
            Some(least) => (least, 0.0),
            None => (f64::MIN_POSITIVE, evaluate::PART_OF_RATE),
        };
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

    /// Lists in `near` the armed guards that are on their surface, up to a few numerical zeros, or
    /// beyond; marks the others ready and ranks them. The numerical zeros may be stale, hence the
    /// few. Guard `on` is near by definition: the state was brought there, to within the error of
    /// the method. `landing` are event functions where a projection lands, instead of those of the
    /// present state; `time` is how far times are rounded (s).
    #[inline]
    pub(crate) fn survey(
        &mut self,
        landing: Option<&[f64]>,
        on: usize,
        time: f64,
        near: &mut Vec<usize>,
    ) -> Survey {
        let n = self.h.len();
        let h = landing.map_or(&self.h[..n], |h| &h[..n]);
        let (sign, rate, zero) = (&self.sign[..n], &self.rate[..n], &self.zero[..n]);
        let arming = &mut self.arming[..n];
        let min_rate = &self.min_rate[..n];
        let mut ranking = Ranking::EMPTY;
        let missed = match landing {
            None => 0.0,
            Some(_) => 2.0 * (h[on] / rate[on]).abs(),
        };
        let missed = if missed.is_finite() { missed } else { 0.0 };
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

    /// Ranks all armed, ready and live guards by the time to their surface.
    #[inline]
    pub(crate) fn rank(&self) -> Ranking {
        let n = self.h.len();
        let (h, sign, rate) = (&self.h[..n], &self.sign[..n], &self.rate[..n]);
        let arming = &self.arming[..n];
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
