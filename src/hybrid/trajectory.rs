//! Result of a run: nodes, crossings, corners, modes, dense output, statistics, status.

use nalgebra::{DMatrixView, DVector, DVectorView};

use super::corner::{self, Corner};
use super::path::{ModeChange, Path};
use super::{Doubt, GuardCrossing, Mode, Statistics, Status};
use crate::{InputError, Start, Stop};

/// Everything a run computed: complete up to the time at which it ended, whatever the reason.
#[derive(Clone, Debug)]
pub struct Trajectory {
    status: Status,
    statistics: Statistics,
    path: Path,
    state: DVector<f64>,
    corners: Vec<Corner>,
}

impl Trajectory {
    pub(crate) fn new(path: Path, status: Status, statistics: Statistics) -> Self {
        let state = DVector::from_column_slice(path.last_state());
        let corners = corner::corners(&path.crossings, &path.groups, path.corner_tolerance);
        Self {
            status,
            statistics,
            path,
            state,
            corners,
        }
    }

    /// How the run ended.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// The trajectory, if the run reached its end or was stopped by a guard; for those who want `?`
    /// to see refusals too.
    ///
    /// # Errors
    /// The reason of a run that was refused.
    pub fn completed(self) -> Result<Self, Stop> {
        match self.status {
            Status::Refused(reason) => Err(reason),
            Status::ReachedEnd | Status::Stopped { .. } | Status::Ended => Ok(self),
        }
    }

    /// The mode at time `t`; at a crossing the one after it.
    ///
    /// # Errors
    /// [`InputError::OutsideTrajectory`] when the run did not get to `t`.
    pub fn mode_at(&self, t: f64) -> Result<&Mode, InputError> {
        let t = self.path.check_time(t)?;
        let after = self.path.modes.partition_point(|change| change.t <= t);
        Ok(&self.path.modes[after.max(1) - 1].mode)
    }

    /// True when the run met nothing that its error might turn, and nothing that it could not
    /// resolve: every crossing is one of the system, and there are no others, as far as [`Doubt`]
    /// tells. Errors are those of the steps, as they are made: where the motion spreads neighbours (many
    /// bounces, chaos) they grow beyond what is reckoned with, and a run at a tighter tolerance is
    /// the test. Of a run in chunks each chunk must say so, for its own errors: those of the state
    /// that a chunk starts from are not known to it. False under
    /// [`Resolution::Samples`](super::Resolution::Samples). It speaks of the part that was
    /// computed: a refused run can be guaranteed up to its end, so that [`status`](Self::status) is
    /// to be asked too.
    pub fn is_guaranteed(&self) -> bool {
        self.statistics.is_guaranteed()
    }

    /// The decisions that the error of the run might turn, in order of time; at most a thousand are
    /// kept.
    pub fn doubts(&self) -> &[Doubt] {
        &self.path.doubts
    }

    /// Counts of evaluations and steps of the run.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// The time at which the run ended (s).
    pub fn t(&self) -> f64 {
        self.path.times.last().copied().unwrap_or(f64::NAN)
    }

    /// The state at which the run ended, after any reset.
    pub fn state(&self) -> &DVector<f64> {
        &self.state
    }

    /// The mode in which the run ended; a later run can start from it.
    pub fn mode(&self) -> &Mode {
        &self.path.mode
    }

    /// Time, state and mode at its end: where a later run goes on.
    ///
    /// ```
    /// use saltation::{Integrator, Start, models::Hopper};
    /// let mut integrator = Integrator::new(Hopper::default())?;
    /// let first = integrator.integrate(&Start::at(0.0).x(&[2.0, 0.0]), 0.7)?;
    /// let second = integrator.integrate(&first.end(), 2.0)?;
    /// assert_eq!(first.crossings().len() + second.crossings().len(), 4);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    pub fn end(&self) -> Start<'_> {
        let start = Start::at(self.t()).x(self.state.as_slice());
        start.mode(self.mode())
    }

    /// Times of the nodes: the start, the ends of all segments, and a second node after each reset
    /// (s).
    pub fn times(&self) -> &[f64] {
        &self.path.times
    }

    /// States at the nodes, one column a node.
    pub fn states(&self) -> DMatrixView<'_, f64> {
        DMatrixView::from_slice(&self.path.states, self.path.dim, self.path.times.len())
    }

    /// The nodes, as time and state.
    pub fn nodes(&self) -> impl Iterator<Item = (f64, DVectorView<'_, f64>)> {
        let states = self.path.states.chunks_exact(self.path.dim);
        self.path
            .times
            .iter()
            .zip(states)
            .map(|(&t, x)| (t, DVectorView::from_slice(x, x.len())))
    }

    /// The guards crossed, in order of time.
    pub fn crossings(&self) -> &[GuardCrossing] {
        &self.path.crossings
    }

    /// Crossings at one instant, within the corner tolerance, grouped.
    pub fn corners(&self) -> &[Corner] {
        &self.corners
    }

    /// The modes in the order in which they were entered, the first at the start. A mode left at
    /// the instant it was entered is listed too.
    pub fn modes(&self) -> &[ModeChange] {
        &self.path.modes
    }

    /// The state at time `t`, from the dense output (4th order); at a reset the state after it.
    ///
    /// # Errors
    /// [`InputError::OutsideTrajectory`] when the run did not get to `t`.
    pub fn at(&self, t: f64) -> Result<DVector<f64>, InputError> {
        let mut x = DVector::zeros(self.path.dim);
        self.path.at(t, x.as_mut_slice())?;
        Ok(x)
    }
}
