//! Follows a run and records its derivative: linear maps between corners, corners, and how the time of each crossing shifts.

use nalgebra::{DMatrix, DVector};

use super::Verdict;
use super::bouligand::{Compared, CornerDerivative, CornerKind};
use super::group::{Group, Joins, check_sides};
use super::region::shift_row;
use super::repeat::{Ground, zero};
use super::touch::TouchWatch;
use super::variational::Columns;
use super::walk::Walk;
use crate::hybrid::probe;
use crate::hybrid::settings::Settings;
use crate::ode::difference;
use crate::{
    CrossedSet, CrossingEvent, Error, EventFunction, Flow, Guard, Mode, Observer, Rearm, Segment,
    Status,
};

/// A link of the chain rule along a run; displacements at fixed time go in and come out.
#[derive(Clone, Debug)]
pub(super) enum Link {
    /// Smooth motion and single crossings.
    Map(DMatrix<f64>),
    /// Several guards at one instant.
    Corner(Box<CornerDerivative>),
}

/// How the time of a crossing shifts.
#[derive(Clone, Debug)]
pub(super) enum Shift {
    /// By a row on the displacement that enters this link.
    Row(usize, DVector<f64>),
    /// As found when this corner is passed.
    Corner(usize, Guard),
}

/// A displacement that the derivative of one side does not speak of.
#[derive(Clone, Debug)]
pub(super) enum Edge {
    /// The start lies on a guard: those `v` with `row · v > 0` put it on the other side.
    Start(Guard, f64, DVector<f64>),
    /// The run ends at this crossing: those that make it later do not get there.
    Crossed(Guard, f64, usize),
    /// The run ends before this guard: those that end with `row · B(v) > 0` cross it.
    Ahead(Guard, f64, DVector<f64>),
}

/// The observer that records a derivative.
#[derive(Debug)]
pub(super) struct Recorder<'a, S> {
    pub(super) ground: Ground<'a, S>,
    settings: &'a Settings,
    columns: Columns,
    walk: Walk,
    touch: TouchWatch,
    group: Group,
    /// Map from the last link to the crossings of the group.
    total: DMatrix<f64>,
    /// Guards reported since the group opened.
    waiting: Vec<Guard>,
    mode: Mode,
    t0: f64,
    pub(super) chain: Vec<Link>,
    pub(super) shifts: Vec<Shift>,
    pub(super) verdict: Verdict,
    pub(super) edges: Vec<Edge>,
    /// Why there is no derivative from here on.
    pub(super) failure: Option<Error>,
}

impl<'a, S: Flow + EventFunction> Recorder<'a, S> {
    pub(super) fn new(ground: Ground<'a, S>, settings: &'a Settings) -> Self {
        let (dim, count) = (ground.system.dim(), ground.system.count());
        Self {
            ground,
            settings,
            columns: Columns::new(dim, dim),
            walk: Walk::new(dim, count),
            touch: TouchWatch::new(dim, count),
            group: Group::new(dim, count),
            total: DMatrix::identity(dim, dim),
            waiting: Vec::new(),
            mode: Mode::new(count),
            t0: f64::NAN,
            chain: Vec::new(),
            shifts: Vec::new(),
            verdict: Verdict::Classical,
            edges: Vec::new(),
            failure: None,
        }
    }

    /// Multiplies what the columns did since the last crossing into the total.
    fn collect(&mut self) {
        let dim = self.total.nrows();
        let columns = DMatrix::from_column_slice(dim, dim, &self.columns.delta);
        self.total = columns * &self.total;
        self.columns.set_identity();
    }

    /// Ends the group of crossings, if there is one: now all its members are known.
    fn close_group(&mut self) {
        if !std::mem::take(&mut self.group.is_open) || self.failure.is_some() {
            return;
        }
        self.look_for_bystanders();
        let point = self.group.point.clone();
        let corner = CornerDerivative::examine(self.ground, &mut self.walk, point);
        let (t, guards) = (corner.time(), corner.guards().to_vec());
        if let ([_], CornerKind::Linear { matrix, .. }) = (&guards[..], &corner.kind) {
            match self.walk.begin(self.ground, &corner.point) {
                Ok(()) => {}
                Err(error) => return self.fail(error),
            }
            let row = shift_row(&self.walk, 0, 0, &self.total);
            let link = self.chain.len();
            self.shifts.extend(
                self.waiting
                    .drain(..)
                    .map(|_| Shift::Row(link, row.clone())),
            );
            self.total = matrix * &self.total;
            return;
        }
        match &corner.kind {
            CornerKind::NotGuaranteed(error) => return self.fail(error.clone()),
            // A single crossing has one order; that it comes out otherwise says nothing of order.
            _ if guards.len() == 1 => {
                let state = corner.point.x;
                return self.fail(Error::NotRepeatable { t, state });
            }
            CornerKind::Linear {
                compared: Compared::AllOrders | Compared::Pairs,
                ..
            } => {}
            CornerKind::Linear { .. } | CornerKind::PiecewiseLinear => {
                self.verdict.worsen(Verdict::Bouligand);
            }
            CornerKind::Discontinuous => self
                .verdict
                .worsen(Verdict::Discontinuous { time: t, guards }),
        }
        let dim = self.total.nrows();
        let map = std::mem::replace(&mut self.total, DMatrix::identity(dim, dim));
        self.chain.push(Link::Map(map));
        let link = self.chain.len();
        self.shifts.extend(
            self.waiting
                .drain(..)
                .map(|guard| Shift::Corner(link, guard)),
        );
        self.chain.push(Link::Corner(Box::new(corner)));
    }

    /// Looks for a guard that was about to be crossed at the instant of the group and was not, because the others turned the
    /// motion away from it: neighbours may cross it.
    fn look_for_bystanders(&mut self) {
        let (system, point) = (self.ground.system, &self.group.point);
        let (t, x, mode) = (point.t, &point.x[..], &point.mode);
        let (mut field, mut row) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        system.flow(t, x, mode, &mut field);
        for k in 0..system.count() {
            let guard = Guard::ahead(k, mode.contains(k));
            let is_member = point.guards.iter().any(|g| g.event == k);
            if is_member || !is_followed(self.ground, guard) {
                continue;
            }
            let rate = probe::rate(system, k, (t, x), mode, &field, &mut row);
            let own = guard.sign() * system.event(k, t, x, mode);
            let near = own.abs() <= zero(self.ground, k, t, rate);
            let least = point.least_rates[k];
            if !near || guard.sign() * rate.value < least {
                continue;
            }
            let (x, mode) = (&point.x_after[..], &point.mode_after);
            let mut behind = vec![0.0; x.len()];
            system.flow(t, x, mode, &mut behind);
            let after = probe::rate(system, k, (t, x), mode, &behind, &mut row).value;
            let is_ahead = mode.contains(k) != guard.side_after();
            if is_ahead && guard.sign() * after < least {
                let gap = -own;
                self.verdict
                    .worsen(Verdict::NotGuaranteed(Error::Touch { guard, t, gap }));
            }
        }
    }

    fn fail(&mut self, error: Error) {
        self.verdict.worsen(Verdict::NotGuaranteed(error.clone()));
        self.failure.get_or_insert(error);
    }

    /// Ends the recording of a run that ended with `status` at `(t, x; mode)`.
    pub(super) fn finish(&mut self, status: &Status, (t, tf): (f64, f64), x: &[f64], mode: &Mode) {
        let last = self.group.is_open.then(|| {
            let point = &self.group.point;
            (point.guards.first().copied(), point.t)
        });
        let last_reported = self.waiting.len();
        self.close_group();
        self.collect();
        let dim = self.total.nrows();
        let map = std::mem::replace(&mut self.total, DMatrix::identity(dim, dim));
        self.chain.push(Link::Map(map));
        match status {
            Status::ReachedEnd | Status::Ended => {
                if let Some((Some(guard), time)) = last
                    && t - time <= self.ground.tolerance
                {
                    self.verdict.worsen(Verdict::OneSided { guard, time });
                    let from = self.shifts.len().saturating_sub(last_reported);
                    let indices = from..self.shifts.len();
                    self.edges
                        .extend(indices.map(|index| Edge::Crossed(guard, time, index)));
                }
                if self.failure.is_none() {
                    self.look_for_edge(t, x, mode);
                }
            }
            Status::Stopped { guards } => {
                // Neighbours that come later do not get to the guard.
                if let (Some(&guard), true) = (guards.first(), tf - t <= self.ground.tolerance) {
                    self.verdict.worsen(Verdict::OneSided { guard, time: t });
                    if let Some(index) = self.shifts.len().checked_sub(1) {
                        self.edges.push(Edge::Crossed(guard, t, index));
                    }
                }
            }
            Status::Refused(reason) => {
                self.verdict.worsen(Verdict::NotGuaranteed(reason.clone()));
            }
        }
    }

    /// Looks for a guard on which the run starts or ends.
    fn look_for_edge(&mut self, t: f64, x: &[f64], mode: &Mode) {
        let system = self.ground.system;
        let (mut field, mut row) = (vec![0.0; x.len()], vec![0.0; x.len()]);
        let mut field_scratch = vec![0.0; x.len()];
        system.flow(t, x, mode, &mut field);
        for k in 0..system.count() {
            let guard = Guard::ahead(k, mode.contains(k));
            if !is_followed(self.ground, guard) {
                continue;
            }
            let rate = probe::rate(system, k, (t, x), mode, &field, &mut row);
            let (own, zero) = (
                guard.sign() * system.event(k, t, x, mode),
                zero(self.ground, k, t, rate),
            );
            // At the end only a guard that is about to be crossed counts: of one just left, the crossing is known.
            let at_start = self.chain.is_empty();
            let leaves = !at_start && guard.sign() * rate.value < 0.0;
            if own.abs() <= zero && !leaves {
                self.verdict.worsen(Verdict::OneSided { guard, time: t });
                let h = |t: f64, x: &[f64]| system.event(k, t, x, mode);
                if system.gradient(k, t, x, mode, &mut row).is_none() {
                    difference::gradient(h, (t, x), &mut row, &mut field_scratch);
                }
                let own_row = guard.sign() * DVector::from_column_slice(&row);
                self.edges.push(if at_start {
                    Edge::Start(guard, t, own_row)
                } else {
                    Edge::Ahead(guard, t, own_row)
                });
            }
        }
    }
}

/// True when a crossing of `guard` is looked for, as far as watches and the rule of re-arming tell.
fn is_followed<S: EventFunction>(ground: Ground<'_, S>, guard: Guard) -> bool {
    let watch = ground.system.watch(guard.event);
    let follows = matches!(ground.rearm, Rearm::Pairs) && watch.is_any();
    follows || watch.sees(guard.direction)
}

impl<S: Flow + EventFunction> Observer for Recorder<'_, S> {
    fn start(&mut self, time: f64, state: &[f64], mode: &Mode) {
        self.t0 = time;
        self.mode.copy_from(mode);
        self.columns.begin(self.settings);
        self.columns.set_identity();
        self.look_for_edge(time, state, mode);
    }

    fn segment(&mut self, segment: &Segment<'_>) {
        if self.failure.is_some() {
            return;
        }
        if let Err(error) = self.columns.advance(self.ground, segment) {
            self.fail(error);
        }
        let scale =
            |i: usize, x: f64| self.settings.atol.get(i) + self.settings.rtol.get(i) * x.abs();
        let follows = matches!(self.ground.rearm, Rearm::Pairs);
        if let Some(touch) =
            self.touch
                .look(self.ground.system, segment, follows, scale, |_, _, _| 0.0)
        {
            self.verdict.worsen(Verdict::NotGuaranteed(touch));
        }
    }

    fn together(&mut self, set: &CrossedSet<'_>) {
        if self.failure.is_some() {
            return;
        }
        let joins = self.group.joins(set, self.ground.tolerance);
        if joins == Joins::Opens {
            self.close_group();
            self.collect();
            if set.time - self.t0 <= self.ground.tolerance
                && let Some(c) = set.guards.first()
            {
                let (guard, time) = (c.guard, set.time);
                self.verdict.worsen(Verdict::OneSided { guard, time });
            }
        } else {
            // The motion since the first of the group counts as none.
            self.columns.set_identity();
        }
        self.group.take(set, joins);
        self.mode.copy_from(set.mode);
    }

    fn crossing(&mut self, crossing: &CrossingEvent<'_>) {
        self.waiting.push(crossing.guard);
    }

    fn settled(&mut self, time: f64, state: &[f64], mode: &Mode) {
        self.columns.changed();
        let (system, modes) = (self.ground.system, [&self.mode, mode]);
        if let Err(error) = check_sides(system, (time, state), modes) {
            self.fail(error);
        }
        self.mode.copy_from(mode);
    }
}
