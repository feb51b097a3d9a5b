//! The slopes `D_x f · v` of columns `v` along a run: written by the user, or by central differences
//! of the flow in the frozen mode.

use std::convert::Infallible;

use crate::hybrid::System;
use crate::hybrid::evaluate::Point;
use crate::ode::difference::{Line, vector_within};

/// How slopes are found, and the workspace for it.
#[derive(Clone, Debug)]
pub(super) struct Slopes {
    /// The flow has no derivative that is written, in the present mode.
    pub(super) by_differences: bool,
    /// For each column, the difference step along it as a part of the usual one.
    pub(super) parts: Vec<f64>,
    /// Differences over other steps.
    pub(super) trials: [Vec<f64>; 3],
    pub(super) scratch: [Vec<f64>; 2],
}

impl Slopes {
    pub(super) fn new(dim: usize, count: usize) -> Self {
        Self {
            by_differences: false,
            parts: vec![1.0; count],
            trials: [0, 1, 2].map(|_| vec![0.0; dim]),
            scratch: [0, 1].map(|_| vec![0.0; dim]),
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
            let (part, scratch) = (self.parts[j], &mut self.scratch);
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
    [moved, behind]: &mut [Vec<f64>; 2],
) -> Result<(), Infallible> {
    let flow = |t: f64, x: &[f64], dx: &mut [f64]| {
        system.flow(t, x, mode, dx);
        Ok(())
    };
    let line = Line::at_time(t, x, v);
    vector_within(part, flow, line, out, moved, behind)
}
