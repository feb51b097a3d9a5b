//! `check_mechanics`: what the user wrote of a mechanical system against differences.
//!
//! * `gaps`: rows and curvatures of gaps.
//! * `inertia`: the mass matrix, its trees and the forces of inertia (Pace & Burden, eq. 1).

mod gaps;
mod inertia;

use super::configuration::{self, check_configuration, check_input};
use super::contact::source::common_tangents;
use super::{Measured, MechanicalSystem, State, UnilateralConstraints};
use crate::derivative::{DerivativeReport, Partial};
use crate::ode::difference::coordinate_step;
use crate::{At, InputError, Interrupt, Mode, Quantity, Stop, validate};

/// Compares the derivatives that a mechanical system gives with central differences, at one state.
///
/// If `q̇ = N(q) v`, derivatives by coordinate `i` are those along `N(q) e_i`, and the Coriolis
/// force is compared with what brackets of these directions and the mass matrix give. Compared are,
/// as far as they are written: [`MechanicalSystem::coriolis`] with differences of the
/// mass matrix, component by component (not where several velocities give one rate of the coordinates,
/// as the spin of a body whose coordinates hold its axis alone), and its power with what the change of the metric takes,
/// `½ vᵀ Ṁ v + vᵀ c v = 0`; [`MechanicalSystem::kinetic_gradient`] with the same differences;
/// [`MechanicalSystem::trees`], where there are several, with the mass matrix at three
/// configurations; [`MechanicalSystem::constant_mass`] with the differences of the mass
/// matrix; [`MechanicalSystem::effort_along`] with differences of the effort;
/// [`UnilateralConstraints::gap_row`] with differences of the gap;
/// [`UnilateralConstraints::constant_row`] with differences of the row;
/// [`UnilateralConstraints::curvature`] with differences of the row, or of the gap where the row is
/// not written or wrong. Where the shifts of a body are seen, normal and tangents of a contact are
/// compared with rows of one length that are orthogonal
/// ([`tangent_rows`](UnilateralConstraints::tangent_rows)): those of a gap that is no distance are
/// not, and scale friction. Rows along one line, or of zeros, are found here only; a run takes them for those
/// of a body that is guided. What depends on `v` is compared at one more velocity, so that `v = 0`
/// hides nothing. An entry that is left unwritten or is not finite counts as infinitely wrong.
///
/// Not compared are the potential and
/// [`springs_and_dampers`](MechanicalSystem::springs_and_dampers), which may hold a part of the
/// effort, and, but for their lengths and angles, [`UnilateralConstraints::tangent_rows`], of which
/// no function is the integral.
///
/// Differences are good to about 1e-9, second differences to about 1e-7, for functions of moderate
/// size and curvature: `agrees(1e-6)` is a fair question. Ask it at a few states, in a test of the
/// model.
///
/// ```
/// use saltation::mechanics::{MechanicalSystem, UnilateralConstraints, check_mechanics};
/// /// A bead on a wire `y = x²/2`, above a floor that bends.
/// struct Bead;
/// impl MechanicalSystem for Bead {
///     fn dof(&self) -> usize {
///         1
///     }
///     fn mass(&self, q: &[f64], mass: &mut [f64]) {
///         mass[0] = 1.0 + q[0] * q[0];
///     }
///     fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
///         effort[0] = -9.81 * q[0];
///     }
///     fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
///         force[0] = q[0] * v[0] * v[0]; // the sign is wrong
///         true
///     }
/// }
/// impl UnilateralConstraints for Bead {
///     fn contacts(&self) -> usize {
///         1
///     }
///     fn gap(&self, _j: usize, q: &[f64]) -> f64 {
///         q[0].exp() - 1.0
///     }
/// }
/// let report = check_mechanics(&Bead, 0.0, &[0.3], &[2.0])?;
/// assert!(!report.agrees(1e-6));
/// println!("{report}"); // the worst of 4 entries: (c v)_0 is 1.2, the difference says -1.19…
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// # Errors
/// [`InputError::CoriolisUnwritten`], [`InputError::Tangents`], [`InputError::EmptySystem`],
/// [`InputError::WrongLength`] (of `q`, `v`, or trees that do not cover the velocities) and
/// [`InputError::NotFinite`] for bad input and rates of the coordinates; [`InputError::BadMatrix`] (`mass`) when the mass matrix
/// is not finite, symmetric and positive definite at `q`, or not finite close to it;
/// [`Stop::NotFinite`] when the effort or a gap is not finite there.
pub fn check_mechanics<S>(
    system: &S,
    t: f64,
    q: &[f64],
    v: &[f64],
) -> Result<DerivativeReport, Stop>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    check_mechanics_until(system, t, q, v, &Interrupt::new())
}

/// As [`check_mechanics`], for large systems: the Coriolis force alone takes two mass matrices a
/// velocity.
///
/// # Errors
/// As [`check_mechanics`], and [`Stop::Interrupted`] when `interrupt` is set.
pub fn check_mechanics_until<S>(
    system: &S,
    t: f64,
    q: &[f64],
    v: &[f64],
    interrupt: &Interrupt,
) -> Result<DerivativeReport, Stop>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    let system = &Measured::checked(system)?;
    let point = Point::new(system, interrupt, t, q, v)?;
    point.check_mass()?;
    point.check_effort(v)?;
    let mut report = DerivativeReport::default();
    point.compare_constant_mass(&mut report)?;
    point.compare_trees(&mut report)?;
    point.compare_effort(&mut report, v)?;
    let other: Vec<f64> = (0..v.len()).map(mixed).collect();
    for velocity in [v, &other] {
        point.compare_coriolis(&mut report, velocity)?;
        point.compare_kinetic_gradient(&mut report, velocity)?;
    }
    for contact in 0..system.contacts() {
        interrupt.check()?;
        let rows = point.compare_row(&mut report, contact)?;
        point.compare_constant_row(&mut report, contact)?;
        for velocity in [v, &other] {
            point.compare_curvature(&mut report, contact, rows, velocity)?;
        }
    }
    point.compare_frames(&mut report);
    Ok(report)
}

/// A system and a state that fits it. Outputs of the user's functions are filled with NaN first.
struct Point<'a, S: ?Sized> {
    system: &'a S,
    interrupt: &'a Interrupt,
    t: f64,
    q: &'a [f64],
}

impl<'a, S> Point<'a, S>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    fn new(
        system: &'a S,
        interrupt: &'a Interrupt,
        t: f64,
        q: &'a [f64],
        v: &[f64],
    ) -> Result<Self, Stop> {
        let dof = system.dof();
        if dof == 0 {
            return Err(Stop::Input(InputError::EmptySystem));
        }
        check_input(system.coordinates(), dof, t, q, v)?;
        check_configuration(system, q, v)?;
        common_tangents(system, system.contacts())?;
        let point = Self {
            system,
            interrupt,
            t,
            q,
        };
        for i in 0..dof {
            validate::finite("rate of the coordinates", &point.direction(i))?;
        }
        Ok(point)
    }

    /// `N(q) e_i`.
    fn direction(&self, i: usize) -> Vec<f64> {
        let mut axis = vec![0.0; self.system.dof()];
        axis[i] = 1.0;
        let mut rate = vec![0.0; self.q.len()];
        configuration::rate(self.system, self.q, &axis, &mut rate);
        rate
    }

    fn not_finite(&self, quantity: Quantity) -> Stop {
        Stop::NotFinite {
            quantity,
            at: At::new(self.t, self.q, &Mode::default()).into(),
        }
    }

    fn check_effort(&self, v: &[f64]) -> Result<(), Stop> {
        let mut effort = vec![f64::NAN; v.len()];
        self.system.effort(self.t, self.q, v, &mut effort);
        match effort.iter().position(|f| !f.is_finite()) {
            None => Ok(()),
            Some(component) => Err(self.not_finite(Quantity::Effort { component })),
        }
    }

    fn compare_effort(&self, report: &mut DerivativeReport, v: &[f64]) -> Result<(), Stop> {
        let (nq, d, t) = (self.q.len(), v.len(), self.t);
        let (mut x, mut along) = ([self.q, v].concat(), vec![0.0; nq + d]);
        let (mut given, mut found) = (vec![f64::NAN; d], vec![0.0; d]);
        for column in 0..nq + d {
            self.interrupt.check()?;
            along[column] = 1.0;
            given.fill(f64::NAN);
            if !self
                .system
                .effort_along(State { t, q: self.q, v }, &along, &mut given)
            {
                return Ok(());
            }
            along[column] = 0.0;
            let middle = x[column];
            let step = coordinate_step(middle);
            found.fill(0.0);
            for end in [step, -step] {
                x[column] = middle + end;
                let (q, v) = x.split_at(nq);
                let mut effort = vec![f64::NAN; d];
                self.system.effort(t, q, v, &mut effort);
                for (found, effort) in found.iter_mut().zip(effort) {
                    *found += effort / (2.0 * end);
                }
            }
            x[column] = middle;
            if let Some(component) = found.iter().position(|f| !f.is_finite()) {
                return Err(self.not_finite(Quantity::Effort { component }));
            }
            let scale = scale(&found);
            for component in 0..d {
                let what = Partial::EffortAlong { component, column };
                report.compare(what, given[component], found[component], scale);
            }
        }
        Ok(())
    }
}

/// The largest absolute value, at least 1.
fn scale(values: &[f64]) -> f64 {
    values.iter().fold(1.0, |most, value| value.abs().max(most))
}

/// Entry `i` of a velocity whose entries have both signs and all differ, none above 1.
fn mixed(i: usize) -> f64 {
    let size = 1.0 / (1.0 + 0.3 * i as f64);
    if i.is_multiple_of(2) { size } else { -size }
}
