//! Moving part of a run: time, state, mode and field, with the stepper that moves them and the
//! error made so far.

use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::Point;
use crate::hybrid::options::Settings;
use crate::ode::{Buffer, Tolerance, Tsitouras};
use crate::{At, Mode, Stop};

/// Errors of steps grow along a run; they are taken to do so by this factor.
pub(crate) const GROWTH: f64 = 3.0;
/// The error that a run begins with, in units of the tolerance.
const GIVEN: f64 = 1.0;
/// Sizes of state variables are updated when they have grown by this factor.
const OUTGROWN: f64 = 1.25;

/// Time, state, mode and field of a run, with its stepper.
#[derive(Clone, Debug)]
pub(crate) struct State<B> {
    pub(crate) t: f64,
    pub(crate) tf: f64,
    pub(crate) x: B,
    pub(crate) mode: Mode,
    /// The stepper; its first stage is always `f(t, x; mode)`.
    pub(crate) ode: Tsitouras<B>,
    pub(crate) tolerance: Tolerance<B>,
    /// Step accepted last, also when an event cut it short (s).
    pub(crate) last_step: f64,
    /// Error of the start and errors of all steps so far, in units of the tolerance, as they may
    /// have grown.
    pub(crate) error: f64,
    /// The error that is allowed in each variable at the largest size that steps and resets have
    /// left it with: it does not shrink where a large variable passes zero.
    pub(crate) allowed: B,
    /// Sizes of the variables above which this is evaluated again.
    limits: B,
    /// The number of times that variables have outgrown their sizes.
    pub(crate) outgrown: u64,
}

impl<B: Buffer> State<B> {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        Self {
            t: 0.0,
            tf: 0.0,
            x: B::zeros(dim),
            mode: mode.clone(),
            ode: Tsitouras::new(dim),
            tolerance: Tolerance::new(dim),
            last_step: 0.0,
            error: 0.0,
            allowed: B::zeros(dim),
            limits: B::zeros(dim),
            outgrown: 0,
        }
    }

    /// Stands at the start of a run, with all sides and flags off; the input has been checked.
    pub(crate) fn begin(&mut self, settings: &Settings, t0: f64, x0: &[f64], tf: f64) {
        (self.t, self.tf) = (t0, tf);
        self.x.get_mut().copy_from_slice(x0);
        self.mode.clear();
        for i in 0..self.dim() {
            self.tolerance.relative.get_mut()[i] = settings.rtol.get(i);
            // Never quite zero, so that a component that stays zero has no error of 0/0.
            self.tolerance.absolute.get_mut()[i] = settings.atol.get(i).max(f64::MIN_POSITIVE);
        }
        self.ode.forget();
        self.last_step = 0.0;
        self.error = GIVEN;
        self.outgrown = 0;
        self.limits.get_mut().fill(-1.0);
        self.note_sizes();
    }

    pub(crate) fn dim(&self) -> usize {
        self.x.get().len()
    }

    /// Number of event functions.
    pub(crate) fn count(&self) -> usize {
        self.mode.len()
    }

    /// `f(t, x; mode)`.
    #[inline]
    pub(crate) fn field(&self) -> &[f64] {
        self.ode.slope_at_start()
    }

    /// Evaluates the field.
    #[inline]
    pub(crate) fn refresh_field<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
    ) -> Result<(), Stop> {
        let field = self.ode.first_stage();
        context.field(self.t, self.x.get(), &self.mode, field)
    }

    /// Evaluates the field anew, where the system may have changed; true when it is another one than it was, which
    /// `before` then holds.
    pub(crate) fn renew_field<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        before: &mut [f64],
    ) -> Result<bool, Stop> {
        before.copy_from_slice(self.field());
        self.refresh_field(context)?;
        let mut pairs = before.iter().zip(self.field());
        Ok(pairs.any(|(before, now)| before.to_bits() != now.to_bits()))
    }

    /// Adds the error of a step, in units of the tolerance.
    #[inline]
    pub(crate) fn add_error(&mut self, error: f64) {
        self.error += GROWTH * if error < 1e9 { error } else { 1e9 };
    }

    /// Notes variables that are larger than they have been, where a step or a reset leads.
    #[inline]
    pub(crate) fn note_sizes(&mut self) {
        let x = self.x.get();
        let limits = &self.limits.get()[..x.len()];
        // Without a branch in the loop: variables hardly ever outgrow their sizes.
        let mut is_outgrown = false;
        for i in 0..x.len() {
            is_outgrown |= x[i].abs() > limits[i];
        }
        if is_outgrown {
            self.grow_sizes();
        }
    }

    #[cold]
    fn grow_sizes(&mut self) {
        for i in 0..self.dim() {
            let size = self.x.get()[i].abs();
            let limit = &mut self.limits.get_mut()[i];
            if size > *limit {
                *limit = OUTGROWN * size;
                self.allowed.get_mut()[i] = self.tolerance.scale(i, size, size);
            }
        }
        self.outgrown += 1;
    }

    /// Speed of the fastest variable, in allowed errors a second.
    #[inline]
    pub(crate) fn speed(&self) -> f64 {
        let (field, allowed) = (self.field(), self.allowed.get());
        field.iter().zip(allowed).fold(0.0, |most, (f, a)| {
            let speed = (f / a).abs();
            if speed > most { speed } else { most }
        })
    }

    /// The part of the error that steps made.
    #[inline]
    pub(crate) fn part_of_steps(&self) -> f64 {
        1.0 - GIVEN / self.error
    }

    /// `Σ |row_i| allowed_i`: how much a function with this gradient changes when all variables are
    /// off by what is allowed of their sizes.
    #[inline]
    pub(crate) fn along(&self, row: &[f64]) -> f64 {
        let allowed = self.allowed.get();
        let n = allowed.len();
        let row = &row[..n];
        (0..n).map(|i| row[i].abs() * allowed[i]).sum()
    }

    /// `|t|` and the last step (s): times are rounded to so much times the machine's precision.
    #[inline]
    pub(crate) fn size_of_time(&self) -> f64 {
        self.t.abs() + self.last_step
    }

    /// True when slopes of event functions over so many seconds are no rounding of times, so that
    /// they give rates.
    #[inline]
    pub(crate) fn tells_rates(&self, seconds: f64) -> bool {
        seconds >= 1e6 * f64::EPSILON * self.size_of_time()
    }

    /// The shortest step that still moves the time (s).
    pub(crate) fn least_step(&self) -> f64 {
        (8.0 * f64::EPSILON * self.t.abs()).max(f64::MIN_POSITIVE / f64::EPSILON)
    }

    /// The point at which the model is evaluated.
    #[inline]
    pub(crate) fn point(&self) -> Point<'_> {
        Point {
            t: self.t,
            x: self.x.get(),
            mode: &self.mode,
        }
    }

    /// The place, for an error.
    #[cold]
    pub(crate) fn at(&self) -> At {
        At::new(self.t, self.x.get(), &self.mode)
    }
}
