//! The requirements of a step on a system, and further convex terms: what joins, limits and drives
//! bodies beside contacts.

use std::any::Any;

use crate::compliant::{Axis, Problem, RigidPair};
use crate::mechanics::{
    ContactSet, ContactSource, Contacts, Measured, MechanicalSystem, Passage, TreeBody, Wanted,
};
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

    fn pair(&self, contact: usize) -> usize {
        self.system.pair(contact)
    }

    fn meets(&self, contact: usize, passage: &Passage<'_>) -> bool {
        self.system.meets(contact, passage)
    }

    fn body_of_tree(&self, tree: usize) -> Option<TreeBody> {
        self.system.body_of_tree(tree)
    }
}

/// The start of a step, as further terms see it; with [`Scheme::Midpoint`](crate::compliant::Scheme::Midpoint) half a
/// step on, moved there with the velocities of the start.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StepState<'a> {
    /// Start of the step (s), or half a step on.
    pub t: f64,
    /// Length of the step (s).
    pub dt: f64,
    /// Coordinates at `t`.
    pub q: &'a [f64],
    /// Velocities at the start of the step.
    pub v: &'a [f64],
}

/// A convex term of the contact problem of every step: a joint, a limit, a motor, dry friction.
pub trait StepTerm: Any {
    /// Refuses parameters that make no sense for a system with so many coordinates and velocities;
    /// asked at the start of a run. Provided: accepts.
    ///
    /// # Errors
    /// [`InputError`] of any kind. The run does not start.
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        let _ = (coordinates, dof);
        Ok(())
    }

    /// Shows the axes that this term acts on: of those given by numbers
    /// ([`Axis::new`]) the velocity must be the rate of the coordinate, which is looked at when a run
    /// starts. Provided: none.
    fn axes(&self, visit: &mut dyn FnMut(&Axis)) {
        let _ = visit;
    }

    /// The two trees that this term holds together as one rigid body, with no give but that of the
    /// step. Welds that close a loop and contradict each other by this are refused when a run starts
    /// ([`InputError::WeldsDisagree`]). Provided: none.
    fn rigid_pair(&self) -> Option<RigidPair> {
        None
    }

    /// Adds the rows of this term ([`Problem::add_row`]), and contacts ([`Problem::add_contact`]; they
    /// have the step's law of friction), for the step that starts at `state`. It is asked in every
    /// step, also for trees that [sleep](crate::Compliant::sleep): other rows than before wake them.
    /// The trees of the system are in the problem, with the same numbers.
    ///
    /// # Errors
    /// As [`Problem::add_row`], and bad parameters. The run ends with
    /// [`CompliantFailure::Model`](crate::compliant::CompliantFailure::Model).
    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError>;
}
