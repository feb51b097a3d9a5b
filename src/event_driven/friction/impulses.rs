//! The smooth motion of a timeline: the state is `(q, v, Λ)`, since the impulses of all contacts,
//! normal ones first, are integrated with it.

use std::ops::RangeInclusive;

use crate::event_driven::Model;
use crate::impact::Contacting;
use crate::mechanics::friction::contact_function::Slip;
use crate::mechanics::friction::forces::Dependent;
use crate::mechanics::{MechanicalSystem, State, configuration};
use crate::{EventFunction, Flow, Mode, Watch};

/// A model between events.
pub(super) struct Motion<'a> {
    pub(super) model: &'a Model<'a>,
    /// False for a motion without event functions.
    pub(super) is_watched: bool,
}

impl Motion<'_> {
    /// The mode with these contact modes, one a contact.
    pub(super) fn mode(&self, of: &[Contacting]) -> Mode {
        let mut mode = self.model.mode(&[]);
        for (j, of) in of.iter().enumerate() {
            self.model.set_contacting(&mut mode, j, Slip::of(*of));
        }
        if self.is_watched {
            return mode;
        }
        let mut unwatched = Mode::new(0).with_flags(mode.flag_count());
        mode.flags().for_each(|flag| unwatched.set_flag(flag, true));
        unwatched
    }

    /// The state without the impulses.
    pub(super) fn state<'x>(&self, t: f64, x: &'x [f64]) -> State<'x> {
        let (q, v) = self.model.parts(&x[..self.model.dim()]);
        State { t, q, v }
    }
}

impl Flow for Motion<'_> {
    fn dim(&self) -> usize {
        self.model.dim() + 2 * self.model.layout().contacts
    }

    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let state = self.state(t, x);
        let (dq, rest) = dx.split_at_mut(state.q.len());
        configuration::rate(self.model.system(), state.q, state.v, dq);
        let (dv, impulses) = rest.split_at_mut(state.v.len());
        let (push, along) = impulses.split_at_mut(self.model.layout().contacts);
        self.model.with_forces(Dependent::Forces, |forces| {
            self.model
                .motion_with_friction(state, mode, Some(dv), Some(&mut *forces));
            push.copy_from_slice(forces.push);
            along.copy_from_slice(forces.along);
        });
    }

    fn flow_time_scale(&self) -> Option<f64> {
        MechanicalSystem::time_scale(self.model.system())
    }

    fn correct(&self, _t: f64, x: &mut [f64], mode: &Mode) -> bool {
        self.model.hold_in_mode(&mut x[..self.model.dim()], mode)
    }
}

impl EventFunction for Motion<'_> {
    fn count(&self) -> usize {
        if self.is_watched {
            self.model.count()
        } else {
            0
        }
    }

    fn flags(&self) -> usize {
        self.model.flags()
    }

    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        let function = self.model.functions().function(k, mode);
        self.model
            .function_in_mode(function, self.state(t, x), mode)
    }

    fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        if !h.is_empty() {
            self.model.functions_in_mode(self.state(t, x), mode, h);
        }
    }

    fn watch(&self, _k: usize) -> Watch {
        Watch::FALLING.and_stop()
    }

    fn event_tolerance(&self, k: usize) -> f64 {
        self.model.event_tolerance(k)
    }

    fn admissible(&self, k: usize, mode: &Mode) -> RangeInclusive<f64> {
        self.model.admissible(k, mode)
    }

    fn time_scale(&self, _k: usize) -> Option<f64> {
        MechanicalSystem::time_scale(self.model.system())
    }
}
