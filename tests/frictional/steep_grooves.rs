//! A disc that bounces in a groove whose walls are so steep that friction holds it there: thrown to and fro between
//! them, it comes to rest where both stick, by forces that depend on each other.

use saltation::event_driven::{Breakdown, Zeno};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Start, Status};

use crate::random_bits::SplitMix64;

/// Of 1 kg, its centre and its turn.
#[derive(Clone, Copy)]
struct Disc {
    radius: f64,
    /// Angles of the walls with the level (rad).
    slopes: [f64; 2],
    restitution: [f64; 2],
    friction: [f64; 2],
}

impl Disc {
    fn drawn(draw: &mut SplitMix64) -> Self {
        Self {
            radius: draw.between(0.1, 0.5),
            slopes: [-draw.between(1.2, 1.53), draw.between(1.2, 1.53)],
            restitution: [(); 2].map(|()| draw.between(0.02, 0.9)),
            friction: [(); 2].map(|()| draw.between(0.0, 1.5)),
        }
    }

    /// The normal of a wall.
    fn normal(&self, j: usize) -> [f64; 2] {
        let (sin, cos) = self.slopes[j].sin_cos();
        [-sin, cos]
    }

    /// Where it is a centimetre from both walls.
    fn start(&self) -> [f64; 3] {
        let ([a, b], [c, d]) = (self.normal(0), self.normal(1));
        let distance = (self.radius + 0.01) / (a * d - b * c);
        [distance * (d - b), distance * (a - c), 0.0]
    }
}

impl MechanicalSystem for Disc {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        (mass[0], mass[4], mass[8]) = (1.0, 1.0, 0.5 * self.radius * self.radius);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -9.81, 0.0]);
    }
}

impl UnilateralConstraints for Disc {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let [a, b] = self.normal(j);
        a * q[0] + b * q[1] - self.radius
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        let [a, b] = self.normal(j);
        row.copy_from_slice(&[a, b, 0.0]);
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn friction(&self, j: usize) -> f64 {
        self.friction[j]
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        let [a, b] = self.normal(j);
        rows.copy_from_slice(&[b, -a, self.radius]);
    }
    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution[j]
    }
}

/// Of those that come to rest before they slide along one wall alone, into the other. There impacts of both by Newton's
/// law may have no outcome, which is said.
#[test]
fn a_disc_that_is_thrown_between_steep_walls_comes_to_rest() {
    let cases = if cfg!(debug_assertions) { 60 } else { 3000 };
    let (mut rests, mut refused) = (0, 0);
    for seed in 0..cases {
        let mut draw = SplitMix64(seed);
        let disc = Disc::drawn(&mut draw);
        let v = [0.5, 0.3, 2.0].map(|most| draw.between(-most, most));
        let mut driver = EventDriven::new(ContactModel::new(disc)).unwrap();
        driver = driver.rtol(1e-8).atol(1e-10).zeno(Zeno::Absorb);
        let run = driver
            .integrate(&Start::at(0.0).q(&disc.start()).v(&v), 1.5)
            .unwrap();
        if let Status::Refused(stop) = run.status() {
            let reason = stop.downcast();
            assert!(
                matches!(reason, Some(Breakdown::Impact { .. })),
                "{seed}: {}",
                run.status()
            );
            refused += 1;
            continue;
        }
        // At rest both walls hold it; or it is still on its way.
        let x = run.state();
        if (3..6).all(|i| x[i].abs() < 1e-12) {
            rests += 1;
            assert!(
                (0..2).all(|j| disc.gap(j, &x.as_slice()[..3]).abs() < 1e-9),
                "{seed}"
            );
        }
    }
    assert!(
        5 * rests > 3 * cases && 4 * refused < cases,
        "{rests} {refused}"
    );
}
