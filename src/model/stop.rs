//! Reasons for which a run ends early, with time, state and mode.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::{Guard, Mode};
use crate::interrupt::Interrupted;
use crate::{InputError, Quantity};

/// The place of a run: time, state and mode.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct At {
    /// Time (s).
    pub t: f64,
    /// State.
    pub state: Vec<f64>,
    /// Mode; without bits where there is none.
    pub mode: Mode,
}

impl At {
    /// A copy of time, state and mode.
    #[cold]
    pub(crate) fn new(t: f64, x: &[f64], mode: &Mode) -> Self {
        Self {
            t,
            state: x.to_vec(),
            mode: mode.clone(),
        }
    }
}

/// Reason why a run ends early, or why the evaluation of a model at one point fails.
///
/// A run ends with [`Status::Refused`](crate::Status::Refused), and the run keeps all it computed. Bad input is
/// refused before the run begins, with [`InputError`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// A user function returned NaN or infinity. Steps that try states beyond its domain are
    /// shortened first.
    #[error("{quantity} is not finite at t = {}, x = {:?}{}", .at.t, .at.state, tried(*quantity))]
    NotFinite {
        /// The function.
        quantity: Quantity,
        /// The place at which it was evaluated.
        at: Box<At>,
    },

    /// The start lies on a guard and does not move off it: resting or tangent.
    #[error(
        "the start lies on guard {guard} and moves along it (rate {rate:e}): resting or tangent starts have no side, unless Start::mode gives it (as it must where event functions read the mode)"
    )]
    Tangent {
        /// The guard.
        guard: Guard,
        /// `dh_k/dt` (`u_k`/s).
        rate: f64,
        /// The start.
        at: Box<At>,
    },

    /// A guard was reached but liveness fails: sliding, grazing, rest, or guards at one instant
    /// whose order matters; outside event-selected systems.
    #[error(
        "guard {guard} is not live at t = {}: dh/dt is {rate_before:e} before and {rate_after:e} after the crossing, least rate {min_rate:e}. Opposite signs: sliding, or a hysteresis that wants a one-way watch and a guard reset matrix; almost zero: grazing, rest, or the end of an accumulation (Zeno), to be stopped at or resolved by a change of mode in on_crossing; NaN after: the mode after was not entered",
        .at.t
    )]
    NotLive {
        /// The guard.
        guard: Guard,
        /// `dh_k/dt` in the mode before the crossing (`u_k`/s).
        rate_before: f64,
        /// `dh_k/dt` in the mode after the crossing (`u_k`/s), or, when several guards cross at one
        /// instant, in the mode in which all others have crossed; NaN when the mode was not
        /// entered.
        rate_after: f64,
        /// The liveness bound `c_k` (`u_k`/s).
        min_rate: f64,
        /// The state on the guard, in the mode before it.
        at: Box<At>,
    },

    /// The guard reset matrix arms a guard beyond its surface.
    #[error(
        "crossing {by} arms guard {guard} at t = {}, but the state is already {beyond:e} beyond it",
        .at.t
    )]
    ArmedBeyond {
        /// The guard to be armed.
        guard: Guard,
        /// The guard whose crossing arms it.
        by: Guard,
        /// Distance of the state beyond the guard (`u_k`).
        beyond: f64,
        /// The place, before the crossing.
        at: Box<At>,
    },

    /// A start, or a reset, leaves an event function at a value that the model declares
    /// [inadmissible](crate::EventFunction::admissible).
    #[error(
        "event function {} is {value:e} at t = {}, beyond {bound:e}: the model declares that no start and no reset may leave the state there (EventFunction::admissible)",
        .guard.event, .at.t
    )]
    Inadmissible {
        /// The guard beyond which the state lies.
        guard: Guard,
        /// The value of its event function (`u_k`).
        value: f64,
        /// The end of the admissible range that it is beyond (`u_k`).
        bound: f64,
        /// The place: the start, or after the reset.
        at: Box<At>,
    },

    /// A reset set a flag that the model does not declare.
    #[error(
        "a reset at t = {} sets flag {flag}, but the model declares {count}, counted from 0: it cannot be kept; declare it with EventFunction::flags",
        .at.t
    )]
    UndeclaredFlag {
        /// The flag.
        flag: usize,
        /// The number of declared flags.
        count: usize,
        /// The place: the state after the reset, with the mode that the model was given.
        at: Box<At>,
    },

    /// A guard would cross twice without progress in time, or too soon again to be seen.
    #[error(
        "guard {guard} crosses again at t = {} without progress in time: events accumulate (Zeno), or a reset undoes its own crossing",
        .at.t
    )]
    NoProgress {
        /// The guard.
        guard: Guard,
        /// The place.
        at: Box<At>,
    },

    /// More crossings than allowed: an accumulation of events (Zeno) or a limit set too low.
    #[error(
        "{limit} crossings by t = {}, the last of guard {guard}: events accumulate (Zeno), or max_events is too low",
        .at.t
    )]
    TooManyEvents {
        /// The limit.
        limit: usize,
        /// The last guard.
        guard: Guard,
        /// The place.
        at: Box<At>,
    },

    /// More smooth steps than allowed.
    #[error(
        "{limit} steps by t = {}: the system is stiff for an explicit method, or max_steps is too low",
        .at.t
    )]
    TooManySteps {
        /// The limit.
        limit: usize,
        /// The place.
        at: Box<At>,
    },

    /// A trajectory, or its derivative, that takes more memory than allowed.
    #[error(
        "the run, or its derivative, takes more than {limit} bytes at t = {}: raise max_memory, loosen the tolerance, or observe the run instead of keeping it",
        .at.t
    )]
    RunTooLarge {
        /// The limit (bytes).
        limit: usize,
        /// The place.
        at: Box<At>,
    },

    /// The step size shrank to nothing.
    #[error(
        "the step shrank to {step:e} s at t = {}: a singularity, or tolerances below rounding",
        .at.t
    )]
    StepTooSmall {
        /// The last step tried (s).
        step: f64,
        /// The place.
        at: Box<At>,
    },

    /// An [`Interrupt`](crate::Interrupt) was set. The run ends at the end of its last step, or at
    /// its last crossing: one that was not complete is taken back. At `tf` it says so while it has
    /// not looked for all doubts.
    #[error("interrupted")]
    Interrupted,

    /// The model refused a crossing in [`on_crossing`](crate::EventFunction::on_crossing), or a
    /// driver above the core did.
    #[error(transparent)]
    Model(ModelError),

    /// The model met bad input within its own functions, or made a mode of another length.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl Stop {
    /// The refusal of a model, for its own reason: an error of any type, or a text.
    ///
    /// ```
    /// use saltation::Stop;
    /// #[derive(Debug, PartialEq)]
    /// struct Broken { leg: usize }
    /// impl std::fmt::Display for Broken {
    ///     fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
    ///         write!(f, "leg {} broke", self.leg)
    ///     }
    /// }
    /// impl std::error::Error for Broken {}
    ///
    /// let stop = Stop::model(Broken { leg: 2 });
    /// assert_eq!(stop.to_string(), "leg 2 broke");
    /// assert_eq!(stop.downcast(), Some(&Broken { leg: 2 }));
    /// assert_eq!(Stop::model("too hot").to_string(), "too hot");
    /// ```
    pub fn model(reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Model(ModelError(Arc::from(reason.into())))
    }

    /// The reason of a model, when it is of type `E`.
    pub fn downcast<E: Error + 'static>(&self) -> Option<&E> {
        match self {
            Self::Model(ModelError(reason)) => reason.downcast_ref(),
            _ => None,
        }
    }

    /// The place of the run. `None` for what has no place of its own: an interrupt, the reason of a
    /// model, bad input.
    pub fn at(&self) -> Option<&At> {
        match self {
            Self::NotFinite { at, .. }
            | Self::Tangent { at, .. }
            | Self::NotLive { at, .. }
            | Self::ArmedBeyond { at, .. }
            | Self::Inadmissible { at, .. }
            | Self::UndeclaredFlag { at, .. }
            | Self::NoProgress { at, .. }
            | Self::TooManyEvents { at, .. }
            | Self::TooManySteps { at, .. }
            | Self::RunTooLarge { at, .. }
            | Self::StepTooSmall { at, .. } => Some(at),
            Self::Interrupted | Self::Model(_) | Self::Input(_) => None,
        }
    }
}

/// Remark of an error about a number on the place, where steps evaluate `quantity`.
fn tried(quantity: Quantity) -> &'static str {
    match quantity {
        Quantity::Flow { .. } | Quantity::Event { .. } | Quantity::Correction { .. } => {
            " (a trial point within a step, where it still was so with the shortest one)"
        }
        _ => "",
    }
}

impl From<Interrupted> for Stop {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// The reason of a model, as [`Stop::model`] took it; [`Stop::downcast`] gives it back. Two are
/// equal when their texts are.
#[derive(Clone, Debug)]
pub struct ModelError(Arc<dyn Error + Send + Sync>);

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for ModelError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

impl PartialEq for ModelError {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}
