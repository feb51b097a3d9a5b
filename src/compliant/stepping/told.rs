//! Reports of a run of the compliant driver: its steps, and which contacts press.

use super::state::{Core, Telling};
use crate::compliant::StepSolution;
use crate::record::{ContactEvent, ContactEventKind, Told};
use crate::{Doubt, Observer};

/// Overlap, by the radius of the smaller body, from which a contact lies too deep.
const SUNK: f64 = 0.1;

/// Error of friction that goes without saying.
const BALANCED: f64 = 1e-3;

impl Core {
    /// The state now as the start of a run. Flags of its modes are on for contacts that press;
    /// there are none where the model does not number them.
    pub(super) fn told(&self) -> Told {
        let mut told = Told::new(self.q.len() + self.v.len(), self.numbered);
        told.stand_at(self.t, &self.q, &self.v);
        told.begin_with(&self.pressing, None);
        told
    }

    /// Reports what is doubtful of the step that was made.
    pub(super) fn tell_doubts(&mut self, told: &mut Told, observer: &mut dyn Observer) {
        let t = told.now().t;
        let errors = self.solutions().map(StepSolution::friction_error);
        let error = errors.fold(0.0, f64::max);
        if error > BALANCED {
            told.doubt(&Doubt::Friction { t, error }, observer);
        }
        if let Telling::Due(doubt) = self.once.apart {
            told.doubt(&doubt, observer);
            self.once.apart = Telling::Done;
        }
        if self.once.sunk {
            return;
        }
        let shares = self.contacts.all_parameters().iter().filter_map(|of| {
            let share = of.size.map_or(0.0, |size| -of.gap / size);
            (share > SUNK).then_some((of, share))
        });
        if let Some((of, share)) = shares.max_by(|a, b| a.1.total_cmp(&b.1)) {
            self.once.sunk = true;
            let doubt = Doubt::Sunk {
                contact: of.contact,
                t,
                depth: -of.gap,
                share,
            };
            told.doubt(&doubt, observer);
        }
    }

    /// Reports the step that was made, and the contacts that press from its end on.
    pub(super) fn tell_step(&self, told: &mut Told, observer: &mut dyn Observer) {
        told.count_step();
        told.segment(self.t, observer, |state| {
            let (q, v) = state.split_at_mut(self.q.len());
            q.copy_from_slice(&self.q);
            v.copy_from_slice(&self.v);
        });
        // Numbers beyond the contacts of the model are not reported.
        let pressing = || self.pressing.iter().copied().filter(|j| *j < self.numbered);
        let before = told.now().mode;
        if before.flags().eq(pressing()) {
            return;
        }
        let mut event = ContactEvent::new(self.t, ContactEventKind::Contact);
        event.mode_before = before.flags().collect();
        event.mode_after = pressing().collect();
        event.activated = pressing().filter(|j| !before.flag(*j)).collect();
        let has_left = |j: &usize| self.pressing.binary_search(j).is_err();
        event.released = before.flags().filter(has_left).collect();
        event.state_before = told.now().state.to_vec();
        event.state_after.clone_from(&event.state_before);
        told.event(&event, observer);
    }
}
