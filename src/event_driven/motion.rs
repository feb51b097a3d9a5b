//! The motion between events: accelerations, and the multipliers that hold the closed contacts
//! (Pace & Burden, eq. 2 and 2').

use super::projection;
use crate::event_driven::Model;
use crate::linalg::scratch::with_list;
use crate::mechanics::acceleration::Purpose;
use crate::mechanics::configuration;
use crate::mechanics::contact_model::gather_closed;
use crate::mechanics::motion::ClosedContacts;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::{Flow, InputError, Mode};

/// Forces of the closed contacts.
#[derive(Clone, Debug, PartialEq)]
pub struct Multipliers {
    values: Vec<f64>,
    unique: bool,
}

impl Multipliers {
    /// `λ`, one entry a contact, zero for those that are open; positive where they push (N for a
    /// gap in metres).
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// False when contacts depend on each other: then these are the multipliers of least norm, one
    /// choice of many.
    pub fn are_unique(&self) -> bool {
        self.unique
    }
}

impl Model<'_> {
    /// See [`multipliers`](crate::ContactModel::multipliers).
    pub(crate) fn contact_forces(&self, t: f64, state: &[f64], mode: &Mode) -> Multipliers {
        let n = self.system().contacts();
        if state.len() != self.dim() || (mode.len(), mode.flag_count()) != (n, n) {
            let values = vec![f64::NAN; n];
            let unique = false;
            return Multipliers { values, unique };
        }
        let (q, v) = self.parts(state);
        let mut values = vec![0.0; n];
        let mut acceleration = vec![0.0; v.len()];
        let state = State { t, q, v };
        let unique = self.motion(
            state,
            mode,
            &mut acceleration,
            Some(&mut values),
            Purpose::Motion,
        );
        Multipliers { values, unique }
    }

    /// Accelerations and multipliers at a state in `mode`; NaN where there are none.
    /// `multipliers` has one entry a contact, zero for those that are open.
    /// True when they are unique.
    pub(crate) fn motion(
        &self,
        state: State<'_>,
        mode: &Mode,
        acceleration: &mut [f64],
        multipliers: Option<&mut [f64]>,
        purpose: Purpose,
    ) -> bool {
        let n = self.system().contacts();
        with_list(n, |closed| {
            let closed = self.closed_contacts(gather_closed(mode, closed), purpose);
            let (fixed, system) = (&self.bodies.fixed, &self.bodies.system.system);
            system.motion(fixed, state, closed, acceleration, multipliers)
        })
    }

    /// Writes the derivatives of `(q̇, q̈)` along each direction. False when there is no
    /// acceleration or the multipliers are not unique.
    pub(crate) fn motion_along_each(
        &self,
        t: f64,
        x: &[f64],
        mode: &Mode,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        with_list(self.system().contacts(), |closed| {
            let closed = self.closed_contacts(gather_closed(mode, closed), Purpose::Motion);
            let (fixed, system) = (&self.bodies.fixed, &self.bodies.system.system);
            system.motion_along(fixed, t, x, closed, directions, out)
        })
    }

    fn closed_contacts<'a>(&'a self, list: &'a [usize], purpose: Purpose) -> ClosedContacts<'a> {
        ClosedContacts {
            list,
            redundant: self.redundant,
            purpose,
            last: &self.last_contacts,
        }
    }
}

impl Flow for Model<'_> {
    fn dim(&self) -> usize {
        self.bodies.fixed.nq + self.bodies.fixed.d
    }

    fn validate(&self) -> Result<(), InputError> {
        self.check_options()
    }

    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let ((q, v), (dq, dv)) = (self.parts(x), self.parts_mut(dx));
        if self.bodies.fixed.identity {
            configuration::copy(v, dq);
        } else {
            configuration::rate(self.system(), q, v, dq);
        }
        self.motion(State { t, q, v }, mode, dv, None, Purpose::Motion);
    }

    fn jacobian_times(&self, t: f64, x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        self.motion_along_each(t, x, mode, v, out)
    }

    fn jacobian_times_each(
        &self,
        t: f64,
        x: &[f64],
        mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        self.motion_along_each(t, x, mode, v, out)
    }

    fn flow_time_scale(&self) -> Option<f64> {
        self.system().time_scale()
    }

    fn correct(&self, _t: f64, x: &mut [f64], mode: &Mode) -> bool {
        projection::correct(self, x, mode)
    }
}
