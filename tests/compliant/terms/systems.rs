//! Test systems: sliders with constant loads, and free bodies without contacts.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};
use saltation::Compliant;
use saltation::compliant::StepTerm;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use std::ops::Range;

/// Masses on lines, each a tree, with constant loads. Pairs push each other where they meet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sliders {
    pub(crate) masses: Vec<f64>,
    pub(crate) loads: Vec<f64>,
    /// Slider `i` pushes slider `j` when `q[j] − q[i]` falls below the distance.
    pub(crate) pushes: Vec<(usize, usize, f64)>,
}

impl Sliders {
    pub(crate) fn new(masses: &[f64], loads: &[f64]) -> Self {
        Self {
            masses: masses.to_vec(),
            loads: loads.to_vec(),
            pushes: Vec::new(),
        }
    }

    pub(crate) fn pushing(mut self, i: usize, j: usize, distance: f64) -> Self {
        self.pushes.push((i, j, distance));
        self
    }

    /// A stepper with one term.
    pub(crate) fn with(self, dt: f64, term: impl StepTerm + Send + Sync) -> Compliant<Self> {
        self.stepper(dt).term(term)
    }

    pub(crate) fn stepper(self, dt: f64) -> Compliant<Self> {
        let stepper = Compliant::new(self).expect("a system");
        let solver = saltation::compliant::Solver::new().rtol(1e-12);
        stepper.time_step(dt).solver(solver)
    }
}

impl MechanicalSystem for Sliders {
    fn dof(&self) -> usize {
        self.masses.len()
    }

    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for (i, m) in self.masses.iter().enumerate() {
            mass[i * (self.masses.len() + 1)] = *m;
        }
    }

    fn constant_mass(&self) -> bool {
        true
    }

    fn trees(&self) -> usize {
        self.masses.len()
    }

    fn tree(&self, i: usize) -> Range<usize> {
        i..i + 1
    }

    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&self.loads);
    }
}

impl UnilateralConstraints for Sliders {
    fn contacts(&self) -> usize {
        self.pushes.len()
    }

    fn gap(&self, k: usize, q: &[f64]) -> f64 {
        let (i, j, distance) = self.pushes[k];
        q[j] - q[i] - distance
    }

    fn gap_row(&self, k: usize, _q: &[f64], row: &mut [f64]) -> bool {
        let (i, j, _) = self.pushes[k];
        row.fill(0.0);
        (row[i], row[j]) = (-1.0, 1.0);
        true
    }
}

/// Free bodies under gravity along −z: seven coordinates each (position, quaternion), six
/// velocities (angular velocity, velocity of the centre), world axes.
#[derive(Clone, Debug)]
pub(crate) struct Bodies {
    /// Mass, and moments of inertia about the axes of the body.
    pub(crate) bodies: Vec<(f64, [f64; 3])>,
    pub(crate) gravity: f64,
}

/// Mass and moments of inertia of a uniform box with these edges.
pub(crate) fn cuboid(mass: f64, [a, b, c]: [f64; 3]) -> (f64, [f64; 3]) {
    let moment = |x: f64, y: f64| mass / 12.0 * (x * x + y * y);
    (mass, [moment(b, c), moment(a, c), moment(a, b)])
}

/// Position and orientation of body `i`.
pub(crate) fn pose(q: &[f64], i: usize) -> (Vector3<f64>, UnitQuaternion<f64>) {
    let q = &q[7 * i..7 * i + 7];
    let orientation = Quaternion::new(q[3], q[4], q[5], q[6]);
    (
        Vector3::new(q[0], q[1], q[2]),
        UnitQuaternion::new_normalize(orientation),
    )
}

/// Coordinates of a body.
pub(crate) fn coordinates(position: Vector3<f64>, turn: UnitQuaternion<f64>) -> [f64; 7] {
    let [x, y, z] = position.into();
    [x, y, z, turn.w, turn.i, turn.j, turn.k]
}

impl Bodies {
    /// Inertia of body `i` in world axes.
    fn inertia(&self, i: usize, q: &[f64]) -> Matrix3<f64> {
        let rotation = *pose(q, i).1.to_rotation_matrix().matrix();
        let moments = Vector3::from(self.bodies[i].1);
        rotation * Matrix3::from_diagonal(&moments) * rotation.transpose()
    }

    pub(crate) fn energy(&self, q: &[f64], v: &[f64]) -> f64 {
        let each = (0..self.bodies.len()).map(|i| {
            let v = &v[6 * i..6 * i + 6];
            let (turn, speed) = (
                Vector3::new(v[0], v[1], v[2]),
                Vector3::new(v[3], v[4], v[5]),
            );
            let m = self.bodies[i].0;
            0.5 * (m * speed.norm_squared() + turn.dot(&(self.inertia(i, q) * turn)))
                + m * self.gravity * q[7 * i + 2]
        });
        each.sum()
    }

    pub(crate) fn stepper(self, dt: f64) -> Compliant<Self> {
        let solver = saltation::compliant::Solver::new().rtol(1e-12);
        let stepper = Compliant::new(self).expect("a system");
        stepper.time_step(dt).solver(solver)
    }
}

impl MechanicalSystem for Bodies {
    fn dof(&self) -> usize {
        6 * self.bodies.len()
    }

    fn coordinates(&self) -> usize {
        7 * self.bodies.len()
    }

    fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        for i in 0..self.bodies.len() {
            let (q, v, rate) = (
                &q[7 * i..7 * i + 7],
                &v[6 * i..6 * i + 6],
                &mut rate[7 * i..7 * i + 7],
            );
            rate[..3].copy_from_slice(&v[3..]);
            let turn = Quaternion::new(0.0, v[0], v[1], v[2]);
            let change = turn * Quaternion::new(q[3], q[4], q[5], q[6]) * 0.5;
            rate[3..].copy_from_slice(&[change.w, change.i, change.j, change.k]);
        }
        true
    }

    fn project_configuration(&self, q: &mut [f64]) -> bool {
        for q in q.chunks_exact_mut(7) {
            let length = q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
            q[3..].iter_mut().for_each(|x| *x /= length);
        }
        true
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        let dof = self.dof();
        for i in 0..self.bodies.len() {
            let inertia = self.inertia(i, q);
            for (r, c) in (0..9).map(|k| (k / 3, k % 3)) {
                mass[(6 * i + c) * dof + 6 * i + r] = inertia[(r, c)];
            }
            for k in 3..6 {
                mass[(6 * i + k) * (dof + 1)] = self.bodies[i].0;
            }
        }
    }

    fn trees(&self) -> usize {
        self.bodies.len()
    }

    fn tree(&self, i: usize) -> Range<usize> {
        6 * i..6 * i + 6
    }

    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        for (i, body) in self.bodies.iter().enumerate() {
            effort[6 * i + 5] = -body.0 * self.gravity;
        }
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        force.fill(0.0);
        for i in 0..self.bodies.len() {
            let turn = Vector3::new(v[6 * i], v[6 * i + 1], v[6 * i + 2]);
            let moment = -turn.cross(&(self.inertia(i, q) * turn));
            force[6 * i..6 * i + 3].copy_from_slice(moment.as_slice());
        }
        true
    }
}

impl UnilateralConstraints for Bodies {
    fn contacts(&self) -> usize {
        0
    }

    fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
        f64::INFINITY
    }
}
