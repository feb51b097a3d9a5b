//! How a displacement passes a corner: across the guard that it meets first, then the next, at a
//! cost of `O(n² d)` and `n + 1` fields, never of `n!` orders.

use nalgebra::{DMatrix, DVector};

use super::graph::{CornerGraph, CornerPoint, Edge, Met, Node};
use super::region::shift_row;
use crate::derivative::repeat::{Carried, Context};
use crate::hybrid::transition::Place;
use crate::linalg::dot;
use crate::{At, CrossedGuard, EventFunction, Flow, Guard, NoDerivative, Stop};

/// How one direction passed a corner, or several together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    /// The node at which it came out.
    pub(crate) node: usize,
    /// A guard that ends the run was crossed.
    pub(crate) stopped: bool,
}

/// More guards met again at one instant than this mean that resets go on without end.
const MOST_MET_AGAIN: usize = 500;

/// Part by which rows that are differences are off where functions are smooth (`guide.md`), and
/// what resets make of them: also what is the same nearby, and so is not seen as rounding.
const DIFFERENCE: f64 = 1e-10;

impl CornerGraph {
    /// Most guards that one direction meets: each guard of the corner once, and those that resets
    /// throw the state back at.
    pub(crate) fn most_met(&self) -> usize {
        self.nodes[0].members.len() + MOST_MET_AGAIN
    }

    /// Where a node is, for an error.
    #[cold]
    fn at(&self, node: usize) -> At {
        let Node { x, mode, .. } = &self.nodes[node];
        At::new(self.t, x, mode)
    }

    /// The refusal of a corner that has no end.
    #[cold]
    pub(crate) fn no_end(&self, node: usize, guard: Guard) -> NoDerivative {
        NoDerivative::Stop(Stop::NoProgress {
            guard,
            at: self.at(node).into(),
        })
    }

    /// Carries `delta` along a way, at whose crossing its time is shifted by `tau`: from the
    /// perturbation at fixed time in the old mode to that in the new one.
    pub(crate) fn carry<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        (from, edge): (usize, usize),
        tau: &[f64],
        deltas: &mut [f64],
    ) -> Result<(), NoDerivative> {
        let Edge {
            guard, identity, ..
        } = self.edges[edge];
        if !identity {
            self.before.clear();
            self.before.extend_from_slice(deltas);
            let node = &self.nodes[from];
            let rate = node
                .members
                .iter()
                .find(|member| member.guard == guard)
                .map_or(f64::NAN, |member| member.rate);
            self.scratch.copy_from_slice(&node.x);
            self.mode.copy_from(&node.mode);
            self.arming.copy_from_slice(&node.arming);
            let at = (self.t, self.index + node.level);
            self.repeat.cross(
                context,
                at,
                CrossedGuard { guard, rate },
                Place {
                    x: &mut self.scratch,
                    mode: &mut self.mode,
                    arming: &mut self.arming,
                },
                Carried {
                    dt: 0.0,
                    dx: deltas,
                },
            )?;
        }
        let jump = &self.edges[edge].jump;
        for (delta, tau) in deltas.chunks_exact_mut(jump.len()).zip(tau) {
            for i in 0..jump.len() {
                delta[i] += tau * jump[i];
            }
        }
        if identity {
            return Ok(());
        }
        self.check_others((from, edge), tau, deltas)
    }

    /// Refuses a reset that moves the state, to first order, towards or away from a guard that is
    /// still to be crossed: such a guard may be carried across or met again, depending on the
    /// displacement.
    fn check_others(
        &self,
        (from, edge): (usize, usize),
        tau: &[f64],
        deltas: &[f64],
    ) -> Result<(), NoDerivative> {
        let Edge { guard, to, .. } = self.edges[edge];
        let dim = self.scratch.len();
        for (m, after) in self.nodes[to].members.iter().enumerate() {
            let members = &self.nodes[from].members;
            let Some(n) = members.iter().position(|b| b.guard == after.guard) else {
                continue;
            };
            for (i, tau) in tau.iter().enumerate() {
                let column = i * dim..(i + 1) * dim;
                let terms = |node: usize, m: usize, delta: &[f64], rate: f64| {
                    let row = self.row(node, m);
                    let sum = dot(row, delta) + rate * tau;
                    let size: f64 = row.iter().zip(delta).map(|(a, d)| (a * d).abs()).sum();
                    // Derivatives of resets are rounded like their largest entry.
                    let row_size: f64 = row.iter().map(|a| a.abs()).sum();
                    let largest = delta.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
                    (sum, size + (rate * tau).abs() + 1e-3 * row_size * largest)
                };
                let (old, size) = terms(from, n, &self.before[column.clone()], members[n].rate);
                let (new, size_new) = terms(to, m, &deltas[column], after.rate);
                if (old - new).abs() > 1e-6 * (size + size_new) {
                    return Err(NoDerivative::MovedGuard {
                        guard: after.guard,
                        by: guard,
                        t: self.t,
                    });
                }
            }
        }
        Ok(())
    }

    /// Shift of the time at which member `m` of a node is crossed, for a perturbation `delta`
    /// there (s).
    pub(crate) fn shift(&self, node: usize, m: usize, delta: &[f64]) -> f64 {
        -dot(self.row(node, m), delta) / self.nodes[node].members[m].rate
    }

    /// Carries `delta`, a perturbation at fixed time just before the corner, to one just after it
    /// (or, where a guard ends the run, at the end): always across the guard that is met first. The
    /// order found is left in `order`.
    pub(crate) fn pass<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        delta: &mut [f64],
    ) -> Result<Passed, NoDerivative> {
        Ok(self.pass_each(context, delta)?.0)
    }

    /// The same for several perturbations, which looks at each reset once. None, with `deltas`
    /// spoiled, when they do not all meet the same guards in the same order.
    pub(crate) fn pass_together<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        deltas: &mut [f64],
    ) -> Result<Option<Passed>, NoDerivative> {
        let (passed, together) = self.pass_each(context, deltas)?;
        Ok(together.then_some(passed))
    }

    /// Where the perturbations went, and whether they were together to the end.
    fn pass_each<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        deltas: &mut [f64],
    ) -> Result<(Passed, bool), NoDerivative> {
        let mut shifts = std::mem::take(&mut self.shifts);
        let passed = self.pass_with(context, deltas, &mut shifts);
        self.shifts = shifts;
        passed
    }

    fn pass_with<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        deltas: &mut [f64],
        shifts: &mut Vec<f64>,
    ) -> Result<(Passed, bool), NoDerivative> {
        self.order.clear();
        let mut passed = Passed {
            node: 0,
            stopped: false,
        };
        while !passed.stopped {
            let node = passed.node;
            let mut columns = deltas.chunks_exact(self.scratch.len());
            let first = match columns.next() {
                Some(delta) => self.first_met(context, node, delta)?,
                None => None,
            };
            shifts.clear();
            shifts.extend(first.map(|(_, tau)| tau));
            for delta in columns {
                let other = self.first_met(context, node, delta)?;
                if other.map(|(m, _)| m) != first.map(|(m, _)| m) {
                    return Ok((passed, false));
                }
                shifts.extend(other.map(|(_, tau)| tau));
            }
            let Some((m, tau)) = first else {
                break;
            };
            let guard = self.nodes[node].members[m].guard;
            if self.order.len() >= self.most_met() {
                return Err(self.no_end(node, guard));
            }
            let edge = self.follow(context, node, m)?;
            self.carry(context, (node, edge), shifts, deltas)?;
            passed.node = self.edges[edge].to;
            passed.stopped = self.edges[edge].stops;
            let to = passed.node;
            self.order.push(Met { guard, tau, to });
            if passed.stopped {
                self.to_event(to, shifts, deltas);
            }
        }
        Ok((passed, true))
    }

    /// Lets the guards of `corner` cross one after another, in its order, as far as they are
    /// crossed; where that leads is where `corner` goes on.
    pub(crate) fn go_on_to_exit<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        corner: &mut CornerPoint,
    ) -> Result<(), NoDerivative> {
        self.begin(context, corner)?;
        let mut node = 0;
        for &guard in &corner.guards {
            let mut members = self.nodes[node].members.iter();
            let member = members.position(|member| member.guard == guard);
            let Some(m) = member.filter(|&m| self.is_live(context.system, node, m)) else {
                continue;
            };
            let edge = self.follow(context, node, m)?;
            node = self.edges[edge].to;
            if self.edges[edge].stops {
                break;
            }
        }
        let Node { x, mode, .. } = &self.nodes[node];
        corner.x_after.copy_from_slice(x);
        corner.mode_after.copy_from(mode);
        Ok(())
    }

    /// The guards in the order in which the last direction met them.
    pub(crate) fn order_met(&self) -> Vec<Guard> {
        self.order.iter().map(|met| met.guard).collect()
    }

    /// Shift of the time of `guard` for the last direction; one that a reset carried the state
    /// across has the time of the crossing that did so. None when it was not crossed (s).
    pub(crate) fn shift_of(&self, guard: Guard) -> Option<f64> {
        let met = self.order.iter().find(|met| met.guard == guard);
        let carried =
            |met: &&Met| self.nodes[met.to].mode.contains(guard.event) == guard.side_after();
        met.or_else(|| self.order.iter().find(carried))
            .map(|met| met.tau)
    }

    /// The matrix of the piece that the last direction passed: the product of the saltation
    /// matrices along its order. `tell` is told the row of the time shift of each guard.
    pub(crate) fn map_along_order<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        mut tell: impl FnMut(Guard, &DVector<f64>),
    ) -> Result<DMatrix<f64>, NoDerivative> {
        let dim = self.scratch.len();
        let mut map = DMatrix::identity(dim, dim);
        let mut node = 0;
        for taken in 0..self.order.len() {
            let guard = self.order[taken].guard;
            let members = &self.nodes[node].members;
            let Some(m) = members.iter().position(|member| member.guard == guard) else {
                break;
            };
            let tau = shift_row(self, node, m, &map);
            tell(guard, &tau);
            let edge = self.follow(context, node, m)?;
            self.carry(context, (node, edge), tau.as_slice(), map.as_mut_slice())?;
            node = self.edges[edge].to;
            if self.edges[edge].stops {
                self.to_event(node, tau.as_slice(), map.as_mut_slice());
            }
        }
        Ok(map)
    }

    /// From perturbations at fixed time to those at the event that ends the run, whose time shifts
    /// by `tau`.
    pub(crate) fn to_event(&self, node: usize, tau: &[f64], deltas: &mut [f64]) {
        let field = &self.nodes[node].field;
        for (delta, tau) in deltas.chunks_exact_mut(field.len()).zip(tau) {
            for i in 0..field.len() {
                delta[i] += tau * field[i];
            }
        }
    }

    /// The member of a node that `delta` meets first, with the shift of its time (s); none when
    /// all are crossed, or no other is reached after a reset.
    fn first_met<S: EventFunction>(
        &self,
        context: Context<'_, S>,
        node: usize,
        delta: &[f64],
    ) -> Result<Option<(usize, f64)>, NoDerivative> {
        self.check_live(context.system, node)?;
        let mut first: Option<(usize, f64)> = None;
        for m in 0..self.nodes[node].members.len() {
            if !self.is_live(context.system, node, m) {
                continue;
            }
            let tau = self.shift(node, m, delta);
            if first.is_none_or(|(_, least)| tau < least) {
                first = Some((m, tau));
            }
        }
        Ok(first)
    }

    /// True when a reset on any way found so far changes this state, or others close by.
    pub(crate) fn has_resets(&self) -> bool {
        let edges = &self.edges[..self.used_edges];
        edges.iter().any(|edge| !edge.identity)
    }

    /// Refuses a node at which a guard that is left does not move across, unless a reset turned
    /// it away: its neighbours in another order cross it, so that order decides.
    pub(crate) fn check_live<S: EventFunction>(
        &self,
        system: &S,
        node: usize,
    ) -> Result<(), NoDerivative> {
        let Node { members, moved, .. } = &self.nodes[node];
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

    /// True when what passed came out where the run itself went on: same mode (unless a guard ended
    /// the run before others were met), and same state to within rounding, what differences leave
    /// of components that cancel, and what resets make of the motion between crossings that count
    /// as one instant.
    pub(crate) fn is_exit<S: EventFunction>(
        &self,
        context: Context<'_, S>,
        Passed { node, stopped }: Passed,
        corner: &CornerPoint,
    ) -> bool {
        let Node { x, mode, .. } = &self.nodes[node];
        let all = x.iter().chain(&corner.x).chain(&corner.x_after);
        let largest = all.fold(0.0, |most: f64, v| most.max(v.abs()));
        (stopped || mode.is(&corner.mode_after))
            && (0..x.len()).all(|i| {
                let size = x[i].abs().max(corner.x[i].abs()).max(1e-3 * largest);
                let cancelled = DIFFERENCE * self.largest[i];
                let moved = context.tolerance * self.speed[i] + corner.span * self.carried_speed[i];
                let slack = 1e-9 * size + cancelled + 4.0 * moved + self.rounding[i];
                (x[i] - corner.x_after[i]).abs() <= slack
            })
    }
}
