//! Slopes of columns: as the user wrote them, or by differences whose steps are known.

use std::convert::Infallible;

use crate::hybrid::System;
use crate::hybrid::evaluate::Point;
use crate::ode::difference::{CENTRAL, Line, state_step, vector_within};

/// The step of a difference along a column.
#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    /// In parts of the usual one.
    Usual(f64),
    /// In parts of that which moves no component by more than [`CENTRAL`] of what is small in it.
    Small(f64),
}

/// The way in which slopes are found, and the workspace for it.
#[derive(Clone, Debug)]
pub(super) struct Slopes {
    /// The flow has no derivative that is written, in the present mode.
    pub(super) by_differences: bool,
    /// For each column, the difference step along it.
    pub(super) steps: Vec<Step>,
    /// The size that is small to the user in each component.
    pub(super) small: Vec<f64>,
    /// Differences over other steps.
    pub(super) trials: [Vec<f64>; 3],
    pub(super) scratch: Vec<f64>,
}

impl Slopes {
    pub(super) fn new(dim: usize, count: usize) -> Self {
        Self {
            by_differences: false,
            steps: vec![Step::Usual(1.0); count],
            small: vec![1.0; dim],
            trials: [0, 1, 2].map(|_| vec![0.0; dim]),
            scratch: vec![0.0; 2 * dim],
        }
    }

    /// The difference step along a column as a part of the usual one.
    pub(super) fn part(&self, j: usize, x: &[f64], column: &[f64]) -> f64 {
        match self.steps[j] {
            Step::Usual(part) => part,
            Step::Small(part) => (part * self.small_step(x, column)).min(1.0),
        }
    }

    /// The step of what is small to the user as a part of the usual one.
    pub(super) fn small_step(&self, x: &[f64], column: &[f64]) -> f64 {
        let each = x.iter().zip(column).zip(&self.small);
        let each = each.filter(|((_, v), _)| **v != 0.0);
        let own = each.map(|((x, v), small)| x.abs().max(*small) / v.abs());
        CENTRAL * own.fold(f64::INFINITY, f64::min) / state_step(x, column)
    }

    /// Keeps the step that was found for a column, as a part of the usual one. Where that is shorter the column grows
    /// in other components than the one that asks for it, from which the usual step then follows: what is small to the
    /// user does not.
    pub(super) fn keep(&mut self, j: usize, part: f64, x: &[f64], column: &[f64]) {
        self.steps[j] = Step::Usual(part);
        if part < 1.0 {
            let small = self.small_step(x, column);
            if small < 0.5 {
                self.steps[j] = Step::Small(part / small);
            }
        }
    }

    /// Writes the slope of each column of `v`; a component that is not finite, if there is one.
    pub(super) fn find(
        &mut self,
        system: &dyn System,
        point: Point<'_>,
        v: &[f64],
        out: &mut [f64],
    ) -> Option<usize> {
        let Point { t, x, mode } = point;
        let dim = x.len();
        let written = system.jacobian_times_each(t, x, mode, v, out);
        let directions = if written { 0 } else { v.len() / dim };
        for j in 0..directions {
            let column = j * dim..(j + 1) * dim;
            let (v, out) = (&v[column.clone()], &mut out[column]);
            if v.iter().all(|&v| v == 0.0) {
                out.fill(0.0);
                continue;
            }
            let (part, scratch) = (self.part(j, x, v), &mut self.scratch);
            let Ok(()) = along_column(system, point, v, out, part, scratch);
        }
        if out.iter().sum::<f64>().is_finite() {
            return None;
        }
        out.iter().position(|v| !v.is_finite()).map(|i| i % dim)
    }
}

/// The slope of one column by a central difference with a part of the usual step.
pub(super) fn along_column(
    system: &dyn System,
    Point { t, x, mode }: Point<'_>,
    v: &[f64],
    out: &mut [f64],
    part: f64,
    scratch: &mut [f64],
) -> Result<(), Infallible> {
    let flow = |t: f64, x: &[f64], dx: &mut [f64]| {
        system.flow(t, x, mode, dx);
        Ok(())
    };
    let line = Line::at_time(t, x, v);
    let (moved, behind) = scratch.split_at_mut(x.len());
    vector_within(part, flow, line, out, moved, behind)
}
