//! The values of the event functions of contacts with friction: what ends a mode.

use super::contact_function::Slip;
use super::forces::{Dependent, Forces};
use super::frame::tangent_curvature;
use super::linearised::{Changed, Directions, Time};
use super::slow_slip::{ONSET, onset, turns_from, unresolved_at};
use crate::Mode;
use crate::impact::Contacting;
use crate::impact::multipliers::unit;
use crate::linalg::dot;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::configuration::rate;
use crate::mechanics::contact::gaps::gradient;
use crate::mechanics::contact_model::Model;
use crate::mechanics::friction::contact_function::ContactFunction;
use crate::mechanics::{State, UnilateralConstraints};

/// How far loads are outside of the cones of forces, as a part of them, where a mode ends: more than
/// the mode problem tolerates.
const BEYOND: f64 = 2e-9;

/// A slip in space is near a tangent up to the angle of this cosine (75°); one that begins there is
/// within 45°. It does not turn where it is slower than a speed over this cosine.
const NEAR: f64 = 0.2588;

/// The value of a function that the mode does not arm.
const NOT_ARMED: f64 = 1.0;

/// A slip that is about to stop does so at this part of the speed below which it has no direction: as
/// far as velocities are known that is zero, and along it the force still has the direction of the slip.
const STOPS: f64 = 0.02;

/// A slip begins or ends where it is no more than this part of its terms.
const AT_ONSET: f64 = 1e-6;

impl Model<'_> {
    /// The value of a function in a mode. Gaps and slips cost their rows, all others the forces of
    /// the mode.
    pub(crate) fn function_in_mode(
        &self,
        function: ContactFunction,
        state: State<'_>,
        mode: &Mode,
    ) -> f64 {
        let is_open = |j: usize| !self.is_closed(mode, j);
        match function {
            ContactFunction::Gap(j) if is_open(j) => self.system().gap(j, state.q),
            ContactFunction::Slip(j) | ContactFunction::Turn(j) | ContactFunction::Onset(j) => {
                self.of_slip(function, j, state, mode)
            }
            ContactFunction::Gap(_) => NOT_ARMED,
            ContactFunction::Force(j) if is_open(j) => NOT_ARMED,
            ContactFunction::Cone { contact, .. }
                if self.contacting(mode, contact) != Contacting::Stick =>
            {
                NOT_ARMED
            }
            _ => {
                let dependent = match function {
                    ContactFunction::Loads => Dependent::Margin,
                    _ => Dependent::Ignored,
                };
                self.with_forces(dependent, |forces| {
                    self.motion_with_friction(state, mode, None, Some(&mut *forces));
                    self.margin(function, state.q, forces)
                })
            }
        }
    }

    /// Writes the values of all functions.
    pub(crate) fn functions_in_mode(&self, state: State<'_>, mode: &Mode, h: &mut [f64]) {
        let functions = self.functions();
        h.fill(NOT_ARMED);
        for (j, gap) in h.iter_mut().enumerate().take(functions.contacts) {
            if !self.is_closed(mode, j) {
                *gap = self.system().gap(j, state.q);
            }
        }
        if self.layout().closed(mode).next().is_none() {
            return;
        }
        self.with_forces(Dependent::Margin, |forces| {
            self.motion_with_friction(state, mode, None, Some(&mut *forces));
            if let Some(margin) = forces.margin {
                h[functions.index(ContactFunction::Loads)] = BEYOND + margin;
                return;
            }
            for j in self.layout().closed(mode) {
                h[functions.index(ContactFunction::Force(j))] = forces.push[j] + forces.raised[j];
                let sticks = functions.slip(mode, j) == Slip::NONE && self.friction(j) != 0.0;
                if sticks {
                    // One that slips no more has the speed zero.
                    let mu = self.coefficients(j, state.q, 0.0).stick;
                    for &slip in functions.cone() {
                        let function = ContactFunction::Cone { contact: j, slip };
                        h[functions.index(function)] = forces.margin_of_cone(j, slip, mu);
                    }
                }
            }
        });
        for j in self.layout().closed(mode) {
            let slip = functions.slip(mode, j);
            if slip == Slip::NONE {
                continue;
            }
            let function = ContactFunction::Slip(j);
            h[functions.index(function)] = self.of_slip(function, j, state, mode);
            if functions.tangents > 1 {
                let function = if slip.begins || slip.ends {
                    ContactFunction::Onset(j)
                } else {
                    ContactFunction::Turn(j)
                };
                h[functions.index(function)] = self.of_slip(function, j, state, mode);
            }
        }
    }

    /// The margin of the loads in the cones of forces, as a part of them; none where forces are unique.
    pub(crate) fn margin_of_loads(&self, state: State<'_>, mode: &Mode) -> Option<f64> {
        self.with_forces(Dependent::Margin, |forces| {
            self.motion_with_friction(state, mode, None, Some(&mut *forces));
            forces.margin
        })
    }

    /// A force or a margin of the cone of a closed contact. Where forces are not unique the loads
    /// stand for all of them.
    fn margin(&self, function: ContactFunction, q: &[f64], forces: &Forces<'_>) -> f64 {
        match (function, forces.margin) {
            (ContactFunction::Loads, Some(margin)) => BEYOND + margin,
            (ContactFunction::Force(j), None) => forces.push[j] + forces.raised[j],
            (ContactFunction::Cone { contact, slip }, None) => {
                let mu = self.coefficients(contact, q, 0.0).stick;
                forces.margin_of_cone(contact, slip, mu)
            }
            _ => NOT_ARMED,
        }
    }

    /// A quantity of the slip of a contact: its speed along the tangent it is near to, how near
    /// it is, or by how much it is too slow to have a direction.
    fn of_slip(&self, function: ContactFunction, j: usize, at: State<'_>, mode: &Mode) -> f64 {
        let State { q, v, .. } = at;
        let slip = self.functions().slip(mode, j);
        if slip == Slip::NONE || self.friction(j) == 0.0 {
            return NOT_ARMED;
        }
        let velocity = self.slip_velocity(j, q, v);
        let along = slip.along(velocity);
        if self.functions().tangents == 1 {
            return match function {
                ContactFunction::Slip(_) => along,
                _ => NOT_ARMED,
            };
        }
        let speed = velocity[0].hypot(velocity[1]);
        match function {
            // Smooth in the velocity, and no more than a turn away from the speed.
            ContactFunction::Slip(_) if !slip.begins => {
                let part = if slip.ends { STOPS } else { 1.0 };
                along - part * self.least_slip(j, at)
            }
            ContactFunction::Slip(_) => along,
            // One that was to end, and speeds up again, has a direction from there on too.
            ContactFunction::Onset(_) if slip.begins || slip.ends => {
                onset(self.least_slip(j, at), self.rate_tolerance) - speed
            }
            ContactFunction::Turn(_) if !slip.begins && !slip.ends => {
                // In the unit of speeds its differences are good near a stop. One that comes to rest
                // passes zero a little beside it: it does not turn there.
                along - NEAR * speed + turns_from(self.least_slip(j, at), self.rate_tolerance)
            }
            _ => NOT_ARMED,
        }
    }

    /// Writes the derivatives of the function that ends the beginning of a slip, or an end that does not come, by
    /// coordinates and velocities; false for others. Differences along the motion would reach back over the rest from which it
    /// begins, where a speed has a kink: those by coordinates are taken along its direction, with
    /// velocities held.
    pub(crate) fn gradient_of_onset(
        &self,
        function: ContactFunction,
        [q, v]: [&[f64]; 2],
        mode: &Mode,
        out: &mut [f64],
    ) -> bool {
        let ContactFunction::Onset(j) = function else {
            return false;
        };
        let slip = self.functions().slip(mode, j);
        if !(slip.begins || slip.ends) || self.friction(j) == 0.0 {
            return false;
        }
        let (by_coordinate, by_velocity) = out.split_at_mut(q.len());
        let direction = unit(self.slip_velocity(j, q, v)).unwrap_or(slip.tangent());
        with_zeros(self.row_tangents() * v.len() + q.len(), |scratch| {
            let (rows, point) = scratch.split_at_mut(self.row_tangents() * v.len());
            self.system().tangent_rows(j, q, rows);
            by_velocity.fill(0.0);
            for (row, part) in rows.chunks_exact(v.len().max(1)).zip(direction) {
                for (to, entry) in by_velocity.iter_mut().zip(row) {
                    *to -= part * entry;
                }
            }
            let speed = |q: &[f64]| -dot(&direction, &self.slip_velocity(j, q, v));
            gradient(speed, q, by_coordinate, point);
        });
        true
    }

    /// Writes the gradient of the force or the margin of a closed contact, and returns its derivative
    /// by time; none for other functions, and where [`linearised_with_friction`] says nothing.
    ///
    /// [`linearised_with_friction`]: Self::linearised_with_friction
    pub(crate) fn gradient_of_force(
        &self,
        function: ContactFunction,
        State { t, q, v }: State<'_>,
        mode: &Mode,
        out: &mut [f64],
    ) -> Option<f64> {
        let (ContactFunction::Force(j) | ContactFunction::Cone { contact: j, .. }) = function
        else {
            return None;
        };
        let (dim, k) = (out.len(), self.row_tangents());
        let change = |changed: &Changed<'_>| {
            let m = changed.contacts.len();
            let i = changed.contacts.iter().position(|&closed| closed == j)?;
            let [held, by] = changed.multipliers;
            let along = m + i * k..m + (i + 1) * k;
            let (normal, held, along) = (held[i], &held[along.clone()], &by[along]);
            let size = held.iter().fold(0.0f64, |size, p| size.hypot(*p));
            let law = |q: &[f64]| self.coefficients(j, q, 0.0).stick;
            // The change of the cone: μ δλ_n + λ_n δμ.
            let cone = || {
                let dq = changed.along.get(..q.len()).unwrap_or_default();
                let by_place = if self.has_constant_friction(j, q) {
                    0.0
                } else {
                    with_zeros(dim, |point| self.along_place(q, dq, point, law))
                };
                law(q) * by[i] + normal * by_place
            };
            Some(match function {
                ContactFunction::Cone { slip: 0, .. } => cone() - dot(held, along) / size,
                ContactFunction::Cone { slip, .. } => cone() + f64::from(slip) * along.first()?,
                _ => by[i],
            })
        };
        with_zeros(dim * dim + dim, |space| {
            let (directions, x) = space.split_at_mut(dim * dim);
            directions
                .iter_mut()
                .step_by(dim + 1)
                .for_each(|entry| *entry = 1.0);
            x[..q.len()].copy_from_slice(q);
            x[q.len()..].copy_from_slice(v);
            let mut entries = out.iter_mut();
            let mut moving = f64::NAN;
            let mut take = |changed: Changed<'_>| {
                let by = change(&changed).unwrap_or(f64::NAN);
                *entries.next().unwrap_or(&mut moving) = by;
            };
            let along = Directions {
                list: directions,
                time: Time::Passes,
            };
            let done = self.linearise(t, x, mode, along, &mut take);
            (done && moving.is_finite() && out.iter().all(|entry| entry.is_finite()))
                .then_some(moving)
        })
    }

    /// Writes the derivatives of the slip in the plane where it begins or ends, by coordinates and velocities; false for
    /// other functions, and where it is faster. A slip that begins has the acceleration zero but for what the forces
    /// are beyond their cone. So its rate must be that of the accelerations, `T a + κ_t` with the same `κ_t`: that of
    /// a difference along the motion would be off by more.
    pub(crate) fn gradient_of_slip(
        &self,
        function: ContactFunction,
        [q, v]: [&[f64]; 2],
        mode: &Mode,
        out: &mut [f64],
    ) -> bool {
        let ContactFunction::Slip(j) = function else {
            return false;
        };
        let sign = f64::from(self.functions().slip(mode, j).sign);
        if self.functions().tangents != 1 || sign == 0.0 || self.friction(j) == 0.0 {
            return false;
        }
        let (system, nq) = (self.system(), q.len());
        let (by_coordinate, row) = out.split_at_mut(nq);
        system.tangent_rows(j, q, row);
        let terms: f64 = row.iter().zip(v).map(|(row, v)| (row * v).abs()).sum();
        if dot(row, v).abs() > AT_ONSET * terms {
            return false;
        }
        for entry in &mut *row {
            *entry *= sign;
        }
        by_coordinate.fill(0.0);
        if system.constant_tangents(j) {
            return true;
        }
        with_zeros(4 * nq + v.len(), |scratch| {
            let (along, work) = scratch.split_at_mut(nq);
            let speed = |q: &[f64]| sign * self.slip_velocity(j, q, v)[0];
            gradient(speed, q, by_coordinate, &mut work[..nq]);
            rate(system, q, v, along);
            let (bent, _) = tangent_curvature(system, j, [0, 1], q, v, work);
            let bent = sign * bent;
            let (off, square) = (bent - dot(by_coordinate, along), dot(along, along));
            if square > 0.0 {
                for (by, along) in by_coordinate.iter_mut().zip(&*along) {
                    *by += off / square * along;
                }
            }
        });
        true
    }

    /// How much the slip of a contact may be off, as the tolerances allow.
    pub(crate) fn error_of_slip(&self, j: usize, q: &[f64], v: &[f64]) -> f64 {
        let k = self.row_tangents();
        with_zeros(k * v.len(), |rows| {
            self.system().tangent_rows(j, q, rows);
            self.velocity_tolerance.of_rows(rows, v)
        })
    }

    /// True where a slip in space is too slow to have a direction that is known: where it stops.
    pub(crate) fn stops_in_space(&self, at: State<'_>, mode: &Mode) -> bool {
        let State { q, v, .. } = at;
        self.functions().tangents > 1
            && self.layout().closed(mode).any(|j| {
                let slip = self.functions().slip(mode, j);
                let [x, y] = self.slip_velocity(j, q, v);
                let least = (ONSET * self.rate_tolerance).max(self.least_slip(j, at));
                slip != Slip::NONE && !slip.begins && x.hypot(y) < least
            })
    }

    /// The speed below which the slip of a contact has no direction; zero in the plane.
    pub(crate) fn least_slip(&self, j: usize, State { t, q, v }: State<'_>) -> f64 {
        let k = self.row_tangents();
        if k < 2 {
            return 0.0;
        }
        with_zeros(k * v.len(), |rows| {
            self.system().tangent_rows(j, q, rows);
            let tolerance = &self.velocity_tolerance;
            let of_velocities = tolerance.least_slip(rows, v, self.rate_tolerance);
            of_velocities.max(unresolved_at(t))
        })
    }
}
