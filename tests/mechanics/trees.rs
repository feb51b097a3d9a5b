//! Blocks of the mass matrix: what is written is compared with the mass matrix, what is not is one
//! block.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints, check_mechanics};
use saltation::{InputError, Stop};
use std::ops::Range;

/// Two carts with a pendulum each; `link` couples the carts. `q = (x, θ, x, θ)`.
struct Carts {
    link: f64,
    cuts: &'static [usize],
    own: bool,
}

impl MechanicalSystem for Carts {
    fn dof(&self) -> usize {
        4
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for i in [0, 2] {
            let mixed = q[i + 1].cos();
            (mass[5 * i], mass[5 * i + 5]) = (3.0, 1.0);
            (mass[5 * i + 1], mass[5 * i + 4]) = (mixed, mixed);
        }
        // Zero at the first configuration that is looked at.
        let link = self.link * q[0];
        (mass[2], mass[8]) = (link, link);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
    fn trees(&self) -> usize {
        self.cuts.len() - 1
    }
    fn tree(&self, i: usize) -> Range<usize> {
        self.cuts[i]..self.cuts[i + 1]
    }
    fn tree_mass(&self, i: usize, q: &[f64], mass: &mut [f64]) {
        if self.own {
            let mixed = q[2 * i + 1].cos();
            mass.copy_from_slice(&[3.0, mixed, mixed, 1.5]);
            return;
        }
        // As the trait provides it.
        let mut whole = [0.0; 16];
        self.mass(q, &mut whole);
        let tree = self.tree(i);
        for (k, column) in tree.clone().enumerate() {
            let n = tree.len();
            mass[k * n..(k + 1) * n]
                .copy_from_slice(&whole[4 * column + tree.start..4 * column + tree.end]);
        }
    }
}

impl UnilateralConstraints for Carts {
    fn contacts(&self) -> usize {
        0
    }
    fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
        1.0
    }
}

fn checked(link: f64, cuts: &'static [usize], own: bool) -> Result<f64, Stop> {
    let carts = Carts { link, cuts, own };
    let report = check_mechanics(&carts, 0.0, &[0.0, 0.3, 0.0, -0.7], &[0.0; 4])?;
    assert!(report.compared == 48 || cuts.len() == 2);
    Ok(report.worst.map_or(0.0, |worst| worst.error))
}

#[test]
fn trees_that_hide_a_coupling_are_found() {
    assert!(checked(0.0, &[0, 2, 4], false).unwrap() < 1e-15);
    assert!(checked(0.0, &[0, 4], false).unwrap() < 1e-15);
    // Carts that are coupled away from q = 0; a pendulum cut off its cart; a wrong block.
    assert!(checked(0.5, &[0, 2, 4], false).unwrap() > 1e-2);
    assert!(checked(0.0, &[0, 1, 4], false).unwrap() > 0.1);
    assert!(checked(0.0, &[0, 2, 4], true).unwrap() > 0.1);
}

#[test]
fn trees_cover_the_velocities_once() {
    for cuts in [
        &[0, 2, 3][..],
        &[0, 2, 5],
        &[1, 2, 4],
        &[0, 2, 2, 4],
        &[0, 4, 2],
        &[0, 4, 4],
    ] {
        let refused = checked(0.0, cuts, false);
        assert!(
            matches!(refused, Err(Stop::Input(InputError::WrongLength { .. }))),
            "{cuts:?}"
        );
    }
}

/// The provided block of a tree is that of the whole matrix.
#[test]
fn the_provided_mass_of_a_tree_is_a_block() {
    struct Provided(Carts);
    impl MechanicalSystem for Provided {
        fn dof(&self) -> usize {
            4
        }
        fn mass(&self, q: &[f64], mass: &mut [f64]) {
            self.0.mass(q, mass);
        }
        fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
            self.0.effort(t, q, v, effort);
        }
        fn trees(&self) -> usize {
            self.0.trees()
        }
        fn tree(&self, i: usize) -> Range<usize> {
            self.0.tree(i)
        }
    }
    let carts = Carts {
        link: 0.0,
        cuts: &[0, 2, 4],
        own: false,
    };
    let (provided, q) = (Provided(carts), [0.1, 0.3, 0.2, -0.7f64]);
    let mut mass = [f64::NAN; 4];
    provided.tree_mass(1, &q, &mut mass);
    assert!(mass.map(f64::to_bits) == [3.0, q[3].cos(), q[3].cos(), 1.0].map(f64::to_bits));
}
