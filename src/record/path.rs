//! The observer that keeps everything: nodes and what leads from one to the next, crossings, modes,
//! doubts, as many as memory allows.

use super::corner::{Grouping, Joins};
use super::dense_output::{DenseOutput, Nodes};
use super::options::PerEntry;
use super::{ContactEvent, Doubt, GuardCrossing, Observer, Segment, Status, Transition};
use crate::InputError;
use crate::model::{At, Mode, Stop};
use crate::ode::Interpolant;

/// A mode and the time from which it holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ModeChange {
    /// Time from which the mode holds (s).
    pub t: f64,
    /// The mode.
    pub mode: Mode,
}

/// The data that a path is to keep, and how exactly.
#[derive(Clone, Debug)]
pub(crate) struct Keep {
    /// Tolerances of the steps.
    pub(crate) rtol: PerEntry,
    pub(crate) atol: PerEntry,
    /// Crossings within this of the first are one corner (s).
    pub(crate) corner_tolerance: f64,
    /// Bytes that may be kept.
    pub(crate) max_memory: usize,
}

impl Keep {
    /// The data of drivers in steps of one length: nodes and events, up to so many bytes.
    pub(crate) fn of_steps(max_memory: usize) -> Self {
        Self {
            rtol: PerEntry::Same(0.0),
            atol: PerEntry::Same(0.0),
            corner_tolerance: 0.0,
            max_memory,
        }
    }
}

/// The observer that keeps everything.
#[derive(Clone, Debug)]
pub(crate) struct Path {
    pub(super) dim: usize,
    pub(super) times: Vec<f64>,
    pub(super) states: Vec<f64>,
    dense: DenseOutput,
    pub(super) crossings: Vec<GuardCrossing>,
    /// The number of the corner of each crossing.
    pub(super) groups: Vec<usize>,
    grouping: Grouping,
    group: usize,
    pub(super) corner_tolerance: f64,
    pub(super) modes: Vec<ModeChange>,
    pub(super) mode: Mode,
    pub(super) doubts: Vec<Doubt>,
    /// The log of contacts, in order of time.
    pub(super) events: Vec<ContactEvent>,
    /// Bytes that may be kept, and those that are.
    limit: usize,
    kept: usize,
}

/// Doubts kept, at most.
const MOST_DOUBTS: usize = 1000;

impl Path {
    pub(crate) fn new(keep: Keep) -> Self {
        Self {
            dim: 0,
            times: Vec::new(),
            states: Vec::new(),
            dense: DenseOutput::new(keep.rtol, keep.atol),
            crossings: Vec::new(),
            groups: Vec::new(),
            grouping: Grouping::new(0),
            group: 0,
            corner_tolerance: keep.corner_tolerance,
            modes: Vec::new(),
            mode: Mode::default(),
            doubts: Vec::new(),
            events: Vec::new(),
            limit: keep.max_memory,
            kept: 0,
        }
    }

    /// The status of a run that this path followed.
    pub(crate) fn status(&self, status: Status) -> Status {
        let full = self.is_done() && matches!(status, Status::Ended);
        if !full {
            return status;
        }
        Status::Refused(Stop::RunTooLarge {
            limit: self.limit,
            at: self.end().into(),
        })
    }

    /// True where nothing has come since the start.
    pub(crate) fn is_at_start(&self) -> bool {
        self.times.len() <= 1 && self.events.is_empty()
    }

    /// The end of the path, for an error.
    #[cold]
    pub(crate) fn end(&self) -> At {
        let t = self.times.last().copied().unwrap_or(f64::NAN);
        At::new(t, self.last_state(), &self.mode)
    }

    fn node(&mut self, t: f64, x: &[f64]) {
        self.times.push(t);
        self.states.extend_from_slice(x);
        self.kept += size_of_val(&t) + size_of_val(x);
    }

    /// Keeps the interpolant of what ends at the last node.
    fn dense_to_here(&mut self, interpolant: &Interpolant<'_>) {
        let nodes = Nodes {
            times: &self.times,
            states: &self.states,
        };
        self.dense.push(nodes, interpolant);
    }

    pub(super) fn last_state(&self) -> &[f64] {
        &self.states[self.states.len() - self.dim..]
    }

    /// A time within the path, or at its ends when it lies outside by rounding; refuses others.
    pub(super) fn check_time(&self, t: f64) -> Result<f64, InputError> {
        let start = self.times.first().copied().unwrap_or(f64::NAN);
        let end = self.times.last().copied().unwrap_or(f64::NAN);
        let rounding = 2.0 * f64::EPSILON * start.abs().max(end.abs());
        if t >= start - rounding && t <= end + rounding {
            Ok(t.clamp(start, end))
        } else {
            Err(InputError::OutsideRun { t, start, end })
        }
    }

    /// Writes the state at time `t`, by the dense output.
    pub(super) fn at(&self, t: f64, x: &mut [f64]) -> Result<(), InputError> {
        let t = self.check_time(t)?;
        // The last node at or before t: at an event the one after the reset.
        let node = self.times.partition_point(|&s| s <= t) - 1;
        if self.times[node] >= t {
            x.copy_from_slice(&self.states[node * self.dim..(node + 1) * self.dim]);
            return Ok(());
        }
        let nodes = Nodes {
            times: &self.times,
            states: &self.states,
        };
        self.dense.at(nodes, node, t, x);
        Ok(())
    }
}

impl Observer for Path {
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        self.dim = state.len();
        self.dense.begin(self.dim);
        self.times.clear();
        self.states.clear();
        self.crossings.clear();
        self.groups.clear();
        self.grouping = Grouping::new(0);
        self.group = 0;
        self.modes.clear();
        self.mode.clone_from(mode);
        self.doubts.clear();
        self.events.clear();
        self.kept = 0;
        self.node(t, state);
        self.modes.push(ModeChange {
            t,
            mode: mode.clone(),
        });
    }

    fn segment(&mut self, segment: &Segment<'_>) {
        self.node(segment.t, segment.state);
        self.dense_to_here(&segment.interpolant);
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

    fn contacts(&mut self, event: &ContactEvent) {
        // A touch is seen after the crossings of the step it lies in.
        let place = self.events.partition_point(|before| before.t <= event.t);
        self.kept += event.bytes();
        self.events.insert(place, event.clone());
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
        // The memory that a segment and its crossings add comes on top.
        let segment = (6 * self.dim + 8) * size_of::<f64>();
        self.kept + self.dense.bytes() + segment > self.limit
    }
}
