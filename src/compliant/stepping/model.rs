//! The requirements of a step on a system.

use crate::mechanics::{ContactSet, ContactSource, Contacts, Measured, MechanicalSystem, Wanted};
use crate::{InputError, validate};

/// A mechanical system with a source of contacts. The driver takes it as `dyn`, so that it is
/// compiled once for all systems.
pub(crate) trait SteppedSystem: MechanicalSystem + ContactSource {}

impl<S: MechanicalSystem + ContactSource + ?Sized> SteppedSystem for S {}

impl ContactSource for Measured<&(dyn SteppedSystem + '_)> {
    fn fill(
        &self,
        q: &[f64],
        set: ContactSet<'_>,
        wanted: Wanted<'_>,
        contacts: &mut Contacts,
    ) -> Result<(), InputError> {
        self.system.fill(q, set, wanted, contacts)?;
        validate::length("velocities of the contacts", self.dof(), contacts.dof())
    }

    fn contact_count(&self) -> Option<usize> {
        self.system.contact_count()
    }
}
