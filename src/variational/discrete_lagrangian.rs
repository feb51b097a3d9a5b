//! The discrete Lagrangian of the midpoint rule (Seghete & Murphey, section VI) and its derivatives,
//!
//! ```text
//!     L_d(q₀, q₁, h) = h L(m, v)        m = (q₀ + q₁)/2,  v = (q₁ − q₀)/h
//!     D₁L_d = (h/2) ∂_q L − ∂_v L        D₂L_d = (h/2) ∂_q L + ∂_v L        ∂_v L = M(m) v
//! ```
//!
//! The paper's momentum maps are `F⁻ = D₁L_d = −p₀` and `F⁺ = D₂L_d = p₁`, and its equations (28)
//! and (29), `F⁺ + F⁻ = 0` at each node, say that `p₁` of one step is `p₀` of the next.
//!
//! Forces act for half of the step at each end. With all forces but contacts in one vector,
//! `F = ½ ∂(vᵀ M v)/∂q + f(t + h/2, m, v)`, a step is
//!
//! ```text
//!     p₀ = M(m) v − (h/2) F        p₁ = M(m) v + (h/2) F
//! ```

use super::state::Step;
use crate::Interrupt;
use crate::interrupt::Interrupted;
use crate::linalg::dot;
use crate::mechanics::{MechanicalSystem, State};
use crate::ode::difference;

/// A step of a second difference, relative to the coordinates: the fourth root of the rounding
/// unit.
const SECOND: f64 = 1.2e-4;

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
    /// Looked at after each four mass matrices or less.
    pub(super) interrupt: Interrupt,
    /// Columns `∂_k M v`, if they are those of this midpoint.
    slopes: Vec<f64>,
    sloped: bool,
    /// `½ ∂²(vᵀ M v)/∂q²`, or zero where it is left out.
    curvature: Vec<f64>,
}

impl DiscreteLagrangian {
    pub(super) fn new(d: usize) -> Self {
        Self {
            q: vec![0.0; d],
            v: vec![0.0; d],
            mass: vec![0.0; d * d],
            momentum: vec![0.0; d],
            force: vec![0.0; d],
            slopes: vec![0.0; d * d],
            curvature: vec![0.0; d * d],
            ..Self::default()
        }
    }

    /// Moves the midpoint to the one of a step from `q0` with the velocity `v` that is set, and
    /// evaluates the terms there. Costs two mass matrices and two products of one with a vector a
    /// coordinate, where the derivative of the kinetic energy is not written.
    pub(super) fn evaluate<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        Step { t, h }: Step,
        q0: &[f64],
        work: &mut Work,
    ) -> Result<(), Interrupted> {
        self.interrupt.check()?;
        // The midpoint: t + h/2 and m = q₀ + (h/2) v.
        self.t = t + 0.5 * h;
        for i in 0..q0.len() {
            self.q[i] = q0[i] + 0.5 * h * self.v[i];
        }
        self.sloped = false;
        // ∂_v L = M(m) v.
        system.mass(&self.q, &mut self.mass);
        times(&self.mass, &self.v, &mut self.momentum);
        // F begins with the efforts f(t + h/2, m, v), potential forces among them.
        system.effort(self.t, &self.q, &self.v, &mut self.force);
        let (t, q, v) = (self.t, &self.q, &self.v);
        system.contact_effort(State { t, q, v }, &self.closed, &mut self.force);
        // The kinetic energy does not depend on m: F is complete.
        if system.constant_mass() {
            return Ok(());
        }
        // The rest of ∂_q L: ½ ∂(vᵀ M v)/∂m, as written or by component k from ½ (∂_k M v) · v.
        if system.kinetic_gradient(&self.q, &self.v, &mut work.gradient) {
            for (force, gradient) in self.force.iter_mut().zip(&work.gradient) {
                *force += gradient;
            }
            return Ok(());
        }
        self.find_slopes(system, work)?;
        let columns = self.slopes.chunks_exact(q0.len().max(1));
        for (force, column) in self.force.iter_mut().zip(columns) {
            *force += 0.5 * dot(column, &self.v);
        }
        Ok(())
    }

    /// Prepares [`along`](Self::along) at the terms. The second derivatives of the kinetic energy
    /// cost two gradients a coordinate where these are written, else four mass matrices a pair of
    /// coordinates: without `whole` they are left out.
    pub(super) fn linearise<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        whole: bool,
        work: &mut Work,
    ) -> Result<(), Interrupted> {
        self.curvature.fill(0.0);
        if system.constant_mass() {
            self.slopes.fill(0.0);
            return Ok(());
        }
        if !self.sloped {
            self.find_slopes(system, work)?;
        }
        if whole {
            self.find_curvature(system, work)?;
        }
        Ok(())
    }

    /// The columns `∂_k M v`, by central differences.
    fn find_slopes<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        work: &mut Work,
    ) -> Result<(), Interrupted> {
        let d = self.q.len();
        work.point.copy_from_slice(&self.q);
        for (k, column) in self.slopes.chunks_exact_mut(d).enumerate() {
            self.interrupt.check()?;
            // ∂_k M v = (M(m + s e_k) − M(m − s e_k)) v / 2s, with v held.
            let step = difference::turned_step(self.q[k]);
            work.point[k] = self.q[k] + step;
            system.mass(&work.point, &mut work.mass);
            times(&work.mass, &self.v, column);
            work.point[k] = self.q[k] - step;
            system.mass(&work.point, &mut work.mass);
            times(&work.mass, &self.v, &mut work.gradient);
            for (ahead, behind) in column.iter_mut().zip(&work.gradient) {
                *ahead = (*ahead - behind) / (2.0 * step);
            }
            work.point[k] = self.q[k];
        }
        self.sloped = true;
        Ok(())
    }

    /// The part of twice the kinetic energy of which the force of inertia `k` is a difference, its
    /// parts taken as positive: of coordinates whose momenta change with `k`. All of it where
    /// the slopes of the momenta were not evaluated.
    pub(super) fn energy_behind<S: MechanicalSystem + ?Sized>(&self, system: &S, k: usize) -> f64 {
        if system.constant_mass() {
            return 0.0;
        }
        let slope = &self.slopes[k * self.v.len()..];
        let momenta = self.momentum.iter().zip(&self.v).zip(slope);
        let parts = momenta.filter(|(_, slope)| !self.sloped || **slope != 0.0);
        parts.map(|((p, v), _)| (p * v).abs()).sum()
    }

    /// The second derivatives of the kinetic energy by coordinates: differences of its gradient
    /// where that is written, else of itself at four places.
    fn find_curvature<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        work: &mut Work,
    ) -> Result<(), Interrupted> {
        let (d, q, v) = (self.q.len(), &self.q, &self.v);
        // A first call finds out whether the gradient is written.
        let written = system.kinetic_gradient(q, v, &mut work.gradient);
        work.point.copy_from_slice(q);
        for k in 0..d {
            if written {
                self.interrupt.check()?;
                let step = difference::turned_step(q[k]);
                for sign in [1.0, -1.0] {
                    work.point[k] = q[k] + sign * step;
                    system.kinetic_gradient(&work.point, v, &mut work.gradient);
                    for (i, gradient) in work.gradient.iter().enumerate() {
                        self.curvature[k * d + i] += sign * gradient / (2.0 * step);
                    }
                }
                work.point[k] = q[k];
                continue;
            }
            for i in 0..=k {
                self.interrupt.check()?;
                // Mixed second difference of the energy: (E₊₊ − E₊₋ − E₋₊ + E₋₋)/(4 s_i s_k).
                let steps = [i, k].map(|j| {
                    // Between what suits an angle that counts turns, and a length.
                    let step = SECOND * q[j].abs().max(1.0).sqrt().sqrt();
                    difference::on_clock(q[j], step)
                });
                let mut second = 0.0;
                for (a, b) in [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)] {
                    // A coordinate moves twice where `i` equals `k`.
                    work.point[i] += a * steps[0];
                    work.point[k] += b * steps[1];
                    system.mass(&work.point, &mut work.mass);
                    work.point[i] = q[i];
                    work.point[k] = q[k];
                    times(&work.mass, v, &mut work.gradient);
                    second += a * b * 0.5 * dot(&work.gradient, v);
                }
                second /= 4.0 * steps[0] * steps[1];
                self.curvature[k * d + i] = second;
                self.curvature[i * d + k] = second;
            }
        }
        Ok(())
    }

    /// The derivatives of `M v` and of `F` along `(dm, dv)`, with the time held, into `work`, at
    /// terms that [`linearise`](Self::linearise) has prepared:
    ///
    /// ```text
    ///     M dv + A dm        Aᵀ dv + ½ ∂²(vᵀ M v)/∂q² dm + ∂f        A = (∂_1 M v, …, ∂_d M v)
    /// ```
    ///
    /// Efforts as the user wrote them or by differences; masses by differences.
    pub(super) fn along<S: MechanicalSystem + ?Sized>(
        &self,
        system: &S,
        dm: &[f64],
        dv: &[f64],
        work: &mut Work,
    ) {
        let d = dm.len();
        // M dv; the part A dm follows below, where the mass depends on m.
        times(&self.mass, dv, &mut work.dmomentum);
        self.effort_along(system, dm, dv, work);
        if system.constant_mass() {
            return;
        }
        for k in 0..d {
            let (slope, curve) = (
                &self.slopes[k * d..(k + 1) * d],
                &self.curvature[k * d..(k + 1) * d],
            );
            for (dmomentum, entry) in work.dmomentum.iter_mut().zip(slope) {
                *dmomentum += dm[k] * entry;
            }
            // Component k of Aᵀ dv + ½ ∂²(vᵀ M v)/∂q² dm, beside ∂f.
            work.dforce[k] += dot(slope, dv) + dot(curve, dm);
        }
    }

    /// The derivative of the effort along `(dm, dv)`, into `work.dforce`.
    fn effort_along<S: MechanicalSystem + ?Sized>(
        &self,
        system: &S,
        dm: &[f64],
        dv: &[f64],
        work: &mut Work,
    ) {
        let d = dm.len();
        work.direction[..d].copy_from_slice(dm);
        work.direction[d..].copy_from_slice(dv);
        let (t, q, v) = (self.t, &self.q, &self.v);
        let state = State { t, q, v };
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
            // So that what does not move does not make the step longer.
            for i in 0..d {
                work.point[i] = if along[i] == 0.0 { 0.0 } else { from[i] };
            }
            let step = difference::turned_step_along(&work.point, along);
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
                    system.effort(t, q, v, &mut work.gradient);
                }
                system.contact_effort(State { t, q, v }, &self.closed, &mut work.gradient);
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
