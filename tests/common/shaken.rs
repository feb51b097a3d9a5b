//! A scene on ground that is shaken, in two descriptions: the ground as driven coordinates in the room,
//! or the scene in the frame of the ground with inertial forces.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::ops::Range;

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};

use crate::scenes::Scene;

/// The acceleration of the ground along one axis: `size sin(rate t + phase)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shake {
    pub(crate) size: f64,
    pub(crate) rate: f64,
    pub(crate) phase: f64,
}

impl Shake {
    fn at(self, t: f64) -> f64 {
        self.size * (self.rate * t + self.phase).sin()
    }
}

/// In the room: the bodies of the scene, then the place `(x, z)` of the ground.
#[derive(Clone, Debug)]
pub(crate) struct OnGround {
    pub(crate) scene: Scene,
    pub(crate) shakes: [Shake; 2],
}

/// In the frame of the ground.
#[derive(Clone, Debug)]
pub(crate) struct FromGround(pub(crate) OnGround);

impl OnGround {
    fn bodies(&self) -> usize {
        self.scene.dof()
    }

    /// The coordinates of the bodies as they are seen from the ground.
    fn seen(&self, q: &[f64]) -> Vec<f64> {
        let (bodies, ground) = q.split_at(self.bodies());
        let shift = |(i, q): (usize, &f64)| q - ground.get(i % 3).copied().unwrap_or(0.0);
        bodies.iter().enumerate().map(shift).collect()
    }

    /// A row of the room from that of the scene: the ground moves against the bodies.
    fn complete(&self, row: &mut [f64]) {
        let (bodies, ground) = row.split_at_mut(self.bodies());
        for (axis, ground) in ground.iter_mut().enumerate() {
            *ground = -bodies.iter().skip(axis).step_by(3).sum::<f64>();
        }
    }

    fn scale(&self) -> f64 {
        let each = self.shakes.map(|shake| 1.0 / shake.rate);
        let all = each.into_iter().chain(self.scene.time_scale());
        all.fold(f64::INFINITY, f64::min)
    }
}

impl MechanicalSystem for OnGround {
    fn dof(&self) -> usize {
        self.bodies() + 2
    }
    fn driven(&self) -> Range<usize> {
        self.bodies()..self.bodies() + 2
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        let (n, d) = (self.bodies(), self.dof());
        let mut own = vec![0.0; n * n];
        self.scene.mass(q, &mut own);
        mass.fill(0.0);
        (0..d).for_each(|i| mass[i * (d + 1)] = if i < n { own[i * (n + 1)] } else { 1.0 });
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        let n = self.bodies();
        self.scene.effort(t, &q[..n], &v[..n], &mut effort[..n]);
        (0..2).for_each(|axis| effort[n + axis] = self.shakes[axis].at(t));
    }
    fn time_scale(&self) -> Option<f64> {
        Some(self.scale())
    }
}

impl UnilateralConstraints for OnGround {
    fn contacts(&self) -> usize {
        self.scene.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.scene.gap(j, &self.seen(q))
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let n = self.bodies();
        self.scene.gap_row(j, &self.seen(q), &mut row[..n]);
        self.complete(row);
        true
    }
    fn friction(&self, j: usize) -> f64 {
        self.scene.friction(j)
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let n = self.bodies();
        self.scene.tangent_rows(j, &self.seen(q), &mut rows[..n]);
        self.complete(rows);
    }
}

impl MechanicalSystem for FromGround {
    fn dof(&self) -> usize {
        self.0.scene.dof()
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.scene.mass(q, mass);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.0.scene.effort(t, q, v, effort);
        for (part, body) in effort.chunks_exact_mut(3).zip(&self.0.scene.bodies) {
            (0..2).for_each(|axis| part[axis] -= body.mass * self.0.shakes[axis].at(t));
        }
    }
    fn time_scale(&self) -> Option<f64> {
        Some(self.0.scale())
    }
}

impl UnilateralConstraints for FromGround {
    fn contacts(&self) -> usize {
        self.0.scene.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.0.scene.gap(j, q)
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.0.scene.gap_row(j, q, row)
    }
    fn friction(&self, j: usize) -> f64 {
        self.0.scene.friction(j)
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        self.0.scene.tangent_rows(j, q, rows);
    }
}
