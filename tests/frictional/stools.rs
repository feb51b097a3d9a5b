//! Stools with two feet that are dropped and bounce, at small angles.

use saltation::event_driven::Zeno;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Start, Status};

use crate::random_bits::SplitMix64;

/// Place, height and angle of a body of 1 kg, whose feet stand `feet` beside its middle and 1 m below.
#[derive(Clone, Copy, Debug)]
struct Stool {
    inertia: f64,
    feet: [f64; 2],
    restitution: [f64; 2],
    friction: f64,
}

impl MechanicalSystem for Stool {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, self.inertia]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -9.81, 0.0]);
    }
}

impl UnilateralConstraints for Stool {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[1] + self.feet[j] * q[2]
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 1.0, self.feet[j]]);
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution[j]
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, 1.0]);
    }
}

#[test]
fn a_stool_that_is_dropped_does_not_fall_through_the_floor() {
    let cases = if cfg!(debug_assertions) { 60 } else { 5000 };
    // At the end: a rebound that is held stops the other foot, which parted.
    for seed in (0..cases).chain([327, 789]) {
        let mut draw = SplitMix64(seed);
        let mut between = |least, most| draw.between(least, most);
        let stool = Stool {
            inertia: between(0.05, 1.0),
            feet: [-between(0.1, 0.6), between(0.1, 0.6)],
            restitution: [between(0.02, 0.7), between(0.02, 0.7)],
            friction: between(0.0, 0.8),
        };
        let (q, v) = (
            [0.0, between(0.1, 0.3), between(-0.1, 0.1)],
            [between(-1.0, 1.0), between(-1.0, 0.5), between(-1.0, 1.0)],
        );
        let mut driver = EventDriven::new(ContactModel::new(stool)).unwrap();
        driver = driver.rtol(1e-8).atol(1e-10).zeno(Zeno::Absorb);
        let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 3.0).unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{seed}");
        let end = run.state();
        let gap = |j: usize| stool.gap(j, &end.as_slice()[..3]);
        assert!(gap(0) > -1e-8 && gap(1) > -1e-8, "{seed}: {end}");
    }
}
