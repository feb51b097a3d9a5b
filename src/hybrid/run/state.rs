//! The moving state of one integration and its workspace: time, state, field, mode, event
//! functions, arming.

use super::doubt::{Doubt, Top};
use super::examine::Passage;
use super::guard_table::{GuardTable, Ranking, Survey, Terms};
use super::turned::Flown;
use crate::hybrid::options::Settings;
use crate::hybrid::{CrossedGuard, EventFunction, Flow, Mode, Statistics, evaluate};
use crate::ode::{Buffer, Dense, DormandPrince, StepControl, Tolerance};
use crate::{At, Guard, Quantity, Stop};

/// Everything one integration moves and works with; made once, reused by every run.
#[derive(Clone, Debug)]
pub(crate) struct Run<B> {
    pub(crate) t: f64,
    pub(crate) tf: f64,
    pub(crate) x: B,
    pub(crate) mode: Mode,
    pub(crate) guards: GuardTable,
    /// The stepper; its first stage is always `f(t, x; mode)`.
    pub(crate) ode: DormandPrince<B>,
    pub(crate) tolerance: Tolerance<B>,
    pub(crate) control: StepControl,
    /// Step to try next (s).
    pub(crate) next_step: f64,
    /// Step accepted last, also when an event cut it short (s).
    pub(crate) last_step: f64,
    /// The errors of all steps so far, in units of the tolerance, as they may have grown.
    pub(crate) error: f64,
    /// The error of the last step, in units of the tolerance.
    pub(crate) step_error: f64,
    /// The guard that the last step ended on, and `d²h/dt²` of it, counted in its direction, as far
    /// as the step tells (`u_k`/s²); else 0.
    pub(crate) bend: (usize, f64),
    /// How long the next window may be, in which event functions are sampled (s).
    pub(crate) next_window: f64,
    /// The last window whose samples settled what happens in it (s).
    pub(crate) settled_window: f64,
    /// The longest step that the time scale of the flow allows (s).
    pub(crate) longest_step: f64,
    /// The longest distance of samples that the time scales of the guards allow (s).
    pub(crate) apart: f64,
    /// The longest window that they allow (s).
    pub(crate) longest_window: f64,
    /// Longest time over which `Projection::Auto` still tries (s).
    pub(crate) reach: f64,
    /// The event function whose neighbourhood the last smooth step ended on.
    pub(crate) entered: Option<usize>,
    /// The same, until the next step is taken: it is not entered again.
    pub(crate) inside: Option<usize>,
    /// Event functions found near their surface by the last survey.
    pub(crate) near: Vec<usize>,
    /// Time by which a projection missed its guard, by the value there: others that close are zero
    /// with it (s).
    pub(crate) residual_time: f64,
    /// The ranking of all others, as long as it holds.
    pub(crate) ranking: Option<Ranking>,
    /// The last crossing may have made event functions jump: by a reset, or because they read the
    /// mode.
    pub(crate) moved: bool,
    /// A projection that the observer has not been told of, because its landing may yet be taken
    /// back.
    pub(crate) untold: bool,
    /// Crossings of guards that have crossed at the present instant before.
    pub(crate) repeats: usize,
    /// The last crossings, those of `work.flown`, if the flow led to them and nothing was reset.
    pub(crate) last_flown: Option<Flown>,
    /// The first crossing since the last smooth step, where it has not been looked for guards that
    /// it turned away; else ∞ (s).
    pub(crate) cluster_start: f64,
    /// Guards that cross at the present instant.
    pub(crate) crossed: Vec<CrossedGuard>,
    /// Those of them that cross in a watched direction.
    pub(crate) counted: Vec<CrossedGuard>,
    /// Guards with `Watch::stop` that were crossed.
    pub(crate) stopping: Vec<Guard>,
    pub(crate) statistics: Statistics,
    pub(crate) work: Work<B>,
}

/// Scratch space.
#[derive(Clone, Debug)]
pub(crate) struct Work<B> {
    pub(crate) row: B,
    /// A trial state: on the interpolant, at a stage of a projection.
    pub(crate) point: B,
    /// State and field where a projection lands.
    pub(crate) landing: B,
    pub(crate) landing_field: B,
    pub(crate) stages: [B; 3],
    pub(crate) hermite: Dense<B>,
    /// Event functions at the start of a window that is not the first of its step.
    pub(crate) h_start: Vec<f64>,
    /// Event functions at the samples of a window after its start, or where a projection lands.
    pub(crate) h: [Vec<f64>; 3],
    pub(crate) rate: Vec<f64>,
    pub(crate) zero: Vec<f64>,
    pub(crate) stale: Vec<bool>,
    pub(crate) tried: Vec<bool>,
    /// Passages of guards in the present window.
    pub(crate) passages: Vec<Passage>,
    /// Guards that were farther from their surface than the error in this mode.
    pub(crate) outside: Vec<bool>,
    /// Guards that were on their surface, but for rounding, in all of the last window that looked
    /// at them.
    pub(crate) hovers: Vec<bool>,
    /// Maxima of guards that the present window does not pass.
    pub(crate) tops: Vec<Top>,
    /// Guards that the flow crossed last, at one instant and without a reset.
    pub(crate) flown: Vec<CrossedGuard>,
    /// How event functions changed in the last smooth step, up to the crossing (`u_k`).
    pub(crate) approach: Vec<f64>,
    /// The largest values of event functions at the crossings since then, counted in the direction
    /// ahead (`u_k`).
    pub(crate) closest: Vec<f64>,
    /// Guards that the crossings since then may have turned away.
    pub(crate) turned: Vec<usize>,
    /// Errors of the times of crossings (s).
    pub(crate) time_errors: Vec<f64>,
    /// Doubts that have not been told.
    pub(crate) doubts: Vec<Doubt>,
    /// State, event functions and modes as they were at a crossing.
    pub(crate) x_before: B,
    pub(crate) h_before: Vec<f64>,
    pub(crate) mode_before: Mode,
    /// Arming before a projection, in case it is taken back.
    pub(crate) armed_before: Vec<bool>,
    pub(crate) ready_before: Vec<bool>,
    pub(crate) mode_crossed: Mode,
    /// Side bits that the model set itself at the present instant.
    pub(crate) declared: Vec<bool>,
    /// The guard whose row of the reset matrix armed this event function at the present instant.
    pub(crate) armed_by: Vec<Option<Guard>>,
}

/// Doubts of one step that are told, at most.
const MOST_TOLD: usize = 16;

/// Whether a guard is zero is asked when it is this part of its motion in the last step away from
/// it.
const NEAR: f64 = 1e-3;

impl<B: Buffer> Run<B> {
    pub(crate) fn new(dim: usize, count: usize) -> Self {
        let (state, values) = (|| B::zeros(dim), || vec![0.0; count]);
        Self {
            t: 0.0,
            tf: 0.0,
            x: state(),
            mode: Mode::new(count),
            guards: GuardTable::new(count),
            ode: DormandPrince::new(dim),
            tolerance: Tolerance::new(dim),
            control: StepControl::new(),
            next_step: 0.0,
            last_step: 0.0,
            error: 0.0,
            step_error: 0.0,
            bend: (0, 0.0),
            next_window: f64::INFINITY,
            settled_window: f64::INFINITY,
            longest_step: f64::INFINITY,
            apart: f64::INFINITY,
            longest_window: f64::INFINITY,
            reach: f64::INFINITY,
            entered: None,
            inside: None,
            moved: false,
            untold: false,
            repeats: 0,
            near: Vec::with_capacity(count),
            residual_time: 0.0,
            ranking: None,
            last_flown: None,
            cluster_start: f64::INFINITY,
            crossed: Vec::with_capacity(count),
            counted: Vec::with_capacity(count),
            stopping: Vec::with_capacity(2 * count),
            statistics: Statistics::default(),
            work: Work {
                row: state(),
                point: state(),
                landing: state(),
                landing_field: state(),
                stages: std::array::from_fn(|_| state()),
                hermite: Dense::new(dim),
                h_start: values(),
                h: std::array::from_fn(|_| values()),
                rate: values(),
                zero: values(),
                stale: vec![true; count],
                tried: vec![false; count],
                passages: Vec::with_capacity(count),
                outside: vec![false; count],
                hovers: vec![false; count],
                tops: Vec::with_capacity(count),
                approach: values(),
                closest: values(),
                turned: Vec::with_capacity(count),
                flown: Vec::with_capacity(count),
                time_errors: values(),
                doubts: Vec::with_capacity(MOST_TOLD),
                armed_before: vec![false; count],
                ready_before: vec![false; count],
                x_before: state(),
                h_before: values(),
                mode_before: Mode::new(count),
                mode_crossed: Mode::new(count),
                declared: vec![false; count],
                armed_by: vec![None; count],
            },
        }
    }

    pub(crate) fn dim(&self) -> usize {
        self.x.get().len()
    }

    pub(crate) fn count(&self) -> usize {
        self.mode.len()
    }

    /// Forgets the last run; the input has been checked.
    pub(crate) fn reset(&mut self, settings: &Settings, t0: f64, x0: &[f64], tf: f64) {
        self.t = t0;
        self.tf = tf;
        self.x.get_mut().copy_from_slice(x0);
        for k in 0..self.count() {
            self.set_mode_bit(k, false);
        }
        for i in 0..self.dim() {
            self.tolerance.relative.get_mut()[i] = settings.rtol.get(i);
            // Never quite zero, so that a component that stays zero has no error of 0/0.
            self.tolerance.absolute.get_mut()[i] = settings.atol.get(i).max(f64::MIN_POSITIVE);
        }
        self.control = StepControl::new();
        self.ode.forget();
        self.last_step = 0.0;
        self.error = 1.0;
        self.bend = (0, 0.0);
        self.work.doubts.clear();
        self.next_window = f64::INFINITY;
        self.settled_window = f64::INFINITY;
        self.cluster_start = f64::INFINITY;
        self.work.outside.fill(false);
        self.work.hovers.fill(false);
        self.guards.reset();
        self.reach = f64::INFINITY;
        self.entered = None;
        self.inside = None;
        self.untold = false;
        self.repeats = 0;
        self.last_flown = None;
        self.ranking = None;
        self.stopping.clear();
        self.statistics = Statistics::default();
    }

    /// Event functions that ended the run.
    pub(crate) fn stopping_guards(&self) -> Vec<Guard> {
        self.stopping.clone()
    }

    /// `f(t, x; mode)`.
    #[inline]
    pub(crate) fn field(&self) -> &[f64] {
        self.ode.slope_at_start()
    }

    /// Sets a side bit.
    #[inline]
    pub(crate) fn set_mode_bit(&mut self, k: usize, side: bool) {
        self.mode.set(k, side);
        self.guards.sign[k] = Guard::ahead(k, side).sign();
    }

    /// Brings the signs in line with a mode that was replaced as a whole.
    pub(crate) fn follow_mode(&mut self) {
        for k in 0..self.count() {
            self.guards.sign[k] = Guard::ahead(k, self.mode.contains(k)).sign();
        }
    }

    /// Numerical zero of `h_k` for a guard that moves at `rate` where `Σ|∂h_k/∂x_i x_i|` is
    /// `magnitude`: what a few units in the last place of time and state make of it. Times are as
    /// exact as the time itself and the step they are found in.
    #[inline]
    pub(crate) fn zero(&self, k: usize, rate: f64, magnitude: f64) -> f64 {
        let time = self.t.abs() + self.last_step;
        let rounding = f64::EPSILON * (8.0 * time * rate.abs() + 4.0 * magnitude);
        rounding.max(self.guards.event_tolerance[k])
    }

    /// Looks who is near its surface at the present state, on that of guard `on`.
    #[inline]
    pub(crate) fn survey_here(&mut self, on: usize) {
        let time = self.rounding_of_time();
        let found = self.guards.survey(None, on, time, &mut self.near);
        self.take_survey(found);
    }

    /// The same where a projection onto guard `on` lands.
    #[inline]
    pub(crate) fn survey_landing(&mut self, on: usize) {
        let time = self.rounding_of_time();
        let landing = Some(&self.work.h[0][..]);
        let found = self.guards.survey(landing, on, time, &mut self.near);
        self.take_survey(found);
    }

    #[inline]
    fn take_survey(&mut self, found: Survey) {
        self.residual_time = found.residual_time;
        self.ranking = Some(found.ranking);
    }

    /// How far times of the last step are rounded (s).
    #[inline]
    fn rounding_of_time(&self) -> f64 {
        8.0 * f64::EPSILON * (self.t.abs() + self.last_step)
    }

    /// Forgets how event functions depend on the state, now that the mode is another, unless they
    /// do not read it.
    #[inline]
    pub(crate) fn forget_terms<S: EventFunction>(&mut self, system: &S) {
        if !system.ignores_mode() {
            self.guards.spread.fill(0.0);
            self.guards.terms.fill(Terms::default());
            self.work.outside.fill(false);
        }
    }

    /// Evaluates the field at the present state and mode.
    #[inline]
    pub(crate) fn refresh_field<S: Flow>(&mut self, system: &S) -> Result<(), Stop> {
        let field = self.ode.first_stage();
        system.flow(self.t, self.x.get(), &self.mode, field);
        self.statistics.flow += 1;
        evaluate::check_flow(field, self.t, self.x.get(), &self.mode)
    }

    /// Evaluates all event functions at the present state and mode.
    #[inline]
    pub(crate) fn refresh_events<S: EventFunction>(&mut self, system: &S) -> Result<(), Stop> {
        let h = &mut self.guards.h;
        system.events(self.t, self.x.get(), &self.mode, h);
        self.statistics.events += 1;
        evaluate::check_events(h, self.t, self.x.get(), &self.mode)
    }

    /// Evaluates rate and numerical zero of event function `k` at the present state, field and
    /// mode.
    #[inline]
    pub(crate) fn refresh_rate<S>(&mut self, system: &S, k: usize) -> Result<(), Stop>
    where
        S: Flow + EventFunction,
    {
        let at = (self.t, self.x.get());
        let row = self.work.row.get_mut();
        let mut rate = evaluate::rate(system, k, at, &self.mode, self.ode.slope_at_start(), row);
        self.statistics.gradient += 1;
        if !rate.value.is_finite() {
            let quantity = Quantity::Gradient { event: k };
            return Err(evaluate::not_finite(
                quantity,
                self.t,
                self.x.get(),
                &self.mode,
            ));
        }
        if rate.written {
            let spread = self.tolerance.along(row, at.1);
            self.set_spread(k, spread);
        } else {
            let moves = rate.value.abs() * self.last_step.max(NEAR * (self.tf - self.t));
            // At a tangent the rate does not tell how far the guard moves.
            if self.guards.h[k].abs() <= NEAR * moves.max(rate.beside) {
                let terms = &mut self.guards.terms[k];
                let space = (row, &self.tolerance);
                terms.evaluate(system, k, at, &self.mode, space, &mut self.statistics);
                rate.magnitude = terms.magnitude;
                let spread = terms.spread;
                self.set_spread(k, spread);
            }
        }
        self.set_rate(k, rate);
        Ok(())
    }

    /// Takes over the rate of event function `k` at the present state.
    #[inline]
    pub(crate) fn set_rate(&mut self, k: usize, rate: evaluate::Rate) {
        self.guards.rate[k] = rate.value;
        self.guards.see_rate(k, rate.value);
        self.guards.zero[k] = self.zero(k, rate.value, rate.magnitude);
        self.guards.stale[k] = false;
    }

    /// Evaluates rate and numerical zero of event function `k` if they are stale.
    #[inline]
    pub(crate) fn need_rate<S>(&mut self, system: &S, k: usize) -> Result<(), Stop>
    where
        S: Flow + EventFunction,
    {
        if self.guards.stale[k] {
            self.refresh_rate(system, k)?;
        }
        Ok(())
    }

    /// Evaluates rates and numerical zeros of the guards in `near`, or of `all` armed ones, now
    /// that the state or the mode is another; those of the others become stale.
    #[inline]
    pub(crate) fn renew_rates<S>(&mut self, system: &S, all: bool) -> Result<(), Stop>
    where
        S: Flow + EventFunction,
    {
        self.guards.stale.fill(true);
        if all {
            for k in 0..self.count() {
                if self.guards.armed[k] {
                    self.refresh_rate(system, k)?;
                }
            }
            return Ok(());
        }
        self.renew_near(system)
    }

    /// Evaluates rates and numerical zeros of the guards in `near` that are stale.
    #[inline]
    pub(crate) fn renew_near<S>(&mut self, system: &S) -> Result<(), Stop>
    where
        S: Flow + EventFunction,
    {
        for i in 0..self.near.len() {
            self.need_rate(system, self.near[i])?;
        }
        Ok(())
    }

    /// True when slopes of event functions over so many seconds are no rounding of times, so that
    /// they tell of rates.
    #[inline]
    pub(crate) fn tells_rates(&self, seconds: f64) -> bool {
        seconds >= 1e6 * f64::EPSILON * (self.t.abs() + self.last_step)
    }

    /// Where the run is, for an error.
    #[cold]
    pub(crate) fn at(&self) -> At {
        At::new(self.t, self.x.get(), &self.mode)
    }

    /// The refusal of guard `guard` as sliding or grazing.
    #[cold]
    pub(crate) fn not_live(&self, guard: Guard, rate_before: f64, rate_after: f64) -> Stop {
        Stop::NotLive {
            guard,
            rate_before,
            rate_after,
            min_rate: self.guards.min_rate[guard.event],
            at: self.at().into(),
        }
    }
}
