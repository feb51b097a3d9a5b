//! The observer that records the derivative of a run: linear maps between corners, corners, and the
//! shift of the time of each crossing.

use nalgebra::{DMatrix, DVector};

use super::Verdict;
use super::chain_rule::{Boundary, Chain, Link, Shift};
use super::context::Context;
use super::corner::bouligand::{Compared, CornerDerivative, CornerKind};
use super::corner::explorer::Explorer;
use super::corner::follow::Lone;
use super::corner::follow::{Course, go_on_to_exit};
use super::corner::group::{Group, check_sides};
use super::corner::possible::{CloseGuards, LeftOut};
use super::defect::RunError;
use super::variational::Columns;
use crate::hybrid::evaluate::{self, Point};
use crate::hybrid::options::Settings;
use crate::linalg::decompose::svd;
use crate::linalg::multiply_from_left;
use crate::record::corner::Joins;
use crate::record::path::Path;
use crate::{
    Doubt, Guard, GuardCrossing, Mode, NoDerivative, Observer, Segment, Status, Stop, Transition,
};

/// Limit of the states of a run whose derivative is recorded.
const MOST_STATES: usize = 8192;
/// Singular values below this part of the largest are rounding and the errors of steps.
const REACHED: f64 = 1e-6;
/// Entries below this part of the largest keep its size.
const SMALL: f64 = 1e-3;
/// Matrices of the workspace.
const MATRICES: usize = 16;

/// Memory of the workspace for `dim` states (bytes).
fn workspace(dim: usize) -> usize {
    let entries = dim.saturating_mul(dim).saturating_mul(MATRICES);
    entries.saturating_mul(size_of::<f64>())
}

/// Refuses more states than `max_memory` allows, or than 8192.
pub(crate) fn check_size(states: usize, max_memory: usize) -> Result<(), NoDerivative> {
    let (bytes, limit) = (workspace(states), max_memory.min(workspace(MOST_STATES)));
    if bytes <= limit {
        return Ok(());
    }
    Err(NoDerivative::DerivativeTooLarge {
        states,
        bytes,
        limit,
    })
}

/// Corners that the run may have met, within its errors.
#[derive(Debug)]
pub(crate) struct Possible {
    /// The last one that would change the derivative.
    pub(crate) corner: Option<Box<CornerDerivative>>,
    /// Guards of the last one that was examined, and the time of its last crossing (s).
    seen: Vec<Guard>,
    until: f64,
}

/// The observer that records a derivative.
pub(crate) struct Recorder<'a> {
    pub(crate) context: Context<'a>,
    settings: &'a Settings,
    columns: Columns,
    error: RunError,
    explorer: Explorer,
    group: Group,
    close: CloseGuards,
    lone: Lone,
    /// Map from the last link to the crossings of the group.
    total: DMatrix<f64>,
    /// Map from the start to the last link, where orders are compared on what reaches a corner.
    reached: Option<DMatrix<f64>>,
    /// Bound of the error of the state at the crossings.
    bound: Vec<f64>,
    /// Scratch for products.
    product: Vec<f64>,
    /// Guards reported since the group opened.
    waiting: Vec<Guard>,
    /// Guards of which the error of the run hides whether they are crossed before its end.
    at_end: Vec<Guard>,
    /// Guards that may have been met before another one, and when.
    in_doubt: Vec<(Guard, f64)>,
    mode: Mode,
    t0: f64,
    pub(crate) chain: Chain,
    /// Bytes of the workspace, and of what is kept.
    kept: usize,
    pub(crate) verdict: Verdict,
    pub(crate) possible: Possible,
    /// The reason for which there is no derivative from here on.
    pub(crate) failure: Option<NoDerivative>,
}

impl<'a> Recorder<'a> {
    /// For `dim` states and modes like this one; displacements are first carried by the map `onto`.
    pub(crate) fn new(
        context: Context<'a>,
        settings: &'a Settings,
        (dim, mode): (usize, Mode),
        onto: Option<DMatrix<f64>>,
    ) -> Self {
        Self {
            context,
            settings,
            columns: Columns::new(dim, dim),
            error: RunError::new(dim),
            explorer: Explorer::new(dim, &mode),
            group: Group::new(dim, &mode),
            close: CloseGuards::new(dim, &mode),
            lone: Lone::new(dim, &mode),
            reached: onto.as_ref().map(|_| DMatrix::identity(dim, dim)),
            total: onto.unwrap_or_else(|| DMatrix::identity(dim, dim)),
            bound: vec![0.0; dim],
            product: vec![0.0; dim],
            waiting: Vec::new(),
            at_end: Vec::new(),
            in_doubt: Vec::new(),
            mode,
            t0: f64::NAN,
            chain: Chain::default(),
            kept: workspace(dim),
            verdict: Verdict::Classical,
            possible: Possible {
                corner: None,
                seen: Vec::new(),
                until: f64::NEG_INFINITY,
            },
            failure: None,
        }
    }

    /// Multiplies the map since the last crossing into the total.
    fn collect(&mut self) {
        let total = self.total.as_mut_slice();
        multiply_from_left(&self.columns.delta, total, &mut self.product);
        self.error.collect(&self.columns.delta, &mut self.product);
        self.columns.set_identity();
    }

    /// Carries the error of the state through a corner. Where the order that it takes is refused,
    /// the corner is not covered in all directions, whatever its kind says.
    fn pass_error(&mut self, corner: &CornerDerivative) {
        if let Some(map) = corner.linear() {
            self.error.set_behind(map * self.error.at_crossing());
            return;
        }
        let mut error = self.error.at_crossing().clone();
        let explorer = &mut self.explorer;
        let begun = explorer.begin(self.context, &corner.point);
        let pass = |()| Course::default().pass(self.context, explorer, error.as_mut_slice());
        match begun.and_then(pass) {
            Ok(_) => self.error.set_behind(error),
            Err(stop @ NoDerivative::Stop(Stop::Interrupted)) => self.fail(stop),
            Err(refusal) => self.verdict.worsen(Verdict::NotGuaranteed(refusal)),
        }
    }

    /// Ends the group of crossings, if there is one: it has all its members.
    fn close_group(&mut self) {
        self.close_group_before(f64::INFINITY);
    }

    /// Ends the group as [`close_group`](Self::close_group) where the run ends at `end`.
    fn close_group_before(&mut self, end: f64) {
        if !std::mem::take(&mut self.group.rule.is_open) || self.failure.is_some() {
            return;
        }
        let x = &self.group.point.x;
        self.error.bound(self.settings, x, &mut self.bound);
        let found = (self.close).find(self.context, &self.group.point, &self.bound);
        if let Err(error) = found {
            return self.fail(error);
        }
        if !self.close.found.is_empty() {
            self.take_left_out();
            // Guards that the run did not reach at its end are a matter of the final time.
            if end - self.group.point.t > self.context.tolerance {
                self.look_for_possible();
            }
            if self.failure.is_some() {
                return;
            }
        }
        if let [_] = self.group.point.guards[..] {
            let (total, error) = (&mut self.total, self.error.at_crossing_mut());
            let (explorer, point) = (&mut self.explorer, &self.group.point);
            match (self.lone).pass(self.context, explorer, point, total, error) {
                // A row on what entered this link.
                Ok(Some(row)) => return self.keep_shifts(row),
                Ok(None) => {}
                Err(error) => return self.fail(error),
            }
        }
        if let Err(error) = self.group.meet_at_once(self.context, &mut self.explorer) {
            return self.fail(error);
        }
        let mut point = self.group.point.clone();
        if point.guards.len() > 1 {
            point.reach = self.reach();
        }
        let corner = CornerDerivative::examine(self.context, &mut self.explorer, point);
        let (t, guards) = (corner.t(), corner.guards().to_vec());
        if let ([_], CornerKind::Linear { matrix, .. }) = (&guards[..], &corner.kind) {
            match self.explorer.begin(self.context, &corner.point) {
                Ok(()) => {}
                Err(error) => return self.fail(error),
            }
            let row = self.explorer.graph().shift_row(0, 0, &self.total);
            self.keep_shifts(row);
            self.total = matrix * &self.total;
            let behind = matrix * self.error.at_crossing();
            self.error.set_behind(behind);
            return;
        }
        match &corner.kind {
            CornerKind::NotGuaranteed(error) => return self.fail(error.clone()),
            // A single crossing has one order; another outcome is not due to the order.
            _ if guards.len() == 1 => {
                let state = corner.point.x;
                return self.fail(NoDerivative::NotRepeatable { t, state });
            }
            CornerKind::Linear {
                compared: Compared::AllOrders | Compared::Pairs,
                ..
            } => {}
            CornerKind::Linear { .. } | CornerKind::PiecewiseLinear => {
                self.verdict.worsen(Verdict::Bouligand);
            }
            CornerKind::Discontinuous => self.verdict.worsen(Verdict::Discontinuous { t, guards }),
        }
        self.pass_error(&corner);
        let dim = self.total.nrows();
        let map = std::mem::replace(&mut self.total, DMatrix::identity(dim, dim));
        self.reached = match (self.reached.take(), corner.linear()) {
            (Some(reached), Some(linear)) => Some(linear * &map * reached),
            // Each piece leads elsewhere.
            _ => None,
        };
        self.kept += map.len() * size_of::<f64>() + 2 * size_of::<Link>() + corner.bytes();
        self.kept += self.waiting.len() * size_of::<Shift>();
        self.chain.push_map(map);
        self.chain.push_corner(corner, self.waiting.drain(..));
    }

    /// The projector onto the displacements of the start as they come to the corner; none where that is
    /// everything. Rows and columns are taken in units of their own, but for those that are small
    /// against all others, which may be rounding.
    fn reach(&self) -> Option<DMatrix<f64>> {
        let mut map = &self.total * self.reached.as_ref()?;
        let dim = map.nrows();
        let least = SMALL * map.amax();
        let units: Vec<f64> = map.row_iter().map(|row| row.amax().max(least)).collect();
        for (mut row, unit) in map.row_iter_mut().zip(&units) {
            row /= *unit;
        }
        let least = SMALL * map.amax();
        for mut column in map.column_iter_mut() {
            let size = column.amax().max(least);
            column /= size;
        }
        let found = svd(map, true, false)?;
        let rank = found.rank(REACHED * found.singular_values.amax());
        if rank == dim {
            return None;
        }
        let basis = found.u?.columns(0, rank).into_owned();
        let onto = &basis * basis.transpose();
        let in_units = |i: usize, k: usize| onto[(i, k)] * units[i] / units[k];
        Some(DMatrix::from_fn(dim, dim, in_units))
    }

    /// Keeps how the crossings of the group shift.
    fn keep_shifts(&mut self, row: DVector<f64>) {
        self.kept += self.waiting.len() * (size_of::<Shift>() + row.len() * size_of::<f64>());
        self.chain.push_shifts(row, self.waiting.len());
        self.waiting.clear();
    }

    /// Adds guards that resets of the group kept from being crossed at its instant: neighbours may
    /// meet them first. Where the motion turns away without a reset, neighbours that cross them
    /// have no derivative.
    fn take_left_out(&mut self) {
        for c in self.close.found.iter().filter(|c| c.at_once) {
            let (guard, gap, t) = (c.guard, c.gap, self.group.point.t);
            match c.left_out {
                None => {}
                Some(LeftOut::TurnedAway) if !self.group.rule.moved => {
                    let touch = NoDerivative::Touch { guard, t, gap };
                    self.verdict.worsen(Verdict::NotGuaranteed(touch));
                }
                Some(_) => self.group.point.guards.push(guard),
            }
        }
    }

    /// Examines whether guards that may belong to the corner would change its derivative.
    fn look_for_possible(&mut self) {
        let known = &self.group.point.guards;
        let close = &mut self.close.found;
        close.retain(|c| c.apart <= c.error && !known.contains(&c.guard));
        close.sort_by(|a, b| a.apart.total_cmp(&b.apart));
        let close = &self.close.found;
        let (Some(last), false) = (close.last(), self.verdict.is_past_possible()) else {
            return;
        };
        let mut guards = known.iter().chain(close.iter().map(|c| &c.guard));
        let was_seen = self.group.point.t <= self.possible.until
            && guards.all(|guard| self.possible.seen.contains(guard));
        if was_seen {
            return;
        }
        let error = close.iter().map(|c| c.error).fold(0.0, f64::max);
        let tolerance = self.context.tolerance.max(error) + last.apart.max(0.0);
        let context = Context {
            tolerance,
            ..self.context
        };
        let mut point = self.group.point.clone();
        point.rounding.clear();
        point.guards.extend(close.iter().map(|c| c.guard));
        self.possible.seen.clone_from(&point.guards);
        self.possible.until = point.t + tolerance;
        let (t, apart, guards) = (point.t, last.apart, point.guards.clone());
        let met = (self.group.common).find(context, &mut self.explorer, &mut point);
        if let Err(error) = met {
            return self.fail(error);
        }
        // An order that is refused is refused again.
        let _ = go_on_to_exit(context, &mut self.explorer, &mut point);
        let corner = CornerDerivative::examine(context, &mut self.explorer, point);
        match &corner.kind {
            CornerKind::NotGuaranteed(NoDerivative::Stop(Stop::Interrupted)) => {
                return self.fail(Stop::Interrupted.into());
            }
            _ if corner.linear().is_some() => return,
            _ => {}
        }
        self.possible.corner = Some(Box::new(corner));
        self.verdict.worsen(Verdict::PossibleCorner {
            t,
            guards,
            apart,
            error,
        });
    }

    fn fail(&mut self, error: NoDerivative) {
        self.verdict.worsen(Verdict::NotGuaranteed(error.clone()));
        self.failure.get_or_insert(error);
    }

    /// The status of a run that was recorded along `path`.
    pub(crate) fn status(&self, status: Status, path: &Path) -> Status {
        if !(self.is_full() && matches!(status, Status::Ended)) {
            return status;
        }
        let limit = self.settings.limits.max_memory;
        let at = path.end().into();
        Status::Refused(Stop::RunTooLarge { limit, at })
    }

    fn is_full(&self) -> bool {
        self.kept > self.settings.limits.max_memory
    }

    /// Ends the recording of a run to `tf` that ended with `status` at a point.
    pub(crate) fn finish(&mut self, status: &Status, point: Point<'_>, tf: f64) {
        let t = point.t;
        let last = self.group.rule.is_open.then(|| {
            let point = &self.group.point;
            (point.guards.first().copied(), point.t)
        });
        let last_reported = self.waiting.len();
        let reaches_end = matches!(status, Status::ReachedEnd | Status::Ended);
        self.close_group_before(if reaches_end { t } else { f64::INFINITY });
        self.collect();
        let dim = self.total.nrows();
        let map = std::mem::replace(&mut self.total, DMatrix::identity(dim, dim));
        self.chain.push_map(map);
        match status {
            Status::ReachedEnd | Status::Ended => {
                if let Some((Some(guard), time)) = last
                    && t - time <= self.context.tolerance
                {
                    self.verdict.worsen(Verdict::OneSided { guard, t: time });
                    let count = self.chain.shifts().len();
                    for index in count.saturating_sub(last_reported)..count {
                        let edge = Boundary::Crossed(guard, time, index);
                        self.chain.push_boundary(edge);
                    }
                }
                if self.failure.is_none() {
                    self.look_for_edge(point);
                }
            }
            Status::Stopped { guards } => {
                // Where orders have one outcome directions have that of this run.
                let is_torn = matches!(self.verdict, Verdict::Discontinuous { .. });
                if self.failure.is_none() && is_torn {
                    self.product.resize(dim, 0.0);
                    self.look_for_unmet(point);
                }
                // Neighbours that are delayed do not reach the guard.
                if let (Some(&guard), true) = (guards.first(), tf - t <= self.context.tolerance) {
                    self.verdict.worsen(Verdict::OneSided { guard, t });
                    if let Some(index) = self.chain.shifts().len().checked_sub(1) {
                        let edge = Boundary::Crossed(guard, t, index);
                        self.chain.push_boundary(edge);
                    }
                }
            }
            Status::Refused(reason) => {
                let reason = Verdict::NotGuaranteed(reason.clone().into());
                // A cascade that was refused half-way is not what a repetition makes.
                match &self.verdict {
                    Verdict::NotGuaranteed(NoDerivative::NotRepeatable { t: at, .. })
                        if *at >= t =>
                    {
                        self.verdict = reason;
                    }
                    _ => self.verdict.worsen(reason),
                }
            }
        }
    }

    /// Looks for a guard on which the run starts or ends, as far as its error tells.
    fn look_for_edge(&mut self, point: Point<'_>) {
        let Point { t, x, mode } = point;
        let system = self.context.system;
        let mut row = vec![0.0; x.len()];
        let (mut field, mut scratch) = (
            std::mem::take(&mut self.product),
            std::mem::take(&mut self.bound),
        );
        field.resize(x.len(), 0.0);
        scratch.resize(x.len(), 0.0);
        system.flow(t, x, mode, &mut field);
        for k in 0..mode.len() {
            let guard = Guard::ahead(k, mode.contains(k));
            if self.at_end.contains(&guard.partner()) {
                // It was just crossed, or is crossed behind the end.
                self.chain.push_boundary(Boundary::Last(guard.partner(), t));
            }
            if !self.context.follows(guard) {
                continue;
            }
            let rate = evaluate::rate(system, k, point, &field, &mut row);
            let (own, zero) = (
                guard.sign() * system.event(k, t, x, mode),
                self.context.zero(k, t, rate),
            );
            // At the end only a guard that is about to be crossed counts; the crossing of one just
            // left was recorded.
            let at_start = self.chain.links().is_empty();
            let leaves = !at_start && guard.sign() * rate.value < 0.0;
            if (own.abs() <= zero && !leaves) || self.at_end.contains(&guard) {
                self.verdict.worsen(Verdict::OneSided { guard, t });
                let moving = (self.context).row(k, point, &mut row, &mut scratch);
                if let Err(error) = moving {
                    return self.fail(error);
                }
                let own_row = guard.sign() * DVector::from_column_slice(&row);
                self.chain.push_boundary(if at_start {
                    Boundary::Start(guard, t, self.total.tr_mul(&own_row))
                } else {
                    Boundary::Ahead(guard, t, own_row)
                });
            }
        }
        (self.product, self.bound) = (field, scratch);
    }
}

impl Recorder<'_> {
    /// Looks for guards that neighbours may meet before the one that ends the run: they go another way there.
    fn look_for_unmet(&mut self, point: Point<'_>) {
        let Point { t, x, mode } = point;
        let mut row = vec![0.0; x.len()];
        for k in 0..mode.len() {
            let guard = Guard::ahead(k, mode.contains(k));
            let own = guard.sign() * self.context.system.event(k, t, x, mode);
            let is_followed = self.context.follows(guard) && self.in_doubt.contains(&(guard, t));
            if !is_followed || own >= 0.0 {
                continue;
            }
            if let Err(error) = self.context.row(k, point, &mut row, &mut self.product) {
                return self.fail(error);
            }
            let own_row = guard.sign() * DVector::from_column_slice(&row);
            self.chain.push_boundary(Boundary::Ahead(guard, t, own_row));
        }
    }

    /// Where the start lies on a guard, neighbours may stay off what displacements are first brought to:
    /// directions that are not on it are refused.
    fn keep_to_start(&mut self) {
        let Verdict::OneSided { guard, t } = self.verdict else {
            return;
        };
        let dim = self.total.nrows();
        for row in (DMatrix::identity(dim, dim) - &self.total).row_iter() {
            let rounding = 1e-6 * row.amax().max(1.0);
            let row = DVector::from_iterator(
                dim,
                row.iter()
                    .map(|e| if e.abs() > rounding { *e } else { 0.0 }),
            );
            if row.amax() > 0.0 {
                self.chain.push_boundary(Boundary::Start(guard, t, -&row));
                self.chain.push_boundary(Boundary::Start(guard, t, row));
            }
        }
    }
}

impl Observer for Recorder<'_> {
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        self.t0 = t;
        self.mode.copy_from(mode);
        self.columns.begin(self.settings);
        self.error.begin(self.settings);
        self.columns.set_identity();
        let x = state;
        self.look_for_edge(Point { t, x, mode });
        self.keep_to_start();
    }

    fn segment(&mut self, segment: &Segment<'_>) {
        if self.failure.is_some() {
            return;
        }
        if let Err(error) = self.columns.advance(self.context, segment) {
            return self.fail(error);
        }
        if !self.mode.is_empty()
            && let Err(error) = self.error.advance(self.context, segment)
        {
            self.fail(error);
        }
    }

    fn doubt(&mut self, doubt: &Doubt) {
        if self.failure.is_none() {
            self.verdict.worsen(Verdict::of_doubt(doubt));
            match *doubt {
                Doubt::AtEnd { guard, .. } => self.at_end.push(guard),
                Doubt::Order { guard, t, .. } => {
                    self.in_doubt.retain(|(_, at)| *at >= t);
                    self.in_doubt.push((guard, t));
                }
                _ => {}
            }
        }
    }

    fn transition(&mut self, set: &Transition<'_>) {
        if self.failure.is_some() {
            return;
        }
        let set = &self.group.as_consequence(self.context, set);
        let joins = self.group.rule.joins(set, self.context.tolerance);
        if joins == Joins::Opens {
            self.close_group();
            self.collect();
            if set.t - self.t0 <= self.context.tolerance
                && let Some(c) = set.guards.first()
            {
                let (guard, t) = (c.guard, set.t);
                self.verdict.worsen(Verdict::OneSided { guard, t });
            }
        } else {
            // The motion since the first crossing of the group is neglected.
            self.columns.set_identity();
        }
        self.group.take(set, joins);
        self.mode.copy_from(set.mode);
    }

    fn crossing(&mut self, crossing: &GuardCrossing) {
        self.waiting.push(crossing.guard);
    }

    fn is_done(&self) -> bool {
        self.is_full()
    }

    fn settled(&mut self, t: f64, state: &[f64], mode: &Mode) {
        self.columns.changed();
        let (system, modes) = (self.context.system, [&self.mode, mode]);
        if let Err(error) = check_sides(system, t, state, modes) {
            self.fail(error);
        }
        self.mode.copy_from(mode);
    }
}
