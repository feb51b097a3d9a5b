//! A block on two compliant corners (Halm & Posa, IJRR 2024, eq. 88 to 90).

use differential_equations::ode::ODE;
use differential_equations::prelude::Matrix;

/// Mass (kg).
pub(crate) const MASS: f64 = 1.0;
/// Inertia about the centre of a block of 1 m by 2 m (kg m²).
pub(crate) const INERTIA: f64 = 5.0 / 12.0;
/// Gravity (m/s²).
pub(crate) const GRAVITY: f64 = 9.81;
/// Half of the width and of the height (m).
const HALF: [f64; 2] = [0.5, 1.0];
/// Coefficient of friction.
const FRICTION: f64 = 1.0;
/// Slip speed below which friction is linear (m/s).
const SLIP: f64 = 1e-6;
/// Damping ratio.
const DAMPING: f64 = 5.0;

/// Entries of the state: height of the centre over that at rest (m), attitude (rad), velocity of the centre (m/s), rate of the
/// attitude (rad/s), normal impulses of both corners (N s).
pub(crate) const Y: usize = 0;
pub(crate) const THETA: usize = 1;
pub(crate) const VX: usize = 2;
pub(crate) const VY: usize = 3;
pub(crate) const OMEGA: usize = 4;
pub(crate) const IMPULSE: usize = 5;
pub(crate) const SIZE: usize = 7;

pub(crate) type State = [f64; SIZE];

/// The block with its contacts: corner 0 is A, left; corner 1 is B, right.
#[derive(Clone, Copy)]
pub(crate) struct Block {
    /// Stiffness of the corners (N/m).
    pub(crate) stiffness: [f64; 2],
    /// Which corners are at or below the ground. An integration over a smooth piece keeps it.
    pub(crate) closed: [bool; 2],
}

/// Where a corner is and how it moves.
#[derive(Clone, Copy)]
pub(crate) struct Corner {
    /// Position relative to the centre (m).
    arm: [f64; 2],
    /// Height over the ground (m).
    pub(crate) gap: f64,
    /// Rate of the gap (m/s).
    pub(crate) speed: f64,
    /// Horizontal speed (m/s).
    pub(crate) slip: f64,
}

/// Normal and tangential force of a corner, with the derivatives of the normal force by gap and speed, and of the tangential force
/// by the normal force and the slip.
struct Force {
    normal: f64,
    tangential: f64,
    by_gap: f64,
    by_speed: f64,
    by_normal: f64,
    by_slip: f64,
}

impl Block {
    pub(crate) fn corner(i: usize, y: &State) -> Corner {
        let side = if i == 0 { -HALF[0] } else { HALF[0] };
        let (sin, cos) = y[THETA].sin_cos();
        let arm = [side * cos + HALF[1] * sin, side * sin - HALF[1] * cos];
        // without the cancellation of heights of about 1 m
        let half = (0.5 * y[THETA]).sin();
        let gap = y[Y] + side * sin + 2.0 * HALF[1] * half * half;
        Corner {
            arm,
            gap,
            speed: y[VY] + arm[0] * y[OMEGA],
            slip: y[VX] - arm[1] * y[OMEGA],
        }
    }

    fn force(&self, i: usize, corner: &Corner) -> Force {
        let k = self.stiffness[i];
        let d = 2.0 * DAMPING * (k / MASS).sqrt();
        let normal = -k * corner.gap - d * corner.speed;
        if !self.closed[i] || normal <= 0.0 {
            return Force {
                normal: 0.0,
                tangential: 0.0,
                by_gap: 0.0,
                by_speed: 0.0,
                by_normal: 0.0,
                by_slip: 0.0,
            };
        }
        let unit = corner.slip / corner.slip.abs().max(SLIP);
        let is_linear = corner.slip.abs() < SLIP;
        Force {
            normal,
            tangential: -FRICTION * normal * unit,
            by_gap: -k,
            by_speed: -d,
            by_normal: -FRICTION * unit,
            by_slip: if is_linear {
                -FRICTION * normal / SLIP
            } else {
                0.0
            },
        }
    }
}

impl ODE<f64, State> for Block {
    fn diff(&self, _t: f64, y: &State, rates: &mut State) {
        *rates = [y[VY], y[OMEGA], 0.0, -GRAVITY, 0.0, 0.0, 0.0];
        for i in 0..2 {
            let corner = Self::corner(i, y);
            let force = self.force(i, &corner);
            let [x, z] = corner.arm;
            rates[VX] += force.tangential / MASS;
            rates[VY] += force.normal / MASS;
            rates[OMEGA] += (x * force.normal - z * force.tangential) / INERTIA;
            rates[IMPULSE + i] = force.normal;
        }
    }

    fn jacobian(&self, _t: f64, y: &State, jacobian: &mut Matrix<f64>) {
        for i in 0..SIZE {
            for j in 0..SIZE {
                jacobian[(i, j)] = 0.0;
            }
        }
        jacobian[(Y, VY)] = 1.0;
        jacobian[(THETA, OMEGA)] = 1.0;
        for i in 0..2 {
            let corner = Self::corner(i, y);
            let force = self.force(i, &corner);
            let [x, z] = corner.arm;
            for j in 0..IMPULSE {
                // the arm turns: ∂x/∂θ = −z, ∂z/∂θ = x
                let gap = [1.0, x, 0.0, 0.0, 0.0][j];
                let speed = [0.0, -z * y[OMEGA], 0.0, 1.0, x][j];
                let slip = [0.0, -x * y[OMEGA], 1.0, 0.0, -z][j];
                let turn = if j == THETA { 1.0 } else { 0.0 };
                let normal = force.by_gap * gap + force.by_speed * speed;
                let tangential = force.by_normal * normal + force.by_slip * slip;
                jacobian[(VX, j)] += tangential / MASS;
                jacobian[(VY, j)] += normal / MASS;
                let moment =
                    x * normal - z * tangential - turn * (z * force.normal + x * force.tangential);
                jacobian[(OMEGA, j)] += moment / INERTIA;
                jacobian[(IMPULSE + i, j)] = normal;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jacobian_is_that_of_central_differences() {
        let block = Block {
            stiffness: [3.0, 2.0],
            closed: [true, true],
        };
        let slipping = [-0.3, 0.1, 0.7, -0.4, 0.2, 0.0, 0.0];
        // a rate of the attitude for which corner B nearly sticks
        let mut sticking = [-0.5, -0.2, -0.3, -1.0, 1.0, 0.0, 0.0];
        let height = sticking[VX] - Block::corner(1, &sticking).slip;
        sticking[OMEGA] = (sticking[VX] - 3e-7) / height;
        assert!((Block::corner(1, &sticking).slip - 3e-7).abs() < 1e-15);
        for y in [slipping, sticking] {
            for i in 0..2 {
                assert!(block.force(i, &Block::corner(i, &y)).normal > 0.1);
            }
            let mut jacobian = Matrix::zeros(SIZE, SIZE);
            block.jacobian(0.0, &y, &mut jacobian);
            for j in 0..SIZE {
                let step = 1e-9;
                let rates = |sign: f64| {
                    let (mut at, mut rates) = (y, [0.0; SIZE]);
                    at[j] += sign * step;
                    block.diff(0.0, &at, &mut rates);
                    rates
                };
                let (plus, minus) = (rates(1.0), rates(-1.0));
                for i in 0..SIZE {
                    let difference = (plus[i] - minus[i]) / (2.0 * step);
                    let size = 1.0 + difference.abs();
                    assert!(
                        (jacobian[(i, j)] - difference).abs() < 1e-6 * size,
                        "{i} {j}"
                    );
                }
            }
        }
    }
}
