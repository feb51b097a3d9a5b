//! The exit of a corner: the place where the run itself went on behind it, and which orders of its
//! guards lead there.

use super::{CornerGraph, CornerPoint, Node};
use crate::derivative::context::Context;
use crate::linalg::{largest, raise};

/// The end of the way of one direction through a corner, or of several together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Passed {
    /// The node at which it came out.
    pub(crate) node: usize,
    /// A guard that ends the run was crossed.
    pub(crate) stopped: bool,
}

/// Relative error of rows by differences of smooth functions (`guide.md`), and of resets of them.
/// It is the same at nearby points, and so is not measured as rounding.
const DIFFERENCE: f64 = 1e-10;

/// The largest states and speeds at the nodes found since the graph was begun.
#[derive(Clone, Debug)]
pub(crate) struct Extremes {
    /// The largest speed of each component at any node.
    speed: Vec<f64>,
    /// The largest rate at which a component of the state after a crossing changes with the time of
    /// the crossing, through its reset.
    carried_speed: Vec<f64>,
    /// The largest size of each component at any node. Terms that cancel leave errors of this size.
    largest: Vec<f64>,
}

impl Extremes {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            speed: vec![0.0; dim],
            carried_speed: vec![0.0; dim],
            largest: vec![0.0; dim],
        }
    }

    pub(crate) fn forget(&mut self) {
        self.speed.fill(0.0);
        self.carried_speed.fill(0.0);
        self.largest.fill(0.0);
    }

    /// Adds a node.
    pub(crate) fn note(&mut self, x: &[f64], field: &[f64]) {
        raise(&mut self.speed, field);
        raise(&mut self.largest, x);
    }

    /// Adds the effect of a crossing on the motion before it.
    pub(crate) fn note_carried(&mut self, field: &[f64]) {
        raise(&mut self.carried_speed, field);
    }

    pub(crate) fn speed(&self) -> &[f64] {
        &self.speed
    }

    /// True when what passed came out where the run itself went on: same mode (unless a guard ended
    /// the run before others were met), and same state to within rounding, what differences leave
    /// of components that cancel, and what resets make of the motion between crossings that count
    /// as one instant.
    pub(crate) fn is_exit(
        &self,
        context: Context<'_>,
        graph: &CornerGraph,
        Passed { node, stopped }: Passed,
        corner: &CornerPoint,
    ) -> bool {
        let Node { x, mode, .. } = graph.node(node);
        let all = x.iter().chain(&corner.x).chain(&corner.x_after);
        let largest = largest(all);
        (stopped || mode.is(&corner.mode_after))
            && (0..x.len()).all(|i| {
                let size = x[i].abs().max(corner.x[i].abs()).max(1e-3 * largest);
                let cancelled = DIFFERENCE * self.largest[i];
                let moved = context.tolerance * self.speed[i] + corner.span * self.carried_speed[i];
                let slack = 1e-9 * size + cancelled + 4.0 * moved + graph.rounding()[i];
                (x[i] - corner.x_after[i]).abs() <= slack
            })
    }
}
