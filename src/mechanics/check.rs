//! `check_mechanics`: what the user wrote of a mechanical system against differences.

use nalgebra::{DMatrix, DVector};

use super::acceleration::{curvature, gap_row};
use super::{MechanicalSystem, UnilateralConstraints};
use crate::derivative::{DerivativeReport, Partial};
use crate::event_driven::initial::check_input;
use crate::linalg::dot;
use crate::linalg::symmetric::matrix_fault;
use crate::ode::difference::step_along;
use crate::{At, InputError, MatrixFault, Mode, Quantity, Stop};

/// Rows within this of their differences, relative to the largest entry, are good enough to take
/// differences of.
const RIGHT: f64 = 1e-6;

/// Compares the derivatives that a mechanical system gives with central differences, at one state.
///
/// Compared are, as far as they are written: [`MechanicalSystem::coriolis`] with differences of the
/// mass matrix, component by component, and its power with what the change of the metric takes,
/// `½ vᵀ Ṁ v + vᵀ c v = 0`; [`MechanicalSystem::constant_mass`] with the differences of the mass
/// matrix; [`MechanicalSystem::effort_along`] with differences of the effort;
/// [`UnilateralConstraints::gap_row`] with differences of the gap;
/// [`UnilateralConstraints::constant_row`] with differences of the row;
/// [`UnilateralConstraints::curvature`] with differences of the row, or of the gap where the row is
/// not written or wrong. What depends on `v` is compared at one more velocity, so that `v = 0`
/// hides nothing. An entry that is left unwritten or is not finite counts as infinitely wrong. The
/// potential is not compared: not every effort has one.
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
/// [`InputError::EmptySystem`], [`InputError::WrongLength`] and [`InputError::NotFinite`] for bad
/// input; [`InputError::BadMatrix`] (`mass`) when the mass matrix is not finite, symmetric and
/// positive definite at `q`, or not finite close to it; [`Stop::NotFinite`] when the effort or a
/// gap is not finite there.
pub fn check_mechanics<S>(
    system: &S,
    t: f64,
    q: &[f64],
    v: &[f64],
) -> Result<DerivativeReport, Stop>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    let point = Point::new(system, t, q, v)?;
    point.check_mass()?;
    point.check_effort(v)?;
    let mut report = DerivativeReport::default();
    point.compare_constant_mass(&mut report)?;
    point.compare_effort(&mut report, v)?;
    let other: Vec<f64> = (0..q.len()).map(mixed).collect();
    for velocity in [v, &other] {
        point.compare_coriolis(&mut report, velocity)?;
    }
    for contact in 0..system.contacts() {
        let rows = point.compare_row(&mut report, contact)?;
        point.compare_constant_row(&mut report, contact)?;
        for velocity in [v, &other] {
            point.compare_curvature(&mut report, contact, rows, velocity)?;
        }
    }
    Ok(report)
}

/// A system at one state, found to fit each other. What the user's functions are to write is filled
/// with NaN first.
struct Point<'a, S: ?Sized> {
    system: &'a S,
    t: f64,
    q: &'a [f64],
}

impl<'a, S> Point<'a, S>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    fn new(system: &'a S, t: f64, q: &'a [f64], v: &[f64]) -> Result<Self, Stop> {
        let dof = system.dof();
        if dof == 0 {
            return Err(Stop::Input(InputError::EmptySystem));
        }
        check_input(dof, t, q, v)?;
        Ok(Self { system, t, q })
    }

    fn mass(&self, q: &[f64]) -> DMatrix<f64> {
        let mut mass = DMatrix::from_element(q.len(), q.len(), f64::NAN);
        self.system.mass(q, mass.as_mut_slice());
        mass
    }

    fn check_mass(&self) -> Result<(), Stop> {
        let (mass, name) = (self.mass(self.q), "mass");
        if let Some(fault) = matrix_fault(&mass) {
            return Err(Stop::Input(InputError::BadMatrix { name, fault }));
        }
        let value = mass.symmetric_eigenvalues().min();
        if value > 0.0 {
            return Ok(());
        }
        let fault = MatrixFault::NotPositive { value };
        Err(Stop::Input(InputError::BadMatrix { name, fault }))
    }

    fn not_finite(&self, quantity: Quantity) -> Stop {
        Stop::NotFinite {
            quantity,
            at: At::new(self.t, self.q, &Mode::default()).into(),
        }
    }

    fn check_effort(&self, v: &[f64]) -> Result<(), Stop> {
        let mut effort = vec![f64::NAN; self.q.len()];
        self.system.effort(self.t, self.q, v, &mut effort);
        match effort.iter().position(|f| !f.is_finite()) {
            None => Ok(()),
            Some(component) => Err(self.not_finite(Quantity::Effort { component })),
        }
    }

    fn compare_effort(&self, report: &mut DerivativeReport, v: &[f64]) -> Result<(), Stop> {
        let (d, t) = (self.q.len(), self.t);
        let (mut x, mut along) = ([self.q, v].concat(), vec![0.0; 2 * d]);
        let (mut given, mut found) = (vec![f64::NAN; d], vec![0.0; d]);
        for column in 0..2 * d {
            along[column] = 1.0;
            given.fill(f64::NAN);
            if !self.system.effort_along((t, self.q, v), &along, &mut given) {
                return Ok(());
            }
            along[column] = 0.0;
            let middle = x[column];
            let step = step_along(0.0, &[middle], 0.0, &[1.0]);
            found.fill(0.0);
            for end in [step, -step] {
                x[column] = middle + end;
                let (q, v) = x.split_at(d);
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

    fn compare_constant_row(
        &self,
        report: &mut DerivativeReport,
        contact: usize,
    ) -> Result<(), Stop> {
        if !self.system.constant_row(contact) {
            return Ok(());
        }
        let d = self.q.len();
        let (mut at, mut work) = (self.q.to_vec(), vec![0.0; d]);
        for coordinate in 0..d {
            let middle = at[coordinate];
            // Rows may be differences themselves: far apart, so that their rounding does not show.
            let step = 1e-2 * middle.abs().max(1.0);
            let mut rows = [vec![f64::NAN; d], vec![f64::NAN; d]];
            for (row, end) in rows.iter_mut().zip([step, -step]) {
                at[coordinate] = middle + end;
                gap_row(self.system, contact, &at, row, &mut work);
            }
            at[coordinate] = middle;
            let scale = scale(&rows[0]);
            for column in 0..d {
                let slope = (rows[0][column] - rows[1][column]) / (2.0 * step);
                if !slope.is_finite() {
                    return Err(self.not_finite(Quantity::Gap { contact }));
                }
                let what = Partial::ConstantRow {
                    contact,
                    column,
                    coordinate,
                };
                report.compare(what, 0.0, slope, scale);
            }
        }
        Ok(())
    }

    /// The derivative of the mass matrix along `v`, by a difference of this step.
    fn mass_rate(&self, v: &[f64], step: f64) -> Result<DMatrix<f64>, Stop> {
        let at = |s: f64| {
            let moved: Vec<f64> = self.q.iter().zip(v).map(|(q, v)| q + s * v).collect();
            self.mass(&moved)
        };
        let rate = (at(step) - at(-step)) / (2.0 * step);
        match rate.iter().position(|entry| !entry.is_finite()) {
            None => Ok(rate),
            Some(entry) => {
                let (column, row) = (entry / rate.nrows(), entry % rate.nrows());
                let value = rate[(row, column)];
                let fault = MatrixFault::NotFinite { row, column, value };
                Err(Stop::Input(InputError::BadMatrix {
                    name: "mass",
                    fault,
                }))
            }
        }
    }

    /// The derivative of the mass matrix by a coordinate, with the step of that coordinate: others
    /// may have another unit.
    fn mass_slope(&self, coordinate: usize) -> Result<DMatrix<f64>, Stop> {
        let mut axis = vec![0.0; self.q.len()];
        axis[coordinate] = 1.0;
        let step = step_along(0.0, &[self.q[coordinate]], 0.0, &[1.0]);
        self.mass_rate(&axis, step)
    }

    fn compare_constant_mass(&self, report: &mut DerivativeReport) -> Result<(), Stop> {
        if !self.system.constant_mass() {
            return Ok(());
        }
        let d = self.q.len();
        let scale = self.mass(self.q).amax().max(1.0);
        for coordinate in 0..d {
            let slope = self.mass_slope(coordinate)?;
            for row in 0..d {
                for column in 0..d {
                    let what = Partial::Mass {
                        row,
                        column,
                        coordinate,
                    };
                    report.compare(what, 0.0, slope[(row, column)], scale);
                }
            }
        }
        Ok(())
    }

    fn compare_coriolis(&self, report: &mut DerivativeReport, v: &[f64]) -> Result<(), Stop> {
        let d = self.q.len();
        let mut given = vec![f64::NAN; d];
        if !self.system.coriolis(self.q, v, &mut given) {
            return Ok(());
        }
        let v = DVector::from_column_slice(v);
        let mut found = vec![0.0; d];
        for coordinate in 0..d {
            let momentum = self.mass_slope(coordinate)? * &v;
            for (force, p) in found.iter_mut().zip(&momentum) {
                *force -= v[coordinate] * p;
            }
            found[coordinate] += 0.5 * momentum.dot(&v);
        }
        let scale = scale(&found);
        for component in 0..d {
            let what = Partial::Coriolis { component };
            report.compare(what, given[component], found[component], scale);
        }
        let step = step_along(0.0, self.q, 0.0, v.as_slice());
        let rate = self.mass_rate(v.as_slice(), step)?;
        let (power, taken) = (dot(&given, v.as_slice()), -0.5 * v.dot(&(rate * &v)));
        // So that it is never larger than the error of the component that makes it.
        let scale = scale * v.iter().fold(1.0, |sum, v| sum + v.abs());
        report.compare(Partial::CoriolisPower, power, taken, scale);
        Ok(())
    }

    /// Returns true when the row is written and right.
    fn compare_row(&self, report: &mut DerivativeReport, contact: usize) -> Result<bool, Stop> {
        let d = self.q.len();
        let mut given = vec![f64::NAN; d];
        if !self.system.gap_row(contact, self.q, &mut given) {
            return Ok(false);
        }
        let (mut found, mut work) = (vec![0.0; d], vec![0.0; d]);
        let plain = Plain {
            system: self.system,
            rows: false,
        };
        gap_row(&plain, contact, self.q, &mut found, &mut work);
        if found.iter().any(|entry| !entry.is_finite()) {
            return Err(self.not_finite(Quantity::Gap { contact }));
        }
        let (scale, mut right) = (scale(&found), true);
        for column in 0..d {
            let what = Partial::GapRow { contact, column };
            report.compare(what, given[column], found[column], scale);
            right &= (given[column] - found[column]).abs() <= RIGHT * scale;
        }
        Ok(right)
    }

    fn compare_curvature(
        &self,
        report: &mut DerivativeReport,
        contact: usize,
        rows: bool,
        v: &[f64],
    ) -> Result<(), Stop> {
        let Some(given) = self.system.curvature(contact, self.q, v) else {
            return Ok(());
        };
        let mut work = vec![0.0; 3 * self.q.len()];
        let plain = Plain {
            system: self.system,
            rows,
        };
        let (found, _) = curvature(&plain, contact, self.q, v, &mut work);
        if !found.is_finite() {
            return Err(self.not_finite(Quantity::Gap { contact }));
        }
        let what = Partial::Curvature { contact };
        report.compare(what, given, found, scale(&[found]));
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

/// Contacts as if none of their derivatives were written, or none but the rows.
struct Plain<'a, S: ?Sized> {
    system: &'a S,
    rows: bool,
}

impl<S: UnilateralConstraints + ?Sized> UnilateralConstraints for Plain<'_, S> {
    fn contacts(&self) -> usize {
        self.system.contacts()
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.system.gap(j, q)
    }

    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.rows && self.system.gap_row(j, q, row)
    }
}
