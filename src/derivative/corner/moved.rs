//! Resets that move the state towards or away from other guards of a corner: displacements may be
//! carried across these or meet them again, which no derivative covers.

use super::graph::{CornerGraph, Edge};
use crate::NoDerivative;
use crate::linalg::dot;

/// Moves of event functions within this part of their terms are rounding of derivatives of resets.
const LEFT_ALONE: f64 = 1e-6;

/// How far a displacement moves an event function at a crossing, whose time it shifts by `tau`, and
/// the size of the terms of that.
pub(super) struct Moved {
    by: f64,
    size: f64,
}

impl Moved {
    /// True when that is more than the rounding of derivatives of resets.
    pub(super) fn is_moved(&self) -> bool {
        self.by.abs() > LEFT_ALONE * self.size
    }

    pub(super) fn of(row: &[f64], rate: f64, delta: &[f64], tau: f64) -> Self {
        let size: f64 = row.iter().zip(delta).map(|(a, d)| (a * d).abs()).sum();
        // The rounding of derivatives of resets is that of their largest entry.
        let row_size: f64 = row.iter().map(|a| a.abs()).sum();
        let largest = delta.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
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
