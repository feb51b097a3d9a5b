//! Further convex terms of a step: what joins, limits and drives bodies beside contacts.

use std::any::Any;

use crate::InputError;
use crate::compliant::Problem;

/// The start of a step, as further terms see it.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct StepState<'a> {
    /// Start of the step (s).
    pub t: f64,
    /// Length of the step (s).
    pub dt: f64,
    /// Coordinates at its start.
    pub q: &'a [f64],
    /// Velocities at its start.
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

    /// Adds the rows of this term ([`Problem::add_row`]) for the step that starts at `state`. The
    /// trees of the system are in the problem, with the same numbers.
    ///
    /// # Errors
    /// As [`Problem::add_row`], and bad parameters. The run ends with
    /// [`CompliantFailure::Model`](crate::compliant::CompliantFailure::Model).
    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError>;
}
