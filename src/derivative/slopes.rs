//! The slopes `D_x f · v` of columns `v` along a run: written by the user, or by central differences
//! of the flow in the frozen mode.

use std::convert::Infallible;

use crate::Mode;
use crate::hybrid::System;
use crate::ode::difference::vector_within;

/// How slopes are found, and the workspace for it.
#[derive(Clone, Debug)]
pub(super) struct Slopes {
    /// The flow has no derivative that is written, in the present mode.
    pub(super) by_differences: bool,
    /// For each column, the difference step along it as a part of the usual one.
    pub(super) parts: Vec<f64>,
    /// Differences over other steps.
    pub(super) trials: [Vec<f64>; 3],
    pub(super) scratch: (Vec<f64>, Vec<f64>),
}

impl Slopes {
    pub(super) fn new(dim: usize, count: usize) -> Self {
        Self {
            by_differences: false,
            parts: vec![1.0; count],
            trials: [0, 1, 2].map(|_| vec![0.0; dim]),
            scratch: (vec![0.0; dim], vec![0.0; dim]),
        }
    }

    /// Writes the slope of each column of `v`; a component that is not finite, if there is one.
    pub(super) fn find(
        &mut self,
        system: &dyn System,
        (t, x): (f64, &[f64]),
        mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> Option<usize> {
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
            let how = (self.parts[j], &mut self.scratch);
            let Ok(()) = along_column(system, (t, x), mode, v, out, how);
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
    at: (f64, &[f64]),
    mode: &Mode,
    v: &[f64],
    out: &mut [f64],
    (part, (point, behind)): (f64, &mut (Vec<f64>, Vec<f64>)),
) -> Result<(), Infallible> {
    let flow = |t: f64, x: &[f64], dx: &mut [f64]| {
        system.flow(t, x, mode, dx);
        Ok(())
    };
    vector_within(part, flow, at, (0.0, v), out, (point, behind))
}
