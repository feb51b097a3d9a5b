//! What is not written is differenced over lengths that suit the body: runs and derivatives of bodies of which only the
//! gaps are written are those of any other size, from a metre to a thousandth of a millimetre.

use saltation::mechanics::{Friction, MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, Derivative, EventDriven, EventFunction, Flow, Run, Start, Verdict};

use crate::random_bits::SplitMix64;

const GRAVITY: f64 = 9.81;
const MASS: f64 = 1e-3;

/// A bead on a rough wire.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wire {
    Bowl,
    Waves,
}

struct Bead {
    wire: Wire,
    length: f64,
    friction: f64,
    are_rows_written: bool,
}

impl Bead {
    /// Derivative of the gap of the waves along the wire.
    fn slope(&self, x: f64) -> f64 {
        0.6 * (2.0 * x / self.length).cos()
    }
}

impl MechanicalSystem for Bead {
    fn dof(&self) -> usize {
        2
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[MASS, 0.0, 0.0, MASS]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -MASS * GRAVITY]);
    }
}

impl UnilateralConstraints for Bead {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        match self.wire {
            Wire::Bowl => self.length - q[0].hypot(q[1]),
            Wire::Waves => q[1] - 0.3 * self.length * (2.0 * q[0] / self.length).sin(),
        }
    }
    fn gap_row(&self, _j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let size = q[0].hypot(q[1]);
        row.copy_from_slice(&match self.wire {
            Wire::Bowl => [-q[0] / size, -q[1] / size],
            Wire::Waves => [-self.slope(q[0]), 1.0],
        });
        self.are_rows_written
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        usize::from(self.friction > 0.0)
    }
    fn tangent_rows(&self, _j: usize, q: &[f64], rows: &mut [f64]) {
        let (size, slope) = (q[0].hypot(q[1]), self.slope(q[0]));
        rows.copy_from_slice(&match self.wire {
            Wire::Bowl => [-q[1] / size, q[0] / size],
            Wire::Waves => [1.0 / slope.hypot(1.0), slope / slope.hypot(1.0)],
        });
    }
}

/// A driver for bodies of this length that move in gravity, and the sizes of coordinates and velocities.
fn driver<S>(system: S, places: &[f64], length: f64) -> (EventDriven<S>, Vec<f64>)
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let t = (length / GRAVITY).sqrt();
    let velocities = places.iter().map(|place| place / t);
    let sizes: Vec<f64> = places.iter().copied().chain(velocities).collect();
    let model = ContactModel::new(system).gap_tolerance(1e-10 * length);
    let driver = EventDriven::new(model.rate_tolerance(1e-8 * length / t)).unwrap();
    let atol: Vec<f64> = sizes.iter().map(|size| 1e-12 * size).collect();
    (driver.rtol(1e-10).atol(atol), sizes)
}

/// The end of a run and the derivative of it along a direction, both in these sizes.
fn in_sizes<S: Flow + EventFunction>(
    run: &Run,
    derivative: &Derivative<S>,
    along: &[f64],
    sizes: &[f64],
) -> Vec<f64> {
    let along: Vec<f64> = along.iter().zip(sizes).map(|(a, size)| a * size).collect();
    let ends = run.state().iter().zip(sizes).map(|(x, size)| x / size);
    let moved = derivative.apply(&along).unwrap();
    let moved = moved.iter().zip(sizes).map(|(x, size)| x / size);
    ends.chain(moved).collect()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    let off = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    off.fold(0.0, f64::max)
}

fn bead(wire: Wire, friction: f64, are_rows_written: bool, length: f64) -> Vec<f64> {
    let bead = Bead {
        wire,
        length,
        friction,
        are_rows_written,
    };
    let (at, speed) = (0.4f64, 0.3);
    let [x, z, vx, vz] = match wire {
        Wire::Bowl => [at.cos(), -at.sin(), -speed * at.sin(), -speed * at.cos()],
        Wire::Waves => {
            let phase = 2.0 * at;
            [at, 0.3 * phase.sin(), speed, speed * 0.6 * phase.cos()]
        }
    };
    let (mut driver, sizes) = driver(bead, &[length; 2], length);
    let q = [x * length, z * length];
    let v = [vx * sizes[2], vz * sizes[2]];
    let (start, end) = (Start::at(0.0).q(&q).v(&v), 3.0 * length / sizes[2]);
    let run = driver.integrate(&start, end).unwrap().completed().unwrap();
    let derivative = driver.derivative(&start, end).unwrap();
    assert_eq!(*derivative.verdict(), Verdict::Classical);
    in_sizes(&run, &derivative, &[0.0, 0.0, vx, vz], &sizes)
}

#[test]
fn beads_on_wires_of_all_sizes_move_alike() {
    let cases = [(Wire::Bowl, 0.0), (Wire::Bowl, 0.2), (Wire::Waves, 0.0)];
    for (wire, friction) in cases {
        let written = bead(wire, friction, true, 1.0);
        let every = if cfg!(debug_assertions) { 3 } else { 1 };
        for length in [1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
            .into_iter()
            .step_by(every)
        {
            let off = largest_difference(&bead(wire, friction, true, length), &written);
            assert!(off < 1e-6, "{wire:?} {friction} {length:e}: {off:e}");
        }
        for length in [1.0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
            .into_iter()
            .step_by(every)
        {
            let off = largest_difference(&bead(wire, friction, false, length), &written);
            assert!(off < 3e-5, "{wire:?} {friction} {length:e}: {off:e}");
        }
    }
}

/// A plank with one or two feet, `q = (x, z, θ)`.
struct Plank {
    length: f64,
    feet: Vec<[f64; 2]>,
    inertia: f64,
    slope: f64,
    friction: f64,
    has_law: bool,
    restitution: f64,
}

impl Plank {
    fn arm(&self, j: usize, q: &[f64]) -> [f64; 2] {
        let (s, c) = q[2].sin_cos();
        let [x, z] = self.feet[j].map(|part| part * self.length);
        [c * x - s * z, s * x + c * z]
    }
}

impl MechanicalSystem for Plank {
    fn dof(&self) -> usize {
        3
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        let inertia = MASS * self.inertia * self.length * self.length;
        (mass[0], mass[4], mass[8]) = (MASS, MASS, inertia);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let weight = MASS * GRAVITY;
        effort.copy_from_slice(&[weight * self.slope.sin(), -weight * self.slope.cos(), 0.0]);
    }
}

impl UnilateralConstraints for Plank {
    fn contacts(&self) -> usize {
        self.feet.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[1] + self.arm(j, q)[1]
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 1.0, self.arm(j, q)[0]]);
        true
    }
    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        Some(-self.arm(j, q)[1] * v[2] * v[2])
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn friction_at(&self, _j: usize, q: &[f64], speed: f64) -> Option<Friction> {
        let speed = speed / (self.length * GRAVITY).sqrt();
        let here = self.friction * (1.0 + 0.1 * (2.0 * q[0] / self.length).sin());
        self.has_law.then(|| Friction {
            stick: 1.2 * here,
            slip: here * (1.0 + 0.15 * (-(speed / 0.3).powi(2)).exp()),
        })
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, -self.arm(j, q)[1]]);
    }
}

/// The end of a plank that falls on a slope and its derivative along a direction, where that is one matrix.
fn plank(seed: u64, length: f64) -> Option<Vec<f64>> {
    let mut draw = SplitMix64(seed);
    let [x, z] = [draw.between(0.2, 1.0), draw.between(0.1, 1.0)];
    let feet = match seed % 3 {
        0 => vec![[x, -z]],
        1 => vec![[x, -z], [-x, -z]],
        _ => vec![[x, 0.0], [-x, 0.0]],
    };
    let plank = Plank {
        length,
        feet,
        inertia: (x * x + z * z) / 3.0,
        slope: draw.between(-0.4, 0.4),
        friction: draw.between(0.1, 0.8),
        has_law: draw.between(0.0, 1.0) < 0.4,
        restitution: (draw.between(-0.8, 0.8)).max(0.0),
    };
    let angle = draw.between(-0.7, 0.7);
    let arms = (0..plank.feet.len()).map(|j| plank.arm(j, &[0.0, 0.0, angle])[1]);
    let height = draw.between(0.02, 0.4) * length - arms.fold(f64::INFINITY, f64::min);
    let (mut driver, sizes) = driver(plank, &[length, length, 1.0], length);
    let q = [draw.between(-1.0, 1.0) * length, height, angle];
    let v: Vec<f64> = [1.0, 0.3, 0.8]
        .iter()
        .zip(&sizes[3..])
        .map(|(most, size)| draw.between(-most, *most) * size)
        .collect();
    let end = draw.between(0.5, 3.0) / sizes[5];
    let along: Vec<f64> = (0..6).map(|_| draw.between(-1.0, 1.0)).collect();
    let start = Start::at(0.0).q(&q).v(&v);
    let run = driver.integrate(&start, end).unwrap().completed().ok()?;
    let derivative = driver.derivative(&start, end).unwrap();
    (*derivative.verdict() == Verdict::Classical)
        .then(|| in_sizes(&run, &derivative, &along, &sizes))
}

#[test]
fn planks_of_all_sizes_have_one_derivative() {
    let cases = if cfg!(debug_assertions) { 7 } else { 300 };
    let (mut compared, mut refused) = (0, 0);
    for seed in 0..cases {
        let Some(large) = plank(seed, 1.0) else {
            continue;
        };
        let size = large.iter().fold(1.0f64, |most, x| most.max(x.abs()));
        for length in [30.0, 1e-2, 1e-3, 1e-4] {
            let Some(small) = plank(seed, length) else {
                refused += 1;
                continue;
            };
            compared += 1;
            let off = largest_difference(&small, &large);
            assert!(off < 3e-5 * size, "{seed} {length:e}: {off:e} of {size}");
        }
    }
    assert!(10 * refused <= compared, "{refused} of {compared}");
}
