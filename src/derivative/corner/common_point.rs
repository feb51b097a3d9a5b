//! The common point of a corner: a state close to the one at which a run met its first guard, at
//! which all guards of the corner are zero.
//!
//! A run meets the guards of a corner one after the other, within the corner tolerance. At the
//! first crossing the others are still ahead, each by a time of its own, and resets behave
//! otherwise there than at the corner. With the lag `σ_k = −h_k / (dh_k/dt)` of guard `k` and its
//! row `a_k = D_x h_k / (dh_k/dt)`, Newton's method takes the displacement `δ` of least norm with
//! `a_k δ = σ_k` for all `k`, in units of what the state may be off: the tolerances of the run and
//! the motion during the corner.

use super::explorer::Explorer;
use super::graph::CornerGraph;
use super::point::CornerPoint;
use crate::NoDerivative;
use crate::derivative::context::Context;
use crate::linalg::dot;
use crate::linalg::least_norm::{least_norm, least_norm_size};

/// Steps of Newton's method at most: it begins within the corner tolerance of the solution.
const MOST_STEPS: usize = 5;
/// A guard that lags behind by more than this many corner tolerances is not zero at the corner: a
/// reset brings it there.
const MOST_LAG: f64 = 100.0;
/// Guards that are zero farther off than this, in the units of the displacement, are not one corner
/// that errors spread out.
const FARTHEST: f64 = 1e3;

/// Workspace to find common points.
#[derive(Clone, Debug)]
pub(crate) struct CommonPoint {
    /// The unit of each component of the displacement.
    units: Vec<f64>,
    /// The state at the first crossing.
    first: Vec<f64>,
    /// The rows `a_k` of its guards in these units, one after the other.
    rows: Vec<f64>,
    /// Their lags (s), then the multipliers of their rows.
    lags: Vec<f64>,
    gram: Vec<f64>,
    scratch: Vec<f64>,
}

impl CommonPoint {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            units: vec![0.0; dim],
            first: vec![0.0; dim],
            rows: Vec::new(),
            lags: Vec::new(),
            gram: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// Moves the state of `point` to the common point of its guards. Where there is none, the state
    /// is the one closest to it from which all guards are still ahead, or the one that it was, and
    /// the values that are left of the guards count as zero.
    ///
    /// # Errors
    /// [`Stop::Interrupted`](crate::Stop::Interrupted) only.
    pub(crate) fn find(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
        point: &mut CornerPoint,
    ) -> Result<(), NoDerivative> {
        point.residuals.clear();
        self.first.copy_from_slice(&point.x);
        let found = self.search(context, explorer, point);
        if !matches!(found, Ok(true)) {
            point.x.copy_from_slice(&self.first);
            context.interrupt.check()?;
            if explorer.begin(context, point).is_err() {
                // It is refused again when the corner is examined.
                return Ok(());
            }
        }
        Self::note_residuals(context, explorer, point);
        Ok(())
    }

    /// Newton's method; false when it leaves the neighbourhood.
    fn search(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
        point: &mut CornerPoint,
    ) -> Result<bool, NoDerivative> {
        for step in 0..=MOST_STEPS {
            context.interrupt.check()?;
            explorer.begin(context, point)?;
            let graph = explorer.graph();
            let field = graph.field(0);
            if step == 0 {
                for (i, unit) in self.units.iter_mut().enumerate() {
                    *unit = context.error_scale(i, point.x[i]) + point.span * field[i].abs();
                }
            }
            if self.all_zero(context, graph) {
                return Ok(true);
            }
            if step == MOST_STEPS {
                // Guards that depend on each other and have no zero in common: back to where none
                // of them is passed.
                let passed = self.lags.iter().fold(0.0, |most: f64, lag| most.max(-lag));
                for (x, f) in point.x.iter_mut().zip(field) {
                    *x -= passed * f;
                }
                return Ok(true);
            }
            self.step(&mut point.x);
            let off = (0..point.x.len()).map(|i| (point.x[i] - self.first[i]) / self.units[i]);
            let farthest = off
                .filter(|off| !off.is_nan())
                .fold(0.0, |most: f64, off| most.max(off.abs()));
            if farthest > FARTHEST {
                return Ok(false);
            }
        }
        Ok(false)
    }

    /// Finds lags and rows of the guards at node 0. True when all are zero to within rounding.
    fn all_zero(&mut self, context: Context<'_>, graph: &CornerGraph) -> bool {
        let (root, t) = (graph.node(0), graph.t());
        let most = MOST_LAG * context.tolerance;
        self.lags.clear();
        self.rows.clear();
        let mut all_zero = true;
        for (m, member) in root.members.iter().enumerate() {
            let (row, k) = (graph.row(0, m), member.guard.event);
            let value = context.system.event(k, t, root.x, root.mode);
            let lag = -value / member.rate;
            if lag.is_nan() || lag.abs() > most {
                continue;
            }
            let terms: f64 = row.iter().zip(root.x).map(|(a, x)| (a * x).abs()).sum();
            let in_time = t.abs() * member.rate.abs();
            all_zero &= value.abs() <= 8.0 * f64::EPSILON * (terms + in_time);
            self.lags.push(lag);
            let row = row.iter().zip(&self.units);
            self.rows
                .extend(row.map(|(a, unit)| a * unit / member.rate));
        }
        all_zero
    }

    /// One step of Newton's method.
    fn step(&mut self, x: &mut [f64]) {
        let (n, dim) = (self.lags.len(), x.len());
        let row = |k: usize| &self.rows[k * dim..(k + 1) * dim];
        self.gram.clear();
        for i in 0..n {
            self.gram.extend((0..n).map(|k| dot(row(i), row(k))));
        }
        self.scratch.clear();
        self.scratch.resize(least_norm_size(n), 0.0);
        least_norm(&self.gram, n, &mut self.lags, &mut self.scratch);
        for (i, x) in x.iter_mut().enumerate() {
            let along: f64 = (0..n).map(|k| self.lags[k] * row(k)[i]).sum();
            *x += self.units[i] * along;
        }
    }

    /// Keeps what is left of the values of the guards of `point`, as far as they are zero there.
    fn note_residuals(context: Context<'_>, explorer: &Explorer, point: &mut CornerPoint) {
        let root = explorer.graph().node(0);
        let most = MOST_LAG * context.tolerance;
        for member in root.members {
            let k = member.guard.event;
            let value = context.system.event(k, point.t, &point.x, &point.mode);
            let is_zero = (value / member.rate).abs() <= most;
            point.residuals.push(if is_zero { value } else { 0.0 });
        }
    }
}
