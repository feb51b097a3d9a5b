//! Which guards of a node are crossed from it, and the refusals of a corner in which one is not, or
//! which has no end.

use super::graph::{CornerGraph, Node};
use super::members::Member;
use crate::hybrid::{System, evaluate};
use crate::{Guard, NoDerivative, Stop};

/// When more guards than this are met again at one instant, resets do not end.
const MOST_MET_AGAIN: usize = 500;

impl CornerGraph {
    /// True when member `m` is crossed from this node: its rate is at least its least rate.
    pub(crate) fn is_live(&self, system: &dyn System, node: usize, m: usize) -> bool {
        self.crosses(system, &self.members(node)[m])
    }

    #[inline]
    pub(super) fn crosses(&self, system: &dyn System, member: &Member) -> bool {
        member.guard.sign() * member.rate >= self.min_rate(system, member.guard.event)
    }

    /// The liveness bound of event function `k`: that of the run; outside of runs that of the user,
    /// or by its rate at node 0.
    #[inline]
    pub(crate) fn min_rate(&self, system: &dyn System, k: usize) -> f64 {
        match self.min_rates.get(k) {
            Some(&known) => known,
            None => self.own_min_rate(system, k),
        }
    }

    fn own_min_rate(&self, system: &dyn System, k: usize) -> f64 {
        system.min_rate(k).unwrap_or_else(|| {
            let mut members = self.members(0).iter();
            let seen = members.find(|member| member.guard.event == k);
            let rate = seen.map_or(0.0, |member| member.rate.abs());
            (evaluate::PART_OF_RATE * rate).max(f64::MIN_POSITIVE)
        })
    }

    /// The amount by which event function `k` may be off zero at the corner, and counts as zero all
    /// the same (`u_k`).
    pub(crate) fn residual(&self, k: usize) -> f64 {
        let mut members = self.members(0).iter();
        let own = members.position(|member| member.guard.event == k);
        own.and_then(|m| self.residuals.get(m))
            .map_or(0.0, |r| r.abs())
    }

    /// Refuses a node at which a remaining guard does not move across. Where a reset turned the
    /// motion away from the guard it is allowed: neighbours in another order cross the guard, and
    /// that order decides.
    pub(crate) fn check_live(&self, system: &dyn System, node: usize) -> Result<(), NoDerivative> {
        let Node { members, moved, .. } = self.node(node);
        let dead = members.iter().find(|member| !self.crosses(system, member));
        match dead {
            Some(left) if !moved => Err(self.not_live(system, (node, left))),
            _ => Ok(()),
        }
    }

    #[cold]
    pub(super) fn not_live(
        &self,
        system: &dyn System,
        (node, left): (usize, &Member),
    ) -> NoDerivative {
        NoDerivative::Stop(Stop::NotLive {
            guard: left.guard,
            rate_before: left.rate,
            rate_after: f64::NAN,
            min_rate: self.min_rate(system, left.guard.event),
            at: self.at(node).into(),
        })
    }

    /// Limit of the guards that one direction meets: each guard of the corner once, and those that
    /// resets throw the state back at.
    pub(crate) fn most_met(&self) -> usize {
        self.members(0).len() + MOST_MET_AGAIN
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
        let guards = self.members(0).len();
        NoDerivative::CornerTooLarge {
            guards,
            what,
            limit,
            t: self.t(),
        }
    }
}
