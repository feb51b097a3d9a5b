//! How far the errors that the tolerances allow in the state move each event function: what its
//! rounding and its error are made of.

use super::state::State;
use crate::Stop;
use crate::hybrid::context::{Context, System};
use crate::interrupt::Interrupted;
use crate::ode::Buffer;

/// How an event function depends on the state is known for this part of the last step after it was
/// evaluated.
const RECENT: f64 = 0.1;

/// The spreads of all event functions: `Σ |∂h_k/∂x_i| scale_i`, with the error that the tolerances
/// allow in each state variable.
#[derive(Clone, Debug)]
pub(crate) struct Spreads<B> {
    each: Vec<Spread>,
    /// The largest of each in this run (`u_k`).
    pub(crate) most: Vec<f64>,
    /// Scratch for rows.
    row: B,
}

/// What is known of one.
#[derive(Clone, Copy, Debug)]
struct Spread {
    /// Its value (`u_k`); 0 where it is not known.
    value: f64,
    /// When it was evaluated (s).
    at: f64,
    /// How many times variables had outgrown their sizes by then.
    outgrown: u64,
    /// As `value`, by what the tolerances allow of the sizes along the run: that of the last
    /// crossing (`u_k`).
    of_run: f64,
    /// Sizes of the terms where the row is not written.
    terms: Terms,
}

impl Spread {
    fn unknown() -> Self {
        Self {
            value: 0.0,
            at: f64::NEG_INFINITY,
            outgrown: u64::MAX,
            of_run: 0.0,
            terms: Terms::default(),
        }
    }
}

impl<B: Buffer> Spreads<B> {
    pub(crate) fn new(dim: usize, count: usize) -> Self {
        Self {
            each: vec![Spread::unknown(); count],
            most: vec![0.0; count],
            row: B::zeros(dim),
        }
    }

    /// Forgets the last run.
    pub(crate) fn begin(&mut self) {
        self.each.fill(Spread::unknown());
        self.most.fill(0.0);
    }

    /// Forgets how event functions depend on the state, now that the mode is another.
    pub(crate) fn forget(&mut self) {
        for spread in &mut self.each {
            spread.value = 0.0;
            spread.terms = Terms::default();
        }
    }

    /// The spread of event function `k` (`u_k`).
    #[inline]
    pub(crate) fn of(&self, k: usize) -> f64 {
        self.each[k].value
    }

    /// That of its last crossing, by the sizes along the run (`u_k`).
    #[inline]
    pub(crate) fn of_run(&self, k: usize) -> f64 {
        self.each[k].of_run
    }

    #[inline]
    pub(crate) fn set_of_run(&mut self, k: usize, spread: f64) {
        self.each[k].of_run = spread;
    }

    /// True when it was evaluated for states of the present size.
    #[inline]
    pub(crate) fn is_for_sizes_of(&self, state: &State<B>, k: usize) -> bool {
        self.each[k].outgrown == state.outgrown
    }

    /// The size of the terms that were evaluated last, where the row is not written (`u_k`).
    pub(crate) fn known_magnitude(&self, k: usize) -> f64 {
        self.each[k].terms.magnitude
    }

    /// The size of the terms of event function `k`, whose row is not written (`u_k`).
    #[inline]
    pub(crate) fn magnitude<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        k: usize,
        at: (f64, &[f64]),
        state: &State<B>,
    ) -> Result<f64, Stop> {
        let terms = &mut self.each[k].terms;
        terms.evaluate(context, k, at, state, self.row.get_mut())?;
        Ok(terms.magnitude)
    }

    /// Takes over how event function `k` depends on the state.
    #[inline]
    pub(crate) fn set(&mut self, state: &State<B>, k: usize, value: f64) {
        let spread = &mut self.each[k];
        (spread.value, spread.at, spread.outgrown) = (value, state.t, state.outgrown);
        self.most[k] = self.most[k].max(value);
    }

    /// The same by the terms that were evaluated last.
    #[inline]
    pub(crate) fn take_terms(&mut self, state: &State<B>, k: usize) {
        self.set(state, k, self.each[k].terms.spread);
    }

    /// Evaluates how event function `k` depends on the state, for its error, unless that is known
    /// for this place.
    #[inline]
    pub(crate) fn need<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        k: usize,
    ) -> Result<(), Stop> {
        let Spread { value, at, .. } = self.each[k];
        if value > 0.0 && state.t - at <= RECENT * state.last_step {
            return Ok(());
        }
        self.evaluate(context, state, k)
    }

    /// The same for the error of the time of a crossing. Terms that are kept may be of earlier
    /// sizes.
    #[inline]
    pub(crate) fn need_of_run<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        k: usize,
    ) -> Result<(), Stop> {
        self.need(context, state, k)?;
        if self.each[k].terms.are_kept() {
            if self.each[k].terms.are_outgrown(state) {
                self.evaluate(context, state, k)?;
            }
            self.each[k].of_run = self.each[k].terms.spread_of_run;
        }
        Ok(())
    }

    fn evaluate<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        k: usize,
    ) -> Result<(), Stop> {
        let (t, x, mode) = (state.t, state.x.get(), &state.mode);
        let row = self.row.get_mut();
        if context.gradient(k, t, x, mode, row).is_some() {
            let spread = state.tolerance.along(row, x);
            self.set(state, k, spread);
            return Ok(());
        }
        // Those that were kept may be of another place.
        let mut terms = Terms::default();
        terms.evaluate(context, k, (t, x), state, row)?;
        self.each[k].terms = terms;
        self.take_terms(state, k);
        Ok(())
    }
}

/// How an event function whose row is not written depends on the state: kept while the state is of
/// the same size.
#[derive(Clone, Copy, Debug, Default)]
struct Terms {
    /// `Σ |∂h_k/∂x_i · x_i|` (`u_k`).
    magnitude: f64,
    /// `Σ |∂h_k/∂x_i| scale_i` with the error that the tolerances allow in each state variable
    /// (`u_k`).
    spread: f64,
    /// The same with what they allow of the sizes along the run (`u_k`).
    spread_of_run: f64,
    /// The largest state variable that they are known for.
    size: f64,
    /// How many times variables had outgrown their sizes by then.
    outgrown: u64,
}

impl Terms {
    /// Evaluates the sums at a place by differences, `2 dim` evaluations, unless they are known
    /// for states of this size; `point` is overwritten. Nothing changes when the run is interrupted:
    /// each evaluation may be that of all forces of a heap.
    fn evaluate<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        k: usize,
        (t, x): (f64, &[f64]),
        state: &State<B>,
        point: &mut [f64],
    ) -> Result<(), Interrupted> {
        // Half of the digits: the difference keeps the other half.
        const PART: f64 = 1.5e-8;
        let largest = x
            .iter()
            .fold(f64::MIN_POSITIVE, |most, x| x.abs().max(most));
        if largest >= 0.5 * self.size && largest <= 2.0 * self.size {
            return Ok(());
        }
        point.copy_from_slice(x);
        let (mode, allowed) = (&state.mode, state.allowed.get());
        let (mut magnitude, mut spread, mut of_run) = (0.0, 0.0, 0.0);
        for i in 0..x.len() {
            context.settings.interrupt.check()?;
            let scale = state.tolerance.scale(i, x[i], x[i]);
            let step = PART * x[i].abs().max(1e-3 * largest).max(scale);
            let (above, below) = (x[i] + step, x[i] - step);
            point[i] = above;
            let h = context.event(k, t, point, mode);
            point[i] = below;
            let slope = ((h - context.event(k, t, point, mode)) / (above - below)).abs();
            point[i] = x[i];
            if slope.is_finite() {
                magnitude += slope * x[i].abs();
                spread += slope * scale;
                of_run += slope * allowed[i];
            }
        }
        (self.magnitude, self.spread, self.size) = (magnitude, spread, largest);
        (self.spread_of_run, self.outgrown) = (of_run, state.outgrown);
        Ok(())
    }

    /// True when there are any: the row is not written.
    #[inline]
    fn are_kept(&self) -> bool {
        self.size > 0.0
    }

    /// True when a variable has outgrown the size that they are known for.
    #[inline]
    fn are_outgrown<B: Buffer>(&self, state: &State<B>) -> bool {
        self.outgrown != state.outgrown
    }
}
