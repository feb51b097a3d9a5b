//! Which of the contacts that touch are closed after an event: those that do not part and that the
//! motion presses on (Pace & Burden, section 3.4).

use super::breakdown::{Breakdown, explain};
use crate::event_driven::Model;
use crate::linalg::dot;
use crate::mechanics::State;
use crate::mechanics::acceleration::Purpose;
use crate::mechanics::mode_choice::Settled;
use crate::mechanics::mode_problem::settle;
use crate::{At, Mode, Quantity, Stop};

/// A gap that was released closes where its acceleration is less than zero by this part of its
/// terms.
const CLOSES: f64 = 1e-6;

/// Rebounds lower than this part of the gap tolerance are not resolved; the noise of gaps is a
/// tenth of it.
const LOW: f64 = 1e-2;

impl Model<'_> {
    /// [`update_contacts`](Self::update_contacts) where contacts are released at one instant. The
    /// forces of dependent contacts are not unique; where they fall from huge values together, as in
    /// a wedge that gets too sharp to hold, some that press on count as zero with the others. Where
    /// one that was released closes at once, all are decided by the motion.
    pub(crate) fn release(
        &self,
        t: f64,
        x: &mut [f64],
        touching: &[usize],
        released: &[usize],
        mode: &mut Mode,
    ) -> Result<(), Breakdown> {
        if released.len() < 2 {
            return self.update_contacts(t, x, touching, released, mode);
        }
        let before = (x.to_vec(), mode.clone());
        self.update_contacts(t, x, touching, released, mode)?;
        if self.close_at_once(t, x, released, mode)? {
            x.copy_from_slice(&before.0);
            mode.copy_from(&before.1);
            self.update_contacts(t, x, touching, &[], mode)?;
        }
        Ok(())
    }

    /// True when the gap of one of `contacts` accelerates below zero in the motion of `mode`.
    fn close_at_once(
        &self,
        t: f64,
        state: &[f64],
        contacts: &[usize],
        mode: &Mode,
    ) -> Result<bool, Breakdown> {
        let (bends, least) = self.bends_and_least(t, state, contacts, mode)?;
        Ok(bends.iter().zip(least).any(|(bend, least)| *bend < -least))
    }

    /// Decides which of the contacts that touch are closed from here on, and brings the state onto
    /// them. Contacts in `released` are open.
    pub(crate) fn update_contacts(
        &self,
        t: f64,
        state: &mut [f64],
        touching: &[usize],
        released: &[usize],
        mode: &mut Mode,
    ) -> Result<(), Breakdown> {
        let was_closed: Vec<bool> = touching.iter().map(|&j| self.is_closed(mode, j)).collect();
        let mut parting = self.parting(t, state, touching, mode)?;
        // The forces of the closed contacts may stop a slow contact from parting, or limit its
        // rebound to a height that is not resolved. Such a contact is a candidate too.
        for _ in 0..=touching.len() {
            self.rest_unless_parting(t, state, touching, &parting, released, mode)?;
            if !parting.iter().any(|&parts| parts) {
                break;
            }
            let rates = self.approach(state, touching);
            let thrown = |i: usize| parting[i] && was_closed[i];
            let bends = if (0..touching.len()).any(thrown) {
                self.bends(t, state, touching, mode)?
            } else {
                vec![0.0; touching.len()]
            };
            let held = |i: &usize| {
                let stands = rates[*i].abs() <= self.rate_tolerance;
                parting[*i] && (stands || thrown(*i) && self.is_low(rates[*i], bends[*i]))
            };
            let held: Vec<usize> = (0..touching.len()).filter(held).collect();
            if held.is_empty() {
                break;
            }
            for i in held {
                parting[i] = false;
            }
        }
        Ok(())
    }

    /// `Da v` of contacts at a state; NaN where there is none.
    pub(crate) fn approach(&self, state: &[f64], contacts: &[usize]) -> Vec<f64> {
        let (q, v) = self.parts(state);
        self.in_frame(q, contacts, |frame| {
            (0..contacts.len()).map(|i| dot(frame.row(i), v)).collect()
        })
        .unwrap_or_else(|_| vec![f64::NAN; contacts.len()])
    }

    /// True when a gap that opens at `rate` under the acceleration `bend` reaches no height that
    /// gaps resolve.
    pub(crate) fn is_low(&self, rate: f64, bend: f64) -> bool {
        rate * rate <= -2.0 * bend * LOW * self.gap_tolerance
    }

    /// The accelerations of the gaps of `contacts` in the motion of `mode`.
    pub(crate) fn bends(
        &self,
        t: f64,
        state: &[f64],
        contacts: &[usize],
        mode: &Mode,
    ) -> Result<Vec<f64>, Breakdown> {
        Ok(self.bends_and_least(t, state, contacts, mode)?.0)
    }

    /// The accelerations of [`bends`](Self::bends), and how large each must be to be told from
    /// zero.
    fn bends_and_least(
        &self,
        t: f64,
        state: &[f64],
        contacts: &[usize],
        mode: &Mode,
    ) -> Result<(Vec<f64>, Vec<f64>), Breakdown> {
        let (q, v) = self.parts(state);
        let (mut acceleration, mut bends) = (vec![0.0; v.len()], vec![0.0; contacts.len()]);
        self.motion(
            State { t, q, v },
            mode,
            &mut acceleration,
            None,
            Purpose::Motion,
        );
        self.in_frame(q, contacts, |frame| {
            frame.gap_acceleration(self.system(), q, v, &acceleration, &mut bends);
            let least = frame.least_acceleration(CLOSES, self.rate_tolerance);
            let unit = |i: usize| frame.gram[i * contacts.len() + i].sqrt();
            (
                bends,
                (0..contacts.len()).map(|i| least * unit(i)).collect(),
            )
        })
    }

    /// Decides which of the contacts that touch and do not part are closed, and brings the state
    /// onto them.
    fn rest_unless_parting(
        &self,
        t: f64,
        state: &mut [f64],
        touching: &[usize],
        parting: &[bool],
        released: &[usize],
        mode: &mut Mode,
    ) -> Result<(), Breakdown> {
        let (q, v) = self.parts(state);
        let mut candidates = Vec::with_capacity(touching.len());
        for (i, &j) in touching.iter().enumerate() {
            Self::set_closed(mode, j, false);
            if !parting[i] && !released.contains(&j) {
                candidates.push(j);
            }
        }
        match settle(
            &self.bodies,
            State { t, q, v },
            &candidates,
            self.redundant,
            self.rate_tolerance,
            &self.interrupt,
        ) {
            Settled::Closed(closed) => {
                for (&j, closed) in candidates.iter().zip(closed) {
                    Self::set_closed(mode, j, closed);
                }
                super::projection::correct(self, state, mode);
                self.refuse_sustained_friction(t, mode)
            }
            Settled::Interrupted => Err(Breakdown::Stop(Stop::Interrupted)),
            Settled::Nobody => Err(Breakdown::NoConsistentMode {
                contacts: candidates,
                t,
            }),
            Settled::Ambiguous => Err(Breakdown::AmbiguousMode {
                contacts: candidates,
                t,
            }),
            Settled::TooMany => Err(Breakdown::TooManyContacts {
                contacts: candidates,
                limit: crate::mechanics::mode_problem::TRY_ALL,
                t,
            }),
            Settled::NotFinite(component) => Err(Breakdown::Stop(Stop::NotFinite {
                quantity: Quantity::Flow {
                    component: q.len() + component,
                },
                at: At::new(t, state, mode).into(),
            })),
            Settled::Trouble(trouble, set) => Err(explain(trouble, q, &set)),
        }
    }

    /// Refuses closed contacts with friction: the motion between impacts has none.
    fn refuse_sustained_friction(&self, t: f64, mode: &Mode) -> Result<(), Breakdown> {
        match self.first_friction(mode.flags()) {
            None => Ok(()),
            Some((contact, friction)) => Err(Breakdown::SustainedFriction {
                contact,
                friction,
                t,
            }),
        }
    }

    /// Which contacts part faster than the tolerance. A closed contact whose rebound is too low to
    /// be resolved does not part.
    fn parting(
        &self,
        t: f64,
        state: &[f64],
        touching: &[usize],
        mode: &Mode,
    ) -> Result<Vec<bool>, Breakdown> {
        let (q, v) = self.parts(state);
        self.in_frame(q, touching, |frame| {
            let rates: Vec<f64> = (0..touching.len()).map(|i| dot(frame.row(i), v)).collect();
            let mut parting: Vec<bool> = rates.iter().map(|&r| r > self.rate_tolerance).collect();
            let thrown = |i: &usize| parting[*i] && self.is_closed(mode, touching[*i]);
            let thrown: Vec<usize> = (0..touching.len()).filter(thrown).collect();
            if thrown.is_empty() {
                return parting;
            }
            let (mut free, mut falls) = (vec![0.0; v.len()], vec![0.0; touching.len()]);
            frame.free_acceleration(self.system(), State { t, q, v }, &[], &mut free);
            frame.gap_acceleration(self.system(), q, v, &free, &mut falls);
            for i in thrown {
                parting[i] = !self.is_low(rates[i], falls[i]);
            }
            parting
        })
    }
}
