//! Bodies on more feet than hold them, other units, curved floors, long landings.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::SlidingBlock;
use saltation::{ContactModel, Start, Variational};

use crate::parts_of_steps::Points;
use crate::reference::propagative;
use crate::trex::robot;

/// A beam on feet in a row, with friction; `q = (x, y, θ)`.
#[derive(Clone)]
struct Beam {
    feet: Vec<f64>,
    friction: f64,
    push: f64,
}

impl MechanicalSystem for Beam {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.7]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[self.push, -2.0 * 9.81, 0.0]);
    }
}

impl UnilateralConstraints for Beam {
    fn contacts(&self) -> usize {
        self.feet.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[1] + self.feet[j] * q[2].sin()
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, -self.feet[j] * q[2].sin()]);
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        0.3
    }
}

#[test]
fn feet_in_a_row_stand_and_slide() {
    for feet in [
        vec![-1.0, 0.0, 1.0],
        vec![-1.0, -0.3, 0.4, 0.9],
        vec![-1.0, 1.0, 1.0, 0.5, 0.0],
    ] {
        for (friction, push, v) in [
            (0.0, 0.0, 0.0),
            (0.3, 0.0, 1.0),
            (0.3, 5.0, 0.0),
            (0.3, 6.0, 0.0),
        ] {
            let beam = Beam {
                feet: feet.clone(),
                friction,
                push,
            };
            let starts = [[0.0, 0.0, 0.0], [0.0, 0.05, 0.02], [0.0, 0.05, 0.0]];
            for q in &starts[..if cfg!(debug_assertions) { 2 } else { 3 }] {
                let mut driver = Variational::new(ContactModel::new(beam.clone()))
                    .unwrap()
                    .time_step(0.01)
                    .frictionless_impacts();
                let run = driver
                    .integrate(&Start::at(0.0).q(q).v(&[v, 0.0, 0.0]), 1.0)
                    .unwrap();
                let run = run.completed().unwrap();
                let v = run.state()[4].abs().max(run.state()[5].abs());
                assert!(v < 1e-9, "{feet:?} {friction} {push} {q:?} {v:e}");
                if q[1] == 0.0 && friction > 0.0 && push > 0.0 {
                    let expected = f64::max(0.0, (push - 0.3 * 2.0 * 9.81) / 2.0);
                    assert!(
                        (run.state()[3] - expected).abs() < 1e-9,
                        "{} {expected}",
                        run.state()[3]
                    );
                }
                let last = run.times().len() - 1;
                for j in 0..feet.len() {
                    assert!(beam.gap(j, run.q(last)).abs() < 1e-9);
                }
            }
        }
    }
}

#[test]
fn a_plastic_impact_at_great_speed_is_plastic() {
    for speed in [1e3, 1e6, 1e9] {
        let beam = Beam {
            feet: vec![-1.0, 0.7],
            friction: 0.0,
            push: 0.0,
        };
        let _ = &beam;
        let points = Plastic(beam);
        let mut driver = Variational::new(ContactModel::new(points))
            .unwrap()
            .time_step(0.01);
        let run = driver
            .integrate(
                &Start::at(0.0)
                    .q(&[0.0; 3])
                    .v(&[0.3 * speed, -speed, 0.4 * speed]),
                0.1,
            )
            .unwrap();
        let run = run.completed();
        assert!(run.is_ok(), "{speed} {run:?}");
    }
}

struct Plastic(Beam);

impl MechanicalSystem for Plastic {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[2.0, 0.1, 0.33, 0.1, 1.7, 0.21, 0.33, 0.21, 0.7]);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.0.effort(t, q, v, effort);
    }
}

impl UnilateralConstraints for Plastic {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[1] + self.0.feet[j] * q[2]
    }
}

/// A bead on the inside of a circle, held there by gravity or by its speed.
struct Bowl;

impl MechanicalSystem for Bowl {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -9.81]);
    }
}

impl UnilateralConstraints for Bowl {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        1.0 - q[0].hypot(q[1])
    }
}

#[test]
fn a_bead_in_a_bowl_keeps_its_energy() {
    for speed in [1.0, 8.0] {
        let energy = |q: &[f64], v: &[f64]| 0.5 * (v[0] * v[0] + v[1] * v[1]) + 9.81 * q[1];
        let mut worst = Vec::new();
        for h in [0.01, 0.005] {
            let mut driver = Variational::new(ContactModel::new(Bowl))
                .unwrap()
                .time_step(h);
            let run = driver
                .integrate(&Start::at(0.0).q(&[0.0, -1.0]).v(&[speed, 0.0]), 20.0)
                .unwrap();
            let run = run.completed().unwrap();
            assert!(run.events().is_empty(), "{:?}", run.events()[0]);
            let start = energy(run.q(0), run.v(0));
            let off = (0..run.times().len()).fold(0.0f64, |most, k| {
                most.max((energy(run.q(k), run.v(k)) - start).abs())
            });
            worst.push(off);
        }
        let order = (worst[0] / worst[1]).log2();
        assert!(order > 1.8 && worst[1] < 1e-2);
    }
}

#[test]
fn friction_gives_no_energy_to_a_beam_that_falls() {
    for case in (0..12).step_by(if cfg!(debug_assertions) { 2 } else { 1 }) {
        let angle = 0.3 * (1.0 + f64::from(case)).sin();
        let beam = Beam {
            feet: vec![-1.0, 0.2, 0.8],
            friction: 0.1 * f64::from(case % 5),
            push: 0.0,
        };
        let energy = |q: &[f64], v: &[f64]| {
            v[0] * v[0] + v[1] * v[1] + 0.35 * v[2] * v[2] + 2.0 * 9.81 * q[1]
        };
        let mut driver = Variational::new(ContactModel::new(beam.clone()))
            .unwrap()
            .time_step(0.005)
            .frictionless_impacts();
        let spin = (3.0 * f64::from(case)).cos();
        let run = driver
            .integrate(
                &Start::at(0.0).q(&[0.0, 0.4, angle]).v(&[1.0, 0.0, spin]),
                3.0,
            )
            .unwrap();
        let run = run.completed().unwrap();
        let mut last = f64::INFINITY;
        for k in 0..run.times().len() {
            let now = energy(run.q(k), run.v(k));
            assert!(now < last + 1e-3, "{case} {k} {last} {now}");
            last = now;
            for j in 0..3 {
                assert!(
                    beam.gap(j, run.q(k)) > -1e-9,
                    "{case} {k} {j} {:e}",
                    beam.gap(j, run.q(k))
                );
            }
        }
        assert!(run.state()[4].abs() < 1e-8 && run.state()[5].abs() < 1e-8);
    }
}

#[test]
fn the_units_do_not_matter() {
    for scale in [1e-15, 1e-9, 1e9, 1e15] {
        let block = SlidingBlock {
            mass: scale,
            ..SlidingBlock::default()
        };
        let mut driver = Variational::new(ContactModel::new(block))
            .unwrap()
            .time_step(0.01)
            .frictionless_impacts();
        let run = driver
            .integrate(&Start::at(0.0).q(&[0.0; 2]).v(&[2.0, 0.0]), 1.0)
            .unwrap()
            .completed()
            .unwrap();
        assert!(
            (run.state()[0] - 0.679578661).abs() < 3e-7,
            "{:e}",
            run.state()[0] - 0.679578661
        );
    }
    for length in [1e-6, 1e6f64] {
        let mut points = Points::new(&[0.0, 0.3 * length]);
        points.masses = vec![length.powi(3); 2];
        let time = f64::sqrt(length);
        let model = ContactModel::new(points)
            .gap_tolerance(1e-10 * length)
            .rate_tolerance(1e-8 * time);
        let mut driver = Variational::new(model).unwrap().time_step(0.01 * time);
        let run = driver
            .integrate(
                &Start::at(0.0).q(&[length, length]).v(&[0.0; 2]),
                2.0 * time,
            )
            .unwrap()
            .completed()
            .unwrap();
        assert!(
            (run.state()[0] / length).abs() < 1e-9 && (run.state()[1] / length - 0.3).abs() < 1e-9,
            "{:?}",
            run.state()
        );
    }
}

/// A block of 1 mm that rocks to rest on two corners. Its base is level to the tolerance of gaps, so that
/// the corners never quite stand still together.
struct Block;

impl Block {
    const SIZE: [f64; 2] = [0.7986481568600061e-3, 0.9207185812555627e-3];

    /// From the middle to a corner.
    fn arm(j: usize, q: &[f64]) -> [f64; 2] {
        let [half, height] = Self::SIZE;
        let (sin, cos) = q[2].sin_cos();
        let x = if j == 0 { -half } else { half };
        [cos * x + sin * height, sin * x - cos * height]
    }
}

impl MechanicalSystem for Block {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let inertia = Self::SIZE.iter().map(|s| s * s).sum::<f64>() / 3.0;
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, inertia]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -9.81, 0.0]);
    }
}

impl UnilateralConstraints for Block {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[1] + Self::arm(j, q)[1]
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 1.0, Self::arm(j, q)[0]]);
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        1.0
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, -Self::arm(j, q)[1]]);
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        0.0
    }
}

#[test]
fn a_small_block_rocks_to_rest_with_the_default_tolerances() {
    let theta = 0.24776362415243341;
    let low = Block::arm(0, &[0.0, 0.0, theta])[1].min(Block::arm(1, &[0.0, 0.0, theta])[1]);
    // 4000 steps would be twelve times the time of its fall.
    let end = 12.0 * f64::sqrt(1e-3 / 9.81);
    let mut driver = Variational::new(ContactModel::new(Block))
        .unwrap()
        .time_step(end / 4000.0);
    let start = [0.0, -low, theta];
    let run = driver
        .integrate(&Start::at(0.0).q(&start).v(&[0.0; 3]), 0.25 * end)
        .unwrap()
        .completed()
        .unwrap();
    // At rest: slower than a millionth of the speed of its fall, and level to the tolerance of gaps.
    let speeds = &run.state().as_slice()[3..];
    let fastest = speeds[0]
        .abs()
        .max(speeds[1].abs())
        .max(speeds[2].abs() * 1e-3);
    assert!(fastest < 1e-6 * f64::sqrt(9.81e-3), "{speeds:?}");
    assert!(run.state()[2].abs() < 1e-6, "{:?}", run.state());
}

/// A table on four feet; `q = (x, y, z, roll, pitch, yaw)`, for small angles.
struct Table {
    friction: f64,
}

const FEET: [[f64; 2]; 4] = [[1.0, 0.6], [1.0, -0.6], [-1.0, 0.6], [-1.0, -0.6]];

impl MechanicalSystem for Table {
    fn dof(&self) -> usize {
        6
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for (i, m) in [3.0, 3.0, 3.0, 0.4, 0.9, 1.2].iter().enumerate() {
            mass[7 * i] = *m;
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, 0.0, -3.0 * 9.81, 0.0, 0.0, 0.0]);
    }
    fn potential(&self, q: &[f64]) -> Option<f64> {
        Some(3.0 * 9.81 * q[2])
    }
}

impl UnilateralConstraints for Table {
    fn contacts(&self) -> usize {
        4
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[2] - 0.5 + q[3] * FEET[j][1] - q[4] * FEET[j][0]
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        let [x, y] = FEET[j];
        (rows[0], rows[4], rows[5]) = (1.0, -0.5, -y);
        (rows[7], rows[9], rows[11]) = (1.0, 0.5, x);
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        0.2
    }
}

#[test]
fn a_table_slides_turns_and_stops() {
    for (case, v) in [
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [0.7, -0.4, 0.0, 0.0, 0.0, 3.0],
        [0.0; 6],
    ]
    .iter()
    .enumerate()
    {
        let starts = [
            [0.0, 0.0, 0.6, 0.05, 0.03, 0.0],
            [0.0, 0.0, 0.5, 0.0, 0.0, 0.0],
        ];
        for q in &starts[..if cfg!(debug_assertions) { 1 } else { 2 }] {
            let mut driver = Variational::new(ContactModel::new(Table { friction: 0.3 }))
                .unwrap()
                .time_step(0.01)
                .frictionless_impacts();
            let run = driver.integrate(&Start::at(0.0).q(q).v(v), 1.5).unwrap();
            if let Some(failure) = run.status().stop() {
                panic!("{case} {q:?} {failure}");
            }
            let energies = run
                .nodes()
                .map(|(_, x)| driver.model().energy(x.as_slice()));
            let energies: Vec<f64> = energies.map(Option::unwrap).collect();
            for (k, pair) in energies.windows(2).enumerate() {
                assert!(pair[1] < pair[0] + 1e-6, "{case} {k} {pair:?}");
            }
            let fastest = run.state().rows(6, 6).amax();
            assert!(fastest < 1e-9, "{case} {q:?} {fastest:e}");
        }
    }
}

#[test]
fn a_robot_lands_and_stands() {
    for restitution in [0.0, 0.5, 1.0] {
        let (mut q, mut trex) = robot(&propagative("trex_table1_projected"));
        trex.restitution = restitution;
        q[1] += 2.0;
        let model = ContactModel::new(trex)
            .gap_tolerance(1e-8)
            .rate_tolerance(1e-5);
        let mut driver = Variational::new(model).unwrap().time_step(5e-4);
        let run = driver
            .integrate(&Start::at(0.0).q(&q).v(&[0.0; 8]), 0.12)
            .unwrap();
        if let Some(failure) = run.status().stop() {
            panic!("{restitution} {failure}");
        }
        for k in 0..run.times().len() {
            for j in 0..3 {
                assert!(
                    trex.gap(j, run.q(k)) > -1e-7,
                    "{restitution} {k} {j} {:e}",
                    trex.gap(j, run.q(k))
                );
            }
        }
    }
}
