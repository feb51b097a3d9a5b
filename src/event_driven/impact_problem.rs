//! The impact of a state or an event on its own, as a problem for other laws.

use crate::impact::{ImpactFailure, ImpactProblem};
use crate::mechanics::{ContactModel, ContactSet, MechanicalSystem, UnilateralConstraints};
use crate::record::ContactEvent;
use crate::validate;

impl<S> ContactModel<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// The impact of the contacts that touch at a state `(q, v)`: those with gaps up to
    /// [`gap_tolerance`](Self::gap_tolerance), with friction unless it was said not to matter, and
    /// restitution.
    ///
    /// For an impact of a run take [`impact_of`](Self::impact_of): the path of a run has the state
    /// after it. Where bodies rest, speeds are rounding, and so is whether contacts approach.
    ///
    /// ```
    /// use saltation::{ContactModel, EventDriven};
    /// use saltation::impact::{AnitescuPotra, ExactPlanar};
    /// use saltation::models::RockingBlock;
    /// let block = RockingBlock::default();
    /// let model = ContactModel::with_law(block, AnitescuPotra::new());
    /// let (q, v) = ([0.0, 1.0, 0.0], [0.0, -1.0, 0.0]);
    /// let impact = model.impact_at(&[q, v].concat())?;
    /// // The law of the run takes one outcome; these are all.
    /// let set = ExactPlanar::new().resolve(&impact)?.velocities()?;
    /// assert!(set.contains(&[0.0; 3], 1e-9) && set.pieces().len() == 2);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength),
    /// [`InputError::NoContacts`](crate::InputError::NoContacts) where none touches, and those of
    /// [`ImpactProblem::of_system`].
    pub fn impact_at(&self, state: &[f64]) -> Result<ImpactProblem, ImpactFailure> {
        self.impact_of_contacts(state, ContactSet::Within(self.gap_tolerance))
    }

    /// The impact of an event of a run: of the contacts that took part, at the state before it, of
    /// which those that were activated are new.
    ///
    /// # Errors
    /// [`InputError::NoContacts`](crate::InputError::NoContacts) for an event without an impact, and
    /// those of [`impact_at`](Self::impact_at).
    pub fn impact_of(&self, event: &ContactEvent) -> Result<ImpactProblem, ImpactFailure> {
        // Releases and touches have contacts, but no impact.
        let contacts = match event.order {
            Some(_) => &event.contacts[..],
            None => &[],
        };
        let problem = self.impact_of_contacts(&event.state_before, ContactSet::Listed(contacts))?;
        let is_new = |i: &usize| event.activated.contains(&contacts[*i]);
        let new: Vec<usize> = (0..contacts.len()).filter(is_new).collect();
        problem.with_new_contacts(&new)
    }

    fn impact_of_contacts(
        &self,
        state: &[f64],
        contacts: ContactSet<'_>,
    ) -> Result<ImpactProblem, ImpactFailure> {
        let system = self.system();
        let size = system.coordinates() + system.dof();
        validate::length("state", size, state.len())?;
        let (q, v) = state.split_at(system.coordinates());
        let problem = ImpactProblem::of_system(system, q, v, contacts)?;
        let problem = problem.with_interrupt(&self.interrupt);
        if self.is_frictionless() {
            return Ok(problem.frictionless());
        }
        Ok(problem)
    }
}
