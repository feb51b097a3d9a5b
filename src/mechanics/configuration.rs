//! Rates of coordinates by velocities, `q̇ = N(q) v`
//! ([`MechanicalSystem::configuration_rate`]).

use super::MechanicalSystem;
use crate::linalg::scratch::{Cut, with_zeros};
use crate::ode::difference::turned_step_along;
use crate::{InputError, validate};

/// True when `q̇ = v`, for `dof` velocities.
pub(crate) fn is_identity<S>(system: &S, q: &[f64], dof: usize) -> bool
where
    S: MechanicalSystem + ?Sized,
{
    with_zeros(q.len() + dof, |scratch| {
        let (rate, still) = scratch.split_at_mut(q.len());
        !system.configuration_rate(q, still, rate)
    })
}

/// Writes `q̇ = N(q) v`.
#[inline]
pub(crate) fn rate<S: MechanicalSystem + ?Sized>(
    system: &S,
    q: &[f64],
    v: &[f64],
    out: &mut [f64],
) {
    if !system.configuration_rate(q, v, out) {
        copy(v, out);
    }
}

/// Copies as many entries as both slices have.
#[inline]
pub(crate) fn copy(from: &[f64], to: &mut [f64]) {
    let n = from.len().min(to.len());
    to[..n].copy_from_slice(&from[..n]);
}

/// Writes the derivative of `N(q) v` along `(dq, dv)`: exact where `N` is linear in `q`, else a
/// central difference. `work` has three times as many entries as `q`.
pub(crate) fn rate_along<S: MechanicalSystem + ?Sized>(
    system: &S,
    q: &[f64],
    v: &[f64],
    dq: &[f64],
    dv: &[f64],
    out: &mut [f64],
    work: &mut [f64],
) {
    if !system.configuration_rate(q, dv, out) {
        copy(dv, out);
        return;
    }
    let mut cut = Cut(work);
    let (point, ahead, behind) = (cut.take(q.len()), cut.take(q.len()), cut.take(q.len()));
    // N(q) dv is in `out`; now (∂N(q)/∂q dq) v, with v held.
    let step = turned_step_along(q, dq);
    for (step, rate) in [(step, &mut *ahead), (-step, &mut *behind)] {
        for ((point, q), dq) in point.iter_mut().zip(q).zip(dq) {
            *point = q + step * dq;
        }
        system.configuration_rate(point, v, rate);
    }
    for ((out, ahead), behind) in out.iter_mut().zip(ahead).zip(behind) {
        *out += (*ahead - *behind) / (2.0 * step);
    }
}

/// Refuses numbers of coordinates and velocities that do not fit, and `q̇ = N(q) v` without a
/// Coriolis force.
pub(crate) fn check_configuration<S: MechanicalSystem + ?Sized>(
    system: &S,
    q: &[f64],
    v: &[f64],
) -> Result<(), InputError> {
    if is_identity(system, q, v.len()) {
        let name = "q, with configuration_rate not written,";
        return validate::length(name, v.len(), q.len());
    }
    if q.len() < v.len() {
        return validate::length("v, which has no more entries than q,", q.len(), v.len());
    }
    let mut force = vec![0.0; v.len()];
    if system.coriolis(q, v, &mut force) {
        Ok(())
    } else {
        Err(InputError::CoriolisUnwritten)
    }
}

/// Refuses positions and velocities of another length than these, and numbers that are not finite.
pub(crate) fn check_input(
    coordinates: usize,
    dof: usize,
    t: f64,
    q: &[f64],
    v: &[f64],
) -> Result<(), InputError> {
    validate::length("q", coordinates, q.len())?;
    validate::length("v", dof, v.len())?;
    for (name, values) in [("t", &[t][..]), ("q", q), ("v", v)] {
        validate::finite(name, values)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `q̇ = q v`.
    struct Exponential;

    impl MechanicalSystem for Exponential {
        fn dof(&self) -> usize {
            1
        }
        fn mass(&self, _q: &[f64], mass: &mut [f64]) {
            mass[0] = 1.0;
        }
        fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
            effort[0] = 0.0;
        }
        fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
            rate[0] = q[0] * v[0];
            true
        }
    }

    #[test]
    fn rates_change_with_coordinates_and_velocities() {
        let (mut out, mut work) = ([f64::NAN], [0.0; 3]);
        for (q, dq, expected) in [(3.0, 0.5, 6.5), (3.0, 0.0, 6.0), (1e10, 0.0, 2e10)] {
            let (v, dv) = ([1.0], [2.0]);
            rate_along(&Exponential, &[q], &v, &[dq], &dv, &mut out, &mut work);
            assert!((out[0] - expected).abs() < 1e-9 * expected, "{}", out[0]);
        }
    }
}
