//! Reasons for which an impact has no outcome, or none that was found.

use crate::interrupt::Interrupted;
use crate::{InputError, lcp};

/// The reason for which an impact could not be resolved.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ImpactFailure {
    /// Contacts depend on each other where forces or impulses have to be unique.
    #[error(
        "the normals of contacts {set:?} are dependent (reciprocal condition number {rcond:e}): their forces or bilateral impulses are not unique; drop a redundant contact, or take least squares for forces (ContactModel::redundant) and a unilateral or propagative law for impulses"
    )]
    DependentContacts {
        /// The contacts that depend on each other.
        set: Vec<usize>,
        /// Reciprocal condition number: the least eigenvalue over the greatest, or the least pivot,
        /// of the Gram matrix of unit normals.
        rcond: f64,
    },

    /// A body is squeezed between contacts, one of which would have to rebound. No impulses do
    /// that.
    #[error(
        "contacts {set:?} squeeze a body between them: none can part unless another closes, so contact {contact}, which approaches, cannot rebound with restitution {restitution}; restitution 0 has an outcome"
    )]
    Squeezed {
        /// The contacts that squeeze it: some combination of their normals with positive weights
        /// vanishes.
        set: Vec<usize>,
        /// The approaching contact among them with the largest speed of rebound, `e_i |u_i|/√G_ii`.
        contact: usize,
        /// Its coefficient of restitution.
        restitution: f64,
    },

    /// A contact would have to pull, and the law is set to refuse that.
    #[error("contact {contact} would have to pull: its impulse is {impulse:e}")]
    Adhesion {
        /// The contact with the most negative scaled impulse.
        contact: usize,
        /// Its impulse (N s).
        impulse: f64,
    },

    /// The contact that was to be reflected first does not approach.
    #[error("contact {contact} was to be first, but does not approach: its speed is {speed:e}")]
    NotApproaching {
        /// The contact.
        contact: usize,
        /// Its speed (m/s).
        speed: f64,
    },

    /// The cap of reflections or stages was reached before they ended; with a higher cap they end.
    #[error(
        "{limit} stages within one impact, and contact {contact} still approaches at {speed:e}: the contacts form a narrow cone; raise the cap"
    )]
    ReflectionCap {
        /// The limit.
        limit: usize,
        /// The contact that approaches most.
        contact: usize,
        /// Its speed (m/s).
        speed: f64,
    },

    /// Friction holds a contact back so strongly that no normal impulse stops its approach, or gives back what its
    /// restitution asks.
    #[error(
        "contact {contact} jams: its normal and tangents, or those of several contacts, are dependent, and no impulses are known that end its approach at {speed:e} as the law asks"
    )]
    Jammed {
        /// The contact, the worst of several.
        contact: usize,
        /// Its speed before (m/s).
        speed: f64,
    },

    /// The cap was reached and no motion opens all contacts at once, as for a body squeezed between
    /// walls. Reflections need not end there.
    #[error(
        "no motion opens all contacts at once, as for a body squeezed between walls: {limit} stages within one impact did not end, and need not"
    )]
    NoFeasibleInterior {
        /// The cap that was reached.
        limit: usize,
    },

    /// One outcome was asked for, but the law has several or none, or cannot say that the one it gave
    /// is the only one ([`Outcomes::is_complete`](crate::impact::Outcomes::is_complete)).
    #[error("{}", not_single(*count))]
    NotSingle {
        /// Number of outcomes found.
        count: usize,
    },

    /// A [`Selection`](crate::impact::Selection) chose an outcome that does not exist, or none.
    #[error("the selection chose {} of {count} outcomes",
        chosen.map_or_else(|| "none".to_owned(), |chosen| format!("number {chosen}, counted from 0,")))]
    NoSuchOutcome {
        /// Number of the chosen outcome, counted from 0; none where none was chosen.
        chosen: Option<usize>,
        /// Number of outcomes.
        count: usize,
    },

    /// The outcome that a run took has impulses that are too few or too many, or not finite.
    #[error("the impact law {law} is wrong: {reason}")]
    OutcomeOfLaw {
        /// The law: [`ImpactLaw::name`](crate::impact::ImpactLaw::name).
        law: &'static str,
        /// The fault of the impulses.
        reason: InputError,
    },

    /// After the outcome that a run took a contact approaches on, by more than the tolerance of
    /// rates and more than its coefficient of restitution says.
    #[error(
        "the impact law {law} leaves contact {contact} approaching at {speed:e}: its impulses do not end the impact"
    )]
    LeftApproaching {
        /// The law: [`ImpactLaw::name`](crate::impact::ImpactLaw::name).
        law: &'static str,
        /// The contact that approaches most.
        contact: usize,
        /// Its speed after the impact (m/s).
        speed: f64,
    },

    /// Samples were drawn and none finished: the set of outcomes stays unknown.
    #[error(
        "none of {samples} samples has an outcome: {unfinished} still approach after their last step, of {failed} a step was not solved; allow more or larger steps"
    )]
    NoSampleFinished {
        /// The number of samples drawn.
        samples: usize,
        /// Of which a contact still approaches after the last step.
        unfinished: usize,
        /// Of which a step was not solved.
        failed: usize,
    },

    /// The impact has more outcomes than are compared with each other.
    #[error("the impact has {count} outcomes: up to {limit} are compared with each other")]
    TooManyOutcomes {
        /// Number of outcomes.
        count: usize,
        /// The limit.
        limit: usize,
    },

    /// An impact computed NaN or infinity from finite input.
    #[error("the impact overflows: {quantity} of contact {contact} is {value}")]
    Overflow {
        /// The quantity.
        quantity: &'static str,
        /// The contact, or the row among the tangents.
        contact: usize,
        /// Its value.
        value: f64,
    },

    /// The complementarity problem of the impact was not solved.
    #[error(transparent)]
    Lcp(lcp::LcpFailure),

    /// An [`Interrupt`](crate::Interrupt) was set.
    #[error("interrupted")]
    Interrupted,

    /// Bad input.
    #[error(transparent)]
    Input(#[from] InputError),
}

fn not_single(count: usize) -> String {
    match count {
        0 => "the impact law gave no outcome".to_owned(),
        1 => "the law gave 1 outcome and cannot say that it is the only one: ContactModel::selection(Selection::First) takes it".to_owned(),
        _ => format!("the impact law gave {count} outcomes, not one: ContactModel::selection takes one of them, ImpactLaw::resolve gives the set"),
    }
}

impl From<lcp::LcpFailure> for ImpactFailure {
    fn from(failure: lcp::LcpFailure) -> Self {
        match failure {
            lcp::LcpFailure::Interrupted => Self::Interrupted,
            lcp::LcpFailure::Input(error) => Self::Input(error),
            failure => Self::Lcp(failure),
        }
    }
}

impl From<Interrupted> for ImpactFailure {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}
