//! A rod that falls over on its foot: the foot sticks, and slips. Slips begin without an acceleration, which rounding
//! must not turn round.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Start};

use crate::random_bits::SplitMix64;

const G: f64 = 9.81;

/// A thin rod of this length in metres, whose foot is on the ground: its centre and its angle.
struct Rod {
    length: f64,
    mass: f64,
    friction: f64,
    /// Rows are written.
    writes: bool,
}

impl Rod {
    fn arm(&self, q: &[f64]) -> [f64; 2] {
        let half = 0.5 * self.length;
        [-half * q[2].sin(), -half * q[2].cos()]
    }
}

impl MechanicalSystem for Rod {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        mass[0] = self.mass;
        mass[4] = self.mass;
        mass[8] = self.mass * self.length * self.length / 12.0;
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -self.mass * G, 0.0]);
    }
}

impl UnilateralConstraints for Rod {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1] + self.arm(q)[1]
    }
    fn gap_row(&self, _j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 1.0, -self.arm(q)[0]]);
        self.writes
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, self.arm(q)[1]]);
    }
}

/// The foot slips once within the fall, in all units and at all tolerances, and never sticks again at the same instant.
#[test]
fn a_foot_that_begins_to_slip_goes_on() {
    let mut slipped = 0;
    for seed in 0..40 {
        let draw = &mut SplitMix64(seed);
        let angle = draw.between(0.05, 0.6);
        let spin = draw.between(0.0, 1.0);
        let friction = draw.between(0.1, 0.9);
        for (unit, rtol) in [(1.0, 1e-10), (1e-3, 1e-10), (1e-3, 1e-8), (1e3, 1e-10)] {
            let time = f64::sqrt(unit);
            let rod = Rod {
                length: unit,
                mass: unit.powi(3),
                friction,
                writes: seed % 2 == 0,
            };
            let [x, y] = rod.arm(&[0.0, 0.0, angle]);
            let q = [-x, -y, angle];
            let v = [-y * spin / time, x * spin / time, spin / time];
            let model = ContactModel::new(rod)
                .gap_tolerance(1e-10 * unit)
                .rate_tolerance(1e-8 * unit / time);
            let driver = EventDriven::new(model).expect("a driver").rtol(rtol);
            let speed = unit / time;
            let atol = [unit, unit, 1.0, speed, speed, 1.0 / time].map(|of| 1e-2 * rtol * of);
            let mut driver = driver.atol(&atol[..]);
            let end = 0.4 * time;
            let run = driver
                .integrate(&Start::at(0.0).q(&q).v(&v), end)
                .expect("input");
            let stop = run.status().stop().map(ToString::to_string);
            assert_eq!(stop, None, "{seed} {unit}");
            let slips = run
                .events()
                .iter()
                .filter(|event| !event.slipped.is_empty());
            for event in slips {
                slipped += 1;
                let again = run.events().iter().any(|other| {
                    !other.stuck.is_empty() && (other.t - event.t).abs() < 1e-6 * time
                });
                assert!(!again, "{seed} {unit} {rtol}: {:?}", run.events());
            }
        }
    }
    assert!(slipped > 100, "{slipped}");
}
