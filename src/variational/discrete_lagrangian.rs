//! The discrete Lagrangian of the midpoint rule and its derivatives,
//!
//! ```text
//!     L_d(q₀, q₁, h) = h L(m, v)        m = (q₀ + q₁)/2,  v = (q₁ − q₀)/h
//!     D₁L_d = (h/2) ∂_q L − ∂_v L        D₂L_d = (h/2) ∂_q L + ∂_v L        ∂_v L = M(m) v
//! ```
//!
//! Forces act for half of the step at each end. With all forces but contacts in one vector,
//! `F = ½ ∂(vᵀ M v)/∂q + f(t + h/2, m, v)`, a step is
//!
//! ```text
//!     p₀ = M(m) v − (h/2) F        p₁ = M(m) v + (h/2) F
//! ```

use crate::linalg::dot;
use crate::mechanics::MechanicalSystem;
use crate::mechanics::kinetic::add_kinetic_gradient;
use crate::ode::difference;

/// A step of a difference of something that is a difference itself, relative to the coordinates.
const WIDE: f64 = 3e-4;

/// The midpoint of a step and what the derivatives of the discrete Lagrangian need there.
#[derive(Clone, Debug, Default)]
pub(super) struct DiscreteLagrangian {
    /// Time in the middle of the step (s).
    pub(super) t: f64,
    /// `m`.
    pub(super) q: Vec<f64>,
    /// `v`, the velocity of the step.
    pub(super) v: Vec<f64>,
    /// `M(m)`.
    pub(super) mass: Vec<f64>,
    /// `M(m) v`.
    pub(super) momentum: Vec<f64>,
    /// `F`.
    pub(super) force: Vec<f64>,
    /// The closed contacts, for efforts that depend on them.
    pub(super) closed: Vec<usize>,
}

impl DiscreteLagrangian {
    pub(super) fn new(d: usize) -> Self {
        Self {
            t: 0.0,
            q: vec![0.0; d],
            v: vec![0.0; d],
            mass: vec![0.0; d * d],
            momentum: vec![0.0; d],
            force: vec![0.0; d],
            closed: Vec::new(),
        }
    }

    /// Moves the midpoint to the one of a step from `q0` with the velocity `v` that is set, and
    /// evaluates the terms there.
    pub(super) fn evaluate<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        (t, q0, h): (f64, &[f64], f64),
        work: &mut Work,
    ) {
        self.t = t + 0.5 * h;
        for i in 0..q0.len() {
            self.q[i] = q0[i] + 0.5 * h * self.v[i];
        }
        system.mass(&self.q, &mut self.mass);
        times(&self.mass, &self.v, &mut self.momentum);
        system.effort(self.t, &self.q, &self.v, &mut self.force);
        system.contact_effort((self.t, &self.q, &self.v), &self.closed, &mut self.force);
        if !system.constant_mass() {
            add_kinetic_gradient(
                system,
                (&self.q, &self.v),
                &mut self.force,
                &mut work.kinetic,
            );
        }
    }

    /// The derivatives of `M v` and of `F` along `(dm, dv)`, with the time held, into `work`.
    /// Efforts as the user wrote them or by differences; masses by differences.
    pub(super) fn along<S: MechanicalSystem + ?Sized>(
        &self,
        system: &S,
        (dm, dv): (&[f64], &[f64]),
        work: &mut Work,
    ) {
        let d = dm.len();
        times(&self.mass, dv, &mut work.dmomentum);
        self.effort_along(system, (dm, dv), work);
        if system.constant_mass() {
            return;
        }
        // The derivative of the kinetic energy is quadratic in the velocities: the difference
        // along dv has no error of truncation.
        for sign in [1.0, -1.0] {
            for i in 0..d {
                work.point[i] = self.v[i] + sign * dv[i];
            }
            work.gradient.fill(0.0);
            let at = (&self.q[..], &work.point[..]);
            add_kinetic_gradient(system, at, &mut work.gradient, &mut work.kinetic);
            for i in 0..d {
                work.dforce[i] += 0.5 * sign * work.gradient[i];
            }
        }
        if dm.iter().all(|&entry| entry == 0.0) {
            return;
        }
        let narrow = difference::step_along(0.0, &self.q, 0.0, dm);
        let written = system.kinetic_gradient(&self.q, &self.v, &mut work.gradient);
        let wide = if written {
            narrow
        } else {
            narrow * (WIDE / difference::CENTRAL)
        };
        for sign in [1.0, -1.0] {
            for i in 0..d {
                work.point[i] = self.q[i] + sign * narrow * dm[i];
            }
            system.mass(&work.point, &mut work.mass);
            for k in 0..d {
                let part = sign * self.v[k] / (2.0 * narrow);
                for i in 0..d {
                    work.dmomentum[i] += part * work.mass[k * d + i];
                }
            }
            for i in 0..d {
                work.point[i] = self.q[i] + sign * wide * dm[i];
            }
            work.gradient.fill(0.0);
            let at = (&work.point[..], &self.v[..]);
            add_kinetic_gradient(system, at, &mut work.gradient, &mut work.kinetic);
            for i in 0..d {
                work.dforce[i] += sign * work.gradient[i] / (2.0 * wide);
            }
        }
    }

    /// The derivative of the effort along `(dm, dv)`, into `work.dforce`.
    fn effort_along<S: MechanicalSystem + ?Sized>(
        &self,
        system: &S,
        (dm, dv): (&[f64], &[f64]),
        work: &mut Work,
    ) {
        let d = dm.len();
        work.direction[..d].copy_from_slice(dm);
        work.direction[d..].copy_from_slice(dv);
        let state = (self.t, &self.q[..], &self.v[..]);
        let written = system.effort_along(state, &work.direction, &mut work.dforce);
        if !written {
            work.dforce.fill(0.0);
        }
        work.gradient.fill(0.0);
        let switched = system.contact_effort(state, &self.closed, &mut work.gradient);
        if written && !switched {
            return;
        }
        // Coordinates and velocities apart: their sizes have nothing to do with each other.
        for (from, along, of_coordinates) in [(&self.q, dm, true), (&self.v, dv, false)] {
            if along.iter().all(|&entry| entry == 0.0) {
                continue;
            }
            let step = difference::step_along(0.0, from, 0.0, along);
            for sign in [1.0, -1.0] {
                for i in 0..d {
                    work.point[i] = from[i] + sign * step * along[i];
                }
                let (q, v) = if of_coordinates {
                    (&work.point, &self.v)
                } else {
                    (&self.q, &work.point)
                };
                work.gradient.fill(0.0);
                if !written {
                    system.effort(self.t, q, v, &mut work.gradient);
                }
                system.contact_effort((self.t, q, v), &self.closed, &mut work.gradient);
                for i in 0..d {
                    work.dforce[i] += sign * work.gradient[i] / (2.0 * step);
                }
            }
        }
    }
}

/// Scratch space, and the derivatives that [`DiscreteLagrangian::along`] leaves.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    kinetic: Vec<f64>,
    mass: Vec<f64>,
    point: Vec<f64>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    /// Of `M v`.
    pub(super) dmomentum: Vec<f64>,
    /// Of `F`.
    pub(super) dforce: Vec<f64>,
}

impl Work {
    pub(super) fn new(d: usize) -> Self {
        Self {
            kinetic: vec![0.0; d * d + d],
            mass: vec![0.0; d * d],
            point: vec![0.0; d],
            gradient: vec![0.0; d],
            direction: vec![0.0; 2 * d],
            dmomentum: vec![0.0; d],
            dforce: vec![0.0; d],
        }
    }
}

/// `out = A v` for a symmetric `A`, its columns one after the other.
pub(super) fn times(a: &[f64], v: &[f64], out: &mut [f64]) {
    for (out, column) in out.iter_mut().zip(a.chunks_exact(v.len().max(1))) {
        *out = dot(column, v);
    }
}
