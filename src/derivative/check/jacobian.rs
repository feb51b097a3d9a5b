//! `D_x f` and the rows of `D_x h`, from whichever level the user wrote.

use nalgebra::{DMatrix, DVector};

use crate::hybrid::System;
use crate::hybrid::evaluate::{Point, not_finite};
use crate::ode::difference::{coordinate_step, time_step};
use crate::{EventFunction, Flow, InputError, Interrupt, Mode, Quantity, Stop, validate};

/// The matrix `D_x f(t, x; mode)`, `dim × dim`: entry `(i, j)` is `∂f_i/∂x_j` in the frozen mode.
///
/// From [`Flow::jacobian_times_each`] when it, or [`Flow::jacobian_times`], is written, from
/// central differences otherwise (two evaluations of the flow a column, step
/// `6e-6 · max(1, |x_j|)`).
///
/// ```
/// use saltation::{Mode, derivative::flow_jacobian, flow_fn};
/// let pendulum = flow_fn(2, |_t, x, _mode, dx| dx.copy_from_slice(&[x[1], -x[0].sin()]));
/// let jacobian = flow_jacobian(&pendulum, 0.0, &[0.0, 1.0], &Mode::new(0))?;
/// assert!((jacobian[(1, 0)] + 1.0).abs() < 1e-9);
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// # Errors
/// [`InputError::EmptySystem`], [`InputError::WrongLength`], [`InputError::NotFinite`] and
/// [`InputError::BadSetting`] (beyond 10,000 states) for bad
/// input; [`Stop::NotFinite`] when the flow or the derivative written for it is not finite, or
/// leaves a component unwritten.
pub fn flow_jacobian<S>(system: &S, t: f64, x: &[f64], mode: &Mode) -> Result<DMatrix<f64>, Stop>
where
    S: Flow + EventFunction + ?Sized,
{
    let asked = SystemAt::new(&system, Point { t, x, mode })?;
    let Some(given) = asked.written_jacobian()? else {
        return asked.difference_jacobian();
    };
    let rows = given.nrows();
    match given.iter().position(|entry| !entry.is_finite()) {
        None => Ok(given),
        Some(entry) => {
            let component = entry % rows;
            Err(not_finite(Quantity::Flow { component }, t, x, mode))
        }
    }
}

/// The row `D_x h_k(t, x; mode)`, `dim` entries in `u_k` per unit of each state, and `∂h_k/∂t` in
/// `u_k/s`.
///
/// From [`EventFunction::gradient`] when it is written, from central differences otherwise (two
/// evaluations of `h_k` an entry).
///
/// ```
/// use saltation::{Mode, derivative::gradient_row, flow_fn};
/// let lift = flow_fn(1, |_t, _x, _mode, dx| dx[0] = 0.0).with_events(1, |_k, t, x| x[0] - 3.0 * t);
/// let (row, rate) = gradient_row(&lift, 0, 0.0, &[1.0], &Mode::new(1))?;
/// assert!((row[0] - 1.0).abs() < 1e-9 && (rate + 3.0).abs() < 1e-9);
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// # Errors
/// [`InputError::NoSuch`] when `k ≥ count()`; [`InputError::EmptySystem`],
/// [`InputError::WrongLength`] and [`InputError::NotFinite`] for bad input; [`Stop::NotFinite`]
/// when the event function or its gradient is not finite, or the gradient leaves an entry
/// unwritten.
pub fn gradient_row<S>(
    system: &S,
    k: usize,
    t: f64,
    x: &[f64],
    mode: &Mode,
) -> Result<(DVector<f64>, f64), Stop>
where
    S: Flow + EventFunction + ?Sized,
{
    let asked = SystemAt::new(&system, Point { t, x, mode })?;
    let count = mode.len();
    if k >= count {
        return Err(Stop::Input(InputError::NoSuch {
            what: "event function",
            index: k,
            count,
        }));
    }
    let Some((row, rate)) = asked.written_row(k) else {
        return asked.difference_row(k);
    };
    if rate.is_finite() && row.iter().all(|entry| entry.is_finite()) {
        Ok((row, rate))
    } else {
        Err(not_finite(Quantity::Gradient { event: k }, t, x, mode))
    }
}

/// A system at one time, state and mode, found to fit each other.
///
/// Whatever the user's functions are to write is filled with NaN first: the drivers pass buffers
/// with old contents, so that an entry left unwritten is a mistake, and here it shows.
pub(crate) struct SystemAt<'a> {
    pub(crate) system: &'a dyn System,
    pub(crate) point: Point<'a>,
    interrupt: Option<&'a Interrupt>,
}

impl<'a> SystemAt<'a> {
    pub(crate) fn new(system: &'a dyn System, point: Point<'a>) -> Result<Self, Stop> {
        let Point { t, x, mode } = point;
        let dim = system.dim();
        if dim == 0 {
            return Err(Stop::Input(InputError::EmptySystem));
        }
        validate::length("x", dim, x.len())?;
        let names = ["the mode", "the flags of the mode"];
        mode.check_sizes((system.count(), system.flags()), names)?;
        validate::finite("t", &[t])?;
        validate::finite("x", x)?;
        Ok(Self {
            system,
            point,
            interrupt: None,
        })
    }

    /// Ends what takes long when `interrupt` is set.
    pub(crate) fn until(self, interrupt: &'a Interrupt) -> Self {
        let interrupt = Some(interrupt);
        Self { interrupt, ..self }
    }

    /// [`Stop::Interrupted`] when the interrupt is set.
    pub(crate) fn check_interrupt(&self) -> Result<(), Stop> {
        Ok(self.interrupt.map_or(Ok(()), Interrupt::check)?)
    }

    /// `D_x f` as the user wrote it, entries unchecked; `None` when it is not written. The axes are
    /// asked for a few at once.
    pub(crate) fn written_jacobian(&self) -> Result<Option<DMatrix<f64>>, Stop> {
        const AT_ONCE: usize = 64;
        let Point { t, x, mode } = self.point;
        let dim = x.len();
        validate::entries("entries of the Jacobian", dim, dim)?;
        let mut jacobian = DMatrix::zeros(dim, dim);
        for first in (0..dim).step_by(AT_ONCE) {
            self.check_interrupt()?;
            let count = AT_ONCE.min(dim - first);
            let axes = DMatrix::from_fn(dim, count, |i, k| f64::from(u8::from(i == first + k)));
            let out = &mut jacobian.as_mut_slice()[first * dim..][..count * dim];
            out.fill(f64::NAN);
            let (system, v) = (self.system, axes.as_slice());
            if !system.jacobian_times_each(t, x, mode, v, out) {
                return Ok(None);
            }
        }
        Ok(Some(jacobian))
    }

    /// `D_x f · v` as the user wrote it, entries unchecked; `None` when it is not written.
    pub(crate) fn written_product(&self, v: &[f64]) -> Option<DVector<f64>> {
        let Point { t, x, mode } = self.point;
        let mut product = DVector::from_element(x.len(), f64::NAN);
        self.system
            .jacobian_times(t, x, mode, v, product.as_mut_slice())
            .then_some(product)
    }

    /// `D_x f` by central differences.
    pub(crate) fn difference_jacobian(&self) -> Result<DMatrix<f64>, Stop> {
        let Point { t, x, mode } = self.point;
        let dim = x.len();
        let mut jacobian = DMatrix::zeros(dim, dim);
        for column in 0..dim {
            self.check_interrupt()?;
            let [(behind, below), (ahead, above)] = self.neighbours(column);
            let change = self.flow(&above, mode)? - self.flow(&below, mode)?;
            let slope = change / (ahead - behind);
            if let Some(component) = slope.iter().position(|entry| !entry.is_finite()) {
                return Err(not_finite(Quantity::Jacobian { component }, t, x, mode));
            }
            jacobian.set_column(column, &slope);
        }
        Ok(jacobian)
    }

    /// The gradient row of event function `k` and its time part as the user wrote them, unchecked;
    /// `None` when not written.
    pub(crate) fn written_row(&self, k: usize) -> Option<(DVector<f64>, f64)> {
        let Point { t, x, mode } = self.point;
        let mut row = DVector::from_element(x.len(), f64::NAN);
        let rate = self.system.gradient(k, t, x, mode, row.as_mut_slice())?;
        Some((row, rate))
    }

    /// The gradient row of event function `k` and its time part by central differences.
    pub(crate) fn difference_row(&self, k: usize) -> Result<(DVector<f64>, f64), Stop> {
        let Point { t, x, mode } = self.point;
        let mut row = DVector::zeros(x.len());
        for column in 0..x.len() {
            self.check_interrupt()?;
            let [(behind, below), (ahead, above)] = self.neighbours(column);
            let change = self.event(k, t, &above)? - self.event(k, t, &below)?;
            row[column] = change / (ahead - behind);
        }
        let step = time_step(t);
        let (behind, ahead) = (t - step, t + step);
        let change = self.event(k, ahead, x)? - self.event(k, behind, x)?;
        let rate = change / (ahead - behind);
        if rate.is_finite() && row.iter().all(|entry| entry.is_finite()) {
            Ok((row, rate))
        } else {
            Err(not_finite(Quantity::Gradient { event: k }, t, x, mode))
        }
    }

    /// `f(t, x; mode)` in another mode.
    pub(crate) fn flow_in(&self, mode: &Mode) -> Result<DVector<f64>, Stop> {
        self.flow(self.point.x, mode)
    }

    /// `f(t, x; mode)` by the user's `flip`, from the `f` of the mode in which side `k` is the
    /// other one; `None` when `flip` is not written.
    pub(crate) fn flipped(
        &self,
        from: &DVector<f64>,
        mode: &Mode,
        k: usize,
    ) -> Option<DVector<f64>> {
        let Point { t, x, .. } = self.point;
        let mut dx = from.clone();
        self.system
            .flip(t, x, mode, k, dx.as_mut_slice())
            .then_some(dx)
    }

    /// The states a step of the difference before and after `x` along one axis, each with its
    /// coordinate: their distance is exact, the step is not. The step follows that coordinate
    /// alone; the others may have another unit and size.
    fn neighbours(&self, column: usize) -> [(f64, Vec<f64>); 2] {
        let here = self.point.x[column];
        let step = coordinate_step(here);
        [here - step, here + step].map(|coordinate| {
            let mut x = self.point.x.to_vec();
            x[column] = coordinate;
            (coordinate, x)
        })
    }

    fn flow(&self, x: &[f64], mode: &Mode) -> Result<DVector<f64>, Stop> {
        let t = self.point.t;
        let mut dx = DVector::from_element(x.len(), f64::NAN);
        self.system.flow(t, x, mode, dx.as_mut_slice());
        match dx.iter().position(|entry| !entry.is_finite()) {
            None => Ok(dx),
            Some(component) => Err(not_finite(Quantity::Flow { component }, t, x, mode)),
        }
    }

    fn event(&self, k: usize, t: f64, x: &[f64]) -> Result<f64, Stop> {
        let mode = self.point.mode;
        let value = self.system.event(k, t, x, mode);
        if value.is_finite() {
            Ok(value)
        } else {
            Err(not_finite(Quantity::Event { event: k }, t, x, mode))
        }
    }
}

/// Refuses a derivative that overflows; `rows` is the length of a column.
pub(crate) fn check_derivative(
    entries: &[f64],
    rows: usize,
    Point { t, x, mode }: Point<'_>,
) -> Result<(), Stop> {
    match entries.iter().position(|entry| !entry.is_finite()) {
        None => Ok(()),
        Some(entry) => {
            let component = entry % rows.max(1);
            Err(not_finite(Quantity::Derivative { component }, t, x, mode))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::At;
    use crate::flow_fn;

    /// A pendulum under a floor that heaves; the first component of the product is left out when
    /// `unwritten`.
    struct Pendulum {
        unwritten: bool,
    }

    impl Flow for Pendulum {
        fn dim(&self) -> usize {
            2
        }
        fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
            let stiffness = if mode.contains(1) { 4e5 } else { 1.0 };
            dx.copy_from_slice(&[x[1], -stiffness * x[0].sin()]);
        }
        fn jacobian_times(
            &self,
            _t: f64,
            x: &[f64],
            mode: &Mode,
            v: &[f64],
            out: &mut [f64],
        ) -> bool {
            if !self.unwritten {
                out[0] = v[1];
            }
            let stiffness = if mode.contains(1) { 4e5 } else { 1.0 };
            out[1] = -stiffness * x[0].cos() * v[0];
            true
        }
    }

    impl EventFunction for Pendulum {
        fn count(&self) -> usize {
            2
        }
        fn event(&self, k: usize, t: f64, x: &[f64], _mode: &Mode) -> f64 {
            x[k] * x[k] - (3.0 * t).sin()
        }
        fn gradient(
            &self,
            k: usize,
            t: f64,
            x: &[f64],
            _mode: &Mode,
            dh: &mut [f64],
        ) -> Option<f64> {
            if !self.unwritten {
                dh.fill(0.0);
            }
            dh[k] = 2.0 * x[k];
            Some(-3.0 * (3.0 * t).cos())
        }
    }

    const WRITTEN: Pendulum = Pendulum { unwritten: false };
    const T: f64 = 0.2;
    const X: [f64; 2] = [0.7, -1.3];

    #[test]
    fn what_is_written_and_what_is_not_give_the_same_matrices() {
        let mode = Mode::with(2, &[1]);
        let plain = flow_fn(2, |t, x, mode, dx| WRITTEN.flow(t, x, mode, dx))
            .with_events(2, |k, t, x| WRITTEN.event(k, t, x, &Mode::new(2)));
        let written = flow_jacobian(&WRITTEN, T, &X, &mode).unwrap();
        let difference = flow_jacobian(&plain, T, &X, &mode).unwrap();
        assert!((written[(1, 0)] + 4e5 * 0.7f64.cos()).abs() < 1e-9);
        assert!((written - difference).amax() < 1e-9 * 4e5);
        for k in 0..2 {
            let (row, rate) = gradient_row(&WRITTEN, k, T, &X, &mode).unwrap();
            let (row_found, rate_found) = gradient_row(&plain, k, T, &X, &mode).unwrap();
            assert!((row - row_found).amax() < 1e-9 && (rate - rate_found).abs() < 1e-9);
        }
    }

    #[test]
    fn a_small_coordinate_beside_a_large_one_keeps_its_own_step() {
        let far = flow_fn(2, |_t, x, _mode, dx| {
            dx.copy_from_slice(&[0.0, x[1].sin()]);
        });
        let jacobian = flow_jacobian(&far, 0.0, &[1e9, 0.5], &Mode::new(0)).unwrap();
        assert!((jacobian[(1, 1)] - 0.5f64.cos()).abs() < 1e-9);
    }

    #[test]
    fn bad_input_is_refused() {
        let mode = Mode::new(2);
        let wrong_length = |name, found| {
            Err(Stop::Input(InputError::WrongLength {
                name,
                expected: 2,
                found,
            }))
        };
        let short = flow_jacobian(&WRITTEN, T, &X[..1], &mode);
        assert_eq!(short, wrong_length("x", 1));
        let short = flow_jacobian(&WRITTEN, T, &X, &Mode::new(1));
        assert_eq!(short, wrong_length("the mode", 1));
        let late = flow_jacobian(&WRITTEN, f64::INFINITY, &X, &mode);
        assert!(matches!(
            late,
            Err(Stop::Input(InputError::NotFinite { name: "t", .. }))
        ));
        let lost = gradient_row(&WRITTEN, 0, T, &[0.0, f64::NAN], &mode);
        assert!(matches!(
            lost,
            Err(Stop::Input(InputError::NotFinite {
                name: "x",
                entry: 1,
                ..
            }))
        ));
        let missing = gradient_row(&WRITTEN, 2, T, &X, &mode);
        assert_eq!(
            missing,
            Err(Stop::Input(InputError::NoSuch {
                what: "event function",
                index: 2,
                count: 2
            }))
        );
        let empty = flow_fn(0, |_t, _x, _mode, _dx| {});
        assert_eq!(
            flow_jacobian(&empty, T, &[], &Mode::new(0)),
            Err(Stop::Input(InputError::EmptySystem))
        );
    }

    #[test]
    fn values_that_are_not_finite_or_not_written_say_where() {
        let at = |quantity: Quantity, state: [f64; 2], count: usize| Stop::NotFinite {
            quantity,
            at: At::new(T, &state, &Mode::new(count)).into(),
        };
        let root = flow_fn(2, |_t, x, _mode, dx| {
            dx.copy_from_slice(&[x[1], x[0].sqrt()]);
        })
        .with_events(1, |_k, _t, x| x[1].ln());
        let below = -coordinate_step(0.0);
        let found = flow_jacobian(&root, T, &[0.0, 1.0], &Mode::new(1));
        assert_eq!(
            found,
            Err(at(Quantity::Flow { component: 1 }, [below, 1.0], 1))
        );
        let found = gradient_row(&root, 0, T, &[0.0, 0.0], &Mode::new(1));
        assert!(matches!(
            found,
            Err(Stop::NotFinite {
                quantity: Quantity::Event { event: 0 },
                ..
            })
        ));
        let unwritten = Pendulum { unwritten: true };
        let found = flow_jacobian(&unwritten, T, &X, &Mode::new(2));
        assert_eq!(found, Err(at(Quantity::Flow { component: 0 }, X, 2)));
        let found = gradient_row(&unwritten, 1, T, &X, &Mode::new(2));
        assert_eq!(found, Err(at(Quantity::Gradient { event: 1 }, X, 2)));
    }
}
