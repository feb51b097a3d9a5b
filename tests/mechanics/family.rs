//! Random decoupled systems (spec `unilateral_mechanics` 8): curved gaps, masses that depend on the
//! configuration, limbs that act on a body. Orders agree, the derivative is classical and is that
//! of whole runs, energies obey their identities.

use saltation::event_driven::EventDriven;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::nalgebra::{DMatrix, DVector, Matrix2, Vector2};
use saltation::{Flow, Integrator, Mode, flow_fn};

use crate::random::SplitMix64;

/// A body `q_0 ∈ R²` and limbs `q_j ∈ R²`, `M_j = A_j + μ_j sin(w_j·q_j) I`, gaps
/// `n_j·(q_j − ρ_j) + ½ κ_j |q_j − ρ_j|²`.
#[derive(Clone, Debug)]
pub(crate) struct Family {
    pub(crate) parts: Vec<Part>,
    /// `K_0`, `D_0`.
    base: [Matrix2<f64>; 2],
}

#[derive(Clone, Debug)]
pub(crate) struct Part {
    mass: Matrix2<f64>,
    pub(crate) wave: Vector2<f64>,
    swing: f64,
    gravity: Vector2<f64>,
    /// `B_j`, `K_j`, `D_j`, `E_j`.
    coupling: [Matrix2<f64>; 4],
    normal: Vector2<f64>,
    place: Vector2<f64>,
    bend: f64,
    restitution: f64,
}

impl Family {
    pub(crate) fn random(limbs: usize, bounce: f64, seed: u64) -> Self {
        let mut draw = SplitMix64(seed);
        let mut number = |low: f64, high: f64| draw.between(low, high);
        let mut matrix = |size: f64| Matrix2::from_fn(|_, _| number(-size, size));
        let spd = |m: Matrix2<f64>| m.transpose() * m + Matrix2::identity();
        let mut parts = Vec::new();
        for _ in 0..=limbs {
            let mass = spd(matrix(0.6));
            let [coupling0, stiffness, damping, extra] = [
                matrix(0.7),
                spd(matrix(0.8)) * 3.0,
                spd(matrix(0.4)) * 0.3,
                matrix(0.8),
            ];
            let wave = Vector2::new(matrix(1.0)[0], matrix(1.0)[1]);
            let angle = matrix(3.0)[0];
            let place = Vector2::new(matrix(0.5)[0], matrix(0.5)[1]);
            parts.push(Part {
                mass,
                wave,
                swing: 0.4 * matrix(1.0)[0],
                gravity: Vector2::new(matrix(1.0)[0], matrix(1.0)[1] - 1.0),
                coupling: [coupling0, stiffness, damping, extra],
                normal: Vector2::new(angle.cos(), angle.sin()),
                place,
                bend: matrix(0.5)[0],
                restitution: bounce,
            });
        }
        let base = [spd(matrix(0.5)) * 2.0, spd(matrix(0.3)) * 0.2];
        Self { parts, base }
    }

    pub(crate) fn limbs(&self) -> usize {
        self.parts.len() - 1
    }

    pub(crate) fn part(x: &[f64], j: usize) -> Vector2<f64> {
        Vector2::new(x[2 * j], x[2 * j + 1])
    }

    pub(crate) fn swing(&self, j: usize, q: &[f64]) -> (f64, f64) {
        let part = &self.parts[j];
        let phase = part.wave.dot(&Self::part(q, j));
        let size = part.swing;
        (size * phase.sin(), size * phase.cos())
    }

    pub(crate) fn energy(&self, x: &[f64]) -> f64 {
        let d = self.dof();
        let (q, v) = x.split_at(d);
        let mut mass = vec![0.0; d * d];
        self.mass(q, &mut mass);
        let (mass, v) = (
            DMatrix::from_column_slice(d, d, &mass),
            DVector::from_column_slice(v),
        );
        0.5 * v.dot(&(mass * &v))
    }
}

impl MechanicalSystem for Family {
    fn dof(&self) -> usize {
        2 * self.parts.len()
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        let d = self.dof();
        mass.fill(0.0);
        for (j, part) in self.parts.iter().enumerate() {
            let (extra, _) = self.swing(j, q);
            for (a, b) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let wobble = if a == b { extra } else { 0.0 };
                mass[(2 * j + b) * d + 2 * j + a] = part.mass[(a, b)] + wobble;
            }
        }
    }

    fn effort(&self, _t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        let (q0, v0) = (Self::part(q, 0), Self::part(v, 0));
        let mut body = self.parts[0].gravity - self.base[0] * q0 - self.base[1] * v0;
        for j in 1..self.parts.len() {
            let part = &self.parts[j];
            let [b, k, d, e] = part.coupling;
            let (qj, vj) = (Self::part(q, j), Self::part(v, j));
            let pull = k * (qj - b * q0) + d * (vj - b * v0);
            let own = part.gravity - pull;
            effort[2 * j] = own[0];
            effort[2 * j + 1] = own[1];
            body += b.transpose() * pull + e * Vector2::new(qj[0].sin(), qj[1].sin());
        }
        effort[0] = body[0];
        effort[1] = body[1];
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        // c v = −μ cos(w·q) [(w·v) v − ½ |v|² w].
        for (j, part) in self.parts.iter().enumerate() {
            let (_, slope) = self.swing(j, q);
            let vj = Self::part(v, j);
            let f = -slope * (part.wave.dot(&vj) * vj - 0.5 * vj.norm_squared() * part.wave);
            force[2 * j] = f[0];
            force[2 * j + 1] = f[1];
        }
        true
    }
}

impl UnilateralConstraints for Family {
    fn contacts(&self) -> usize {
        self.limbs()
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let part = &self.parts[j + 1];
        let away = Self::part(q, j + 1) - part.place;
        part.normal.dot(&away) + 0.5 * part.bend * away.norm_squared()
    }

    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let part = &self.parts[j + 1];
        let slope = part.normal + part.bend * (Self::part(q, j + 1) - part.place);
        row.fill(0.0);
        row[2 * (j + 1)] = slope[0];
        row[2 * (j + 1) + 1] = slope[1];
        true
    }

    fn curvature(&self, j: usize, _q: &[f64], v: &[f64]) -> Option<f64> {
        Some(self.parts[j + 1].bend * Self::part(v, j + 1).norm_squared())
    }

    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.parts[j + 1].restitution
    }
}

/// A state with all gaps zero and closing.
pub(crate) fn at_contact(family: &Family, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut draw = SplitMix64(seed + 1000);
    let mut q = vec![draw.between(-0.3, 0.3), draw.between(-0.3, 0.3)];
    let mut v = vec![draw.between(-0.5, 0.5), draw.between(-0.5, 0.5)];
    for part in &family.parts[1..] {
        let slide = draw.between(-0.5, 0.5);
        let into = -part.normal * draw.between(0.8, 2.0);
        let along = Vector2::new(-part.normal[1], part.normal[0]) * slide;
        q.extend(part.place.iter());
        v.extend((into + along).iter());
    }
    (q, v)
}

/// The start that gets to `(q, v)` after `s` seconds without contact.
pub(crate) fn start_before(
    model: &EventDriven<Family>,
    (q, v): (&[f64], &[f64]),
    s: f64,
) -> Vec<f64> {
    let d = q.len();
    let backward = flow_fn(2 * d, |t, x, _: &Mode, dx: &mut [f64]| {
        let open = Mode::of(model);
        model.flow(-t, x, &open, dx);
        for v in dx {
            *v = -*v;
        }
    });
    let x = [q, v].concat();
    let run = Integrator::new(backward)
        .unwrap()
        .rtol(1e-13)
        .atol(1e-14)
        .integrate(0.0, &x, s)
        .unwrap();
    run.completed().unwrap().state().as_slice().to_vec()
}
