//! Guards that a reset moves, to first order, across neighbours of the state or away from them: whether these cross
//! them depends on the displacement, which no derivative covers.

use super::graph::{CornerGraph, Edge};
use crate::derivative::context::Context;
use crate::hybrid::evaluate;
use crate::hybrid::transition::Place;
use crate::linalg::{dot, largest};
use crate::{CrossedGuard, NoDerivative};

/// Moves of event functions within this part of their terms are rounding of derivatives of resets.
const LEFT_ALONE: f64 = 1e-6;

/// Change of an event function by a displacement at a crossing, whose time it shifts by `tau`, and
/// the size of the terms of that.
struct Moved {
    by: f64,
    size: f64,
}

impl Moved {
    /// True when that is more than the rounding of derivatives of resets.
    fn is_moved(&self) -> bool {
        self.by.abs() > LEFT_ALONE * self.size
    }

    /// True when it is moved, also beside displacements that were as large as `before` the reset.
    fn is_more_than_rounding(&self, row: &[f64], before: f64) -> bool {
        let row_size: f64 = row.iter().map(|a| a.abs()).sum();
        self.is_moved() && self.by.abs() > LEFT_ALONE * 1e-3 * row_size * before
    }

    fn of(row: &[f64], rate: f64, delta: &[f64], tau: f64) -> Self {
        let size: f64 = row.iter().zip(delta).map(|(a, d)| (a * d).abs()).sum();
        // The rounding of derivatives of resets is that of their largest entry.
        let row_size: f64 = row.iter().map(|a| a.abs()).sum();
        let largest = largest(delta);
        Self {
            by: dot(row, delta) + rate * tau,
            size: size + (rate * tau).abs() + 1e-3 * row_size * largest,
        }
    }
}

/// Refuses a reset that moves the state, to first order, towards or away from a guard that is still
/// to be crossed: such a guard may be carried across or met again, depending on the displacement.
pub(super) fn check_others(
    graph: &CornerGraph,
    (from, edge): (usize, usize),
    tau: &[f64],
    [before, deltas]: [&[f64]; 2],
) -> Result<(), NoDerivative> {
    let Edge { guard, to, .. } = *graph.edge(edge);
    let dim = graph.dim();
    for (m, after) in graph.members(to).iter().enumerate() {
        let Some(n) = graph.member(from, after.guard) else {
            continue;
        };
        for (i, tau) in tau.iter().enumerate() {
            let column = i * dim..(i + 1) * dim;
            let moved = |node: usize, m: usize, delta: &[f64]| {
                let (row, rate) = (graph.row(node, m), graph.members(node)[m].rate);
                Moved::of(row, rate, delta, *tau)
            };
            let old = moved(from, n, &before[column.clone()]);
            let new = moved(to, m, &deltas[column]);
            if (old.by - new.by).abs() > LEFT_ALONE * (old.size + new.size) {
                return Err(NoDerivative::MovedGuard {
                    guard: after.guard,
                    by: guard,
                    t: graph.t(),
                });
            }
        }
    }
    Ok(())
}

/// Displacements behind a reset, that shift the time of its edge.
pub(super) struct Displaced<'a> {
    pub(super) edge: usize,
    /// The shift of each (s).
    pub(super) tau: &'a [f64],
    /// The displacements, one after the other.
    pub(super) deltas: &'a [f64],
    /// The largest entry of those before the reset.
    pub(super) largest_before: f64,
}

/// Refuses a reset that leaves the state on the guard that it follows, and puts neighbours off it to first order:
/// some of them are behind it, and others have it before them. That does not matter where crossing it back
/// changes nothing. `place` is that behind the edge, `scratch` is overwritten.
pub(super) fn check_own(
    graph: &CornerGraph,
    context: Context<'_>,
    of: &Displaced<'_>,
    place: &mut Place<'_>,
    scratch: &mut Vec<f64>,
) -> Result<(), NoDerivative> {
    let Edge { guard: by, to, .. } = *graph.edge(of.edge);
    let (system, t, k) = (context.system, graph.t(), by.event);
    let back = by.partner();
    if !place.arming[k].is_armed() || place.mode.contains(k) != by.side_after() {
        return Ok(());
    }
    let (dim, field) = (place.x.len(), graph.field(to));
    scratch.resize(2 * dim, 0.0);
    let (row, scratch) = scratch.split_at_mut(dim);
    let point = place.point();
    let rate = evaluate::rate(system, k, point, field, row);
    if system.event(k, t, point.x, point.mode).abs() > context.zero(k, t, rate) {
        return Ok(());
    }
    let moving = context.crossed_row(k, point, field, row, scratch)?;
    let rate = moving + dot(row, field);
    let mut pairs = of.deltas.chunks_exact(dim).zip(of.tau);
    if !pairs.any(|(delta, tau)| Moved::of(row, rate, delta, *tau).is_moved()) {
        return Ok(());
    }
    place.mode.set(k, !by.side_after());
    system.flow(t, place.x, place.mode, scratch);
    place.mode.set(k, by.side_after());
    if scratch == field && !system.watch(k).sees(back.direction) {
        return Ok(());
    }
    let guard = back;
    Err(NoDerivative::MovedGuard { guard, by, t })
}

/// Refuses guards that the reset of an edge put on their surfaces if it does not, to first
/// order, put neighbours there: these are carried across, meet it later, or not at all.
/// `place` is that behind the edge, `scratch` is overwritten.
#[cold]
pub(super) fn check_met<'m>(
    graph: &CornerGraph,
    context: Context<'_>,
    of: &Displaced<'_>,
    place: &mut Place<'_>,
    met: impl Iterator<Item = &'m CrossedGuard>,
    scratch: &mut Vec<f64>,
) -> Result<(), NoDerivative> {
    let Edge { guard: by, to, .. } = *graph.edge(of.edge);
    let (dim, t, field) = (place.x.len(), graph.t(), graph.field(to));
    scratch.resize(2 * dim, 0.0);
    let (row, scratch) = scratch.split_at_mut(dim);
    for &CrossedGuard { guard, .. } in met {
        let side = place.mode.contains(guard.event);
        place.mode.set(guard.event, !guard.side_after());
        let moving = context.crossed_row(guard.event, place.point(), field, row, scratch)?;
        place.mode.set(guard.event, side);
        let rate = moving + dot(row, field);
        for (delta, tau) in of.deltas.chunks_exact(dim).zip(of.tau) {
            if Moved::of(row, rate, delta, *tau).is_more_than_rounding(row, of.largest_before) {
                return Err(NoDerivative::MovedGuard { guard, by, t });
            }
        }
    }
    Ok(())
}
