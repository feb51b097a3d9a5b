//! The guards of a mechanical system: gaps and multipliers as event functions, and the impact as
//! their reset (Pace & Burden, sections 2, 3.4 and eq. 3).

use std::ops::RangeInclusive;

use super::impact::Event;
use crate::event_driven::Model;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::contact::gaps::{gap_row, gradient, work_size};
use crate::mechanics::friction::contact_function::ContactFunction;
use crate::mechanics::motion::acceleration::Purpose;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::{Crossed, Crossing, Displacement, EventFunction, Mode, Stop, Watch};

impl Model<'_> {
    fn as_events(&self) -> Purpose {
        Purpose::Events {
            rate_tolerance: self.rate_tolerance,
        }
    }

    /// What an event function is measured in beside lengths and times: a mass (kg) for forces, else one.
    fn unit_of(&self, k: usize) -> f64 {
        match self.lightest {
            Some(mass) if self.functions().measures_force(k) => mass,
            _ => 1.0,
        }
    }

    /// The effective mass of the lightest contact along its normal, `min 1/G_jj`, as it is at the origin of
    /// the coordinates (kg): the size of masses, for which it does not matter where it is taken. Where the origin is
    /// no configuration, as of a quaternion, it is taken where all coordinates are one. One where no contact has a mass.
    pub(crate) fn lightest_contact(&self) -> f64 {
        let lightest_at = |value: f64| {
            let mut q = vec![value; self.bodies.fixed.nq];
            self.system().project_configuration(&mut q);
            let mass_at = |j: usize| {
                with_zeros(self.bodies.frame_size(1), |scratch| {
                    let contact = [j];
                    let frame = self.bodies.frame(&q, &contact, scratch).ok();
                    frame.map(|frame| frame.gram[0].recip())
                })
            };
            let masses = (0..self.system().contacts()).filter_map(mass_at);
            let masses = masses.filter(|mass| mass.is_finite() && *mass > 0.0);
            masses.reduce(f64::min)
        };
        [0.0, 1.0].into_iter().find_map(lightest_at).unwrap_or(1.0)
    }

    /// The derivative of a gap by the coordinates: its row where `q̇ = v`, else differences.
    pub(crate) fn gap_by_coordinate(&self, j: usize, q: &[f64], out: &mut [f64]) {
        let system = self.system();
        with_zeros(work_size(q.len(), out.len()), |work| {
            if self.bodies.fixed.identity {
                gap_row(system, j, q, out, work);
            } else {
                gradient(|q| system.gap(j, q), q, out, &mut work[..q.len()]);
            }
        });
    }
}

impl EventFunction for Model<'_> {
    fn count(&self) -> usize {
        self.functions().count()
    }

    /// One a contact, on while it is closed, and two for its slip where there is friction; a start
    /// without a mode has none closed.
    fn flags(&self) -> usize {
        self.functions().flags()
    }

    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        let n = self.system().contacts();
        let (q, v) = self.parts(x);
        if self.slides() {
            let function = self.functions().function(k, mode);
            return self.function_in_mode(function, State { t, q, v }, mode);
        }
        if !self.is_closed(mode, k) {
            return self.system().gap(k, q);
        }
        with_zeros(v.len() + n, |scratch| {
            let (acceleration, multipliers) = scratch.split_at_mut(v.len());
            let state = State { t, q, v };
            self.motion(
                state,
                mode,
                acceleration,
                Some(multipliers),
                self.as_events(),
            );
            multipliers[k]
        })
    }

    fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        let (q, v) = self.parts(x);
        if self.slides() {
            return self.functions_in_mode(State { t, q, v }, mode, h);
        }
        if mode.flags().next().is_some() {
            with_zeros(v.len(), |acceleration| {
                let state = State { t, q, v };
                self.motion(state, mode, acceleration, Some(&mut *h), self.as_events());
            });
        }
        for (j, gap) in h.iter_mut().enumerate() {
            if !self.is_closed(mode, j) {
                *gap = self.system().gap(j, q);
            }
        }
    }

    fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        let function = self.functions().function(k, mode);
        let ContactFunction::Gap(j) = function else {
            let (q, v) = self.parts(x);
            if self.gradient_of_onset(function, [q, v], mode, dh)
                || self.gradient_of_slip(function, [q, v], mode, dh)
            {
                return Some(0.0);
            }
            // Where a slip in space stops forces turn with its direction within less than a
            // difference takes.
            if !self.stops_in_space(State { t, q, v }, mode) {
                return None;
            }
            return self.gradient_of_force(function, State { t, q, v }, mode, dh);
        };
        if self.is_closed(mode, j) {
            return None;
        }
        let (q, _) = self.parts(x);
        let (by_coordinate, by_velocity) = dh.split_at_mut(q.len());
        by_velocity.fill(0.0);
        self.gap_by_coordinate(k, q, by_coordinate);
        Some(0.0)
    }

    fn writes_row_differences(&self, k: usize, x: &[f64], mode: &Mode) -> bool {
        let ContactFunction::Gap(j) = self.functions().function(k, mode) else {
            return false;
        };
        if self.is_closed(mode, j) {
            return false;
        }
        let (q, v) = self.parts(x);
        let is_written = || with_zeros(v.len(), |row| self.system().gap_row(j, q, row));
        !(self.bodies.fixed.identity && is_written())
    }

    fn watch(&self, _k: usize) -> Watch {
        Watch::FALLING
    }

    /// A force is the acceleration of a mass: its least rate is that of an acceleration.
    fn min_rate(&self, k: usize) -> Option<f64> {
        Some(self.rate_tolerance * self.unit_of(k))
    }

    fn event_tolerance(&self, k: usize) -> f64 {
        let n = self.system().contacts();
        let measures_rates = self.slides() && k >= 2 * n;
        if self.functions().tangents > 1 && (2 * n..3 * n).contains(&k) {
            // Steps come close to the stop of a slip in space.
            1e-4 * self.rate_tolerance
        } else if measures_rates {
            1e-2 * self.rate_tolerance * self.unit_of(k)
        } else {
            // Far below the tolerance: bounces on their way to an accumulation are lower than that.
            1e-3 * self.gap_tolerance * self.unit_of(k)
        }
    }

    /// With friction an impact of several contacts is another one than their impacts one after the
    /// other.
    fn crosses_within(&self, k: usize) -> f64 {
        if self.slides() && k < self.system().contacts() {
            self.gap_tolerance
        } else {
            0.0
        }
    }

    /// An open contact does not penetrate; multipliers have rules of their own.
    fn admissible(&self, k: usize, mode: &Mode) -> RangeInclusive<f64> {
        match self.functions().function(k, mode) {
            ContactFunction::Gap(j) if !self.is_closed(mode, j) => self.admissible_gaps(),
            _ => f64::NEG_INFINITY..=f64::INFINITY,
        }
    }

    fn time_scale(&self, _k: usize) -> Option<f64> {
        MechanicalSystem::time_scale(self.system())
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
        let is_beside = record.is_beside();
        record.write(|event: &mut Event| {
            event.is_beside = is_beside;
            done = self.resolve_event(*t, crossed, x, mode, event);
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
        Displacement { dx, .. }: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        self.reset_along_each(t, crossed, x, mode, dx, out)
    }

    fn reset_times_each(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &Mode,
        Displacement { dx, .. }: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        self.reset_along_each(t, crossed, x, mode, dx, out)
    }
}
