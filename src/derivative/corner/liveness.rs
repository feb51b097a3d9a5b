//! Guards that are crossed from a node, the order in which displacements meet them, and guards that
//! remain behind a crossing. Displacements shift the times at which guards are crossed by
//! `τ = −D_x h δ / (dh/dt)`. A reset may move the state off some guards, across others, or back to
//! those that were crossed before; where displacements may be carried across these, no derivative
//! covers them. A corner in which a guard is not crossed, or which has no end, is refused.

use nalgebra::{DMatrix, DVector};

use super::graph::{CornerGraph, Member, Node};
use crate::derivative::context::Context;
use crate::hybrid::System;
use crate::hybrid::evaluate::{self, Point};
use crate::linalg::dot;
use crate::{Guard, NoDerivative, Stop};

/// Limit of the guards that are met again at one instant: beyond it resets do not end.
const MOST_MET_AGAIN: usize = 500;

/// Rows are parallel, with rates alike, up to this part of their largest entry: they may be differences.
const PARALLEL: f64 = 1e-7;
/// Places beside the corner at which functions of one surface are zero together, as a part of the state.
const BESIDE: f64 = 1e-3;
/// Number of these places.
const PLACES: u8 = 3;
/// Rounding of event functions, relative to their terms. Surfaces that only touch each other part by more.
const ROUNDING: f64 = 256.0 * f64::EPSILON;
/// Steps of Newton's method along the field onto the surface of the first.
const STEPS: usize = 6;

impl CornerGraph {
    /// The place of the largest entry of the row of a member.
    pub(super) fn largest_entry(&self, node: usize, m: usize) -> Option<usize> {
        let row = self.row(node, m);
        (0..row.len()).max_by(|&a, &b| row[a].abs().total_cmp(&row[b].abs()))
    }

    /// True where members `m` and `k` of a node have one surface: their rows are parallel, and at three places beside
    /// the corner both are zero together. At most 24 evaluations of two event functions; most others are told by the
    /// entry at the place of the largest one of `m`.
    pub(super) fn share_surface(
        &self,
        context: Context<'_>,
        node: usize,
        [m, k]: [usize; 2],
        largest: Option<usize>,
    ) -> bool {
        let is_off = |i: usize| {
            let [a, b] = [m, k].map(|of| self.row(node, of)[i]);
            let [of_m, of_k] = [m, k].map(|of| self.members(node)[of].rate);
            (a * of_k - b * of_m).abs() > PARALLEL * (a * of_k).abs()
        };
        if largest.is_none_or(is_off) {
            return false;
        }
        let (first, second) = (&self.members(node)[m], &self.members(node)[k]);
        let rows = self.row_of(first).iter().zip(self.row_of(second));
        let pairs = rows.map(|(a, b)| [a * second.rate, b * first.rate]);
        let [mut off, mut largest]: [f64; 2] = [0.0; 2];
        for [a, b] in pairs {
            off = off.max((a - b).abs());
            largest = largest.max(a.abs());
        }
        off <= PARALLEL * largest
            && (0..PLACES).all(|place| self.are_zero_together(context, node, [m, k], place))
    }

    fn are_zero_together(
        &self,
        context: Context<'_>,
        node: usize,
        [m, k]: [usize; 2],
        place: u8,
    ) -> bool {
        let (system, at, t) = (context.system, self.node(node), self.t());
        let [m, k] = [m, k].map(|i| self.members(node)[i]);
        let away: Vec<f64> = (0..at.x.len())
            .map(|i| {
                let side = 1.0 - 0.7 * ((i + 2 * usize::from(place)) % 3) as f64;
                BESIDE * side * at.x[i].abs().max(context.size(i))
            })
            .collect();
        let (mut since, mut x) = (0.0, at.x.to_vec());
        let put = |since: f64, x: &mut [f64]| {
            for (i, x) in x.iter_mut().enumerate() {
                *x = at.x[i] + away[i] + since * at.field[i];
            }
        };
        put(since, &mut x);
        for _ in 0..STEPS {
            since -= system.event(m.guard.event, t + since, &x, at.mode) / m.rate;
            put(since, &mut x);
        }
        [m, k].iter().all(|member| {
            let value = system.event(member.guard.event, t + since, &x, at.mode);
            let terms = x
                .iter()
                .zip(self.row_of(member))
                .map(|(x, row)| (x * row).abs());
            let rounding = ROUNDING * (t.abs() * member.rate.abs() + terms.sum::<f64>());
            value.abs() <= rounding
        })
    }

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
            Some(left) if !moved => Err(self.not_live(system, (node, left), f64::NAN)),
            _ => Ok(()),
        }
    }

    /// Refuses a crossing without a reset, of member `m` of the node before, behind which a guard that is crossed
    /// goes back: neighbours in this order slide along its surface, or cross it again. The guards are all of the
    /// corner where rows do not depend on the mode, and that member alone elsewhere; where the mode has another event
    /// function for it, off zero, rates say nothing. Resets that moved the state off it before do not either.
    pub(super) fn check_behind(
        &self,
        context: Context<'_>,
        (from, to): (usize, usize),
        m: usize,
        scratch: &mut [f64],
    ) -> Result<(), NoDerivative> {
        let (system, t) = (context.system, self.t());
        let Node {
            x,
            field,
            mode,
            moved,
            ..
        } = self.node(to);
        if moved {
            return Ok(());
        }
        let goes_back = |member: &Member, rate: f64| {
            member.guard.sign() * rate < self.min_rate(system, member.guard.event)
                && context.follows(member.guard.partner())
        };
        let is_crossed =
            |member: &&Member| mode.contains(member.guard.event) == member.guard.side_after();
        if system.ignores_mode() {
            for member in self.members(0).iter().filter(is_crossed) {
                let rate = member.moving() + dot(self.row_of(member), field);
                if goes_back(member, rate) {
                    return Err(self.not_live(system, (to, member), rate));
                }
            }
            return Ok(());
        }
        let member = &self.members(from)[m];
        if !is_crossed(&member) {
            return Ok(());
        }
        let (k, here) = (member.guard.event, Point { t, x, mode });
        let rate = evaluate::rate(system, k, here, field, scratch);
        if !goes_back(member, rate.value) {
            return Ok(());
        }
        let zero = context.zero(k, t, rate) + self.residual(k);
        if system.event(k, t, x, mode).abs() > zero {
            return Ok(());
        }
        Err(self.not_live(system, (to, member), rate.value))
    }

    #[cold]
    pub(super) fn not_live(
        &self,
        system: &dyn System,
        (node, left): (usize, &Member),
        rate_after: f64,
    ) -> NoDerivative {
        NoDerivative::Stop(Stop::NotLive {
            guard: left.guard,
            rate_before: left.rate,
            rate_after,
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

/// Changes by the reset of an edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reset {
    /// It moved the state.
    pub(super) moved: bool,
    /// It changed the state or the mode.
    pub(super) reset: bool,
}

impl CornerGraph {
    /// Gives the node behind an edge the members that are left after the crossing of member `m` of
    /// the one before; their rows may be others there.
    pub(super) fn hand_on_members(
        &mut self,
        context: Context<'_>,
        (from, edge): (usize, usize),
        m: usize,
        Reset { moved, reset }: Reset,
        scratch: &mut [f64],
    ) -> Result<(), NoDerivative> {
        let to = self.edge(edge).to;
        for other in 0..self.members(from).len() {
            let guard = self.members(from)[other].guard;
            // Carried across by the reset, or retired: crossed already.
            let crossed = self.mode(to).contains(guard.event) == guard.side_after();
            if other == m || crossed || (reset && self.is_off(context, to, guard, scratch)) {
                continue;
            }
            self.add_member(context, to, guard, scratch)?;
        }
        if moved {
            for first in 0..self.members(0).len() {
                let event = self.members(0)[first].guard.event;
                self.add_again(context, to, event, scratch)?;
            }
        }
        Ok(())
    }

    /// True when the state of a node lies before the surface of `guard` by more than the tolerance
    /// of one instant: a reset moved one of them off.
    fn is_off(&self, context: Context<'_>, node: usize, guard: Guard, scratch: &mut [f64]) -> bool {
        let (system, k, t) = (context.system, guard.event, self.t());
        let Node { x, mode, field, .. } = self.node(node);
        let rate = evaluate::rate(system, k, Point { t, x, mode }, field, scratch);
        let zero = context.zero(k, t, rate) + self.residual(k);
        guard.sign() * system.event(k, t, x, mode) < -zero
    }

    /// After a reset a guard of the corner may be met again at the same instant: thrown back over
    /// its surface, or thrown at it by the reset of another.
    fn add_again(
        &mut self,
        context: Context<'_>,
        to: usize,
        k: usize,
        scratch: &mut [f64],
    ) -> Result<(), NoDerivative> {
        let (system, t) = (context.system, self.t());
        let node = self.node(to);
        let (x, mode) = (node.x, node.mode);
        let guard = Guard::ahead(k, mode.contains(k));
        let waits = node.members.iter().any(|m| m.guard.event == k);
        if waits || !node.arming[k].is_armed() {
            return Ok(());
        }
        let rate = evaluate::rate(system, k, Point { t, x, mode }, node.field, scratch);
        let zero = context.zero(k, t, rate) + self.residual(k);
        let off = system.event(k, t, x, mode).abs() > zero;
        if off || guard.sign() * rate.value < self.min_rate(system, k) {
            return Ok(());
        }
        self.add_member(context, to, guard, scratch)
    }
}

impl CornerGraph {
    /// Shift of the time at which member `m` of a node is crossed, for a perturbation `delta`
    /// there (s).
    pub(crate) fn shift(&self, node: usize, m: usize, delta: &[f64]) -> f64 {
        self.shift_of(&self.members(node)[m], delta)
    }

    #[inline]
    fn shift_of(&self, member: &Member, delta: &[f64]) -> f64 {
        -dot(self.row_of(member), delta) / member.rate
    }

    /// The time shift as a row on displacements before the corner, which `map` carries to the node.
    pub(crate) fn shift_row(&self, node: usize, m: usize, map: &DMatrix<f64>) -> DVector<f64> {
        let mut row = DVector::zeros(map.ncols());
        self.write_shift_row(node, m, map, &mut row);
        row
    }

    /// Writes that row.
    pub(crate) fn write_shift_row(
        &self,
        node: usize,
        m: usize,
        map: &DMatrix<f64>,
        row: &mut DVector<f64>,
    ) {
        let member = &self.members(node)[m];
        let (own, rate) = (self.row_of(member), member.rate);
        let columns = map.as_slice().chunks_exact(own.len());
        for (shift, column) in row.iter_mut().zip(columns) {
            *shift = -dot(own, column) / rate;
        }
    }

    /// From perturbations at fixed time to those at the event that ends the run, whose time shifts
    /// by `tau`.
    pub(crate) fn to_event(&self, node: usize, tau: &[f64], deltas: &mut [f64]) {
        let field = self.field(node);
        for (delta, tau) in deltas.chunks_exact_mut(field.len()).zip(tau) {
            for i in 0..field.len() {
                delta[i] += tau * field[i];
            }
        }
    }

    /// The member of a node that `delta` meets first, with the shift of its time (s); none when all
    /// are crossed, or no other is reached after a reset. Refuses a node as
    /// [`check_live`](Self::check_live) does.
    pub(crate) fn first_met(
        &self,
        system: &dyn System,
        node: usize,
        delta: &[f64],
    ) -> Result<Option<(usize, f64)>, NoDerivative> {
        let Node { members, moved, .. } = self.node(node);
        let mut first: Option<(usize, f64)> = None;
        for (m, member) in members.iter().enumerate() {
            if !self.crosses(system, member) {
                if !moved {
                    return Err(self.not_live(system, (node, member), f64::NAN));
                }
                continue;
            }
            let tau = self.shift_of(member, delta);
            if first.is_none_or(|(_, least)| tau < least) {
                first = Some((m, tau));
            }
        }
        Ok(first)
    }
}
