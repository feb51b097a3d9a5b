//! Every reason why something is refused or a run ends early, each by name.

use crate::Guard;

/// Why an input was refused or a run ended early.
///
/// Bad input comes back as `Err`; what a run meets on its way ends it with [`Status::Refused`](crate::Status::Refused),
/// and the trajectory keeps all it computed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system has no state variables.
    #[error("the system has no state variables: dim() is 0")]
    EmptySystem,

    /// A slice has the wrong length.
    #[error("{name} has length {found}, expected {expected}")]
    WrongLength {
        /// What was passed.
        name: &'static str,
        /// Length the system asks for.
        expected: usize,
        /// Length that was passed.
        found: usize,
    },

    /// A time, a state or a setting is NaN or infinite.
    #[error("{name} is not finite: {value} (entry {entry})")]
    NotFiniteInput {
        /// What was passed.
        name: &'static str,
        /// Which entry of it, 0 for a scalar.
        entry: usize,
        /// The offending value.
        value: f64,
    },

    /// The final time lies before the start.
    #[error("the final time {tf} lies before the start {t0}; integrate forward in time")]
    TimeReversed {
        /// Start (s).
        t0: f64,
        /// Final time (s).
        tf: f64,
    },

    /// A setting has a value that makes no sense.
    #[error("{name} = {value} (entry {entry}): {rule}")]
    BadSetting {
        /// The setting.
        name: &'static str,
        /// Which entry of it, 0 for a scalar.
        entry: usize,
        /// Its value.
        value: f64,
        /// What it should be.
        rule: &'static str,
    },

    /// The guard reset matrix lets a guard re-arm or retire itself.
    #[error(
        "guard {guard} re-arms itself: a guard that may be crossed again needs a partner with the opposite direction"
    )]
    SelfRearming {
        /// The guard.
        guard: Guard,
    },

    /// The guard reset matrix names a guard that the system does not have.
    #[error("guard {guard} does not exist: the system has {count} event functions")]
    NoSuchGuard {
        /// The guard.
        guard: Guard,
        /// Number of event functions.
        count: usize,
    },

    /// A time was asked for that the trajectory does not cover.
    #[error("t = {t} lies outside the trajectory, which covers [{start}, {end}]")]
    OutsideTrajectory {
        /// The time asked for (s).
        t: f64,
        /// First time of the trajectory (s).
        start: f64,
        /// Last time of the trajectory (s).
        end: f64,
    },

    /// A user function returned NaN or infinity. Steps that try states beyond its domain are shortened first.
    #[error(
        "{quantity} is not finite at t = {t}, x = {state:?} (a trial point within a step, where it still was so with the shortest one)"
    )]
    NotFinite {
        /// Which function.
        quantity: Quantity,
        /// Time (s).
        t: f64,
        /// State at which it was evaluated.
        state: Vec<f64>,
    },

    /// The start lies on a guard and does not move off it: resting or tangent.
    #[error(
        "the start lies on guard {guard} and moves along it (rate {rate:e}): resting or tangent starts have no side"
    )]
    Tangent {
        /// The guard.
        guard: Guard,
        /// `dh_k/dt` (`u_k`/s).
        rate: f64,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// A guard was reached but liveness fails: sliding, grazing, rest, or guards at one instant whose order matters; outside
    /// event-selected systems.
    #[error(
        "guard {guard} is not live at t = {t}: dh/dt is {rate_before:e} before and {rate_after:e} after the crossing, least rate {least_rate:e}. Opposite signs: sliding, or a hysteresis that wants a one-way watch and a guard reset matrix; almost zero: grazing, rest, or the end of an accumulation (Zeno), to be stopped at or resolved by a change of mode in on_crossing; NaN after: the mode after was not entered"
    )]
    NotLive {
        /// The guard.
        guard: Guard,
        /// `dh_k/dt` in the mode before the crossing (`u_k`/s).
        rate_before: f64,
        /// `dh_k/dt` in the mode after the crossing (`u_k`/s), or, when several guards cross at one instant, in the mode in
        /// which all others have crossed; NaN when the mode was not entered.
        rate_after: f64,
        /// The liveness bound `c_k` (`u_k`/s).
        least_rate: f64,
        /// Time (s).
        t: f64,
        /// State on the guard.
        state: Vec<f64>,
    },

    /// The guard reset matrix arms a guard beyond its surface.
    #[error(
        "crossing {by} arms guard {guard} at t = {t}, but the state is already {beyond:e} beyond it"
    )]
    ArmedBeyond {
        /// The guard to be armed.
        guard: Guard,
        /// The guard whose crossing arms it.
        by: Guard,
        /// How far the state lies beyond the guard (`u_k`).
        beyond: f64,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// A guard would cross twice without progress in time.
    #[error(
        "guard {guard} crosses again at t = {t} without progress in time: events accumulate (Zeno), or a reset undoes its own crossing"
    )]
    NoProgress {
        /// The guard.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// More crossings than allowed: an accumulation of events (Zeno) or a limit set too low.
    #[error(
        "{limit} crossings by t = {t}, the last of guard {guard}: events accumulate (Zeno), or max_events is too low"
    )]
    TooManyEvents {
        /// The limit.
        limit: usize,
        /// The last guard.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// More smooth steps than allowed.
    #[error(
        "{limit} steps by t = {t}: the system is stiff for an explicit method, or max_steps is too low"
    )]
    TooManySteps {
        /// The limit.
        limit: usize,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// The step size shrank to nothing.
    #[error(
        "the step shrank to {step:e} s at t = {t}: a singularity, or tolerances below rounding"
    )]
    StepTooSmall {
        /// The last step tried (s).
        step: f64,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// The model refused a crossing in `on_crossing`.
    #[error("the model refused: {reason}")]
    Model {
        /// The model's own words.
        reason: String,
    },
}

/// Which user function a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Quantity {
    /// The right-hand side; the first offending component.
    #[error("component {component} of the flow")]
    Flow {
        /// Component of `dx`.
        component: usize,
    },
    /// An event function.
    #[error("event function {event}")]
    Event {
        /// Its index.
        event: usize,
    },
    /// The gradient row or the rate of an event function.
    #[error("the gradient of event function {event}")]
    Gradient {
        /// Its index.
        event: usize,
    },
    /// The state after a reset; the first offending component.
    #[error("component {component} of the state after a reset")]
    Reset {
        /// Component of `x`.
        component: usize,
    },
}
