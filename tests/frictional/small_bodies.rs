//! Units of length and time do not matter to bodies that slip, stick and turn, from 10 m to a hundredth of a
//! millimetre; and bodies that begin to slip at one instant move as if alone.

use std::ops::Range;

use saltation::bodies::{Body, Scene, Shape};
use saltation::event_driven::Zeno;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run, Start};

use crate::random_bits::SplitMix64;

const GRAVITY: f64 = 9.81;

/// How many cases: fewer without optimisation.
fn cases(many: u64) -> u64 {
    if cfg!(debug_assertions) {
        many / 40
    } else {
        many
    }
}

/// A rod that stands on one rough foot, on a slope: `q = (x, z, θ)` of its centre, a length above the foot.
struct Rod {
    length: f64,
    friction: f64,
    /// Radius of gyration squared, by the length squared.
    gyration: f64,
    slope: f64,
}

const MASS: f64 = 1e-3;

impl MechanicalSystem for Rod {
    fn dof(&self) -> usize {
        3
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        let inertia = MASS * self.length * self.length * self.gyration;
        (mass[0], mass[4], mass[8]) = (MASS, MASS, inertia);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let weight = MASS * GRAVITY;
        effort.copy_from_slice(&[weight * self.slope.sin(), -weight * self.slope.cos(), 0.0]);
    }
}

impl UnilateralConstraints for Rod {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1] - self.length * q[2].cos()
    }
    fn gap_row(&self, _j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 1.0, self.length * q[2].sin()]);
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, -self.length * q[2].cos()]);
    }
}

/// A rod of this length, from a start that is the same by its length and the time `√(l/g)`.
fn rod(seed: u64, length: f64) -> Run {
    let mut draw = SplitMix64(seed);
    let t = (length / GRAVITY).sqrt();
    let [angle, slip, turn] = [1.2, 0.5, 0.5].map(|most| draw.between(-most, most));
    let system = Rod {
        length,
        friction: draw.between(0.1, 0.9),
        gyration: draw.between(0.1, 1.0),
        slope: draw.between(-0.4, 0.4),
    };
    let (speed, least) = (length / t, 1e-11);
    let q = [length * angle.sin(), length * angle.cos(), angle];
    let v = [
        speed * (slip + turn * angle.cos()),
        -speed * turn * angle.sin(),
        turn / t,
    ];
    let model = ContactModel::new(system).gap_tolerance(1e-10 * length);
    let driver = EventDriven::new(model.rate_tolerance(1e-8 * speed)).unwrap();
    let of_place = [length, length, 1.0].map(|of| least * of);
    let atol = of_place.into_iter().chain(of_place.map(|of| of / t));
    let mut driver = driver.rtol(1e-9).atol(atol.collect::<Vec<f64>>());
    let start = Start::at(0.0).q(&q).v(&v);
    driver.integrate(&start, 3.0 * t).unwrap()
}

#[test]
fn rods_of_all_sizes_slip_and_stick_alike() {
    let (mut refused, mut slipped) = (0, 0);
    for seed in 0..cases(2000) {
        let large = rod(seed, 1.0);
        for length in [10.0, 1e-2, 1e-3, 1e-5] {
            let small = rod(seed, length);
            let (a, b) = (large.status().stop(), small.status().stop());
            if a.is_some() || b.is_some() {
                refused += usize::from(a.is_some() != b.is_some());
                continue;
            }
            let (x, y) = (large.state(), small.state());
            let (x, angle) = (x[0] - y[0] / length, x[2] - y[2]);
            assert!(
                x.abs().max(angle.abs()) < 1e-5,
                "{seed} {length}: {x} {angle}"
            );
            let slips = small.events().iter().filter(|e| !e.slipped.is_empty());
            slipped += slips.count();
        }
    }
    assert!(slipped > 0);
    assert!(
        1000 * refused <= usize::try_from(4 * cases(2000)).unwrap(),
        "{refused}"
    );
}

/// A capsule that falls on a rough floor, lands on one end and tips onto the other.
fn capsule(seed: u64, length: f64) -> (Run, f64) {
    let mut draw = SplitMix64(seed);
    let t = (length / GRAVITY).sqrt();
    let (half, radius) = (draw.between(0.3, 0.6), draw.between(0.1, 0.3));
    let mut three = |most: f64| [(); 3].map(|()| draw.between(-most, most));
    let [turn, velocity, spin] = [three(1.0), three(1.0), three(1.0)];
    let mut scene = Scene::new();
    scene
        .add(Body::fixed(Shape::plane()).friction(0.5))
        .unwrap();
    let body = Body::new(Shape::capsule(half * length, radius * length).unwrap()).friction(0.5);
    let body = body
        .position([0.0, 0.0, length * (half + radius + 0.1)])
        .orientation([0.6, turn[0], turn[1], turn[2]])
        .velocity(velocity.map(|v| v * length / t))
        .angular_velocity(spin.map(|w| w / t));
    scene.add(body).unwrap();
    let (q, v) = scene.start();
    let model = ContactModel::new(scene.fixed_contacts().unwrap());
    let model = model.gap_tolerance(1e-10 * length);
    let driver = EventDriven::new(model.rate_tolerance(1e-8 * length / t)).unwrap();
    let sizes = [(length, 3), (1.0, 4), (1.0 / t, 3), (length / t, 3)];
    let sizes = sizes
        .into_iter()
        .flat_map(|(size, count)| vec![1e-11 * size; count]);
    let atol: Vec<f64> = sizes.collect();
    let mut driver = driver.rtol(1e-9).atol(atol).zeno(Zeno::Absorb);
    let start = Start::at(0.0).q(&q).v(&v);
    (driver.integrate(&start, 2.5 * t).unwrap(), t)
}

#[test]
fn capsules_of_all_sizes_tip_alike() {
    for seed in 0..cases(200) {
        let (large, unit) = capsule(seed, 1.0);
        for length in [1e-2, 1e-3, 1e-4] {
            let (small, t) = capsule(seed, length);
            let stops = [&large, &small].map(|run| run.status().stop().is_some());
            assert_eq!(stops, [false; 2], "{seed} {length}: {}", small.status());
            let (a, b) = (large.state(), small.state());
            let off = |i: usize| match i {
                0..3 => a[i] - b[i] / length,
                3..7 => a[i] - b[i],
                7..10 => a[i] * unit - b[i] * t,
                _ => a[i] * unit - b[i] * t / length,
            };
            let most = (0..13)
                .map(off)
                .fold(0.0f64, |most, off| most.max(off.abs()));
            assert!(most < 1e-4, "{seed} {length}: {most}");
        }
    }
}

/// Point masses on one shaken, tilted table: `(x, z)` of each, and the place of the table.
struct Pucks {
    masses: Vec<f64>,
    friction: f64,
    tilt: f64,
    shakes: [f64; 2],
}

impl MechanicalSystem for Pucks {
    fn dof(&self) -> usize {
        2 * self.masses.len() + 1
    }
    fn driven(&self) -> Range<usize> {
        2 * self.masses.len()..self.dof()
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let d = self.dof();
        mass.fill(0.0);
        for i in 0..d {
            mass[i * (d + 1)] = self.masses.get(i / 2).copied().unwrap_or(1.0);
        }
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let [size, rate] = self.shakes;
        let last = effort.len() - 1;
        effort[last] = size * (rate * t).cos();
        for (effort, mass) in effort.chunks_exact_mut(2).zip(&self.masses) {
            let weight = GRAVITY * mass;
            effort.copy_from_slice(&[weight * self.tilt.sin(), -weight * self.tilt.cos()]);
        }
    }
    fn time_scale(&self) -> Option<f64> {
        Some(0.3 / self.shakes[1])
    }
}

impl UnilateralConstraints for Pucks {
    fn contacts(&self) -> usize {
        self.masses.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[2 * j + 1]
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        rows[2 * j] = 1.0;
        rows[2 * self.masses.len()] = -1.0;
    }
}

#[test]
fn pucks_on_one_shaken_table_move_as_if_alone() {
    for seed in 0..cases(800) {
        let mut draw = SplitMix64(seed);
        let count = [2, 3, 4, 8][usize::try_from(seed % 4).unwrap()];
        let (tilt, friction) = (draw.between(0.0, 0.2), draw.between(0.25, 0.6));
        let shakes = [GRAVITY * draw.between(0.5, 1.5), draw.between(2.0, 8.0)];
        let masses: Vec<f64> = (0..count).map(|_| draw.between(0.1, 10.0)).collect();
        let run = |masses: Vec<f64>| {
            let zeros = vec![0.0; 2 * masses.len() + 1];
            let system = Pucks {
                masses,
                friction,
                tilt,
                shakes,
            };
            let driver = EventDriven::new(ContactModel::new(system)).unwrap();
            let mut driver = driver.rtol(1e-9).atol(1e-11);
            let run = driver.integrate(&Start::at(0.0).q(&zeros).v(&zeros), 3.0);
            run.unwrap().completed().unwrap()
        };
        let (alone, all) = (run(vec![1.0]), run(masses));
        for j in 0..count {
            let off = all.state()[2 * j] - alone.state()[0];
            assert!(off.abs() < 1e-6, "{seed} {j}: {off}");
        }
    }
}

/// A puck on a rough plane in a world that is `unit` times as large as one of metres: all of its lengths, gravity too.
/// It is pulled by a force that grows, and turns as the puck begins to slip.
struct Puck {
    unit: f64,
}

impl MechanicalSystem for Puck {
    fn dof(&self) -> usize {
        3
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        (mass[0], mass[4], mass[8]) = (1.0, 1.0, 1.0);
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let ((sin, cos), pull) = ((5.0 * t).sin_cos(), GRAVITY * (0.3 + 0.2 * t));
        effort.copy_from_slice(&[pull * cos, pull * sin, -GRAVITY].map(|f| self.unit * f));
    }
}

impl UnilateralConstraints for Puck {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[2]
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 0.0, 1.0]);
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        0.4
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }
}

/// With tolerances that are as large as the world slips begin alike: they turn from the same part of a speed on.
#[test]
fn slips_begin_alike_in_worlds_of_all_sizes() {
    let run = |unit: f64| {
        let model = ContactModel::new(Puck { unit });
        let model = model
            .gap_tolerance(1e-10 * unit)
            .rate_tolerance(1e-8 * unit);
        let driver = EventDriven::new(model).unwrap();
        let start = Start::at(0.0).q(&[0.0; 3]).v(&[0.0; 3]);
        let mut driver = driver.rtol(1e-9).atol(1e-11 * unit);
        let run = driver.integrate(&start, 0.7).unwrap();
        assert_eq!(run.events().len(), 1, "{unit:e}: {}", run.status());
        run.state() / unit
    };
    let expected = run(1.0);
    for unit in [1e-2, 1e-3, 1e-5] {
        let off = (run(unit) - &expected).amax() / expected.amax();
        assert!(off < 1e-7, "{unit:e}: {off:e}");
    }
}
