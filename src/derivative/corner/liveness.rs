//! Which guards of a node are crossed from it, and the refusals of a corner in which one is not, or
//! which has no end.

use super::graph::{CornerGraph, Node};
use crate::hybrid::{System, evaluate};
use crate::{At, Guard, NoDerivative, Stop};

/// When more guards than this are met again at one instant, resets do not end.
const MOST_MET_AGAIN: usize = 500;

impl CornerGraph {
    /// True when member `m` is crossed from this node: its rate is at least its least rate.
    pub(crate) fn is_live(&self, system: &dyn System, node: usize, m: usize) -> bool {
        let member = self.member_of(node, m);
        member.guard.sign() * member.rate >= self.min_rate(system, member.guard.event)
    }

    /// The liveness bound of event function `k`: that of the run; outside of runs that of the user,
    /// or by its rate at node 0.
    pub(crate) fn min_rate(&self, system: &dyn System, k: usize) -> f64 {
        let known = self.min_rates.get(k).copied();
        known.or_else(|| system.min_rate(k)).unwrap_or_else(|| {
            let mut members = self.node(0).members.iter();
            let seen = members.find(|member| member.guard.event == k);
            let rate = seen.map_or(0.0, |member| member.rate.abs());
            (evaluate::PART_OF_RATE * rate).max(f64::MIN_POSITIVE)
        })
    }

    /// What event function `k` may be off zero at the corner, and counts as zero all the same
    /// (`u_k`).
    pub(crate) fn residual(&self, k: usize) -> f64 {
        let mut members = self.node(0).members.iter();
        let own = members.position(|member| member.guard.event == k);
        own.and_then(|m| self.residuals.get(m))
            .map_or(0.0, |r| r.abs())
    }

    /// Refuses a node at which a remaining guard does not move across. Where a reset turned the
    /// motion away from the guard it is allowed: neighbours in another order cross the guard, and
    /// that order decides.
    pub(crate) fn check_live(&self, system: &dyn System, node: usize) -> Result<(), NoDerivative> {
        let Node { members, moved, .. } = self.node(node);
        let dead = (0..members.len()).find(|&m| !self.is_live(system, node, m));
        match dead.map(|m| &members[m]) {
            Some(left) if !moved => Err(NoDerivative::Stop(Stop::NotLive {
                guard: left.guard,
                rate_before: left.rate,
                rate_after: f64::NAN,
                min_rate: self.min_rate(system, left.guard.event),
                at: self.at(node).into(),
            })),
            _ => Ok(()),
        }
    }

    /// Most guards that one direction meets: each guard of the corner once, and those that resets
    /// throw the state back at.
    pub(crate) fn most_met(&self) -> usize {
        self.node(0).members.len() + MOST_MET_AGAIN
    }

    /// Where a node is, for an error.
    #[cold]
    fn at(&self, node: usize) -> At {
        let Node { x, mode, .. } = self.node(node);
        At::new(self.t(), x, mode)
    }

    /// The refusal of a corner that has no end.
    #[cold]
    pub(crate) fn no_end(&self, node: usize, guard: Guard) -> NoDerivative {
        NoDerivative::Stop(Stop::NoProgress {
            guard,
            at: self.at(node).into(),
        })
    }

    /// The refusal of a corner that is too large for a search.
    #[cold]
    pub(crate) fn too_large(&self, what: &'static str, limit: usize) -> NoDerivative {
        let guards = self.node(0).members.len();
        NoDerivative::CornerTooLarge {
            guards,
            what,
            limit,
            t: self.t(),
        }
    }
}
