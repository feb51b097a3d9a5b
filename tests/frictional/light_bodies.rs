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

/// A box that lies on two corners, 2 m wide and 1 m high, and is pushed by `m p sin(ω t + φ)` through its centre:
/// `q = (x, z, θ)`. It slides as a point does.
struct PushedBox {
    mass: f64,
    friction: f64,
    push: f64,
    phase: f64,
}

impl MechanicalSystem for PushedBox {
    fn dof(&self) -> usize {
        3
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        let inertia = self.mass * 1.25 / 3.0;
        (mass[0], mass[4], mass[8]) = (self.mass, self.mass, inertia);
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let push = self.mass * self.push * (2.0 * t + self.phase).sin();
        effort.copy_from_slice(&[push, -9.81 * self.mass, 0.0]);
    }
}

impl UnilateralConstraints for PushedBox {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[1] + [-1.0, 1.0][j] * q[2].sin() - 0.5 * q[2].cos()
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let arm = -[-1.0, 1.0][j] * q[2].sin() + 0.5 * q[2].cos();
        rows.copy_from_slice(&[1.0, 0.0, arm]);
    }
}

/// Loads of contacts that depend on each other are held against their cones as a part of them: what a box weighs does
/// not matter.
#[test]
fn boxes_of_any_mass_slip_and_stick_at_the_same_times() {
    for seed in 0..if cfg!(debug_assertions) { 6 } else { 60 } {
        let mut draw = SplitMix64(seed);
        let friction = draw.between(0.1, 0.4);
        let (push, phase) = (
            9.81 * friction * draw.between(1.1, 1.8),
            draw.between(0.0, 6.0),
        );
        let speed = draw.between(-0.4, 0.4);
        let run = |mass: f64| {
            let system = PushedBox {
                mass,
                friction,
                push,
                phase,
            };
            let mut driver = EventDriven::new(ContactModel::new(system)).unwrap();
            let (q, v) = ([0.0, 0.5, 0.0], [speed, 0.0, 0.0]);
            driver
                .integrate(&Start::at(0.0).q(&q).v(&v), 3.0)
                .unwrap()
                .completed()
                .unwrap()
        };
        let one = run(1.0);
        for mass in [1e-9, 1e-4, 1e4, 1e7, 1e9] {
            let other = run(mass);
            let off = other.state()[0] - one.state()[0];
            assert!(off.abs() < 1e-5, "{seed} {mass:e}: {off}");
            assert_eq!(other.events().len(), one.events().len(), "{seed} {mass:e}");
        }
    }
}
