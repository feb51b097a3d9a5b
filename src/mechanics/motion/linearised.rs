//! The derivative of the motion along a direction, with the closed contacts held: the linearised
//! equations of motion.
//!
//! With the accelerations `a` and multipliers `λ` at the state held fixed, and
//!
//! ```text
//!     r(q, v) = f + c v − M a + Daᵀ λ        s(q, v) = Da a + κ
//! ```
//!
//! both zero there (equation 1 of Pace & Burden, and `d²a_J/dt² = 0`, from which their equation 2
//! follows with the curvature `κ` that it lacks), the derivative of the acceleration is
//! `M⁻¹ (δr + Daᵀ δλ)` with
//! `G δλ = −(Da M⁻¹ δr + δs)`. One factorisation serves all directions. Differences are taken only
//! of what the user did not write. Where masses and rows are constant `δr` is the derivative of the
//! effort, `δs` is zero, and one matrix takes the efforts of all directions to accelerations.

use std::ops::Range;

use crate::linalg::cholesky::{columns_times, solve};
use crate::linalg::dot;
use crate::linalg::scratch::{Cut, with_zeros};
use crate::mechanics::configuration::rate_along;
use crate::mechanics::contact::gaps::{curvature, gap_row};
use crate::mechanics::motion::ClosedContacts;
use crate::mechanics::motion::acceleration::{Frame, accelerate};
use crate::mechanics::motion::coarse_steps::{Coarse, Terms};
use crate::mechanics::motion::constants::{Fixed, Trouble};
use crate::mechanics::motion::kinetic::{coriolis, differs_masses, mass_units};
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::ode::difference::step_along;
use crate::ode::straight::{extrapolated, shorten_until_straight};

/// Writes the derivatives of `(q̇, q̈)` at `x = (q, v)` along each of `directions`, with contacts
/// `closed`; false when there is no acceleration or the multipliers are not unique. An error only
/// where the sizes of the system are not those of the record.
pub(crate) fn motion_along<S>(
    system: &S,
    fixed: &Fixed,
    t: f64,
    x: &[f64],
    closed: ClosedContacts<'_>,
    directions: &[f64],
    out: &mut [f64],
) -> Result<bool, Trouble>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    let (q, v) = x.split_at(fixed.nq.min(x.len()));
    let (nq, d, dim) = (q.len(), v.len(), x.len().max(1));
    let count = directions.len() / dim;
    let (last, closed, redundant) = (closed.last, closed.list, closed.redundant);
    let m = closed.len();
    let state = State { t, q, v };
    with_zeros(count * d + d, |scratch| {
        let (efforts, of_contacts) = scratch.split_at_mut(count * d);
        let written = system.effort_along(state, directions, efforts);
        if written && !system.contact_effort(state, closed, of_contacts) {
            // Efforts are all that depends on the state: one matrix takes them to accelerations.
            let constant = last.of_closed(system, fixed, q, closed, |contacts| {
                take_along(contacts.held_inverse(), directions, efforts, out);
            });
            if constant.is_some() {
                return Ok(true);
            }
        }
        let own = d + m + Residuals::size(nq, d, m);
        with_zeros(fixed.frame_size(d, nq, m) + own, |scratch| {
            let mut cut = Cut(scratch);
            let (acceleration, forces) = (cut.take(d), cut.take(m));
            let mut residuals = Residuals::new(&mut cut, nq, d, m);
            let mut frame = match Frame::new(system, fixed, q, closed, cut.0) {
                Ok(frame) => frame,
                Err(changed @ Trouble::Sizes { .. }) => return Err(changed),
                Err(_) => return Ok(false),
            };
            // The a and λ that are held in r and s.
            let moved = accelerate(system, &mut frame, state, acceleration, forces, redundant);
            if moved != Ok(true) {
                return Ok(false);
            }
            let base = Base {
                t,
                x,
                closed,
                acceleration,
                forces,
                driven: &fixed.sizes.driven,
                has_coriolis: frame.has_coriolis,
                differs_masses: differs_masses(system, q, v, residuals.work),
                coarse: coarseness(system, q, v, closed, residuals.work),
            };
            mass_units(system, q, residuals.work, residuals.terms.units);
            let directions = directions.chunks_exact(dim);
            for (i, (along, out)) in directions.zip(out.chunks_exact_mut(dim)).enumerate() {
                let (rate, bent) = out.split_at_mut(nq);
                let (dq, dv) = along.split_at(nq);
                // δq̇ = N δv + (∂N δq) v.
                rate_along(system, q, v, dq, dv, rate, residuals.work);
                let effort = written.then_some(&efforts[i * d..(i + 1) * d]);
                residuals.along(system, &base, along, effort);
                // M⁻¹ δr, then δλ from G δλ = −(Da M⁻¹ δr + δs), then the sum M⁻¹ (δr + Daᵀ δλ).
                frame.solve_mass(residuals.r, bent);
                for i in 0..m {
                    residuals.s[i] = -residuals.s[i] - dot(frame.row(i), bent);
                }
                // The Gram matrix was factorised for the multipliers.
                solve(frame.gram, m, residuals.s);
                for i in 0..m {
                    frame.push(i, residuals.s[i], bent);
                }
            }
            Ok(true)
        })
    })
}

/// The derivatives of `(q̇, q̈)` along directions, from those of the efforts, when `held` takes
/// forces to accelerations.
fn take_along(held: &[f64], directions: &[f64], efforts: &[f64], out: &mut [f64]) {
    let d = held.len().isqrt().max(1);
    let each = directions.chunks_exact(2 * d).zip(efforts.chunks_exact(d));
    for ((along, effort), out) in each.zip(out.chunks_exact_mut(2 * d)) {
        let (rate, bent) = out.split_at_mut(d);
        rate.copy_from_slice(&along[d..]);
        columns_times(held, effort, bent);
    }
}

/// The state whose residuals are differenced, with what is held.
struct Base<'a> {
    t: f64,
    /// `(q, v)`.
    x: &'a [f64],
    closed: &'a [usize],
    /// `a`.
    acceleration: &'a [f64],
    /// `λ`.
    forces: &'a [f64],
    /// Velocities that contacts do not change.
    driven: &'a Range<usize>,
    /// There is a Coriolis force.
    has_coriolis: bool,
    /// It is a difference of masses.
    differs_masses: bool,
    /// See [`Coarse`].
    coarse: Coarse,
}

/// The derivatives of `r` and `s`, and the space they need.
struct Residuals<'a> {
    r: &'a mut [f64],
    s: &'a mut [f64],
    /// Their differences over half the step.
    near: (&'a mut [f64], &'a mut [f64]),
    /// `r` and `s` at one end of a difference.
    at: (&'a mut [f64], &'a mut [f64]),
    terms: Terms<'a>,
    point: &'a mut [f64],
    work: &'a mut [f64],
}

impl<'a> Residuals<'a> {
    fn size(nq: usize, d: usize, m: usize) -> usize {
        nq + 5 * d + 3 * m + Self::work(nq, d)
    }

    fn work(nq: usize, d: usize) -> usize {
        d * d + 2 * d + 3 * nq
    }

    fn new(cut: &mut Cut<'a>, nq: usize, d: usize, m: usize) -> Self {
        Self {
            r: cut.take(d),
            s: cut.take(m),
            near: (cut.take(d), cut.take(m)),
            at: (cut.take(d), cut.take(m)),
            terms: Terms::new(cut.take(d)),
            point: cut.take(nq + d),
            work: cut.take(Self::work(nq, d)),
        }
    }

    /// Fills `r` and `s` with their derivatives along a direction: of the effort the given one, if
    /// the user wrote it, and differences of the rest.
    fn along<S: MechanicalSystem + UnilateralConstraints + ?Sized>(
        &mut self,
        system: &S,
        base: &Base<'_>,
        along: &[f64],
        effort: Option<&[f64]>,
    ) {
        let usual = base.coarse.factor * step_along(0.0, base.x, 0.0, along);
        shorten_until_straight(usual, |step| {
            self.difference(system, base, along, effort.is_none(), step);
            self.near.0.copy_from_slice(self.r);
            self.near.1.copy_from_slice(self.s);
            self.difference(system, base, along, effort.is_none(), 2.0 * step);
            let (near, far) = ([&*self.near.0, &*self.near.1], [&*self.r, &*self.s]);
            let off = self.terms.off(base.coarse, step, [near, far]);
            for (far, near) in self.r.iter_mut().zip(&*self.near.0) {
                *far = extrapolated(*near, *far);
            }
            for (far, near) in self.s.iter_mut().zip(&*self.near.1) {
                *far = extrapolated(*near, *far);
            }
            off
        });
        if let Some(effort) = effort {
            for (r, effort) in self.r.iter_mut().zip(effort) {
                *r += effort;
            }
        }
    }

    /// Fills `r` and `s` with their central differences over a step along a direction.
    fn difference<S: MechanicalSystem + UnilateralConstraints + ?Sized>(
        &mut self,
        system: &S,
        base: &Base<'_>,
        along: &[f64],
        with_effort: bool,
        step: f64,
    ) {
        let (t, x, d) = (base.t, base.x, self.r.len());
        self.r.fill(0.0);
        self.s.fill(0.0);
        for step in [step, -step] {
            for i in 0..x.len() {
                self.point[i] = x[i] + step * along[i];
            }
            let (q, v) = self.point.split_at(x.len() - d);
            let (r, s) = (&mut *self.at.0, &mut *self.at.1);
            r.fill(0.0);
            if with_effort {
                system.effort(t, q, v, r);
            }
            // Efforts on driven velocities are accelerations: their size says nothing of forces.
            let efforts = r.iter().enumerate();
            for (i, effort) in efforts.filter(|(i, _)| !base.driven.contains(i)) {
                self.terms.force(i, *effort);
            }
            let at = State { t, q, v };
            residuals(system, base, at, [r, s], &mut self.terms, self.work);
            for (to, r) in self.r.iter_mut().zip(&*r) {
                *to += r / (2.0 * step);
            }
            for (to, s) in self.s.iter_mut().zip(&*s) {
                *to += s / (2.0 * step);
            }
        }
    }
}

/// How coarse the steps are: what of the residuals is a difference itself.
fn coarseness<S: MechanicalSystem + UnilateralConstraints + ?Sized>(
    system: &S,
    q: &[f64],
    v: &[f64],
    closed: &[usize],
    work: &mut [f64],
) -> Coarse {
    let mut coarse = Coarse::WRITTEN;
    if differs_masses(system, q, v, work) {
        coarse = Coarse::FIRST;
    }
    let row = &mut work[..v.len()];
    for &j in closed {
        let rows = system.gap_row(j, q, row);
        let bent = system.constant_row(j) || system.curvature(j, q, v).is_some();
        coarse = coarse.or(match (rows, bent) {
            (true, true) => Coarse::WRITTEN,
            (false, false) => Coarse::SECOND,
            _ => Coarse::FIRST,
        });
    }
    coarse
}

/// Adds `c v − M a + Daᵀ λ` and the contact efforts to `r`, and writes `s`, at a state beside `base`.
/// `work` has as many entries as that of [`Residuals`].
fn residuals<S: MechanicalSystem + UnilateralConstraints + ?Sized>(
    system: &S,
    base: &Base<'_>,
    State { t, q, v }: State<'_>,
    [r, s]: [&mut [f64]; 2],
    terms: &mut Terms<'_>,
    work: &mut [f64],
) {
    let (d, a) = (r.len(), base.acceleration);
    system.contact_effort(State { t, q, v }, base.closed, r);
    let mut cut = Cut(work);
    let row = cut.take(d);
    let work = cut.0;
    if base.has_coriolis {
        coriolis(system, q, v, row, work);
        let mass = &mut work[..d * d];
        system.mass(q, mass);
        for i in 0..d {
            // c v − M a, with the acceleration of the base.
            let inertial: f64 = (0..d).map(|k| mass[k * d + i] * a[k]).sum();
            if !base.driven.contains(&i) {
                terms.force(i, row[i].abs().max(inertial.abs()));
            }
            r[i] += row[i] - inertial;
        }
        if base.differs_masses {
            terms.inertia(mass, v, base.driven);
        }
    }
    for (i, &j) in base.closed.iter().enumerate() {
        if system.constant_row(j) {
            s[i] = 0.0;
            continue;
        }
        gap_row(system, j, q, row, work);
        for k in (0..d).filter(|k| !base.driven.contains(k)) {
            // Daᵀ λ, with the multipliers of the base.
            let push = base.forces[i] * row[k];
            terms.force(k, push);
            r[k] += push;
        }
        let (bent, rounding) = curvature(system, j, q, v, work);
        terms.rate(bent.abs().max(base.coarse.terms_of(rounding)));
        row.iter().zip(a).for_each(|(row, a)| terms.rate(row * a));
        s[i] = dot(row, a) + bent;
    }
}
