//! The observer that records the derivative of a run: linear maps between corners, corners, and the
//! shift of the time of each crossing.
//!
//! * `record`: the chain so far, and what is under way.
//! * `possible`: corners that the run may have met within its errors.
//! * `edges`: guards on which it starts or ends.

mod edges;
mod possible;
mod record;

use nalgebra::DMatrix;

pub(crate) use record::{Recorder, check_size};

use crate::derivative::Verdict;
use crate::derivative::chain_rule::{Boundary, Link, Shift};
use crate::derivative::corner::bouligand::{Compared, CornerDerivative, CornerKind};
use crate::derivative::corner::follow::Course;
use crate::derivative::corner::group::check_sides;
use crate::hybrid::evaluate::Point;
use crate::linalg::decompose::svd;
use crate::record::corner::Joins;
use crate::record::path::Path;
use crate::{
    Doubt, GuardCrossing, Mode, NoDerivative, Observer, Segment, Status, Stop, Transition,
};

/// Singular values below this part of the largest are rounding and the errors of steps.
const REACHED: f64 = 1e-6;
/// Entries below this part of the largest keep its size.
const SMALL: f64 = 1e-3;

impl Recorder<'_> {
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
        self.chain.push_corner(corner, &self.waiting);
        self.waiting.clear();
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

    /// The status of a run that was recorded along `path`.
    pub(crate) fn status(&self, status: Status, path: &Path) -> Status {
        if !(self.is_full() && matches!(status, Status::Ended)) {
            return status;
        }
        let limit = self.settings.limits.max_memory;
        let at = path.end().into();
        Status::Refused(Stop::RunTooLarge { limit, at })
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
