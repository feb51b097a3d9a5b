//! Checks before bodies move: options, states, masses, coefficients of restitution.

use super::Model;
use super::breakdown::{Breakdown, explain};
use crate::linalg::symmetric::square_fault;
use crate::mechanics::configuration::{check_configuration, check_input};
use crate::mechanics::contact_frames::check_all_frames;
use crate::mechanics::contact_source::common_tangents;
use crate::mechanics::contacts_at::ContactsAt;
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::{InputError, validate};

impl Model<'_> {
    /// Refuses tolerances that make no sense, friction that nothing honours, and contacts that
    /// differ in their number of tangents: when a run starts, in every driver.
    pub(crate) fn check_options(&self) -> Result<(), InputError> {
        self.system().sizes.check()?;
        validate::not_negative("gap_tolerance", &[self.gap_tolerance])?;
        // Least rate of all guards.
        validate::positive("rate_tolerance", &[self.rate_tolerance])?;
        self.check_friction()?;
        let system = self.system();
        common_tangents(system, system.contacts())?;
        Ok(())
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

    /// A coefficient of restitution, if it is one.
    pub(crate) fn check_restitution(
        &self,
        contact: usize,
        t: f64,
        value: f64,
    ) -> Result<f64, Breakdown> {
        if value != 0.0 && !self.law.honours_restitution() {
            return Err(Breakdown::Input(InputError::RestitutionIgnored {
                law: self.law.name(),
                contact,
                restitution: value,
            }));
        }
        let allowed = if self.any_restitution {
            value.is_finite()
        } else {
            (0.0..=1.0).contains(&value)
        };
        allowed
            .then_some(value)
            .ok_or(Breakdown::Restitution { contact, value, t })
    }

    /// The state `(q, v)` on the manifold of the coordinates, if it is one of the system.
    pub(crate) fn checked_state(
        &self,
        t: f64,
        q: &[f64],
        v: &[f64],
    ) -> Result<Vec<f64>, InputError> {
        let system = self.system();
        check_input(system.coordinates(), system.dof(), t, q, v)?;
        let mut state = [q, v].concat();
        super::projection::onto_manifold(self, &mut state);
        let (on, _) = self.parts(&state);
        validate::finite("q", on)?;
        check_configuration(system, on, v)?;
        // Of contacts near or far.
        if self.first_friction(0..system.contacts()).is_some() {
            check_all_frames(system, on)?;
        }
        Ok(state)
    }

    pub(crate) fn check_mass(&self, at: &mut ContactsAt, q: &[f64]) -> Result<(), Breakdown> {
        let fault = square_fault(self.bodies.mass_at(at, q), self.system().dof());
        if let Some(fault) = fault {
            let state = q.to_vec();
            return Err(Breakdown::MassMatrix { fault, state });
        }
        let factored = self.bodies.factor_at(at, q);
        factored.map_err(|trouble| explain(trouble, q, &[]))
    }
}
