//! Terms of an event function whose row is not written: by how much each state variable moves it.

use super::beside::UNEQUAL;
use super::state::State;
use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::Point;
use crate::interrupt::Interrupted;
use crate::linalg::largest;
use crate::ode::Buffer;

/// Dependence on the state of an event function whose row is not written: kept while the state is of
/// the same size.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Terms {
    /// `Σ |∂h_k/∂x_i · x_i|` (`u_k`).
    pub(super) magnitude: f64,
    /// `Σ |∂h_k/∂x_i| scale_i` with the error that the tolerances allow in each state variable
    /// (`u_k`).
    pub(super) spread: f64,
    /// Spread with what the tolerances allow of the sizes along the run (`u_k`).
    pub(super) spread_of_run: f64,
    /// The largest state variable when they were evaluated.
    pub(super) size: f64,
    /// The number of times that variables had outgrown their sizes by then.
    pub(super) outgrown: u64,
}

impl Terms {
    /// Evaluates the sums at a point by differences, `2 dim` evaluations, unless they hold
    /// for states of this size; `here` is the value at the point, and `moved` is overwritten. Nothing
    /// changes when the run is interrupted: each evaluation may be that of all forces of a heap.
    pub(super) fn evaluate<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        k: usize,
        Point { t, x, mode }: Point<'_>,
        state: &State<B>,
        moved: &mut [f64],
        here: f64,
    ) -> Result<(), Interrupted> {
        let largest = largest_of(x);
        if self.are_for(largest) {
            return Ok(());
        }
        moved.copy_from_slice(x);
        let mut terms = Self::default();
        for i in 0..x.len() {
            context.settings.limits.interrupt.check()?;
            let (places, sizes) = Self::beside(state, i, x[i], largest);
            let mut at = |place: f64| {
                moved[i] = place;
                let value = context.event(k, t, moved, mode);
                moved[i] = x[i];
                value
            };
            let values = places.map(&mut at);
            let slope = slope(
                [places[0], x[i], places[1]],
                [values[0], here, values[1]],
                at,
            );
            terms.add(slope, sizes);
        }
        (terms.size, terms.outgrown) = (largest, state.outgrown);
        *self = terms;
        Ok(())
    }

    /// The values of variable `i`, which is `x` of a state whose largest is `largest`, on its two
    /// sides; and the sizes that a slope along it is multiplied by.
    #[inline]
    pub(super) fn beside<B: Buffer>(
        state: &State<B>,
        i: usize,
        x: f64,
        largest: f64,
    ) -> ([f64; 2], [f64; 3]) {
        // Half of the digits: the difference keeps the other half.
        const PART: f64 = 1.5e-8;
        let scale = state.tolerance.scale(i, x, x);
        let step = PART * x.abs().max(1e-3 * largest).max(scale);
        let sizes = [x.abs(), scale, state.allowed.get()[i]];
        ([x + step, x - step], sizes)
    }

    /// Adds the term of one variable.
    #[inline]
    pub(super) fn add(&mut self, slope: f64, [size, scale, allowed]: [f64; 3]) {
        if slope.is_finite() {
            self.magnitude += slope * size;
            self.spread += slope * scale;
            self.spread_of_run += slope * allowed;
        }
    }

    /// True when they hold for states whose largest variable is `largest`.
    #[inline]
    pub(super) fn are_for(&self, largest: f64) -> bool {
        largest >= 0.5 * self.size && largest <= 2.0 * self.size
    }

    /// True when there are any: the row is not written.
    #[inline]
    pub(super) fn are_kept(&self) -> bool {
        self.size > 0.0
    }

    /// True when a variable has outgrown the size for which they were evaluated.
    #[inline]
    pub(super) fn are_outgrown<B: Buffer>(&self, state: &State<B>) -> bool {
        self.outgrown != state.outgrown
    }
}

/// Size of a slope by the values above, at and below a place; `at` gives others. Where the function jumps
/// on one side it is the slope on the other: a jump is there, or is not, within half of the way.
#[inline]
pub(super) fn slope(
    [above, x, below]: [f64; 3],
    [high, here, low]: [f64; 3],
    mut at: impl FnMut(f64) -> f64,
) -> f64 {
    let central = ((high - low) / (above - below)).abs();
    let sides = [(above, high - here), (below, low - here)];
    let steep = usize::from(sides[1].1.abs() > sides[0].1.abs());
    let ((far, rise), (near, less)) = (sides[steep], sides[1 - steep]);
    if rise.abs() <= UNEQUAL * less.abs() || !rise.is_finite() {
        return central;
    }
    let half = at(0.5 * (x + far)) - here;
    if (0.2..0.8).contains(&(half / rise)) {
        return central;
    }
    (less / (near - x)).abs()
}

/// The size of the largest variable, positive.
pub(super) fn largest_of(x: &[f64]) -> f64 {
    largest(x).max(f64::MIN_POSITIVE)
}
