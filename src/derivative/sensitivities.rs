//! A few directions carried along a run: cheaper than the whole derivative, and without allocation
//! once the workspace has grown.

use nalgebra::{DMatrix, DMatrixView};

use super::Verdict;
use super::context::Context;
use super::corner::explorer::Explorer;
use super::corner::follow::Course;
use super::corner::follow::Lone;
use super::corner::group::{Group, check_sides};
use super::corner::rounding;
use super::variational::Columns;
use crate::hybrid::options::Settings;
use crate::ode::Buffer;
use crate::record::corner::Joins;
use crate::{
    EventFunction, Flow, InputError, Integrator, Mode, NoDerivative, Observer, Segment, Start,
    Status, Summary, Transition, validate,
};

/// Limit of the numbers of all directions.
const MOST_NUMBERS: usize = 1 << 22;

/// Directions in which the start of a run is displaced, carried along the run: `B(v)` for each
/// column `v`.
///
/// Through a corner each column takes the order in which it meets the guards itself. The cost is
/// that of the columns, not of a whole matrix. It is not examined whether a corner is linear,
/// whether guards are touched without being crossed, or whether the run starts or ends on a guard;
/// [`Integrator::derivative`] gives a full verdict.
///
/// ```
/// use saltation::{Integrator, Start, derivative::Sensitivities, models::Affine};
/// let mut tangents = Sensitivities::new(3, 1);
/// tangents.set(&[0.1, -0.3, 0.8])?;
/// let mut integrator = Integrator::new(Affine::coupled())?.rtol(1e-10).atol(1e-10);
/// integrator.carry(&Start::at(0.0).x(&Affine::CORNER_START), 0.25, &mut tangents, &mut ())?;
/// assert!((tangents.columns()?[(2, 0)] - 0.996755163087).abs() < 1e-7);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sensitivities {
    dim: usize,
    start: Vec<f64>,
    columns: Columns,
    /// The columns just before the group of crossings.
    before: Vec<f64>,
    group: Group,
    explorer: Explorer,
    lone: Lone,
    course: Course,
    mode: Mode,
    verdict: Verdict,
    failure: Option<NoDerivative>,
}

impl Sensitivities {
    /// Workspace for `count` directions of a system with `dim` state variables; they begin as the
    /// first unit vectors, and as zero beyond.
    ///
    /// All directions together hold 2²² numbers at most (half a gigabyte of workspace): further
    /// directions are dropped, and [`set`](Self::set) refuses directions of another total length. A
    /// system has a million state variables at most.
    pub fn new(dim: usize, count: usize) -> Self {
        let dim = dim.min(validate::MOST);
        let count = count.min(MOST_NUMBERS / dim.max(1));
        let mut columns = Columns::new(dim, count);
        if dim > 0 {
            columns.set_identity();
        }
        Self {
            dim,
            start: columns.delta.clone(),
            before: columns.delta.clone(),
            columns,
            group: Group::new(dim, &Mode::new(0)),
            explorer: Explorer::new(dim, &Mode::new(0)),
            lone: Lone::new(dim, &Mode::new(0)),
            course: Course::default(),
            mode: Mode::new(0),
            verdict: Verdict::Classical,
            failure: None,
        }
    }

    /// Sets the directions in which the start is displaced, one after the other.
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::NotFinite`].
    pub fn set(&mut self, directions: &[f64]) -> Result<(), InputError> {
        validate::length("directions", self.start.len(), directions.len())?;
        validate::finite("directions", directions)?;
        self.start.copy_from_slice(directions);
        self.columns.delta.copy_from_slice(directions);
        Ok(())
    }

    /// The derivative of the final state of the last run along each direction, one column each; the
    /// directions themselves before the first run. They stay set for the next run.
    ///
    /// # Errors
    /// The reason when the run was refused, [`NoDerivative::Discontinuous`] when a direction takes
    /// another outcome than the run, or an error of the model in crossings that a direction takes.
    pub fn columns(&self) -> Result<DMatrixView<'_, f64>, NoDerivative> {
        if let Some(error) = &self.failure {
            return Err(error.clone());
        }
        let count = self.start.len().checked_div(self.dim).unwrap_or(0);
        Ok(DMatrixView::from_slice(
            &self.columns.delta,
            self.dim,
            count,
        ))
    }

    /// The kind of derivative up to here. A corner of several guards counts as
    /// [`Verdict::Bouligand`] here, even when all its orders have the same map.
    pub fn verdict(&self) -> &Verdict {
        &self.verdict
    }

    fn begin(&mut self, settings: &Settings, (sides, flags): (usize, usize)) {
        if self.mode.sizes() != (sides, flags) {
            let mode = Mode::new(sides).with_flags(flags);
            self.group = Group::new(self.dim, &mode);
            self.explorer = Explorer::new(self.dim, &mode);
            self.lone = Lone::new(self.dim, &mode);
            self.mode = mode;
        }
        self.group.rule.is_open = false;
        self.columns.begin(settings);
        self.columns.delta.copy_from_slice(&self.start);
        self.verdict = Verdict::Classical;
        self.failure = None;
    }

    fn fail(&mut self, error: NoDerivative) {
        self.verdict.worsen(Verdict::NotGuaranteed(error.clone()));
        self.failure.get_or_insert(error);
    }
}

impl<S: Flow + EventFunction, B: Buffer> Integrator<S, B> {
    /// Integrates as [`observe`](Self::observe) does, to the same bits, and carries `tangents`
    /// along.
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate), and [`InputError::WrongLength`] when the tangents have
    /// another dimension. [`Sensitivities::columns`] says why there is no derivative; the columns
    /// take at most [`max_steps`](Self::max_steps) steps of their own.
    pub fn carry<O: Observer>(
        &mut self,
        start: &Start<'_>,
        tf: f64,
        tangents: &mut Sensitivities,
        observer: &mut O,
    ) -> Result<Summary, InputError> {
        validate::length("a tangent", start.state()?.0.len(), tangents.dim)?;
        let (system, driver, engine) = self.parts();
        let sizes = driver.mode().sizes();
        let (summary, (_, mut carrier)) =
            driver.observe_with(system, engine, start, tf, |rearm, settings| {
                tangents.begin(settings, sizes);
                let context = Context::of_run(system, rearm, settings);
                let carrier = Carrier {
                    context,
                    tangents,
                    behind: false,
                    stuck: None,
                };
                (observer, carrier)
            })?;
        carrier.close_group();
        if let Status::Refused(reason) = &summary.status {
            carrier.tangents.fail(reason.clone().into());
        }
        Ok(summary)
    }

    /// As [`carry`](Self::carry) for the columns of `directions`, and keeps nothing else: `B(v)`
    /// for each column `v`.
    ///
    /// # Errors
    /// As [`carry`](Self::carry) and [`Sensitivities::columns`].
    pub fn derivative_along(
        &mut self,
        start: &Start<'_>,
        tf: f64,
        directions: &DMatrix<f64>,
    ) -> Result<DMatrix<f64>, NoDerivative> {
        let mut tangents = Sensitivities::new(directions.nrows(), directions.ncols());
        tangents.set(directions.as_slice())?;
        self.carry(start, tf, &mut tangents, &mut ())?;
        Ok(tangents.columns()?.into_owned())
    }
}

/// The observer that carries tangents.
struct Carrier<'a, 'b> {
    context: Context<'a>,
    tangents: &'b mut Sensitivities,
    /// The columns have not been carried through the group as it is now.
    behind: bool,
    /// The reason for which the group as it was last could not be passed; further members may come
    /// within the corner tolerance.
    stuck: Option<NoDerivative>,
}

impl Carrier<'_, '_> {
    /// Carries the columns through the group as it is now.
    fn catch_up(&mut self) {
        if std::mem::take(&mut self.behind) && self.tangents.failure.is_none() {
            self.stuck = self.tangents.cross(self.context).err();
        }
    }

    /// No more members come to the group.
    fn close_group(&mut self) {
        self.catch_up();
        if let Some(error) = self.stuck.take() {
            self.tangents.fail(error);
        }
    }
}

impl Observer for Carrier<'_, '_> {
    fn start(&mut self, _time: f64, _state: &[f64], mode: &Mode) {
        self.tangents.mode.copy_from(mode);
    }

    fn segment(&mut self, segment: &Segment<'_>) {
        self.catch_up();
        if self.tangents.failure.is_some() || self.stuck.is_some() {
            return;
        }
        if let Err(error) = self.tangents.columns.advance(self.context, segment) {
            self.tangents.fail(error);
        }
    }

    fn transition(&mut self, set: &Transition<'_>) {
        let set = &self.tangents.group.as_consequence(self.context, set);
        let joins = self.tangents.group.rule.joins(set, self.context.tolerance);
        if joins == Joins::Opens {
            self.close_group();
            let tangents = &mut *self.tangents;
            tangents.before.copy_from_slice(&tangents.columns.delta);
        }
        self.stuck = None;
        self.behind = true;
        self.tangents.group.take(set, joins);
        self.tangents.mode.copy_from(set.mode);
    }

    fn settled(&mut self, t: f64, state: &[f64], mode: &Mode) {
        let tangents = &mut *self.tangents;
        tangents.columns.changed();
        let (system, modes) = (self.context.system, [&tangents.mode, mode]);
        if let Err(error) = check_sides(system, t, state, modes) {
            tangents.fail(error);
        }
        tangents.mode.copy_from(mode);
    }
}

impl Sensitivities {
    /// Carries the columns through the group as it is by now, from just before it.
    fn cross(&mut self, context: Context<'_>) -> Result<(), NoDerivative> {
        self.group.meet_at_once(context, &mut self.explorer)?;
        let passed = self.cross_once(context);
        let point = &mut self.group.point;
        let differs = matches!(passed, Err(NoDerivative::Discontinuous { .. }));
        if !differs || point.guards.len() < 2 {
            return passed;
        }
        // The outcomes may differ by rounding.
        point.rounding = rounding::of_states(context, point)?;
        self.cross_once(context)
    }

    fn cross_once(&mut self, context: Context<'_>) -> Result<(), NoDerivative> {
        let Self {
            dim,
            columns,
            before,
            group,
            explorer,
            lone,
            course,
            ..
        } = self;
        let point = &group.point;
        if point.guards.len() > 1 {
            self.verdict.worsen(Verdict::Bouligand);
        }
        columns.changed();
        if lone.begin(context, point)? {
            columns.delta.copy_from_slice(before);
            for delta in columns.delta.chunks_exact_mut(*dim) {
                lone.carry(delta);
            }
            return Ok(());
        }
        explorer.begin(context, point)?;
        if before.is_empty() {
            return Ok(());
        }
        let mut pass = |deltas: &mut [f64]| {
            let Some(passed) = course.pass_together(context, explorer, deltas)? else {
                return Ok(false);
            };
            if !explorer.is_exit(context, passed, point) {
                return Err(NoDerivative::Discontinuous {
                    t: point.t,
                    order: course.guards(),
                });
            }
            Ok(true)
        };
        columns.delta.copy_from_slice(before);
        if !pass(&mut columns.delta)? {
            columns.delta.copy_from_slice(before);
            for delta in columns.delta.chunks_exact_mut(*dim) {
                pass(delta)?;
            }
        }
        Ok(())
    }
}
