//! How large the terms of an event function are whose row is not written: what its rounding and its
//! error are made of.

use crate::hybrid::Mode;
use crate::hybrid::context::{Context, System};
use crate::interrupt::Interrupted;
use crate::ode::{Buffer, Tolerance};

/// How an event function whose row is not written depends on the state: kept while the state is of
/// the same size.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Terms {
    /// `Σ |∂h_k/∂x_i · x_i|` (`u_k`).
    pub(crate) magnitude: f64,
    /// `Σ |∂h_k/∂x_i| scale_i` with the error that the tolerances allow in each state variable
    /// (`u_k`).
    pub(crate) spread: f64,
    /// The largest state variable that they are known for.
    pub(crate) size: f64,
}

impl Terms {
    /// Evaluates both sums at a state by differences, `2 dim` evaluations, unless they are known
    /// for states of this size; `row` is overwritten. Nothing changes when the run is interrupted:
    /// each evaluation may be that of all forces of a heap.
    pub(crate) fn evaluate<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        k: usize,
        (t, x): (f64, &[f64]),
        mode: &Mode,
        (point, tolerance): (&mut [f64], &Tolerance<B>),
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
        let (mut magnitude, mut spread) = (0.0, 0.0);
        for i in 0..x.len() {
            context.settings.interrupt.check()?;
            let scale = tolerance.scale(i, x[i], x[i]);
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
            }
        }
        (self.magnitude, self.spread, self.size) = (magnitude, spread, largest);
        Ok(())
    }
}
