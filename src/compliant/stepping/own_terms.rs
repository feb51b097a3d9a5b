//! The terms of a driver: added, changed between steps, taken away.

use std::any::Any;
use std::sync::Arc;

use super::driver::Compliant;
use super::model::{StepState, StepTerm};
use crate::InputError;
use crate::compliant::Problem;
#[cfg(doc)]
use crate::compliant::StepSolution;
use crate::mechanics::{ContactSource, MechanicalSystem};

impl<S> Compliant<S>
where
    S: MechanicalSystem + ContactSource,
{
    /// Adds a term to the problem of every step: a joint, a limit, a motor. The rows of terms
    /// ([`StepSolution::row_impulses`]) follow each other in the order in which terms were added.
    #[must_use]
    pub fn term(mut self, term: impl StepTerm + Send + Sync) -> Self {
        self.core.settings.terms.push(Arc::new(term));
        self.core.once.terms = false;
        self
    }

    /// Term number `i`, in the order in which they were added, to be changed between steps: the goal
    /// of a motor. None when there is no such term, when it is of another type, and while a clone of
    /// this driver shares it.
    pub fn term_mut<T: StepTerm>(&mut self, i: usize) -> Option<&mut T> {
        let term = Arc::get_mut(self.core.settings.terms.get_mut(i)?)?;
        self.core.once.terms = false;
        let term: &mut dyn Any = term;
        term.downcast_mut()
    }

    /// Takes term number `i` away, from the next step on: a gripper that lets go. Numbers of other terms stay what they
    /// are; the place of this one stays empty, and terms that are added come behind all.
    ///
    /// # Errors
    /// [`InputError::NoSuch`] for a number that no term has had.
    pub fn remove_term(&mut self, i: usize) -> Result<(), InputError> {
        let count = self.core.settings.terms.len();
        let what = "term";
        let none = InputError::NoSuch {
            what,
            index: i,
            count,
        };
        let term = self.core.settings.terms.get_mut(i).ok_or(none)?;
        *term = Arc::new(Removed);
        Ok(())
    }

    /// The first term that acts on a tree of the system in a step that starts here.
    pub(crate) fn term_on(&self, tree: usize) -> Result<Option<usize>, InputError> {
        self.core.term_on(&self.system, tree)
    }

    /// The impulses of the rows of term `i` in the last step (N s, or N m s), of those in the order in which they were
    /// [added](Self::term): each term says which rows it has. None before the first step and where there is no such
    /// term. By the length of the step they are forces and torques.
    pub fn term_impulses(&self, i: usize) -> Option<&[f64]> {
        let rows = self.core.problem.rows_of_term(i)?;
        self.solution().row_impulses().get(rows)
    }
}

/// A term that was taken away.
struct Removed;

impl StepTerm for Removed {
    fn add(&self, _state: &StepState<'_>, _problem: &mut Problem) -> Result<(), InputError> {
        Ok(())
    }
}
