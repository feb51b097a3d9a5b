//! Comparison of the maps of the orders of a corner: whether all have one map. Three methods, each
//! with what it proves.
//!
//! * [`all_orders`]: the guards crossed so far make a lattice of sets; where two orders of the same
//!   set meet, their maps must agree. `2^n` nodes, `n 2^(n−1)` crossings, and no more than two
//!   levels of maps at a time. A proof.
//! * [`pairs`]: each guard behind each other one has the map that it has when it is met first, and
//!   each pair commutes. If that holds behind any set of others too, all orders have the product of
//!   these maps: write an order as a product, swap neighbours. `n²` crossings. Only sets of one are
//!   examined: an interaction of three guards that is not one of pairs is not detected.
//! * [`sample`]: 64 directions, each passed in its own order through all its sets. An interaction
//!   of three or more guards is detected in each order in which it does not cancel.

use nalgebra::{DMatrix, DVector};

use super::explorer::{Behind, Explorer, MOST_NUMBERS};
use super::follow::Course;
use super::graph::{CornerPoint, Passed};
use super::map_scale::{Excess, MapScale, Sizes};
use super::rounding;
use crate::derivative::context::Context;
use crate::random::{symmetric, word};
use crate::{Guard, NoDerivative};

/// Directions whose orders are compared at larger corners.
pub(crate) const SAMPLES: usize = 64;
/// The result of a comparison.
#[derive(Clone, Debug)]
pub(crate) struct Comparison {
    /// The map of the first order.
    pub(crate) matrix: Option<DMatrix<f64>>,
    /// By how much those of others differ from it.
    pub(crate) excess: Excess,
    /// Outcomes differ.
    pub(crate) jumps: bool,
    pub(crate) times: TimeRows,
}

impl Comparison {
    fn new(dim: usize) -> Self {
        Self {
            matrix: None,
            excess: Excess::new(dim),
            jumps: false,
            times: TimeRows::default(),
        }
    }

    /// Adds the map of one more order.
    fn note(&mut self, map: DMatrix<f64>) {
        match &self.matrix {
            Some(known) => self.excess.note(known, &map),
            None => self.matrix = Some(map),
        }
    }
}

/// The shift of the time of each guard as a row on displacements before the corner, as long as all
/// orders have the same.
#[derive(Clone, Debug, Default)]
pub(crate) struct TimeRows {
    known: Vec<(Guard, DVector<f64>, DVector<f64>)>,
    /// In some order a guard is not met once.
    missing: bool,
}

impl TimeRows {
    fn note(&mut self, guard: Guard, row: &DVector<f64>) {
        let known = self.known.iter_mut().find(|(other, ..)| *other == guard);
        let Some((_, first, gap)) = known else {
            let none = DVector::zeros(row.len());
            self.known.push((guard, row.clone(), none));
            return;
        };
        for j in 0..row.len() {
            let more = (first[j] - row[j]).abs();
            if more.is_nan() || more > gap[j] {
                gap[j] = more;
            }
        }
    }

    /// The time rows on which all orders agree.
    pub(crate) fn agreed(self, sizes: &Sizes) -> Vec<(Guard, DVector<f64>)> {
        let agree = |gap: &DVector<f64>| (0..gap.len()).all(|j| gap[j] <= sizes.small_shift(j));
        let agreed = self.known.into_iter().filter(|(.., gap)| agree(gap));
        if self.missing {
            return Vec::new();
        }
        agreed.map(|(guard, row, _)| (guard, row)).collect()
    }
}

/// The maps to nodes whose turn is still to come, and the matrices of those whose turn is over.
struct Maps {
    of_nodes: Vec<Option<DMatrix<f64>>>,
    kept: usize,
    free: Vec<DMatrix<f64>>,
}

impl Maps {
    fn of_root(map: DMatrix<f64>) -> Self {
        Self {
            of_nodes: vec![Some(map)],
            kept: 1,
            free: Vec::new(),
        }
    }

    /// A copy of a map, in a matrix that was in use before where there is one.
    fn copy(&mut self, map: &DMatrix<f64>) -> DMatrix<f64> {
        let Some(mut copy) = self.free.pop() else {
            return map.clone();
        };
        copy.as_mut_slice().copy_from_slice(map.as_slice());
        copy
    }

    fn take(&mut self, node: usize) -> Option<DMatrix<f64>> {
        let map = self.of_nodes[node].take()?;
        self.kept -= 1;
        Some(map)
    }

    /// Keeps the first map to a node; compares others with it.
    fn meet(&mut self, node: usize, map: DMatrix<f64>, excess: &mut Excess) {
        if node >= self.of_nodes.len() {
            self.of_nodes.resize(node + 1, None);
        }
        if let Some(known) = &self.of_nodes[node] {
            excess.note(known, &map);
            self.free.push(map);
            return;
        }
        self.of_nodes[node] = Some(map);
        self.kept += 1;
    }
}

/// Compares the maps of all orders, also of those that no direction takes.
pub(crate) fn all_orders(
    context: Context<'_>,
    explorer: &mut Explorer,
    point: &CornerPoint,
) -> Result<Comparison, NoDerivative> {
    let (n, dim) = (point.guards.len(), point.x.len());
    let mut found = Comparison::new(dim);
    let start = explorer.start();
    explorer.sizes.note_entries(&start);
    // Nodes are found level by level: of the maps behind `k` and `k + 1` guards none is needed
    // any more when its turn is over.
    let mut maps = Maps::of_root(start);
    let mut tau = DVector::zeros(dim);
    let mut node = 0;
    while node < maps.of_nodes.len() {
        let Some(map) = maps.take(node) else {
            node += 1;
            continue;
        };
        let graph = explorer.graph();
        graph.check_live(context.system, node)?;
        let members = graph.members(node).len();
        found.times.missing |= members + graph.crossed(node) != n;
        let mut is_end = true;
        for m in 0..members {
            let graph = explorer.graph();
            if !graph.is_live(context.system, node, m) {
                continue;
            }
            is_end = false;
            graph.write_shift_row(node, m, &map, &mut tau);
            let guard = graph.members(node)[m].guard;
            found.times.note(guard, &tau);
            let mut next = maps.copy(&map);
            let edge = explorer.carry_map(context, (node, m), Behind::Members, &tau, &mut next)?;
            explorer.sizes.note_entries(&next);
            let graph = explorer.graph();
            let to = graph.edge(edge).to;
            if graph.edge(edge).stops {
                let passed = Passed {
                    node: to,
                    stopped: true,
                };
                found.jumps |= !explorer.is_exit(context, passed, point);
                graph.to_event(to, tau.as_slice(), next.as_mut_slice());
                found.note(next);
                continue;
            }
            if to <= node {
                // Restores the node.
                return Err(graph.no_end(to, guard));
            }
            maps.meet(to, next, &mut found.excess);
            if maps.kept * dim * dim > MOST_NUMBERS {
                return Err(graph.too_large("numbers in their maps", MOST_NUMBERS));
            }
        }
        if is_end {
            let passed = Passed {
                node,
                stopped: false,
            };
            found.jumps |= !explorer.is_exit(context, passed, point);
            found.note(map);
        } else {
            maps.free.push(map);
        }
        node += 1;
    }
    Ok(found)
}

/// Distinguishes maps that differ from maps that differ by rounding. Rounding is measured when it
/// matters, and kept.
pub(crate) struct Judge<'a> {
    pub(crate) context: Context<'a>,
    pub(crate) point: &'a CornerPoint,
    pub(crate) rounding: Option<DMatrix<f64>>,
}

impl Judge<'_> {
    /// True when what maps differ by is rounding.
    pub(crate) fn agrees(
        &mut self,
        explorer: &Explorer,
        excess: &Excess,
    ) -> Result<bool, NoDerivative> {
        let scale = explorer.map_scale(self.rounding.as_ref());
        if excess.is_within(&scale) {
            return Ok(true);
        }
        let is_clear = explorer.graph().is_exact() && excess.is_clear(&scale);
        if self.rounding.is_some() || is_clear {
            return Ok(false);
        }
        let measured = rounding::of_maps(self.context, self.point)?;
        let scale = explorer.map_scale(Some(&measured));
        self.rounding = Some(measured);
        Ok(excess.is_within(&scale))
    }
}

/// Compares the maps of the orders that a sample of directions takes, and their outcomes. Maps are
/// no longer compared once two differ.
pub(crate) fn sample(
    explorer: &mut Explorer,
    judge: &mut Judge<'_>,
) -> Result<Comparison, NoDerivative> {
    let (context, point) = (judge.context, judge.point);
    let (n, dim) = (point.guards.len(), point.x.len());
    let mut found = Comparison::new(dim);
    let mut course = Course::default();
    for sample in 0..SAMPLES {
        explorer.again();
        let mut delta = DVector::from_fn(dim, |i, _| symmetric(word(sample as u64, i as u64)));
        if let Some(reach) = &point.reach {
            delta = reach * delta;
        }
        let passed = course.pass(context, explorer, delta.as_mut_slice())?;
        if !explorer.is_exit(context, passed, point) {
            found.jumps = true;
            return Ok(found);
        }
        if found.matrix.is_some() && !judge.agrees(explorer, &found.excess)? {
            continue;
        }
        found.times.missing |= course.len() != n;
        let times = &mut found.times;
        let map = course.map(context, explorer, |guard, tau| times.note(guard, tau))?;
        found.note(map);
    }
    Ok(found)
}

/// Compares the maps of the two orders of each pair of guards with each other and with those that
/// the guards have when they are met first; takes the time rows in. The product of the maps of all
/// guards, and by how much pairs differ; none when a guard is not met behind another, or ends the
/// run.
pub(crate) fn pairs(
    context: Context<'_>,
    explorer: &mut Explorer,
    times: &mut TimeRows,
) -> Result<Option<(DMatrix<f64>, Excess)>, NoDerivative> {
    let dim = explorer.graph().dim();
    let n = explorer.graph().members(0).len();
    let mut excess = Excess::new(dim);
    explorer.again();
    let one = explorer.start();
    let mut crossing = Crossing::new(dim);
    let (mut first, mut edges) = (Vec::with_capacity(n), Vec::with_capacity(n));
    for k in 0..n {
        edges.push(crossing.cross(context, explorer, (0, k), Behind::Members, &one)?);
        first.push(crossing.map.clone());
    }
    let mut product = one;
    for k in 0..n {
        crossing.cross(context, explorer, (0, k), Behind::Members, &product)?;
        product.copy_from(&crossing.map);
    }
    // All crossings at node 0 are found by now.
    let mark = explorer.graph().mark();
    let mut alike = DMatrix::zeros(dim, dim);
    for i in 0..n {
        explorer.forget_since(mark);
        let edge = edges[i];
        let graph = explorer.graph();
        let behind = graph.edge(edge).to;
        let others = graph.members(behind).len();
        if graph.edge(edge).stops || others + 1 != n {
            return Ok(None);
        }
        graph.check_live(context.system, behind)?;
        for m in 0..others {
            let graph = explorer.graph();
            if !graph.is_live(context.system, behind, m) {
                return Ok(None);
            }
            let guard = graph.members(behind)[m].guard;
            let own = (0..n).find(|&k| graph.members(0)[k].guard == guard);
            let Some(k) = own else { return Ok(None) };
            let pair = [(i, edge), (k, edges[k])];
            if explorer.are_apart(context, pair, (behind, m))? {
                continue;
            }
            crossing.cross(context, explorer, (0, k), Behind::Members, &first[i])?;
            alike.copy_from(&crossing.map);
            crossing.cross(context, explorer, (behind, m), Behind::Nothing, &first[i])?;
            times.note(guard, &crossing.tau);
            excess.note(&crossing.map, &alike);
            if k < i {
                crossing.cross(context, explorer, (0, i), Behind::Members, &first[k])?;
                excess.note(&crossing.map, &alike);
            }
        }
    }
    Ok(Some((product, excess)))
}

/// True when the two orders of each pair of guards that are met first have one map on displacements
/// that meet the two at once.
pub(crate) fn pairs_are_continuous(
    context: Context<'_>,
    explorer: &mut Explorer,
    scale: &MapScale,
) -> Result<bool, NoDerivative> {
    let dim = explorer.graph().dim();
    let n = explorer.graph().members(0).len();
    explorer.again();
    let one = explorer.start();
    let mut crossing = Crossing::new(dim);
    for i in 0..n {
        for k in 0..i {
            explorer.again();
            let mut rows = Vec::with_capacity(2);
            let mut behind = Vec::with_capacity(2);
            for (early, late) in [(i, k), (k, i)] {
                crossing.cross(context, explorer, (0, early), Behind::Members, &one)?;
                let map = crossing.map.clone();
                rows.push(crossing.tau.clone());
                let edge = explorer.edge(context, 0, early)?;
                let graph = explorer.graph();
                let (to, guard) = (graph.edge(edge).to, graph.members(0)[late].guard);
                let Some(m) = graph.member(to, guard) else {
                    break;
                };
                if graph.edge(edge).stops || !graph.is_live(context.system, to, m) {
                    break;
                }
                crossing.cross(context, explorer, (to, m), Behind::Members, &map)?;
                behind.push(crossing.map.clone());
            }
            if let ([a, b], [ab, ba]) = (&rows[..], &behind[..])
                && !scale.agree_on(&(a - b), ab, ba)
            {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The workspace of a crossing: what it makes of a map, and of times.
struct Crossing {
    /// The map behind it.
    map: DMatrix<f64>,
    /// The row of its time shift.
    tau: DVector<f64>,
}

impl Crossing {
    fn new(dim: usize) -> Self {
        Self {
            map: DMatrix::zeros(dim, dim),
            tau: DVector::zeros(dim),
        }
    }

    /// Crosses member `m` of a node, to which `map` leads; gives the edge ([`Explorer::carry_map`]).
    fn cross(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
        (node, m): (usize, usize),
        behind: Behind,
        map: &DMatrix<f64>,
    ) -> Result<usize, NoDerivative> {
        let graph = explorer.graph();
        graph.write_shift_row(node, m, map, &mut self.tau);
        self.map.copy_from(map);
        explorer.carry_map(context, (node, m), behind, &self.tau, &mut self.map)
    }
}
