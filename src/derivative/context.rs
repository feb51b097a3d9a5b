//! The context of a derivative: the system, the rule of re-arming, and the scales and tolerances of
//! the run.

use crate::hybrid::System;
use crate::hybrid::evaluate::{self, Point};
use crate::hybrid::options::Settings;
use crate::linalg::dot;
use crate::ode::extrapolated::{self, SLOW};
use crate::ode::resolved_difference;
use crate::{Guard, Interrupt, NoDerivative, Quantity, Rearm};

/// A rate that is known to this part of itself only is not known.
const KNOWN: f64 = 1e-3;

/// The system and the settings of a run, or of a question outside of runs.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) rearm: &'a Rearm,
    /// Events closer in time than this are one (s).
    pub(crate) tolerance: f64,
    /// The tolerances of the run, if there is one.
    pub(crate) settings: Option<&'a Settings>,
    /// Ends searches when it is set.
    pub(crate) interrupt: &'a Interrupt,
}

impl<'a> Context<'a> {
    /// The context of a run.
    pub(crate) fn of_run(system: &'a dyn System, rearm: &'a Rearm, settings: &'a Settings) -> Self {
        Self {
            system,
            rearm,
            tolerance: settings.one_corner(settings.length),
            settings: Some(settings),
            interrupt: &settings.limits.interrupt,
        }
    }

    /// The size of component `i` at which its absolute and relative tolerances are equal; at most
    /// one, and one where no tolerances are given.
    pub(crate) fn size(&self, i: usize) -> f64 {
        let size = self.settings.map_or(1.0, |s| s.atol.get(i) / s.rtol.get(i));
        if size > 0.0 { size.min(1.0) } else { 1.0 }
    }

    /// The error that the run allows component `i` of a state, of size `x`; zero where no
    /// tolerances are given.
    pub(crate) fn error_scale(&self, i: usize, x: f64) -> f64 {
        self.settings
            .map_or(0.0, |s| s.atol.get(i) + s.rtol.get(i) * x.abs())
    }
}

impl Context<'_> {
    /// True when a crossing of `guard` is looked for, by its watch and the rule of re-arming.
    pub(crate) fn follows(&self, guard: Guard) -> bool {
        let watch = self.system.watch(guard.event);
        self.rearm.follows(watch, guard.direction)
    }

    /// True when a crossing changes its own side, its own arming, and the field, and nothing else:
    /// then the guards crossed so far determine where it leads.
    pub(crate) fn crosses_sides_alone(&self) -> bool {
        !matches!(self.rearm, Rearm::Matrix(_))
            && self.system.ignores_mode()
            && !self.system.resets()
    }

    /// `h_k` counts as zero at a corner up to this, by the corner tolerance in time and by rounding
    /// (`u_k`).
    pub(crate) fn zero(&self, k: usize, t: f64, rate: evaluate::Rate) -> f64 {
        let time = self.tolerance + 8.0 * f64::EPSILON * t.abs();
        let rounding = 8.0 * f64::EPSILON * rate.magnitude;
        (time * rate.value.abs() + rounding).max(self.system.event_tolerance(k))
    }

    /// The row `D_x h_k`, written by the user or by central differences, into `row`; returns
    /// `∂h_k/∂t`. `scratch` is overwritten.
    ///
    /// # Errors
    /// [`NoDerivative::DifferencesDisagree`].
    pub(crate) fn row(
        &self,
        k: usize,
        Point { t, x, mode }: Point<'_>,
        row: &mut [f64],
        scratch: &mut [f64],
    ) -> Result<f64, NoDerivative> {
        if let Some(moving) = self.system.gradient(k, t, x, mode, row) {
            return Ok(moving);
        }
        self.row_by_differences(k, Point { t, x, mode }, row, scratch)
    }

    /// Likewise the row of a guard that is crossed along `field`, which its rate is to divide: where this is small
    /// beside its terms, and the row is not exact, by differences that are extrapolated.
    ///
    /// # Errors
    /// [`NoDerivative::DifferencesDisagree`], also where they do not tell the rate.
    pub(crate) fn crossed_row(
        &self,
        k: usize,
        point: Point<'_>,
        field: &[f64],
        row: &mut [f64],
        scratch: &mut [f64],
    ) -> Result<f64, NoDerivative> {
        let (system, Point { t, x, mode }) = (self.system, point);
        let moving = self.row(k, point, row, scratch)?;
        let terms = row.iter().zip(field).map(|(a, f)| (a * f).abs());
        let terms = moving.abs() + terms.sum::<f64>();
        if (moving + dot(row, field)).abs() >= SLOW * terms || self.writes_row(k, point, scratch) {
            return Ok(moving);
        }
        let h = |t: f64, x: &[f64]| system.event(k, t, x, mode);
        let [moving, error] = extrapolated::refined_gradient(h, t, x, row, scratch, moving);
        let errors = scratch
            .iter()
            .zip(field)
            .map(|(error, f)| (error * f).abs());
        let (error, rate) = (
            error + errors.sum::<f64>(),
            (moving + dot(row, field)).abs(),
        );
        // Whether a slower one is crossed at all is asked elsewhere.
        let is_live = rate > system.min_rate(k).unwrap_or(f64::EPSILON * terms);
        if is_live && error > KNOWN * rate {
            return Err(unknown_row(k, point));
        }
        Ok(moving)
    }

    /// True where the row of a guard is exact.
    fn writes_row(&self, k: usize, Point { t, x, mode }: Point<'_>, scratch: &mut [f64]) -> bool {
        let system = self.system;
        system.gradient(k, t, x, mode, scratch).is_some()
            && !system.writes_row_differences(k, x, mode)
    }

    fn row_by_differences(
        &self,
        k: usize,
        point: Point<'_>,
        row: &mut [f64],
        scratch: &mut [f64],
    ) -> Result<f64, NoDerivative> {
        let (system, Point { t, x, mode }) = (self.system, point);
        let h = |t: f64, x: &[f64]| system.event(k, t, x, mode);
        let moving =
            resolved_difference::resolved_gradient(h, t, x, |i| self.size(i), row, scratch);
        moving.ok_or_else(|| unknown_row(k, point))
    }
}

fn unknown_row(k: usize, Point { t, x, .. }: Point<'_>) -> NoDerivative {
    NoDerivative::DifferencesDisagree {
        quantity: Quantity::Gradient { event: k },
        t,
        state: x.to_vec(),
    }
}
