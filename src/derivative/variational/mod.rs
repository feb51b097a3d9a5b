//! The variational equation `δ' = D_x f(t, x(t); mode) δ` along the segments of a run, for any
//! number of columns; `D_x f δ` as the user wrote it, or by central differences in the frozen mode.
//!
//! The stages of the same stepper are taken along the dense output of each accepted segment, so
//! that rejected steps and those cut short by an event cost the columns nothing, and the run keeps
//! its bits. Columns have an error test of their own: neighbours of a state at rest may move fast.

mod slopes;

use self::slopes::{Slopes, Step, along_column};
use super::context::Context;
use crate::hybrid::System;
use crate::hybrid::evaluate::Point;
use crate::hybrid::options::Settings;
use crate::linalg::largest;
use crate::ode::adaptive::{LAST, Proposal};
use crate::ode::difference::Line;
use crate::ode::halved_step::{Parts, resolve};
use crate::ode::{Adaptive, ROUNDING, Tolerance, Tsitouras, greater, lesser};
use crate::{At, NoDerivative, Quantity, Segment, Stop};

/// The relative tolerance of columns, in units of that of the run.
const SLACK: f64 = 10.0;
/// Limit of the rejected steps in one segment.
const MOST_REJECTIONS: usize = 10_000;
/// After so many the rounding of slopes is measured again.
const MEASURED_AGAIN: usize = 4;
/// Relative shift of the state between two evaluations of the same derivative. Their difference is
/// rounding.
const SHIFT: f64 = 1e-12;
/// Limit of the relative error of a column, whatever the rounding.
const MOST_ERROR: f64 = 1e-2;
/// The relative error of a column that rounded slopes leave, in units of the rounding that is seen of
/// them: a sample, of which the most may be twice.
const OF_ROUNDING: f64 = 2.0 * ROUNDING;
/// Errors of a derivative that change an entry by less than 1e-7 of this part of it within a
/// segment are neglected.
const UNSEEN: f64 = 1e-2;
/// A projection is passed by one step of Heun where it is off by this part of the tolerance at most:
/// of its error there is only an estimate, and a run has many projections.
const SHORT: f64 = 0.01;
/// Entries smaller than this part of the largest of their column are held to its size.
const SMALL: f64 = 1e-3;

/// Columns carried along a run, and the workspace for it.
#[derive(Clone, Debug)]
pub(crate) struct Columns {
    dim: usize,
    /// The columns, one after the other.
    pub(crate) delta: Vec<f64>,
    ode: Tsitouras<Vec<f64>>,
    tolerance: Tolerance<Vec<f64>>,
    lengths: Adaptive,
    /// Steps of this run, accepted or not.
    steps: usize,
    max_steps: usize,
    /// The first stage is that of the present columns.
    has_slope: bool,
    /// Its rounding has been measured.
    is_measured: bool,
    /// The longest projection that a step of Heun is tried for (s).
    short: f64,
    point: Vec<f64>,
    /// The slopes a second time, to measure their rounding.
    again: Vec<f64>,
    slopes: Slopes,
}

impl Columns {
    pub(crate) fn new(dim: usize, count: usize) -> Self {
        Self {
            dim,
            delta: vec![0.0; dim * count],
            ode: Tsitouras::new(dim * count),
            tolerance: Tolerance::new(dim * count),
            lengths: Adaptive::new(f64::INFINITY),
            steps: 0,
            max_steps: 0,
            has_slope: false,
            is_measured: false,
            short: f64::INFINITY,
            point: vec![0.0; dim],
            again: vec![0.0; dim * count],
            slopes: Slopes::new(dim, count),
        }
    }

    /// Begins a new run.
    pub(crate) fn begin(&mut self, settings: &Settings) {
        for i in 0..self.delta.len() {
            let rtol = settings.rtol.get(i % self.dim);
            self.tolerance.relative[i] = SLACK * rtol.max(1e-13);
        }
        self.steps = 0;
        self.max_steps = settings.limits.max_steps;
        self.lengths = Adaptive::new(f64::INFINITY);
        self.has_slope = false;
        self.short = f64::INFINITY;
        self.slopes.steps.fill(Step::Usual(1.0));
    }

    /// Forgets the slope, after the columns or the mode have changed.
    pub(crate) fn changed(&mut self) {
        self.has_slope = false;
    }

    /// Makes the columns the unit vectors.
    pub(crate) fn set_identity(&mut self) {
        self.delta.fill(0.0);
        for i in 0..self.dim.min(self.delta.len() / self.dim) {
            self.delta[i * (self.dim + 1)] = 1.0;
        }
        self.has_slope = false;
    }

    /// Carries the columns along a segment.
    pub(crate) fn advance(
        &mut self,
        context: Context<'_>,
        segment: &Segment<'_>,
    ) -> Result<(), NoDerivative> {
        if self.delta.is_empty() {
            return Ok(());
        }
        self.choose_steps(context, segment)?;
        if segment.projected
            && segment.t - segment.start <= self.short
            && self.pass_shortly(context, segment)?
        {
            return Ok(());
        }
        let (mut t, mut rejections) = (segment.start, 0);
        while t < segment.t {
            context.interrupt.check()?;
            self.count_step(t, segment)?;
            let remaining = segment.t - t;
            let proposed = self.lengths.next;
            let proposal = Proposal::new(t, proposed, LAST * proposed, remaining);
            let step = proposal.step;
            self.try_step(context.system, segment, t, step)?;
            let error = self.error(step);
            if error <= 1.0 {
                self.lengths.accept(proposal, error);
                self.ode.take(&mut self.delta);
                t = if step >= remaining {
                    segment.t
                } else {
                    t + step
                };
            } else {
                rejections += 1;
                self.reject(step, error, t, rejections, segment)?;
            }
        }
        Ok(())
    }

    /// Refuses more steps in a run than are allowed.
    fn count_step(&mut self, t: f64, segment: &Segment<'_>) -> Result<(), NoDerivative> {
        if self.steps >= self.max_steps {
            let (limit, at) = (self.max_steps, self.at(t, segment).into());
            return Err(NoDerivative::Stop(Stop::TooManySteps { limit, at }));
        }
        self.steps += 1;
        Ok(())
    }

    /// Passes a projection, which is short beside the steps of the run, by one step of Heun; false
    /// where that is not exact enough.
    fn pass_shortly(
        &mut self,
        context: Context<'_>,
        segment: &Segment<'_>,
    ) -> Result<bool, NoDerivative> {
        self.count_step(segment.start, segment)?;
        let length = segment.t - segment.start;
        self.need_slope(context.system, segment, segment.start)?;
        let slope = self.ode.slope_at_start();
        for i in 0..self.delta.len() {
            self.again[i] = self.delta[i] + length * slope[i];
        }
        let end = Point {
            t: segment.t,
            x: segment.state,
            mode: segment.mode,
        };
        let (columns, out) = (&self.again, self.ode.last_stage());
        let bad = (self.slopes).find(context.system, end, columns, out);
        if bad.is_some() {
            return Ok(false);
        }
        self.learn_short(length);
        if length > self.short {
            return Ok(false);
        }
        let (first, last) = (self.ode.slope_at_start(), self.ode.slope_at_end());
        for i in 0..self.delta.len() {
            self.delta[i] += 0.5 * length * (first[i] + last[i]);
        }
        // The last slope is that beside the end.
        self.has_slope = false;
        Ok(true)
    }

    /// Estimates by the slopes at both ends of a step how long it may be for one of Heun. Euler's is
    /// off by half of the change of slopes; Heun's by a third of that times the change of slopes
    /// relative to the slopes.
    fn learn_short(&mut self, step: f64) {
        let (first, last) = (self.ode.slope_at_start(), self.ode.slope_at_end());
        let mut most: f64 = 0.0;
        for from in (0..self.delta.len()).step_by(self.dim) {
            let column = from..from + self.dim;
            let (mut size, mut off): (f64, f64) = (f64::MIN_POSITIVE, 0.0);
            let (mut speed, mut relative): (f64, f64) = (f64::MIN_POSITIVE, f64::INFINITY);
            for i in column {
                size = greater(self.delta[i].abs(), size);
                off = greater((last[i] - first[i]).abs(), off);
                speed = greater(greater(first[i].abs(), last[i].abs()), speed);
                relative = lesser(self.tolerance.relative[i], relative);
            }
            most = greater(off * (off / speed) / (size * relative), most);
        }
        let error = step * most / 6.0;
        // It grows as the third power of the step.
        self.short = if error > 0.0 {
            step * (SHORT / error).cbrt().min(5.0)
        } else {
            step
        };
    }

    /// Tries a step of the columns from `t`; its result is in the stepper.
    fn try_step(
        &mut self,
        system: &dyn System,
        segment: &Segment<'_>,
        t: f64,
        step: f64,
    ) -> Result<(), NoDerivative> {
        self.need_slope(system, segment, t)?;
        if !self.is_measured {
            self.measure_rounding(system, segment, t)?;
        }
        let (path, mode) = (segment.interpolant, segment.mode);
        let (slopes, point) = (&mut self.slopes, &mut self.point);
        let mut bad = None;
        let mut slope = |t: f64, v: &[f64], out: &mut [f64]| {
            path.at(t, point);
            let x = &point[..];
            let wrong = slopes.find(system, Point { t, x, mode }, v, out);
            bad = bad.or(wrong);
        };
        self.ode.begin(&mut slope, t, &self.delta, step);
        self.ode.advance(&mut slope, t, &self.delta, step);
        bad.map_or(Ok(()), |component| {
            Err(self.not_finite(component, t, segment))
        })
    }

    /// Evaluates the slope of the columns at `t`, and its rounding, unless that was done.
    fn need_slope(
        &mut self,
        system: &dyn System,
        segment: &Segment<'_>,
        t: f64,
    ) -> Result<(), NoDerivative> {
        if self.has_slope {
            return Ok(());
        }
        segment.interpolant.at(t, &mut self.point);
        let (x, mode) = (&self.point[..], segment.mode);
        let slope = self.ode.first_stage();
        let bad = (self.slopes).find(system, Point { t, x, mode }, &self.delta, slope);
        (self.has_slope, self.is_measured) = (bad.is_none(), false);
        bad.map_or(Ok(()), |component| {
            Err(self.not_finite(component, t, segment))
        })
    }

    /// Measures by a second evaluation, at a state that is shifted by little, how far the slope at
    /// `t`, which is in the first stage, is rounded. The tolerance is not tightened below that.
    fn measure_rounding(
        &mut self,
        system: &dyn System,
        segment: &Segment<'_>,
        t: f64,
    ) -> Result<(), NoDerivative> {
        segment.interpolant.at(t, &mut self.point);
        for x in &mut self.point {
            *x += SHIFT * x.abs().max(1.0);
        }
        let (x, mode, again) = (&self.point[..], segment.mode, &mut self.again);
        let bad = (self.slopes).find(system, Point { t, x, mode }, &self.delta, again);
        if let Some(component) = bad {
            return Err(self.not_finite(component, t, segment));
        }
        self.is_measured = true;
        let slopes = self.ode.slope_at_start().chunks_exact(self.dim);
        let columns = self.delta.chunks_exact(self.dim);
        let mut rounding: f64 = 0.0;
        for ((slope, again), column) in slopes.zip(again.chunks_exact(self.dim)).zip(columns) {
            // A slope that moves nothing of its column over the segment is not held to itself.
            let size = largest(slope).max(SMALL * largest(column) / (segment.t - t));
            let off = slope.iter().zip(again).map(|(a, b)| (a - b).abs());
            rounding = rounding.max(off.fold(0.0, f64::max) / size.max(f64::MIN_POSITIVE));
        }
        for tolerance in &mut self.tolerance.relative {
            *tolerance = tolerance.max((OF_ROUNDING * rounding).min(MOST_ERROR));
        }
        Ok(())
    }

    #[cold]
    fn not_finite(&mut self, component: usize, t: f64, segment: &Segment<'_>) -> NoDerivative {
        let quantity = Quantity::Jacobian { component };
        let at = self.at(t, segment).into();
        NoDerivative::Stop(Stop::NotFinite { quantity, at })
    }

    /// Proposes a shorter step, unless it is the last of too many.
    fn reject(
        &mut self,
        step: f64,
        error: f64,
        t: f64,
        rejections: usize,
        segment: &Segment<'_>,
    ) -> Result<(), NoDerivative> {
        self.lengths.reject(step, error);
        let next = self.lengths.next;
        // Short steps find what is rounded, and no sample has seen so much of it: another one looks here.
        self.is_measured &= !rejections.is_multiple_of(MEASURED_AGAIN);
        if t + 0.1 * next <= t || rejections > MOST_REJECTIONS {
            let (step, at) = (next, self.at(t, segment).into());
            return Err(NoDerivative::Stop(Stop::StepTooSmall { step, at }));
        }
        Ok(())
    }

    /// The place of the run at `t`, for an error.
    #[cold]
    fn at(&mut self, t: f64, segment: &Segment<'_>) -> At {
        segment.interpolant.at(t, &mut self.point);
        At::new(t, &self.point, segment.mode)
    }

    /// Chooses the steps of the differences along a segment at its start, where the flow has no
    /// derivative that is written: those over which it is straight.
    fn choose_steps(
        &mut self,
        context: Context<'_>,
        segment: &Segment<'_>,
    ) -> Result<(), NoDerivative> {
        let Self {
            dim,
            delta,
            ode,
            tolerance,
            has_slope,
            is_measured,
            point,
            slopes,
            ..
        } = self;
        let (t, mode, system) = (segment.start, segment.mode, context.system);
        segment.interpolant.at(t, point);
        if !*has_slope {
            let slope = ode.first_stage();
            slopes.by_differences = !system.jacobian_times_each(t, point, mode, delta, slope);
            // One that is written is the first stage.
            *has_slope = !slopes.by_differences && slope.iter().sum::<f64>().is_finite();
            *is_measured = false;
        }
        if !slopes.by_differences {
            return Ok(());
        }
        for (i, small) in slopes.small.iter_mut().enumerate() {
            *small = context.size(i);
        }
        let (slope_is_known, x) = (*has_slope, &point[..]);
        for (j, column) in delta.chunks_exact(*dim).enumerate() {
            if column.iter().all(|&v| v == 0.0) {
                continue;
            }
            context.interrupt.check()?;
            // Errors without effect within the segment do not count.
            let small = SMALL * largest(column.iter());
            let length = segment.t - t;
            let floor = |i: usize, _: f64| UNSEEN * column[i].abs().max(small) / length;
            let (at, size) = (Point { t, x, mode }, |i: usize| context.size(i));
            let part = slopes.part(j, x, column);
            let Slopes {
                trials: [found, half, beside],
                scratch,
                ..
            } = &mut *slopes;
            let mut along =
                |part: f64, out: &mut [f64]| along_column(system, at, column, out, part, scratch);
            let start = (2.0 * part).min(1.0);
            if slope_is_known && part >= start {
                found.copy_from_slice(&ode.slope_at_start()[j * *dim..(j + 1) * *dim]);
            } else {
                let Ok(()) = along(start, found);
            }
            let line = Line::at_time(t, x, column);
            let sizes = Parts::along(start, line, size);
            let Ok(step) = resolve(sizes, along, floor, [found, half, beside]);
            if let Some(component) = step.unknown {
                return Err(NoDerivative::DifferencesDisagree {
                    quantity: Quantity::Jacobian { component },
                    t,
                    state: point.clone(),
                });
            }
            *has_slope &= step.part.to_bits() == part.to_bits();
            slopes.keep(j, step.part, x, column);
            for tolerance in &mut tolerance.relative[j * *dim..(j + 1) * *dim] {
                *tolerance = tolerance.max((OF_ROUNDING * step.rounding).min(MOST_ERROR));
            }
        }
        Ok(())
    }

    /// The largest error of a column in units of its tolerance.
    fn error(&mut self, step: f64) -> f64 {
        let mut most: f64 = 0.0;
        for from in (0..self.delta.len()).step_by(self.dim) {
            let column = from..from + self.dim;
            let larger = |a: f64, b: f64| if b > a { b } else { a };
            let entries = self.delta[column.clone()].iter();
            let size = entries.fold(f64::MIN_POSITIVE, |most, v| larger(most, v.abs()));
            let relative = &self.tolerance.relative[column.clone()];
            let absolute = &mut self.tolerance.absolute[column.clone()];
            for (absolute, relative) in absolute.iter_mut().zip(relative) {
                *absolute = larger(f64::MIN_POSITIVE, SMALL * size * relative);
            }
            let error = self
                .ode
                .error_of(column, &self.delta, step, &self.tolerance);
            if error.is_nan() {
                return error;
            }
            most = most.max(error);
        }
        most
    }
}
