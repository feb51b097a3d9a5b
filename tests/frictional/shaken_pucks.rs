//! A puck on a table that is shaken along both of its axes: its slips begin and end, whatever the tolerance.

use crate::random_bits::SplitMix64;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Start};

/// A puck on a table that is shaken along both of its axes: `(table, puck)`, the puck's height last.
#[derive(Clone)]
struct Shaken {
    friction: f64,
    /// Amplitude, rate and phase of the table's acceleration along each axis.
    shakes: [[f64; 3]; 2],
}

impl MechanicalSystem for Shaken {
    fn dof(&self) -> usize {
        5
    }
    fn driven(&self) -> std::ops::Range<usize> {
        0..2
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        m.fill(0.0);
        m.iter_mut().step_by(6).for_each(|m| *m = 1.0);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        let [x, y] = self
            .shakes
            .map(|[most, rate, phase]| most * (rate * t + phase).cos());
        f.copy_from_slice(&[x, y, 0.0, 0.0, -9.81]);
    }
}

impl UnilateralConstraints for Shaken {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[4]
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn constant_tangents(&self, _j: usize) -> bool {
        true
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[-1.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 1.0, 0.0]);
    }
}

/// Slips that begin and end again are followed however loose the tolerance is.
#[test]
fn loose_tolerances_lose_no_slip() {
    let mut random = SplitMix64(4);
    for case in 0..if cfg!(debug_assertions) { 6 } else { 400 } {
        let mut shake = || {
            [
                random.between(1.0, 10.0),
                random.between(2.0, 8.0),
                random.between(0.0, 6.3),
            ]
        };
        let shakes = [shake(), shake()];
        let (friction, v) = (
            random.between(0.1, 0.8),
            [0.0, 0.0, random.between(-1.0, 1.0), 0.5, 0.0],
        );
        let end = |rtol: f64| {
            let model = ContactModel::new(Shaken { friction, shakes });
            let mut driver = EventDriven::new(model)
                .unwrap()
                .rtol(rtol)
                .atol(1e-2 * rtol);
            let start = Start::at(0.0).q(&[0.0; 5]).v(&v);
            let run = driver.integrate(&start, 2.0).unwrap().completed().unwrap();
            [run.state()[2], run.state()[3]]
        };
        let exact = end(1e-9);
        for rtol in [1e-3, 1e-4, 1e-5] {
            let found = end(rtol);
            let off = (found[0] - exact[0]).hypot(found[1] - exact[1]);
            assert!(off < 1e-3 + 4.0 * rtol, "{case} {rtol:e}: {off:e}");
        }
    }
}
