//! The error of a run to first order: the defect of its dense output, carried along by the
//! variational equation (P. E. Zadunaisky, Numer. Math. 27 (1976) 21).
//!
//! The dense output `p(t)` solves `p' = f(t, p) − d` with the defect `d = f(t, p) − p'`; the error
//! `e` of the state obeys `e' = D_x f e + d`. The defect of a step is added at its end.

use nalgebra::{DMatrix, DVector};

use super::context::Context;
use super::variational::Columns;
use crate::hybrid::options::Settings;
use crate::{NoDerivative, Segment};

/// Nodes and weights of Gauss & Legendre with four nodes, on [0, 1].
const NODES: [(f64, f64); 4] = [
    (0.06943184420297371, 0.17392742256872692),
    (0.33000947820757187, 0.3260725774312731),
    (0.6699905217924281, 0.3260725774312731),
    (0.9305681557970262, 0.17392742256872692),
];

/// Safety factor of an estimated error.
const SAFETY: f64 = 10.0;

/// The error of the state of a run, to first order.
#[derive(Clone, Debug)]
pub(crate) struct RunError {
    /// The error at the last crossing.
    at_crossing: DVector<f64>,
    /// The error added by the steps since.
    since: DVector<f64>,
    defect: Defect,
}

impl RunError {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            at_crossing: DVector::zeros(dim),
            since: DVector::zeros(dim),
            defect: Defect::new(dim),
        }
    }

    /// Begins a new run.
    pub(crate) fn begin(&mut self, settings: &Settings) {
        self.defect.column.begin(settings);
    }

    /// Adds the error of a segment.
    pub(crate) fn advance(
        &mut self,
        context: Context<'_>,
        segment: &Segment<'_>,
    ) -> Result<(), NoDerivative> {
        self.defect.advance(context, segment, &mut self.since)
    }

    /// Carries the error to a crossing; `map` is that of the motion since the last one.
    pub(crate) fn collect(&mut self, map: &DMatrix<f64>) {
        self.at_crossing = map * &self.at_crossing + &self.since;
        self.since.fill(0.0);
    }

    /// The error at the last crossing.
    pub(crate) fn at_crossing(&self) -> &DVector<f64> {
        &self.at_crossing
    }

    /// Replaces it by the error after the crossing.
    pub(crate) fn set_behind(&mut self, error: DVector<f64>) {
        self.at_crossing = error;
    }

    /// Bound of the error of each component at the last crossing, at `x`: ten times the estimate,
    /// and at least five times the largest of all components in units of their tolerances. The
    /// estimate is of first order, and some of its components are small by chance.
    pub(crate) fn bound(&self, settings: &Settings, x: &[f64]) -> Vec<f64> {
        let error = &self.at_crossing;
        let scale = |i: usize| settings.atol.get(i) + settings.rtol.get(i) * x[i].abs();
        let largest = (0..x.len())
            .filter(|&i| scale(i) > 0.0)
            .map(|i| error[i].abs() / scale(i))
            .fold(0.0, f64::max);
        let own = |i: usize| (SAFETY * error[i].abs()).max(0.5 * SAFETY * largest * scale(i));
        (0..x.len()).map(own).collect()
    }
}

/// Workspace.
#[derive(Clone, Debug)]
struct Defect {
    column: Columns,
    point: Vec<f64>,
    slope: Vec<f64>,
    sum: Vec<f64>,
}

impl Defect {
    fn new(dim: usize) -> Self {
        Self {
            column: Columns::new(dim, 1),
            point: vec![0.0; dim],
            slope: vec![0.0; dim],
            sum: vec![0.0; dim],
        }
    }

    /// Carries `error` along a segment and adds the defect of the segment.
    fn advance(
        &mut self,
        context: Context<'_>,
        segment: &Segment<'_>,
        error: &mut DVector<f64>,
    ) -> Result<(), NoDerivative> {
        if error.iter().any(|e| *e != 0.0) {
            self.column.delta.copy_from_slice(error.as_slice());
            self.column.changed();
            self.column.advance(context, segment)?;
            error.copy_from_slice(&self.column.delta);
        }
        let (start, length) = (segment.start, segment.t - segment.start);
        self.sum.fill(0.0);
        for (node, weight) in NODES {
            let t = start + node * length;
            segment.interpolant.at(t, &mut self.point);
            let system = context.system;
            system.flow(t, &self.point, segment.mode, &mut self.slope);
            for (sum, slope) in self.sum.iter_mut().zip(&self.slope) {
                *sum += weight * slope;
            }
        }
        segment.interpolant.at(start, &mut self.point);
        for i in 0..self.sum.len() {
            let moved = segment.state[i] - self.point[i];
            let defect = length * self.sum[i] - moved;
            // Where f is not defined at a quadrature node, as at the edge of its domain, the error
            // test of the step must suffice.
            error[i] += if defect.is_finite() { defect } else { 0.0 };
        }
        Ok(())
    }
}
