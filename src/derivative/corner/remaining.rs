//! Which guards remain to be crossed behind a crossing, where a reset may have moved the state: off
//! some of them, across others, or back to those that were crossed before.

use super::graph::{CornerGraph, Node};
use crate::derivative::context::Context;
use crate::hybrid::evaluate::{self, Point};
use crate::{Guard, NoDerivative};

impl CornerGraph {
    /// Gives the node behind an edge the members that are left after the crossing of member `m` of
    /// the one before; their rows may be others there.
    pub(super) fn hand_on_members(
        &mut self,
        context: Context<'_>,
        (from, edge): (usize, usize),
        m: usize,
        moved: bool,
        scratch: &mut [f64],
    ) -> Result<(), NoDerivative> {
        let to = self.edge(edge).to;
        for other in 0..self.members(from).len() {
            let guard = self.members(from)[other].guard;
            // Carried across by the reset, or retired: crossed already.
            let crossed = self.mode(to).contains(guard.event) == guard.side_after();
            if other == m || crossed || (moved && self.is_off(context, to, guard, scratch)) {
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
    /// of one instant: a reset moved it off.
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
