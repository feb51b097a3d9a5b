//! Quantiles of one column by a sketch that merges: `DDSketch` (Masson, Rim & Lee, VLDB 2019), of the crate
//! `sketches-ddsketch`.

use sketches_ddsketch::{Config, DDSketch};

use crate::{InputError, validate};

/// Numbers of a smaller size are counted as zero.
const LEAST: f64 = 1e-12;

/// Quantiles of numbers that come one by one, to a relative accuracy, without the numbers.
///
/// Numbers are counted in bins whose edges are powers of `(1 + α)/(1 − α)`, for the accuracy α. Bins are never
/// joined, so that sketches merge in any order to the same, exactly. Memory grows with the
/// orders of magnitude of the numbers: 8 bytes for a factor of 1 + 2 α, at most 6 MB for α = 10⁻³.
///
/// ```
/// use saltation::ensemble::Quantiles;
/// let mut heights = Quantiles::new(0.01)?;
/// (1..=1000).for_each(|k| heights.add(f64::from(k)));
/// let median = heights.quantile(0.5).unwrap();
/// assert!((median - 500.0).abs() < 5.0 + 1.0);
/// assert_eq!((heights.count(), heights.quantile(1.0)), (1000, Some(1000.0)));
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone)]
pub struct Quantiles {
    sketch: DDSketch,
    accuracy: f64,
    skipped: u64,
}

impl std::fmt::Debug for Quantiles {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Quantiles")
            .field("accuracy", &self.accuracy)
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}

impl Quantiles {
    /// With a relative accuracy, 10⁻³ to 0.5.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for any other.
    pub fn new(accuracy: f64) -> Result<Self, InputError> {
        let rule = "must lie between 1e-3 and 0.5";
        let kept = (1e-3..=0.5).contains(&accuracy);
        validate::unless(kept, "accuracy", accuracy, rule)?;
        let step = (2.0 * accuracy / (1.0 - accuracy)).ln_1p();
        // As many bins as there are from the least to the greatest number.
        let most = f64::MAX.ln() - LEAST.ln();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below a million"
        )]
        let bins = (most / step).ceil() as u32 + 256;
        Ok(Self {
            sketch: DDSketch::new(Config::new(accuracy, bins, LEAST)),
            accuracy,
            skipped: 0,
        })
    }

    /// Counts a number; one that is not finite is counted as skipped. A size below 10⁻¹² is zero.
    pub fn add(&mut self, x: f64) {
        if x.is_finite() {
            self.sketch.add(x);
        } else {
            self.skipped += 1;
        }
    }

    /// Adds all that another has counted.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for another accuracy.
    pub fn merge(&mut self, other: &Self) -> Result<(), InputError> {
        let rule = "must be the accuracy of both sketches";
        let merged = self.sketch.merge(&other.sketch).is_ok();
        validate::unless(merged, "accuracy", other.accuracy, rule)?;
        self.skipped += other.skipped;
        Ok(())
    }

    /// The number that a share `q` of all lies below: that of rank `⌊q (n − 1)⌋` of n, counted from 0, to the
    /// relative accuracy. The least and the greatest, `q` = 0 and 1, are exact. None without numbers, or
    /// unless 0 ≤ `q` ≤ 1.
    pub fn quantile(&self, q: f64) -> Option<f64> {
        let quantile = self.sketch.quantile(q).ok().flatten()?;
        Some(quantile.max(self.sketch.min()?).min(self.sketch.max()?))
    }

    /// Numbers that were counted.
    pub fn count(&self) -> u64 {
        self.sketch.count() as u64
    }

    /// Numbers that are not finite.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }
}
