//! The point at which guards are crossed at one instant, and the guards that may still be crossed
//! from each node of a corner, with their rows `D_x h` and their rates.

use std::ops::Range;

use nalgebra::DMatrix;

use crate::hybrid::System;
use crate::hybrid::evaluate::Point;
use crate::linalg::dot;
use crate::model::rearm::Arming;
use crate::{Guard, Mode, NoDerivative};

/// A guard that may still be crossed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) guard: Guard,
    /// `∂h/∂t` (`u`/s).
    moving: f64,
    /// `dh/dt` along the field of the node (`u`/s).
    pub(crate) rate: f64,
    /// The place of its row among all rows.
    row: usize,
}

impl Member {
    /// `∂h/∂t` (`u`/s).
    pub(crate) fn moving(&self) -> f64 {
        self.moving
    }
}

/// The members of all nodes, node by node: only the newest node gets more.
#[derive(Clone, Debug)]
pub(super) struct Members {
    pub(super) all: Vec<Member>,
    /// Rows `D_x h`; nodes share those that do not change.
    pub(super) rows: Vec<f64>,
    /// The components of the state that some member depends on.
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
        // Also behind a reset, where rows are evaluated anew.
        for (seen, entry) in self.seen.iter_mut().zip(row) {
            *seen |= *entry != 0.0;
        }
        Ok(is_finite)
    }

    /// Gives the newest node, with its mode and field, the members of the one before that are left
    /// after the crossing of member `m`; `jump` is that of the field, given where only the side of `m`
    /// changed. The event function of a rate that is not finite.
    pub(super) fn keep(
        &mut self,
        before: Range<usize>,
        m: usize,
        mode: &Mode,
        field: &[f64],
        jump: Option<&[f64]>,
    ) -> Option<usize> {
        let crossed = before.start + m;
        let entries = jump.map(|jump| jump.iter().zip(&self.seen));
        if entries.is_some_and(|mut of| of.all(|(jump, seen)| *jump == 0.0 || !seen)) {
            // No member sees it: their rates are the same too.
            self.all.extend_from_within(before.start..crossed);
            self.all.extend_from_within(crossed + 1..before.end);
            return None;
        }
        let mut wrong = None;
        for i in before.filter(|&i| i != crossed) {
            let member = self.all[i];
            let Guard { event, .. } = member.guard;
            // Carried across by the reset, or retired: crossed already.
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

/// A corner, or a single crossing, as the run met it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CornerPoint {
    /// Time of the first crossing (s).
    pub(crate) t: f64,
    /// State on the guards, before any crossing.
    pub(crate) x: Vec<f64>,
    pub(crate) mode: Mode,
    /// The number of transitions that the run made before it.
    pub(crate) index: usize,
    /// Arming of the guards there; empty outside of runs: all that are watched are armed.
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
    /// The rounding of states after its crossings, where it was measured.
    pub(crate) rounding: Vec<f64>,
    /// The residual of each guard at `x` (`u_k`), where no state was found at which all of them are
    /// zero. It counts as zero.
    pub(crate) residuals: Vec<f64>,
    /// The projector onto displacements that reach it; none where all do.
    pub(crate) reach: Option<DMatrix<f64>>,
}

impl CornerPoint {
    /// The point at which the model is evaluated before any crossing.
    pub(crate) fn before(&self) -> Point<'_> {
        Point {
            t: self.t,
            x: &self.x,
            mode: &self.mode,
        }
    }

    /// Arming of event function `k` there.
    pub(crate) fn arming_of(&self, system: &dyn System, k: usize) -> Arming {
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
