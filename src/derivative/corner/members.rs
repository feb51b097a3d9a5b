//! The guards that may still be crossed from each node of a corner, with their rows `D_x h` and
//! their rates.

use std::ops::Range;

use crate::linalg::dot;
use crate::{Guard, Mode, NoDerivative};

/// A guard that may still be crossed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) guard: Guard,
    /// `∂h/∂t` (`u`/s).
    moving: f64,
    /// `dh/dt` along the field of the node (`u`/s).
    pub(crate) rate: f64,
    /// Where its row begins among all rows.
    row: usize,
}

/// The members of all nodes, node by node: only the newest node gets more.
#[derive(Clone, Debug)]
pub(super) struct Members {
    pub(super) all: Vec<Member>,
    /// Rows `D_x h`; nodes share those that do not change.
    pub(super) rows: Vec<f64>,
    /// The components of the state that some member of node 0 depends on.
    seen: Vec<bool>,
}

impl Members {
    pub(super) fn new(dim: usize) -> Self {
        Self {
            all: Vec::new(),
            rows: Vec::new(),
            seen: vec![false; dim],
        }
    }

    pub(super) fn clear(&mut self) {
        self.all.clear();
        self.rows.clear();
        self.seen.fill(false);
    }

    #[inline]
    pub(super) fn row(&self, member: &Member) -> &[f64] {
        &self.rows[member.row..member.row + self.seen.len()]
    }

    /// Adds `guard` at a node with this field; `fill` writes its row and gives `∂h/∂t`. False where
    /// row or rate is not finite.
    pub(super) fn add(
        &mut self,
        guard: Guard,
        field: &[f64],
        fill: impl FnOnce(&mut [f64]) -> Result<f64, NoDerivative>,
    ) -> Result<bool, NoDerivative> {
        let from = self.rows.len();
        self.rows.resize(from + field.len(), 0.0);
        let row = &mut self.rows[from..];
        let moving = fill(row)?;
        let rate = moving + dot(row, field);
        let is_finite = rate.is_finite() && row.iter().all(|v| v.is_finite());
        if is_finite {
            self.all.push(Member {
                guard,
                moving,
                rate,
                row: from,
            });
        }
        Ok(is_finite)
    }

    /// Takes in what the newest member, one of node 0, depends on.
    pub(super) fn note_seen(&mut self) {
        let newest = self.rows.len() - self.seen.len();
        for (seen, entry) in self.seen.iter_mut().zip(&self.rows[newest..]) {
            *seen |= *entry != 0.0;
        }
    }

    /// True when some member of node 0 depends on what this jump of the field changes.
    pub(super) fn see(&self, jump: &[f64]) -> bool {
        let mut entries = jump.iter().zip(&self.seen);
        entries.any(|(jump, seen)| *jump != 0.0 && *seen)
    }

    /// Gives the newest node the members of another but for that one which is `crossed`, with the
    /// rates that they have there.
    pub(super) fn keep(&mut self, node: Range<usize>, crossed: usize) {
        self.all.extend_from_within(node.start..crossed);
        self.all.extend_from_within(crossed + 1..node.end);
    }

    /// The same with the rates in another field, without those whose side is crossed in `mode`:
    /// carried across by a reset, or retired. The event function of a rate that is not finite.
    pub(super) fn keep_in(
        &mut self,
        (mode, field): (&Mode, &[f64]),
        node: Range<usize>,
        crossed: usize,
    ) -> Option<usize> {
        let mut wrong = None;
        for i in node.filter(|&i| i != crossed) {
            let member = self.all[i];
            let Guard { event, .. } = member.guard;
            if mode.contains(event) == member.guard.side_after() {
                continue;
            }
            let rate = member.moving + dot(self.row(&member), field);
            if !rate.is_finite() {
                wrong.get_or_insert(event);
            }
            self.all.push(Member { rate, ..member });
        }
        wrong
    }
}
