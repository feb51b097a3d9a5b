//! Rebounds too low to be resolved: the accumulation that they begin, with the time at which it ends.

use super::accumulation::Accumulation;
use crate::Transition;
use crate::event_driven::Model;
use crate::event_driven::onto_contacts::LEFT_ALONE;
use crate::linalg::scratch::{with_list, with_zeros};
use crate::mechanics::State;
use crate::mechanics::UnilateralConstraints;
use crate::mechanics::motion::contacts_at::ContactsAt;

impl Model<'_> {
    /// The accumulation that the rebounds of a transition announce, where they are too low to be resolved.
    pub(crate) fn low_bounces(
        &self,
        set: &Transition<'_>,
        at: &mut ContactsAt,
    ) -> Option<Accumulation> {
        let (q, v) = self.parts(set.state);
        let n = self.system().contacts();
        let struck = |j: usize| set.guards.iter().any(|c| c.guard.event == j);
        let was_closed = |j: usize| self.is_closed(set.mode_before, j);
        // With friction the end of a slip may turn a flight down that has begun.
        if !self.slides() && !(0..n).any(|j| struck(j) && !was_closed(j)) {
            return None;
        }
        let parts = |j: &usize| {
            !self.is_closed(set.mode, *j) && self.system().gap(*j, q).abs() <= self.gap_tolerance
        };
        with_list(n, |open| {
            let mut m = 0;
            for j in (0..n).filter(parts) {
                open[m] = j;
                m += 1;
            }
            if m == 0 {
                return None;
            }
            let open = &open[..m];
            with_zeros(3 * m, |numbers| {
                let (rates, rest) = numbers.split_at_mut(m);
                let (bends, before) = rest.split_at_mut(m);
                self.approach_into(at, set.state, open, rates);
                let state = State { t: set.t, q, v };
                self.bends(state, set.mode, open, at, bends);
                self.approach_into(at, set.state_before, open, before);
                self.lowest(set, open, at, [rates, bends, before])
            })
        })
    }

    /// The accumulation of contacts that part at `rates`, with accelerations `bends`, after an approach
    /// `before`; none where all rebounds are resolved.
    fn lowest(
        &self,
        set: &Transition<'_>,
        open: &[usize],
        at: &mut ContactsAt,
        [rates, bends, before]: [&[f64]; 3],
    ) -> Option<Accumulation> {
        let (q, v) = self.parts(set.state);
        let mut found: Option<Accumulation> = None;
        for (i, &j) in open.iter().enumerate() {
            let (rate, fall) = (rates[i], -bends[i]);
            // A rate that is rounding is no rebound, nor is there a time at which it ends.
            let parts = rate > LEFT_ALONE * self.rate_tolerance;
            let low = parts && fall > 0.0 && self.is_low(set.t, rate, bends[i]);
            // Behind a release the acceleration is zero but for rounding, and it is that rounding which would say when
            // the flight ends.
            let closes = |at| self.close_at_once(set.t, set.state, &[j], set.mode, at);
            if !low || matches!(closes(at), Ok(false)) {
                continue;
            }
            // In an impact of several contacts one may part faster than it approached. Then its
            // coefficient of restitution gives the ratio.
            let own = rate / -before[i];
            let ratio = if (0.0..1.0).contains(&own) {
                own
            } else {
                self.system().restitution(j, q, v)
            };
            if !(0.0..1.0).contains(&ratio) {
                continue;
            }
            let time = set.t + 2.0 * rate / fall / (1.0 - ratio);
            let all = found.get_or_insert(Accumulation {
                t: time,
                contacts: Vec::new(),
                ratio,
                bound: 0.0,
                is_near: true,
            });
            all.contacts.push(j);
            all.t = all.t.max(time);
            all.ratio = all.ratio.max(ratio);
            // It lies ahead, and is off by no more than that.
            all.bound = all.bound.max(all.t - set.t);
        }
        found
    }
}
