//! `check_derivatives`: what the user wrote against differences.

use nalgebra::{DMatrix, DVector};

use super::jacobian::SystemAt;
use super::report::{DerivativeReport, Partial};
use crate::derivative::repeat::Repeat;
use crate::hybrid::System;
use crate::hybrid::evaluate::Point;
use crate::{EventFunction, Flow, Guard, Interrupt, Mode, NoDerivative};

/// Compares the derivatives that a system gives with central differences in the frozen mode, at one
/// point.
///
/// Compared are, as far as they are written: [`Flow::jacobian_times_each`] along all axes and
/// [`Flow::jacobian_times`] along one mixed direction; each row of [`EventFunction::gradient`] with
/// its time part `∂h_k/∂t`; [`Flow::flip`] of each side, there and back, with a fresh
/// [`Flow::flow`]; [`EventFunction::reset_times`] of each watched guard ahead, crossing alone,
/// along each axis and in time, and [`EventFunction::reset_times_each`] along the axes (only what
/// the given mode puts ahead: ask in both modes of a guard). An entry that is left unwritten or is
/// not finite counts as infinitely wrong.
///
/// Differences are good to about 1e-9 for functions of moderate size and curvature: `agrees(1e-6)`
/// is a fair question. Ask it at a few states off the guards and in the modes that a run passes
/// through, in a test of the model.
///
/// ```
/// use saltation::{EventFunction, Flow, Mode, derivative::check_derivatives};
/// struct Pendulum;
/// impl Flow for Pendulum {
///     fn dim(&self) -> usize {
///         2
///     }
///     fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
///         dx.copy_from_slice(&[x[1], -x[0].sin()]);
///     }
///     fn jacobian_times(&self, _t: f64, x: &[f64], _mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
///         out.copy_from_slice(&[v[1], x[0].cos() * v[0]]); // the sign is wrong
///         true
///     }
/// }
/// impl EventFunction for Pendulum {
///     fn count(&self) -> usize {
///         0
///     }
///     fn event(&self, _k: usize, _t: f64, _x: &[f64], _mode: &Mode) -> f64 {
///         0.0
///     }
/// }
/// let report = check_derivatives(&Pendulum, 0.0, &[0.3, 1.0], &Mode::new(0))?;
/// assert!(!report.agrees(1e-6));
/// println!("{report}"); // the worst of 6 entries: ∂f_1/∂x_0 is 0.95…, the difference says -0.95…
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// # Errors
/// [`InputError::EmptySystem`](crate::InputError::EmptySystem),
/// [`InputError::WrongLength`](crate::InputError::WrongLength) and
/// [`InputError::NotFinite`](crate::InputError::NotFinite) for bad input;
/// [`Stop::NotFinite`](crate::Stop::NotFinite) when the flow or an event function is not finite at
/// or close to `x`.
pub fn check_derivatives<S>(
    system: &S,
    t: f64,
    x: &[f64],
    mode: &Mode,
) -> Result<DerivativeReport, NoDerivative>
where
    S: Flow + EventFunction + ?Sized,
{
    check_derivatives_until(system, t, x, mode, &Interrupt::new())
}

/// As [`check_derivatives`], for large systems: for each guard the differences of its row, and of
/// its reset where that is written, take two evaluations a state variable.
///
/// ```
/// use saltation::derivative::check_derivatives_until;
/// use saltation::{Interrupt, Mode, NoDerivative, Stop, models::Hopper};
/// let interrupt = Interrupt::new();
/// interrupt.set(); // elsewhere, at any time
/// let ended = check_derivatives_until(&Hopper::default(), 0.0, &[2.0, 0.0], &Mode::new(1), &interrupt);
/// assert!(matches!(ended, Err(NoDerivative::Stop(Stop::Interrupted))));
/// ```
///
/// # Errors
/// As [`check_derivatives`], and [`Stop::Interrupted`](crate::Stop::Interrupted) when `interrupt`
/// is set.
pub fn check_derivatives_until<S>(
    system: &S,
    t: f64,
    x: &[f64],
    mode: &Mode,
    interrupt: &Interrupt,
) -> Result<DerivativeReport, NoDerivative>
where
    S: Flow + EventFunction + ?Sized,
{
    check_system(&system, Point { t, x, mode }, interrupt)
}

fn check_system(
    system: &dyn System,
    point: Point<'_>,
    interrupt: &Interrupt,
) -> Result<DerivativeReport, NoDerivative> {
    let mode = point.mode;
    let asked = SystemAt::new(system, point)?.until(interrupt);
    let mut report = DerivativeReport::default();
    compare_jacobian(&mut report, &asked)?;
    for event in 0..mode.len() {
        compare_gradient(&mut report, &asked, event)?;
        compare_reset(&mut report, &asked, event)?;
    }
    let here = asked.flow_in(mode)?;
    for event in 0..mode.len() {
        asked.check_interrupt()?;
        let side = mode.contains(event);
        let other_mode = mode.clone().having(event, !side);
        let other = asked.flow_in(&other_mode)?;
        let there = asked.flipped(&here, &other_mode, event);
        compare_flip(&mut report, event, there, [&here, &other]);
        let back = asked.flipped(&other, mode, event);
        compare_flip(&mut report, event, back, [&other, &here]);
    }
    Ok(report)
}

fn compare_jacobian(
    report: &mut DerivativeReport,
    asked: &SystemAt<'_>,
) -> Result<(), NoDerivative> {
    let Some(given) = asked.written_jacobian()? else {
        return Ok(());
    };
    let found = asked.difference_jacobian()?;
    let dim = found.nrows();
    let direction = DVector::from_fn(dim, |i, _| mixed(i));
    let product = asked.written_product(direction.as_slice());
    // Against the columns given, so that one wrong entry is not reported twice.
    let expected = &given * &direction;
    for row in 0..dim {
        asked.check_interrupt()?;
        let scale = scale(found.row(row).iter());
        for column in 0..dim {
            let what = Partial::Jacobian { row, column };
            report.compare(what, given[(row, column)], found[(row, column)], scale);
        }
        if let Some(product) = &product {
            let what = Partial::JacobianMixed { row };
            report.compare(what, product[row], expected[row], scale);
        }
    }
    Ok(())
}

fn compare_gradient(
    report: &mut DerivativeReport,
    asked: &SystemAt<'_>,
    event: usize,
) -> Result<(), NoDerivative> {
    let Some((row, rate)) = asked.written_row(event) else {
        return Ok(());
    };
    let (found, found_rate) = asked.difference_row(event)?;
    let row_scale = scale(found.iter());
    for column in 0..found.len() {
        let what = Partial::Gradient { event, column };
        report.compare(what, row[column], found[column], row_scale);
    }
    let what = Partial::GradientTime { event };
    report.compare(what, rate, found_rate, scale(std::iter::once(&found_rate)));
    Ok(())
}

/// The reset of the guard of `event` that lies ahead, crossing alone, if it is watched.
fn compare_reset(
    report: &mut DerivativeReport,
    asked: &SystemAt<'_>,
    event: usize,
) -> Result<(), NoDerivative> {
    let &SystemAt { system, point, .. } = asked;
    let Point { t, x, mode } = point;
    let guard = Guard::ahead(event, mode.contains(event));
    if !system.watch(event).sees(guard.direction) {
        return Ok(());
    }
    let dim = x.len();
    let mut repeat = Repeat::new(dim, mode);
    // The columns of the state, then that of the time.
    let direction = |column: usize| {
        let dx: Vec<_> = (0..dim).map(|i| f64::from(u8::from(i == column))).collect();
        (f64::from(u8::from(column == dim)), dx)
    };
    repeat.stand_before(system, point, guard)?;
    // Whole matrices are made only where there is something to compare.
    let (dt, dx) = direction(0);
    let mut out = vec![f64::NAN; dim];
    let is_written = repeat.written(system, t, dt, &dx, &mut out)
        || repeat.each_written(system, t, dt, &dx, &mut out);
    if !is_written {
        return Ok(());
    }
    asked.check_interrupt()?;
    let mut given = DMatrix::from_element(dim, dim + 1, f64::NAN);
    let mut found = given.clone();
    let axes = DMatrix::<f64>::identity(dim, dim);
    let mut each = DMatrix::from_element(dim, dim, f64::NAN);
    let each_written = repeat.each_written(system, t, 0.0, axes.as_slice(), each.as_mut_slice());
    let mut columns = dim + 1;
    for column in 0..=dim {
        asked.check_interrupt()?;
        let (dt, dx) = direction(column);
        let (mut out, mut difference) = (vec![f64::NAN; dim], vec![0.0; dim]);
        let written = repeat.written(system, t, dt, &dx, &mut out);
        let each_written = each_written && column < dim;
        if !(written || each_written) {
            columns = column;
            break;
        }
        repeat.by_difference(system, t, dt, &dx, &mut difference)?;
        if each_written {
            // Of the two ways to ask, what is further off.
            for row in 0..dim {
                let off = |given: f64| (given - difference[row]).abs();
                let other = each[(row, column)];
                if !written || off(other).is_nan() || off(other) > off(out[row]) {
                    out[row] = other;
                }
            }
        }
        given.column_mut(column).copy_from_slice(&out);
        found.column_mut(column).copy_from_slice(&difference);
    }
    for row in 0..dim {
        asked.check_interrupt()?;
        let scale = scale(found.row(row).iter());
        for column in 0..columns {
            let what = if column < dim {
                Partial::Reset { guard, row, column }
            } else {
                Partial::ResetTime { guard, row }
            };
            report.compare(what, given[(row, column)], found[(row, column)], scale);
        }
    }
    Ok(())
}

/// The flow before the flip is part of the scale: an update loses the digits by which it cancels.
fn compare_flip(
    report: &mut DerivativeReport,
    event: usize,
    given: Option<DVector<f64>>,
    [before, after]: [&DVector<f64>; 2],
) {
    let Some(given) = given else {
        return;
    };
    let scale = scale(before.iter().chain(after.iter()));
    for component in 0..after.len() {
        let what = Partial::Flip { event, component };
        report.compare(what, given[component], after[component], scale);
    }
}

/// The largest absolute value of a row, at least 1.
fn scale<'a>(row: impl Iterator<Item = &'a f64>) -> f64 {
    row.fold(1.0, |most, entry| entry.abs().max(most))
}

/// Entry `i` of a direction whose entries have both signs and all differ, none above 1.
fn mixed(i: usize) -> f64 {
    let size = 1.0 / (1.0 + 0.3 * i as f64);
    if i.is_multiple_of(2) { size } else { -size }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::InputError;
    use crate::flow_fn;

    /// One term of a derivative to get wrong on purpose.
    #[derive(Clone, Copy, PartialEq)]
    enum Slip {
        None,
        Jacobian,
        Mixed,
        Unwritten,
        Gradient,
        Time,
        Flip,
        FlipBack,
    }

    /// A mass on a stiff spring and a soft one that acts in mode bit 1 only; a wall that moves, and
    /// a speed limit.
    struct Mass(Slip);

    const STIFF: f64 = 4e5;

    impl Flow for Mass {
        fn dim(&self) -> usize {
            2
        }
        fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
            dx[0] = x[1];
            dx[1] = -STIFF * x[0] + if mode.contains(1) { x[1].sin() } else { 0.0 };
        }
        fn jacobian_times(
            &self,
            _t: f64,
            x: &[f64],
            mode: &Mode,
            v: &[f64],
            out: &mut [f64],
        ) -> bool {
            if self.0 != Slip::Unwritten {
                out[0] = v[1];
            }
            if self.0 == Slip::Jacobian {
                out[0] += 0.01 * v[0];
            }
            if self.0 == Slip::Mixed {
                out[0] += v[0] * v[1];
            }
            out[1] = -STIFF * v[0]
                + if mode.contains(1) {
                    x[1].cos() * v[1]
                } else {
                    0.0
                };
            true
        }
        fn flip(&self, _t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
            let sign = match (self.0, mode.contains(1)) {
                (Slip::Flip, true) | (Slip::FlipBack, false) => 0.0,
                (_, true) => 1.0,
                (_, false) => -1.0,
            };
            if k == 1 {
                dx[1] += sign * x[1].sin();
            }
            true
        }
    }

    impl EventFunction for Mass {
        fn count(&self) -> usize {
            2
        }
        fn event(&self, k: usize, t: f64, x: &[f64], _mode: &Mode) -> f64 {
            if k == 0 {
                x[0] - (3.0 * t).sin()
            } else {
                x[1] * x[1] - 4.0
            }
        }
        fn gradient(
            &self,
            k: usize,
            t: f64,
            x: &[f64],
            _mode: &Mode,
            dh: &mut [f64],
        ) -> Option<f64> {
            if k == 0 {
                dh.copy_from_slice(&[1.0, 0.0]);
                Some(if self.0 == Slip::Time {
                    0.0
                } else {
                    -3.0 * (3.0 * t).cos()
                })
            } else {
                let slope = if self.0 == Slip::Gradient { 1.0 } else { 2.0 };
                dh.copy_from_slice(&[0.0, slope * x[1]]);
                Some(0.0)
            }
        }
    }

    const T: f64 = 0.2;
    const X: [f64; 2] = [0.7, -1.3];

    fn report(slip: Slip) -> DerivativeReport {
        check_derivatives(&Mass(slip), T, &X, &Mode::with(2, &[1])).unwrap()
    }

    #[test]
    fn right_derivatives_agree() {
        for on in [&[][..], &[0], &[1], &[0, 1]] {
            let mode = Mode::with(2, on);
            let report = check_derivatives(&Mass(Slip::None), T, &X, &mode).unwrap();
            assert!(report.agrees(1e-9), "{report}");
            // 2 × 2 entries and a product, two rows with time part, two flips there and back
            assert_eq!(report.compared, 4 + 2 + 2 * 3 + 2 * 2 * 2);
        }
    }

    #[test]
    fn a_wrong_entry_is_named_and_measured_by_its_own_row() {
        let cases = [
            (
                Slip::Jacobian,
                Partial::Jacobian { row: 0, column: 0 },
                0.01,
            ),
            (
                Slip::Gradient,
                Partial::Gradient {
                    event: 1,
                    column: 1,
                },
                0.5,
            ),
            (Slip::Time, Partial::GradientTime { event: 0 }, 1.0),
        ];
        for (slip, what, error) in cases {
            let report = report(slip);
            let worst = report.worst.unwrap();
            assert_eq!(worst.what, what, "{report}");
            assert!((worst.error - error).abs() < 1e-8, "{report}");
            assert!(!report.agrees(1e-3) && report.agrees(1.1));
        }
    }

    #[test]
    fn a_product_that_is_not_linear_in_the_direction_is_named() {
        let worst = report(Slip::Mixed).worst.unwrap();
        assert_eq!(worst.what, Partial::JacobianMixed { row: 0 });
    }

    #[test]
    fn an_unwritten_entry_is_infinitely_wrong() {
        let report = report(Slip::Unwritten);
        let worst = report.worst.unwrap();
        assert_eq!(worst.what, Partial::Jacobian { row: 0, column: 0 });
        assert!(
            worst.error.is_infinite() && !report.agrees(1e300),
            "{report}"
        );
    }

    #[test]
    fn a_wrong_flip_is_named_in_both_directions() {
        for slip in [Slip::Flip, Slip::FlipBack] {
            let worst = report(slip).worst.unwrap();
            let what = Partial::Flip {
                event: 1,
                component: 1,
            };
            assert_eq!(worst.what, what);
            assert!(
                worst.to_string().contains("a fresh evaluation says"),
                "{worst}"
            );
        }
    }

    #[test]
    fn the_report_reads_as_a_sentence() {
        let text = report(Slip::Time).to_string();
        assert!(
            text.starts_with("the worst of 20 entries: ∂h_0/∂t is 0, the difference says -2.4"),
            "{text}"
        );
        let nothing = flow_fn(1, |_t, x, _mode, dx| dx[0] = x[0]);
        let report = check_derivatives(&nothing, 0.0, &[1.0], &Mode::new(0)).unwrap();
        assert_eq!(report, DerivativeReport::default());
        assert!(report.agrees(0.0));
        assert_eq!(
            report.to_string(),
            "no derivative is written, nothing to compare"
        );
    }

    #[test]
    fn bad_input_is_refused() {
        let short = check_derivatives(&Mass(Slip::None), T, &X[..1], &Mode::new(2));
        assert!(matches!(
            short,
            Err(NoDerivative::Input(InputError::WrongLength {
                name: "x",
                ..
            }))
        ));
    }
}
