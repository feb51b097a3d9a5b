//! The passage of a displacement through a corner: across the guard that it meets first, then the
//! next, at a cost of `O(n² d)` and `n + 1` fields, never of `n!` orders. A single crossing without a
//! reset takes the saltation matrix `Ξ = 1 + (F⁻ − F⁺) τ` alone, with the row `τ = −D_x h / (dh/dt)`
//! of its time shift (Aizerman & Gantmakher 1958; Pace & Burden, item 10 of the proof). Where no
//! crossing of a model changes more than its side and the field, it needs no graph; where a model may
//! reset the state, a graph of two nodes says whether this crossing does.

use nalgebra::{DMatrix, DVector};

use super::explorer::{Behind, Explorer};
use super::graph::{CornerGraph, CornerPoint, Edge, Node, Passed};
use crate::derivative::context::Context;
use crate::linalg::dot;
use crate::{Guard, Mode, NoDerivative};

/// A guard that a direction met.
#[derive(Clone, Copy, Debug)]
struct Met {
    guard: Guard,
    /// Shift of its time (s).
    tau: f64,
    edge: usize,
    /// The number of guards with one surface that were crossed with it.
    together: usize,
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

    /// Carries the perturbations through the corner. Returns where they came out, and whether they
    /// were together to the end.
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
            let together = graph.edge(edge).together.len();
            passed = Passed { node: to, stopped };
            met.push(Met {
                guard,
                tau,
                edge,
                together,
            });
            if stopped {
                graph.to_event(to, shifts, deltas);
            }
        }
        Ok((passed, true))
    }

    /// The number of guards met.
    pub(crate) fn len(&self) -> usize {
        self.met.iter().map(|met| 1 + met.together).sum()
    }

    /// The guards met.
    pub(crate) fn guards(&self) -> Vec<Guard> {
        self.met.iter().map(|met| met.guard).collect()
    }

    /// Shift of the time of a crossing of `guard` behind `earlier` ones; one that a reset carried the
    /// state across has the time of the crossing that did so. None when it was not crossed (s).
    pub(crate) fn shift_of(
        &self,
        graph: &CornerGraph,
        guard: Guard,
        earlier: usize,
    ) -> Option<f64> {
        let mut crossed = self.met.iter().flat_map(|met| {
            let Edge {
                together, carried, ..
            } = graph.edge(met.edge);
            let others = together.iter().chain(carried);
            let of_it = [met.guard].into_iter().chain(others.copied());
            of_it.filter(|of_it| *of_it == guard).map(|_| met.tau)
        });
        crossed.nth(earlier)
    }

    /// The matrix of the piece that the direction passed: the product of the saltation matrices
    /// along its order. `tell` receives the row of the time shift of each guard.
    pub(crate) fn map(
        &self,
        context: Context<'_>,
        explorer: &mut Explorer,
        mut tell: impl FnMut(Guard, &DVector<f64>),
    ) -> Result<DMatrix<f64>, NoDerivative> {
        let mut map = explorer.start();
        let mut node = 0;
        for &Met { guard, .. } in &self.met {
            let Some(m) = explorer.graph().member(node, guard) else {
                break;
            };
            let tau = explorer.graph().shift_row(node, m, &map);
            tell(guard, &tau);
            let edge = explorer.carry_map(context, (node, m), Behind::Members, &tau, &mut map)?;
            let graph = explorer.graph();
            for &other in &graph.edge(edge).together {
                tell(other, &tau);
            }
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

/// A crossing of a model without resets, alone at its instant.
#[derive(Clone, Debug)]
pub(crate) struct Lone {
    /// The mode behind it.
    mode: Mode,
    row: Vec<f64>,
    /// The rate of the guard (`u`/s).
    rate: f64,
    /// The field behind it.
    behind: Vec<f64>,
    /// The gain of a displacement for each second that it crosses later: `F⁻ − F⁺`, and `F⁻` where
    /// the run ends at the event.
    gain: Vec<f64>,
}

impl Lone {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        Self {
            mode: mode.clone(),
            row: vec![0.0; dim],
            rate: f64::NAN,
            behind: vec![0.0; dim],
            gain: vec![0.0; dim],
        }
    }

    /// Stands before the crossing at `point`; false where it takes more to know its derivative, or
    /// to refuse it with its reason.
    ///
    /// # Errors
    /// [`NoDerivative::DifferencesDisagree`] where the differences of a row disagree; interrupts.
    pub(crate) fn begin(
        &mut self,
        context: Context<'_>,
        point: &CornerPoint,
    ) -> Result<bool, NoDerivative> {
        let [guard] = point.guards[..] else {
            return Ok(false);
        };
        let (system, k, t, x) = (context.system, guard.event, point.t, &point.x[..]);
        self.mode.copy_from(&point.mode);
        self.mode.set(k, guard.side_after());
        let is_plain = context.crosses_sides_alone()
            && self.mode.is(&point.mode_after)
            && point.x_after == point.x;
        if !is_plain {
            return Ok(false);
        }
        context.interrupt.check()?;
        system.flow(t, x, &point.mode, &mut self.gain);
        let (before, gain) = (point.before(), &self.gain);
        let moving = context.crossed_row(k, before, gain, &mut self.row, &mut self.behind)?;
        self.rate = moving + dot(&self.row, &self.gain);
        let least = point.min_rates.get(k);
        if !least.is_some_and(|least| guard.sign() * self.rate >= *least) {
            return Ok(false);
        }
        self.behind.copy_from_slice(&self.gain);
        if !system.flip(t, x, &self.mode, k, &mut self.behind) {
            system.flow(t, x, &self.mode, &mut self.behind);
        }
        let watch = system.watch(k);
        if !(watch.stop && watch.sees(guard.direction)) {
            for (gain, behind) in self.gain.iter_mut().zip(&self.behind) {
                *gain -= behind;
            }
        }
        let sum = |entries: &[f64]| entries.iter().sum::<f64>();
        Ok((self.rate + sum(&self.row) + sum(&self.gain) + sum(&self.behind)).is_finite())
    }

    /// Carries a displacement at fixed time from before the crossing to behind it, by the saltation
    /// matrix (Pace & Burden, eq. 39, with `DR = 1`). Returns the shift of the time at which it
    /// crosses (s).
    pub(crate) fn carry(&self, delta: &mut [f64]) -> f64 {
        let tau = -dot(&self.row, delta) / self.rate;
        for (delta, gain) in delta.iter_mut().zip(&self.gain) {
            *delta += tau * gain;
        }
        tau
    }

    /// Carries the columns of `map`, and an error, across the crossing at `point`; the row of its
    /// time shift on what they are carried from. None where it takes more to know the derivative.
    ///
    /// # Errors
    /// As [`begin`](Self::begin), [`Explorer::edge`], and a guard that is not live.
    pub(crate) fn pass(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
        point: &CornerPoint,
        map: &mut DMatrix<f64>,
        error: &mut DVector<f64>,
    ) -> Result<Option<DVector<f64>>, NoDerivative> {
        if self.begin(context, point)? {
            let columns = map.as_mut_slice().chunks_exact_mut(point.x.len());
            let shifts = columns.map(|column| self.carry(column));
            let row = DVector::from_iterator(point.x.len(), shifts);
            self.carry(error.as_mut_slice());
            return Ok(Some(row));
        }
        explorer.begin(context, point)?;
        explorer.graph().check_live(context.system, 0)?;
        let found = explorer.edge(context, 0, 0)?;
        let graph = explorer.graph();
        let edge = graph.edge(found);
        let (node, stopped) = (edge.to, edge.stops);
        let is_last = graph.members(node).is_empty() || stopped;
        let passed = Passed { node, stopped };
        if !(edge.identity && is_last && explorer.is_exit(context, passed, point)) {
            return Ok(None);
        }
        let tau = graph.shift_row(0, 0, map);
        let tau_error = [graph.shift(0, 0, error.as_slice())];
        let columns = (tau.as_slice(), map.as_mut_slice());
        for (tau, deltas) in [columns, (&tau_error, error.as_mut_slice())] {
            explorer.carry(context, (0, found), tau, deltas)?;
            if stopped {
                explorer.graph().to_event(node, tau, deltas);
            }
        }
        Ok(Some(tau))
    }
}
