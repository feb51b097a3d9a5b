//! How large the terms of an event function are whose row is not written: what its rounding and its
//! error are made of.

use super::state::State;
use crate::hybrid::context::{Context, System};
use crate::interrupt::Interrupted;
use crate::ode::Buffer;

/// How an event function whose row is not written depends on the state: kept while the state is of
/// the same size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms {
    /// `Σ |∂h_k/∂x_i · x_i|` (`u_k`).
    pub(crate) magnitude: f64,
    /// `Σ |∂h_k/∂x_i| scale_i` with the error that the tolerances allow in each state variable
    /// (`u_k`).
    pub(crate) spread: f64,
    /// The same with what they allow of the sizes along the run (`u_k`).
    pub(crate) spread_of_run: f64,
    /// The largest state variable that they are known for.
    pub(crate) size: f64,
    /// How many times variables had outgrown their sizes by then.
    outgrown: u64,
}

impl Terms {
    /// Evaluates the sums at a place by differences, `2 dim` evaluations, unless they are known
    /// for states of this size; `point` is overwritten. Nothing changes when the run is interrupted:
    /// each evaluation may be that of all forces of a heap.
    pub(crate) fn evaluate<S: System + ?Sized, B: Buffer>(
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
    pub(crate) fn are_kept(&self) -> bool {
        self.size > 0.0
    }

    /// True when a variable has outgrown the size that they are known for.
    #[inline]
    pub(crate) fn are_outgrown<B: Buffer>(&self, state: &State<B>) -> bool {
        self.outgrown != state.outgrown
    }
}
