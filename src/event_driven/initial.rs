//! The start of a mechanical run: input is checked, an impact is resolved if there is one, and the
//! contacts that stay closed are found.

use super::breakdown::Breakdown;
use super::impact::Event;
use crate::event_driven::Model;
use crate::impact::Occasion;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::{At, InputError, Mode, Quantity, Start, Stop, validate};

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

    /// Refuses coefficients of friction that are none, and efforts that depend on closed contacts
    /// where these have friction.
    pub(crate) fn check_sliding(&self, state: State<'_>) -> Result<(), InputError> {
        let mut effort = vec![0.0; state.v.len()];
        let depends = self.system().contact_effort(state, &[], &mut effort);
        let rule = "must not depend on closed contacts where these have friction";
        validate::unless(!depends, "contact_effort", 1.0, rule)?;
        for j in 0..self.system().contacts() {
            validate::not_negative("coefficient of friction", &[self.friction(j)])
                .map_err(validate::counted_from(j))?;
        }
        Ok(())
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
        if self.slides() {
            self.check_sliding(State { t, q, v })?;
        }
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
        super::motion::land(self, &mut state, &[], &landing, &mut at);
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
}
