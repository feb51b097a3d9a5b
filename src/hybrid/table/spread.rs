//! Rounding and error of each event function: how far the errors that the tolerances allow in the
//! state move it.

use super::state::State;
use super::terms::{Terms, largest_of, slope};
use crate::Stop;
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::Point;
use crate::hybrid::room_for;
use crate::ode::Buffer;

/// The dependence of an event function on the state is kept for this part of the last step after it
/// was evaluated.
const RECENT: f64 = 0.1;

/// Growth of the error allowed in a variable, beyond which spreads may be much greater than they
/// were.
const GROWN: f64 = 2.0;

/// The spreads of all event functions: `Σ |∂h_k/∂x_i| scale_i`, with the error that the tolerances
/// allow in each state variable.
#[derive(Clone, Debug)]
pub(crate) struct Spreads<B> {
    pub(super) each: Vec<Spread>,
    /// The largest of each in this run (`u_k`), or at the sizes that it was evaluated for.
    pub(crate) most: Vec<f64>,
    /// Errors that the tolerances allow in each variable at those sizes.
    known_for: B,
    /// Largest ratio of what they allow of a variable by now, and the number of times that
    /// variables had outgrown their sizes when that was found.
    grown: f64,
    outgrown: u64,
    /// Scratch for rows.
    row: B,
    /// Event functions whose terms are evaluated together, and values of all event functions
    /// on both sides of the state.
    together: Vec<usize>,
    sides: Vec<f64>,
}

/// Spread of one event function, as far as it was evaluated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spread {
    /// Its value (`u_k`); 0 where it was not evaluated.
    value: f64,
    /// Time at which it was evaluated (s), and the number of times that variables had outgrown
    /// their sizes by then.
    at: f64,
    pub(super) outgrown: u64,
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
            known_for: B::zeros(dim),
            grown: 1.0,
            outgrown: 0,
            row: B::zeros(dim),
            together: Vec::with_capacity(room_for(count)),
            sides: vec![0.0; 2 * count],
        }
    }

    /// Forgets the last run.
    pub(crate) fn begin(&mut self, state: &State<B>) {
        self.each.fill(Spread::unknown());
        self.most.fill(0.0);
        self.know_for(state);
    }

    fn know_for(&mut self, state: &State<B>) {
        let allowed = state.allowed.get();
        self.known_for.get_mut().copy_from_slice(allowed);
        (self.grown, self.outgrown) = (1.0, state.outgrown);
    }

    /// Largest ratio of a spread by now to `most`: more is allowed of variables that have
    /// grown since. 1 where that is little. Whoever is near only by this is looked at closely, with
    /// its error evaluated where that decides.
    #[inline]
    pub(crate) fn grown(&mut self, state: &State<B>) -> f64 {
        if self.outgrown != state.outgrown {
            self.outgrown = state.outgrown;
            let pairs = state.allowed.get().iter().zip(self.known_for.get());
            self.grown = pairs.fold(1.0, |most: f64, (now, then)| most.max(now / then));
        }
        if self.grown > GROWN { self.grown } else { 1.0 }
    }

    /// Evaluates the largest spreads of the guards that are `asked` for, by what is allowed of the
    /// sizes of now.
    #[cold]
    pub(crate) fn renew<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        here: &[f64],
        asked: impl Fn(usize) -> bool,
    ) -> Result<(), Stop> {
        self.together.clear();
        for k in (0..self.each.len()).filter(|&k| asked(k)) {
            let row = self.row.get_mut();
            match context.gradient(k, state.t, state.x.get(), &state.mode, row) {
                Some(_) => self.most[k] = self.most[k].max(state.along(row)),
                None => self.together.push(k),
            }
        }
        self.evaluate_together(context, state, here)?;
        for &k in &self.together {
            self.most[k] = self.most[k].max(self.each[k].terms.spread_of_run);
        }
        self.know_for(state);
        Ok(())
    }

    /// Forgets how event functions depend on the state, now that the mode is another.
    pub(crate) fn forget(&mut self) {
        for spread in &mut self.each {
            spread.value = 0.0;
            spread.terms = Terms::default();
        }
    }

    /// Room for all event functions at two places.
    #[inline]
    pub(super) fn sides(&mut self) -> (&mut [f64], &mut [f64]) {
        self.sides.split_at_mut(self.each.len())
    }

    /// The spread of event function `k` (`u_k`).
    #[inline]
    pub(crate) fn of(&self, k: usize) -> f64 {
        self.each[k].value
    }

    /// Spread of event function `k` at its last crossing, by the sizes along the run (`u_k`).
    #[inline]
    pub(crate) fn of_run(&self, k: usize) -> f64 {
        self.each[k].of_run
    }

    #[inline]
    pub(crate) fn set_of_run(&mut self, k: usize, spread: f64) {
        self.each[k].of_run = spread;
    }

    /// The size of the terms that were evaluated last, where the row is not written (`u_k`).
    pub(crate) fn known_magnitude(&self, k: usize) -> f64 {
        self.each[k].terms.magnitude
    }

    /// The size of the terms of event function `k`, whose row is not written and whose value is `here`
    /// (`u_k`).
    #[inline]
    pub(crate) fn magnitude<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        k: usize,
        point: Point<'_>,
        state: &State<B>,
        here: f64,
    ) -> Result<f64, Stop> {
        let terms = &mut self.each[k].terms;
        terms.evaluate(context, k, point, state, self.row.get_mut(), here)?;
        Ok(terms.magnitude)
    }

    /// Takes over how event function `k` depends on the state.
    #[inline]
    pub(crate) fn set(&mut self, state: &State<B>, k: usize, value: f64) {
        let spread = &mut self.each[k];
        (spread.value, spread.at) = (value, state.t);
        spread.outgrown = state.outgrown;
        self.most[k] = self.most[k].max(value);
    }

    /// As [`set`](Self::set), by the terms that were evaluated last.
    #[inline]
    pub(crate) fn take_terms(&mut self, state: &State<B>, k: usize) {
        self.set(state, k, self.each[k].terms.spread);
    }

    /// Evaluates how event function `k` depends on the state, for its error, unless that was done
    /// for this place.
    #[inline]
    pub(crate) fn need<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        here: &[f64],
        k: usize,
    ) -> Result<(), Stop> {
        if self.is_known(state, k) {
            return Ok(());
        }
        self.evaluate(context, state, here, k)
    }

    /// As [`need`](Self::need), for the error of the time of a crossing. Terms that are kept may be
    /// of earlier sizes.
    #[inline]
    pub(crate) fn need_of_run<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        here: &[f64],
        k: usize,
    ) -> Result<(), Stop> {
        self.need(context, state, here, k)?;
        if self.each[k].terms.are_kept() {
            if self.each[k].terms.are_outgrown(state) {
                self.evaluate(context, state, here, k)?;
            }
            self.each[k].of_run = self.each[k].terms.spread_of_run;
        }
        Ok(())
    }

    /// As [`need`](Self::need) for each event function that is `asked` for.
    pub(crate) fn need_each<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        here: &[f64],
        asked: impl Fn(usize) -> bool,
    ) -> Result<(), Stop> {
        self.together.clear();
        for k in (0..self.each.len()).filter(|&k| asked(k)) {
            if !self.is_known(state, k) && !self.set_by_row(context, state, k) {
                self.together.push(k);
            }
        }
        self.evaluate_together(context, state, here)?;
        for i in 0..self.together.len() {
            self.take_terms(state, self.together[i]);
        }
        Ok(())
    }

    /// Evaluates the terms of each event function of `asked`, whose rows are not written.
    pub(crate) fn magnitudes<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        asked: &[usize],
        here: &[f64],
    ) -> Result<(), Stop> {
        self.together.clear();
        let largest = largest_of(state.x.get());
        for &k in asked {
            if !self.each[k].terms.are_for(largest) {
                self.together.push(k);
            }
        }
        self.evaluate_together(context, state, here)
    }

    /// Evaluates the terms of those listed. Where they are most of all event functions, each pair of
    /// places is visited once: what event functions share, as all forces of a heap, is evaluated
    /// once there.
    fn evaluate_together<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        here: &[f64],
    ) -> Result<(), Stop> {
        let count = self.together.len();
        if count < 2 || 4 * count < 3 * self.each.len() {
            for i in 0..count {
                let k = self.together[i];
                self.evaluate_terms(context, state, k, here[k])?;
            }
            return Ok(());
        }
        let (x, point) = (state.x.get(), self.row.get_mut());
        let largest = largest_of(x);
        // Terms that were kept may be of another place; after an interrupt there are none.
        for &k in &self.together {
            self.each[k].terms = Terms::default();
        }
        point.copy_from_slice(x);
        for i in 0..x.len() {
            let (places, sizes) = Terms::beside(state, i, x[i], largest);
            let count = self.each.len();
            for (place, h) in places.iter().zip(self.sides.chunks_exact_mut(count)) {
                context.settings.limits.interrupt.check()?;
                point[i] = *place;
                context.all_events(state.t, point, &state.mode, h);
            }
            point[i] = x[i];
            let (above, below) = self.sides.split_at(count);
            for &k in &self.together {
                let at = |place: f64| {
                    point[i] = place;
                    let value = context.event(k, state.t, point, &state.mode);
                    point[i] = x[i];
                    value
                };
                let values = [above[k], here[k], below[k]];
                let slope = slope([places[0], x[i], places[1]], values, at);
                self.each[k].terms.add(slope, sizes);
            }
        }
        for &k in &self.together {
            let terms = &mut self.each[k].terms;
            (terms.size, terms.outgrown) = (largest, state.outgrown);
        }
        Ok(())
    }

    /// True when it was evaluated at about this place.
    #[inline]
    fn is_known(&self, state: &State<B>, k: usize) -> bool {
        let Spread { value, at, .. } = self.each[k];
        value > 0.0 && state.t - at <= RECENT * state.last_step
    }

    fn evaluate<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        here: &[f64],
        k: usize,
    ) -> Result<(), Stop> {
        if self.set_by_row(context, state, k) {
            return Ok(());
        }
        self.evaluate_terms(context, state, k, here[k])?;
        self.take_terms(state, k);
        Ok(())
    }

    /// Evaluates the terms of one again: kept ones may belong to another state.
    fn evaluate_terms<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        k: usize,
        here: f64,
    ) -> Result<(), Stop> {
        let mut terms = Terms::default();
        terms.evaluate(context, k, state.point(), state, self.row.get_mut(), here)?;
        self.each[k].terms = terms;
        Ok(())
    }

    /// True where the row is written: the spread is computed from it.
    fn set_by_row<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        k: usize,
    ) -> bool {
        let (x, row) = (state.x.get(), self.row.get_mut());
        if context.gradient(k, state.t, x, &state.mode, row).is_none() {
            return false;
        }
        let spread = state.tolerance.along(row, x);
        self.set(state, k, spread);
        true
    }
}
