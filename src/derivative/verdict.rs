//! What kind of derivative a run has.

use std::fmt;

use crate::{Error, Guard};

/// What kind of derivative the final state of a run has with respect to its start.
///
/// From best to worst; of several findings the worst stands, the earliest among equals.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// One linear map: the derivative of textbooks.
    Classical,
    /// Continuous and piecewise linear in the direction: the run passes a corner whose orders have different maps.
    Bouligand,
    /// The start lies on a guard, or an event coincides with the start or the final time: the derivative is that of
    /// neighbours on the side on which the run lies. At the end, of the flow just after the event when the run crossed it,
    /// just before it when it did not.
    OneSided {
        /// The guard.
        guard: Guard,
        /// When (s).
        time: f64,
    },
    /// Outcomes differ by order at a corner: the final state jumps there. Directions whose own outcome is the one in which the
    /// run went on have a derivative; the others have a limit and a map of their own behind the corner.
    Discontinuous {
        /// Time of the corner (s).
        time: f64,
        /// Its guards.
        guards: Vec<Guard>,
    },
    /// The theory does not cover the run, for this reason: no statement is made, whatever numbers there are.
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
