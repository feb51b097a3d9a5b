//! The search of the graph of a corner, as far as it is asked for, and displacements carried along
//! its edges: `n + 1` fields for one direction through `n` guards.

use nalgebra::{DMatrix, DVector};

use super::graph::{CornerGraph, CornerPoint, Edge, Extremes, Mark, Passed};
use super::liveness::Reset;
use super::map_scale::{MapScale, Sizes};
use super::moved_guards::{Displaced, check_met, check_others, check_own};
use crate::derivative::context::Context;
use crate::derivative::repeat::{self, Carried, Repeat};
use crate::hybrid::evaluate;
use crate::hybrid::transition::Place;
use crate::linalg::largest;
use crate::model::rearm::Arming;
use crate::{CrossedGuard, Guard, Mode, NoDerivative};

/// Limit of the nodes of one corner; 4,096 are all sets of twelve guards.
const MAX_NODES: usize = 5000;

/// Limit of the numbers kept at a time in the maps of a corner, 256 MB: 2,330 maps of 120 × 120.
pub(crate) const MOST_NUMBERS: usize = 1 << 25;

/// The graph of a corner as far as it was found, what is largest in it, and the workspace to find
/// more. Only nodes that are asked for are evaluated.
#[derive(Clone, Debug)]
pub(crate) struct Explorer {
    graph: CornerGraph,
    /// The number of transitions that the run made before the corner.
    index: usize,
    /// The projector onto displacements that reach it; none where all do.
    reach: Option<DMatrix<f64>>,
    extremes: Extremes,
    /// The sizes of jumps, time shifts and intermediate maps since they were last forgotten.
    pub(crate) sizes: Sizes,
    repeat: Repeat,
    /// The place at which a crossing is repeated to carry displacements.
    x: Vec<f64>,
    mode: Mode,
    arming: Vec<Arming>,
    /// Displacements before a reset, then rows.
    before: Vec<f64>,
    /// The guards that are crossed at an edge.
    set: Vec<CrossedGuard>,
    /// Guards with one surface are crossed one by one, as someone asked for.
    is_one_by_one: bool,
}

/// The properties found of a node behind an edge beside its state, mode and field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// The guards that may be crossed there, and whether it is an earlier node.
    Members,
    /// Nothing: no crossing beyond is asked for. It may be a twin of an earlier node.
    Nothing,
}

impl Explorer {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        let count = mode.len();
        Self {
            graph: CornerGraph::new(dim, mode),
            index: 0,
            reach: None,
            extremes: Extremes::new(dim),
            sizes: Sizes::new(dim),
            repeat: Repeat::new(dim, mode),
            x: vec![0.0; dim],
            mode: mode.clone(),
            arming: vec![Arming::Off; count],
            before: Vec::new(),
            set: Vec::with_capacity(count),
            is_one_by_one: false,
        }
    }

    /// Crosses guards with one surface one by one, as no neighbour does.
    pub(crate) fn one_by_one(mut self) -> Self {
        self.is_one_by_one = true;
        self
    }

    pub(crate) fn graph(&self) -> &CornerGraph {
        &self.graph
    }

    /// By how much the maps of the crossings found may differ and be one; `rounding` is what was
    /// measured of them.
    pub(crate) fn map_scale(&self, rounding: Option<&DMatrix<f64>>) -> MapScale {
        MapScale::of(&self.sizes, self.extremes.speed(), rounding)
    }

    /// True when what passed came out where the run went on ([`Extremes::is_exit`]).
    pub(crate) fn is_exit(
        &self,
        context: Context<'_>,
        passed: Passed,
        corner: &CornerPoint,
    ) -> bool {
        self.extremes.is_exit(context, &self.graph, passed, corner)
    }

    /// Forgets the last corner and stands before `corner`, at node 0.
    pub(crate) fn begin(
        &mut self,
        context: Context<'_>,
        corner: &CornerPoint,
    ) -> Result<(), NoDerivative> {
        self.index = corner.index;
        self.reach.clone_from(&corner.reach);
        self.extremes.forget();
        self.graph.start(context, corner, &mut self.x)?;
        let root = self.graph.node(0);
        self.extremes.note(root.x, root.field);
        Ok(())
    }

    /// The map from which maps through the corner are made: one, of displacements that reach it.
    pub(crate) fn start(&self) -> DMatrix<f64> {
        let dim = self.graph.dim();
        let all = || DMatrix::identity(dim, dim);
        self.reach.clone().unwrap_or_else(all)
    }

    /// Repeats the transitions of the run, each a set of guards, from the state of `point`. The state
    /// behind them becomes the one in which `point` goes on; false when they lead to another mode.
    pub(crate) fn repeat_run<'s>(
        &mut self,
        context: Context<'_>,
        point: &mut CornerPoint,
        sets: impl Iterator<Item = &'s [CrossedGuard]>,
    ) -> Result<bool, NoDerivative> {
        self.x.copy_from_slice(&point.x);
        self.mode.copy_from(&point.mode);
        for (k, arming) in self.arming.iter_mut().enumerate() {
            *arming = point.arming_of(context.system, k);
        }
        for (step, set) in sets.enumerate() {
            let place = Place {
                t: point.t,
                x: &mut self.x,
                mode: &mut self.mode,
                arming: &mut self.arming,
            };
            let index = point.index + step;
            self.repeat.cross_together(context, index, set, place)?;
        }
        let is_same = self.mode.is(&point.mode_after);
        if is_same {
            point.x_after.copy_from_slice(&self.x);
        }
        Ok(is_same)
    }

    /// Stands at node 0 again, and forgets the others.
    pub(crate) fn again(&mut self) {
        self.graph.again();
    }

    /// Forgets what was found of the graph since.
    pub(crate) fn forget_since(&mut self, mark: Mark) {
        self.graph.forget_since(mark);
    }

    /// The edge by which member `m` is crossed, found on first use.
    pub(crate) fn edge(
        &mut self,
        context: Context<'_>,
        from: usize,
        m: usize,
    ) -> Result<usize, NoDerivative> {
        self.edge_to(context, (from, m), Behind::Members)
    }

    fn edge_to(
        &mut self,
        context: Context<'_>,
        (from, m): (usize, usize),
        behind: Behind,
    ) -> Result<usize, NoDerivative> {
        let guard = self.graph.members(from)[m].guard;
        if let Some(edge) = self.graph.find_edge(from, guard) {
            return Ok(edge);
        }
        context.interrupt.check()?;
        if self.graph.nodes() > MAX_NODES {
            return Err(self.graph.too_large("states between crossings", MAX_NODES));
        }
        self.gather(context, from, m);
        let mark = self.graph.mark();
        // Most edges of a corner without resets lead to a node that was found before. That of a guard
        // that ends the run never does: only that guard leads there.
        let joins = behind == Behind::Members
            && context.crosses_sides_alone()
            && !context.system.watch(guard.event).stop;
        let known_behind = || self.graph.known_behind(from, guard, &mut self.mode);
        let known = joins.then(known_behind).flatten();
        let edge = match known {
            Some(to) => {
                self.extremes.note_carried(self.graph.field(from));
                self.graph.join(from, guard, to)
            }
            None => self.make_edge(context, (from, m), behind)?,
        };
        let (row, rate) = (self.graph.row(from, m), self.graph.members(from)[m].rate);
        self.sizes.note(self.graph.jump(edge), row, rate);
        if behind == Behind::Members
            && known.is_none()
            && let Some(twin) = self.graph.twin(self.graph.edge(edge).to)
        {
            self.graph.merge_newest(edge, twin, mark);
        }
        Ok(edge)
    }

    /// Collects member `m` of a node in `set`, with all that have its surface: that matters to resets alone.
    fn gather(&mut self, context: Context<'_>, from: usize, m: usize) {
        let (graph, members) = (&self.graph, self.graph.members(from));
        let crossed = |k: usize| CrossedGuard {
            guard: members[k].guard,
            rate: members[k].rate,
        };
        self.set.clear();
        self.set.push(crossed(m));
        let has_order = context
            .settings
            .is_some_and(|settings| !settings.corner_order.is_empty());
        if self.is_one_by_one || has_order || !context.system.resets() {
            return;
        }
        let largest = graph.largest_entry(from, m);
        let is_with = |k: &usize| graph.share_surface(context, from, [m, *k], largest);
        let others = (0..members.len()).filter(|k| *k != m && is_with(k));
        self.set.extend(others.map(crossed));
        // As a run hands them to the reset.
        self.set.sort_unstable_by_key(|c| c.guard.event);
    }

    /// The crossing of the guards of `set`, of which one is member `m` of a node.
    fn make_edge(
        &mut self,
        context: Context<'_>,
        (from, m): (usize, usize),
        behind: Behind,
    ) -> Result<usize, NoDerivative> {
        let (system, t) = (context.system, self.graph.t());
        let (guard, set) = (self.graph.members(from)[m].guard, &self.set[..]);
        let others = || set.iter().map(|c| c.guard).filter(|other| *other != guard);
        let (repeat, extremes) = (&mut self.repeat, &mut self.extremes);
        let index = self.index;
        let (mut moved, mut reset, mut only_this) = (false, false, false);
        let edge = self
            .graph
            .add_edge(from, guard, |before, after, edge, jump| {
                after.x.copy_from_slice(before.x);
                after.arming.copy_from_slice(before.arming);
                jump.copy_from_slice(before.field);
                let place = Place {
                    t,
                    x: &mut *after.x,
                    mode: &mut *after.mode,
                    arming: after.arming,
                };
                let (dt, dx) = (1.0, &mut *jump);
                let index = index + before.level;
                let done = repeat.cross(context, index, set, place, Carried { dt, dx })?;
                extremes.note_carried(jump);
                let (x, mode) = (&*after.x, &*after.mode);
                edge.together.extend(others());
                edge.carried.extend_from_slice(repeat.carried());
                only_this = !done.moved && set.len() == 1 && is_flip(before.mode, mode, guard);
                after.field.copy_from_slice(before.field);
                if !(only_this && system.flip(t, x, mode, guard.event, after.field)) {
                    system.flow(t, x, mode, after.field);
                }
                evaluate::check_flow(after.field, t, x, mode)?;
                extremes.note(x, after.field);
                for (jump, field) in jump.iter_mut().zip(&*after.field) {
                    *jump -= field;
                }
                moved = done.moved;
                reset = moved || done.reset_mode;
                *after.moved = before.moved || moved;
                edge.identity = done.tangents == repeat::Passed::Unchanged;
                edge.by_difference = match done.tangents {
                    repeat::Passed::Unchanged => false,
                    repeat::Passed::AsWritten => system.writes_reset_differences(),
                    repeat::Passed::ByDifference => true,
                };
                edge.stops = done.stops;
                Ok(())
            })?;
        // Behind a reset they are asked for as displacements are carried across it.
        if behind == Behind::Members || moved || !self.graph.edge(edge).identity {
            if !moved && context.system.ignores_mode() && self.set.len() == 1 {
                (self.graph).keep_members((from, edge), m, only_this)?;
            } else {
                let by = Reset { moved, reset };
                (self.graph).hand_on_members(context, (from, edge), m, by, &mut self.x)?;
            }
        }
        if !reset && !self.graph.edge(edge).stops {
            let to = self.graph.edge(edge).to;
            (self.graph).check_behind(context, (from, to), m, &mut self.x)?;
        }
        Ok(edge)
    }

    /// Carries `deltas` along an edge, at whose crossing the time of each is shifted by `tau`: from
    /// perturbations at fixed time in the old mode to those in the new one.
    pub(crate) fn carry(
        &mut self,
        context: Context<'_>,
        (from, edge): (usize, usize),
        tau: &[f64],
        deltas: &mut [f64],
    ) -> Result<(), NoDerivative> {
        let Edge {
            guard,
            identity,
            ref together,
            ..
        } = *self.graph.edge(edge);
        if !identity {
            self.before.clear();
            self.before.extend_from_slice(deltas);
            let node = self.graph.node(from);
            self.set.clear();
            for &guard in [guard].iter().chain(together) {
                let member = self.graph.member(from, guard);
                let rate = member.map_or(f64::NAN, |m| node.members[m].rate);
                self.set.push(CrossedGuard { guard, rate });
            }
            self.set.sort_unstable_by_key(|c| c.guard.event);
            self.x.copy_from_slice(node.x);
            self.mode.copy_from(node.mode);
            self.arming.copy_from_slice(node.arming);
            let place = Place {
                t: self.graph.t(),
                x: &mut self.x,
                mode: &mut self.mode,
                arming: &mut self.arming,
            };
            let (dt, dx) = (0.0, &mut *deltas);
            let index = self.index + node.level;
            self.repeat
                .cross(context, index, &self.set, place, Carried { dt, dx })?;
        }
        // δ⁺ = DR δ⁻ + τ (DR F⁻ − F⁺), with τ = −Dh δ⁻/(Dh F⁻): one factor of the saltation matrix
        // (Pace & Burden, eq. 39 and 40). `deltas` is DR δ⁻ here.
        let jump = self.graph.jump(edge);
        for (delta, tau) in deltas.chunks_exact_mut(jump.len()).zip(tau) {
            for (delta, jump) in delta.iter_mut().zip(jump) {
                *delta += tau * jump;
            }
        }
        if identity {
            return Ok(());
        }
        check_others(&self.graph, (from, edge), tau, [&self.before, deltas])?;
        let behind = Displaced {
            edge,
            tau,
            deltas,
            // A reset may take all of a displacement away, but for rounding.
            largest_before: largest(&self.before),
        };
        let place = &mut Place {
            t: self.graph.t(),
            x: &mut self.x,
            mode: &mut self.mode,
            arming: &mut self.arming,
        };
        let (graph, scratch) = (&self.graph, &mut self.before);
        check_own(graph, context, &behind, place, scratch)?;
        let (met, left) = (self.repeat.met(), self.repeat.left());
        if met.is_empty() && left.is_empty() {
            return Ok(());
        }
        let met = met.iter().chain(left);
        check_met(graph, context, &behind, place, met, scratch)
    }

    /// Carries a map to a node, whose columns are displacements, across member `m` of it, whose
    /// time is shifted by the row `tau`; gives the edge. An edge that is found now leads to a node
    /// that is evaluated as far as `behind` says.
    pub(crate) fn carry_map(
        &mut self,
        context: Context<'_>,
        (node, m): (usize, usize),
        behind: Behind,
        tau: &DVector<f64>,
        map: &mut DMatrix<f64>,
    ) -> Result<usize, NoDerivative> {
        let edge = self.edge_to(context, (node, m), behind)?;
        self.carry(context, (node, edge), tau.as_slice(), map.as_mut_slice())?;
        Ok(edge)
    }

    /// Carries a map as [`carry_map`](Self::carry_map), with the row of the time shift found on the
    /// way.
    pub(crate) fn cross(
        &mut self,
        context: Context<'_>,
        (node, m): (usize, usize),
        map: &mut DMatrix<f64>,
    ) -> Result<(usize, DVector<f64>), NoDerivative> {
        let tau = self.graph.shift_row(node, m, map);
        let edge = self.carry_map(context, (node, m), Behind::Members, &tau, map)?;
        Ok((edge, tau))
    }

    /// True when two members of node 0, with their edges, do not see each other: neither row sees
    /// the jump of the other, and the second has the same jump where it is met as member `m` of node
    /// `behind`, behind the first. Their maps are then the same in any order, and commute.
    pub(crate) fn are_apart(
        &mut self,
        context: Context<'_>,
        [(i, of_i), (k, of_k)]: [(usize, usize); 2],
        (behind, m): (usize, usize),
    ) -> Result<bool, NoDerivative> {
        let later = self.edge_to(context, (behind, m), Behind::Nothing)?;
        let graph = &self.graph;
        let sees = |row: &[f64], jump: &[f64]| row.iter().zip(jump).any(|(r, j)| r * j != 0.0);
        let is_plain = |edge: usize| graph.edge(edge).identity && !graph.edge(edge).stops;
        // Equality of fields up to the rounding of their sums.
        let is_same =
            |(a, (b, speed)): (&f64, (&f64, &f64))| (a - b).abs() <= 4.0 * f64::EPSILON * speed;
        let jumps = graph
            .jump(later)
            .iter()
            .zip(graph.jump(of_k).iter().zip(self.extremes.speed()));
        Ok([of_i, of_k, later].into_iter().all(is_plain)
            && !sees(graph.row(0, i), graph.jump(of_k))
            && !sees(graph.row(0, k), graph.jump(of_i))
            && graph.row(0, k) == graph.row(behind, m)
            && jumps.into_iter().all(is_same))
    }
}

/// True when `after` is `before` with the side of `guard` crossed and nothing else changed, flags
/// included.
fn is_flip(before: &Mode, after: &Mode, guard: Guard) -> bool {
    let k = guard.event;
    let differ = |(a, b): (u64, u64)| (a ^ b).count_ones();
    before.contains(k) != after.contains(k)
        && before.has_flags_of(after)
        && before.words().zip(after.words()).map(differ).sum::<u32>() == 1
}
