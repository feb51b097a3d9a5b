//! A block of 1 kg on a surface that moves by itself, with or without a spring to the wall:
//! `q = (x, z)` of the block, then the place of the surface.

use std::ops::Range;

use saltation::mechanics::{Friction, MechanicalSystem, UnilateralConstraints};

pub(crate) const GRAVITY: f64 = 9.81;

/// How friction depends on the speed of the slip.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Law {
    Constant(f64),
    /// `most/(1 + fall |u|)`: Stribeck's fall (Leine et al.).
    Falling {
        most: f64,
        fall: f64,
    },
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct OnSurface {
    pub(crate) law: Law,
    /// Of the spring (N/m).
    pub(crate) stiffness: f64,
    /// Accelerations `a₁ sin ω t + a₂ sin 2 ω t` of the surface (m/s²), and `ω` (rad/s).
    pub(crate) shake: [f64; 2],
    pub(crate) rate: f64,
}

impl OnSurface {
    /// Held by a spring, over a belt of constant speed.
    pub(crate) fn belt(law: Law) -> Self {
        Self {
            law,
            stiffness: 1.0,
            shake: [0.0; 2],
            rate: 1.0,
        }
    }

    /// Free, on a table that is shaken along itself.
    pub(crate) fn table(friction: f64, shake: [f64; 2], rate: f64) -> Self {
        Self {
            law: Law::Constant(friction),
            stiffness: 0.0,
            shake,
            rate,
        }
    }

    /// The speed of the table at t = 0 with which it comes back after a period.
    pub(crate) fn first_speed(&self) -> f64 {
        -self.shake[0] / self.rate - self.shake[1] / (2.0 * self.rate)
    }
}

impl MechanicalSystem for OnSurface {
    fn dof(&self) -> usize {
        3
    }
    fn driven(&self) -> Range<usize> {
        2..3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let [first, second] = self.shake;
        let (once, twice) = ((self.rate * t).sin(), (2.0 * self.rate * t).sin());
        let surface = first * once + second * twice;
        effort.copy_from_slice(&[-self.stiffness * q[0], -GRAVITY, surface]);
    }
    fn time_scale(&self) -> Option<f64> {
        Some(0.25 / self.rate)
    }
}

impl UnilateralConstraints for OnSurface {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1]
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 1.0, 0.0]);
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        match self.law {
            Law::Constant(friction) => friction,
            Law::Falling { most, .. } => most,
        }
    }
    fn friction_at(&self, _j: usize, _q: &[f64], speed: f64) -> Option<Friction> {
        match self.law {
            Law::Constant(_) => None,
            Law::Falling { most, fall } => Some(Friction::constant(most / (1.0 + fall * speed))),
        }
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn constant_tangents(&self, _j: usize) -> bool {
        true
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, -1.0]);
    }
}
