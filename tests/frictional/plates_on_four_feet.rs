//! Plates that rock to rest on four feet, which land in pairs to rounding: what one foot stops stands on all.

use saltation::event_driven::Zeno;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Start, Status};

use crate::random_bits::SplitMix64;

const FEET: [[f64; 2]; 4] = [[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0]];

/// Place, height, roll, pitch and yaw of a plate of 1 kg, at small angles; its middle lies at `middle` among the feet.
#[derive(Clone, Copy, Debug)]
struct Plate {
    inertia: f64,
    middle: [f64; 2],
    friction: f64,
}

impl Plate {
    fn arm(&self, j: usize) -> [f64; 2] {
        [0, 1].map(|k| FEET[j][k] - self.middle[k])
    }
}

impl MechanicalSystem for Plate {
    fn dof(&self) -> usize {
        6
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        (0..3).for_each(|i| mass[7 * i] = 1.0);
        (3..6).for_each(|i| mass[7 * i] = self.inertia);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, 0.0, -9.81, 0.0, 0.0, 0.0]);
    }
}

impl UnilateralConstraints for Plate {
    fn contacts(&self) -> usize {
        4
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let [x, y] = self.arm(j);
        q[2] + y * q[3] - x * q[4]
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        let [x, y] = self.arm(j);
        row.copy_from_slice(&[0.0, 0.0, 1.0, y, -x, 0.0]);
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        if self.friction > 0.0 { 2 } else { 0 }
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        let [x, y] = self.arm(j);
        rows.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 0.0, -y, 0.0, 1.0, 0.0, 0.0, 0.0, x]);
    }
}

/// The energy that each rocking keeps is a part of what it had, so that all of them are at rest long before the end.
#[test]
fn a_plate_that_rocks_on_its_edges_comes_to_rest_on_all_its_feet() {
    for seed in 0..400 {
        let mut draw = SplitMix64(seed);
        let plate = Plate {
            inertia: draw.between(0.3, 3.0),
            middle: [(); 2].map(|()| draw.between(-0.5, 0.5)),
            friction: if draw.between(0.0, 1.0) < 0.5 {
                0.0
            } else {
                0.5
            },
        };
        let roll = 10f64.powf(draw.between(-15.0, -10.5));
        let pitch = draw.between(0.001, 0.02);
        let mut q = [0.0, 0.0, 0.0, roll, pitch, 0.0];
        q[2] = -(0..4)
            .map(|j| plate.gap(j, &q))
            .fold(f64::INFINITY, f64::min);
        let model = ContactModel::new(plate);
        let mut driver = EventDriven::new(model).unwrap().zeno(Zeno::Absorb);
        let start = Start::at(0.0).q(&q).v(&[0.0; 6]);
        let run = driver.integrate(&start, 3.0).unwrap();
        assert_eq!(
            *run.status(),
            Status::ReachedEnd,
            "{seed} {plate:?} {roll:e} {pitch}"
        );
        let (end, v) = run.state().as_slice().split_at(6);
        for j in 0..4 {
            let gap = plate.gap(j, end);
            assert!(gap.abs() < 1e-8, "{seed} {plate:?} {roll:e}: {j} {gap:e}");
        }
        let speed = v.iter().fold(0.0f64, |most, v| most.max(v.abs()));
        assert!(speed < 1e-6, "{seed} {plate:?} {roll:e}: {v:?}");
    }
}
