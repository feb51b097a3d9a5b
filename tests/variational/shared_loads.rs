//! Contacts that depend on each other and slide: loads of least norm, whichever way they are numbered, and a doubt
//! where the motion depends on them. Corners into which bodies slide.

use nalgebra::{DMatrix, DVector};
use saltation::impact::ImpactFailure;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::variational::VariationalFailure;
use saltation::{ContactModel, Doubt, Run, Start, Status, Variational};

use crate::random::SplitMix64;

const G: f64 = 9.81;

/// A table at `(x, y, z)` with yaw, roll and pitch, its centre of mass at the height of its feet.
struct Table {
    feet: Vec<[f64; 2]>,
}

impl Table {
    fn foot(&self, j: usize, yaw: f64) -> [f64; 2] {
        let ([a, b], (sin, cos)) = (self.feet[j], yaw.sin_cos());
        [a * cos - b * sin, a * sin + b * cos]
    }
}

impl MechanicalSystem for Table {
    fn dof(&self) -> usize {
        6
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        (0..6).for_each(|k| mass[7 * k] = if k < 3 { 2.0 } else { 0.08 });
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        effort[2] = -2.0 * G;
    }
}

impl UnilateralConstraints for Table {
    fn contacts(&self) -> usize {
        self.feet.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let [x, y] = self.foot(j, q[3]);
        q[2] + y * q[4] - x * q[5]
    }
    fn friction(&self, _j: usize) -> f64 {
        0.3
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let [x, y] = self.foot(j, q[3]);
        rows.fill(0.0);
        (rows[0], rows[3], rows[7], rows[9]) = (1.0, -y, 1.0, x);
    }
}

fn is_shared(run: &Run) -> bool {
    let doubts = run.doubts();
    doubts.len() == 1 && matches!(doubts[0], Doubt::SharedLoads { .. })
}

#[test]
fn a_table_turns_alike_however_its_legs_are_numbered() {
    let mut ends: Vec<DVector<f64>> = Vec::new();
    for first in (0..4u8).step_by(if cfg!(debug_assertions) { 3 } else { 1 }) {
        let feet = (0..4).map(|k| {
            let angle = 0.3 + std::f64::consts::FRAC_PI_2 * f64::from(k + first);
            [0.3 * angle.cos(), 0.3 * angle.sin()]
        });
        let table = Table {
            feet: feet.collect(),
        };
        let mut driver = Variational::new(ContactModel::new(table)).unwrap();
        let start = Start::at(0.0).q(&[0.0; 6]);
        let run = driver
            .integrate(&start.v(&[0.5, -0.2, 0.0, 5.0, 0.0, 0.0]), 0.25)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd);
        assert!(is_shared(&run), "{:?}", run.doubts());
        // Of equal loads, by short steps of a Runge-Kutta method.
        let [vx, yaw] = [run.state()[6], run.state()[9]];
        assert!((yaw - 0.623_696).abs() < 1e-5, "{first}: {yaw}");
        assert!((vx - 0.195_867).abs() < 1e-5, "{first}: {vx}");
        ends.push(run.state().clone());
    }
    for end in &ends[1..] {
        assert!((end - &ends[0]).amax() < 1e-9, "{ends:?}");
    }
}

/// A body in the plane whose feet stand on a line a height below its middle, and at a wall.
struct Body {
    /// Places along the body, and coefficients of friction.
    feet: Vec<[f64; 2]>,
    height: f64,
    /// The place of a wall for two corners at the front.
    wall: Option<f64>,
    friction: f64,
}

impl Body {
    /// A point of the body, and how it turns.
    fn at(&self, j: usize, q: &[f64]) -> ([f64; 2], [f64; 2]) {
        let half = self.feet.last().map_or(0.0, |foot| foot[0]);
        let of_wall = [[half, -self.height], [half, self.height]];
        let [a, b] = match j.checked_sub(self.feet.len()) {
            Some(k) => of_wall[k % 2],
            None => [self.feet[j][0], -self.height],
        };
        let (sin, cos) = q[2].sin_cos();
        let (x, z) = (a * cos - b * sin, a * sin + b * cos);
        ([q[0] + x, q[1] + z], [-z, x])
    }
}

impl MechanicalSystem for Body {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.1]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -G, 0.0]);
    }
}

impl UnilateralConstraints for Body {
    fn contacts(&self) -> usize {
        self.feet.len() + if self.wall.is_some() { 2 } else { 0 }
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let ([x, z], _) = self.at(j, q);
        match self.wall {
            Some(wall) if j >= self.feet.len() => wall - x,
            _ => z,
        }
    }
    fn friction(&self, j: usize) -> f64 {
        self.feet.get(j).map_or(self.friction, |foot| foot[1])
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let (_, turn) = self.at(j, q);
        rows.copy_from_slice(&if j < self.feet.len() {
            [1.0, 0.0, turn[0]]
        } else {
            [0.0, 1.0, turn[1]]
        });
    }
}

#[test]
fn a_body_on_three_feet_slides_by_the_loads_of_least_norm() {
    let (mut compared, bodies) = (0, if cfg!(debug_assertions) { 3 } else { 60 });
    for seed in 0..bodies {
        let mut draw = SplitMix64(seed);
        let height = draw.between(0.02, 0.15);
        let places = [-0.5, draw.between(-0.3, 0.3), 0.5];
        let feet = places.map(|place| [place, draw.between(0.05, 0.6)]);
        // N = Aᵀ (A Aᵀ)⁻¹ b for ΣN = mg and Σ N (a − μ height) = 0.
        let balance = DMatrix::from_fn(2, 3, |i, j| match i {
            0 => 1.0,
            _ => feet[j][0] - height * feet[j][1],
        });
        let gram = &balance * balance.transpose();
        let loads = gram.lu().solve(&DVector::from_vec(vec![G, 0.0])).unwrap();
        let loads = balance.transpose() * loads;
        if loads.min() <= 0.0 {
            continue;
        }
        let brakes: f64 = loads.iter().zip(&feet).map(|(n, foot)| n * foot[1]).sum();
        let mut in_reverse = feet.to_vec();
        in_reverse.reverse();
        for feet in [feet.to_vec(), in_reverse] {
            let body = Body {
                feet,
                height,
                wall: None,
                friction: 0.0,
            };
            let mut driver = Variational::new(ContactModel::new(body)).unwrap();
            let q = [0.0, height, 0.0];
            let run = driver.integrate(&Start::at(0.0).q(&q).v(&[3.0, 0.0, 0.0]), 0.3);
            let run = run.unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{seed}");
            assert!(is_shared(&run), "{seed}: {:?}", run.doubts());
            let off = run.state()[3] - (3.0 - 0.3 * brakes);
            assert!(off.abs() < 1e-8, "{seed}: {off:e}");
        }
        compared += 1;
    }
    assert!(3 * compared >= 2 * bodies, "{compared}");
}

#[test]
fn bodies_slide_into_corners() {
    // A particle slides down one wall of a groove into the other.
    // From the first ones it comes to rest at places of zero, to the last bit.
    let zero = [0.236, 0.241, 0.249];
    let others =
        (0..if cfg!(debug_assertions) { 1 } else { 40 }).map(|k| 0.05 + 5e-3 * f64::from(k));
    for down in zero.into_iter().chain(others) {
        for friction in [0.1, 0.3, 0.6] {
            let mut driver = Variational::new(ContactModel::new(Groove { friction })).unwrap();
            let q = [-down, down];
            let run = driver.integrate(&Start::at(0.0).q(&q).v(&[0.0; 2]), 1.0);
            let run = run.unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{down} {friction}");
            assert!(run.state().amax() < 1e-9, "{down} {friction}");
        }
    }
    // A box slides on a floor into a wall.
    let boxes = if cfg!(debug_assertions) { 3 } else { 200 };
    let (mut stopped, mut ambiguous) = (0, 0);
    for seed in 0..boxes {
        let mut draw = SplitMix64(seed);
        let (half, height) = (draw.between(0.1, 0.5), draw.between(0.1, 0.5));
        let friction = [0.1, 0.3, 0.6][seed as usize % 3];
        let body = Body {
            feet: vec![[-half, friction], [half, friction]],
            height,
            wall: Some(half + draw.between(0.05, 0.3)),
            friction,
        };
        let driver = Variational::new(ContactModel::new(body)).unwrap();
        let (q, v) = ([0.0, height, 0.0], [draw.between(1.0, 4.0), 0.0, 0.0]);
        let run = driver
            .time_step(draw.between(5e-4, 3e-3))
            .integrate(&Start::at(0.0).q(&q).v(&v), 1.0);
        let run = run.unwrap();
        // An impact of all corners may have two outcomes: that is the law's to say.
        if is_ambiguous(run.status()) {
            ambiguous += 1;
            continue;
        }
        assert_eq!(*run.status(), Status::ReachedEnd, "{seed}");
        stopped += usize::from(run.state().rows(3, 3).amax() < 1e-9);
    }
    assert!(stopped > boxes as usize / 2, "{stopped}");
    assert!(ambiguous <= 5, "{ambiguous}");
}

fn is_ambiguous(status: &Status) -> bool {
    matches!(
        status.reason::<VariationalFailure>(),
        Some(VariationalFailure::Impact { reason, .. }) if matches!(**reason, ImpactFailure::NotSingle { .. })
    )
}

/// A particle in a groove of 45° walls.
struct Groove {
    friction: f64,
}

impl MechanicalSystem for Groove {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -G]);
    }
}

impl UnilateralConstraints for Groove {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        std::f64::consts::FRAC_1_SQRT_2 * (q[1] + [q[0], -q[0]][j])
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        let root = std::f64::consts::FRAC_1_SQRT_2;
        rows.copy_from_slice(&[-root, [root, -root][j]]);
    }
}
