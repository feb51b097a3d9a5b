//! The explicit Runge–Kutta pair of order 5(4) of Ch. Tsitouras, with seven stages of which the last
//! is the first of the next step; its numbers stand in [`tableau`](super::tableau).
//!
//! It has the cost and the order of the pair of Dormand & Prince with smaller errors of sixth
//! order, so that it takes fewer steps to the same error; and the error of its interpolant is half as
//! large in units of its estimate.

use std::ops::Range;

use super::buffer::by_size;
use super::tableau::{A3, A4, A5, A6, B, C, D, E, OF_TIME, of_stages};
use super::{Buffer, Dense, Interpolant, Tolerance};
use crate::{InputError, validate};

/// Workspace of one Tsitouras step: seven stages, the new state and the interpolant. A step
/// allocates nothing.
///
/// ```
/// use saltation::ode::Tsitouras;
/// let mut step = Tsitouras::<[f64; 1]>::new(1);
/// let mut decay = |_t: f64, x: &[f64], dx: &mut [f64]| dx[0] = -x[0];
/// decay(0.0, &[1.0], step.first_stage());
/// step.step(&mut decay, 0.0, &[1.0], 0.1)?;
/// assert!((step.state()[0] - (-0.1f64).exp()).abs() < 1e-9);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tsitouras<V> {
    /// The slopes at the stages; all but the first and the last as differences from the first.
    k: [V; 7],
    y: V,
    stage: V,
    dense: Dense<V>,
}

/// Workspace between two steps.
#[derive(Debug)]
pub(crate) struct Between<'a> {
    /// The slope at the present state.
    pub(crate) first: &'a [f64],
    pub(crate) stages: [&'a mut [f64]; 3],
    pub(crate) point: &'a mut [f64],
}

impl<V: Buffer> Tsitouras<V> {
    /// Workspace for `dim` state variables; for `[f64; N]`, whatever `dim` is, for `N`. More than
    /// 2²⁷ variables have none, and every step is refused.
    pub fn new(dim: usize) -> Self {
        Self {
            k: std::array::from_fn(|_| V::zeros(dim)),
            y: V::zeros(dim),
            stage: V::zeros(dim),
            dense: Dense::new(dim),
        }
    }

    /// Memory for `f(t, x)` at the start of the step, to be written before [`step`](Self::step) is
    /// called.
    #[inline]
    pub fn first_stage(&mut self) -> &mut [f64] {
        self.k[0].get_mut()
    }

    /// `f` at the start of the step.
    #[inline]
    pub(crate) fn slope_at_start(&self) -> &[f64] {
        self.k[0].get()
    }

    /// `f` at the end of the step: the first stage of the next one.
    #[inline]
    pub fn slope_at_end(&self) -> &[f64] {
        self.k[6].get()
    }

    /// Memory for that, of a step that is made by other means.
    #[inline]
    pub(crate) fn last_stage(&mut self) -> &mut [f64] {
        self.k[6].get_mut()
    }

    /// The state at the end of the step, 5th order.
    #[inline]
    pub fn state(&self) -> &[f64] {
        self.y.get()
    }

    /// One step of length `h` from `(t, x)`: six evaluations of `f`; the first stage must stand in
    /// [`first_stage`](Self::first_stage).
    ///
    /// # Errors
    /// [`InputError::WrongLength`] when `x` has another length than the workspace.
    #[inline]
    pub fn step<F>(&mut self, f: &mut F, t: f64, x: &[f64], h: f64) -> Result<(), InputError>
    where
        F: FnMut(f64, &[f64], &mut [f64]),
    {
        validate::length("x", self.y.get().len(), x.len())?;
        self.begin(f, t, x, h);
        self.advance(f, t, x, h);
        Ok(())
    }

    /// The second stage of a step of length `h` from `(t, x)`; the first one must stand in
    /// [`first_stage`](Self::first_stage).
    #[inline]
    pub(crate) fn begin<F>(&mut self, f: &mut F, t: f64, x: &[f64], h: f64)
    where
        F: FnMut(f64, &[f64], &mut [f64]),
    {
        by_size!(V::SIZE, self.y.get().len(), |n| {
            let [k1, k2, ..] = &mut self.k;
            let (x, k1) = (&x[..n], &k1.get()[..n]);
            let stage = &mut self.stage.get_mut()[..n];
            for i in 0..n {
                stage[i] = x[i] + h * (C[1] * k1[i]);
            }
            f(t + C[1] * h, stage, k2.get_mut());
            let k2 = &mut k2.get_mut()[..n];
            for i in 0..n {
                k2[i] -= k1[i];
            }
        });
    }

    /// The other stages of a step that has [begun](Self::begin), and the state at its end. Not
    /// inlined: in a loop of trials what all of them have in common would be kept, which costs more.
    #[inline(never)]
    pub(crate) fn advance<F>(&mut self, f: &mut F, t: f64, x: &[f64], h: f64)
    where
        F: FnMut(f64, &[f64], &mut [f64]),
    {
        by_size!(V::SIZE, self.y.get().len(), |n| self
            .advance_of(n, f, t, x, h));
    }

    /// Change of the field along the last step, from its start to its end.
    #[inline]
    pub(crate) fn change_along_last(&self) -> &[f64] {
        self.k[5].get()
    }

    /// Change of the field from the first stage to the second of the step that has
    /// [begun](Self::begin), and the part of the step between them.
    #[inline]
    pub(crate) fn first_change(&self) -> (&[f64], f64) {
        (self.k[1].get(), C[1])
    }

    /// As [`advance`](Self::advance), for `n` state variables.
    #[inline(always)]
    fn advance_of<F>(&mut self, n: usize, f: &mut F, t: f64, x: &[f64], h: f64)
    where
        F: FnMut(f64, &[f64], &mut [f64]),
    {
        let x = &x[..n];
        let [k1, k2, k3, k4, k5, k6, k7] = &mut self.k;
        // Slices of one length each, so that no loop checks bounds.
        let stage = &mut self.stage.get_mut()[..n];
        let k1 = &k1.get()[..n];
        let k2 = &k2.get()[..n];

        for i in 0..n {
            stage[i] = x[i] + h * (C[2] * k1[i] + A3 * k2[i]);
        }
        f(t + C[2] * h, stage, k3.get_mut());
        let k3 = &mut k3.get_mut()[..n];
        for i in 0..n {
            k3[i] -= k1[i];
            stage[i] = x[i] + h * (C[3] * k1[i] + A4[0] * k2[i] + A4[1] * k3[i]);
        }
        f(t + C[3] * h, stage, k4.get_mut());
        let k4 = &mut k4.get_mut()[..n];
        for i in 0..n {
            k4[i] -= k1[i];
            let sum = A5[0] * k2[i] + A5[1] * k3[i] + A5[2] * k4[i];
            stage[i] = x[i] + h * (C[4] * k1[i] + sum);
        }
        f(t + C[4] * h, stage, k5.get_mut());
        let k5 = &mut k5.get_mut()[..n];
        for i in 0..n {
            k5[i] -= k1[i];
            let sum = A6[0] * k2[i] + A6[1] * k3[i] + A6[2] * k4[i] + A6[3] * k5[i];
            stage[i] = x[i] + h * (k1[i] + sum);
        }
        f(t + C[5] * h, stage, k6.get_mut());
        let k6 = &mut k6.get_mut()[..n];
        let y = &mut self.y.get_mut()[..n];
        for i in 0..n {
            k6[i] -= k1[i];
            let sum = B[0] * k2[i] + B[1] * k3[i] + B[2] * k4[i] + B[3] * k5[i];
            y[i] = x[i] + h * (k1[i] + sum + B[4] * k6[i]);
        }
        f(t + C[6] * h, y, k7.get_mut());
    }

    /// Norm of the error estimate of the last step, in units of the tolerance: a step is good when
    /// it is at most 1. NaN or infinite when a stage was.
    #[inline]
    pub(crate) fn error(&self, x: &[f64], h: f64, tolerance: &Tolerance<V>) -> f64 {
        self.error_of(0..self.y.get().len(), x, h, tolerance)
    }

    /// Norms as [`error`](Self::error) for the interpolant at the fraction `theta` of the step,
    /// where the state is `y`: what errors of the stages leave, and what the interpolant adds where
    /// the field depends on time alone.
    #[inline]
    pub(crate) fn errors_at(
        &self,
        theta: f64,
        ends: [&[f64]; 2],
        h: f64,
        tolerance: &Tolerance<V>,
    ) -> [f64; 2] {
        // The polynomials are those of the terms of fifth order: that of t⁴, which is within a tenth
        // for two others, and a bound for the other six.
        let [before, after] = [theta, 1.0 - theta].map(|part| part * part);
        let of_time = before * after * (OF_TIME[0] - OF_TIME[1] * theta);
        let error = self.error_within(0..ends[1].len(), ends, h, tolerance);
        [of_stages(theta) * error, of_time.abs() * error]
    }

    /// Norm as [`error`](Self::error) over some of the components.
    #[inline]
    pub(crate) fn error_of(
        &self,
        components: Range<usize>,
        x: &[f64],
        h: f64,
        tolerance: &Tolerance<V>,
    ) -> f64 {
        self.error_within(components, [x, self.y.get()], h, tolerance)
    }

    #[inline]
    fn error_within(
        &self,
        components: Range<usize>,
        ends: [&[f64]; 2],
        h: f64,
        tolerance: &Tolerance<V>,
    ) -> f64 {
        let (from, n) = (components.start, components.len());
        by_size!(V::SIZE.filter(|_| from == 0), n, |n| self
            .error_from(from, n, ends, h, tolerance))
    }

    /// As [`error_within`](Self::error_within), over `n` components from `from` on.
    #[inline(always)]
    fn error_from(
        &self,
        from: usize,
        n: usize,
        [x, y]: [&[f64]; 2],
        h: f64,
        tolerance: &Tolerance<V>,
    ) -> f64 {
        let [k1, k2, k3, k4, k5, k6, k7] = &self.k;
        let (k1, k2, k3, k4) = (
            &k1.get()[from..][..n],
            &k2.get()[from..][..n],
            &k3.get()[from..][..n],
            &k4.get()[from..][..n],
        );
        let (k5, k6, k7) = (
            &k5.get()[from..][..n],
            &k6.get()[from..][..n],
            &k7.get()[from..][..n],
        );
        let (x, y) = (&x[from..][..n], &y[from..][..n]);
        let absolute = &tolerance.absolute.get()[from..][..n];
        let relative = &tolerance.relative.get()[from..][..n];
        let mut sum = 0.0;
        for i in 0..n {
            // A NaN shows in the estimate.
            let (before, after) = (x[i].abs(), y[i].abs());
            let size = if before > after { before } else { after };
            let e = E[0] * k2[i] + E[1] * k3[i] + E[2] * k4[i] + E[3] * k5[i];
            let e = h * (e + E[4] * k6[i] + E[5] * (k7[i] - k1[i]));
            let ratio = e / (absolute[i] + relative[i] * size);
            sum += ratio * ratio;
        }
        (sum / n as f64).sqrt()
    }

    /// Forms the interpolant of the last step, which went from `(t, x)` over `h`.
    #[inline]
    pub(crate) fn form_interpolant(&mut self, t: f64, x: &[f64], h: f64) {
        self.dense.start = t;
        self.dense.length = h;
        by_size!(V::SIZE, self.y.get().len(), |n| self.form_of(n, x, h));
    }

    /// As [`form_interpolant`](Self::form_interpolant), for `n` state variables.
    #[inline(always)]
    fn form_of(&mut self, n: usize, x: &[f64], h: f64) {
        let (x, y) = (&x[..n], &self.y.get()[..n]);
        let [k1, k2, k3, k4, k5, k6, k7] = &self.k;
        let (k1, k2) = (&k1.get()[..n], &k2.get()[..n]);
        let (k3, k4) = (&k3.get()[..n], &k4.get()[..n]);
        let (k5, k6, k7) = (&k5.get()[..n], &k6.get()[..n], &k7.get()[..n]);
        let [c0, c1, c2, c3, c4] = &mut self.dense.c;
        let (c0, c1) = (&mut c0.get_mut()[..n], &mut c1.get_mut()[..n]);
        let (c2, c3, c4) = (
            &mut c2.get_mut()[..n],
            &mut c3.get_mut()[..n],
            &mut c4.get_mut()[..n],
        );
        for i in 0..n {
            c0[i] = x[i];
            c1[i] = y[i] - x[i];
            c2[i] = h * k1[i] - c1[i];
            c3[i] = c1[i] - h * k7[i] - c2[i];
            let sum = D[0] * k2[i] + D[1] * k3[i] + D[2] * k4[i] + D[3] * k5[i];
            let last = h * (sum + D[4] * k6[i] + D[5] * (k7[i] - k1[i]));
            // Terms that overflow say nothing; the others are those of the cubic through both ends.
            c4[i] = if last.is_finite() { last } else { 0.0 };
        }
    }

    /// Takes the step: the new state goes into `x` and its slope becomes the first stage.
    #[inline]
    pub(crate) fn take(&mut self, x: &mut V) {
        std::mem::swap(x, &mut self.y);
        let [first, .., last] = &mut self.k;
        std::mem::swap(first, last);
    }

    /// Forgets the stages of the last step.
    pub(crate) fn forget(&mut self) {
        for stage in &mut self.k {
            stage.get_mut().fill(0.0);
        }
    }

    /// Moves the state at the end of the step, and the interpolant with it.
    #[inline]
    pub(crate) fn correct(&mut self, correct: impl FnOnce(&mut [f64]) -> bool) -> bool {
        self.stage.get_mut().copy_from_slice(self.y.get());
        if !correct(self.y.get_mut()) {
            return false;
        }
        // c₀ + c₁ is the state at the end, and c₁ counts in proportion to the time before it.
        let end = &mut self.dense.c[1].get_mut();
        for ((c, corrected), y) in end.iter_mut().zip(self.y.get()).zip(self.stage.get()) {
            *c += corrected - y;
        }
        true
    }

    /// Workspace for what is done between two steps: the first stage of the next one, three others,
    /// and a state.
    #[inline]
    pub(crate) fn between_steps(&mut self) -> Between<'_> {
        let [first, k2, k3, k4, ..] = &mut self.k;
        Between {
            first: first.get(),
            stages: [k2.get_mut(), k3.get_mut(), k4.get_mut()],
            point: self.stage.get_mut(),
        }
    }

    /// Forms the cubic interpolant of a way of length `h` between two steps, from the state at its
    /// start, where the slope is the first stage, to that at its end, where it is `slope`.
    pub(crate) fn form_between(&mut self, t: f64, h: f64, ends: [&[f64]; 2], slope: &[f64]) {
        self.dense.hermite(t, h, ends, [self.k[0].get(), slope]);
    }

    /// All stages of the last step.
    pub(crate) fn stages(&self) -> impl Iterator<Item = &[f64]> {
        self.k.iter().map(Buffer::get)
    }

    /// Writes the state at the fraction `theta` of the step formed last into `x`.
    #[inline]
    pub(crate) fn at_fraction(&self, theta: f64, x: &mut [f64]) {
        let view = self.dense.view();
        by_size!(V::SIZE, self.y.get().len(), |n| view.write(n, theta, x));
    }

    /// The interpolant formed last.
    #[inline]
    pub(crate) fn interpolant(&self) -> Interpolant<'_> {
        self.dense.view()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x' = x cos t, x(0) = 1, x = exp(sin t).
    fn field(t: f64, x: &[f64], dx: &mut [f64]) {
        dx[0] = x[0] * t.cos();
    }

    fn solution(t: f64) -> f64 {
        t.sin().exp()
    }

    #[test]
    fn a_state_of_another_length_is_refused() {
        let mut calls = 0;
        let mut never = |_: f64, _: &[f64], _: &mut [f64]| calls += 1;
        let refused = |found| {
            Err(InputError::WrongLength {
                name: "x",
                expected: 2,
                found,
            })
        };
        let mut step = Tsitouras::<Vec<f64>>::new(2);
        assert_eq!(step.step(&mut never, 0.0, &[1.0], 0.1), refused(1));
        assert_eq!(step.step(&mut never, 0.0, &[1.0; 3], 0.1), refused(3));
        // An array keeps its own size.
        let mut step = Tsitouras::<[f64; 2]>::new(7);
        assert_eq!(step.step(&mut never, 0.0, &[], 0.1), refused(0));
        assert_eq!(calls, 0);
        assert_eq!(step.step(&mut field2, 0.0, &[1.0; 2], 0.1), Ok(()));
    }

    fn field2(_: f64, x: &[f64], dx: &mut [f64]) {
        dx.copy_from_slice(x);
    }

    #[test]
    fn one_step_is_of_order_6_locally_and_its_interpolant_of_order_5() {
        let mut step = Tsitouras::<Vec<f64>>::new(1);
        let (mut ends, mut middles) = (Vec::new(), Vec::new());
        for h in [0.1, 0.05, 0.025] {
            field(0.3, &[solution(0.3)], step.first_stage());
            step.step(&mut field, 0.3, &[solution(0.3)], h)
                .expect("one state");
            step.form_interpolant(0.3, &[solution(0.3)], h);
            ends.push((step.state()[0] - solution(0.3 + h)).abs());
            let errors = (1..20).map(|part| {
                let (t, mut x) = (0.3 + 0.05 * f64::from(part) * h, [0.0]);
                step.interpolant().at(t, &mut x);
                (x[0] - solution(t)).abs()
            });
            middles.push(errors.fold(0.0, f64::max));
        }
        for (errors, order) in [(ends, 6.0), (middles, 5.0)] {
            for pair in errors.windows(2) {
                let slope = (pair[0] / pair[1]).log2();
                assert!(
                    (slope - order).abs() < 0.3,
                    "slope {slope}, expected {order}"
                );
            }
        }
    }

    /// Slopes of which the last coefficient overflows, and no stage: the cubic is left.
    #[test]
    fn an_interpolant_between_finite_states_is_finite() {
        let mut large = |t: f64, _: &[f64], dx: &mut [f64]| dx[0] = 1e307 * (9.0 * t).sin();
        let mut step = Tsitouras::<Vec<f64>>::new(1);
        large(0.0, &[0.0], step.first_stage());
        step.step(&mut large, 0.0, &[0.0], 1.0).expect("one state");
        assert!(step.state()[0].is_finite());
        step.form_interpolant(0.0, &[0.0], 1.0);
        let mut x = [f64::NAN];
        step.interpolant().at_fraction(0.5, &mut x);
        assert!(x[0].is_finite());
    }

    /// x' = t⁴, whose terms of higher order are zero.
    #[test]
    fn the_error_of_the_interpolant_is_known() {
        let mut tolerance = Tolerance::<Vec<f64>>::new(1);
        tolerance.absolute = vec![1.0];
        let mut quartic = |t: f64, _: &[f64], dx: &mut [f64]| dx[0] = t.powi(4);
        let mut step = Tsitouras::<Vec<f64>>::new(1);
        quartic(0.0, &[0.0], step.first_stage());
        step.step(&mut quartic, 0.0, &[0.0], 1.0)
            .expect("one state");
        step.form_interpolant(0.0, &[0.0], 1.0);
        for part in 1..20 {
            let theta = 0.05 * f64::from(part);
            let mut x = [0.0];
            step.interpolant().at_fraction(theta, &mut x);
            let off = (x[0] - theta.powi(5) / 5.0).abs();
            let [_, of_time] = step.errors_at(theta, [&[0.0], &x], 1.0, &tolerance);
            let rounded = 1e-9 * step.error(&[0.0], 1.0, &tolerance);
            assert!(
                (off - of_time).abs() <= rounded,
                "{theta}: {off:e}, {of_time:e}"
            );
        }
    }
}
