//! The choice of the touching contacts that are closed after an event: those that do not part and
//! that the motion presses on (Pace & Burden, section 3.4).

use super::breakdown::{Breakdown, explain};
use super::impact::Touching;
use super::motion::SHORT;
use super::onto_contacts;
use crate::event_driven::Model;
use crate::linalg::scratch::{with_list, with_zeros};
use crate::mechanics::contact_model::gather_closed;
use crate::mechanics::motion::acceleration::{Purpose, accelerate};
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::motion::mode_choice::{Rules, Settled};
use crate::mechanics::motion::mode_problem::settle;
use crate::mechanics::{State, UnilateralConstraints};
use crate::{At, Flow, Mode, Quantity, Stop};

impl Model<'_> {
    /// [`update_contacts`](Self::update_contacts) where contacts are released at one instant. The
    /// forces of dependent contacts are not unique; where they fall from huge values together, as in
    /// a wedge that gets too sharp to hold, some that press on count as zero with the others. Where
    /// one that was released closes at once, all are decided by the motion.
    pub(crate) fn release(
        &self,
        t: f64,
        x: &mut [f64],
        touching: &mut Touching<'_>,
        mode: &mut Mode,
    ) -> Result<(), Breakdown> {
        if touching.released.len() < 2 || self.any_friction(touching.contacts) {
            return self.update_contacts(t, x, touching, mode);
        }
        let mode_before = mode.clone();
        with_zeros(x.len(), |before| {
            before.copy_from_slice(x);
            self.update_contacts(t, x, touching, mode)?;
            let released = touching.released;
            if self.close_at_once(t, x, released, mode, touching.at)?
                && self.close_shortly(t, x, released, mode, touching.at)?
            {
                x.copy_from_slice(before);
                mode.copy_from(&mode_before);
                touching.released = &[];
                self.update_contacts(t, x, touching, mode)?;
            }
            Ok(())
        })
    }

    /// [`close_at_once`](Self::close_at_once) a few of the times later that are told apart: a force that falls through
    /// zero is found up to one of them too early, and presses there.
    fn close_shortly(
        &self,
        t: f64,
        x: &[f64],
        contacts: &[usize],
        mode: &Mode,
        at: &mut ContactsAt,
    ) -> Result<bool, Breakdown> {
        let step = SHORT * f64::EPSILON * t.abs();
        with_zeros(2 * x.len(), |scratch| {
            let (rates, later) = scratch.split_at_mut(x.len());
            self.flow(t, x, mode, rates);
            for (later, (x, rate)) in later.iter_mut().zip(x.iter().zip(&*rates)) {
                *later = x + step * rate;
            }
            self.close_at_once(t + step, later, contacts, mode, at)
        })
    }

    /// True where no forces hold the closed contacts of a mode, none of them with friction, since surfaces
    /// move by themselves.
    pub(crate) fn is_unheld(
        &self,
        t: f64,
        x: &[f64],
        mode: &Mode,
        at: &mut ContactsAt,
    ) -> Result<bool, Breakdown> {
        if !self.bodies.fixed.has_driven() || self.has_friction_in(mode) {
            return Ok(false);
        }
        let (q, v) = self.parts(x);
        let (state, system) = (State { t, q, v }, self.system());
        with_list(system.contacts(), |space| {
            let closed = gather_closed(mode, space);
            with_zeros(closed.len() + v.len(), |numbers| {
                let (unheld, acceleration) = numbers.split_at_mut(closed.len());
                self.in_frame(at, q, closed, |frame| {
                    let policy = self.redundant;
                    let moved = accelerate(system, frame, state, acceleration, unheld, policy);
                    moved == Ok(false) && {
                        frame.unheld(system, state, acceleration, unheld);
                        unheld.iter().any(|unheld| *unheld > 0.0)
                    }
                })
            })
        })
    }

    /// Decides which of the contacts that touch are closed from here on, and brings the state onto
    /// them.
    pub(crate) fn update_contacts(
        &self,
        t: f64,
        state: &mut [f64],
        touching: &mut Touching<'_>,
        mode: &mut Mode,
    ) -> Result<(), Breakdown> {
        if self.any_friction(touching.contacts) {
            return self.follow(t, state, touching, mode);
        }
        let (contacts, n) = (touching.contacts, touching.contacts.len());
        with_list(2 * n, |marks| {
            with_zeros(2 * n, |numbers| {
                let (was_closed, parting) = marks.split_at_mut(n);
                let (rates, bends) = numbers.split_at_mut(n);
                for (was_closed, &j) in was_closed.iter_mut().zip(contacts) {
                    *was_closed = self.is_closed(mode, j);
                }
                self.parting(t, state, touching, was_closed, parting)?;
                // The forces of the closed contacts may stop a slow contact from parting, or limit
                // its rebound to a height that is not resolved. Such a contact is a candidate too.
                for _ in 0..=n {
                    self.rest_unless_parting(t, state, touching, parting, mode)?;
                    if !parting.contains(&true) {
                        break;
                    }
                    self.approach_into(touching.at, state, contacts, rates);
                    bends.fill(0.0);
                    if parting
                        .iter()
                        .zip(&*was_closed)
                        .any(|(parts, was)| *parts && *was)
                    {
                        let (q, v) = self.parts(state);
                        let place = State { t, q, v };
                        self.bends(place, mode, contacts, touching.at, bends);
                    }
                    let mut is_held = false;
                    for i in 0..n {
                        let stands = rates[i].abs() <= self.rate_tolerance;
                        let is_low = was_closed[i] && self.is_low(t, rates[i], bends[i]);
                        if parting[i] && (stands || is_low) {
                            parting[i] = false;
                            is_held = true;
                        }
                    }
                    if !is_held {
                        break;
                    }
                }
                Ok(())
            })
        })
    }

    /// True when a gap is zero and neither closes nor opens.
    pub(crate) fn rests(&self, at: &mut ContactsAt, contact: usize, x: &[f64]) -> bool {
        let ((q, _), mut rate) = (self.parts(x), [0.0]);
        self.system().gap(contact, q).abs() <= self.gap_tolerance && {
            self.approach_into(at, x, &[contact], &mut rate);
            rate[0].abs() <= self.rate_tolerance
        }
    }

    /// For each of `contacts`, true when it approaches faster than the tolerance.
    pub(crate) fn approaching(
        &self,
        at: &mut ContactsAt,
        state: &[f64],
        contacts: &[usize],
    ) -> Vec<bool> {
        let rates = self.approach(at, state, contacts);
        let approaches = |rate: &f64| *rate < -self.rate_tolerance;
        rates.iter().map(approaches).collect()
    }

    /// `Da v` of contacts at a state.
    pub(crate) fn approach(
        &self,
        at: &mut ContactsAt,
        state: &[f64],
        contacts: &[usize],
    ) -> Vec<f64> {
        let mut rates = vec![0.0; contacts.len()];
        self.approach_into(at, state, contacts, &mut rates);
        rates
    }

    /// Likewise, in space that is there.
    pub(crate) fn approach_into(
        &self,
        at: &mut ContactsAt,
        state: &[f64],
        contacts: &[usize],
        rates: &mut [f64],
    ) {
        let (q, v) = self.parts(state);
        self.bodies.rates_at(at, q, v, contacts, rates);
    }

    /// Writes the accelerations of the gaps of `contacts` in the motion of a mode.
    pub(crate) fn bends(
        &self,
        state: State<'_>,
        mode: &Mode,
        contacts: &[usize],
        at: &mut ContactsAt,
        bends: &mut [f64],
    ) {
        with_zeros(state.v.len(), |acceleration| {
            self.motion(state, mode, acceleration, None, Purpose::Motion);
            self.bodies
                .bends_at(at, state, acceleration, contacts, bends);
        });
    }

    /// Decides which of the contacts that touch and do not part are closed, and brings the state
    /// onto them.
    fn rest_unless_parting(
        &self,
        t: f64,
        state: &mut [f64],
        touching: &mut Touching<'_>,
        parting: &[bool],
        mode: &mut Mode,
    ) -> Result<(), Breakdown> {
        with_list(touching.contacts.len(), |candidates| {
            let mut count = 0;
            for (&j, parts) in touching.contacts.iter().zip(parting) {
                self.set_closed(mode, j, false);
                if !parts && !touching.released.contains(&j) {
                    candidates[count] = j;
                    count += 1;
                }
            }
            let candidates = &candidates[..count];
            with_list(count, |closed| {
                let (q, v) = self.parts(state);
                let rules = Rules {
                    redundant: self.redundant,
                    rate_tolerance: self.rate_tolerance,
                    interrupt: &self.interrupt,
                };
                let (at, solver) = (&mut *touching.at, &mut *touching.solver);
                let place = State { t, q, v };
                match settle(&self.bodies, place, candidates, rules, at, solver, closed) {
                    Settled::Closed => {}
                    other => return Err(self.unsettled(other, t, state, candidates, mode)),
                }
                for (&j, &closed) in candidates.iter().zip(&*closed) {
                    self.set_closed(mode, j, closed);
                }
                Ok(())
            })
        })?;
        if !touching.unlanded.is_empty() {
            onto_contacts::hold_but(self, state, touching.unlanded, mode);
            return Ok(());
        }
        with_list(self.system().contacts(), |space| {
            let closed = gather_closed(mode, space);
            onto_contacts::hold_all(self, state, closed, Some(&mut *touching.at));
        });
        Ok(())
    }

    /// The reason for which it is not decided which of `candidates` are closed.
    #[cold]
    fn unsettled(
        &self,
        settled: Settled,
        t: f64,
        state: &[f64],
        candidates: &[usize],
        mode: &Mode,
    ) -> Breakdown {
        let (q, _) = self.parts(state);
        let contacts = candidates.to_vec();
        match settled {
            Settled::Interrupted => Breakdown::Stop(Stop::Interrupted),
            Settled::Closed | Settled::Nobody => Breakdown::NoConsistentMode { contacts, t },
            Settled::Ambiguous => Breakdown::AmbiguousMode { contacts, t },
            Settled::TooMany => Breakdown::TooManyContacts {
                contacts,
                limit: crate::mechanics::motion::mode_problem::TRY_ALL,
                t,
            },
            Settled::NotFinite(component) => Breakdown::Stop(Stop::NotFinite {
                quantity: Quantity::Flow {
                    component: q.len() + component,
                },
                at: At::new(t, state, mode).into(),
            }),
            Settled::Trouble(trouble, set) => explain(trouble, q, &set),
        }
    }

    /// Marks the contacts that part faster than the tolerance. A closed contact whose rebound is too
    /// low to be resolved does not part.
    fn parting(
        &self,
        t: f64,
        state: &[f64],
        touching: &mut Touching<'_>,
        was_closed: &[bool],
        parting: &mut [bool],
    ) -> Result<(), Breakdown> {
        let (q, v) = self.parts(state);
        let contacts = touching.contacts;
        with_zeros(2 * contacts.len() + v.len(), |numbers| {
            let (rates, rest) = numbers.split_at_mut(contacts.len());
            let (falls, free) = rest.split_at_mut(contacts.len());
            self.bodies.rates_at(touching.at, q, v, contacts, rates);
            for (parts, rate) in parting.iter_mut().zip(&*rates) {
                *parts = *rate > self.rate_tolerance;
            }
            let is_thrown = |i: usize, parting: &[bool]| parting[i] && was_closed[i];
            if !(0..contacts.len()).any(|i| is_thrown(i, parting)) {
                return Ok(());
            }
            self.in_frame(touching.at, q, contacts, |frame| {
                frame.free_acceleration(self.system(), State { t, q, v }, &[], free);
                frame.gap_acceleration(self.system(), q, v, free, falls);
            })?;
            for i in 0..contacts.len() {
                if is_thrown(i, parting) {
                    parting[i] = !self.is_low(t, rates[i], falls[i]);
                }
            }
            Ok(())
        })
    }
}
