//! Models with nothing written but masses, efforts and gaps: derivatives come from differences of
//! differences, and are done in a moment at any tolerance.

use saltation::ContactModel;
use saltation::derivative::Verdict;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{DoublePendulum, RigidTrot};
use saltation::nalgebra::DMatrix;
use saltation::{Integrator, Start};

/// A model without its derivatives.
#[derive(Clone, Copy, Debug)]
struct Unwritten<S>(S);

impl<S: MechanicalSystem> MechanicalSystem for Unwritten<S> {
    fn dof(&self) -> usize {
        self.0.dof()
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.mass(q, mass);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.0.effort(t, q, v, effort);
    }
}

impl<S: UnilateralConstraints> UnilateralConstraints for Unwritten<S> {
    fn contacts(&self) -> usize {
        self.0.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.0.gap(j, q)
    }
    fn restitution(&self, j: usize, q: &[f64], v: &[f64]) -> f64 {
        self.0.restitution(j, q, v)
    }
}

/// The derivative of a run.
fn matrix<S>(system: S, q: &[f64], tf: f64, rtol: f64) -> DMatrix<f64>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let model = ContactModel::new(system);
    let start = model
        .start(&Start::at(0.0).q(q).v(&vec![0.0; q.len()]))
        .unwrap();
    let mut integrator = Integrator::new(&model).unwrap().rtol(rtol).atol(rtol);
    let derivative = integrator.derivative(&start.as_start(), tf).unwrap();
    assert_eq!(*derivative.verdict(), Verdict::Classical);
    derivative.matrix().unwrap()
}

fn check<S>(system: S, q: &[f64], tf: f64)
where
    S: MechanicalSystem + UnilateralConstraints + Copy,
{
    let written = matrix(system, q, tf, 1e-11);
    for rtol in [1e-6, 1e-9, 1e-11] {
        let found = matrix(Unwritten(system), q, tf, rtol);
        // Differences of differences: six digits, and those of the tolerance.
        let error = (&found - &written).amax() / written.amax();
        assert!(error < 2e-6 + 10.0 * rtol, "{rtol:e}: {error:e}");
    }
}

#[test]
fn derivatives_need_nothing_written() {
    // One foot after the other; and a swing against a wall, along it, and away.
    check(RigidTrot::default(), &[1.5, 0.1], 0.65);
    let leaning = DoublePendulum {
        wall: 0.3,
        restitution: 0.0,
        ..DoublePendulum::default()
    };
    check(leaning, &[0.9, 0.2], 1.0);
}
