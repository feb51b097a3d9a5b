//! Lengths of smooth steps: steps are tried until one passes the error test, and repeated where
//! they stop at a guard with too large an error.

use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate;
use crate::hybrid::options::Settings;
use crate::hybrid::search::StepEnd;
use crate::hybrid::table::{GROWTH, State};
use crate::ode::adaptive::{LAST, Proposal};
use crate::ode::{
    Adaptive, Buffer, FieldAt, Look, STAGES_APART, Tolerance, Tsitouras, first_step, greater,
    lesser,
};
use crate::{Quantity, Stop};

/// The error where a step stops may be this many times what the size of the state there allows:
/// that of the interpolant in a step which just passes the error test.
const MOST_ERROR: f64 = 4.0;
/// The rounding of the interpolant where a step stops may be this many times that of the state.
const MOST_ROUNDING: f64 = 16.0;
/// Rounding below this part of the tolerance is let be.
const NEGLIGIBLE: f64 = 1e-6;
/// A repeated step goes this much farther than the guard it was to end on.
const BEYOND: f64 = 1.02;
/// A step that is to be shorter becomes this part of itself at most: a last step may be [`LAST`]
/// times longer than wished.
pub(crate) const SHORTER: f64 = 0.95;
/// What a flow does in this part of a run is to be seen, where no time scale is stated: in longer steps it
/// is asked at so many places whether a clock switches it.
const SHORTEST: f64 = 0.01;
/// A state that moves by fewer tolerances in that time is all but at rest: a force that is beyond what holds a body
/// by the error of its guard accelerates it no more.
const MOVES: f64 = 100.0;
const PLACES: [u8; 5] = [8, 16, 32, 64, 128];
/// Looks behind a crossing at how the field changes, before a whole step is made: the first may be at
/// a place too far to tell.
const LOOKS: u8 = 2;
/// Simpson's rule may be off by this many times what the error estimate of a step may be, about as much as it is off
/// from smooth motion in a step that just passes.
const SIMPSON: f64 = 6.0;

/// Tries that may meet what is not finite while no step between them is longer than so many of the shortest, and no
/// guard is crossed: at the edge of a domain the time may go on where a state does not move any more.
const MOST_AT_EDGE: u32 = 100;
const FREE: f64 = 64.0;

/// The length of steps, and the error of the last one.
#[derive(Clone, Debug)]
pub(crate) struct Steps<B> {
    pub(crate) lengths: Adaptive,
    /// The longest step that the time scale of the flow and the settings allow (s).
    longest: f64,
    /// Their length where it is fixed (s).
    fixed: Option<f64>,
    /// In longer steps it is asked whether the flow is switched by a clock (s).
    unseen: f64,
    /// The error of the last step, in units of the tolerance.
    pub(crate) error: f64,
    /// Looks that are left before the next step.
    looks: u8,
    /// No step was taken since the last crossing.
    pub(super) is_behind_crossing: bool,
    /// Tries since the last step of some length, and the last crossing, that met what is not finite.
    at_edge: u32,
    /// Scratch.
    point: B,
    row: B,
}

impl<B: Buffer> Steps<B> {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            lengths: Adaptive::new(0.0),
            longest: f64::INFINITY,
            fixed: None,
            unseen: f64::INFINITY,
            error: 0.0,
            looks: 0,
            is_behind_crossing: false,
            at_edge: 0,
            point: B::zeros(dim),
            row: B::zeros(dim),
        }
    }

    /// Forgets the last run.
    pub(crate) fn begin<S: System + ?Sized>(&mut self, system: &S, settings: &Settings) {
        self.lengths = Adaptive::new(0.0);
        self.looks = 0;
        self.is_behind_crossing = false;
        self.at_edge = 0;
        let of_flow = system.flow_time_scale().unwrap_or(f64::INFINITY) / STAGES_APART;
        self.longest = lesser(of_flow, settings.max_step);
        self.fixed = settings
            .fixed_step
            .map(|step| lesser(step, settings.max_step));
    }

    /// A run begins, or the next part of a live one: says what is to be seen in it.
    pub(crate) fn begin_part<S: System + ?Sized>(&mut self, system: &S, state: &State<B>) {
        self.unseen = match system.flow_time_scale() {
            None => SHORTEST * (state.tf - state.t),
            Some(_) => f64::INFINITY,
        };
        // A part before it that ended within rounding of its start says nothing of steps.
        self.lengths.next = greater(self.lengths.next, 16.0 * state.least_step());
    }

    /// Chooses a first step: fixed, given, or by an Euler step.
    pub(crate) fn choose<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &mut State<B>,
    ) {
        let settings = context.settings;
        self.looks = 0;
        let most = settings.max_step.min(state.tf - state.t);
        let step = match (settings.fixed_step, settings.first_step) {
            (Some(step), _) | (None, Some(step)) => step,
            (None, None) if most > 0.0 => {
                context.counts.flow.add(1);
                let (mode, system) = (&state.mode, context.system);
                let start = FieldAt {
                    t: state.t,
                    x: state.x.get(),
                    slope: state.field(),
                };
                first_step(
                    |t, x, dx| system.flow(t, x, mode, dx),
                    start,
                    &state.tolerance,
                    most,
                    self.point.get_mut(),
                    self.row.get_mut(),
                )
            }
            (None, None) => most,
        };
        let step = match settings.fixed_step.or(settings.first_step) {
            Some(_) => step,
            // A guess that would not move the time is too short.
            None => (self.at_rest(state, step).max(16.0 * state.least_step())).min(most),
        };
        self.lengths.next = step;
        state.last_step = step;
    }

    /// A crossing was made: the motion behind it may ask for steps of another length.
    #[inline]
    pub(crate) fn note_crossing(&mut self, state: &State<B>) {
        self.looks = if self.fixed.is_some() { 0 } else { LOOKS };
        self.is_behind_crossing = self.fixed.is_none();
        self.at_edge = 0;
        // Steps that shrank before it, at a singularity of the mode that it left, say nothing of the next.
        self.lengths.next = greater(self.lengths.next, 2.0 * state.least_step());
    }

    /// The step to try next; an error where none is left that moves the state.
    #[inline]
    fn propose<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
    ) -> Result<Proposal, Stop> {
        let (settings, remaining) = (context.settings, state.tf - state.t);
        let proposed = if let Some(step) = self.fixed {
            step
        } else {
            let step = lesser(self.lengths.next, self.longest);
            if lesser(step, remaining) > self.unseen {
                let step = match self.looks {
                    0 => step,
                    _ => self.at_rest(state, step),
                };
                self.until_switch(context, state, step)
            } else {
                step
            }
        };
        let too_short = proposed < state.least_step() && proposed < remaining;
        if too_short || (self.lengths.was_rejected() && !moves(state, proposed)) {
            return Err(step_failed(state, proposed));
        }
        let slack = if self.fixed.is_some() {
            1.0 + 1e-9
        } else {
            LAST
        };
        let most = lesser(proposed * slack, settings.max_step);
        Ok(Proposal::new(state.t, proposed, most, remaining))
    }

    /// A step; no longer than what is to be seen in a run where the motion behind a crossing, or at the start, is
    /// all but none: steps that grew at rest say nothing of it, and may have all their stages where forces that set
    /// it in motion have gone again.
    fn at_rest(&self, state: &State<B>, step: f64) -> f64 {
        let speed = state.tolerance.norm(state.field(), state.x.get());
        let longest = greater(self.unseen, 16.0 * state.least_step());
        let moves = speed * longest >= MOVES;
        if moves { step } else { lesser(step, longest) }
    }

    /// A step, or its part up to where the flow has been switched by a clock, or has set a state at rest in motion.
    #[cold]
    fn until_switch<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        step: f64,
    ) -> f64 {
        let length = lesser(step, state.tf - state.t);
        let is_enough = |places: &u8| f64::from(*places) * self.unseen >= length;
        let [.., most] = PLACES;
        let places = PLACES.into_iter().find(is_enough).unwrap_or(most);
        let State { t, x, mode, .. } = state;
        let (x, system) = (x.get(), context.system);
        let until = system.until_switch(*t, x, mode, length, places.into());
        if until < length {
            return until;
        }
        if is_set_in_motion(x, state.field(), length) {
            return step;
        }
        let (parts, field) = (f64::from(places), self.row.get_mut());
        let mut times = (1..=places).map(|place| length * f64::from(place) / parts);
        let found = times.find(|time| {
            context.flow(t + time, x, mode, field);
            is_set_in_motion(x, field, length)
        });
        found.unwrap_or(step)
    }

    /// Tries steps until one passes the error test; gives its length.
    #[inline]
    pub(crate) fn attempt<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &mut State<B>,
    ) -> Result<f64, Stop> {
        let (settings, counts) = (context.settings, &context.counts);
        loop {
            let tried = counts.steps.get() + counts.rejections.get() - context.tried;
            if tried >= settings.limits.max_steps {
                return Err(Stop::TooManySteps {
                    limit: settings.limits.max_steps,
                    at: state.at().into(),
                });
            }
            let proposal = self.propose(context, state)?;
            let step = proposal.step;
            let (least, remaining) = (16.0 * state.least_step(), state.tf - state.t);
            let State {
                t,
                x,
                mode,
                ode,
                tolerance,
                last_step,
                ..
            } = &mut *state;
            let system = context.system;
            let mut flow = |t: f64, x: &[f64], dx: &mut [f64]| system.flow(t, x, mode, dx);
            ode.begin(&mut flow, *t, x.get(), step);
            counts.flow.add(1);
            // A step that was right before a landing is rejected behind it up to twice, at six
            // fields each; the second stage alone shows that, and is a stage of the step that is made.
            // Before the first step there is no motion that this one could be compared with.
            if self.looks > 0 && counts.steps.get() > 0 {
                self.looks -= 1;
                let longest = lesser(self.longest, remaining);
                let other = other_step(ode, x.get(), [*last_step, step], tolerance);
                if let Some(other) = other.filter(|other| *other < step || step < longest) {
                    self.lengths.next = greater(other, least);
                    continue;
                }
                self.looks = 0;
            }
            counts.flow.add(5);
            ode.advance(&mut flow, *t, x.get(), step);
            let mut error = ode.error(x.get(), step, tolerance);
            // A step that is longer than those before the crossing follows from a look at one place. Where that
            // says too little it may be far too long, and its error estimate small by chance.
            if self.is_behind_crossing && step > *last_step && error <= 1.0 {
                counts.flow.add(1);
                ode.form_interpolant(*t, x.get(), step);
                let (middle, slope) = (self.point.get_mut(), self.row.get_mut());
                ode.at_fraction(0.5, middle);
                flow(*t + 0.5 * step, middle, slope);
                error = greater(
                    error,
                    off_simpson(ode, x.get(), step, slope, tolerance) / SIMPSON,
                );
            }
            let good = if self.fixed.is_some() {
                let ends = ode.state().iter().chain(ode.slope_at_end());
                ends.sum::<f64>().is_finite()
            } else {
                error <= 1.0
            };
            // Beyond the largest numbers the error is nothing beside the state.
            let is_finite = ode.state().iter().all(|x| x.is_finite());
            let error = if is_finite { error } else { f64::NAN };
            if good && is_finite {
                counts.steps.add(1);
                self.error = error;
                self.lengths.accept(proposal, error);
                if step > FREE * least {
                    self.at_edge = 0;
                }
                state.last_step = step;
                return Ok(step);
            }
            counts.rejections.add(1);
            self.at_edge += u32::from(!error.is_finite());
            if self.fixed.is_some() || !self.is_free() {
                return Err(step_failed(state, step));
            }
            self.lengths.reject(step, error);
            settings.limits.interrupt.check()?;
        }
    }

    /// Estimates the error where the step stops. If it is too large, gives the length of the step that
    /// is to be made instead: up to the stop and little more. The error test used the size of the
    /// state beyond the stop, which the run never reaches; the terms of the interpolant have the
    /// size of the whole step, and cancel at a stop near its start.
    ///
    /// Before a jump it ends just short of it: stages on both sides of a jump of the flow are off by more than
    /// their differences say.
    pub(crate) fn shorter_before(
        &mut self,
        settings: &Settings,
        state: &State<B>,
        stop: StepEnd,
        step: f64,
    ) -> Option<f64> {
        if stop.leapt && settings.fixed_step.is_none() {
            let (until, least) = (stop.fraction * step, state.least_step());
            if until.min(step - until) >= 16.0 * least {
                return Some(until - least);
            }
        }
        let (ode, point) = (&state.ode, self.point.get_mut());
        let interpolant = ode.interpolant();
        interpolant.at_fraction(stop.fraction, point);
        let ends = [state.x.get(), &*point];
        let [of_stages, of_time] = ode.errors_at(stop.fraction, ends, step, &state.tolerance);
        let mut of_rounding: f64 = 0.0;
        let mut is_rounded = false;
        for i in 0..ends[1].len() {
            let (start, end) = (ends[0][i], ends[1][i]);
            let rounding = interpolant.rounding_at(stop.fraction, i);
            of_rounding = of_rounding.max(rounding / state.tolerance.scale(i, start, end));
            // The rounding that a step which ends here would leave, by its ends and the slope
            // between them.
            let way = stop.fraction * step * state.field()[i];
            let most = MOST_ROUNDING * f64::EPSILON * (start.abs() + end.abs() + way.abs());
            let allowed = NEGLIGIBLE * state.tolerance.scale(i, end, end);
            is_rounded |= rounding > allowed && rounding > most;
        }
        // The error that the interpolant adds is met once a crossing: it is taken as it is.
        self.error = of_stages.max(of_time / GROWTH) + of_rounding;
        let part = BEYOND * stop.fraction;
        let is_inexact = is_rounded || of_stages.max(of_time) > MOST_ERROR;
        let is_needed = settings.fixed_step.is_none() && is_inexact;
        let shorter = part * step;
        (is_needed && part <= SHORTER && shorter >= 16.0 * state.least_step()).then_some(shorter)
    }

    /// False at the edge of a domain, where the run comes no farther.
    pub(crate) fn is_free(&self) -> bool {
        self.at_edge < MOST_AT_EDGE
    }

    /// Makes the next step shorter than one of length `step` that met what is not finite.
    pub(crate) fn shorten(&mut self, step: f64) {
        self.at_edge += 1;
        self.lengths.reject(step, f64::NAN);
    }
}

/// The step to try in place of one of length `step` that has begun behind a crossing, where the
/// motion is another one than in the step before it, of length `last`.
#[inline(never)]
fn other_step<B: Buffer>(
    ode: &Tsitouras<B>,
    x: &[f64],
    [last, step]: [f64; 2],
    tolerance: &Tolerance<B>,
) -> Option<f64> {
    let (change, part) = ode.first_change();
    let vectors = [ode.slope_at_start(), change, ode.change_along_last()];
    let [speed, change, change_before] = tolerance.norms(vectors, x);
    let look = Look {
        speed,
        curvature: change / (part * step),
        curvature_before: change_before / last,
    };
    look.other_step(step)
}

/// How far a step from `x` is off from Simpson's rule with the field in its middle, in units of the
/// tolerance. That is of the order of its error estimate, and independent of it.
fn off_simpson<B: Buffer>(
    ode: &Tsitouras<B>,
    x: &[f64],
    step: f64,
    middle: &mut [f64],
    tolerance: &Tolerance<B>,
) -> f64 {
    let ends = ode.slope_at_start().iter().zip(ode.slope_at_end());
    let states = x.iter().zip(ode.state());
    for ((slope, (first, last)), (x, y)) in middle.iter_mut().zip(ends).zip(states) {
        *slope = step * (first + 4.0 * *slope + last) / 6.0 - (y - x);
    }
    tolerance.norm(middle, x)
}

/// True when a field moves the state in a step of this length.
fn is_set_in_motion(x: &[f64], field: &[f64], step: f64) -> bool {
    let moved = |(x, f): (&f64, &f64)| (step * f).abs() > f64::EPSILON * x.abs();
    x.iter().zip(field).any(moved)
}

/// True when the state moves in a step of this length, or rests.
fn moves<B: Buffer>(state: &State<B>, step: f64) -> bool {
    let (x, field) = (state.x.get(), state.field());
    let moved = |(x, f): (&f64, &f64)| (x + step * f).to_bits() != x.to_bits();
    x.iter().zip(field).any(moved) || field.iter().all(|f| *f == 0.0)
}

/// The reason for which no step succeeds from here: a stage that is not finite, or tolerances that
/// cannot be met.
#[cold]
fn step_failed<B: Buffer>(state: &State<B>, step: f64) -> Stop {
    let not_finite = |stage: &[f64]| stage.iter().position(|v| !v.is_finite());
    match state.ode.stages().find_map(not_finite) {
        Some(component) => evaluate::not_finite(
            Quantity::Flow { component },
            state.t,
            state.x.get(),
            &state.mode,
        ),
        None => Stop::StepTooSmall {
            step,
            at: state.at().into(),
        },
    }
}
