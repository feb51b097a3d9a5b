//! The graph of a corner: which guard a perturbed state meets first, which field it finds behind
//! it, and so on (Council, Revzen & Burden, JCND 17 (2022) 091004, on the corner fields of Burden
//! et al., SIADS 15 (2016) 1227).
//!
//! A node is a state, a mode and a field between two crossings. An edge is the crossing of one
//! guard and leads from one node to the next. Only nodes that are asked for are evaluated: `n + 1`
//! for one direction through `n` guards.

use super::map_scale::Sizes;
use crate::derivative::repeat::{Carried, Context, Passed, Repeat, zero};
use crate::hybrid::evaluate;
use crate::hybrid::model::rearm::Arming;
use crate::hybrid::transition::Place;
use crate::linalg::dot;
use crate::ode::difference;
use crate::{CrossedGuard, EventFunction, Flow, Guard, Mode, NoDerivative, Quantity};

/// Nodes of one corner at a time, at most; 4,096 are all sets of twelve guards.
const MAX_NODES: usize = 5000;

/// A corner, or a single crossing, as the run met it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CornerPoint {
    /// Time of the first crossing (s).
    pub(crate) t: f64,
    /// State on the guards, before any crossing.
    pub(crate) x: Vec<f64>,
    pub(crate) mode: Mode,
    /// How many transitions the run made before it.
    pub(crate) index: usize,
    /// Which guards are armed there; outside of runs empty, and all that are watched are.
    pub(crate) arming: Vec<Arming>,
    /// The guards, in the order in which the run crossed them.
    pub(crate) guards: Vec<Guard>,
    /// State and mode in which the run went on.
    pub(crate) x_after: Vec<f64>,
    pub(crate) mode_after: Mode,
    /// Time from its first crossing to its last in the run (s).
    pub(crate) span: f64,
    /// The liveness bounds of all event functions in the run; none outside of runs.
    pub(crate) min_rates: Vec<f64>,
    /// What of states behind its crossings is rounding, where that was measured.
    pub(crate) rounding: Vec<f64>,
}

impl CornerPoint {
    /// Whether the crossing of event function `k` is looked for there.
    pub(crate) fn arming_of<S: EventFunction>(&self, system: &S, k: usize) -> Arming {
        let outside_of_runs = || {
            if system.watch(k).is_any() {
                Arming::Waiting
            } else {
                Arming::Off
            }
        };
        self.arming.get(k).copied().unwrap_or_else(outside_of_runs)
    }
}

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

/// Nodes and edges found so far at one corner, and the workspace to find more.
#[derive(Clone, Debug)]
pub(crate) struct CornerGraph {
    pub(crate) t: f64,
    /// How many transitions the run made before the corner.
    pub(crate) index: usize,
    pub(crate) nodes: Vec<Node>,
    pub(crate) used_nodes: usize,
    pub(crate) edges: Vec<Edge>,
    pub(crate) used_edges: usize,
    /// Rows `D_x h` of the members of all nodes; nodes share those that do not change.
    rows: Vec<f64>,
    /// How many of them are those of node 0.
    root_rows: usize,
    pub(crate) sizes: Sizes,
    /// The liveness bounds of all event functions in the run, if there is one.
    pub(crate) min_rates: Vec<f64>,
    /// What of states behind crossings is rounding, where that is known.
    pub(crate) rounding: Vec<f64>,
    pub(crate) repeat: Repeat,
    pub(crate) scratch: Vec<f64>,
    pub(crate) mode: Mode,
    pub(crate) arming: Vec<Arming>,
    /// Sensitivities before a reset.
    pub(crate) before: Vec<f64>,
    /// Shifts of the time of the guard that is met next, one a tangent.
    pub(crate) shifts: Vec<f64>,
    /// The largest speed of each component at any node.
    pub(crate) speed: Vec<f64>,
    /// How fast each component of states behind crossings changes when a crossing comes later: at
    /// most, by what resets make of the motion before them.
    pub(crate) carried_speed: Vec<f64>,
    /// The largest size of each component at any node: what cancels in the end leaves the errors
    /// of this.
    pub(crate) largest: Vec<f64>,
    /// Guards in the order in which the last direction met them.
    pub(crate) order: Vec<Met>,
}

/// A guard met on the way through a corner.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Met {
    pub(crate) guard: Guard,
    /// Shift of its time (s).
    pub(crate) tau: f64,
    /// The node behind it.
    pub(crate) to: usize,
}

impl CornerGraph {
    pub(crate) fn new(dim: usize, count: usize) -> Self {
        Self {
            t: 0.0,
            index: 0,
            nodes: Vec::new(),
            used_nodes: 0,
            edges: Vec::new(),
            used_edges: 0,
            rows: Vec::new(),
            root_rows: 0,
            sizes: Sizes::new(dim),
            min_rates: Vec::with_capacity(count),
            rounding: vec![0.0; dim],
            repeat: Repeat::new(dim, count),
            scratch: vec![0.0; dim],
            mode: Mode::new(count),
            arming: vec![Arming::Off; count],
            before: Vec::new(),
            shifts: Vec::new(),
            speed: vec![0.0; dim],
            carried_speed: vec![0.0; dim],
            largest: vec![0.0; dim],
            order: Vec::with_capacity(2 * count),
        }
    }

    pub(crate) fn node(&self, i: usize) -> &Node {
        &self.nodes[i]
    }

    pub(crate) fn edge(&self, i: usize) -> &Edge {
        &self.edges[i]
    }

    /// Forgets the last corner and stands before `corner`, at node 0.
    pub(crate) fn begin<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        corner: &CornerPoint,
    ) -> Result<(), NoDerivative> {
        self.t = corner.t;
        self.index = corner.index;
        self.used_nodes = 0;
        self.used_edges = 0;
        self.order.clear();
        self.speed.fill(0.0);
        self.carried_speed.fill(0.0);
        self.largest.fill(0.0);
        self.rows.clear();
        self.rounding.fill(0.0);
        for (own, known) in self.rounding.iter_mut().zip(&corner.rounding) {
            *own = *known;
        }
        self.min_rates.clone_from(&corner.min_rates);
        let root = self.new_node(corner.x.len(), corner.mode.len());
        let node = &mut self.nodes[root];
        node.x.copy_from_slice(&corner.x);
        node.mode.copy_from(&corner.mode);
        for (k, arming) in node.arming.iter_mut().enumerate() {
            *arming = corner.arming_of(context.system, k);
        }
        node.level = 0;
        node.moved = false;
        let (t, system) = (corner.t, context.system);
        system.flow(t, &corner.x, &corner.mode, &mut node.field);
        evaluate::check_flow(&node.field, t, &corner.x, &corner.mode)?;
        note_most(&mut self.speed, &node.field);
        note_most(&mut self.largest, &node.x);
        for &guard in &corner.guards {
            self.add_member(context, root, guard)?;
        }
        self.root_rows = self.rows.len();
        Ok(())
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

    fn new_node(&mut self, dim: usize, count: usize) -> usize {
        let i = self.used_nodes;
        self.used_nodes += 1;
        if i == self.nodes.len() {
            self.nodes.push(Node {
                x: vec![0.0; dim],
                mode: Mode::new(count),
                arming: vec![Arming::Off; count],
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

    /// Adds `guard` to those that may be crossed from a node, with its row and its rate there.
    fn add_member<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        node: usize,
        guard: Guard,
    ) -> Result<(), NoDerivative> {
        let Node {
            x,
            mode,
            field,
            members,
            ..
        } = &mut self.nodes[node];
        let (t, k) = (self.t, guard.event);
        let from = self.rows.len();
        self.rows.resize(from + x.len(), 0.0);
        let row = &mut self.rows[from..];
        let moving = row_of(context, k, (t, x), mode, (row, &mut self.scratch))?;
        let rate = moving + dot(row, field);
        if !rate.is_finite() || row.iter().any(|v| !v.is_finite()) {
            return Err(evaluate::not_finite(Quantity::Gradient { event: k }, t, x, mode).into());
        }
        members.push(Member {
            guard,
            moving,
            rate,
            row: from,
        });
        Ok(())
    }

    /// The row `D_x h` of member `m`.
    pub(crate) fn row(&self, node: usize, m: usize) -> &[f64] {
        let Node { x, members, .. } = &self.nodes[node];
        let from = members[m].row;
        &self.rows[from..from + x.len()]
    }

    /// True when member `m` is crossed from this node: it moves across at its least rate at
    /// least.
    pub(crate) fn is_live<S: EventFunction>(&self, system: &S, node: usize, m: usize) -> bool {
        let member = &self.nodes[node].members[m];
        member.guard.sign() * member.rate >= self.min_rate(system, member.guard.event)
    }

    /// The liveness bound of event function `k`: that of the run; outside of runs that of the user,
    /// or by its rate at node 0.
    pub(crate) fn min_rate<S: EventFunction>(&self, system: &S, k: usize) -> f64 {
        let known = self.min_rates.get(k).copied();
        known.or_else(|| system.min_rate(k)).unwrap_or_else(|| {
            let mut members = self.nodes[0].members.iter();
            let seen = members.find(|member| member.guard.event == k);
            let rate = seen.map_or(0.0, |member| member.rate.abs());
            (evaluate::PART_OF_RATE * rate).max(f64::MIN_POSITIVE)
        })
    }

    /// The way by which member `m` is crossed, found on first use.
    pub(crate) fn follow<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        from: usize,
        m: usize,
    ) -> Result<usize, NoDerivative> {
        let guard = self.nodes[from].members[m].guard;
        let mut known = self.nodes[from].first_edge;
        while let Some(edge) = known {
            if self.edges[edge].guard == guard {
                return Ok(edge);
            }
            known = self.edges[edge].next;
        }
        context.interrupt.check()?;
        if self.used_nodes > MAX_NODES {
            return Err(self.too_large("states between crossings", MAX_NODES));
        }
        let rows = self.rows.len();
        let edge = self.make_edge(context, from, m)?;
        self.sizes.note(&self.edges[edge].jump, {
            let member = &self.nodes[from].members[m];
            let row = &self.rows[member.row..member.row + self.scratch.len()];
            (row, member.rate)
        });
        let (to, twin) = (self.edges[edge].to, self.twin(self.edges[edge].to));
        if let Some(twin) = twin {
            self.edges[edge].to = twin;
            debug_assert_eq!(to + 1, self.used_nodes, "the newest node");
            self.used_nodes -= 1;
            self.rows.truncate(rows);
        }
        Ok(edge)
    }

    /// The refusal of a corner that is larger than searches go.
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

    /// An earlier node that is the same: other orders of the same guards meet there.
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

    fn make_edge<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        from: usize,
        m: usize,
    ) -> Result<usize, NoDerivative> {
        let system = context.system;
        let (dim, count) = {
            let node = &self.nodes[from];
            (node.x.len(), node.mode.len())
        };
        let edge = self.used_edges;
        self.used_edges += 1;
        if edge == self.edges.len() {
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
        let to = self.new_node(dim, count);
        let (before, after) = self.nodes.split_at_mut(to);
        let (before, after) = (&mut before[from], &mut after[0]);
        let Member { guard, rate, .. } = before.members[m];
        after.x.copy_from_slice(&before.x);
        after.mode.copy_from(&before.mode);
        after.arming.copy_from_slice(&before.arming);
        let jump = &mut self.edges[edge].jump;
        jump.copy_from_slice(&before.field);
        let at = (self.t, self.index + before.level);
        let done = self.repeat.cross(
            context,
            at,
            CrossedGuard { guard, rate },
            Place {
                x: &mut after.x,
                mode: &mut after.mode,
                arming: &mut after.arming,
            },
            Carried { dt: 1.0, dx: jump },
        )?;
        note_most(&mut self.carried_speed, jump);
        after.field.copy_from_slice(&before.field);
        let (t, x, mode) = (self.t, &after.x[..], &after.mode);
        let only_this = !done.moved && is_flip(&before.mode, mode, guard);
        if !(only_this && system.flip(t, x, mode, guard.event, &mut after.field)) {
            system.flow(t, x, mode, &mut after.field);
        }
        evaluate::check_flow(&after.field, t, x, mode)?;
        note_most(&mut self.speed, &after.field);
        note_most(&mut self.largest, &after.x);
        for i in 0..dim {
            jump[i] -= after.field[i];
        }
        after.level = before.level + 1;
        after.moved = before.moved || done.moved;
        let edge_made = &mut self.edges[edge];
        edge_made.guard = guard;
        edge_made.to = to;
        edge_made.identity = done.tangents == Passed::Unchanged;
        edge_made.by_difference = match done.tangents {
            Passed::Unchanged => false,
            Passed::AsWritten => system.writes_reset_differences(),
            Passed::ByDifference => true,
        };
        edge_made.stops = done.stops;
        edge_made.next = before.first_edge.replace(edge);
        self.hand_on_members(context, (from, to), m, done.moved)?;
        Ok(edge)
    }

    /// True when the state of a node lies before the surface of `guard` by more than what is one
    /// instant: a reset moved it off.
    fn is_off<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        node: usize,
        guard: Guard,
    ) -> bool {
        let (system, k) = (context.system, guard.event);
        let node = &self.nodes[node];
        let (t, x, mode) = (self.t, &node.x[..], &node.mode);
        let rate = evaluate::rate(system, k, (t, x), mode, &node.field, &mut self.scratch);
        guard.sign() * system.event(k, t, x, mode) < -zero(context, k, t, rate)
    }

    /// Members of a node that are left after the crossing of its member `m`.
    fn hand_on_members<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        (from, to): (usize, usize),
        m: usize,
        moved: bool,
    ) -> Result<(), NoDerivative> {
        let system = context.system;
        let keeps_rows = !moved && system.ignores_mode();
        for other in 0..self.nodes[from].members.len() {
            let member = self.nodes[from].members[other];
            let guard = member.guard;
            // Carried across by the reset, or retired: crossed already.
            let crossed = self.nodes[to].mode.contains(guard.event) == guard.side_after();
            if other == m || crossed || (moved && self.is_off(context, to, guard)) {
                continue;
            }
            if keeps_rows {
                let after = &mut self.nodes[to];
                let row = &self.rows[member.row..member.row + after.x.len()];
                let rate = member.moving + dot(row, &after.field);
                after.members.push(Member { rate, ..member });
            } else {
                self.add_member(context, to, guard)?;
            }
        }
        for first in 0..if moved {
            self.nodes[0].members.len()
        } else {
            0
        } {
            let event = self.nodes[0].members[first].guard.event;
            self.add_again(context, to, event)?;
        }
        Ok(())
    }

    /// After a reset a guard of the corner may be met again at the same instant: thrown back over
    /// its surface, or thrown at it by the reset of another.
    fn add_again<S: Flow + EventFunction>(
        &mut self,
        context: Context<'_, S>,
        to: usize,
        k: usize,
    ) -> Result<(), NoDerivative> {
        let system = context.system;
        let node = &self.nodes[to];
        let (t, x, mode) = (self.t, &node.x[..], &node.mode);
        let guard = Guard::ahead(k, mode.contains(k));
        let waits = node.members.iter().any(|m| m.guard.event == k);
        if waits || !node.arming[k].is_armed() {
            return Ok(());
        }
        let row = &mut self.scratch;
        let rate = evaluate::rate(system, k, (t, x), mode, &node.field, row);
        let off = system.event(k, t, x, mode).abs() > zero(context, k, t, rate);
        if off || guard.sign() * rate.value < self.min_rate(system, k) {
            return Ok(());
        }
        self.add_member(context, to, guard)
    }
}

/// The row `D_x h_k`, written by the user or by central differences, into `row`; returns `∂h_k/∂t`.
/// `scratch` is overwritten.
///
/// # Errors
/// [`NoDerivative::DifferencesDisagree`].
pub(crate) fn row_of<S: EventFunction>(
    context: Context<'_, S>,
    k: usize,
    (t, x): (f64, &[f64]),
    mode: &Mode,
    (row, scratch): (&mut [f64], &mut [f64]),
) -> Result<f64, NoDerivative> {
    let system = context.system;
    if let Some(moving) = system.gradient(k, t, x, mode, row) {
        return Ok(moving);
    }
    let h = |t: f64, x: &[f64]| system.event(k, t, x, mode);
    let moving = difference::resolved_gradient(h, (t, x), |i| context.size(i), row, scratch);
    moving.ok_or_else(|| NoDerivative::DifferencesDisagree {
        quantity: Quantity::Gradient { event: k },
        t,
        state: x.to_vec(),
    })
}

/// Keeps the largest size of each entry.
fn note_most(most: &mut [f64], entries: &[f64]) {
    for (most, entry) in most.iter_mut().zip(entries) {
        *most = most.max(entry.abs());
    }
}

/// True when `after` is `before` with the side of `guard` crossed and nothing else changed.
fn is_flip(before: &Mode, after: &Mode, guard: Guard) -> bool {
    let k = guard.event;
    let differ = |(a, b): (u64, u64)| (a ^ b).count_ones();
    before.contains(k) != after.contains(k)
        && before.words().zip(after.words()).map(differ).sum::<u32>() == 1
}
