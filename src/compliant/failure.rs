//! Reasons for which a compliant step could not be made.

use crate::interrupt::Interrupted;
use crate::{InputError, Stop};

/// The reason for which a solution or a step could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CompliantFailure {
    /// Bad input.
    #[error(transparent)]
    Input(#[from] InputError),

    /// The contact problem of a step did not converge.
    #[error(
        "t = {t}: the contact problem did not converge ({contacts} contacts, momentum error {momentum_error:e}): raise max_iterations, soften contacts (near_rigid, stiction), or take shorter steps"
    )]
    NotConverged {
        /// Start of the step (s).
        t: f64,
        /// Number of contacts of the worst island.
        contacts: usize,
        /// Its momentum error.
        momentum_error: f64,
        /// The state `(q, v)` at the start of the step.
        state: Vec<f64>,
    },

    /// Newton's method did not find the velocities without contacts of an implicit scheme.
    #[error(
        "t = {t}: the motion without contacts was not found after {iterations} iterations: the last correction is {correction:e}; take shorter steps"
    )]
    FreeMotion {
        /// Start of the step (s).
        t: f64,
        /// Iterations.
        iterations: usize,
        /// The last correction of the velocities (m/s, or rad/s).
        correction: f64,
        /// The state `(q, v)` at the start of the step.
        state: Vec<f64>,
    },

    /// The mass, the effort or a contact of a state makes no sense, or they are so large that the
    /// velocities after the step overflow.
    #[error("t = {t}: {reason}")]
    Model {
        /// Start of the step (s).
        t: f64,
        /// The state `(q, v)` of which it was asked.
        state: Vec<f64>,
        /// The fault of the model at this state.
        reason: InputError,
    },

    /// A run of which this driver makes other steps: its forces are not those of the run
    /// ([`Page::forces`](crate::Page::forces)).
    #[error(
        "t = {t}: the run does not go on as this driver does: {what} is {found:e}, expected {expected:e}; give the driver that made the run, with its time step and its bodies (efforts given to a live run, and terms as they were before they changed, are not known to it)"
    )]
    OtherRun {
        /// Start of the step (s).
        t: f64,
        /// The quantity that differs, with its unit.
        what: &'static str,
        /// Its value for this driver.
        found: f64,
        /// Its value in the run, or the most that the tolerance of the solver explains.
        expected: f64,
    },

    /// The solution or the step has no derivative.
    #[error("no derivative: {why}")]
    NoDerivative {
        /// The reason.
        why: &'static str,
    },

    /// An [`Interrupt`](crate::Interrupt) was set.
    #[error("interrupted")]
    Interrupted,
}

impl From<Interrupted> for CompliantFailure {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// As a run carries it: [`Stop::downcast`] gives it back.
impl From<CompliantFailure> for Stop {
    fn from(failure: CompliantFailure) -> Self {
        match failure {
            CompliantFailure::Input(error) => Self::Input(error),
            CompliantFailure::Interrupted => Self::Interrupted,
            failure => Self::model(failure),
        }
    }
}
