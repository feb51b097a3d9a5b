//! A run: everything that a driver reported, and everything that can be done with it.

use std::io::{self, Write};

use nalgebra::{DMatrixView, DVector, DVectorView};

use super::corner::{self, Corner};
use super::path::{ModeChange, Path};
use super::table::{BodyLayout, Columns, Table};
use super::{
    ContactEvent, Doubt, GuardCrossing, Phase, Start, Statistics, Status, Summary, sequence,
    step_count,
};
use crate::model::{Guard, Mode, Stop};
use crate::{InputError, validate};

/// Limit of the memory of sampled states (bytes).
const MOST_SAMPLED: usize = 1 << 30;

/// Everything a run computed, whichever driver made it: complete up to the time at which it ended,
/// whatever the reason. A [`Page`](crate::Page) shows it in a browser.
///
/// ```
/// use saltation::{Integrator, Start, models::Hopper};
/// let start = Start::at(0.0).x(&[2.0, 0.0]);
/// let run = Integrator::new(Hopper::default())?.integrate(&start, 2.0)?.completed()?;
/// let film = run.every(0.02)?; // 101 states
/// assert_eq!(film.states.column(50), run.state_at(1.0)?);
/// let mut table = Vec::new();
/// run.write_csv(&mut table)?;
/// assert!(table.starts_with(b"t,x0,x1,mode\n0.0,2.0,0.0,0\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Run {
    status: Status,
    statistics: Statistics,
    path: Path,
    state: DVector<f64>,
    corners: Vec<Corner>,
    /// Of bodies; none where a state is not `(q, v)`.
    bodies: Option<BodyLayout>,
}

impl Run {
    /// A run from the path that followed it and its end.
    pub(crate) fn new(path: Path, summary: Summary, bodies: Option<BodyLayout>) -> Self {
        let state = DVector::from_column_slice(path.last_state());
        let corners = corner::corners(&path.crossings, &path.groups, path.corner_tolerance);
        Self {
            status: path.status(summary.status),
            statistics: summary.statistics,
            path,
            state,
            corners,
            bodies,
        }
    }

    /// The end of the run: reached, stopped, or refused with a reason.
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// The run, if it reached its end or was stopped by a guard or an observer; for those who want
    /// `?` to see refusals too.
    ///
    /// # Errors
    /// The reason of a run that was refused. [`Stop::downcast`] gives that of a driver above the
    /// core; [`Error`](crate::Error) sorts them.
    pub fn completed(self) -> Result<Self, Stop> {
        match self.status {
            Status::Refused(reason) => Err(reason),
            Status::ReachedEnd | Status::Stopped { .. } | Status::Ended => Ok(self),
        }
    }

    /// True when the run met nothing that its error might turn, nothing that it could not resolve,
    /// and went on by no rule where the motion has no derivative
    /// ([`rulings`](Statistics::rulings)): every crossing is one of the system, and there are no
    /// others, as far as [`Doubt`] says. Errors are those of the steps, as they are made: where
    /// the motion spreads neighbours (many bounces, chaos) they grow beyond what is reckoned with,
    /// and a run at a tighter tolerance is the test. Of a run in chunks each chunk must say so, for
    /// its own errors: those of the state that a chunk starts from are not known to it. False under
    /// [`Resolution::Samples`](crate::Resolution::Samples). It speaks of the part that was
    /// computed: a refused run can be guaranteed up to its end, so that [`status`](Self::status) is
    /// to be asked too. Of runs in steps of one length it says nothing of accuracy: look at a run
    /// of half the step. A choice among several outcomes of an impact does not make it false: see
    /// [`ContactEvent::outcomes`].
    pub fn is_guaranteed(&self) -> bool {
        self.statistics.is_guaranteed()
    }

    /// The decisions that the error of the run might turn, in order of time; at most a thousand are
    /// kept. There may be none in a run that is not guaranteed: what it could not resolve, and the rules by which it
    /// went on, are counted in its [`statistics`](Self::statistics).
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

    /// The state at which the run ended, after any reset: `(q, v)` of bodies.
    ///
    /// ```
    /// use saltation::models::DoublePendulum;
    /// use saltation::{Compliant, ContactModel, EventDriven, Start};
    /// let free = DoublePendulum { wall: -9.0, ..Default::default() };
    /// let start = Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0; 2]);
    /// let exact = EventDriven::new(ContactModel::new(free))?.integrate(&start, 0.5)?;
    /// // the compliant driver knows no coefficient of restitution, and the wall is far away
    /// let mut stepper = Compliant::new(free)?.time_step(1e-4).inelastic();
    /// let run = stepper.integrate(&start, 0.5)?.completed()?;
    /// assert!((run.state() - exact.state()).amax() < 3e-3);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    pub fn state(&self) -> &DVector<f64> {
        &self.state
    }

    /// The mode in which the run ended; a later run can start from it. The mode of a driver of
    /// bodies has flag `j` on while contact `j` is closed.
    pub fn mode(&self) -> &Mode {
        &self.path.mode
    }

    /// The start of a later run that goes on: time, and state and mode or positions and velocities,
    /// as its driver wants them. Which contacts within the gap tolerance are closed is decided
    /// again; what a start cannot carry is in a snapshot ([`Live`](crate::Live)).
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
        let (start, state) = (Start::at(self.t()), self.state.as_slice());
        let parts = |bodies: BodyLayout| state.split_at_checked(bodies.coordinates);
        match self.bodies.and_then(parts) {
            Some((q, v)) => start.q(q).v(v),
            None => start.x(state).mode(self.mode()),
        }
    }

    /// Times of the nodes: the start, the ends of all segments, and a second node after each reset
    /// or impact (s).
    pub fn times(&self) -> &[f64] {
        &self.path.times
    }

    /// States at the nodes, one column a node.
    pub fn states(&self) -> DMatrixView<'_, f64> {
        DMatrixView::from_slice(&self.path.states, self.path.dim, self.path.times.len())
    }

    /// The nodes, as time and state.
    pub fn nodes(&self) -> impl Iterator<Item = (f64, DVectorView<'_, f64>)> {
        let states = self.path.states.chunks_exact(self.path.dim.max(1));
        let times = self.path.times.iter();
        times
            .zip(states)
            .map(|(&t, x)| (t, DVectorView::from_slice(x, x.len())))
    }

    /// Coordinates of bodies at node `k`; empty where there are none.
    pub fn q(&self, k: usize) -> &[f64] {
        self.parts(k).0
    }

    /// Velocities of bodies at node `k`; empty where there are none.
    pub fn v(&self, k: usize) -> &[f64] {
        self.parts(k).1
    }

    fn parts(&self, k: usize) -> (&[f64], &[f64]) {
        let dim = self.path.dim;
        let first = k.saturating_mul(dim);
        let state = self.path.states.get(first..first.saturating_add(dim));
        let parts = state.zip(self.bodies);
        parts
            .and_then(|(state, bodies)| state.split_at_checked(bodies.coordinates))
            .unwrap_or_default()
    }

    /// The state at time `t`; at a reset or an impact the one after it.
    ///
    /// Between nodes of the adaptive drivers it is from the dense output, of fourth order. Between
    /// those of drivers in steps of one length `h` it lies on a straight line: off by `h² |ẍ|/8`,
    /// as the steps themselves are or less; so are gaps, which may be negative by as much between
    /// closed nodes, and the length of unit quaternions
    /// ([`project_configuration`](crate::mechanics::MechanicalSystem::project_configuration) brings
    /// them back).
    ///
    /// # Errors
    /// [`InputError::OutsideRun`] when the run did not get to `t`.
    pub fn state_at(&self, t: f64) -> Result<DVector<f64>, InputError> {
        let mut x = DVector::zeros(self.path.dim);
        self.path.at(t, x.as_mut_slice())?;
        Ok(x)
    }

    /// The mode at time `t`; at a crossing the one after it.
    ///
    /// # Errors
    /// [`InputError::OutsideRun`] when the run did not get to `t`.
    pub fn mode_at(&self, t: f64) -> Result<&Mode, InputError> {
        let t = self.path.check_time(t)?;
        let after = self.path.modes.partition_point(|change| change.t <= t);
        Ok(&self.path.modes[after.max(1) - 1].mode)
    }

    /// States at given times, in any order.
    ///
    /// # Errors
    /// [`InputError::OutsideRun`], and [`InputError::BadSetting`] for more than a gibibyte
    /// of states.
    pub fn sample(&self, times: &[f64]) -> Result<Table, InputError> {
        let bytes = times.len().saturating_mul(self.path.dim + 1);
        let bytes = bytes.saturating_mul(size_of::<f64>());
        let (kept, rule) = (bytes <= MOST_SAMPLED, "must give at most 2^30 bytes");
        validate::unless(kept, "number of samples", times.len() as f64, rule)?;
        let mut table = Table::new(self.columns(), times.len());
        for (k, &t) in times.iter().enumerate() {
            let mut state = table.states.column_mut(k);
            self.path.at(t, state.as_mut_slice())?;
            table.times.push(t);
            table.modes.push(self.mode_at(t)?.clone());
        }
        Ok(table)
    }

    /// States every `dt` seconds from the start on, and at the end.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for a `dt` that is not positive, or that gives more than a
    /// gibibyte of states.
    pub fn every(&self, dt: f64) -> Result<Table, InputError> {
        validate::positive("dt", &[dt])?;
        let (start, end) = (self.path.times.first().copied(), self.t());
        let start = start.unwrap_or(end);
        let count = step_count(start, end, dt);
        let bytes = (count + 2.0) * (self.path.dim + 1) as f64 * size_of::<f64>() as f64;
        let rule = "must give at most 2^30 bytes of samples";
        validate::unless(bytes <= MOST_SAMPLED as f64, "dt", dt, rule)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "checked above"
        )]
        let count = count.max(0.0) as usize;
        let mut times: Vec<f64> = (0..count).map(|k| start + k as f64 * dt).collect();
        times.push(end);
        self.sample(&times)
    }

    /// The guards crossed, in order of time; none of drivers in steps.
    pub fn crossings(&self) -> &[GuardCrossing] {
        &self.path.crossings
    }

    /// The crossings of one guard.
    pub fn crossings_of(&self, guard: Guard) -> impl Iterator<Item = &GuardCrossing> {
        let crossings = self.crossings().iter();
        crossings.filter(move |crossing| crossing.guard == guard)
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

    /// The log of contacts of bodies, in order of time; several contacts at one instant are one
    /// event. Drivers in steps find a release at the end of a step, and the compliant driver a
    /// closing too (of a [`Scene`](crate::bodies::Scene), whose contacts come and go, it logs none); its
    /// contacts press from `a + τ ȧ = 0` on, by up to their dissipation time `τ`
    /// before they touch. What holds from the start on is no event: [`mode_at`](Self::mode_at) has it.
    pub fn events(&self) -> &[ContactEvent] {
        &self.path.events
    }

    /// The events at which a contact became active, came to rest on its surface or was released, came to stick or
    /// began to slip.
    pub fn events_of(&self, contact: usize) -> impl Iterator<Item = &ContactEvent> {
        let events = self.events().iter();
        events.filter(move |event| {
            let closing = [&event.activated, &event.released];
            let along = [&event.stuck, &event.slipped];
            let mut lists = closing.into_iter().chain(along);
            // One that comes to rest on its surface without a blow is in the modes alone.
            let [before, after] =
                [&event.mode_before, &event.mode_after].map(|mode| mode.contains(&contact));
            before != after || lists.any(|list| list.contains(&contact))
        })
    }

    /// The events in clusters: each follows the one before within so many seconds. Clusters only label
    /// the log. [`Integrator::corner_tolerance`](crate::Integrator::corner_tolerance) decides which
    /// crossings are one instant.
    pub fn clusters(&self, within: f64) -> impl Iterator<Item = &[ContactEvent]> {
        let follows = move |a: &ContactEvent, b: &ContactEvent| b.t - a.t <= within;
        self.events().chunk_by(follows)
    }

    /// The contact mode sequence `ω`: contact modes in which positive time is spent. A rebound
    /// begins a new one, even with the same contacts; not in runs of the core, which have no log of
    /// contacts.
    pub fn phases(&self) -> Vec<Phase> {
        let Some(bodies) = self.bodies else {
            return self.phases_of_modes();
        };
        let start = self.path.times.first().copied().unwrap_or(f64::NAN);
        let initial: Vec<usize> = match self.path.modes.first() {
            Some(first) => bodies.closed(&first.mode).collect(),
            None => Vec::new(),
        };
        sequence(start, self.t(), &initial, self.events())
    }

    /// The modes in which positive time is spent, by their flags.
    fn phases_of_modes(&self) -> Vec<Phase> {
        let modes = self.modes();
        let ends = modes.iter().skip(1).map(|next| next.t);
        let ends = ends.chain(std::iter::once(f64::INFINITY));
        let mut phases: Vec<Phase> = Vec::new();
        for (mode, _) in modes.iter().zip(ends).filter(|(mode, end)| *end > mode.t) {
            let closed: Vec<usize> = mode.mode.flags().collect();
            if phases.last().is_none_or(|last| last.closed != closed) {
                phases.push(Phase { t: mode.t, closed });
            }
        }
        phases
    }

    /// Writes the nodes as a table: time, state, and mode, in [columns of comma-separated
    /// values](Table::write_csv).
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write_csv(&self, mut out: impl Write) -> io::Result<()> {
        let columns = self.columns();
        columns.write_head(&mut out)?;
        let mut modes = self.path.modes.iter().peekable();
        let mut mode = modes.peek().map_or(self.mode(), |first| &first.mode);
        for (k, (t, state)) in self.nodes().enumerate() {
            // The first of two nodes at one instant is in the mode before.
            let is_last = self.path.times.get(k + 1) != Some(&t);
            let is_here = |change: &&ModeChange| if is_last { change.t <= t } else { change.t < t };
            while let Some(change) = modes.next_if(is_here) {
                mode = &change.mode;
            }
            columns.write_row(&mut out, t, state.iter(), mode)?;
        }
        Ok(())
    }

    fn columns(&self) -> Columns {
        Columns {
            dim: self.path.dim,
            bodies: self.bodies,
        }
    }
}
