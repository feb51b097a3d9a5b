//! A histogram of one column with bins of one width.

use std::ops::Range;

use crate::{InputError, validate};

/// Limit of the bins: 8 MB.
const MOST_BINS: usize = 1_000_000;

/// Counts of numbers in bins of one width. Histograms of the same bins merge in any order, exactly.
///
/// ```
/// use saltation::ensemble::Histogram;
/// let mut heights = Histogram::new(0.0..2.0, 4)?;
/// for z in [0.1, 0.6, 0.7, 2.0, f64::NAN] {
///     heights.add(z);
/// }
/// assert_eq!(heights.counts(), [1, 2, 0, 0]);
/// assert_eq!((heights.below(), heights.beyond(), heights.skipped()), (0, 1, 1));
/// assert_eq!(heights.bin(1), Some(0.5..1.0));
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Histogram {
    range: Range<f64>,
    counts: Vec<u64>,
    below: u64,
    beyond: u64,
    skipped: u64,
}

impl Histogram {
    /// Of the numbers of a range, its end excluded, in so many bins, 1 to a million.
    ///
    /// # Errors
    /// [`InputError::NotFinite`], [`InputError::BadSetting`] for a range without numbers, one so long that
    /// its length overflows, and for another number of bins.
    pub fn new(range: Range<f64>, bins: usize) -> Result<Self, InputError> {
        validate::finite("the range", &[range.start, range.end])?;
        let length = range.end - range.start;
        validate::positive("the length of the range", &[length])?;
        validate::count("bins", bins.min(MOST_BINS + 1))?;
        Ok(Self {
            range,
            counts: vec![0; bins],
            below: 0,
            beyond: 0,
            skipped: 0,
        })
    }

    /// Counts a number; NaN is counted as skipped.
    pub fn add(&mut self, x: f64) {
        let Range { start, end } = self.range;
        if x.is_nan() {
            self.skipped += 1;
        } else if x < start {
            self.below += 1;
        } else if x >= end {
            self.beyond += 1;
        } else {
            let bins = self.counts.len();
            let place = (x - start) / (end - start) * bins as f64;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "not negative, and saturated"
            )]
            // Below the end a number may be rounded to it.
            let bin = (place as usize).min(bins - 1);
            self.counts[bin] += 1;
        }
    }

    /// Adds all that another has counted.
    ///
    /// # Errors
    /// [`InputError::WrongLength`] for another number of bins, [`InputError::BadSetting`] for another
    /// range.
    pub fn merge(&mut self, other: &Self) -> Result<(), InputError> {
        validate::length("the bins", self.counts.len(), other.counts.len())?;
        let rule = "must be the range of both histograms";
        validate::unless(self.range == other.range, "range", other.range.start, rule)?;
        for (count, other) in self.counts.iter_mut().zip(&other.counts) {
            *count += other;
        }
        self.below += other.below;
        self.beyond += other.beyond;
        self.skipped += other.skipped;
        Ok(())
    }

    /// The counts of the bins.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// The numbers that bin `k` counts, up to rounding; none for a bin that does not exist.
    pub fn bin(&self, k: usize) -> Option<Range<f64>> {
        let bins = self.counts.len();
        let Range { start, end } = self.range;
        let edge = |k: usize| start + (end - start) * (k as f64 / bins as f64);
        (k < bins).then(|| edge(k)..edge(k + 1))
    }

    /// Numbers below the range.
    pub fn below(&self) -> u64 {
        self.below
    }

    /// Numbers at the end of the range or beyond it.
    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// Numbers that are NaN.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}
