//! A level rod with feet in a line that land at once: two of them carry it, the others touch with them.

use saltation::derivative::Verdict;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Start};

/// Height and angle, at small angles, of a plastic rod of 1 kg with feet at `places`.
struct LevelRod<'a> {
    inertia: f64,
    places: &'a [f64],
}

impl MechanicalSystem for LevelRod<'_> {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, self.inertia]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[-10.0, 0.0]);
    }
}

impl UnilateralConstraints for LevelRod<'_> {
    fn contacts(&self) -> usize {
        self.places.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[0] + self.places[j] * q[1]
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[1.0, self.places[j]]);
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
}

/// In each order of the feet the first two to stay down stop the rod. The others then stand on their surfaces without
/// an impact of their own, and are closed by that of these two.
#[test]
fn feet_that_others_stop_on_the_ground_stand_on_it_in_every_order() {
    for places in [&[-0.5, 0.5, 0.1][..], &[-0.4, 0.5, -0.1]] {
        let rod = LevelRod {
            inertia: 0.03,
            places,
        };
        let driver = EventDriven::new(ContactModel::new(rod)).unwrap();
        let mut driver = driver.rtol(1e-10).atol(1e-12);
        // It falls for 0.2 s.
        let start = Start::at(0.0).q(&[0.2, 0.0]).v(&[0.0; 2]);
        let found = driver.derivative(&start, 0.21).unwrap();
        assert_eq!(*found.verdict(), Verdict::Classical, "{places:?}");
        assert!(found.matrix().unwrap().amax() < 1e-9, "{places:?}");
        let all = found.pieces_at(0).unwrap();
        assert!(all.iter().all(|piece| piece.mode == *found.run().mode()));
    }
}
