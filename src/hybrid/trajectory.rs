//! What a run returns: nodes, crossings, corners, modes, dense output, statistics, status.

use nalgebra::{DMatrixView, DVector, DVectorView};

use super::corner::{self, Corner};
use super::grouping::{Grouping, Joins};
use super::{At, Doubt, GuardCrossing, Mode, Observer, Segment, Statistics, Status, Transition};
use crate::ode::Interpolant;
use crate::{InputError, Stop};

/// A mode and the time from which it holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModeChange {
    /// Time from which the mode holds (s).
    pub t: f64,
    /// The mode.
    pub mode: Mode,
}

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

    /// What the run cost.
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

/// The observer that keeps everything.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    dim: usize,
    times: Vec<f64>,
    states: Vec<f64>,
    /// Start, length and (5 × dim) coefficients of each segment's interpolant; segment i ends at
    /// node `ends[i]`.
    ends: Vec<usize>,
    spans: Vec<(f64, f64)>,
    coefficients: Vec<f64>,
    crossings: Vec<GuardCrossing>,
    /// The number of the corner of each crossing.
    groups: Vec<usize>,
    grouping: Grouping,
    group: usize,
    corner_tolerance: f64,
    modes: Vec<ModeChange>,
    mode: Mode,
    doubts: Vec<Doubt>,
    /// Bytes that may be kept, and those that are.
    limit: usize,
    kept: usize,
}

/// Doubts kept, at most.
const MOST_DOUBTS: usize = 1000;

impl Path {
    /// Keeps up to so many bytes; crossings within `corner_tolerance` (s) are one corner.
    pub(crate) fn new(limit: usize, corner_tolerance: f64) -> Self {
        Self {
            dim: 0,
            times: Vec::new(),
            states: Vec::new(),
            ends: Vec::new(),
            spans: Vec::new(),
            coefficients: Vec::new(),
            crossings: Vec::new(),
            groups: Vec::new(),
            grouping: Grouping::new(0),
            group: 0,
            corner_tolerance,
            modes: Vec::new(),
            mode: Mode::default(),
            doubts: Vec::new(),
            limit,
            kept: 0,
        }
    }

    /// How a run ended that this path followed.
    pub(crate) fn status(&self, status: Status) -> Status {
        let full = self.is_done() && matches!(status, Status::Ended);
        if !full {
            return status;
        }
        Status::Refused(Stop::TrajectoryTooLarge {
            limit: self.limit,
            at: self.end().into(),
        })
    }

    /// Where the path ends, for an error.
    #[cold]
    pub(crate) fn end(&self) -> At {
        let t = self.times.last().copied().unwrap_or(f64::NAN);
        At::new(t, self.last_state(), &self.mode)
    }

    /// Counts so many bytes that are kept beside the path.
    pub(crate) fn keep(&mut self, bytes: usize) {
        self.kept += bytes;
    }

    fn node(&mut self, t: f64, x: &[f64]) {
        self.times.push(t);
        self.states.extend_from_slice(x);
        self.kept += size_of_val(&t) + size_of_val(x);
    }

    /// Takes in a state and a mode that a driver set between two runs, after a motion it made
    /// itself.
    pub(crate) fn jump(&mut self, t: f64, x: &[f64], mode: &Mode) {
        // A segment of its own, so that the dense output has no hole.
        let start = self.times.last().copied().unwrap_or(t);
        let before = self.last_state().to_vec();
        self.node(t, x);
        self.ends.push(self.times.len() - 1);
        self.spans.push((start, t - start));
        self.kept += 5 * size_of_val(x) + size_of::<(usize, f64, f64)>();
        for c in 0..5 {
            for i in 0..self.dim {
                self.coefficients.push(match c {
                    0 => before[i],
                    1 => x[i] - before[i],
                    _ => 0.0,
                });
            }
        }
        self.settled(t, x, mode);
    }

    fn last_state(&self) -> &[f64] {
        &self.states[self.states.len() - self.dim..]
    }

    /// A time within the path, or at its ends when it lies outside by rounding; refuses others.
    fn check_time(&self, t: f64) -> Result<f64, InputError> {
        let start = self.times.first().copied().unwrap_or(f64::NAN);
        let end = self.times.last().copied().unwrap_or(f64::NAN);
        let rounding = 2.0 * f64::EPSILON * start.abs().max(end.abs());
        if t >= start - rounding && t <= end + rounding {
            Ok(t.clamp(start, end))
        } else {
            Err(InputError::OutsideTrajectory { t, start, end })
        }
    }

    fn at(&self, t: f64, x: &mut [f64]) -> Result<(), InputError> {
        let t = self.check_time(t)?;
        // The last node at or before t: at an event the one after the reset.
        let node = self.times.partition_point(|&s| s <= t) - 1;
        if self.times[node] >= t {
            x.copy_from_slice(&self.states[node * self.dim..(node + 1) * self.dim]);
            return Ok(());
        }
        let segment = self.ends.partition_point(|&end| end <= node);
        let (t0, length) = self.spans[segment];
        let size = 5 * self.dim;
        let coefficients = &self.coefficients[segment * size..(segment + 1) * size];
        Interpolant::from_flat(t0, length, coefficients, self.dim).at(t, x);
        Ok(())
    }
}

impl Observer for Path {
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        *self = Self {
            dim: state.len(),
            mode: mode.clone(),
            ..Self::new(self.limit, self.corner_tolerance)
        };
        self.node(t, state);
        self.modes.push(ModeChange {
            t,
            mode: mode.clone(),
        });
    }

    fn segment(&mut self, segment: &Segment<'_>) {
        self.node(segment.t, segment.state);
        self.ends.push(self.times.len() - 1);
        let interpolant = &segment.interpolant;
        self.spans.push((interpolant.start, interpolant.length));
        for row in interpolant.coefficients {
            self.coefficients.extend_from_slice(row);
            self.kept += size_of_val(row);
        }
        self.kept += size_of::<(usize, f64, f64)>();
    }

    fn transition(&mut self, set: &Transition<'_>) {
        let joins = self.grouping.joins(set, self.corner_tolerance);
        self.group += usize::from(joins == Joins::Opens);
        self.grouping.take(set, joins);
    }

    fn crossing(&mut self, crossing: &GuardCrossing) {
        self.crossings.push(crossing.clone());
        self.groups.push(self.group);
        self.kept += size_of::<GuardCrossing>() + size_of_val(crossing.state.as_slice());
    }

    fn doubt(&mut self, doubt: &Doubt) {
        if self.doubts.len() < MOST_DOUBTS {
            self.doubts.push(*doubt);
        }
    }

    fn settled(&mut self, t: f64, state: &[f64], mode: &Mode) {
        if self.last_state() != state {
            self.node(t, state);
        }
        if self.mode != *mode {
            self.mode.clone_from(mode);
            self.modes.push(ModeChange {
                t,
                mode: mode.clone(),
            });
            self.kept += size_of::<ModeChange>() + mode.len() / 8;
        }
    }

    fn is_done(&self) -> bool {
        // What a segment and its crossings add comes on top.
        let segment = (6 * self.dim + 8) * size_of::<f64>();
        self.kept + segment > self.limit
    }
}
