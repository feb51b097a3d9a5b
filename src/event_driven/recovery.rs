//! The work of a run between two parts of the core: touches are closed, contacts opened whose force fades, and
//! contacts struck together whose impacts no time resolves.

use super::breakdown::Breakdown;
use super::event::HELD;
use super::friction::candidates::{Aside, STAYS};
use super::friction::stopping::LastSlips;
use super::impact::Touching;
use super::impact::{Event, ImpactRule};
use crate::event_driven::Model;
use crate::impact::planar::modes::Known;
use crate::impact::{AnitescuPotra, ImpactFailure, Occasion, Selection};
use crate::lcp::LcpSolver;
use crate::linalg::dot;
use crate::mechanics::friction::contact_function::{ContactFunction, Slip};
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::motion::rates::change_rates;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::record::{ContactEvent, ContactEventKind};
use crate::{Interrupt, Mode, Statistics};

/// The place of a run: time, state and mode.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) t: f64,
    pub(crate) state: Vec<f64>,
    pub(crate) mode: Mode,
}

/// The limits that are left for what the driver does itself.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    /// Smooth steps, accepted or not.
    pub(crate) steps: usize,
    /// Memory of a trajectory (bytes).
    pub(crate) memory: usize,
    pub(crate) interrupt: Interrupt,
}

impl Model<'_> {
    /// Closes contacts together with those already closed, by a plastic impact that may pull.
    /// Contacts that approach after it take part in a second plastic impact, which only pushes.
    pub(crate) fn close(
        &self,
        contacts: &[usize],
        kind: ContactEventKind,
        last: LastSlips<'_>,
        place: &mut Place,
    ) -> Result<ContactEvent, Breakdown> {
        let before = place.mode.clone();
        let mut event = self.event_at(kind, place);
        event.activated = contacts.to_vec();
        let (t, state, mode) = (place.t, &mut place.state, &mut place.mode);
        let mut held = [&event.mode_before[..], contacts].concat();
        held.sort_unstable();
        held.dedup();
        let nq = self.system().coordinates();
        let touching = self.touching(&state[..nq], &held);
        let mut at = ContactsAt::default();
        super::onto_contacts::land(self, state, &[], &touching, &mut at);
        let mut further = Event::of(&touching, Vec::new(), at);
        let impulses = if self.any_friction(&touching) {
            self.stop_with_friction(t, state, &held, last, &mut further, mode)?
        } else {
            self.stop_by_pulling(t, state, &held, &mut further)?
        };
        // After a plastic impact no contact rebounds below what gaps resolve.
        for &j in &touching {
            self.set_closed(mode, j, true);
        }
        self.update_contacts(t, state, &mut further.settling(), mode)?;
        event.contacts = touching;
        event.impulses = impulses;
        further.tell_pushes(&mut event);
        Ok(self.finished(event, &before, place))
    }

    /// A plastic impact of `held`, which may pull, and one that only pushes of contacts that approach
    /// after it. Gives the normal impulses of those that touch.
    fn stop_by_pulling(
        &self,
        t: f64,
        state: &mut [f64],
        held: &[usize],
        event: &mut Event,
    ) -> Result<Vec<f64>, Breakdown> {
        let mut impulses = vec![0.0; event.touching.len()];
        let (q, v) = self.parts_mut(state);
        let plastic = self.in_frame(&mut event.at, q, held, |frame| {
            let mut p: Vec<f64> = (0..held.len()).map(|i| -dot(frame.row(i), v)).collect();
            let wanted = p.clone();
            if frame.solve_gram(&mut p, self.redundant)? {
                for (i, &p) in p.iter().enumerate() {
                    frame.push(i, p, v);
                }
            } else {
                change_rates(frame, &wanted, v);
            }
            Ok(p)
        })?;
        let plastic = plastic.map_err(|trouble| super::breakdown::explain(trouble, q, held))?;
        for (j, p) in held.iter().zip(plastic) {
            if let Some(i) = event.touching.iter().position(|k| k == j) {
                impulses[i] += p;
            }
        }
        event.new = self.approaching(&mut event.at, state, &event.touching);
        if event.is_impact() {
            self.apply_plastic_impact(Occasion { t, number: 0 }, state, event)?;
            for (sum, p) in impulses.iter_mut().zip(event.impulses()) {
                *sum += p;
            }
        }
        Ok(impulses)
    }

    /// The impact of [`stop_by_pulling`](Self::stop_by_pulling) with friction, which stands for all those
    /// up to the accumulation: slips lose what the sum of the normal impulses to come takes. Gives the impulses of
    /// the contacts that touch, normal ones first.
    fn stop_with_friction(
        &self,
        t: f64,
        state: &mut [f64],
        held: &[usize],
        last: LastSlips<'_>,
        event: &mut Event,
        mode: &Mode,
    ) -> Result<Vec<f64>, Breakdown> {
        let (places, m, k) = (event.touching.len(), held.len(), self.row_tangents());
        let mut impulses = vec![0.0; (1 + k) * places];
        let (q, v) = self.parts_mut(state);
        let found = self.stop_in_cones(t, q, v, held, last, mode)?.impulses;
        for (i, j) in held.iter().enumerate() {
            if let Some(place) = event.touching.iter().position(|k| k == j) {
                impulses[place] += found[i];
                for a in 0..k {
                    impulses[places + place * k + a] += found[m + i * k + a];
                }
            }
        }
        event.new = self.approaching(&mut event.at, state, &event.touching);
        if event.is_impact() {
            let rule = ImpactRule {
                law: &AnitescuPotra::new(),
                selection: &Selection::First,
            };
            self.apply_impact_with(rule, Occasion { t, number: 0 }, state, event)?;
            for (sum, p) in impulses.iter_mut().zip(event.impulses()) {
                *sum += p;
            }
        }
        Ok(impulses)
    }

    /// Opens a closed contact whose force falls to zero too slowly for a release.
    pub(crate) fn open(
        &self,
        contact: usize,
        place: &mut Place,
    ) -> Result<ContactEvent, Breakdown> {
        let before = place.mode.clone();
        let mut event = self.event_at(ContactEventKind::Touch, place);
        event.released = vec![contact];
        event.contacts.clone_from(&event.mode_before);
        let (t, state, mode) = (place.t, &mut place.state, &mut place.mode);
        let stays = |j: &usize| Known {
            stays: *j != contact,
            ..STAYS
        };
        let known: Vec<Known> = event.mode_before.iter().map(stays).collect();
        let mut touching = Touching {
            unlanded: &[],
            contacts: &event.mode_before,
            released: &[contact],
            known: &known,
            number: 0,
            aside: &mut Aside::default(),
            at: &mut ContactsAt::default(),
            solver: &mut LcpSolver::growing(),
        };
        self.update_contacts(t, state, &mut touching, mode)?;
        Ok(self.finished(event, &before, place))
    }

    /// In the plane: lets a contact stick whose slip has come to zero at a rate that is rounding. It slips by nothing,
    /// as a corner that a groove holds on both sides. None where no loads well within all cones hold it so.
    pub(crate) fn hold_idle_slip(&self, guard: usize, place: &mut Place) -> Option<ContactEvent> {
        let before = place.mode.clone();
        let ContactFunction::Slip(contact) = self.functions().function(guard, &before) else {
            return None;
        };
        let (q, v) = self.parts(&place.state);
        let [along, _] = self.slip_velocity(contact, q, v);
        if self.row_tangents() != 1 || along.abs() > self.rate_tolerance {
            return None;
        }
        let mut held = before.clone();
        self.set_contacting(&mut held, contact, Some(Slip::NONE));
        let margin = self.margin_of_loads(State { t: place.t, q, v }, &held)?;
        if margin.is_nan() || margin <= HELD {
            return None;
        }
        let mut event = self.event_at(ContactEventKind::Friction, place);
        event.contacts.clone_from(&event.mode_before);
        place.mode = held;
        Some(self.finished(event, &before, place))
    }

    /// One impact of all contacts that touch, for impacts that follow each other within the
    /// resolution of time. None when no contact approaches.
    pub(crate) fn strike_together(
        &self,
        place: &mut Place,
    ) -> Result<Option<ContactEvent>, Breakdown> {
        let before = place.mode.clone();
        let mut event = self.event_at(ContactEventKind::Contact, place);
        let (t, state, mode) = (place.t, &mut place.state, &mut place.mode);
        let nq = self.system().coordinates();
        let touching = self.touching(&state[..nq], &event.mode_before);
        let mut at = ContactsAt::default();
        super::onto_contacts::land(self, state, &event.mode_before, &touching, &mut at);
        let new = self.approaching(&mut at, state, &touching);
        let mut impact = Event::of(&touching, new, at);
        if !impact.is_impact() {
            return Ok(None);
        }
        self.apply_impact(Occasion { t, number: 0 }, state, &mut impact)?;
        self.update_contacts(t, state, &mut impact.settling(), mode)?;
        let approaches = touching.iter().zip(&impact.new).filter(|(_, new)| **new);
        event.activated = approaches.map(|(&j, _)| j).collect();
        impact.tell(&mut event);
        Ok(Some(self.finished(event, &before, place)))
    }

    /// True for an impact that accumulates at one instant: a body rattles between contacts that
    /// squeeze it, or is thrown to and fro with losses more often than the cap of the law.
    pub(crate) fn is_endless(&self, error: &Breakdown) -> bool {
        let Breakdown::Impact {
            contacts,
            reason,
            state,
            ..
        } = error
        else {
            return false;
        };
        let (q, v) = self.parts(state);
        match **reason {
            ImpactFailure::Squeezed { .. } | ImpactFailure::NoFeasibleInterior { .. } => true,
            ImpactFailure::ReflectionCap { .. } => contacts
                .iter()
                .all(|&j| self.system().restitution(j, q, v) < 1.0),
            _ => false,
        }
    }

    /// The contacts with zero gaps, closed or not, without those that part faster than the
    /// tolerance.
    pub(crate) fn touching_and_not_parting(&self, place: &Place) -> Vec<usize> {
        let nq = self.system().coordinates();
        let mut touching = self.touching(&place.state[..nq], &self.closed(&place.mode));
        let rates = self.approach(&mut ContactsAt::default(), &place.state, &touching);
        let mut rates = rates.iter();
        touching.retain(|_| rates.next().is_none_or(|&rate| rate <= self.rate_tolerance));
        touching
    }

    /// The contacts in `also`, and those whose gaps are zero.
    fn touching(&self, q: &[f64], also: &[usize]) -> Vec<usize> {
        let touches =
            |j: &usize| also.contains(j) || self.system().gap(*j, q).abs() <= self.gap_tolerance;
        (0..self.system().contacts()).filter(touches).collect()
    }

    fn event_at(&self, kind: ContactEventKind, place: &Place) -> ContactEvent {
        ContactEvent {
            mode_before: self.closed(&place.mode),
            state_before: place.state.clone(),
            ..ContactEvent::new(place.t, kind)
        }
    }

    /// The entry of the log, with what changed since `before`.
    fn finished(&self, mut event: ContactEvent, before: &Mode, place: &Place) -> ContactEvent {
        event.activated.retain(|&j| !self.is_closed(before, j));
        self.functions()
            .note_changes(&mut event, before, &place.mode);
        if event.approach.is_empty() {
            let at = &mut ContactsAt::default();
            event.approach = self.approach(at, &event.state_before, &event.contacts);
        }
        ContactEvent {
            mode_after: self.closed(&place.mode),
            state_after: place.state.clone(),
            ..event
        }
    }
}

/// The sums of two counts.
pub(crate) fn add(a: Statistics, b: Statistics) -> Statistics {
    Statistics {
        flow: a.flow + b.flow,
        flip: a.flip + b.flip,
        events: a.events + b.events,
        event: a.event + b.event,
        gradient: a.gradient + b.gradient,
        windows: a.windows + b.windows,
        narrowed: a.narrowed + b.narrowed,
        unresolved: a.unresolved + b.unresolved,
        doubts: a.doubts + b.doubts,
        steps: a.steps + b.steps,
        rejections: a.rejections + b.rejections,
        projections: a.projections + b.projections,
        projections_failed: a.projections_failed + b.projections_failed,
        repairs: a.repairs + b.repairs,
        locations: a.locations + b.locations,
        crossings: a.crossings + b.crossings,
        resets: a.resets + b.resets,
        rulings: a.rulings + b.rulings,
    }
}
