//! The woodpecker toy: a sleeve on a pole, and a bird on a spring (Pfeiffer; Glocker's data).

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};

const SLEEVE: f64 = 3.0e-4;
const BIRD: f64 = 4.5e-3;
const SLEEVE_INERTIA: f64 = 5.0e-9;
const BIRD_INERTIA: f64 = 7.0e-7;
const STIFFNESS: f64 = 5.6e-3;
const L_M: f64 = 0.010;
const L_G: f64 = 0.015;
const L_S: f64 = 0.0201;
const H_S: f64 = 0.02;
const H_M: f64 = 0.0058;
const R_0: f64 = 0.0025;
const R_M: f64 = 0.0031;
const GRAVITY: f64 = 9.81;

/// `(y, φ_M, φ_S)`; contacts: beak, lower and upper edge of the sleeve.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Woodpecker;

impl MechanicalSystem for Woodpecker {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let sleeve = BIRD * L_M;
        mass.copy_from_slice(&[
            SLEEVE + BIRD,
            sleeve,
            BIRD * L_G,
            sleeve,
            SLEEVE_INERTIA + sleeve * L_M,
            sleeve * L_G,
            BIRD * L_G,
            sleeve * L_G,
            BIRD_INERTIA + BIRD * L_G * L_G,
        ]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let spring = STIFFNESS * (q[1] - q[2]);
        effort.copy_from_slice(&[
            -(SLEEVE + BIRD) * GRAVITY,
            -spring - BIRD * GRAVITY * L_M,
            spring - BIRD * GRAVITY * L_G,
        ]);
    }
    fn potential(&self, q: &[f64]) -> Option<f64> {
        let turned = q[1] - q[2];
        let height = (SLEEVE + BIRD) * q[0] + BIRD * (L_M * q[1] + L_G * q[2]);
        Some(GRAVITY * height + 0.5 * STIFFNESS * turned * turned)
    }
}

impl UnilateralConstraints for Woodpecker {
    fn contacts(&self) -> usize {
        3
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        [
            L_M + L_G - L_S - R_0 - H_S * q[2],
            R_M - R_0 + H_M * q[1],
            R_M - R_0 - H_M * q[1],
        ][j]
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        [0.5, 0.0, 0.0][j]
    }
    fn friction(&self, _j: usize) -> f64 {
        0.3
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn constant_tangents(&self, _j: usize) -> bool {
        true
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[[1.0, L_M, L_G - L_S], [1.0, R_M, 0.0], [1.0, R_M, 0.0]][j]);
    }
}
