//! Where guards are crossed at one instant.

use crate::hybrid::System;
use crate::hybrid::evaluate::Point;
use crate::model::rearm::Arming;
use crate::{Guard, Mode};

/// A corner, or a single crossing, as the run met it.
#[derive(Clone, Debug, Default)]
pub(crate) struct CornerPoint {
    /// Time of the first crossing (s).
    pub(crate) t: f64,
    /// State on the guards, before any crossing.
    pub(crate) x: Vec<f64>,
    pub(crate) mode: Mode,
    /// How many transitions the run made before it.
    pub(crate) index: usize,
    /// Which guards are armed there; outside of runs empty, and all that are watched are.
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
}

impl CornerPoint {
    /// Where the model is asked before any crossing.
    pub(crate) fn before(&self) -> Point<'_> {
        Point {
            t: self.t,
            x: &self.x,
            mode: &self.mode,
        }
    }

    /// Whether the crossing of event function `k` is looked for there.
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
