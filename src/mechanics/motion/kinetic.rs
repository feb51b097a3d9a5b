//! Forces of inertia by differences of the mass matrix: the Coriolis force of equation 1 of Pace &
//! Burden and the derivative of the kinetic energy,
//!
//! ```text
//!     c v = −Ṁ v + ½ ∂(vᵀ M v)/∂q        Ṁ v = Σ_k v_k ∂_k M v
//! ```
//!
//! which is `c_lm = −½ Σ_k (∂_k M_lm + ∂_m M_lk − ∂_l M_km) v_k` summed over `m`; the paper's footnote
//! lacks the factor `v_k`. It does no work beyond the change of the metric: `½ vᵀ Ṁ v + vᵀ c v = 0`.
//!
//! Cost: two mass matrices for `Ṁ v` and two a coordinate for the other term. The error is that of
//! central differences, about 1e-10 of the terms; 1e-8 where angles count a thousand turns.

use crate::linalg::dot;
use crate::linalg::scratch::Cut;
use crate::mechanics::MechanicalSystem;
use crate::mechanics::configuration::is_identity;
use crate::ode::difference;

/// Kinetic and potential energy (J); none without a potential.
pub(crate) fn energy<S: MechanicalSystem + ?Sized>(
    system: &S,
    q: &[f64],
    v: &[f64],
) -> Option<f64> {
    let mut mass = vec![0.0; v.len() * v.len()];
    Some(kinetic(system, q, v, &mut mass) + system.potential(q)?)
}

/// Kinetic energy (J), that of driven velocities left out; `mass` is space for the mass matrix.
pub(crate) fn kinetic<S: MechanicalSystem + ?Sized>(
    system: &S,
    q: &[f64],
    v: &[f64],
    mass: &mut [f64],
) -> f64 {
    system.mass(q, mass);
    let columns = mass.chunks_exact(v.len().max(1)).zip(v).enumerate();
    let driven = system.driven();
    columns
        .filter(|(k, _)| !driven.contains(k))
        .map(|(_, (column, v_k))| 0.5 * v_k * dot(column, v))
        .sum()
}

/// The Coriolis force `c v`, written or by differences. NaN where it is not written and velocities
/// are not the rates of the coordinates, and without space; `work` has `d² + d` entries.
pub(crate) fn coriolis<S: MechanicalSystem + ?Sized>(
    system: &S,
    q: &[f64],
    v: &[f64],
    force: &mut [f64],
    work: &mut [f64],
) {
    if system.coriolis(q, v, force) {
        rest_driven(system, force);
        return;
    }
    if q.len() != v.len() || !is_identity(system, q, v.len()) {
        force.fill(f64::NAN);
        return;
    }
    // A system that says another thing of its mass than before has no space for it.
    if work.len() < v.len() * (v.len() + 1) {
        force.fill(f64::NAN);
        return;
    }
    // Quadratic in v.
    if v.iter().all(|&v| v == 0.0) {
        force.fill(0.0);
        return;
    }
    write_mass_rate(system, q, v, force, work);
    add_kinetic_gradient(system, q, v, force, work);
    rest_driven(system, force);
}

/// True where the Coriolis force is a difference of masses; `work` has an entry for each velocity.
pub(crate) fn differs_masses<S: MechanicalSystem + ?Sized>(
    system: &S,
    q: &[f64],
    v: &[f64],
    work: &mut [f64],
) -> bool {
    !system.constant_mass() && !system.coriolis(q, v, &mut work[..v.len()])
}

/// Writes units of the forces, the roots of the masses on the diagonal: forces and torques of bodies of any size are
/// numbers of one size in them. `work` has `d²` entries.
pub(crate) fn mass_units<S: MechanicalSystem + ?Sized>(
    system: &S,
    q: &[f64],
    work: &mut [f64],
    units: &mut [f64],
) {
    let d = units.len();
    let Some(mass) = work.get_mut(..d * d) else {
        units.fill(1.0);
        return;
    };
    system.mass(q, mass);
    for (unit, mass) in units.iter_mut().zip(mass.iter().step_by(d + 1)) {
        *unit = if *mass > 0.0 { mass.sqrt() } else { 1.0 };
    }
}

/// Driven velocities have the accelerations that the effort gives, and no others.
fn rest_driven<S: MechanicalSystem + ?Sized>(system: &S, force: &mut [f64]) {
    if let Some(driven) = force.get_mut(system.driven()) {
        driven.fill(0.0);
    }
}

/// Writes `−Ṁ v`, by a difference along `v`; `work` has `d² + d` entries.
fn write_mass_rate<S: MechanicalSystem + ?Sized>(
    system: &S,
    q: &[f64],
    v: &[f64],
    force: &mut [f64],
    work: &mut [f64],
) {
    let d = q.len();
    let mut cut = Cut(work);
    let (mass, point) = (cut.take(d * d), cut.take(d));
    // −Ṁ v = (M(q − s v) v − M(q + s v) v) / 2s: one direction, whatever the number of coordinates. The momenta are
    // summed before they are subtracted, so that a mass that stays as it is makes no force, not even by rounding.
    let s = difference::turned_step_along(q, v);
    force.fill(0.0);
    for (sign, part) in [(1.0, 1.0), (-1.0, 2.0 * s)] {
        for i in 0..d {
            point[i] = q[i] + sign * s * v[i];
        }
        system.mass(point, mass);
        for i in 0..d {
            let momentum: f64 = (0..d).map(|k| mass[k * d + i] * v[k]).sum();
            force[i] = (momentum - force[i]) / part;
        }
    }
}

/// Adds `½ ∂(vᵀ M v)/∂q` to `force`, written or by differences; `work` has `d² + d` entries.
fn add_kinetic_gradient<S: MechanicalSystem + ?Sized>(
    system: &S,
    q: &[f64],
    v: &[f64],
    force: &mut [f64],
    work: &mut [f64],
) {
    let d = q.len();
    let mut cut = Cut(work);
    let (mass, point) = (cut.take(d * d), cut.take(d));
    if system.kinetic_gradient(q, v, point) {
        for (force, gradient) in force.iter_mut().zip(&*point) {
            *force += gradient;
        }
        return;
    }
    point.copy_from_slice(q);
    for i in 0..d {
        let step = difference::turned_step(q[i]);
        let mut energy = [0.0; 2];
        for (value, at) in energy.iter_mut().zip([q[i] + step, q[i] - step]) {
            point[i] = at;
            system.mass(point, mass);
            for (k, v_k) in v.iter().enumerate() {
                // ½ vᵀ M v at q ± step e_i, with v held.
                *value += 0.5 * v_k * dot(&mass[k * d..(k + 1) * d], v);
            }
        }
        force[i] += (energy[0] - energy[1]) / (2.0 * step);
        point[i] = q[i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bead of mass 2 on the wire `y = x³`: `M = 2 (1 + 9 x⁴)`.
    struct Bead {
        /// The derivative of the kinetic energy is written, and this times too large.
        written: Option<f64>,
    }

    impl MechanicalSystem for Bead {
        fn dof(&self) -> usize {
            1
        }
        fn mass(&self, q: &[f64], mass: &mut [f64]) {
            mass[0] = 2.0 + 18.0 * q[0].powi(4);
        }
        fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
            effort[0] = 0.0;
        }
        fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
            if let Some(factor) = self.written {
                gradient[0] = factor * 36.0 * q[0].powi(3) * v[0] * v[0];
            }
            self.written.is_some()
        }
    }

    #[test]
    fn both_terms_are_those_of_the_mass() {
        let (q, v) = ([0.7], [1.3]);
        // ∂T/∂x = 36 x³ v², and Ṁ v is twice that.
        let expected = 36.0 * 0.7f64.powi(3) * 1.69;
        for (written, found) in [(None, 1.0), (Some(1.0), 1.0), (Some(3.0), 3.0)] {
            let (bead, mut work) = (Bead { written }, [0.0; 2]);
            let mut gradient = [0.5];
            add_kinetic_gradient(&bead, &q, &v, &mut gradient, &mut work);
            assert!((gradient[0] - 0.5 - found * expected).abs() < 1e-8);
            let mut force = [f64::NAN];
            coriolis(&bead, &q, &v, &mut force, &mut work);
            assert!((force[0] - (found - 2.0) * expected).abs() < 1e-8);
        }
    }
}
