//! A thermostat with hysteresis: two guards that arm each other.

use super::slices::{load, store};
use crate::{EventFunction, Flow, Guard, InputError, Mode, RearmMatrix, Watch};

/// A room whose heater is off from `hot` rising until `cold` falling.
///
/// State: temperature `T` (°C), `T' = −cooling_rate (T − ambient)`, plus `heating_rate` while the
/// heater is on. Event functions `h_0 = T − hot`, watched rising, and `h_1 = T − cold`, watched
/// falling (K); the heater is off while side bit 0 is on. The two guards are no pair:
/// [`rearm`](Self::rearm) gives the guard reset matrix. Source: the standard example of a hybrid
/// automaton; the numbers are our own.
///
/// ```
/// use saltation::{Integrator, Rearm, Start, models::Thermostat};
/// let room = Thermostat::default();
/// let rearm = Rearm::Matrix(room.rearm()?);
/// let start = Start::at(0.0).x(&[18.0]);
/// let run = Integrator::new(room)?.rearm(rearm).rtol(1e-9).integrate(&start, 6000.0)?;
/// let times: Vec<_> = run.crossings().iter().map(|c| c.t).collect();
/// assert!((times[2] - times[0] - room.period()).abs() < 1e-3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thermostat {
    /// Temperature outside (°C); default 10.
    pub ambient: f64,
    /// Rate at which the room takes on the temperature outside (1/s); default 1e-3.
    pub cooling_rate: f64,
    /// Rate at which the heater warms the room (K/s); default 0.02.
    pub heating_rate: f64,
    /// Temperature at which the heater goes on (°C); default 20.
    pub cold: f64,
    /// Temperature at which the heater goes off (°C); default 22.
    pub hot: f64,
}

impl Default for Thermostat {
    fn default() -> Self {
        Self {
            ambient: 10.0,
            cooling_rate: 1e-3,
            heating_rate: 0.02,
            cold: 20.0,
            hot: 22.0,
        }
    }
}

impl Thermostat {
    /// The guard at which the heater goes off.
    pub const HOT: Guard = Guard::rising(0);
    /// The guard at which the heater goes on.
    pub const COLD: Guard = Guard::falling(1);

    /// The guard reset matrix: `HOT` arms `COLD`, `COLD` arms `HOT`, which takes its side bit back
    /// and so turns the heater on.
    ///
    /// # Errors
    /// None in practice: both guards exist and differ.
    pub fn rearm(&self) -> Result<RearmMatrix, InputError> {
        RearmMatrix::new(2)
            .arm(Self::HOT, Self::COLD)?
            .arm(Self::COLD, Self::HOT)
    }

    /// Time of one cycle of heating and cooling (s), in closed form.
    ///
    /// Infinite when there is no cycle: unless `ambient < cold < hot` and the heater can reach
    /// `hot`.
    pub fn period(&self) -> f64 {
        let heated = self.ambient + self.heating_rate / self.cooling_rate;
        let cycles = self.cooling_rate > 0.0
            && self.ambient < self.cold
            && self.cold < self.hot
            && self.hot < heated;
        if !cycles {
            return f64::INFINITY;
        }
        let span = self.hot - self.cold;
        let heating = (span / (heated - self.hot)).ln_1p();
        let cooling = (span / (self.cold - self.ambient)).ln_1p();
        (heating + cooling) / self.cooling_rate
    }
}

impl Flow for Thermostat {
    fn dim(&self) -> usize {
        1
    }

    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let [temperature] = load(x);
        let heating = if mode.contains(0) {
            0.0
        } else {
            self.heating_rate
        };
        store(
            dx,
            [heating - self.cooling_rate * (temperature - self.ambient)],
        );
    }

    fn jacobian_times(
        &self,
        _t: f64,
        _x: &[f64],
        _mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        let [v] = load(v);
        store(out, [-self.cooling_rate * v]);
        true
    }
}

impl EventFunction for Thermostat {
    fn count(&self) -> usize {
        2
    }

    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        let [temperature] = load(x);
        temperature - if k == 0 { self.hot } else { self.cold }
    }

    fn gradient(
        &self,
        _k: usize,
        _t: f64,
        _x: &[f64],
        _mode: &Mode,
        dh: &mut [f64],
    ) -> Option<f64> {
        store(dh, [1.0]);
        Some(0.0)
    }

    fn watch(&self, k: usize) -> Watch {
        if k == 0 {
            Watch::RISING
        } else {
            Watch::FALLING
        }
    }

    fn is_affine(&self, _k: usize) -> bool {
        true
    }

    fn ignores_mode(&self) -> bool {
        true
    }

    fn resets(&self) -> bool {
        false
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact equality is what is promised")]
mod tests {
    use super::super::test_support::{assert_events, assert_jacobian};
    use super::*;

    #[test]
    fn the_period_is_that_of_the_two_exponentials() {
        let room = Thermostat::default();
        // From cold towards 30 °C with the heater on, from hot towards 10 °C with it off.
        let towards =
            |from: f64, to: f64, target: f64| 1e3 * ((from - target) / (to - target)).ln();
        let expected = towards(20.0, 22.0, 30.0) + towards(22.0, 20.0, 10.0);
        assert!((room.period() - expected).abs() < 1e-9);
    }

    #[test]
    fn rooms_that_do_not_cycle_have_no_period() {
        let room = Thermostat::default();
        for still in [
            Thermostat {
                ambient: 21.0,
                ..room
            },
            Thermostat {
                heating_rate: 0.012,
                ..room
            },
            Thermostat {
                cooling_rate: 0.0,
                ..room
            },
            Thermostat { hot: 19.0, ..room },
        ] {
            assert_eq!(still.period(), f64::INFINITY);
        }
    }

    #[test]
    fn the_matrix_arms_each_guard_by_the_other() {
        let matrix = Thermostat::default().rearm().unwrap();
        assert_eq!(matrix.count(), 2);
        assert!(matrix.conflicts().is_empty());
        let expected = RearmMatrix::new(2)
            .arm(Guard::rising(0), Guard::falling(1))
            .and_then(|rows| rows.arm(Guard::falling(1), Guard::rising(0)));
        assert_eq!(Ok(matrix), expected);
    }

    #[test]
    fn derivatives_agree_with_differences() {
        let room = Thermostat::default();
        for mode in [Mode::new(2), Mode::with(2, &[0])] {
            assert_jacobian(&room, &room, &[21.0], &mode);
            assert_events(&room, &[21.0], &mode);
        }
    }
}
