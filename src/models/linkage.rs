//! Planar linkages: bodies whose places are sums of straight segments, each at an angle that is a
//! sum of coordinates.
//!
//! ```text
//!     c = (x, y) + Σ_k l_k e(A_k)        A_k = A_k⁰ + Σ_{j ∈ k} q_j        e(A) = (cos A, sin A)
//!     ∂c/∂q_j = Σ_{k ∋ j} l_k e'(A_k)    T = ½ Σ m |ċ|² + I (Σ_{j ∈ spin} q̇_j)²
//! ```

use crate::linalg::scratch::with_zeros;

/// A segment of a length, at the angle `offset` plus the sum of these coordinates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Segment {
    pub(super) length: f64,
    pub(super) offset: f64,
    pub(super) coordinates: Vec<usize>,
}

impl Segment {
    pub(super) fn new(length: f64, offset: f64, coordinates: &[usize]) -> Self {
        Self {
            length,
            offset,
            coordinates: coordinates.to_vec(),
        }
    }

    fn angle(&self, q: &[f64]) -> f64 {
        let of = |sum: f64, &j: &usize| sum + q.get(j).copied().unwrap_or(f64::NAN);
        self.coordinates.iter().fold(self.offset, of)
    }

    fn rate(&self, v: &[f64]) -> f64 {
        let of = |sum: f64, &j: &usize| sum + v.get(j).copied().unwrap_or(f64::NAN);
        self.coordinates.iter().fold(0.0, of)
    }
}

/// A point of a linkage: where its segments lead.
pub(super) type Point = [Segment];

/// A rigid body: its centre of mass, and the coordinates that add up to its angle.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Body {
    pub(super) mass: f64,
    pub(super) inertia: f64,
    pub(super) centre: Vec<Segment>,
    pub(super) spin: Vec<usize>,
}

/// Bodies on one base, which is fixed or has the first two coordinates.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Linkage {
    pub(super) dof: usize,
    /// Coordinates 0 and 1 are the place of the base.
    pub(super) free: bool,
    pub(super) bodies: Vec<Body>,
}

impl Linkage {
    /// Height of a point.
    pub(super) fn height(&self, point: &Point, q: &[f64]) -> f64 {
        let base = if self.free {
            q.get(1).copied().unwrap_or(f64::NAN)
        } else {
            0.0
        };
        let rises = point.iter().map(|s| s.length * s.angle(q).sin());
        base + rises.sum::<f64>()
    }

    /// Abscissa of a point.
    pub(super) fn abscissa(&self, point: &Point, q: &[f64]) -> f64 {
        let base = if self.free {
            q.first().copied().unwrap_or(f64::NAN)
        } else {
            0.0
        };
        let runs = point.iter().map(|s| s.length * s.angle(q).cos());
        base + runs.sum::<f64>()
    }

    /// Writes the derivatives of abscissa and height of a point.
    pub(super) fn rows(&self, point: &Point, q: &[f64], x: &mut [f64], y: &mut [f64]) {
        x.fill(0.0);
        y.fill(0.0);
        if self.free && self.dof > 1 {
            (x[0], y[1]) = (1.0, 1.0);
        }
        for segment in point {
            let (sin, cos) = segment.angle(q).sin_cos();
            for &j in &segment.coordinates {
                x[j] -= segment.length * sin;
                y[j] += segment.length * cos;
            }
        }
    }

    /// `(d²x/dt², d²y/dt²)` of a point at constant rates: what bends its path.
    pub(super) fn bend(point: &Point, q: &[f64], v: &[f64]) -> [f64; 2] {
        let mut bend = [0.0; 2];
        for segment in point {
            let ((sin, cos), rate) = (segment.angle(q).sin_cos(), segment.rate(v));
            bend[0] -= segment.length * cos * rate * rate;
            bend[1] -= segment.length * sin * rate * rate;
        }
        bend
    }

    /// Writes the mass matrix.
    pub(super) fn mass(&self, q: &[f64], mass: &mut [f64]) {
        let d = self.dof;
        mass.fill(0.0);
        if q.len() != d || mass.len() != d * d {
            mass.fill(f64::NAN);
            return;
        }
        with_zeros(2 * d, |rows| {
            let (x, y) = rows.split_at_mut(d);
            for body in &self.bodies {
                self.rows(&body.centre, q, x, y);
                for k in 0..d {
                    if x[k] == 0.0 && y[k] == 0.0 {
                        continue;
                    }
                    for i in 0..d {
                        mass[k * d + i] += body.mass * (x[i] * x[k] + y[i] * y[k]);
                    }
                }
                for &i in &body.spin {
                    for &k in &body.spin {
                        mass[k * d + i] += body.inertia;
                    }
                }
            }
        });
    }

    /// Writes `½ ∂(vᵀ M v)/∂q`: `Σ m ċ · ∂ċ/∂q_j`.
    pub(super) fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) {
        gradient.fill(0.0);
        if q.len() != self.dof || v.len() != self.dof || gradient.len() != self.dof {
            gradient.fill(f64::NAN);
            return;
        }
        for body in &self.bodies {
            let mut velocity = if self.free && self.dof > 1 {
                [v[0], v[1]]
            } else {
                [0.0; 2]
            };
            for segment in &body.centre {
                let ((sin, cos), rate) = (segment.angle(q).sin_cos(), segment.rate(v));
                velocity[0] -= segment.length * sin * rate;
                velocity[1] += segment.length * cos * rate;
            }
            for segment in &body.centre {
                let ((sin, cos), rate) = (segment.angle(q).sin_cos(), segment.rate(v));
                let turned = velocity[0] * cos + velocity[1] * sin;
                for &j in &segment.coordinates {
                    gradient[j] -= body.mass * segment.length * rate * turned;
                }
            }
        }
    }

    /// Adds the Coriolis force to `force`: `−Σ m J_cᵀ c̈` at constant rates.
    pub(super) fn add_coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) {
        let d = self.dof;
        if q.len() != d || v.len() != d || force.len() != d {
            force.fill(f64::NAN);
            return;
        }
        for body in &self.bodies {
            let [bend_x, bend_y] = Self::bend(&body.centre, q, v);
            self.add_force(
                &body.centre,
                q,
                [-body.mass * bend_x, -body.mass * bend_y],
                force,
            );
        }
    }

    /// Adds to `effort` what a force on a point does.
    pub(super) fn add_force(&self, point: &Point, q: &[f64], force: [f64; 2], effort: &mut [f64]) {
        if self.free && self.dof > 1 {
            effort[0] += force[0];
            effort[1] += force[1];
        }
        for segment in point {
            let (sin, cos) = segment.angle(q).sin_cos();
            for &j in &segment.coordinates {
                effort[j] += segment.length * (force[1] * cos - force[0] * sin);
            }
        }
    }

    /// Adds the weights of all bodies to `effort`.
    pub(super) fn add_weights(&self, gravity: f64, q: &[f64], effort: &mut [f64]) {
        for body in &self.bodies {
            self.add_force(&body.centre, q, [0.0, -body.mass * gravity], effort);
        }
    }

    /// Adds the derivative of the weights along `dq` to `out`.
    pub(super) fn add_weights_along(&self, gravity: f64, q: &[f64], dq: &[f64], out: &mut [f64]) {
        for body in &self.bodies {
            for segment in &body.centre {
                let (sin, turn) = (segment.angle(q).sin(), segment.rate(dq));
                for &j in &segment.coordinates {
                    out[j] += body.mass * gravity * segment.length * sin * turn;
                }
            }
        }
    }

    /// Potential energy of the weights.
    pub(super) fn potential(&self, gravity: f64, q: &[f64]) -> f64 {
        let of = |body: &Body| body.mass * gravity * self.height(&body.centre, q);
        self.bodies.iter().map(of).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forces_of_inertia_are_those_of_the_mass_matrix() {
        let linkage = Linkage {
            dof: 5,
            free: true,
            bodies: vec![
                Body {
                    mass: 2.0,
                    inertia: 0.3,
                    centre: vec![Segment::new(0.7, 0.4, &[2])],
                    spin: vec![2],
                },
                Body {
                    mass: 1.3,
                    inertia: 0.2,
                    centre: vec![
                        Segment::new(0.7, 0.4, &[2]),
                        Segment::new(0.5, -1.0, &[2, 3]),
                        Segment::new(0.2, 0.0, &[2, 3, 4]),
                    ],
                    spin: vec![2, 3, 4],
                },
            ],
        };
        let (q, v) = ([0.3, 0.8, -0.4, 1.1, 0.6], [0.2, -0.7, 1.3, 0.4, -0.9]);
        let energy = |q: &[f64]| {
            let mut mass = [0.0; 25];
            linkage.mass(q, &mut mass);
            let product = |i: usize| (0..5).map(|k| mass[5 * k + i] * v[k]).sum::<f64>();
            0.5 * (0..5).map(|i| v[i] * product(i)).sum::<f64>()
        };
        let (mut gradient, mut coriolis) = ([0.0; 5], [0.0; 5]);
        linkage.kinetic_gradient(&q, &v, &mut gradient);
        linkage.add_coriolis(&q, &v, &mut coriolis);
        let s = 1e-6;
        let moved = |i: usize, by: f64| {
            let mut q = q;
            q[i] += by;
            q
        };
        for i in 0..5 {
            let expected = (energy(&moved(i, s)) - energy(&moved(i, -s))) / (2.0 * s);
            assert!((gradient[i] - expected).abs() < 1e-8);
        }
        // c v = −Ṁ v + ½ ∂(vᵀ M v)/∂q
        let (mut ahead, mut behind) = ([0.0; 25], [0.0; 25]);
        let along = |by: f64| std::array::from_fn::<f64, 5, _>(|i| q[i] + by * v[i]);
        linkage.mass(&along(s), &mut ahead);
        linkage.mass(&along(-s), &mut behind);
        for i in 0..5 {
            let rate = |k: usize| (ahead[5 * k + i] - behind[5 * k + i]) / (2.0 * s) * v[k];
            let expected = gradient[i] - (0..5).map(rate).sum::<f64>();
            assert!((coriolis[i] - expected).abs() < 1e-8);
        }
        let (mut weights, mut bend) = ([0.0; 5], [0.0; 5]);
        linkage.add_weights(9.81, &q, &mut weights);
        linkage.add_weights_along(9.81, &q, &v, &mut bend);
        let mut further = [0.0; 5];
        linkage.add_weights(9.81, &along(s), &mut further);
        for i in 0..5 {
            let slope = |by: f64| linkage.potential(9.81, &moved(i, by));
            assert!((weights[i] + (slope(s) - slope(-s)) / (2.0 * s)).abs() < 1e-7);
            assert!((bend[i] - (further[i] - weights[i]) / s).abs() < 1e-4);
        }
    }
}
