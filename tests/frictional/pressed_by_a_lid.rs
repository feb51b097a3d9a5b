//! A body in space between the floor and a lid that falls on it: both hold it along the same tangents, so that they share its
//! friction, and the normals are nearly opposite.

use saltation::impact::{ImpactLaw, ImpactProblem, Moreau};
use saltation::mechanics::{ContactSet, MechanicalSystem, UnilateralConstraints};

use crate::random_bits::SplitMix64;

/// Place of the body, and the height of the lid.
struct Lid {
    masses: [f64; 2],
    restitution: [f64; 2],
    friction: [f64; 2],
}

impl MechanicalSystem for Lid {
    fn dof(&self) -> usize {
        4
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for i in 0..4 {
            mass[5 * i] = self.masses[i / 3];
        }
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
}

impl UnilateralConstraints for Lid {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        if j == 0 { q[2] } else { q[3] - q[2] }
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        let z = if j == 0 { [1.0, 0.0] } else { [-1.0, 1.0] };
        row.copy_from_slice(&[0.0, 0.0, z[0], z[1]]);
        true
    }
    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution[j]
    }
    fn friction(&self, j: usize) -> f64 {
        self.friction[j]
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]);
    }
}

/// The impulses are not unique, but the rates are: those of restitution and of sticking, to rounding.
#[test]
fn shared_friction_leaves_the_rates_of_the_law() {
    for seed in 0..300 {
        let mut draw = SplitMix64(seed);
        let mut between = |least, most| draw.between(least, most);
        let lid = Lid {
            masses: [between(0.2, 3.0), between(0.2, 10.0)],
            restitution: [between(0.0, 0.9), between(0.0, 0.9)],
            friction: [between(0.5, 1.2), between(0.5, 1.2)],
        };
        let falls = between(-3.0, -1.0);
        let v = [between(-0.1, 0.1), between(-0.1, 0.1), 0.0, falls];
        let contacts = ContactSet::Listed(&[0, 1]);
        let problem = ImpactProblem::of_system(&lid, &[0.0; 4], &v, contacts).unwrap();
        let outcome = Moreau::new().outcome(&problem).unwrap();
        let mut right = [0.0; 6];
        right[1] = -lid.restitution[1] * falls;
        for (speed, right) in outcome.speeds.iter().zip(right) {
            assert!((speed - right).abs() < 1e-12, "{seed}: {}", outcome.speeds);
        }
    }
}
