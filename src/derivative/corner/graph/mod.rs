//! The graph of a corner: which guard a perturbed state meets first, which field it finds behind
//! it, and so on (Council, Revzen & Burden, JCND 17 (2022) 091004, on the corner fields of Burden
//! et al., SIADS 15 (2016) 1227).
//!
//! A node is a state, a mode and a field between two crossings. An edge is the crossing of one
//! guard and leads from one node to the next. The [`Explorer`](super::explorer::Explorer) finds
//! nodes and edges; this folder keeps and reads them.
//!
//! * `members`: the guards that may be crossed from each node.
//! * `twins`: nodes behind crossings that were found before, where orders of the same guards meet.
//! * `exit`: which orders pass the corner, since they lead to where the run went on.

mod exit;
mod members;
mod twins;

use std::ops::Range;

use crate::derivative::context::Context;
use crate::hybrid::evaluate::{self, Point};
use crate::model::rearm::Arming;
use crate::{At, Guard, Mode, NoDerivative, Quantity, Stop};
use members::Members;
use twins::Twins;

pub(crate) use exit::{Extremes, Passed};
pub(crate) use members::{CornerPoint, Member};

/// A place between two crossings.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Node<'a> {
    pub(crate) x: &'a [f64],
    pub(crate) field: &'a [f64],
    pub(crate) mode: &'a Mode,
    pub(crate) arming: &'a [Arming],
    pub(crate) members: &'a [Member],
    /// Crossings before this node.
    pub(crate) level: usize,
    /// A reset changed the state before this node.
    pub(crate) moved: bool,
}

/// A node that is being found: all but its members and its level.
#[derive(Debug)]
pub(crate) struct NewNode<'a> {
    pub(crate) x: &'a mut [f64],
    pub(crate) field: &'a mut [f64],
    pub(crate) mode: &'a mut Mode,
    pub(crate) arming: &'a mut [Arming],
    pub(crate) moved: &'a mut bool,
}

/// The properties of a node beside its numbers.
#[derive(Clone, Debug, Default)]
struct Header {
    mode: Mode,
    members: Range<usize>,
    level: usize,
    /// Guards that were crossed before it, with those of one surface.
    crossed: usize,
    moved: bool,
    first_edge: Option<usize>,
}

/// A crossing at a node.
#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub(crate) guard: Guard,
    /// Others with its surface, which are crossed with it.
    pub(crate) together: Vec<Guard>,
    /// Guards that its reset carries the state across, in their order.
    pub(crate) carried: Vec<Guard>,
    pub(crate) to: usize,
    /// The reset is the identity.
    pub(crate) identity: bool,
    /// The derivative of the reset is a difference, in part at least.
    pub(crate) by_difference: bool,
    /// It ends the run.
    pub(crate) stops: bool,
    next: Option<usize>,
}

impl Edge {
    /// One without a reset, which does not end the run.
    fn plain(guard: Guard, to: usize) -> Self {
        Self {
            guard,
            together: Vec::new(),
            carried: Vec::new(),
            to,
            identity: true,
            by_difference: false,
            stops: false,
            next: None,
        }
    }
}

/// Sizes of a graph at a moment, to go back to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Mark {
    nodes: usize,
    edges: usize,
    members: usize,
    entries: usize,
}

/// Nodes and edges found so far at one corner. Their numbers stand one after the other, node by
/// node and edge by edge; the memory of earlier corners is used again.
#[derive(Clone, Debug)]
pub(crate) struct CornerGraph {
    t: f64,
    /// Node 0 with its members, and nothing else.
    root: Mark,
    /// Headers of nodes; those that `twins` does not know are of earlier corners.
    headers: Vec<Header>,
    twins: Twins,
    /// State and field of each node.
    states: Vec<f64>,
    armings: Vec<Arming>,
    members: Members,
    edges: Vec<Edge>,
    /// `D_x R · F⁻ + D_t R − F⁺` of each edge.
    jumps: Vec<f64>,
    /// The liveness bounds of all event functions in the run, if there is one.
    pub(super) min_rates: Vec<f64>,
    /// The rounding of states after crossings, where it was measured.
    rounding: Vec<f64>,
    /// Values of the members of node 0 that count as zero, where they are not zero.
    pub(super) residuals: Vec<f64>,
}

impl CornerGraph {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        let count = mode.len();
        Self {
            t: 0.0,
            root: Mark::default(),
            headers: Vec::new(),
            twins: Twins::new(),
            states: Vec::new(),
            armings: Vec::new(),
            members: Members::new(dim),
            edges: Vec::new(),
            jumps: Vec::new(),
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

    #[inline]
    pub(crate) fn node(&self, i: usize) -> Node<'_> {
        let header = &self.headers[i];
        let (dim, count) = (self.dim(), header.mode.len());
        let (x, field) = self.states[2 * dim * i..2 * dim * (i + 1)].split_at(dim);
        Node {
            x,
            field,
            mode: &header.mode,
            arming: &self.armings[count * i..count * (i + 1)],
            members: self.members(i),
            level: header.level,
            moved: header.moved,
        }
    }

    /// The guards that may be crossed from a node.
    #[inline]
    pub(crate) fn members(&self, node: usize) -> &[Member] {
        &self.members.all[self.headers[node].members.clone()]
    }

    #[inline]
    pub(crate) fn mode(&self, node: usize) -> &Mode {
        &self.headers[node].mode
    }

    /// Crossings before a node.
    #[inline]
    pub(crate) fn level(&self, node: usize) -> usize {
        self.headers[node].level
    }

    /// Guards that were crossed before a node.
    pub(crate) fn crossed(&self, node: usize) -> usize {
        self.headers[node].crossed
    }

    /// The field at a node.
    #[inline]
    pub(crate) fn field(&self, node: usize) -> &[f64] {
        let dim = self.dim();
        &self.states[dim * (2 * node + 1)..dim * (2 * node + 2)]
    }

    pub(crate) fn nodes(&self) -> usize {
        self.twins.nodes.len()
    }

    pub(crate) fn edge(&self, i: usize) -> &Edge {
        &self.edges[i]
    }

    /// `D_x R · F⁻ + D_t R − F⁺` of an edge.
    pub(crate) fn jump(&self, edge: usize) -> &[f64] {
        let dim = self.dim();
        &self.jumps[dim * edge..dim * (edge + 1)]
    }

    /// The rounding of each component of states after crossings.
    pub(crate) fn rounding(&self) -> &[f64] {
        &self.rounding
    }

    /// Forgets the last corner and stands before `corner`, at node 0. `scratch` is overwritten.
    pub(crate) fn start(
        &mut self,
        context: Context<'_>,
        corner: &CornerPoint,
        scratch: &mut [f64],
    ) -> Result<(), NoDerivative> {
        self.t = corner.t;
        self.twins.clear();
        self.members.clear();
        self.edges.clear();
        self.jumps.clear();
        self.rounding.fill(0.0);
        for (own, known) in self.rounding.iter_mut().zip(&corner.rounding) {
            *own = *known;
        }
        self.reserve(corner.guards.len());
        self.min_rates.clone_from(&corner.min_rates);
        self.residuals.clone_from(&corner.residuals);
        self.new_node(&corner.mode);
        self.twins.add(&corner.mode);
        let (dim, mode) = (self.dim(), &corner.mode);
        let (x, field) = self.states[..2 * dim].split_at_mut(dim);
        x.copy_from_slice(&corner.x);
        for (k, arming) in self.armings[..mode.len()].iter_mut().enumerate() {
            *arming = corner.arming_of(context.system, k);
        }
        context.system.flow(self.t, x, mode, field);
        evaluate::check_flow(field, self.t, x, mode)?;
        for &guard in &corner.guards {
            self.add_member(context, 0, guard, scratch)?;
        }
        self.root = self.mark();
        Ok(())
    }

    /// Makes room for all sets of so many guards, up to a few.
    fn reserve(&mut self, guards: usize) {
        let nodes = 1 + (1_usize << guards.min(8));
        let (dim, edges) = (self.dim(), guards * nodes / 2);
        make_room(&mut self.twins.nodes, nodes);
        make_room(&mut self.headers, nodes);
        make_room(&mut self.states, 2 * dim * nodes);
        make_room(&mut self.edges, edges);
        make_room(&mut self.jumps, dim * edges);
        make_room(&mut self.members.all, edges);
    }

    /// Stands at node 0 again, and forgets the others.
    pub(crate) fn again(&mut self) {
        self.forget_since(self.root);
    }

    /// A mark of the nodes and edges found so far, to be kept when more is forgotten.
    pub(crate) fn mark(&self) -> Mark {
        Mark {
            nodes: self.nodes(),
            edges: self.edges.len(),
            members: self.members.all.len(),
            entries: self.members.rows.len(),
        }
    }

    /// Forgets what was found since.
    pub(crate) fn forget_since(&mut self, mark: Mark) {
        while self.nodes() > mark.nodes {
            self.twins.forget_newest();
        }
        for header in &mut self.headers[..mark.nodes] {
            // Newer edges of a node come first.
            while let Some(edge) = header.first_edge.filter(|&edge| edge >= mark.edges) {
                header.first_edge = self.edges[edge].next;
            }
        }
        self.edges.truncate(mark.edges);
        self.jumps.truncate(self.rounding.len() * mark.edges);
        self.members.all.truncate(mark.members);
        self.members.rows.truncate(mark.entries);
    }

    /// The next node, of level 0 in `mode`, without members; `twins` does not know it yet.
    fn new_node(&mut self, mode: &Mode) -> usize {
        let (i, end) = (self.nodes(), self.members.all.len());
        if i == self.headers.len() {
            self.headers.push(Header::default());
            let (dim, count) = (self.dim(), mode.len());
            self.states.resize(2 * dim * (i + 1), 0.0);
            self.armings.resize(count * (i + 1), Arming::Off);
        }
        let header = &mut self.headers[i];
        header.mode.copy_from(mode);
        header.members = end..end;
        (header.level, header.crossed) = (0, 0);
        header.moved = false;
        header.first_edge = None;
        i
    }

    /// The edge by which `guard` is crossed from a node, if it was found.
    pub(crate) fn find_edge(&self, from: usize, guard: Guard) -> Option<usize> {
        let newest = self.headers[from].first_edge;
        let mut known = std::iter::successors(newest, |&edge| self.edges[edge].next);
        known.find(|&edge| self.edges[edge].guard == guard)
    }

    /// Adds the crossing of `guard` at a node, and the node behind it, which has no members yet.
    /// `fill` is given the node before, and gives the node behind, the edge but for where it leads,
    /// and its jump.
    pub(crate) fn add_edge(
        &mut self,
        from: usize,
        guard: Guard,
        fill: impl FnOnce(Node<'_>, NewNode<'_>, &mut Edge, &mut [f64]) -> Result<(), NoDerivative>,
    ) -> Result<usize, NoDerivative> {
        let mode = std::mem::take(&mut self.headers[from].mode);
        let (i, to) = (self.edges.len(), self.new_node(&mode));
        let (dim, count) = (self.dim(), mode.len());
        self.headers[from].mode = mode;
        self.jumps.resize(dim * (i + 1), 0.0);
        let mut edge = Edge::plain(guard, to);
        let (headers, new_headers) = self.headers.split_at_mut(to);
        let (states, new_states) = self.states.split_at_mut(2 * dim * to);
        let (armings, new_armings) = self.armings.split_at_mut(count * to);
        let (before, after) = (&mut headers[from], &mut new_headers[0]);
        let (x, field) = states[2 * dim * from..2 * dim * (from + 1)].split_at(dim);
        let (new_x, new_field) = new_states[..2 * dim].split_at_mut(dim);
        fill(
            Node {
                x,
                field,
                mode: &before.mode,
                arming: &armings[count * from..count * (from + 1)],
                members: &self.members.all[before.members.clone()],
                level: before.level,
                moved: before.moved,
            },
            NewNode {
                x: new_x,
                field: new_field,
                mode: &mut after.mode,
                arming: &mut new_armings[..count],
                moved: &mut after.moved,
            },
            &mut edge,
            &mut self.jumps[dim * i..],
        )?;
        after.level = before.level + 1;
        after.crossed = before.crossed + 1 + edge.together.len();
        self.twins.add(&after.mode);
        edge.next = before.first_edge.replace(i);
        self.edges.push(edge);
        Ok(i)
    }

    /// Adds the crossing of `guard` at a node where it leads to a known one, without a reset and
    /// without ending the run.
    pub(crate) fn join(&mut self, from: usize, guard: Guard, to: usize) -> usize {
        let (dim, i) = (self.dim(), self.edges.len());
        let fields = self.states[dim * (2 * from + 1)..]
            .iter()
            .zip(&self.states[dim * (2 * to + 1)..]);
        let jump = fields.take(dim).map(|(before, after)| before - after);
        self.jumps.extend(jump);
        self.edges.push(Edge {
            next: self.headers[from].first_edge.replace(i),
            ..Edge::plain(guard, to)
        });
        i
    }

    /// Lets an edge lead to a `twin` of the newest node, to which it leads now: other orders of the
    /// same guards meet there. The newest, which was found since `mark`, is forgotten.
    pub(crate) fn merge_newest(&mut self, edge: usize, twin: usize, mark: Mark) {
        debug_assert_eq!(mark.nodes + 1, self.nodes(), "the newest node");
        self.edges[edge].to = twin;
        self.twins.forget_newest();
        self.members.all.truncate(mark.members);
        self.members.rows.truncate(mark.entries);
    }

    /// Adds `guard` to those that may be crossed from the newest node, with its row and its rate
    /// there. `scratch` is overwritten.
    pub(crate) fn add_member(
        &mut self,
        context: Context<'_>,
        node: usize,
        guard: Guard,
        scratch: &mut [f64],
    ) -> Result<(), NoDerivative> {
        debug_assert_eq!(node + 1, self.nodes(), "the newest node");
        let (dim, header) = (self.dim(), &mut self.headers[node]);
        let (x, field) = self.states[2 * dim * node..2 * dim * (node + 1)].split_at(dim);
        let (k, t, mode) = (guard.event, self.t, &header.mode);
        let point = Point { t, x, mode };
        let fill = |row: &mut [f64]| context.crossed_row(k, point, field, row, scratch);
        if !self.members.add(guard, field, fill)? {
            return Err(self.not_finite(node, k));
        }
        header.members.end = self.members.all.len();
        Ok(())
    }

    /// Gives the newest node, to which an edge leads, the members of the one before that are left
    /// after the crossing of member `m`; their rows are the same. `is_flip` says that no other side
    /// changed.
    ///
    /// # Errors
    /// A rate that is not finite.
    pub(crate) fn keep_members(
        &mut self,
        (from, edge): (usize, usize),
        m: usize,
        is_flip: bool,
    ) -> Result<(), NoDerivative> {
        let (to, before) = (self.edges[edge].to, self.headers[from].members.clone());
        debug_assert_eq!(to + 1, self.nodes(), "the newest node");
        let (dim, mode) = (self.dim(), &self.headers[to].mode);
        let field = &self.states[dim * (2 * to + 1)..dim * (2 * to + 2)];
        let jump = is_flip.then_some(&self.jumps[dim * edge..dim * (edge + 1)]);
        let wrong = self.members.keep(before, m, mode, field, jump);
        self.headers[to].members.end = self.members.all.len();
        wrong.map_or(Ok(()), |event| Err(self.not_finite(to, event)))
    }

    /// The row `D_x h` of member `m`.
    pub(crate) fn row(&self, node: usize, m: usize) -> &[f64] {
        self.row_of(&self.members(node)[m])
    }

    #[inline]
    pub(super) fn row_of(&self, member: &Member) -> &[f64] {
        self.members.row(member)
    }

    /// The refusal of an event function whose row or rate at a node is not finite.
    #[cold]
    pub(super) fn not_finite(&self, node: usize, event: usize) -> NoDerivative {
        NoDerivative::Stop(Stop::NotFinite {
            quantity: Quantity::Gradient { event },
            at: self.at(node).into(),
        })
    }

    /// The place of a node, for an error.
    #[cold]
    pub(super) fn at(&self, node: usize) -> At {
        let Node { x, mode, .. } = self.node(node);
        At::new(self.t(), x, mode)
    }

    /// The member of a node that crosses `guard`.
    pub(crate) fn member(&self, node: usize, guard: Guard) -> Option<usize> {
        let mut members = self.members(node).iter();
        members.position(|member| member.guard == guard)
    }

    /// True when no derivative of a reset found so far is a difference.
    pub(crate) fn is_exact(&self) -> bool {
        !self.edges.iter().any(|edge| edge.by_difference)
    }

    /// True when a reset of any edge found so far changes this state, or others close by.
    pub(crate) fn has_resets(&self) -> bool {
        self.edges.iter().any(|edge| !edge.identity)
    }
}

/// Lets a vector hold `count` entries.
fn make_room<T>(entries: &mut Vec<T>, count: usize) {
    if entries.capacity() < count {
        entries.reserve(count - entries.len());
    }
}
