//! A ball that bounces infinitely often in finite time and then rests: masses, forces and gaps are
//! the model; impacts and rest follow.

use saltation::prelude::*;

struct Ball; // 0.5 kg; `q` is its height over the floor (m)

impl MechanicalSystem for Ball {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 0.5;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = -0.5 * 9.81;
    }
}
impl UnilateralConstraints for Ball {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        0.5
    }
}

fn main() -> Result<(), Error> {
    // Without `Zeno::Absorb` the run ends where the impacts accumulate, and its status says when.
    let mut driver = EventDriven::new(ContactModel::new(Ball))?.zeno(Zeno::Absorb);
    let run = driver.integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 3.0)?;
    for phase in run.completed()?.phases() {
        println!("from {:.6} s: closed contacts {:?}", phase.t, phase.closed);
    }
    Ok(())
}
