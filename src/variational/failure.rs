//! Reasons for which a variational run ends early.

use crate::interrupt::Interrupted;
use crate::{InputError, MatrixFault, Stop, impact};

/// The reason for which a step could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum VariationalFailure {
    /// Bad input.
    #[error(transparent)]
    Input(#[from] InputError),

    /// Newton's method did not solve the equations of a step, nor, where no contact is closed and a
    /// map is asked for, not its derivative, those of its halves.
    #[error(
        "t = {t}: no step of {step:e} s with closed contacts {contacts:?} was found in {iterations} Newton iterations or less: the last correction moves coordinates by {correction:e}; take shorter steps"
    )]
    NewtonFailed {
        /// Start of the step (s).
        t: f64,
        /// Its length (s).
        step: f64,
        /// The contacts that are closed in it.
        contacts: Vec<usize>,
        /// Limit of the iterations with each kind of factors; corrections that do not shrink end
        /// them before.
        iterations: usize,
        /// The last correction of the coordinates.
        correction: f64,
        /// The state `(q, v)` at the start of the step.
        state: Vec<f64>,
    },

    /// The mass matrix of a state is not symmetric positive definite; it is held against symmetry at
    /// the start.
    #[error("t = {t}: the mass matrix {fault}")]
    Mass {
        /// The fault of the matrix.
        fault: MatrixFault,
        /// Time (s).
        t: f64,
        /// The coordinates.
        q: Vec<f64>,
    },

    /// The mass matrix, a force, a gap or the motion is not finite. A step without closed contacts
    /// that meets this on its way is made in two halves first.
    #[error("t = {t}: {quantity} is NaN or infinite")]
    NotFinite {
        /// What is not: with an article, in words.
        quantity: &'static str,
        /// Time (s).
        t: f64,
        /// The state `(q, v)` of which it was asked.
        state: Vec<f64>,
    },

    /// An impact, or the forces of closed contacts, could not be resolved.
    #[error("t = {t}, contacts {contacts:?}: {reason}")]
    Impact {
        /// Time (s).
        t: f64,
        /// The contacts.
        contacts: Vec<usize>,
        /// The state `(q, v)` just before.
        state: Vec<f64>,
        /// The reason.
        reason: Box<impact::ImpactFailure>,
    },

    /// The forces of closed contacts with friction did not settle.
    #[error(
        "t = {t}: the forces of contacts {contacts:?} did not settle in {rounds} rounds; take shorter steps"
    )]
    ContactsNotSettled {
        /// Start of the step (s).
        t: f64,
        /// The closed contacts.
        contacts: Vec<usize>,
        /// Rounds.
        rounds: usize,
        /// The state `(q, v)` at the start of the step.
        state: Vec<f64>,
    },

    /// More impacts in one step than are followed.
    #[error(
        "t = {t}: more than {limit} impacts within one step; the last ones were of contacts {contacts:?}"
    )]
    TooManyImpacts {
        /// Time of the last one (s).
        t: f64,
        /// The limit.
        limit: usize,
        /// The contacts of the last one.
        contacts: Vec<usize>,
        /// The state `(q, v)` after it.
        state: Vec<f64>,
    },

    /// The run has no derivative, or none that this driver computes.
    #[error("t = {t}: no derivative: {why}")]
    NoDerivative {
        /// Time (s).
        t: f64,
        /// The reason.
        why: &'static str,
    },

    /// No posture and design near the start makes two contacts touch with orthogonal normals.
    #[error(
        "no posture and design with orthogonal contacts {contacts:?} was found near the start: the best has gaps {gaps:?} and cosine {cosine:e}"
    )]
    NoDesign {
        /// The contacts.
        contacts: [usize; 2],
        /// Their gaps at the best posture and design (m).
        gaps: [f64; 2],
        /// The cosine between their normals there.
        cosine: f64,
        /// The best posture and design found.
        best: Vec<f64>,
    },

    /// An [`Interrupt`](crate::Interrupt) was set.
    #[error("interrupted")]
    Interrupted,
}

impl VariationalFailure {
    /// The mass matrix at `q` has no factor.
    #[cold]
    pub(super) fn singular(t: f64, q: Vec<f64>) -> Self {
        let fault = MatrixFault::NotPositive { value: 0.0 };
        Self::Mass { fault, t, q }
    }
}

impl From<Interrupted> for VariationalFailure {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// As a run carries it: [`Stop::downcast`] gives it back.
impl From<VariationalFailure> for Stop {
    fn from(failure: VariationalFailure) -> Self {
        match failure {
            VariationalFailure::Input(error) => Self::Input(error),
            VariationalFailure::Interrupted => Self::Interrupted,
            failure => Self::model(failure),
        }
    }
}
