//! Mechanical systems and contacts written once for any scalar; [`Dual`] gives them exact
//! derivatives.

use std::ops::Range;

use nalgebra::RealField;
use num_dual::{Dual2_64, Dual64};

use super::configuration::{is_identity, rate};
use super::forward::{constraint_methods, mechanical_methods};
use super::{Friction, MechanicalSystem, State, UnilateralConstraints};
use crate::Dual;
use crate::derivative::on_scratch;
use crate::linalg::dot;
use crate::linalg::scratch::with_zeros;

/// Masses and forces, written once for any real scalar; [`Dual`] makes a [`MechanicalSystem`] of
/// them, with the exact Coriolis force of the mass matrix.
///
/// The rules of [`MechanicalSystem`] hold, and for the scalar those of
/// [`SmoothFlow`](crate::SmoothFlow): constants are made by
/// [`convert`](crate::derivative::convert).
///
/// ```
/// use saltation::Start;
/// use saltation::derivative::{Dual, RealField, convert};
/// use saltation::{ContactModel, EventDriven};
/// use saltation::mechanics::{MechanicalSystem, SmoothConstraints, SmoothMechanics, check_mechanics};
///
/// /// Two pendulums in a row, masses and lengths 1; a wall below the support, which the lower one hits with its end.
/// struct DoublePendulum;
/// impl SmoothMechanics for DoublePendulum {
///     fn dof(&self) -> usize {
///         2
///     }
///     fn mass<T: RealField + Copy>(&self, q: &[T], mass: &mut [T]) {
///         let cosine = (q[0] - q[1]).cos();
///         mass.copy_from_slice(&[convert(2.0), cosine, cosine, T::one()]);
///     }
///     fn effort<T: RealField + Copy>(&self, _t: T, q: &[T], _v: &[T], effort: &mut [T]) {
///         let (g, two): (T, T) = (convert(-9.81), convert(2.0));
///         effort[0] = two * g * q[0].sin();
///         effort[1] = g * q[1].sin();
///     }
/// }
/// impl SmoothConstraints for DoublePendulum {
///     fn contacts(&self) -> usize {
///         1
///     }
///     fn gap<T: RealField + Copy>(&self, _j: usize, q: &[T]) -> T {
///         q[0].sin() + q[1].sin()
///     }
/// }
///
/// let pendulum = Dual(DoublePendulum);
/// assert!(check_mechanics(&pendulum, 0.0, &[0.4, -0.1], &[1.0, 2.0])?.agrees(1e-8));
/// let mut force = [0.0; 2];
/// pendulum.coriolis(&[0.4, -0.1], &[1.0, 2.0], &mut force);
/// assert!((force[0] + 4.0 * 0.5f64.sin()).abs() < 1e-15 && (force[1] - 0.5f64.sin()).abs() < 1e-15);
/// let start = Start::at(0.0).q(&[0.4, -0.1]).v(&[0.0, 0.0]);
/// let run = EventDriven::new(ContactModel::new(pendulum))?.integrate(&start, 1.0)?;
/// assert_eq!(run.events()[0].activated, [0]);
/// # Ok::<(), saltation::Error>(())
/// ```
pub trait SmoothMechanics {
    /// As [`MechanicalSystem::dof`].
    fn dof(&self) -> usize;

    /// As [`MechanicalSystem::coordinates`].
    fn coordinates(&self) -> usize {
        self.dof()
    }

    /// As [`MechanicalSystem::configuration_rate`]; [`coriolis`](Self::coriolis) must be written
    /// with it.
    fn configuration_rate<T: RealField + Copy>(&self, q: &[T], v: &[T], rate: &mut [T]) -> bool {
        let _ = (q, v, rate);
        false
    }

    /// As [`MechanicalSystem::project_configuration`].
    fn project_configuration(&self, q: &mut [f64]) -> bool {
        let _ = q;
        false
    }

    /// As [`MechanicalSystem::coriolis`]. Where it is not written and `q̇ = v`, [`Dual`] derives
    /// it.
    fn coriolis<T: RealField + Copy>(&self, q: &[T], v: &[T], force: &mut [T]) -> bool {
        let _ = (q, v, force);
        false
    }

    /// As [`MechanicalSystem::trees`].
    fn trees(&self) -> usize {
        1
    }

    /// As [`MechanicalSystem::tree`].
    fn tree(&self, i: usize) -> Range<usize> {
        let _ = i;
        0..self.dof()
    }

    /// As [`MechanicalSystem::tree_speed`].
    fn tree_speed(&self, i: usize, q: &[f64], v: &[f64]) -> f64 {
        let _ = (i, q);
        dot(v, v).sqrt()
    }

    /// As [`MechanicalSystem::driven`].
    fn driven(&self) -> Range<usize> {
        0..0
    }

    /// As [`MechanicalSystem::mass`]: every entry, whatever it held before.
    fn mass<T: RealField + Copy>(&self, q: &[T], mass: &mut [T]);

    /// As [`MechanicalSystem::effort`]: every component, whatever it held before.
    fn effort<T: RealField + Copy>(&self, t: T, q: &[T], v: &[T], effort: &mut [T]);

    /// As [`MechanicalSystem::contact_effort`].
    fn contact_effort<T: RealField + Copy>(
        &self,
        at: State<'_, T>,
        closed: &[usize],
        effort: &mut [T],
    ) -> bool {
        let _ = (at, closed, effort);
        false
    }

    /// As [`MechanicalSystem::springs_and_dampers`].
    fn springs_and_dampers(
        &self,
        at: State<'_>,
        stiffness: &mut [f64],
        damping: &mut [f64],
    ) -> bool {
        let _ = (at, stiffness, damping);
        false
    }

    /// As [`MechanicalSystem::constant_mass`].
    fn constant_mass(&self) -> bool {
        false
    }

    /// As [`MechanicalSystem::time_scale`].
    fn time_scale(&self) -> Option<f64> {
        None
    }

    /// As [`MechanicalSystem::potential`].
    fn potential<T: RealField + Copy>(&self, q: &[T]) -> Option<T> {
        let _ = q;
        None
    }
}

/// Gaps, written once for any real scalar; [`Dual`] makes [`UnilateralConstraints`] of them and of
/// [`SmoothMechanics`], which gives the rates of coordinates, with exact rows and curvatures.
///
/// All methods but [`gap`](Self::gap) are those of [`UnilateralConstraints`].
pub trait SmoothConstraints {
    /// As [`UnilateralConstraints::contacts`].
    fn contacts(&self) -> usize;

    /// As [`UnilateralConstraints::gap`].
    fn gap<T: RealField + Copy>(&self, j: usize, q: &[T]) -> T;

    /// As [`UnilateralConstraints::constant_tangents`].
    fn constant_tangents(&self, j: usize) -> bool {
        let _ = j;
        false
    }

    /// As [`UnilateralConstraints::constant_row`].
    fn constant_row(&self, j: usize) -> bool {
        let _ = j;
        false
    }

    /// As [`UnilateralConstraints::restitution`].
    fn restitution(&self, j: usize, q: &[f64], v: &[f64]) -> f64 {
        let _ = (j, q, v);
        0.0
    }

    /// As [`UnilateralConstraints::stiffness`].
    fn stiffness(&self, j: usize) -> f64 {
        let _ = j;
        f64::INFINITY
    }

    /// As [`UnilateralConstraints::dissipation_time`].
    fn dissipation_time(&self, j: usize) -> f64 {
        let _ = j;
        0.0
    }

    /// As [`UnilateralConstraints::friction`].
    fn friction(&self, j: usize) -> f64 {
        let _ = j;
        0.0
    }

    /// As [`UnilateralConstraints::friction_at`].
    fn friction_at(&self, j: usize, q: &[f64], speed: f64) -> Option<Friction> {
        let _ = (j, q, speed);
        None
    }

    /// As [`UnilateralConstraints::tangents`].
    fn tangents(&self, j: usize) -> usize {
        let _ = j;
        0
    }

    /// As [`UnilateralConstraints::tangent_rows`].
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let _ = (j, q);
        rows.fill(0.0);
    }
}

/// With the exact Coriolis force, at the cost of one evaluation of the mass matrix in dual numbers
/// a coordinate; up to 10 degrees of freedom need no heap memory.
impl<M: SmoothMechanics> MechanicalSystem for Dual<M> {
    mechanical_methods! { self => self.0, sizes effort motion }

    fn effort_along(
        &self,
        State { t, q, v }: State<'_>,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        let (nq, d) = (q.len(), v.len());
        on_scratch(Dual64::new(0.0, 0.0), nq + 2 * d, |scratch| {
            let (point, effort) = scratch.split_at_mut(nq + d);
            let directions = directions.chunks_exact(nq + d);
            for (along, out) in directions.zip(out.chunks_exact_mut(d)) {
                for (i, x) in q.iter().chain(v).enumerate() {
                    point[i] = Dual64::new(*x, along[i]);
                }
                let (q, v) = point.split_at(nq);
                self.0.effort(Dual64::from_re(t), q, v, &mut *effort);
                for (out, effort) in out.iter_mut().zip(&*effort) {
                    *out = effort.eps;
                }
            }
        });
        true
    }

    /// `c v = −Σ_k v_k ∂_k M v + ½ ∂(vᵀ M v)/∂q`, unless it is written.
    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        if self.0.coriolis(q, v, force) {
            return true;
        }
        if !is_identity(self, q, v.len()) {
            return false;
        }
        force.fill(0.0);
        if self.0.constant_mass() || v.iter().all(|&v| v == 0.0) {
            return true;
        }
        let d = q.len();
        on_scratch(Dual64::new(0.0, 0.0), d * d + d, |scratch| {
            let (mass, point) = scratch.split_at_mut(d * d);
            for i in 0..d {
                point[i] = Dual64::from_re(q[i]);
            }
            for k in 0..d {
                point[k].eps = 1.0;
                self.0.mass(point, mass);
                point[k].eps = 0.0;
                let mut energy = 0.0;
                for i in 0..d {
                    let momentum: f64 = (0..d).map(|l| mass[l * d + i].eps * v[l]).sum();
                    force[i] -= v[k] * momentum;
                    energy += v[i] * momentum;
                }
                force[k] += 0.5 * energy;
            }
        });
        true
    }

    /// Along `N(q) e_i`.
    fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
        let (nq, d) = (q.len(), v.len());
        on_scratch(Dual64::new(0.0, 0.0), d * d + nq, |scratch| {
            let (mass, point) = scratch.split_at_mut(d * d);
            with_zeros(d + nq, |along| {
                let (axis, along) = along.split_at_mut(d);
                for i in 0..d {
                    axis[i] = 1.0;
                    rate(self, q, axis, along);
                    axis[i] = 0.0;
                    for ((point, q), along) in point.iter_mut().zip(q).zip(&*along) {
                        *point = Dual64::new(*q, *along);
                    }
                    self.0.mass(point, mass);
                    let mut energy = 0.0;
                    for (v_k, column) in v.iter().zip(mass.chunks_exact(d)) {
                        let momentum = column.iter().zip(v).map(|(m, v)| m.eps * v);
                        energy += 0.5 * v_k * momentum.sum::<f64>();
                    }
                    gradient[i] = energy;
                }
            });
        });
        true
    }
}

impl<M: SmoothMechanics> Dual<M> {
    /// First and second derivative of `q` along `q̇ = N(q) v` with `v` held; the second is zero on
    /// entry.
    fn path(&self, q: &[f64], v: &[f64], along: &mut [f64], bend: &mut [f64]) {
        if !self.0.configuration_rate(q, v, along) {
            let n = along.len().min(v.len());
            along[..n].copy_from_slice(&v[..n]);
            return;
        }
        let nq = q.len();
        on_scratch(Dual64::new(0.0, 0.0), 2 * nq + v.len(), |scratch| {
            let (rate, point) = scratch.split_at_mut(nq);
            let (point, held) = point.split_at_mut(nq);
            for i in 0..nq {
                point[i] = Dual64::new(q[i], along[i]);
            }
            for (held, v) in held.iter_mut().zip(v) {
                *held = Dual64::from_re(*v);
            }
            self.0.configuration_rate(point, held, &mut *rate);
            for (bend, rate) in bend.iter_mut().zip(rate) {
                *bend = rate.eps;
            }
        });
    }
}

/// With exact rows, at the cost of one evaluation of the gap in dual numbers an entry, and exact
/// curvatures, at the cost of one in dual numbers of second order:
/// `a(q + v ε) = a + Da v ε + ½ vᵀ D²a v ε²`, and likewise along `q̇ = N(q) v`.
impl<M: SmoothMechanics + SmoothConstraints> UnilateralConstraints for Dual<M> {
    constraint_methods! { self => self.0, sizes contacts friction }

    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        on_scratch(Dual64::new(0.0, 0.0), q.len(), |point| {
            for i in 0..q.len() {
                point[i] = Dual64::from_re(q[i]);
            }
            with_zeros(q.len() + row.len(), |scratch| {
                let (along, axis) = scratch.split_at_mut(q.len());
                for i in 0..row.len() {
                    axis[i] = 1.0;
                    rate(self, q, axis, along);
                    axis[i] = 0.0;
                    for (point, along) in point.iter_mut().zip(&*along) {
                        point.eps = *along;
                    }
                    row[i] = self.0.gap(j, point).eps;
                }
            });
        });
        true
    }

    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        let bent = on_scratch(Dual2_64::new(0.0, 0.0, 0.0), q.len(), |point| {
            with_zeros(2 * q.len(), |scratch| {
                let (along, bend) = scratch.split_at_mut(q.len());
                self.path(q, v, along, bend);
                for i in 0..q.len() {
                    point[i] = Dual2_64::new(q[i], along[i], bend[i]);
                }
            });
            self.0.gap(j, point).v2
        });
        Some(bent)
    }
}
