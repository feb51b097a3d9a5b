//! One look at all guards: who is near its surface, and who of the others comes first.

use super::ranking::Ranking;
use super::state::{Guards, Run};
use crate::ode::Buffer;

/// Which values of the event functions a survey looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Where {
    /// Those of the present state.
    Here,
    /// Those where a projection lands.
    Landing,
}

impl<B: Buffer> Run<B> {
    /// Lists in `near` the armed guards that are on their surface, up to a few numerical zeros, or
    /// beyond, where the event functions are `h`; marks the others ready and ranks them. The
    /// numerical zeros may be stale, hence the few. Guard `on` is near by definition: the state was
    /// brought there, to within the error of the method.
    #[inline]
    pub(crate) fn survey(&mut self, at: Where, on: usize) {
        let n = self.count();
        let Guards {
            h: here,
            sign,
            rate,
            zero,
            armed,
            ready,
            min_rate,
            ..
        } = &mut self.guards;
        let h = match at {
            Where::Here => &here[..n],
            Where::Landing => &self.work.h[0][..n],
        };
        let (sign, rate, zero) = (&sign[..n], &rate[..n], &zero[..n]);
        let (armed, ready, min_rate) = (&armed[..n], &mut ready[..n], &min_rate[..n]);
        let mut ranking = Ranking::EMPTY;
        let missed = match at {
            Where::Here => 0.0,
            Where::Landing => 2.0 * (h[on] / rate[on]).abs(),
        };
        let missed = if missed.is_finite() { missed } else { 0.0 };
        self.residual_time = missed;
        let rounding = 8.0 * f64::EPSILON * (self.t.abs() + self.last_step);
        self.near.clear();
        for k in 0..n {
            if !armed[k] {
                continue;
            }
            let way = -sign[k] * h[k];
            let zero = zero[k].max(rounding * rate[k].abs());
            if way > 4.0 * zero + missed * rate[k].abs() && k != on {
                ready[k] = true;
                ranking.enter(k, way, sign[k] * rate[k], min_rate[k]);
            } else {
                self.near.push(k);
            }
        }
        self.ranking = Some(ranking);
    }

    /// Ranks all armed, ready and live guards by the time to their surface.
    #[inline]
    pub(crate) fn rank(&self) -> Ranking {
        let n = self.count();
        let guards = &self.guards;
        let (h, sign, rate) = (&guards.h[..n], &guards.sign[..n], &guards.rate[..n]);
        let (armed, ready) = (&guards.armed[..n], &guards.ready[..n]);
        let min_rate = &guards.min_rate[..n];
        let mut ranking = Ranking::EMPTY;
        for k in 0..n {
            if armed[k] & ready[k] {
                ranking.enter(k, -sign[k] * h[k], sign[k] * rate[k], min_rate[k]);
            }
        }
        ranking
    }
}
