//! A single crossing without a reset: the saltation matrix `Ξ = 1 + (F⁻ − F⁺) τ` with the row
//! `τ = −D_x h / (dh/dt)` of its time shift (Aizerman & Gantmakher 1958; Pace & Burden, item 10 of
//! the proof). Where no crossing of a model changes more than its side and the field, it needs no
//! graph; where a model may reset the state, a graph of two nodes says whether this crossing does.

use nalgebra::{DMatrix, DVector};

use super::exit::Passed;
use super::explorer::Explorer;
use super::point::CornerPoint;
use crate::derivative::context::Context;
use crate::linalg::dot;
use crate::{Mode, NoDerivative};

/// A crossing of a model without resets, alone at its instant.
#[derive(Clone, Debug)]
pub(crate) struct Lone {
    /// The mode behind it.
    mode: Mode,
    row: Vec<f64>,
    /// The rate of the guard (`u`/s).
    rate: f64,
    /// The field behind it.
    behind: Vec<f64>,
    /// The gain of a displacement for each second that it crosses later: `F⁻ − F⁺`, and `F⁻` where
    /// the run ends at the event.
    gain: Vec<f64>,
}

impl Lone {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        Self {
            mode: mode.clone(),
            row: vec![0.0; dim],
            rate: f64::NAN,
            behind: vec![0.0; dim],
            gain: vec![0.0; dim],
        }
    }

    /// Stands before the crossing at `point`; false where it takes more to know its derivative, or
    /// to refuse it with its reason.
    ///
    /// # Errors
    /// [`NoDerivative::DifferencesDisagree`] where a row is not known; interrupts.
    pub(crate) fn begin(
        &mut self,
        context: Context<'_>,
        point: &CornerPoint,
    ) -> Result<bool, NoDerivative> {
        let [guard] = point.guards[..] else {
            return Ok(false);
        };
        let (system, k, t, x) = (context.system, guard.event, point.t, &point.x[..]);
        self.mode.copy_from(&point.mode);
        self.mode.set(k, guard.side_after());
        let is_plain = context.crosses_sides_alone()
            && self.mode.is(&point.mode_after)
            && point.x_after == point.x;
        if !is_plain {
            return Ok(false);
        }
        context.interrupt.check()?;
        system.flow(t, x, &point.mode, &mut self.gain);
        let moving = context.row(k, point.before(), &mut self.row, &mut self.behind)?;
        self.rate = moving + dot(&self.row, &self.gain);
        let least = point.min_rates.get(k);
        if !least.is_some_and(|least| guard.sign() * self.rate >= *least) {
            return Ok(false);
        }
        self.behind.copy_from_slice(&self.gain);
        if !system.flip(t, x, &self.mode, k, &mut self.behind) {
            system.flow(t, x, &self.mode, &mut self.behind);
        }
        let watch = system.watch(k);
        if !(watch.stop && watch.sees(guard.direction)) {
            for (gain, behind) in self.gain.iter_mut().zip(&self.behind) {
                *gain -= behind;
            }
        }
        let sum = |entries: &[f64]| entries.iter().sum::<f64>();
        Ok((self.rate + sum(&self.row) + sum(&self.gain) + sum(&self.behind)).is_finite())
    }

    /// Carries a displacement at fixed time from before the crossing to behind it; how much later
    /// it crosses (s).
    pub(crate) fn carry(&self, delta: &mut [f64]) -> f64 {
        let tau = -dot(&self.row, delta) / self.rate;
        for (delta, gain) in delta.iter_mut().zip(&self.gain) {
            *delta += tau * gain;
        }
        tau
    }

    /// Carries the columns of `map`, and an error, across the crossing at `point`; the row of its
    /// time shift on what they are carried from. None where it takes more to know the derivative.
    ///
    /// # Errors
    /// As [`begin`](Self::begin), [`Explorer::edge`], and a guard that is not live.
    pub(crate) fn pass(
        &mut self,
        context: Context<'_>,
        explorer: &mut Explorer,
        point: &CornerPoint,
        map: &mut DMatrix<f64>,
        error: &mut DVector<f64>,
    ) -> Result<Option<DVector<f64>>, NoDerivative> {
        if self.begin(context, point)? {
            let columns = map.as_mut_slice().chunks_exact_mut(point.x.len());
            let shifts = columns.map(|column| self.carry(column));
            let row = DVector::from_iterator(point.x.len(), shifts);
            self.carry(error.as_mut_slice());
            return Ok(Some(row));
        }
        explorer.begin(context, point)?;
        explorer.graph().check_live(context.system, 0)?;
        let found = explorer.edge(context, 0, 0)?;
        let graph = explorer.graph();
        let edge = graph.edge(found);
        let (node, stopped) = (edge.to, edge.stops);
        let is_last = graph.members(node).is_empty() || stopped;
        let passed = Passed { node, stopped };
        if !(edge.identity && is_last && explorer.is_exit(context, passed, point)) {
            return Ok(None);
        }
        let tau = graph.shift_row(0, 0, map);
        let tau_error = [graph.shift(0, 0, error.as_slice())];
        let columns = (tau.as_slice(), map.as_mut_slice());
        for (tau, deltas) in [columns, (&tau_error, error.as_mut_slice())] {
            explorer.carry(context, (0, found), tau, deltas)?;
            if stopped {
                explorer.graph().to_event(node, tau, deltas);
            }
        }
        Ok(Some(tau))
    }
}
