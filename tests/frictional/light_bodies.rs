//! Masses set the size of forces, and nothing else: a body of a microgram moves as one of a ton does.

use saltation::event_driven::Zeno;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::RockingBlock;
use saltation::{ContactModel, EventDriven, Run, Start, Status};

use crate::random_bits::SplitMix64;

const MASSES: [f64; 5] = [1e-9, 1e-6, 1e-3, 1e3, 1e6];

/// A point on a floor that a force pulls which grows.
struct Pulled {
    mass: f64,
}

impl MechanicalSystem for Pulled {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[self.mass, 0.0, 0.0, self.mass]);
    }
    fn effort(&self, t: f64, _: &[f64], _: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[4.0 * self.mass * t, -9.81 * self.mass]);
    }
}

impl UnilateralConstraints for Pulled {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _: usize, q: &[f64]) -> f64 {
        q[1]
    }
    fn friction(&self, _: usize) -> f64 {
        0.5
    }
    fn tangents(&self, _: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _: usize, _: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0]);
    }
}

#[test]
fn a_slip_begins_whatever_the_mass_is() {
    // From t₀ = μ g/4 on, with the acceleration 4 (t − t₀).
    let late: f64 = 2.0 - 0.5 * 9.81 / 4.0;
    let exact = 2.0 / 3.0 * late.powi(3);
    for mass in MASSES.into_iter().chain([1.0, 1e-12]) {
        let mut driver = EventDriven::new(ContactModel::new(Pulled { mass })).unwrap();
        let start = Start::at(0.0).q(&[0.0, 0.0]).v(&[0.0, 0.0]);
        let run = driver.integrate(&start, 2.0).unwrap();
        assert!(run.is_guaranteed(), "{mass:e} {:?}", run.doubts());
        let off = (run.state()[0] - exact).abs();
        assert!(off < 1e-9, "{mass:e} {off:e}");
    }
}

/// A block that falls on a corner, rocks, and slides or comes to rest.
fn rocks(seed: u64, mass: f64) -> Run {
    let mut random = SplitMix64(seed);
    let mut within = |low: f64, high: f64| random.between(low, high);
    let block = RockingBlock {
        width: within(0.6, 2.0),
        height: within(0.6, 2.0),
        friction: within(0.1, 1.0),
        mass,
        ..RockingBlock::default()
    };
    let theta = within(-0.3, 0.3);
    let (sine, cosine) = (f64::abs(theta.sin()), theta.cos());
    let lowest = 0.5 * (block.width * sine + block.height * cosine);
    let q = [0.0, lowest + 0.06, theta];
    let v = [within(-2.0, 2.0), 0.0, 0.0];
    let driver = EventDriven::new(ContactModel::new(block)).unwrap();
    let start = Start::at(0.0).q(&q).v(&v);
    driver.zeno(Zeno::Absorb).integrate(&start, 1.2).unwrap()
}

#[test]
fn blocks_move_alike_whatever_their_mass_is() {
    let seeds = if cfg!(debug_assertions) { 12 } else { 200 };
    let mut events = 0;
    for seed in 0..seeds {
        let like = rocks(seed, 1.0);
        if *like.status() != Status::ReachedEnd {
            continue;
        }
        events += like.events().len();
        for mass in MASSES {
            let run = rocks(seed, mass);
            assert_eq!(*run.status(), Status::ReachedEnd, "{seed} {mass:e}");
            // What differs is rounding, and where it decides how a step ends, an error of the tolerance.
            let off = (run.state() - like.state()).amax();
            assert!(off < 1e-4, "{seed} {mass:e} {off:e}");
        }
    }
    assert!(events > 3 * usize::try_from(seeds).unwrap(), "{events}");
}
