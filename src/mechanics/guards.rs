//! The guards of a mechanical system: gaps and multipliers as event functions, and the impact as their reset
//! (Pace & Burden, sections 2, 3.4 and eq. 3).

use super::scratch::with_zeros;
use super::{EventDriven, MechanicalSystem, UnilateralConstraints};
use crate::impact::ImpactLaw;
use crate::ode::difference::step_along;
use crate::{Crossed, Error, EventFunction, Mode, Watch};

/// An impact step for differences changes speeds of approach by this part at most.
const SLOW: f64 = 0.1;

/// The event function whose side is the second half of the mode: it says what the mode says, and a start without a mode has
/// no contact closed.
fn closed_or_not(closed: bool) -> f64 {
    if closed { 1.0 } else { -1.0 }
}

impl<S, L> EventFunction for EventDriven<S, L>
where
    S: MechanicalSystem + UnilateralConstraints,
    L: ImpactLaw,
{
    fn count(&self) -> usize {
        2 * self.system().contacts()
    }

    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        let (n, d) = (self.system().contacts(), self.system().dof());
        if let Some(j) = k.checked_sub(n) {
            return closed_or_not(self.is_closed(mode, j));
        }
        let (q, v) = x.split_at(d);
        if !self.is_closed(mode, k) {
            return self.system().gap(k, q);
        }
        with_zeros(d + n, |scratch| {
            let (acceleration, multipliers) = scratch.split_at_mut(d);
            self.motion((t, q, v), mode, acceleration, Some(multipliers), true);
            multipliers[k]
        })
    }

    fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        let (n, d) = (self.system().contacts(), self.system().dof());
        let (q, v) = x.split_at(d);
        let (gaps, flags) = h.split_at_mut(n);
        for (j, flag) in flags.iter_mut().enumerate() {
            *flag = closed_or_not(self.is_closed(mode, j));
        }
        if (0..n).any(|j| self.is_closed(mode, j)) {
            with_zeros(d, |acceleration| {
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
        let (n, d) = (self.system().contacts(), self.system().dof());
        if k >= n {
            dh.fill(0.0);
            return Some(0.0);
        }
        if self.is_closed(mode, k) {
            return None;
        }
        let (row, by_velocity) = dh.split_at_mut(d);
        by_velocity.fill(0.0);
        with_zeros(d, |point| {
            super::dynamics::gap_row(self.system(), k, &x[..d], row, point);
        });
        Some(0.0)
    }

    fn watch(&self, k: usize) -> Watch {
        if k < self.system().contacts() {
            Watch::FALLING
        } else {
            Watch::NONE
        }
    }

    fn least_rate(&self, _k: usize) -> f64 {
        self.rate_tolerance
    }

    fn noise(&self, _k: usize) -> f64 {
        // Far below the tolerance: bounces on their way to an accumulation are lower than that.
        1e-3 * self.gap_tolerance
    }

    fn on_crossing(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &mut [f64],
        mode: &mut Mode,
    ) -> Result<(), Error> {
        let (touching, new, mut released) = self.taking_part(crossed, x, mode);
        super::drift::land(self, x, &self.closed(mode), &touching);
        if new.iter().any(|&new| new) {
            let outcome = self.hit(t, x, &touching, &new)?;
            // Pressed on by the impact, a contact need not open.
            let pressed = |j: &usize| touching.iter().position(|k| k == j);
            released.retain(|j| pressed(j).is_none_or(|i| outcome.impulses[i] <= 0.0));
        }
        self.rest(t, x, &touching, &released, mode)
    }

    /// By differences of the impact among states in which the contacts that are closed stay so, before and after: only such
    /// neighbours exist, and off them the law may choose another outcome.
    fn reset_times(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &Mode,
        (_, dx): (f64, &[f64]),
        out: &mut [f64],
    ) -> bool {
        let Some(strike) = self.strike_of(t, crossed, x, mode) else {
            return false;
        };
        let (touching, new) = (&strike.touching, &strike.new);
        let hits = new.iter().any(|&new| new);
        let at = |x: &mut [f64]| {
            super::drift::correct(self, x, mode);
            if hits {
                self.hit(t, x, touching, new)?;
            }
            super::drift::hold(self, x, &strike.closed_after);
            Ok::<(), Error>(())
        };
        let moved = |s: f64| -> Vec<f64> { x.iter().zip(dx).map(|(x, dx)| x + s * dx).collect() };
        let usual = step_along(0.0, x, 0.0, dx);
        let mut step = usual;
        if self.is_affine() {
            // Piecewise linear: the longer the step, the less its rounding counts.
            let largest = |v: &[f64]| v.iter().fold(0.0f64, |most, v| v.abs().max(most));
            step = largest(x).max(1.0) / largest(dx).max(f64::MIN_POSITIVE);
        }
        // Contacts that approach slowly approach at both ends too: the step is a part of their speed.
        let rates = [usual, 0.0, -usual].map(|s| self.approach(&moved(s), touching));
        for i in (0..touching.len()).filter(|&i| new[i]) {
            let change = (rates[0][i] - rates[2][i]).abs() / (2.0 * usual);
            if change > 0.0 {
                step = step.min(SLOW * rates[1][i].abs() / change);
            }
        }
        let restitution = |s: f64| -> Vec<f64> {
            let at = moved(s);
            let (q, v) = at.split_at(self.system().dof());
            let of = |j: &usize| self.system().restitution(*j, q, v);
            touching.iter().map(of).collect()
        };
        if step > usual
            && [step, -step]
                .iter()
                .any(|&s| restitution(s) != restitution(0.0))
        {
            step = usual;
        }
        if step.is_nan() || step <= 0.0 {
            return false;
        }
        let mut ends = [step, -step].map(moved);
        if ends.iter_mut().any(|end| at(end).is_err()) {
            return false;
        }
        for i in 0..out.len() {
            out[i] = (ends[0][i] - ends[1][i]) / (2.0 * step);
        }
        true
    }
}
