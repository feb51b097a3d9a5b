//! The end of a run, and its counts.

use std::fmt;

use crate::model::{Guard, Stop};

/// The end of a run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Status {
    /// It reached the final time.
    ReachedEnd,
    /// Guards that end the run were crossed, all at the final time.
    Stopped {
        /// Guards that ended it.
        guards: Vec<Guard>,
    },
    /// The observer, or a policy of the driver, asked for the end.
    Ended,
    /// It cannot go on, or must not: the reason.
    Refused(Stop),
}

impl Status {
    /// The reason for which the run could not go on; none where it came to its end, or was ended on
    /// purpose.
    pub fn stop(&self) -> Option<&Stop> {
        match self {
            Self::Refused(stop) => Some(stop),
            Self::ReachedEnd | Self::Stopped { .. } | Self::Ended => None,
        }
    }

    /// The reason of type `E` for which the run could not go on: that of a driver above the core
    /// (`event_driven::Breakdown`, `variational::VariationalFailure`,
    /// `compliant::CompliantFailure`) or of a model.
    pub fn reason<E: std::error::Error + 'static>(&self) -> Option<&E> {
        self.stop()?.downcast()
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ReachedEnd => f.write_str("reached the end"),
            Self::Stopped { guards } => {
                f.write_str("stopped by")?;
                guards
                    .iter()
                    .try_for_each(|guard| write!(f, " guard {guard}"))
            }
            Self::Ended => f.write_str("ended as it was asked to: by its observer or a policy"),
            Self::Refused(reason) => write!(f, "refused: {reason}"),
        }
    }
}

/// Counts of evaluations, steps and crossings of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Statistics {
    /// Evaluations of the flow `f`.
    pub flow: usize,
    /// Updates of `f` by the user's `flip`.
    pub flip: usize,
    /// Evaluations of all event functions at once.
    pub events: usize,
    /// Evaluations of single event functions, beside those and beside those of differences.
    pub event: usize,
    /// Rows of `Dh`, or differences in their stead, each counted as one.
    pub gradient: usize,
    /// Windows of smooth steps in which event functions were sampled, at three places each beside
    /// their start. Steps with no guard in reach, by what is declared of them, have none.
    pub windows: usize,
    /// Windows narrowed because their samples did not settle what happens between them.
    pub narrowed: usize,
    /// Windows of guards whose samples did not settle it however narrow the window was, and fixed
    /// steps with too many windows; of an event-driven run also steps in which a gap or a force was found
    /// to touch zero, or a contact to be off its surface.
    pub unresolved: usize,
    /// Decisions that the error of the run might turn.
    pub doubts: usize,
    /// Accepted smooth steps.
    pub steps: usize,
    /// Smooth steps rejected by the error test.
    pub rejections: usize,
    /// Projections onto a guard.
    pub projections: usize,
    /// Projections given up: error test failed, or the order could not be repaired.
    pub projections_failed: usize,
    /// Projections redone because another guard comes first.
    pub repairs: usize,
    /// Crossings located on the interpolant of a smooth step.
    pub locations: usize,
    /// Guards crossed.
    pub crossings: usize,
    /// Calls of `on_crossing` that changed the state or the mode.
    pub resets: usize,
    /// The number of times that the run went on by a rule of the driver where the motion has no
    /// derivative, or is not that of its method: an accumulation absorbed, a touch taken as a
    /// contact, impacts too close to be distinguished taken as one, a slip that stops by rounding held, a step made in
    /// two halves.
    pub rulings: usize,
}

/// The end of a run of which nothing is kept.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Summary {
    /// The end of the run: reached, stopped, or refused with a reason.
    pub status: Status,
    /// The time at which it ended (s).
    pub t: f64,
    /// Counts of evaluations and steps.
    pub statistics: Statistics,
}

impl Statistics {
    /// See [`Run::is_guaranteed`](crate::Run::is_guaranteed).
    pub fn is_guaranteed(&self) -> bool {
        self.doubts == 0 && self.unresolved == 0 && self.rulings == 0
    }
}
