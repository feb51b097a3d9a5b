//! A box that tumbles above a floor, by a unit quaternion (for any scalar, and with rows and
//! curvatures by hand) and by angles.

use saltation::derivative::{RealField, convert};
use saltation::mechanics::{
    MechanicalSystem, SmoothConstraints, SmoothMechanics, UnilateralConstraints,
};

/// A box above a floor: `q = (x, y, z, w, i, j, k)`, `v = (ẋ, ẏ, ż, ω)`, with `ω` in the axes of
/// the box.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub(crate) mass: f64,
    pub(crate) inertia: [f64; 3],
    pub(crate) half: [f64; 3],
    pub(crate) gravity: f64,
    pub(crate) restitution: f64,
}

pub(crate) const BOX: Body = Body {
    mass: 2.0,
    inertia: [0.11, 0.17, 0.21],
    half: [0.5, 0.35, 0.2],
    gravity: 9.81,
    restitution: 0.5,
};

impl Body {
    pub(crate) fn corner<T: RealField + Copy>(&self, j: usize) -> [T; 3] {
        std::array::from_fn(|k| {
            let sign = if j >> k & 1 == 1 { 1.0 } else { -1.0 };
            convert(sign * self.half[k])
        })
    }
}

/// The direction up, in the axes of the body.
pub(crate) fn up<T: RealField + Copy>(q: &[T]) -> [T; 3] {
    let [w, x, y, z] = [q[3], q[4], q[5], q[6]];
    let two: T = convert(2.0);
    [
        two * (x * z - w * y),
        two * (y * z + w * x),
        w * w - x * x - y * y + z * z,
    ]
}

pub(crate) fn cross<T: RealField + Copy>(a: [T; 3], b: [T; 3]) -> [T; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}

pub(crate) fn dot<T: RealField + Copy>(a: [T; 3], b: [T; 3]) -> T {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl SmoothMechanics for Body {
    fn dof(&self) -> usize {
        6
    }
    fn coordinates(&self) -> usize {
        7
    }
    fn configuration_rate<T: RealField + Copy>(&self, q: &[T], v: &[T], rate: &mut [T]) -> bool {
        let half: T = convert(0.5);
        let ([w, x, y, z], [a, b, c]) = ([q[3], q[4], q[5], q[6]], [v[3], v[4], v[5]]);
        rate[..3].copy_from_slice(&v[..3]);
        rate[3] = -half * (x * a + y * b + z * c);
        rate[4] = half * (w * a + y * c - z * b);
        rate[5] = half * (w * b + z * a - x * c);
        rate[6] = half * (w * c + x * b - y * a);
        true
    }
    fn project_configuration(&self, q: &mut [f64]) -> bool {
        let norm = q[3..].iter().map(|q| q * q).sum::<f64>().sqrt();
        let off = (norm - 1.0).abs() > 4.0 * f64::EPSILON;
        if off {
            for q in &mut q[3..] {
                *q /= norm;
            }
        }
        off
    }
    fn mass<T: RealField + Copy>(&self, _q: &[T], mass: &mut [T]) {
        mass.fill(T::zero());
        for i in 0..3 {
            mass[7 * i] = convert(self.mass);
            mass[7 * (i + 3)] = convert(self.inertia[i]);
        }
    }
    fn effort<T: RealField + Copy>(&self, _t: T, _q: &[T], _v: &[T], effort: &mut [T]) {
        effort.fill(T::zero());
        effort[2] = convert(-self.mass * self.gravity);
    }
    fn coriolis<T: RealField + Copy>(&self, _q: &[T], v: &[T], force: &mut [T]) -> bool {
        let rate = [v[3], v[4], v[5]];
        let momentum: [T; 3] =
            std::array::from_fn(|k| convert::<f64, T>(self.inertia[k]) * rate[k]);
        force.fill(T::zero());
        force[3..].copy_from_slice(&cross(momentum, rate));
        true
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn potential<T: RealField + Copy>(&self, q: &[T]) -> Option<T> {
        Some(convert::<f64, T>(self.mass * self.gravity) * q[2])
    }
}

impl SmoothConstraints for Body {
    fn contacts(&self) -> usize {
        8
    }
    fn gap<T: RealField + Copy>(&self, j: usize, q: &[T]) -> T {
        q[2] + dot(up(q), self.corner(j))
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}

/// The same with rows and curvatures by hand, or by differences.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByHand {
    pub(crate) body: Body,
    pub(crate) rows: bool,
    pub(crate) curvatures: bool,
}

impl MechanicalSystem for ByHand {
    fn dof(&self) -> usize {
        6
    }
    fn coordinates(&self) -> usize {
        7
    }
    fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        self.body.configuration_rate(q, v, rate)
    }
    fn project_configuration(&self, q: &mut [f64]) -> bool {
        self.body.project_configuration(q)
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.body.mass(q, mass);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.body.effort(t, q, v, effort);
    }
    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        self.body.coriolis(q, v, force)
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn potential(&self, q: &[f64]) -> Option<f64> {
        self.body.potential(q)
    }
}

impl UnilateralConstraints for ByHand {
    fn contacts(&self) -> usize {
        8
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.body.gap(j, q)
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        if self.rows {
            row[..3].copy_from_slice(&[0.0, 0.0, 1.0]);
            row[3..].copy_from_slice(&cross(self.body.corner(j), up(q)));
        }
        self.rows
    }
    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        let rate = [v[3], v[4], v[5]];
        let bent = -dot(cross(rate, self.body.corner(j)), cross(rate, up(q)));
        self.curvatures.then_some(bent)
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.body.restitution
    }
}

/// The same with the angles roll, pitch and yaw, `R = R_z(ψ) R_y(θ) R_x(φ)`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Angles(pub(crate) Body);

/// The matrix that takes the rates of the angles to the angular velocity, by columns.
pub(crate) fn angular<T: RealField + Copy>(q: &[T]) -> [[T; 3]; 3] {
    let ((sr, cr), (sp, cp)) = (q[3].sin_cos(), q[4].sin_cos());
    let zero = T::zero();
    [
        [T::one(), zero, zero],
        [zero, cr, -sr],
        [-sp, cp * sr, cp * cr],
    ]
}

pub(crate) fn up_of_angles<T: RealField + Copy>(q: &[T]) -> [T; 3] {
    let ((sr, cr), (sp, cp)) = (q[3].sin_cos(), q[4].sin_cos());
    [-sp, cp * sr, cp * cr]
}

impl SmoothMechanics for Angles {
    fn dof(&self) -> usize {
        6
    }
    fn mass<T: RealField + Copy>(&self, q: &[T], mass: &mut [T]) {
        mass.fill(T::zero());
        let columns = angular(q);
        for i in 0..3 {
            mass[7 * i] = convert(self.0.mass);
            for k in 0..3 {
                mass[6 * (i + 3) + k + 3] = (0..3).fold(T::zero(), |sum, l| {
                    sum + convert::<f64, T>(self.0.inertia[l]) * columns[i][l] * columns[k][l]
                });
            }
        }
    }
    fn effort<T: RealField + Copy>(&self, _t: T, _q: &[T], _v: &[T], effort: &mut [T]) {
        effort.fill(T::zero());
        effort[2] = convert(-self.0.mass * self.0.gravity);
    }
}

impl SmoothConstraints for Angles {
    fn contacts(&self) -> usize {
        8
    }
    fn gap<T: RealField + Copy>(&self, j: usize, q: &[T]) -> T {
        q[2] + dot(up_of_angles(q), self.0.corner(j))
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.0.restitution
    }
}
