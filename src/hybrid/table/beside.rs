//! The places at which differences stand in for the rows of event functions that are not written.

use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::Rate;
use crate::ode::Buffer;
use crate::ode::difference::step_along;
use crate::{Mode, Stop};

/// A function whose rise on one side of a place is so many times that on the other jumps, has a kink,
/// or is close to a tangent.
pub(super) const UNEQUAL: f64 = 8.0;
/// What is left of the difference of the two sides over half of the step is a quarter to within
/// this where the function is smooth; half at a kink, and all or nothing at a jump.
const BENT: f64 = 0.1;

/// The two places beside a state, along its field, of a central difference: all event functions
/// whose rows are not written have the same.
#[derive(Clone, Debug)]
pub(super) struct Beside<B> {
    /// The state that they are beside of, and its field.
    t: f64,
    x: B,
    field: B,
    /// Their distance from it (s).
    step: f64,
    ahead: B,
    behind: B,
    /// Scratch: one half as far from it.
    half: B,
}

impl<B: Buffer> Beside<B> {
    pub(super) fn new(dim: usize) -> Self {
        Self {
            t: f64::NAN,
            x: B::zeros(dim),
            field: B::zeros(dim),
            step: 0.0,
            ahead: B::zeros(dim),
            behind: B::zeros(dim),
            half: B::zeros(dim),
        }
    }

    /// Forgets the last run.
    pub(super) fn begin(&mut self) {
        self.t = f64::NAN;
    }

    /// Stands beside a state.
    #[inline]
    pub(super) fn stand(&mut self, t: f64, x: &[f64], field: &[f64]) {
        let is_same = t.to_bits() == self.t.to_bits();
        if is_same && x == self.x.get() && field == self.field.get() {
            return;
        }
        self.t = t;
        self.x.get_mut().copy_from_slice(x);
        self.field.get_mut().copy_from_slice(field);
        self.step = step_along(t, x, 1.0, field);
        let (ahead, behind) = (self.ahead.get_mut(), self.behind.get_mut());
        for i in 0..x.len() {
            ahead[i] = x[i] + self.step * field[i];
            behind[i] = x[i] - self.step * field[i];
        }
    }

    /// The rate of event function `k` by its values at the two places. `here` is its value at the
    /// state, `sign` that of its rate at the next crossing.
    #[inline]
    pub(super) fn rate<S: System + ?Sized>(
        &mut self,
        system: &S,
        mode: &Mode,
        k: usize,
        here: f64,
        sign: f64,
    ) -> Rate {
        let ahead = system.event(k, self.t + self.step, self.ahead.get(), mode);
        let behind = system.event(k, self.t - self.step, self.behind.get(), mode);
        self.between(system, mode, k, [ahead, here, behind], sign)
    }

    /// As [`rate`](Self::rate), by the values ahead, here and behind.
    #[inline]
    pub(super) fn between<S: System + ?Sized>(
        &mut self,
        system: &S,
        mode: &Mode,
        k: usize,
        [ahead, here, behind]: [f64; 3],
        sign: f64,
    ) -> Rate {
        let value = (ahead - behind) / (2.0 * self.step);
        let sides = [ahead - here, here - behind].map(|rise| rise.abs() / self.step);
        let smooth = Rate {
            value,
            magnitude: 0.0,
            written: false,
            beside: ahead.abs().max(behind.abs()),
            least: value.abs().min(sides[0]).min(sides[1]),
        };
        let is_ahead = sides[0] > UNEQUAL * sides[1];
        let is_behind = sides[1] > UNEQUAL * sides[0] && sign * here < 0.0;
        if !(is_ahead || is_behind) {
            return smooth;
        }
        self.beside_jump(system, mode, k, [ahead, here, behind], smooth)
    }

    /// The rate where the two sides of the state differ by much. Of a function that bends, a quarter of
    /// that is left over half of the step. Where it jumps close by, the rate is that of the side
    /// without the jump: that ahead has not come yet, and that behind did not cross it.
    #[cold]
    fn beside_jump<S: System + ?Sized>(
        &mut self,
        system: &S,
        mode: &Mode,
        k: usize,
        [ahead, here, behind]: [f64; 3],
        smooth: Rate,
    ) -> Rate {
        let half = 0.5 * self.step;
        let mut at = |step: f64| {
            let x = self.half.get_mut();
            for (x, (from, field)) in x.iter_mut().zip(self.x.get().iter().zip(self.field.get())) {
                *x = from + step * field;
            }
            system.event(k, self.t + step, self.half.get(), mode)
        };
        let bend = |ahead: f64, behind: f64| (ahead - here) - (here - behind);
        let near = [at(half), at(-half)];
        // Of a square a quarter.
        let part = bend(near[0], near[1]) / bend(ahead, behind);
        if (part - 0.25).abs() < BENT {
            return smooth;
        }
        let [ahead, behind] = [ahead - here, here - behind].map(|rise| rise / self.step);
        let value = if ahead.abs() < behind.abs() {
            ahead
        } else {
            behind
        };
        Rate { value, ..smooth }
    }

    /// Evaluates all event functions at the two places, ahead and behind.
    pub(super) fn evaluate_all<S: System + ?Sized>(
        &self,
        context: &Context<'_, S>,
        mode: &Mode,
        ahead: &mut [f64],
        behind: &mut [f64],
    ) -> Result<(), Stop> {
        let places = [
            (self.step, self.ahead.get(), ahead),
            (-self.step, self.behind.get(), behind),
        ];
        for (step, x, h) in places {
            context.settings.limits.interrupt.check()?;
            context.all_events(self.t + step, x, mode, h);
        }
        Ok(())
    }
}
