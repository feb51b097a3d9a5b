//! The values of the event functions of contacts with friction: what ends a mode.

use super::forces::{Forces, slip_sign};
use crate::Mode;
use crate::impact::Contacting;
use crate::linalg::dot;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::contact_model::Model;
use crate::mechanics::friction::contact_function::ContactFunction;
use crate::mechanics::{State, UnilateralConstraints};

/// Distance of the loads from the cone of forces, as a part of them, at which a mode ends: more
/// than the mode problem tolerates.
const BEYOND: f64 = 2e-9;

/// The value of a function that the mode does not arm.
const NOT_ARMED: f64 = 1.0;

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
            ContactFunction::Slip(j) => self.slip_in_mode(j, state, mode),
            ContactFunction::Gap(_) => NOT_ARMED,
            ContactFunction::Force(j) if is_open(j) => NOT_ARMED,
            ContactFunction::Cone { contact, .. }
                if self.contacting(mode, contact) != Contacting::Stick =>
            {
                NOT_ARMED
            }
            _ => self.with_forces(|forces| {
                self.motion_with_friction(state, mode, None, Some(&mut *forces));
                self.margin(function, forces)
            }),
        }
    }

    /// Writes the values of all functions.
    pub(crate) fn functions_in_mode(&self, state: State<'_>, mode: &Mode, h: &mut [f64]) {
        let n = self.layout().contacts;
        h.fill(NOT_ARMED);
        for (j, gap) in h.iter_mut().enumerate().take(n) {
            if !self.is_closed(mode, j) {
                *gap = self.system().gap(j, state.q);
            }
        }
        if self.layout().closed(mode).next().is_none() {
            return;
        }
        self.with_forces(|forces| {
            self.motion_with_friction(state, mode, None, Some(&mut *forces));
            let mut write = |function: ContactFunction| {
                h[function.index(n)] = self.margin(function, forces);
            };
            write(ContactFunction::Loads);
            for j in self.layout().closed(mode) {
                write(ContactFunction::Force(j));
                if self.contacting(mode, j) == Contacting::Stick {
                    for slip in [-1, 1] {
                        write(ContactFunction::Cone { contact: j, slip });
                    }
                }
            }
        });
        for j in self.layout().closed(mode) {
            h[ContactFunction::Slip(j).index(n)] = self.slip_in_mode(j, state, mode);
        }
    }

    /// How far the loads lie outside of the cones of forces, as a part of them; none where forces are
    /// unique.
    pub(crate) fn beyond(&self, state: State<'_>, mode: &Mode) -> Option<f64> {
        self.with_forces(|forces| {
            self.motion_with_friction(state, mode, None, Some(&mut *forces));
            forces.distance
        })
    }

    /// A force or a margin of the cone of a closed contact. Where forces are not unique the loads
    /// stand for all of them.
    fn margin(&self, function: ContactFunction, forces: &Forces<'_>) -> f64 {
        match (function, forces.distance) {
            (ContactFunction::Loads, Some(distance)) => BEYOND - distance,
            (ContactFunction::Force(j), None) => forces.push[j] + forces.raised[j],
            (ContactFunction::Cone { contact, slip }, None) => {
                let mu = self.friction(contact);
                let raised = (1.0 + mu) * forces.raised[contact];
                mu * forces.push[contact] + f64::from(slip) * forces.along[contact] + raised
            }
            _ => NOT_ARMED,
        }
    }

    /// The speed of the slip in its direction, of a contact that slips with friction.
    fn slip_in_mode(&self, j: usize, State { q, v, .. }: State<'_>, mode: &Mode) -> f64 {
        let sign = slip_sign(self.contacting(mode, j));
        if sign == 0.0 || self.friction(j) == 0.0 {
            return NOT_ARMED;
        }
        with_zeros(v.len(), |row| {
            self.system().tangent_rows(j, q, row);
            sign * dot(row, v)
        })
    }
}
