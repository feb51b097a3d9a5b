//! `Dual`: a model written once for any scalar, with exact derivatives.

use num_dual::Dual64;

use super::smooth::{GuardSet, SmoothEvents, SmoothFlow};
use crate::model::forward::{event_methods, flow_methods};
use crate::{Crossed, Crossing, Displacement, EventFunction, Flow, Mode, Stop};

/// A model written for any scalar, as a system with exact derivatives.
///
/// [`Flow::flow`] and [`EventFunction::event`] evaluate the model in `f64`.
/// [`Flow::jacobian_times`] costs one evaluation in dual numbers, [`EventFunction::reset_times`]
/// one of the reset, [`EventFunction::gradient`] `dim + 1`, one for the time; up to 64 state
/// variables need no heap memory. Dual numbers: `(a + a'ε)(b + b'ε) = ab + (ab' + a'b)ε`, `ε² = 0`
/// (Griewank & Walther, "Evaluating Derivatives", section 3.1).
///
/// The hopper, written once:
///
/// ```
/// use saltation::derivative::{Dual, RealField, SmoothEvents, SmoothFlow, convert};
/// use saltation::derivative::{check_derivatives, gradient_row};
/// use saltation::Mode;
///
/// struct Hopper {
///     stiffness: f64,
/// }
/// impl SmoothFlow for Hopper {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn flow<T: RealField + Copy>(&self, _t: T, x: &[T], mode: &Mode, dx: &mut [T]) {
///         let gravity: T = convert(9.81);
///         let stiffness: T = convert(self.stiffness);
///         let spring = if mode.contains(0) { stiffness * (T::one() - x[0]) } else { T::zero() };
///         dx[0] = x[1];
///         dx[1] = spring - gravity;
///     }
/// }
/// impl SmoothEvents for Hopper {
///     fn count(&self) -> usize {
///         1
///     }
///     fn event<T: RealField + Copy>(&self, _k: usize, _t: T, x: &[T], _mode: &Mode) -> T {
///         T::one() - x[0]
///     }
/// }
///
/// let hopper = Dual(Hopper { stiffness: 400.0 });
/// let stance = Mode::with(1, &[0]);
/// let (row, rate) = gradient_row(&hopper, 0, 0.0, &[0.9, -1.0], &stance)?;
/// assert_eq!((row.as_slice(), rate), (&[-1.0, 0.0][..], 0.0));
/// assert!(check_derivatives(&hopper, 0.0, &[0.9, -1.0], &stance)?.agrees(1e-9));
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dual<M>(
    /// The model.
    pub M,
);

impl<M: SmoothFlow> Flow for Dual<M> {
    flow_methods! { self => self.0, constants motion clock }

    fn jacobian_times(&self, t: f64, x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        let dim = x.len();
        on_scratch(ZERO, 2 * dim, |scratch| {
            let (point, slope) = scratch.split_at_mut(dim);
            for i in 0..dim {
                point[i] = Dual64::new(x[i], v[i]);
            }
            self.0.flow(Dual64::from_re(t), point, mode, slope);
            for i in 0..dim {
                out[i] = slope[i].eps;
            }
        });
        true
    }
}

impl<M: SmoothEvents> EventFunction for Dual<M> {
    event_methods! { self => self.0, constants values }

    fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        let rate = on_scratch(ZERO, x.len(), |point| {
            let time = Dual64::from_re(t);
            for i in 0..x.len() {
                point[i] = Dual64::from_re(x[i]);
            }
            for i in 0..x.len() {
                point[i].eps = 1.0;
                dh[i] = self.0.event(k, time, point, mode).eps;
                point[i].eps = 0.0;
            }
            self.0.event(k, time.derivative(), point, mode).eps
        });
        Some(rate)
    }

    #[inline]
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (t, crossed, x, mode) = crossing.parts();
        self.0.on_crossing(t, &GuardSet::new(*crossed), x, mode)
    }

    fn reset_times(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &Mode,
        Displacement { dt, dx }: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        let mut mode = mode.clone();
        on_scratch(ZERO, x.len(), |point| {
            for i in 0..x.len() {
                point[i] = Dual64::new(x[i], dx[i]);
            }
            let (time, set) = (Dual64::new(t, dt), GuardSet::new(*crossed));
            // A refusal by the model here is one in `on_crossing` too, which gives the reason.
            let done = self.0.on_crossing(time, &set, point, &mut mode).is_ok();
            for i in 0..x.len() {
                out[i] = point[i].eps;
            }
            done
        })
    }
}

const ZERO: Dual64 = Dual64 { re: 0.0, eps: 0.0 };

/// Runs `work` on `size` zero duals: on the stack up to 128 (64 states and their slopes), on the
/// heap beyond. Two stack sizes, because clearing 2 kB would be the larger part of a derivative of
/// a hopper.
#[inline]
pub(crate) fn on_scratch<T: Copy, R>(zero: T, size: usize, work: impl FnOnce(&mut [T]) -> R) -> R {
    const FEW: usize = 16;
    const MANY: usize = 128;
    let (mut few, mut many, mut heap);
    let scratch: &mut [T] = if size <= FEW {
        few = [zero; FEW];
        &mut few[..size]
    } else if size <= MANY {
        many = [zero; MANY];
        &mut many[..size]
    } else {
        heap = vec![zero; size];
        &mut heap
    };
    work(scratch)
}

#[cfg(test)]
mod tests {
    use nalgebra::RealField;

    use super::*;
    use crate::derivative::{check_derivatives, convert, flow_jacobian, gradient_row};
    use crate::{Record, Watch};

    /// A ring of `n` pendulums with a drag that acts in mode bit 0, above a floor that heaves.
    #[derive(Clone, Copy)]
    struct Ring(usize);

    impl SmoothFlow for Ring {
        fn dim(&self) -> usize {
            self.0
        }
        fn flow<T: RealField + Copy>(&self, t: T, x: &[T], mode: &Mode, dx: &mut [T]) {
            let n = x.len();
            for i in 0..n {
                let drag = if mode.contains(0) {
                    x[i].powi(3)
                } else {
                    T::zero()
                };
                dx[i] = x[i].sin() * x[(i + 1) % n] - drag / (T::one() + t * t);
            }
        }
        fn flip(&self, t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
            let sign = if mode.contains(0) { -1.0 } else { 1.0 };
            for i in 0..if k == 0 { x.len() } else { 0 } {
                dx[i] += sign * x[i].powi(3) / (1.0 + t * t);
            }
            true
        }
    }

    impl SmoothEvents for Ring {
        fn count(&self) -> usize {
            2
        }
        fn event<T: RealField + Copy>(&self, k: usize, t: T, x: &[T], _mode: &Mode) -> T {
            let two: T = convert(2.0);
            if k == 0 {
                (two * x[0]).exp() - (two * t).sin()
            } else {
                x[x.len() - 1] - T::one()
            }
        }
        fn watch(&self, k: usize) -> Watch {
            if k == 0 {
                Watch::FALLING.and_stop()
            } else {
                Watch::BOTH
            }
        }
        fn min_rate(&self, _k: usize) -> Option<f64> {
            Some(0.25)
        }
        fn event_tolerance(&self, _k: usize) -> f64 {
            1e-3
        }
        fn ignores_mode(&self) -> bool {
            true
        }
        fn on_crossing<T: RealField + Copy>(
            &self,
            _t: T,
            _crossed: &GuardSet<'_>,
            x: &mut [T],
            mode: &mut Mode,
        ) -> Result<(), Stop> {
            x[0] = -x[0];
            mode.set(1, true);
            Ok(())
        }
    }

    fn state(n: usize) -> Vec<f64> {
        (0..n).map(|i| 0.3 + (0.7 * i as f64).sin()).collect()
    }

    const T: f64 = 0.4;

    #[test]
    fn the_jacobian_is_that_by_hand_on_stack_and_heap() {
        let mode = Mode::with(2, &[0]);
        for n in [2, 8, 9, 64, 65, 200] {
            let x = state(n);
            let jacobian = flow_jacobian(&Dual(Ring(n)), T, &x, &mode).unwrap();
            for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
                let next = (i + 1) % n;
                let mut exact = 0.0;
                if i == j {
                    exact += x[i].cos() * x[next] - 3.0 * x[i] * x[i] / (1.0 + T * T);
                }
                if j == next {
                    exact += x[i].sin();
                }
                assert!((jacobian[(i, j)] - exact).abs() < 4e-15, "{n}: {i} {j}");
            }
        }
    }

    #[test]
    fn gradient_rows_and_their_time_part_are_those_by_hand() {
        for n in [2, 16, 17, 128, 129] {
            let (x, mode) = (state(n), Mode::new(2));
            let (row, rate) = gradient_row(&Dual(Ring(n)), 0, T, &x, &mode).unwrap();
            let slope = 2.0 * (2.0 * x[0]).exp();
            assert!((row[0] - slope).abs() < 4e-15 && row.iter().skip(1).all(|&v| v == 0.0));
            assert!((rate + 2.0 * (2.0 * T).cos()).abs() < 4e-15);
            let (row, rate) = gradient_row(&Dual(Ring(n)), 1, T, &x, &mode).unwrap();
            assert_eq!((row.sum(), row[n - 1], rate), (1.0, 1.0, 0.0));
        }
    }

    #[test]
    fn duals_pass_the_check_in_each_mode() {
        for on in [&[][..], &[0], &[1]] {
            let mode = Mode::with(2, on);
            let report = check_derivatives(&Dual(Ring(5)), T, &state(5), &mode).unwrap();
            assert!(report.agrees(1e-9), "{report}");
            // The guard ahead of event function 0 is watched only where its side bit is on.
            let resets = 1 + usize::from(on.contains(&0));
            assert_eq!(report.compared, 25 + 5 + 2 * 6 + 2 * 2 * 5 + resets * 30);
        }
    }

    #[test]
    fn all_else_is_handed_through() {
        let (ring, wrapped) = (Ring(3), Dual(Ring(3)));
        let (x, mode) = (state(3), Mode::with(2, &[0]));
        assert_eq!((wrapped.dim(), wrapped.count()), (3, 2));
        let (mut plain, mut dx) = ([f64::NAN; 3], [f64::NAN; 3]);
        SmoothFlow::flow(&ring, T, &x, &mode, &mut plain);
        wrapped.flow(T, &x, &mode, &mut dx);
        assert_eq!(plain.map(f64::to_bits), dx.map(f64::to_bits));
        let h = SmoothEvents::event(&ring, 0, T, &x, &mode);
        assert_eq!(wrapped.event(0, T, &x, &mode).to_bits(), h.to_bits());
        assert_eq!(wrapped.watch(0), Watch::FALLING.and_stop());
        assert_eq!(
            (wrapped.min_rate(1), wrapped.event_tolerance(1)),
            (Some(0.25), 1e-3)
        );
        assert!(wrapped.ignores_mode());
        let (mut after, mut mode) = (x.clone(), mode);
        wrapped
            .on_crossing(&mut Crossing::new(
                T,
                &[],
                &mut after,
                &mut mode,
                &mut Record::default(),
            ))
            .unwrap();
        assert_eq!((after[0], mode.contains(1)), (-x[0], true));
    }
}
