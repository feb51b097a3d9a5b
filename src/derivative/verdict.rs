//! What kind of derivative a run has.

use std::fmt;

use crate::{Error, Guard};

/// What kind of derivative the final state of a run has with respect to its start.
///
/// From best to worst; of several findings the worst stands, the earliest among equals.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// One linear map: the derivative of textbooks. At corners of more than twelve guards, or six with resets, as far as pairs of guards
    /// tell: see [`Compared`](super::Compared).
    Classical,
    /// Continuous and piecewise linear in the direction: the run passes a corner whose orders have different maps, or not all of whose
    /// orders were compared.
    Bouligand,
    /// The start lies on a guard, or an event coincides with the start or the final time: the derivative is that of
    /// neighbours on the side on which the run lies; [`Derivative::apply`](super::Derivative::apply) refuses directions to the
    /// other side. At the end it is that of the flow just after the event when the run crossed it, just before it when it did
    /// not. Within the corner tolerance in time counts as on.
    OneSided {
        /// The guard.
        guard: Guard,
        /// When (s).
        time: f64,
    },
    /// Outcomes differ by order at a corner: the final state jumps there. A direction whose outcome is the one in which the run
    /// went on has a derivative; the others have a limit and a map of their own behind the corner
    /// ([`Derivative::regions`](super::Derivative::regions)). The run itself, which meets all guards at once, may go on as no
    /// direction does; [`Integrator::corner_order`](crate::Integrator::corner_order) makes it follow one of them.
    Discontinuous {
        /// Time of the corner (s).
        time: f64,
        /// Its guards.
        guards: Vec<Guard>,
    },
    /// The theory does not cover the run, for this reason. Numbers are given only where they mean something: see
    /// [`Derivative::apply`](super::Derivative::apply).
    NotGuaranteed(Error),
}

impl Verdict {
    /// Takes in one more finding.
    pub(super) fn worsen(&mut self, other: Self) {
        if other.rank() > self.rank() {
            *self = other;
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Self::Classical => 0,
            Self::Bouligand => 1,
            Self::OneSided { .. } => 2,
            Self::Discontinuous { .. } => 3,
            Self::NotGuaranteed(_) => 4,
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Classical => f.write_str("classical: one linear map"),
            Self::Bouligand => f.write_str("Bouligand: continuous and piecewise linear"),
            Self::OneSided { guard, time } => {
                write!(
                    f,
                    "one-sided: guard {guard} at t = {time}, at the edge of the run"
                )
            }
            Self::Discontinuous { time, guards } => {
                write!(
                    f,
                    "discontinuous: at t = {time} the outcome depends on the order of guards"
                )?;
                guards.iter().try_for_each(|guard| write!(f, " {guard}"))
            }
            Self::NotGuaranteed(reason) => write!(f, "not guaranteed: {reason}"),
        }
    }
}
