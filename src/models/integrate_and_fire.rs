//! Pulse-coupled cells: a reset that carries others across their guards.

use std::ops::RangeInclusive;

use super::slices::store_unit;
use crate::{Crossing, EventFunction, Flow, InputError, Mode, Stop, Watch, validate};

/// Leaky cells `v_i' = d_i − γ v_i` that fire at a threshold and push each other.
///
/// State: all `v_i`, without unit; event functions `h_i = v_i − threshold`, watched rising. When
/// cells fire, they are reset to 0 and each of them adds `coupling` to every other cell; cells so
/// carried across the threshold fire at the same instant. A cell that fired takes no pulse in that
/// instant; it stands at exactly 0. (So does a cell without drive that was started at
/// 0: give it a drive.) Source: Mirollo & Strogatz, SIAM J. Appl. Math. 50 (1990) 1645 (Peskin's
/// model with absorption).
///
/// ```
/// use saltation::{Integrator, Start, models::IntegrateAndFire};
/// let cells = IntegrateAndFire::new(2, vec![2.0, 2.0], 1.0, 0.1, 1.0)?;
/// let run = Integrator::new(&cells)?.rtol(1e-10).integrate(&Start::at(0.0).x(&[0.0, 0.9]), 3.0)?;
/// // The second fires alone, then both fall into step.
/// let last = run.crossings().len() - 1;
/// assert_eq!(run.crossings()[last].t, run.crossings()[last - 1].t);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct IntegrateAndFire {
    drive: Vec<f64>,
    leak: f64,
    coupling: f64,
    threshold: f64,
}

impl IntegrateAndFire {
    /// `cells` cells with their drives `d_i` (1/s), `leak` `γ ≥ 0` (1/s), `coupling ≥ 0` and
    /// `threshold > 0`.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] and [`InputError::NotFinite`] for values outside these ranges or
    /// fewer than one cell, [`InputError::WrongLength`] unless there is one drive for each cell.
    pub fn new(
        cells: usize,
        drive: Vec<f64>,
        leak: f64,
        coupling: f64,
        threshold: f64,
    ) -> Result<Self, InputError> {
        validate::count("cells", cells)?;
        validate::length("drive", cells, drive.len())?;
        validate::finite("drive", &drive)?;
        validate::not_negative("leak", &[leak])?;
        validate::not_negative("coupling", &[coupling])?;
        validate::positive("threshold", &[threshold])?;
        Ok(Self {
            drive,
            leak,
            coupling,
            threshold,
        })
    }

    /// Number of cells.
    pub fn cells(&self) -> usize {
        self.drive.len()
    }

    /// Time from reset to firing of cell `i` when nobody pushes it (s).
    ///
    /// Infinite when its drive is too weak to fire, NaN when there is no such cell.
    pub fn free_period(&self, i: usize) -> f64 {
        let Some(&drive) = self.drive.get(i) else {
            return f64::NAN;
        };
        if drive <= self.leak * self.threshold {
            return f64::INFINITY;
        }
        if self.leak > 0.0 {
            -(-self.leak * self.threshold / drive).ln_1p() / self.leak
        } else {
            self.threshold / drive
        }
    }
}

impl Flow for IntegrateAndFire {
    fn dim(&self) -> usize {
        self.drive.len()
    }

    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        for ((rate, v), drive) in dx.iter_mut().zip(x).zip(&self.drive) {
            *rate = drive - self.leak * v;
        }
    }

    fn jacobian_times(
        &self,
        _t: f64,
        _x: &[f64],
        _mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        for (out_i, v_i) in out.iter_mut().zip(v) {
            *out_i = -self.leak * v_i;
        }
        true
    }

    fn flip(&self, _t: f64, _x: &[f64], _mode: &Mode, _k: usize, _dx: &mut [f64]) -> bool {
        // The field is the same in every mode: side bits only remember who has fired.
        true
    }
}

impl EventFunction for IntegrateAndFire {
    fn count(&self) -> usize {
        self.drive.len()
    }

    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x.get(k).map_or(f64::NAN, |v| v - self.threshold)
    }

    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        store_unit(dh, k, 1.0);
        Some(0.0)
    }

    fn watch(&self, _k: usize) -> Watch {
        Watch::RISING
    }

    /// A cell above its threshold would never fire.
    fn admissible(&self, _k: usize, _mode: &Mode) -> RangeInclusive<f64> {
        f64::NEG_INFINITY..=0.0
    }

    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (_, crossed, x, _) = crossing.parts();
        let pulse = self.coupling * crossed.guards().len() as f64;
        for v in x.iter_mut().filter(|v| **v != 0.0) {
            *v += pulse;
        }
        for i in crossed.events() {
            if let Some(v) = x.get_mut(i) {
                *v = 0.0;
            }
        }
        Ok(())
    }

    fn is_affine(&self, _k: usize) -> bool {
        true
    }

    fn ignores_mode(&self) -> bool {
        true
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact equality is what is promised")]
mod tests {
    use super::super::test_support::{assert_events, assert_flips, assert_jacobian};
    use super::*;
    use crate::{CrossedGuard, Guard, Record};

    fn fire(cells: &IntegrateAndFire, who: &[usize], x: &mut [f64]) {
        let set: Vec<_> = who
            .iter()
            .map(|&k| CrossedGuard {
                guard: Guard::rising(k),
                rate: 1.0,
            })
            .collect();
        let mut mode = Mode::with(x.len(), who);
        cells
            .on_crossing(&mut Crossing::new(
                0.0,
                &set,
                x,
                &mut mode,
                &mut Record::default(),
            ))
            .unwrap();
    }

    #[test]
    fn the_free_period_takes_a_cell_from_reset_to_threshold() {
        let (drive, leak, threshold) = (2.0, 0.7, 1.3);
        let cells = IntegrateAndFire::new(1, vec![drive], leak, 0.0, threshold).unwrap();
        let period = cells.free_period(0);
        // v(t) = d/γ (1 − e^{−γ t})
        let v = drive / leak * (1.0 - (-leak * period).exp());
        assert!((v - threshold).abs() < 1e-14);
        let without_leak = IntegrateAndFire::new(1, vec![drive], 0.0, 0.0, threshold).unwrap();
        assert_eq!(without_leak.free_period(0), threshold / drive);
        let weak = IntegrateAndFire::new(1, vec![0.9], leak, 0.0, threshold).unwrap();
        assert_eq!(weak.free_period(0), f64::INFINITY);
        assert!(weak.free_period(1).is_nan());
    }

    #[test]
    fn each_firing_cell_pushes_all_that_have_not_fired() {
        let cells = IntegrateAndFire::new(4, vec![2.0; 4], 1.0, 0.125, 1.0).unwrap();
        let mut x = [1.0, 0.5, 1.0, 0.0];
        fire(&cells, &[0, 2], &mut x);
        assert_eq!(x, [0.0, 0.75, 0.0, 0.0]);
    }

    #[test]
    fn one_instant_does_not_depend_on_who_is_called_first() {
        let cells = IntegrateAndFire::new(3, vec![2.0; 3], 1.0, 0.25, 1.0).unwrap();
        let (mut together, mut in_turn) = ([1.0, 1.0, 0.5], [1.0, 1.0, 0.5]);
        fire(&cells, &[0, 1], &mut together);
        fire(&cells, &[0], &mut in_turn);
        fire(&cells, &[1], &mut in_turn);
        assert_eq!(together, in_turn);
    }

    #[test]
    fn derivatives_agree_with_differences() {
        let cells = IntegrateAndFire::new(3, vec![2.0, 1.0, 0.5], 0.7, 0.1, 1.0).unwrap();
        let (x, mode) = ([0.2, 0.9, 0.4], Mode::with(3, &[1]));
        assert_jacobian(&cells, &cells, &x, &mode);
        assert_events(&cells, &x, &mode);
        assert_flips(&cells, &x, &mode);
    }

    #[test]
    fn bad_arguments_are_refused() {
        let new = IntegrateAndFire::new;
        assert!(matches!(
            new(2, vec![1.0], 1.0, 0.1, 1.0),
            Err(InputError::WrongLength {
                expected: 2,
                found: 1,
                ..
            })
        ));
        assert!(new(0, vec![], 1.0, 0.1, 1.0).is_err());
        assert!(new(1, vec![f64::NAN], 1.0, 0.1, 1.0).is_err());
        assert!(new(1, vec![1.0], -1.0, 0.1, 1.0).is_err());
        assert!(new(1, vec![1.0], 1.0, -0.1, 1.0).is_err());
        assert!(new(1, vec![1.0], 1.0, 0.1, 0.0).is_err());
    }
}
