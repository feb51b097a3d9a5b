//! A point mass of 1 kg above a floor, with forces of one's choice: what the tests of single
//! contacts are made of.

use saltation::event_driven::{EventDriven, Simulation};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};

/// Force as a function of time, height, velocity, and whether the contact is closed.
pub(crate) type Force = fn(f64, f64, f64, bool) -> f64;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) force: Force,
    /// The force depends on whether the contact is closed.
    pub(crate) switched: bool,
    pub(crate) restitution: fn(f64) -> f64,
    pub(crate) mass: fn(f64) -> f64,
    pub(crate) gap: fn(f64) -> f64,
}

impl Point {
    pub(crate) fn pushed(force: Force) -> Self {
        Self {
            force,
            switched: false,
            restitution: |_| 0.0,
            mass: |_| 1.0,
            gap: |z| z,
        }
    }

    pub(crate) fn simulation(self) -> Simulation<Self> {
        Simulation::new(EventDriven::new(self))
            .unwrap()
            .rtol(1e-10)
            .atol(1e-11)
    }
}

impl MechanicalSystem for Point {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        mass[0] = (self.mass)(q[0]);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        effort[0] = if self.switched {
            0.0
        } else {
            (self.force)(t, q[0], v[0], false)
        };
    }
    fn contact_effort(
        &self,
        (t, q, v): (f64, &[f64], &[f64]),
        closed: &[usize],
        effort: &mut [f64],
    ) -> bool {
        if self.switched {
            effort[0] += (self.force)(t, q[0], v[0], !closed.is_empty());
        }
        self.switched
    }
}

impl UnilateralConstraints for Point {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        (self.gap)(q[0])
    }
    fn restitution(&self, _j: usize, _q: &[f64], v: &[f64]) -> f64 {
        (self.restitution)(v[0])
    }
}
