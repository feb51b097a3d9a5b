//! The kinds of derivative of a run, and the reasons for which there is none, or not the one that was
//! asked for.

use std::fmt;

use crate::interrupt::Interrupted;
use crate::{Doubt, Guard, InputError, Quantity, Stop};

/// The kind of derivative that the final state of a run has with respect to its start.
///
/// From best to worst. Of several findings the worst counts, and the earliest among equals.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// One linear map. At corners of more than twelve guards, or six with resets, only pairs of
    /// guards are compared: see [`Compared`](super::Compared).
    Classical,
    /// Continuous and piecewise linear in the direction: the run passes a corner whose orders have
    /// different maps, or not all of whose orders were compared.
    Bouligand,
    /// The start lies on a guard, or an event coincides with the start or the final time (a contact that
    /// sticks or slips from the first instant on is one): the
    /// derivative is that of neighbours on the side on which the run lies;
    /// [`Derivative::apply`](super::Derivative::apply) refuses directions to the other side. At the
    /// end it is that of the flow just after the event when the run crossed it, and just before it
    /// when it did not. Within the corner tolerance in time counts as coinciding.
    OneSided {
        /// The guard.
        guard: Guard,
        /// Time (s).
        t: f64,
    },
    /// The run met guards one by one, closer in time than its errors resolve, and their orders do
    /// not all have the same map or outcome: it may have met a corner. Numbers are those of the
    /// order of the run, which are not those of the corner for directions that take another order.
    /// [`Derivative::possible_corner`](super::Derivative::possible_corner) gives the kind of that
    /// corner, [`Derivative::possible_pieces`](super::Derivative::possible_pieces) the map of each
    /// order. A run with a smaller tolerance resolves more.
    PossibleCorner {
        /// Time at which the first of them was crossed (s).
        t: f64,
        /// The guards, in the order in which the run met them.
        guards: Vec<Guard>,
        /// Time from the first to the last, as it was expected at the first (s).
        apart: f64,
        /// The error of that time (s), estimated from the errors of the steps before.
        error: f64,
    },
    /// Outcomes differ by order at a corner: the final state jumps there, or neighbours leave the corner by maps that
    /// disagree where two of their pieces meet. Directions with the outcome of the run have a derivative. The others
    /// have a limit and a map of their own after the corner ([`Derivative::pieces_at`](super::Derivative::pieces_at)).
    /// The run itself, which meets all guards at once, may have an outcome that no direction has;
    /// [`Integrator::corner_order`](crate::Integrator::corner_order) makes it follow one of them where they are met at
    /// exactly one instant. A direction along which guards stay at one instant exactly is taken across them one by
    /// one, and refused where that has another outcome than the run. Of other corners this
    /// verdict says nothing: whether the error of the run hides the order of guards,
    /// [`Derivative::possible_corner`](super::Derivative::possible_corner) tells.
    Discontinuous {
        /// Time of the corner (s).
        t: f64,
        /// Its guards.
        guards: Vec<Guard>,
    },
    /// The theory does not cover the run, for this reason. Numbers are given only where they mean
    /// something: see [`Derivative::apply`](super::Derivative::apply).
    NotGuaranteed(NoDerivative),
}

impl Verdict {
    /// Adds one more finding.
    pub(crate) fn worsen(&mut self, other: Self) {
        if other.rank() > self.rank() {
            *self = other;
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Classical => 0,
            Self::Bouligand => 1,
            Self::OneSided { .. } => 2,
            Self::PossibleCorner { .. } => 3,
            Self::Discontinuous { .. } => 4,
            Self::NotGuaranteed(_) => 5,
        }
    }

    /// True when a possible corner cannot worsen it.
    pub(crate) fn is_past_possible(&self) -> bool {
        self.rank() >= 3
    }

    /// The verdict on a run with a doubt.
    pub(crate) fn of_doubt(doubt: &Doubt) -> Self {
        match *doubt {
            Doubt::Touch { guard, t, gap, .. } => {
                Self::NotGuaranteed(NoDerivative::Touch { guard, t, gap })
            }
            // The derivative examines such guards itself, with a better estimate of the error.
            // The others say nothing of how the run depends on its start.
            Doubt::TurnedAway { .. }
            | Doubt::Order { .. }
            | Doubt::SharedLoads { .. }
            | Doubt::Push { .. }
            | Doubt::Sunk { .. }
            | Doubt::Apart { .. }
            | Doubt::Friction { .. } => Self::Classical,
            Doubt::Shallow {
                guard, t, depth, ..
            } => Self::NotGuaranteed(NoDerivative::Shallow { guard, t, depth }),
            Doubt::AtEnd { guard, t, .. } => Self::OneSided { guard, t },
            Doubt::Rearmed { t } => Self::NotGuaranteed(NoDerivative::ModeWithoutGuard { t }),
            Doubt::Unsearched { t } => Self::NotGuaranteed(NoDerivative::Unsearched { t }),
            Doubt::Halved { t } => Self::NotGuaranteed(NoDerivative::Halved { t }),
            Doubt::Unresolved { guard, t, error } => {
                Self::NotGuaranteed(NoDerivative::Unresolved { guard, t, error })
            }
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Classical => f.write_str("classical: one linear map"),
            Self::Bouligand => f.write_str("Bouligand: continuous and piecewise linear"),
            Self::OneSided { guard, t } => {
                write!(
                    f,
                    "one-sided: guard {guard} at t = {t}, at the edge of the run"
                )
            }
            Self::PossibleCorner {
                t,
                guards,
                apart,
                error,
            } => {
                write!(
                    f,
                    "possibly a corner: at t = {t} the order matters of guards that are {apart:e} s apart, with an error of {error:e} s:"
                )?;
                guards.iter().try_for_each(|guard| write!(f, " {guard}"))
            }
            Self::Discontinuous { t, guards } => {
                write!(
                    f,
                    "discontinuous: at t = {t} the outcome depends on the order of guards"
                )?;
                guards.iter().try_for_each(|guard| write!(f, " {guard}"))
            }
            Self::NotGuaranteed(reason) => write!(f, "not guaranteed: {reason}"),
        }
    }
}

/// The reason for which there is no derivative, or not the one that was asked for.
///
/// A [`Verdict`](crate::Verdict) that guarantees nothing carries this as its reason.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoDerivative {
    /// A crossing that is repeated, at the same state or close by, has another outcome than in the
    /// run.
    #[error(
        "the crossing at t = {t} comes out otherwise when it is repeated at or close to x = {state:?}: on_crossing must be a function of its arguments, and choose the same mode close by; of a ContactModel: contacts change otherwise for a state or a parameter beside it"
    )]
    NotRepeatable {
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// Finite differences in place of a derivative disagree at every step length.
    #[error(
        "{quantity} at t = {t}, x = {state:?} is not known: nobody wrote it, and its differences disagree however short the step is: it does not exist there, or it must be written"
    )]
    DifferencesDisagree {
        /// The derivative.
        quantity: Quantity,
        /// Time (s).
        t: f64,
        /// State.
        state: Vec<f64>,
    },

    /// The reset of one guard of a corner moves the state, to first order, towards or away from
    /// another, which is crossed at the same instant, or puts it there; or it leaves the state on the guard that it
    /// follows itself, of which its partner is named, and puts neighbours off it.
    #[error(
        "at the corner at t = {t} the reset of guard {by} moves the state relative to guard {guard} at the same instant: neighbours may be carried across or meet it again, and first order does not tell; where it is the reset that decides on which side of it they are, it must say so: mode.set({}, {})",
        .guard.event, .guard.side_after()
    )]
    MovedGuard {
        /// The guard that is moved.
        guard: Guard,
        /// The guard whose reset moves it.
        by: Guard,
        /// Time (s).
        t: f64,
    },

    /// The mode and the field changed where no guard was crossed.
    #[error(
        "the mode changed at t = {t} by the rule WhenEmpty, at the end of a step and not on a guard, and the field changed with it: no derivative accounts for that; use Rearm::Pairs"
    )]
    ModeWithoutGuard {
        /// Time (s).
        t: f64,
    },

    /// A guard was touched without being crossed, to within the error of the run.
    #[error(
        "guard {guard} is touched at t = {t} to within {gap:e}, less than the tolerances tell from a crossing: neighbours cross it or do not"
    )]
    Touch {
        /// The guard.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// Distance left (`u_k`).
        gap: f64,
    },

    /// A guard was crossed by less than the error of the run.
    #[error(
        "guard {guard} is crossed at t = {t} by no more than {depth:e}, less than the tolerances tell from a touch: neighbours cross it or do not"
    )]
    Shallow {
        /// The guard.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// Depth beyond the guard (`u_k`).
        depth: f64,
    },

    /// The samples do not resolve an event function.
    #[error(
        "what the event function of guard {guard} does near t = {t} was not settled, however close samples were (to {error:e}): noise, or oscillations faster than the search goes"
    )]
    Unresolved {
        /// The guard.
        guard: Guard,
        /// Time (s).
        t: f64,
        /// Largest deviation of the event function between samples (`u_k`).
        error: f64,
    },

    /// Guards were searched for at samples only.
    #[error(
        "guards were looked for at the samples of steps only, from t = {t} on: what lies between is not known; use Resolution::Adaptive"
    )]
    Unsearched {
        /// From when on (s).
        t: f64,
    },

    /// A step was made in two halves ([`Doubt::Halved`](crate::Doubt::Halved)).
    #[error("the step from t = {t} on was made in two halves; take shorter steps")]
    Halved {
        /// Time (s).
        t: f64,
    },

    /// A matrix was asked for where the run may have met a corner.
    #[error(
        "guards {} are met within {apart:e} s at t = {t}, which is known to {error:e} s only, and their orders have different maps: the run may have met a corner; ask possible_corner() for them, a smaller tolerance for more, apply(v) for the order of this run",
        list(guards)
    )]
    PossibleCorner {
        /// Time at which the first of them was crossed (s).
        t: f64,
        /// The guards.
        guards: Vec<Guard>,
        /// Time from the first to the last (s).
        apart: f64,
        /// The error of that time (s).
        error: f64,
    },

    /// A matrix was asked for where the derivative is piecewise linear.
    #[error(
        "the derivative is no single matrix: the orders of guards {} at the corner at t = {t} have different maps; ask apply(v) for a direction, matrix_towards(v) for its piece, pieces() for all",
        list(guards)
    )]
    PiecewiseLinear {
        /// Time of the corner (s).
        t: f64,
        /// Its guards.
        guards: Vec<Guard>,
    },

    /// A matrix was asked for where the derivative is one-sided.
    #[error(
        "the derivative is that of one side: the run starts or ends on guard {guard}, at t = {t}; apply(v) speaks of displacements that stay on its side, matrix_towards(v) gives their map; of the others a start speaks that lies clear of the guard on their side"
    )]
    OneSided {
        /// The guard.
        guard: Guard,
        /// Time (s).
        t: f64,
    },

    /// A derivative was asked for where outcomes jump.
    #[error(
        "the outcome depends on the order in which guards are met at the corner at t = {t}: that of {} is not that of the run; pieces_at(i) holds the limits and maps of all orders; where they are met at exactly one instant a run with corner_order goes on from one of them",
        list(order)
    )]
    Discontinuous {
        /// Time of the corner (s).
        t: f64,
        /// The order in which the direction asked for meets the guards, or that of the run.
        order: Vec<Guard>,
    },

    /// Too many guards in one corner, or too many pieces, to list them all.
    #[error(
        "the corner at t = {t} has {guards} guards, and pieces are listed up to {limit}: ask apply(v) or matrix_towards(v), which cost no more for many"
    )]
    TooManyOrders {
        /// Guards at the corner.
        guards: usize,
        /// The limit.
        limit: usize,
        /// Time of the corner (s).
        t: f64,
    },

    /// A corner is too large for a search of its orders.
    #[error(
        "the corner at t = {t} has {guards} guards and more than {limit} {what}: its orders are too many to be compared, or resets throw the state back again and again"
    )]
    CornerTooLarge {
        /// Guards at the corner.
        guards: usize,
        /// The objects that are too many.
        what: &'static str,
        /// The limit.
        limit: usize,
        /// Time of the corner (s).
        t: f64,
    },

    /// A matrix was asked for where the orders of a corner were compared along some directions
    /// only.
    #[error(
        "not all orders of guards {} at the corner at t = {t} were compared: the {directions} directions that were have one map, matrix_towards(v) for any v, but others may have another; ask apply(v) for a direction",
        list(guards)
    )]
    OrdersNotCompared {
        /// Time of the corner (s).
        t: f64,
        /// Its guards.
        guards: Vec<Guard>,
        /// The number of directions that were compared.
        directions: usize,
    },

    /// The row of a time shift was asked for where it depends on the order in which guards are met.
    #[error(
        "how the time of guard {guard} shifts depends on the order of guards {} at the corner at t = {t}, or that was not compared: ask event_time_shift(i, v) for a direction",
        list(guards)
    )]
    TimeDependsOnOrder {
        /// The guard whose time it is.
        guard: Guard,
        /// Time of the corner (s).
        t: f64,
        /// Its guards.
        guards: Vec<Guard>,
    },

    /// More cones of displacements than are listed.
    #[error(
        "the corners of the run up to t = {t} divide displacements into more than {limit} cones, and pieces are listed up to that: ask apply(v) or matrix_towards(v), which cost no more for many"
    )]
    TooManyPieces {
        /// The limit.
        limit: usize,
        /// Time of the corner that exceeds it (s).
        t: f64,
    },

    /// A derivative of too many states.
    #[error(
        "the derivative of {states} states takes {bytes} bytes of workspace, and no more than {limit} are allowed: raise max_memory (up to 8192 states), or carry a few directions (Sensitivities)"
    )]
    DerivativeTooLarge {
        /// Number of states.
        states: usize,
        /// Its workspace (bytes).
        bytes: usize,
        /// The limit (bytes).
        limit: usize,
    },

    /// The run, or a crossing that is repeated for the derivative, ended early.
    #[error(transparent)]
    Stop(Stop),

    /// Bad input.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl From<Stop> for NoDerivative {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Input(error) => Self::Input(error),
            stop => Self::Stop(stop),
        }
    }
}

impl From<Interrupted> for NoDerivative {
    fn from(interrupted: Interrupted) -> Self {
        Self::Stop(interrupted.into())
    }
}

/// Guards in words, for messages.
fn list(guards: &[Guard]) -> String {
    let words: Vec<_> = guards.iter().map(ToString::to_string).collect();
    words.join(", ")
}
