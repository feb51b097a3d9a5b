//! A scene as a mechanical system: free rigid bodies under gravity.
//!
//! With the inertia `I` in world axes the rotation of a body obeys `I ω̇ = −ω × I ω + torques`.

use std::ops::Range;

use nalgebra::{Matrix3, Quaternion, Vector3};

use super::Scene;
use super::pose::{halves, quaternion, rotation};
use crate::mechanics::{MechanicalSystem, State};

impl Scene {
    /// Coordinates and velocities at the start.
    pub fn start(&self) -> (Vec<f64>, Vec<f64>) {
        let bodies = self.moving.iter().map(|&body| &self.bodies[body].body);
        let mut q: Vec<f64> = bodies.clone().flat_map(|body| body.start).collect();
        self.project_configuration(&mut q);
        (q, bodies.flat_map(|body| body.velocity).collect())
    }

    /// Kinetic energy (J); none for slices of another length.
    pub fn kinetic_energy(&self, q: &[f64], v: &[f64]) -> Option<f64> {
        if (q.len(), v.len()) != (self.coordinates(), self.dof()) {
            return None;
        }
        let energy = |(tree, &body): (usize, &usize)| {
            let placed = &self.bodies[body];
            let (spin, speed) = halves(v, tree);
            let own = self.pose_of(body, q).rotation().tr_mul(&spin);
            let turning: f64 = (0..3).map(|k| placed.moments[k] * own[k] * own[k]).sum();
            0.5 * (placed.mass * speed.norm_squared() + turning)
        };
        Some(self.moving.iter().enumerate().map(energy).sum())
    }

    /// The inertia of the body of a tree in world axes.
    fn inertia(&self, tree: usize, q: &[f64]) -> Matrix3<f64> {
        let moments = self.bodies[self.moving[tree]].moments;
        if is_round(moments) {
            return Matrix3::from_diagonal_element(moments[0]);
        }
        let turn = rotation(&q[7 * tree..7 * tree + 7]);
        // Symmetric to the last bit.
        let entry = |i: usize, j: usize| {
            (0..3)
                .map(|k| moments[k] * (turn[(i, k)] * turn[(j, k)]))
                .sum()
        };
        Matrix3::from_fn(entry)
    }

    /// Writes `−ω × I ω` of each body, and zeros for the velocities of centres.
    fn gyroscopic(&self, q: &[f64], v: &[f64], force: &mut [f64]) {
        for (tree, force) in force.chunks_exact_mut(6).enumerate() {
            let (spin, _) = halves(v, tree);
            force.fill(0.0);
            if spin.iter().all(|w| w.to_bits() == 0) {
                continue;
            }
            let torque = (self.inertia(tree, q) * spin).cross(&spin);
            force[..3].copy_from_slice(torque.as_slice());
        }
    }
}

/// True when all moments of inertia are equal.
fn is_round([x, y, z]: [f64; 3]) -> bool {
    x.max(y).max(z) <= x.min(y).min(z)
}

impl MechanicalSystem for Scene {
    fn dof(&self) -> usize {
        6 * self.moving.len()
    }

    fn coordinates(&self) -> usize {
        7 * self.moving.len()
    }

    fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        for (tree, rate) in rate.chunks_exact_mut(7).enumerate() {
            let (spin, speed) = halves(v, tree);
            rate[..3].copy_from_slice(speed.as_slice());
            let turn = Quaternion::from_imag(spin * 0.5) * quaternion(&q[7 * tree..7 * tree + 7]);
            rate[3..].copy_from_slice(&[turn.w, turn.i, turn.j, turn.k]);
        }
        true
    }

    fn project_configuration(&self, q: &mut [f64]) -> bool {
        let mut changed = false;
        for q in q.chunks_exact_mut(7) {
            let length = quaternion(q).norm();
            // A unit quaternion has rounding errors, and zero has no direction.
            if (length - 1.0).abs() > 4.0 * f64::EPSILON && length > 0.0 {
                q[3..].iter_mut().for_each(|q| *q /= length);
                changed = true;
            }
        }
        changed
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        let (dof, mut block) = (self.dof(), [0.0; 36]);
        for tree in 0..self.trees() {
            self.tree_mass(tree, q, &mut block);
            for (column, entries) in block.chunks_exact(6).enumerate() {
                let start = (6 * tree + column) * dof + 6 * tree;
                mass[start..start + 6].copy_from_slice(entries);
            }
        }
    }

    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        for (effort, &body) in effort.chunks_exact_mut(6).zip(&self.moving) {
            let weight = self.gravity * self.mass_of(body).unwrap_or(0.0);
            effort[..3].fill(0.0);
            effort[3..].copy_from_slice(weight.as_slice());
        }
    }

    fn effort_along(&self, _at: State<'_>, _directions: &[f64], out: &mut [f64]) -> bool {
        out.fill(0.0);
        true
    }

    fn trees(&self) -> usize {
        self.moving.len()
    }

    fn tree(&self, i: usize) -> Range<usize> {
        6 * i..6 * i + 6
    }

    fn tree_mass(&self, i: usize, q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        let (inertia, m) = (self.inertia(i, q), self.bodies[self.moving[i]].mass);
        for k in 0..3 {
            mass[6 * k..6 * k + 3].copy_from_slice(inertia.column(k).as_slice());
            mass[7 * (k + 3)] = m;
        }
    }

    /// The speed of the fastest point of a body, or more: `|v| + |ω| r` with the bounding radius, or the radius of
    /// gyration where that is larger. So the kinetic energy is at most `½ m` times its square.
    fn tree_speed(&self, i: usize, _q: &[f64], v: &[f64]) -> f64 {
        let placed = &self.bodies[self.moving[i]];
        let [x, y, z] = placed.moments;
        let gyration = (x.max(y).max(z) / placed.mass).sqrt();
        let (spin, speed) = halves(v, 0);
        speed.norm() + spin.norm() * placed.radius.max(gyration)
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        self.gyroscopic(q, v, force);
        true
    }

    fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
        // ½ ∂(ωᵀ I ω) along a turn e is e · (I ω × ω).
        self.gyroscopic(q, v, gradient);
        true
    }

    fn constant_mass(&self) -> bool {
        self.moving
            .iter()
            .all(|&body| is_round(self.bodies[body].moments))
    }

    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        let energy = |(q, &body): (&[f64], &usize)| {
            -self.mass_of(body).unwrap_or(0.0) * self.gravity.dot(&Vector3::new(q[0], q[1], q[2]))
        };
        Some(q.chunks_exact(7).zip(&self.moving).map(energy).sum())
    }
}
