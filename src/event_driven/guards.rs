//! The guards of a mechanical system: gaps and multipliers as event functions, and the impact as
//! their reset (Pace & Burden, sections 2, 3.4 and eq. 3).

use super::EventDriven;
use super::impact::Event;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::gaps::{gap_gradient, gap_row, work_size};
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::{Crossed, Crossing, EventFunction, Mode, Stop, Watch};

/// The event function whose side is the second half of the mode: it says what the mode says, and a
/// start without a mode has no contact closed.
fn closed_or_not(closed: bool) -> f64 {
    if closed { 1.0 } else { -1.0 }
}

impl<S> EventDriven<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// The derivative of a gap by the coordinates: its row where `q̇ = v`, else differences.
    pub(crate) fn gap_by_coordinate(&self, j: usize, q: &[f64], out: &mut [f64]) {
        let system = self.system();
        with_zeros(work_size(system), |work| {
            if self.bodies.identity {
                gap_row(system, j, q, out, work);
            } else {
                gap_gradient(system, j, q, out, &mut work[..q.len()]);
            }
        });
    }
}

impl<S> EventFunction for EventDriven<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    fn count(&self) -> usize {
        2 * self.system().contacts()
    }

    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        let n = self.system().contacts();
        if let Some(j) = k.checked_sub(n) {
            return closed_or_not(self.is_closed(mode, j));
        }
        let (q, v) = self.parts(x);
        if !self.is_closed(mode, k) {
            return self.system().gap(k, q);
        }
        with_zeros(v.len() + n, |scratch| {
            let (acceleration, multipliers) = scratch.split_at_mut(v.len());
            self.motion((t, q, v), mode, acceleration, Some(multipliers), true);
            multipliers[k]
        })
    }

    fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        let n = self.system().contacts();
        let (q, v) = self.parts(x);
        let (gaps, flags) = h.split_at_mut(n);
        for (j, flag) in flags.iter_mut().enumerate() {
            *flag = closed_or_not(self.is_closed(mode, j));
        }
        if (0..n).any(|j| self.is_closed(mode, j)) {
            with_zeros(v.len(), |acceleration| {
                self.motion((t, q, v), mode, acceleration, Some(gaps), true);
            });
        }
        for (j, gap) in gaps.iter_mut().enumerate() {
            if !self.is_closed(mode, j) {
                *gap = self.system().gap(j, q);
            }
        }
    }

    fn gradient(&self, k: usize, _t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        if k >= self.system().contacts() {
            dh.fill(0.0);
            return Some(0.0);
        }
        if self.is_closed(mode, k) {
            return None;
        }
        let (q, _) = self.parts(x);
        let (by_coordinate, by_velocity) = dh.split_at_mut(q.len());
        by_velocity.fill(0.0);
        self.gap_by_coordinate(k, q, by_coordinate);
        Some(0.0)
    }

    fn watch(&self, k: usize) -> Watch {
        if k < self.system().contacts() {
            Watch::FALLING
        } else {
            Watch::NONE
        }
    }

    fn min_rate(&self, _k: usize) -> Option<f64> {
        Some(self.rate_tolerance)
    }

    fn event_tolerance(&self, _k: usize) -> f64 {
        // Far below the tolerance: bounces on their way to an accumulation are lower than that.
        1e-3 * self.gap_tolerance
    }

    fn time_scale(&self, k: usize) -> Option<f64> {
        if k < self.system().contacts() {
            self.system().time_scale()
        } else {
            Some(f64::INFINITY)
        }
    }

    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let Crossing {
            t,
            crossed,
            x,
            mode,
            record,
        } = crossing;
        let mut done = Ok(());
        record.write(|event: &mut Event| {
            done = self.resolve_event(*t, crossed, (x, mode), event);
        });
        Ok(done?)
    }

    fn writes_reset_differences(&self) -> bool {
        true
    }

    fn reset_times(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &Mode,
        (_, dx): (f64, &[f64]),
        out: &mut [f64],
    ) -> bool {
        self.reset_along_each((t, crossed), (x, mode), dx, out)
    }

    fn reset_times_each(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &Mode,
        (_, dx): (f64, &[f64]),
        out: &mut [f64],
    ) -> bool {
        self.reset_along_each((t, crossed), (x, mode), dx, out)
    }
}
