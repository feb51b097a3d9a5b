//! The event of a state, as its neighbours have it.

use crate::event_driven::Model;
use crate::event_driven::impact::{Event, occasion};
use crate::impact::Occasion;
use crate::mechanics::UnilateralConstraints;
use crate::mechanics::motion::coarse_steps::Coarse;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::{Crossed, Mode};

/// The contacts of an event at nearby states.
pub(super) struct NearbyEvent {
    pub(super) occasion: Occasion,
    /// The contacts that take part.
    pub(super) touching: Vec<usize>,
    /// True for those that were open until then.
    pub(super) new: Vec<bool>,
    /// Their speeds of approach.
    pub(super) approach: Vec<f64>,
    pub(super) restitution: Vec<f64>,
    pub(super) mode_before: Mode,
    pub(super) mode_after: Mode,
    /// How coarse the rows of its contacts are.
    pub(super) coarse: Coarse,
}

impl Model<'_> {
    /// The event as nearby states have it. An open resting contact takes part only if its impulse
    /// is positive; nearby states of the others separate. None when there is no outcome.
    pub(super) fn event_nearby(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &Mode,
    ) -> Option<NearbyEvent> {
        let (mut after, mut mode_after) = (x.to_vec(), mode.clone());
        let mut event = Event::default();
        self.resolve_event(t, crossed, &mut after, &mut mode_after, &mut event)
            .ok()?;
        // An impact without collision is no part of the impact that is repeated beside this state. What holds low
        // rebounds is: contacts come to rest in the mode behind it there as here.
        if event.aside.pushes.iter().any(|push| push.without_collision) {
            return None;
        }
        let stays = |i: &usize| {
            let open = !event.new[*i] && !self.is_closed(mode, event.touching[*i]);
            let pressed = event.impulses().get(*i).is_none_or(|&p| p > 0.0);
            !open || pressed
        };
        let taking_part: Vec<usize> = (0..event.touching.len()).filter(stays).collect();
        let touching: Vec<usize> = taking_part.iter().map(|&i| event.touching[i]).collect();
        Some(NearbyEvent {
            occasion: occasion(t, crossed),
            new: taking_part.iter().map(|&i| event.new[i]).collect(),
            approach: self.approach(&mut ContactsAt::default(), x, &touching),
            restitution: self.restitutions(x, &touching),
            mode_before: mode.clone(),
            mode_after,
            coarse: self.coarseness_of_rows(x, &touching),
            touching,
        })
    }

    /// Rows that nobody wrote are differences themselves.
    fn coarseness_of_rows(&self, x: &[f64], contacts: &[usize]) -> Coarse {
        let (q, v) = self.parts(x);
        let mut row = vec![0.0; v.len()];
        let mut all = contacts.iter();
        if all.all(|&j| self.system().gap_row(j, q, &mut row)) {
            Coarse::WRITTEN
        } else {
            Coarse::FIRST
        }
    }

    pub(super) fn restitutions(&self, x: &[f64], contacts: &[usize]) -> Vec<f64> {
        let (q, v) = self.parts(x);
        let of = |&j: &usize| self.system().restitution(j, q, v);
        contacts.iter().map(of).collect()
    }
}
