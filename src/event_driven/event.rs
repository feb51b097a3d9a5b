//! What happens at one instant, the start of a run or an event: which contacts take part, the impact if
//! some of them close, and which of them stay closed (Pace & Burden, eq. 3 and section 3.4).

use super::breakdown::Breakdown;
use super::friction::candidates::STAYS;
use super::friction::meeting::TOGETHER;
use super::impact::{Event, occasion};
use super::onto_contacts;
use crate::event_driven::Model;
use crate::impact::Occasion;
use crate::impact::planar::modes::Known;
use crate::linalg::scratch::{with_list, with_zeros};
use crate::mechanics::contact_model::gather_closed;
use crate::mechanics::friction::contact_function::{ContactFunction, Slip};
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{State, UnilateralConstraints};
use crate::{At, Crossed, InputError, Mode, Quantity, Start, Stop};

/// Loads lie within their cones by more than this part of them, and not on the border.
pub(super) const HELD: f64 = 1e-6;

/// The start of a run of a [`ContactModel`](crate::ContactModel) system: state and mode, after an
/// impact if the start is one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SettledStart {
    /// Time (s).
    pub t: f64,
    /// `(q, v)`, with `q` on its manifold
    /// ([`project_configuration`](crate::mechanics::MechanicalSystem::project_configuration)); gaps
    /// within the tolerance that do not open are brought to zero.
    pub state: Vec<f64>,
    /// Sides and closed contacts.
    pub mode: Mode,
    /// Contacts with gaps of zero.
    pub touching: Vec<usize>,
    /// Contacts of `touching` that approached: the start is an impact when there are any.
    pub activated: Vec<usize>,
}

impl SettledStart {
    /// The start of a run of the core [`Integrator`](crate::Integrator) from here.
    pub fn as_start(&self) -> Start<'_> {
        Start::at(self.t).x(&self.state).mode(&self.mode)
    }
}

impl Model<'_> {
    /// See [`start`](crate::ContactModel::start); and what its impact did.
    pub(crate) fn recorded_start(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<(SettledStart, Event), Breakdown> {
        self.start_by(t, q, v, |state, event| {
            self.apply_impact(Occasion { t, number: 0 }, state, event)
        })
    }

    /// Likewise, with a plastic impact.
    pub(crate) fn plastic_start(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<(SettledStart, Event), Breakdown> {
        self.start_by(t, q, v, |state, event| {
            self.apply_plastic_impact(Occasion { t, number: 0 }, state, event)
        })
    }

    fn start_by(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
        impact: impl FnOnce(&mut [f64], &mut Event) -> Result<(), Breakdown>,
    ) -> Result<(SettledStart, Event), Breakdown> {
        self.check_options()?;
        let mut state = self.checked_state(t, q, v)?;
        let (q, v) = (&self.parts(&state).0.to_vec()[..], v);
        let mut at = ContactsAt::default();
        self.check_mass(&mut at, q)?;
        self.check_coefficients(State { t, q, v })?;
        let n = self.system().contacts();
        let mut mode = self.mode(&[]);
        let mut touching = Vec::new();
        for j in 0..n {
            self.checked_restitution(j, t, q, v)?;
            let gap = self.system().gap(j, q);
            if !gap.is_finite() {
                return Err(Breakdown::Stop(Stop::NotFinite {
                    quantity: Quantity::Gap { contact: j },
                    at: At::new(t, &state, &mode).into(),
                }));
            }
            if !self.admissible_gaps().contains(&gap) {
                return Err(Breakdown::Input(InputError::NegativeGap {
                    contact: j,
                    gap,
                    t,
                }));
            }
            if gap <= self.gap_tolerance {
                touching.push(j);
            }
        }
        // Gaps of contacts that do not open are set to zero: with a rounding error left, the run
        // would see a touch or a negative gap.
        let rates = self.approach(&mut at, &state, &touching);
        let lands = |&(&j, rate): &(&usize, &f64)| {
            let opens = *rate > self.rate_tolerance;
            !opens || self.system().gap(j, q) < 0.0
        };
        let landing = touching.iter().zip(&rates).filter(lands);
        let landing: Vec<usize> = landing.map(|(&j, _)| j).collect();
        onto_contacts::land(self, &mut state, &[], &landing, &mut at);
        let approaching = self.approaching(&mut at, &state, &touching);
        let rests = |j: &usize| self.rests(&mut at, *j, &state);
        let resting: Vec<usize> = touching.iter().copied().filter(rests).collect();
        let mut event = Event::of(&touching, approaching, at);
        if event.is_impact() {
            impact(&mut state, &mut event)?;
        }
        // Contacts at rest count as closed in the impact, as they do later in the run.
        for &j in &resting {
            self.set_closed(&mut mode, j, true);
        }
        self.update_contacts(t, &mut state, &mut event.settling(), &mut mode)?;
        let approached = touching.iter().zip(&event.new).filter(|(_, new)| **new);
        let start = SettledStart {
            t,
            activated: approached.map(|(&j, _)| j).collect(),
            state,
            mode,
            touching,
        };
        Ok((start, event))
    }

    /// Notes the contacts that take part in an event, which of them were open until now, and which
    /// are released. An open contact with a gap of zero takes part when it is at rest. One that
    /// closes is an event of its own, unless it is among those that cross, has sunk unseen, or is
    /// `stopped` by the impact of others.
    fn take_part(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &Mode,
        stopped: &[usize],
        event: &mut Event,
    ) {
        event.clear();
        event.number = crossed.transition() + 1;
        let functions = self.functions();
        for j in 0..functions.contacts {
            let closed = self.is_closed(mode, j);
            let stops = stopped.contains(&j);
            let crosses = crossed.contains(functions.along_normal(mode, j))
                || self.slides() && !closed && self.has_sunk(&mut event.at, j, x)
                || stops && !closed && self.closes(&mut event.at, j, x);
            if closed || crosses || stops || self.takes_part_open(&mut event.at, j, x) {
                event.touching.push(j);
                event.new.push(crosses && !closed);
            }
            if closed && crosses {
                event.released.push(j);
            }
            if event.is_beside && crosses && !closed {
                event.unlanded.push(j);
            }
        }
        if self.slides() {
            self.note_known(t, crossed, x, mode, event);
        }
    }

    /// True when an open contact approaches beyond its surface: one that was released and has never been clear of it
    /// has no crossing of its own.
    fn has_sunk(&self, at: &mut ContactsAt, contact: usize, x: &[f64]) -> bool {
        let (q, _) = self.parts(x);
        self.system().gap(contact, q) < -self.gap_tolerance && self.closes(at, contact, x)
    }

    /// True when a gap closes faster than the tolerance.
    fn closes(&self, at: &mut ContactsAt, contact: usize, x: &[f64]) -> bool {
        let mut rate = [0.0];
        self.approach_into(at, x, &[contact], &mut rate);
        rate[0] < -self.rate_tolerance
    }

    /// True when an open contact takes part: with a gap of zero at rest, and with friction where it
    /// parts too, since an impact may stop it.
    fn takes_part_open(&self, at: &mut ContactsAt, contact: usize, x: &[f64]) -> bool {
        if !self.slides() {
            return self.rests(at, contact, x);
        }
        let ((q, _), mut rate) = (self.parts(x), [0.0]);
        self.system().gap(contact, q).abs() <= self.gap_tolerance && {
            self.approach_into(at, x, &[contact], &mut rate);
            rate[0] >= -self.rate_tolerance
        }
    }

    /// Notes what decides on the modes of contacts with friction: which of them have just left their
    /// cones, and which stay closed where that makes no difference.
    fn note_known(&self, t: f64, crossed: &Crossed<'_>, x: &[f64], mode: &Mode, event: &mut Event) {
        let functions = self.functions();
        let crosses = |function: ContactFunction| crossed.contains(functions.index(function));
        // One that left its cone a moment ago may still slip so little that it counts as at rest.
        let goes_on = |j: usize| {
            let slips = functions.slip(mode, j) != Slip::NONE;
            slips && !crosses(ContactFunction::Slip(j)) && self.speeds_up(t, x, mode, j)
        };
        // In space contacts that hold the same motion as others stay closed with them.
        let has_forces = functions.tangents > 1 || !crosses(ContactFunction::Loads);
        event.known.clear();
        for (&j, new) in event.touching.iter().zip(&event.new) {
            let held = self.is_closed(mode, j) && !event.released.contains(&j) && has_forces;
            let left = |slip: i8| crosses(ContactFunction::Cone { contact: j, slip });
            let sides = functions.cone().iter();
            // In space, with one margin for all directions, any sign says that it slips.
            let side = |&slip: &i8| if left(slip) { slip.signum() | 1 } else { 0 };
            // A force that falls through zero lets go; that others hold the contact again is tried after that.
            let lets_go = event.released.contains(&j);
            let left: i8 = sides.map(side).sum();
            let slip = if left == 0 && goes_on(j) {
                functions.slip(mode, j).sign
            } else {
                left
            };
            event.known.push(Known {
                normal: i8::from(lets_go),
                slip,
                stays: held || *new,
                yields: false,
            });
        }
    }

    /// True where a contact slips so little that it counts as at rest, but ever faster.
    fn speeds_up(&self, t: f64, x: &[f64], mode: &Mode, j: usize) -> bool {
        let (q, v) = self.parts(x);
        let [along, across] = self.slip_velocity(j, q, v);
        // What is faster is seen to slip.
        let slow = (TOGETHER * self.least_slip(j, State { t, q, v })).max(self.rate_tolerance);
        let is_slow = along.hypot(across) <= slow;
        is_slow
            && with_zeros(v.len(), |acceleration| {
                let at = State { t, q, v };
                self.motion_with_friction(at, mode, Some(&mut *acceleration), None);
                let slip = self.functions().slip(mode, j);
                slip.along(self.slip_velocity(j, q, acceleration)) > 0.0
            })
    }

    /// Lets the event happen: the impact, if contacts close, and which of them stay closed.
    pub(crate) fn resolve_event(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &mut [f64],
        mode: &mut Mode,
        event: &mut Event,
    ) -> Result<(), Breakdown> {
        event.mode_before.copy_from(mode);
        with_zeros(x.len(), |before| {
            before.copy_from_slice(x);
            let mut stopped = Vec::new();
            loop {
                match self.resolve_with(t, crossed, x, mode, &stopped, event) {
                    Ok(()) => {
                        // Contacts that take part are not found again.
                        let more = self.stopped_beside(x, mode, event);
                        if more.is_empty() {
                            return Ok(());
                        }
                        stopped.extend(more);
                        x.copy_from_slice(before);
                        mode.copy_from(&event.mode_before);
                    }
                    Err(error) if stopped.is_empty() => return Err(error),
                    Err(_) => {
                        // Without them there is an outcome.
                        x.copy_from_slice(before);
                        mode.copy_from(&event.mode_before);
                        return self.resolve_with(t, crossed, x, mode, &[], event);
                    }
                }
            }
        })
    }

    /// [`resolve_event`](Self::resolve_event) with contacts beside it that are known to be stopped by it.
    pub(super) fn resolve_with(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &mut [f64],
        mode: &mut Mode,
        stopped: &[usize],
        event: &mut Event,
    ) -> Result<(), Breakdown> {
        self.take_part(t, crossed, x, mode, stopped, event);
        let occasion = occasion(t, crossed);
        let mut parting = self.parting_open(x, mode, event);
        parting.retain(|j| !stopped.contains(j));
        // In flight they are left as they are, and the next crossings of their gaps with them.
        event.leave_out(&parting);
        if parting.is_empty() || !event.is_impact() {
            self.land_and_strike(occasion, x, mode, event)?;
        } else {
            with_zeros(x.len(), |before| {
                before.copy_from_slice(x);
                if self.land_and_strike(occasion, x, mode, event).is_ok() {
                    return Ok(());
                }
                x.copy_from_slice(before);
                self.take_part(t, crossed, x, mode, stopped, event);
                self.land_and_strike(occasion, x, mode, event)
            })?;
        }
        if event.is_impact() {
            // A contact with a positive impulse is not released.
            let mut released = std::mem::take(&mut event.released);
            let place = |j: &usize| event.touching.iter().position(|k| k == j);
            released.retain(|j| place(j).is_none_or(|i| event.impulses()[i] <= 0.0));
            event.released = released;
            // Contacts with friction that an impact may hold are decided by what follows it.
            event.known.fill(STAYS);
        } else {
            event.approach.resize(event.touching.len(), 0.0);
            let (at, rates) = (&mut event.at, &mut event.approach);
            self.approach_into(at, x, &event.touching, rates);
            if self.lets_end(t, crossed, x, mode) || self.lets_go_on(crossed, x, mode) {
                return Ok(());
            }
        }
        // Which forces fall first says nothing where none hold the contacts: all are decided by the
        // motion.
        event.is_unheld =
            !event.released.is_empty() && self.is_unheld(t, x, mode, &mut event.at)?;
        if event.is_unheld {
            event.released.clear();
        }
        let loads = ContactFunction::Loads;
        if self.slides() && !event.is_impact() && crossed.contains(self.functions().index(loads)) {
            return self.release_loads(t, x, mode, event);
        }
        self.release(t, x, &mut event.settling(), mode)
    }

    /// The open contacts beside an impact that stand still after it, with gaps of zero: it is theirs too. They would
    /// have no event of their own, since they close no farther.
    fn stopped_beside(&self, x: &[f64], mode: &Mode, event: &mut Event) -> Vec<usize> {
        if !event.is_impact() {
            return Vec::new();
        }
        let Event { touching, at, .. } = event;
        let mut stands =
            |j: &usize| !self.is_closed(mode, *j) && !touching.contains(j) && self.rests(at, *j, x);
        (0..self.functions().contacts).filter(&mut stands).collect()
    }

    /// The open contacts that part meanwhile. They have struck a moment ago, most of them, and are left
    /// out: an impact that turns them round makes an event of their own of them. Only one that stops them
    /// is theirs too.
    fn parting_open(&self, x: &[f64], mode: &Mode, event: &mut Event) -> Vec<usize> {
        let Event {
            touching, new, at, ..
        } = event;
        if !self.slides() {
            return Vec::new();
        }
        let parts = |&(&j, &new): &(&usize, &bool)| {
            let mut rate = [0.0];
            !new && !self.is_closed(mode, j) && {
                self.approach_into(at, x, &[j], &mut rate);
                rate[0] > self.rate_tolerance
            }
        };
        let parting = touching.iter().zip(&*new).filter(parts);
        parting.map(|(&j, _)| j).collect()
    }

    /// Brings the contacts that take part onto their surfaces, and strikes those that close.
    fn land_and_strike(
        &self,
        occasion: Occasion,
        x: &mut [f64],
        mode: &Mode,
        event: &mut Event,
    ) -> Result<(), Breakdown> {
        with_list(self.system().contacts(), |space| {
            let closed = gather_closed(mode, space);
            if event.unlanded.is_empty() {
                onto_contacts::land(self, x, closed, &event.touching, &mut event.at);
                return;
            }
            let mut landing = event.touching.clone();
            landing.retain(|j| !event.unlanded.contains(j));
            onto_contacts::land(self, x, closed, &landing, &mut event.at);
        });
        if event.is_impact() {
            self.apply_impact(occasion, x, event)?;
        }
        Ok(())
    }

    /// [`release`](Self::release) where loads of contacts that depend on each other have come to the border of
    /// their cones. Contacts that begin to slip mostly stay closed all of them, since loads within the
    /// cones hold them then; with fewer of them closed the others would touch without a force, and errors
    /// would press them in. Where no such loads are found the motion decides which stay.
    fn release_loads(
        &self,
        t: f64,
        x: &mut [f64],
        mode: &mut Mode,
        event: &mut Event,
    ) -> Result<(), Breakdown> {
        let (x_before, mode_before) = (x.to_vec(), mode.clone());
        let known = event.known.clone();
        for known in &mut event.known {
            known.stays = true;
        }
        if self.release(t, x, &mut event.settling(), mode).is_ok() {
            let (q, v) = self.parts(x);
            let margin = self.margin_of_loads(State { t, q, v }, mode);
            if margin.is_some_and(|margin| margin > HELD) {
                return Ok(());
            }
        }
        let undo = |x: &mut [f64], mode: &mut Mode, event: &mut Event| {
            x.copy_from_slice(&x_before);
            mode.copy_from(&mode_before);
            event.known.clone_from(&known);
            event.aside.clear();
        };
        undo(x, mode, event);
        self.release(t, x, &mut event.settling(), mode)?;
        if mode.has_flags_of(&mode_before) {
            // The loads are outside by less than a mode is found to: what follows is the mode with a little less
            // friction.
            let (found, stays, said) = (x.to_vec(), mode.clone(), event.aside.clone());
            undo(x, mode, event);
            for known in &mut event.known {
                known.yields = true;
            }
            if self.release(t, x, &mut event.settling(), mode).is_err() {
                undo(x, mode, event);
                x.copy_from_slice(&found);
                mode.copy_from(&stays);
                event.aside = said;
            }
        }
        Ok(())
    }
}
