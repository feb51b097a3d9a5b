//! The start of a mechanical run: input that makes sense, an impact if there is one, the contacts
//! that stay closed.

use super::breakdown::Breakdown;
use super::impact::Event;
use crate::event_driven::Model;
use crate::impact::Occasion;
use crate::linalg::symmetric::matrix_fault;
use crate::mechanics::configuration::check_configuration;
use crate::mechanics::contacts::common_tangents;
use crate::{At, InputError, MatrixFault, Mode, Quantity, Stop, validate};

/// Where a run of an [`EventDriven`] system starts: state and mode, after an impact if the start is
/// one.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// `(q, v)`, with `q` on its manifold
    /// ([`project_configuration`](MechanicalSystem::project_configuration)); gaps within the
    /// tolerance that do not open are brought to zero.
    pub state: Vec<f64>,
    /// Sides and closed contacts.
    pub mode: Mode,
    /// Contacts with gaps of zero.
    pub touching: Vec<usize>,
    /// Those of them that approached: the start is an impact when there are any.
    pub activated: Vec<usize>,
}

impl Model<'_> {
    /// See [`start`](EventDriven::start); and what its impact did.
    pub(crate) fn recorded_start(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<(Start, Event), Breakdown> {
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
    ) -> Result<(Start, Event), Breakdown> {
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
    ) -> Result<(Start, Event), Breakdown> {
        let tolerances = [
            ("gap_tolerance", self.gap_tolerance),
            ("rate_tolerance", self.rate_tolerance),
        ];
        for (name, value) in tolerances {
            validate::not_negative(name, &[value])?;
        }
        let mut state = self.checked_state(t, q, v)?;
        self.check_friction()?;
        common_tangents(self.system())?;
        let (q, v) = (&self.parts(&state).0.to_vec()[..], v);
        self.check_mass(q)?;
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
            if gap < -self.gap_tolerance {
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
        // A gap that is zero but for rounding and does not open would else be one that is only
        // touched, or lie beyond its surface.
        let rates = self.approach(&state, &touching);
        let lands = |&(&j, rate): &(&usize, &f64)| {
            let opens = *rate > self.rate_tolerance;
            !opens || self.system().gap(j, q) < 0.0
        };
        let landing = touching.iter().zip(&rates).filter(lands);
        let landing: Vec<usize> = landing.map(|(&j, _)| j).collect();
        super::projection::land(self, &mut state, &[], &landing);
        let approaching = self.approaching(&state[..q.len()], v, &touching)?;
        let rests = |j: &usize| self.rests(*j, &state);
        let resting: Vec<usize> = touching.iter().copied().filter(rests).collect();
        let mut event = Event::of(&touching, approaching);
        if event.is_impact() {
            impact(&mut state, &mut event)?;
        }
        // Those that rest are closed contacts to the impact, as they are on the way.
        for &j in &resting {
            self.set_closed(&mut mode, j, true);
        }
        self.update_contacts(t, &mut state, &touching, &[], &mut mode)?;
        let approached = touching.iter().zip(&event.new).filter(|(_, new)| **new);
        let start = Start {
            activated: approached.map(|(&j, _)| j).collect(),
            state,
            mode,
            touching,
        };
        Ok((start, event))
    }

    /// The state `(q, v)` on the manifold of the coordinates, if it is one of the system.
    pub(crate) fn checked_state(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Vec<f64>, InputError> {
        let system = self.system();
        check_input((system.coordinates(), system.dof()), t, q, v)?;
        let mut state = [q, v].concat();
        super::projection::onto_manifold(self, &mut state);
        let (on, _) = self.parts(&state);
        validate::finite("q", on)?;
        check_configuration(system, on, v)?;
        Ok(state)
    }

    pub(crate) fn check_mass(&self, q: &[f64]) -> Result<(), Breakdown> {
        let d = self.system().dof();
        let mut mass = vec![0.0; d * d];
        self.system().mass(q, &mut mass);
        let matrix = nalgebra::DMatrix::from_column_slice(d, d, &mass);
        let state = || q.to_vec();
        if let Some(fault) = matrix_fault(&matrix) {
            return Err(Breakdown::MassMatrix {
                fault,
                state: state(),
            });
        }
        match crate::linalg::cholesky::factor(&mut mass, d) {
            Some(_) => Ok(()),
            None => Err(Breakdown::MassMatrix {
                fault: MatrixFault::NotPositive { value: 0.0 },
                state: state(),
            }),
        }
    }
}

/// Refuses positions and velocities of another length than these, and numbers that are not finite.
pub(crate) fn check_input(
    (coordinates, dof): (usize, usize),
    t: f64,
    q: &[f64],
    v: &[f64],
) -> Result<(), InputError> {
    validate::length("q", coordinates, q.len())?;
    validate::length("v", dof, v.len())?;
    for (name, values) in [("t", &[t][..]), ("q", q), ("v", v)] {
        validate::finite(name, values)?;
    }
    Ok(())
}
