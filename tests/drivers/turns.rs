//! Angles count turns: what differences find does not depend on how many.

use std::f64::consts::TAU;

use nalgebra::DMatrix;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{Compliant, ContactModel, EventDriven, Start, Variational};

/// Two rods hung on each other, of which only mass and forces are written, and a stop that nothing reaches.
#[derive(Clone, Copy)]
struct Pendulum;

impl MechanicalSystem for Pendulum {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        let c = (q[0] - q[1]).cos();
        mass.copy_from_slice(&[2.0, c, c, 1.0]);
    }
    fn effort(&self, _t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        effort[0] = -19.62 * q[0].sin() - 0.1 * v[0];
        effort[1] = -9.81 * q[1].sin();
    }
}

impl UnilateralConstraints for Pendulum {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        2.0 + q[0].sin()
    }
}

/// States at the end, without their turns, of each driver, and the derivative of the variational one.
fn ends(turns: f64) -> (Vec<Vec<f64>>, DMatrix<f64>) {
    let q = [1.0 + TAU * turns, 0.5 + TAU * turns];
    let start = Start::at(0.0).q(&q).v(&[0.3, 0.0]);
    let model = || ContactModel::new(Pendulum);
    let mut runs = Vec::new();
    let mut exact = EventDriven::new(model()).unwrap().rtol(1e-10).atol(1e-11);
    runs.push(exact.integrate(&start, 1.0).unwrap());
    let mut soft = Compliant::new(model()).unwrap().time_step(1e-3);
    runs.push(soft.integrate(&start, 1.0).unwrap());
    let mut steps = Variational::new(model()).unwrap().time_step(1e-3);
    runs.push(steps.integrate(&start, 1.0).unwrap());
    let derivative = steps.derivative(&start, 0.5).unwrap();
    let ends = runs.iter().map(|run| {
        assert!(run.is_guaranteed(), "{turns} {:?}", run.doubts());
        let mut end = run.state().as_slice().to_vec();
        end[..2].iter_mut().for_each(|q| *q -= TAU * turns);
        end
    });
    (ends.collect(), derivative.matrix().unwrap())
}

#[test]
fn motions_do_not_depend_on_the_turns_that_angles_count() {
    let (base, columns) = ends(0.0);
    for turns in [1.0, -30.0, 1000.0] {
        let (found, moved) = ends(turns);
        for (driver, (found, base)) in found.iter().zip(&base).enumerate() {
            let off = found.iter().zip(base).map(|(a, b)| (a - b).abs());
            let off = off.fold(0.0, f64::max);
            assert!(off < 3e-8, "driver {driver}, {turns} turns: {off:e}");
        }
        let off = (&moved - &columns).amax();
        assert!(off < 3e-5, "derivative, {turns} turns: {off:e}");
    }
}
