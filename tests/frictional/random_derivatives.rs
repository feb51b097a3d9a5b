//! Derivatives of random runs with friction, in the plane and in space, against differences of whole
//! runs from starts beside them, and the verdict against the two sides of these.

use std::ops::Range;

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::nalgebra::DVector;
use saltation::{ContactModel, EventDriven, Start, Status, Verdict};

use crate::legged::{GRAVITY, Legged};
use crate::random_bits::SplitMix64;

/// A body in the plane on feet over a floor, `(x, y, φ)`, pulled by a spring and by forces and a torque:
/// constant parts and oscillating ones.
#[derive(Clone, Debug)]
pub(crate) struct Planar {
    pub(crate) mass: [f64; 3],
    pub(crate) feet: Vec<[f64; 2]>,
    pub(crate) friction: Vec<f64>,
    pub(crate) restitution: f64,
    pub(crate) gravity: [f64; 2],
    pub(crate) pull: [[f64; 3]; 2],
    pub(crate) frequency: f64,
    pub(crate) spring: f64,
}

impl Planar {
    fn foot(&self, j: usize, phi: f64) -> [f64; 2] {
        let ([x, y], (sin, cos)) = (self.feet[j], phi.sin_cos());
        [x * cos - y * sin, x * sin + y * cos]
    }
}

impl MechanicalSystem for Planar {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        (0..3).for_each(|k| m[4 * k] = self.mass[k]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        let part = (self.frequency * t).sin();
        (0..3).for_each(|k| f[k] = self.pull[0][k] + part * self.pull[1][k]);
        f[0] += self.mass[0] * self.gravity[0] - self.spring * q[0] - 0.1 * v[0];
        f[1] += self.mass[1] * self.gravity[1];
    }
}

impl UnilateralConstraints for Planar {
    fn contacts(&self) -> usize {
        self.feet.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[1] + self.foot(j, q[2])[1]
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 1.0, self.foot(j, q[2])[0]]);
        true
    }
    fn friction(&self, j: usize) -> f64 {
        self.friction[j]
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, -self.foot(j, q[2])[1]]);
    }
}

/// Tolerance of runs.
pub(crate) const RTOL: f64 = 1e-11;
/// Displacements of starts. Runs err by about 4 RTOL of what displacements grow to, over such a step by
/// 4e-7 of it; the differences of third order that are left are as large.
const STEP: f64 = 1e-4;
/// The first of these errors, with a factor of five for runs of many events.
const NOISE: f64 = 2e-6;
/// Differences to one side have errors some ten times as large.
const ONE_SIDED: f64 = 10.0;

pub(crate) fn driver<S>(system: S) -> EventDriven<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let driver = EventDriven::new(ContactModel::new(system)).expect("a model");
    let driver = driver.rtol(RTOL).atol(1e-2 * RTOL).max_steps(100_000);
    driver.zeno_time(1e-3)
}

/// Where a run from `(q, v)` ends; none where it ends early.
fn end<S>(system: &S, x: &[f64], tf: f64) -> Option<DVector<f64>>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let (q, v) = x.split_at(system.dof());
    let run = driver(system).integrate(&Start::at(0.0).q(q).v(v), tf);
    let run = run.ok().filter(|run| *run.status() == Status::ReachedEnd)?;
    Some(run.state().clone())
}

/// Differences of whole runs along a direction.
pub(crate) struct Differences {
    /// Central, by Richardson's extrapolation, and how far off those are that it is made of.
    pub(crate) central: DVector<f64>,
    pub(crate) error: f64,
    /// Of second order, forward and backward.
    pub(crate) sides: [DVector<f64>; 2],
    /// What entries are held to.
    pub(crate) size: f64,
    /// Errors of runs over the step, as a part of that.
    noise: f64,
}

impl Differences {
    pub(crate) fn of<S>(system: &S, x: &[f64], along: &[f64], tf: f64) -> Option<Self>
    where
        S: MechanicalSystem + UnilateralConstraints,
    {
        Self::over(system, x, along, tf, STEP)
    }

    /// Over displacements of this length.
    fn over<S>(system: &S, x: &[f64], along: &[f64], tf: f64, step: f64) -> Option<Self>
    where
        S: MechanicalSystem + UnilateralConstraints,
    {
        let at = |part: f64| {
            let moved = x.iter().zip(along).map(|(x, dx)| x + part * step * dx);
            end(system, &moved.collect::<Vec<_>>(), tf)
        };
        let [here, half, whole] = [at(0.0)?, at(0.5)?, at(1.0)?];
        let [half_behind, behind] = [at(-0.5)?, at(-1.0)?];
        let coarse = (&whole - &behind) / (2.0 * step);
        let fine = (&half - &half_behind) / step;
        let side =
            |half: &DVector<f64>, whole: &DVector<f64>| (4.0 * half - 3.0 * &here - whole) / step;
        let central = (4.0 * &fine - &coarse) / 3.0;
        Some(Self {
            error: (coarse - fine).amax() / 3.0,
            size: central.amax().max(1.0),
            sides: [side(&half, &whole), -side(&half_behind, &behind)],
            central,
            noise: NOISE * STEP / step,
        })
    }

    /// By how much a derivative may differ from the central ones.
    pub(crate) fn tolerance(&self) -> f64 {
        3.0 * self.error + self.noise * self.size
    }

    pub(crate) fn have_one_side(&self) -> bool {
        let [ahead, behind] = &self.sides;
        (ahead - behind).amax() <= ONE_SIDED * self.tolerance()
    }
}

#[derive(Debug, Default)]
struct Counts {
    /// Runs that end early say nothing.
    early: usize,
    classical: usize,
    piecewise: usize,
    refused: Vec<(u64, String)>,
    /// Largest error of a classical derivative, in tolerances, and as a part of its entries.
    worst: [f64; 2],
    wrong: Vec<(u64, String)>,
}

impl Counts {
    fn take<S>(&mut self, seed: u64, system: &S, x: &[f64], tf: f64, directions: &[usize])
    where
        S: MechanicalSystem + UnilateralConstraints,
    {
        let (q, v) = x.split_at(system.dof());
        if end(system, x, tf).is_none() {
            self.early += 1;
            return;
        }
        let mut driver = driver(system);
        let found = driver.derivative(&Start::at(0.0).q(q).v(v), tf);
        let found = found.expect("a start");
        match found.verdict() {
            Verdict::Classical => self.classical += 1,
            Verdict::Bouligand => self.piecewise += 1,
            verdict => return self.refused.push((seed, verdict.to_string())),
        }
        for &axis in directions {
            let along: Vec<f64> = (0..x.len())
                .map(|i| f64::from(u8::from(i == axis)))
                .collect();
            let Some(mut differences) = Differences::of(system, x, &along, tf) else {
                continue;
            };
            // Runs may jump within the step, where another contact is met or missed.
            let jumps = |of: &Differences| of.error > 0.1 * of.size;
            if jumps(&differences) {
                let closer = Differences::over(system, x, &along, tf, 1e-2 * STEP);
                differences = closer.unwrap_or(differences);
            }
            if let Ok(matrix) = found.matrix() {
                let off = (matrix.column(axis) - &differences.central).amax();
                self.worst[0] = self.worst[0].max(off / differences.tolerance());
                self.worst[1] = self.worst[1].max(off / differences.size);
                if off > differences.tolerance() || !differences.have_one_side() {
                    let error = differences.error;
                    self.wrong
                        .push((seed, format!("column {axis} by {off:e}, {error:e}")));
                }
                continue;
            }
            let both = [found.apply(&along), found.apply_backward(&along)];
            for (found, side) in both.iter().zip(&differences.sides) {
                let off = found.as_ref().map(|found| (found - side).amax());
                if off
                    .as_ref()
                    .is_ok_and(|off| *off <= ONE_SIDED * differences.tolerance())
                {
                    continue;
                }
                self.wrong
                    .push((seed, format!("direction {axis}: {off:?}")));
            }
        }
    }
}

/// Rods, blocks and bodies on three feet that slide or fall on a floor, pushed to and fro.
fn in_the_plane(seeds: Range<u64>) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let mut draw = SplitMix64(seed.wrapping_mul(0x9E6C_63D0_876A_68DE));
        let kind = seed % 5;
        let (mass, size) = (draw.between(0.5, 2.0), draw.between(0.3, 1.0));
        let mut feet: Vec<[f64; 2]> = match kind {
            0 | 4 => vec![draw.between(-0.3, 0.3)],
            3 => vec![-1.0, 0.0, 1.0],
            _ => vec![-1.0, 1.0],
        }
        .into_iter()
        .map(|x| [size * x, -size * draw.between(0.5, 0.6)])
        .collect();
        match kind {
            1 => feet[1][1] = feet[0][1],
            3 => feet[1][1] += 0.2 * size,
            _ => {}
        }
        let mu = draw.between(0.05, 0.9);
        let friction = (0..feet.len())
            .map(|_| {
                if seed % 2 == 0 {
                    mu
                } else {
                    draw.between(0.05, 0.9)
                }
            })
            .collect();
        let angle: f64 = draw.between(-0.4, 0.4);
        let weight = mass * GRAVITY;
        let body = Planar {
            mass: [mass, mass, mass * size * size * draw.between(0.2, 0.6)],
            friction,
            restitution: (draw.between(-1.4, 0.6)).max(0.0),
            gravity: [GRAVITY * angle.sin(), -GRAVITY * angle.cos()],
            pull: [
                [
                    0.3 * weight * draw.between(-1.0, 1.0),
                    0.0,
                    0.1 * mass * size * draw.between(-1.0, 1.0),
                ],
                [0.8 * weight * draw.between(-1.0, 1.0), 0.0, 0.0],
            ],
            frequency: draw.between(2.0, 9.0),
            spring: draw.between(0.0, 5.0),
            feet,
        };
        let falls = kind != 1 || draw.unit() < 0.5;
        let mut x = [0.0; 6];
        x[0] = draw.between(-0.1, 0.1);
        x[3] = draw.between(-2.0, 2.0);
        if falls {
            x[2] = draw.between(-0.4, 0.4);
            (x[4], x[5]) = (draw.between(-1.0, 0.0), draw.between(-2.0, 2.0));
            x[1] = draw.between(0.02, 0.3);
        }
        let low = (0..body.feet.len()).map(|j| body.foot(j, x[2])[1]);
        x[1] -= low.fold(f64::INFINITY, f64::min);
        // Those that keep what is closed.
        let directions: &[usize] = if falls { &[0, 1, 2, 3, 4, 5] } else { &[0, 3] };
        counts.take(seed, &body, &x, draw.between(0.4, 1.0), directions);
    }
    counts
}

/// Particles, sledges and tables on one to three legs.
fn in_space(seeds: Range<u64>) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let mut draw = SplitMix64(seed.wrapping_mul(0x9E6C_63D0_876A_68DE) ^ 0x4D);
        let (mass, size) = (draw.between(0.5, 2.0), draw.between(0.2, 0.6));
        let inertia = mass * size * size * draw.between(0.2, 0.6);
        let count = 1 + seed % 3;
        let first = draw.between(0.0, 6.3);
        let legs = (0..count).map(|j| {
            let part = (j as f64 + draw.between(-0.2, 0.2)) / count as f64;
            let (sin, cos) = (first + std::f64::consts::TAU * part).sin_cos();
            let arm = if count == 1 { 0.0 } else { size };
            [arm * cos, arm * sin]
        });
        let legs: Vec<_> = legs.collect();
        let mu = draw.between(0.05, 0.9);
        let friction = legs
            .iter()
            .map(|_| {
                if seed % 2 == 0 {
                    mu
                } else {
                    draw.between(0.05, 0.9)
                }
            })
            .collect();
        let strength = mass * GRAVITY * draw.between(0.0, 0.5);
        let mut pull = || [1.0, 1.0, size].map(|arm| arm * strength * draw.between(-1.0, 1.0));
        let pull = [pull(), pull(), [0.0; 3]];
        let body = Legged {
            mass: [mass, mass, mass, inertia, 0.6 * inertia, 0.7 * inertia],
            legs,
            friction,
            restitution: (draw.between(-1.4, 0.6)).max(0.0),
            height: if count < 3 {
                0.0
            } else {
                size * draw.between(0.0, 0.5)
            },
            pull,
            frequency: draw.between(1.0, 8.0),
        };
        let mut x = [0.0; 12];
        x[3] = draw.between(-1.0, 1.0);
        let fast = draw.between(0.3, 2.0);
        for k in [6, 7, 9] {
            x[k] = fast * draw.between(-1.0, 1.0);
        }
        let falls = draw.unit() < 0.4;
        if falls {
            x[2] = draw.between(0.02, 0.1);
            if count > 1 {
                (x[4], x[5]) = (draw.between(-0.03, 0.03), draw.between(-0.03, 0.03));
            }
        }
        let all: Vec<usize> = (0..12).collect();
        let directions: &[usize] = if falls { &all } else { &[0, 1, 3, 6, 7, 9] };
        counts.take(seed, &body, &x, draw.between(0.3, 0.7), directions);
    }
    counts
}

fn check(counts: &Counts, refused: usize) {
    println!("{counts:#?}");
    assert!(counts.wrong.is_empty(), "{:?}", counts.wrong);
    assert!(counts.refused.len() <= refused, "{:?}", counts.refused);
    assert!(counts.classical > counts.piecewise + counts.refused.len());
}

#[test]
fn random_bodies_in_the_plane_have_the_derivatives_of_whole_runs() {
    check(&in_the_plane(0..3), 0);
    // An impact takes all of the velocities away: their rounding must not shorten steps.
    check(&in_the_plane(252..253), 0);
}

#[test]
fn random_bodies_in_space_have_the_derivatives_of_whole_runs() {
    check(&in_space(2..4), 0);
}

#[test]
#[ignore = "minutes in release"]
fn many_random_bodies_have_the_derivatives_of_whole_runs() {
    check(&in_the_plane(0..400), 20);
    check(&in_space(0..24), 4);
}
