//! What rows say together: counts, mean, covariance, quantiles of what is shown, and points for a picture.

use std::io::Write;

use saltation::ensemble::{EnsembleFailure, Histogram, Moments, RowEnd, Rows};

use crate::common::flags::Outcome;
use crate::models::{Model, Shown};

/// Points of the picture at most.
const POINTS: u64 = 1500;
/// Bins of the histogram.
const BINS: usize = 60;

/// What rows say of two columns.
pub(crate) struct Summary {
    pub(crate) rows: u64,
    pub(crate) failed: u64,
    /// The first reason.
    reason: String,
    pub(crate) moments: Moments,
    /// The least and the greatest number of each column.
    pub(crate) bounds: [[f64; 2]; 2],
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) histogram: Histogram,
}

/// Hands all rows over.
pub(crate) type Reader<'r> =
    &'r dyn Fn(&mut dyn FnMut(&Rows) -> Result<(), EnsembleFailure>) -> Result<(), EnsembleFailure>;

impl Summary {
    /// Of all rows that `read` hands over; it is called twice, since a histogram is to know its range.
    pub(crate) fn new(model: &Model, read: Reader<'_>) -> Outcome<Self> {
        let [x, y] = model.shown.map(|shown| shown.column);
        let mut new = Self {
            rows: 0,
            failed: 0,
            reason: String::new(),
            moments: Moments::new(2)?,
            bounds: [[f64::INFINITY, f64::NEG_INFINITY]; 2],
            points: Vec::new(),
            histogram: Histogram::new(0.0..1.0, BINS)?,
        };
        let pairs = |rows: &Rows| {
            let both = rows.column(x).zip(rows.column(y));
            both.map(|(x, y)| x.zip(y).collect::<Vec<_>>())
        };
        read(&mut |rows| {
            new.rows += rows.len() as u64;
            new.failed += rows.failures() as u64;
            if let Some(row) = rows.iter().find(|row| matches!(row.end, RowEnd::Failed(_)))
                && new.reason.is_empty()
            {
                row.end.reason().clone_into(&mut new.reason);
            }
            for (x, y) in pairs(rows).into_iter().flatten() {
                new.moments.add(&[x, y])?;
                for (bounds, value) in new.bounds.iter_mut().zip([x, y]) {
                    *bounds = [bounds[0].min(value), bounds[1].max(value)];
                }
            }
            Ok(())
        })?;
        let [low, high] = new.bounds[0];
        if new.moments.count() == 0 {
            return Err("no row has numbers".into());
        }
        let beyond = 1e-9 + 1e-9 * low.abs().max(high.abs());
        new.histogram = Histogram::new(low..high + beyond, BINS)?;
        let every = new.rows.div_ceil(POINTS);
        read(&mut |rows| {
            let places = rows.range();
            for ((x, y), index) in pairs(rows).into_iter().flatten().zip(places) {
                new.histogram.add(x);
                if index % every == 0 && x.is_finite() && y.is_finite() {
                    new.points.push((x, y));
                }
            }
            Ok(())
        })?;
        Ok(new)
    }

    /// The deviation of each column.
    pub(crate) fn deviations(&self) -> [f64; 2] {
        let covariance = self.moments.covariance();
        [0, 1].map(|i| covariance[(i, i)].sqrt())
    }

    pub(crate) fn report(&self, shown: &[Shown; 2], out: &mut dyn Write) -> Outcome<()> {
        let (rows, failed) = (grouped(self.rows), grouped(self.failed));
        writeln!(out, "{rows} rows, {failed} failed")?;
        if !self.reason.is_empty() {
            writeln!(out, "  the first: {}", self.reason)?;
        }
        let (mean, deviations) = (self.moments.mean(), self.deviations());
        writeln!(
            out,
            "\ncolumn                               mean    deviation        least     greatest"
        )?;
        for i in 0..2 {
            let [low, high] = self.bounds[i];
            let label = shown[i].label;
            let [mean, deviation, low, high] =
                [mean[i], deviations[i], low, high].map(without_sign_of_zero);
            writeln!(
                out,
                "{label:<28} {mean:>12.6} {deviation:>12.6} {low:>12.6} {high:>12.6}"
            )?;
        }
        let covariance = self.moments.covariance()[(0, 1)];
        let correlation = without_sign_of_zero(covariance / (deviations[0] * deviations[1]));
        writeln!(out, "correlation                  {correlation:>12.6}")?;
        Ok(())
    }
}

/// With a comma before each three digits: `1,000,000`.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let places = digits.chars().enumerate();
    let grouped = places.flat_map(|(k, digit)| {
        let is_behind = k > 0 && (digits.len() - k).is_multiple_of(3);
        is_behind.then_some(',').into_iter().chain([digit])
    });
    grouped.collect()
}

/// A number that is zero in six decimals has no sign.
fn without_sign_of_zero(x: f64) -> f64 {
    if x.abs() < 5e-7 { 0.0 } else { x }
}
