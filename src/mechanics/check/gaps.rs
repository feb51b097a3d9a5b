//! Rows and curvatures of gaps against differences.

use super::{Point, scale};
use crate::derivative::{DerivativeReport, Partial};
use crate::mechanics::contact::frames::Shifts;
use crate::mechanics::contact::gaps::work_size;
use crate::mechanics::contact::gaps::{curvature, gap_row};
use crate::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, UnilateralConstraints, Wanted,
};
use crate::{Quantity, Stop};

/// Rows within this of their differences, relative to the largest entry, are good enough to take
/// differences of.
const RIGHT: f64 = 1e-6;

impl<S> Point<'_, S>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    pub(super) fn compare_constant_row(
        &self,
        report: &mut DerivativeReport,
        contact: usize,
    ) -> Result<(), Stop> {
        if !self.system.constant_row(contact) {
            return Ok(());
        }
        let d = self.system.dof();
        let (mut at, mut work) = (
            self.q.to_vec(),
            vec![0.0; work_size(self.q.len(), self.system.dof())],
        );
        for coordinate in 0..d {
            self.interrupt.check()?;
            let direction = self.direction(coordinate);
            // Rows may be differences themselves: far apart, so that their rounding does not show.
            let moved = self.q.iter().zip(&direction).filter(|(_, by)| **by != 0.0);
            let step = 1e-2 * moved.fold(1.0, |most: f64, (q, _)| q.abs().max(most));
            let mut rows = [vec![f64::NAN; d], vec![f64::NAN; d]];
            for (row, end) in rows.iter_mut().zip([step, -step]) {
                for ((at, q), by) in at.iter_mut().zip(self.q).zip(&direction) {
                    *at = q + end * by;
                }
                gap_row(self.system, contact, &at, row, &mut work);
            }
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

    /// Returns true when the row is written and right.
    pub(super) fn compare_row(
        &self,
        report: &mut DerivativeReport,
        contact: usize,
    ) -> Result<bool, Stop> {
        let d = self.system.dof();
        let mut given = vec![f64::NAN; d];
        if !self.system.gap_row(contact, self.q, &mut given) {
            return Ok(false);
        }
        let (mut found, mut work) = (
            vec![0.0; d],
            vec![0.0; work_size(self.q.len(), self.system.dof())],
        );
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

    /// Lengths and angles of the rows of contacts with tangents, as far as they are seen.
    pub(super) fn compare_frames(&self, report: &mut DerivativeReport) {
        let system = self.system;
        let (all, mut contacts) = ((0..system.contacts()).collect::<Vec<_>>(), Contacts::new());
        let wanted = Wanted {
            friction: true,
            ..Wanted::default()
        };
        let filled = system.fill(self.q, ContactSet::Listed(&all), wanted, &mut contacts);
        if filled.is_err() || contacts.tangents() == 0 || !self.has_constant_mass() {
            return;
        }
        let mut shifts = Shifts::new(system, self.q);
        for contact in all {
            let Some(rows) = shifts.rows_of_one_body(&contacts, contact) else {
                continue;
            };
            let square = rows.product(1, 1);
            for row in 0..rows.size() {
                for column in 0..=row {
                    let found = if row == column { square } else { 0.0 };
                    let what = Partial::ContactFrame {
                        contact,
                        row,
                        column,
                    };
                    report.compare(what, rows.product(row, column), found, square.max(1.0));
                }
            }
        }
    }

    pub(super) fn compare_curvature(
        &self,
        report: &mut DerivativeReport,
        contact: usize,
        rows: bool,
        v: &[f64],
    ) -> Result<(), Stop> {
        let Some(given) = self.system.curvature(contact, self.q, v) else {
            return Ok(());
        };
        let mut work = vec![0.0; work_size(self.q.len(), self.system.dof())];
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

/// Contacts with none of their derivatives written, or only the rows.
struct Plain<'a, S: ?Sized> {
    system: &'a S,
    rows: bool,
}

impl<S: MechanicalSystem + ?Sized> MechanicalSystem for Plain<'_, S> {
    fn dof(&self) -> usize {
        self.system.dof()
    }

    fn coordinates(&self) -> usize {
        self.system.coordinates()
    }

    fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        self.system.configuration_rate(q, v, rate)
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.system.mass(q, mass);
    }

    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.system.effort(t, q, v, effort);
    }
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
