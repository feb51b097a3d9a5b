//! Do all orders of a corner have one map? Three answers, each as far as it goes.
//!
//! * [`all_orders`]: the guards crossed so far make a lattice of sets; where two orders of the same
//!   set meet, their maps must agree. `2^n` nodes, `n 2^(n−1)` crossings, and no more than two
//!   levels of maps at a time. A proof.
//! * [`pairs`]: each guard behind each other one has the map that it has when it is met first, and
//!   each pair commutes. If that holds behind any set of others too, all orders have the product of
//!   these maps: write an order as a product, swap neighbours. `n²` crossings. Only sets of one are
//!   looked at, so that three guards that act together and not by pairs are not seen.
//! * [`sample`]: 64 directions, each passed in its own order through all its sets. What three or
//!   more guards do together shows in each order in which it does not cancel.

use crate::random::{symmetric, word};
use nalgebra::{DMatrix, DVector};

use super::follow::Passed;
use super::graph::{CornerGraph, CornerPoint};
use super::map_scale::{Excess, MapScale, Sizes};
use super::region::shift_row;
use super::rounding;
use crate::derivative::repeat::Context;
use crate::{EventFunction, Flow, Guard, NoDerivative};

/// Directions whose orders are compared at larger corners.
pub(crate) const SAMPLES: usize = 64;
/// Most numbers in the maps that are kept at a time, 256 MB: 2,330 maps of 120 × 120.
pub(crate) const MOST_NUMBERS: usize = 1 << 25;

/// What became of a comparison.
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

    /// Takes in the map of one more order.
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

    /// Those on which all orders agree.
    pub(crate) fn agreed(self, sizes: &Sizes) -> Vec<(Guard, DVector<f64>)> {
        let agree = |gap: &DVector<f64>| (0..gap.len()).all(|j| gap[j] <= sizes.small_shift(j));
        let agreed = self.known.into_iter().filter(|(.., gap)| agree(gap));
        if self.missing {
            return Vec::new();
        }
        agreed.map(|(guard, row, _)| (guard, row)).collect()
    }
}

/// Compares the maps of all orders, also of those that no direction takes.
pub(crate) fn all_orders<S: Flow + EventFunction>(
    context: Context<'_, S>,
    graph: &mut CornerGraph,
    point: &CornerPoint,
) -> Result<Comparison, NoDerivative> {
    let (n, dim) = (point.guards.len(), point.x.len());
    let mut found = Comparison::new(dim);
    let start = DMatrix::identity(dim, dim);
    graph.sizes.note_entries(&start);
    // Nodes are found level by level: of the maps behind `k` and `k + 1` guards none is needed
    // any more when its turn is over.
    let (mut maps, mut kept) = (vec![Some(start)], 1);
    let mut node = 0;
    while node < maps.len() {
        let Some(map) = maps[node].take() else {
            node += 1;
            continue;
        };
        kept -= 1;
        graph.check_live(context.system, node)?;
        let members = graph.node(node).members.len();
        found.times.missing |= members + graph.node(node).level != n;
        let mut is_end = true;
        for m in 0..members {
            if !graph.is_live(context.system, node, m) {
                continue;
            }
            is_end = false;
            let tau = shift_row(graph, node, m, &map);
            let guard = graph.node(node).members[m].guard;
            found.times.note(guard, &tau);
            let edge = graph.follow(context, node, m)?;
            let mut next = map.clone();
            graph.carry(context, (node, edge), tau.as_slice(), next.as_mut_slice())?;
            graph.sizes.note_entries(&next);
            let to = graph.edge(edge).to;
            if graph.edge(edge).stops {
                let passed = Passed {
                    node: to,
                    stopped: true,
                };
                found.jumps |= !graph.is_exit(context, passed, point);
                graph.to_event(to, tau.as_slice(), next.as_mut_slice());
                found.note(next);
                continue;
            }
            if to <= node {
                // Back where it was before.
                return Err(graph.no_end(to, guard));
            }
            if to >= maps.len() {
                maps.resize(to + 1, None);
            }
            if let Some(known) = &maps[to] {
                found.excess.note(known, &next);
                continue;
            }
            maps[to] = Some(next);
            kept += 1;
            if kept * dim * dim > MOST_NUMBERS {
                return Err(graph.too_large("numbers in their maps", MOST_NUMBERS));
            }
        }
        if is_end {
            let passed = Passed {
                node,
                stopped: false,
            };
            found.jumps |= !graph.is_exit(context, passed, point);
            found.note(map);
        }
        node += 1;
    }
    Ok(found)
}

/// Tells maps that differ from maps that are rounded: what is rounding is measured when it matters,
/// and kept.
pub(crate) struct Judge<'a, S> {
    pub(crate) context: Context<'a, S>,
    pub(crate) point: &'a CornerPoint,
    pub(crate) rounding: Option<DMatrix<f64>>,
}

impl<S: Flow + EventFunction> Judge<'_, S> {
    /// True when what maps differ by is rounding.
    pub(crate) fn agrees(
        &mut self,
        graph: &CornerGraph,
        excess: &Excess,
    ) -> Result<bool, NoDerivative> {
        if excess.is_within(&MapScale::of(graph, self.rounding.as_ref())) {
            return Ok(true);
        }
        if self.rounding.is_some() {
            return Ok(false);
        }
        let measured = rounding::of_maps(self.context, self.point)?;
        let scale = MapScale::of(graph, Some(&measured));
        self.rounding = Some(measured);
        Ok(excess.is_within(&scale))
    }
}

/// Compares the maps of the orders that a sample of directions takes, and their outcomes. Maps are
/// no longer compared once two differ.
pub(crate) fn sample<S: Flow + EventFunction>(
    graph: &mut CornerGraph,
    judge: &mut Judge<'_, S>,
) -> Result<Comparison, NoDerivative> {
    let (context, point) = (judge.context, judge.point);
    let (n, dim) = (point.guards.len(), point.x.len());
    let mut found = Comparison::new(dim);
    for sample in 0..SAMPLES {
        graph.again();
        let mut delta = DVector::from_fn(dim, |i, _| symmetric(word(sample as u64, i as u64)));
        let passed = graph.pass(context, delta.as_mut_slice())?;
        if !graph.is_exit(context, passed, point) {
            found.jumps = true;
            return Ok(found);
        }
        if found.matrix.is_some() && !judge.agrees(graph, &found.excess)? {
            continue;
        }
        found.times.missing |= graph.order.len() != n;
        let times = &mut found.times;
        let map = graph.map_along_order(context, |guard, tau| times.note(guard, tau))?;
        found.note(map);
    }
    Ok(found)
}

/// Compares the maps of the two orders of each pair of guards with each other and with those that
/// the guards have when they are met first; takes the time rows in. The product of the maps of all
/// guards, and by how much pairs differ; none when a guard is not met behind another, or ends the
/// run.
pub(crate) fn pairs<S: Flow + EventFunction>(
    context: Context<'_, S>,
    graph: &mut CornerGraph,
    times: &mut TimeRows,
) -> Result<Option<(DMatrix<f64>, Excess)>, NoDerivative> {
    let dim = graph.node(0).x.len();
    let n = graph.node(0).members.len();
    let mut excess = Excess::new(dim);
    graph.again();
    let one = DMatrix::identity(dim, dim);
    let mut first = Vec::with_capacity(n);
    for k in 0..n {
        first.push(cross(context, graph, (0, k), &one, |_, _| {})?);
    }
    let mut product = one;
    for k in 0..n {
        product = cross(context, graph, (0, k), &product, |_, _| {})?;
    }
    for i in 0..n {
        graph.again();
        let edge = graph.follow(context, 0, i)?;
        let behind = graph.edge(edge).to;
        let others = graph.node(behind).members.len();
        if graph.edge(edge).stops || others + 1 != n {
            return Ok(None);
        }
        graph.check_live(context.system, behind)?;
        for m in 0..others {
            if !graph.is_live(context.system, behind, m) {
                return Ok(None);
            }
            let guard = graph.node(behind).members[m].guard;
            let own = (0..n).find(|&k| graph.node(0).members[k].guard == guard);
            let Some(k) = own else { return Ok(None) };
            let met = cross(context, graph, (behind, m), &first[i], |guard, tau| {
                times.note(guard, tau);
            })?;
            let alike = cross(context, graph, (0, k), &first[i], |_, _| {})?;
            excess.note(&met, &alike);
            if k < i {
                let other = cross(context, graph, (0, i), &first[k], |_, _| {})?;
                excess.note(&other, &alike);
            }
        }
    }
    Ok(Some((product, excess)))
}

/// True when the two orders of each pair of guards that are met first have one map on displacements
/// that meet the two at once.
pub(crate) fn pairs_are_continuous<S: Flow + EventFunction>(
    context: Context<'_, S>,
    graph: &mut CornerGraph,
    scale: &MapScale,
) -> Result<bool, NoDerivative> {
    let dim = graph.node(0).x.len();
    let n = graph.node(0).members.len();
    graph.again();
    let one = DMatrix::identity(dim, dim);
    for i in 0..n {
        for k in 0..i {
            graph.again();
            let mut rows = Vec::with_capacity(2);
            let mut behind = Vec::with_capacity(2);
            for (early, late) in [(i, k), (k, i)] {
                let mut row = DVector::zeros(dim);
                let map = cross(context, graph, (0, early), &one, |_, tau| {
                    row.copy_from(tau);
                })?;
                rows.push(row);
                let edge = graph.follow(context, 0, early)?;
                let (to, guard) = (graph.edge(edge).to, graph.node(0).members[late].guard);
                let mut members = graph.node(to).members.iter();
                let Some(m) = members.position(|member| member.guard == guard) else {
                    break;
                };
                if graph.edge(edge).stops || !graph.is_live(context.system, to, m) {
                    break;
                }
                behind.push(cross(context, graph, (to, m), &map, |_, _| {})?);
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

/// The map behind the crossing of member `m` of a node, to which `map` leads; `tell` is told the
/// row of its time shift.
fn cross<S: Flow + EventFunction>(
    context: Context<'_, S>,
    graph: &mut CornerGraph,
    (node, m): (usize, usize),
    map: &DMatrix<f64>,
    tell: impl FnOnce(Guard, &DVector<f64>),
) -> Result<DMatrix<f64>, NoDerivative> {
    let tau = shift_row(graph, node, m, map);
    tell(graph.node(node).members[m].guard, &tau);
    let edge = graph.follow(context, node, m)?;
    let mut next = map.clone();
    graph.carry(context, (node, edge), tau.as_slice(), next.as_mut_slice())?;
    Ok(next)
}
