//! Bodies in the plane, `(x, z, θ)` each, whose points or discs touch lines, fixed or on bodies, with
//! friction.
#![allow(dead_code, reason = "each test binary uses a part")]

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};

const GRAVITY: f64 = 9.81;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Body {
    pub(crate) mass: f64,
    pub(crate) inertia: f64,
}

/// A line, in the frame of a body or fixed: `normal · p ≥ offset` is free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Face {
    pub(crate) body: Option<usize>,
    pub(crate) normal: [f64; 2],
    pub(crate) offset: f64,
    pub(crate) friction: f64,
}

/// A point of a body, or a disc about it, and the face that it may touch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Touch {
    pub(crate) body: usize,
    pub(crate) point: [f64; 2],
    pub(crate) radius: f64,
    pub(crate) face: Face,
}

impl Touch {
    /// On a fixed face with this normal.
    pub(crate) fn is_on(&self, normal: [f64; 2]) -> bool {
        self.face.body.is_none() && self.face.normal == normal
    }
}

/// A force along x on the first body, `size sin(rate t + phase)`, so far above its centre.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push {
    pub(crate) size: f64,
    pub(crate) rate: f64,
    pub(crate) phase: f64,
    pub(crate) height: f64,
}

/// Gravity is turned by `slope`.
#[derive(Clone, Debug)]
pub(crate) struct Scene {
    pub(crate) bodies: Vec<Body>,
    pub(crate) touches: Vec<Touch>,
    pub(crate) slope: f64,
    pub(crate) push: Option<Push>,
}

fn turned([x, z]: [f64; 2], angle: f64) -> [f64; 2] {
    let (sine, cosine) = angle.sin_cos();
    [cosine * x - sine * z, sine * x + cosine * z]
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// Where a contact is: arms from the centres of its bodies, and the normal.
struct Spot {
    normal: [f64; 2],
    arm: [f64; 2],
    /// From the centre of the other body, or the origin.
    across: [f64; 2],
}

impl Scene {
    fn spot(touch: &Touch, q: &[f64]) -> Spot {
        let of = |i: usize| [q[3 * i], q[3 * i + 1]];
        let (place, angle) = match touch.face.body {
            Some(i) => (of(i), q[3 * i + 2]),
            None => ([0.0; 2], 0.0),
        };
        let normal = turned(touch.face.normal, angle);
        let arm = turned(touch.point, q[3 * touch.body + 2]);
        let arm = [0, 1].map(|i| arm[i] - touch.radius * normal[i]);
        let centre = of(touch.body);
        let across = [0, 1].map(|i| centre[i] + arm[i] - place[i]);
        Spot {
            normal,
            arm,
            across,
        }
    }

    pub(crate) fn gap_of(touch: &Touch, q: &[f64]) -> f64 {
        let spot = Self::spot(touch, q);
        dot(spot.normal, spot.across) - touch.face.offset
    }

    /// The row of the relative velocity along a direction.
    fn row(touch: &Touch, spot: &Spot, along: [f64; 2], row: &mut [f64]) {
        let moment = |arm: [f64; 2]| arm[0] * along[1] - arm[1] * along[0];
        row.fill(0.0);
        let mut add = |i: usize, sign: f64, arm: [f64; 2]| {
            let parts = [along[0], along[1], moment(arm)];
            (0..3).for_each(|k| row[3 * i + k] += sign * parts[k]);
        };
        add(touch.body, 1.0, spot.arm);
        if let Some(other) = touch.face.body {
            add(other, -1.0, spot.across);
        }
    }
}

impl MechanicalSystem for Scene {
    fn dof(&self) -> usize {
        3 * self.bodies.len()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let d = self.dof();
        mass.fill(0.0);
        for (i, body) in self.bodies.iter().enumerate() {
            for (k, m) in [body.mass, body.mass, body.inertia].into_iter().enumerate() {
                mass[(3 * i + k) * (d + 1)] = m;
            }
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let (sine, cosine) = self.slope.sin_cos();
        for (part, body) in effort.chunks_exact_mut(3).zip(&self.bodies) {
            let weight = body.mass * GRAVITY;
            part.copy_from_slice(&[weight * sine, -weight * cosine, 0.0]);
        }
        if let Some(push) = self.push {
            let force = push.size * (push.rate * t + push.phase).sin();
            effort[0] += force;
            effort[2] -= force * push.height;
        }
    }
    fn time_scale(&self) -> Option<f64> {
        Some(self.push.map_or(f64::INFINITY, |push| 1.0 / push.rate))
    }
}

impl UnilateralConstraints for Scene {
    fn contacts(&self) -> usize {
        self.touches.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        Self::gap_of(&self.touches[j], q)
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let spot = Self::spot(&self.touches[j], q);
        Self::row(&self.touches[j], &spot, spot.normal, row);
        true
    }
    fn friction(&self, j: usize) -> f64 {
        self.touches[j].face.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let spot = Self::spot(&self.touches[j], q);
        let along = [spot.normal[1], -spot.normal[0]];
        Self::row(&self.touches[j], &spot, along, rows);
    }
}
