//! The kinds of derivative of a run.

use std::fmt;

use crate::{Doubt, Guard, NoDerivative};

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
    /// The start lies on a guard, or an event coincides with the start or the final time: the
    /// derivative is that of neighbours on the side on which the run lies;
    /// [`Derivative::apply`](super::Derivative::apply) refuses directions to the other side. At the
    /// end it is that of the flow just after the event when the run crossed it, and just before it
    /// when it did not. Within the corner tolerance in time counts as coinciding.
    OneSided {
        /// The guard.
        guard: Guard,
        /// When (s).
        t: f64,
    },
    /// The run met guards one by one, closer in time than its errors resolve, and their orders do
    /// not all have the same map or outcome: it may have met a corner. Numbers are those of the
    /// order of the run, which are not those of the corner for directions that take another order.
    /// [`Derivative::possible_corner`](super::Derivative::possible_corner) gives the kind of that
    /// corner, [`Derivative::possible_pieces`](super::Derivative::possible_pieces) the map of each
    /// order. A run with a smaller tolerance resolves more.
    PossibleCorner {
        /// When the first of them was crossed (s).
        t: f64,
        /// The guards, in the order in which the run met them.
        guards: Vec<Guard>,
        /// Time from the first to the last, as it was expected at the first (s).
        apart: f64,
        /// The error of that time (s), estimated from the errors of the steps before.
        error: f64,
    },
    /// Outcomes differ by order at a corner: the final state jumps there. Directions with the
    /// outcome of the run have a derivative. The others have a limit and a map of their own after
    /// the corner ([`Derivative::pieces_at`](super::Derivative::pieces_at)). The run itself, which
    /// meets all guards at once, may have an outcome that no direction has;
    /// [`Integrator::corner_order`](crate::Integrator::corner_order) makes it follow one of them.
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
            Doubt::TurnedAway { .. } => Self::Classical,
            Doubt::Shallow {
                guard, t, depth, ..
            } => Self::NotGuaranteed(NoDerivative::Shallow { guard, t, depth }),
            Doubt::AtEnd { guard, t, .. } => Self::OneSided { guard, t },
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
