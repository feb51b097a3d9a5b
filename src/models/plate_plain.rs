//! The vertical plate added up spring by spring, to compare with and to time against.

use super::plate_vertical::VerticalPlate;
use super::slices::{load, store};
use crate::{EventFunction, Flow, Mode};

/// The motion of [`VerticalPlate`], written without any of its short cuts.
///
/// The flow visits every spring in contact, event functions are evaluated one by one, a crossing
/// evaluates the flow again, and products with the Jacobian are left to differences. What a first
/// draft of a model costs, and what [`flip`](Flow::flip) and [`events`](EventFunction::events)
/// save. Source: as [`VerticalPlate`].
///
/// ```
/// use saltation::{Integrator, Start, models::{PlainPlate, PlateParameters, VerticalPlate}};
/// let plate = VerticalPlate::new(PlateParameters::with_springs(10))?;
/// let start = PlateParameters::random_start(1);
/// let quick = Integrator::new(&plate)?.rtol(1e-10).integrate(&Start::at(0.0).x(&start), 1.0)?;
/// let start = Start::at(0.0).x(&start);
/// let plain = Integrator::new(PlainPlate(&plate))?.rtol(1e-10).integrate(&start, 1.0)?;
/// assert_eq!(quick.crossings().len(), plain.crossings().len());
/// assert!((quick.state() - plain.state()).norm() < 1e-6);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlainPlate<'a>(
    /// The plate.
    pub &'a VerticalPlate,
);

impl Flow for PlainPlate<'_> {
    fn dim(&self) -> usize {
        6
    }

    fn flow(&self, _t: f64, state: &[f64], mode: &Mode, dx: &mut [f64]) {
        let p = self.0.parameters();
        let [x, z, theta, vx, vz, omega] = load(state);
        let t = theta.tan();
        let q = 1.0 + t * t;
        let damping = if p.shared_damping {
            p.damping * mode.count_ones() as f64 / p.springs as f64
        } else {
            p.damping
        };
        let (mut thrust, mut torque) = (0.0, 0.0);
        for i in mode.ones() {
            let arm = x - self.0.spring_position(i);
            let compression = p.rest_length - z + t * arm;
            let rate = t * vx - vz + q * arm * omega;
            let force = p.stiffness * compression + damping * rate;
            thrust += force;
            torque += force * arm;
        }
        store(
            dx,
            [
                vx,
                vz,
                omega,
                -t * thrust / p.mass,
                thrust / p.mass - p.gravity,
                -q * torque / p.inertia,
            ],
        );
    }
}

impl EventFunction for PlainPlate<'_> {
    fn count(&self) -> usize {
        self.0.count()
    }

    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        self.0.event(k, t, x, mode)
    }

    fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        self.0.gradient(k, t, x, mode, dh)
    }

    fn time_scale(&self, _k: usize) -> Option<f64> {
        Some(f64::INFINITY)
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
    use super::super::PlateParameters;
    use super::super::test_support::{assert_events, flow};
    use super::*;

    #[test]
    fn in_the_air_the_plate_falls_freely() {
        let plate = VerticalPlate::new(PlateParameters::with_springs(5)).unwrap();
        let state = [0.1, 2.0, 0.3, 0.4, 0.5, 0.6];
        let dx = flow(&PlainPlate(&plate), &state, &Mode::new(5));
        assert_eq!(dx, [0.4, 0.5, 0.6, 0.0, -9.81, 0.0]);
    }

    #[test]
    fn events_are_those_of_the_plate() {
        let plate = VerticalPlate::new(PlateParameters::with_springs(5)).unwrap();
        let state = [0.1, 1.1, 0.3, 0.4, 0.5, 0.6];
        assert_events(&PlainPlate(&plate), &state, &Mode::new(5));
        let mut h = [0.0; 5];
        plate.events(0.0, &state, &Mode::new(5), &mut h);
        for k in 0..5 {
            assert_eq!(
                PlainPlate(&plate).event(k, 0.0, &state, &Mode::new(5)),
                h[k]
            );
        }
    }
}
