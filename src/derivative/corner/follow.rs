//! How a displacement passes a corner: across the guard that it meets first, then the next, at a
//! cost of `O(n² d)` and `n + 1` fields, never of `n!` orders.

use nalgebra::{DMatrix, DVector};

use super::exit::Passed;
use super::explorer::{Behind, Explorer};
use super::graph::{CornerGraph, Node};
use super::point::CornerPoint;
use crate::derivative::context::Context;
use crate::{Guard, NoDerivative};

/// A guard that a direction met.
#[derive(Clone, Copy, Debug)]
struct Met {
    guard: Guard,
    /// Shift of its time (s).
    tau: f64,
    /// The node behind it.
    to: usize,
}

/// The guards that the last direction met, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Course {
    met: Vec<Met>,
    /// Shifts of the time of the guard that is met next, one a direction.
    shifts: Vec<f64>,
}

impl Course {
    /// Carries `delta`, a perturbation at fixed time just before the corner at which `explorer`
    /// stands, to one just after it (or, where a guard ends the run, at the end): always across the
    /// guard that is met first.
    pub(crate) fn pass(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
        delta: &mut [f64],
    ) -> Result<Passed, NoDerivative> {
        Ok(self.pass_each(context, explorer, delta)?.0)
    }

    /// Carries several perturbations as [`pass`](Self::pass), with each reset evaluated once. None
    /// when they do not all meet the same guards in the same order; `deltas` are then invalid.
    pub(crate) fn pass_together(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
        deltas: &mut [f64],
    ) -> Result<Option<Passed>, NoDerivative> {
        let (passed, together) = self.pass_each(context, explorer, deltas)?;
        Ok(together.then_some(passed))
    }

    /// Where the perturbations went, and whether they were together to the end.
    fn pass_each(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
        deltas: &mut [f64],
    ) -> Result<(Passed, bool), NoDerivative> {
        let Self { met, shifts } = self;
        met.clear();
        let mut passed = Passed {
            node: 0,
            stopped: false,
        };
        while !passed.stopped {
            let (node, graph) = (passed.node, explorer.graph());
            let mut columns = deltas.chunks_exact(graph.dim());
            let first = match columns.next() {
                Some(delta) => graph.first_met(context.system, node, delta)?,
                None => None,
            };
            shifts.clear();
            shifts.extend(first.map(|(_, tau)| tau));
            for delta in columns {
                let other = graph.first_met(context.system, node, delta)?;
                if other.map(|(m, _)| m) != first.map(|(m, _)| m) {
                    return Ok((passed, false));
                }
                shifts.extend(other.map(|(_, tau)| tau));
            }
            let Some((m, tau)) = first else {
                break;
            };
            let guard = graph.members(node)[m].guard;
            if met.len() >= graph.most_met() {
                return Err(graph.no_end(node, guard));
            }
            let edge = explorer.edge(context, node, m)?;
            explorer.carry(context, (node, edge), shifts, deltas)?;
            let graph = explorer.graph();
            let (to, stopped) = (graph.edge(edge).to, graph.edge(edge).stops);
            passed = Passed { node: to, stopped };
            met.push(Met { guard, tau, to });
            if stopped {
                graph.to_event(to, shifts, deltas);
            }
        }
        Ok((passed, true))
    }

    /// The number of guards met.
    pub(crate) fn len(&self) -> usize {
        self.met.len()
    }

    /// The guards met.
    pub(crate) fn guards(&self) -> Vec<Guard> {
        self.met.iter().map(|met| met.guard).collect()
    }

    /// Shift of the time of `guard`; one that a reset carried the state across has the time of the
    /// crossing that did so. None when it was not crossed (s).
    pub(crate) fn shift_of(&self, graph: &CornerGraph, guard: Guard) -> Option<f64> {
        let met = self.met.iter().find(|met| met.guard == guard);
        let carried = |met: &&Met| graph.mode(met.to).contains(guard.event) == guard.side_after();
        met.or_else(|| self.met.iter().find(carried))
            .map(|met| met.tau)
    }

    /// The matrix of the piece that the direction passed: the product of the saltation matrices
    /// along its order. `tell` is told the row of the time shift of each guard.
    pub(crate) fn map(
        &self,
        context: Context<'_>,
        explorer: &mut Explorer,
        mut tell: impl FnMut(Guard, &DVector<f64>),
    ) -> Result<DMatrix<f64>, NoDerivative> {
        let dim = explorer.graph().dim();
        let mut map = DMatrix::identity(dim, dim);
        let mut node = 0;
        for &Met { guard, .. } in &self.met {
            let Some(m) = explorer.graph().member(node, guard) else {
                break;
            };
            let tau = explorer.graph().shift_row(node, m, &map);
            tell(guard, &tau);
            let edge = explorer.carry_map(context, (node, m), Behind::Members, &tau, &mut map)?;
            let graph = explorer.graph();
            node = graph.edge(edge).to;
            if graph.edge(edge).stops {
                graph.to_event(node, tau.as_slice(), map.as_mut_slice());
            }
        }
        Ok(map)
    }
}

/// Crosses the guards of `point` one after another, in its order, as far as they are met. The place
/// after them becomes the one in which `point` goes on.
pub(crate) fn go_on_to_exit(
    context: Context<'_>,
    explorer: &mut Explorer,
    point: &mut CornerPoint,
) -> Result<(), NoDerivative> {
    explorer.begin(context, point)?;
    let mut node = 0;
    for &guard in &point.guards {
        let graph = explorer.graph();
        let member = graph.member(node, guard);
        let Some(m) = member.filter(|&m| graph.is_live(context.system, node, m)) else {
            continue;
        };
        let edge = explorer.edge(context, node, m)?;
        node = explorer.graph().edge(edge).to;
        if explorer.graph().edge(edge).stops {
            break;
        }
    }
    let Node { x, mode, .. } = explorer.graph().node(node);
    point.x_after.copy_from_slice(x);
    point.mode_after.copy_from(mode);
    Ok(())
}
