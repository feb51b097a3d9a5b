//! What an event does: the impact of the contacts that take part, and which of them are closed
//! behind it (Pace & Burden, eq. 3 and section 3.4).

use super::EventDriven;
use super::breakdown::{Breakdown, explain};
use crate::impact::{Failure, ImpactLaw, ImpactProblem, Outcome, Selection, Unilateral};
use crate::linalg::cholesky::norm_in;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::acceleration::Trouble;
use crate::mechanics::delassus;
use crate::mechanics::mode_problem::{Settled, settle};
use crate::mechanics::redundant::change_rates;
use crate::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, UnilateralConstraints, Wanted,
};
use crate::{At, Crossed, Mode, Quantity, Stop};

/// What is lower than this part of the gap tolerance is not resolved: the noise of gaps is a tenth
/// of it.
const LOW: f64 = 1e-2;

impl<S> EventDriven<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// Whether each of `contacts` approaches faster than the tolerance.
    pub(crate) fn approaching(
        &self,
        q: &[f64],
        v: &[f64],
        contacts: &[usize],
    ) -> Result<Vec<bool>, Breakdown> {
        self.in_frame(q, contacts, |frame| {
            (0..contacts.len())
                .map(|i| crate::linalg::dot(frame.row(i), v) < -self.rate_tolerance)
                .collect()
        })
    }

    /// The impact of the contacts that touch, of which `new` were open until now; changes the
    /// velocities in `state`.
    pub(crate) fn apply_impact(
        &self,
        t: f64,
        state: &mut [f64],
        touching: &[usize],
        new: &[bool],
    ) -> Result<Outcome, Breakdown> {
        self.check_friction()?;
        let (q, v) = self.parts(state);
        let wanted = Wanted {
            restitution_at: Some(v),
            ..Wanted::default()
        };
        let contacts = self.contacts(q, touching, wanted)?;
        for of in contacts.all_parameters() {
            self.check_restitution(of.contact, t, of.restitution)?;
        }
        let by: (&dyn ImpactLaw, _) = (&*self.law, &self.selection);
        self.apply_impact_by(by, &contacts, t, state, (touching, new))
    }

    /// The same by [`Unilateral`], with coefficients of restitution of zero.
    pub(crate) fn apply_plastic_impact(
        &self,
        t: f64,
        state: &mut [f64],
        touching: &[usize],
        new: &[bool],
    ) -> Result<Outcome, Breakdown> {
        let (q, _) = self.parts(state);
        let contacts = self.contacts(q, touching, Wanted::default())?;
        let by: (&dyn ImpactLaw, _) = (&Unilateral, &Selection::Single);
        self.apply_impact_by(by, &contacts, t, state, (touching, new))
    }

    /// The values of these contacts.
    pub(crate) fn contacts(
        &self,
        q: &[f64],
        touching: &[usize],
        wanted: Wanted<'_>,
    ) -> Result<Contacts, Breakdown> {
        let mut contacts = Contacts::new();
        let set = ContactSet::Listed(touching);
        self.system().fill(q, set, wanted, &mut contacts)?;
        Ok(contacts)
    }

    /// The impact problem of contacts; what makes it none is the inner error.
    pub(crate) fn impact_problem(
        &self,
        (q, v): (&[f64], &[f64]),
        contacts: &Contacts,
        momentum: f64,
    ) -> Result<Result<ImpactProblem, Failure>, Trouble> {
        with_zeros(v.len() * v.len(), |space| {
            let mass = self.bodies.mass(q, space)?;
            Ok(delassus::impact_problem(contacts, &mass, v, momentum))
        })
    }

    fn apply_impact_by(
        &self,
        (law, selection): (&dyn ImpactLaw, &Selection),
        contacts: &Contacts,
        t: f64,
        state: &mut [f64],
        (touching, new): (&[usize], &[bool]),
    ) -> Result<Outcome, Breakdown> {
        let (q, v) = self.parts_mut(state);
        if !self.system().constant_mass() {
            self.check_mass(q)?;
        }
        let momentum = with_zeros(v.len() * v.len(), |mass| {
            self.system().mass(q, mass);
            norm_in(mass, v)
        });
        let problem = self
            .impact_problem((q, v), contacts, momentum)
            .map_err(|trouble| explain(trouble, q, touching))?;
        let fresh: Vec<usize> = (0..touching.len()).filter(|&i| new[i]).collect();
        let mut noise = None;
        let resolved = problem
            .and_then(|problem| problem.with_new_contacts(&fresh))
            .and_then(|problem| {
                noise = (!problem.dependent().is_empty()).then(|| problem.noise());
                let problem = problem.with_interrupt(&self.interrupt);
                let outcome = selection.select(law.resolve(&problem)?, t)?;
                problem.push(outcome.impulses.as_slice(), v);
                Ok(outcome)
            });
        let outcome = resolved
            .map_err(|reason| Breakdown::of_impact(reason, touching, t, [&*q, &*v].concat()))?;
        if let Some(noise) = noise {
            self.stop_slow_approaches(q, v, touching, (&outcome, noise))?;
        }
        Ok(outcome)
    }

    /// What dependent contacts still approach by after an impact, when it is no more than `noise`
    /// in units of rows, is lost in the rounding of their Gram matrix: they are stopped, and the
    /// others that push keep their rates.
    #[cold]
    fn stop_slow_approaches(
        &self,
        q: &[f64],
        v: &mut [f64],
        touching: &[usize],
        (outcome, noise): (&Outcome, f64),
    ) -> Result<(), Breakdown> {
        let rates = self.in_frame(q, touching, |frame| {
            (0..touching.len())
                .map(|i| crate::linalg::dot(frame.row(i), v))
                .collect::<Vec<f64>>()
        })?;
        let slow = |i: &usize| rates[*i] < -self.rate_tolerance;
        if !(0..touching.len()).any(|i| slow(&i)) {
            return Ok(());
        }
        let takes_part = |i: &usize| slow(i) || outcome.impulses[*i] > 0.0;
        let taking_part: Vec<usize> = (0..touching.len()).filter(takes_part).collect();
        let contacts: Vec<usize> = taking_part.iter().map(|&i| touching[i]).collect();
        let wanted = taking_part
            .iter()
            .map(|i| if slow(i) { -rates[*i] } else { 0.0 });
        let wanted: Vec<f64> = wanted.collect();
        self.in_frame(q, &contacts, |frame| {
            let unit = |i: usize| frame.gram[i * contacts.len() + i].sqrt();
            if (0..contacts.len()).all(|i| wanted[i] <= noise * unit(i)) {
                change_rates(frame, &wanted, v);
            }
        })
    }

    /// The coefficient of restitution of a contact, if it is one.
    pub(crate) fn checked_restitution(
        &self,
        contact: usize,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<f64, Breakdown> {
        let value = self.system().restitution(contact, q, v);
        self.check_restitution(contact, t, value)
    }

    fn check_restitution(&self, contact: usize, t: f64, value: f64) -> Result<f64, Breakdown> {
        let allowed = if self.any_restitution {
            value.is_finite()
        } else {
            (0.0..=1.0).contains(&value)
        };
        allowed
            .then_some(value)
            .ok_or(Breakdown::Restitution { contact, value, t })
    }

    /// Decides which of the contacts that touch are closed from here on, and brings the state onto
    /// them; those in `released` are not.
    pub(crate) fn update_contacts(
        &self,
        t: f64,
        state: &mut [f64],
        touching: &[usize],
        released: &[usize],
        mode: &mut Mode,
    ) -> Result<(), Breakdown> {
        let was_closed: Vec<bool> = touching.iter().map(|&j| self.is_closed(mode, j)).collect();
        let mut parting = self.parting((t, state), touching, mode)?;
        // What holds the contacts that stay closed may keep a slow one from parting, or press it
        // back from lower than gaps can tell: then it is a candidate too.
        for _ in 0..=touching.len() {
            self.rest_unless_parting(t, state, (touching, &parting), released, mode)?;
            if !parting.iter().any(|&parts| parts) {
                break;
            }
            let rates = self.approach(state, touching);
            let thrown = |i: usize| parting[i] && was_closed[i];
            let bends = if (0..touching.len()).any(thrown) {
                self.bends((t, state), touching, mode)?
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

    /// True when a gap that opens at `rate` and is bent back by the acceleration `bend` opens no
    /// wider than gaps can tell.
    pub(crate) fn is_low(&self, rate: f64, bend: f64) -> bool {
        rate * rate <= -2.0 * bend * LOW * self.gap_tolerance
    }

    /// The accelerations of the gaps of `contacts` in the motion of `mode`.
    pub(crate) fn bends(
        &self,
        (t, state): (f64, &[f64]),
        contacts: &[usize],
        mode: &Mode,
    ) -> Result<Vec<f64>, Breakdown> {
        let (q, v) = self.parts(state);
        let (mut acceleration, mut bends) = (vec![0.0; v.len()], vec![0.0; contacts.len()]);
        self.motion((t, q, v), mode, &mut acceleration, None, false);
        self.in_frame(q, contacts, |frame| {
            frame.gap_acceleration(self.system(), (q, v), &acceleration, &mut bends);
            bends
        })
    }

    /// Decides which of the contacts that touch and do not part are closed, and brings the state
    /// onto them.
    fn rest_unless_parting(
        &self,
        t: f64,
        state: &mut [f64],
        (touching, parting): (&[usize], &[bool]),
        released: &[usize],
        mode: &mut Mode,
    ) -> Result<(), Breakdown> {
        let (q, v) = self.parts(state);
        let mut candidates = Vec::with_capacity(touching.len());
        for (i, &j) in touching.iter().enumerate() {
            self.set_closed(mode, j, false);
            if !parting[i] && !released.contains(&j) {
                candidates.push(j);
            }
        }
        match settle(
            &self.bodies,
            (t, q, v),
            &candidates,
            (self.redundant, self.rate_tolerance),
        ) {
            Settled::Closed(closed) => {
                for (&j, closed) in candidates.iter().zip(closed) {
                    self.set_closed(mode, j, closed);
                }
                super::projection::correct(self, state, mode);
                Ok(())
            }
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

    /// Which contacts part faster than the tolerance. A closed contact stays closed if its rebound
    /// height is too low for its gap to tell.
    fn parting(
        &self,
        (t, state): (f64, &[f64]),
        touching: &[usize],
        mode: &Mode,
    ) -> Result<Vec<bool>, Breakdown> {
        let (q, v) = self.parts(state);
        self.in_frame(q, touching, |frame| {
            let rates: Vec<f64> = (0..touching.len())
                .map(|i| crate::linalg::dot(frame.row(i), v))
                .collect();
            let mut parting: Vec<bool> = rates.iter().map(|&r| r > self.rate_tolerance).collect();
            let thrown = |i: &usize| parting[*i] && self.is_closed(mode, touching[*i]);
            let thrown: Vec<usize> = (0..touching.len()).filter(thrown).collect();
            if thrown.is_empty() {
                return parting;
            }
            let (mut free, mut falls) = (vec![0.0; v.len()], vec![0.0; touching.len()]);
            frame.free_acceleration(self.system(), (t, q, v), &[], &mut free);
            frame.gap_acceleration(self.system(), (q, v), &free, &mut falls);
            for i in thrown {
                parting[i] = !self.is_low(rates[i], falls[i]);
            }
            parting
        })
    }

    /// The contacts that take part in an event, which of them were open until now, and which are
    /// released. An open gap that is zero takes part when it is at rest; one that closes is another
    /// event, be it of the same instant.
    pub(crate) fn taking_part(
        &self,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &Mode,
    ) -> (Vec<usize>, Vec<bool>, Vec<usize>) {
        let (mut touching, mut new, mut released) = (Vec::new(), Vec::new(), Vec::new());
        for j in 0..self.system().contacts() {
            let (closed, crosses) = (self.is_closed(mode, j), crossed.contains(j));
            if closed || crosses || self.rests(j, x) {
                touching.push(j);
                new.push(crosses && !closed);
            }
            if closed && crosses {
                released.push(j);
            }
        }
        (touching, new, released)
    }

    /// Lets the event happen: the impact, if contacts close, and which of them stay closed.
    pub(crate) fn resolve_event(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &mut [f64],
        mode: &mut Mode,
    ) -> Result<Event, Breakdown> {
        let (touching, new, mut released) = self.taking_part(crossed, x, mode);
        super::projection::land(self, x, &self.closed(mode), &touching);
        let mut impulses = Vec::new();
        if new.iter().any(|&new| new) {
            impulses = self
                .apply_impact(t, x, &touching, &new)?
                .impulses
                .as_slice()
                .to_vec();
            // Pressed on by the impact, a contact need not open.
            let pressed = |j: &usize| touching.iter().position(|k| k == j);
            released.retain(|j| pressed(j).is_none_or(|i| impulses[i] <= 0.0));
        }
        self.update_contacts(t, x, &touching, &released, mode)?;
        Ok(Event {
            touching,
            new,
            impulses,
        })
    }

    /// True when a gap is zero and neither closes nor opens.
    pub(crate) fn rests(&self, contact: usize, x: &[f64]) -> bool {
        let (q, _) = self.parts(x);
        self.system().gap(contact, q).abs() <= self.gap_tolerance
            && self
                .approach(x, &[contact])
                .iter()
                .all(|rate| rate.abs() <= self.rate_tolerance)
    }

    /// `Da v` of contacts at a state; NaN where there is none.
    pub(crate) fn approach(&self, state: &[f64], contacts: &[usize]) -> Vec<f64> {
        let (q, v) = self.parts(state);
        self.in_frame(q, contacts, |frame| {
            (0..contacts.len())
                .map(|i| crate::linalg::dot(frame.row(i), v))
                .collect()
        })
        .unwrap_or_else(|_| vec![f64::NAN; contacts.len()])
    }
}

/// What an event did.
pub(crate) struct Event {
    /// The contacts that are closed, close or rest.
    pub(crate) touching: Vec<usize>,
    /// Which of them were open until then.
    pub(crate) new: Vec<bool>,
    /// Impulses on them; none when no contact closed.
    pub(crate) impulses: Vec<f64>,
}
