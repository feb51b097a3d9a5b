//! The graph of a corner: which guard a perturbed state meets first, which field it finds behind
//! it, and so on (Council, Revzen & Burden, JCND 17 (2022) 091004, on the corner fields of Burden
//! et al., SIADS 15 (2016) 1227).
//!
//! A node is a state, a mode and a field between two crossings. An edge is the crossing of one
//! guard and leads from one node to the next. The [`Explorer`](super::explorer::Explorer) finds
//! nodes and edges; this file keeps, compares and reads them.

use nalgebra::{DMatrix, DVector};

use super::point::CornerPoint;
use crate::hybrid::System;
use crate::hybrid::evaluate;
use crate::hybrid::model::rearm::Arming;
use crate::linalg::dot;
use crate::{At, Guard, Mode, NoDerivative, Quantity, Stop};

/// When more guards than this are met again at one instant, resets do not end.
const MOST_MET_AGAIN: usize = 500;

/// A guard that may still be crossed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) guard: Guard,
    /// `∂h/∂t` (`u`/s).
    moving: f64,
    /// `dh/dt` along the field of the node (`u`/s).
    pub(crate) rate: f64,
    /// Where its row `D_x h` begins among the rows of the graph.
    row: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) x: Vec<f64>,
    pub(crate) mode: Mode,
    pub(crate) arming: Vec<Arming>,
    pub(crate) field: Vec<f64>,
    pub(crate) members: Vec<Member>,
    /// Crossings before this node.
    pub(crate) level: usize,
    /// A reset changed the state before this node.
    pub(crate) moved: bool,
    first_edge: Option<usize>,
}

/// A crossing at a node.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) guard: Guard,
    pub(crate) to: usize,
    /// `D_x R · F⁻ + D_t R − F⁺`.
    pub(crate) jump: Vec<f64>,
    /// The reset is the identity.
    pub(crate) identity: bool,
    /// The derivative of the reset is a difference, in part at least.
    pub(crate) by_difference: bool,
    /// It ends the run.
    pub(crate) stops: bool,
    next: Option<usize>,
}

/// Nodes and edges found so far at one corner. Those of earlier corners are kept as workspace.
#[derive(Clone, Debug)]
pub(crate) struct CornerGraph {
    t: f64,
    nodes: Vec<Node>,
    used_nodes: usize,
    edges: Vec<Edge>,
    used_edges: usize,
    /// Rows `D_x h` of the members of all nodes; nodes share those that do not change.
    rows: Vec<f64>,
    /// How many of them are those of node 0.
    root_rows: usize,
    /// The liveness bounds of all event functions in the run, if there is one.
    min_rates: Vec<f64>,
    /// The rounding of states after crossings, where it is known.
    rounding: Vec<f64>,
    /// Values of the members of node 0 that count as zero, where they are not zero.
    residuals: Vec<f64>,
}

impl CornerGraph {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        let count = mode.len();
        Self {
            t: 0.0,
            nodes: Vec::new(),
            used_nodes: 0,
            edges: Vec::new(),
            used_edges: 0,
            rows: Vec::new(),
            root_rows: 0,
            min_rates: Vec::with_capacity(count),
            rounding: vec![0.0; dim],
            residuals: Vec::with_capacity(count),
        }
    }

    /// The time of the corner (s).
    pub(crate) fn t(&self) -> f64 {
        self.t
    }

    /// The number of state variables.
    pub(crate) fn dim(&self) -> usize {
        self.rounding.len()
    }

    pub(crate) fn node(&self, i: usize) -> &Node {
        &self.nodes[i]
    }

    pub(crate) fn nodes(&self) -> usize {
        self.used_nodes
    }

    pub(crate) fn edge(&self, i: usize) -> &Edge {
        &self.edges[i]
    }

    /// The rounding of each component of states after crossings.
    pub(crate) fn rounding(&self) -> &[f64] {
        &self.rounding
    }

    /// Forgets the last corner and stands before `corner`, at node 0, which has no members yet;
    /// `fill` gives it its arming and its field.
    pub(crate) fn start(
        &mut self,
        corner: &CornerPoint,
        fill: impl FnOnce(&mut Node) -> Result<(), NoDerivative>,
    ) -> Result<(), NoDerivative> {
        self.t = corner.t;
        self.used_nodes = 0;
        self.used_edges = 0;
        self.rows.clear();
        self.root_rows = 0;
        self.rounding.fill(0.0);
        for (own, known) in self.rounding.iter_mut().zip(&corner.rounding) {
            *own = *known;
        }
        self.min_rates.clone_from(&corner.min_rates);
        self.residuals.clone_from(&corner.residuals);
        let root = self.new_node(corner.x.len(), |_| corner.mode.clone());
        let node = &mut self.nodes[root];
        node.x.copy_from_slice(&corner.x);
        node.mode.copy_from(&corner.mode);
        node.level = 0;
        node.moved = false;
        fill(node)
    }

    /// Stands at node 0 again, and forgets the others.
    pub(crate) fn again(&mut self) {
        self.used_nodes = self.used_nodes.min(1);
        self.used_edges = 0;
        self.rows.truncate(self.root_rows);
        if let Some(root) = self.nodes.first_mut() {
            root.first_edge = None;
        }
    }

    fn new_node(&mut self, dim: usize, mode: impl FnOnce(&[Node]) -> Mode) -> usize {
        let i = self.used_nodes;
        self.used_nodes += 1;
        if i == self.nodes.len() {
            let mode = mode(&self.nodes);
            self.nodes.push(Node {
                x: vec![0.0; dim],
                arming: vec![Arming::Off; mode.len()],
                mode,
                field: vec![0.0; dim],
                members: Vec::new(),
                level: 0,
                moved: false,
                first_edge: None,
            });
        }
        let node = &mut self.nodes[i];
        node.members.clear();
        node.first_edge = None;
        i
    }

    fn new_edge(&mut self, dim: usize) -> usize {
        let i = self.used_edges;
        self.used_edges += 1;
        if i == self.edges.len() {
            self.edges.push(Edge {
                guard: Guard::rising(0),
                to: 0,
                jump: vec![0.0; dim],
                identity: true,
                by_difference: false,
                stops: false,
                next: None,
            });
        }
        i
    }

    /// The edge by which `guard` is crossed from a node, if it was found.
    pub(crate) fn find_edge(&self, from: usize, guard: Guard) -> Option<usize> {
        let mut known = self.nodes[from].first_edge;
        while let Some(edge) = known {
            if self.edges[edge].guard == guard {
                return Some(edge);
            }
            known = self.edges[edge].next;
        }
        None
    }

    /// Adds the crossing of `guard` at a node, and the node behind it, which has no members yet.
    /// `fill` is given the node before, and gives the node behind all but its level, and the edge
    /// all but where it leads.
    pub(crate) fn add_edge(
        &mut self,
        from: usize,
        guard: Guard,
        fill: impl FnOnce(&Node, &mut Node, &mut Edge) -> Result<(), NoDerivative>,
    ) -> Result<usize, NoDerivative> {
        let dim = self.nodes[from].x.len();
        let like_before = |nodes: &[Node]| nodes[from].mode.clone();
        let (i, to) = (self.new_edge(dim), self.new_node(dim, like_before));
        let (before, after) = self.nodes.split_at_mut(to);
        let (before, after) = (&mut before[from], &mut after[0]);
        let edge = &mut self.edges[i];
        fill(before, after, edge)?;
        after.level = before.level + 1;
        edge.guard = guard;
        edge.to = to;
        edge.next = before.first_edge.replace(i);
        Ok(i)
    }

    /// Lets an edge lead to an earlier node that is the same as the newest, to which it leads now:
    /// other orders of the same guards meet there. The newest is forgotten, and `rows` rows are
    /// kept.
    pub(crate) fn merge_newest(&mut self, edge: usize, rows: usize) {
        let newest = self.edges[edge].to;
        let Some(twin) = self.twin(newest) else {
            return;
        };
        self.edges[edge].to = twin;
        debug_assert_eq!(newest + 1, self.used_nodes, "the newest node");
        self.used_nodes -= 1;
        self.rows.truncate(rows);
    }

    /// An earlier node that is the same.
    fn twin(&self, newest: usize) -> Option<usize> {
        let new = &self.nodes[newest];
        let largest = new.x.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        // Resets that commute do so to within rounding.
        let same = |i: usize, a: f64, b: f64| {
            (a - b).abs() <= 1e-13 * a.abs().max(1e-3 * largest) + self.rounding[i]
        };
        self.nodes[..newest].iter().position(|old| {
            (old.level == new.level || new.moved)
                && old.mode.is(&new.mode)
                && old.arming == new.arming
                && (0..new.x.len()).all(|i| same(i, old.x[i], new.x[i]))
                && old.members.len() == new.members.len()
                && old.moved == new.moved
                && new
                    .members
                    .iter()
                    .zip(&old.members)
                    .all(|(a, b)| a.guard == b.guard)
        })
    }

    /// Entries of all rows so far.
    pub(crate) fn rows(&self) -> usize {
        self.rows.len()
    }

    /// Adds `guard` to those that may be crossed from a node; `fill` writes its row and gives
    /// `∂h/∂t`.
    pub(crate) fn add_member(
        &mut self,
        node: usize,
        guard: Guard,
        fill: impl FnOnce(&Node, &mut [f64]) -> Result<f64, NoDerivative>,
    ) -> Result<(), NoDerivative> {
        let from = self.rows.len();
        let own = &mut self.nodes[node];
        self.rows.resize(from + own.x.len(), 0.0);
        let row = &mut self.rows[from..];
        let moving = fill(own, row)?;
        let rate = moving + dot(row, &own.field);
        if !rate.is_finite() || row.iter().any(|v| !v.is_finite()) {
            let event = guard.event;
            let gradient = Quantity::Gradient { event };
            return Err(evaluate::not_finite(gradient, self.t, &own.x, &own.mode).into());
        }
        own.members.push(Member {
            guard,
            moving,
            rate,
            row: from,
        });
        if node == 0 {
            self.root_rows = self.rows.len();
        }
        Ok(())
    }

    /// Adds a member of another node, which has the same row at this one.
    pub(crate) fn keep_member(&mut self, node: usize, member: Member) {
        let own = &mut self.nodes[node];
        let row = &self.rows[member.row..member.row + own.x.len()];
        let rate = member.moving + dot(row, &own.field);
        own.members.push(Member { rate, ..member });
    }

    /// The row `D_x h` of member `m`.
    pub(crate) fn row(&self, node: usize, m: usize) -> &[f64] {
        let Node { x, members, .. } = &self.nodes[node];
        let from = members[m].row;
        &self.rows[from..from + x.len()]
    }

    /// The member of a node that crosses `guard`.
    pub(crate) fn member(&self, node: usize, guard: Guard) -> Option<usize> {
        let mut members = self.nodes[node].members.iter();
        members.position(|member| member.guard == guard)
    }

    /// Shift of the time at which member `m` of a node is crossed, for a perturbation `delta`
    /// there (s).
    pub(crate) fn shift(&self, node: usize, m: usize, delta: &[f64]) -> f64 {
        -dot(self.row(node, m), delta) / self.nodes[node].members[m].rate
    }

    /// The same as a row on displacements before the corner, which `map` carries to the node.
    pub(crate) fn shift_row(&self, node: usize, m: usize, map: &DMatrix<f64>) -> DVector<f64> {
        DVector::from_fn(map.ncols(), |j, _| {
            self.shift(node, m, map.column(j).as_slice())
        })
    }

    /// True when member `m` is crossed from this node: its rate is at least its least rate.
    pub(crate) fn is_live(&self, system: &dyn System, node: usize, m: usize) -> bool {
        let member = &self.nodes[node].members[m];
        member.guard.sign() * member.rate >= self.min_rate(system, member.guard.event)
    }

    /// The liveness bound of event function `k`: that of the run; outside of runs that of the user,
    /// or by its rate at node 0.
    pub(crate) fn min_rate(&self, system: &dyn System, k: usize) -> f64 {
        let known = self.min_rates.get(k).copied();
        known.or_else(|| system.min_rate(k)).unwrap_or_else(|| {
            let mut members = self.nodes[0].members.iter();
            let seen = members.find(|member| member.guard.event == k);
            let rate = seen.map_or(0.0, |member| member.rate.abs());
            (evaluate::PART_OF_RATE * rate).max(f64::MIN_POSITIVE)
        })
    }

    /// What event function `k` may be off zero at the corner, and counts as zero all the same
    /// (`u_k`).
    pub(crate) fn residual(&self, k: usize) -> f64 {
        let mut members = self.nodes[0].members.iter();
        let own = members.position(|member| member.guard.event == k);
        own.and_then(|m| self.residuals.get(m))
            .map_or(0.0, |r| r.abs())
    }

    /// Refuses a node at which a remaining guard does not move across. Where a reset turned the
    /// motion away from the guard it is allowed: neighbours in another order cross the guard, and
    /// that order decides.
    pub(crate) fn check_live(&self, system: &dyn System, node: usize) -> Result<(), NoDerivative> {
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

    /// True when a reset of any edge found so far changes this state, or others close by.
    pub(crate) fn has_resets(&self) -> bool {
        let edges = &self.edges[..self.used_edges];
        edges.iter().any(|edge| !edge.identity)
    }

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

    /// The refusal of a corner that is too large for a search.
    #[cold]
    pub(crate) fn too_large(&self, what: &'static str, limit: usize) -> NoDerivative {
        let guards = self.nodes.first().map_or(0, |root| root.members.len());
        NoDerivative::CornerTooLarge {
            guards,
            what,
            limit,
            t: self.t,
        }
    }
}
